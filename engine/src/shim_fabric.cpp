// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Bench of a verilated pst_fabric (class Vpst_device), compiled with it: traffic at all inputs, every cell judged at the outputs.
//
// The whole loop is in the library, so a call is a run: src/penstock/benches/bench_fabric.py gives the job and reads the result.
#include <bit>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "../../blocks/fabric/model/wide_pins.hpp"
#include "Vpst_device.h"
#include "shim_model.hpp"

extern "C" {

// Written down once more by bench_fabric.Job and bench_fabric.Result, which compare the sizes when they load the library.
struct pst_fabric_job {
    uint32_t ports, width, classes;
    uint32_t pattern;        // 0 uniform, 1 permutation, 2 half of the cells to output 0
    uint32_t load_permille;  // chance of a new cell at an input in a cycle
    uint32_t order;          // 1: the switch promises order in all circumstances; 0: as long as nothing is dropped
    uint64_t cells, seed;    // cells to offer
};

struct pst_fabric_result {
    uint64_t pipeline_cycles, cycles, offered, departed, dropped, queued, measured_cycles, measured_departures, overtaken;
    uint64_t latencies;  // how many were written
    char error[200];
};
}

namespace {

using penstock::get_bits;
using penstock::put_bits;

struct Offer {
    uint64_t id = 0;  // 0: none
    uint32_t output = 0, of_class = 0;
};

struct Sent {
    uint64_t cycle;
    uint32_t input, output, of_class;
    bool out;
};

class Bench {
  public:
    Bench(const pst_fabric_job& j, pst_fabric_result& r, uint32_t* times)
        : job(j),
          result(r),
          latency(times),
          rng(j.seed),
          dest_width(std::bit_width(j.ports - 1)),
          class_width(j.classes > 1 ? std::bit_width(j.classes - 1) : 1),
          offers(j.ports),
          last(j.ports * j.ports * j.classes) {}

    bool run(bool (*progress)(uint64_t, uint64_t)) {
        reset();
        if (!measure_pipeline()) return false;
        const uint64_t warm_up = job.cells / 10;
        uint64_t first_cycle = 0, first_departure = 0;
        const uint64_t begin = now;
        while (result.offered < job.cells) {
            if (!first_cycle && result.offered >= warm_up) first_cycle = now, first_departure = result.departed;
            if (!cycle(true)) return false;
            if (now % 8192 == 0 && progress && !progress(result.offered, now)) return fail("interrupted");
        }
        result.measured_cycles = now - first_cycle;
        result.measured_departures = result.departed - first_departure;
        result.cycles = now - begin;
        uint64_t quiet = 0;  // cells leave until none has left for some time
        for (uint64_t before = result.departed; quiet < 4 * job.ports + 64; before = result.departed) {
            if (!cycle(false)) return false;
            quiet = result.departed == before ? quiet + 1 : 0;
        }
        result.queued = result.offered - result.departed - result.dropped;
        if (result.queued) return fail(std::to_string(result.queued) + " cells never came out");
        return true;
    }

  private:
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
        top().s_cell_valid_i = 0;
        for (int i = 0; i < 4; i++) step();
        top().rst_i = 0;
        top().m_cell_ready_i = ~uint64_t{0} >> (64 - job.ports);
    }

    // One cell at a time through the empty switch, from every input to every output.
    bool measure_pipeline() {
        for (uint32_t input = 0; input < job.ports; input++) {
            for (uint32_t output = 0; output < job.ports; output++) {
                uint64_t waited = 0;
                for (;; waited++) {
                    top().s_cell_valid_i = waited == 0 ? uint64_t{1} << input : 0;
                    put_bits(top().s_cell_dest_i, input * dest_width, dest_width, output);
                    penstock::put_payload(top().s_cell_data_i, input, job.width, now);
                    top().eval();
                    const uint64_t valid = top().m_cell_valid_o;
                    if (valid & ~(uint64_t{1} << output))
                        return fail("a cell for output " + std::to_string(output) + " came out elsewhere");
                    if (valid && !penstock::is_payload(top().m_cell_data_o, output, job.width, now - waited))
                        return fail("a cell was changed");
                    step();
                    if (valid) break;
                    if (waited > 1000) return fail("a cell through the empty switch never came out");
                }
                if ((input || output) && waited - 1 != result.pipeline_cycles) return fail("the latency of the empty switch varies");
                result.pipeline_cycles = waited - 1;  // the last cycle is the one in the FIFO
            }
        }
        return true;
    }

    uint32_t draw(uint32_t input) {
        if (job.pattern == 1) return (input + shift) % job.ports;
        return job.pattern == 2 && rng() % 2 ? 0 : rng() % job.ports;
    }

    bool cycle(bool offering) {
        uint64_t valid = 0;
        if (now % 1024 == 0) shift = rng() % job.ports;
        for (uint32_t i = 0; i < job.ports; i++) {
            if (!offers[i].id && offering && sent.size() < job.cells && rng() % 1000 < job.load_permille) {
                const uint64_t id = sent.size() + 1;
                offers[i] = {id, draw(i), static_cast<uint32_t>(rng() % job.classes)};
                sent.push_back({0, i, offers[i].output, offers[i].of_class, false});
                put_bits(top().s_cell_dest_i, i * dest_width, dest_width, offers[i].output);
                put_bits(top().s_cell_class_i, i * class_width, class_width, offers[i].of_class);
                penstock::put_payload(top().s_cell_data_i, i, job.width, id);
            }
            valid |= uint64_t{offers[i].id != 0} << i;
        }
        top().s_cell_valid_i = valid;
        top().eval();
        for (uint64_t left = valid & top().s_cell_ready_o; left; left &= left - 1) {
            Offer& offer = offers[std::countr_zero(left)];
            sent[offer.id - 1].cycle = now;
            result.offered++;
            offer.id = 0;
        }
        for (uint64_t left = top().m_cell_valid_o; left; left &= left - 1) {
            if (!depart(std::countr_zero(left))) return false;
        }
        for (uint32_t d = 0; d < job.ports; d++) result.dropped += get_bits(top().ev_drop_count_o, d * (dest_width + 1), dest_width + 1);
        step();
        return true;
    }

    bool depart(uint32_t output) {
        const uint64_t id = get_bits(top().m_cell_data_o, output * job.width, 32);
        const std::string name = "output " + std::to_string(output) + ", cell " + std::to_string(id);
        if (!id || id > sent.size() || !penstock::is_payload(top().m_cell_data_o, output, job.width, id))
            return fail(name + ": no such cell");
        Sent& cell = sent[id - 1];
        if (cell.output != output) return fail(name + ": is for output " + std::to_string(cell.output));
        if (cell.out) return fail(name + ": comes out twice");
        cell.out = true;
        uint64_t& before = last[(cell.input * job.ports + output) * job.classes + cell.of_class];
        if (id < before) {
            result.overtaken++;
            if (job.order || !result.dropped) return fail(name + ": comes after cell " + std::to_string(before));
        }
        before = std::max(before, id);
        result.departed++;
        latency[result.latencies++] = now - cell.cycle;
        return true;
    }

    Vpst_device& top() { return *device.top; }

    const pst_fabric_job& job;
    pst_fabric_result& result;
    uint32_t* latency;
    penstock::shim::Clocked<Vpst_device> device;
    std::mt19937_64 rng;
    uint32_t dest_width, class_width, shift = 0;
    uint64_t now = 0;
    std::vector<Offer> offers;
    std::vector<Sent> sent;      // by id - 1
    std::vector<uint64_t> last;  // the newest cell that left, by input, output and class
};

}  // namespace

// Bytes of the two structs above, for callers that write them down again.
PST_EXPORT uint32_t pst_fabric_job_bytes() { return sizeof(pst_fabric_job); }
PST_EXPORT uint32_t pst_fabric_result_bytes() { return sizeof(pst_fabric_result); }

// `times` has room for `job->cells` latencies in cycles. Returns 0, or 1 with the error in words.
PST_EXPORT int pst_fabric_bench(const pst_fabric_job* job, pst_fabric_result* result, uint32_t* times,
                                bool (*progress)(uint64_t, uint64_t)) {
    *result = {};
    return Bench(*job, *result, times).run(progress) ? 0 : 1;
}
