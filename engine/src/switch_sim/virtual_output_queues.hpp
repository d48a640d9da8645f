// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Virtual output queues: a FIFO for each pair of input and output, and masks of those that hold something, which are the requests.
#pragma once

#include <array>
#include <vector>

#include "bits.hpp"
#include "packet_fifo.hpp"

namespace penstock::switch_sim {

class VirtualOutputQueues {
  public:
    // `depth`: packets that each FIFO holds.
    VirtualOutputQueues(unsigned ports, std::uint32_t depth) : ports_(ports), depth_(depth), fifos_(ports * ports), outputs_{}, inputs_{} {}

    unsigned ports() const { return ports_; }
    // Outputs that `input` has packets for.
    Ports outputs_of(unsigned input) const { return outputs_[input]; }
    // Inputs that have packets for `output`.
    Ports inputs_of(unsigned output) const { return inputs_[output]; }
    std::uint32_t length(unsigned input, unsigned output) const { return fifos_[input * ports_ + output].size(); }
    std::uint64_t waiting() const {
        std::uint64_t waiting = 0;
        for (const PacketFifo& fifo : fifos_) waiting += fifo.size();
        return waiting;
    }

    // False: the FIFO is full.
    bool push(unsigned input, unsigned output, std::uint64_t slot) {
        PacketFifo& fifo = fifos_[input * ports_ + output];
        if (fifo.size() >= depth_) return false;
        fifo.push(Packet(slot, input));
        outputs_[input] |= port(output);
        inputs_[output] |= port(input);
        return true;
    }
    Packet pop(unsigned input, unsigned output) {
        PacketFifo& fifo = fifos_[input * ports_ + output];
        const Packet packet = fifo.pop();
        const Ports left = Ports{!fifo.empty()};
        outputs_[input] &= ~(port(output) & (left - 1));
        inputs_[output] &= ~(port(input) & (left - 1));
        return packet;
    }

  private:
    unsigned ports_;
    std::uint32_t depth_;
    std::vector<PacketFifo> fifos_;
    std::array<Ports, kMaxPorts> outputs_, inputs_;
};

}  // namespace penstock::switch_sim
