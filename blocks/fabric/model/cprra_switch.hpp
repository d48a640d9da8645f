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
#include "fifo_group.hpp"

namespace penstock {

// Which FIFO of its group an output looks at.
enum class FabricArbiter : uint8_t {
    // The paper's: one FIFO, the next in turn. Order holds while nothing is dropped. When the FIFO is empty although the group is not
    // (there were drops), the turn moves on by one FIFO a slot, and that slot sends nothing.
    Rotating = 0,
    // All FIFOs, round robin among those with cells of the oldest batch: never idle while a cell waits, order holds whatever is dropped.
    Full = 1,
};

// FIFO without limit.
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
    // 0 is sent first; more than one needs the full arbiter.
    CprraSwitch(uint32_t ports, uint32_t depth, FabricArbiter arbiter = FabricArbiter::Rotating, uint32_t classes = 1)
        : ports_(ports),
          mask_(ports - 1),
          classes_(classes),
          full_(arbiter == FabricArbiter::Full || classes > 1),
          sorter_(ports),
          batches_(full_ ? ports * classes : 0),
          served_(ports * classes),
          stored_(ports * classes),
          turn_(ports * classes),
          offset_(ports),
          level_(ports * classes) {
        groups_.reserve(ports * classes);
        for (uint32_t group = 0; group < ports * classes; group++) groups_.emplace_back(ports, depth ? depth : ~0u);
    }

    uint32_t ports() const { return ports_; }
    uint32_t classes() const { return classes_; }

    // First half of a slot: `dests[i]` is the output of the cell at input i or kNone, `cells[i]` the cell, `of_class[i]` its class (null:
    // all 0). Calls dropped(input, output, cell) for each cell whose FIFO is full, stored(input, output, fifo, cell) for each other one.
    template <class Dropped, class Stored>
    void arrive(const uint32_t* dests, const Cell* cells, const uint8_t* of_class, Dropped&& dropped, Stored&& stored) {
        uint32_t words[64];
        for (uint32_t i = 0; i < ports_; i++) words[i] = dests[i] == kNone ? i : ((ports_ | dests[i]) << 8) | i;
        sorter_.sort(words, 8);
        for (uint32_t i = 0; i < ports_; i++) {
            if (words[i] >> 8 == 0) continue;
            const uint32_t input = words[i] & 0xff, dest = (words[i] >> 8) & mask_;
            const uint32_t fifo = offset_[dest]++ & mask_;
            const uint32_t group = dest * classes_ + (of_class ? of_class[input] : 0);
            if (!groups_[group].push(fifo, cells[input])) {
                dropped(input, dest, cells[input]);
                continue;
            }
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

    // The first half of a slot for simulations that do not ask which of two cells of one batch comes first: cells go to the FIFOs in order
    // of their inputs instead of that in which the sorting network leaves them. The same FIFOs get cells and the same number is dropped,
    // without the cost of sorting. Rotating arbiter only; `inputs` is a mask, `cell_of(input)` makes a cell.
    template <class CellOf, class Dropped>
    void arrive_unsorted(uint64_t inputs, const uint8_t* dests, CellOf&& cell_of, Dropped&& dropped) {
        uint32_t* const offsets = offset_.data();
        uint32_t* const levels = level_.data();
        FifoGroup<Cell>* const groups = groups_.data();
        for (; inputs; inputs &= inputs - 1) {
            const uint32_t input = static_cast<uint32_t>(std::countr_zero(inputs)), dest = dests[input];
            if (groups[dest].push(offsets[dest]++ & mask_, cell_of(input))) {
                levels[dest]++;
            } else {
                dropped(input, dest);
            }
        }
    }

    // Second half of a slot for the rotating arbiter, without what hardware with stalls needs: calls departed(output, cell).
    template <class Departed>
    void depart_rotating(Departed&& departed) {
        uint64_t busy = 0;
        for (uint32_t output = 0; output < ports_; output++) busy |= uint64_t{level_[output] != 0} << output;
        uint32_t* const levels = level_.data();
        uint32_t* const turns = turn_.data();
        FifoGroup<Cell>* const groups = groups_.data();
        for (; busy; busy &= busy - 1) {
            const uint32_t output = static_cast<uint32_t>(std::countr_zero(busy));
            const uint32_t fifo = turns[output]++ & mask_;
            if (groups[output].empty(fifo)) continue;
            departed(output, groups[output].front(fifo));
            groups[output].pop(fifo);
            levels[output]--;
        }
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
        if (!full_) return {!groups_[group].empty(turn), of_class, group, turn};
        const uint64_t left = batches_[group].front() & ~served_[group];
        const uint64_t ahead = left >> turn << turn;
        return {true, of_class, group, static_cast<uint32_t>(std::countr_zero(ahead ? ahead : left))};
    }

    const Cell& cell(const Choice& choice) const { return groups_[choice.group].front(choice.fifo); }

    // End of the slot at `output`, which offered `choice`; `taken`: and it was taken.
    void advance(uint32_t output, const Choice& choice, bool taken) {
        if (!choice.valid) {
            if (!full_ && level_[output]) turn_[output]++;  // out of step after drops: on to the next FIFO
            return;
        }
        if (!taken) return;
        const uint32_t group = choice.group;
        groups_[group].pop(choice.fifo);
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
    uint32_t level(uint32_t output, uint32_t of_class, uint32_t fifo) const { return groups_[output * classes_ + of_class].size(fifo); }
    // Cells waiting for `output` in a class.
    uint32_t level(uint32_t output, uint32_t of_class = 0) const { return level_[output * classes_ + of_class]; }
    // FIFO that the next cell for `output` goes to.
    uint32_t offset(uint32_t output) const { return offset_[output] & mask_; }

    void clear() {
        for (auto& group : groups_) group.clear();
        for (auto& batch : batches_) batch.clear();
        for (auto* state : {&turn_, &offset_, &level_}) state->assign(state->size(), 0);
        served_.assign(served_.size(), 0);
    }

  private:
    uint32_t ports_, mask_;
    uint32_t classes_;
    bool full_;
    Batcher sorter_;
    std::vector<FifoGroup<Cell>> groups_;        // [output][class]
    std::vector<FabricFifo<uint64_t>> batches_;  // [output][class]: for each batch the FIFOs that took a cell of it, oldest first
    std::vector<uint64_t> served_, stored_;      // [output][class]: FIFOs of the oldest batch already served; of the batch under way
    std::vector<uint32_t> turn_, offset_, level_;
};

}  // namespace penstock
