// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// What pst_access_edge_core should hold, for benches that check every packet.
#pragma once

#include <cstdint>
#include <deque>
#include <stdexcept>
#include <string>
#include <vector>

#include "designs/access_edge/model/ideal_server.hpp"

namespace penstock {

inline constexpr uint32_t kDropAqm = 8;  // pst_pkg::DropAqm

// What the core should hold: a list of descriptors for each queue (with flow queues, for each of so many flows of a queue), and the
// decisions that are still to be reported.
class Mirror {
  public:
    Mirror(uint32_t queues, uint32_t descriptors, uint32_t flows = 1)
        : flows_(flows), queues_(std::size_t{queues} * flows, {kNone, kNone}), packets_(descriptors) {
        free_.reserve(descriptors);
        for (uint32_t d = descriptors; d-- > 0;) free_.push_back(d);
    }

    bool has_free() const { return !free_.empty(); }
    uint64_t waiting() const { return waiting_; }

    // Packets of one queue; walks through them.
    uint64_t waiting(uint32_t queue) const {
        uint64_t count = 0;
        for (uint32_t d = queues_[queue].head; d != kNone; d = packets_[d].next) ++count;
        return count;
    }

    // Takes a descriptor for the next offer.
    uint32_t take() {
        const uint32_t descriptor = free_.back();
        free_.pop_back();
        return descriptor;
    }

    void enqueue(uint32_t queue, uint32_t descriptor, uint32_t len, uint32_t flow = 0) {
        packets_[descriptor] = {queue * flows_ + flow, kNone, len};
        auto& [head, tail] = queues_[queue * flows_ + flow];
        (head == kNone ? head : packets_[tail].next) = descriptor;
        tail = descriptor;
        decisions_.push_back({queue, len});
        ++waiting_;
    }

    // aqm_drops: PIE may drop a packet on arrival; dropped() has its page.
    void event(uint32_t queue, uint32_t len, uint32_t reason, bool aqm_drops = false) {
        if (reason != 0 && !(aqm_drops && reason == kDropAqm))
            throw std::runtime_error("queue " + std::to_string(queue) + " dropped a packet, reason " + std::to_string(reason));
        if (decisions_.empty()) throw std::runtime_error("an enqueue decision was reported for no packet");
        if (decisions_.front().queue != queue || decisions_.front().len != len)
            throw std::runtime_error("an enqueue decision was reported out of order, or with another length");
        decisions_.pop_front();
    }

    // A bench whose result says how many packets were reordered counts them; for others the first one is an error.
    void count_reordered() { counts_ = true; }
    uint64_t reordered() const { return reordered_; }

    void departure(uint32_t queue, uint32_t descriptor, uint32_t len) {
        const std::string who = "queue " + std::to_string(queue);
        if (queue >= queues_.size() / flows_ || descriptor >= packets_.size())
            throw std::runtime_error(who + ": no such queue or descriptor");
        const uint32_t list = flows_ == 1 ? queue : packets_[descriptor].queue;
        if (list / flows_ != queue) throw std::runtime_error(who + " sent a packet of another queue");
        auto& [head, tail] = queues_[list];
        if (head == kNone) throw std::runtime_error(who + " sent a packet that it does not have");
        if (head != descriptor && counts_ && move_to_front(queue, descriptor)) ++reordered_;
        if (head != descriptor)
            throw std::runtime_error(who + " sent descriptor " + std::to_string(descriptor) + " before " + std::to_string(head));
        if (packets_[head].len != len)
            throw std::runtime_error(who + " sent a packet with length " + std::to_string(len) + ", not " +
                                     std::to_string(packets_[head].len));
        head = packets_[head].next;
        if (head == kNone) tail = kNone;
        free_.push_back(descriptor);
        --waiting_;
    }

    // The AQM dropped a packet, wherever it stood: its page is free.
    void dropped(uint32_t descriptor) {
        if (descriptor >= packets_.size()) throw std::runtime_error("a page was given back that does not exist");
        const uint32_t queue = packets_[descriptor].queue;
        auto& [head, tail] = queues_[queue];
        if (head == kNone || (head != descriptor && !move_to_front(queue, descriptor)))
            throw std::runtime_error("queue " + std::to_string(queue) + " dropped a packet that it does not have");
        head = packets_[head].next;
        if (head == kNone) tail = kNone;
        free_.push_back(descriptor);
        --waiting_;
    }

    void check_empty() const {
        if (waiting_ != 0) throw std::runtime_error(std::to_string(waiting_) + " packets were lost");
        if (!decisions_.empty()) throw std::runtime_error("an enqueue decision was not reported");
    }

  private:
    struct List {
        uint32_t head, tail;
    };
    struct Packet {
        uint32_t queue = 0, next = kNone, len = 0;
    };
    struct Decision {
        uint32_t queue, len;
    };

    // False: the queue does not have it.
    bool move_to_front(uint32_t queue, uint32_t descriptor) {
        auto& [head, tail] = queues_[queue];
        uint32_t before = head;
        while (before != kNone && packets_[before].next != descriptor) before = packets_[before].next;
        if (before == kNone) return false;
        packets_[before].next = packets_[descriptor].next;
        if (tail == descriptor) tail = before;
        packets_[descriptor].next = head;
        head = descriptor;
        return true;
    }

    uint32_t flows_;
    std::vector<List> queues_;
    std::vector<Packet> packets_;
    std::vector<uint32_t> free_;
    std::deque<Decision> decisions_;
    uint64_t waiting_ = 0, reordered_ = 0;
    bool counts_ = false;
};

}  // namespace penstock
