// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// One AXI4 memory: 512 bits wide, answers in order. Ideal (fixed latencies, gaps, reads and writes that know nothing of each other), or a
// channel of DRAM. It checks the device's side of the protocol.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "penstock/engine/device.hpp"
#include "penstock/engine/dram_access.hpp"
#include "penstock/engine/random.hpp"
#include "penstock/engine/ring.hpp"
#include "penstock/pins.h"

namespace penstock::engine {

// What is wrong with a memory for a while, in cycles of the run.
struct MemoryFault {
    enum class What : std::uint8_t {
        Stall,   // it takes and gives nothing
        Silent,  // it takes what comes, and answers nothing
        Errors,  // it answers with SLVERR
    };
    What what = What::Stall;
    std::int64_t from = 0, until = INT64_MAX;  // the first cycle, and the first one after
};

// Of one cycle.
struct MemoryFaultNow {
    bool deaf = false, mute = false, errors = false;
};

inline MemoryFaultNow faults_at(const std::vector<MemoryFault>& faults, std::int64_t now) {
    MemoryFaultNow found;
    for (const MemoryFault& fault : faults) {
        if (now < fault.from || now >= fault.until) continue;
        found.deaf |= fault.what == MemoryFault::What::Stall;
        found.mute |= fault.what != MemoryFault::What::Errors;
        found.errors |= fault.what == MemoryFault::What::Errors;
    }
    return found;
}

struct MemorySettings {
    std::uint64_t bytes = 0;           // a multiple of 4 KiB is usual, of 64 needed
    std::uint32_t read_latency = 40;   // cycles from the address handshake to the first beat at the earliest, >= 1
    std::uint32_t write_latency = 20;  // cycles from the last beat to the response at the earliest, >= 1
    std::uint32_t gap_permille = 0;    // share of cycles in which it takes and gives nothing, 0..999
    std::uint32_t page_bytes = 0;      // of a page, 0: not known; a burst that begins a page begins a frame
    std::optional<DramSettings> dram;  // a channel of DRAM, in place of the three above
    // The channel is a pseudo channel behind a crossbar, which it shares with memories crossbar_first .. crossbar_first + crossbar_ports
    // - 1.
    std::optional<HbmSwitchSettings> crossbar;
    std::uint32_t crossbar_first = 0, crossbar_ports = 0;
    std::vector<MemoryFault> faults;  // what it has offered already it goes on to offer
};

// What is behind each memory that is DRAM, null for the others. Throws std::invalid_argument.
std::vector<std::unique_ptr<DramAccess>> dram_accesses(const std::vector<MemorySettings>& memories);

class MemoryModel {
  public:
    MemoryModel(const MemorySettings& settings, std::unique_ptr<DramAccess> dram, unsigned index, std::uint64_t seed);
    ~MemoryModel();
    MemoryModel(const MemoryModel&) = delete;
    MemoryModel& operator=(const MemoryModel&) = delete;

    // Sets the pins that the memory drives in this cycle.
    void drive(pst_axi_pins& pins, std::int64_t now) {
        if (!settings_.faults.empty()) fault_ = faults_at(settings_.faults, now);
        if (dram_) return drive_dram(pins);
        gap_ = settings_.gap_permille && random_.permille(settings_.gap_permille);
        pins.awready_i = !gap_ && !fault_.deaf && writes_.size() < kOutstanding;
        pins.wready_i = !gap_ && !fault_.deaf && !writes_.empty();
        pins.arready_i = !gap_ && !fault_.deaf && reads_.size() < kOutstanding;
        respond(pins, !answers_.empty() && answers_.front() <= now);
        if (!pins.rvalid_i && !gap_ && !fault_.mute && !reads_.empty() && reads_.front().ready <= now) present(pins);
    }
    // Takes what was handed over in this cycle. Throws DeviceError when the device breaks the protocol.
    void sample(pst_axi_pins& pins, std::int64_t now) {
        if (pins.awvalid_o | pins.wvalid_o | pins.arvalid_o | pins.rvalid_i | pins.bvalid_i | held_) handle(pins, now);
    }

    const MemoryCounts& counts() const { return counts_; }
    // What a channel of DRAM has done; null for an ideal memory.
    const DramCounts* dram_counts() const { return dram_ ? &dram_->counts() : nullptr; }
    // Self-test hook: flips a bit in one byte of the n-th beat (from 0) that is written from now on.
    void flip_byte(std::int64_t beat) { flip_ = static_cast<std::int64_t>(counts_.write_beats) + beat; }

  private:
    struct Burst {
        std::uint64_t address;
        std::int64_t ready;  // cycle of the first beat at the earliest (reads)
        std::uint32_t beats, done;
    };
    static constexpr std::size_t kOutstanding = 64;  // of an ideal memory; a channel of DRAM has limits of its own
    static constexpr std::size_t kBursts = 2048;
    static constexpr std::uint8_t kSlaveError = 2;

    void drive_dram(pst_axi_pins& pins);
    // Offers a write response, if there is one; one that was offered and not taken stays as it is.
    void respond(pst_axi_pins& pins, bool ready) {
        if (b_waits_) return;
        pins.bvalid_i = ready && !fault_.mute;
        pins.bresp_i = fault_.errors ? kSlaveError : 0;
    }
    void present(pst_axi_pins& pins);
    void handle(pst_axi_pins& pins, std::int64_t now);
    void check_hold(const pst_axi_pins& pins);
    void check_burst(const char* channel, std::uint64_t address, unsigned len, unsigned size, unsigned burst) const;
    void write_beat(const pst_axi_pins& pins, std::int64_t now);
    [[noreturn]] void fail(const std::string& what) const;

    MemorySettings settings_;
    unsigned index_;
    Random random_;
    std::unique_ptr<DramAccess> dram_;
    std::uint8_t* storage_;  // mapped, so pages that are never written cost nothing
    Ring<Burst, kBursts> writes_, reads_;
    Ring<std::int64_t, 2 * kOutstanding> answers_;
    MemoryCounts counts_;
    std::int64_t flip_ = -1;
    bool gap_ = false, b_waits_ = false;
    MemoryFaultNow fault_;
    // What the device offered and did not get rid of in the cycle before.
    bool held_ = false, held_aw_ = false, held_w_ = false, held_ar_ = false, held_last_ = false;
    std::uint64_t held_awaddr_ = 0, held_araddr_ = 0, held_strb_ = 0;
    std::uint8_t held_awlen_ = 0, held_arlen_ = 0;
    std::uint32_t held_data_[16] = {};
};

}  // namespace penstock::engine
