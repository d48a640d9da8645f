// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// pst_islip_switch inside the frame switch, cycle by cycle. Its outputs never stall there, so a cell that is matched is offered four cycles
// later and taken at once, and the buffers behind the crossbar, five cells deep, always have room.
//
// islip.hpp has the same with stalls, written after the paper's text; this one is made for speed: masks of ports, and work for what waits
// only.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "frame_cell.hpp"

namespace penstock {

class FrameIslip {
  public:
    explicit FrameIslip(const FrameSwitchSettings& settings)
        : ports_(settings.ports),
          classes_(settings.classes),
          depth_(settings.fifo_depth),
          row_(std::bit_ceil(settings.fifo_depth)),
          iterations_(settings.iterations),
          back_pressure_(settings.back_pressure),
          queues_(ports_ * ports_ * classes_),
          cells_(std::make_unique_for_overwrite<FrameCell[]>(size_t{queues_.size()} * row_)),
          popped_(ports_),
          asking_(ports_ * classes_),
          asking_classes_(ports_),
          grant_pointer_(ports_ * classes_),
          accept_pointer_(ports_ * classes_),
          staged_(ports_),
          crossing_(kCrossing * ports_),
          drops_(ports_) {
        reset();
    }

    void reset() {
        queues_.assign(queues_.size(), {});
        popped_.assign(ports_, kNone);
        for (auto* masks : {&asking_, &asking_classes_}) masks->assign(masks->size(), 0);
        for (auto* pointers : {&grant_pointer_, &accept_pointer_}) pointers->assign(pointers->size(), 0);
        drops_.assign(ports_, 0);
        for (uint64_t& outputs : crossing_outputs_) outputs = 0;
        slot_ = inside_ = 0;
        asked_ = popping_ = staging_ = dropping_ = 0;
    }

    // What the ports show in this cycle.
    bool ready(uint32_t source, uint32_t dest, uint32_t klass) const { return !back_pressure_ || !full(source, dest, klass); }
    uint64_t outputs() const { return crossing_outputs_[slot_]; }  // those that offer a cell
    uint32_t drop_count(uint32_t output) const { return drops_[output]; }
    // What was popped is still inside while its place is read; so is what fills a queue while a drop is shown.
    bool idle() const { return inside_ == 0; }

    // The clock edge: send() what was valid and ready, then edge(), then take() of every output that offers a cell, then finish().
    void send(const FrameCell& cell) {
        if (full(cell.source, cell.dest, cell.klass)) {
            lost_[lost_count_++] = cell.dest;
            return;
        }
        staged_[cell.source] = cell;
        staging_ |= uint64_t{1} << cell.source;
        inside_++;
    }

    void edge() {
        for (; dropping_; dropping_ &= dropping_ - 1) drops_[std::countr_zero(dropping_)] = 0;
        for (; lost_count_; lost_count_--) {
            const uint32_t output = lost_[lost_count_ - 1];
            drops_[output]++;
            dropping_ |= uint64_t{1} << output;
        }
    }

    // The cell is good until finish().
    const FrameCell& take(uint32_t output) {
        inside_--;
        return crossing_[slot_ * ports_ + output];
    }

    void finish() {
        crossing_outputs_[slot_] = 0;
        for (; popping_; popping_ &= popping_ - 1) popped_[std::countr_zero(popping_)] = kNone;
        if (asked_) match();
        for (; staging_; staging_ &= staging_ - 1) push(staged_[std::countr_zero(staging_)]);
        slot_ = (slot_ + 1) % kCrossing;
    }

  private:
    static constexpr uint32_t kCrossing = 4;  // match, read, the RAM's output register, buffer
    static constexpr uint32_t kNone = ~0u;

    struct Queue {
        uint32_t head = 0, level = 0;
    };

    uint32_t queue(uint32_t input, uint32_t output, uint32_t klass) const { return (input * ports_ + output) * classes_ + klass; }

    // A cell that was popped in the cycle before is being read: its place counts.
    bool full(uint32_t input, uint32_t output, uint32_t klass) const {
        const uint32_t id = queue(input, output, klass);
        return queues_[id].level + (popped_[input] == id) >= depth_;
    }

    void push(const FrameCell& cell) {
        const uint32_t id = queue(cell.source, cell.dest, cell.klass);
        Queue& q = queues_[id];
        cells_[size_t{id} * row_ + ((q.head + q.level++) & (row_ - 1))] = cell;
        asking_[cell.dest * classes_ + cell.klass] |= uint64_t{1} << cell.source;
        asking_classes_[cell.dest] |= uint64_t{1} << cell.klass;
        asked_ |= uint64_t{1} << cell.dest;
    }

    void pop(uint32_t input, uint32_t output, uint32_t klass) {
        const uint32_t id = queue(input, output, klass), group = output * classes_ + klass;
        Queue& q = queues_[id];
        crossing_[slot_ * ports_ + output] = cells_[size_t{id} * row_ + (q.head++ & (row_ - 1))];
        crossing_outputs_[slot_] |= uint64_t{1} << output;
        popped_[input] = id;
        popping_ |= uint64_t{1} << input;
        if (--q.level) return;
        asking_[group] &= ~(uint64_t{1} << input);
        if (asking_[group]) return;
        asking_classes_[output] &= ~(uint64_t{1} << klass);
        if (!asking_classes_[output]) asked_ &= ~(uint64_t{1} << output);
    }

    void match() {
        uint64_t inputs = ~uint64_t{0}, outputs = asked_;  // not matched yet
        uint32_t granted_class[64];
        uint64_t granted[64];
        for (uint32_t iteration = 0; iteration < iterations_; iteration++) {
            uint64_t offered = 0;  // inputs that have a grant
            for (uint64_t left = outputs; left; left &= left - 1) {
                const uint32_t output = static_cast<uint32_t>(std::countr_zero(left));
                for (uint64_t some = asking_classes_[output]; some; some &= some - 1) {
                    const uint32_t klass = static_cast<uint32_t>(std::countr_zero(some)), group = output * classes_ + klass;
                    const uint64_t candidates = asking_[group] & inputs;
                    if (!candidates) continue;
                    const uint32_t input = first_from(candidates, grant_pointer_[group]);
                    const uint64_t mine = offered >> input & 1 && granted_class[input] <= klass ? granted[input] : 0;
                    if (!mine || granted_class[input] == klass) {
                        granted[input] = mine | uint64_t{1} << output;
                        granted_class[input] = klass;
                    }
                    offered |= uint64_t{1} << input;
                    break;
                }
            }
            if (!offered) return;
            inputs &= ~offered;
            for (; offered; offered &= offered - 1) {
                const uint32_t input = static_cast<uint32_t>(std::countr_zero(offered)), klass = granted_class[input];
                const uint32_t output = first_from(granted[input], accept_pointer_[input * classes_ + klass]);
                outputs &= ~(uint64_t{1} << output);
                pop(input, output, klass);
                if (iteration) continue;
                grant_pointer_[output * classes_ + klass] = (input + 1) & (ports_ - 1);
                accept_pointer_[input * classes_ + klass] = (output + 1) & (ports_ - 1);
            }
        }
    }

    uint32_t ports_, classes_, depth_, row_, iterations_;
    bool back_pressure_;
    std::vector<Queue> queues_;           // [input][output][class]
    std::unique_ptr<FrameCell[]> cells_;  // [input][output][class][place]
    std::vector<uint32_t> popped_;        // by input: the queue that was popped in the cycle before
    std::vector<uint64_t> asking_;        // [output][class]: inputs that have cells for it
    std::vector<uint64_t> asking_classes_;
    std::vector<uint32_t> grant_pointer_, accept_pointer_;  // [output][class], [input][class]
    std::vector<FrameCell> staged_;                         // by input: what is sent in this cycle
    std::vector<FrameCell> crossing_;                       // [slot][output]: between match and output
    uint64_t crossing_outputs_[kCrossing] = {};
    std::vector<uint32_t> drops_;
    uint32_t lost_[64], lost_count_ = 0;  // outputs of the cells that are dropped in this cycle
    uint32_t slot_ = 0, inside_ = 0;
    uint64_t asked_ = 0, popping_ = 0, staging_ = 0, dropping_ = 0;
};

}  // namespace penstock
