// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// pins.h for a verilated device. Compiled by Verilator together with the model (class Vpst_device), with
// PST_MEMORIES and PST_ADDR_WIDTH as in the device's configuration; PST_TDEST says that its streams have tdest.
#include <new>

#include "Vpst_device.h"
#include "penstock/pins.h"
#include "shim_model.hpp"
#include "shim_ports.hpp"

static_assert(PST_MEMORIES >= 1);
static_assert(PST_ADDR_WIDTH >= 12 && PST_ADDR_WIDTH <= 64);

using namespace penstock::shim;

struct pst_device : Clocked<Vpst_device> {};

namespace {

void drive_memory(Vpst_device& top, unsigned m, const pst_axi_pins& p) {
    set_element<1>(top.m_axi_awready_i, m, p.awready_i);
    set_element<1>(top.m_axi_wready_i, m, p.wready_i);
    set_element<1>(top.m_axi_arready_i, m, p.arready_i);
    set_element<1>(top.m_axi_bvalid_i, m, p.bvalid_i);
    if (p.bvalid_i) {
        set_element<2>(top.m_axi_bresp_i, m, p.bresp_i);
        set_element<1>(top.m_axi_bid_i, m, p.bid_i);
    }
    set_element<1>(top.m_axi_rvalid_i, m, p.rvalid_i);
    if (p.rvalid_i) {
        write_beat(top.m_axi_rdata_i, m, p.rdata_i);
        set_element<2>(top.m_axi_rresp_i, m, p.rresp_i);
        set_element<1>(top.m_axi_rlast_i, m, p.rlast_i);
        set_element<1>(top.m_axi_rid_i, m, p.rid_i);
    }
}

void sample_memory(const Vpst_device& top, unsigned m, pst_axi_pins& p) {
    p.awvalid_o = element<1>(top.m_axi_awvalid_o, m);
    if (p.awvalid_o) {
        p.awaddr_o = element<PST_ADDR_WIDTH>(top.m_axi_awaddr_o, m);
        p.awlen_o = element<8>(top.m_axi_awlen_o, m);
        p.awid_o = element<1>(top.m_axi_awid_o, m);
        p.awsize_o = element<3>(top.m_axi_awsize_o, m);
        p.awburst_o = element<2>(top.m_axi_awburst_o, m);
    }
    p.wvalid_o = element<1>(top.m_axi_wvalid_o, m);
    if (p.wvalid_o) {
        read_beat(top.m_axi_wdata_o, m, p.wdata_o);
        p.wstrb_o = element<64>(top.m_axi_wstrb_o, m);
        p.wlast_o = element<1>(top.m_axi_wlast_o, m);
    }
    p.bready_o = element<1>(top.m_axi_bready_o, m);
    p.arvalid_o = element<1>(top.m_axi_arvalid_o, m);
    if (p.arvalid_o) {
        p.araddr_o = element<PST_ADDR_WIDTH>(top.m_axi_araddr_o, m);
        p.arlen_o = element<8>(top.m_axi_arlen_o, m);
        p.arid_o = element<1>(top.m_axi_arid_o, m);
        p.arsize_o = element<3>(top.m_axi_arsize_o, m);
        p.arburst_o = element<2>(top.m_axi_arburst_o, m);
    }
    p.rready_o = element<1>(top.m_axi_rready_o, m);
}

void drive_registers(Vpst_device& top, const pst_pins& p) {
    top.s_axil_awvalid_i = p.s_axil_awvalid_i;
    top.s_axil_awaddr_i = p.s_axil_awaddr_i;
    top.s_axil_wvalid_i = p.s_axil_wvalid_i;
    top.s_axil_wdata_i = p.s_axil_wdata_i;
    top.s_axil_wstrb_i = p.s_axil_wstrb_i;
    top.s_axil_bready_i = p.s_axil_bready_i;
    top.s_axil_arvalid_i = p.s_axil_arvalid_i;
    top.s_axil_araddr_i = p.s_axil_araddr_i;
    top.s_axil_rready_i = p.s_axil_rready_i;
}

void sample_registers(const Vpst_device& top, pst_pins& p) {
    p.s_axil_awready_o = top.s_axil_awready_o;
    p.s_axil_wready_o = top.s_axil_wready_o;
    p.s_axil_bvalid_o = top.s_axil_bvalid_o;
    p.s_axil_bresp_o = top.s_axil_bresp_o;
    p.s_axil_arready_o = top.s_axil_arready_o;
    p.s_axil_rvalid_o = top.s_axil_rvalid_o;
    p.s_axil_rdata_o = top.s_axil_rdata_o;
    p.s_axil_rresp_o = top.s_axil_rresp_o;
}

}  // namespace

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
        p.ev[0] = {top.ev_classify_queue_o, top.ev_classify_len_o, top.ev_classify_valid_o, top.ev_classify_reason_o, 0};
        p.ev[1] = {top.ev_enqueue_queue_o, top.ev_enqueue_len_o, top.ev_enqueue_valid_o, top.ev_enqueue_reason_o, 0};
        p.ev[2] = {top.ev_dequeue_queue_o, top.ev_dequeue_len_o, top.ev_dequeue_valid_o, top.ev_dequeue_reason_o, top.ev_dequeue_mark_o};
        p.ev[3] = {top.ev_output_queue_o, top.ev_output_len_o, top.ev_output_valid_o, top.ev_output_reason_o, 0};
        sample_registers(top, p);
        for (unsigned m = 0; m < PST_MEMORIES; ++m) sample_memory(top, m, p.axi[m]);
        p.now_o = top.now_o;
        p.init_done_o = top.init_done_o;
    };
    return device->cycle(drive, sample);
}
