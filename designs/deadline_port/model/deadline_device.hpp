// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// What the models of the narrow and of the wide deadline port are to the engine: clock, lines, registers. What they do in a cycle is
// theirs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "blocks/deadline/model/edfr_model.hpp"
#include "designs/deadline_port/model/device_settings.hpp"
#include "designs/deadline_port/model/port_registers.hpp"
#include "penstock/engine/device.hpp"
#include "penstock/engine/environment.hpp"
#include "penstock/engine/link_ports.hpp"
#include "penstock/engine/pin_face.hpp"
#include "penstock/pins.h"

namespace penstock::engine {

class DeadlineDevice : public Device {
  public:
    DeadlineDevice(const DeadlinePortSettings& settings, const Environment& environment, std::unique_ptr<PinFace> face)
        : settings_(settings),
          face_(std::move(face)),
          seed_(environment.seed),
          registers_(settings, static_cast<std::uint32_t>(environment.memories.size()), static_cast<std::uint32_t>(environment.clock_hz)),
          input_(environment.ingress(0), 0, EdfrSettings::kBeatBytes),
          output_(environment.egress(0)) {
        if (environment.valid_permille != 1000 || environment.ready_permille != 1000)
            throw std::invalid_argument("the model has no random gaps at inputs and outputs (valid_permille, ready_permille)");
        if (environment.flip_byte >= 0) throw std::invalid_argument("the model has no bytes, so no wrong ones (fault.memory_flip_byte)");
    }

    void start() final {
        now_ = kResetCycles;
        for (bool done = false; !done;) {
            done = init_;
            cycle();
        }
    }
    void write(std::uint32_t address, std::uint32_t value) final { registers_.write(address, value); }
    void settle() final {
        while (!registers_.idle()) cycle();
    }
    std::uint32_t read(std::uint32_t address) final {
        ask();
        settle();
        cycle();
        const std::uint32_t value = registers_.read(address, free_chunks(), init_);
        for (int i = 1; i < kReadCycles; ++i) cycle();
        return value;
    }
    void connect(std::span<FrameSource* const> sources, Observer* observer) final {
        observer_ = observer;
        origin_ += now_;
        now_ = 0;
        bus_ = {};
        output_.restart();
        input_.connect(sources.empty() ? nullptr : sources.front());
    }
    void run(std::int64_t until) final {
        ask();
        while (now_ < until) {
            cycle();
            if (active_ && observer_->enough()) return;
            if (const std::int64_t next = next_event(); next > now_) skip(std::min(next, until));
        }
    }
    std::int64_t now() const final { return now_; }
    void close_input() final {
        input_.close();
        output_.open();
    }
    BusCounts bus_counts() const final { return bus_; }
    LostFrames ingress_lost() const final { return input_.lost(); }

  protected:
    static constexpr std::int64_t kResetCycles = 16;  // as RtlDevice's

    // One cycle; the next one in which something may happen; cycles until then are left out.
    virtual void cycle() = 0;
    virtual std::int64_t next_event() const = 0;
    // A beat or word is offered.
    virtual bool offered() const = 0;
    // As the register shows it.
    virtual std::uint32_t free_chunks() const = 0;

    // Cycles since reset: the port's clock.
    std::int64_t age() const { return now_ + origin_ - kResetCycles; }
    void fetch_if_asked() {
        if (input_.asking() && (active_ || now_ >= input_.ask_again())) input_.fetch(now_);
    }
    // What stands for the class of a frame at the port: its class, or its DSCP.
    std::uint16_t key_of(const Frame& frame) {
        if (settings_.class_from_user) return static_cast<std::uint16_t>(frame.queue & 0xFF);
        if (frame.stored == 0) return kNoDscp;  // EtherType 0x88B5
        const std::uint32_t bytes = std::min(frame.length, kHeadBytes);
        if (frame.stored >= bytes) return static_cast<std::uint16_t>(edfr_dscp({frame.data, bytes}));
        frame_bytes(frame, seed_, head_.data());
        return static_cast<std::uint16_t>(edfr_dscp({head_.data(), bytes}));
    }
    // A class beside the frame that there is not.
    bool unknown_class(const Frame& frame) const { return settings_.class_from_user && (frame.queue & 0xFF) >= settings_.classes; }

    DeadlinePortSettings settings_;
    std::unique_ptr<PinFace> face_;
    std::uint64_t seed_;
    PortRegisters registers_;
    LinkInput input_;
    LinkOutput output_;
    Observer* observer_ = nullptr;
    std::int64_t now_ = 0, origin_ = 0;
    bool init_ = false;
    bool drained_ = false, half_ = false;  // half_: a frame has begun to come in
    std::uint32_t inside_ = 0;             // frames whose fate is not known
    BusCounts bus_;
    bool active_ = false;  // the observer was told something in this cycle

  private:
    static constexpr int kReadCycles = 3;            // of a register: the address, its value, the answer
    static constexpr std::uint32_t kHeadBytes = 24;  // in which a frame's DSCP is

    void ask() {
        if (input_.asking()) input_.fetch(now_);
    }
    void skip(std::int64_t until) {
        if (offered()) bus_.input_offered += until - now_;
        bus_.output_ready += std::max<std::int64_t>(0, until - std::max(now_, output_.ready_from()));
        now_ = until;
    }

    std::vector<std::uint8_t> head_ = std::vector<std::uint8_t>(kMaxFrameBytes + 2 * PST_BEAT_BYTES);
};

}  // namespace penstock::engine
