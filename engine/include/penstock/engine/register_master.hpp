// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// AXI4-Lite master: writes one after the other without waiting for the answers, reads one at a time, in order.
#pragma once

#include <cstdint>
#include <deque>

#include "penstock/pins.h"

namespace penstock::engine {

class RegisterMaster {
  public:
    void write(std::uint32_t address, std::uint32_t value) { pending_.push_back({address, value}); }
    // The result is there when `idle`; nothing may be pending.
    void read(std::uint32_t address);
    // All writes are answered, the read (if any) too.
    bool idle() const { return pending_.empty() && !outstanding_ && !reading_; }
    std::uint32_t value() const { return value_; }
    // Cycles since something last happened although something is under way.
    std::int64_t stuck() const { return stuck_; }

    void drive(pst_pins& pins) {
        if (!idle()) set(pins);
    }
    // Throws DeviceError at an error response.
    void sample(pst_pins& pins) {
        if (!idle() || pins.s_axil_bvalid_o || pins.s_axil_rvalid_o) handle(pins);
    }

  private:
    struct Write {
        std::uint32_t address, value;
    };
    static constexpr unsigned kOutstanding = 8;

    void set(pst_pins& pins);
    void handle(pst_pins& pins);

    std::deque<Write> pending_;
    unsigned outstanding_ = 0;
    bool address_taken_ = false, data_taken_ = false;
    bool reading_ = false, read_address_taken_ = false;
    std::uint32_t read_address_ = 0, value_ = 0;
    std::int64_t stuck_ = 0;
};

}  // namespace penstock::engine
