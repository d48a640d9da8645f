// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Model of pst_deadline_token: a column's part of the token rings, equal to it in every cycle.
#pragma once

#include "edfr_parts.hpp"

namespace penstock {

struct EdfrToken {
    // Frames of a class that are gone without a take.
    struct Gone {
        uint32_t id, frames;
    };

    explicit EdfrToken(const EdfrSettings& s) : run_(s.run_frames), spot_(s.classes), owed_count_(s.classes) {
        for (uint32_t c = 0; c < s.classes; ++c)
            if (c % s.columns == s.column) here_.set(c);
    }

    EdfrMask may() const { return here_ - owed_; }
    bool owes(uint32_t c) const { return owed_[c]; }
    // None follows a frame that is taken, nor goes with it; none follows two.
    bool stops(uint32_t c) const { return last_[c] || owed_[c]; }
    bool stops_pair(uint32_t c) const { return stops(c) || spot_[c] == run_ - 2; }

    // `pair`: two frames are taken.
    bool clock(const uint32_t* comes, const EdfrMask& shown, const uint32_t* take, bool pair, const Gone* gone) {
        const EdfrMask request = (here_ & owed_) - shown;
        const bool picks = request.any() && !work_valid_;
        const uint32_t picked = picks ? pick_.choose(request) : 0;
        const bool take_pass = take && (last_[*take] || (pair && spot_[*take] == run_ - 2)), work = work_valid_ && !gone && !take_pass;
        const uint32_t owed_class = gone ? gone->id : work_, owed = owed_[owed_class] ? owed_count_[owed_class] : 0;
        const uint32_t room = run_ - spot_[work_];
        const bool work_pass = work && owed >= room;
        const bool changed = comes || take || gone || picks || work_valid_ || sent_valid;

        if (gone) {
            owed_count_[owed_class] = owed + gone->frames;
        } else if (work) {
            owed_count_[owed_class] = owed - room;
        }
        if (comes) here_.set(*comes);
        if (take) {
            put_spot(*take, (spot_[*take] + 1 + pair) & (run_ - 1));
            if (take_pass) here_.clear(*take);
        }
        if (work) {
            put_spot(work_, owed >= room ? 0 : spot_[work_] + owed);
            if (owed <= room) owed_.clear(work_);
            if (work_pass) here_.clear(work_);
        }
        if (gone) owed_.set(gone->id);
        sent_valid = take_pass || work_pass;
        sent = take_pass ? *take : work_;
        work_valid_ = picks || (work_valid_ && !work);
        if (picks) {
            work_ = picked;
            pick_.last = static_cast<int>(picked);
        }
        return changed;
    }

    bool sent_valid = false;  // m_token
    uint32_t sent = 0;

  private:
    void put_spot(uint32_t c, uint32_t spot) {
        spot_[c] = spot;
        last_.put(c, spot == run_ - 1);
    }

    uint32_t run_;
    EdfrMask here_, owed_, last_;  // token; frames are owed; the run's last frame is next
    std::vector<uint32_t> spot_, owed_count_;
    EdfrPick pick_;
    bool work_valid_ = false;
    uint32_t work_ = 0;
};

}  // namespace penstock
