// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "designs/deadline_port/model/port_registers.hpp"

namespace penstock::engine {

std::uint32_t PortRegisters::read(std::uint32_t address, std::uint32_t free_chunks, bool init_done) {
    using namespace deadline_port;
    const auto half = [&](std::uint32_t at, std::uint64_t value) { return static_cast<std::uint32_t>(value >> 8 * (address - at)); };
    // An amount stands at two registers of 8 bytes.
    const auto in = [&](std::uint32_t at, const Amount& amount) {
        return address - at < 8 ? half(at, amount.packets) : half(at + 8, amount.bytes);
    };
    const auto inside = [&](std::uint32_t at) { return address >= at && address < at + 16; };
    const std::pair<std::uint32_t, const Amount*> shown[] = {{registers::kInFrames, &shown_.in},
                                                             {registers::kOutFrames, &shown_.out},
                                                             {registers::kMissedFrames, &shown_.missed},
                                                             {registers::kLostFrames, &shown_.lost},
                                                             {registers::kNoPageFrames, &shown_.no_page}};
    for (const auto& [at, amount] : shown)
        if (inside(at)) return in(at, *amount);
    if (inside(registers::kQueuedFrames)) {
        const auto& s = shown_;  // of a plain FIFO class 0 may hold less than none
        const auto frames = s.in.packets - s.out.packets - s.missed.packets - s.lost.packets - s.no_page.packets;
        const auto bytes = s.in.bytes - s.out.bytes - s.missed.bytes - s.lost.bytes - s.no_page.bytes;
        return in(registers::kQueuedFrames, {frames & fields::kQueuedFramesValue.most(), bytes & fields::kQueuedBytesValue.most()});
    }
    for (unsigned reason = 1; reason < kDropReasons; ++reason)
        if (const std::uint32_t at = kDropCounters[reason].packets; at != 0 && inside(at)) return in(at, dropped_[reason]);
    switch (address) {
        case registers::kType:
            return resets::kTypeValue;
        case registers::kVersion:
            return resets::kVersionValue;
        case registers::kClasses:
            return settings_.classes;
        case registers::kChunkBytes:
            return settings_.chunk_bytes;
        case registers::kChunks:
            return settings_.chunks;
        case registers::kMemories:
            return memories_;
        case registers::kClockHz:
            return clock_hz_;
        case registers::kFeatures:
            return fields::kFeaturesClassFromUser.at(settings_.class_from_user) | fields::kFeaturesPlainFifo.at(settings_.fifo);
        case registers::kStatus:
            return fields::kStatusInitDone.at(init_done) | fields::kStatusBusy.at(state_ != State::Idle || command_.has_value()) |
                   fields::kStatusRefused.at(refused_ != values::kRefusalAccepted) | fields::kStatusReason.at(refused_);
        case registers::kMinFrameBytes:
            return settings_.min_frame_bytes;
        case registers::kMaxFrameBytes:
            return settings_.max_frame_bytes;
        case registers::kTickCycles:
            return settings_.tick_cycles;
        case registers::kStamps:
            return settings_.stamps;
        case registers::kDefaultDeadline:
            return settings_.default_cycles;
        case registers::kClassIndex:
            return class_index_;
        case registers::kClassDeadline:
            return class_deadline_;
        case registers::kClassDeadlineNow:
            return class_index_ < settings_.classes ? deadline_now_[class_index_] : 0;
        case registers::kDscpIndex:
            return dscp_index_;
        case registers::kDscpClass:
            return dscp_class_;
        case registers::kDscpClassNow:
            return dscp_index_ < kDscps ? dscp_now_[dscp_index_] : 0;
        case registers::kMemoryLimit:
            return memory_limit_;
        case registers::kFreeChunks:
            return free_chunks;
        case registers::kDrain:
            return stop_;
        case registers::kDrained:
            return done_;
        case registers::kOutstanding:
            return outstanding_now_;
        case registers::kIrqCause:
            interrupt_.settle();
            return interrupt_.cause();
        case registers::kIrqMask:
            return interrupt_.mask();
        case registers::kIrqDrops:
            return interrupt_.threshold();
        case registers::kIrqLost:
            return interrupt_.lost();
        default:
            return 0;
    }
}

}  // namespace penstock::engine
