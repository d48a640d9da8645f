// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Model of the hierarchy: what becomes of a queue whose own shaper lets its head packet go. See ../README.md.
//
// Subscriber, access node and port are gates in a row. A gate that is open and that no queue waits at lets the queue pass and charges the
// packet to its shaper; else the queue waits there, in its class. When the gate's time comes it lets one queue go: of the highest class, of
// the subscriber whose turn it is, the queue that has had the least. A queue is at one gate at most; of a subscriber's queues that wait in
// one class at one node or port, one stands in the list there for all.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <queue>
#include <stdexcept>
#include <string>
#include <vector>

#include "../../timing/model/shaper.hpp"
#include "fair_order.hpp"

namespace penstock {

enum class Level { Subscriber, Node, Port };

// What is let go at one level: a shaper, and the queues that wait, by class (0 first).
struct Parent {
    ShaperSetting shaper;
    int64_t time = 0;                // earliest departure of the next packet, 2^-16 cycles
    int64_t closed_at = 0;           // cycle in which its gate has closed; the time goes on when it opens
    std::vector<FairLists> waiting;  // node and port, by class
    SubscriberQueues queues;         // subscriber
    uint32_t count = 0;              // queues that wait

    bool open(int64_t now) const { return shaper.mantissa != 0 && Shaper::eligible_cycle(time) <= now; }
    void charge(int64_t now, uint32_t length) { time = Shaper::update(shaper, time, now, length); }
};

class Hierarchy {
  public:
    struct Sizes {
        uint32_t queues_per_subscriber, subscribers, nodes, ports, classes;
    };

    explicit Hierarchy(const Sizes& sizes)
        : sizes_(sizes),
          queues_(sizes.subscribers * sizes.queues_per_subscriber),
          links_(queues_.size()),
          subscribers_(sizes.subscribers),
          port_of_(sizes.nodes) {
        size_t level = 0;
        for (const uint32_t count : {sizes.subscribers, sizes.nodes, sizes.ports}) {
            parents_[level++].assign(count, Parent{{}, 0, 0, std::vector<FairLists>(sizes.classes), {}, 0});
        }
    }

    void set_shaper(Level level, uint32_t id, const ShaperSetting& shaper, int64_t now) {
        Parent& parent = at(level, id);
        const bool was_closed = parent.shaper.mantissa == 0, closed = shaper.mantissa == 0;
        parent.shaper = shaper;
        if (closed && !was_closed) parent.closed_at = now;
        if (!closed && was_closed) parent.time += (now - parent.closed_at) * 65536;
        wake(level, id, now);
    }
    // Queues that wait at the old node go on waiting there; what comes after goes to the new one.
    void set_node(uint32_t subscriber, uint32_t node) { subscribers_.at(subscriber).node = node; }
    void set_port(uint32_t node, uint32_t port) { port_of_.at(node) = port; }
    // `weight`: 1..8, share of a subscriber against others of its node or port.
    void set_weight(uint32_t subscriber, uint32_t weight) {
        if (weight < 1 || weight > kMaxWeight) throw std::invalid_argument("weight out of range");
        subscribers_.at(subscriber).weight = weight;
    }
    // `weight`: 1..8, share of a queue against others of its subscriber.
    void set_queue(uint32_t queue, uint32_t cls, uint32_t weight) {
        if (cls >= sizes_.classes || weight < 1 || weight > kMaxWeight) throw std::invalid_argument("class or weight out of range");
        queues_.at(queue).cls = cls;
        queues_.at(queue).weight = weight;
    }

    // The own shaper of a queue lets its head packet of `length` bytes go; `empties`: it was the last one in the queue. Queues that pass
    // all gates are appended to `left`.
    void arrive(int64_t now, uint32_t queue, uint32_t length, bool empties, std::vector<uint32_t>& left) {
        Queue& q = queues_.at(queue);
        if (q.here) throw std::logic_error("queue " + std::to_string(queue) + " is in two places");
        q.here = true;
        q.length = length;
        subscribers_[subscriber_of(queue)].order.charge(index_of(queue), q.cls, length, q.weight, empties);
        pass(now, queue, Level::Subscriber, left);
    }

    // When a gate next lets a queue go.
    std::optional<int64_t> next_time() {
        while (!due_.empty() && !still(due_.top())) due_.pop();
        return due_.empty() ? std::nullopt : std::optional(due_.top().time);
    }

    // Lets go what may go until `now`.
    void advance(int64_t now, std::vector<uint32_t>& left) {
        for (auto next = next_time(); next && *next <= now; next = next_time()) {
            const Due due = due_.top();
            due_.pop();
            Parent& parent = at(due.level, due.id);
            const uint32_t queue = due.level == Level::Subscriber ? next_of_subscriber(due.id) : next_fair(due.level, parent);
            --parent.count;
            parent.charge(due.time, queues_[queue].length);
            if (parent.count > 0) wake(due.level, due.id, due.time);
            if (due.level == Level::Port)
                leave(queue, left);
            else
                pass(due.time, queue, static_cast<Level>(static_cast<int>(due.level) + 1), left);
        }
    }

    uint32_t waiting(Level level, uint32_t id) const { return parents_[static_cast<size_t>(level)].at(id).count; }

  private:
    struct Queue {
        uint32_t cls = 0, weight = 1, length = 0;
        bool here = false;
        std::optional<Level> waits;  // where, in which class, at which parent
        uint32_t waiting_class = 0, waiting_parent = 0;
        bool alone = false;  // when it began to wait, others of its subscriber waited at another parent of this level
    };
    struct Subscriber {
        uint32_t node = 0, weight = 1;
        SiblingOrder order;
        std::array<std::array<RoundCredit, kMaxQueuesPerSubscriber>, 3> credits;  // at node and port
    };
    struct Due {
        int64_t time;
        Level level;
        uint32_t id;
        bool operator>(const Due& other) const {
            return time != other.time ? time > other.time : level != other.level ? level < other.level : id > other.id;
        }
    };

    Parent& at(Level level, uint32_t id) { return parents_[static_cast<size_t>(level)].at(id); }

    uint32_t subscriber_of(uint32_t queue) const { return queue / sizes_.queues_per_subscriber; }
    uint32_t index_of(uint32_t queue) const { return queue % sizes_.queues_per_subscriber; }
    uint32_t parent_of(Level level, uint32_t queue) const {
        const uint32_t subscriber = subscriber_of(queue);
        if (level == Level::Subscriber) return subscriber;
        return level == Level::Node ? subscribers_[subscriber].node : port_of_[subscribers_[subscriber].node];
    }

    // The queues of its subscriber that wait where this one does, or did, in its class, without itself: a bit each. None when it waits
    // alone: others waited at another parent when it came.
    uint32_t beside(Level level, uint32_t queue) const {
        const Queue& q = queues_[queue];
        const uint32_t first = queue - index_of(queue);
        uint32_t found = 0;
        if (q.alone) return found;
        for (uint32_t i = 0; i < sizes_.queues_per_subscriber; ++i) {
            const Queue& other = queues_[first + i];
            found |= uint32_t{first + i != queue && other.waits == level && other.waiting_class == q.waiting_class && !other.alone} << i;
        }
        return found;
    }
    // Of these the one that goes first.
    uint32_t first_of(uint32_t queue, uint32_t candidates) const {
        return queue - index_of(queue) + subscribers_[subscriber_of(queue)].order.first(candidates);
    }
    std::array<RoundCredit, kMaxQueuesPerSubscriber>& credits(Level level, uint32_t queue) {
        return subscribers_[subscriber_of(queue)].credits[static_cast<size_t>(level)];
    }
    RoundCredit::Place credit_of(Level level, uint32_t queue, uint32_t cls) {
        return RoundCredit::find(sizes_.queues_per_subscriber, cls, index_of(queue), 0,
                                 [&](uint32_t i) { return credits(level, queue)[i]; });
    }

    void pass(int64_t now, uint32_t queue, Level level, std::vector<uint32_t>& left) {
        for (int l = static_cast<int>(level); l < 3; ++l) {
            const uint32_t id = parent_of(static_cast<Level>(l), queue);
            Parent& parent = at(static_cast<Level>(l), id);
            if (parent.count > 0 || !parent.open(now)) return wait(now, queue, static_cast<Level>(l), id);
            parent.charge(now, queues_[queue].length);
        }
        leave(queue, left);
    }

    void leave(uint32_t queue, std::vector<uint32_t>& left) {
        queues_[queue].here = false;
        left.push_back(queue);
    }

    void wait(int64_t now, uint32_t queue, Level level, uint32_t id) {
        Parent& parent = at(level, id);
        Queue& q = queues_[queue];
        q.waits = level;
        q.waiting_class = q.cls;
        q.waiting_parent = id;
        q.alone = false;
        if (level != Level::Subscriber) {
            const uint32_t first = queue - index_of(queue);
            q.alone = std::any_of(queues_.begin() + first, queues_.begin() + first + sizes_.queues_per_subscriber,
                                  [&](const Queue& other) { return other.waits == level && !other.alone && other.waiting_parent != id; });
        }
        if (level == Level::Subscriber)
            parent.queues.wait(index_of(queue), q.cls);
        else if (beside(level, queue) == 0)
            parent.waiting[q.cls].append(links_.data(), queue, credit_of(level, queue, q.cls).word);
        if (parent.count++ == 0) wake(level, id, now);
    }

    uint32_t next_of_subscriber(uint32_t id) {
        SubscriberQueues& waiting = at(Level::Subscriber, id).queues;
        const uint32_t index = waiting.first(1, subscribers_[id].order).at(0);
        waiting.leave(index);
        queues_[id * sizes_.queues_per_subscriber + index].waits.reset();
        return id * sizes_.queues_per_subscriber + index;
    }

    // Of the highest class the subscriber whose turn it is and that may send more in its round; of its queues the one that has had the
    // least.
    uint32_t next_fair(Level level, Parent& parent) {
        auto& lists = *std::find_if(parent.waiting.begin(), parent.waiting.end(), [](const FairLists& l) { return !l.empty(); });
        for (;;) {
            const uint32_t stands = lists.pick(links_.data()), queue = first_of(stands, beside(level, stands) | 1u << index_of(stands));
            const uint32_t others = beside(level, queue);
            Queue& q = queues_[queue];
            auto [place, credit] = credit_of(level, queue, q.waiting_class);
            const bool go = credit.pick(lists.round(), subscribers_[subscriber_of(queue)].weight, q.waiting_class, q.length);
            credits(level, queue)[place] = credit;
            if (go) {
                q.waits.reset();
                if (others) lists.append(links_.data(), first_of(queue, others), credit);
                return queue;
            }
            lists.append_again(links_.data(), first_of(queue, others | 1u << index_of(queue)));
        }
    }

    void wake(Level level, uint32_t id, int64_t now) {
        const Parent& parent = at(level, id);
        if (parent.count > 0 && parent.shaper.mantissa != 0) due_.push({std::max(now, Shaper::eligible_cycle(parent.time)), level, id});
    }

    // A parent is woken anew when its setting changes, so an older entry may not hold any more.
    bool still(const Due& due) {
        const Parent& parent = at(due.level, due.id);
        return parent.count > 0 && parent.open(due.time);
    }

    Sizes sizes_;
    std::vector<Queue> queues_;
    std::vector<uint32_t> links_;
    std::vector<Subscriber> subscribers_;
    std::vector<uint32_t> port_of_;
    std::array<std::vector<Parent>, 3> parents_;
    std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
};

}  // namespace penstock
