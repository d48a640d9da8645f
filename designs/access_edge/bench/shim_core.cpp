// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// pins_core.h for a verilated pst_access_edge_core. Compiled by Verilator together with the model (class Vpst_device).
#include <new>

#include "Vpst_device.h"
#include "designs/access_edge/bench/pins_core.h"
#include "shim_model.hpp"

struct pst_core : penstock::shim::Clocked<Vpst_device> {};

PST_EXPORT uint32_t pst_core_pins_version() { return PST_CORE_PINS_VERSION; }
PST_EXPORT uint32_t pst_core_pins_bytes() { return sizeof(pst_core_pins); }
PST_EXPORT pst_core* pst_core_create() { return new (std::nothrow) pst_core; }
PST_EXPORT void pst_core_destroy(pst_core* core) { delete core; }
PST_EXPORT const char* pst_core_error(const pst_core* core) { return core->error.c_str(); }

PST_EXPORT int pst_core_step(pst_core* core, pst_core_pins* pins) {
    Vpst_device& top = *core->top;
    pst_core_pins& p = *pins;
    const auto drive = [&] {
        top.rst_i = p.rst_i;
        top.s_enq_valid_i = p.s_enq_valid_i;
        if (p.s_enq_valid_i) {
            top.s_enq_queue_i = p.s_enq_queue_i;
            top.s_enq_desc_i = p.s_enq_desc_i;
            top.s_enq_len_i = p.s_enq_len_i;
            top.s_enq_reason_i = p.s_enq_reason_i;
            top.s_enq_ect_i = p.s_enq_ect_i;
            top.s_enq_hashes_i = p.s_enq_hashes_i;
        }
        top.m_out_ready_i = p.m_out_ready_i;
        top.flow_limit_i = p.flow_limit_i ? p.flow_limit_i : 0xFFFFFFFF;
        top.m_drop_ready_i = p.m_drop_ready_i;
        top.m_drop_head_ready_i = p.m_drop_head_ready_i;
        top.s_cfg_valid_i = p.s_cfg_valid_i;
        top.s_cfg_peek_i = p.s_cfg_peek_i;
        if (p.s_cfg_valid_i || p.s_cfg_peek_i) top.s_cfg_queue_i = p.s_cfg_queue_i;
        if (p.s_cfg_valid_i) {
            top.s_cfg_shaper_i = p.s_cfg_shaper_i;
            top.s_cfg_limit_packets_i = p.s_cfg_limit_packets_i;
            top.s_cfg_limit_bytes_i = p.s_cfg_limit_bytes_i;
            top.s_cfg_aqm_i = p.s_cfg_aqm_i;
            top.s_cfg_quantum_i = p.s_cfg_quantum_i & 0x3FFF;
            top.s_cfg_sides_i = p.s_cfg_quantum_i >> 14;
            top.s_cfg_profile_i = p.s_cfg_profile_i;
            top.s_cfg_fresh_i = p.s_cfg_fresh_i;
        }
        top.s_hierarchy_cfg_valid_i = p.s_hierarchy_cfg_valid_i;
        if (p.s_hierarchy_cfg_valid_i) {
            top.s_hierarchy_cfg_what_i = p.s_hierarchy_cfg_what_i;
            top.s_hierarchy_cfg_id_i = p.s_hierarchy_cfg_id_i;
            top.s_hierarchy_cfg_shaper_i = p.s_hierarchy_cfg_shaper_i;
            top.s_hierarchy_cfg_parent_i = p.s_hierarchy_cfg_parent_i;
            top.s_hierarchy_cfg_class_i = p.s_hierarchy_cfg_class_i;
            top.s_hierarchy_cfg_weight_i = p.s_hierarchy_cfg_weight_i;
            top.s_hierarchy_cfg_guarantee_i = p.s_hierarchy_cfg_guarantee_i;
        }
    };
    const auto sample = [&] {
        p.s_enq_ready_o = top.s_enq_ready_o;
        p.m_out_valid_o = top.m_out_valid_o;
        p.m_out_queue_o = top.m_out_queue_o;
        p.m_out_desc_o = top.m_out_desc_o;
        p.m_out_len_o = top.m_out_len_o;
        p.m_out_mark_o = top.m_out_mark_o;
        p.m_drop_head_valid_o = top.m_drop_head_valid_o;
        p.m_drop_head_desc_o = top.m_drop_head_desc_o;
        p.ev_deq_valid_o = top.ev_deq_valid_o;
        p.ev_deq_reason_o = top.ev_deq_reason_o;
        p.ev_deq_mark_o = top.ev_deq_mark_o;
        p.ev_deq_queue_o = top.ev_deq_queue_o;
        p.ev_deq_len_o = top.ev_deq_len_o;
        p.m_drop_valid_o = top.m_drop_valid_o;
        p.flow_packets_o = top.flow_packets_o;
        p.m_drop_desc_o = top.m_drop_desc_o;
        p.ev_valid_o = top.ev_valid_o;
        p.ev_reason_o = top.ev_reason_o;
        p.ev_queue_o = top.ev_queue_o;
        p.ev_len_o = top.ev_len_o;
        p.s_cfg_ready_o = top.s_cfg_ready_o;
        p.s_cfg_old_o = top.s_cfg_old_o;
        p.s_hierarchy_cfg_ready_o = top.s_hierarchy_cfg_ready_o;
        p.now_o = top.now_o;
        p.init_done_o = top.init_done_o;
    };
    return core->cycle(drive, sample);
}
