// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Model of pst_access_edge_core: queue manager, scheduler and output FIFO, equal to the RTL at every port in every cycle.
//
// A cycle is begin(), then looks at what is offered and ready, then end(). Cycles before next_event() may be left out as long as nothing is
// offered and nothing taken. Time is in cycles since reset.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "blocks/queue/model/fast_queue_manager.hpp"
#include "blocks/schedule/model/event_schedule.hpp"
#include "penstock/engine/huge_pages.hpp"

namespace penstock {

// All that the core knows of a queue: one cache line.
struct alignas(64) CoreRecord {
    QueueState queue;
    ShaperState shaper;
};
static_assert(sizeof(CoreRecord) == 64);

struct CoreSetting {
    std::uint32_t queue = 0, burst = 0, limit_bytes = 0;
    std::uint16_t mantissa = 0, limit_packets = 0;
    std::uint8_t exponent = 0;
};

template <template <typename> class Schedule>
class CoreModel {
  public:
    using Manager = FastQueueManager<CoreRecord>;
    using Packet = Manager::Packet;
    struct Out {
        std::int64_t from;  // first cycle in which it is offered
        std::uint64_t tag;
        std::uint32_t queue, descriptor;
        std::uint16_t length;
    };

    CoreModel(std::uint32_t queues, std::uint32_t descriptors)
        : records_(queues), manager_(records_.data(), descriptors), schedule_(records_.data(), queues) {}

    static std::uint32_t init_cycles(std::uint32_t queues) { return Schedule<CoreRecord>::init_cycles(queues); }

    // As after reset; `now` is the first cycle with init_done_o.
    void start(std::int64_t now) {
        std::fill(records_.begin(), records_.end(), CoreRecord{});
        manager_.reset();
        schedule_.start(now);
        out_.clear();
        event_valid_ = false;
    }

    // ---- what can be seen in a cycle before it is stepped
    bool setting_ready() const { return schedule_.setting_room(); }
    bool enqueue_ready(bool setting_taken) const { return manager_.room() && !setting_taken; }
    bool out_valid(std::int64_t now) const { return !out_.empty() && out_.front().from <= now; }
    Out& out() { return out_.front(); }
    bool drop_valid() { return !manager_.drops().empty(); }
    std::uint32_t drop() { return manager_.drops().front(); }
    // The pulse of the last enqueue decision.
    bool event_valid() const { return event_valid_; }
    const Packet& event() const { return event_; }

    // One cycle: what is taken in it. Null: nothing.
    void step(std::int64_t now, const Packet* enqueue, bool out_taken, bool drop_taken, const CoreSetting* setting) {
        manager_.begin_cycle();
        event_valid_ = false;
        if (out_taken) out_.pop();
        schedule_.step(now, manager_, out_taken, setting != nullptr, [&](std::uint32_t queue, const Manager::Dequeued& packet) {
            out_.push({now + kOutLatency, packet.tag, queue, packet.descriptor, packet.length});
        });
        if (drop_taken) manager_.drops().pop();
        manager_.decide(now, [&](const Packet& packet) {
            event_ = packet;
            event_valid_ = true;
        });
        if (setting) {
            QueueState& queue = records_[setting->queue].queue;
            queue.limit_packets = setting->limit_packets;
            queue.limit_bytes = setting->limit_bytes;
            schedule_.write_setting(now, setting->queue, setting->mantissa, setting->exponent, setting->burst);
        }
        if (enqueue) manager_.offer(now, *enqueue);
        manager_.end_cycle();
    }

    // The next cycle after `now` that must be stepped when nothing is offered and nothing taken.
    std::int64_t next_event(std::int64_t now) const { return manager_.busy() || event_valid_ ? now + 1 : schedule_.next_event(now); }
    // When the next packet is offered at the output, as far as it is known.
    std::int64_t next_out() const { return out_.empty() ? INT64_MAX : out_.front().from; }

    const QueueState& queue(std::uint32_t queue) const { return records_[queue].queue; }
    void prefetch(std::uint32_t queue) const { __builtin_prefetch(&records_[queue], 1); }

  private:
    // From the commit to the head of the output FIFO: the answer, and the FIFO.
    static constexpr std::int64_t kOutLatency = schedule_timing::kAnswer - schedule_timing::kTake + 1;

    std::vector<CoreRecord, HugePages<CoreRecord>> records_;
    Manager manager_;
    Schedule<CoreRecord> schedule_;
    mutable SmallFifo<Out, 64> out_;
    Packet event_{};
    bool event_valid_ = false;
};

using ShapedCore = CoreModel<ShapedSchedule>;
using PassthroughCore = CoreModel<PassthroughSchedule>;

}  // namespace penstock
