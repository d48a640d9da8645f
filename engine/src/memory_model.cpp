// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "penstock/engine/memory_model.hpp"

#include <sys/mman.h>

#include <bit>
#include <cstring>
#include <new>
#include <stdexcept>
#include <utility>

#include "penstock/engine/device.hpp"

namespace penstock::engine {

namespace {
constexpr std::uint64_t kBoundary = 4096;  // no AXI4 burst crosses it
}

std::vector<std::unique_ptr<DramAccess>> dram_accesses(const std::vector<MemorySettings>& memories) {
    std::vector<std::unique_ptr<DramAccess>> accesses;
    std::shared_ptr<HbmSwitch> crossbar;
    for (std::uint32_t m = 0; m < memories.size(); ++m) {
        const MemorySettings& memory = memories[m];
        accesses.push_back(nullptr);
        if (!memory.dram) continue;
        if (!memory.crossbar) {
            accesses.back() = std::make_unique<DramAccess>(*memory.dram);
            continue;
        }
        const std::uint32_t first = memory.crossbar_first;
        if (first > m || m - first >= memory.crossbar_ports || memories.size() - first < memory.crossbar_ports)
            throw std::invalid_argument("memory " + std::to_string(m) + " is none of those behind its crossbar");
        if (m == first) {
            std::vector<DramSettings> channels;
            for (std::uint32_t c = first; c < first + memory.crossbar_ports; ++c) {
                if (!memories[c].crossbar || memories[c].crossbar_first != first || !memories[c].dram)
                    throw std::invalid_argument("memory " + std::to_string(c) + " is not behind the crossbar of memory " +
                                                std::to_string(m));
                channels.push_back(*memories[c].dram);
            }
            crossbar = std::make_shared<HbmSwitch>(*memory.crossbar, channels);
        }
        accesses.back() = std::make_unique<DramAccess>(crossbar, m - first);
    }
    return accesses;
}

MemoryModel::MemoryModel(const MemorySettings& settings, std::unique_ptr<DramAccess> dram, unsigned index, std::uint64_t seed)
    : settings_(settings), index_(index), random_(seed, 0x4D45'4D00 + index), dram_(std::move(dram)) {
    if (settings.dram && settings.dram->bursts + settings.dram->reorder_beats > kBursts)
        throw std::invalid_argument("a memory has room for 2,048 bursts");
    void* mapped = mmap(nullptr, settings_.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) throw std::bad_alloc();
    storage_ = static_cast<std::uint8_t*>(mapped);
}

MemoryModel::~MemoryModel() { munmap(storage_, settings_.bytes); }

void MemoryModel::fail(const std::string& what) const { throw DeviceError("memory " + std::to_string(index_) + ": " + what); }

void MemoryModel::drive_dram(pst_axi_pins& pins) {
    dram_->step();
    pins.awready_i = !fault_.deaf && dram_->aw_ready();
    pins.wready_i = !fault_.deaf && dram_->w_ready();
    pins.arready_i = !fault_.deaf && dram_->ar_ready();
    respond(pins, dram_->b_valid());
    if (!pins.rvalid_i && !fault_.mute && dram_->r_valid()) present(pins);
}

void MemoryModel::present(pst_axi_pins& pins) {
    const Burst& burst = reads_.front();
    std::memcpy(pins.rdata_i, storage_ + burst.address + std::uint64_t{PST_BEAT_BYTES} * burst.done, PST_BEAT_BYTES);
    pins.rvalid_i = 1;
    pins.rresp_i = fault_.errors ? kSlaveError : 0;
    pins.rid_i = 0;
    pins.rlast_i = burst.done + 1 == burst.beats;
}

void MemoryModel::check_burst(const char* channel, std::uint64_t address, unsigned len, unsigned size, unsigned burst) const {
    const auto where = [&] {
        return std::string(channel) + " burst of " + std::to_string(len + 1) + " beats at " + std::to_string(address);
    };
    const std::uint64_t bytes = std::uint64_t{PST_BEAT_BYTES} * (len + 1);
    if (size != 6 || burst != 1) fail(where() + " is not INCR with 64 bytes a beat");
    if (address % PST_BEAT_BYTES) fail(where() + " is not aligned to 64 bytes");
    if (address % kBoundary + bytes > kBoundary) fail(where() + " crosses a 4 KiB boundary");
    if (address > settings_.bytes || bytes > settings_.bytes - address)
        fail(where() + " is outside of the memory's " + std::to_string(settings_.bytes) + " bytes");
}

void MemoryModel::write_beat(const pst_axi_pins& pins, std::int64_t now) {
    Burst& burst = writes_.front();
    std::uint8_t* to = storage_ + burst.address + std::uint64_t{PST_BEAT_BYTES} * burst.done;
    const auto* from = reinterpret_cast<const std::uint8_t*>(pins.wdata_o);
    if (pins.wstrb_o == ~std::uint64_t{0}) {
        std::memcpy(to, from, PST_BEAT_BYTES);
    } else {
        for (std::uint64_t left = pins.wstrb_o; left; left &= left - 1) to[std::countr_zero(left)] = from[std::countr_zero(left)];
    }
    if (static_cast<std::int64_t>(counts_.write_beats) == flip_ && pins.wstrb_o) to[std::countr_zero(pins.wstrb_o)] ^= 0x01;
    ++counts_.write_beats;
    if (dram_) dram_->take_w();
    const bool last = ++burst.done == burst.beats;
    if (last != static_cast<bool>(pins.wlast_o))
        fail("wlast is " + std::to_string(pins.wlast_o) + " at beat " + std::to_string(burst.done) + " of " + std::to_string(burst.beats));
    if (!last) return;
    writes_.pop();
    if (dram_) return;
    if (answers_.full()) fail("more write responses outstanding than the engine has room for");
    answers_.push(now + settings_.write_latency);
}

void MemoryModel::check_hold(const pst_axi_pins& p) {
    if (held_aw_ && !(p.awvalid_o && p.awaddr_o == held_awaddr_ && p.awlen_o == held_awlen_))
        fail("write address changed before it was taken");
    if (held_ar_ && !(p.arvalid_o && p.araddr_o == held_araddr_ && p.arlen_o == held_arlen_))
        fail("read address changed before it was taken");
    if (held_w_ && !(p.wvalid_o && p.wstrb_o == held_strb_ && static_cast<bool>(p.wlast_o) == held_last_ &&
                     std::memcmp(p.wdata_o, held_data_, sizeof held_data_) == 0))
        fail("write data changed before it was taken");
    held_aw_ = p.awvalid_o && !p.awready_i;
    held_ar_ = p.arvalid_o && !p.arready_i;
    held_w_ = p.wvalid_o && !p.wready_i;
    held_ = held_aw_ || held_ar_ || held_w_;
    if (held_aw_) held_awaddr_ = p.awaddr_o, held_awlen_ = p.awlen_o;
    if (held_ar_) held_araddr_ = p.araddr_o, held_arlen_ = p.arlen_o;
    if (held_w_) {
        held_strb_ = p.wstrb_o;
        held_last_ = p.wlast_o;
        std::memcpy(held_data_, p.wdata_o, sizeof held_data_);
    }
}

void MemoryModel::handle(pst_axi_pins& pins, std::int64_t now) {
    check_hold(pins);
    if (pins.wvalid_o && pins.wready_i) write_beat(pins, now);
    if (pins.awvalid_o && pins.awready_i) {
        check_burst("write", pins.awaddr_o, pins.awlen_o, pins.awsize_o, pins.awburst_o);
        writes_.push({pins.awaddr_o, 0, pins.awlen_o + 1U, 0});
        if (dram_) dram_->take_aw(pins.awaddr_o, pins.awlen_o + 1U);
        ++counts_.write_bursts;
        counts_.frames += settings_.page_bytes && pins.awaddr_o % settings_.page_bytes == 0;
    }
    b_waits_ = pins.bvalid_i && !pins.bready_o;
    if (pins.bvalid_i && pins.bready_o) {
        if (dram_)
            dram_->give_b();
        else
            answers_.pop();
    }
    if (pins.rvalid_i && pins.rready_o) {
        Burst& burst = reads_.front();
        ++counts_.read_beats;
        if (++burst.done == burst.beats) reads_.pop();
        pins.rvalid_i = 0;
        if (dram_) dram_->give_r();
    }
    if (pins.arvalid_o && pins.arready_i) {
        check_burst("read", pins.araddr_o, pins.arlen_o, pins.arsize_o, pins.arburst_o);
        reads_.push({pins.araddr_o, now + settings_.read_latency, pins.arlen_o + 1U, 0});
        if (dram_) dram_->take_ar(pins.araddr_o, pins.arlen_o + 1U);
        ++counts_.read_bursts;
    }
}

}  // namespace penstock::engine
