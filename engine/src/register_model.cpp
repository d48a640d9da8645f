// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "penstock/engine/register_model.hpp"

#include <algorithm>

namespace penstock::engine {

namespace {
constexpr std::uint32_t kIndex = 0x40, kRate = 0x44, kBurst = 0x48, kLimitPackets = 0x4C, kLimitBytes = 0x50, kCommand = 0x54;
constexpr std::uint32_t kAqm = 0x58, kAqmTarget = 0x5C, kAqmInterval = 0x60;
constexpr std::uint32_t kWrite = 1, kSnapshot = 2, kWriteNext = 3;
constexpr unsigned kOutstanding = 8;  // as RegisterMaster
}  // namespace

void RegisterModel::execute(const Write& write) {
    switch (write.address) {
        case kIndex:
            index_ = write.value;
            break;
        case kRate:
            rate_ = write.value;
            break;
        case kBurst:
            burst_ = write.value;
            break;
        case kLimitPackets:
            limit_packets_ = write.value;
            break;
        case kLimitBytes:
            limit_bytes_ = write.value;
            break;
        case kAqm:
            aqm_.enable = write.value & 1;
            aqm_.ecn = write.value >> 1 & 1;
            break;
        case kAqmTarget:
            aqm_.target = write.value & 0x3'FFFF;
            break;
        case kAqmInterval:
            aqm_.interval = write.value & 0x3'FFFF;
            break;
        default:
            break;
    }
}

void RegisterModel::step(bool setting_taken) {
    const bool responding = responding_;
    responding_ = false;
    // The register block: a write takes effect in the cycle after it was taken from the bus, a command is answered when it starts.
    const bool accept = held_ && !external_;
    const bool taken = !pending_.empty() && outstanding_ < kOutstanding && (!held_ || accept);
    const bool start = command_ && state_ == State::Idle;
    if (setting_taken) state_ = State::Idle;
    if (start) {
        const bool writes = *command_ == kWrite || *command_ == kWriteNext;
        refused_ = index_ >= queues_ || !(writes || *command_ == kSnapshot);
        if (!refused_ && writes) {
            setting_ = {index_,
                        burst_ & 0x0FFF'FFFF,
                        std::min<std::uint32_t>(limit_bytes_, 0xFF'FFFF),
                        static_cast<std::uint16_t>(rate_),
                        static_cast<std::uint16_t>(std::min<std::uint32_t>(limit_packets_, 0xFFFF)),
                        static_cast<std::uint8_t>(rate_ >> 16 & 31),
                        aqm_};
            state_ = State::Write;
            if (*command_ == kWriteNext) ++index_;
        } else if (!refused_) {
            snapshot_ = index_;
        }
        command_.reset();
        external_ = false;
        responding_ = true;
    }
    if (accept) {
        held_ = false;
        if (write_.address == kCommand) {
            command_ = write_.value;
            external_ = true;
        } else {
            execute(write_);
            responding_ = true;
        }
    }
    if (taken) {
        write_ = pending_.front();
        pending_.pop_front();
        held_ = true;
        ++outstanding_;
    }
    if (responding) --outstanding_;
}

}  // namespace penstock::engine
