// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// pins.h for a verilated device. Compiled by Verilator together with the model (class Vpst_device), with
// PST_MEMORIES and PST_ADDR_WIDTH as in the device's configuration; PST_TDEST says that its streams have tdest.
#include <new>

#include "Vpst_device.h"
#include "penstock/pins.h"
#include "shim_axi.hpp"
#include "shim_model.hpp"
#include "shim_ports.hpp"

static_assert(PST_MEMORIES >= 1);
static_assert(PST_ADDR_WIDTH >= 12 && PST_ADDR_WIDTH <= 64);

using namespace penstock::shim;

struct pst_device : Clocked<Vpst_device> {};

PST_EXPORT uint32_t pst_pins_version() { return PST_PINS_VERSION; }
PST_EXPORT void pst_describe(pst_shape* shape) { *shape = {1, 1, 4, PST_MEMORIES, PST_BEAT_BYTES}; }
PST_EXPORT pst_device* pst_create() { return new (std::nothrow) pst_device; }
PST_EXPORT void pst_destroy(pst_device* device) { delete device; }
PST_EXPORT const char* pst_error(const pst_device* device) { return device->error.c_str(); }

PST_EXPORT int pst_step(pst_device* device, pst_pins* pins) {
    Vpst_device& top = *device->top;
    pst_pins& p = *pins;
    const auto drive = [&] {
        const pst_input_pins& in = *p.in;
        top.rst_i = p.rst_i;
        top.s_axis_tvalid_i = in.tvalid_i;
        if (in.tvalid_i) {
            write_beat(top.s_axis_tdata_i, 0, in.tdata_i);
            top.s_axis_tkeep_i = in.tkeep_i;
            top.s_axis_tlast_i = in.tlast_i;
            top.s_axis_tuser_i = in.tuser_i;
#if PST_TDEST
            top.s_axis_tdest_i = in.tdest_i;
#endif
        }
        top.m_axis_tready_i = p.out->tready_i;
        drive_registers(top, p);
        for (unsigned m = 0; m < PST_MEMORIES; ++m) drive_memory(top, m, p.axi[m]);
    };
    const auto sample = [&] {
        pst_output_pins& out = *p.out;
        p.in->tready_o = top.s_axis_tready_o;
        out.tvalid_o = top.m_axis_tvalid_o;
        if (out.tvalid_o) {
            read_beat(top.m_axis_tdata_o, 0, out.tdata_o);
            out.tkeep_o = top.m_axis_tkeep_o;
            out.tlast_o = top.m_axis_tlast_o;
            out.tuser_o = top.m_axis_tuser_o;
#if PST_TDEST
            out.tid_o = top.m_axis_tdest_o;  // as it is at tid, which is the one without PST_TDEST
#else
            out.tid_o = top.m_axis_tid_o;
#endif
        }
        // Classify, enqueue, dequeue, output: PinEvent of pin_face.hpp.
        p.ev[0] = {top.ev_classify_queue_o, top.ev_classify_len_o, top.ev_classify_valid_o, top.ev_classify_reason_o, 0, 0};
        p.ev[1] = {top.ev_enqueue_queue_o, top.ev_enqueue_len_o, top.ev_enqueue_valid_o, top.ev_enqueue_reason_o, 0, top.ev_enqueue_page_o};
        p.ev[2] = {top.ev_dequeue_queue_o,  top.ev_dequeue_len_o,  top.ev_dequeue_valid_o,
                   top.ev_dequeue_reason_o, top.ev_dequeue_mark_o, top.ev_dequeue_page_o};
        p.ev[3] = {top.ev_output_queue_o, top.ev_output_len_o, top.ev_output_valid_o, top.ev_output_reason_o, 0, 0};
        sample_registers(top, p);
        for (unsigned m = 0; m < PST_MEMORIES; ++m) sample_memory<PST_ADDR_WIDTH>(top, m, p.axi[m]);
        p.now_o = top.now_o;
        p.init_done_o = top.init_done_o;
    };
    return device->cycle(drive, sample);
}
