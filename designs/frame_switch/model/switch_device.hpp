// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The frame switch as a model between its links: equal to the RTL in every cycle (blocks/fabric/model/frame_switch.hpp), frames without
// their bytes, and cycles in which nothing can happen left out.
#pragma once

#include <memory>
#include <vector>

#include "blocks/fabric/model/frame_switch.hpp"
#include "designs/frame_switch/model/flows.hpp"
#include "designs/frame_switch/model/switch_events.hpp"
#include "penstock/engine/environment.hpp"
#include "penstock/engine/link_ports.hpp"

namespace penstock::engine {

class SwitchDevice final : public Device {
  public:
    // Throws std::invalid_argument for what the model does not know: random gaps at inputs and outputs.
    SwitchDevice(const FrameSwitchSettings& settings, const Flows& flows, std::shared_ptr<SwitchEvents> seen,
                 const Environment& environment);

    void start() override { now_ = kResetCycles; }
    void write(std::uint32_t, std::uint32_t) override;
    std::uint32_t read(std::uint32_t) override;
    void settle() override {}
    void connect(std::span<FrameSource* const> sources, Observer* observer) override;
    void run(std::int64_t until) override;
    std::int64_t now() const override { return now_; }
    bool input_idle() const override;
    void close_input() override;
    MemoryCounts memory_counts(unsigned) const override { return {}; }
    BusCounts bus_counts() const override { return bus_; }
    LostFrames ingress_lost() const override;

  private:
    static constexpr std::int64_t kResetCycles = 16;  // as RtlDevice's

    struct Output {
        LinkOutput link;
        std::int64_t first_bit = 0;
        std::uint32_t bytes = 0;  // of the frame that leaves
    };

    void cycle();
    void offer(std::size_t input);
    std::uint64_t take_beats();
    void send_beats(std::uint64_t ready);
    void count_events();
    std::int64_t next_event() const;
    void skip(std::int64_t until);

    FrameSwitch switch_;
    const Flows& flows_;
    std::shared_ptr<SwitchEvents> seen_;
    std::vector<LinkInput> inputs_;
    std::vector<Output> outputs_;
    std::vector<FrameBeatIn> beats_;  // at each input
    Observer* observer_ = nullptr;
    std::int64_t now_ = 0;
    BusCounts bus_;
    bool active_ = false;  // the observer was told something in this cycle
};

}  // namespace penstock::engine
