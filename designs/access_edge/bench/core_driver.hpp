// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// What benches of pst_access_edge_core share: it is driven cycle by cycle, and every packet is checked: FIFO order in its queue, its
// length, its event, and that nothing is left or lost at the end.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "blocks/common/model/settings.hpp"
#include "designs/access_edge/bench/core_mirror.hpp"
#include "designs/access_edge/bench/core_model_pins.hpp"

namespace penstock {

inline constexpr uint32_t kMostPackets = settings::kMostLimitPackets, kMostBytes = settings::kMostLimitBytes;  // limits of a queue
inline constexpr uint64_t kUnshaped = 1, kClosed = 0;                                                          // shapers' codes

// What a setting of the hierarchy is about (pst_hierarchy_pkg::setting_e).
enum class HierarchyWhat : uint8_t { Queue, Subscriber, Node, Port };

struct HierarchyOffer {
    HierarchyWhat what;
    uint32_t id;
    uint64_t shaper = kUnshaped;  // subscriber, node, port
    uint32_t parent = 0;          // of a subscriber its node, of a node its port
    uint8_t cls = 0, weight = 1;  // queue; subscriber: its weight
    uint32_t guarantee = 0;       // queue, subscriber: as a word (encode_guarantee)
};

class CoreDriver {
  public:
    // `flows`: of each queue, told apart. `patience`: what the system does in that many cycles without a departure, while packets are
    // waiting, is called a hang.
    CoreDriver(std::unique_ptr<Core> core, uint32_t queues, uint32_t descriptors, nanobind::object progress, uint64_t patience = 50'000'000,
               uint32_t flows = 1)
        : owned_(std::move(core)),
          core_(*owned_),
          mirror_(queues, descriptors, flows),
          progress_(std::move(progress)),
          patience_(patience) {}
    virtual ~CoreDriver() = default;

  protected:
    static constexpr uint64_t kProgressCycles = 1 << 16;
    static constexpr uint32_t kBuckets = 251;  // from the bucket of one flow of a queue to that of the next

    virtual void enqueued(uint32_t /*queue*/, uint32_t /*descriptor*/) {}
    virtual void departed(uint32_t /*queue*/, uint32_t /*descriptor*/, uint32_t /*len*/) {}
    // What the progress bar shows.
    virtual uint64_t done() const { return dequeued_; }

    pst_core_pins& pins() { return core_.pins; }

    void reset() {
        core_.pins.rst_i = 1;
        for (int i = 0; i < 4; ++i) core_.step();
        core_.pins.rst_i = 0;
        core_.pins.m_drop_ready_i = core_.pins.m_drop_head_ready_i = 1;
        for (uint64_t i = 0; !core_.pins.init_done_o; ++i) {
            core_.step();
            if (i > patience_) throw std::runtime_error("init_done_o does not rise");
        }
    }

    // One clock cycle: what is offered stays offered until it is taken, and everything that comes out is checked.
    void cycle() {
        auto& p = core_.pins;
        core_.step();
        ++cycles_;
        if (p.s_enq_valid_i && p.s_enq_ready_o) {
            mirror_.enqueue(p.s_enq_queue_i, p.s_enq_desc_i, p.s_enq_len_i, flow_);
            ++enqueued_;
            p.s_enq_valid_i = 0;
            enqueued(p.s_enq_queue_i, p.s_enq_desc_i);
        }
        if (p.ev_valid_o) mirror_.event(p.ev_queue_o, p.ev_len_o, p.ev_reason_o, aqm_);
        if (p.m_drop_head_valid_o) {
            if (!aqm_) throw std::runtime_error("a page was given back by an AQM that is not there");
            mirror_.dropped(p.m_drop_head_desc_o);
            ++aqm_dropped_;
        }
        marked_ += p.ev_deq_valid_o && p.ev_deq_mark_o;
        if (p.m_drop_valid_o) throw std::runtime_error("a page was given back for a packet that was not dropped");
        if (p.m_out_valid_o && p.m_out_ready_i) {
            mirror_.departure(p.m_out_queue_o, p.m_out_desc_o, p.m_out_len_o);
            ++dequeued_;
            quiet_ = 0;
            departed(p.m_out_queue_o, p.m_out_desc_o, p.m_out_len_o);
        } else if (mirror_.waiting() && p.m_out_ready_i && ++quiet_ > patience_) {
            throw std::runtime_error("packets wait, but none has come out for " + std::to_string(patience_) + " cycles");
        }
        if (cycles_ % kProgressCycles == 0) report();
    }

    bool may_offer() { return !core_.pins.s_enq_valid_i && mirror_.has_free(); }

    // Only when may_offer().
    void offer(uint32_t queue, uint32_t len, uint32_t flow = 0) {
        auto& p = core_.pins;
        flow_ = flow;
        p.s_enq_hashes_i = static_cast<uint32_t>((flow * kBuckets + queue) % 1024);
        p.s_enq_valid_i = 1;
        p.s_enq_queue_i = queue;
        p.s_enq_desc_i = mirror_.take();
        p.s_enq_len_i = static_cast<uint16_t>(len);
        p.s_enq_ect_i = aqm_;
    }

    void set_queue(uint32_t queue, uint64_t shaper) {
        auto& p = core_.pins;
        p.s_cfg_queue_i = queue;
        p.s_cfg_shaper_i = shaper;
        p.s_cfg_limit_packets_i = kMostPackets;
        p.s_cfg_limit_bytes_i = kMostBytes;
        p.s_cfg_valid_i = 1;
        do {
            cycle();
        } while (!p.s_cfg_ready_o);
        p.s_cfg_valid_i = 0;
    }

    // Puts a setting of the hierarchy on the pins; it is taken in a cycle with s_hierarchy_cfg_ready_o.
    void show(const HierarchyOffer& setting) {
        auto& p = core_.pins;
        p.s_hierarchy_cfg_what_i = static_cast<uint8_t>(setting.what);
        p.s_hierarchy_cfg_id_i = setting.id;
        p.s_hierarchy_cfg_shaper_i = setting.shaper;
        p.s_hierarchy_cfg_parent_i = setting.parent;
        p.s_hierarchy_cfg_class_i = setting.cls;
        p.s_hierarchy_cfg_weight_i = static_cast<uint8_t>(setting.weight - 1);
        p.s_hierarchy_cfg_guarantee_i = setting.guarantee;
        p.s_hierarchy_cfg_valid_i = 1;
    }

    void set(const HierarchyOffer& setting) {
        show(setting);
        do {
            cycle();
        } while (!core_.pins.s_hierarchy_cfg_ready_o);
        core_.pins.s_hierarchy_cfg_valid_i = 0;
    }

    void drain() {
        core_.pins.m_out_ready_i = 1;
        while (core_.pins.s_enq_valid_i || mirror_.waiting()) cycle();
        for (int i = 0; i < 256; ++i) cycle();  // a packet too many would come now
        mirror_.check_empty();
    }

    // The same for benches that count what is lost: packets that do not come out while none has come out for `quiet` cycles.
    uint64_t drain_and_count(uint64_t quiet) {
        core_.pins.m_out_ready_i = 1;
        for (quiet_ = 0; quiet_ < quiet && (core_.pins.s_enq_valid_i || mirror_.waiting());) cycle();
        const uint64_t lost = mirror_.waiting();
        if (lost == 0) drain();
        return lost;
    }

    void report() {
        if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
        if (!progress_.is_none()) progress_(done(), cycles_);
    }

    std::unique_ptr<Core> owned_;
    Core& core_;
    Mirror mirror_;
    nanobind::object progress_;
    uint64_t patience_, cycles_ = 0, enqueued_ = 0, dequeued_ = 0, quiet_ = 0;
    uint32_t flow_ = 0;  // of the packet that is offered
    bool aqm_ = false;   // the core has an AQM; every packet may be marked
    uint64_t marked_ = 0, aqm_dropped_ = 0;
};

}  // namespace penstock
