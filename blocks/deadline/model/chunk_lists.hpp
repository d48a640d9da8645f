// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Model of pst_chunk_lists, equal to it in every cycle: outputs(), then clock().
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace penstock {

class ChunkLists {
  public:
    struct Chunk {
        uint32_t number;
        bool bad;
    };

    struct Push {
        uint32_t id;  // class
        Chunk chunk;
    };

    struct Splice {
        uint32_t id;
        bool all;
        uint32_t number, previous, count;  // without `all`: the first that stays, the one before it, how many go
    };

    struct Inputs {
        bool number_ready = false;
        std::optional<Push> push;
        std::optional<uint32_t> pop;   // class
        std::optional<uint32_t> free;  // number
        std::optional<Splice> splice;
    };

    struct Outputs {
        std::optional<uint32_t> number;
        std::optional<Chunk> popped;
        bool push_ready, pop_ready, free_ready, splice_ready;
        uint32_t free_count;
    };

    ChunkLists(uint32_t classes, uint32_t chunks, uint32_t read_latency) : chunks_(chunks), read_latency_(read_latency), lists_(classes) {
        reset();
    }

    void reset() {
        for (auto& list : lists_) list.clear();
        free_.clear();
        op_.reset();
        offered_.reset();
        popped_.reset();
        fresh_ = age_ = fetching_ = 0;
        turn_ = Kind::Push;
    }

    bool empty(uint32_t id) const { return lists_.at(id).empty(); }

    Outputs outputs(const Inputs& in) const {
        const Kind chosen = choose(in);
        const bool idle = !op_;
        return {offered_,
                popped_,
                idle && chosen == Kind::Push,
                idle && chosen == Kind::Pop,
                !writes(),
                idle && chosen == Kind::Splice,
                chunks_ - fresh_ + static_cast<uint32_t>(free_.size()) + offered_.has_value()};
    }

    // The end of a cycle with these inputs. Throws std::logic_error when an operation does not fit the lists.
    void clock(const Inputs& in) {
        const bool reading = reads(), writing = writes();
        const std::optional<Op> before = op_;
        // A number leaves before what comes in this cycle is there.
        const bool want = !offered_ || in.number_ready;
        std::optional<uint32_t> next = want ? std::nullopt : offered_;
        if (want && fresh_ < chunks_) {
            next = fresh_++;
        } else if (want && !free_.empty() && (free_.size() == 1 || !reading) && fetching_ == 0) {
            next = free_.front();
            free_.pop_front();
            fetching_ = free_.empty() ? 0 : read_latency_;
        }
        offered_ = next;
        if (fetching_) fetching_--;
        if (in.free && !writing) free_.push_back(*in.free);
        popped_.reset();
        if (before && age_ == 0) act(*before);
        if (before) {
            age_++;
            if (!reading_op_ || age_ > read_latency_) op_.reset();
        } else {
            take(in);
        }
    }

  private:
    enum class Kind { Push, Pop, Splice };

    struct Op {
        Kind kind;
        Push push;
        Splice splice;
        uint32_t id;
    };

    Kind choose(const Inputs& in) const {
        const bool asks[] = {in.push.has_value(), in.pop.has_value(), in.splice.has_value()};
        for (int k = 0; k < 3; k++) {
            const int kind = (static_cast<int>(turn_) + k) % 3;
            if (asks[kind]) return static_cast<Kind>(kind);
        }
        return static_cast<Kind>((static_cast<int>(turn_) + 2) % 3);
    }

    // The operation's first cycle: it uses the write port of the links, the read port.
    bool writes() const {
        return op_ && age_ == 0 && (op_->kind == Kind::Push || (op_->kind == Kind::Splice && !lists_.at(op_->id).empty()));
    }
    bool reads() const {
        if (!op_ || age_ != 0) return false;
        const auto& list = lists_.at(op_->id);
        return op_->kind == Kind::Pop ? list.size() > 1 : op_->kind == Kind::Splice && !op_->splice.all && !list.empty();
    }

    void act(const Op& op) {
        auto& list = lists_.at(op.id);
        reading_op_ = reads();
        if (op.kind == Kind::Push) {
            list.push_back(op.push.chunk);
        } else if (op.kind == Kind::Pop) {
            if (list.empty()) throw std::logic_error("class " + std::to_string(op.id) + " has no chunk to pop");
            popped_ = list.front();
            list.pop_front();
        } else {
            const size_t count = op.splice.all ? list.size() : op.splice.count;
            if (!op.splice.all &&
                (count >= list.size() || list[count].number != op.splice.number || list[count - 1].number != op.splice.previous))
                throw std::logic_error("class " + std::to_string(op.id) + ": the splice does not fit its list");
            for (size_t i = 0; i < count; i++) free_.push_back(list[i].number);
            list.erase(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(count));
        }
    }

    void take(const Inputs& in) {
        const Kind kind = choose(in);
        if (kind == Kind::Push && in.push)
            op_ = Op{kind, *in.push, {}, in.push->id};
        else if (kind == Kind::Pop && in.pop)
            op_ = Op{kind, {}, {}, *in.pop};
        else if (kind == Kind::Splice && in.splice)
            op_ = Op{kind, {}, *in.splice, in.splice->id};
        else
            return;
        age_ = 0;
        turn_ = static_cast<Kind>((static_cast<int>(kind) + 1) % 3);
    }

    uint32_t chunks_, read_latency_, fresh_ = 0;
    uint32_t age_ = 0;       // cycles since the operation under way was taken, less one
    uint32_t fetching_ = 0;  // cycles until the first of the free list is known
    bool reading_op_ = false;
    Kind turn_ = Kind::Push;
    std::optional<Op> op_;
    std::optional<uint32_t> offered_;
    std::optional<Chunk> popped_;
    std::deque<uint32_t> free_;
    std::vector<std::deque<Chunk>> lists_;
};

}  // namespace penstock
