// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Model of PIE in the core: pst_access_edge_arrivals and pst_access_edge_judge, every verdict in its cycle, without a step for each cycle.
//
// The periodic walk over all queues is not followed: a queue's updates are made up for when it is touched, each with the delay and the
// setting that stood in the cycle in which the walk read them. Changes therefore wait until no update before them is outstanding.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "blocks/aqm/model/delay_estimate.hpp"
#include "blocks/aqm/model/pie.hpp"
#include "blocks/queue/model/fast_queue_manager.hpp"
#include "designs/access_edge/model/access_edge.hpp"

namespace penstock {

// As parameter Aqm of the RTL, and in the register of features.
enum class AqmKind {
    None = access_edge::values::kAqmKindNone,
    Codel = access_edge::values::kAqmKindCodel,
    Pie = access_edge::values::kAqmKindPie,
};

// What an AQM is built with.
struct AqmParameters {
    int tick_shift = 8;  // a tick is 2^tick_shift cycles
    std::uint32_t max_packet_bytes = 1514;
    std::int64_t update_ticks = pie_defaults::kUpdateTicks, alpha = pie_defaults::kAlpha, beta = pie_defaults::kBeta;  // PIE
};

// A packet that was taken from its queue and goes through pst_access_edge_judge.
struct TakenPacket {
    std::int64_t commit;
    std::uint64_t tag;
    std::uint32_t queue, descriptor, left;
    std::uint16_t length, mantissa;
    std::uint8_t exponent;
    bool judged;
    AqmVerdict verdict;
};

// Cycles of pst_access_edge_arrivals and pst_pie; a change of their pipelines is a change of these.
namespace pie_timing {
inline constexpr int kOffer = 5;            // from the handshake, with which it comes to pst_pie, to the queue manager
inline constexpr int kPassed = 3;           // from a dequeue's commit to the output FIFO
inline constexpr int kLeft = 2;             // from a dequeue's commit until its queue's backlog is known at the arrivals
inline constexpr int kUpdate = 7;           // from an update's reading to its writing
inline constexpr unsigned kOutDepth = 16;   // judged frames that wait for the queue manager
inline constexpr unsigned kOutReserve = 6;  // frames that may still come when they have no room
inline constexpr unsigned kPageDepth = 4;   // pages of dropped frames
inline constexpr std::uint32_t kGuard = 2 * pie_defaults::kMeanPacketBytes;
}  // namespace pie_timing

// PIE of all queues against the clock: when each is updated, and what it is updated with.
class TimedPie {
  public:
    TimedPie(std::uint32_t queues, const AqmParameters& p)
        : pie_(queues, p.update_ticks, p.alpha, p.beta),
          walks_(queues),
          shift_(p.tick_shift),
          period_(p.update_ticks),
          begun_((static_cast<std::int64_t>(queues) - 1) >> p.tick_shift) {}

    // A departure's delay, and a setting, with the cycle in which each is written; each kind in the order of these.
    void depart(std::int64_t cycle, std::uint32_t queue, std::int64_t delay, std::uint32_t left) {
        departures_.push({cycle, queue, left, delay});
    }
    void set(std::int64_t cycle, std::uint32_t queue, const PieSetting& setting) { settings_.push({cycle, queue, setting}); }

    // What was written until `cycle` counts. Nothing older may be written any more.
    void advance(std::int64_t cycle) {
        for (;;) {
            const std::int64_t departure = departures_.empty() ? INT64_MAX : departures_.front().cycle;
            const std::int64_t setting = settings_.empty() ? INT64_MAX : settings_.front().cycle;
            if (std::min(departure, setting) > cycle) return;
            if (departure < setting) {
                const Departure& d = departures_.front();
                update(d.queue, d.cycle - 1);
                pie_.depart(d.queue, d.delay, d.left);
                departures_.pop();
            } else {
                const Setting& s = settings_.front();
                update(s.queue, s.cycle - 1);
                pie_.set(s.queue, s.setting);
                settings_.pop();
            }
        }
    }

    // Judges an arrival that comes to pst_pie in `cycle`.
    AqmVerdict arrive(std::int64_t cycle, std::uint32_t queue, std::uint32_t backlog, bool ect) {
        update(queue, cycle - pie_timing::kUpdate);
        return pie_.arrive(queue, backlog, ect, random_.next());
    }

  private:
    struct Departure {
        std::int64_t cycle;
        std::uint32_t queue, left;
        std::int64_t delay;
    };
    struct Setting {
        std::int64_t cycle;
        std::uint32_t queue;
        PieSetting setting;
    };

    // The queue's updates that read until `cycle`. Walk n begins one cycle after tick begun + n * period, and reads a queue a cycle.
    void update(std::uint32_t queue, std::int64_t cycle) {
        const auto reads = [&] { return ((begun_ + (walks_[queue] + 1) * period_) << shift_) + 1 + queue; };
        for (; reads() <= cycle; ++walks_[queue]) pie_.update(queue, pie_.state(queue).delay);
    }

    Pie pie_;
    PieRandom random_;
    std::vector<std::int64_t> walks_;  // by queue, so many have come by
    int shift_;
    std::int64_t period_, begun_;
    SmallFifo<Departure, 32> departures_;
    SmallFifo<Setting, 32> settings_;
};

template <bool Estimate>
class PieJudge {
  public:
    static constexpr bool kJudges = true, kArrivals = true;
    static constexpr int kVerdictStages = 0;        // the scheduler does not wait
    static constexpr int kTake = Estimate ? 5 : 3;  // cycles from the commit of the dequeue until pst_pie has it

    using Taken = TakenPacket;
    struct Arrived {
        std::int64_t from;  // first cycle in which it is offered to the queue manager
        QueuedPacket packet;
        bool mark, drop;
    };

    PieJudge(std::uint32_t queues, std::uint32_t descriptors, const AqmParameters& parameters)
        : shift_(parameters.tick_shift), pie_(queues, parameters), packets_(descriptors), long_(queues) {}

    void set(std::int64_t now, std::uint32_t queue, bool enable, bool ecn, std::uint32_t target, std::uint32_t max_burst) {
        pie_.set(now, queue, {enable, ecn, target, max_burst});
    }

    // ---- arrivals
    bool room() const { return room_; }
    // The next cycle in which something happens here.
    std::int64_t next_event(std::int64_t now) const {
        if (!room_ || !pages_.empty()) return now + 1;
        std::int64_t next = INT64_MAX;
        if (!line_.empty()) next = line_.front().from;
        if (!taken_.empty()) next = std::min(next, taken_.front().commit + pie_timing::kPassed);
        return std::max(next, now + 1);
    }
    void arrive(std::int64_t now, const QueuedPacket& packet, bool ect) {
        Arrived a{now + pie_timing::kOffer, packet, false, false};
        if (packet.reason == 0) {
            const std::uint32_t backlog = long_[packet.queue] ? UINT32_MAX : 0;
            const AqmVerdict verdict = pie_.arrive(now, packet.queue, backlog, ect);
            a.mark = verdict == AqmVerdict::Mark;
            a.drop = verdict == AqmVerdict::Drop;
            if (a.drop) a.packet.reason = 8;
        }
        line_.push(a);
    }
    // The judged frame that the queue manager may take in this cycle, or null.
    const Arrived* offered(std::int64_t now) {
        if (line_.empty() || line_.front().from > now || (line_.front().drop && pages_.size() == pie_timing::kPageDepth)) return nullptr;
        return &line_.front();
    }
    // The queue manager takes it.
    void enqueue(std::int64_t now) {
        const Arrived& a = line_.front();
        if (a.packet.reason == 0) packets_[a.packet.descriptor] = {now >> shift_, a.mark};
        if (a.drop) pages_.push(a.packet.descriptor);
        line_.pop();
    }
    SmallFifo<std::uint32_t, 8>& pages() { return pages_; }

    // ---- departures
    void take(Taken taken) {
        const Enqueued& e = packets_[taken.descriptor];
        taken.verdict = e.mark ? AqmVerdict::Mark : AqmVerdict::Pass;
        taken_.push(taken);
        left_.push({taken.commit + pie_timing::kLeft, taken.queue, taken.left > pie_timing::kGuard});
        const std::int64_t delay = Estimate ? delay_estimate(taken.left + taken.length, taken.mantissa, taken.exponent, shift_)
                                            : ((taken.commit + kTake) >> shift_) - e.tick;
        pie_.depart(taken.commit + kTake + 1, taken.queue, delay, taken.left);
    }
    Taken* judged(std::int64_t now) {
        return !taken_.empty() && taken_.front().commit + pie_timing::kPassed == now ? &taken_.front() : nullptr;
    }
    void pop() { taken_.pop(); }

    // The beginning of a cycle.
    void step(std::int64_t now) {
        for (; !left_.empty() && left_.front().cycle <= now; left_.pop()) long_[left_.front().queue] = left_.front().is_long;
        pie_.advance(now - pie_timing::kUpdate);
        unsigned level = 0;
        while (level < line_.size() && line_.at(level).from <= now) ++level;
        room_next_ = level <= pie_timing::kOutDepth - pie_timing::kOutReserve;
    }
    void end_cycle() { room_ = room_next_; }

  private:
    struct Enqueued {
        std::int64_t tick;
        bool mark;
    };
    struct Left {
        std::int64_t cycle;
        std::uint32_t queue;
        bool is_long;
    };

    int shift_;
    TimedPie pie_;
    std::vector<Enqueued> packets_;   // by descriptor
    std::vector<std::uint8_t> long_;  // by queue: the latest departure left more than the guard protects
    SmallFifo<Arrived, 32> line_;
    SmallFifo<std::uint32_t, 8> pages_;
    SmallFifo<Taken, 16> taken_;
    SmallFifo<Left, 16> left_;
    bool room_ = false, room_next_ = false;
};

}  // namespace penstock
