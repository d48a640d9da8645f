// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// pst_frame_switch, equal to the hardware at its ports in every cycle, for frames without their bytes: a beat carries a tag instead.
//
// A cycle: read what the ports show (all of it comes from registers, nothing depends on the inputs of the same cycle), then clock() with
// what is at the inputs. A beat at an input goes in when its ready is high; a beat at an output is gone when its ready was high. While
// idle() is true and no beat comes, clock() changes nothing and may be left out. No memory is taken after the constructor.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include "frame_cell.hpp"
#include "frame_fabric.hpp"
#include "frame_islip.hpp"
#include "frame_reassemble.hpp"
#include "frame_segment.hpp"

namespace penstock {

class FrameSwitch {
  public:
    // Throws std::invalid_argument for settings that the hardware refuses, or with more than 64 classes.
    explicit FrameSwitch(const FrameSwitchSettings& settings)
        : settings_(checked(settings)),
          cells_(settings.islip ? Cells(std::in_place_type<FrameIslip>, settings) : Cells(std::in_place_type<FrameFabric>, settings)) {
        for (uint32_t port = 0; port < settings.ports; port++) {
            segments_.emplace_back(settings, port);
            outputs_.emplace_back(settings);
        }
    }

    const FrameSwitchSettings& settings() const { return settings_; }

    // rst_i at a clock edge, in place of clock().
    void reset() {
        std::visit([](auto& cells) { cells.reset(); }, cells_);
        for (FrameSegment& segment : segments_) segment.reset();
        for (FrameReassemble& output : outputs_) output.reset();
        receiving_ = sending_ = 0;
    }

    // What the ports show in this cycle.
    bool ready(uint32_t source) const { return segments_[source].ready(); }
    const FrameBeatOut& out(uint32_t output) const { return outputs_[output].out(); }
    bool refused(uint32_t source) const { return segments_[source].refused(); }
    uint32_t drop_count(uint32_t output) const {
        return std::visit([=](const auto& cells) { return cells.drop_count(output); }, cells_);
    }
    uint32_t lost(uint32_t output) const { return outputs_[output].lost(); }
    bool no_room(uint32_t output) const { return outputs_[output].no_room(); }
    bool bad(uint32_t output) const { return outputs_[output].bad(); }

    // Nothing is on its way, no event is shown. Parts of frames whose last beat has not come may be there: they wait for it.
    bool idle() const {
        return !receiving_ && !sending_ && std::visit([](const auto& cells) { return cells.idle(); }, cells_);
    }
    // For users that look at ports with something to show only: sources that may show `refused` or a low `ready`, outputs that may show a
    // beat or an event of theirs (not drop_count).
    uint64_t active_sources() const { return receiving_; }
    uint64_t active_outputs() const { return sending_; }

    // The clock edge: the beat at each input (`ports` of them), and m_axis_tready_i, a bit for each output.
    void clock(std::span<const FrameBeatIn> in, uint64_t out_ready) {
        std::visit([&](auto& cells) { clock(cells, in, out_ready); }, cells_);
    }

  private:
    using Cells = std::variant<FrameFabric, FrameIslip>;

    // Everything decides by the state before the edge: first the sources, which read credits and the cell switch's ready; then credits;
    // then the outputs, which take what the cell switch offers; its own state moves at last.
    template <class CellSwitch>
    void clock(CellSwitch& cells, std::span<const FrameBeatIn> in, uint64_t out_ready) {
        for (uint32_t i = 0; i < segments_.size(); i++) {
            if (!in[i].valid && !(receiving_ >> i & 1)) continue;
            segments_[i].clock(in[i], cells);
            const uint64_t bit = uint64_t{1} << i;
            receiving_ = segments_[i].idle() ? receiving_ & ~bit : receiving_ | bit;
        }
        const bool busy = !cells.idle();
        uint64_t offered = 0;
        if (busy) {
            cells.edge();
            offered = cells.outputs();
        }
        for (uint64_t left = sending_ | offered; left; left &= left - 1) {
            const uint32_t j = static_cast<uint32_t>(std::countr_zero(left));
            FrameReassemble& output = outputs_[j];
            if (const auto& credit = output.credit(); credit.valid) segments_[credit.source].give_back(j, credit.klass);
            output.clock(offered >> j & 1 ? &cells.take(j) : nullptr, out_ready >> j & 1);
            const uint64_t bit = uint64_t{1} << j;
            sending_ = output.idle() ? sending_ & ~bit : sending_ | bit;
        }
        if (busy) cells.finish();
    }

    static const FrameSwitchSettings& checked(const FrameSwitchSettings& s) {
        const auto refuse = [](bool bad, const std::string& what) {
            if (bad) throw std::invalid_argument("frame switch: " + what);
        };
        const auto number = [](uint32_t value) { return std::to_string(value); };
        refuse(s.ports < 2 || s.ports > 64 || !std::has_single_bit(s.ports),
               "ports is " + number(s.ports) + ", must be a power of two, 2..64");
        refuse(s.data_bytes < 1 || s.data_bytes > 65535, "data_bytes is " + number(s.data_bytes) + ", allowed: 1..65535");
        refuse(s.classes < 1 || s.classes > 64, "classes is " + number(s.classes) + ", allowed: 1..64");
        refuse(s.max_frame_bytes < 1, "max_frame_bytes is 0, must be at least 1");
        refuse(s.room_cells < 2 || !std::has_single_bit(s.room_cells),
               "room_cells is " + number(s.room_cells) + ", must be a power of two and at least 2");
        refuse(s.back_pressure && s.room_cells < s.max_cells(),
               "room_cells is " + number(s.room_cells) +
                   ", back_pressure needs at least the beats of a longest frame: " + number(s.max_cells()));
        refuse(s.fifo_depth < 1, "fifo_depth is 0, must be at least 1");
        refuse(s.number_width > 31, "number_width is " + number(s.number_width) + ", allowed: 1..31, or 0 for that of the hardware");
        if (s.islip) {
            refuse(s.iterations < 1, "iterations is 0, must be at least 1");
            return s;
        }
        refuse(s.stages != 1 && s.stages != 2 && s.stages != 4, "stages is " + number(s.stages) + ", allowed: 1, 2, 4");
        const uint32_t reserve = fabric_pipeline_cycles(s.ports, s.stages) + 2;
        refuse(s.back_pressure && s.fifo_depth < reserve,
               "fifo_depth is " + number(s.fifo_depth) + ", back_pressure needs at least " + number(reserve) + " (pipeline cycles + 2)");
        return s;
    }

    FrameSwitchSettings settings_;
    Cells cells_;
    std::vector<FrameSegment> segments_;
    std::vector<FrameReassemble> outputs_;
    uint64_t receiving_ = 0, sending_ = 0;  // segments and outputs that are not idle
};

}  // namespace penstock
