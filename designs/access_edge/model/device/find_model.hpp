// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Model of pst_find_queue: keys and profiles as they were in each cycle, and the queue of a frame by its headers.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "blocks/lookup/model/lookup.hpp"
#include "blocks/lookup/model/prefix.hpp"
#include "blocks/parse/model/parse.hpp"
#include "blocks/profile/model/profile.hpp"
#include "designs/access_edge/model/access_edge.hpp"

namespace penstock::engine {

// Cycles of pst_find_queue.
namespace find_timing {
inline constexpr std::uint32_t kWindowBeats = 2;       // beats that are read, at most
inline constexpr std::uint32_t kExtensionHeaders = 2;  // of IPv6
inline constexpr int kVector = 6;                      // from the last of these beats to the headers up to IP
inline constexpr int kChoice = 2;                      // from there to the key, and a cycle less to a prefix
inline constexpr int kKeys = 5;                        // to the last change of a key that the frame sees
inline constexpr int kBank = 0;                        // to the last change of the bank of prefixes
// From a choice to its answer, by key or prefix.
constexpr int answer(std::uint32_t prefix_levels) {
    return static_cast<int>(std::max(lookup_timing::kAnswer, prefix_levels != 0 ? prefix_timing::latency(prefix_levels) - 1 : 0));
}
// To the cycle that says which queue is that for misses; then its queue is known.
constexpr int miss(std::uint32_t prefix_levels) { return kChoice + answer(prefix_levels); }
constexpr int out(std::uint32_t prefix_levels) { return miss(prefix_levels) + 2; }  // to its first beat out, at the earliest
constexpr int settle(std::uint32_t prefix_levels) { return 2 * static_cast<int>(prefix_levels) + 9; }  // of a change of banks
inline constexpr std::uint32_t kMaxMoves = 32;                                                         // of pst_lookup
inline constexpr std::uint32_t kWaitBeats = 64;                                                        // that wait for their queue
}  // namespace find_timing

struct FindSizes {
    std::uint32_t profiles = 0, entries = 0;  // no profiles: queues are not found in headers
    std::uint32_t prefix_levels = 0;          // of the tree of prefixes; 0: there is none
};

struct FoundQueue {
    bool none = false;  // there is no queue for it: it is dropped
    std::uint32_t queue = 0;
};

class FindModel {
  public:
    explicit FindModel(const FindSizes& sizes)
        : sizes_(sizes),
          lookup_({.entries = sizes.entries, .key_bits = 80, .max_moves = find_timing::kMaxMoves}),
          profiles_(sizes.profiles),
          misses_(sizes.profiles + 1) {
        if (sizes.prefix_levels != 0)
            for (auto& bank : banks_) bank = PrefixBank(sizes.prefix_levels);
    }

    std::uint32_t profiles() const { return sizes_.profiles; }
    std::uint32_t entries() const { return sizes_.entries; }
    std::uint32_t prefix_levels() const { return sizes_.prefix_levels; }
    std::uint64_t keys() const { return lookup_.keys(); }
    // Moves of keys before cycle `now`, which is at most a few cycles in the past: moves are farther apart.
    std::uint32_t moves(std::int64_t now) {
        advance(now);
        return lookup_.moves() - static_cast<std::uint32_t>(moved_ >= now);
    }
    // Of the hash.
    std::uint32_t chunks() const { return lookup_.mix().chunks(); }
    // Cycles from reset until the places of keys are cleared.
    std::int64_t init_cycles() const { return sizes_.entries / LookupMix::kTables; }

    // It is cycle `now`: the cycles before it have passed.
    void advance(std::int64_t now) {
        while (at_ < now) {
            if (lookup_.ready() && !lookup_.done() && lookup_.stashed() == 0) {
                lookup_.rest(static_cast<std::uint64_t>(now - at_));
                at_ = now;
                return;
            }
            cycle(std::nullopt);
        }
    }
    // An operation is offered in the cycle that advance() told: whether it is taken. The cycle passes.
    bool offer(const Lookup::Operation& operation) {
        const bool ready = lookup_.ready();
        if (ready) {
            key_ = operation.key;
            const Lookup::Answer answer = lookup_.find(key_);
            before_ = answer.hit ? std::optional(answer.value) : std::nullopt;
        }
        cycle(operation);
        return ready;
    }
    // What has become of it, in the cycle that advance() told.
    std::optional<LookupDone> done() {
        const auto found = lookup_.done();
        if (found) changes_.push_back({at_ - 1, key_, before_});
        return found;
    }
    // With it: the value of the key, if it was there.
    std::uint32_t done_value() const { return lookup_.done_value(); }
    // Frames that come later do not see what was before cycle `cycle`.
    void forget(std::int64_t cycle) {
        while (!changes_.empty() && changes_.front().cycle < cycle) changes_.pop_front();
        while (!settings_.empty() && settings_.front().until < cycle) settings_.pop_front();
    }

    // Settings that change in cycle `cycle`.
    void set_profile(std::uint32_t index, std::uint32_t word, std::int64_t cycle) {
        keep(cycle);
        Profile& profile = profiles_[index];
        profile.ports = word >> 11 & 0xFFFF;
        profile.kind = static_cast<ProfileKind>(word >> 7 & 15);
        profile.space = word >> 3 & 15;
        profile.class_of = static_cast<ProfileClass>(word & 7);
    }
    void set_class(std::uint32_t index, std::uint32_t number, std::int64_t cycle) {
        keep(cycle);
        profiles_[index / 64].classes[index % 64] = static_cast<std::uint8_t>(number & 15);
    }
    void set_miss(std::uint32_t index, std::uint32_t word, std::int64_t cycle) {
        keep(cycle);
        misses_[index] = {(word >> 28 & 1) != 0, word & 0xFFF'FFFF};
    }
    // Writes go into the bank that is not in use.
    void set_separator(std::uint32_t index, PrefixKey separator) {
        const std::uint32_t level = index >> 24, node = index >> 2 & 0x3F'FFFF, number = index & 3;
        separators_[number] = separator & ((PrefixKey{1} << kPrefixBits) - 1);
        if (number == 2) banks_[!bank_].set_node(level, node, separators_);
    }
    void set_interval(std::uint32_t index, std::optional<std::uint32_t> value) { banks_[!bank_].set_value(index, value); }
    void set_bank(bool bank, std::int64_t cycle) {
        keep(cycle);
        bank_ = bank;
        prefixes_ = std::make_shared<const PrefixBank>(banks_[bank]);
    }
    void set_seed(std::uint32_t index, LookupKey word) {
        lookup_.mix().set(index / 64, index % 64, word & ((LookupKey{1} << lookup_.mix().word_bits()) - 1));
    }
    void set_mpls(std::uint32_t mpls) { mpls_ = static_cast<ParseMpls>(mpls & 3); }

    // The queue of a frame of `length` bytes that begins with `head`, 129 of them if it has more; its header vector is there in cycle
    // `vector`. Counts it.
    FoundQueue find(std::span<const std::uint8_t> head, std::int64_t vector) {
        const ParsedHeaders headers = parse(head, mpls_, {128, find_timing::kExtensionHeaders, false});
        ++endings_[static_cast<std::size_t>(headers.ending)];
        const ProfileChoice choice = choose_profile(headers, 0, settings_at(vector).profiles);
        const std::vector<Miss>& misses = settings_at(vector + find_timing::miss(sizes_.prefix_levels)).misses;
        std::optional<std::uint32_t> subscriber;
        if (choice.routed) {
            if (const PrefixBank* prefixes = settings_at(vector + find_timing::kBank).prefixes)
                subscriber = prefixes->find(PrefixKey{choice.prefix.high} << 64 | choice.prefix.low);
        } else if (choice.profile) {
            subscriber = subscriber_at(LookupKey{choice.key.high} << 64 | choice.key.low, vector + find_timing::kKeys);
        }
        if (subscriber) {
            ++hits_[*choice.profile];
            return {false, subscriber_queue(*subscriber, choice.number)};
        }
        ++(choice.profile ? missed_[*choice.profile] : none_);
        const Miss& miss = misses[choice.profile.value_or(sizes_.profiles)];
        return {miss.drop, miss.drop ? 0 : miss.queue};
    }

    // What register find_count shows.
    std::uint64_t count(std::uint32_t index) const {
        const std::uint32_t of = index & 15;
        switch (index >> 4) {
            case 0:
                return of < sizes_.profiles ? hits_[of] : 0;
            case 1:
                return of < sizes_.profiles ? missed_[of] : 0;
            case 2:
                return of < endings_.size() ? endings_[of] : 0;
            case 3:
                return of == 0 ? none_ : 0;
            default:
                return 0;
        }
    }

  private:
    static constexpr std::uint32_t kPrefixBits = 65;

    struct Miss {
        bool drop = true;
        std::uint32_t queue = 0;
    };
    struct Settings {
        std::vector<Profile> profiles;
        std::vector<Miss> misses;
        std::shared_ptr<const PrefixBank> prefixes;
        std::int64_t until;  // the last cycle in which they were so
    };
    struct SettingsNow {
        const std::vector<Profile>& profiles;
        const std::vector<Miss>& misses;
        const PrefixBank* prefixes;
    };
    struct Change {
        std::int64_t cycle;  // at the end of which the key changed
        LookupKey key;
        std::optional<std::uint32_t> before;
    };

    void cycle(const std::optional<Lookup::Operation>& operation) {
        const std::uint32_t before = lookup_.moves();
        lookup_.cycle(std::nullopt, operation);
        if (lookup_.moves() != before) moved_ = at_;
        ++at_;
    }
    void keep(std::int64_t cycle) {
        if (settings_.empty() || settings_.back().until < cycle) settings_.push_back({profiles_, misses_, prefixes_, cycle});
    }
    SettingsNow settings_at(std::int64_t cycle) const {
        for (const Settings& past : settings_)
            if (cycle <= past.until) return {past.profiles, past.misses, past.prefixes.get()};
        return {profiles_, misses_, prefixes_.get()};
    }
    std::optional<std::uint32_t> subscriber_at(LookupKey key, std::int64_t cycle) const {
        for (const Change& change : changes_)
            if (change.cycle > cycle && change.key == key) return change.before;
        const Lookup::Answer answer = lookup_.find(key);
        return answer.hit ? std::optional(answer.value) : std::nullopt;
    }

    FindSizes sizes_;
    Lookup lookup_;
    std::int64_t at_ = 0;      // cycles that have passed
    std::int64_t moved_ = -1;  // the last one in which a key was moved
    LookupKey key_ = 0;        // of the operation under way
    std::optional<std::uint32_t> before_;
    std::vector<Profile> profiles_;
    std::vector<Miss> misses_;
    std::array<PrefixBank, 2> banks_;
    bool bank_ = false;
    std::shared_ptr<const PrefixBank> prefixes_;  // the bank that lookups use, as it was when it came into use; none before
    std::array<PrefixKey, 3> separators_{};       // that were given last
    ParseMpls mpls_ = ParseMpls::ByNibble;
    std::deque<Change> changes_;
    std::deque<Settings> settings_;
    std::array<std::uint64_t, 16> hits_{}, missed_{};
    std::array<std::uint64_t, 8> endings_{};
    std::uint64_t none_ = 0;
};

}  // namespace penstock::engine
