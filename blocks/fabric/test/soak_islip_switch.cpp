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

namespace {

// Fields of up to 64 bits in Verilator's packed arrays, which are integers or arrays of 32-bit words.
template <typename Signal>
void put(Signal& signal, uint32_t index, uint32_t width, uint64_t value) {
    for (uint32_t bit = 0; bit < width; bit++) {
        const uint32_t at = index * width + bit;
        if constexpr (std::is_integral_v<Signal>) {
            const Signal mask = Signal{1} << at;
            signal = (value >> bit & 1) ? signal | mask : signal & ~mask;
        } else {
            const uint32_t mask = 1u << at % 32;
            signal[at / 32] = (value >> bit & 1) ? signal[at / 32] | mask : signal[at / 32] & ~mask;
        }
    }
}

template <typename Signal>
uint64_t get(Signal& signal, uint32_t index, uint32_t width) {
    uint64_t value = 0;
    for (uint32_t bit = 0; bit < width; bit++) {
        const uint32_t at = index * width + bit;
        uint64_t one;
        if constexpr (std::is_integral_v<Signal>)
            one = signal >> at & 1;
        else
            one = signal[at / 32] >> at % 32 & 1;
        value |= one << bit;
    }
    return value;
}

}  // namespace

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
        if (now % 512 == 0) stalled = args["stalls"] ? rng() % (2 * ports) : ports;  // half of the time nobody
        for (uint32_t i = 0; i < ports; i++) {
            if (!offer[i] && now < end && rng() % 1000 < args["load"]) {
                if (rng() % 64 == 0) favourite[i] = rng() % ports;
                uint32_t dest = rng() % ports;
                if (args["pattern"] == 1 && rng() % 2) dest = 0;
                if (args["pattern"] == 2) dest = favourite[i];
                offer[i] = penstock::IslipSwitch::Cell{dest, static_cast<uint32_t>(rng() % classes), now << 8 | i};
            }
            put(top.s_cell_valid_i, i, 1, offer[i].has_value());
            if (offer[i]) {
                put(top.s_cell_dest_i, i, port_width, offer[i]->dest);
                put(top.s_cell_class_i, i, class_width, offer[i]->cls);
                put(top.s_cell_data_i, i, 64, offer[i]->data);
            }
            ready[i] = (i != stalled || now >= end) && rng() % 1000 < args["ready"];
            put(top.m_cell_ready_i, i, 1, ready[i]);
        }
        top.clk_i = 0;
        top.eval();
        for (uint32_t i = 0; i < ports; i++) {
            const std::string port = std::to_string(i);
            const bool full = offer[i] && model.full(i, offer[i]->dest, offer[i]->cls);
            full_cycles += full;
            if (offer[i] && get(top.s_cell_ready_o, i, 1) != !(back_pressure && full)) fail("ready of source " + port);
            const uint64_t* cell = model.offered(i);
            if (get(top.m_cell_valid_o, i, 1) != (cell != nullptr)) fail("valid of output " + port);
            if (cell && get(top.m_cell_data_o, i, 64) != *cell) fail("cell at output " + port);
            if (get(top.ev_drop_count_o, i, port_width + 1) != dropped_before[i]) fail("drops at output " + port);
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
    std::printf("cells_in=%" PRIu64 " cells_out=%" PRIu64 " drops=%" PRIu64 " cycles=%" PRIu64 " latency_min=%" PRIu64 " full_cycles=%" PRIu64 "\n",
                in, out, drops, now, latency_min, full_cycles);
    return 0;
}
