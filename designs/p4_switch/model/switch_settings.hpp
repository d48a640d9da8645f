// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// What the P4 device is besides its program, and why it forgets frames.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "blocks/common/model/drop.hpp"
#include "designs/p4_switch/model/machine/v1_switch.hpp"

namespace penstock::p4 {

struct SwitchSettings {
    std::uint32_t ports = 4, priorities = 8;
    std::uint32_t flows = 1;                   // that frames at inputs belong to
    std::uint32_t max_frame_bytes = 16'383;    // longer ones are dropped at the input
    std::vector<std::uint32_t> queue_packets;  // by priority: places of each queue
    std::vector<double> queue_pps;             // by priority: packets a second of each queue; 0: any
    std::uint64_t queue_bytes = 0;             // of each queue, in bytes of frames as they came to ingress; 0: any
    bool charged = true;                       // what egress drops or sends back costs the time on the link that it would have taken
    std::uint64_t clock_start_us = 0;          // what the program's clock shows when that of the device starts
    std::vector<std::uint32_t> port_numbers;   // by port: its number in the program; empty: its own

    std::uint32_t number_of(std::uint32_t port) const { return port_numbers.empty() ? port : port_numbers[port]; }
    // What the engine calls a queue is a flow. Behind those of the inputs are the copies that the program makes: of multicasts, then
    // clones, by the output that they were made for.
    std::uint32_t all_flows() const { return flows + 2 * ports; }
    std::uint32_t copy_flow(bool clone, std::uint32_t port) const { return flows + (clone ? ports : 0) + port; }
};

// Drop reasons beside those that blocks share (blocks/common/contract.yaml).
inline constexpr std::uint8_t kIngressProgram = 9, kEgressProgram = 12, kNoOutput = 16, kResubmits = 17;
static_assert((kDropMask >> kIngressProgram & 1) == 0 && (kDropMask >> kEgressProgram & 1) == 0 && (kDropMask >> kNoOutput & 1) == 0 &&
                  (kDropMask >> kResubmits & 1) == 0,
              "the number of a reason that only the P4 device has is taken by one that blocks share");

// The program's time, rounded down, in a cycle of a clock of whole hertz; its clock has 48 bits.
class ProgramClock {
  public:
    ProgramClock(double clock_hz, std::uint64_t start_us) : hz_(static_cast<std::uint64_t>(clock_hz)), start_(start_us) {}
    Time at(std::int64_t cycle) const {
        __extension__ typedef unsigned __int128 Wide;
        const auto cycles = static_cast<std::uint64_t>(cycle);
        const std::uint64_t passed = cycles < kNarrow ? cycles * kMicro / hz_ : static_cast<std::uint64_t>(Wide{cycles} * kMicro / hz_);
        return {(start_ + passed) & kMask, passed};
    }

  private:
    static constexpr std::uint64_t kMicro = 1'000'000, kNarrow = ~std::uint64_t{0} / kMicro, kMask = (std::uint64_t{1} << 48) - 1;
    std::uint64_t hz_, start_;
};

}  // namespace penstock::p4
