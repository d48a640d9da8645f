// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "penstock/engine/tcp/sender.hpp"

#include <cmath>
#include <utility>

namespace penstock::engine::tcp {

Sender::Sender(const SenderSettings& settings)
    : settings_(settings),
      mss_(settings.congestion.mss),
      board_(mss_),
      congestion_(make_congestion(settings.congestion)),
      rto_(settings.first_timeout, settings.least_timeout, settings.most_timeout) {}

void Sender::acknowledged(Time now, const Acknowledgement& heard) {
    const std::uint64_t before = board_.una(), flight = board_.flight();
    const bool limited = static_cast<double>(board_.pipe() + mss_) > congestion_->cwnd();
    const Heard told = board_.hear(now, heard.up_to, heard.sacks);
    const std::uint64_t sent = flight_size(flight);
    if (!board_.sacked()) limited_ = 0;
    const bool advanced = board_.una() > before;
    if (told.round_trip) rto_.sample(told.round_trip);
    if (advanced) timer_ = board_.flight() ? now + rto_.timeout() : kNever;  // RFC 6298, (5.2), (5.3)
    if (settings_.rack) end_probe(now, heard);
    duplicates_ = advanced ? 0 : duplicates_ + (told.sacked > 0);

    bool echoed = false;
    const std::uint64_t more_ce = scalable() && heard.ce_bytes > ce_bytes_ ? heard.ce_bytes - ce_bytes_ : 0;
    ce_bytes_ += more_ce;
    if (scalable()) congestion_->marked(told.delivered, std::min(more_ce, told.delivered), board_.una(), board_.nxt());
    const bool told_of_marks = scalable() ? more_ce > 0 : heard.ece && settings_.ecn;
    // The segment that tells of the last reduction is the first one behind it: until that is acknowledged, echoes are of marks before it.
    if (told_of_marks && state_ == State::Open && board_.una() > reduced_) {
        echoed = true;
        congestion_->reduce(now, sent, Cause::Mark);
        congestion_->set_cwnd(congestion_->ssthresh());
        reduced_ = board_.nxt();
        cwr_ = !scalable();
        ++counts_.ecn_reductions;
    }
    if (state_ != State::Open && board_.una() >= recovery_) {
        if (state_ == State::Recovery) congestion_->set_cwnd(congestion_->ssthresh());
        state_ = State::Open;
    } else if (state_ == State::Open && advanced && limited && !echoed && (scalable() || !told_of_marks)) {
        const std::uint64_t grown = told.acknowledged - std::min(more_ce, told.acknowledged);  // a scalable window: by what was not marked
        if (grown) congestion_->acknowledged(now, {grown, board_.una(), board_.nxt(), told.round_trip, rto_.srtt()});
    } else if (state_ == State::Loss && advanced) {
        congestion_->acknowledged(now, {told.acknowledged, board_.una(), board_.nxt(), told.round_trip, rto_.srtt()});
    }
    if (state_ != State::Loss) board_.find_lost();
    if (state_ == State::Open && duplicates_ >= Scoreboard::kDuplicates) board_.lose_first();
    if (settings_.rack) find_late(now);
    if (state_ == State::Loss) return;
    if (state_ == State::Open && (board_.first_is_lost() || (settings_.rack && board_.any_lost()))) enter_recovery(now, told);
    if (state_ == State::Recovery) proportional(told, advanced);
}

void Sender::enter_recovery(Time now, const Heard& heard) {
    state_ = State::Recovery;
    recovery_ = board_.nxt();
    if (board_.una() >= reduced_) congestion_->reduce(now, flight_size(board_.flight()));  // once a window (RFC 3168, 6.1.2)
    reduced_ = recovery_;
    limited_ = 0;
    cwr_ = settings_.ecn && !scalable();
    board_.forget_resent();
    rescued_ = false;
    // What was sacked before will not be delivered in this recovery.
    recover_flight_ = std::max<std::uint64_t>(board_.flight() - (board_.sacked() - heard.sacked) + heard.acknowledged, 1);
    prr_delivered_ = prr_out_ = 0;
    ++counts_.recoveries;
}

// RFC 9937, section 6; `advanced` without a new loss is its SafeACK.
void Sender::proportional(const Heard& heard, bool advanced) {
    const double threshold = congestion_->ssthresh();
    const auto pipe = static_cast<double>(board_.pipe());
    prr_delivered_ += heard.delivered;
    const auto delivered = static_cast<double>(prr_delivered_), out = static_cast<double>(prr_out_);
    double more;
    if (pipe > threshold) {
        more = std::ceil(delivered * threshold / static_cast<double>(recover_flight_)) - out;
    } else {
        more = std::max(delivered - out, static_cast<double>(heard.delivered));
        if (advanced && !board_.next_lost().bytes()) more += mss_;
        more = std::min(threshold - pipe, more);
    }
    if (prr_out_ == 0 && more < mss_) more = mss_;  // the fast retransmit goes out at once
    congestion_->set_cwnd(pipe + std::max(0.0, more));
}

void Sender::find_late(Time now) {
    const Time wait = board_.find_late(now, rto_.srtt(), state_ != State::Open);
    soon_probes_ = false;
    soon_ = wait ? now + wait : kNever;
    if (!wait) begin_probe(now);
}

// TLP_calc_PTO(): a probe is due when nothing was heard for two round trips, if nothing is being repaired and none is under way.
void Sender::begin_probe(Time now) {
    if (!settings_.rack || state_ != State::Open || probed_ || board_.sacked() || !board_.flight()) return;
    const Time srtt = rto_.srtt();
    Time wait = srtt ? 2 * srtt : settings_.first_timeout;
    if (srtt && board_.segments() == 1) wait += settings_.longest_delay;
    soon_ = std::min(now + wait, timer_);
    soon_probes_ = true;
}

// TLP_process_ack(). A probe that was sent before and acknowledged without D-SACK has repaired a loss, which counts as one.
void Sender::end_probe(Time now, const Acknowledgement& heard) {
    if (!probed_ || board_.una() < probed_) return;
    const bool twice = !heard.sacks.empty() && heard.sacks.front().to <= board_.una();
    if (probed_again_ && !twice) {
        if (board_.una() == probed_) return;  // until more is known
        if (board_.una() > reduced_ && state_ == State::Open) {
            congestion_->reduce(now, flight_size(board_.flight()));
            congestion_->set_cwnd(congestion_->ssthresh());
            reduced_ = board_.nxt();
            cwr_ = settings_.ecn && !scalable();
        }
    }
    probed_ = 0;
}

void Sender::expired(Time now) {
    if (soon_ <= now) {
        soon_ = kNever;
        if (soon_probes_) {
            probe_ = state_ == State::Open && board_.flight() != 0;
        } else {
            find_late(now);
            if (state_ == State::Open && board_.any_lost()) {
                enter_recovery(now, {});
                proportional({}, false);
            }
        }
        return;
    }
    if (timer_ > now || !board_.flight()) return;
    soon_ = kNever;
    probe_ = false;
    probed_ = 0;
    // What is outstanding in the network: what was acknowledged selectively has left it, and what recovery has sent for that is no more.
    const std::uint64_t outstanding = state_ == State::Recovery ? board_.pipe() : flight_size(board_.flight());
    congestion_->timeout(now, outstanding, expired_at_ == board_.una());
    expired_at_ = board_.una();
    state_ = State::Loss;
    recovery_ = board_.nxt();
    reduced_ = recovery_;
    limited_ = 0;
    cwr_ = settings_.ecn && !scalable();
    duplicates_ = 0;
    board_.lose_all();
    rto_.back_off();
    timer_ = now + rto_.timeout();
    ++counts_.timeouts;
}

std::uint32_t Sender::new_bytes() const {
    const std::uint64_t edge = std::min(settings_.bytes ? settings_.bytes : UINT64_MAX, board_.una() + settings_.window);
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(mss_, edge - std::min(edge, board_.nxt())));
}

std::optional<Segment> Sender::resend(Time now, Range range, bool rescue) {
    board_.resent(now, range.from, rescue);
    prr_out_ += range.bytes();
    ++counts_.segments, ++counts_.resent;
    counts_.bytes += range.bytes(), counts_.resent_bytes += range.bytes();
    if (timer_ == kNever) timer_ = now + rto_.timeout();
    return Segment{range, scalable(), false, true};
}

Segment Sender::send_new(Time now, std::uint32_t bytes) {
    const Segment segment{{board_.nxt(), board_.nxt() + bytes}, settings_.ecn, std::exchange(cwr_, false), false};
    board_.sent(now, bytes);
    ++counts_.segments;
    counts_.bytes += bytes;
    if (timer_ == kNever) timer_ = now + rto_.timeout();  // RFC 6298, (5.1)
    return segment;
}

std::optional<Segment> Sender::next(Time now) {
    if (std::exchange(probe_, false)) {  // TLP_send_probe(): what is new, whatever the window, or else the last one again
        ++counts_.probes;
        timer_ = now + rto_.timeout();
        const std::uint32_t fresh = new_bytes();
        probed_again_ = fresh == 0;
        probed_ = board_.nxt() + fresh;
        return fresh ? std::optional(send_new(now, fresh)) : resend(now, board_.last_unsacked(), true);
    }
    const double room = congestion_->cwnd() - static_cast<double>(board_.pipe());
    const auto fits = [&](std::uint64_t bytes) { return bytes && room >= static_cast<double>(bytes) - 1e-6; };
    if (state_ != State::Open)
        if (const Range lost = board_.next_lost(); lost.bytes()) return fits(lost.bytes()) ? resend(now, lost, false) : std::nullopt;
    const std::uint32_t fresh = new_bytes();
    // A short segment waits for room of its own unless it is the last one (RFC 1122, 4.2.3.4: no silly windows).
    const bool whole = fresh == mss_ || (fresh && settings_.bytes && board_.nxt() + fresh == settings_.bytes);
    if (whole) {
        if (!fits(fresh)) return std::nullopt;
        const Segment segment = send_new(now, fresh);
        if (state_ == State::Recovery) prr_out_ += fresh;
        if (state_ == State::Open && board_.sacked()) limited_ += fresh;
        begin_probe(now);
        return segment;
    }
    if (state_ != State::Recovery) return std::nullopt;
    if (const Range below = board_.next_below_sacked(); below.bytes())
        return fits(below.bytes()) ? resend(now, below, false) : std::nullopt;
    const Range last = board_.last_unsacked();
    if (rescued_ || !fits(last.bytes())) return std::nullopt;
    rescued_ = true;
    return resend(now, last, true);
}

}  // namespace penstock::engine::tcp
