// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Reno (RFC 5681): a segment a round trip, counted in bytes acknowledged (its section 3.1, RFC 3465); half of what was under way on a loss.
#pragma once

#include "penstock/engine/tcp/congestion.hpp"

namespace penstock::engine::tcp {

class Reno final : public Congestion {
  public:
    using Congestion::Congestion;

  private:
    void avoid(Time, const Progress& progress) override {
        acknowledged_ += static_cast<double>(progress.bytes);
        if (acknowledged_ < cwnd_) return;
        acknowledged_ -= cwnd_;
        cwnd_ += settings_.mss;
    }
    double reduced(Time, double flight, Cause) override {
        acknowledged_ = 0;
        return flight / 2;
    }

    double acknowledged_ = 0;  // bytes since the window grew
};

}  // namespace penstock::engine::tcp
