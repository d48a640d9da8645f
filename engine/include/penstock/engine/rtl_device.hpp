// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// A device that is driven pin by pin through the C ABI of pins.h: bus models around a shared library, and the face of its design.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "penstock/engine/device.hpp"
#include "penstock/engine/environment.hpp"
#include "penstock/engine/link_ports.hpp"
#include "penstock/engine/memory_model.hpp"
#include "penstock/engine/pin_face.hpp"
#include "penstock/engine/register_master.hpp"
#include "penstock/engine/word_input.hpp"
#include "penstock/pins.h"

namespace penstock::engine {

// The functions of a device's shared library, loaded.
class DeviceLibrary {
  public:
    // Throws std::runtime_error when it is not there or not of this ABI version.
    explicit DeviceLibrary(const std::string& path);
    ~DeviceLibrary();
    DeviceLibrary(const DeviceLibrary&) = delete;
    DeviceLibrary& operator=(const DeviceLibrary&) = delete;

    decltype(&pst_create) create;
    decltype(&pst_destroy) destroy;
    decltype(&pst_step) step;
    decltype(&pst_error) error;
    pst_shape shape{};

  private:
    void* handle_;
};

class RtlDevice final : public Device {
  public:
    // Throws std::runtime_error when the library does not load, std::invalid_argument when it has other ports than `statement` says.
    RtlDevice(const std::string& library, std::unique_ptr<PinFace> face, unsigned inputs, unsigned outputs, const Environment& environment);
    ~RtlDevice() override;

    // The hardware of another device of this kind, in whatever state it is; before start(), whose reset has to clear it.
    void inherit(RtlDevice& other) { std::swap(device_, other.device_); }
    void start() override;
    void write(std::uint32_t address, std::uint32_t value) override { registers_.write(address, value); }
    std::uint32_t read(std::uint32_t address) override;
    void settle() override;
    void connect(std::span<FrameSource* const> sources, Observer* observer) override;
    void run(std::int64_t until) override;
    std::int64_t now() const override { return now_; }
    bool input_idle() const override;
    void close_input() override;

    MemoryCounts memory_counts(unsigned m) const override { return memories_[m]->counts(); }
    BusCounts bus_counts() const override { return bus_; }
    LostFrames ingress_lost() const override;

  private:
    struct Input {
        LinkInput link;
        WordInput words;
        Random random;
        std::vector<std::uint8_t> data;  // head and frame
    };
    struct Output {
        LinkOutput link;
        Random random;
        std::vector<std::uint8_t> data;  // of the frame that leaves
        std::size_t bytes = 0;
        std::int64_t first_bit = 0;
        std::uint32_t id = 0;
        bool held = false;  // offered and not taken in the cycle before, and what it was, by segment
        std::vector<pst_output_pins> before;
    };

    void ask();
    void cycle();
    // Pins of an input or output, of its first segment; the others follow.
    pst_input_pins* input_pins(std::size_t input) { return &in_pins_[input * segments_]; }
    pst_output_pins* output_pins(std::size_t output) { return &out_pins_[output * segments_]; }
    void offer_word(Input& input, pst_input_pins* pins);
    void put_beat(Input& input, pst_input_pins& pins);
    void input_taken(Input& input, pst_input_pins& pins);
    void output_taken(Output& output, unsigned number);
    void beat_taken(Output& output, unsigned number, const pst_output_pins& pins);
    void output_hold(Output& output, const pst_output_pins* pins);
    void report_events();
    std::string port(const char* name, std::size_t number, std::size_t of) const;
    [[noreturn]] void fail(const std::string& what) const;

    Environment environment_;
    DeviceLibrary library_;
    std::unique_ptr<PinFace> face_;
    std::uint32_t head_, segments_, beat_;
    pst_device* device_;
    std::vector<pst_input_pins> in_pins_;
    std::vector<pst_output_pins> out_pins_;
    std::vector<pst_event_pins> events_;
    std::vector<pst_axi_pins> axi_;
    pst_pins pins_{};
    std::vector<std::unique_ptr<MemoryModel>> memories_;
    RegisterMaster registers_;
    std::vector<Input> inputs_;
    std::vector<Output> outputs_;
    Observer* observer_ = nullptr;
    std::int64_t now_ = 0;
    BusCounts bus_;
    bool active_ = false;  // the observer was told something in this cycle
};

}  // namespace penstock::engine
