// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "penstock/engine/stepped_memory.hpp"

namespace penstock::engine {

SteppedPort::SteppedPort(const MemorySettings& settings, unsigned index, std::uint64_t seed)
    : settings_(settings), random_(seed, 0x4D45'4D00 + index), dram_(nullptr) {
    if (settings.dram) {
        channel_.emplace_back(*settings.dram);
        dram_ = &channel_.front();
    }
}

void SteppedPort::step(std::int64_t cycle) {
    if (dram_) return dram_->step_to(cycle);
    cycle_ = cycle;
    gap_ = settings_.gap_permille && random_.permille_at(static_cast<std::uint64_t>(cycle) + 1, settings_.gap_permille);
    offered_ = offered_ || (!gap_ && !reads_.empty() && reads_.front().ready <= cycle);
}

void SteppedPort::take_aw(std::uint64_t address, std::uint32_t beats) {
    ++counts.write_bursts;
    counts.frames += settings_.page_bytes && address % settings_.page_bytes == 0;
    if (dram_) return dram_->take_aw(address, beats);
    writes_.push(beats);
}

void SteppedPort::take_w() {
    ++counts.write_beats;
    if (dram_) return dram_->take_w();
    if (--writes_.front() != 0) return;
    writes_.pop();
    answers_.push(cycle_ + settings_.write_latency);
}

void SteppedPort::take_ar(std::uint64_t address, std::uint32_t beats) {
    ++counts.read_bursts;
    if (dram_) return dram_->take_ar(address, beats);
    reads_.push({cycle_ + settings_.read_latency, beats});
}

void SteppedPort::give_b() {
    if (dram_) return dram_->give_b();
    answers_.pop();
}

void SteppedPort::give_r() {
    ++counts.read_beats;
    if (dram_) return dram_->give_r();
    offered_ = false;
    if (--reads_.front().left == 0) reads_.pop();
}

SteppedMemory::SteppedMemory(const std::vector<MemorySettings>& settings, const std::vector<PageLayout>& layout, std::uint64_t seed)
    : layout_(layout),
      write_addresses_(settings.size()),
      port_data_(settings.size()),
      answers_(settings.size()),
      read_addresses_(settings.size()),
      port_read_(settings.size()) {
    ports_.reserve(settings.size());
    for (unsigned m = 0; m < settings.size(); ++m) ports_.emplace_back(settings[m], m, seed);
}

void SteppedMemory::store(const MemoryFrame& frame, std::int64_t now) {
    ++under_way_;
    written_.push(frame, now);
    write_splitter_.enter(frame, now);
}

void SteppedMemory::fetch(const MemoryFrame& frame, std::int64_t now) {
    ++under_way_;
    fetched_.push(frame, now);
    read_splitter_.enter(frame, now);
}

SteppedMemory::Burst SteppedMemory::Splitter::burst(const std::vector<PageLayout>& layout) const {
    using namespace memory_timing;
    const MemoryFrame& frame = burst_.frame;
    const std::uint32_t left = (frame.length + kBeatBytes - 1) / kBeatBytes - done_;
    if (frame.memory < 0) return {-1, 0, left, true};
    const PageLayout& page = layout[frame.memory];
    const std::uint64_t line = first_line(page, frame.descriptor) + done_;
    const std::uint32_t beats = std::min(left, static_cast<std::uint32_t>(kBoundaryBeats - line % kBoundaryBeats));
    return {frame.memory, line * kBeatBytes - page.memory_base, beats, beats == left};
}

void SteppedMemory::Splitter::take(const Burst& burst) {
    done_ += burst.beats;
    if (burst.last) {
        burst_.full = false;
        done_ = 0;
    }
}

void SteppedMemory::Splitter::step(std::int64_t now) {
    if (!burst_.full && start_.full && start_.since < now) {
        burst_ = {true, now, start_.frame};
        start_.full = false;
    }
    if (!start_.full && page_.full && page_.since < now) {
        start_ = {true, now, page_.frame};
        page_.full = false;
    }
}

}  // namespace penstock::engine
