// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Bench of a verilated skipfifo_loop or skipfifo_wide_loop (class Vpst_device; PST_COLUMNS is 1, or the segments of a word), compiled with
// it and with the engine's memories: frames go through the deadline port and its memories as fast as they can, with a stated backlog
// inside; every frame is judged at the output.
//
// The whole loop is in the library, so a call is a run: src/penstock/benches/bench_skipfifo.py gives the job and reads the result.
#include <algorithm>
#include <array>
#include <bit>
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

// Written down once more by bench_skipfifo.Job and bench_skipfifo.Result, which compare the sizes when they load the library.
struct pst_skipfifo_job {
    uint64_t warm_up, frames, backlog, slack, seed;  // frames: out before measuring, measured, waiting, and that many more at most
    pst_bench_memories memories;
    uint32_t sizes, size[4], weight[4];
};

// All but `backlog` are of the measured cycles.
struct pst_skipfifo_result {
    uint64_t cycles, frames, bytes, frames_in, bytes_in, input_waits, output_waits;
    pst_bench_memory_counts memories;
    uint64_t backlog;  // frames that waited at the end
    char error[200];
};
}

namespace {

using namespace penstock::shim;

constexpr uint64_t kPatience = 200'000;   // cycles without a frame after which there will be none
constexpr unsigned kLanes = PST_COLUMNS;  // segments of a word
// Streams at the output whose order is judged: one, or each column's where they are ports by themselves.
constexpr unsigned kStreams = PST_ORDERED ? 1 : PST_COLUMNS;
constexpr unsigned kClassWidth = PST_CLASSES <= 2 ? 1 : std::bit_width(unsigned{PST_CLASSES - 1});

struct Frame {
    uint64_t id = 0;
    uint32_t length = 0, klass = 0;

    uint32_t beats() const { return (length + PST_BEAT_BYTES - 1) / PST_BEAT_BYTES; }
    uint32_t last_bytes() const { return length - (beats() - 1) * PST_BEAT_BYTES; }
    // Beat `beat`; bytes behind the frame's end are what they are.
    void fill(uint32_t beat, uint32_t* words) const {
        for (uint32_t w = 0; w < 16; w += 2) {
            uint64_t x = (id << 12 | beat << 3 | w >> 1) * 0x9E37'79B9'7F4A'7C15;
            x = (x ^ x >> 30) * 0xBF58'476D'1CE4'E5B9;
            x ^= x >> 31;
            std::memcpy(words + w, &x, 8);
        }
    }
};

class Bench {
  public:
    Bench(const pst_skipfifo_job& j, pst_skipfifo_result& r)
        : job(j), result(r), random(j.seed), memories(j.memories, j.seed), waiting(kStreams * PST_CLASSES), dealt(PST_CLASSES) {
        for (uint32_t i = 0; i < job.sizes; ++i) weights += job.weight[i];
    }

    bool run(bool (*progress)(uint64_t, uint64_t)) {
        try {
            reset();
            const uint64_t last = job.warm_up + job.frames;
            pst_skipfifo_result begin{};
            uint64_t begin_cycle = 0, seen = 0, seen_at = now;
            while (result.frames < last) {
                if (!begin_cycle && result.frames >= job.warm_up) begin = counted(), begin_cycle = now;
                step();
                if (result.frames + result.frames_in != seen) seen = result.frames + result.frames_in, seen_at = now;
                if (now - seen_at > kPatience) return fail("no frame came in or out for " + std::to_string(kPatience) + " cycles");
                if (now % 8192 == 0 && progress && !progress(result.frames, now)) return fail("interrupted");
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
        return "frame " + std::to_string(frame.id) + " of " + std::to_string(frame.length) + " bytes, class " + std::to_string(frame.klass);
    }

    pst_skipfifo_result counted() const {
        pst_skipfifo_result r = result;
        r.memories = memories.counts();
        return r;
    }

    void measured(const pst_skipfifo_result& from, const pst_skipfifo_result& to, uint64_t cycles) {
        result = to;
        result.cycles = cycles;
        result.backlog = under_way;
        uint64_t pst_skipfifo_result::* const counts[] = {&pst_skipfifo_result::frames,      &pst_skipfifo_result::bytes,
                                                          &pst_skipfifo_result::frames_in,   &pst_skipfifo_result::bytes_in,
                                                          &pst_skipfifo_result::input_waits, &pst_skipfifo_result::output_waits};
        for (const auto count : counts) result.*count -= from.*count;
        result.memories = to.memories - from.memories;
    }

    void step() {
        if (device.cycle([this] { drive(); }, [this] { sample(); })) wrong(device.error);
        now++;
    }

    void reset() {
        Vpst_device& t = top();
        t.s_valid_i = 0;
        t.m_ready_i = 0;
        t.rst_i = 1;
        for (int i = 0; i < 4; ++i) device.cycle([] {}, [] {});
        t.rst_i = 0;
        for (bool done = false; !done;) {
            if (now > kPatience) wrong("the initialisation does not end");
            const auto sample = [&] { memories.sample(top(), now), done = top().init_done_o; };
            if (device.cycle([this] { memories.drive(top(), now); }, sample)) wrong(device.error);
            now++;
        }
    }

    void drive() {
        Vpst_device& t = top();
        if (!offered) make_word();
        t.s_valid_i = offered;
        if (fresh) write_word();
        fresh = false;
        // A frame that has begun is taken whole.
        t.m_ready_i = in_store >= job.backlog || std::any_of(out.begin(), out.end(), [](const Out& o) { return o.beat != 0; });
        memories.drive(t, now);
    }

    void sample() {
        Vpst_device& t = top();
        if (t.ev_lost_o) wrong("a frame was dropped");
        if (offered) {
            if (t.s_ready_o)
                take_word();
            else
                ++result.input_waits;
        }
        if (t.m_ready_i) {
            if (t.m_valid_o)
                for (unsigned lane = 0; lane < kLanes; ++lane) {
                    if (used_out(lane)) send(lane, out[kStreams == 1 ? 0 : lane], kStreams == 1 ? 0 : lane);
                }
            else
                ++result.output_waits;
        }
        memories.sample(t, now);
    }

    // ---- Words in ----

    void make_word() {
        for (Segment& segment : word) {
            if (!begun.id && under_way < job.backlog + job.slack) {
                begun = {++last_id, draw_length(), random.below(PST_CLASSES)};
                ++under_way;
                beat_in = 0;
            }
            segment = {begun, beat_in};
            if (!begun.id) continue;
            offered = fresh = true;
            if (++beat_in == begun.beats()) begun.id = 0;
        }
    }

    void write_word() {
        Vpst_device& t = top();
        for (unsigned lane = 0; lane < kLanes; ++lane) {
            const auto& [frame, beat] = word[lane];
#if PST_COLUMNS > 1
            set_element<1>(t.s_used_i, lane, frame.id != 0);
#endif
            if (!frame.id) continue;
            uint32_t words[16];
            frame.fill(beat, words);
            write_beat(t.s_data_i, lane, words);
            set_word<kClassWidth>(t.s_class_i, lane, frame.klass);
            set_element<1>(t.s_last_i, lane, beat + 1 == frame.beats());
            set_word<7>(t.s_bytes_last_i, lane, frame.last_bytes());
        }
    }

    void take_word() {
        offered = false;
        for (const auto& [frame, beat] : word) {
            if (!frame.id || beat + 1 < frame.beats()) continue;
            ++result.frames_in;
            result.bytes_in += frame.length;
            const unsigned column = kStreams == 1 ? 0 : (frame.klass + dealt[frame.klass]++ / PST_RUN_FRAMES) % kStreams;
            waiting[column * PST_CLASSES + frame.klass].push_back(frame);
            ++in_store;
        }
    }

    // ---- Words out ----

    bool used_out(unsigned lane) {
#if PST_COLUMNS > 1
        return element<1>(top().m_used_o, lane);
#else
        return lane == 0;
#endif
    }

    struct Out {
        uint32_t beat = 0, klass = 0;
    };

    void send(unsigned lane, Out& at, unsigned stream) {
        Vpst_device& t = top();
        if (at.beat == 0) at.klass = static_cast<uint32_t>(element<kClassWidth>(t.m_class_o, lane));
        auto& queue = waiting[stream * PST_CLASSES + at.klass];
        if (queue.empty()) wrong("a frame is sent that never came, of class " + std::to_string(at.klass));
        const Frame& frame = queue.front();
#if PST_COLUMNS > 1
        if (element<1>(t.m_first_o, lane) != (at.beat == 0)) wrong(name(frame) + " begins elsewhere");
#endif
        const bool last = at.beat + 1 == frame.beats();
        if (static_cast<bool>(element<1>(t.m_last_o, lane)) != last || (last && element<7>(t.m_bytes_last_o, lane) != frame.last_bytes()))
            wrong(name(frame) + " has another length at the output");
        uint32_t expected[16], found[16];
        frame.fill(at.beat, expected);
        read_beat(t.m_data_o, lane, found);
        if (std::memcmp(expected, found, last ? frame.last_bytes() : PST_BEAT_BYTES) != 0)
            wrong(name(frame) + " has other bytes at the output, in beat " + std::to_string(at.beat));
        ++at.beat;
        if (!last) return;
        at.beat = 0;
        ++result.frames;
        result.bytes += frame.length;
        queue.pop_front();
        --in_store;
        --under_way;
    }

    uint32_t draw_length() {
        uint32_t at = 0;
        for (uint32_t draw = random.below(weights); draw >= job.weight[at]; ++at) draw -= job.weight[at];
        return job.size[at];
    }

    Vpst_device& top() { return *device.top; }

    const pst_skipfifo_job& job;
    pst_skipfifo_result& result;
    Clocked<Vpst_device> device;
    penstock::engine::Random random;
    BenchMemories<PST_ADDR_WIDTH> memories;
    uint32_t weights = 0;
    uint64_t now = 0, last_id = 0, under_way = 0, in_store = 0;
    struct Segment {
        Frame frame;  // id 0: not used
        uint32_t beat = 0;
    };
    std::array<Segment, kLanes> word;     // at the input
    bool offered = false, fresh = false;  // there is one; it is not at the pins yet
    Frame begun;                          // goes on in the next word; id 0: none
    uint32_t beat_in = 0;                 // its next beat
    std::array<Out, kStreams> out;
    std::vector<std::deque<Frame>> waiting;  // by stream and class, those whose last beat was taken
    std::vector<uint64_t> dealt;             // by class, to columns that are ports by themselves
};

}  // namespace

// Bytes of the two structs above, for callers that write them down again.
PST_EXPORT uint32_t pst_skipfifo_job_bytes() { return sizeof(pst_skipfifo_job); }
PST_EXPORT uint32_t pst_skipfifo_result_bytes() { return sizeof(pst_skipfifo_result); }

// Returns 0, or 1 with the error in words. progress(frames out, cycles) says whether to go on.
PST_EXPORT int pst_skipfifo_bench(const pst_skipfifo_job* job, pst_skipfifo_result* result, bool (*progress)(uint64_t, uint64_t)) {
    *result = {};
    try {
        return Bench(*job, *result).run(progress) ? 0 : 1;
    } catch (const std::exception& error) {
        std::snprintf(result->error, sizeof result->error, "%s", error.what());
        return 1;
    }
}
