// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// One sender, without a network: what it hears goes in, what it sends comes out.
//
// RFC 5681 and 6582 by way of SACK: loss recovery of RFC 6675, paced by proportional rate reduction (RFC 9937, before it 6937), timeouts of
// RFC 6298, ECN of RFC 3168, RACK-TLP (RFC 8985). The receiver here never takes back what it has sacked, so a timeout forgets no SACK.
// There are no time stamps. Without RACK-TLP a segment that is lost twice waits for the timeout, as does the end of a window.
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
    bool rack = false;         // RACK-TLP
    Time longest_delay = 0;    // of an acknowledgement: what a probe waits for besides when one segment is under way (TLP.max_ack_delay)
    Time first_timeout = 1;    // RFC 6298, (2.1): a second
    Time least_timeout = 1, most_timeout = kNever;
};

struct Segment {
    Range range;
    bool capable = false;  // ECT(0), not when it is sent again (RFC 3168, 6.1.5); of a scalable sender ECT(1), always
    bool cwr = false;      // congestion window reduced
    bool again = false;    // sent before
};

struct Acknowledgement {
    std::uint64_t up_to = 0;
    std::span<const Range> sacks;
    bool ece = false;            // ECN echo
    std::uint64_t ce_bytes = 0;  // what a scalable sender hears in its place: bytes that came marked, since the beginning
};

struct SenderCounts {
    std::uint64_t segments = 0, bytes = 0, resent = 0, resent_bytes = 0;
    std::uint64_t recoveries = 0, timeouts = 0, ecn_reductions = 0, probes = 0;
};

class Sender {
  public:
    explicit Sender(const SenderSettings& settings);

    void acknowledged(Time now, const Acknowledgement& heard);
    // A timer has expired: due in timer().
    void expired(Time now);
    // The next segment that may be sent now; none: it has to wait.
    std::optional<Segment> next(Time now);
    // When the retransmission timer expires, or one of RACK-TLP; kNever: none runs.
    Time timer() const { return std::min(timer_, soon_); }
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
    // RACK: marks what is late, and says when more will be, or when a probe is due.
    void find_late(Time now);
    void begin_probe(Time now);
    void end_probe(Time now, const Acknowledgement& heard);
    Segment send_new(Time now, std::uint32_t bytes);
    std::uint32_t new_bytes() const;
    bool scalable() const { return is_scalable(settings_.congestion.algorithm); }
    // FlightSize of bytes under way: what limited transmit has sent is not in it (RFC 5681, 3.2, step 2).
    std::uint64_t flight_size(std::uint64_t flight) const { return flight - std::min(limited_, flight); }

    SenderSettings settings_;
    std::uint32_t mss_;
    Scoreboard board_;
    std::unique_ptr<Congestion> congestion_;
    RetransmissionTimeout rto_;
    State state_ = State::Open;
    unsigned duplicates_ = 0;
    std::uint64_t recovery_ = 0;  // RecoveryPoint: where recovery, or slow start after a timeout, ends
    std::uint64_t reduced_ = 0;   // the window was reduced when this was sent next: once a window
    std::uint64_t limited_ = 0;   // bytes of new data that went for what was acknowledged selectively (RFC 3042)
    bool cwr_ = false;            // the next new segment says so
    std::uint64_t ce_bytes_ = 0;  // heard of
    bool rescued_ = false;
    std::uint64_t expired_at_ = UINT64_MAX;  // una at the last timeout
    // Proportional rate reduction: RecoverFS, prr_delivered, prr_out.
    std::uint64_t recover_flight_ = 0, prr_delivered_ = 0, prr_out_ = 0;
    Time timer_ = kNever;
    // The timer of RACK-TLP: for a probe, or until a segment is late. `probe_`: a probe is due now; `probed_`: up to where one was sent
    // (TLP.end_seq; 0: none is under way); `probed_again_`: it was sent before.
    Time soon_ = kNever;
    bool soon_probes_ = false, probe_ = false, probed_again_ = false;
    std::uint64_t probed_ = 0;
    SenderCounts counts_;
};

}  // namespace penstock::engine::tcp
