// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Model of pst_setting_profiles, equal to the RTL in every cycle: profiles, chains, the order of free profiles, and how long each step
// takes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace penstock {

namespace setting_profiles_timing {
// From the cycle in which settings are seen to that in which the first profile of their chain is looked at; from the last one that is
// looked at to the refusal; from there, with a free profile, to the offer.
inline constexpr std::int64_t kFirst = 3, kTake = 2;
// From the cycle in which a queue has its profile to the one in which the next settings are seen: it had that one already; the counts have
// changed; besides, the old profile has become free, and the new one is linked.
inline constexpr std::int64_t kSame = 2, kCounted = 3, kFreed = 2, kLinked = 3;
}  // namespace setting_profiles_timing

class SettingProfiles {
  public:
    using Word = unsigned __int128;

    // profiles: a power of two, 4 .. 65,536. reset: the word of profile 0, which all queues have after reset.
    SettingProfiles(std::uint32_t queues, std::uint32_t profiles, Word reset)
        : words_(profiles), counts_(profiles), next_(profiles, kNone), starts_(profiles, kNone), of_(queues) {
        std::uint16_t crc = 0x1021;
        for (std::uint16_t& mask : masks_) {
            mask = crc;
            crc = static_cast<std::uint16_t>(crc << 1 ^ (crc & 0x8000 ? 0x1021 : 0));
        }
        words_[0] = reset;
        counts_[0] = queues;
        starts_[chain(reset)] = 0;
    }

    // Settings of a queue are on offer from this cycle on, until taken() or refused(). Returns whether they are seen in it (m_peek_o).
    bool offer(std::int64_t now, std::uint32_t queue, Word word) {
        using namespace setting_profiles_timing;
        if (at_ || now < idle_) return false;
        word_ = word;
        queue_ = queue;
        std::int64_t looks = 0;
        for (std::int32_t p = starts_[chain(word)]; p != kNone; p = next_[static_cast<std::size_t>(p)]) {
            ++looks;
            if (words_[static_cast<std::size_t>(p)] == word) {
                profile_ = p;
                fresh_ = false;
                at_ = now + kFirst + looks;
                return true;
            }
        }
        // One profile stays free, unless the one that the queue has will be.
        const std::size_t old = of_[queue];
        const bool room = used() + 2 <= words_.size() + (old != 0 && counts_[old] == 1);
        profile_ = !room ? kNone : !free_.empty() ? free_.back() : static_cast<std::int32_t>(unused_);
        fresh_ = true;
        at_ = now + kFirst + looks + (room ? kTake : 0);
        return true;
    }
    bool valid(std::int64_t now) const { return at_ && now >= *at_ && profile_ != kNone; }
    bool full(std::int64_t now) const { return at_ && now == *at_ && profile_ == kNone; }
    std::uint32_t profile() const { return static_cast<std::uint32_t>(profile_); }
    bool fresh() const { return fresh_; }
    std::uint32_t profile_of(std::uint32_t queue) const { return of_[queue]; }
    std::uint32_t used() const { return static_cast<std::uint32_t>(unused_ - free_.size()); }

    // In a cycle with valid(): the queue has the profile from now on.
    void taken(std::int64_t now) {
        using namespace setting_profiles_timing;
        const auto profile = static_cast<std::size_t>(profile_), old = static_cast<std::size_t>(of_[queue_]);
        at_.reset();
        idle_ = now + kSame;
        if (fresh_) {
            if (free_.empty())
                ++unused_;
            else
                free_.pop_back();
            words_[profile] = word_;
            counts_[profile] = 0;
        }
        if (profile == old) return;
        idle_ = now + kCounted;
        ++counts_[profile];
        if (--counts_[old] == 0 && old != 0) {
            unlink(static_cast<std::int32_t>(old));
            free_.push_back(static_cast<std::int32_t>(old));
            idle_ += kFreed;
        }
        if (fresh_) {
            std::int32_t& start = starts_[chain(word_)];
            next_[profile] = start;
            start = profile_;
            idle_ += kLinked;
        }
        of_[queue_] = static_cast<std::uint16_t>(profile);
    }
    // In a cycle with full(): the settings are refused.
    void refused(std::int64_t now) {
        at_.reset();
        idle_ = now + 1;
    }

  private:
    static constexpr std::int32_t kNone = -1;

    std::size_t chain(Word word) const {
        std::uint16_t crc = 0;
        for (const std::uint16_t mask : masks_) {
            if (word & 1) crc ^= mask;
            word >>= 1;
        }
        return crc & (words_.size() - 1);
    }
    void unlink(std::int32_t profile) {
        std::int32_t* link = &starts_[chain(words_[static_cast<std::size_t>(profile)])];
        while (*link != profile) link = &next_[static_cast<std::size_t>(*link)];
        *link = next_[static_cast<std::size_t>(profile)];
    }

    std::array<std::uint16_t, 128> masks_{};
    std::vector<Word> words_;
    std::vector<std::uint32_t> counts_;  // queues that have the profile
    std::vector<std::int32_t> next_, starts_;
    std::vector<std::uint16_t> of_;  // profile of each queue
    std::vector<std::int32_t> free_;
    std::size_t unused_ = 1;  // profiles from this one on were never used
    Word word_ = 0;
    std::uint32_t queue_ = 0;
    std::int32_t profile_ = kNone;
    bool fresh_ = false;
    std::optional<std::int64_t> at_;  // what was looked for is known from this cycle on
    std::int64_t idle_ = 0;
};

}  // namespace penstock
