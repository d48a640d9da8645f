// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// An input-queued switch: virtual output queues, a scheduler, a crossbar.
#pragma once

#include <utility>

#include "matching.hpp"
#include "virtual_output_queues.hpp"

namespace penstock::switch_sim {

template <class Scheduler>
class CrossbarSwitch {
  public:
    CrossbarSwitch(unsigned ports, std::uint32_t depth, Scheduler scheduler) : queues_(ports, depth), scheduler_(std::move(scheduler)) {}

    template <class Record>
    void slot(std::uint64_t now, Ports inputs, const std::uint8_t* destinations, Record& record) {
        for_each(inputs, [&](unsigned input) {
            if (!queues_.push(input, destinations[input], now)) record.dropped(now, input, destinations[input]);
        });
        Matching matching(queues_.ports());
        scheduler_.match(queues_, matching);
        for_each(matching.matched, [&](unsigned output) { record.sent(now, queues_.pop(matching.input_of[output], output), output); });
    }
    std::uint64_t waiting() const { return queues_.waiting(); }

  private:
    VirtualOutputQueues queues_;
    Scheduler scheduler_;
};

}  // namespace penstock::switch_sim
