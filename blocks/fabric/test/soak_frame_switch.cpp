// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Soak of pst_frame_switch: random frames, every byte checked, every frame accounted for.
//
// What must hold, whatever the traffic: a frame comes out whole or not at all, at its destinations only, once each, without another frame
// in its middle, in order for its source, destination and class; an offer stands until it is taken; frames that went in are out or counted
// with a reason.
//
// Arguments: ports, data_bytes, classes, max_frame, back_pressure, cycles, seed; load, ready (permille of cycles in which a source offers a
// beat, an output takes one), stalls (1: outputs stand still from time to time); smallest, largest (bytes of frames); multicast, error,
// oversize, refused (permille of frames with several destinations, with the error flag, longer than max_frame, without destination); hot
// (1: all to output 0), high (permille of frames in class 0, the others are in the lowest; 0: classes at random), fan_out (exactly so many
// destinations; 0: at random), senders (so many of the sources send; 0: all), turn (1: source i sends to output i + 1 only). Prints
// frames_in= (copies), frames_out=, lost=, no_room=, bad=, refused=, cell_drops=, cycles=, beats_in=, beats_out=, delay0_max=,
// delay0_mean=, delay_low_max= (cycles from the last beat in to the first beat out, class 0 and the lowest), gap_max= (cycles that a source
// waited for ready).
#include <algorithm>
#include <bit>
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

using penstock::get_bits;
using penstock::put_bits;

namespace {

struct Frame {
    uint32_t id, bytes, source, cls;
    uint64_t dests;
    bool dropped;  // will not come out: error flag, or too long
    uint64_t last_in = 0;
    uint32_t copies = 0;  // still to come out or to be missed
};

uint8_t byte_of(uint32_t id, uint32_t at) {
    if (at < 4) return id >> 8 * at;
    const uint32_t x = (id * 2654435761u ^ at * 40503u) * 2246822519u;
    return x >> 24;
}

struct Sender {
    std::optional<Frame> frame;
    uint32_t sent = 0;  // bytes
    bool offering = false;
    uint64_t waiting = 0;
};

struct Receiver {
    std::vector<uint8_t> bytes;
    uint64_t first_out = 0;
    std::vector<uint8_t> held;  // an offer that was not taken
};

}  // namespace

int main(int argc, char** argv) {
    std::map<std::string, uint64_t> args;
    for (int i = 1; i < argc; i++) {
        const char* equals = std::strchr(argv[i], '=');
        if (equals) args[std::string(argv[i], equals - argv[i])] = std::strtoull(equals + 1, nullptr, 10);
    }
    const uint32_t ports = args["ports"], width = args["data_bytes"], classes = args["classes"], max_frame = args["max_frame"];
    const bool back_pressure = args["back_pressure"];
    uint32_t port_bits = 1, class_bits = 1;
    while (1u << port_bits < ports) port_bits++;
    while (1u << class_bits < classes) class_bits++;
    const uint32_t number_bits = back_pressure ? 1 : 16;
    // The hardware cuts at whole beats.
    const uint32_t longest = (max_frame + width - 1) / width * width;
    std::mt19937 rng(args["seed"]);
    auto chance = [&](const char* name) { return rng() % 1000 < args[name]; };
    auto between = [&](uint32_t low, uint32_t high) { return low + rng() % (high - low + 1); };
    Vtop top;
    uint64_t now = 0, in = 0, out = 0, lost = 0, no_room = 0, bad = 0, refused = 0, cell_drops = 0, beats_in = 0, beats_out = 0;
    uint64_t refused_sent = 0, bad_sent = 0, delay0_max = 0, delay0_sum = 0, delay0_count = 0, delay_low_max = 0, gap_max = 0;
    uint32_t next_id = 0;
    auto tick = [&] {
        top.clk_i = 1;
        top.eval();
        top.clk_i = 0;
        top.eval();
    };
    auto fail = [&](const std::string& what) {
        std::printf("cycle %" PRIu64 ": %s\n", now, what.c_str());
        std::exit(1);
    };

    std::vector<Sender> senders(ports);
    std::vector<Receiver> receivers(ports);
    std::unordered_map<uint32_t, Frame> frames;
    std::vector<std::deque<uint32_t>> expected(ports * ports * classes);  // [source][dest][class]
    auto flow = [&](uint32_t source, uint32_t dest, uint32_t cls) -> std::deque<uint32_t>& {
        return expected[(source * ports + dest) * classes + cls];
    };
    auto forget = [&](uint32_t id) {
        if (--frames[id].copies == 0) frames.erase(id);
    };

    top.rst_i = 1;
    top.clk_i = 0;
    top.s_axis_tvalid_i = top.m_axis_tready_i = 0;
    for (int i = 0; i < 3; i++) tick();
    top.rst_i = 0;
    top.eval();

    // After the traffic each source sends one short frame to each destination in each class, so that every loss is seen and counted.
    const uint64_t end = args["cycles"];
    std::vector<uint32_t> flushed(ports);
    auto draw = [&](uint32_t source, bool flush) {
        Frame f{next_id++, between(args["smallest"], args["largest"]), source, static_cast<uint32_t>(rng() % classes), 0, false};
        if (flush) {
            f.dests = 1ull << flushed[source] / classes;
            f.cls = flushed[source]++ % classes;
            f.bytes = std::min<uint32_t>(60, max_frame);
            return f;
        }
        if (args["high"]) f.cls = chance("high") ? 0 : classes - 1;
        f.dests = 1ull << (args["hot"] ? 0 : args["turn"] ? (source + 1) % ports : rng() % ports);
        if (chance("multicast")) f.dests |= rng() & ((1ull << ports) - 1);
        while (args["fan_out"] && std::popcount(f.dests) < static_cast<int>(args["fan_out"])) f.dests |= 1ull << rng() % ports;
        if (chance("oversize")) f.bytes = longest + 1 + rng() % (2 * longest);
        if (chance("refused")) f.dests = 0;
        f.dropped = f.bytes > longest || chance("error");
        return f;
    };

    uint32_t stalled = ports;
    uint64_t quiet = 0;
    while (true) {
        const bool flushing = now >= end;
        // Flush at a gentle pace: one source after the other, so that nothing is lost on the way.
        if (now % 1024 == 0) stalled = args["stalls"] && !flushing ? rng() % (2 * ports) : ports;
        bool idle = true;
        for (uint32_t i = 0; i < ports; i++) {
            Sender& s = senders[i];
            if (!s.frame && !flushing && (!args["senders"] || i < args["senders"])) {
                s.frame = draw(i, false);
            } else if (!s.frame && flushing && flushed[i] < ports * classes && quiet > 200 &&
                       (i == 0 || flushed[i - 1] == ports * classes)) {
                s.frame = draw(i, true);
                quiet = 0;
            }
            if (!s.frame) {
                put_bits(top.s_axis_tvalid_i, i, 1, 0);
                idle = idle && flushed[i] == ports * classes;
                continue;
            }
            idle = false;
            const Frame& f = *s.frame;
            if (!s.offering && (flushing || chance("load"))) {
                s.offering = true;
                const uint32_t some = std::min(width, f.bytes - s.sent);
                for (uint32_t b = 0; b < width; b++) {
                    put_bits(top.s_axis_tdata_i, (i * width + b) * 8, 8, b < some ? byte_of(f.id, s.sent + b) : rng() & 255);
                    put_bits(top.s_axis_tkeep_i, i * width + b, 1, b < some);
                }
                const bool first = s.sent == 0, last = s.sent + some == f.bytes;
                put_bits(top.s_axis_tlast_i, i, 1, last);
                // destination and class count at the first beat only, the error flag at the last
                put_bits(top.s_axis_tdest_i, i * ports, ports, first ? f.dests : rng());
                const bool error = last ? f.dropped && f.bytes <= longest : rng() & 1;
                put_bits(top.s_axis_tuser_i, i * (class_bits + 1), class_bits + 1, (first ? f.cls : rng()) << 1 | error);
            }
            put_bits(top.s_axis_tvalid_i, i, 1, s.offering);
        }
        for (uint32_t j = 0; j < ports; j++) put_bits(top.m_axis_tready_i, j, 1, flushing || (j != stalled && chance("ready")));
        top.eval();

        for (uint32_t i = 0; i < ports; i++) {
            Sender& s = senders[i];
            if (get_bits(top.ev_refused_o, i, 1)) refused++;
            if (!s.offering) continue;
            if (!get_bits(top.s_axis_tready_o, i, 1)) {
                gap_max = std::max(gap_max, ++s.waiting);
                continue;
            }
            s.waiting = 0;
            s.offering = false;
            beats_in++;
            Frame& f = *s.frame;
            if (s.sent == 0) {
                for (uint32_t j = 0; j < ports; j++) {
                    if (!(f.dests >> j & 1)) continue;
                    f.copies++;
                    in++;
                    bad_sent += f.dropped;
                    flow(i, j, f.cls).push_back(f.id);
                }
                refused_sent += f.dests == 0;
                if (f.copies) frames[f.id] = f;
            }
            s.sent += std::min(width, f.bytes - s.sent);
            if (s.sent == f.bytes) {
                if (frames.count(f.id)) frames[f.id].last_in = now;
                s.frame.reset();
                s.sent = 0;
            }
        }

        for (uint32_t j = 0; j < ports; j++) {
            Receiver& r = receivers[j];
            const std::string port = "output " + std::to_string(j);
            lost += get_bits(top.ev_lost_o, j * (number_bits + 1), number_bits + 1);
            no_room += get_bits(top.ev_no_room_o, j, 1);
            bad += get_bits(top.ev_bad_o, j, 1);
            cell_drops += get_bits(top.ev_drop_count_o, j * (port_bits + 1), port_bits + 1);
            std::vector<uint8_t> offer;
            const bool valid = get_bits(top.m_axis_tvalid_o, j, 1), last = get_bits(top.m_axis_tlast_o, j, 1);
            const uint32_t source = get_bits(top.m_axis_tid_o, j * port_bits, port_bits);
            const uint32_t cls = get_bits(top.m_axis_tuser_o, j * class_bits, class_bits);
            if (valid) {
                for (uint32_t b = 0; b < width; b++) {
                    const bool keep = get_bits(top.m_axis_tkeep_o, j * width + b, 1);
                    if (keep && offer.size() < b) fail(port + " has a gap in tkeep");
                    if (keep) offer.push_back(get_bits(top.m_axis_tdata_o, (j * width + b) * 8, 8));
                }
                if (offer.empty() || (!last && offer.size() < width)) fail(port + " sends a beat that is not full");
            }
            std::vector<uint8_t> whole = offer;
            if (valid) whole.insert(whole.end(), {static_cast<uint8_t>(last), static_cast<uint8_t>(source), static_cast<uint8_t>(cls)});
            if (!r.held.empty() && r.held != whole) fail(port + " changes an offer that was not taken");
            const bool taken = valid && get_bits(top.m_axis_tready_i, j, 1);
            r.held = taken ? std::vector<uint8_t>{} : whole;
            if (!taken) continue;
            beats_out++;
            quiet = 0;
            if (r.bytes.empty()) r.first_out = now;
            r.bytes.insert(r.bytes.end(), offer.begin(), offer.end());
            if (!last) continue;
            uint32_t id = 0;
            for (uint32_t b = 0; b < 4 && b < r.bytes.size(); b++) id |= uint32_t{r.bytes[b]} << 8 * b;
            auto found = frames.find(id);
            if (found == frames.end()) fail(port + " sends a frame that was never sent, or a second time");
            const Frame f = found->second;
            if (f.dropped) fail(port + " sends a frame that was to be dropped");
            if (f.source != source || f.cls != cls) fail(port + " tells the wrong source or class");
            if (f.bytes != r.bytes.size())
                fail(port + " sends " + std::to_string(r.bytes.size()) + " of " + std::to_string(f.bytes) + " byte");
            for (uint32_t b = 0; b < f.bytes; b++)
                if (r.bytes[b] != byte_of(id, b)) fail(port + ": byte " + std::to_string(b) + " of a frame is wrong");
            auto& queue = flow(source, j, cls);
            while (!queue.empty() && queue.front() != id) {
                if (back_pressure && !frames[queue.front()].dropped) fail(port + " overtakes or loses a frame");
                forget(queue.front());
                queue.pop_front();
            }
            if (queue.empty()) fail(port + " sends a frame that is not for it, late, or twice");
            queue.pop_front();
            const uint64_t delay = r.first_out - f.last_in;
            if (cls == 0) {
                delay0_max = std::max(delay0_max, delay);
                delay0_sum += delay;
                delay0_count++;
            } else if (cls == classes - 1) {
                delay_low_max = std::max(delay_low_max, delay);
            }
            forget(id);
            out++;
            r.bytes.clear();
        }
        tick();
        now++;
        quiet++;
        if (flushing && idle && quiet > 1000) break;
        if (now > 20 * end + 5'000'000) fail("the switch does not run empty");
    }
    uint64_t left = 0;
    for (auto& queue : expected)
        for (uint32_t id : queue) left += !frames[id].dropped;
    if (left) fail(std::to_string(left) + " frames are missing at the end");
    if (refused != refused_sent) fail("refused " + std::to_string(refused) + " frames of " + std::to_string(refused_sent));
    if (in != out + lost + no_room + bad)
        fail("in " + std::to_string(in) + ", out " + std::to_string(out) + ", lost " + std::to_string(lost) + ", no room " +
             std::to_string(no_room) + ", bad " + std::to_string(bad) + " do not add up");
    if (back_pressure && bad != bad_sent) fail("bad frames: " + std::to_string(bad) + " of " + std::to_string(bad_sent));
    std::printf("frames_in=%" PRIu64 " frames_out=%" PRIu64 " lost=%" PRIu64 " no_room=%" PRIu64 " bad=%" PRIu64 " refused=%" PRIu64
                " cell_drops=%" PRIu64 " cycles=%" PRIu64 " beats_in=%" PRIu64 " beats_out=%" PRIu64 " delay0_max=%" PRIu64
                " delay0_mean=%" PRIu64 " delay_low_max=%" PRIu64 " gap_max=%" PRIu64 "\n",
                in, out, lost, no_room, bad, refused, cell_drops, now, beats_in, beats_out, delay0_max,
                delay0_count ? delay0_sum / delay0_count : 0, delay_low_max, gap_max);
    return 0;
}
