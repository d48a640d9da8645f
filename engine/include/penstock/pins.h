/* SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
 *
 * C ABI of one device: all its pins in plain structs, and one function that advances one clock cycle. A shared library exports it: a
 * verilated device through the shim of its design, or any other program that behaves like one at its pins (engine/test has such a
 * stand-in). How many ports, events and memories there are is said by pst_describe; what a design's fields mean is in its README.
 *
 * One call of pst_step is one clock cycle: the inputs (_i) are applied while the clock is low, the outputs (_o) are
 * sampled when everything combinational has settled, then comes the rising edge. So a handshake of this cycle is
 * `valid && ready` after the call, whichever side drives which. Payload outputs mean something only with their valid,
 * and are copied only then; payload inputs are read only with their valid.
 */
#ifndef PENSTOCK_PINS_H
#define PENSTOCK_PINS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PST_PINS_VERSION 5u
#define PST_BEAT_BYTES 64 /* of a segment; a stream of one segment that is narrower uses the first bytes */

/* One segment of an AXI4-Stream input and output; byte 0 is the lowest byte of word 0. A stream of beats up to PST_BEAT_BYTES has one. One
 * of several times as many bytes is segmented: frames may begin and end in any segment of a word, several in one. Its segments are elements
 * of the arrays one after the other; valid and ready are those of the first one and count for the word, and a segment with a byte in tkeep
 * is used. The used segments of a frame follow each other in order, from word to word. A frame ends in a segment with tlast, and all its
 * others are full. */
struct pst_input_pins {
    uint32_t tdata_i[16];
    uint64_t tkeep_i;
    uint32_t tdest_i, tuser_i;
    uint8_t tvalid_i, tlast_i, tready_o;
};
struct pst_output_pins {
    uint32_t tdata_o[16];
    uint64_t tkeep_o;
    uint32_t tid_o, tuser_o;
    uint8_t tvalid_o, tlast_o, tready_i;
};

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

/* One event port: a pulse that tells the fate of one frame, or of as many as `len_o` says; the design says which. */
struct pst_event_pins {
    uint32_t queue_o;
    uint32_t len_o;
    uint8_t valid_o, reason_o, mark_o;
    uint32_t page_o; /* where it is stored, of a device that says so */
};

/* How many of each a device has, and how wide its streams are. */
struct pst_shape {
    uint32_t inputs, outputs, events, memories; /* inputs and outputs at least 1 */
    uint32_t beat_bytes;                        /* 1..PST_BEAT_BYTES, or of a segmented stream 2 or more times as many */
};

/* The arrays have as many elements as the shape says, in and out one for each segment; they belong to the caller of pst_step. */
struct pst_pins {
    struct pst_input_pins* in;
    struct pst_output_pins* out;
    struct pst_event_pins* ev;
    struct pst_axi_pins* axi;
    uint8_t rst_i, init_done_o;
    uint32_t now_o;
    /* registers: AXI4-Lite, 32-bit data, 12-bit byte address; a device without any leaves them alone */
    uint32_t s_axil_awaddr_i, s_axil_wdata_i, s_axil_araddr_i, s_axil_rdata_o;
    uint8_t s_axil_awvalid_i, s_axil_awready_o, s_axil_wvalid_i, s_axil_wready_o, s_axil_wstrb_i;
    uint8_t s_axil_bvalid_o, s_axil_bready_i, s_axil_bresp_o;
    uint8_t s_axil_arvalid_i, s_axil_arready_o, s_axil_rvalid_o, s_axil_rready_i, s_axil_rresp_o;
};

struct pst_device; /* opaque */

/* PST_PINS_VERSION of the library. */
uint32_t pst_pins_version(void);
void pst_describe(struct pst_shape* shape);
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
