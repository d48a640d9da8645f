// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The model of pst_access_edge_core behind the pins of the RTL, so that a bench does not know which of the two it drives.
#pragma once

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "blocks/common/model/settings.hpp"
#include "designs/access_edge/bench/core_library.hpp"
#include "designs/access_edge/model/core_model.hpp"
#include "designs/access_edge/model/device/aqm_choice.hpp"

namespace penstock {

template <typename Model>
class ModelCore final : public Core {
  public:
    ModelCore(std::uint32_t queues, std::uint32_t descriptors, const CoreAqm& aqm = {}, const HierarchySizes& hierarchy = {},
              const OwnScheduler& own = {}, const FlowSizes& flows = {})
        : model_(queues, descriptors, aqm, hierarchy, own, schedule_timing::kTolerance, kLeastTimeWidth, flows),
          init_(Model::init_cycles(queues, flows)) {}

    void step() override {
        pst_core_pins& p = pins;
        p.s_enq_ready_o = p.m_out_valid_o = p.m_drop_valid_o = p.ev_valid_o = p.s_cfg_ready_o = p.s_hierarchy_cfg_ready_o = p.init_done_o =
            0;
        p.m_drop_head_valid_o = p.ev_deq_valid_o = 0;
        if (p.rst_i) {
            now_ = 0;
            return;
        }
        p.now_o = static_cast<std::uint32_t>(now_);
        if (now_ == init_) model_.start(due_ = now_);
        if (now_ >= init_) run();
        ++now_;
    }

  private:
    void run() {
        pst_core_pins& p = pins;
        p.init_done_o = 1;
        p.s_cfg_ready_o = model_.setting_ready();
        const bool setting = p.s_cfg_valid_i && p.s_cfg_ready_o;
        p.s_enq_ready_o = model_.enqueue_ready(setting);
        if ((p.m_out_valid_o = model_.out_valid(now_))) {
            p.m_out_queue_o = model_.out().queue;
            p.m_out_desc_o = model_.out().descriptor;
            p.m_out_len_o = model_.out().length;
            p.m_out_mark_o = model_.out().mark;
        }
        if constexpr (Model::kJudges) {
            if ((p.m_drop_head_valid_o = model_.drop_head_valid(now_))) p.m_drop_head_desc_o = model_.drop_head();
            const auto* judged = model_.judged(now_);
            if ((p.ev_deq_valid_o = judged != nullptr)) {
                p.ev_deq_queue_o = judged->queue;
                p.ev_deq_len_o = judged->length;
                p.ev_deq_mark_o = judged->verdict == AqmVerdict::Mark;
                p.ev_deq_reason_o = judged->verdict == AqmVerdict::Drop ? 8 : 0;
            }
        }
        if ((p.m_drop_valid_o = model_.drop_valid())) p.m_drop_desc_o = model_.drop();
        if ((p.ev_valid_o = model_.event_valid())) {
            p.ev_queue_o = model_.event().queue;
            p.ev_reason_o = model_.event().reason;
            p.ev_len_o = model_.event().length;
        }
        p.s_hierarchy_cfg_ready_o = model_.hierarchy_setting_ready();
        const bool hierarchy_setting = Model::kHierarchy && p.s_hierarchy_cfg_valid_i && p.s_hierarchy_cfg_ready_o;
        const bool enqueue = p.s_enq_valid_i && p.s_enq_ready_o, out = p.m_out_valid_o && p.m_out_ready_i;
        const bool drop = p.m_drop_valid_o && p.m_drop_ready_i;
        const bool head = p.m_drop_head_valid_o && p.m_drop_head_ready_i;
        if (!enqueue && !out && !drop && !head && !setting && !hierarchy_setting && now_ < due_) return;
        const typename Model::Packet packet{p.s_enq_desc_i, p.s_enq_queue_i, p.s_enq_len_i, p.s_enq_reason_i, 0, p.s_enq_hashes_i};
        const CoreSetting written{p.s_cfg_queue_i,
                                  static_cast<std::uint32_t>(p.s_cfg_shaper_i >> settings::kBurstAt),
                                  p.s_cfg_limit_bytes_i,
                                  static_cast<std::uint16_t>(p.s_cfg_shaper_i),
                                  p.s_cfg_limit_packets_i,
                                  static_cast<std::uint8_t>(p.s_cfg_shaper_i >> settings::kExponentAt & settings::kMostExponent),
                                  AqmSetting::of(p.s_cfg_aqm_i),
                                  0,
                                  p.s_cfg_quantum_i};
        model_.set_flow_limit(p.flow_limit_i ? p.flow_limit_i : UINT32_MAX);
        const HierarchySetting hierarchy{
            static_cast<HierarchySetting::What>(p.s_hierarchy_cfg_what_i),
            p.s_hierarchy_cfg_id_i,
            {static_cast<std::uint16_t>(p.s_hierarchy_cfg_shaper_i),
             static_cast<std::uint32_t>(p.s_hierarchy_cfg_shaper_i >> settings::kExponentAt & settings::kMostExponent),
             static_cast<std::uint32_t>(p.s_hierarchy_cfg_shaper_i >> settings::kBurstAt)},
            p.s_hierarchy_cfg_parent_i,
            p.s_hierarchy_cfg_class_i,
            static_cast<std::uint8_t>(p.s_hierarchy_cfg_weight_i + 1),
            decode_guarantee(p.s_hierarchy_cfg_guarantee_i)};
        model_.step(now_, enqueue ? &packet : nullptr, out, drop, setting ? &written : nullptr, p.s_enq_ect_i, head,
                    hierarchy_setting ? &hierarchy : nullptr);
        due_ = model_.next_event(now_);
    }

    Model model_;
    std::int64_t init_, now_ = 0, due_ = 0;
};

template <typename Judge>
std::unique_ptr<Core> make_judged(std::uint32_t queues, std::uint32_t descriptors, const CoreAqm& aqm,
                                  const std::optional<HierarchySizes>& hierarchy, const FlowSizes& flows) {
    if constexpr (!Judge::kArrivals) {
        if (flows.flows && hierarchy)
            return std::make_unique<ModelCore<FlowHierarchyCoreFor<Judge>>>(queues, descriptors, aqm, *hierarchy, OwnScheduler{}, flows);
        if (flows.flows)
            return std::make_unique<ModelCore<FlowCoreFor<Judge>>>(queues, descriptors, aqm, HierarchySizes{}, OwnScheduler{}, flows);
    }
    if (hierarchy) return std::make_unique<ModelCore<HierarchyCoreFor<Judge>>>(queues, descriptors, aqm, *hierarchy);
    return std::make_unique<ModelCore<JudgedCore<Judge>>>(queues, descriptors, aqm);
}

// The core in a library; without one its model, with an AQM or none, a hierarchy of these sizes or none, and flow queues or none; or with
// an own scheduler.
inline std::unique_ptr<Core> make_core(const std::string& library, std::uint32_t queues, std::uint32_t descriptors, bool shaping,
                                       const AqmChoice& aqm = {}, const std::optional<HierarchySizes>& hierarchy = {},
                                       const OwnScheduler& own = {}, const FlowSizes& flows = {}) {
    if (!library.empty()) return std::make_unique<RtlCore>(library);
    if (aqm && aqm.estimate) throw std::invalid_argument("the bench has no AQM with estimated delays");
    if (flows.flows && (!shaping || (aqm && aqm.arrivals)))
        throw std::invalid_argument("flow queues need shaped queues, and no AQM that judges arrivals");
    if (aqm && aqm.arrivals) return make_judged<ArrivalJudge<false>>(queues, descriptors, aqm.make(queues), hierarchy, flows);
    if (aqm) return make_judged<DepartureJudge<false>>(queues, descriptors, aqm.make(flows.flows ? flows.flows : queues), hierarchy, flows);
    if (shaping || hierarchy) return make_judged<NoJudge>(queues, descriptors, {}, hierarchy, flows);
    if (own) return std::make_unique<ModelCore<OwnCore>>(queues, descriptors, CoreAqm{}, HierarchySizes{}, own);
    return std::make_unique<ModelCore<PassthroughCore>>(queues, descriptors);
}

}  // namespace penstock
