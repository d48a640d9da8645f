// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Models of pst_access_edge_judge and pst_access_edge_arrivals: what an AQM, whichever it is, is told and asked in the core, every verdict
// in its cycle, without a step for each cycle. One judge for AQMs that judge departures, one for those that judge arrivals.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "blocks/aqm/model/aqm_model.hpp"
#include "blocks/aqm/model/delay_estimate.hpp"
#include "blocks/common/model/drop.hpp"
#include "blocks/queue/model/fast_queue_manager.hpp"

namespace penstock {

// The AQM of a core: its model, and the ticks that it counts in.
struct CoreAqm {
    std::shared_ptr<AqmModel> model;  // null: there is none
    int tick_shift = 8;               // a tick is 2^tick_shift cycles
};

// A packet that was taken from its queue and goes through pst_access_edge_judge.
struct TakenPacket {
    std::int64_t commit;
    std::uint64_t tag;
    std::uint32_t queue;
    std::uint32_t flow;  // whose state counts: its queue, or with flow queues its flow queue
    std::uint32_t descriptor, left;
    std::uint16_t length, mantissa;
    std::uint8_t exponent;
    bool empties;  // it has left its queue empty
    bool judged;
    AqmVerdict verdict;
};

// Cycles of pst_access_edge_arrivals and pst_access_edge_judge; a change of their pipelines is a change of these.
namespace judge_timing {
inline constexpr int kLook = 1;             // from a dequeue's commit until the AQM looks at its queue
inline constexpr int kTake = 3;             // until it has the packet
inline constexpr int kEstimate = 2;         // an estimated delay makes both so much later
inline constexpr int kVerdict = 2;          // from the packet to its verdict
inline constexpr int kOffer = 5;            // from an arrival's handshake, with which it comes to the AQM, to the queue manager
inline constexpr int kPassed = 3;           // judging arrivals: from a dequeue's commit to the output FIFO
inline constexpr int kLeft = 2;             // from a dequeue's commit until its queue's backlog is known at the arrivals
inline constexpr unsigned kOutDepth = 16;   // judged frames that wait for the queue manager
inline constexpr unsigned kOutReserve = 6;  // frames that may still come when they have no room
inline constexpr unsigned kPageDepth = 4;   // pages of dropped frames
}  // namespace judge_timing

// No AQM: every packet that is taken from its queue is sent, and known to be with the queue manager's answer.
struct NoJudge {
    static constexpr bool kJudges = false, kArrivals = false;
    static constexpr int kVerdictStages = 0;
    NoJudge(std::uint32_t, std::uint32_t, const CoreAqm&) {}
};

// What is kept of each packet in a queue, by descriptor.
struct EnqueuedPacket {
    std::int64_t tick;
    bool ecn;  // it may be marked; judging arrivals: it is
};

// What an AQM is told of a packet that it has in cycle `cycle`: its delay by a time stamp, or estimated.
template <bool Estimate>
AqmDeparture departure(const TakenPacket& p, const EnqueuedPacket& enqueued, std::int64_t cycle, int shift) {
    const std::int64_t now = cycle >> shift;
    const std::int64_t sojourn = Estimate ? delay_estimate(p.left + p.length, p.mantissa, p.exponent, shift) : now - enqueued.tick;
    return {cycle, now, sojourn, p.flow, p.left, p.length, enqueued.ecn, p.queue};
}

// The AQM judges departures: the scheduler waits for its verdict.
template <bool Estimate>
class DepartureJudge {
  public:
    static constexpr bool kJudges = true, kArrivals = false;
    static constexpr int kVerdictStages = Estimate ? 3 : 1;

    using Taken = TakenPacket;

    DepartureJudge(std::uint32_t, std::uint32_t descriptors, CoreAqm aqm)
        : shift_(aqm.tick_shift), model_(std::move(aqm.model)), packets_(descriptors) {}

    void set(std::int64_t now, std::uint32_t queue, const AqmSetting& setting) { model_->set(now, queue, setting); }
    AqmSetting setting(std::uint32_t queue) const { return model_->setting(queue); }
    void enqueue(std::int64_t now, std::uint32_t descriptor, bool ect) { packets_[descriptor] = {now >> shift_, ect}; }
    // Cycles since the tick began in which this packet came; 0 without time stamps.
    std::int64_t sojourn(std::uint32_t descriptor, std::int64_t now) const {
        return Estimate ? 0 : now - (packets_[descriptor].tick << shift_);
    }
    void take(const Taken& taken) { taken_.push(taken); }
    // The packet whose verdict is known in this cycle, or null.
    Taken* judged(std::int64_t now) {
        return !taken_.empty() && taken_.front().commit + kTake + judge_timing::kVerdict == now ? &taken_.front() : nullptr;
    }
    void pop() { taken_.pop(); }
    // Judges the packet whose setting was read in the last cycle. Settings of this cycle come after this call.
    void step(std::int64_t now) {
        for (unsigned i = 0; i < taken_.size(); ++i) {
            Taken& t = taken_.at(i);
            if (t.judged || t.commit + kLook + 1 != now) continue;
            t.verdict = model_->departs(departure<Estimate>(t, packets_[t.descriptor], t.commit + kTake, shift_));
            t.judged = true;
        }
    }

  private:
    static constexpr int kLook = judge_timing::kLook + Estimate * judge_timing::kEstimate;
    static constexpr int kTake = judge_timing::kTake + Estimate * judge_timing::kEstimate;

    int shift_;
    std::shared_ptr<AqmModel> model_;
    std::vector<EnqueuedPacket> packets_;  // by descriptor
    SmallFifo<Taken, 16> taken_;
};

// The AQM judges arrivals, in a delay line before the queue manager. Departures do not wait for it: it is told of them.
template <bool Estimate>
class ArrivalJudge {
  public:
    static constexpr bool kJudges = true, kArrivals = true;
    static constexpr int kVerdictStages = 0;  // the scheduler does not wait

    using Taken = TakenPacket;
    struct Arrived {
        std::int64_t from;  // first cycle in which it is offered to the queue manager
        QueuedPacket packet;
        bool mark, drop;
    };

    ArrivalJudge(std::uint32_t queues, std::uint32_t descriptors, CoreAqm aqm)
        : shift_(aqm.tick_shift), model_(std::move(aqm.model)), packets_(descriptors), backlog_(queues) {}

    void set(std::int64_t now, std::uint32_t queue, const AqmSetting& setting) { model_->set(now, queue, setting); }
    AqmSetting setting(std::uint32_t queue) const { return model_->setting(queue); }

    // ---- arrivals
    bool room() const { return room_; }
    // The next cycle in which something happens here.
    std::int64_t next_event(std::int64_t now) const {
        if (!room_ || !pages_.empty()) return now + 1;
        std::int64_t next = INT64_MAX;
        if (!line_.empty()) next = line_.front().from;
        if (!taken_.empty()) next = std::min(next, taken_.front().commit + judge_timing::kPassed);
        return std::max(next, now + 1);
    }
    void arrive(std::int64_t now, const QueuedPacket& packet, bool ect) {
        Arrived a{now + judge_timing::kOffer, packet, false, false};
        if (packet.reason == 0) {
            const AqmVerdict verdict = model_->arrives({now, now >> shift_, packet.queue, backlog_[packet.queue], ect});
            a.mark = verdict == AqmVerdict::Mark;
            a.drop = verdict == AqmVerdict::Drop;
            if (a.drop) a.packet.reason = static_cast<std::uint8_t>(Drop::Aqm);
        }
        line_.push(a);
    }
    // The judged frame that the queue manager may take in this cycle, or null.
    const Arrived* offered(std::int64_t now) {
        if (line_.empty() || line_.front().from > now || (line_.front().drop && pages_.size() == judge_timing::kPageDepth)) return nullptr;
        return &line_.front();
    }
    // The queue manager takes it.
    void enqueue(std::int64_t now) {
        const Arrived& a = line_.front();
        if (a.packet.reason == 0) packets_[a.packet.descriptor] = {now >> shift_, a.mark};
        if (a.drop) pages_.push(a.packet.descriptor);
        line_.pop();
    }
    // Cycles since the tick began in which this packet came; 0 without time stamps.
    std::int64_t sojourn(std::uint32_t descriptor, std::int64_t now) const {
        return Estimate ? 0 : now - (packets_[descriptor].tick << shift_);
    }
    SmallFifo<std::uint32_t, 8>& pages() { return pages_; }

    // ---- departures
    void take(Taken taken) {
        const EnqueuedPacket& e = packets_[taken.descriptor];
        taken.verdict = e.ecn ? AqmVerdict::Mark : AqmVerdict::Pass;
        taken_.push(taken);
        left_.push({taken.commit + judge_timing::kLeft, taken.queue, taken.left});
        departures_.push(departure<Estimate>(taken, e, taken.commit + kTake, shift_));
    }
    Taken* judged(std::int64_t now) {
        return !taken_.empty() && taken_.front().commit + judge_timing::kPassed == now ? &taken_.front() : nullptr;
    }
    void pop() { taken_.pop(); }

    // The beginning of a cycle.
    void step(std::int64_t now) {
        for (; !left_.empty() && left_.front().cycle <= now; left_.pop()) backlog_[left_.front().queue] = left_.front().bytes;
        for (; !departures_.empty() && departures_.front().cycle <= now; departures_.pop()) model_->departs(departures_.front());
        unsigned level = 0;
        while (level < line_.size() && line_.at(level).from <= now) ++level;
        room_next_ = level <= judge_timing::kOutDepth - judge_timing::kOutReserve;
    }
    void end_cycle() { room_ = room_next_; }

  private:
    static constexpr int kTake = judge_timing::kTake + Estimate * judge_timing::kEstimate;

    struct Left {
        std::int64_t cycle;
        std::uint32_t queue, bytes;
    };

    int shift_;
    std::shared_ptr<AqmModel> model_;
    std::vector<EnqueuedPacket> packets_;  // by descriptor
    std::vector<std::uint32_t> backlog_;   // by queue: bytes that the latest departure left
    SmallFifo<Arrived, 32> line_;
    SmallFifo<std::uint32_t, 8> pages_;
    SmallFifo<Taken, 16> taken_;
    SmallFifo<Left, 16> left_;
    SmallFifo<AqmDeparture, 16> departures_;  // that the AQM does not have yet
    bool room_ = false, room_next_ = false;
};

}  // namespace penstock
