// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The deadline port as a queue that is asked for packets: the model that is equal to its RTL in every cycle, with its memory. It needs no
// ns-3.
//
// Times are ns and never go back. A frame comes whole, and its beats follow at the bus's pace; pop() is asked when the line is free, takes
// the frame that the port offers, and the rest of its beats leave at the line's pace. All fates are told by `drop(number, fate)`, in the
// call in which they are known: of frames that the port skips it says only how many, so those are known when one behind them has a fate.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "blocks/deadline/model/edfr_model.hpp"
#include "designs/deadline_port/model/device_settings.hpp"
#include "designs/deadline_port/model/port_memories.hpp"
#include "penstock/engine/memory_model.hpp"

namespace edfr {

enum class PortFate : std::uint8_t { Missed, NoRoom, Refused, Lost };

struct PortQueueSettings {
    penstock::engine::DeadlinePortSettings device;
    std::uint64_t clock_hz = 300'000'000;
    std::vector<std::int64_t> deadlines;  // of each class, ns; DSCP n is class n, all others class 0
};

class PortQueue {
  public:
    // Throws std::invalid_argument.
    explicit PortQueue(const PortQueueSettings& s)
        : settings_(s),
          per_(s.clock_hz / std::gcd(s.clock_hz, kSecond)),
          ns_(kSecond / std::gcd(s.clock_hz, kSecond)),
          port_(inside(s)),
          memories_(s.device, memories(s), penstock::engine::dram_accesses(memories(s)), 0, kSeed),
          lanes_(s.device.classes) {
        const auto nothing = [](std::uint64_t, PortFate) {};
        while (!port_.init_done()) cycle(nothing);
        for (std::uint32_t number = 0; number < s.device.classes; ++number) {
            tell_ = {number, static_cast<std::uint32_t>(cycles(s.deadlines[number]))};
            telling_ = true;
            while (telling_) cycle(nothing);
            dscp_ = number;
            cycle(nothing);
            dscp_ = penstock::kNoDscp;
        }
        origin_ = now_;
    }

    // Whether nothing is in it but the frame that leaves.
    bool empty() const { return inside_ == 0; }
    std::int64_t latest_ns() const { return latest_ * ns_ / per_; }  // how far behind its deadline a frame has begun at most
    std::int64_t cycles_run() const { return run_; }

    // `bytes` from the Ethernet header on, without FCS.
    template <typename Drop>
    void push(std::uint64_t number, std::uint32_t bytes, std::uint32_t dscp, std::int64_t now, const Drop& drop) {
        run(at(now), drop);
        arrived_.push_back({number, bytes, dscp});
        ++inside_;
    }

    // The number of the frame that begins now, if there is one; `line_ns(bytes)` is how long the line takes it. Not before the line is
    // free.
    template <typename LineNs, typename Drop>
    std::optional<std::uint64_t> pop(std::int64_t now, const LineNs& line_ns, const Drop& drop) {
        run(at(now), drop);
        while (begun_) cycle(drop);  // some cycles, by rounding
        if (!out_.valid) return std::nullopt;
        const std::uint64_t number = out_.frame.number;
        const std::uint32_t beats = (out_.frame.bytes + kBeat - 1) / kBeat;
        begun_ = true;
        line_from_ = now_;
        line_cycles_ = std::max<std::int64_t>(0, cycles(line_ns(out_.frame.bytes)) - kAhead);
        beats_ = beats;
        beat_ = 0;
        latest_ = std::max(latest_, now_ - 1 - out_.frame.deadline);
        named(out_.id, number, true, drop);
        --inside_;
        return number;
    }

  private:
    static constexpr std::uint64_t kSecond = 1'000'000'000;
    static constexpr std::uint64_t kSeed = 1;  // of stalls, which an ideal memory has none of
    static constexpr std::uint32_t kBeat = penstock::EdfrSettings::kBeatBytes;
    static constexpr std::int64_t kAhead = 16;  // cycles before the line is free in which the next frame comes to the output

    struct Arrived {
        std::uint64_t number;
        std::uint32_t bytes, dscp;
    };
    // Frames of a class in the order in which they leave, whatever becomes of them; and how many were skipped or lost that had no name.
    struct Entry {
        std::uint64_t number;
        bool gone;
    };
    struct Lane {
        std::deque<Entry> frames;
        std::uint64_t waiting = 0;           // entries that are not gone
        std::uint64_t missed = 0, lost = 0;  // of these
    };

    static penstock::EdfrSettings inside(const PortQueueSettings& s) {
        const auto& d = s.device;
        if (s.deadlines.size() != d.classes) throw std::invalid_argument("a deadline for each class of the port");
        penstock::EdfrSettings port;
        port.classes = d.classes;
        port.chunk_beats = d.chunk_bytes / kBeat;
        port.chunks = d.chunks;
        port.places = d.places;
        port.lines = d.lines;
        port.reads = d.reads;
        port.writes = d.writes;
        port.decided = d.decided;
        port.min_frame_bytes = d.min_frame_bytes;
        port.max_frame_bytes = d.max_frame_bytes;
        port.store_beats = d.store_beats;
        port.tick_cycles = d.tick_cycles;
        port.stamps.assign(port.classes, d.stamps);
        port.default_cycles = d.default_cycles;
        return port;
    }
    static std::vector<penstock::engine::MemorySettings> memories(const PortQueueSettings& s) {
        std::vector<penstock::engine::MemorySettings> found(1);
        found[0].bytes = std::uint64_t{s.device.chunks} * s.device.chunk_bytes;
        return found;
    }

    std::int64_t cycles(std::int64_t ns) const { return ns / ns_ * per_ + ns % ns_ * per_ / ns_; }
    std::int64_t at(std::int64_t ns) const { return origin_ + cycles(ns); }

    template <typename Drop>
    void run(std::int64_t until, const Drop& drop) {
        while (now_ < until) {
            cycle(drop);
            if (const std::int64_t next = next_event(); next > now_) now_ = std::min(next, until);
        }
    }

    // The next cycle in which something may happen, as PortDevice has it.
    std::int64_t next_event() const {
        if (!still_ || !memories_.idle() || offered_ || !arrived_.empty()) return now_;
        std::int64_t next = wakes_;
        if (begun_ && out_.valid) next = std::min(next, std::max(now_, beat_at()));
        return next;
    }
    // When the line takes the next beat of the frame that leaves: the first at once, the last just before the line is free.
    std::int64_t beat_at() const { return line_from_ + (beats_ < 2 ? 0 : line_cycles_ * beat_ / (beats_ - 1)); }

    template <typename Drop>
    void cycle(const Drop& drop) {
        if (!offered_ && !arrived_.empty()) offer();
        penstock::EdfrIn in;
        in.m_ready = begun_ && now_ >= beat_at();
        in.memory = memories_.step(now_, now_);
        in.beat = offered_ ? &beat_in_ : nullptr;
        if (telling_) in.set = &tell_;
        if (dscp_ != penstock::kNoDscp) {
            in.set_dscp = true;
            in.dscp = in.dscp_class = dscp_;
        }
        const bool same = still_ && !in.beat && !in.set && !in.set_dscp && (in.m_ready == in_.m_ready || !out_.valid) &&
                          std::memcmp(&in.memory, &in_.memory, sizeof in.memory) == 0;
        if (!same || now_ >= wakes_) {
            port_.skip_to(now_);
            still_ = !port_.cycle(in, out_) && !in.beat && !in.set;
            if (still_) wakes_ = port_.next_event();
            in_ = in;
            ++run_;
        } else {
            out_.refused.valid = out_.fate.valid = out_.expired.valid = out_.late.valid = out_.passed.valid = false;
        }
        if (offered_ && out_.ready) taken();
        if (telling_ && out_.set_ready) telling_ = false;
        memories_.clock(in.memory, out_.memory, now_, now_);
        events(drop);
        if (out_.valid && in.m_ready && ++beat_ == beats_) begun_ = false;
        ++now_;
    }

    void offer() {
        const Arrived& frame = arrived_.front();
        beat_in_ = {};
        beat_in_.number = frame.number;
        beat_in_.key = static_cast<std::uint16_t>(frame.dscp);
        const std::uint32_t left = frame.bytes - kBeat * given_;
        beat_in_.last = left <= kBeat;
        beat_in_.bytes = static_cast<std::uint8_t>(std::min(left, kBeat));
        offered_ = true;
    }
    void taken() {
        offered_ = false;
        ++given_;
        if (!beat_in_.last) return;
        arrived_.pop_front();
        given_ = 0;
    }

    template <typename Drop>
    void events(const Drop& drop) {
        if (const auto& e = out_.refused; e.valid) fall(e.frame.number, PortFate::Refused, drop);
        if (const auto& e = out_.fate; e.valid) {
            if (e.fate == penstock::EdfrFate::Taken) {
                lanes_[e.id].frames.push_back({e.frame.number, false});
                ++lanes_[e.id].waiting;
            } else {
                fall(e.frame.number, PortFate::NoRoom, drop);
            }
        }
        if (const auto& p = out_.passed; p.valid) {
            Lane& lane = lanes_[p.id];
            (p.lost ? lane.lost : lane.missed) += p.count.frames;
            settle(lane, drop);
        }
        // What expires at the head may do so while frames that were decided before it still wait for the line.
        if (const auto& e = out_.expired; e.valid) {
            named(e.id, e.frame.number, false, drop);
            fall(e.frame.number, PortFate::Missed, drop);
        }
        if (const auto& e = out_.late; e.valid) {
            named(e.id, e.frame.number, true, drop);
            fall(e.frame.number, PortFate::Missed, drop);
        }
    }
    // `number` has a fate of its own. `all_before`: what stands before it in its class was skipped.
    template <typename Drop>
    void named(std::uint32_t id, std::uint64_t number, bool all_before, const Drop& drop) {
        Lane& lane = lanes_[id];
        auto at = std::find_if(lane.frames.begin(), lane.frames.end(), [number](const Entry& entry) { return entry.number == number; });
        if (at == lane.frames.end()) throw std::logic_error("the deadline port names a frame that it does not have");
        at->gone = true;
        --lane.waiting;
        while (all_before && lane.frames.front().number != number) skipped(lane, drop);
        settle(lane, drop);
    }
    template <typename Drop>
    void settle(Lane& lane, const Drop& drop) {
        while (!lane.frames.empty() && (lane.frames.front().gone || lane.missed + lane.lost == lane.waiting)) skipped(lane, drop);
    }
    template <typename Drop>
    void skipped(Lane& lane, const Drop& drop) {
        const Entry entry = lane.frames.front();
        lane.frames.pop_front();
        if (entry.gone) return;
        if (lane.missed + lane.lost == 0) throw std::logic_error("a frame of the deadline port has no fate");
        const bool missed = lane.missed != 0;
        --(missed ? lane.missed : lane.lost);
        --lane.waiting;
        fall(entry.number, missed ? PortFate::Missed : PortFate::Lost, drop);
    }
    template <typename Drop>
    void fall(std::uint64_t number, PortFate fate, const Drop& drop) {
        --inside_;
        drop(number, fate);
    }

    PortQueueSettings settings_;
    std::int64_t per_, ns_;  // cycles in so many ns
    penstock::EdfrModel port_;
    penstock::engine::PortMemories memories_;
    std::vector<Lane> lanes_;
    std::deque<Arrived> arrived_;  // that have not been taken whole
    std::uint64_t inside_ = 0;
    std::int64_t latest_ = 0, now_ = 0, origin_ = 0, run_ = 0;

    penstock::EdfrBeat beat_in_;
    bool offered_ = false;
    std::uint32_t given_ = 0;  // beats of the frame at the input
    penstock::EdfrDue::Set tell_{};
    bool telling_ = false;
    std::uint32_t dscp_ = penstock::kNoDscp;

    penstock::EdfrIn in_;    // of the port, in the last cycle that was not left out,
    penstock::EdfrOut out_;  // and what it said
    bool still_ = false;
    std::int64_t wakes_ = 0;
    bool begun_ = false;  // a frame leaves
    std::int64_t line_from_ = 0, line_cycles_ = 0;
    std::uint32_t beats_ = 0, beat_ = 0;
};

}  // namespace edfr
