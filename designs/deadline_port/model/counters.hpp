// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The counters of a deadline port against what the engine has seen.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "designs/deadline_port/model/device_settings.hpp"
#include "penstock/engine/design.hpp"
#include "penstock/engine/measure.hpp"

namespace penstock::engine {

class DeadlineCounterCheck {
  public:
    DeadlineCounterCheck(Device& device, const Measurement& measurement, const DeadlineBook& book, bool fifo)
        : device_(device), measurement_(measurement), book_(book), fifo_(fifo) {}

    // Lets frames at the input have their fate; then compares the counters by reason, and those of `classes`. What changes meanwhile must
    // be between what was seen before and after.
    CounterReport run(std::span<const std::uint32_t> classes);

  private:
    // What was seen of a class, those frames among it whose names are not known yet.
    struct Seen {
        Amount in, out, missed, lost, no_page;
    };

    std::uint64_t read64(std::uint32_t address);
    Amount read_amount(std::uint32_t frames);
    Amount dropped(unsigned reason) const;
    Seen seen(std::uint32_t klass) const;
    void check_class(std::uint32_t klass);
    void between(const std::string& what, const Amount& device, const Amount& least, const Amount& most);

    Device& device_;
    const Measurement& measurement_;
    const DeadlineBook& book_;
    bool fifo_;  // class 0 counts what all classes lost in memory
    CounterReport report_;
};

}  // namespace penstock::engine
