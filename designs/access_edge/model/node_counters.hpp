// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Counters by node and class, as pst_access_edge_nodes has them: a packet counts where its queue is at that moment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "blocks/common/model/drop.hpp"
#include "blocks/hierarchy/model/timed_hierarchy.hpp"
#include "penstock/engine/amount.hpp"

namespace penstock::engine {

class NodeCounters {
  public:
    // What became of the packets of a class at a node. `lost` has not what the AQM dropped.
    struct Row {
        Amount in, out, lost, aqm;
        std::uint64_t marks = 0;
    };

    // None where there are no such counters: `there` is false.
    NodeCounters(bool there, std::uint32_t queues, const HierarchySizes& sizes)
        : each_(sizes.queues_per_subscriber), classes_(sizes.classes) {
        if (!there) return;
        class_of_.resize(queues);
        node_of_.resize(queues / each_);
        rows_.resize(static_cast<std::size_t>(sizes.nodes) * classes_);
    }

    explicit operator bool() const { return !rows_.empty(); }
    // A setting that was taken. A packet of the same cycle counts by it.
    void set(const HierarchySetting& setting) {
        if (setting.what == HierarchySetting::What::Queue) class_of_[setting.id] = setting.cls;
        if (setting.what == HierarchySetting::What::Subscriber) node_of_[setting.id] = setting.parent;
    }
    // A frame came to its queue, or was lost for `reason` before.
    void came(std::uint32_t queue, std::uint32_t length, unsigned reason) {
        Row& row = of(queue);
        (reason == 0 ? row.in : reason == static_cast<unsigned>(Drop::Aqm) ? row.aqm : row.lost).add(length);
    }
    void left(std::uint32_t queue, std::uint32_t length) { of(queue).out.add(length); }
    // One that was taken from its queue was dropped by the AQM, or marked.
    void dropped(std::uint32_t queue, std::uint32_t length) { of(queue).aqm.add(length); }
    void marked(std::uint32_t queue) { ++of(queue).marks; }

    const Row& row(std::uint32_t node, std::uint32_t cls) const { return rows_[static_cast<std::size_t>(node) * classes_ + cls]; }

  private:
    Row& of(std::uint32_t queue) { return rows_[static_cast<std::size_t>(node_of_[queue / each_]) * classes_ + class_of_[queue]]; }

    std::uint32_t each_, classes_;
    std::vector<std::uint8_t> class_of_;  // by queue
    std::vector<std::uint32_t> node_of_;  // by subscriber
    std::vector<Row> rows_;               // by node and class
};

}  // namespace penstock::engine
