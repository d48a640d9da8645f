// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// What lateness is measured against: a server with the same shapers that knows every packet at its earliest departure time, sends in
// order of these times over an equal link, and needs no time itself (docs/measurements.md, "Lateness"). It decides when a packet's
// first bit goes out, so a busy link costs a queue with full credit as much here as anywhere. How early a packet could have left
// had the link always been free is kept besides: before that time no server may send it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "blocks/schedule/model/event_schedule.hpp"
#include "blocks/timing/model/shaper_code.hpp"
#include "designs/access_edge/model/link_clock.hpp"

namespace penstock {

inline constexpr uint32_t kNone = ~0u;  // no packet

class IdealServer {
  public:
    // Time stamps without wrap-around, in 2^-16 cycles.
    __extension__ typedef __int128 Time;
    static constexpr LinkUnits kNotYet = -1;
    struct Packet {
        int64_t earliest = 0;       // earliest departure time if the link is always free, whole cycles
        LinkUnits start = kNotYet;  // of its first bit, in units of the link's clock
        uint32_t next = kNone, len = 0;
        bool released = false;
    };

    // `shapers`: one code for each queue; `time`: time stamp of all queues at the beginning, in 2^-16 cycles; `tolerance`: of the shapers,
    // cycles.
    IdealServer(std::vector<uint64_t> shapers, const LinkClock& link, Time time = 0, int64_t tolerance = schedule_timing::kTolerance)
        : shapers_(std::move(shapers)), queues_(shapers_.size(), {time, time, kNone, kNone}), link_(link), tolerance_(tolerance) {}

    // The time stamp of one queue, which must be empty.
    void set_time(uint32_t queue, Time time) { queues_[queue].time = queues_[queue].free_time = time; }

    // A packet is at the end of its queue from `cycle` on; cycles must not decrease. Returns what packet() knows it by, until release().
    uint32_t enqueued(int64_t cycle, uint32_t queue, uint32_t len) {
        const uint32_t id = allocate();
        Queue& q = queues_[queue];
        const int64_t earliest = std::max(cycle, eligible_cycle(q.free_time));
        packets_[id] = {earliest, kNotYet, kNone, len, false};
        q.free_time = update(queue, q.free_time, earliest, len);
        (q.head == kNone ? q.head : packets_[q.tail].next) = id;
        if (q.head == id) offer(queue, cycle);
        q.tail = id;
        return id;
    }

    // The packet is of no more interest outside.
    void release(uint32_t id) {
        packets_[id].released = true;
        if (packets_[id].start != kNotYet) free_.push_back(id);
    }

    // Takes every packet whose earliest departure time has come. Returns how many.
    uint64_t advance(int64_t cycle) {
        uint64_t taken = 0;
        for (; due_.any_until(cycle); ++taken) {
            const auto [at, id] = due_.pop();
            Queue& q = queues_[id];
            const uint32_t sent = q.head;
            Packet& packet = packets_[sent];
            packet.start = link_.send(at, packet.len);
            q.time = update(id, q.time, link_.cycles_up(packet.start), packet.len);
            q.head = packet.next;
            if (q.head != kNone) offer(id, at);
            if (packet.released) free_.push_back(sent);
        }
        return taken;
    }

    // Whether the time of a packet has come by `cycle`.
    bool any_due(int64_t cycle) const { return due_.any_until(cycle); }
    // Whether a queue that may send by `cycle` has no packet left here.
    bool starved(uint32_t queue, int64_t cycle) const {
        return queues_[queue].head == kNone && eligible_cycle(queues_[queue].time) <= cycle;
    }
    const Packet& packet(uint32_t id) const { return packets_[id]; }
    const LinkClock& link() const { return link_; }

  private:
    struct Queue {
        Time time;       // earliest departure of its next packet
        Time free_time;  // the same for the next packet that comes, if the link is always free
        uint32_t head, tail;
    };

    // What Shaper does, for as long as one likes.
    static int64_t eligible_cycle(Time time) { return static_cast<int64_t>(-((-time) >> Shaper::kFraction)); }
    Time update(uint32_t queue, Time time, int64_t now, uint32_t length) const {
        const ShaperSetting setting = decode_shaper(shapers_[queue]);
        const Time floor = Time{now - std::max<int64_t>(setting.burst, tolerance_)} * (1 << Shaper::kFraction);
        return std::max(time, floor) + Shaper::increment(setting, length, kMostTimeWidth);
    }

    uint32_t allocate() {
        if (free_.empty()) {
            packets_.emplace_back();
            return static_cast<uint32_t>(packets_.size() - 1);
        }
        const uint32_t id = free_.back();
        free_.pop_back();
        return id;
    }

    void offer(uint32_t queue, int64_t cycle) {
        if (decode_shaper(shapers_[queue]).mantissa == 0) return;  // a closed gate
        due_.push(std::max(cycle, eligible_cycle(queues_[queue].time)), queue);
    }

    std::vector<uint64_t> shapers_;
    std::vector<Queue> queues_;
    std::vector<Packet> packets_;
    std::vector<uint32_t> free_;
    LinkClock link_;
    int64_t tolerance_;
    DueQueues due_;
};

}  // namespace penstock
