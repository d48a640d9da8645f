// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Model of the way of chunks in pst_edfr, equal to it in every cycle: pst_deadline_mover, pst_chunk_lists, pst_deadline_fetch,
// pst_deadline_land. What stands in a chunk goes from one holder to the next when that one begins to move it.
#pragma once

#include <optional>

#include "edfr_tail.hpp"

namespace penstock {

// The AXI4 port in a cycle, without data: what the memory says, and what is offered to it.
struct EdfrMemoryIn {
    bool awready = false, wready = false, bvalid = false, berror = false;
    bool arready = false, rvalid = false, rerror = false, rlast = false;
};
struct EdfrMemoryOut {
    bool awvalid = false, wvalid = false, wlast = false, bready = false, arvalid = false, rready = false;
    uint32_t aw_chunk = 0, aw_beats = 0, ar_chunk = 0;
};

struct EdfrMover {
    static constexpr uint32_t kSettle = 4, kBeats = 8;

    struct Beat {
        uint32_t id = 0;
        int64_t serial = 0;
        bool valid = false, loop = false, last = false;
    };
    struct Push {
        uint32_t id = 0, number = 0;
        bool bad = false;
    };
    struct Address {
        uint32_t number = 0, beats = 0;
    };
    struct Now {
        bool chunk_ready = false, loop = false, read = false, done = false;
    };

    explicit EdfrMover(const EdfrSettings& s) : beats(kBeats), address(2), pending(s.writes), push(2), in_loop(4), storing_(s.classes) {}

    Now look(const EdfrRamFifo<EdfrClosed>& closed, const EdfrMask& loop_ok) const {
        Now n;
        n.read = job_valid_ && room_ != 0;
        n.done = n.read && beat_ == job_last_;
        if (closed.valid()) {
            const uint32_t id = closed.front().id;
            n.loop = loop_ok[id] && storing_[id] == 0;
            n.chunk_ready = (!job_valid_ || n.done) && !looping_[id] && (n.loop || (address.ready() && pending.ready()));
        }
        return n;
    }
    // A slot of the tail has been read.
    const Beat& moved() const { return read2_; }
    bool moved_valid() const { return read2_.valid && read2_.last; }
    bool loop_valid() const { return beats.valid() && beats.front().loop; }
    bool w_valid() const { return beats.valid() && !beats.front().loop; }
    bool b_ready() const { return pending.valid() && push.ready(); }
    // Classes of which a chunk is on its way.
    EdfrMask busy() const { return looping_ | storing_mask_; }

    // `tail`: the frames of the chunk that is chosen are in its slot there.
    bool clock(const Now& n, const EdfrRamFifo<EdfrClosed>& closed, EdfrTail& tail, std::vector<EdfrChunk>& memory, const EdfrMemoryIn& m,
               bool loop_ready, bool push_ready) {
        bool changed = n.read || n.chunk_ready || read1_.valid || read2_.valid;
        const bool out = beats.valid() && (beats.front().loop ? loop_ready : m.wready);
        const bool pushed = push.valid() && push_ready;
        const Push push_out = push.valid() ? push.front() : Push{};
        const Beat beat_out = beats.valid() ? beats.front() : Beat{};

        // What is on its way, until the head side has counted it.
        const Shift settled_push = pushed_[kSettle - 1], settled_loop = looped_[kSettle - 1];
        for (uint32_t k = kSettle - 1; k > 0; --k) {
            pushed_[k] = pushed_[k - 1];
            looped_[k] = looped_[k - 1];
            changed |= pushed_[k].valid || looped_[k].valid;
        }
        pushed_[0] = {pushed, push_out.id};
        looped_[0] = {out && beat_out.loop && beat_out.last, beat_out.id};
        if (settled_loop.valid) looping_.clear(settled_loop.id);
        if (settled_push.valid) store(settled_push.id, -1);
        changed |= out || pushed || settled_loop.valid || settled_push.valid;

        // Memory: addresses, responses, pushes.
        if (address.valid() && m.awready) {
            address.pop();
            changed = true;
        }
        const bool answered = m.bvalid && b_ready();
        if (pushed) push.pop();
        if (answered) {
            push.push({pending.front().id, pending.front().number, m.berror});
            pending.pop();
            changed = true;
        }

        // Beats.
        if (out) beats.pop();
        if (read2_.valid) beats.push(read2_);
        read2_ = read1_;
        read1_ = {job_.id, job_.serial, n.read, job_loop_, beat_ == job_last_};
        room_ = room_ - n.read + out;
        if (n.read) beat_ = n.done ? 0 : beat_ + 1;
        const bool chosen = closed.valid() && n.chunk_ready;
        if (chosen) choose(closed.front(), n.loop, tail, memory);
        job_valid_ = chosen || (job_valid_ && !n.done);
        return changed;
    }

    EdfrFifo<Beat> beats;
    EdfrFifo<Address> address;
    EdfrFifo<Push> pending, push;
    EdfrRing<EdfrChunk> in_loop;  // chunks there, in order

  private:
    struct Shift {
        bool valid = false;
        uint32_t id = 0;
    };

    void store(uint32_t id, int more) {
        storing_[id] += static_cast<uint32_t>(more);
        storing_mask_.put(id, storing_[id] != 0);
    }
    void choose(const EdfrClosed& c, bool loop, EdfrTail& tail, std::vector<EdfrChunk>& memory) {
        EdfrChunk& slot = tail.slot(c.id, c.serial);
        slot.open = c.open;
        slot.before = c.before;
        slot.data_units = c.data_units;
        job_ = c;
        job_last_ = slot.beats() - 1;
        job_loop_ = loop;
        if (loop) {
            looping_.set(c.id);
            std::swap(in_loop.push_place(), slot);
        } else {
            address.push({c.number, job_last_ + 1});
            pending.push({c.id, c.number, false});
            store(c.id, 1);
            std::swap(memory[c.number], slot);
        }
    }

    bool job_valid_ = false, job_loop_ = false;
    EdfrClosed job_;
    uint32_t job_last_ = 0, beat_ = 0, room_ = kBeats;
    Beat read1_, read2_;
    EdfrMask looping_, storing_mask_;
    std::vector<uint32_t> storing_;
    std::array<Shift, kSettle> pushed_{}, looped_{};
};

// pst_chunk_lists with ReadLatency 2
struct EdfrLists {
    enum class Kind : uint8_t { Push, Pop, Splice };
    struct Splice {
        uint32_t id = 0;
        bool all = false;
        uint32_t number = 0, previous = 0, count = 0;
    };
    struct Now {
        bool push_ready = false, pop_ready = false, splice_ready = false, free_ready = false;
    };

    explicit EdfrLists(const EdfrSettings& s)
        : free_count(s.chunks), chunks_(s.chunks), next_(s.chunks), bad_(s.chunks), lists_(s.classes) {}

    Now look(bool push, bool pop, bool splice) const {
        Now n;
        if (state_ == State::Idle) {
            const bool asks[] = {push, pop, splice};
            for (unsigned k = 0; k < 3; ++k) {
                const unsigned kind = (static_cast<unsigned>(turn_) + k) % 3;
                if (!asks[kind]) continue;
                (kind == 0 ? n.push_ready : kind == 1 ? n.pop_ready : n.splice_ready) = true;
                break;
            }
        }
        n.free_ready = !(state_ == State::Act && (kind_ == Kind::Push || (kind_ == Kind::Splice && lists_[id_].count != 0)));
        return n;
    }

    bool clock(const Now& n, bool number_ready, const EdfrMover::Push* push, const uint32_t* pop, const uint32_t* free,
               const Splice* splice) {
        bool changed = state_ != State::Idle || popped_valid || fetching_ != 0;
        const bool act_read = acts_on_link(), want = !offered || number_ready;
        if (offered && number_ready) {
            --free_count;
            changed = true;
        }
        if (want) {
            offered = false;
            if (fresh_ < chunks_) {
                offered = true;
                offer = fresh_++;
            } else if (listed_ != 0 && (listed_ == 1 || !act_read) && fetching_ == 0) {
                offered = true;
                offer = first_;
                if (--listed_ != 0) {
                    first_ = next_[first_];
                    fetching_ = 2;
                }
            }
            changed |= offered;
        }
        if (fetching_) --fetching_;
        if (free && n.free_ready) {
            append(*free, *free, 1);
            changed = true;
        }
        popped_valid = false;
        switch (state_) {
            case State::Idle:
                take(n, push, pop, splice);
                break;
            case State::Act:
                act();
                state_ = act_read ? State::Wait : State::Idle;
                break;
            case State::Wait:
                state_ = State::Fix;
                break;
            case State::Fix:
                state_ = State::Idle;
                break;
        }
        return changed || state_ != State::Idle;
    }

    uint32_t free_count, offer = 0, popped_number = 0;
    bool offered = false, popped_valid = false, popped_bad = false;

  private:
    enum class State : uint8_t { Idle, Act, Wait, Fix };
    struct List {
        uint32_t first = 0, last = 0, count = 0;
    };

    bool acts_on_link() const {
        if (state_ != State::Act) return false;
        return kind_ == Kind::Pop ? lists_[id_].count != 1 : kind_ == Kind::Splice && !splice_.all && lists_[id_].count != 0;
    }
    void append(uint32_t first, uint32_t last, uint32_t count) {
        (listed_ ? next_[free_last_] : first_) = first;
        free_last_ = last;
        listed_ += count;
        free_count += count;
    }
    void take(const Now& n, const EdfrMover::Push* push, const uint32_t* pop, const Splice* splice) {
        if (n.push_ready && push) {
            kind_ = Kind::Push;
            id_ = push->id;
            number_ = push->number;
            bad_[number_] = push->bad;
            turn_ = Kind::Pop;
        } else if (n.pop_ready && pop) {
            kind_ = Kind::Pop;
            id_ = *pop;
            turn_ = Kind::Splice;
        } else if (n.splice_ready && splice) {
            kind_ = Kind::Splice;
            id_ = splice->id;
            splice_ = *splice;
            turn_ = Kind::Push;
        } else {
            return;
        }
        state_ = State::Act;
    }
    void act() {
        List& list = lists_[id_];
        if (kind_ == Kind::Push) {
            (list.count ? next_[list.last] : list.first) = number_;
            list.last = number_;
            ++list.count;
        } else if (kind_ == Kind::Pop) {
            if (list.count == 0) throw std::logic_error("the deadline port's model pops a chunk of an empty class");
            popped_valid = true;
            popped_number = list.first;
            popped_bad = bad_[list.first];
            list.first = next_[list.first];
            --list.count;
        } else if (list.count != 0) {
            const uint32_t count = splice_.all ? list.count : splice_.count, last = splice_.all ? list.last : splice_.previous;
            if (!splice_.all && (count >= list.count || next_[last] != splice_.number))
                throw std::logic_error("a splice of the deadline port's model does not fit");
            append(list.first, last, count);
            list.first = splice_.number;
            list.count -= count;
        }
    }

    uint32_t chunks_, fresh_ = 0, first_ = 0, free_last_ = 0, listed_ = 0, fetching_ = 0;
    std::vector<uint32_t> next_;
    std::vector<bool> bad_;
    std::vector<List> lists_;
    State state_ = State::Idle;
    Kind kind_ = Kind::Push, turn_ = Kind::Push;
    uint32_t id_ = 0, number_ = 0;
    Splice splice_;
};

struct EdfrFetch {
    struct Awaited {
        uint32_t id = 0, place = 0;
        int64_t serial = 0;
    };
    struct Read {
        Awaited place;
        uint32_t number = 0;
        bool bad = false;
    };

    explicit EdfrFetch(const EdfrSettings& s)
        : read(s.reads),
          address(s.reads),
          free(s.reads),
          given(s.classes),
          places_(s.places),
          credits_(s.reads),
          released_(s.classes),
          next_(s.classes),
          stored_(s.classes),
          taken_(s.classes),
          awaited_(s.reads) {
        for (uint32_t c = 0; c < s.classes; ++c) room_.set(c);
    }

    bool push_may() const { return !hold_; }
    bool loop_given() const { return op_ == Op::Loop; }
    uint32_t loop_place() const { return given[op_class_]; }
    EdfrMask loop_ok() const { return loop_ok_ - in_memory; }
    bool pop_valid() const { return pop_valid_; }
    uint32_t pop_class() const { return pop_class_; }
    uint32_t op_class() const { return op_class_; }  // that gets a place, if any does
    bool splice_valid() const { return splice_valid_; }

    struct Cut {
        uint32_t id;
        int64_t serial;
    };
    // Splices the first chunks of a class: `number`, `previous` are the stamp's.
    EdfrLists::Splice splice(const EdfrStamp& stamp) const {
        return {splice_class_, splice_all_, stamp.number, stamp.previous, splice_count_};
    }

    // `push`: valid at the lists, `pushed`: taken by them; `landed`: has the class as many chunks landed as places were given.
    bool clock(bool push, bool pushed, uint32_t push_class, bool pop_ready, bool splice_ready, const EdfrLists& lists, bool free_ready,
               const uint32_t* loop_wanted, const Cut* cut, const uint32_t* release, bool ar_ready, bool read_ready,
               const EdfrMask& all_landed) {
        bool changed = op_ != Op::None || pushed || cut_done || release;

        // First cycle: which operation.
        Op op = Op::None;
        uint32_t op_class = 0;
        if (op_ == Op::None && !hold_) {
            const EdfrMask wants = in_memory & room_;
            if (loop_wanted && room_[*loop_wanted]) {
                op = Op::Loop;
                op_class = *loop_wanted;
            } else if (cut && !cut_done && !pop_valid_ && (pushed || !push)) {
                op = Op::Cut;
                op_class = cut->id;
            } else if (wants.any() && credits_ != 0 && !pop_valid_) {
                op = Op::Fetch;
                op_class = pick_.choose(wants);
                pick_.last = static_cast<int>(op_class);
            }
        }

        const EdfrMask loop_ok_now = (room_ - in_memory) & all_landed;
        changed |= !(loop_ok_now == loop_ok_) || op != Op::None;
        loop_ok_ = loop_ok_now;

        // Numbers on their way back, and what lands.
        const bool freed = free.valid() && free_ready;
        if (freed) free.pop();
        if (read.valid() && read_ready) {
            free.push(read.front().number);
            read.pop();
            changed = true;
        }
        if (address.valid() && ar_ready) {
            address.pop();
            changed = true;
        }
        if (lists.popped_valid) {
            read.push({awaited_.front(), lists.popped_number, lists.popped_bad});
            awaited_.pop();
            if (!lists.popped_bad) address.push(lists.popped_number);
        }

        // Second cycle: the class's state.
        cut_done = false;
        if (pop_ready) pop_valid_ = false;
        if (op == Op::Cut) hold_ = true;
        const uint32_t c = op_class_;
        const int64_t in_list = stored_[c] - taken_[c];
        bool emptied = false;
        if (op_ == Op::Loop) {
            ++next_[c];
            place(c);
        } else if (op_ == Op::Fetch) {
            pop_valid_ = true;
            pop_class_ = c;
            awaited_.push({c, given[c], next_[c]});
            ++next_[c];
            ++taken_[c];
            place(c);
            emptied = in_list == 1;
        } else if (op_ == Op::Cut) {
            const int64_t ahead = cut->serial - next_[c];
            const bool all = ahead >= in_list, cuts = ahead > 0 && in_list != 0;
            const int64_t count = all ? in_list : ahead;
            if (cuts) {
                next_[c] += count;
                taken_[c] += count;
                emptied = all;
            } else {
                cut_done = true;
            }
            hold_ = cuts;
            splice_valid_ = cuts;
            splice_all_ = all;
            splice_count_ = static_cast<uint32_t>(count);
            splice_class_ = c;
        }
        if (splice_valid_ && splice_ready) {
            splice_valid_ = false;
            hold_ = false;
            cut_done = true;
            changed = true;
        }
        credits_ = credits_ - (op_ == Op::Fetch) + freed;
        if (emptied) in_memory.clear(c);
        if (pushed) {
            ++stored_[push_class];
            in_memory.set(push_class);
        }
        if (release) {
            ++released_[*release];
            room_.put(*release, given[*release] - released_[*release] != places_);
        }
        op_ = op;
        op_class_ = op_class;
        return changed || freed;
    }

    EdfrFifo<Read> read;
    EdfrFifo<uint32_t> address, free;
    std::vector<uint32_t> given;
    EdfrMask in_memory;
    bool cut_done = false;

  private:
    enum class Op : uint8_t { None, Loop, Fetch, Cut };

    void place(uint32_t c) {
        ++given[c];
        room_.put(c, given[c] - released_[c] != places_);
    }

    uint32_t places_, credits_;
    std::vector<uint32_t> released_;
    std::vector<int64_t> next_, stored_, taken_;
    EdfrFifo<Awaited> awaited_;
    EdfrMask room_, loop_ok_;
    EdfrPick pick_;
    Op op_ = Op::None;
    uint32_t op_class_ = 0;
    bool hold_ = false, pop_valid_ = false, splice_valid_ = false, splice_all_ = false;
    uint32_t pop_class_ = 0, splice_class_ = 0, splice_count_ = 0;
};

struct EdfrLand {
    // What stands in a place.
    struct Place {
        EdfrChunk chunk;
        int64_t serial = 0;
        bool bad = false, cut = false;
    };
    struct Now {
        bool loop = false, read_can = false, r_ready = false, read_ready = false, loop_wanted = false;
    };

    explicit EdfrLand(const EdfrSettings& s) : landed(s.classes), whole(s.classes), places_(s.places), place_(s.classes * s.places) {}

    Place& place(uint32_t id, uint32_t at) { return place_[id * places_ + (at & (places_ - 1))]; }

    Now look(const EdfrFetch& fetch, bool loop_valid, const EdfrMemoryIn& m) const {
        Now n;
        const bool read = fetch.read.valid(), read_bad = read && fetch.read.front().bad;
        n.read_can = read && (read_bad || m.rvalid);
        n.loop = loop_valid && loop_has_place_ && (loop_turn_ || !n.read_can);
        n.r_ready = read && !read_bad && !n.loop;
        n.read_ready = n.read_can && !n.loop && (read_bad || m.rlast);
        n.loop_wanted = loop_valid && !loop_has_place_ && !fetch.loop_given();
        return n;
    }

    // landed_valid, landed_id: a chunk lands in this cycle. Called before the others are clocked.
    bool landed_valid() const { return in_.valid && in_.last; }
    uint32_t landed_id() const { return in_.id; }

    bool clock(const Now& n, EdfrFetch& fetch, const EdfrMover::Beat& loop_beat, EdfrRing<EdfrChunk>& in_loop,
               std::vector<EdfrChunk>& memory, const EdfrMemoryIn& m) {
        const bool changed = in_.valid || n.loop || n.read_can || fetch.loop_given();
        if (landed_valid()) lands();
        in_.valid = n.loop || n.read_can;
        if (n.loop) {
            in_ = {true, loop_beat.last, false, loop_beat.id, loop_place_};
            if (loop_beat.last) {
                Place& to = place(loop_beat.id, loop_place_);
                std::swap(to.chunk, in_loop.front());
                to.serial = loop_beat.serial;
                in_loop.pop();
                loop_has_place_ = false;
            }
        } else if (n.read_can) {
            const EdfrFetch::Read& read = fetch.read.front();
            const bool last = n.read_ready, bad = bad_ || read.bad || m.rerror;
            in_ = {true, last, bad, read.place.id, read.place.place};
            bad_ = !last && (bad_ || m.rerror);
            if (last) {
                Place& to = place(read.place.id, read.place.place);
                std::swap(to.chunk, memory[read.number]);
                to.serial = read.place.serial;
            }
        }
        if (n.loop || n.read_can) loop_turn_ = !n.loop;
        if (fetch.loop_given()) {
            loop_has_place_ = true;
            loop_place_ = fetch.loop_place();
        }
        return changed;
    }

    std::vector<uint32_t> landed, whole;

  private:
    struct In {
        bool valid = false, last = false, bad = false;
        uint32_t id = 0, place = 0;
    };

    void lands() {
        const uint32_t c = in_.id, before = landed[c]++;
        const bool waits = whole[c] != before;
        Place& here = place(c, in_.place);
        here.cut = false;
        here.bad = in_.bad;
        if (in_.bad) {
            if (waits) place(c, whole[c]).cut = true;
            whole[c] = before + 1;
        } else if (!here.chunk.frames.empty() && here.chunk.open) {
            whole[c] = before;
        } else if (!(here.chunk.open && waits)) {
            whole[c] = before + 1;
        }
    }

    uint32_t places_;
    std::vector<Place> place_;
    bool loop_has_place_ = false, loop_turn_ = false, bad_ = false;
    uint32_t loop_place_ = 0;
    In in_;
};

}  // namespace penstock
