// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// What stands behind a memory's AXI4 port where it is DRAM: a channel of its own, or a port of a crossbar that several memories share.
// In each cycle as DramPort has it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "penstock/engine/dram_port.hpp"
#include "penstock/engine/hbm_switch.hpp"

namespace penstock::engine {

class DramAccess {
  public:
    explicit DramAccess(const DramSettings& settings) : own_(std::in_place, settings) {}
    DramAccess(std::shared_ptr<HbmSwitch> crossbar, unsigned port) : crossbar_(std::move(crossbar)), port_(port) {}

    void step() { step_to(cycle_ + 1); }
    void step_to(std::int64_t cycle) {
        cycle_ = cycle;
        own_ ? own_->step_to(cycle) : crossbar_->step_to(cycle);
    }
    bool idle() const { return own_ ? own_->idle() : crossbar_->idle(port_); }
    bool aw_ready() const { return own_ ? own_->aw_ready() : crossbar_->aw_ready(port_); }
    bool w_ready() const { return own_ ? own_->w_ready() : crossbar_->w_ready(port_); }
    bool ar_ready() const { return own_ ? own_->ar_ready() : crossbar_->ar_ready(port_); }
    bool b_valid() const { return own_ ? own_->b_valid() : crossbar_->b_valid(port_); }
    bool r_valid() const { return own_ ? own_->r_valid() : crossbar_->r_valid(port_); }
    void take_aw(std::uint64_t address, std::uint32_t beats) {
        own_ ? own_->take_aw(address, beats) : crossbar_->take_aw(port_, address, beats);
    }
    void take_w() { own_ ? own_->take_w() : crossbar_->take_w(port_); }
    void take_ar(std::uint64_t address, std::uint32_t beats) {
        own_ ? own_->take_ar(address, beats) : crossbar_->take_ar(port_, address, beats);
    }
    void give_b() { own_ ? own_->give_b() : crossbar_->give_b(port_); }
    void give_r() { own_ ? own_->give_r() : crossbar_->give_r(port_); }
    // Of its own channel, or of the pseudo channel behind its port.
    const DramCounts& counts() const { return own_ ? own_->counts() : crossbar_->counts(port_); }

  private:
    std::optional<DramPort> own_;
    std::shared_ptr<HbmSwitch> crossbar_;
    unsigned port_ = 0;
    std::int64_t cycle_ = -1;
};

}  // namespace penstock::engine
