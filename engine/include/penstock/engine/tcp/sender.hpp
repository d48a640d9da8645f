// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// One sender, without a network: what it hears goes in, what it sends comes out.
//
// RFC 5681 and 6582 by way of SACK: loss recovery of RFC 6675, paced by proportional rate reduction (RFC 9937, before it 6937), timeouts of
// RFC 6298, ECN of RFC 3168. The receiver here never takes back what it has sacked, so a timeout forgets no SACK. There are no time stamps,
// no tail loss probes, no RACK: a segment that is lost twice waits for the timeout.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "penstock/engine/tcp/congestion.hpp"
#include "penstock/engine/tcp/rto.hpp"
#include "penstock/engine/tcp/scoreboard.hpp"
#include "penstock/engine/tcp/time.hpp"

namespace penstock::engine::tcp {

struct SenderSettings {
    CongestionSettings congestion;
    std::uint64_t bytes = 0;   // to be sent; 0: without end
    std::uint64_t window = 0;  // of the receiver
    bool ecn = false;          // segments are ECN-capable
    Time first_timeout = 1;    // RFC 6298, (2.1): a second
    Time least_timeout = 1, most_timeout = kNever;
};

struct Segment {
    Range range;
    bool capable = false;  // ECT(0); not when it is sent again (RFC 3168, 6.1.5)
    bool cwr = false;      // congestion window reduced
    bool again = false;    // sent before
};

struct Acknowledgement {
    std::uint64_t up_to = 0;
    std::span<const Range> sacks;
    bool ece = false;  // ECN echo
};

struct SenderCounts {
    std::uint64_t segments = 0, bytes = 0, resent = 0, resent_bytes = 0;
    std::uint64_t recoveries = 0, timeouts = 0, ecn_reductions = 0;
};

class Sender {
  public:
    explicit Sender(const SenderSettings& settings);

    void acknowledged(Time now, const Acknowledgement& heard);
    // The timer has expired: due in timer().
    void expired(Time now);
    // The next segment that may be sent now; none: it has to wait.
    std::optional<Segment> next(Time now);
    // When the retransmission timer expires; kNever: it does not run.
    Time timer() const { return timer_; }
    // All was sent and acknowledged.
    bool done() const { return settings_.bytes && board_.una() == settings_.bytes; }

    double cwnd() const { return congestion_->cwnd(); }
    double ssthresh() const { return congestion_->ssthresh(); }
    std::uint64_t flight() const { return board_.flight(); }
    std::uint64_t pipe() const { return board_.pipe(); }
    std::uint64_t una() const { return board_.una(); }
    const RetransmissionTimeout& rto() const { return rto_; }
    const SenderCounts& counts() const { return counts_; }
    const char* state() const { return state_ == State::Open ? "open" : state_ == State::Recovery ? "recovery" : "loss"; }
    const Congestion& congestion() const { return *congestion_; }

  private:
    enum class State : std::uint8_t { Open, Recovery, Loss };

    void enter_recovery(Time now, const Heard& heard);
    void proportional(const Heard& heard, bool advanced);
    std::optional<Segment> resend(Time now, Range range, bool rescue);
    std::uint32_t new_bytes() const;

    SenderSettings settings_;
    std::uint32_t mss_;
    Scoreboard board_;
    std::unique_ptr<Congestion> congestion_;
    RetransmissionTimeout rto_;
    State state_ = State::Open;
    unsigned duplicates_ = 0;
    std::uint64_t recovery_ = 0;  // RecoveryPoint: where recovery, or slow start after a timeout, ends
    std::uint64_t reduced_ = 0;   // the window was reduced when this was sent next: once a window
    bool cwr_ = false;            // the next new segment says so
    bool rescued_ = false;
    std::uint64_t expired_at_ = UINT64_MAX;  // una at the last timeout
    // Proportional rate reduction: RecoverFS, prr_delivered, prr_out.
    std::uint64_t recover_flight_ = 0, prr_delivered_ = 0, prr_out_ = 0;
    Time timer_ = kNever;
    SenderCounts counts_;
};

}  // namespace penstock::engine::tcp
