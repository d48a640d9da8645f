// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The paper's switch: the model of blocks/fabric, which is the RTL bit by bit, in the simulator's terms.
#pragma once

#include <array>

#include "bits.hpp"
#include "blocks/fabric/model/cprra_switch.hpp"
#include "packet_fifo.hpp"

namespace penstock::switch_sim {

class Cprra {
  public:
    // `sorted`: every single packet is where the hardware has it. Otherwise packets of one slot for one output may change places, which no
    // count and no latency tells, and which is twice as fast.
    Cprra(unsigned ports, std::uint32_t depth, bool sorted) : sorted_(sorted), model_(ports, depth == kUnlimited ? 0 : depth) {}

    template <class Record>
    void slot(std::uint64_t now, Ports inputs, const std::uint8_t* destinations, Record& record) {
        if (sorted_)
            arrive(now, inputs, destinations, record);
        else
            model_.arrive_unsorted(
                inputs, destinations, [&](unsigned input) { return Packet(now, input); },
                [&](unsigned input, unsigned output) { record.dropped(now, input, output); });
        model_.depart_rotating([&](unsigned output, Packet packet) { record.sent(now, packet, output); });
    }
    std::uint64_t waiting() const {
        std::uint64_t waiting = 0;
        for (unsigned output = 0; output < model_.ports(); ++output) waiting += model_.level(output);
        return waiting;
    }

  private:
    template <class Record>
    void arrive(std::uint64_t now, Ports inputs, const std::uint8_t* destinations, Record& record) {
        std::array<std::uint32_t, kMaxPorts> outputs;
        std::array<Packet, kMaxPorts> packets;
        for (unsigned input = 0; input < model_.ports(); ++input) {
            outputs[input] = inputs & port(input) ? destinations[input] : CprraSwitch<Packet>::kNone;
            packets[input] = Packet(now, input);
        }
        model_.arrive(outputs.data(), packets.data(), nullptr,
                      [&](unsigned input, unsigned output, Packet) { record.dropped(now, input, output); });
    }

    bool sorted_;
    CprraSwitch<Packet> model_;
};

}  // namespace penstock::switch_sim
