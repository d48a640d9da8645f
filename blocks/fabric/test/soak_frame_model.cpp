// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Soak of pst_frame_switch against its model: in every cycle every ready, every beat with all its fields, and every event is compared.
//
// Arguments (name=value): ports, data_bytes, classes, max_frame, room, back_pressure, depth, islip, stages, iterations, number_width;
// cycles, seed, resets (in mid-traffic), timed (1: then the same beats once more through each alone, with a clock beside it). Load,
// lengths, destinations, classes, errors, stalls and a hot output change every few hundred cycles. Where the model says that it is idle and
// no beat comes, its clock stands still every other time. Prints cycles=, frames=, copies= (destinations beyond the first), beats_out=,
// frames_out=, waited= (cycles in which a beat waited for ready), stalled= (in which one waited at an output), drops= (cells), lost=,
// no_room=, bad=, refused=, skipped= (cycles without a clock), widest= (most outputs that sent at once), rtl_ns=, model_ns= (for the timed
// cycles), timed_cycles=.
#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <new>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "Vtop.h"
#include "fabric/model/frame_switch.hpp"
#include "fabric/model/wide_pins.hpp"
#include "verilated.h"

namespace {

uint64_t allocations = 0;

}  // namespace

void* operator new(size_t bytes) {
    allocations++;
    if (void* memory = std::malloc(bytes)) return memory;
    throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace {

using penstock::FrameBeatIn;
using penstock::FrameBeatOut;
using penstock::FrameSwitch;
using penstock::get_bits;
using penstock::put_bits;

using Arguments = std::map<std::string, uint64_t>;

penstock::FrameSwitchSettings settings_of(Arguments& args) {
    const auto value = [&](const char* name) { return static_cast<uint32_t>(args[name]); };
    return {.ports = value("ports"),
            .data_bytes = value("data_bytes"),
            .classes = value("classes"),
            .max_frame_bytes = value("max_frame"),
            .room_cells = value("room"),
            .back_pressure = value("back_pressure") != 0,
            .fifo_depth = value("depth"),
            .islip = value("islip") != 0,
            .stages = value("stages"),
            .iterations = value("iterations"),
            .number_width = value("number_width")};
}

// The bytes of a beat are made from these two, so that the hardware must bring the right beat of the right frame.
uint64_t payload_id(uint64_t tag, uint32_t index) { return tag * 4096 + index; }

struct Source {
    bool under_way = false, offering = false;
    uint32_t beats = 0, sent = 0, klass = 0;
    uint64_t dests = 0, tag = 0;
    bool error = false;
    FrameBeatIn beat;
};

// All input pins of a cycle.
struct Pins {
    std::remove_reference_t<decltype(Vtop::s_axis_tdata_i)> data;
    std::remove_reference_t<decltype(Vtop::s_axis_tkeep_i)> keep;
    std::remove_reference_t<decltype(Vtop::s_axis_tlast_i)> last;
    std::remove_reference_t<decltype(Vtop::s_axis_tdest_i)> dest;
    std::remove_reference_t<decltype(Vtop::s_axis_tuser_i)> user;
    std::remove_reference_t<decltype(Vtop::s_axis_tvalid_i)> valid;
    std::remove_reference_t<decltype(Vtop::m_axis_tready_i)> ready;
};

class Bench {
  public:
    explicit Bench(Arguments& a)
        : args(a),
          settings(settings_of(a)),
          ports(settings.ports),
          width(settings.data_bytes),
          classes(settings.classes),
          port_width(std::bit_width(ports - 1)),
          class_width(std::max<uint32_t>(1, std::bit_width(classes - 1))),
          number_width(std::bit_width(settings.number_mask())),
          rng(args["seed"]),
          model(settings),
          sources(ports),
          in(ports) {}

    void run() {
        top.s_axis_tvalid_i = top.m_axis_tready_i = 0;
        for (uint64_t round = 0; round <= args["resets"]; round++) {
            reset(round > 0);
            new_phase();
            for (uint64_t until = now + args["cycles"] / (args["resets"] + 1); now < until;) cycle(true);
        }
        // What is inside gets out, and the model knows when.
        stall = 0;
        hot_stall = false;
        uint64_t quiet = 0;
        for (; quiet < 100; quiet = model.idle() ? quiet + 1 : 0) {
            cycle(false);
            if (now > 4 * args["cycles"] + 1'000'000) fail("the model is never idle");
        }
        if (args["timed"]) time();
        std::printf("cycles=%" PRIu64 " frames=%" PRIu64 " copies=%" PRIu64 " beats_out=%" PRIu64 " frames_out=%" PRIu64 " waited=%" PRIu64
                    " stalled=%" PRIu64 " drops=%" PRIu64 " lost=%" PRIu64 " no_room=%" PRIu64 " bad=%" PRIu64 " refused=%" PRIu64
                    " skipped=%" PRIu64 " widest=%u rtl_ns=%" PRIu64 " model_ns=%" PRIu64 " timed_cycles=%zu\n",
                    now, frames, copies, beats_out, frames_out, waited, stalled, drops, lost, no_room, bad, refused, skipped, widest,
                    rtl_ns, model_ns, recorded.size());
    }

  private:
    [[noreturn]] void fail(const std::string& what) {
        std::printf("cycle %" PRIu64 ": %s (seed %" PRIu64 ")\n", now, what.c_str(), args["seed"]);
        std::exit(1);
    }

    uint32_t between(uint32_t low, uint32_t high) { return low + rng() % (high - low + 1); }
    bool chance(uint32_t permille) { return rng() % 1000 < permille; }

    void step() {
        top.clk_i = 0;
        top.eval();
        top.clk_i = 1;
        top.eval();
        if (Verilated::gotFinish()) fail("assertion");
    }

    // Beats stand at the inputs and outputs are ready while it lasts; a cycle is enough.
    void reset(bool compared) {
        top.rst_i = 1;
        for (uint32_t i = compared ? between(1, 3) : 3; i; i--, now++) {
            if (compared) {
                top.eval();
                compare();
            }
            step();
            model.reset();
            compared = true;
        }
        top.rst_i = 0;
        for (Source& source : sources) source = {};
        recorded.clear();
        recorded_in.clear();
    }

    void new_phase() {
        const uint32_t loads[] = {1000, 1000, 1000, 700, 200, 20}, stalls[] = {0, 0, 0, 100, 500, 900}, rates[] = {0, 0, 30, 300};
        const uint32_t longest = settings.max_cells(), lengths[] = {1, 2, std::min(longest, 6u), longest};
        phase = between(100, 600);
        load = loads[rng() % 6];
        stall = stalls[rng() % 6];
        multicast = rates[rng() % 4];
        error = rates[rng() % 4];
        oversize = rates[rng() % 4] / 5;
        refuse = rates[rng() % 4] / 3;
        longest_now = lengths[rng() % 4];
        hot = rng() % ports;
        hot_load = rng() % 3 ? 0 : 700;
        hot_stall = rng() % 4 == 0;
        shift = rng() % ports;
        in_turn = rng() % 4 == 0;
        class_mask = rng() % 3 ? ~0u : rng();
    }

    void draw(Source& s) {
        s.under_way = true;
        s.sent = 0;
        s.tag = ++frames;
        s.beats = chance(oversize) ? settings.max_cells() + between(1, settings.max_cells() + 1) : between(1, longest_now);
        s.klass = rng() % classes & class_mask;
        s.error = chance(error);
        const uint64_t all = ~uint64_t{0} >> (64 - ports);
        s.dests = uint64_t{1} << (chance(hot_load) ? hot : in_turn ? (&s - sources.data() + shift) % ports : rng() % ports);
        if (chance(multicast)) s.dests = rng() % 3 ? s.dests | (rng() & all) : all;
        if (chance(refuse)) s.dests = 0;
        if (chance(refuse)) s.klass = (1u << class_width) - 1;  // where classes are no power of two there is no such class
        copies += std::popcount(s.dests) - (s.dests != 0);
    }

    void offer(uint32_t i) {
        Source& s = sources[i];
        const bool first = s.sent == 0, last = s.sent + 1 == s.beats;
        // What does not count at this beat is anything.
        const uint32_t any_class = rng() & ((1u << class_width) - 1);
        const uint64_t any_dest = rng() & (~uint64_t{0} >> (64 - ports));
        s.beat = {.valid = true,
                  .last = last,
                  .error = last ? s.error : rng() % 2 != 0,
                  .klass = first ? s.klass : any_class,
                  .dest_mask = first ? s.dests : any_dest,
                  .bytes = last         ? between(1, width)
                           : rng() % 32 ? width
                                        : between(0, width),
                  .tag = s.tag};
        if (classes == 1) s.beat.klass = any_class;
        s.offering = true;
        // A hole in tkeep damages the frame: a beat before the last that is not full, or a 0 below a 1.
        const uint32_t gap = s.beat.bytes > 1 && rng() % 32 == 0 ? between(0, s.beat.bytes - 2) : width;
        s.beat.hole = gap < width || (!last && s.beat.bytes < width);
        penstock::put_payload(top.s_axis_tdata_i, i, 8 * width, payload_id(s.tag, s.sent));
        for (uint32_t b = 0; b < width; b++) put_bits(top.s_axis_tkeep_i, i * width + b, 1, b < s.beat.bytes && b != gap);
        put_bits(top.s_axis_tlast_i, i, 1, last);
        put_bits(top.s_axis_tdest_i, i * ports, ports, s.beat.dest_mask);
        put_bits(top.s_axis_tuser_i, i * (class_width + 1), class_width + 1, s.beat.klass << 1 | s.beat.error);
    }

    void compare() {
        for (uint32_t i = 0; i < ports; i++) {
            if (get_bits(top.s_axis_tready_o, i, 1) != model.ready(i)) fail("ready of source " + std::to_string(i));
            if (get_bits(top.ev_refused_o, i, 1) != model.refused(i)) fail("refused of source " + std::to_string(i));
            refused += model.refused(i);
        }
        uint32_t sending = 0;
        for (uint32_t j = 0; j < ports; j++) {
            const auto same = [&](uint64_t hardware, uint64_t expected, const char* what) {
                if (hardware == expected) return;
                fail(std::string(what) + " of output " + std::to_string(j) + " is " + std::to_string(hardware) +
                     ", model: " + std::to_string(expected));
            };
            const FrameBeatOut& out = model.out(j);
            same(get_bits(top.m_axis_tvalid_o, j, 1), out.valid, "valid");
            same(get_bits(top.ev_drop_count_o, j * (port_width + 1), port_width + 1), model.drop_count(j), "drop_count");
            same(get_bits(top.ev_lost_o, j * (number_width + 1), number_width + 1), model.lost(j), "lost");
            same(get_bits(top.ev_no_room_o, j, 1), model.no_room(j), "no_room");
            same(get_bits(top.ev_bad_o, j, 1), model.bad(j), "bad");
            drops += model.drop_count(j);
            lost += model.lost(j);
            no_room += model.no_room(j);
            bad += model.bad(j);
            if (!out.valid) continue;
            sending++;
            same(get_bits(top.m_axis_tid_o, j * port_width, port_width), out.source, "source");
            same(get_bits(top.m_axis_tuser_o, j * class_width, class_width), out.klass, "class");
            same(get_bits(top.m_axis_tlast_o, j, 1), out.last, "last");
            for (uint32_t b = 0; b < width; b++) same(get_bits(top.m_axis_tkeep_o, j * width + b, 1), b < out.bytes, "keep");
            if (!penstock::is_payload(top.m_axis_tdata_o, j, 8 * width, payload_id(out.tag, out.index))) {
                fail("the beat at output " + std::to_string(j) + " is not beat " + std::to_string(out.index) + " of frame " +
                     std::to_string(out.tag));
            }
        }
        widest = std::max(widest, sending);
    }

    void cycle(bool sending) {
        if (sending && phase-- == 0) new_phase();
        bool beats = false;
        for (uint32_t i = 0; i < ports; i++) {
            Source& s = sources[i];
            if (!s.under_way && sending && chance(load)) draw(s);
            if (s.under_way && !s.offering && (!sending || chance(std::max(load, 300u)))) offer(i);
            if (s.offering) {
                in[i] = s.beat;
            } else {
                in[i].valid = false;
            }
            beats |= s.offering;
            put_bits(top.s_axis_tvalid_i, i, 1, s.offering);
        }
        uint64_t ready = 0;
        for (uint32_t j = 0; j < ports; j++) ready |= uint64_t{!chance(stall) && !(hot_stall && j == hot)} << j;
        top.m_axis_tready_i = ready;
        top.eval();
        compare();
        if (args["timed"] && sending) {
            recorded.push_back({top.s_axis_tdata_i, top.s_axis_tkeep_i, top.s_axis_tlast_i, top.s_axis_tdest_i, top.s_axis_tuser_i,
                                top.s_axis_tvalid_i, top.m_axis_tready_i});
            recorded_in.insert(recorded_in.end(), in.begin(), in.end());
        }
        for (uint32_t j = 0; j < ports; j++) {
            const FrameBeatOut& out = model.out(j);
            stalled += out.valid && !(ready >> j & 1);
            beats_out += out.valid && ready >> j & 1;
            frames_out += out.valid && out.last && ready >> j & 1;
        }
        for (uint32_t i = 0; i < ports; i++) {
            Source& s = sources[i];
            if (!s.offering) continue;
            if (!model.ready(i)) {
                waited++;
                continue;
            }
            s.offering = false;
            s.under_way = ++s.sent < s.beats;
        }
        if (model.idle() && !beats && rng() % 2) {
            skipped++;
        } else {
            const uint64_t before = allocations;
            model.clock(in, ready);
            if (allocations != before) fail("the model takes memory");
        }
        step();
        now++;
    }

    // The last round's beats once more: both see the same, so both do the same as before.
    void time() {
        using Clock = std::chrono::steady_clock;
        const auto since = [](Clock::time_point begin) {
            return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count());
        };
        uint64_t hardware_beats = 0, model_beats = 0;
        top.rst_i = 1;
        for (int i = 0; i < 3; i++) step();
        top.rst_i = 0;
        auto begin = Clock::now();
        for (const Pins& pins : recorded) {
            top.s_axis_tdata_i = pins.data;
            top.s_axis_tkeep_i = pins.keep;
            top.s_axis_tlast_i = pins.last;
            top.s_axis_tdest_i = pins.dest;
            top.s_axis_tuser_i = pins.user;
            top.s_axis_tvalid_i = pins.valid;
            top.m_axis_tready_i = pins.ready;
            top.clk_i = 0;
            top.eval();
            hardware_beats += std::popcount(static_cast<uint64_t>(top.m_axis_tvalid_o & top.m_axis_tready_i));
            top.clk_i = 1;
            top.eval();
        }
        rtl_ns = since(begin);
        model.reset();
        begin = Clock::now();
        for (size_t t = 0; t < recorded.size(); t++) {
            const uint64_t ready = recorded[t].ready;
            for (uint64_t left = model.active_outputs() & ready; left; left &= left - 1)
                model_beats += model.out(std::countr_zero(left)).valid;
            model.clock({&recorded_in[t * ports], ports}, ready);
        }
        model_ns = since(begin);
        if (hardware_beats != model_beats)
            fail(std::to_string(hardware_beats) + " beats came out, of the model " + std::to_string(model_beats));
    }

    Arguments& args;
    penstock::FrameSwitchSettings settings;
    uint32_t ports, width, classes, port_width, class_width, number_width;
    std::mt19937_64 rng;
    Vtop top;
    FrameSwitch model;
    std::vector<Source> sources;
    std::vector<FrameBeatIn> in;
    std::vector<Pins> recorded;
    std::vector<FrameBeatIn> recorded_in;
    uint32_t phase = 0, load = 0, stall = 0, multicast = 0, error = 0, oversize = 0, refuse = 0, longest_now = 1, hot = 0, hot_load = 0,
             shift = 0;
    uint32_t class_mask = 0, widest = 0;
    bool hot_stall = false, in_turn = false;
    uint64_t now = 0, frames = 0, copies = 0, beats_out = 0, frames_out = 0, waited = 0, stalled = 0, drops = 0, lost = 0, no_room = 0,
             bad = 0;
    uint64_t refused = 0, skipped = 0, rtl_ns = 0, model_ns = 0;
};

}  // namespace

int main(int argc, char** argv) {
    Arguments args;
    for (int i = 1; i < argc; i++) {
        const char* equals = std::strchr(argv[i], '=');
        if (equals) args[std::string(argv[i], equals - argv[i])] = std::strtoull(equals + 1, nullptr, 10);
    }
    Bench(args).run();
    return 0;
}
