// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// CUBIC (RFC 9438): the window is a cubic function of the time since the last reduction, flat around the window at which that came; never
// below what Reno would have (4.3); with fast convergence (4.7). Windows are in segments here, as in the RFC.
#pragma once

#include "penstock/engine/tcp/congestion.hpp"

namespace penstock::engine::tcp {

class Cubic final : public Congestion {
  public:
    static constexpr double kC = 0.4, kBeta = 0.7;
    static constexpr double kAlpha = 3 * (1 - kBeta) / (1 + kBeta);

    using Congestion::Congestion;

    // W_cubic(t), `seconds` after the epoch began (figure 1 of the RFC).
    double window(double seconds) const { return kC * (seconds - k_) * (seconds - k_) * (seconds - k_) + w_max_; }
    // Seconds from the beginning of the epoch to the window w_max (figure 2).
    double k() const { return k_; }
    double w_max() const { return w_max_; }

  private:
    void begin_epoch(Time now);
    void avoid(Time now, const Progress& progress) override;
    double reduced(Time now, double flight, Cause cause) override;

    double w_max_ = 0, k_ = 0, prior_ = 0;  // prior: the window before the last reduction
    double friendly_ = 0, alpha_ = kAlpha;  // what Reno would have
    Time epoch_ = kNever;                   // when congestion avoidance began; kNever: it has not
    bool flat_ = true;                      // the epoch begins at its plateau: there was no reduction, or a timeout
};

}  // namespace penstock::engine::tcp
