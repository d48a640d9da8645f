// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Switch of the combined parallel round-robin arbiter, slot by slot: what rtl/pst_fabric.sv does but for its pipeline.
//
// Papaphilippou, Meng, Luk, "High-Performance FPGA Network Switch Architecture", FPGA 2020, sections 3 and 4.4. A slot has two halves:
// arrive() spreads up to P cells over the FIFOs, depart() takes up to one cell for each output. A slot simulator calls arrive(), then
// depart() (a cell can leave in the slot in which it came: latency 0). The hardware's cycle is depart(), then arrive() of the cells that
// leave the pipeline: a cell leaves at the earliest one cycle after it was written, and a full FIFO has room for one whose head leaves.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "batcher.hpp"

namespace penstock {

// Which FIFO of its group an output looks at.
enum class FabricArbiter : uint8_t {
    // The paper's: one FIFO, the next in turn. Order holds while nothing is dropped. When the FIFO is empty although the group is not
    // (there
    // were drops), the turn moves on by one FIFO a slot, and that slot sends nothing.
    Rotating = 0,
    // All FIFOs, round robin among those with cells of the oldest batch: never idle while a cell waits, order holds whatever is dropped.
    Full = 1,
};

// FIFO of any capacity, which grows when `depth` is 0 (infinite).
template <class Word>
class FabricFifo {
  public:
    bool empty() const { return count_ == 0; }
    uint32_t size() const { return count_; }
    const Word& front() const { return words_[head_]; }
    void pop() {
        head_ = (head_ + 1) & mask_;
        count_--;
    }
    void push(const Word& word) {
        if (count_ == words_.size()) grow();
        words_[(head_ + count_++) & mask_] = word;
    }
    void clear() { head_ = count_ = 0; }

  private:
    void grow() {
        std::vector<Word> larger(words_.empty() ? 4 : 2 * words_.size());
        for (uint32_t i = 0; i < count_; i++) larger[i] = words_[(head_ + i) & mask_];
        words_ = std::move(larger);
        mask_ = words_.size() - 1;
        head_ = 0;
    }
    std::vector<Word> words_;
    uint32_t head_ = 0, count_ = 0, mask_ = 0;
};

// `Cell`: what is stored, copied as a value (an arrival time, an identity).
template <class Cell>
class CprraSwitch {
  public:
    static constexpr uint32_t kNone = ~0u;  // no cell at this input

    // `ports`: 2..64, a power of two. `depth`: cells of each of the P x P FIFOs (and of each class), 0: infinite. `classes`: 1..256, class
    // 0 is sent first; more than one needs the full arbiter. `network`: cells of one batch for one output stand in the order in which the
    // sorting network leaves them, as in the hardware; false: in order of their inputs (no figure changes, more than twice as fast).
    CprraSwitch(uint32_t ports, uint32_t depth, FabricArbiter arbiter = FabricArbiter::Rotating, uint32_t classes = 1, bool network = true)
        : ports_(ports),
          mask_(ports - 1),
          classes_(classes),
          depth_(depth ? depth : ~0u),
          full_(arbiter == FabricArbiter::Full || classes > 1),
          network_(network),
          sorter_(ports),
          fifos_(ports * ports * classes),
          batches_(full_ ? ports * classes : 0),
          served_(ports * classes),
          stored_(ports * classes),
          turn_(ports * classes),
          offset_(ports),
          level_(ports * classes) {}

    uint32_t ports() const { return ports_; }
    uint32_t classes() const { return classes_; }

    // First half of a slot: `dests[i]` is the output of the cell at input i or kNone, `cells[i]` the cell, `of_class[i]` its class (null:
    // all 0). Calls dropped(input, output, cell) for each cell whose FIFO is full, stored(input, output, fifo, cell) for each other one.
    template <class Dropped, class Stored>
    void arrive(const uint32_t* dests, const Cell* cells, const uint8_t* of_class, Dropped&& dropped, Stored&& stored) {
        uint32_t words[64];
        if (network_) {
            for (uint32_t i = 0; i < ports_; i++) words[i] = dests[i] == kNone ? i : ((ports_ | dests[i]) << 8) | i;
            sorter_.sort(words, 8);
        } else {
            for (uint32_t i = 0; i < ports_; i++) words[i] = dests[i] == kNone ? i : ((ports_ | dests[i]) << 8) | i;
        }
        for (uint32_t i = 0; i < ports_; i++) {
            if (words[i] >> 8 == 0) continue;
            const uint32_t input = words[i] & 0xff, dest = (words[i] >> 8) & mask_;
            const uint32_t fifo = offset_[dest]++ & mask_;
            const uint32_t group = dest * classes_ + (of_class ? of_class[input] : 0);
            auto& queue = fifos_[group * ports_ + fifo];
            if (queue.size() >= depth_) {
                dropped(input, dest, cells[input]);
                continue;
            }
            queue.push(cells[input]);
            level_[group]++;
            if (full_) stored_[group] |= uint64_t{1} << fifo;
            stored(input, dest, fifo, cells[input]);
        }
        if (!full_) return;
        for (uint32_t group = 0; group < ports_ * classes_; group++) {
            if (!stored_[group]) continue;
            batches_[group].push(stored_[group]);
            stored_[group] = 0;
        }
    }

    template <class Dropped>
    void arrive(const uint32_t* dests, const Cell* cells, const uint8_t* of_class, Dropped&& dropped) {
        arrive(dests, cells, of_class, dropped, [](uint32_t, uint32_t, uint32_t, const Cell&) {});
    }

    // Second half of a slot: every output may send one cell; calls departed(output, class, cell).
    template <class Departed>
    void depart(Departed&& departed) {
        for (uint32_t output = 0; output < ports_; output++) {
            const Choice choice = look(output);
            if (choice.valid) departed(output, choice.of_class, cell(choice));
            advance(output, choice, true);
        }
    }

    // The same output by output, for hardware whose outputs may stall.
    struct Choice {
        bool valid = false;
        uint32_t of_class = 0, group = 0, fifo = 0;
    };

    // What `output` offers now: of the highest class that has a cell.
    Choice look(uint32_t output) const {
        for (uint32_t c = 0; c < classes_; c++) {
            const Choice choice = look(output, c);
            if (choice.valid) return choice;
        }
        return {};
    }

    // What `output` offers of one class.
    Choice look(uint32_t output, uint32_t of_class) const {
        const uint32_t group = output * classes_ + of_class;
        if (!level_[group]) return {};
        const uint32_t turn = turn_[group] & mask_;
        if (!full_) return {!fifos_[group * ports_ + turn].empty(), of_class, group, turn};
        const uint64_t left = batches_[group].front() & ~served_[group];
        const uint64_t ahead = left >> turn << turn;
        return {true, of_class, group, static_cast<uint32_t>(std::countr_zero(ahead ? ahead : left))};
    }

    const Cell& cell(const Choice& choice) const { return fifos_[choice.group * ports_ + choice.fifo].front(); }

    // End of the slot at `output`, which offered `choice`; `taken`: and it was taken.
    void advance(uint32_t output, const Choice& choice, bool taken) {
        if (!choice.valid) {
            if (!full_ && level_[output]) turn_[output]++;  // out of step after drops: on to the next FIFO
            return;
        }
        if (!taken) return;
        const uint32_t group = choice.group;
        fifos_[group * ports_ + choice.fifo].pop();
        level_[group]--;
        turn_[group] = choice.fifo + 1;
        if (!full_) return;
        served_[group] |= uint64_t{1} << choice.fifo;
        if (served_[group] == batches_[group].front()) {
            served_[group] = 0;
            batches_[group].pop();
        }
    }

    // Cells waiting for `output` in one of its FIFOs.
    uint32_t level(uint32_t output, uint32_t of_class, uint32_t fifo) const {
        return fifos_[(output * classes_ + of_class) * ports_ + fifo].size();
    }
    // Cells waiting for `output` in a class.
    uint32_t level(uint32_t output, uint32_t of_class = 0) const { return level_[output * classes_ + of_class]; }
    // FIFO that the next cell for `output` goes to.
    uint32_t offset(uint32_t output) const { return offset_[output] & mask_; }

    void clear() {
        for (auto& fifo : fifos_) fifo.clear();
        for (auto& batch : batches_) batch.clear();
        for (auto* state : {&turn_, &offset_, &level_}) state->assign(state->size(), 0);
        served_.assign(served_.size(), 0);
    }

  private:
    uint32_t ports_, mask_;
    uint32_t classes_, depth_;
    bool full_, network_;
    Batcher sorter_;
    std::vector<FabricFifo<Cell>> fifos_;        // [output][class][fifo]
    std::vector<FabricFifo<uint64_t>> batches_;  // [output][class]: for each batch the FIFOs that took a cell of it, oldest first
    std::vector<uint64_t> served_, stored_;      // [output][class]: FIFOs of the oldest batch already served; of the batch under way
    std::vector<uint32_t> turn_, offset_, level_;
};

}  // namespace penstock
