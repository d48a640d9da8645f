// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Scalable congestion control: what DCTCP (RFC 8257, 3.3) and TCP Prague have in common. The share of marked bytes is averaged, once a
// window; a window with marks is reduced once, by half of that share. Bytes that were not marked let the window grow as Reno's does.
#pragma once

#include "penstock/engine/tcp/congestion.hpp"

namespace penstock::engine::tcp {

class Prague final : public Congestion {
  public:
    static constexpr double kGain = 1.0 / 16;  // g

    using Congestion::Congestion;

    void marked(std::uint64_t bytes, std::uint64_t of_them, std::uint64_t una, std::uint64_t nxt) override {
        acknowledged_ += static_cast<double>(bytes);
        marked_ += static_cast<double>(of_them);
        if (una <= end_) return;
        if (acknowledged_ > 0) alpha_ += kGain * (std::min(1.0, marked_ / acknowledged_) - alpha_);
        end_ = nxt;
        acknowledged_ = marked_ = 0;
    }
    // DCTCP.Alpha.
    double alpha() const { return alpha_; }

  private:
    void avoid(Time, const Progress& progress) override { cwnd_ += settings_.mss * static_cast<double>(progress.bytes) / cwnd_; }
    double reduced(Time, double flight, Cause cause) override { return cause == Cause::Mark ? cwnd_ * (1 - alpha_ / 2) : flight / 2; }

    double alpha_ = 1;
    double acknowledged_ = 0, marked_ = 0;  // DCTCP.BytesAcked, DCTCP.BytesMarked
    std::uint64_t end_ = 0;                 // DCTCP.WindowEnd
};

}  // namespace penstock::engine::tcp
