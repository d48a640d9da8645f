// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// What all packet-level models of deadline scheduling share: a packet, what became of it, and the link that serves a queue.
//
// Time is a whole number of any unit (picoseconds, clock cycles). A packet may start in every moment up to and with its deadline.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace penstock {

struct DeadlinePacket {
    int64_t arrival;   // the moment from which it can start
    int64_t deadline;  // the last moment in which it may start; not before its arrival
    uint64_t number;   // in order of arrival
    uint32_t bytes;
    uint32_t traffic_class;
};

enum class DeadlineFate : uint8_t {
    Sent,           // at the moment in which it starts
    Expired,        // its deadline passed while it waited
    ExpiredAtHead,  // the same, but seen only when it had been read from its queue
    TailDropped     // on arrival
};
inline constexpr uint32_t kDeadlineFates = 4;

// A link of `rate_bps`, one packet after the other. Back to back packets lose nothing to rounding: a start is the exact moment, rounded
// down.
class DeadlineLink {
  public:
    static constexpr uint32_t kMaxBytes = 1u << 20;                       // of a packet, with what the line adds
    static constexpr int64_t kMaxTime = int64_t{1} << 61;                 // of arrivals and deadlines
    static constexpr uint64_t kMaxUnitsPerSecond = 1'000'000'000'000ULL;  // picoseconds

    // `overhead_bytes`: what each packet costs on the line besides its bytes. Throws std::invalid_argument.
    DeadlineLink(uint64_t units_per_second, uint64_t rate_bps, uint32_t overhead_bytes = 0) : overhead_(overhead_bytes) {
        if (!units_per_second || units_per_second > kMaxUnitsPerSecond)
            throw std::invalid_argument("units per second: give 1 to 10^12, not " + std::to_string(units_per_second));
        if (!rate_bps || rate_bps > kMaxUnitsPerSecond)
            throw std::invalid_argument("a link's rate: give 1 to 10^12 bit/s, not " + std::to_string(rate_bps));
        if (overhead_bytes > 1024) throw std::invalid_argument("a line adds at most 1,024 bytes, not " + std::to_string(overhead_bytes));
        const uint64_t common = std::gcd(8 * units_per_second, rate_bps);
        units_ = 8 * units_per_second / common;
        per_bytes_ = rate_bps / common;
    }

    int64_t free_at() const { return free_at_; }

    // Occupy the link from `start` on, which is not before free_at().
    void send(int64_t start, uint32_t bytes) {
        if (start > free_at_) carry_ = 0;                                       // it was idle
        const uint64_t work = (uint64_t{bytes} + overhead_) * units_ + carry_;  // below 2^20 * 8 * 10^12 + 10^12 < 2^64
        if (per_bytes_ == 1) {
            free_at_ = start + static_cast<int64_t>(work);
        } else {
            free_at_ = start + static_cast<int64_t>(work / per_bytes_);
            carry_ = work % per_bytes_;
        }
    }

    // Throws std::invalid_argument for a packet that no model takes.
    void check(const DeadlinePacket& packet, int64_t now) const {
        if (packet.bytes == 0 || packet.bytes + overhead_ > kMaxBytes)
            throw std::invalid_argument("a packet has 1 to 1,048,576 bytes on the line, not " + std::to_string(packet.bytes));
        if (packet.arrival < now)
            throw std::invalid_argument("a packet arrives at " + std::to_string(packet.arrival) + ", but it is " + std::to_string(now) +
                                        " already");
        if (packet.deadline < packet.arrival || packet.deadline > kMaxTime)
            throw std::invalid_argument("a deadline is from the packet's arrival on up to 2^61, not " + std::to_string(packet.deadline));
    }

  private:
    int64_t free_at_ = 0;
    uint64_t units_;  // for per_bytes_ bytes
    uint64_t per_bytes_;
    uint64_t carry_ = 0;  // of a unit, in 1 / per_bytes_
    uint32_t overhead_;
};

// A queue before a link, not preemptive and never idle while something waits. A `Queue` has empty(), push(packet, sink) and
// pop(now, sink), which returns the packet that starts now, or none. `sink(packet, fate, time)` gets each packet's fate once.
template <typename Queue>
class DeadlineServer {
  public:
    DeadlineServer(DeadlineLink link, Queue queue) : link_(link), queue_(std::move(queue)) {}

    // Take a packet, after everything that starts before it arrives: what starts in the moment of an arrival is chosen with it.
    // Throws std::invalid_argument.
    template <typename Sink>
    void arrive(const DeadlinePacket& packet, Sink&& sink) {
        link_.check(packet, now_);
        advance(packet.arrival, sink);
        if (queue_.empty()) ready_ = packet.arrival;
        queue_.push(packet, sink);
    }

    // Serve what starts before `until`; nothing may arrive before that any more.
    template <typename Sink>
    void advance(int64_t until, Sink&& sink) {
        now_ = std::max(now_, until);
        while (!queue_.empty()) {
            const int64_t start = std::max(link_.free_at(), ready_);
            if (start >= until) return;
            const std::optional<DeadlinePacket> next = queue_.pop(start, sink);
            if (!next) continue;  // everything had expired
            link_.send(start, next->bytes);
            sink(*next, DeadlineFate::Sent, start);
        }
    }

    bool empty() const { return queue_.empty(); }
    Queue& queue() { return queue_; }

  private:
    DeadlineLink link_;
    Queue queue_;
    int64_t ready_ = 0;  // since when something has waited
    int64_t now_ = 0;
};

}  // namespace penstock
