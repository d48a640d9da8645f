// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// How large the congestion window is: slow start here, congestion avoidance in the algorithms. When to reduce it is the sender's business.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>

#include "penstock/engine/tcp/hystart.hpp"
#include "penstock/engine/tcp/time.hpp"

namespace penstock::engine::tcp {

// CubicLinux: as CUBIC is in Linux and ns-3, whose Reno-friendly window never grows by a whole segment a round trip.
enum class Algorithm : std::uint8_t { Reno, Cubic, CubicLinux, Prague };

// Scalable: it asks for accurate marks, one for each segment, and says so by ECT(1).
inline bool is_scalable(Algorithm algorithm) { return algorithm == Algorithm::Prague; }

// By its name in jobs; none: there is no such algorithm.
std::optional<Algorithm> algorithm_named(std::string_view name);

struct CongestionSettings {
    Algorithm algorithm = Algorithm::Cubic;
    std::uint32_t mss = 1460;
    unsigned initial_segments = 10;  // RFC 6928
    bool hystart = false;
    double clock_hz = 1;
};

// Why a window is reduced.
enum class Cause : std::uint8_t { Loss, Timeout, Mark };

// What an acknowledgement of new data tells.
struct Progress {
    std::uint64_t bytes = 0;         // newly acknowledged
    std::uint64_t una = 0, nxt = 0;  // up to here acknowledged; sent next
    Time round_trip = 0;             // 0: it tells none
    Time srtt = 0;
};

class Congestion {
  public:
    explicit Congestion(const CongestionSettings& settings)
        : settings_(settings), cwnd_(static_cast<double>(settings.initial_segments) * settings.mss) {
        if (settings.hystart) hystart_.emplace(settings.clock_hz);
    }
    virtual ~Congestion() = default;

    // New data was acknowledged, outside of fast recovery, while the window was what kept the sender from sending.
    void acknowledged(Time now, const Progress& progress) {
        if (!slow_start()) return avoid(now, progress);
        // RFC 5681, (2): a segment for each acknowledgement at most; RFC 9406: eight.
        const unsigned limit = hystart_ ? HyStart::kLimit : 1;
        const double grown = static_cast<double>(std::min<std::uint64_t>(progress.bytes, std::uint64_t{limit} * settings_.mss));
        cwnd_ += hystart_ && hystart_->conservative() ? grown / HyStart::kGrowthDivisor : grown;
        if (hystart_ && hystart_->acknowledged(progress.una, progress.nxt, progress.round_trip)) ssthresh_ = cwnd_;
    }
    // A loss or a mark with `flight` bytes under way: the threshold falls. The window is the sender's to set, as recovery wants it.
    void reduce(Time now, std::uint64_t flight, Cause cause = Cause::Loss) {
        ssthresh_ = std::max(reduced(now, static_cast<double>(flight), cause), 2.0 * settings_.mss);
        hystart_.reset();  // only the first slow start has it
    }
    // A timeout: the window is one segment, the loss window of RFC 5681. `again`: of the same segment, whose threshold stays.
    void timeout(Time now, std::uint64_t flight, bool again) {
        if (!again) ssthresh_ = std::max(reduced(now, static_cast<double>(flight), Cause::Timeout), 2.0 * settings_.mss);
        hystart_.reset();
        cwnd_ = settings_.mss;
    }

    // What accurate marks tell, with each acknowledgement: so many bytes more, of which so many were marked.
    virtual void marked(std::uint64_t /*bytes*/, std::uint64_t /*of_them*/, std::uint64_t /*una*/, std::uint64_t /*nxt*/) {}

    double cwnd() const { return cwnd_; }
    void set_cwnd(double bytes) { cwnd_ = std::max(bytes, static_cast<double>(settings_.mss)); }
    double ssthresh() const { return ssthresh_; }
    bool slow_start() const { return cwnd_ < ssthresh_; }

  protected:
    // The window grows by what congestion avoidance gives.
    virtual void avoid(Time now, const Progress& progress) = 0;
    // The new threshold in bytes.
    virtual double reduced(Time now, double flight, Cause cause) = 0;

    CongestionSettings settings_;
    double cwnd_;

  private:
    double ssthresh_ = std::numeric_limits<double>::infinity();
    std::optional<HyStart> hystart_;
};

std::unique_ptr<Congestion> make_congestion(const CongestionSettings& settings);

}  // namespace penstock::engine::tcp
