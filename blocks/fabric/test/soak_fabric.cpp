// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Soak of pst_fabric against its model: in every cycle every ready, valid, payload and count of drops is compared.
//
// Beside the model stand checks that do not need it: every cell leaves once at its own output or is counted as dropped, and cells of one
// input, output and class keep their order (with the rotating arbiter: while nothing is dropped).
//
// Arguments (name=value): ports, width, stages, depth, classes, full, pressure, latency (cycles of the pipeline), cycles, seed, resets.
// Load, destinations, classes and stalls change every few hundred cycles. Prints cycles=, batches= (with a cell at least), cells=,
// dropped=, departed=, waited= (cells refused at an input), stalled=, overtaken= (cells that left before an older one of theirs), skipped=
// (cycles in which an output with cells offered none), fullest= (batches of all inputs at once), widest= (largest difference of levels in a
// group before any drop).
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "Vtop.h"
#include "fabric/model/fabric.hpp"
#include "fabric/model/wide_pins.hpp"
#include "verilated.h"

namespace {

using penstock::Fabric;
using penstock::get_bits;
using penstock::put_bits;

struct Cell {
    uint64_t id;
    uint32_t input, output, of_class;
};

class Bench {
  public:
    explicit Bench(std::map<std::string, uint64_t> a)
        : args(std::move(a)),
          rng(args["seed"]),
          ports(args["ports"]),
          width(args["width"]),
          classes(args["classes"]),
          dest_width(std::bit_width(ports - 1)),
          class_width(std::max<uint32_t>(1, std::bit_width(classes - 1))),
          pressure(args["pressure"]),
          full(args["full"]),
          model({ports, static_cast<uint32_t>(args["stages"]), static_cast<uint32_t>(args["depth"]), classes, pressure,
                 full ? penstock::FabricArbiter::Full : penstock::FabricArbiter::Rotating}) {}

    void run() {
        const uint64_t rounds = args["resets"] + 1;
        for (uint64_t round = 0; round < rounds; round++) {
            reset();
            measure_latency();
            for (uint64_t until = now + args["cycles"] / rounds; now < until;) cycle();
            if (round + 1 < rounds) continue;  // resets come in mid-traffic
            load = 0;
            stall = 0;
            for (uint64_t i = 0; i < 64 + args["depth"] * ports * classes * 2; i++) cycle(false);
            if (inside) fail(std::to_string(inside) + " cells never came out");
        }
        std::printf("cycles=%" PRIu64 " batches=%" PRIu64 " cells=%" PRIu64 " dropped=%" PRIu64 " departed=%" PRIu64 " waited=%" PRIu64
                    " stalled=%" PRIu64 " overtaken=%" PRIu64 " skipped=%" PRIu64 " fullest=%" PRIu64 " widest=%" PRIu64 "\n",
                    now, batches, cells, dropped, departed, waited, stalled, overtaken, skipped, fullest, widest);
    }

  private:
    [[noreturn]] void fail(const std::string& what) const {
        std::printf("cycle %" PRIu64 ": %s (seed %" PRIu64 ")\n", now, what.c_str(), args.at("seed"));
        std::exit(1);
    }

    void step() {
        top->clk_i = 0;
        top->eval();
        top->clk_i = 1;
        top->eval();
        if (Verilated::gotFinish()) fail("assertion");
        now++;
    }

    void reset() {
        top->rst_i = 1;
        for (uint64_t i = rng() % 3 + 1; i; i--) step();  // one cycle is enough, with cells at the inputs
        top->rst_i = 0;
        top->s_cell_valid_i = top->m_cell_ready_i = 0;
        model.reset();
        offered.assign(ports, {});
        last.assign(ports * ports * classes, 0);
        inside = 0;
        in_step = true;
    }

    // One cell through the empty switch: the pipeline has the paper's length.
    void measure_latency() {
        const uint32_t input = rng() % ports, output = rng() % ports;
        typename Fabric<Cell>::Batch batch(ports);
        for (uint32_t i = 0;; i++) {
            top->s_cell_valid_i = i == 0 ? uint64_t{1} << input : 0;
            put_bits(top->s_cell_dest_i, input * dest_width, dest_width, output);
            put_bits(top->s_cell_class_i, input * class_width, class_width, 0);
            top->m_cell_ready_i = ~uint64_t{0} >> (64 - ports);
            top->eval();
            batch.dests[input] = i == 0 ? output : Fabric<Cell>::kNone;
            const bool there = top->m_cell_valid_o >> output & 1;
            model.clock(batch, ~uint64_t{0}, [](auto&&...) {}, [](auto&&...) {});
            step();
            if (there) {
                if (i != args["latency"] + 1) fail("the first cell took " + std::to_string(i) + " cycles");
                break;
            }
            if (i > 100) fail("the first cell never came");
        }
    }

    void new_phase() {
        phase = 100 + rng() % 400;
        const uint32_t loads[] = {1000, 1000, 900, 500, 100, 20};
        load = loads[rng() % 6];
        const uint32_t stalls[] = {0, 0, 0, 100, 500, 950};
        stall = stalls[rng() % 6];
        pattern = rng() % 5;
        hot = rng() % ports;
        class_mask = rng() % 3 ? ~0u : rng();
    }

    uint32_t draw_dest(uint32_t input) {
        switch (pattern) {
            case 0:
                return (input + hot) % ports;  // a permutation
            case 1:
                return hot;  // all to one
            case 2:
                return rng() % 2 ? hot : rng() % ports;  // a hot spot
            default:
                return rng() % ports;
        }
    }

    void cycle(bool changing = true) {
        if (changing && (phase == 0 || --phase == 0)) new_phase();
        typename Fabric<Cell>::Batch batch(ports);
        uint64_t valid = 0, ready = 0;
        for (uint32_t i = 0; i < ports; i++) {
            if (!offered[i].id && rng() % 1000 < load) {
                offered[i] = {++next_id, i, draw_dest(i), (static_cast<uint32_t>(rng()) & class_mask) % classes};
                put_bits(top->s_cell_dest_i, i * dest_width, dest_width, offered[i].output);
                put_bits(top->s_cell_class_i, i * class_width, class_width, offered[i].of_class);
                penstock::put_payload(top->s_cell_data_i, i, width, next_id);
            } else if (!offered[i].id) {
                put_bits(top->s_cell_dest_i, i * dest_width, dest_width, rng());  // means nothing without valid
            }
            valid |= uint64_t{offered[i].id != 0} << i;
        }
        for (uint32_t d = 0; d < ports; d++) ready |= uint64_t{rng() % 1000 >= stall} << d;
        top->s_cell_valid_i = valid;
        top->m_cell_ready_i = ready;
        top->eval();

        uint32_t in_batch = 0;
        for (uint32_t i = 0; i < ports; i++) {
            if (!offered[i].id) continue;
            const bool taken = top->s_cell_ready_o >> i & 1;
            const bool expected = !pressure || model.ready(offered[i].output, offered[i].of_class);
            if (taken != expected) fail("ready of input " + std::to_string(i) + " is " + std::to_string(taken));
            if (!taken) {
                waited++;
                continue;
            }
            batch.dests[i] = offered[i].output;
            batch.of_class[i] = offered[i].of_class;
            batch.cells[i] = offered[i];
            offered[i].id = 0;
            in_batch++;
        }
        for (uint32_t d = 0; d < ports; d++) judge(d, ready >> d & 1);
        batches += in_batch > 0;
        fullest += in_batch == ports;
        cells += in_batch;
        inside += in_batch;
        model.clock(
            batch, ready,
            [&](uint32_t input, uint32_t output, const Cell& cell) {
                if (cell.input != input || cell.output != output || pressure) fail("a drop that must not be");
                dropped++;
                inside--;
                in_step = false;
            },
            [](auto&&...) {});
        if (in_step && classes == 1) {
            for (uint32_t d = 0; d < ports; d++) {
                uint64_t least = ~uint64_t{0}, most = 0;
                for (uint32_t q = 0; q < ports; q++) {
                    least = std::min<uint64_t>(least, model.slots().level(d, 0, q));
                    most = std::max<uint64_t>(most, model.slots().level(d, 0, q));
                }
                widest = std::max(widest, most - least);
            }
        }
        step();
    }

    void judge(uint32_t d, bool ready) {
        const auto choice = model.offer(d);
        const std::string name = "output " + std::to_string(d);
        if ((top->m_cell_valid_o >> d & 1) != choice.valid)
            fail(name + (choice.valid ? " offers nothing" : " offers a cell, the model none"));
        const uint32_t drops = get_bits(top->ev_drop_count_o, d * (dest_width + 1), dest_width + 1);
        if (drops != model.drops(d)) fail(name + " counts " + std::to_string(drops) + " drops, model " + std::to_string(model.drops(d)));
        if (!choice.valid) {
            for (uint32_t c = 0; c < classes; c++) skipped += model.slots().level(d, c) > 0;
            return;
        }
        const Cell& cell = model.cell(choice);
        if (!penstock::is_payload(top->m_cell_data_o, d, width, cell.id))
            fail(name + " offers another cell than " + std::to_string(cell.id));
        if (cell.output != d) fail(name + " has a cell for " + std::to_string(cell.output));
        if (!ready) {
            stalled++;
            return;
        }
        uint64_t& before = last[(cell.input * ports + d) * classes + cell.of_class];
        if (cell.id <= before) {
            overtaken++;
            if (full || in_step) fail(name + ": cell " + std::to_string(cell.id) + " comes after " + std::to_string(before));
        }
        before = std::max(before, cell.id);
        departed++;
        inside--;
    }

    std::unique_ptr<Vtop> top = std::make_unique<Vtop>();
    std::map<std::string, uint64_t> args;
    std::mt19937 rng;
    uint32_t ports, width, classes, dest_width, class_width;
    bool pressure, full;
    Fabric<Cell> model;
    std::vector<Cell> offered;  // id 0: none
    std::vector<uint64_t> last;
    uint32_t load = 0, stall = 0, pattern = 0, hot = 0, class_mask = ~0u;
    uint64_t phase = 0, now = 0, next_id = 0, inside = 0;
    uint64_t batches = 0, cells = 0, dropped = 0, departed = 0, waited = 0, stalled = 0, overtaken = 0, skipped = 0, fullest = 0,
             widest = 0;
    bool in_step = true;  // nothing was dropped since the last reset
};

}  // namespace

int main(int argc, char** argv) {
    std::map<std::string, uint64_t> args;
    for (int i = 1; i < argc; i++) {
        const char* equals = std::strchr(argv[i], '=');
        if (equals) args[std::string(argv[i], equals - argv[i])] = std::strtoull(equals + 1, nullptr, 10);
    }
    Bench(std::move(args)).run();
    return 0;
}
