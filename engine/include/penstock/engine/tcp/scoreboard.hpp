// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// What a sender knows of the segments that it has sent (RFC 6675): which were selectively acknowledged, which are lost, how many bytes are
// in the network, and what is to be sent again. Segments are sent again as they were sent first. Lost is what enough later segments have
// overtaken, or, by RACK (RFC 8985), what was sent earlier than one that has arrived by more than its round trip.
#pragma once

#include <cstdint>
#include <deque>
#include <span>

#include "penstock/engine/tcp/time.hpp"

namespace penstock::engine::tcp {

// What an acknowledgement told.
struct Heard {
    std::uint64_t acknowledged = 0, sacked = 0;  // bytes, newly; `acknowledged` counts those that were sacked before, too
    std::uint64_t delivered = 0;                 // bytes, newly, once each
    Time round_trip = 0;                         // of the youngest of them that was sent once; 0: none was
};

class Scoreboard {
  public:
    static constexpr unsigned kDuplicates = 3;  // DupThresh

    explicit Scoreboard(std::uint32_t mss) : mss_(mss) {}

    std::uint64_t una() const { return una_; }
    std::uint64_t nxt() const { return nxt_; }
    std::uint64_t flight() const { return nxt_ - una_; }
    std::uint64_t sacked() const { return sacked_; }

    // New data was sent, from nxt() on.
    void sent(Time now, std::uint32_t bytes);
    Heard hear(Time now, std::uint64_t acknowledged, std::span<const Range> sacks);
    // Marks what IsLost() finds lost: three separate sacked ranges above it, or more than two segments' bytes.
    void find_lost();
    // RACK_detect_loss(): what was sent before the youngest that has arrived, and is overdue, is lost, sent again or not; `srtt` bounds the
    // time for which a segment may come out of order. `recovering`: losses are being repaired, so none is waited for. Cycles until one more
    // is overdue; 0: none will be.
    Time find_late(Time now, Time srtt, bool recovering);
    // The oldest segment is lost: so many duplicates have come.
    void lose_first() {
        if (!segments_.empty() && !segments_.front().sacked) segments_.front().lost = true;
    }
    bool first_is_lost() const { return !segments_.empty() && segments_.front().lost && !segments_.front().sacked; }
    // After a timeout all that was not sacked is lost, and what was sent again as well.
    void lose_all();
    // Something is lost that was not sent again.
    bool any_lost() const;
    unsigned segments() const { return static_cast<unsigned>(segments_.size()); }
    // A new recovery begins: nothing was sent again in it.
    void forget_resent();
    // SetPipe(): bytes that are in the network.
    std::uint64_t pipe() const;

    // The segment to be sent again; bytes() is 0 where there is none. `whether lost`: rule 1 of NextSeg(), or rule 3.
    Range next_lost() const { return next(true); }
    Range next_below_sacked() const { return next(false); }
    // Rule 4: the last one that was not sacked.
    Range last_unsacked() const;
    // That segment was sent again.
    void resent(Time now, std::uint64_t from, bool rescue);

  private:
    struct Segment {
        std::uint64_t from;
        std::uint32_t bytes;
        bool sacked = false, lost = false;
        bool resent = false;  // in this recovery
        bool twice = false;   // ever
        Time at;              // sent last
    };
    Range next(bool lost) const;
    // RACK_update(): this one has arrived.
    void arrived(Time now, const Segment& segment);

    std::uint32_t mss_;
    std::deque<Segment> segments_;  // from una on, without gaps
    std::uint64_t una_ = 0, nxt_ = 0, high_sacked_ = 0;
    std::uint64_t sacked_ = 0;  // bytes of segments_
    unsigned sacked_segments_ = 0;
    // RACK: when the one was sent that was sent last of those that have arrived, its end and round trip; the least round trip; the highest
    // end that has arrived, and whether one below it came later without having been sent again.
    Time rack_at_ = -1, rack_trip_ = 0, least_trip_ = kNever;
    std::uint64_t rack_end_ = 0, highest_ = 0;
    bool reordered_ = false;
};

}  // namespace penstock::engine::tcp
