// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Exact EDFR (earliest deadline first with reneging), and the FIFO with limited wait that its paper compares it with.
//
// The queue is sorted, so it is what hardware made of FIFOs is compared with; it says nothing of how to build one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "deadline_link.hpp"

namespace penstock {

// All waiting packets, the earliest deadline first, equal ones in order of arrival. A packet reneges as soon as its deadline has passed.
class EdfrQueue {
  public:
    // `limits`: most bytes that wait in each class; 0, or a class beyond the list: as many as come.
    explicit EdfrQueue(std::vector<uint64_t> limits = {}) : limits_(std::move(limits)), waiting_(limits_.size()) {}

    bool empty() const { return heap_.empty(); }

    template <typename Sink>
    void push(const DeadlinePacket& packet, Sink& sink) {
        expire(packet.arrival, sink);
        if (limited(packet)) {
            uint64_t& waiting = waiting_[packet.traffic_class];
            if (waiting + packet.bytes > limits_[packet.traffic_class]) {
                sink(packet, DeadlineFate::TailDropped, packet.arrival);
                return;
            }
            waiting += packet.bytes;
        }
        heap_.push_back(packet);
        std::push_heap(heap_.begin(), heap_.end(), later);
    }

    template <typename Sink>
    std::optional<DeadlinePacket> pop(int64_t now, Sink& sink) {
        expire(now, sink);
        if (heap_.empty()) return std::nullopt;
        return take();
    }

  private:
    static bool later(const DeadlinePacket& a, const DeadlinePacket& b) {
        return a.deadline != b.deadline ? a.deadline > b.deadline : a.number > b.number;
    }

    bool limited(const DeadlinePacket& packet) const { return packet.traffic_class < limits_.size() && limits_[packet.traffic_class] != 0; }

    // The earliest deadline is at the front, so nothing behind one that has not expired has.
    template <typename Sink>
    void expire(int64_t now, Sink& sink) {
        while (!heap_.empty() && heap_.front().deadline < now) {
            const DeadlinePacket packet = take();
            sink(packet, DeadlineFate::Expired, packet.deadline);
        }
    }

    DeadlinePacket take() {
        std::pop_heap(heap_.begin(), heap_.end(), later);
        const DeadlinePacket packet = heap_.back();
        heap_.pop_back();
        if (limited(packet)) waiting_[packet.traffic_class] -= packet.bytes;
        return packet;
    }

    std::vector<DeadlinePacket> heap_;
    std::vector<uint64_t> limits_;
    std::vector<uint64_t> waiting_;  // bytes, of limited classes
};

using ExactEdfr = DeadlineServer<EdfrQueue>;

// FIFO with tail drop by time: what would wait longer than `most_wait` before it starts is dropped on arrival. No size of packets is better
// off than another, as it would be with a limit in bytes. With one class, an exact EDFR sends the same packets at the same times.
class LimitedFifo {
  public:
    LimitedFifo(DeadlineLink link, int64_t most_wait) : link_(link), most_wait_(most_wait) {
        if (most_wait < 0)
            throw std::invalid_argument("the longest wait of a FIFO is not negative, as " + std::to_string(most_wait) + " is");
    }

    // Throws std::invalid_argument.
    template <typename Sink>
    void arrive(const DeadlinePacket& packet, Sink&& sink) {
        link_.check(packet, now_);
        now_ = packet.arrival;
        const int64_t start = std::max(link_.free_at(), packet.arrival);
        if (start - packet.arrival > most_wait_) {
            sink(packet, DeadlineFate::TailDropped, packet.arrival);
            return;
        }
        link_.send(start, packet.bytes);
        sink(packet, DeadlineFate::Sent, start);
    }

    // Each fate is known on arrival.
    template <typename Sink>
    void advance(int64_t until, Sink&&) {
        now_ = std::max(now_, until);
    }

    bool empty() const { return true; }

  private:
    DeadlineLink link_;
    int64_t most_wait_;
    int64_t now_ = 0;
};

}  // namespace penstock
