// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Model of pst_edfr_deal with the modules inside: words of segments into the columns of a wide port, equal to it in every cycle.
#pragma once

#include <algorithm>
#include <array>

#include "edfr_front.hpp"
#include "edfr_wide_parts.hpp"

namespace penstock {

// pst_deal_intake
struct EdfrDealIntake {
    struct Record {
        std::array<bool, kEdfrColumns> used{}, begins{}, good{};
        std::array<uint32_t, kEdfrColumns> bytes{}, id{};
        std::array<uint64_t, kEdfrColumns> number{};
        std::array<uint16_t, kEdfrColumns> user{};
        bool opens = false;
    };
    struct Open {
        bool good = false;
        uint32_t bytes = 0;
    };
    static constexpr uint32_t kMostSegments = 2047;

    explicit EdfrDealIntake(const EdfrWideSettings& s)
        : columns_(s.columns), shortest_(s.port.min_frame_bytes), longest_(s.port.max_frame_bytes), most_((longest_ + 63) / 64) {}

    bool clock(const EdfrWord* in) {
        bool changed = in || record_valid || open_valid;
        for (EdfrEvent& e : refused) {
            changed |= e.valid;
            e.valid = false;
        }
        record_valid = in != nullptr;
        open_valid = false;
        if (!in) return changed;
        bool carried = open_, condemned = condemned_, open_now = open_;
        uint32_t start = 0;
        record = {};
        for (uint32_t i = 0; i < columns_; ++i) {
            const EdfrSegment& segment = in->segment[i];
            record.used[i] = segment.used;
            record.id[i] = segment.key;
            record.number[i] = segment.number;
            record.user[i] = segment.user;
            if (!segment.used) continue;
            if (!open_now) {
                record.begins[i] = true;
                start = i;
                segments_ = 0;
                id_ = segment.key;
                user_ = segment.user;
                carried = condemned = false;
            }
            open_now = !segment.last;
            segments_ = std::min(segments_ + 1, kMostSegments);
            if (!segment.last) continue;
            const uint32_t sum = segments_ == kMostSegments ? 0x1FFFF : (segments_ - 1) * 64 + segment.bytes;
            const uint32_t ended = std::min(sum, 0xFFFFU);
            const bool wrong = segment.bad || ended < shortest_ || ended > longest_;
            if (wrong) refused[i] = {true, id_, segment.bad ? EdfrFate::Bad : EdfrFate::Length, {segment.number, 0, ended, user_}};
            if (carried) {
                open_valid = !condemned;
                open = {!wrong, ended};
            } else {
                record.good[start] = !wrong;
                record.bytes[start] = ended;
            }
        }
        record.opens = open_now && !carried;
        // It is too long, whatever comes.
        if (open_now && carried && !condemned && segments_ >= most_) {
            open_valid = condemned = true;
            open = {};
        }
        open_ = open_now;
        condemned_ = open_now && condemned;
        return changed;
    }

    bool record_valid = false, open_valid = false;
    Record record;
    Open open;
    std::array<EdfrEvent, kEdfrColumns> refused{};

  private:
    uint32_t columns_, shortest_, longest_, most_;
    bool open_ = false, condemned_ = false;
    uint32_t segments_ = 0, id_ = 0;
    uint16_t user_ = 0;
};

// pst_deal_assign
struct EdfrDealAssign {
    using Segments = std::array<uint32_t, kEdfrColumns>;  // of each column, a bit each
    using Record = EdfrDealIntake::Record;

    explicit EdfrDealAssign(const EdfrWideSettings& s) : columns_(s.columns), run_(s.port.run_frames), places_(s.port.classes) {
        room_.fill(true);
    }

    bool go2(bool m_ready) const { return valid_ && (!m_valid || m_ready); }
    bool go(const Record* in, bool open_valid, bool m_ready) const { return in && (!in->opens || open_valid) && (!valid_ || go2(m_ready)); }

    // `in`: taken, with what became of the frame that goes on.
    bool clock(const Record* in, const EdfrDealIntake::Open& open, bool m_ready, const std::array<bool, kEdfrColumns>& room) {
        const bool deals = go2(m_ready);
        bool changed = in || deals || room != room_ || (m_valid && m_ready);
        for (EdfrEvent& e : dropped) {
            changed |= e.valid;
            e.valid = false;
        }
        if (deals) deal();
        m_valid = deals || (m_valid && !m_ready);
        room_ = room;
        valid_ = in || (valid_ && !deals);
        if (in) {
            record_ = *in;
            uint32_t newest = 0;
            for (uint32_t i = 0; i < columns_; ++i)
                if (in->begins[i]) newest = i;
            if (in->opens) {
                record_.good[newest] = open.good;
                record_.bytes[newest] = open.bytes;
            }
        }
        return changed;
    }

    bool m_valid = false;
    Segments segments{};
    std::array<EdfrEvent, kEdfrColumns> dropped{};

  private:
    void deal() {
        std::array<uint32_t, kEdfrColumns> mine{};
        std::array<bool, kEdfrColumns> takes{};
        bool carried = carried_, begins = false;
        uint32_t carried_column = carried_column_;
        segments = {};
        for (uint32_t i = 0; i < columns_; ++i) {
            const uint32_t id = record_.id[i];
            if (record_.begins[i]) {
                uint32_t earlier = 0;
                for (uint32_t j = 0; j < i; ++j) earlier += record_.good[j] && record_.id[j] == id;
                const uint32_t at = places_[id];
                mine[i] = (at + earlier) % (columns_ * run_);
                const uint32_t column = (id + mine[i] / run_) % columns_;
                takes[i] = record_.good[i] && room_[(id + at / run_) % columns_] && room_[column];
                if (record_.good[i] && !takes[i])
                    dropped[i] = {true, id, EdfrFate::NoChunk, {record_.number[i], 0, record_.bytes[i], record_.user[i]}};
                carried = takes[i];
                carried_column = column;
                begins = true;
            }
            if (record_.used[i] && carried) segments[carried_column] |= 1U << i;
        }
        if (begins) {
            carried_ = carried && record_.opens;
            carried_column_ = carried_column;
        }
        for (uint32_t i = 0; i < columns_; ++i)
            if (takes[i]) places_[record_.id[i]] = (mine[i] + 1) % (columns_ * run_);
    }

    uint32_t columns_, run_;
    std::vector<uint32_t> places_;  // of each class: runs and frames that went before, modulo a round
    bool valid_ = false, carried_ = false;
    uint32_t carried_column_ = 0;
    Record record_;
    std::array<bool, kEdfrColumns> room_{};
};

// pst_deal_store
class EdfrDealStore {
  public:
    explicit EdfrDealStore(const EdfrWideSettings& s) : columns_(s.columns), size_(s.deal_rows), rows_(s.deal_rows) {
        for (uint32_t c = 0; c < columns_; ++c) readers_.emplace_back(s.deal_lists);
    }

    bool ready() const { return written_ - free_ != size_; }
    bool deal_ready(const EdfrDealAssign::Segments& segments) const {
        for (uint32_t c = 0; c < columns_; ++c)
            if (segments[c] && !readers_[c].list.ready()) return false;
        return true;
    }
    const EdfrSegment* out(uint32_t c) const { return readers_[c].out.valid() ? &readers_[c].out.front() : nullptr; }

    // `now`: cycles since reset. `deal`: it is taken; `taken`: columns whose segment is.
    bool clock(int64_t now, const EdfrWord* in, const EdfrDealAssign::Segments* deal, uint32_t taken) {
        bool changed = in || deal || taken;
        // Turns at the banks.
        const auto turn = static_cast<uint32_t>(now % columns_);
        std::array<uint32_t, kEdfrColumns> wanted{}, granted{};
        for (uint32_t c = 0; c < columns_; ++c) {
            const Reader& r = readers_[c];
            if (!r.list.valid() || r.credits == 0) continue;
            const uint32_t left = r.list.front().segments & ~r.done;
            wanted[c] = left & -left;
        }
        for (uint32_t b = 0; b < columns_; ++b) {
            for (uint32_t k = 0; k < columns_; ++k) {
                const uint32_t c = (k + turn + b) % columns_;
                if (!(wanted[c] >> b & 1)) continue;
                granted[c] = wanted[c];
                break;
            }
        }
        // Rows come back, a step of four in each cycle.
        const uint32_t dealt_before = dealt_;
        switch (now & 3) {
            case 0:
                for (Reader& r : readers_) {
                    r.waits = r.listed != 0;
                    r.seen = r.list.valid();
                    r.oldest = r.seen ? r.list.front().row : 0;
                }
                dealt_then_ = dealt_before;
                break;
            case 1:
                least_ = dealt_then_ - free_;
                for (const Reader& r : readers_)
                    if (r.waits) least_ = std::min(least_, r.seen ? r.oldest - free_ : 0);
                break;
            case 2:
                break;
            default:
                free_ += least_;
        }
        rests_ = free_ == written_ ? std::min(rests_ + 1, kRests) : 0;
        changed |= rests_ < kRests;

        for (uint32_t c = 0; c < columns_; ++c) {
            Reader& r = readers_[c];
            const bool leaves = taken >> c & 1, gets = granted[c] != 0;
            const bool done = gets && (r.list.front().segments & ~r.done) == wanted[c];
            changed |= gets || r.coming != 0;
            if (leaves) r.out.pop();
            if (r.coming & 4) r.out.push(r.on_way[2]);
            r.on_way[2] = r.on_way[1];
            r.on_way[1] = r.on_way[0];
            r.coming = (r.coming << 1 | static_cast<uint32_t>(gets)) & 7;
            if (gets) {
                const auto bank = static_cast<uint32_t>(std::countr_zero(wanted[c]));
                r.on_way[0] = rows_[r.list.front().row & (size_ - 1)].segment[bank];
                r.done = done ? 0 : r.done | wanted[c];
            }
            r.credits = r.credits - gets + leaves;
            const bool listed = deal && (*deal)[c];
            r.listed += listed - done;
            const List entry = {dealt_before, listed ? (*deal)[c] : 0};
            changed |= r.list.clock(done, listed ? &entry : nullptr);
        }
        if (in) rows_[written_++ & (size_ - 1)] = *in;
        if (deal) ++dealt_;
        return changed;
    }

  private:
    static constexpr uint32_t kWords = 8, kRests = 8;
    struct List {
        uint32_t row = 0, segments = 0;
    };
    struct Reader {
        explicit Reader(uint32_t lists) : list(lists), out(kWords) {}
        EdfrRamFifo<List> list;
        EdfrFifo<EdfrSegment> out;
        std::array<EdfrSegment, 3> on_way{};
        uint32_t coming = 0, done = 0, credits = kWords, listed = 0, oldest = 0;
        bool waits = false, seen = false;
    };

    uint32_t columns_, size_;
    std::vector<EdfrWord> rows_;
    std::vector<Reader> readers_;
    uint32_t written_ = 0, dealt_ = 0, free_ = 0, dealt_then_ = 0, least_ = 0;
    uint32_t rests_ = kRests;  // cycles for which all rows have been free: after two rounds of the walk nothing of it changes
};

class EdfrDeal {
  public:
    explicit EdfrDeal(const EdfrWideSettings& s)
        : columns_(s.columns),
          most_records_(s.deal_records - 4),
          from_user_(s.port.class_from_user),
          intake_(s),
          assign_(s),
          store_(s),
          records_(s.deal_records),
          opens_(s.deal_records) {}

    bool ready() const { return !valid1_ || ready2(); }
    // The beat that is offered to a column.
    const EdfrBeat* beat(uint32_t c) {
        const EdfrSegment* const segment = store_.out(c);
        if (!segment) return nullptr;
        Out& o = out_[c];
        if (o.first) o.head = *segment;
        o.beat = {o.head.number, o.head.user, o.head.key, segment->bytes, segment->last, false, o.head.arrived};
        return &o.beat;
    }
    const std::array<EdfrEvent, kEdfrColumns>& refused() const { return intake_.refused; }
    const std::array<EdfrEvent, kEdfrColumns>& dropped() const { return assign_.dropped; }

    // `in`: a word that is offered; `taken`: columns that take their beat; `room`: those that have chunks for what may come.
    bool clock(int64_t now, const EdfrWord* in, uint32_t taken, const std::array<bool, kEdfrColumns>& room) {
        const bool r2 = ready2(), r = ready(), take = in && in->any(columns_) && r, moves = valid1_ && r2, leaves = valid2_ && word_ready();
        bool changed = take || moves || leaves;
        for (uint32_t c = 0; c < columns_; ++c)
            if (taken >> c & 1) out_[c].first = out_[c].beat.last;

        // From records to the store's lists.
        const bool dealt_ready = !assign_.m_valid || store_.deal_ready(assign_.segments);
        const bool deals = assign_.m_valid && dealt_ready;
        const EdfrDealAssign::Segments dealt = assign_.segments;
        const EdfrDealIntake::Record* const record = records_.valid() ? &records_.front() : nullptr;
        const bool go = assign_.go(record, opens_.valid(), dealt_ready), opened = go && record->opens;
        const EdfrDealIntake::Open open = opened ? opens_.front() : EdfrDealIntake::Open{};
        changed |= assign_.clock(go ? record : nullptr, open, dealt_ready, room);
        changed |= store_.clock(now, leaves ? &word2_ : nullptr, deals ? &dealt : nullptr, taken);
        const bool was_ready = record_ready_;
        record_ready_ = records_count_ < most_records_;
        changed |= was_ready != record_ready_;
        records_count_ = records_count_ + intake_.record_valid - go;
        const bool comes = intake_.record_valid, tells = intake_.open_valid;
        changed |= opens_.clock(opened, tells ? &intake_.open : nullptr);
        changed |= records_.clock(go, comes ? &intake_.record : nullptr);
        changed |= intake_.clock(leaves ? &word2_ : nullptr);

        // Classes.
        if (moves) {
            word2_ = word1_;
            if (!from_user_)
                for (uint32_t i = 0; i < columns_; ++i) word2_.segment[i].key = static_cast<uint16_t>(table[word1_.segment[i].key]);
        }
        if (r2) valid2_ = valid1_;
        if (take) {
            word1_ = *in;
            for (uint32_t i = 0; i < columns_; ++i) {
                EdfrSegment& s = word1_.segment[i];
                s.arrived = now;
                if (!s.used || !s.last) s.bytes = EdfrSettings::kBeatBytes;
            }
        }
        if (r) valid1_ = take;
        return changed;
    }

    std::array<uint32_t, 65> table{};  // class of a DSCP, and of all else

  private:
    struct Out {
        bool first = true;
        EdfrSegment head;
        EdfrBeat beat;
    };
    bool word_ready() const { return store_.ready() && record_ready_; }
    bool ready2() const { return !valid2_ || word_ready(); }

    uint32_t columns_, most_records_;
    bool from_user_;
    EdfrDealIntake intake_;
    EdfrDealAssign assign_;
    EdfrDealStore store_;
    EdfrRamFifo<EdfrDealIntake::Record> records_;
    EdfrRamFifo<EdfrDealIntake::Open> opens_;
    uint32_t records_count_ = 0;
    bool record_ready_ = false, valid1_ = false, valid2_ = false;
    EdfrWord word1_, word2_;
    std::array<Out, kEdfrColumns> out_{};
};

}  // namespace penstock
