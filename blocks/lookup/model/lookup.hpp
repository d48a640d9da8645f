// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Model of pst_lookup, cycle by cycle: keyed hash, four tables, stash, and the steps of operations and moves.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace penstock {

enum class LookupOp : std::uint32_t { Insert, Delete, Read };
enum class LookupDone : std::uint32_t { Added, Replaced, Deleted, Absent, Full, Read };

struct LookupSizes {
    std::uint32_t entries = 262144;
    std::uint32_t key_bits = 48;
    std::uint32_t stash = 8;
    std::uint32_t max_moves = 64;
    std::uint32_t chunk_bits = 6;
    bool split = false;  // SplitStages
};

namespace lookup_timing {
inline constexpr std::uint32_t kMix = 3;     // cycles from a key to its addresses: the tables are read then
inline constexpr std::uint32_t kAnswer = 7;  // cycles from a key to its answer
inline constexpr std::uint32_t kSplit = 2;   // more of both with SplitStages
inline constexpr std::uint32_t kRead = 2;    // cycles from the read of an operation's places to their words
constexpr std::uint32_t mix(bool split) { return kMix + (split ? kSplit : 0); }
constexpr std::uint32_t read(bool split) { return kRead + (split ? 1 : 0); }
constexpr std::uint32_t answer(bool split) { return kAnswer + (split ? kSplit : 0); }
}  // namespace lookup_timing

using LookupKey = unsigned __int128;

// The keyed hash (pst_lookup_mix).
class LookupMix {
  public:
    static constexpr std::uint32_t kTables = 4;

    struct Mixed {
        std::uint64_t low = 0;
        LookupKey rest = 0;
        std::array<std::uint64_t, kTables> index{};

        bool same(const Mixed& other) const { return low == other.low && rest == other.rest; }
    };

    explicit LookupMix(const LookupSizes& s)
        : index_bits_(static_cast<std::uint32_t>(std::countr_zero(s.entries / kTables))),
          rest_bits_(s.key_bits - index_bits_),
          chunk_bits_(s.chunk_bits),
          low_chunks_((index_bits_ + chunk_bits_ - 1) / chunk_bits_),
          rest_chunks_((rest_bits_ + chunk_bits_ - 1) / chunk_bits_),
          words_(low_chunks_ + rest_chunks_, std::vector<LookupKey>(std::size_t{1} << chunk_bits_)) {}

    std::uint32_t chunks() const { return low_chunks_ + rest_chunks_; }
    std::uint32_t indexes() const { return 1u << chunk_bits_; }
    std::uint32_t index_bits() const { return index_bits_; }
    // Bits of a random word.
    std::uint32_t word_bits() const { return std::max(rest_bits_, kTables * index_bits_); }
    void set(std::uint32_t chunk, std::uint32_t index, LookupKey word) { words_[chunk][index] = word; }

    // The random words that `seed` stands for, in the order of chunks and indexes: splitmix64, two numbers a word, the low one first.
    template <typename Take>
    void each_word(std::uint64_t seed, Take&& take) const {
        for (std::uint32_t chunk = 0; chunk < chunks(); chunk++) {
            for (std::uint32_t index = 0; index < indexes(); index++) {
                const std::uint64_t low = splitmix(seed), high = splitmix(seed);
                take(chunk, index, (LookupKey{high} << 64 | low) & mask(word_bits()));
            }
        }
    }
    void seed(std::uint64_t from) {
        each_word(from, [&](std::uint32_t chunk, std::uint32_t index, LookupKey word) { set(chunk, index, word); });
    }

    Mixed mix(LookupKey key) const {
        Mixed found;
        found.low = static_cast<std::uint64_t>(key & mask(index_bits_));
        found.rest = key >> index_bits_;
        for (std::uint32_t c = 0; c < low_chunks_; c++) found.rest ^= words_[c][chunk(found.low, c)] & mask(rest_bits_);
        place(found);
        return found;
    }

    // The addresses of a key that is mixed.
    void place(Mixed& key) const {
        LookupKey all = 0;
        for (std::uint32_t c = 0; c < rest_chunks_; c++) all ^= words_[low_chunks_ + c][chunk(key.rest, c)];
        for (std::uint32_t t = 0; t < kTables; t++) {
            key.index[t] = key.low ^ static_cast<std::uint64_t>(all >> (t * index_bits_) & mask(index_bits_));
        }
    }

    // The mixed key with these upper bits that is at `index` of table `t`.
    Mixed of_word(LookupKey rest, std::uint32_t t, std::uint64_t index) const {
        Mixed found{0, rest, {}};
        place(found);
        found.low = index ^ found.index[t];
        place(found);
        return found;
    }

    // The key that is mixed to this.
    LookupKey unmix(std::uint64_t low, LookupKey rest) const {
        for (std::uint32_t c = 0; c < low_chunks_; c++) rest ^= words_[c][chunk(low, c)] & mask(rest_bits_);
        return rest << index_bits_ | low;
    }

    // Keys that an attacker who knows the random words would choose: all their places begin with `bits` zeros. At most `count`.
    std::vector<LookupKey> crowding(std::size_t count, std::uint32_t bits) const {
        std::vector<LookupKey> found;
        const std::uint32_t low_bits = index_bits_ - bits;
        for (LookupKey rest = 0; found.size() < count && rest < LookupKey{1} << std::min(rest_bits_, 24u); rest++) {
            Mixed mixed{0, rest, {}};
            place(mixed);
            const std::uint64_t begin = mixed.index[0] >> low_bits;
            bool same = true;
            for (const std::uint64_t index : mixed.index) same &= index >> low_bits == begin;
            for (std::uint64_t low = 0; same && low < std::uint64_t{1} << low_bits && found.size() < count; low++)
                found.push_back(unmix(begin << low_bits | low, rest));
        }
        return found;
    }

  private:
    static LookupKey mask(std::uint32_t bits) { return (LookupKey{1} << bits) - 1; }
    std::size_t chunk(LookupKey from, std::uint32_t c) const {
        return static_cast<std::size_t>(from >> (c * chunk_bits_) & mask(chunk_bits_));
    }
    static std::uint64_t splitmix(std::uint64_t& state) {
        state += 0x9E37'79B9'7F4A'7C15u;
        std::uint64_t z = state;
        z = (z ^ z >> 30) * 0xBF58'476D'1CE4'E5B9u;
        z = (z ^ z >> 27) * 0x94D0'49BB'1331'11EBu;
        return z ^ z >> 31;
    }

    std::uint32_t index_bits_, rest_bits_, chunk_bits_, low_chunks_, rest_chunks_;
    std::vector<std::vector<LookupKey>> words_;
};

class Lookup {
  public:
    static constexpr std::uint32_t kTables = LookupMix::kTables;

    struct Operation {
        LookupOp op = LookupOp::Insert;
        LookupKey key = 0;
        std::uint32_t value = 0;
    };
    struct Answer {
        bool valid = false, hit = false;
        std::uint32_t value = 0;
    };

    explicit Lookup(const LookupSizes& sizes)
        : mix_(sizes),
          sizes_(sizes),
          tables_(kTables, std::vector<Word>(sizes.entries / kTables)),
          stash_(sizes.stash),
          asked_(lookup_timing::mix(sizes.split)) {
        reset();
    }

    LookupMix& mix() { return mix_; }
    const LookupMix& mix() const { return mix_; }

    void reset() {
        for (auto& table : tables_) table.assign(table.size(), {});
        stash_.assign(sizes_.stash, {});
        state_ = State::Clear;
        count_ = sizes_.entries / kTables;
        turn_ = false;
        from_ = 0;
        random_ = kFirst;
        keys_ = moves_ = 0;
        done_.reset();
        done_value_ = 0;
        answers_ = {};
        asked_.assign(asked_.size(), std::nullopt);
    }

    // Outputs of this cycle.
    bool init_done() const { return state_ != State::Clear; }
    bool ready() const { return state_ == State::Idle && !(stashed() && turn_); }
    std::optional<LookupDone> done() const { return done_; }
    // With it: the value of a key that was read or deleted, or of one before an insert replaced it; else 0.
    std::uint32_t done_value() const { return done_value_; }
    const Answer& answer() const { return answers_.back(); }
    std::uint64_t keys() const { return keys_; }
    std::uint32_t moves() const { return moves_; }
    std::uint32_t stashed() const {
        std::uint32_t count = 0;
        for (const Entry& entry : stash_) count += entry.present;
        return count;
    }

    // The end of a cycle in which this key is looked up, and this operation is offered.
    void cycle(const std::optional<LookupKey>& key, const std::optional<Operation>& offered) {
        const bool was_init_done = init_done();
        update(offered);
        for (std::size_t i = answers_.size() - 1; i > 0; i--) answers_[i] = answers_[i - 1];
        const std::optional<LookupKey>& due = asked_.back();
        answers_[0] = due && was_init_done ? find(*due) : Answer{};
        for (std::size_t i = asked_.size() - 1; i > 0; i--) asked_[i] = asked_[i - 1];
        asked_[0] = key;
        random_ = next(random_);
    }

    // So many cycles pass in which nothing is looked up or offered, from one in which it is ready, has nothing to say and nothing in the
    // stash.
    void rest(std::uint64_t cycles) {
        static const Sequence sequence;
        random_ = sequence.after(random_, cycles);
    }

    // What a lookup finds now. Checks that it is found once: `places` is in how many places.
    Answer find(LookupKey key, std::uint32_t* places = nullptr) const {
        const Mixed mixed = mix_.mix(key);
        Answer found{true, false, 0};
        std::uint32_t count = 0;
        for (std::uint32_t t = 0; t < kTables; t++) {
            const Word& word = tables_[t][mixed.index[t]];
            if (word.present && word.rest == mixed.rest) found = {true, true, word.value}, count++;
        }
        for (const Entry& entry : stash_) {
            if (entry.present && entry.key.same(mixed)) found = {true, true, entry.value}, count++;
        }
        if (places) *places = count;
        return found;
    }

  private:
    using Mixed = LookupMix::Mixed;
    enum class State { Clear, Idle, Mix, Read, Decide, Victim, Swap };

    struct Word {
        bool present = false;
        LookupKey rest = 0;
        std::uint32_t value = 0;
    };
    struct Entry {
        bool present = false;
        Mixed key;
        std::uint32_t value = 0;
    };
    struct Item {
        bool in_stash = false;
        std::uint32_t entry = 0;
        std::optional<std::uint32_t> from;  // the table that it was taken from
        Mixed key;
        std::uint32_t value = 0;
    };

    static std::uint16_t next(std::uint16_t random) {
        return static_cast<std::uint16_t>(random << 1 | ((random >> 15 ^ random >> 13 ^ random >> 12 ^ random >> 10) & 1));
    }

    // All numbers that the shift register goes through.
    struct Sequence {
        std::vector<std::uint16_t> numbers;
        std::vector<std::uint32_t> places = std::vector<std::uint32_t>(1 << 16);

        Sequence() {
            std::uint16_t random = kFirst;
            do {
                places[random] = static_cast<std::uint32_t>(numbers.size());
                numbers.push_back(random);
                random = next(random);
            } while (random != kFirst);
        }
        std::uint16_t after(std::uint16_t random, std::uint64_t steps) const { return numbers[(places[random] + steps) % numbers.size()]; }
    };
    static constexpr std::uint16_t kFirst = 0xACE1;

    void enter(State state, std::uint32_t cycles) {
        state_ = state;
        count_ = cycles;
    }

    std::optional<std::uint32_t> first_free() const {
        for (std::uint32_t i = 0; i < stash_.size(); i++)
            if (!stash_[i].present) return i;
        return std::nullopt;
    }

    std::uint32_t next_stashed() const {
        for (std::uint32_t i = 0; i < stash_.size(); i++) {
            const std::uint32_t entry = (from_ + i) % stash_.size();
            if (stash_[entry].present) return entry;
        }
        return 0;
    }

    // One cycle of the steps.
    void update(const std::optional<Operation>& offered) {
        const bool is_ready = ready();
        done_.reset();
        done_value_ = 0;
        if (count_ > 0) {
            count_--;
            return;
        }
        switch (state_) {
            case State::Clear:
                enter(State::Idle, 0);
                break;
            case State::Idle:
                moves_left_ = sizes_.max_moves;
                if (offered && is_ready) {
                    op_ = offered->op;
                    item_ = {false, 0, std::nullopt, mix_.mix(offered->key), offered->value};
                    turn_ = true;
                    enter(State::Mix, lookup_timing::mix(sizes_.split));
                } else if (stashed()) {
                    const std::uint32_t entry = next_stashed();
                    item_ = {true, entry, std::nullopt, stash_[entry].key, stash_[entry].value};
                    turn_ = false;
                    enter(State::Mix, lookup_timing::mix(sizes_.split));
                }
                break;
            case State::Mix:
                enter(State::Read, lookup_timing::read(sizes_.split));
                break;
            case State::Read:
                enter(State::Decide, 0);
                break;
            case State::Decide:
                decide();
                break;
            case State::Victim:
                enter(State::Swap, 0);
                break;
            case State::Swap:
                swap();
                break;
        }
    }

    Word& place(std::uint32_t t) { return tables_[t][item_.key.index[t]]; }

    void finish(LookupDone done) {
        done_ = done;
        keys_ += done == LookupDone::Added;
        keys_ -= done == LookupDone::Deleted;
    }

    void decide() {
        enter(State::Idle, 0);
        const bool remove = op_ == LookupOp::Delete, read = op_ == LookupOp::Read;
        const LookupDone found = remove ? LookupDone::Deleted : read ? LookupDone::Read : LookupDone::Replaced;
        if (!item_.in_stash) {
            for (std::uint32_t t = 0; t < kTables; t++) {
                Word& word = place(t);
                if (!word.present || word.rest != item_.key.rest) continue;
                done_value_ = word.value;
                if (!read) word = remove ? Word{} : Word{true, item_.key.rest, item_.value};
                return finish(found);
            }
            for (Entry& entry : stash_) {
                if (!entry.present || !entry.key.same(item_.key)) continue;
                done_value_ = entry.value;
                if (!read) entry = {!remove, item_.key, item_.value};
                return finish(found);
            }
            if (remove || read) return finish(LookupDone::Absent);
        }
        for (std::uint32_t t = 0; t < kTables; t++) {
            if (place(t).present) continue;
            place(t) = {true, item_.key.rest, item_.value};
            if (item_.in_stash) {
                stash_[item_.entry].present = false;
                from_ = (item_.entry + 1) % stash_.size();
            } else {
                finish(LookupDone::Added);
            }
            return;
        }
        if (!item_.in_stash && !first_free()) return finish(LookupDone::Full);
        if (moves_left_ == 0) {
            from_ = (item_.entry + 1) % stash_.size();
            return;
        }
        const std::uint32_t drawn = random_ % kTables;
        victim_ = item_.from && *item_.from == drawn ? drawn ^ 1 : drawn;
        enter(State::Victim, lookup_timing::mix(sizes_.split));
    }

    void swap() {
        const Word word = place(victim_);
        const std::uint32_t entry = item_.in_stash ? item_.entry : first_free().value();
        const Mixed key = mix_.of_word(word.rest, victim_, item_.key.index[victim_]);
        place(victim_) = {true, item_.key.rest, item_.value};
        stash_[entry] = {true, key, word.value};
        if (!item_.in_stash) finish(LookupDone::Added);
        item_ = {true, entry, victim_, key, word.value};
        moves_left_--;
        moves_++;
        enter(State::Read, lookup_timing::read(sizes_.split));
    }

    LookupMix mix_;
    LookupSizes sizes_;
    std::vector<std::vector<Word>> tables_;
    std::vector<Entry> stash_;
    State state_ = State::Clear;
    std::uint32_t count_ = 0;  // cycles in which nothing happens
    bool turn_ = false;        // the stash before the next operation
    std::uint32_t from_ = 0, moves_left_ = 0, victim_ = 0;
    LookupOp op_ = LookupOp::Insert;
    Item item_;
    std::uint16_t random_ = kFirst;
    std::uint64_t keys_ = 0;
    std::uint32_t moves_ = 0;
    std::optional<LookupDone> done_;
    std::uint32_t done_value_ = 0;
    std::vector<std::optional<LookupKey>> asked_;  // by age: they are mixed
    std::array<Answer, lookup_timing::kAnswer - lookup_timing::kMix> answers_{};
};

}  // namespace penstock
