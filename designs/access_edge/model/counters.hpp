// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Compares the device's own counters, read through its registers, with what the engine has seen.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "designs/access_edge/model/access_edge.hpp"
#include "penstock/engine/device.hpp"
#include "penstock/engine/measure.hpp"

namespace penstock::engine {

// What the engine itself reads and writes.
namespace registers {
using namespace access_edge::registers;
inline constexpr std::uint32_t kTypeAccessEdge = access_edge::resets::kTypeValue;
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
    Amount read_amount(std::uint32_t packets, std::uint32_t bytes);
    void compare(const std::string& what, const Amount& device, const Amount& seen);
    void compare_between(const std::string& what, const Amount& device, const Amount& least, const Amount& most);
    void check_queue(std::uint32_t queue);

    Device& device_;
    const Measurement& measurement_;
    std::int64_t timeout_ = 0;  // cycles after which a memory is lost
    std::uint64_t mismatches_ = 0;
    std::vector<std::string> findings_;
};

}  // namespace penstock::engine
