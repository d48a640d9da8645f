// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Soak of pst_islip_switch against its model: every port in every cycle.
//
// Arguments: ports, classes, depth, iterations, back_pressure, cycles, seed, load (permille of cycles in which a source has a new cell),
// ready (permille of cycles in which an output takes), stalls (1: from time to time
// an output stands still), pattern (0 uniform, 1 half of the cells to output 0, 2 each source keeps a destination for a
// while). Prints cells_in=, cells_out=, drops=, cycles=, latency_min=, full_cycles= (offers that found
// their queue full).
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <string>

#include "Vtop.h"
#include "fabric/model/islip.hpp"
#include "fabric/model/wide_pins.hpp"

using penstock::get_bits;
using penstock::put_bits;

int main(int argc, char** argv) {
    std::map<std::string, uint64_t> args;
    for (int i = 1; i < argc; i++) {
        const char* equals = std::strchr(argv[i], '=');
        if (equals) args[std::string(argv[i], equals - argv[i])] = std::strtoull(equals + 1, nullptr, 10);
    }
    const uint32_t ports = args["ports"], classes = args["classes"];
    const bool back_pressure = args["back_pressure"];
    uint32_t port_width = 1, class_width = 1;
    while (1u << port_width < ports) port_width++;
    while (1u << class_width < classes) class_width++;
    std::mt19937 rng(args["seed"]);
    Vtop top;
    penstock::IslipSwitch model(ports, classes, args["depth"], args["iterations"]);
    uint64_t now = 0, in = 0, out = 0, drops = 0, full_cycles = 0, latency_min = ~0ull;
    auto tick = [&] {
        top.clk_i = 0;
        top.eval();
        top.clk_i = 1;
        top.eval();
    };
    auto fail = [&](const std::string& what) {
        std::printf("cycle %" PRIu64 ": %s\n", now, what.c_str());
        std::exit(1);
    };

    top.rst_i = 1;
    top.s_cell_valid_i = top.m_cell_ready_i = 0;
    for (int i = 0; i < 3; i++) tick();
    top.rst_i = 0;

    std::vector<std::optional<penstock::IslipSwitch::Cell>> offer(ports);
    std::vector<bool> ready(ports);
    std::vector<uint32_t> dropped_before(ports);
    std::vector<uint32_t> favourite(ports);
    uint32_t stalled = ports;
    const uint64_t end = args["cycles"];
    while (now < end || model.cells() > 0) {
        if (now % 512 == 0) stalled = args["stalls"] ? rng() % (2 * ports) : ports;  // half of the time none
        for (uint32_t i = 0; i < ports; i++) {
            if (!offer[i] && now < end && rng() % 1000 < args["load"]) {
                if (rng() % 64 == 0) favourite[i] = rng() % ports;
                uint32_t dest = rng() % ports;
                if (args["pattern"] == 1 && rng() % 2) dest = 0;
                if (args["pattern"] == 2) dest = favourite[i];
                offer[i] = penstock::IslipSwitch::Cell{dest, static_cast<uint32_t>(rng() % classes), now << 8 | i};
            }
            put_bits(top.s_cell_valid_i, i, 1, offer[i].has_value());
            if (offer[i]) {
                put_bits(top.s_cell_dest_i, i * port_width, port_width, offer[i]->dest);
                put_bits(top.s_cell_class_i, i * class_width, class_width, offer[i]->cls);
                put_bits(top.s_cell_data_i, i * 32, 32, offer[i]->data);
            }
            ready[i] = (i != stalled || now >= end) && rng() % 1000 < args["ready"];
            put_bits(top.m_cell_ready_i, i, 1, ready[i]);
        }
        top.clk_i = 0;
        top.eval();
        for (uint32_t i = 0; i < ports; i++) {
            const std::string port = std::to_string(i);
            const bool full = offer[i] && model.full(i, offer[i]->dest, offer[i]->cls);
            full_cycles += full;
            if (offer[i] && get_bits(top.s_cell_ready_o, i, 1) != !(back_pressure && full)) fail("ready of source " + port);
            const uint64_t* cell = model.offered(i);
            if (get_bits(top.m_cell_valid_o, i, 1) != (cell != nullptr)) fail("valid of output " + port);
            if (cell && get_bits(top.m_cell_data_o, i * 32, 32) != *cell) fail("cell at output " + port);
            if (get_bits(top.ev_drop_count_o, i * (port_width + 1), port_width + 1) != dropped_before[i]) fail("drops at output " + port);
            if (cell && ready[i]) {
                out++;
                latency_min = std::min(latency_min, now - (*cell >> 8));
            }
        }
        const auto refused = model.cycle(offer, ready);
        dropped_before.assign(ports, 0);
        for (uint32_t i = 0; i < ports; i++) {
            if (refused[i] && !back_pressure) {
                drops++;
                dropped_before[offer[i]->dest]++;
            }
            if (offer[i] && (!refused[i] || !back_pressure)) {
                in++;
                offer[i].reset();
            }
        }
        tick();
        now++;
        if (now > 100 * end + 1000) fail(std::to_string(model.cells()) + " cells do not leave");
    }
    if (in != out + drops) fail("cells in, out and dropped do not add up");
    std::printf("cells_in=%" PRIu64 " cells_out=%" PRIu64 " drops=%" PRIu64 " cycles=%" PRIu64 " latency_min=%" PRIu64
                " full_cycles=%" PRIu64 "\n",
                in, out, drops, now, latency_min, full_cycles);
    return 0;
}
