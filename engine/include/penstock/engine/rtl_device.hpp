// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// A device that is driven pin by pin through the C ABI of pins.h: bus models around a shared library.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "penstock/engine/device.hpp"
#include "penstock/engine/memory_model.hpp"
#include "penstock/engine/register_master.hpp"
#include "penstock/pins.h"

namespace penstock::engine {

struct RtlSettings {
    std::string library;
    double clock_hz = 0;
    std::vector<MemorySettings> memories;
    double ingress_bps = 0, egress_bps = 0;  // 0: as fast as the bus
    std::uint32_t overhead_bytes = 24;       // a frame, on both links
    std::uint32_t valid_permille = 1000;     // share of cycles in which the input may start to offer a beat
    std::uint32_t ready_permille = 1000;     // share of cycles in which the output may be ready
    std::uint64_t seed = 1;
    std::int64_t flip_byte = -1;  // self-test: the n-th beat written to memory 0 gets a wrong bit
};

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
    explicit RtlDevice(const RtlSettings& settings);
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

    const MemoryCounts& memory_counts(unsigned m) const { return memories_[m]->counts(); }
    // Cycles in which the input offered a beat, and in which it was taken; the same of the output.
    struct BusCounts {
        std::int64_t input_offered = 0, input_taken = 0, output_ready = 0, output_taken = 0;
    };
    const BusCounts& bus_counts() const { return bus_; }

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

    RtlSettings settings_;
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
