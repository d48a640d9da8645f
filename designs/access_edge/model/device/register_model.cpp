// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "designs/access_edge/model/device/register_model.hpp"

#include <algorithm>

#include "blocks/common/model/settings.hpp"
#include "penstock/engine/device.hpp"

namespace penstock::engine {

namespace {
namespace registers = access_edge::registers;
namespace fields = access_edge::fields;
namespace values = access_edge::values;
constexpr std::uint32_t kHierarchy = values::kCommandTreeQueue;  // and three more: subscriber, node, port
constexpr std::uint32_t kReadBack = values::kCommandReadBack;    // the same
constexpr std::uint32_t kWindow = registers::kExecuteQueueRate - registers::kQueueRate, kWindowBytes = 0x80;
constexpr unsigned kHalfWord = AqmSetting::kWordBits / 2;  // of an AQM's setting word, in each of two registers

// The command that a write in the window executes, if any.
std::optional<std::uint32_t> command_of(std::uint32_t address) {
    switch (address) {
        case registers::kExecuteQueueRate:
        case registers::kExecuteQueueBurst:
        case registers::kExecuteQueueLimitPackets:
        case registers::kExecuteQueueLimitBytes:
        case registers::kExecuteQueueAqm:
        case registers::kExecuteQueueAqmTarget:
        case registers::kExecuteQueueAqmInterval:
        case registers::kExecuteQueueClass:
        case registers::kExecuteTreeClass:
            return values::kCommandProvision;
        case registers::kExecuteTreeRate:
        case registers::kExecuteTreeBurst:
        case registers::kExecuteTreeParent:
            return values::kCommandTreeSubscriberNext;
        default:
            return {};
    }
}
bool is_read_back(std::uint32_t command) { return command >> 2 == kReadBack >> 2; }
bool is_hierarchy(std::uint32_t command) { return command >> 2 == kHierarchy >> 2 || command == values::kCommandTreeSubscriberNext; }
}  // namespace

void RegisterModel::execute(std::uint32_t address, std::uint32_t value) {
    switch (address) {
        case registers::kQueueIndex:
            index_ = value;
            break;
        case registers::kQueueRate:
            rate_ = value;
            break;
        case registers::kQueueBurst:
            burst_ = value;
            break;
        case registers::kQueueLimitPackets:
            limit_packets_ = value;
            break;
        case registers::kQueueLimitBytes:
            limit_bytes_ = value;
            break;
        case registers::kQueueAqm:
            aqm_.enable = fields::kQueueAqmEnable.of(value);
            aqm_.ecn = fields::kQueueAqmEcn.of(value);
            break;
        case registers::kQueueAqmTarget:
            // The upper half of the setting word; the next register has the lower one.
            aqm_.word = static_cast<std::uint64_t>(fields::kQueueAqmTargetTicks.of(value)) << kHalfWord | aqm_.field(0, kHalfWord);
            break;
        case registers::kQueueAqmInterval:
            aqm_.word = aqm_.word >> kHalfWord << kHalfWord | fields::kQueueAqmIntervalTicks.of(value);
            break;
        case registers::kQueueClass:
            queue_class_ = fields::kQueueClassCls.of(value);
            break;
        case registers::kShareClass:
            share_class_ = fields::kShareClassCls.of(value);
            break;
        case registers::kShareSize:
            share_size_ = fields::kShareSizeValue.of(value);
            break;
        case registers::kShareAlpha:
            share_alpha_ = fields::kShareAlphaExponent.of(value);
            break;
        case registers::kShareReserved:
            share_reserved_ = fields::kShareReservedPages.of(value);
            break;
        case registers::kBusiestPlace:
            busiest_place_ = fields::kBusiestPlaceValue.of(value);
            break;
        case registers::kNodeIndex:
            place_.node = value;
            break;
        case registers::kNodeClass:
            place_.cls = fields::kNodeClassCls.of(value);
            break;
        case registers::kFlowLimit:
            flow_limit_ = value;
            break;
        case registers::kQueueQuantum:
            quantum_ = fields::kQueueQuantumBytes.of(value) | fields::kQueueQuantumSides.of(value) << CoreSetting::kSidesAt;
            break;
        case registers::kFindItem:
            find_item_ = value;
            break;
        case registers::kFindValue:
            find_value_ = value;
            break;
        case registers::kFindKey0:
        case registers::kFindKey1:
        case registers::kFindKey2:
            find_key_[(address - registers::kFindKey0) / 4] = value;
            break;
        case registers::kMemoryTimeout:
            memory_timeout_ = value;
            break;
        case registers::kDrain:
            if (value & 1) throw DeviceError("registers: the model cannot be drained (register drain); the RTL can");
            break;
        case registers::kIrqCause:
            interrupt_.settle();
            interrupt_.clear(value);
            break;
        case registers::kIrqMask:
            interrupt_.set_mask(value);
            break;
        case registers::kIrqDrops:
            interrupt_.settle();
            interrupt_.set_threshold(value);
            break;
        case registers::kTreeIndex:
            hierarchy_index_ = value;
            break;
        case registers::kTreeRate:
            hierarchy_rate_ = value;
            break;
        case registers::kTreeBurst:
            hierarchy_burst_ = value;
            break;
        case registers::kTreeParent:
            hierarchy_parent_ = value;
            break;
        case registers::kTreeClass:
            hierarchy_class_ = value;
            break;
        case registers::kTreeGuarantee:
            hierarchy_guarantee_ = value;
            break;
        default:
            break;
    }
}

// As pst_control: the first reason in the order 1, 2, 3 or 4.
RegisterModel::Refused RegisterModel::check(std::uint32_t command) const {
    using What = HierarchySetting::What;
    const auto count = [this](What what) {
        return what == What::Queue        ? queues_
               : what == What::Subscriber ? queues_ / sizes_.queues_per_subscriber
               : what == What::Node       ? sizes_.nodes
                                          : sizes_.ports;
    };
    if (hierarchy_ && is_read_back(command) && command != kReadBack)
        return hierarchy_index_ >= count(hierarchy_setting(command).what) ? Refused::Index : Refused::Not;
    if (hierarchy_ && is_hierarchy(command)) {
        const auto what = hierarchy_setting(command).what;
        if (hierarchy_index_ >= count(what)) return Refused::Index;
        if (what == What::Subscriber && hierarchy_parent_ >= sizes_.nodes) return Refused::Parent;
        if (what == What::Node && hierarchy_parent_ >= sizes_.ports) return Refused::Parent;
        return what == What::Queue && fields::kTreeClassCls.of(hierarchy_class_) >= sizes_.classes ? Refused::Class : Refused::Not;
    }
    if (busiest_ && (command == values::kCommandScan || command == values::kCommandScanBacklog)) return Refused::Not;
    if (node_counters_ && command == values::kCommandSnapshotNode) {
        if (place_.node >= sizes_.nodes) return Refused::Index;
        return place_.cls >= sizes_.classes ? Refused::Class : Refused::Not;
    }
    if (share_classes_ && command == values::kCommandShare)
        return share_size_ >= page_sizes_ ? Refused::Index : share_class_ >= share_classes_ ? Refused::Class : Refused::Not;
    if (is_find(command)) {
        const std::uint32_t profiles = find_->profiles();
        switch (command) {
            case values::kCommandFindProfile:
                return find_item_ >= profiles ? Refused::Index : Refused::Not;
            case values::kCommandFindClass:
                return find_item_ >= 64 * profiles ? Refused::Index : Refused::Not;
            case values::kCommandFindMiss:
                return find_item_ > profiles ? Refused::Index : Refused::Not;
            case values::kCommandFindSeed:
                return find_item_ >= 64 * find_->chunks() ? Refused::Index : find_->keys() != 0 ? Refused::Key : Refused::Not;
            case values::kCommandFindSeparator: {
                const std::uint32_t level = find_item_ >> 24, node = find_item_ >> 2 & 0x3F'FFFF;
                return level >= find_->prefix_levels() || node >> 2 * level != 0 || (find_item_ & 3) == 3 ? Refused::Index : Refused::Not;
            }
            case values::kCommandFindInterval:
                return find_item_ >> 2 * find_->prefix_levels() != 0 ? Refused::Index : Refused::Not;
            default:
                return Refused::Not;
        }
    }
    if (flow_hash_ && command == values::kCommandFlowWord) return find_item_ >= FqHash::kWords ? Refused::Index : Refused::Not;
    const bool provision = command == values::kCommandProvision;
    const bool writes = command == values::kCommandWrite || command == values::kCommandWriteNext || provision;
    if (!writes && command != kReadBack && command != values::kCommandSnapshot) return Refused::Command;
    if (index_ >= queues_) return Refused::Index;
    if (provision && hierarchy_) return fields::kTreeClassCls.of(hierarchy_class_) >= sizes_.classes ? Refused::Class : Refused::Not;
    return writes && share_classes_ && queue_class_ >= share_classes_ ? Refused::Class : Refused::Not;
}

bool RegisterModel::is_find(std::uint32_t command) const {
    const std::uint32_t last = find_ && find_->prefix_levels() != 0 ? values::kCommandFindBank : values::kCommandFindMpls;
    return find_ && ((command >= values::kCommandFindInsert && command <= last) || command == values::kCommandFindRead);
}

// A key comes, goes or is read, or a setting of headers changes.
void RegisterModel::set_find(std::uint32_t command, std::int64_t now) {
    switch (command) {
        case values::kCommandFindInsert:
        case values::kCommandFindDelete:
        case values::kCommandFindRead:
            find_operation_ = Lookup::Operation{command == values::kCommandFindDelete ? LookupOp::Delete
                                                : command == values::kCommandFindRead ? LookupOp::Read
                                                                                      : LookupOp::Insert,
                                                find_word() & ((LookupKey{1} << 80) - 1), find_value_};
            state_ = State::Find;
            break;
        case values::kCommandFindProfile:
            return find_->set_profile(find_item_, find_value_, now);
        case values::kCommandFindClass:
            return find_->set_class(find_item_, find_value_, now);
        case values::kCommandFindMiss:
            return find_->set_miss(find_item_, find_value_, now);
        case values::kCommandFindSeed:
            return find_->set_seed(find_item_, find_word());
        case values::kCommandFindSeparator:
            return find_->set_separator(find_item_, find_word());
        case values::kCommandFindInterval:
            return find_->set_interval(find_item_, find_word() & 1 ? std::optional(find_value_) : std::nullopt);
        case values::kCommandFindBank:
            find_->set_bank((find_value_ & 1) != 0, now);
            settle_ = find_timing::settle(find_->prefix_levels());
            state_ = State::Settle;
            break;
        default:
            return find_->set_mpls(find_value_);
    }
}

void RegisterModel::step_find(std::int64_t now) {
    find_->advance(now);
    if (find_operation_) {
        if (find_->offer(*find_operation_)) find_operation_.reset();
        return;
    }
    const auto done = find_->done();
    if (!done) return;
    if (*done == LookupDone::Full) refused_ = Refused::Room;
    if (*done == LookupDone::Absent) refused_ = Refused::Key;
    if (*done == LookupDone::Read) find_read_ = find_->done_value();
    state_ = State::Idle;
}

HierarchySetting RegisterModel::hierarchy_setting(std::uint32_t command) const {
    using What = HierarchySetting::What;
    const bool provision = command == values::kCommandProvision;
    return {provision                                       ? What::Queue
            : command == values::kCommandTreeSubscriberNext ? What::Subscriber
                                                            : static_cast<What>(command & 3),
            provision ? index_ : hierarchy_index_,
            {fields::kTreeRateMantissa.of(hierarchy_rate_), fields::kTreeRateExponent.of(hierarchy_rate_),
             fields::kTreeBurstCycles.of(hierarchy_burst_)},
            hierarchy_parent_,
            static_cast<std::uint8_t>(fields::kTreeClassCls.of(hierarchy_class_)),
            static_cast<std::uint8_t>(fields::kTreeClassWeight.of(hierarchy_class_) + 1),
            decode_guarantee(hierarchy_guarantee_)};
}

void RegisterModel::step(bool setting_taken, bool hierarchy_taken, std::int64_t now, bool setting_refused) {
    const bool responding = responding_;
    responding_ = false;
    // The register block: a write takes effect in the cycle after it was taken from the bus, a command is answered when it starts.
    const bool accept = held_ && !external_;
    const bool taken = !pending_.empty() && outstanding_ < kOutstanding && (!held_ || accept);
    const bool start = command_ && state_ == State::Idle;
    if (state_ == State::Find) step_find(now);
    if (state_ == State::Settle && --settle_ == 0) state_ = State::Idle;
    if (setting_refused) refused_ = Refused::Room;
    if (hierarchy_taken || setting_refused) {
        state_ = State::Idle;
    } else if (setting_taken) {
        state_ = provision_ ? State::WriteHierarchy : State::Idle;
    }
    if (setting_taken || setting_refused) {
        provision_ = false;
        if (std::exchange(late_, false)) {
            if (late_next_ && setting_taken) ++index_;
            external_ = false;
            responding_ = true;
        }
    }
    if (start) {
        const bool provision = *command_ == values::kCommandProvision, next = provision || *command_ == values::kCommandWriteNext;
        const bool writes = next || *command_ == values::kCommandWrite;
        refused_ = check(*command_);
        if (refused_ == Refused::Not && *command_ == values::kCommandShare) {
            share_ = {share_class_, share_size_, share_alpha_, share_reserved_};
        } else if (refused_ == Refused::Not && *command_ == values::kCommandFlowWord) {
            flow_hash_->set(find_item_, find_value_);
        } else if (refused_ == Refused::Not && is_find(*command_)) {
            set_find(*command_, now);
        } else if (refused_ == Refused::Not && is_hierarchy(*command_)) {
            hierarchy_setting_ = hierarchy_setting(*command_);
            state_ = State::WriteHierarchy;
            if (*command_ == values::kCommandTreeSubscriberNext) ++hierarchy_index_;
        } else if (refused_ == Refused::Not && writes) {
            setting_ = {index_,
                        fields::kQueueBurstCycles.of(burst_),
                        std::min<std::uint32_t>(limit_bytes_, settings::kMostLimitBytes),
                        static_cast<std::uint16_t>(fields::kQueueRateMantissa.of(rate_)),
                        static_cast<std::uint16_t>(std::min<std::uint32_t>(limit_packets_, settings::kMostLimitPackets)),
                        static_cast<std::uint8_t>(fields::kQueueRateExponent.of(rate_)),
                        aqm_,
                        static_cast<std::uint8_t>(provision && hierarchy_ ? fields::kTreeClassCls.of(hierarchy_class_) : queue_class_),
                        static_cast<std::uint16_t>(flow_hash_ ? quantum_ : 0)};
            state_ = State::Write;
            provision_ = hierarchy_ && provision;
            if (provision_) hierarchy_setting_ = hierarchy_setting(*command_);
            late_ = profiles_;
            late_next_ = next;
            if (next && !late_) ++index_;
        } else if (refused_ == Refused::Not && is_read_back(*command_)) {
            const auto what = hierarchy_setting(*command_).what;
            read_back_ = {what, what == HierarchySetting::What::Queue ? index_ : hierarchy_index_};
        } else if (refused_ == Refused::Not && (*command_ == values::kCommandScan || *command_ == values::kCommandScanBacklog)) {
            scan_ = *command_ == values::kCommandScanBacklog;
        } else if (refused_ == Refused::Not && *command_ == values::kCommandSnapshotNode) {
            node_snapshot_ = place_;
        } else if (refused_ == Refused::Not) {
            snapshot_ = index_;
        }
        command_.reset();
        if (!late_) {
            external_ = false;
            responding_ = true;
        }
    }
    if (accept) {
        held_ = false;
        if (write_.address == registers::kQueueCommand) {
            command_ = write_.value;
            external_ = true;
        } else if (const auto command = command_of(write_.address)) {
            execute(write_.address - kWindow, write_.value);
            command_ = command;
            external_ = true;
        } else {
            if (write_.address - kWindow < kWindowBytes) throw DeviceError("registers: a write got an error response");
            execute(write_.address, write_.value);
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
