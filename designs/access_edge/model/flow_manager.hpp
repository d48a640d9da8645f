// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Model of pst_access_edge_flows: flow queues in the place of the queue manager, with the calls of FastQueueManager.
//
// Each cycle must be called: busy() is always true.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "blocks/common/model/drop.hpp"
#include "blocks/fq/model/fq_lanes.hpp"
#include "blocks/queue/model/fast_queue_manager.hpp"

namespace penstock {

// Flow queues of a core; none: a queue manager.
struct FlowSizes {
    std::uint32_t flows = 0, lanes = 2, age_cycles = 64;
    std::uint32_t quantum = 1514;  // bytes of a flow's turn where a queue's setting is 0
    std::uint32_t host_bits = 0;   // hosts of a queue that are told apart, 0: flows alone
};

template <typename Record>
class FlowManager {
  public:
    using Packet = QueuedPacket;
    struct Dequeued {
        std::uint64_t tag;
        std::uint32_t descriptor;
        std::uint16_t length;
        bool backlogged;  // never: the queue is announced anew
        std::uint32_t flow, left;
        bool more;  // packets are left in the queue
        bool empties() const { return !more; }
    };

    // passes: nobody else says what becomes of a packet that was taken.
    FlowManager(Record* records, std::uint32_t queues, std::uint32_t descriptors, const FlowSizes& sizes, bool passes)
        : records_(records),
          lanes_(sizes.lanes, {queues, sizes.flows, descriptors, sizes.age_cycles, sizes.host_bits}),
          quantum_(sizes.quantum),
          hosts_(sizes.host_bits != 0),
          passes_(passes),
          tags_(descriptors) {}

    // Cycles after reset until the memories are cleared.
    static std::uint32_t init_cycles(std::uint32_t queues, const FlowSizes& sizes) {
        return std::max(sizes.flows, sizes.host_bits ? queues << sizes.host_bits : 0) / sizes.lanes;
    }

    // As after a reset; `now` is the first cycle that is stepped.
    void start(std::int64_t now) {
        lanes_.reset();
        in_.clear();
        look_.reset();
        next_look_.reset();
        pass_ = {};
        for (std::int64_t cycle = 0; cycle < now; ++cycle) lanes_.cycle(idle());
    }

    bool room() const { return in_.size() < kInDepth; }
    bool busy() const { return true; }
    bool dequeue_ready() const { return lanes_.look_ready(); }

    void begin_cycle() {
        input_ = idle();
        input_.pool = limit_;
        input_.look = look_;
        offered_.reset();
        dropped_.reset();
        if (passes_ && pass_[1]) input_.verdict = false;
    }

    void offer(std::int64_t, const Packet& packet) { offered_ = packet; }

    // The queue is asked for its packet in the next cycle.
    void expect(std::uint32_t queue) { next_look_ = queue; }

    std::uint32_t bytes(std::uint32_t queue) const { return records_[queue].queue.bytes; }
    std::uint32_t judged_as(std::uint32_t, const Dequeued& packet) const { return packet.flow; }
    std::uint32_t left_behind(std::uint32_t, const Dequeued& packet) const { return packet.left; }

    Dequeued dequeue(std::int64_t, std::uint32_t queue) {
        input_.take = true;
        const Fq::Left found = lanes_.staged(queue);
        count(queue, -1, found.packet.len);
        return {tags_[found.packet.desc],
                found.packet.desc,
                static_cast<std::uint16_t>(found.packet.len),
                false,
                found.flow,
                found.left,
                found.more};
    }

    // What became of the packet that was taken before all others without a verdict.
    void verdict(bool drop) { input_.verdict = drop; }

    void set(std::uint32_t queue, std::uint16_t packets, std::uint32_t bytes, std::uint32_t quantum, std::uint32_t sides) {
        records_[queue].queue.limit_packets = packets;
        records_[queue].queue.limit_bytes = bytes;
        input_.setting = Fq::Setting{queue, {quantum ? quantum : quantum_, packets, bytes, hosts_ ? sides : 0}};
    }
    // Most packets in all flow queues.
    void set_limit(std::uint32_t packets) { limit_ = packets; }

    // The event of this cycle: a packet is dropped, or one comes in.
    template <typename Decided>
    void decide(std::int64_t, Decided&& decided) {
        if (dropped_) {
            const Packet packet{dropped_->packet.desc, dropped_->queue, static_cast<std::uint16_t>(dropped_->packet.len),
                                static_cast<std::uint8_t>(Drop::FlowOverflow), tags_[dropped_->packet.desc]};
            count(packet.queue, -1, packet.length);
            note_dropped(packet);
            decided(packet);
            return;
        }
        if (in_.empty()) return;
        const Packet packet = in_.front();
        if (packet.reason == 0) {
            if (!lanes_.enqueue_ready(packet.queue)) return;
            tags_[packet.descriptor] = packet.tag;
            input_.enqueue = Fq::Enqueue{
                packet.queue, FqHashes::bucket(packet.hashes), {packet.descriptor, packet.length}, FqHashes::hosts(packet.hashes)};
            count(packet.queue, 1, packet.length);
            ++records_[packet.queue].queue.accepted_packets;
            records_[packet.queue].queue.accepted_bytes += packet.length;
        } else {
            note_dropped(packet);
        }
        in_.pop();
        decided(packet);
    }

    void end_cycle() {
        lanes_.cycle(input_);
        if (offered_) in_.push(*offered_);
        pass_[1] = pass_[0];
        pass_[0] = input_.take;
        look_ = next_look_;
        next_look_.reset();
    }

    // Announced queues, and descriptors that are dropped: one at a time.
    class Active {
      public:
        explicit Active(FlowManager& of) : of_(of) {}
        bool empty() const { return !of_.lanes_.active(); }
        std::uint32_t front() const { return of_.lanes_.active()->queue; }
        void pop() { of_.input_.active_ready = true; }

      private:
        FlowManager& of_;
    };
    class Drops {
      public:
        explicit Drops(FlowManager& of) : of_(of) {}
        bool empty() const { return !of_.lanes_.dropped(); }
        std::uint32_t front() const { return of_.lanes_.dropped()->packet.desc; }
        void pop() {
            of_.input_.drop_ready = true;
            of_.dropped_ = of_.lanes_.dropped();
        }

      private:
        FlowManager& of_;
    };
    Active active() { return Active(*this); }
    Drops drops() { return Drops(*this); }

    const FqLanes& lanes() const { return lanes_; }

  private:
    static constexpr unsigned kInDepth = 4;

    static FqLanes::Input idle() {
        FqLanes::Input in;
        in.active_ready = in.drop_ready = false;
        in.pool = UINT32_MAX;
        return in;
    }

    void count(std::uint32_t queue, int packets, std::uint32_t length) {
        QueueState& q = records_[queue].queue;
        q.packets = static_cast<std::uint16_t>(q.packets + packets);
        q.bytes += packets > 0 ? length : 0U - length;
    }
    void note_dropped(const Packet& packet) {
        ++records_[packet.queue].queue.dropped_packets;
        records_[packet.queue].queue.dropped_bytes += packet.length;
    }

    Record* records_;
    FqLanes lanes_;
    std::uint32_t quantum_, limit_ = UINT32_MAX;
    bool hosts_;
    bool passes_;
    std::vector<std::uint64_t> tags_;  // by descriptor
    SmallFifo<Packet, kInDepth> in_;
    FqLanes::Input input_;
    std::optional<Packet> offered_;
    std::optional<Fq::Dropped> dropped_;
    std::optional<std::uint32_t> look_, next_look_;  // the queue that is looked at in this cycle, in the next one
    std::array<bool, 2> pass_{};                     // a packet was taken one cycle ago, two cycles ago
};

}  // namespace penstock
