// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// pins.h for a verilated wide deadline port: PST_COLUMNS segments a word. Compiled by Verilator together with the model (class
// Vpst_device), with PST_COLUMNS, PST_MEMORIES and PST_ADDR_WIDTH as in the device's configuration. Events are those of DeadlineWideFace.
#include <new>

#include "Vpst_device.h"
#include "penstock/pins.h"
#include "shim_axi.hpp"
#include "shim_model.hpp"
#include "shim_ports.hpp"

static_assert(PST_COLUMNS == 2 || PST_COLUMNS == 4 || PST_COLUMNS == 8);
static_assert(PST_MEMORIES >= PST_COLUMNS);
static_assert(PST_ADDR_WIDTH >= 12 && PST_ADDR_WIDTH <= 64);

using namespace penstock::shim;

namespace {

// Of tuser of a segment: pst_deadline_wide_ports_pkg::segment_t.
constexpr unsigned kUserBits = 28, kUserAt = 2, kClassAt = 18, kFirstAt = 26;
// DeadlineWideFace::Event.
enum Event : unsigned { kRefused, kDropped, kTaken, kPassed, kExpired, kLate, kOverdue, kBegin, kEvents };

}  // namespace

struct pst_device : Clocked<Vpst_device> {
    bool held = false;        // the word at the output has been offered before
    std::uint32_t klass = 0;  // of the frame that leaves
};

PST_EXPORT uint32_t pst_pins_version() { return PST_PINS_VERSION; }
PST_EXPORT void pst_describe(pst_shape* shape) { *shape = {1, 1, kEvents * PST_COLUMNS, PST_MEMORIES, PST_COLUMNS * PST_BEAT_BYTES}; }
PST_EXPORT pst_device* pst_create() { return new (std::nothrow) pst_device; }
PST_EXPORT void pst_destroy(pst_device* device) { delete device; }
PST_EXPORT const char* pst_error(const pst_device* device) { return device->error.c_str(); }

PST_EXPORT int pst_step(pst_device* device, pst_pins* pins) {
    Vpst_device& top = *device->top;
    pst_pins& p = *pins;
    const auto drive = [&] {
        top.rst_i = p.rst_i;
        top.s_axis_tvalid_i = p.in->tvalid_i;
        top.s_axis_tlast_i = 1;
        if (p.in->tvalid_i) {
            for (unsigned s = 0; s < PST_COLUMNS; ++s) {
                const pst_input_pins& in = p.in[s];
                set_word<32>(top.s_axis_tkeep_i, 2 * s, static_cast<std::uint32_t>(in.tkeep_i));
                set_word<32>(top.s_axis_tkeep_i, 2 * s + 1, static_cast<std::uint32_t>(in.tkeep_i >> 32));
                if (in.tkeep_i == 0) continue;
                write_beat(top.s_axis_tdata_i, s, in.tdata_i);
                set_word<kUserBits>(top.s_axis_tuser_i, s, in.tuser_i);
            }
        }
        top.m_axis_tready_i = p.out->tready_i;
        drive_registers(top, p);
        for (unsigned m = 0; m < PST_MEMORIES; ++m) drive_memory(top, m, p.axi[m]);
    };
    const auto sample = [&] {
        p.in->tready_o = top.s_axis_tready_o;
        p.out->tvalid_o = top.m_axis_tvalid_o;
        const auto name = [](std::uint32_t klass, std::uint32_t user) { return user << 8 | klass; };
        const bool fresh = p.out->tvalid_o && !device->held;
        std::uint32_t klass = device->klass;
        for (unsigned s = 0; s < PST_COLUMNS; ++s) {
            pst_event_pins& begin = p.ev[kBegin * PST_COLUMNS + s];
            begin = {};
            if (!p.out->tvalid_o) continue;
            pst_output_pins& out = p.out[s];
            out.tkeep_o = element<64>(top.m_axis_tkeep_o, s);
            if (out.tkeep_o == 0) continue;
            read_beat(top.m_axis_tdata_o, s, out.tdata_o);
            out.tuser_o = static_cast<std::uint32_t>(element<kUserBits>(top.m_axis_tuser_o, s));
            out.tlast_o = out.tuser_o & 1;
            const bool first = out.tuser_o >> kFirstAt & 1;
            if (first) klass = out.tuser_o >> kClassAt & 0xFF;
            out.tid_o = klass;
            if (first && fresh) begin = {name(klass, out.tuser_o >> kUserAt & 0xFFFF), 0, 1, 0, 0, 0};
        }
        if (p.out->tvalid_o && p.out->tready_i) device->klass = klass;
        device->held = p.out->tvalid_o && !p.out->tready_i && !p.rst_i;

        const auto at = [&](Event event, unsigned s) -> pst_event_pins& { return p.ev[event * PST_COLUMNS + s]; };
        for (unsigned s = 0; s < PST_COLUMNS; ++s) {
            // A frame by the class and the user bits that name it.
#define PST_NAMED(port) name(element<8>(top.port##_class_o, s), element<16>(top.port##_user_o, s))
#define PST_GONE(port)                                             \
    {PST_NAMED(port),                                              \
     static_cast<std::uint32_t>(element<16>(top.port##_len_o, s)), \
     static_cast<std::uint8_t>(element<1>(top.port##_valid_o, s)), \
     0,                                                            \
     0,                                                            \
     0}
            at(kRefused, s) = PST_GONE(ev_in);
            at(kRefused, s).reason_o = static_cast<std::uint8_t>(element<4>(top.ev_in_reason_o, s));
            at(kDropped, s) = PST_GONE(ev_dropped);
            at(kTaken, s) = PST_GONE(ev_taken);
            at(kTaken, s).page_o = static_cast<std::uint32_t>(element<32>(top.ev_taken_deadline_o, s)) - top.now_o;  // from now on
            at(kExpired, s) = PST_GONE(ev_expired);
            at(kLate, s) = PST_GONE(ev_late);
            at(kOverdue, s) = PST_GONE(ev_overdue);
#undef PST_GONE
#undef PST_NAMED
            const std::uint64_t bytes = element<40>(top.ev_passed_bytes_o, s);
            at(kPassed, s) = {static_cast<std::uint32_t>(element<32>(top.ev_passed_frames_o, s)),
                              static_cast<std::uint32_t>(bytes),
                              static_cast<std::uint8_t>(element<1>(top.ev_passed_valid_o, s)),
                              static_cast<std::uint8_t>(element<1>(top.ev_passed_lost_o, s)),
                              static_cast<std::uint8_t>(element<8>(top.ev_passed_class_o, s)),
                              static_cast<std::uint32_t>(bytes >> 32)};
        }
        sample_registers(top, p);
        for (unsigned m = 0; m < PST_MEMORIES; ++m) sample_memory<PST_ADDR_WIDTH>(top, m, p.axi[m]);
        p.now_o = top.now_o;
        p.init_done_o = top.init_done_o;
    };
    return device->cycle(drive, sample);
}
