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
        Moved     // the node's port may have changed
    };
    struct Event {
        int64_t at;  // from this cycle on picks see it
        uint32_t node, port;
        uint8_t cls;
        What what;

        bool operator<(const Event& other) const { return at < other.at; }
    };

    explicit WaitsAbove(uint32_t nodes) : nodes_(nodes) {}

    void push(const Event& event) { events_.push_in_order(event); }
    int64_t next() const { return events_.empty() ? kNever : events_.front().at; }

    // What happens until cycle `now`; `wake(node, at)`: it holds nothing back any more and is to be looked at.
    template <class Wake>
    void apply(int64_t now, Wake wake) {
        for (; !events_.empty() && events_.front().at <= now; events_.pop()) {
            const Event& e = events_.front();
            if (apply(e, nodes_[e.node])) wake(e.node, e.at);
        }
    }

    // A class of this node has to wait for a higher one that waits at its port.
    bool blocked(uint32_t node, uint32_t cls) const { return nodes_[node].higher(cls); }
    // A packet of a higher class left the port less than the grace before `now`: its queue may be on its way back.
    bool in_grace(uint32_t node, uint32_t cls, int64_t now) const {
        const Node& n = nodes_[node];
        return n.left_class < cls && FairLists::in_grace(now, n.left);
    }

  private:
    static constexpr uint8_t kNone = 0xFF;
    struct Node {
        std::array<uint32_t, 8> counts{};  // by class: packets that wait at the port
        uint32_t port = 0;                 // of these
        uint16_t left = 0;                 // when the latest packet left it
        uint8_t left_class = kNone, held = kNone;

        bool higher(uint32_t cls) const {
            for (uint32_t c = 0; c < cls; ++c)
                if (counts[c]) return true;
            return false;
        }
    };

    static bool apply(const Event& e, Node& n) {
        const uint8_t held = n.held;
        switch (e.what) {
            case What::Waits:
                if (e.port != n.port) n.counts = {};
                n.port = e.port;
                ++n.counts[e.cls];
                break;
            case What::Left:
                if (e.port != n.port) break;
                n.counts[e.cls] -= n.counts[e.cls] != 0;
                n.left = FairLists::eighths(e.at);
                n.left_class = e.cls;
                break;
            case What::Held:
                n.held = e.cls;
                if (e.port == n.port && n.higher(e.cls)) return false;
                n.held = kNone;
                return true;
            case What::Arrives:
                if (held == kNone || (e.cls >= held && e.port == n.port)) return false;
                n.held = kNone;
                return true;
            case What::Moved:
                if (held == kNone || e.port == n.port) return false;
                n.held = kNone;
                return true;
        }
        if (held == kNone || n.higher(held)) return false;
        n.held = kNone;
        return true;
    }

    std::vector<Node> nodes_;
    SmallFifo<Event, 32> events_;
};

}  // namespace penstock
