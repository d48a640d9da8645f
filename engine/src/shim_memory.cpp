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
#include <memory>
#include <string>
#include <vector>

#include "Vpst_device.h"
#include "penstock/engine/memory_model.hpp"
#include "penstock/engine/random.hpp"
#include "shim_model.hpp"
#include "shim_ports.hpp"

extern "C" {

// Written down once more by bench_memory.Job and bench_memory.Result, which compare the sizes when they load the library.
struct pst_memory_job {
    uint64_t warm_up, frames, backlog, slack, seed;  // frames: out before measuring, measured, waiting, and that many more at most
    uint64_t mem_bytes;                              // of each memory
    uint64_t ticks, per_cycles;                      // from here to `timing`: DramSettings, where dram != 0
    uint32_t access_bytes, groups, banks, row_accesses, fields, of[32], bits[32], hash_groups, row_bus, read_queue, write_queue, batch,
        drain_from, drain_after, hit_limit, close_rows, forward, bursts, reorder_beats;
    uint32_t read_latency, write_latency;  // of ideal memories, too
    penstock::engine::DramTiming timing;
    uint32_t first_refresh[32];
    uint32_t dram, channels, pairs, fifo;  // fifo: frames leave in the order in which they came; 0: at random
    uint32_t sizes, size[4], weight[4];
};

// All but `backlog` are of the measured cycles.
struct pst_memory_result {
    uint64_t cycles, frames, bytes, frames_in, bytes_in, input_waits, output_beats, read_beats, write_beats;
    uint64_t reads, writes, forwarded, activates, refreshes, turns;  // of the DRAM
    uint64_t backlog;                                                // frames that waited at the end
    uint64_t beats[32];                                              // read and written, by memory
    uint64_t bytes_of[16];                                           // out, by pair
    char error[200];
};
}

namespace {

using penstock::engine::MemoryModel;
using penstock::engine::MemorySettings;
using namespace penstock::shim;

constexpr uint64_t kPatience = 200'000;  // cycles without a frame after which there will be none
constexpr uint32_t kQueues = 1024;       // as in memory_loop
constexpr uint32_t kQueueWidth = 10;
constexpr uint32_t kLenWidth = 14;     // pst_pkg::LenWidth
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

MemorySettings memory_of(const pst_memory_job& job, uint32_t channel) {
    MemorySettings memory;
    memory.bytes = job.mem_bytes;
    if (!job.dram) {
        memory.read_latency = job.read_latency;
        memory.write_latency = job.write_latency;
        return memory;
    }
    penstock::engine::DramSettings dram;
    dram.ticks = job.ticks;
    dram.per_cycles = job.per_cycles;
    dram.access_bytes = job.access_bytes;
    dram.groups = job.groups;
    dram.banks = job.banks;
    dram.row_accesses = job.row_accesses;
    for (uint32_t i = 0; i < job.fields; ++i)
        dram.mapping.push_back({static_cast<penstock::engine::DramField::Of>(job.of[i]), job.bits[i]});
    dram.hash_groups = job.hash_groups;
    dram.timing = job.timing;
    dram.row_bus = job.row_bus;
    dram.read_queue = job.read_queue;
    dram.write_queue = job.write_queue;
    dram.batch = job.batch;
    dram.drain_from = job.drain_from;
    dram.drain_after = job.drain_after;
    dram.hit_limit = job.hit_limit;
    dram.close_rows = job.close_rows;
    dram.forward = job.forward;
    dram.bursts = job.bursts;
    dram.reorder_beats = job.reorder_beats;
    dram.read_latency = job.read_latency;
    dram.write_latency = job.write_latency;
    dram.first_refresh = job.first_refresh[channel];
    memory.dram = dram;
    return memory;
}

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
    Bench(const pst_memory_job& j, pst_memory_result& r) : job(j), result(r), random(j.seed), axi(j.channels), pairs(PST_PAIRS) {
            if (j.pairs != PST_PAIRS) wrong("the job is for another number of pairs");
        for (uint32_t m = 0; m < job.channels; ++m) {
            memories.push_back(std::make_unique<MemoryModel>(memory_of(job, m), m, job.seed));
            axi[m].awsize_o = axi[m].arsize_o = 6;
            axi[m].awburst_o = axi[m].arburst_o = 1;
        }
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
        for (uint32_t m = 0; m < job.channels; ++m) {
            const penstock::engine::MemoryCounts& c = memories[m]->counts();
            r.read_beats += c.read_beats;
            r.write_beats += c.write_beats;
            r.beats[m] = c.read_beats + c.write_beats;
            if (const penstock::engine::DramCounts* d = memories[m]->dram_counts()) {
                r.reads += d->reads, r.writes += d->writes, r.forwarded += d->forwarded;
                r.activates += d->activates, r.refreshes += d->refreshes, r.turns += d->turns;
            }
        }
        return r;
    }

    void measured(const pst_memory_result& from, const pst_memory_result& to, uint64_t cycles) {
        result = to;
        result.cycles = cycles;
        result.backlog = waiting.size();
        uint64_t pst_memory_result::* const counts[] = {
            &pst_memory_result::frames,     &pst_memory_result::bytes,       &pst_memory_result::frames_in,
            &pst_memory_result::bytes_in,   &pst_memory_result::input_waits, &pst_memory_result::output_beats,
            &pst_memory_result::read_beats, &pst_memory_result::write_beats, &pst_memory_result::reads,
            &pst_memory_result::writes,     &pst_memory_result::forwarded,   &pst_memory_result::activates,
            &pst_memory_result::refreshes,  &pst_memory_result::turns};
        for (const auto count : counts) result.*count -= from.*count;
        for (uint32_t m = 0; m < job.channels; ++m) result.beats[m] -= from.beats[m];
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
        for (uint32_t m = 0; m < job.channels; ++m) drive_memory(m);
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

    void drive_memory(uint32_t m) {
        Vpst_device& t = top();
        pst_axi_pins& p = axi[m];
        const bool held = p.rvalid_i;
        memories[m]->drive(p, static_cast<int64_t>(now));
        set_element<1>(t.m_axi_awready_i, m, p.awready_i);
        set_element<1>(t.m_axi_wready_i, m, p.wready_i);
        set_element<1>(t.m_axi_arready_i, m, p.arready_i);
        set_element<1>(t.m_axi_bvalid_i, m, p.bvalid_i);
        set_element<1>(t.m_axi_rvalid_i, m, p.rvalid_i);
        if (p.rvalid_i && !held) {
            write_beat(t.m_axi_rdata_i, m, p.rdata_i);
            set_element<1>(t.m_axi_rlast_i, m, p.rlast_i);
        }
    }

    void sample_memory(uint32_t m) {
        Vpst_device& t = top();
        pst_axi_pins& p = axi[m];
        p.awvalid_o = element<1>(t.m_axi_awvalid_o, m);
        if (p.awvalid_o) {
            p.awaddr_o = element<PST_ADDR_WIDTH>(t.m_axi_awaddr_o, m);
            p.awlen_o = element<8>(t.m_axi_awlen_o, m);
        }
        p.wvalid_o = element<1>(t.m_axi_wvalid_o, m);
        if (p.wvalid_o) {
            read_beat(t.m_axi_wdata_o, m, p.wdata_o);
            p.wstrb_o = element<64>(t.m_axi_wstrb_o, m);
            p.wlast_o = element<1>(t.m_axi_wlast_o, m);
        }
        p.bready_o = element<1>(t.m_axi_bready_o, m);
        p.arvalid_o = element<1>(t.m_axi_arvalid_o, m);
        if (p.arvalid_o) {
            p.araddr_o = element<PST_ADDR_WIDTH>(t.m_axi_araddr_o, m);
            p.arlen_o = element<8>(t.m_axi_arlen_o, m);
        }
        p.rready_o = element<1>(t.m_axi_rready_o, m);
        memories[m]->sample(p, static_cast<int64_t>(now));
    }

    void sample() {
        for (uint32_t p = 0; p < PST_PAIRS; ++p) sample_pair(p, pairs[p]);
        for (uint32_t m = 0; m < job.channels; ++m) sample_memory(m);
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
        if (pair.sending.empty()) wrong("a frame is sent that nobody asked for");
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
    std::vector<std::unique_ptr<MemoryModel>> memories;
    std::vector<pst_axi_pins> axi;
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
