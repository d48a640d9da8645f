/* SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
 *
 * C ABI of one device: all pins of the wrapper pst_access_edge_<name> in a plain struct, and one function that
 * advances one clock cycle. A shared library exports it: a verilated device through shim.cpp, or any other program
 * that behaves like one at its pins (engine/test has such a stand-in).
 *
 * One call of pst_step is one clock cycle: the inputs (_i) are applied while the clock is low, the outputs (_o) are
 * sampled when everything combinational has settled, then comes the rising edge. So a handshake of this cycle is
 * `valid && ready` after the call, whoever drives which side. Payload outputs mean something only with their valid,
 * and are copied only then; payload inputs are read only with their valid.
 */
#ifndef PENSTOCK_PINS_H
#define PENSTOCK_PINS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PST_PINS_VERSION 2u
#define PST_MAX_MEMORIES 4
#define PST_BEAT_BYTES 64

/* One 512-bit AXI4 port of the device, for one memory. The device is the master. */
struct pst_axi_pins {
    uint64_t awaddr_o, araddr_o; /* byte address in this memory */
    uint64_t wstrb_o;
    uint32_t wdata_o[16], rdata_i[16];
    uint8_t awvalid_o, awready_i, awlen_o, awid_o, awsize_o, awburst_o;
    uint8_t wvalid_o, wready_i, wlast_o;
    uint8_t bvalid_i, bready_o, bresp_i, bid_i;
    uint8_t arvalid_o, arready_i, arlen_o, arid_o, arsize_o, arburst_o;
    uint8_t rvalid_i, rready_o, rresp_i, rlast_i, rid_i;
};

/* One pulse that tells the fate of one frame. */
struct pst_event_pins {
    uint32_t queue_o;
    uint16_t len_o;
    uint8_t valid_o, reason_o;
};

struct pst_pins {
    /* frames in: AXI4-Stream, byte 0 is the lowest byte of word 0 */
    uint32_t s_axis_tdata_i[16];
    uint64_t s_axis_tkeep_i;
    uint8_t s_axis_tvalid_i, s_axis_tlast_i, s_axis_tuser_i, s_axis_tready_o;
    /* frames out */
    uint8_t m_axis_tvalid_o, m_axis_tlast_o, m_axis_tuser_o, m_axis_tready_i;
    uint8_t rst_i, init_done_o;
    uint32_t m_axis_tid_o;
    uint32_t now_o;
    uint32_t m_axis_tdata_o[16];
    uint64_t m_axis_tkeep_o;
    /* fates */
    struct pst_event_pins ev_classify, ev_enqueue;
    /* with an AQM: every frame that was taken from its queue is sent (marked or not), or dropped */
    struct pst_event_pins ev_dequeue;
    uint8_t ev_dequeue_mark_o;
    /* registers: AXI4-Lite, 32-bit data, 12-bit byte address */
    uint32_t s_axil_awaddr_i, s_axil_wdata_i, s_axil_araddr_i, s_axil_rdata_o;
    uint8_t s_axil_awvalid_i, s_axil_awready_o, s_axil_wvalid_i, s_axil_wready_o, s_axil_wstrb_i;
    uint8_t s_axil_bvalid_o, s_axil_bready_i, s_axil_bresp_o;
    uint8_t s_axil_arvalid_i, s_axil_arready_o, s_axil_rvalid_o, s_axil_rready_i, s_axil_rresp_o;
    /* memories; those that the device does not have stay zero */
    struct pst_axi_pins axi[PST_MAX_MEMORIES];
};

struct pst_device; /* opaque */

/* PST_PINS_VERSION of the library. */
uint32_t pst_pins_version(void);
/* Number of memories, 1..PST_MAX_MEMORIES. */
uint32_t pst_memories(void);
/* A device before reset, or null when there is no memory for it. Several may live side by side. */
struct pst_device* pst_create(void);
void pst_destroy(struct pst_device* device);
/* One clock cycle. 0, or not 0 when an assertion of the device failed: pst_error has the words, the device is dead. */
int pst_step(struct pst_device* device, struct pst_pins* pins);
const char* pst_error(const struct pst_device* device);

#ifdef __cplusplus
}
#endif
#endif
