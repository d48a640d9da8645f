// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// From the link of an input to the words of its stream. A word has one beat, or, where the stream is segmented, as many as the link has
// brought since the last word and as there are segments; frames follow each other in it without a gap.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "penstock/engine/frame.hpp"
#include "penstock/engine/link_ports.hpp"

namespace penstock::engine {

class WordInput {
  public:
    explicit WordInput(unsigned segments) : segments_(segments) {}

    // A word is offered and has not been taken.
    bool offered() const { return offered_; }

    // Makes the word that is offered from cycle `now` on, of beats that `link` has brought. `draw()`: whether the next segment is used, if
    // there is a beat for it; `put(segment)` writes the beat at which the link is. False: there is no word yet.
    template <typename Draw, typename Put>
    bool make(LinkInput& link, std::int64_t now, Draw&& draw, Put&& put) {
        for (unsigned segment = 0; segment < segments_ && now >= link.beat_cycle(); ++segment) {
            if (!draw()) continue;
            if (link.at() == 0) link.begin();
            put(segment);
            offered_ = true;
            // The link goes on while the word waits: with several segments a frame leaves the FIFO in front of them with its last beat.
            if (segments_ == 1) continue;
            if (link.last()) ended_.emplace_back(link.frame(), link.last_bit());
            if (link.taken(now)) link.fetch(now);
        }
        return offered_;
    }

    // The word was taken in cycle `now`: `ended(frame, last_bit)` hears of each frame whose last beat was in it.
    template <typename Ended>
    void taken(LinkInput& link, std::int64_t now, Ended&& ended) {
        offered_ = false;
        if (segments_ == 1) {
            if (!link.taken(now)) return;
            ended(link.frame(), link.last_bit());
            link.fetch(now);
            return;
        }
        for (const auto& [frame, last_bit] : ended_) ended(frame, last_bit);
        ended_.clear();
    }

  private:
    unsigned segments_;
    bool offered_ = false;
    std::vector<std::pair<Frame, std::int64_t>> ended_;  // in the word that is offered
};

}  // namespace penstock::engine
