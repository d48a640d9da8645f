// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Bench of a verilated classify_loop (class Vpst_device), compiled with it: a frame of 60 bytes in every cycle beside operations.
//
// The whole loop is in the library, so a call is a run: src/penstock/benches/bench_classify.py gives the job and reads the result. Half of
// the subscribers have two VLAN tags, half an IPv4 address. First all are inserted, then some come and go while the load stays. Each queue
// is judged by a dictionary.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <optional>
#include <random>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "Vpst_device.h"
#include "blocks/fabric/model/wide_pins.hpp"
#include "blocks/lookup/model/lookup.hpp"
#include "blocks/profile/model/profile.hpp"
#include "shim_model.hpp"

extern "C" {

// Written down once more by bench_classify.Job and bench_classify.Result, which compare the sizes when they load the library.
struct pst_classify_job {
    uint32_t entries, reserved;
    uint64_t keys, inserts, seed;  // keys that are there; inserts while the load stays
};

struct pst_classify_result {
    uint64_t fill_cycles, fill_moves, cycles, frames, parsed, lookups, hits, misses, inserts, deletes, moves, slowest, keys;
    char error[200];
};
}

namespace {

using penstock::LookupDone;
using penstock::LookupKey;

constexpr uint32_t kKeyBits = 80, kSees = 5, kAnswer = 10;  // pst_subscriber: cycles from a vector to the last event it sees, to its queue

template <class Port>
void put_wide(Port& port, uint32_t bits, LookupKey value) {
    for (uint32_t at = 0; at < bits; at += 32) penstock::put_bits(port, at, std::min(32u, bits - at), static_cast<uint32_t>(value >> at));
}

class Bench {
  public:
    Bench(const pst_classify_job& j, pst_classify_result& r) : job(j), result(r), rng(j.seed) {}

    bool run(bool (*progress)(uint64_t, uint64_t)) {
        reset();
        const uint64_t all = job.keys + job.inserts;
        uint64_t done = 0;
        const auto until = [&](auto&& reached) {
            while (!reached()) {
                if (!cycle()) return false;
                if (cycles % 8192 == 0 && progress && !progress(done + inserted, cycles)) return fail("interrupted");
                if (now - began > 1'000'000) return fail("an operation does not end");
            }
            return true;
        };
        if (!until([&] { return present.size() >= job.keys; })) return false;
        result.fill_cycles = cycles;
        result.fill_moves = top().moves_o;
        // The measurement begins when the last frames that were counted above are out.
        churn = true;
        done = job.keys;
        cycles = inserted = deleted = 0;
        result.frames = result.parsed = result.lookups = result.hits = result.misses = result.slowest = 0;
        if (!until([&] { return inserted >= job.inserts; })) return false;
        if (progress) progress(all, cycles);
        result.cycles = cycles;
        result.inserts = inserted;
        result.deletes = deleted;
        result.moves = top().moves_o - static_cast<uint32_t>(result.fill_moves);
        result.keys = present.size();
        return true;
    }

  private:
    struct Change {
        uint64_t at, key;
        std::optional<uint32_t> before;
    };

    bool fail(const std::string& what) {
        std::snprintf(result.error, sizeof result.error, "cycle %llu: %s", static_cast<unsigned long long>(now), what.c_str());
        return false;
    }

    void step() {
        top().clk_i = 0;
        top().eval();
        top().clk_i = 1;
        top().eval();
        now++;
    }

    void reset() {
        top().rst_i = 1;
        top().s_frame_valid_i = top().s_op_valid_i = top().seed_valid_i = top().profile_we_i = 0;
        for (int i = 0; i < 4; i++) step();
        const penstock::LookupMix mix({job.entries, kKeyBits, 8, 64, 6});
        mix.each_word(job.seed, [&](uint32_t chunk, uint32_t index, penstock::LookupKey word) {
            top().seed_valid_i = 1;
            top().seed_chunk_i = chunk;
            top().seed_index_i = index;
            put_wide(top().seed_word_i, mix.word_bits(), word);
            step();
        });
        top().seed_valid_i = 0;
        step();
        top().rst_i = 0;
        do step();
        while (!top().init_done_o);
        const penstock::ProfileKind kinds[] = {penstock::ProfileKind::TwoTags, penstock::ProfileKind::Ipv4Source};
        for (uint32_t i = 0; i < 2; i++) {
            top().profile_we_i = 1;
            top().profile_index_i = i;
            top().profile_i = 0xFFFFu << 11 | static_cast<uint32_t>(kinds[i]) << 7 | (i + 1) << 3;  // all ports, space i + 1, no class
            step();
        }
        top().profile_we_i = 0;
        now = 0;
    }

    // {profile + 1, 40 bits of fields}: two VLAN ids or an IPv4 address, not at random but one behind the other, as they are given out.
    uint64_t subscriber(uint64_t number) const {
        return number % 2 ? 1ull << 40 | (number / 2 & 0xFF'FFFF) : 2ull << 40 | (0x0A00'0000u + number / 2);
    }

    static uint32_t queue_of(uint64_t key) { return static_cast<uint32_t>(key * 2654435761u) & 0xFFF'FFFF; }

    // A frame of 60 bytes from this subscriber, in a beat.
    void offer(uint64_t key) {
        std::array<uint8_t, 64> frame{};
        const uint64_t noise = rng();
        for (int i = 0; i < 12; i++) frame[i] = static_cast<uint8_t>(noise >> (4 * i));
        size_t at = 12;
        const auto word = [&](uint32_t value) {
            frame[at++] = static_cast<uint8_t>(value >> 8);
            frame[at++] = static_cast<uint8_t>(value);
        };
        if (key >> 40 == 1) {
            word(0x88A8);
            word(static_cast<uint32_t>(noise >> 50 << 13 | (key >> 12 & 0xFFF)));
            word(0x8100);
            word(static_cast<uint32_t>(key & 0xFFF));
        }
        word(0x0800);
        const size_t ip = at;
        frame[ip] = 0x45;
        frame[ip + 3] = static_cast<uint8_t>(60 - ip);
        frame[ip + 9] = 17;
        for (int i = 0; i < 4; i++) frame[ip + 12 + i] = static_cast<uint8_t>(key >> (24 - 8 * i));
        frame[ip + 25] = 8;
        for (int i = 0; i < 16; i++) {
            uint32_t part = 0;
            for (int b = 3; b >= 0; b--) part = part << 8 | frame[4 * i + b];
            top().s_frame_data_i[i] = part;
        }
        top().s_frame_keep_i = (uint64_t{1} << 60) - 1;
    }

    uint64_t any_subscriber() {
        const uint64_t draw = rng() % 16;
        if (draw < 2 && under_way) return under_way->first;
        if (draw < 14 && !present.empty()) return present[rng() % present.size()];
        return subscriber(next + rng() % 1000);
    }

    bool cycle() {
        top().clk_i = 0;
        top().eval();
        if (top().m_done_valid_o && !apply()) return false;
        if (top().parsed_o) {
            if (frames.empty()) return fail("the headers of a frame that was not sent");
            asked.push_back({now, frames.front()});
            frames.pop_front();
            result.parsed++;
        }
        if (!judge()) return false;

        const uint64_t key = any_subscriber();
        top().s_frame_valid_i = 1;
        offer(key);
        if (!offered) {
            const bool remove = churn && present.size() >= job.keys;
            // One whose delete is under way is present still.
            do offered = remove ? std::pair{present[rng() % present.size()], true} : std::pair{subscriber(next), false};
            while (under_way && under_way->first == offered->first);
            next += !remove;
        }
        top().s_op_valid_i = 1;
        put_wide(top().s_op_key_i, kKeyBits, LookupKey{offered->first >> 40} << 76 | (offered->first & 0xFF'FFFF'FFFF));
        top().s_op_delete_i = offered->second;
        top().s_op_value_i = queue_of(offered->first);  // one class
        top().eval();
        const bool taken = top().s_op_ready_o, frame_taken = top().s_frame_ready_o;
        step();
        if (frame_taken) {
            frames.push_back(key);
            result.frames++;
        }
        if (taken) {
            under_way = offered;
            began = now;
            offered.reset();
        }
        cycles++;
        return true;
    }

    bool apply() {
        const auto [key, remove] = *under_way;
        const auto found = dictionary.find(key);
        changes.push_back({now - 1, key, found == dictionary.end() ? std::nullopt : std::optional(found->second.first)});
        if (changes.size() > 16) changes.pop_front();
        const auto done = static_cast<LookupDone>(top().m_done_o);
        if (done == LookupDone::Full) return fail("it is full");
        if (done != (remove ? LookupDone::Deleted : LookupDone::Added))
            return fail((remove ? "the delete of key " : "the insert of key ") + std::to_string(key) + " ended as " +
                        std::to_string(static_cast<int>(done)));
        if (remove) {
            const size_t place = found->second.second;
            present[place] = present.back();
            dictionary[present[place]].second = place;
            present.pop_back();
            dictionary.erase(key);
            deleted++;
        } else {
            present.push_back(key);
            dictionary[key] = {queue_of(key), present.size() - 1};
            inserted++;
        }
        result.slowest = std::max(result.slowest, now - began);
        under_way.reset();
        return true;
    }

    bool judge() {
        const bool due = !asked.empty() && asked.front().first + kAnswer == now;
        if (static_cast<bool>(top().m_queue_valid_o) != due) return fail("an answer is missing, or there is one too many");
        if (!due) return true;
        const auto [at, key] = asked.front();
        asked.pop_front();
        const auto found = dictionary.find(key);
        std::optional<uint32_t> value = found == dictionary.end() ? std::nullopt : std::optional(found->second.first);
        // What has changed since it read is taken back.
        for (auto change = changes.rbegin(); change != changes.rend() && change->at > at + kSees; change++)
            if (change->key == key) value = change->before;
        const bool hit = top().m_queue_found_o == 0;
        if (hit != value.has_value()) return fail(hit ? "an absent key was found" : "a present key was missed");
        if (top().m_queue_profile_o != (key >> 40) - 1) return fail("another profile fits");
        if (hit && top().m_queue_o != *value) return fail("a wrong queue");
        result.lookups++;
        (value ? result.hits : result.misses)++;
        return true;
    }

    Vpst_device& top() { return *device.top; }

    const pst_classify_job& job;
    pst_classify_result& result;
    penstock::shim::Clocked<Vpst_device> device;
    std::mt19937_64 rng;
    uint64_t now = 0, began = 0, cycles = 0, inserted = 0, deleted = 0, next = 0;
    bool churn = false;
    std::unordered_map<uint64_t, std::pair<uint32_t, size_t>> dictionary;  // value, place in `present`
    std::vector<uint64_t> present;
    std::deque<Change> changes;
    std::deque<uint64_t> frames;                      // keys of frames that are being parsed
    std::deque<std::pair<uint64_t, uint64_t>> asked;  // cycle of the header vector, key
    std::optional<std::pair<uint64_t, bool>> offered, under_way;
};

}  // namespace

// Bytes of the two structs above, for callers that write them down again.
PST_EXPORT uint32_t pst_classify_job_bytes() { return sizeof(pst_classify_job); }
PST_EXPORT uint32_t pst_classify_result_bytes() { return sizeof(pst_classify_result); }

// Returns 0, or 1 with the error in words.
PST_EXPORT int pst_classify_bench(const pst_classify_job* job, pst_classify_result* result, bool (*progress)(uint64_t, uint64_t)) {
    *result = {};
    return Bench(*job, *result).run(progress) ? 0 : 1;
}
