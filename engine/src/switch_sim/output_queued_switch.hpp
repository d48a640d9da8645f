// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The ideal: every packet goes straight to a FIFO at its output, which sends one in every slot. No real memory takes P packets a cycle.
#pragma once

#include <algorithm>
#include <vector>

#include "bits.hpp"
#include "packet_fifo.hpp"

namespace penstock::switch_sim {

class OutputQueuedSwitch {
  public:
    // Each output holds ports x `depth` packets: as much memory as P x P FIFOs of this depth. Packets of one slot queue in order of inputs.
    OutputQueuedSwitch(unsigned ports, std::uint32_t depth)
        : ports_(ports),
          room_(static_cast<std::uint32_t>(std::min<std::uint64_t>(std::uint64_t{depth} * ports, kUnlimited))),
          fifos_(ports) {}

    template <class Record>
    void slot(std::uint64_t now, Ports inputs, const std::uint8_t* destinations, Record& record) {
        for_each(inputs, [&](unsigned input) {
            PacketFifo& fifo = fifos_[destinations[input]];
            if (fifo.size() < room_)
                fifo.push(Packet(now, input));
            else
                record.dropped(now, input, destinations[input]);
        });
        for (unsigned output = 0; output < ports_; ++output)
            if (!fifos_[output].empty()) record.sent(now, fifos_[output].pop(), output);
    }

    std::uint64_t waiting() const {
        std::uint64_t waiting = 0;
        for (const PacketFifo& fifo : fifos_) waiting += fifo.size();
        return waiting;
    }

  private:
    unsigned ports_;
    std::uint32_t room_;
    std::vector<PacketFifo> fifos_;
};

}  // namespace penstock::switch_sim
