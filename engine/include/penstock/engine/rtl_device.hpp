// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// A device that is driven pin by pin through the C ABI of pins.h: bus models around a shared library.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "penstock/engine/device.hpp"
#include "penstock/engine/device_settings.hpp"
#include "penstock/engine/memory_model.hpp"
#include "penstock/engine/register_master.hpp"
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
    unsigned memories;

  private:
    void* handle_;
};

class RtlDevice final : public Device {
  public:
    explicit RtlDevice(const DeviceSettings& settings);
    ~RtlDevice() override;

    void start() override;
    void write(std::uint32_t address, std::uint32_t value) override { registers_.write(address, value); }
    std::uint32_t read(std::uint32_t address) override;
    void settle() override;
    void connect(FrameSource* source, Observer* observer) override;
    void run(std::int64_t until) override;
    std::int64_t now() const override { return now_; }
    bool input_idle() const override { return !sending_ && !waiting_; }
    void close_input() override;

    MemoryCounts memory_counts(unsigned m) const override { return memories_[m]->counts(); }
    BusCounts bus_counts() const override { return bus_; }

  private:
    static constexpr std::int64_t kNever = INT64_MAX;

    void cycle();
    void fetch();
    void load();
    void offer_beat();
    void input_taken();
    void output_taken();
    void output_hold();
    void report_fates();
    [[noreturn]] void fail(const std::string& what) const;

    DeviceSettings settings_;
    DeviceLibrary library_;
    pst_device* device_;
    pst_pins pins_{};
    std::vector<std::unique_ptr<MemoryModel>> memories_;
    RegisterMaster registers_;
    Link ingress_, egress_;
    Random input_random_, output_random_;
    FrameSource* source_ = nullptr;
    Observer* observer_ = nullptr;
    std::int64_t now_ = 0;
    BusCounts bus_;
    bool active_ = false;  // the observer was told something in this cycle

    // input
    Frame frame_;                           // on the link or next on it
    bool waiting_ = false;                  // frame_ is next, not yet begun
    bool asking_ = false;                   // the source has said that it does not know yet,
    std::int64_t ask_again_ = 0;            // and that it may in this cycle
    bool sending_ = false;                  // frame_ is being handed over
    Ticks link_free_ = 0, link_start_ = 0;  // of the ingress link, as if the device never stalled
    std::int64_t beat_cycle_ = kNever;      // the link has brought the next beat
    std::uint32_t input_at_ = 0, input_bytes_ = 0;
    std::vector<std::uint8_t> input_;  // prefix and frame

    // output
    Ticks egress_free_ = 0;
    std::int64_t first_bit_ = 0;
    std::uint32_t output_queue_ = 0;
    std::vector<std::uint8_t> output_;
    std::size_t output_bytes_ = 0;
    bool output_held_ = false;
    std::array<std::uint32_t, 16> held_data_{};
    std::uint64_t held_keep_ = 0;
    std::uint32_t held_tid_ = 0;
    bool held_last_ = false;
};

}  // namespace penstock::engine
