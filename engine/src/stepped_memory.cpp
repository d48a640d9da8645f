// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "penstock/engine/stepped_memory.hpp"

#include <utility>

namespace penstock::engine {

SteppedPort::SteppedPort(const MemorySettings& settings, std::unique_ptr<DramAccess> dram, unsigned index, std::uint64_t seed)
    : settings_(settings), random_(seed, 0x4D45'4D00 + index), dram_(std::move(dram)) {}

void SteppedPort::step(std::int64_t cycle, std::int64_t now) {
    if (!settings_.faults.empty()) fault_ = faults_at(settings_.faults, now);
    if (dram_) {
        dram_->step_to(cycle);
    } else {
        cycle_ = cycle;
        gap_ = settings_.gap_permille && random_.permille_at(static_cast<std::uint64_t>(cycle) + 1, settings_.gap_permille);
    }
    if (offered_ || fault_.mute) return;
    offered_ = dram_ ? dram_->r_valid() : !gap_ && !reads_.empty() && reads_.front().ready <= cycle;
    error_ = fault_.errors;
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
    offered_ = false;
    if (dram_) return dram_->give_r();
    if (--reads_.front().left == 0) reads_.pop();
}

SteppedMemory::SteppedMemory(const std::vector<MemorySettings>& settings, const std::vector<PageLayout>& layout, unsigned outstanding,
                             std::uint64_t seed)
    : layout_(layout),
      guards_(settings.size()),
      outstanding_(outstanding),
      written_(outstanding),
      pending_(outstanding),
      write_addresses_(settings.size()),
      data_route_(outstanding),
      port_data_(settings.size()),
      answers_(settings.size()),
      fetched_(outstanding),
      read_addresses_(settings.size()),
      read_route_(outstanding),
      port_read_(settings.size()) {
    ports_.reserve(settings.size());
    auto drams = dram_accesses(settings);
    for (unsigned m = 0; m < settings.size(); ++m) ports_.emplace_back(settings[m], std::move(drams[m]), m, seed);
}

// In the RTL everything happens at once: first what the guard sees, then what follows from it.
void SteppedMemory::guard_write(std::size_t m, std::int64_t now) {
    SteppedPort& port = ports_[m];
    Guard& guard = guards_[m];
    auto& address = write_addresses_.port[m];
    auto& data = port_data_[m];
    const bool aw_ready = port.aw_ready(), w_ready = port.w_ready(), b_valid = port.b_valid();
    const bool answer = guard.aw_open != 0 && guard.w_open != 0, noted = !guard.noted.empty();
    const bool aw = address.valid(now), w = data.valid(now);
    bool aw_taken = false, w_end = false, b_given = false;
    if (!guard.lost) {
        guard.write_waiting = !b_valid && (answer || (noted && w && !w_ready) || (aw && !aw_ready && (!noted || w)));
        if (b_valid) {
            answers_[m].push(port.b_error(), now);
            port.give_b();
            b_given = true;
        }
        if (noted && w && w_ready) {
            w_end = data.front().last;
            data.pop(now);
            port.take_w();
            guard.sent_beat();
        }
        if (aw && !guard.aw_held) guard.noted.push(address.front().beats);
        guard.aw_held = aw && !aw_ready;
        if (aw) guard.aw = {address.front().address, address.front().beats};
        aw_taken = aw && aw_ready;
        if (aw_taken) port.take_aw(guard.aw.address, guard.aw.beats);
    } else {
        if (answer) answers_[m].push(true, now);
        b_given = answer;
        if (w && guard.w_open != outstanding_) {
            w_end = data.front().last;
            data.pop(now);
        }
        aw_taken = aw && guard.aw_open != outstanding_;
        if (b_valid) port.give_b();
        if (noted && w_ready) {
            port.take_w();
            guard.sent_beat();
        }
        if (guard.aw_held && aw_ready) {
            port.take_aw(guard.aw.address, guard.aw.beats);
            guard.aw_held = false;
        }
    }
    if (aw_taken) address.pop(now);
    guard.aw_open += aw_taken;
    guard.w_open += w_end;
    guard.aw_open -= b_given;
    guard.w_open -= b_given;
}

void SteppedMemory::guard_read(std::size_t m, std::int64_t now) {
    SteppedPort& port = ports_[m];
    Guard& guard = guards_[m];
    auto& address = read_addresses_.port[m];
    auto& data = port_read_[m];
    const bool ar_ready = port.ar_ready(), r_valid = port.r_valid(), room = data.room(now);
    const bool owed = !guard.owed.empty(), ar = address.valid(now) && guard.owed.size() != outstanding_;
    bool ar_taken = false;
    if (!guard.lost) {
        guard.read_waiting = !r_valid && (owed || (ar && !ar_ready));
        guard.r_held = r_valid && !room;
        if (r_valid && room) {
            data.push(port.r_error(), now);
            port.give_r();
            guard.got_beat();
        }
        guard.ar_held = ar && !ar_ready;
        if (ar) guard.ar = {address.front().address, address.front().beats};
        ar_taken = ar && ar_ready;
        if (ar_taken) port.take_ar(guard.ar.address, guard.ar.beats);
    } else {
        // A beat that was on offer when the memory was lost is the last one that comes from it.
        if (guard.r_held && room) {
            data.push(port.r_error(), now);
            port.give_r();
            guard.got_beat();
            guard.r_held = false;
        } else if (!guard.r_held) {
            if (owed && room) {
                data.push(true, now);
                guard.got_beat();
            }
            if (r_valid) port.give_r();
        }
        ar_taken = ar;
        if (guard.ar_held && ar_ready) {
            port.take_ar(guard.ar.address, guard.ar.beats);
            guard.ar_held = false;
        }
    }
    if (ar_taken) {
        guard.owed.push(address.front().beats);
        address.pop(now);
    }
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
