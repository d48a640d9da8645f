// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Model of the head side of pst_edfr, equal to it in every cycle: pst_deadline_lines, pst_deadline_queues, pst_deadline_encoder,
// pst_deadline_sender, pst_deadline_stamps.
#pragma once

#include <optional>

#include "edfr_chunks.hpp"
#include "edfr_token.hpp"

namespace penstock {

// Frames that are skipped, or lost by a memory error.
struct EdfrPassed {
    bool valid = false, lost = false;
    uint32_t id = 0;
    EdfrCount count;
};

struct EdfrLines {
    // A header on its way to the queues, or the skip.
    struct Line {
        bool valid = false, skip = false, bare = false, first = false, last = false;
        uint32_t id = 0;
        EdfrCount before;
        EdfrFrame frame;
    };
    explicit EdfrLines(const EdfrSettings& s) : lines_(s.lines), at_(s.classes), state_(s.classes), skip_to_(s.classes) {
        for (uint32_t c = 0; c < s.classes; ++c) read.set(c);
    }

    // `taken_of`: frames of the class that is visited that were taken. `skip`: the class that skips, and is counted.
    template <typename Taken>
    bool clock(EdfrLand& land, const Taken& taken_of, bool passed_ready, const uint32_t* skip, int64_t skip_serial, bool skip_done,
               bool skip_hit, bool taken, uint32_t taken_class, bool lands, uint32_t lands_class) {
        bool changed = step_ != Step::Pick || wake_.any() || line.valid || beats_ || job1_.valid || job2_.valid || skip_done;
        // Headers of a beat, one a cycle.
        bool beat_done = false;
        line.valid = beats_ != 0;
        if (beats_) {
            const Job& job = beat_[beat_at_];
            beat_done = header_ + 1 == job.count;
            line.skip = job.skip;
            line.bare = job.bare;
            line.id = job.id;
            line.first = job.first && header_ == 0;
            line.last = job.last && beat_done;
            if (!job.skip) {
                const EdfrChunk& chunk = land.place(job.id, job.place).chunk;
                if (!job.bare) line.frame = chunk.frames[job.index + header_];
                line.before = job.bare ? job.before : chunk.before;
            }
            header_ = beat_done ? 0 : header_ + 1;
        }
        if (beat_done) {
            beat_at_ = (beat_at_ + 1) % kBeats;
            --beats_;
        }
        if (job2_.valid) {
            beat_[(beat_at_ + beats_) % kBeats] = job2_;
            ++beats_;
        }
        job2_ = job1_;
        job1_.valid = false;

        const bool sends_skip = step_ == Step::Pick && skip && !skip_sent_ && jobs_ != 0;
        EdfrMask wake = wake_;
        bool asks = false, tells = false, stays = false;
        uint32_t skipping_clear = kNone, read_put = kNone;
        bool read_to = false;
        if (step_ == Step::Pick) {
            if (sends_skip) {
                job1_ = {true, true, false, false, false, *skip, 0, 0, 1, {}};
                changed = true;
            } else {
                EdfrMask request = wake_;
                if (skip) request.clear(*skip);
                if (request.any()) {
                    id_ = pick_.choose(request);
                    pick_.last = static_cast<int>(id_);
                    wake.clear(id_);
                    step_ = Step::Read;
                    changed = true;
                }
            }
        } else if (step_ == Step::Read) {
            here_ = at_[id_] != land.landed[id_];
            step_ = Step::Decide;
        } else {
            const uint32_t c = id_;
            const bool held = skip && *skip == c;
            const bool at_end = at_[c] == land.landed[c];
            bool spent = at_end;
            if (here_) {
                State& state = state_[c];
                const EdfrLand::Place& place = land.place(c, at_[c]);
                const auto frames = static_cast<uint32_t>(place.chunk.frames.size());
                const bool complete = at_[c] != land.whole[c], earlier = place.serial < skip_to_[c];
                const bool over = skipping_[c] && earlier;
                const uint32_t count = place.bad ? 0 : frames - place.cut;
                const uint32_t avail = over ? 0 : complete ? count : frames - 1;
                const uint32_t queued = state.asked - taken_of(c), room = lines_ - queued;
                const uint32_t in_beat = 8 - ((state.index + 1) & 7);
                const uint32_t few = std::min({avail - state.index, in_beat, room});
                const bool more = !over && avail > state.index && room != 0;
                asks = !held && more && jobs_ != 0;
                const bool last = complete && state.index + few == count;
                // Where no frame begins the meta tells all the same what was lost before.
                const bool bare = !over && !place.bad && frames == 0;
                const bool looked = !held && complete && (over || state.index >= count) && queued == 0;
                const bool pass = looked && (!bare || jobs_ != 0);
                tells = pass && passed_ready && bare;
                spent |= !complete && (over || state.index >= avail);
                if (asks) {
                    job1_ = {true, false, false, state.index == 0, last, c, at_[c], state.index, few, {}};
                    state.index += few;
                    state.asked += few;
                }
                if (tells) job1_ = {true, false, true, true, false, c, at_[c], 0, 1, place.chunk.before};
                if ((asks && last) || (pass && passed_ready)) {
                    state.index = 0;
                    ++at_[c];
                }
                if (asks || looked || held || more) wake.set(c);
                if (!held && !earlier) skipping_clear = c;
                stays = pass && !passed_ready;
            }
            read_put = c;
            read_to = spent && !held;
            if (!stays) step_ = Step::Pick;
        }
        if (read_put != kNone) read.put(read_put, read_to);
        if (skipping_clear != kNone) skipping_.clear(skipping_clear);
        if (lands) {
            read.clear(lands_class);
            wake.set(lands_class);
        }
        if (taken) wake.set(taken_class);
        if (skip_done) {
            wake.set(*skip);
            if (skip_hit) {
                skipping_.set(*skip);
                skip_to_[*skip] = skip_serial;
            }
        }
        skip_sent_ = (skip_sent_ || sends_skip) && !skip_done && skip;
        jobs_ = jobs_ - (asks || tells || sends_skip) + beat_done;
        wake_ = wake;
        return changed || lands || taken;
    }

    // Whether a place is passed over in this cycle, and of which class; before clock().
    template <typename Taken>
    bool looks_over(EdfrLand& land, const Taken& taken_of, const uint32_t* skip) const {
        if (step_ != Step::Decide || !here_ || (skip && *skip == id_)) return false;
        const uint32_t c = id_;
        const EdfrLand::Place& place = land.place(c, at_[c]);
        const auto frames = static_cast<uint32_t>(place.chunk.frames.size());
        const bool over = skipping_[c] && place.serial < skip_to_[c];
        return at_[c] != land.whole[c] && (over || state_[c].index >= (place.bad ? 0 : frames - place.cut)) &&
               state_[c].asked == taken_of(c) && (over || place.bad || frames != 0 || jobs_ != 0);
    }
    uint32_t visited() const { return id_; }

    Line line;
    EdfrMask read;  // nothing of the class can be handed over before a further chunk lands

  private:
    static constexpr uint32_t kBeats = 4, kNone = UINT32_MAX;
    enum class Step : uint8_t { Pick, Read, Decide };
    struct State {
        uint32_t index = 0, asked = 0;
    };
    struct Job {
        bool valid = false, skip = false, bare = false, first = false, last = false;
        uint32_t id = 0, place = 0, index = 0, count = 0;
        EdfrCount before;  // of a chunk in which no frame begins: its place may be another chunk's by then
    };

    uint32_t lines_;
    Step step_ = Step::Pick;
    uint32_t id_ = 0;
    EdfrMask wake_, skipping_;
    std::vector<uint32_t> at_;
    std::vector<State> state_;
    std::vector<int64_t> skip_to_;
    EdfrPick pick_;
    bool here_ = false, skip_sent_ = false;
    uint32_t jobs_ = 3;
    Job job1_, job2_;
    std::array<Job, kBeats> beat_{};
    uint32_t beat_at_ = 0, beats_ = 0, header_ = 0;
};

// Time stamps. Visits follow from the clock alone, so only what they find is state.
struct EdfrStamps {
    static constexpr uint32_t kSkips = 4;

    struct Skip {
        uint32_t id = 0;
        EdfrStamp stamp;
    };

    explicit EdfrStamps(const EdfrSettings& s)
        : skips(kSkips),
          classes_(s.classes),
          bits_(std::max(3, static_cast<int>(std::bit_width(s.classes - 1)))),
          tick_(s.tick_cycles),
          rings_(s.classes) {
        for (uint32_t c = 0; c < s.classes; ++c) {
            rings_[c].size = s.stamps.empty() ? 64 : s.stamps[c];
            rings_[c].word.resize(std::min(rings_[c].size, 64u));
        }
    }

    // In the round of cycle `now` each class is noted.
    bool noting(int64_t now) const {
        Noting& known = noting_[round(now) & 1];
        if (known.round != round(now)) {
            const int64_t begin = round(now) << bits_, before = begin - (int64_t{1} << bits_);
            known = {round(now), begin > 0 && (begin - 1) / tick_ > std::max<int64_t>(before - 1, 0) / tick_};
        }
        return known.notes;
    }
    bool init_done(int64_t now) const { return now >= classes_; }
    bool set_ready(int64_t now) const { return init_done(now) && !(visits(now - 3) && noting(now - 3)); }
    bool looks(int64_t now) const { return visits(now) && noting(now); }
    uint32_t turn(int64_t now) const { return static_cast<uint32_t>(now & ((int64_t{1} << bits_) - 1)); }

    // `look`: what the look of this cycle found, where it found anything.
    bool clock(int64_t now, const EdfrStamp* look, const EdfrDue::Set* set, bool skip_ready) {
        bool changed = look || set;
        const bool room = skips.ready();
        if (skips.valid() && skip_ready) {
            skips.pop();
            changed = true;
        }
        if (visits(now - 3)) {
            const uint32_t at = turn(now - 3);
            Ring& ring = rings_[at];
            const bool note = found_[2] && noting(now - 3) && !(ring.any && stamp_[2].serial == ring.serial);
            const bool leaves = ring.count != 0 && round(now - 3) >= ring.at(0).over && room;
            if (leaves) {
                skips.push({at, ring.at(0).stamp});
                ring.first = ring.first + 1 == ring.word.size() ? 0 : ring.first + 1;
                --ring.count;
                changed = true;
            }
            if (note) {
                int64_t over = round(now + ring.longest) + 1;
                if (ring.any) over = std::max(over, ring.over);
                const bool same = ring.count != 0 && (over == ring.over || ring.count == ring.size);
                if (!same) ring.grow();
                ring.at(ring.count - same) = {over, stamp_[2]};
                ring.count += !same;
                ring.any = true;
                ring.serial = stamp_[2].serial;
                ring.over = over;
                ring.longest = ring.wait;
                changed = true;
            }
            waiting_.put(at, ring.count != 0);
        }
        if (set) {
            Ring& ring = rings_[set->id];
            ring.wait = set->cycles;
            ring.longest = std::max(ring.longest, set->cycles);
        }
        for (unsigned k = 2; k > 0; --k) {
            found_[k] = found_[k - 1];
            stamp_[k] = stamp_[k - 1];
            changed |= found_[k];
        }
        found_[0] = look;
        if (look) stamp_[0] = *look;
        return changed;
    }

    // From cycle `now` on, which is not before the one that is clocked next: the first in which something happens by itself. `to_note`:
    // a look would find something.
    int64_t next_event(int64_t now, const EdfrMask& to_note) const {
        int64_t next = INT64_MAX;
        waiting_.each([&](uint32_t c) {
            // A visit is seen three cycles later.
            const int64_t first = std::max(rings_[c].at(0).over, round(now - 3 + ((int64_t{1} << bits_) - 1 - c)));
            next = std::min(next, (first << bits_) + c + 3);
        });
        if (to_note.any()) {
            const int64_t begin = round(now) << bits_, length = int64_t{1} << bits_;
            if (noting(now) || noting(now + length)) return now;
            const int64_t tick = ((begin + length - 1) / tick_ + 1) * tick_;
            next = std::min(next, (round(tick) << bits_));
        }
        return std::max(next, now);
    }

    EdfrFifo<Skip> skips;

  private:
    struct Word {
        int64_t over = 0;
        EdfrStamp stamp;
    };
    struct Ring {
        uint32_t size = 0, first = 0, count = 0;
        bool any = false;
        int64_t serial = 0, over = 0;
        uint32_t wait = 0, longest = 0;
        std::vector<Word> word;  // as many as were needed so far

        Word& at(uint32_t n) { return word[index(n)]; }
        const Word& at(uint32_t n) const { return word[index(n)]; }
        size_t index(uint32_t n) const {
            const size_t i = first + n;
            return i >= word.size() ? i - word.size() : i;
        }
        // Room for one more; in the model a ring of its own size.
        void grow() {
            if (count < word.size()) return;
            std::vector<Word> more(std::min<size_t>(2 * word.size(), size));
            for (uint32_t n = 0; n < count; ++n) more[n] = at(n);
            word = std::move(more);
            first = 0;
        }
    };

    int64_t round(int64_t now) const { return now >> bits_; }
    bool visits(int64_t now) const { return now >= classes_ && turn(now) < classes_; }

    struct Noting {
        int64_t round = -1;
        bool notes = false;
    };

    uint32_t classes_;
    int bits_;
    int64_t tick_;
    mutable std::array<Noting, 2> noting_;  // of this round and the one before
    std::vector<Ring> rings_;
    EdfrMask waiting_;
    std::array<bool, 3> found_{};
    std::array<EdfrStamp, 3> stamp_{};
};

// pst_deadline_encoder
struct EdfrChoice {
    struct Head {
        uint32_t id = 0;
        int64_t deadline = 0;
    };
    struct Take {
        bool valid = false, drop = false, pending = false;
        Head head;
    };
    static constexpr uint32_t kPatience = 4;
    static constexpr int64_t kNoBound = INT64_MAX;

    // `bound`: none to send that is later.
    Take look(int64_t now, bool ready, int64_t bound) const {
        if (waited_ == kPatience || empty()) return {};
        Take t;
        t.pending = pending_first();
        t.head = t.pending ? pending_ : list_.back();
        t.drop = t.head.deadline < now;
        t.valid = t.drop || (ready && t.head.deadline <= bound);
        return t;
    }
    // The earliest deadline that is not over; kNoBound: there is none, or one is still to be dropped.
    int64_t front(int64_t now) const {
        if (empty()) return kNoBound;
        const int64_t deadline = pending_first() ? pending_.deadline : list_.back().deadline;
        return deadline < now ? kNoBound : deadline;
    }
    bool clock(const Take& t, bool follows, int64_t next_deadline, const Head* head) {
        const bool changed = t.valid || pending_valid_ || head || waited_ != 0;
        if (t.valid && !t.pending) list_.pop_back();
        if (pending_valid_ && !(t.valid && t.pending)) {
            // Behind those that are as early.
            auto place = list_.end();
            while (place != list_.begin() && std::prev(place)->deadline <= pending_.deadline) --place;
            list_.insert(place, pending_);
        }
        pending_valid_ = follows || head;
        if (follows)
            pending_ = {t.head.id, next_deadline};
        else if (head)
            pending_ = *head;
        waited_ = head && follows ? waited_ + 1 : 0;
        return changed;
    }
    // The first cycle in which the earliest entry is over.
    int64_t next_event() const { return list_.empty() ? INT64_MAX : list_.back().deadline + 1; }

  private:
    bool empty() const { return !pending_valid_ && list_.empty(); }
    bool pending_first() const { return pending_valid_ && (list_.empty() || pending_.deadline < list_.back().deadline); }

    bool pending_valid_ = false;
    Head pending_;
    std::vector<Head> list_;  // the earliest last
    uint32_t waited_ = 0;
};

struct EdfrQueues {
    struct Entry {
        bool first = false, last = false;  // of its chunk
        EdfrFrame frame;
        uint32_t gap = 0;  // frames that were lost before this one
    };
    struct Taken {
        bool valid = false, drop = false, pair = false;
        uint32_t id = 0;
        Entry entry, second;  // `second`: of a pair

        bool gives_back() const { return valid && (pair ? second.last : entry.last); }
        uint32_t segments() const { return pair ? 2 : (entry.frame.bytes + 63) / 64; }
    };

    explicit EdfrQueues(const EdfrSettings& s)
        : lines_(s.lines),
          decided_(s.decided),
          pairs_(s.columns > 1 && s.max_frame_bytes > 64),
          entry_(s.classes * s.lines),
          put_(s.classes),
          taken_(s.classes),
          count_(s.classes) {
        if (s.columns > 1) token_.emplace(s);
    }

    uint32_t taken(uint32_t c) const { return taken_[c]; }
    bool take_ready(uint32_t waiting) const { return waiting + (frame.valid && !frame.drop) < decided_; }
    // With what is taken to be sent goes the frame behind it.
    bool pairs(const EdfrChoice::Take& take, bool may) const {
        if (!pairs_ || !may || !take.valid || take.drop) return false;
        const uint32_t c = take.head.id, n = taken_[c];
        if (n % 2 != 0 || put_[c] - n == 1 || token_->stops(c)) return false;
        return at(c, n).frame.bytes <= 64 && at(c, n + 1).frame.bytes <= 64 && !at(c, n + 1).first;
    }
    // The frame behind what is taken may be, too.
    bool has_next(uint32_t c, bool pair) const {
        const uint32_t n = 1 + pair;
        return put_[c] - taken_[c] != n &&
               !(token_ && ((pair ? token_->stops_pair(c) : token_->stops(c)) || at(c, taken_[c] + n).gap != 0));
    }
    // m_token: a class whose token goes to the next column.
    const uint32_t* token() const { return token_ && token_->sent_valid ? &token_->sent : nullptr; }
    int64_t next_deadline(uint32_t c, bool pair) const { return at(c, taken_[c] + 1 + pair).frame.deadline; }
    const EdfrChoice::Head* head() const { return head_valid_ ? &head_ : nullptr; }

    // `pair`: with what is taken goes the frame behind it.
    bool clock(const EdfrLines::Line& line, const EdfrCount& skip, const EdfrChoice::Take& take, bool pair, bool head_ready,
               const uint32_t* token = nullptr) {
        bool changed = line.valid || take.valid || frame.valid || passed.valid || skip_done || head_valid_ || found_valid_;

        // Heads of classes that the encoder does not have. In a column: those whose token is here, and before which none is owed; what was
        // lost before one that was found is owed first.
        const bool room = !head_valid_ || head_ready;
        const bool skipped = token_ && passed.valid && (!passed.lost || bare_);
        const bool gap = token_ && found_valid_ && gapped(found_), gap_goes = gap && room && !skipped, goes = room && !(gap && skipped);
        const bool at_once = token && filled_[*token] && !token_->owes(*token) && room && !found_valid_ && !gapped(*token);
        const EdfrMask request = token_ ? (filled_ - shown_) & token_->may() : filled_ - shown_;
        const bool picks = request.any() && (!found_valid_ || goes), stays = take.valid && has_next(take.head.id, pair);
        uint32_t picked = 0;
        if (room) {
            head_valid_ = (found_valid_ && !gap) || at_once;
            const uint32_t c = at_once ? *token : found_;
            if (head_valid_) head_ = {c, at(c, taken_[c]).frame.deadline};
        }
        if (token_) {
            EdfrToken::Gone gone{};
            if (skipped)
                gone = {passed.id, passed.count.frames};
            else if (gap_goes)
                gone = {found_, at(found_, taken_[found_]).gap};
            changed |= token_->clock(token, shown_, take.valid ? &take.head.id : nullptr, pair, skipped || gap_goes ? &gone : nullptr);
        }
        if (picks) {
            picked = pick_.choose(request);
            pick_.last = static_cast<int>(picked);
            changed = true;
        }
        const uint32_t was_found = found_;
        found_valid_ = picks || (found_valid_ && !goes);
        if (picks) found_ = picked;

        // Takes.
        frame.valid = take.valid;
        if (take.valid) {
            const uint32_t c = take.head.id;
            frame.drop = take.drop;
            frame.id = c;
            frame.entry = at(c, taken_[c]);
            frame.pair = pair;
            if (pair) frame.second = at(c, taken_[c] + 1);
            if (!stays) {
                filled_.put(c, put_[c] - taken_[c] != 1U + pair);
                shown_.clear(c);
            }
            taken_[c] += 1 + pair;
            counted_.clear(c);
        }
        if (picks) shown_.set(picked);
        if (at_once) shown_.set(*token);
        if (gap_goes) {
            shown_.clear(was_found);
            counted_.set(was_found);
        }

        // Headers, and the skip.
        skip_done = line.valid && line.skip;
        passed.valid = false;
        if (line.valid) {
            const uint32_t c = line.id;
            EdfrCount& counted = count_[c];
            uint32_t lost = 0;
            bare_ = line.bare;
            if (line.skip) {
                const auto left = static_cast<int32_t>(skip.frames - counted.frames);
                skip_hit = left > 0;
                if (skip_hit) {
                    passed = {true, false, c, {static_cast<uint32_t>(left), skip.bytes - counted.bytes}};
                    counted = skip;
                }
            } else {
                if (line.first) {
                    const uint32_t frames = (line.before.frames - counted.frames) & 0x7FF;
                    const uint64_t bytes = (line.before.bytes - counted.bytes) & 0xFF'FFFF;
                    if (frames != 0) passed = {true, true, c, {frames, bytes}};
                    lost = frames;
                    counted.frames += frames;
                    counted.bytes += bytes;
                }
                if (!line.bare) {
                    ++counted.frames;
                    counted.bytes += line.frame.bytes;
                    at(c, put_[c]++) = {line.first, line.last, line.frame, lost};
                    filled_.set(c);
                }
            }
        }
        return changed;
    }

    Taken frame;
    EdfrPassed passed;
    bool skip_done = false, skip_hit = false;

  private:
    bool gapped(uint32_t c) const { return at(c, taken_[c]).gap != 0 && !counted_[c]; }
    Entry& at(uint32_t c, uint32_t n) { return entry_[c * lines_ + (n & (lines_ - 1))]; }
    const Entry& at(uint32_t c, uint32_t n) const { return entry_[c * lines_ + (n & (lines_ - 1))]; }

    uint32_t lines_, decided_;
    bool pairs_;
    std::vector<Entry> entry_;
    std::vector<uint32_t> put_, taken_;
    std::vector<EdfrCount> count_;
    std::optional<EdfrToken> token_;  // of a column of a wide port
    EdfrMask filled_, shown_;
    EdfrMask counted_;  // those lost before the class's first frame are owed already
    bool bare_ = false;
    EdfrPick pick_;
    bool found_valid_ = false, head_valid_ = false;
    uint32_t found_ = 0;
    EdfrChoice::Head head_;
};

struct EdfrSender {
    static constexpr uint32_t kWords = 8;

    struct Sent {
        uint32_t id = 0;
        EdfrFrame frame;
        bool pair = false;
        EdfrFrame second;  // of a pair
    };
    struct Word {
        bool first = false, last = false, late = false;
        uint32_t id = 0;
        EdfrFrame frame;
    };
    struct Now {
        bool go = false, late = false, last = false;
        uint32_t left = 0;
    };

    explicit EdfrSender(const EdfrSettings& s)
        : decided(s.decided), words_(kWords), ahead_(s.no_deadlines ? 0 : 1), voids_(s.columns > 1) {}

    Now look(int64_t now) const {
        Now n;
        n.go = decided.valid() && credit_ != 0;
        if (!n.go) return n;
        const EdfrFrame& frame = this->frame();
        n.left = first_ ? (frame.bytes + 63) / 64 : left_;
        n.late = first_ && now > frame.deadline;
        n.last = n.late || n.left <= 1;
        return n;
    }
    bool done(const Now& n) const { return n.go && n.last && (second_ || !decided.front().pair); }
    // A frame waits to be sent, or has not left.
    bool busy() const { return decided.valid() || credit_ != kWords || m_valid; }

    bool clock(const Now& n, int64_t now, bool m_ready, const Sent* in) {
        bool changed = n.go || in || late.valid || valid_ != 0;
        const bool out_ready = !m_valid || m_ready, gives = words_.valid() && out_ready;
        const Word out = words_.valid() ? words_.front() : Word{};
        const bool skip = out.first ? out.late || now + ahead_ > out.frame.deadline : skip_;
        changed |= gives || (m_valid && m_ready);
        late.valid = gives && out.first && skip;
        if (late.valid) {
            late.id = out.id;
            late.frame = out.frame;
        }
        if (out_ready) {
            m_valid = gives && (!skip || (voids_ && out.first));
            m_void = voids_ && skip;
            if (gives) {
                m_word = out;
                skip_ = skip;
            }
        }
        if (gives) words_.pop();
        if (valid_ & 4) words_.push(stage_[2]);
        stage_[2] = stage_[1];
        stage_[1] = stage_[0];
        valid_ = (valid_ << 1 | n.go) & 7;
        credit_ = credit_ - n.go + gives;
        if (n.go) {
            const bool ends = done(n);
            stage_[0] = {first_, n.last, n.late, decided.front().id, frame()};
            first_ = n.last;
            left_ = n.left - 1;
            if (n.last) second_ = !ends;
            if (ends) decided.pop();
        }
        if (in) decided.push(*in);
        return changed;
    }

    EdfrFifo<Sent> decided;
    bool m_valid = false, m_void = false;  // void: the frame is over, this word stands for it
    Word m_word;
    EdfrEvent late;

  private:
    EdfrFifo<Word> words_;
    const EdfrFrame& frame() const { return second_ ? decided.front().second : decided.front().frame; }

    bool first_ = true, skip_ = false;
    bool second_ = false;  // the pair's second frame is next
    uint32_t left_ = 0, credit_ = kWords, valid_ = 0;
    int64_t ahead_;  // what goes into the output register is offered so much later: a cycle, or none as time stands still
    bool voids_;     // of a column of a wide port: a frame that is over is a word
    std::array<Word, 3> stage_{};
};

}  // namespace penstock
