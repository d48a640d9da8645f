// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "penstock/engine/register_model.hpp"

#include <algorithm>

namespace penstock::engine {

namespace {
constexpr std::uint32_t kIndex = 0x40, kRate = 0x44, kBurst = 0x48, kLimitPackets = 0x4C, kLimitBytes = 0x50, kCommand = 0x54;
constexpr std::uint32_t kAqm = 0x58, kAqmTarget = 0x5C, kAqmInterval = 0x60;
constexpr std::uint32_t kTreeIndex = 0x68, kTreeRate = 0x6C, kTreeBurst = 0x70, kTreeParent = 0x74, kTreeClass = 0x78;
constexpr std::uint32_t kWrite = 1, kSnapshot = 2, kWriteNext = 3, kTree = 4;  // kTree to kTree + 3: queue, subscriber, node, port
constexpr unsigned kOutstanding = 8;                                           // as RegisterMaster
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
        case kTreeIndex:
            tree_index_ = write.value;
            break;
        case kTreeRate:
            tree_rate_ = write.value;
            break;
        case kTreeBurst:
            tree_burst_ = write.value;
            break;
        case kTreeParent:
            tree_parent_ = write.value;
            break;
        case kTreeClass:
            tree_class_ = write.value;
            break;
        default:
            break;
    }
}

// As pst_control: the first reason in the order 1, 2, 3 or 4.
RegisterModel::Refused RegisterModel::check(std::uint32_t command) const {
    if (gates_ && command >> 2 == kTree >> 2) {
        using What = HierarchySetting::What;
        const auto what = static_cast<What>(command & 3);
        const std::uint32_t count = what == What::Queue        ? queues_
                                    : what == What::Subscriber ? queues_ / tree_.queues_per_subscriber
                                    : what == What::Node       ? tree_.nodes
                                                               : tree_.ports;
        if (tree_index_ >= count) return Refused::Index;
        if (what == What::Subscriber && tree_parent_ >= tree_.nodes) return Refused::Parent;
        if (what == What::Node && tree_parent_ >= tree_.ports) return Refused::Parent;
        return what == What::Queue && (tree_class_ & 0xFF) >= tree_.classes ? Refused::Class : Refused::Not;
    }
    if (command != kWrite && command != kWriteNext && command != kSnapshot) return Refused::Command;
    return index_ >= queues_ ? Refused::Index : Refused::Not;
}

HierarchySetting RegisterModel::tree_setting(std::uint32_t command) const {
    return {static_cast<HierarchySetting::What>(command & 3),
            tree_index_,
            {tree_rate_ & 0xFFFF, tree_rate_ >> 16 & 31, tree_burst_ & 0x0FFF'FFFF},
            tree_parent_,
            static_cast<std::uint8_t>(tree_class_),
            static_cast<std::uint8_t>((tree_class_ >> 8 & 7) + 1)};
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
        refused_ = check(*command_);
        if (refused_ == Refused::Not && *command_ >= kTree) {
            tree_setting_ = tree_setting(*command_);
            state_ = State::WriteTree;
        } else if (refused_ == Refused::Not && writes) {
            setting_ = {index_,
                        burst_ & 0x0FFF'FFFF,
                        std::min<std::uint32_t>(limit_bytes_, 0xFF'FFFF),
                        static_cast<std::uint16_t>(rate_),
                        static_cast<std::uint16_t>(std::min<std::uint32_t>(limit_packets_, 0xFFFF)),
                        static_cast<std::uint8_t>(rate_ >> 16 & 31),
                        aqm_};
            state_ = State::Write;
            if (*command_ == kWriteNext) ++index_;
        } else if (refused_ == Refused::Not) {
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
