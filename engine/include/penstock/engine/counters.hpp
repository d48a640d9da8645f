// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Compares the device's own counters, read through its registers, with what the engine has seen.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "penstock/engine/device.hpp"
#include "penstock/engine/measure.hpp"

namespace penstock::engine {

// Register addresses that the engine itself uses (designs/access_edge/regs/access_edge.rdl).
namespace registers {
inline constexpr std::uint32_t kType = 0x000, kQueues = 0x008, kStatus = 0x024, kQueueIndex = 0x040, kQueueCommand = 0x054;
inline constexpr std::uint32_t kSnapshot = 0x080, kDrops = 0x100, kMarked = 0x190;
inline constexpr std::uint32_t kTypeAccessEdge = 0x5053'5401;
inline constexpr std::uint32_t kStatusBusy = 1U << 1;
inline constexpr std::uint32_t kCommandSnapshot = 2;
}  // namespace registers

class CounterCheck {
  public:
    CounterCheck(Device& device, const Measurement& measurement) : device_(device), measurement_(measurement) {}

    // The input must be closed. Lets the device decide on the frames that are under way, then compares the drop counters
    // by reason and the counters of `queues`. Returns the number of counters that differ.
    std::uint64_t run(std::span<const std::uint32_t> queues);
    const std::vector<std::string>& findings() const { return findings_; }

  private:
    std::uint64_t read64(std::uint32_t address);
    Amount read_amount(std::uint32_t address);
    void compare(const std::string& what, const Amount& device, const Amount& seen);
    void compare_between(const std::string& what, const Amount& device, const Amount& least, const Amount& most);
    void check_queue(std::uint32_t queue);

    Device& device_;
    const Measurement& measurement_;
    std::uint64_t mismatches_ = 0;
    std::vector<std::string> findings_;
};

}  // namespace penstock::engine
