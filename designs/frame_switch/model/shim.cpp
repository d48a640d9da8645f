// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// pins.h for a verilated pst_frame_switch. Compiled by Verilator together with the model (class Vpst_device), with PST_PORTS,
// PST_DATA_BYTES and PST_CLASSES as in the device's configuration. Events, PST_PORTS of each: refused by source; lost, no room, bad by
// destination; len_o says how many frames.
#include <bit>
#include <new>

#include "Vpst_device.h"
#include "blocks/fabric/model/wide_pins.hpp"
#include "penstock/pins.h"
#include "shim_model.hpp"
#include "shim_ports.hpp"

static_assert(PST_PORTS >= 2 && PST_PORTS <= 32);
static_assert(PST_DATA_BYTES % 4 == 0 && PST_DATA_BYTES >= 4 && PST_DATA_BYTES <= PST_BEAT_BYTES);

using namespace penstock;
using namespace penstock::shim;

struct pst_device : Clocked<Vpst_device> {};

namespace {

constexpr unsigned kPorts = PST_PORTS, kBytes = PST_DATA_BYTES, kWords = kBytes / 4;
constexpr unsigned kPortWidth = std::bit_width(kPorts - 1), kClassWidth = PST_CLASSES > 1 ? std::bit_width(unsigned{PST_CLASSES} - 1) : 1;
constexpr unsigned kLostWidth = PST_NUMBER_WIDTH + 1;

template <typename Port>
void put_words(Port& port, unsigned i, const std::uint32_t* from) {
    for (unsigned w = 0; w < kWords; ++w) put_bits(port, (i * kWords + w) * 32, 32, from[w]);
}
template <typename Port>
void get_words(const Port& port, unsigned i, std::uint32_t* to) {
    for (unsigned w = 0; w < kWords; ++w) to[w] = get_bits(port, (i * kWords + w) * 32, 32);
}
template <typename Port>
void put_keep(Port& port, unsigned i, std::uint64_t keep) {
    for (unsigned at = 0; at < kBytes; at += 32) {
        const unsigned width = kBytes - at < 32 ? kBytes - at : 32;
        put_bits(port, i * kBytes + at, width, keep >> at);
    }
}

}  // namespace

PST_EXPORT uint32_t pst_pins_version() { return PST_PINS_VERSION; }
PST_EXPORT void pst_describe(pst_shape* shape) { *shape = {kPorts, kPorts, 4 * kPorts, 0, kBytes}; }
PST_EXPORT pst_device* pst_create() { return new (std::nothrow) pst_device; }
PST_EXPORT void pst_destroy(pst_device* device) { delete device; }
PST_EXPORT const char* pst_error(const pst_device* device) { return device->error.c_str(); }

PST_EXPORT int pst_step(pst_device* device, pst_pins* pins) {
    Vpst_device& top = *device->top;
    pst_pins& p = *pins;
    const auto drive = [&] {
        top.rst_i = p.rst_i;
        for (unsigned i = 0; i < kPorts; ++i) {
            const pst_input_pins& in = p.in[i];
            put_bits(top.s_axis_tvalid_i, i, 1, in.tvalid_i);
            put_bits(top.m_axis_tready_i, i, 1, p.out[i].tready_i);
            if (!in.tvalid_i) continue;
            put_words(top.s_axis_tdata_i, i, in.tdata_i);
            put_keep(top.s_axis_tkeep_i, i, in.tkeep_i);
            put_bits(top.s_axis_tlast_i, i, 1, in.tlast_i);
            put_bits(top.s_axis_tdest_i, i * kPorts, kPorts, in.tdest_i);
            put_bits(top.s_axis_tuser_i, i * (kClassWidth + 1), kClassWidth + 1, in.tuser_i);
        }
    };
    const auto sample = [&] {
        const auto event = [&](unsigned kind, unsigned i, std::uint32_t count) {
            p.ev[kind * kPorts + i] = {i, static_cast<std::uint16_t>(count), count != 0, 0, 0};
        };
        for (unsigned i = 0; i < kPorts; ++i) {
            pst_output_pins& out = p.out[i];
            p.in[i].tready_o = get_bits(top.s_axis_tready_o, i, 1);
            out.tvalid_o = get_bits(top.m_axis_tvalid_o, i, 1);
            if (out.tvalid_o) {
                get_words(top.m_axis_tdata_o, i, out.tdata_o);
                out.tkeep_o = element<kBytes>(top.m_axis_tkeep_o, i);
                out.tlast_o = get_bits(top.m_axis_tlast_o, i, 1);
                out.tid_o = get_bits(top.m_axis_tid_o, i * kPortWidth, kPortWidth);
                out.tuser_o = get_bits(top.m_axis_tuser_o, i * kClassWidth, kClassWidth);
            }
            event(0, i, get_bits(top.ev_refused_o, i, 1));
            event(1, i, get_bits(top.ev_lost_o, i * kLostWidth, kLostWidth));
            event(2, i, get_bits(top.ev_no_room_o, i, 1));
            event(3, i, get_bits(top.ev_bad_o, i, 1));
        }
        p.init_done_o = 1;
    };
    return device->cycle(drive, sample);
}
