// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Model of pst_waits_above: of each node, which classes of it wait at its port, and whether it holds lower ones back for them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "../../queue/model/fast_queue_manager.hpp"
#include "fair_order.hpp"

namespace penstock {

class WaitsAbove {
  public:
    static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

    enum class What : uint8_t {
        Waits,    // a packet of the node begins to wait at its port
        Left,     // one of them has left the port
        Held,     // a pick at the node found a class that has to wait for a higher one: the node is not placed
        Arrives,  // a packet begins to wait at the node
        Moved,    // what is above may have changed: it is looked at again
        Passed    // a packet that was let go here has left without waiting above
    };
    struct Event {
        int64_t at;  // from this cycle on picks see it
        uint32_t node, port;
        uint8_t cls;
        What what;
        bool anew = false;  // Waits, Passed: what was counted before counts no more
        bool own = false;   // Held: for packets of its own class, too

        bool operator<(const Event& other) const { return at < other.at; }
    };

    // `same`: one that waits for packets of its own class is looked at again for those of higher classes only that arrive.
    // `queues`: no more of its packets wait.
    WaitsAbove(uint32_t nodes, uint32_t queues, bool same = false) : same_(same), queues_(queues), nodes_(nodes) {}

    void push(const Event& event) {
        events_.push_in_order(event);
        holding_ += event.what == What::Held;
    }
    // Some are held, or will be.
    bool holding() const { return holding_ != 0; }
    int64_t next() const { return events_.empty() ? kNever : events_.front().at; }

    // What happens until cycle `now`; `wake(node, at)`: it holds nothing back any more and is to be looked at.
    template <class Wake>
    void apply(int64_t now, Wake wake) {
        for (; !events_.empty() && events_.front().at <= now; events_.pop()) {
            const Event& e = events_.front();
            if (!apply(e, nodes_[e.node])) continue;
            --holding_;
            wake(e.node, e.at);
        }
    }

    // A packet of this node and of a class below `limit` waits at its port.
    bool blocked(uint32_t node, uint32_t limit) const { return nodes_[node].higher(limit); }
    // Such a packet left the port less than the grace before `now`: its queue may be on its way back.
    bool in_grace(uint32_t node, uint32_t limit, int64_t now) const {
        const Node& n = nodes_[node];
        return n.left_class < limit && FairLists::in_grace(now, n.left);
    }

  private:
    static constexpr uint8_t kNone = 0xFF, kLowest = 7;
    struct Node {
        std::array<uint32_t, 8> counts{};            // by class: packets that wait at the port
        uint32_t port = 0;                           // of these
        uint16_t left = 0;                           // when the latest packet left it
        uint8_t left_class = kLowest, held = kNone;  // it waits for classes below this one
        uint8_t arrived = kNone;                     // highest class that has arrived since it was held or was to be

        bool higher(uint32_t cls) const {
            for (uint32_t c = 0; c < cls; ++c)
                if (counts[c]) return true;
            return false;
        }
    };

    bool apply(const Event& e, Node& n) const {
        const uint8_t held = n.held;
        switch (e.what) {
            case What::Waits:
                if (e.port != n.port || e.anew) n.counts = {};
                n.port = e.port;
                n.counts[e.cls] = n.counts[e.cls] < queues_ ? n.counts[e.cls] + 1 : 1;
                break;
            case What::Left:
                if (e.port != n.port) {  // it has moved, and what it is held for may be gone
                    n.held = kNone;
                    return held != kNone;
                }
                n.counts[e.cls] -= n.counts[e.cls] != 0;
                n.left = FairLists::eighths(e.at);
                n.left_class = e.cls;
                break;
            case What::Held: {
                // One that arrived while the pick was on its way wakes it up now. One from before does so, too, once. What was counted
                // at another place counts no more.
                const auto limit = static_cast<uint8_t>(e.cls + e.own);
                if (e.port != n.port) n.counts = {};
                n.port = e.port;
                if (n.higher(limit) && n.arrived + same_ >= limit) n.held = limit;
                n.arrived = kNone;
                return n.held == kNone;
            }
            case What::Arrives:
                if (held == kNone) n.arrived = std::min(n.arrived, e.cls);
                if (held == kNone || (e.cls + same_ >= held && e.port == n.port)) return false;
                n.held = kNone;
                return true;
            case What::Passed:
                if (e.port != n.port || e.anew) n.counts = {};
                n.port = e.port;
                n.left = FairLists::eighths(e.at);
                n.left_class = e.cls;
                return false;
            case What::Moved:
                if (held == kNone) return false;
                n.held = kNone;
                return true;
        }
        if (held == kNone || n.higher(held)) return false;
        n.held = kNone;
        return true;
    }

    bool same_;
    uint32_t queues_;
    std::vector<Node> nodes_;
    SmallFifo<Event, 32> events_;
    uint32_t holding_ = 0;
};

}  // namespace penstock
