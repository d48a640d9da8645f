// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Model of pst_queue_manager for long runs: the same decisions in the same cycles, one compact record per queue, no allocation.
//
// queue_manager.hpp says what a queue manager does; this one adds when. In each cycle that matters the caller calls begin_cycle(), looks
// at active() and drops(), calls dequeue() for what is taken, decide(), offer(), end_cycle(). The records belong to the caller.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "../../common/model/settings.hpp"

namespace penstock {

inline constexpr std::uint32_t kNoPacket = 0xFFFF'FFFF;

// A FIFO of fixed capacity (a power of two).
template <typename T, unsigned Capacity>
class SmallFifo {
    static_assert((Capacity & (Capacity - 1)) == 0);

  public:
    bool empty() const { return head_ == tail_; }
    unsigned size() const { return tail_ - head_; }
    T& front() { return items_[head_ % Capacity]; }
    const T& front() const { return items_[head_ % Capacity]; }
    T& at(unsigned index) { return items_[(head_ + index) % Capacity]; }
    const T& at(unsigned index) const { return items_[(head_ + index) % Capacity]; }
    void push(const T& item) { items_[tail_++ % Capacity] = item; }
    // Behind all that are not greater.
    void push_in_order(const T& item) {
        push(item);
        for (unsigned n = size() - 1; n > 0 && at(n) < at(n - 1); --n) std::swap(at(n - 1), at(n));
    }
    void pop() { ++head_; }
    void clear() { head_ = tail_ = 0; }

  private:
    T items_[Capacity];
    unsigned head_ = 0, tail_ = 0;
};

// What a queue manager knows of one queue, and its counters.
struct QueueState {
    std::uint32_t head = kNoPacket, tail = kNoPacket;  // descriptors
    std::uint32_t accepted_packets = 0;                // since reset, modulo 2^32
    std::uint16_t packets = 0;                         // in the queue
    std::uint16_t limit_packets = settings::kMostLimitPackets;
    std::uint64_t accepted_bytes = 0;
    std::uint32_t bytes = 0;  // in the queue
    std::uint32_t limit_bytes = settings::kMostLimitBytes;
    std::uint64_t dropped_bytes = 0;
    std::uint32_t dropped_packets = 0;
    std::uint32_t reserved = 0;
};

// Cycles of pst_queue_manager; a change of its pipeline is a change of these.
namespace queue_timing {
inline constexpr int kDecide = 3;           // from the handshake to decision and commit
inline constexpr int kLimitsLookBack = 2;   // packets dequeued in so many cycles, that of the decision included, count for the limits
inline constexpr unsigned kOutDepth = 16;   // FIFOs to scheduler and page pools
inline constexpr unsigned kOutReserve = 7;  // enqueues that may still come when they have no room
}  // namespace queue_timing

struct QueuedPacket {
    std::uint32_t descriptor, queue;
    std::uint16_t length;
    std::uint8_t reason;       // pst_pkg::drop_e; not 0: lost before it came here, only reported
    std::uint64_t tag;         // what the caller wants to find again when it leaves
    std::uint32_t hashes = 0;  // of its flow and hosts, where there are flow queues: FqHashes
};

// `Record` has a member `queue` of type QueueState.
template <typename Record>
class FastQueueManager {
  public:
    using Packet = QueuedPacket;
    struct Dequeued {
        std::uint64_t tag;
        std::uint32_t descriptor;
        std::uint16_t length;
        bool backlogged;  // packets are left
        bool empties() const { return !backlogged; }
    };

    FastQueueManager(Record* records, std::uint32_t descriptors) : records_(records), packets_(descriptors) {}

    void reset() {
        active_.clear();
        drop_.clear();
        in_flight_ = 0;
        room_ = false;
        deq_cycle_[0] = deq_cycle_[1] = -8;
    }

    // Whether an enqueue is taken in this cycle, but for the cycle in which a setting is written.
    bool room() const { return room_; }
    // Something is under way, so that the next cycle matters.
    bool busy() const { return in_flight_ != 0 || !active_.empty() || !drop_.empty() || !room_; }

    void begin_cycle() { room_next_ = active_.size() <= kRoom && drop_.size() <= kRoom; }

    // The enqueue's handshake. The limits are those of this cycle.
    void offer(std::int64_t now, const Packet& packet) {
        const QueueState& q = records_[packet.queue].queue;
        pipe_[now & 3] = {packet, q.limit_packets, q.limit_bytes};
        in_flight_ |= 1;
    }

    // Whether a queue may be asked for its packet in the next cycle.
    static constexpr bool dequeue_ready() { return true; }
    // A hint, no more: the queue's head packet is taken soon.
    void expect(std::uint32_t queue) const { __builtin_prefetch(&packets_[records_[queue].queue.head]); }

    // Of a queue that has packets, the first one's length; the bytes of any.
    std::uint32_t head_length(std::uint32_t queue) const { return packets_[records_[queue].queue.head].length; }
    std::uint32_t bytes(std::uint32_t queue) const { return records_[queue].queue.bytes; }

    // What an AQM is told of a packet that was just taken: whose state counts, and the bytes behind it.
    std::uint32_t judged_as(std::uint32_t queue, const Dequeued&) const { return queue; }
    std::uint32_t left_behind(std::uint32_t queue, const Dequeued&) const { return bytes(queue); }

    // Takes the head packet of a queue that has one.
    Dequeued dequeue(std::int64_t now, std::uint32_t queue) {
        QueueState& q = records_[queue].queue;
        const std::uint32_t descriptor = q.head;
        const Link link = packets_[descriptor];
        q.head = link.next;
        --q.packets;
        q.bytes -= link.length;
        deq_cycle_[now & 1] = now;
        deq_queue_[now & 1] = queue;
        deq_length_[now & 1] = link.length;
        return {link.tag, descriptor, link.length, q.packets != 0};
    }

    // Decides on the enqueue that is in its last stage, if there is one. Calls decided(packet) with the reason filled in.
    template <typename Decided>
    void decide(std::int64_t now, Decided&& decided) {
        if (!(in_flight_ & (1U << queue_timing::kDecide))) return;
        Entry& e = pipe_[(now - queue_timing::kDecide) & 3];
        Packet& p = e.packet;
        QueueState& q = records_[p.queue].queue;
        if (p.reason == 0) {
            std::uint32_t packets = q.packets, bytes = q.bytes + p.length;
            for (unsigned i = 0; i < 2; ++i) {
                if (deq_cycle_[i] > now - queue_timing::kLimitsLookBack && deq_queue_[i] == p.queue) {
                    ++packets;
                    bytes += deq_length_[i];
                }
            }
            if (packets + 1 > e.limit_packets)
                p.reason = 6;
            else if (bytes > e.limit_bytes)
                p.reason = 7;
            if (p.reason != 0) drop_.push(p.descriptor);
        }
        if (p.reason == 0) {
            packets_[p.descriptor] = {p.tag, kNoPacket, p.length};
            if (q.packets == 0) {
                q.head = p.descriptor;
                active_.push(p.queue);
            } else {
                packets_[q.tail].next = p.descriptor;
            }
            q.tail = p.descriptor;
            ++q.packets;
            q.bytes += p.length;
            ++q.accepted_packets;
            q.accepted_bytes += p.length;
        } else {
            ++q.dropped_packets;
            q.dropped_bytes += p.length;
        }
        decided(p);
    }

    // Limits of a queue, after decide().
    void set(std::uint32_t queue, std::uint16_t packets, std::uint32_t bytes) {
        records_[queue].queue.limit_packets = packets;
        records_[queue].queue.limit_bytes = bytes;
    }

    // The end of a cycle, after decide() and offer().
    void end_cycle() {
        in_flight_ = (in_flight_ << 1) & 0xF;
        room_ = room_next_;
    }

    // Queues that have become active, and descriptors dropped at the tail. What is pushed in a cycle is seen from the next on, as the
    // caller looks at them before decide().
    SmallFifo<std::uint32_t, queue_timing::kOutDepth>& active() { return active_; }
    SmallFifo<std::uint32_t, queue_timing::kOutDepth>& drops() { return drop_; }

  private:
    static constexpr unsigned kRoom = queue_timing::kOutDepth - queue_timing::kOutReserve;

    struct Link {
        std::uint64_t tag;
        std::uint32_t next;
        std::uint16_t length;
    };
    struct Entry {
        Packet packet;
        std::uint16_t limit_packets;
        std::uint32_t limit_bytes;
    };

    Record* records_;
    std::vector<Link> packets_;
    Entry pipe_[4];
    unsigned in_flight_ = 0;  // bit n: an enqueue was taken n cycles ago
    SmallFifo<std::uint32_t, queue_timing::kOutDepth> active_, drop_;
    std::int64_t deq_cycle_[2] = {-8, -8};
    std::uint32_t deq_queue_[2] = {};
    std::uint16_t deq_length_[2] = {};
    bool room_ = false, room_next_ = false;
};

}  // namespace penstock
