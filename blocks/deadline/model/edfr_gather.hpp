// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Model of pst_edfr_gather with pst_edfr_positions: frames of all columns into one stream of segments, equal to it in every cycle.
#pragma once

#include <algorithm>
#include <array>

#include "edfr_front.hpp"
#include "edfr_wide_parts.hpp"

namespace penstock {

class EdfrGather {
  public:
    // Of a column: what it offers, and what it has decided.
    struct Column {
        bool valid = false, is_void = false, decided = false, decided_pair = false;  // pair: two frames of a segment each
        uint32_t id = 0, decided_segments = 0;
        EdfrFrame frame;
    };
    struct Cell {
        bool used = false, first = false, last = false;
        uint32_t bytes = 0, id = 0;  // bytes of the frame with first, else with last of the segment
        EdfrFrame frame;

        uint32_t bytes_last() const { return (bytes + 63) % 64 + 1; }
    };
    using Row = std::array<Cell, kEdfrColumns>;
    using Columns = std::array<Column, kEdfrColumns>;

    explicit EdfrGather(const EdfrWideSettings& s)
        : columns_(s.columns),
          window_(int64_t{s.gather_rows} * s.columns),
          margin_(s.window_margin()),
          ahead_(int64_t{s.gather_ahead} * s.columns),
          rows_(s.gather_rows),
          out_(kRows) {
        for (uint32_t c = 0; c < columns_; ++c) walks_.emplace_back(2 * EdfrWideSettings::kDecided);
    }

    bool hold() const { return hold_; }
    // So much is decided that columns are to decide in one order.
    bool ordered() const { return ordered_; }
    // A row has a position and has not left.
    bool busy() const { return next_ != out_row_ * columns_ || credits_ != kRows || m_valid_; }
    const Row* out() const { return m_valid_ ? &m_row_ : nullptr; }

    // Which columns' beats are taken: a bit each.
    uint32_t taken(int64_t now, const Columns& in) {
        std::array<uint32_t, kEdfrColumns> asks{};
        for (uint32_t c = 0; c < columns_; ++c) {
            Walk& w = walks_[c];
            w.granted = false;
            if (!in[c].valid || !w.frames.valid()) continue;
            if (w.first) {
                w.at = w.frames.front().position;
                w.left = w.frames.front().segments;
                w.pair = w.frames.front().pair;
            }
            asks[w.at % columns_] |= 1U << c;
        }
        const auto step = static_cast<uint32_t>(now % (columns_ + 1));
        const uint32_t before = step == 0 ? 0 : (1U << step) - 1;  // columns that have had their turn as the first
        uint32_t ready = 0;
        for (uint32_t b = 0; b < columns_; ++b) {
            const uint32_t behind = asks[b] & ~before, from = behind ? behind : asks[b];
            if (!from) continue;
            const auto c = static_cast<uint32_t>(std::countr_zero(from));
            walks_[c].granted = true;
            if (!in[c].is_void || walks_[c].left == 1 || walks_[c].pair) ready |= 1U << c;
        }
        return ready;
    }

    // Behind taken() of the same cycle.
    bool clock(int64_t now, const Columns& in, bool m_ready) {
        bool changed = false;
        // What is to come of all columns at least, as the registers have it.
        int64_t least = INT64_MAX;
        for (const Walk& w : walks_) least = std::min(least, !w.frames.valid() ? next_ : w.first ? w.frames.front().position : w.at);
        const int64_t here = least_[kSettle - 1], next_row = next_ / columns_;
        const bool row_done = here / columns_ != out_row_;
        const bool go = row_done && credits_ != 0;
        const bool pad = here == next_ && next_row == out_row_ && next_ % columns_ != 0 && credits_ != 0 && !padded_ && total_ == 0;

        // Beats into their banks.
        for (uint32_t c = 0; c < columns_; ++c) {
            Walk& w = walks_[c];
            changed |= in[c].valid && w.frames.valid();
            if (!w.granted) continue;
            const uint32_t behind = w.left - 1;
            Cell& cell = rows_[w.at / columns_ % static_cast<int64_t>(rows_.size())][w.at % columns_];
            const uint32_t last_bytes = (in[c].frame.bytes + 63) % 64 + 1;
            cell = {!in[c].is_void, w.first || w.pair, behind == 0 || w.pair, last_bytes + (w.first && !w.pair ? behind * 64 : 0),
                    in[c].id,       in[c].frame};
            ++w.at;
            w.left = behind;
            w.first = behind == 0;
            if (w.first) w.frames.pop();
        }
        // The output register, and the last check: a frame that is over is left out.
        const bool out_ready = !m_valid_ || m_ready, leaves = out_.valid() && out_ready;
        changed |= leaves || (m_valid_ && m_ready);
        for (EdfrEvent& e : late) {
            changed |= e.valid;
            e.valid = false;
        }
        if (out_ready) m_valid_ = false;
        if (leaves) {
            m_row_ = out_.front();
            out_.pop();
            for (uint32_t s = 0; s < columns_; ++s) {
                Cell& cell = m_row_[s];
                if (cell.used && cell.first) {
                    skip_ = now + 1 > cell.frame.deadline;
                    if (skip_) late[s] = {true, cell.id, EdfrFate::Taken, cell.frame};
                }
                cell.used = cell.used && !skip_;
                m_valid_ |= cell.used;
            }
        }
        // Rows out.
        if (reading_ & 2) out_.push(read_[1]);
        read_[1] = read_[0];
        changed |= reading_ != 0 || go || pad;
        reading_ = (reading_ << 1 | static_cast<uint32_t>(go)) & 3;
        if (go) {
            read_[0] = rows_[out_row_ % static_cast<int64_t>(rows_.size())];
            if (padded_)
                for (uint32_t s = pad_from_; s < columns_; ++s) read_[0][s].used = false;
            padded_ = false;
        }
        if (pad) {
            padded_ = true;
            pad_from_ = static_cast<uint32_t>(next_ % columns_);
        }
        credits_ = credits_ - go + leaves;
        // Positions.
        const int64_t used = next_ - out_row_ * columns_;
        const bool hold = used + margin_ > window_ || (ahead_ && used >= ahead_), ordered = ahead_ && 2 * used >= ahead_;
        changed |= hold != hold_ || ordered != ordered_;
        hold_ = hold;
        ordered_ = ordered;
        for (uint32_t c = 0; c < columns_; ++c) {
            Walk& w = walks_[c];
            if (w.offered) w.frames.push({next_ + w.offset, w.offered, w.offered_pair});
            changed |= w.offered || w.decided || in[c].decided;
        }
        next_ = pad ? (next_row + 1) * columns_ : next_ + total_;
        out_row_ += go;
        total_ = 0;
        for (uint32_t c = 0; c < columns_; ++c) {
            Walk& w = walks_[c];
            w.offset = total_;
            w.offered = w.decided;
            w.offered_pair = w.decided_pair;
            w.decided_pair = in[c].decided_pair;
            total_ += w.decided;
            w.decided = in[c].decided ? in[c].decided_segments : 0;
        }
        for (uint32_t s = kSettle - 1; s > 0; --s) {
            changed |= least_[s] != least_[s - 1];
            least_[s] = least_[s - 1];
        }
        changed |= least_[0] != least;
        least_[0] = least;
        return changed;
    }

    std::array<EdfrEvent, kEdfrColumns> late{};  // over at the output, by segment

  private:
    static constexpr uint32_t kRows = 6, kSettle = 4;
    struct Given {
        int64_t position = 0;
        uint32_t segments = 0;
        bool pair = false;
    };
    // Of a column: the frame that comes, and those that were decided and come later.
    struct Walk {
        explicit Walk(uint32_t waiting) : frames(waiting) {}
        EdfrFifo<Given> frames;
        bool first = true, granted = false, pair = false;
        int64_t at = 0;
        uint32_t left = 0;
        uint32_t decided = 0, offered = 0;  // segments of the frame in the first and second stage of positions; 0: none
        bool decided_pair = false, offered_pair = false;
        int64_t offset = 0;
    };

    uint32_t columns_;
    int64_t window_, margin_, ahead_;
    std::vector<Row> rows_;
    std::vector<Walk> walks_;
    EdfrFifo<Row> out_;
    int64_t next_ = 0, total_ = 0, out_row_ = 0;
    bool hold_ = false, ordered_ = false, padded_ = false, skip_ = false, m_valid_ = false;
    uint32_t pad_from_ = 0, credits_ = kRows, reading_ = 0;
    std::array<int64_t, kSettle> least_{};
    std::array<Row, 2> read_{};
    Row m_row_{};
};

}  // namespace penstock
