// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Model of pst_edfr_wide, equal to it at every port in every cycle, without the bytes of frames: the dealer, columns that are models of
// pst_edfr, and the gather. As of pst_edfr, cycles in which nothing changes may be left out.
#pragma once

#include <array>

#include "edfr_bound.hpp"
#include "edfr_deal.hpp"
#include "edfr_gather.hpp"
#include "edfr_model.hpp"

namespace penstock {

struct EdfrWideIn {
    const EdfrWord* word = nullptr;  // s_valid_i
    bool m_ready = false;
    bool hold = false;   // nothing is to be decided to be sent
    uint32_t limit = 0;  // chunks in use at most in each column
    std::array<EdfrMemoryIn, kEdfrColumns> memory{};
    const EdfrDue::Set* set = nullptr;  // s_set_valid_i
    bool set_dscp = false;
    uint32_t dscp = 0, dscp_class = 0;
};

struct EdfrWideOut {
    bool ready = false, set_ready = false;
    bool valid = false;    // m_valid_o
    bool sending = false;  // frames have been decided to be sent and have not left
    EdfrGather::Row row;
    std::array<EdfrMemoryOut, kEdfrColumns> memory{};
    std::array<EdfrEvent, kEdfrColumns> refused{}, dropped{}, overdue{};  // by segment
    std::array<EdfrEvent, kEdfrColumns> taken{}, expired{}, late{};       // by column
    std::array<EdfrPassed, kEdfrColumns> passed{};
};

class EdfrWideModel {
  public:
    // Throws std::invalid_argument. Cycle 0 is the first after reset.
    explicit EdfrWideModel(const EdfrWideSettings& s)
        : columns_((s.check(), s.columns)), margin_(s.margin()), chunks_(s.port.chunks), deal_(s), gather_(s), bound_(s.columns) {
        ports_.reserve(columns_);
        for (uint32_t c = 0; c < columns_; ++c) ports_.emplace_back(s.column(c));
        room_.fill(true);
    }

    int64_t now() const { return ports_[0].now(); }
    bool init_done() const {
        return std::all_of(ports_.begin(), ports_.end(), [](const EdfrModel& port) { return port.init_done(); });
    }
    uint32_t free_chunks(uint32_t column) const { return ports_.at(column).free_chunks(); }
    uint32_t wait(uint32_t id) const { return ports_[0].wait(id); }

    bool cycle(const EdfrWideIn& in, EdfrWideOut& out) {
        // What stands in registers between columns, dealer and gather.
        EdfrGather::Columns heads{};
        std::array<uint32_t, kEdfrColumns> token{};
        std::array<const EdfrBeat*, kEdfrColumns> beat{};
        uint32_t tokens = 0;
        for (uint32_t c = 0; c < columns_; ++c) {
            const EdfrModel& port = ports_[c];
            const EdfrSender& sender = port.sender();
            EdfrGather::Column& head = heads[c];
            head.valid = sender.m_valid;
            if (head.valid) {
                head.is_void = sender.m_void;
                head.id = sender.m_word.id;
                head.frame = sender.m_word.frame;
            }
            if (const EdfrQueues::Taken* const taken = port.decided()) {
                head.decided = true;
                head.decided_segments = taken->segments();
                head.decided_pair = taken->pair;
            }
            if (const uint32_t* const id = port.token()) {
                const uint32_t to = (c + 1) % columns_;
                token[to] = *id;
                tokens |= 1U << to;
            }
            beat[c] = deal_.beat(c);
        }
        const int64_t time = now();
        const uint32_t sent = gather_.taken(time, heads);
        const bool hold = gather_.hold(), ordered = gather_.ordered();
        EdfrBound::Fronts fronts{};
        for (uint32_t c = 0; c < columns_; ++c) fronts[c] = ports_[c].front();
        const EdfrGather::Row* const row = gather_.out();
        out.valid = row != nullptr;
        if (row) out.row = *row;
        out.ready = deal_.ready();
        out.refused = deal_.refused();
        out.dropped = deal_.dropped();
        out.overdue = gather_.late;
        out.sending = gather_.busy();
        std::array<bool, kEdfrColumns> room{};
        for (uint32_t c = 0; c < columns_; ++c) room[c] = ports_[c].free_chunks() > margin_ + kept_;

        bool changed = false, all_set = in.set != nullptr;
        uint32_t taken = 0, set_now = 0;
        for (uint32_t c = 0; c < columns_; ++c) {
            EdfrIn to;
            EdfrOut from;
            to.beat = beat[c];
            to.m_ready = sent >> c & 1;
            to.memory = in.memory[c];
            to.set = set_done_ >> c & 1 ? nullptr : in.set;
            to.hold = hold || in.hold;
            if (ordered) to.bound = bound_.of(c);
            to.token = tokens >> c & 1 ? &token[c] : nullptr;
            changed |= ports_[c].cycle(to, from);
            if (beat[c] && from.ready) taken |= 1U << c;
            if (from.set_ready) set_now |= 1U << c;
            out.memory[c] = from.memory;
            out.sending |= from.sending;
            out.taken[c] = from.fate;
            out.expired[c] = from.expired;
            out.late[c] = from.late;
            out.passed[c] = from.passed;
        }
        out.set_ready = (set_now | set_done_) == (1U << columns_) - 1;
        all_set = all_set && out.set_ready;
        if (in.set) set_done_ = all_set ? 0 : set_done_ | set_now;
        changed |= deal_.clock(time, in.word, taken, room_);
        changed |= room != room_ || in.set || in.set_dscp;
        room_ = room;
        const uint32_t kept = in.limit == 0 || in.limit >= chunks_ ? 0 : chunks_ - in.limit;
        changed |= kept != kept_;
        kept_ = kept;
        changed |= bound_.clock(fronts);
        changed |= gather_.clock(time, heads, in.m_ready);
        if (in.set_dscp) deal_.table[std::min(in.dscp, kNoDscp)] = in.dscp_class;
        return changed;
    }

    // As EdfrModel's.
    int64_t next_event() const {
        int64_t next = INT64_MAX;
        for (const EdfrModel& port : ports_) next = std::min(next, port.next_event());
        return next;
    }
    void skip_to(int64_t now) {
        for (EdfrModel& port : ports_) port.skip_to(now);
    }

  private:
    uint32_t columns_, margin_, chunks_, set_done_ = 0;
    uint32_t kept_ = 0;  // chunks of a column that the limit leaves unused
    EdfrDeal deal_;
    EdfrGather gather_;
    EdfrBound bound_;
    std::vector<EdfrModel> ports_;
    std::array<bool, kEdfrColumns> room_{};
};

}  // namespace penstock
