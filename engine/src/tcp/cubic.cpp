// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "penstock/engine/tcp/cubic.hpp"

#include <algorithm>
#include <cmath>

namespace penstock::engine::tcp {

void Cubic::begin_epoch(Time now) {
    const double window = cwnd_ / settings_.mss;
    epoch_ = now;
    friendly_ = window;
    alpha_ = kAlpha;
    // No loss has ended slow start, or a timeout did (4.8, 4.10): the window stands at its plateau.
    if (flat_) w_max_ = prior_ = window;
    k_ = std::cbrt(std::max(0.0, w_max_ - window) / kC);
    flat_ = false;
}

void Cubic::avoid(Time now, const Progress& progress) {
    if (epoch_ == kNever) begin_epoch(now);
    double segments = cwnd_ / settings_.mss;
    const double acknowledged = static_cast<double>(progress.bytes) / settings_.mss;
    const double seconds = static_cast<double>(now - epoch_) / settings_.clock_hz;
    const double round_trip = static_cast<double>(progress.srtt) / settings_.clock_hz;
    friendly_ += alpha_ * acknowledged / segments;
    if (friendly_ >= prior_ && settings_.algorithm == Algorithm::Cubic) alpha_ = 1;  // a SHOULD of 4.3
    if (window(seconds) < friendly_) {
        segments = std::max(segments, friendly_);
    } else {
        const double target = std::clamp(window(seconds + round_trip), segments, 1.5 * segments);
        segments += (target - segments) / segments * acknowledged;
    }
    cwnd_ = segments * settings_.mss;
}

double Cubic::reduced(Time, double flight, Cause cause) {
    const double segments = cwnd_ / settings_.mss;
    prior_ = segments;
    w_max_ = segments < w_max_ ? segments * (1 + kBeta) / 2 : segments;  // fast convergence: the second reduction came at less
    epoch_ = kNever;
    flat_ = cause == Cause::Timeout;
    return flight * kBeta;
}

}  // namespace penstock::engine::tcp
