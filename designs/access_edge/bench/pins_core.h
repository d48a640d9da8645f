/* SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
 *
 * C ABI of pst_access_edge_core (queue manager, scheduler, output FIFO), for soak tests and benches in C++ that need
 * no frames. One call of pst_core_step is one clock cycle, with the same rules as in pins.h.
 */
#ifndef PENSTOCK_PINS_CORE_H
#define PENSTOCK_PINS_CORE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PST_CORE_PINS_VERSION 8u

struct pst_core_pins {
    /* stored frames in: reason 0, or why the frame was lost upstream (pst_pkg::drop_e) */
    uint32_t s_enq_queue_i, s_enq_desc_i;
    uint16_t s_enq_len_i;
    uint8_t s_enq_reason_i, s_enq_valid_i, s_enq_ready_o;
    /* frames to send */
    uint8_t m_out_valid_o, m_out_ready_i;
    uint16_t m_out_len_o;
    uint32_t m_out_queue_o, m_out_desc_o;
    /* pages of frames dropped at the tail */
    uint8_t m_drop_valid_o, m_drop_ready_i;
    /* one pulse per enqueue decision */
    uint8_t ev_valid_o, ev_reason_o;
    uint16_t ev_len_o;
    uint32_t ev_queue_o;
    uint32_t m_drop_desc_o;
    /* all settings of one queue at once; shaper is burst << 22 | exponent << 16 | mantissa */
    uint64_t s_cfg_shaper_i;
    uint32_t s_cfg_queue_i, s_cfg_limit_bytes_i;
    uint16_t s_cfg_limit_packets_i;
    uint8_t s_cfg_valid_i, s_cfg_ready_o;
    uint8_t rst_i, init_done_o;
    uint32_t now_o;
    /* AQM: setting is enable << 37 | ecn << 36 | target << 18 | interval, times in ticks */
    uint64_t s_cfg_aqm_i;
    uint8_t s_enq_ect_i;  /* the frame may be marked */
    uint8_t m_out_mark_o; /* the frame is to be marked */
    /* pages of frames dropped at the head */
    uint8_t m_drop_head_valid_o, m_drop_head_ready_i;
    uint32_t m_drop_head_desc_o;
    /* one pulse per frame that was taken from its queue: sent, marked or not, or dropped */
    uint32_t ev_deq_queue_o;
    uint16_t ev_deq_len_o;
    uint8_t ev_deq_valid_o, ev_deq_reason_o, ev_deq_mark_o;
    /* setting of the hierarchy: what is 0 queue (class, weight less one, guarantee), 1 subscriber (shaper, node, weight less one,
       guarantee), 2 node (shaper, port), 3 port (shaper); guarantee is exponent << 16 | mantissa */
    uint64_t s_hierarchy_cfg_shaper_i;
    uint32_t s_hierarchy_cfg_id_i, s_hierarchy_cfg_parent_i, s_hierarchy_cfg_guarantee_i;
    uint8_t s_hierarchy_cfg_what_i, s_hierarchy_cfg_class_i, s_hierarchy_cfg_weight_i, s_hierarchy_cfg_valid_i, s_hierarchy_cfg_ready_o;
    uint32_t s_enq_hashes_i;  /* with flow queues: the hash of its flow, its source's << 10, its destination's << 20 */
    uint16_t s_cfg_quantum_i; /* with flow queues: bytes of a flow's turn, 0: the largest packet; sides whose hosts count << 14 */
    uint32_t flow_limit_i;    /* with flow queues: most packets in all of them; 0: no limit */
    uint32_t flow_packets_o;
    /* with profiles of settings: which one has these, and whether they are new in it; in other cycles, peek: which one the queue has is
       asked for, and is there a cycle later */
    uint16_t s_cfg_profile_i, s_cfg_old_o;
    uint8_t s_cfg_fresh_i, s_cfg_peek_i;
};

struct pst_core; /* opaque */

uint32_t pst_core_pins_version(void);
/* sizeof(pst_core_pins), for those who write the struct down in another language */
uint32_t pst_core_pins_bytes(void);
struct pst_core* pst_core_create(void);
void pst_core_destroy(struct pst_core* core);
/* One clock cycle. 0, or not 0 when an assertion failed: pst_core_error has the words, the core is dead. */
int pst_core_step(struct pst_core* core, struct pst_core_pins* pins);
const char* pst_core_error(const struct pst_core* core);

#ifdef __cplusplus
}
#endif
#endif
