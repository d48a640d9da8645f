// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "penstock/engine/tcp/receiver.hpp"

#include <algorithm>

namespace penstock::engine::tcp {

bool Receiver::received(Time now, Range segment, bool ce, bool cwr) {
    if (cwr) echo_ = false;
    if (ce) echo_ = true;
    const bool turned = settings_.accurate && ce != was_ce_;
    was_ce_ = ce;
    if (ce) ce_bytes_ += segment.bytes();
    const bool gaps = !recent_.empty();
    if (segment.to > next_ + settings_.window || segment.to <= next_ || segment.from >= segment.to) {
        if (segment.to <= next_ && segment.from < segment.to) {
            duplicates_ += segment.bytes();
            again_ = segment;
        }
        return true;  // RFC 9293, 3.10.7.4: what cannot be taken is answered
    }
    // With what it touches it becomes one range.
    Range whole = segment;
    std::uint64_t had = segment.from < next_ ? next_ - segment.from : 0;
    std::erase_if(recent_, [&](const Range& range) {
        if (range.to < segment.from || range.from > segment.to) return false;
        const std::uint64_t low = std::max(range.from, segment.from), high = std::min(range.to, segment.to);
        had += high > low ? high - low : 0;
        whole = {std::min(whole.from, range.from), std::max(whole.to, range.to)};
        return true;
    });
    duplicates_ += had;
    if (whole.from > next_) {
        recent_.insert(recent_.begin(), whole);
        return true;
    }
    next_ = whole.to;
    unacknowledged_ += segment.bytes();
    // A gap that is filled, or partly, is told at once (RFC 5681, 4.2).
    if (gaps || had || turned || settings_.delay == 0 || unacknowledged_ >= 2 * std::uint64_t{settings_.mss}) return true;
    if (timer_ == kNever) timer_ = now + settings_.delay;
    return false;
}

std::vector<Range> Receiver::sacks() const {
    std::vector<Range> told;
    if (again_.bytes()) told.push_back(again_);
    const auto more = static_cast<std::ptrdiff_t>(std::min(recent_.size(), kBlocks - told.size()));
    told.insert(told.end(), recent_.begin(), recent_.begin() + more);
    return told;
}

void Receiver::acknowledge() {
    again_ = {};
    unacknowledged_ = 0;
    timer_ = kNever;
}

}  // namespace penstock::engine::tcp
