// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Model of pst_access_edge_core: queue manager or flow queues, scheduler, AQM, hierarchy and output FIFO, equal to the RTL at every port in
// every cycle.
//
// A cycle is begin(), then looks at what is offered and ready, then end(). Cycles before next_event() may be left out as long as nothing is
// offered and nothing taken. Time is in cycles since reset.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "blocks/aqm/model/aqm_model.hpp"
#include "blocks/common/model/settings.hpp"
#include "blocks/hierarchy/model/timed_hierarchy.hpp"
#include "blocks/queue/model/fast_queue_manager.hpp"
#include "blocks/schedule/model/event_schedule.hpp"
#include "blocks/schedule/model/own_schedule.hpp"
#include "blocks/schedule/model/send_ahead.hpp"
#include "designs/access_edge/model/aqm_judges.hpp"
#include "designs/access_edge/model/flow_manager.hpp"
#include "penstock/engine/huge_pages.hpp"

namespace penstock {

// All that the core knows of a queue: one cache line.
struct alignas(64) CoreRecord {
    QueueState queue;
    ShaperState shaper;
};
static_assert(sizeof(CoreRecord) == 64);

struct CoreSetting {
    static constexpr std::uint32_t kSidesAt = 14;  // in `quantum`
    std::uint32_t queue = 0, burst = 0, limit_bytes = 0;
    std::uint16_t mantissa = 0, limit_packets = 0;
    std::uint8_t exponent = 0;
    AqmSetting aqm{};
    std::uint8_t share_class = 0;  // for the admission, which is before the core
    std::uint16_t quantum = 0;     // with flow queues: bytes of a flow's turn, 0: the largest packet; above them sides whose hosts count
};

// No hierarchy: what leaves the output FIFO leaves the core.
struct NoHierarchy {
    static constexpr bool kHierarchy = false;
    NoHierarchy(std::uint32_t, const HierarchySizes&, std::uint32_t, int) {}
};

// pst_hierarchy and what stands before it.
struct CoreHierarchy : TimedHierarchy {
    static constexpr bool kHierarchy = true;
    using TimedHierarchy::TimedHierarchy;
    SendAhead<Packet> ahead;
};

// With a hierarchy the scheduler waits a cycle longer than the verdict takes: a queue shall not come round faster than the hierarchy takes
// its packets.
template <typename Judge>
inline constexpr bool kPaced = Judge::kVerdictStages == 1;

template <template <typename> class Schedule, typename Judge = NoJudge, typename Hierarchy = NoHierarchy,
          template <typename> class ManagerOf = FastQueueManager>
class CoreModel {
  public:
    using Manager = ManagerOf<CoreRecord>;
    static constexpr bool kFlows = std::is_same_v<Manager, FlowManager<CoreRecord>>;
    using Packet = typename Manager::Packet;
    // An AQM; one that judges arrivals; a hierarchy.
    static constexpr bool kJudges = Judge::kJudges, kArrivals = Judge::kArrivals, kHierarchy = Hierarchy::kHierarchy;
    struct Out {
        std::int64_t from;  // first cycle in which it is offered
        std::uint64_t tag;
        std::uint32_t queue, descriptor;
        std::uint16_t length;
        bool mark, drop;  // drop: it is not sent, its page is freed
        bool empties;     // it has left its queue empty
    };

    // own: of a core with an own scheduler, which. tolerance, time_width: ToleranceCycles and TimeWidth of the RTL.
    CoreModel(std::uint32_t queues, std::uint32_t descriptors, const CoreAqm& aqm = {}, const HierarchySizes& hierarchy = {},
              const OwnScheduler& own = {}, std::uint32_t tolerance = schedule_timing::kTolerance, int time_width = kLeastTimeWidth,
              const FlowSizes& flows = {})
        : records_(queues),
          manager_(make_manager(records_.data(), queues, descriptors, flows)),
          schedule_(make_schedule(records_.data(), queues, own, tolerance, time_width)),
          judge_(queues, descriptors, aqm),
          hierarchy_(queues, hierarchy, tolerance, time_width) {}

    // Cycles after reset until init_done_o, which is a register.
    static std::uint32_t init_cycles(std::uint32_t queues, [[maybe_unused]] const FlowSizes& flows = {}) {
        std::uint32_t cycles = Schedule<CoreRecord>::init_cycles(queues);
        if constexpr (kFlows) cycles = std::max(cycles, std::max(kJudges ? flows.flows : 0, Manager::init_cycles(queues, flows)));
        return cycles + 1;
    }

    // As after reset; `now` is the first cycle with init_done_o.
    void start(std::int64_t now) {
        std::fill(records_.begin(), records_.end(), CoreRecord{});
        if constexpr (kFlows)
            manager_.start(now);
        else
            manager_.reset();
        if constexpr (kFlows) {
            // The scheduler walks from when its own memories are cleared, long before those of the flow queues are.
            const std::int64_t cleared = Schedule<CoreRecord>::init_cycles(static_cast<std::uint32_t>(records_.size()));
            schedule_.start(cleared);
            manager_.begin_cycle();
            schedule_.step(cleared, manager_, false, false,
                           [](std::uint32_t, const typename Manager::Dequeued&, const ShaperState&, bool, bool) {});
        } else {
            schedule_.start(now - 1);
        }
        if constexpr (kHierarchy) hierarchy_.reset();
        turns_.clear();
        credit_ = false;
        out_.clear();
        event_valid_ = false;
        setting_taken_ = false;
    }

    // ---- what can be seen in a cycle before it is stepped
    // Not in the cycle after a setting, which is one for packets.
    bool setting_ready() const { return schedule_.setting_room() && !setting_taken_; }
    // setting_taken: or a profile of settings is asked for.
    bool enqueue_ready(bool setting_taken) const {
        if constexpr (kArrivals)
            return judge_.room();
        else
            return manager_.room() && !setting_taken;
    }
    bool out_valid(std::int64_t now) const {
        if constexpr (kHierarchy) return hierarchy_.out_valid(now);
        return head_valid(now) && !(kJudges && out_.front().drop);
    }
    // The packet that is offered: its fields tag, queue, descriptor, length, mark.
    const auto& out() {
        if constexpr (kHierarchy)
            return hierarchy_.out();
        else
            return out_.front();
    }
    bool drop_valid() { return !manager_.drops().empty(); }
    std::uint32_t drop() { return manager_.drops().front(); }
    // A page dropped by the AQM: at the head, or on arrival.
    bool drop_head_valid(std::int64_t now) {
        if constexpr (kArrivals)
            return !judge_.pages().empty();
        else
            return kJudges && head_valid(now) && out_.front().drop;
    }
    std::uint32_t drop_head() {
        if constexpr (kArrivals)
            return judge_.pages().front();
        else
            return out_.front().descriptor;
    }
    // The packet that was taken from its queue and is judged in this cycle, or null.
    const auto* judged(std::int64_t now) { return judge_.judged(now); }
    // The pulse of the last enqueue decision.
    bool event_valid() const { return event_valid_; }
    const Packet& event() const { return event_; }

    // A setting of the hierarchy can be taken.
    bool hierarchy_setting_ready() const {
        if constexpr (kHierarchy) return hierarchy_.setting_ready();
        return true;
    }

    // One cycle: what is taken in it. Null: nothing. out_taken: the packet that is offered; head_taken: the page dropped by the AQM;
    // ect: the packet may be marked.
    void step(std::int64_t now, const Packet* enqueue, bool out_taken, bool drop_taken, const CoreSetting* setting, bool ect = false,
              bool head_taken = false, [[maybe_unused]] const HierarchySetting* hierarchy_setting = nullptr) {
        manager_.begin_cycle();
        event_valid_ = false;
        setting_taken_ = setting != nullptr;
        const bool at_head = !kArrivals && head_taken;  // that page stands at the head of the output
        bool credit = out_taken || at_head, ahead_room = false;
        if constexpr (kHierarchy) {
            const bool gone = step_hierarchy(now, out_taken, at_head, hierarchy_setting);
            if (gone) out_.pop();
            credit = std::exchange(credit_, gone);
            ahead_room = hierarchy_.ahead.room();
        } else if (credit) {
            out_.pop();
        }
        bool dropped = false;
        if constexpr (kJudges) {
            judge_.step(now);
            if (const auto* p = judge_.judged(now)) {
                dropped = p->verdict == AqmVerdict::Drop;
                if constexpr (kFlows) manager_.verdict(dropped);
                out_.push({now + 1, p->tag, p->queue, p->descriptor, p->length, p->verdict == AqmVerdict::Mark, dropped, p->empties});
                judge_.pop();
            }
        }
        const auto left = [&](std::uint32_t queue, const typename Manager::Dequeued& packet, const ShaperState& shaper,
                              [[maybe_unused]] bool ahead, [[maybe_unused]] bool through) {
            if constexpr (kJudges)
                judge_.take({now, packet.tag, queue, manager_.judged_as(queue, packet), packet.descriptor,
                             manager_.left_behind(queue, packet), packet.length, shaper.mantissa, shaper.exponent, packet.empties(), false,
                             AqmVerdict::Pass});
            else
                out_.push({now + kOutLatency, packet.tag, queue, packet.descriptor, packet.length, false, false, packet.empties()});
            if constexpr (kHierarchy) {
                hierarchy_.prefetch(queue);
                turns_.push(ahead ? hierarchy_.ahead.reserve(now, queue, through) : kNoPlace);
            }
        };
        schedule_.step(now, manager_, credit, setting != nullptr, left,
                       kHierarchy && kPaced<Judge> ? std::exchange(dropped_, dropped) : dropped, ahead_room);
        if (drop_taken) manager_.drops().pop();
        manager_.decide(now, [&](const Packet& packet) {
            event_ = packet;
            event_valid_ = true;
            if constexpr (kOwnSchedule)
                if (packet.reason == 0) schedule_.accepted(now, packet.queue, packet.length, manager_.bytes(packet.queue));
        });
        if (setting) {
            if constexpr (kFlows)
                manager_.set(setting->queue, setting->limit_packets, setting->limit_bytes,
                             setting->quantum & ((1u << CoreSetting::kSidesAt) - 1), setting->quantum >> CoreSetting::kSidesAt);
            else
                manager_.set(setting->queue, setting->limit_packets, setting->limit_bytes);
            schedule_.write_setting(now, setting->queue, setting->mantissa, setting->exponent, setting->burst);
            if constexpr (kJudges) judge_.set(now, setting->queue, setting->aqm);
        }
        if constexpr (kArrivals) {
            if (const auto* judged = manager_.room() && !setting ? judge_.offered(now) : nullptr) {
                manager_.offer(now, judged->packet);
                judge_.enqueue(now);
            }
            if (head_taken) judge_.pages().pop();
            if (enqueue) judge_.arrive(now, *enqueue, ect);
            judge_.end_cycle();
        } else if (enqueue) {
            manager_.offer(now, *enqueue);
            if constexpr (kJudges)
                if (enqueue->reason == 0) judge_.enqueue(now, enqueue->descriptor, ect);
        }
        manager_.end_cycle();
    }

    // The next cycle after `now` that must be stepped when nothing is offered and nothing taken.
    std::int64_t next_event(std::int64_t now) const {
        if (manager_.busy() || event_valid_ || setting_taken_) return now + 1;
        std::int64_t next = schedule_.next_event(now);
        if constexpr (kArrivals) next = std::min(next, judge_.next_event(now));
        if constexpr (kHierarchy) {
            if (next == now + 1 || credit_) return now + 1;
            next = std::min({next, hierarchy_.next_event(now), std::max(hierarchy_.next_done(), now + 1)});
            const bool straight = !out_.empty() && !out_.front().drop && turns_.front() == kNoPlace;
            if (!out_.empty() && !(straight && hierarchy_.blocked())) next = std::min(next, std::max(out_.front().from, now + 1));
            if (!hierarchy_.blocked() && hierarchy_.ahead.busy()) next = now + 1;
        }
        return next;
    }
    // When the next packet is offered at the output, as far as it is known.
    std::int64_t next_out() const {
        if constexpr (kHierarchy) return hierarchy_.next_out();
        return out_.empty() ? INT64_MAX : out_.front().from;
    }

    const QueueState& queue(std::uint32_t queue) const { return records_[queue].queue; }
    // What a look into a queue finds: packets and bytes; with flow queues those in them.
    std::pair<std::uint32_t, std::uint32_t> backlog(std::uint32_t queue) const {
        if constexpr (kFlows)
            return {std::min<std::uint32_t>(manager_.lanes().packets_of(queue), settings::kMostLimitPackets),
                    std::min<std::uint32_t>(manager_.lanes().bytes_of(queue), settings::kMostLimitBytes)};
        else
            return {records_[queue].queue.packets, records_[queue].queue.bytes};
    }
    // With flow queues: most packets in all of them; how many there are; bytes of a flow's turn in a queue.
    void set_flow_limit([[maybe_unused]] std::uint32_t packets) {
        if constexpr (kFlows) manager_.set_limit(packets);
    }
    std::uint32_t flow_packets() const {
        if constexpr (kFlows) return manager_.lanes().packets();
        return 0;
    }
    std::uint32_t quantum([[maybe_unused]] std::uint32_t queue) const {
        if constexpr (kFlows) return manager_.lanes().setting_of(queue).quantum;
        return 0;
    }
    // Sides whose hosts share the queue first.
    std::uint32_t sides([[maybe_unused]] std::uint32_t queue) const {
        if constexpr (kFlows) return manager_.lanes().setting_of(queue).sides;
        return 0;
    }
    // How long the first packet of a queue has been in it, cycles since its tick began; 0 without a packet, or without time stamps.
    std::int64_t head_sojourn([[maybe_unused]] std::uint32_t queue, [[maybe_unused]] std::int64_t now) const {
        if constexpr (kJudges && !kFlows)
            if (records_[queue].queue.packets != 0) return judge_.sojourn(records_[queue].queue.head, now);
        return 0;
    }
    // Settings as they are now.
    AqmSetting aqm_setting([[maybe_unused]] std::uint32_t queue) const {
        if constexpr (kJudges) return judge_.setting(queue);
        return {};
    }
    ShaperSetting shaper(std::uint32_t queue) const {
        const ShaperState& shaper = records_[queue].shaper;
        return {shaper.mantissa, shaper.exponent, shaper.burst};
    }
    HierarchySetting hierarchy_setting(HierarchySetting::What what, std::uint32_t id) const {
        if constexpr (kHierarchy) return hierarchy_.setting(what, id);
        return {what, id};
    }
    void prefetch(std::uint32_t queue) const { __builtin_prefetch(&records_[queue], 1); }

  private:
    static constexpr bool kOwnSchedule = std::is_same_v<Schedule<CoreRecord>, OwnSchedule<CoreRecord>>;

    static Manager make_manager(CoreRecord* records, [[maybe_unused]] std::uint32_t queues, std::uint32_t descriptors,
                                [[maybe_unused]] const FlowSizes& flows) {
        if constexpr (kFlows)
            return Manager(records, queues, descriptors, flows, !kJudges);
        else
            return Manager(records, descriptors);
    }

    static Schedule<CoreRecord> make_schedule(CoreRecord* records, std::uint32_t queues, [[maybe_unused]] const OwnScheduler& own,
                                              [[maybe_unused]] std::uint32_t tolerance, [[maybe_unused]] int time_width) {
        if constexpr (kOwnSchedule)
            return Schedule<CoreRecord>(records, queues, own);
        else if constexpr (std::is_constructible_v<Schedule<CoreRecord>, CoreRecord*, std::uint32_t, std::uint32_t, int>)
            return Schedule<CoreRecord>(records, queues, tolerance, time_width);
        else
            return Schedule<CoreRecord>(records, queues);
    }

    // From the commit to the head of the output FIFO: the answer, and the FIFO.
    static constexpr std::int64_t kOutLatency = schedule_timing::kAnswer - schedule_timing::kTake + 1;

    // What leaves the output FIFO goes to the hierarchy, in turn with packets that were sent ahead; those that are, to their places.
    // Returns whether the FIFO's head is taken.
    bool step_hierarchy(std::int64_t now, bool out_taken, bool head_taken, const HierarchySetting* setting) {
        hierarchy_.ahead.begin();
        if (schedule_.told()) hierarchy_.told(now);  // in the last cycle
        if (hierarchy_.done_valid(now)) {
            hierarchy_.ahead.done(now, hierarchy_.done());
            hierarchy_.note_done(now, schedule_.done(now, hierarchy_.done(), hierarchy_.done_slow()));
        }
        const bool head = head_valid(now) && !out_.front().drop, come = head && turns_.front() != kNoPlace, straight = head && !come;
        TimedHierarchy::Packet packet;
        if (head)
            packet = {out_.front().tag,    out_.front().queue, out_.front().descriptor,
                      out_.front().length, out_.front().mark,  out_.front().empties};
        if (setting) hierarchy_.offer(now, *setting);
        const TimedHierarchy::Packet* const ahead = hierarchy_.ahead.offer(now, straight);
        const bool taken = hierarchy_.step(now, ahead ? ahead : straight ? &packet : nullptr, out_taken);
        if (taken) hierarchy_.ahead.taken(ahead != nullptr);
        if (come) hierarchy_.ahead.come(now, turns_.front(), packet);
        if (head_taken && turns_.front() != kNoPlace) hierarchy_.ahead.drop(turns_.front());
        const bool gone = come || head_taken || (taken && !ahead);
        if (gone) turns_.pop();
        return gone;
    }

    bool head_valid(std::int64_t now) const { return !out_.empty() && out_.front().from <= now; }

    std::vector<CoreRecord, HugePages<CoreRecord>> records_;
    Manager manager_;
    Schedule<CoreRecord> schedule_;
    [[no_unique_address]] Judge judge_;
    [[no_unique_address]] Hierarchy hierarchy_;
    mutable SmallFifo<Out, 64> out_;
    Packet event_{};
    bool event_valid_ = false;
    bool setting_taken_ = false;  // in the last cycle
    bool dropped_ = false;        // with a hierarchy: the packet judged in the last cycle was dropped
    bool credit_ = false;         // with a hierarchy: a packet left the output FIFO in the last cycle
    SmallFifo<int, 64> turns_;    // with a hierarchy, of each packet that has left its queue: its place in `ahead`
};

template <typename Judge, bool Hierarchy>
struct ScheduleFor {
    template <typename Record>
    using Of = ShapedSchedule<Record, Judge::kVerdictStages + (Hierarchy && kPaced<Judge>), Hierarchy>;
};

template <typename Judge>
using FlowCoreFor = CoreModel<ScheduleFor<Judge, false>::template Of, Judge, NoHierarchy, FlowManager>;
template <typename Judge>
using FlowHierarchyCoreFor = CoreModel<ScheduleFor<Judge, true>::template Of, Judge, CoreHierarchy, FlowManager>;

using PassthroughCore = CoreModel<PassthroughSchedule>;
using OwnCore = CoreModel<OwnSchedule>;
template <typename Judge>
using JudgedCore = CoreModel<ScheduleFor<Judge, false>::template Of, Judge>;
template <typename Judge>
using HierarchyCoreFor = CoreModel<ScheduleFor<Judge, true>::template Of, Judge, CoreHierarchy>;
using ShapedCore = JudgedCore<NoJudge>;
using HierarchyCore = HierarchyCoreFor<NoJudge>;

}  // namespace penstock
