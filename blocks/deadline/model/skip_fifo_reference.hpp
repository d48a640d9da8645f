// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// EDFR from skip-FIFOs, packet by packet: an executable statement of what the paper's figure 1 does, without its pipeline.
//
// Each class has a FIFO of packets (the ring buffer) and a FIFO of time stamps. At every skip tick (multiples of `tick`) a class that got
// packets since its last stamp writes one: its write pointer, and the moment after which all in front of that pointer have expired. Once
// that has passed, the read pointer goes to the stamped one in one step. What arrives in the moment of a tick is in front of its stamp.
//
// - A stamp's moment is the tick and the class's deadline, as in the paper; but never before the deadline of a packet in front of it nor
//   before the stamp in front: a class whose deadline gets shorter while packets wait skips nothing early.
// - A tick that finds the stamps full leaves the stamp to the next one: packets are skipped later, never earlier.
// - A tick without new packets writes no stamp: it would have the pointer of the one in front.
// - The encoder takes the head with the earliest deadline, of equal ones the lowest class. With `check` it drops a head that has expired
//   but has not been skipped; without, it sends it: at most one tick late while stamps have room and deadlines do not get shorter.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "deadline_link.hpp"

namespace penstock {

struct SkipFifoSettings {
    std::vector<int64_t> deadlines;  // of each class, from arrival
    int64_t tick = 0;
    uint32_t depth = 1u << 14;          // stamps a class
    bool check = true;                  // the encoder's own, before a packet starts
    std::vector<uint64_t> limits = {};  // bytes that a class's ring holds; 0, or a class beyond the list: as many as come
};

class SkipFifoQueue {
  public:
    // Throws std::invalid_argument.
    explicit SkipFifoQueue(const SkipFifoSettings& settings)
        : tick_(settings.tick), depth_(settings.depth), check_(settings.check), heads_(settings.deadlines.size(), kNone) {
        if (settings.deadlines.empty()) throw std::invalid_argument("a skip-FIFO scheduler has a class at least");
        if (tick_ <= 0 || tick_ > DeadlineLink::kMaxTime)
            throw std::invalid_argument("a skip tick is from 1 up to 2^61, not " + std::to_string(tick_));
        if (depth_ == 0) throw std::invalid_argument("a FIFO of time stamps holds one at least");
        classes_.resize(settings.deadlines.size());
        for (uint32_t number = 0; number < classes_.size(); ++number) {
            set_deadline(number, settings.deadlines[number]);
            classes_[number].limit = number < settings.limits.size() ? settings.limits[number] : 0;
        }
    }

    bool empty() const { return packets_ == 0; }

    // The class's deadline from now on. Packets keep the one they came with. Throws std::invalid_argument.
    void set_deadline(uint32_t number, int64_t deadline) {
        if (number >= classes_.size()) throw std::invalid_argument("there is no class " + std::to_string(number));
        if (deadline < 0 || deadline > DeadlineLink::kMaxTime)
            throw std::invalid_argument("a class's deadline is from 0 up to 2^61 after arrival, not " + std::to_string(deadline));
        classes_[number].deadline = deadline;
    }

    // Throws std::invalid_argument for a class that is not there.
    template <typename Sink>
    void push(const DeadlinePacket& packet, Sink& sink) {
        if (packet.traffic_class >= classes_.size())
            throw std::invalid_argument("there is no class " + std::to_string(packet.traffic_class));
        stamp_until(packet.arrival, sink);
        Class& own = classes_[packet.traffic_class];
        skip(packet.traffic_class, packet.arrival, sink);
        if (own.limit && own.bytes + packet.bytes > own.limit) {
            sink(packet, DeadlineFate::TailDropped, packet.arrival);
            return;
        }
        if (own.read == own.write) heads_[packet.traffic_class] = packet.deadline;
        own.append(packet);
        own.newest = std::max(own.newest, packet.deadline);
        ++packets_;
        if (own.due) return;
        own.due = true;
        if (due_.empty()) next_tick_ = (packet.arrival + tick_ - 1) / tick_ * tick_;
        due_.push_back(packet.traffic_class);
    }

    template <typename Sink>
    std::optional<DeadlinePacket> pop(int64_t now, Sink& sink) {
        stamp_until(now, sink);
        while (packets_) {
            const auto first = std::min_element(heads_.begin(), heads_.end());
            const uint32_t number = static_cast<uint32_t>(first - heads_.begin());
            const bool expired = *first < now;
            if (expired && skip_all(now, sink)) continue;
            const DeadlinePacket packet = take(number);
            if (!expired || !check_) return packet;
            sink(packet, DeadlineFate::ExpiredAtHead, now);
        }
        return std::nullopt;
    }

  private:
    static constexpr int64_t kNone = std::numeric_limits<int64_t>::max();

    struct Stamp {
        uint64_t write;  // packets in front of it
        int64_t moment;  // after it all of them have expired
    };

    struct Class {
        std::vector<DeadlinePacket> ring = std::vector<DeadlinePacket>(16);
        uint64_t read = 0;   // packets, modulo the ring's size
        uint64_t write = 0;  // the same
        uint64_t bytes = 0;
        uint64_t limit = 0;
        std::deque<Stamp> stamps;
        int64_t deadline = 0;
        int64_t newest = 0;  // latest deadline of all packets so far
        int64_t last = 0;    // moment of the last stamp
        bool due = false;    // got packets since its last stamp

        DeadlinePacket& at(uint64_t place) { return ring[place & (ring.size() - 1)]; }
        void append(const DeadlinePacket& packet) {
            if (write - read == ring.size()) {
                std::vector<DeadlinePacket> larger(2 * ring.size());
                for (uint64_t place = read; place != write; ++place) larger[place & (larger.size() - 1)] = at(place);
                ring = std::move(larger);
            }
            at(write++) = packet;
            bytes += packet.bytes;
        }
    };

    DeadlinePacket take(uint32_t number) {
        Class& own = classes_[number];
        const DeadlinePacket packet = own.at(own.read++);
        own.bytes -= packet.bytes;
        --packets_;
        heads_[number] = own.read == own.write ? kNone : own.at(own.read).deadline;
        return packet;
    }

    // Move the read pointer past what stamps say has expired by `now`; returns whether it moved. Stamps that it has passed are forgotten.
    template <typename Sink>
    bool skip(uint32_t number, int64_t now, Sink& sink) {
        Class& own = classes_[number];
        bool moved = false;
        while (!own.stamps.empty()) {
            const Stamp stamp = own.stamps.front();
            if (stamp.write > own.read) {
                if (stamp.moment >= now) break;
                moved = true;
                while (own.read != stamp.write) sink(take(number), DeadlineFate::Expired, stamp.moment);
            }
            own.stamps.pop_front();
        }
        return moved;
    }

    // Skip in every class; returns whether a pointer moved. Where a class's deadline has got shorter, what stands behind a skipped packet
    // may have an earlier deadline than any head.
    template <typename Sink>
    bool skip_all(int64_t now, Sink& sink) {
        bool moved = false;
        for (uint32_t number = 0; number < classes_.size(); ++number) moved |= heads_[number] < now && skip(number, now, sink);
        return moved;
    }

    // Do what the ticks before `now` do.
    template <typename Sink>
    void stamp_until(int64_t now, Sink& sink) {
        while (!due_.empty() && next_tick_ < now) {
            std::erase_if(due_, [&](uint32_t number) {
                Class& own = classes_[number];
                skip(number, next_tick_, sink);
                if (own.stamps.size() >= depth_) return false;
                own.last = std::max({next_tick_ + own.deadline, own.newest, own.last});
                own.stamps.push_back({own.write, own.last});
                own.due = false;
                return true;
            });
            next_tick_ += tick_;
        }
    }

    int64_t tick_;
    uint32_t depth_;
    bool check_;
    std::vector<int64_t> heads_;  // deadline of each class's head
    std::vector<Class> classes_;
    std::vector<uint32_t> due_;  // classes that write a stamp at next_tick_
    int64_t next_tick_ = 0;
    uint64_t packets_ = 0;
};

using SkipFifoReference = DeadlineServer<SkipFifoQueue>;

}  // namespace penstock
