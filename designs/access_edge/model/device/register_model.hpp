// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The register bus and pst_control of the model: when a setting that the engine writes is offered to the core. Reads take their cycles;
// their values come from the device.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include "blocks/count/model/interrupt.hpp"
#include "blocks/fq/model/fq_hash.hpp"
#include "designs/access_edge/model/access_edge.hpp"
#include "designs/access_edge/model/core_model.hpp"
#include "designs/access_edge/model/device/find_model.hpp"

namespace penstock::engine {

// What the admission is told of a class.
struct ShareSetting {
    unsigned cls = 0, size = 0, alpha = 0;
    std::uint32_t reserved = 0;
};

class RegisterModel {
  public:
    // hierarchy: there is one, with these sizes. share_classes, page_sizes: of the admission; 0: there is none.
    // find: what finds queues in headers, if there is such. flow_hash: of the flows, if there are flow queues. busiest: there are scans.
    // node_counters: there are counters by node and class. profiles: settings may be refused when they are on offer (SettingProfiles).
    RegisterModel(std::uint32_t queues, bool hierarchy, const HierarchySizes& sizes, unsigned share_classes = 0, unsigned page_sizes = 0,
                  bool busiest = false, bool node_counters = false, FindModel* find = nullptr, FqHash* flow_hash = nullptr,
                  bool profiles = false)
        : queues_(queues),
          hierarchy_(hierarchy),
          sizes_(sizes),
          share_classes_(share_classes),
          page_sizes_(page_sizes),
          busiest_(busiest),
          node_counters_(node_counters),
          find_(find),
          flow_hash_(flow_hash),
          profiles_(profiles) {}

    void write(std::uint32_t address, std::uint32_t value) { pending_.push_back({address, value}); }
    // All writes are answered; a setting may still be on offer.
    bool idle() const { return pending_.empty() && !outstanding_; }
    // Nothing is under way: step() need not be called.
    bool quiet() const { return idle() && state_ == State::Idle && !command_; }
    // step() changes nothing until what is on offer is taken.
    bool waits() const {
        const bool taken = !pending_.empty() && outstanding_ < kOutstanding && !held_;
        return state_ != State::Idle && state_ != State::Find && state_ != State::Settle && !responding_ && !taken && (!held_ || external_);
    }

    // The setting on offer in this cycle, if any.
    const CoreSetting* offered() const { return state_ == State::Write ? &setting_ : nullptr; }
    // The same of the hierarchy; what goes along with a queue's setting is there when that is taken.
    const HierarchySetting* offered_hierarchy(bool setting_taken) const {
        return state_ == State::WriteHierarchy || (provision_ && setting_taken) ? &hierarchy_setting_ : nullptr;
    }
    // One cycle; setting_taken, hierarchy_taken: the core takes what is on offer; setting_refused: no profile has it, and none is free.
    // Throws DeviceError when the bus answers with an error.
    void step(bool setting_taken, bool hierarchy_taken, std::int64_t now, bool setting_refused = false);

    std::uint32_t index() const { return index_; }
    std::uint32_t hierarchy_index() const { return hierarchy_index_; }
    std::uint32_t find_item() const { return find_item_; }
    std::uint32_t find_read() const { return find_read_; }
    // Most packets in all flow queues.
    std::uint32_t flow_limit() const { return flow_limit_; }
    // Cycles that a memory may be waited for.
    std::uint32_t memory_timeout() const { return memory_timeout_; }
    // Why the last command was refused, as in the status register; 0: it was not.
    std::uint32_t refused() const { return static_cast<std::uint32_t>(refused_); }
    // The queue whose counters are to be shown from now on.
    std::optional<std::uint32_t> take_snapshot() { return std::exchange(snapshot_, std::nullopt); }
    // The node and class whose counters are to be shown from now on.
    struct Place {
        std::uint32_t node, cls;
    };
    std::optional<Place> take_node_snapshot() { return std::exchange(node_snapshot_, std::nullopt); }
    // Whose settings are to be shown from now on.
    struct ReadBack {
        HierarchySetting::What what;
        std::uint32_t id;
    };
    std::optional<ReadBack> take_read_back() { return std::exchange(read_back_, std::nullopt); }
    // A scan is to be done: of backlogs, or of bytes sent.
    std::optional<bool> take_scan() { return std::exchange(scan_, std::nullopt); }
    // Which place of the table is shown.
    std::uint32_t busiest_place() const { return busiest_place_; }
    // What the admission is told in the cycle that was just stepped.
    std::optional<ShareSetting> take_share() { return std::exchange(share_, std::nullopt); }
    // The interrupt, which the device tells what happens.
    Interrupt& interrupt() { return interrupt_; }
    // The class and page size that the window shows; none where the device does not have them.
    std::optional<std::pair<unsigned, unsigned>> shown_share() const {
        if (share_class_ >= share_classes_ || share_size_ >= page_sizes_) return {};
        return std::pair{share_class_, share_size_};
    }

  private:
    static constexpr unsigned kOutstanding = 8;  // as RegisterMaster
    enum class State { Idle, Write, WriteHierarchy, Find, Settle };
    enum class Refused : std::uint32_t {
        Not = access_edge::values::kRefusalAccepted,
        Command = access_edge::values::kRefusalNoCommand,
        Index = access_edge::values::kRefusalBadIndex,
        Parent = access_edge::values::kRefusalBadParent,
        Class = access_edge::values::kRefusalBadClass,
        Room = access_edge::values::kRefusalNoRoom,
        Key = access_edge::values::kRefusalBadKey,
    };
    struct Write {
        std::uint32_t address, value;
    };

    void execute(std::uint32_t address, std::uint32_t value);
    Refused check(std::uint32_t command) const;
    HierarchySetting hierarchy_setting(std::uint32_t command) const;
    bool is_find(std::uint32_t command) const;
    void set_find(std::uint32_t command, std::int64_t now);
    void step_find(std::int64_t now);
    LookupKey find_word() const { return LookupKey{find_key_[2]} << 64 | LookupKey{find_key_[1]} << 32 | find_key_[0]; }

    std::uint32_t queues_;
    bool hierarchy_;
    HierarchySizes sizes_;
    unsigned share_classes_, page_sizes_;
    bool busiest_, node_counters_;
    FindModel* find_;
    FqHash* flow_hash_;
    bool profiles_;
    std::uint32_t flow_limit_ = UINT32_MAX, quantum_ = 0;
    std::uint32_t find_item_ = 0, find_value_ = 0;
    std::uint32_t find_read_ = 0;  // value of the key that was read last
    std::array<std::uint32_t, 3> find_key_{};
    int settle_ = 0;                                   // cycles until a change of banks is over
    std::optional<Lookup::Operation> find_operation_;  // that the table has not taken
    std::optional<bool> scan_;
    std::uint32_t busiest_place_ = 0;
    std::deque<Write> pending_;
    unsigned outstanding_ = 0;
    bool held_ = false, responding_ = false;  // a write waits in the register block; its answer is on the bus
    Write write_{};
    bool external_ = false;                  // the bus waits for the command's answer
    bool late_next_ = false, late_ = false;  // with profiles: it waits until the setting is taken or refused; the index steps then
    std::optional<std::uint32_t> command_;
    State state_ = State::Idle;
    bool provision_ = false;  // class and weight go along with the setting on offer
    // Registers as they are after reset.
    std::uint32_t index_ = 0, burst_ = 0;
    std::uint32_t hierarchy_index_ = 0, hierarchy_burst_ = 0, hierarchy_parent_ = 0, hierarchy_class_ = 0, hierarchy_guarantee_ = 0;
    std::uint32_t rate_ = access_edge::fields::kQueueRateMantissa.at(access_edge::resets::kQueueRateMantissa);
    std::uint32_t limit_packets_ = access_edge::resets::kQueueLimitPacketsPackets;
    std::uint32_t limit_bytes_ = access_edge::resets::kQueueLimitBytesBytes;
    AqmSetting aqm_;
    std::uint32_t queue_class_ = 0, share_class_ = 0, share_size_ = 0, share_reserved_ = 0;
    std::uint32_t memory_timeout_ = access_edge::resets::kMemoryTimeoutCycles;
    std::uint32_t share_alpha_ = access_edge::resets::kShareAlphaExponent;
    std::uint32_t hierarchy_rate_ = access_edge::fields::kTreeRateMantissa.at(access_edge::resets::kTreeRateMantissa);
    CoreSetting setting_;
    HierarchySetting hierarchy_setting_;
    Refused refused_ = Refused::Not;
    std::optional<std::uint32_t> snapshot_;
    Place place_{};
    std::optional<Place> node_snapshot_;
    std::optional<ReadBack> read_back_;
    std::optional<ShareSetting> share_;
    Interrupt interrupt_;
};

}  // namespace penstock::engine
