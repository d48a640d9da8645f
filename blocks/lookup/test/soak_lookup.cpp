// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Soak of pst_lookup: a lookup in every cycle beside operations, each answer judged by a dictionary, every port in every cycle by the
// model.
//
// Arguments: entries, key_bits, stash, max_moves, chunk_bits, split (as the module has them), operations, seed, keys (kinds of keys: 0
// random, 1 consecutive, 2 a few low bits beside a few high bits), fill (permille of the entries that the keys settle at), gap (permille of
// cycles in which no operation is offered), resets, model (0: only the dictionary judges, which is faster). Prints added=, replaced=,
// deleted=, read=, absent=, full=, lookups=, hits=, during= (hits of the key of an operation under way, or of one just moved), moves=,
// cycles=, peak= (most keys), slowest= (cycles of the slowest operation).
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "Vtop.h"
#include "fabric/model/wide_pins.hpp"
#include "lookup/model/lookup.hpp"
#include "verilated.h"

namespace {

using penstock::Lookup;
using penstock::LookupDone;
using penstock::LookupKey;
using penstock::LookupOp;

struct Hash {
    std::size_t operator()(LookupKey key) const {
        return std::hash<std::uint64_t>{}(static_cast<std::uint64_t>(key) * 0x9E37'79B9'7F4A'7C15u ^ static_cast<std::uint64_t>(key >> 64));
    }
};

template <class Port>
void put_wide(Port& port, std::uint32_t bits, LookupKey value) {
    for (std::uint32_t at = 0; at < bits; at += 32) {
        penstock::put_bits(port, at, std::min(32u, bits - at), static_cast<std::uint32_t>(value >> at));
    }
}

class Bench {
  public:
    explicit Bench(std::map<std::string, std::uint64_t> a)
        : args(std::move(a)),
          rng(args["seed"]),
          sizes{static_cast<std::uint32_t>(args["entries"]),    static_cast<std::uint32_t>(args["key_bits"]),
                static_cast<std::uint32_t>(args["stash"]),      static_cast<std::uint32_t>(args["max_moves"]),
                static_cast<std::uint32_t>(args["chunk_bits"]), args["split"] != 0},
          model(sizes),
          settle(args["entries"] * args["fill"] / 1000) {}

    void run() {
        const std::uint64_t rounds = args["resets"] + 1;
        for (std::uint64_t round = 0; round < rounds; round++) {
            reset();
            const std::uint64_t until = counts["operations"] + args["operations"] / rounds;
            while (counts["operations"] < until) cycle();
            counts["moves"] += top.moves_o;
        }
        for (const char* name :
             {"added", "replaced", "deleted", "read", "absent", "full", "lookups", "hits", "during", "moves", "peak", "slowest"})
            std::printf("%s=%" PRIu64 " ", name, counts[name]);
        std::printf("cycles=%" PRIu64 "\n", now);
    }

  private:
    [[noreturn]] void fail(const std::string& what) {
        std::printf("cycle %" PRIu64 ": %s\n", now, what.c_str());
        std::exit(1);
    }

    void tick() {
        top.clk_i = 0;
        top.eval();
        top.clk_i = 1;
        top.eval();
    }

    void reset() {
        top.s_key_valid_i = top.s_op_valid_i = top.seed_valid_i = 0;
        top.rst_i = 1;
        for (int i = 0; i < 3; i++) tick();
        // The random words do not need the tables.
        const std::uint64_t seed = rng();
        model.mix().each_word(seed, [&](std::uint32_t chunk, std::uint32_t index, LookupKey word) {
            top.seed_valid_i = 1;
            top.seed_chunk_i = chunk;
            top.seed_index_i = index;
            put_wide(top.seed_word_i, model.mix().word_bits(), word);
            tick();
        });
        top.seed_valid_i = 0;
        tick();
        top.rst_i = 0;
        model.mix().seed(seed);
        model.reset();
        dictionary.clear();
        present.clear();
        asked.clear();
        offered.reset();
        under_way.reset();
        base = rng();
        while (!top.init_done_o) {
            compare();
            if (args["model"]) model.cycle(std::nullopt, std::nullopt);
            tick();
            now++;
            top.clk_i = 0;
            top.eval();
        }
    }

    LookupKey any_key() {
        const LookupKey mask = (LookupKey{1} << sizes.key_bits) - 1;
        const std::uint64_t pool = 2 * std::max<std::uint64_t>(settle, 4), number = rng() % pool;
        switch (args["keys"]) {
            case 1:
                return (base + number) & mask;
            case 2:
                return ((LookupKey{number & 63} | LookupKey{number >> 6} << (sizes.key_bits - 24)) ^ base) & mask;
            default: {
                std::uint64_t mixed = (base + number) * 0x9E37'79B9'7F4A'7C15u;
                mixed ^= mixed >> 29;
                return (LookupKey{mixed} << 20 ^ LookupKey{mixed * 0xBF58'476D'1CE4'E5B9u}) & mask;
            }
        }
    }

    // A key that is looked up: often that of the operation under way.
    LookupKey asked_key() {
        const std::uint64_t draw = rng() % 8;
        if (draw < 2 && under_way) return under_way->key;
        if (draw < 3 && !recent.empty()) return recent[rng() % recent.size()];
        if (draw < 6 && !present.empty()) return present[rng() % present.size()];
        return any_key();
    }

    void draw_operation() {
        const bool grow = dictionary.size() < settle;
        Lookup::Operation operation;
        operation.op = rng() % 8 == 0 ? LookupOp::Read : rng() % 16 < (grow ? 13u : 7u) ? LookupOp::Insert : LookupOp::Delete;
        operation.key =
            !present.empty() && rng() % 16 < (operation.op == LookupOp::Insert ? 2u : 14u) ? present[rng() % present.size()] : any_key();
        operation.value = static_cast<std::uint32_t>(rng());
        offered = operation;
    }

    void compare() {
        if (!args["model"]) return;
        if (static_cast<bool>(top.init_done_o) != model.init_done()) fail("init_done");
        if (static_cast<bool>(top.s_op_ready_o) != model.ready()) fail("ready of operations");
        if (static_cast<bool>(top.m_done_valid_o) != model.done().has_value()) fail("done");
        if (model.done() && top.m_done_o != static_cast<std::uint32_t>(*model.done())) fail("what was done");
        if (top.m_done_value_o != model.done_value()) fail("value of the key of an operation");
        const Lookup::Answer& answer = model.answer();
        if (static_cast<bool>(top.m_value_valid_o) != answer.valid) fail("valid of an answer");
        if (answer.valid && (static_cast<bool>(top.m_value_hit_o) != answer.hit || top.m_value_o != answer.value)) fail("an answer");
        if (top.keys_o != model.keys() || top.moves_o != model.moves()) fail("counters");
    }

    void cycle() {
        top.clk_i = 0;
        top.eval();
        compare();
        // The event was in the cycle before; lookups that read in that cycle or later see it.
        if (top.m_done_valid_o) apply(static_cast<LookupDone>(top.m_done_o));
        judge();

        std::optional<LookupKey> key;
        if (rng() % 32) key = asked_key();
        top.s_key_valid_i = key.has_value();
        put_wide(top.s_key_i, sizes.key_bits, key.value_or(0));
        if (!offered && rng() % 1000 >= args["gap"]) draw_operation();
        top.s_op_valid_i = offered.has_value();
        if (offered) {
            top.s_op_i = static_cast<std::uint32_t>(offered->op);
            put_wide(top.s_op_key_i, sizes.key_bits, offered->key);
            top.s_op_value_i = offered->value;
        }
        top.eval();
        const bool taken = offered && top.s_op_ready_o;
        if (args["model"]) model.cycle(key, offered);
        tick();
        if (key) asked.push_back({now, *key, {}, false});
        if (taken) {
            if (under_way) fail("an operation was taken before the one before it was done");
            under_way = offered;
            began = now;
            offered.reset();
        }
        now++;
    }

    void apply(LookupDone done) {
        if (!under_way) fail("nothing was under way and it is done");
        counts["operations"]++;
        counts["slowest"] = std::max(counts["slowest"], now - began);
        const auto found = dictionary.find(under_way->key);
        const bool there = found != dictionary.end(), insert = under_way->op == LookupOp::Insert;
        const bool right = insert ? there ? done == LookupDone::Replaced : done == LookupDone::Added || done == LookupDone::Full
                                  : done == (!there                            ? LookupDone::Absent
                                             : under_way->op == LookupOp::Read ? LookupDone::Read
                                                                               : LookupDone::Deleted);
        if (!right) fail("an operation ended as " + std::to_string(static_cast<int>(done)));
        if (top.m_done_value_o != (there ? found->second.first : 0)) fail("a key of an operation had another value");
        // Lookups that read before the event have the old answer: they are judged by what was there then.
        for (Asked& lookup : asked) {
            if (!lookup.known && lookup.at + penstock::lookup_timing::mix(sizes.split) < now - 1) know(lookup);
        }
        static const char* names[] = {"added", "replaced", "deleted", "absent", "full", "read"};
        counts[names[static_cast<int>(done)]]++;
        if (done == LookupDone::Added) {
            present.push_back(under_way->key);
            dictionary[under_way->key] = {under_way->value, present.size() - 1};
        } else if (done == LookupDone::Replaced) {
            found->second.first = under_way->value;
        } else if (done == LookupDone::Deleted) {
            const std::size_t place = found->second.second;
            present[place] = present.back();
            dictionary[present[place]].second = place;
            present.pop_back();
            dictionary.erase(under_way->key);
        }
        recent.push_back(under_way->key);
        if (recent.size() > 4) recent.pop_front();
        counts["peak"] = std::max<std::uint64_t>(counts["peak"], dictionary.size());
        if (top.keys_o != dictionary.size()) fail("the count of keys");
        under_way.reset();
    }

    struct Asked {
        std::uint64_t at;
        LookupKey key;
        std::optional<std::uint32_t> value;
        bool known;  // the value is that of the cycle in which it read
    };

    void know(Asked& lookup) {
        const auto found = dictionary.find(lookup.key);
        if (found != dictionary.end()) lookup.value = found->second.first;
        lookup.known = true;
    }

    void judge() {
        for (Asked& lookup : asked) {
            if (!lookup.known && lookup.at + penstock::lookup_timing::mix(sizes.split) < now) know(lookup);
        }
        const bool due = !asked.empty() && asked.front().at + penstock::lookup_timing::answer(sizes.split) == now;
        if (static_cast<bool>(top.m_value_valid_o) != due) fail("an answer that nobody waits for, or none");
        if (!due) return;
        const Asked& lookup = asked.front();
        if (static_cast<bool>(top.m_value_hit_o) != lookup.value.has_value()) {
            fail(lookup.value ? "a present key was missed" : "an absent key was found");
        }
        if (top.m_value_o != lookup.value.value_or(0)) fail("a wrong value");
        counts["lookups"]++;
        counts["hits"] += lookup.value.has_value();
        if (lookup.value && under_way && lookup.key == under_way->key) counts["during"]++;
        asked.pop_front();
    }

    std::map<std::string, std::uint64_t> args, counts;
    std::mt19937_64 rng;
    penstock::LookupSizes sizes;
    Lookup model;
    std::uint64_t settle, now = 0, base = 0, began = 0;
    Vtop top;
    std::unordered_map<LookupKey, std::pair<std::uint32_t, std::size_t>, Hash> dictionary;  // value, place in `present`
    std::vector<LookupKey> present;
    std::deque<LookupKey> recent;
    std::deque<Asked> asked;
    std::optional<Lookup::Operation> offered, under_way;
};

}  // namespace

int main(int argc, char** argv) {
    std::map<std::string, std::uint64_t> args;
    for (int i = 1; i < argc; i++) {
        const char* equals = std::strchr(argv[i], '=');
        if (equals) args[std::string(argv[i], equals - argv[i])] = std::strtoull(equals + 1, nullptr, 10);
    }
    Bench(args).run();
    return 0;
}
