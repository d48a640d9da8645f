// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Model of pst_send_ahead: packets that were sent while their queue's last one was still in the hierarchy, each in a place of its own until
// that one is through. What happens in a cycle is seen in the next one, as in the RTL.
#pragma once

#include <cstdint>

namespace penstock {

inline constexpr int kNoPlace = -1;  // the packet goes straight on

// `Packet` has a member `queue`.
template <typename Packet>
class SendAhead {
  public:
    static constexpr int kPlaces = 8;

    // First in a cycle.
    void begin() {
        taken_ = (taken_ | reserved_) & ~freed_;
        reserved_ = freed_ = 0;
    }
    // One more packet may be sent ahead: one may be decided on in this very cycle.
    bool room() const { return __builtin_popcount(taken_) <= kPlaces - 2; }
    // A packet is sent ahead: its place. through: the one before it is just getting through.
    int reserve(std::int64_t now, std::uint32_t queue, bool through) {
        const int place = __builtin_ctz(~taken_);
        reserved_ |= 1U << place;
        places_[place] = {{}, queue, kNever, through ? now + 1 : kNever};
        return place;
    }
    // A packet comes to its place, or was dropped before it came.
    void come(std::int64_t now, int place, const Packet& packet) {
        places_[place].packet = packet;
        places_[place].here = now + 1;
    }
    void drop(int place) { freed_ |= 1U << place; }
    // A packet of this queue is through the hierarchy; before reserve().
    void done(std::int64_t now, std::uint32_t queue) {
        for (unsigned taken = taken_; taken; taken &= taken - 1) {
            Place& place = places_[__builtin_ctz(taken)];
            if (place.queue == queue) place.through = now + 1;
        }
    }

    // The packet that may go on, if it is its turn; straight: another one wants to go straight on. Null: none.
    const Packet* offer(std::int64_t now, bool straight) {
        if (taken_ == 0 || (straight && !turn_)) return nullptr;
        for (int n = 1; n <= kPlaces; ++n) {  // round robin
            const int place = (last_ + n) % kPlaces;
            if (taken_ >> place & 1 && places_[place].here <= now && places_[place].through <= now) {
                offered_ = place;
                return &places_[place].packet;
            }
        }
        return nullptr;
    }
    // What was offered, or the packet that goes straight on, is taken.
    void taken(bool offered) {
        turn_ = !offered;
        if (!offered) return;
        freed_ |= 1U << offered_;
        last_ = offered_;
    }

    // A packet may go on after `now`.
    bool busy() const {
        for (unsigned taken = (taken_ | reserved_) & ~freed_; taken; taken &= taken - 1) {
            const Place& place = places_[__builtin_ctz(taken)];
            if (place.here != kNever && place.through != kNever) return true;
        }
        return false;
    }

  private:
    static constexpr std::int64_t kNever = INT64_MAX;
    struct Place {
        Packet packet;
        std::uint32_t queue;
        std::int64_t here, through;  // from then on: the packet is here, the one before it is through
    };

    Place places_[kPlaces];
    unsigned taken_ = 0, reserved_ = 0, freed_ = 0;  // sets of places
    int last_ = 0, offered_ = 0;
    bool turn_ = false;
};

}  // namespace penstock
