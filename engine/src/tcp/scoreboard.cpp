// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "penstock/engine/tcp/scoreboard.hpp"

#include <algorithm>
#include <utility>

namespace penstock::engine::tcp {

void Scoreboard::sent(Time now, std::uint32_t bytes) {
    segments_.push_back({.from = nxt_, .bytes = bytes, .at = now});
    nxt_ += bytes;
}

Heard Scoreboard::hear(Time now, std::uint64_t acknowledged, std::span<const Range> sacks) {
    Heard heard;
    const auto took = [&](const Segment& segment) {
        heard.delivered += segment.bytes;
        if (!segment.twice) heard.round_trip = std::max<Time>(now - segment.at, 1);
        arrived(now, segment);
    };
    acknowledged = std::min(acknowledged, nxt_);
    while (!segments_.empty() && segments_.front().from + segments_.front().bytes <= acknowledged) {
        const Segment& segment = segments_.front();
        if (segment.sacked) {
            sacked_ -= segment.bytes;
            --sacked_segments_;
        } else {
            took(segment);
        }
        heard.acknowledged += segment.bytes;
        una_ += segment.bytes;
        segments_.pop_front();
    }
    for (const Range& sack : sacks) {
        if (sack.to > nxt_ || sack.from >= sack.to) continue;
        auto at = std::lower_bound(segments_.begin(), segments_.end(), sack.from,
                                   [](const Segment& segment, std::uint64_t from) { return segment.from < from; });
        for (; at != segments_.end() && at->from + at->bytes <= sack.to; ++at) {
            if (at->sacked) continue;
            at->sacked = true;
            sacked_ += at->bytes;
            ++sacked_segments_;
            heard.sacked += at->bytes;
            took(*at);
        }
        high_sacked_ = std::max(high_sacked_, sack.to);
    }
    return heard;
}

void Scoreboard::arrived(Time now, const Segment& segment) {
    const Time trip = std::max<Time>(now - segment.at, 1);
    const std::uint64_t end = segment.from + segment.bytes;
    if (!segment.twice) least_trip_ = std::min(least_trip_, trip);
    if (end > highest_)
        highest_ = end;
    else if (!segment.twice)
        reordered_ = true;
    if (segment.twice && trip < least_trip_) return;  // it was the earlier one that has arrived
    if (std::pair(segment.at, end) <= std::pair(rack_at_, rack_end_)) return;
    rack_at_ = segment.at;
    rack_end_ = end;
    rack_trip_ = trip;
}

Time Scoreboard::find_late(Time now, Time srtt, bool recovering) {
    // All behind a first one that was sent once were sent after it: where that is not late, nothing is.
    if (segments_.empty()) return 0;
    const Segment& first = segments_.front();
    if (!first.twice && std::pair(first.at, first.from + first.bytes) >= std::pair(rack_at_, rack_end_)) return 0;
    Time longest = 0;
    Time allowed = 0;  // RACK.reo_wnd
    if (reordered_ || !(recovering || sacked_segments_ >= kDuplicates))
        allowed = least_trip_ == kNever ? 0 : std::min(least_trip_ / 4, srtt);
    for (Segment& segment : segments_) {
        if (segment.sacked || (segment.lost && !segment.resent)) continue;
        if (std::pair(segment.at, segment.from + segment.bytes) >= std::pair(rack_at_, rack_end_)) continue;
        const Time left = segment.at + rack_trip_ + allowed - now;
        if (left > 0) {
            longest = std::max(longest, left);
        } else {
            segment.lost = true;
            segment.resent = false;
        }
    }
    return longest;
}

void Scoreboard::find_lost() {
    if (sacked_ == 0) return;
    unsigned ranges = 0;
    std::uint64_t bytes = 0;
    bool inside = false;
    for (auto at = segments_.rbegin(); at != segments_.rend(); ++at) {
        if (at->sacked) {
            ranges += !inside;
            bytes += at->bytes;
        } else if (ranges >= kDuplicates || bytes > (kDuplicates - 1) * std::uint64_t{mss_}) {
            at->lost = true;
        }
        inside = at->sacked;
    }
}

void Scoreboard::lose_all() {
    for (Segment& segment : segments_) {
        segment.resent = false;
        segment.lost = !segment.sacked;
    }
}

void Scoreboard::forget_resent() {
    for (Segment& segment : segments_) segment.resent = false;
}

std::uint64_t Scoreboard::pipe() const {
    if (sacked_ == 0 && !first_is_lost()) {
        // Nothing is lost: but after a timeout segments may be lost behind the first, which was sent again and acknowledged meanwhile.
        if (segments_.empty() || !segments_.back().lost) return flight();
    }
    std::uint64_t bytes = 0;
    for (const Segment& segment : segments_) {
        if (segment.sacked) continue;
        if (!segment.lost) bytes += segment.bytes;
        if (segment.resent) bytes += segment.bytes;
    }
    return bytes;
}

bool Scoreboard::any_lost() const {
    if (segments_.empty() || (sacked_ == 0 && !segments_.front().lost && !segments_.back().lost)) return false;
    return next(true).bytes() != 0;
}

Range Scoreboard::next(bool lost) const {
    for (const Segment& segment : segments_) {
        if (segment.sacked || segment.resent) continue;
        if (!lost && segment.from >= high_sacked_) break;
        if (!lost || segment.lost) return {segment.from, segment.from + segment.bytes};
    }
    return {};
}

Range Scoreboard::last_unsacked() const {
    for (auto at = segments_.rbegin(); at != segments_.rend(); ++at)
        if (!at->sacked) return {at->from, at->from + at->bytes};
    return {};
}

void Scoreboard::resent(Time now, std::uint64_t from, bool rescue) {
    const auto at = std::lower_bound(segments_.begin(), segments_.end(), from,
                                     [](const Segment& segment, std::uint64_t place) { return segment.from < place; });
    if (at == segments_.end() || at->from != from) return;
    at->twice = true;
    at->at = now;
    if (!rescue) at->resent = true;  // a rescue is not in HighRxt
}

}  // namespace penstock::engine::tcp
