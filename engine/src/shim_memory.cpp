// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Bench of a verilated memory_loop (class Vpst_device), compiled with it and with the engine's memories: frames are stored and fetched as
// fast as the block and its memories go, with a stated backlog between the two; every frame is judged at the output. Each pair of handlers
// stores a stream of its own, and fetches what any pair has stored.
//
// The whole loop is in the library, so a call is a run: src/penstock/benches/bench_memory.py gives the job and reads the result.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <exception>
#include <string>
#include <vector>

#include "Vpst_device.h"
#include "bench_memories.hpp"
#include "penstock/engine/random.hpp"
#include "shim_model.hpp"
#include "shim_ports.hpp"

extern "C" {

// Written down once more by bench_memory.Job and bench_memory.Result, which compare the sizes when they load the library.
struct pst_memory_job {
    uint64_t warm_up, frames, backlog, slack, seed;  // frames: out before measuring, measured, waiting, and that many more at most
    pst_bench_memories memories;
    uint32_t pairs, fifo;  // fifo: frames leave in the order in which they came; 0: at random
    uint32_t sizes, size[4], weight[4];
};

// All but `backlog` are of the measured cycles.
struct pst_memory_result {
    uint64_t cycles, frames, bytes, frames_in, bytes_in, input_waits, output_beats;
    pst_bench_memory_counts memories;
    uint64_t backlog;       // frames that waited at the end
    uint64_t bytes_of[16];  // out, by pair
    char error[200];
};
}

namespace {

using namespace penstock::shim;

constexpr uint64_t kPatience = 200'000;  // cycles without a frame after which there will be none
constexpr uint32_t kQueues = 1024;       // as in memory_loop
constexpr uint32_t kQueueWidth = 10;
constexpr uint32_t kLenWidth = 14;    // pst_pkg::LenWidth
constexpr uint32_t kReasonWidth = 4;  // pst_pkg::drop_e
constexpr uint32_t kAll = (1U << PST_PAIRS) - 1;

struct Frame {
    uint64_t id = 0;
    uint32_t length = 0, queue = 0, page = 0;

    uint32_t beats() const { return (length + PST_BEAT_BYTES - 1) / PST_BEAT_BYTES; }
    // Bytes of beat `beat`, the last one filled up with zeros.
    void fill(uint32_t beat, uint32_t* words) const {
        for (uint32_t w = 0; w < 16; w += 2) {
            uint64_t x = (id << 12 | beat << 3 | w >> 1) * 0x9E37'79B9'7F4A'7C15;
            x = (x ^ x >> 30) * 0xBF58'476D'1CE4'E5B9;
            x ^= x >> 31;
            std::memcpy(words + w, &x, 8);
        }
        const uint32_t valid = std::min<uint32_t>(length - beat * PST_BEAT_BYTES, PST_BEAT_BYTES);
        std::memset(reinterpret_cast<char*>(words) + valid, 0, PST_BEAT_BYTES - valid);
    }
};

// What is at one pair of handlers.
struct Pair {
    Frame offered, leaving;                // at s_meta, at s_deq; id 0: none
    std::deque<Frame> arriving, unstored;  // data still to come; without their enqueue
    std::deque<Frame> sending;
    bool beat_valid = false;
    uint32_t beat_in = 0, beat_out = 0;
};

class Bench {
  public:
    Bench(const pst_memory_job& j, pst_memory_result& r)
        : job(j), result(r), random(j.seed), memories(j.memories, j.seed), pairs(PST_PAIRS) {
        if (j.pairs != PST_PAIRS) wrong("the job is for another number of pairs");
        for (uint32_t i = 0; i < job.sizes; ++i) weights += job.weight[i];
    }

    bool run(bool (*progress)(uint64_t, uint64_t)) {
        try {
            reset();
            const uint64_t last = job.warm_up + job.frames;
            pst_memory_result begin{};
            uint64_t begin_cycle = 0, seen = 0, seen_at = 0;
            while (sent < last) {
                if (!begin_cycle && sent >= job.warm_up) begin = counted(), begin_cycle = now;
                step();
                if (sent + stored != seen) seen = sent + stored, seen_at = now;
                if (now - seen_at > kPatience) return fail("nothing was stored or sent for " + std::to_string(kPatience) + " cycles");
                if (now % 8192 == 0 && progress && !progress(sent, now)) return fail("interrupted");
            }
            measured(begin, counted(), now - begin_cycle);
            return true;
        } catch (const std::exception& error) {
            return fail(error.what());
        }
    }

  private:
    bool fail(const std::string& what) {
        std::snprintf(result.error, sizeof result.error, "cycle %llu: %s", static_cast<unsigned long long>(now), what.c_str());
        return false;
    }
    [[noreturn]] static void wrong(const std::string& what) { throw std::runtime_error(what); }
    static std::string name(const Frame& frame) {
        return "frame " + std::to_string(frame.id) + " of " + std::to_string(frame.length) + " bytes";
    }

    // Everything counted so far.
    pst_memory_result counted() const {
        pst_memory_result r = result;
        r.memories = memories.counts();
        return r;
    }

    void measured(const pst_memory_result& from, const pst_memory_result& to, uint64_t cycles) {
        result = to;
        result.cycles = cycles;
        result.backlog = waiting.size();
        uint64_t pst_memory_result::* const counts[] = {&pst_memory_result::frames,      &pst_memory_result::bytes,
                                                        &pst_memory_result::frames_in,   &pst_memory_result::bytes_in,
                                                        &pst_memory_result::input_waits, &pst_memory_result::output_beats};
        for (const auto count : counts) result.*count -= from.*count;
        result.memories = to.memories - from.memories;
        for (uint32_t p = 0; p < PST_PAIRS; ++p) result.bytes_of[p] -= from.bytes_of[p];
    }

    void step() {
        if (device.cycle([this] { drive(); }, [this] { sample(); })) wrong(device.error);
        now++;
    }

    void reset() {
        Vpst_device& t = top();
        t.s_drop_valid_i = 0;
        t.m_enq_ready_i = t.m_axis_tready_i = kAll;
        t.rst_i = 1;
        for (int i = 0; i < 4; ++i) device.cycle([] {}, [] {});
        t.rst_i = 0;
    }

    void drive() {
        // What is scarce, a frame that waits or room for one more, goes to the pairs in turn.
        for (uint32_t k = 0; k < PST_PAIRS; ++k) {
            const uint32_t p = static_cast<uint32_t>((now + k) % PST_PAIRS);
            drive_pair(p, pairs[p]);
        }
        memories.drive(top(), now);
    }

    void drive_pair(uint32_t p, Pair& pair) {
        Vpst_device& t = top();
        if (!pair.offered.id && under_way < job.backlog + job.slack) {
            pair.offered = {++last_id, draw_length(), random.below(kQueues), 0};
            ++under_way;
            set_word<kQueueWidth>(t.s_meta_queue_i, p, pair.offered.queue);
            set_word<kLenWidth>(t.s_meta_len_i, p, pair.offered.length);
        }
        set_word<1>(t.s_meta_valid_i, p, pair.offered.id != 0);
        if (!pair.beat_valid && !pair.arriving.empty()) {
            uint32_t words[16];
            const Frame& frame = pair.arriving.front();
            frame.fill(pair.beat_in, words);
            write_beat(t.s_data_i, p, words);
            set_word<1>(t.s_data_last_i, p, pair.beat_in + 1 == frame.beats());
            pair.beat_valid = true;
        }
        set_word<1>(t.s_data_valid_i, p, pair.beat_valid);
        if (!pair.leaving.id && waiting.size() >= job.backlog) {
            const std::size_t at = job.fifo ? 0 : random.below(static_cast<uint32_t>(waiting.size()));
            pair.leaving = waiting[at];
            if (job.fifo) {
                waiting.pop_front();
            } else {
                waiting[at] = waiting.back();
                waiting.pop_back();
            }
            set_word<kQueueWidth>(t.s_deq_queue_i, p, pair.leaving.queue);
            set_word<PST_DESC_WIDTH>(t.s_deq_desc_i, p, pair.leaving.page);
            set_word<kLenWidth>(t.s_deq_len_i, p, pair.leaving.length);
        }
        set_word<1>(t.s_deq_valid_i, p, pair.leaving.id != 0);
    }

    void sample() {
        for (uint32_t p = 0; p < PST_PAIRS; ++p) sample_pair(p, pairs[p]);
        memories.sample(top(), now);
    }

    void sample_pair(uint32_t p, Pair& pair) {
        Vpst_device& t = top();
        if (pair.offered.id && element<1>(t.s_meta_ready_o, p)) {
            pair.arriving.push_back(pair.offered);
            pair.unstored.push_back(pair.offered);
            pair.offered.id = 0;
        }
        if (pair.beat_valid) {
            if (element<1>(t.s_data_ready_o, p))
                take_beat(pair);
            else
                ++result.input_waits;
        }
        if (element<1>(t.m_enq_valid_o, p)) enqueue(p, pair);
        if (pair.leaving.id && element<1>(t.s_deq_ready_o, p)) {
            pair.sending.push_back(pair.leaving);
            pair.leaving.id = 0;
        }
        if (element<1>(t.m_axis_tvalid_o, p)) send(p, pair);
    }

    void take_beat(Pair& pair) {
        pair.beat_valid = false;
        const Frame& frame = pair.arriving.front();
        if (++pair.beat_in < frame.beats()) return;
        ++result.frames_in;
        result.bytes_in += frame.length;
        pair.arriving.pop_front();
        pair.beat_in = 0;
    }

    void enqueue(uint32_t p, Pair& pair) {
        Vpst_device& t = top();
        if (pair.unstored.empty()) wrong("a frame is stored that never came");
        Frame frame = pair.unstored.front();
        pair.unstored.pop_front();
        const uint64_t reason = element<kReasonWidth>(t.m_enq_reason_o, p);
        if (reason) wrong(name(frame) + " is not stored, for reason " + std::to_string(reason));
        if (element<kQueueWidth>(t.m_enq_queue_o, p) != frame.queue || element<kLenWidth>(t.m_enq_len_o, p) != frame.length)
            wrong(name(frame) + ": another one is stored in its place");
        frame.page = static_cast<uint32_t>(element<PST_DESC_WIDTH>(t.m_enq_desc_o, p));
        if (frame.page >= in_use.size()) in_use.resize(frame.page + 1);
        if (in_use[frame.page]) wrong(name(frame) + " is stored in page " + std::to_string(frame.page) + ", which is in use");
        in_use[frame.page] = true;
        waiting.push_back(frame);
        ++stored;
    }

    void send(uint32_t p, Pair& pair) {
        Vpst_device& t = top();
        if (pair.sending.empty()) wrong("a frame is sent that was not asked for");
        const Frame& frame = pair.sending.front();
        const bool last = pair.beat_out + 1 == frame.beats();
        const uint32_t valid = last ? frame.length - pair.beat_out * PST_BEAT_BYTES : PST_BEAT_BYTES;
        uint32_t expected[16], found[16];
        frame.fill(pair.beat_out, expected);
        read_beat(t.m_axis_tdata_o, p, found);
        if (static_cast<bool>(element<1>(t.m_axis_tlast_o, p)) != last ||
            element<64>(t.m_axis_tkeep_o, p) != ~uint64_t{0} >> (PST_BEAT_BYTES - valid))
            wrong(name(frame) + " has another length at the output");
        if (std::memcmp(expected, found, valid) != 0)
            wrong(name(frame) + " has other bytes at the output, in beat " + std::to_string(pair.beat_out));
        if (element<kQueueWidth>(t.m_axis_tid_o, p) != frame.queue) wrong(name(frame) + " has another queue at the output");
        if (element<1>(t.m_axis_tuser_o, p)) wrong(name(frame) + " is marked as spoilt");
        ++result.output_beats;
        ++pair.beat_out;
        if (!last) return;
        pair.beat_out = 0;
        ++result.frames;
        result.bytes += frame.length;
        result.bytes_of[p] += frame.length;
        in_use[frame.page] = false;
        pair.sending.pop_front();
        ++sent;
        --under_way;
    }

    uint32_t draw_length() {
        uint32_t at = 0;
        for (uint32_t draw = random.below(weights); draw >= job.weight[at]; ++at) draw -= job.weight[at];
        return job.size[at];
    }

    Vpst_device& top() { return *device.top; }

    const pst_memory_job& job;
    pst_memory_result& result;
    Clocked<Vpst_device> device;
    penstock::engine::Random random;
    BenchMemories<PST_ADDR_WIDTH> memories;
    uint32_t weights = 0;
    uint64_t now = 0, last_id = 0, under_way = 0, stored = 0, sent = 0;
    std::vector<Pair> pairs;
    std::deque<Frame> waiting;  // between m_enq and s_deq, of all pairs
    std::vector<bool> in_use;   // by page
};

}  // namespace

// Bytes of the two structs above, for callers that write them down again.
PST_EXPORT uint32_t pst_memory_job_bytes() { return sizeof(pst_memory_job); }
PST_EXPORT uint32_t pst_memory_result_bytes() { return sizeof(pst_memory_result); }

// Returns 0, or 1 with the error in words. progress(frames out, cycles) says whether to go on.
PST_EXPORT int pst_memory_bench(const pst_memory_job* job, pst_memory_result* result, bool (*progress)(uint64_t, uint64_t)) {
    *result = {};
    try {
        return Bench(*job, *result).run(progress) ? 0 : 1;
    } catch (const std::exception& error) {
        std::snprintf(result->error, sizeof result->error, "%s", error.what());
        return 1;
    }
}
