// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// pst_fabric cycle by cycle: the switch of cprra_switch.hpp behind a pipeline, with back-pressure and outputs that stall.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <deque>
#include <vector>

#include "cprra_switch.hpp"

namespace penstock {

// Latency of the pipeline in cycles by the formulas of the paper (sections 4.1 and 4.2), `ports` a power of two >= 2, S = `stages`.
inline uint32_t fabric_pipeline_cycles(uint32_t ports, uint32_t stages) {
    const uint32_t log = std::countr_zero(ports), compulsory = log;
    const uint32_t latency = log + std::max(log * (log + 1) / 2, 2 * log + 1);
    const auto ceil = [stages](uint32_t n) { return (n + stages - 1) / stages; };
    return ceil(latency - compulsory) + ceil(1 + compulsory) - 1;
}

// The parameters of pst_fabric.
struct FabricSettings {
    uint32_t ports = 8, stages = 1, fifo_depth = 32, classes = 1;
    bool back_pressure = false;
    FabricArbiter arbiter = FabricArbiter::Full;
};

template <class Cell>
class Fabric {
  public:
    static constexpr uint32_t kNone = CprraSwitch<Cell>::kNone;

    // A batch: for each input the output of its cell or kNone, the cell, and its class.
    struct Batch {
        explicit Batch(uint32_t ports) : dests(ports, kNone), cells(ports), of_class(ports) {}
        std::vector<uint32_t> dests;
        std::vector<Cell> cells;
        std::vector<uint8_t> of_class;
    };

    explicit Fabric(const FabricSettings& settings)
        : settings_(settings),
          reserve_(fabric_pipeline_cycles(settings.ports, settings.stages) + 2),
          switch_(settings.ports, settings.fifo_depth, settings.arbiter, settings.classes) {
        reset();
    }

    void reset() {
        switch_.clear();
        pipeline_.assign(reserve_ - 2, Batch(settings_.ports));
        nearly_full_.assign(settings_.ports * settings_.classes, false);
        drops_.assign(settings_.ports, 0);
        held_.assign(settings_.ports, -1);
    }

    // What the ports show in this cycle.
    bool ready(uint32_t dest, uint32_t of_class) const { return !nearly_full_[dest * settings_.classes + of_class]; }
    uint32_t drops(uint32_t output) const { return drops_[output]; }
    using Choice = typename CprraSwitch<Cell>::Choice;
    Choice offer(uint32_t output) const { return held_[output] < 0 ? switch_.look(output) : switch_.look(output, held_[output]); }
    const Cell& cell(const Choice& choice) const { return switch_.cell(choice); }

    // The clock edge: `batch` are the cells that were valid and ready, bit d of `taken` is m_cell_ready_i of output d. Calls
    // dropped(input, output, cell) and stored(input, output, fifo, cell) for the cells that meet their FIFO.
    template <class Dropped, class Stored>
    void clock(const Batch& batch, uint64_t taken, Dropped&& dropped, Stored&& stored) {
        if (settings_.back_pressure) find_nearly_full();
        for (uint32_t d = 0; d < settings_.ports; d++) {
            const Choice choice = offer(d);
            const bool take = taken >> d & 1;
            held_[d] = choice.valid && !take ? static_cast<int>(choice.of_class) : -1;
            switch_.advance(d, choice, take);
            drops_[d] = 0;
        }
        const Batch& last = pipeline_.front();
        switch_.arrive(
            last.dests.data(), last.cells.data(), last.of_class.data(),
            [&](uint32_t input, uint32_t output, const Cell& cell) {
                drops_[output]++;
                dropped(input, output, cell);
            },
            stored);
        pipeline_.pop_front();
        pipeline_.push_back(batch);
    }

    const CprraSwitch<Cell>& slots() const { return switch_; }

  private:
    void find_nearly_full() {
        for (uint32_t d = 0; d < settings_.ports; d++) {
            for (uint32_t c = 0; c < settings_.classes; c++) {
                bool nearly = false;
                for (uint32_t q = 0; q < settings_.ports; q++) nearly |= switch_.level(d, c, q) + reserve_ > settings_.fifo_depth;
                nearly_full_[d * settings_.classes + c] = nearly;
            }
        }
    }

    FabricSettings settings_;
    uint32_t reserve_;  // cells that can be on their way to one FIFO
    CprraSwitch<Cell> switch_;
    std::deque<Batch> pipeline_;
    std::vector<bool> nearly_full_;  // [output][class]
    std::vector<uint32_t> drops_;
    std::vector<int> held_;  // class that an output offers until it is taken, or -1
};

}  // namespace penstock
