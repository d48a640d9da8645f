// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Model of pst_edfr, equal to it at every port in every cycle, without the bytes of frames: a frame has a number instead.
//
// It has the hardware's modules, each with its registers, so it is no reference of what EDFR should do (exact_edfr.hpp is): it is there to
// be fast. cycle() says whether anything has changed. After a cycle in which nothing has, the same inputs change nothing before
// next_event().
#pragma once

#include "edfr_head.hpp"

namespace penstock {

struct EdfrIn {
    const EdfrBeat* beat = nullptr;  // s_valid_i
    bool m_ready = false;
    EdfrMemoryIn memory;
    const EdfrDue::Set* set = nullptr;  // s_set_valid_i
    bool set_dscp = false;
    uint32_t dscp = 0, dscp_class = 0;
    uint32_t limit = 0;               // chunks in use at most
    bool hold = false;                // nothing is to be decided to be sent,
    int64_t bound = INT64_MAX;        // or nothing later
    const uint32_t* token = nullptr;  // of a column: the class whose token comes
};

struct EdfrOut {
    bool ready = false, set_ready = false;
    bool valid = false, last = false;  // m_valid_o
    uint32_t bytes_last = 0, id = 0;
    EdfrFrame frame;
    EdfrMemoryOut memory;
    EdfrEvent refused, fate, expired, late;
    EdfrPassed passed;
    bool sending = false;  // a frame has been decided to be sent and has not left
};

class EdfrModel {
  public:
    // Throws std::invalid_argument. Cycle 0 is the first after reset.
    explicit EdfrModel(const EdfrSettings& s)
        : classifier_((s.check(), s)),
          due_(s),
          intake_(s),
          tail_(s),
          mover_(s),
          lists_(s),
          fetch_(s),
          land_(s),
          lines_(s),
          stamps_(s),
          queues_(s),
          sender_(s),
          back_(std::bit_ceil(s.classes * s.places)),
          memory_(s.chunks),
          chunks_(s.chunks),
          stands_still_(s.no_deadlines) {
        for (uint32_t c = 0; c < s.classes; ++c) all_landed_.set(c);
    }

    int64_t now() const { return now_; }
    bool init_done() const { return due_.init_done(); }
    uint32_t free_chunks() const { return lists_.free_count; }
    // Of a column of a wide port, before cycle(): the class whose token goes on; what was decided to be sent; what is offered.
    const uint32_t* token() const { return queues_.token(); }
    const EdfrQueues::Taken* decided() const { return queues_.frame.valid && !queues_.frame.drop ? &queues_.frame : nullptr; }
    const EdfrSender& sender() const { return sender_; }
    // The earliest deadline at hand, as EdfrChoice::front.
    int64_t front() const { return choice_.front(now_); }
    // For how long frames of a class wait that come now.
    uint32_t wait(uint32_t id) const { return due_.wait.at(id); }

    bool cycle(const EdfrIn& in, EdfrOut& out) {
        // ---- What is offered, and what is taken
        const bool intake_ready = intake_.ready(), due_ready = due_.ready(intake_ready);
        const int64_t time = stands_still_ ? 0 : now_;
        const bool stamps_ready = stands_still_ || stamps_.set_ready(now_), looks = !stands_still_ && stamps_.looks(now_);
        const uint32_t turn = stamps_.turn(now_);
        const bool below = in.limit == 0 || chunks_ - lists_.free_count < in.limit, offered = lists_.offered && below;
        const EdfrTail::Now tail = tail_.look(intake_.data_valid(), offered, lists_.free_count != 0 && below);
        const EdfrSlots::Flush flush = tail_.slots.flush(tail_.op_valid(), tail_.op_class(), looks, tail_.flush_room());
        const EdfrMask dry = (lines_.read & all_landed_ & fetch_.loop_ok()) - (fetch_.in_memory | mover_.busy());
        const EdfrMover::Now mover = mover_.look(tail_.closed, fetch_.loop_ok());
        const EdfrLand::Now land = land_.look(fetch_, mover_.loop_valid(), in.memory);
        const bool push = mover_.push.valid() && fetch_.push_may();
        const EdfrLists::Now lists = lists_.look(push, fetch_.pop_valid(), fetch_.splice_valid());
        const EdfrChoice::Take take = choice_.look(time, !in.hold && queues_.take_ready(sender_.decided.level()), in.bound);
        const bool pair = queues_.pairs(take, in.bound == EdfrChoice::kNoBound);
        const bool follows = take.valid && queues_.has_next(take.head.id, pair);
        const int64_t next_deadline = follows ? queues_.next_deadline(take.head.id, pair) : 0;
        const EdfrSender::Now sender = sender_.look(time);
        const auto taken_of = [this](uint32_t c) { return queues_.taken(c); };
        const bool skipping = skip_step_ == SkipStep::Count;
        const uint32_t* const skip = skipping ? &skip_.id : nullptr;
        const EdfrQueues::Taken& frame = queues_.frame;
        const bool gives_back = frame.gives_back(), passes = lines_.looks_over(land_, taken_of, skip);

        out.ready = classifier_.ready(due_ready);
        out.set_ready = due_.set_ready();
        out.valid = sender_.m_valid;
        if (out.valid) {
            const EdfrSender::Word& word = sender_.m_word;
            out.last = word.last;
            out.bytes_last = (word.frame.bytes - 1) % EdfrSettings::kBeatBytes + 1;
            out.id = word.id;
            out.frame = word.frame;
        }
        out.memory.awvalid = mover_.address.valid();
        if (out.memory.awvalid) {
            out.memory.aw_chunk = mover_.address.front().number;
            out.memory.aw_beats = mover_.address.front().beats;
        }
        out.memory.wvalid = mover_.w_valid();
        out.memory.wlast = out.memory.wvalid && mover_.beats.front().last;
        out.memory.bready = mover_.b_ready();
        out.memory.arvalid = fetch_.address.valid();
        if (out.memory.arvalid) out.memory.ar_chunk = fetch_.address.front();
        out.memory.rready = land.r_ready;
        // What is not valid means nothing.
        const auto tell = [](auto& to, const auto& from) {
            if (from.valid)
                to = from;
            else
                to.valid = false;
        };
        tell(out.refused, intake_.refused);
        tell(out.fate, tail_.fate);
        out.expired.valid = frame.valid && frame.drop;
        if (out.expired.valid) {
            out.expired.id = frame.id;
            out.expired.frame = frame.entry.frame;
        }
        out.sending = (frame.valid && !frame.drop) || sender_.busy();
        tell(out.late, sender_.late);
        tell(out.passed, queues_.passed);

        // ---- The edge: what is read by another one in this cycle is clocked behind it
        bool changed = skip_step_ != SkipStep::Idle || due_.tells();
        const bool skip_done = queues_.skip_done, skip_hit = queues_.skip_hit, cut_done = fetch_.cut_done;
        const bool lands = land_.landed_valid();
        const uint32_t lands_class = land_.landed_id();
        tell(line_, lines_.line);
        changed |= lines_.clock(land_, taken_of, !gives_back, skip, skip_.stamp.serial, skip_done, skip_hit, take.valid, take.head.id,
                                lands, lands_class);

        const bool released = back_.valid() && back_.front().mark <= sent_;
        const Back release = released ? back_.front() : Back{};
        const Back back = {gives_back ? frame.id : lines_.visited(), decided_};
        changed |= back_.clock(released, gives_back || passes ? &back : nullptr);
        decided_ += take.valid && !take.drop;
        sent_ += sender_.done(sender);
        const bool to_send = frame.valid && !frame.drop;
        if (to_send) to_send_ = {frame.id, frame.entry.frame, frame.pair, frame.second.frame};
        changed |= sender_.clock(sender, time, in.m_ready, to_send ? &to_send_ : nullptr);
        const EdfrChoice::Head* const head = queues_.head();
        changed |= choice_.clock(take, follows, next_deadline, head);
        changed |= queues_.clock(line_, skip_.stamp.before, take, pair, !follows, in.token);

        const EdfrMover::Beat loop_beat = mover_.loop_valid() ? mover_.beats.front() : EdfrMover::Beat{};
        const EdfrMover::Push pushing = push ? mover_.push.front() : EdfrMover::Push{};
        const EdfrMover::Beat moved = mover_.moved();
        const bool moved_valid = mover_.moved_valid();
        const uint32_t pop_class = fetch_.pop_class(), freed = fetch_.free.valid() ? fetch_.free.front() : 0, offer = lists_.offer;
        const bool free = fetch_.free.valid(), takes_number = offered && tail_.numbers.ready();
        const EdfrLists::Splice splice = fetch_.splice(skip_.stamp);
        const bool pop = fetch_.pop_valid(), splices = fetch_.splice_valid();
        changed |= land_.clock(land, fetch_, loop_beat, mover_.in_loop, memory_, in.memory);
        const EdfrFetch::Cut cut = {skip_.id, skip_.stamp.serial};
        const EdfrMask landed_before = all_landed_;
        const uint32_t given_class = fetch_.op_class();
        changed |= fetch_.clock(push, push && lists.push_ready, pushing.id, lists.pop_ready, lists.splice_ready, lists_, lists.free_ready,
                                land.loop_wanted ? &loop_beat.id : nullptr, skip_step_ == SkipStep::Cut ? &cut : nullptr,
                                released ? &release.id : nullptr, in.memory.arready, land.read_ready, landed_before);
        for (const uint32_t c : {given_class, lands_class}) all_landed_.put(c, land_.landed[c] == fetch_.given[c]);
        changed |= lists_.clock(lists, takes_number, push ? &pushing : nullptr, pop ? &pop_class : nullptr, free ? &freed : nullptr,
                                splices ? &splice : nullptr);
        changed |= mover_.clock(mover, tail_.closed, tail_, memory_, in.memory, land.loop, push && lists.push_ready);

        const bool refused = intake_.refused.valid, fated = tail_.fate.valid;
        const bool meta = intake_.metas.valid() && tail.meta_ready;
        bool found = false;
        changed |= tail_.clock(tail, flush, meta ? &intake_.metas.front() : nullptr, takes_number ? &offer : nullptr, dry, moved_valid,
                               moved.id, static_cast<uint32_t>(moved.serial & 1), moved.loop, mover.chunk_ready, looks, turn, &found);
        changed |= intake_.clock(due_, tail.go, tail.meta_ready);
        const EdfrDue::Set told = {due_.at, due_.cycles};
        const bool tells = due_.tells();
        changed |= due_.clock(classifier_.valid2 ? &classifier_.beat2 : nullptr, classifier_.class2, intake_ready, time, refused, fated,
                              in.set, stamps_ready);
        changed |= classifier_.clock(in.beat, due_ready);
        if (in.set_dscp) classifier_.table[std::min(in.dscp, kNoDscp)] = in.dscp_class;

        const bool skips = stamps_.skips.valid() && skip_step_ == SkipStep::Idle;
        const EdfrStamps::Skip next_skip = skips ? stamps_.skips.front() : EdfrStamps::Skip{};
        if (!stands_still_) {
            const EdfrStamp stamp = found ? tail_.stamp(turn) : EdfrStamp{};
            changed |= stamps_.clock(now_, found ? &stamp : nullptr, tells && stamps_ready ? &told : nullptr, skip_step_ == SkipStep::Idle);
        }
        switch (skip_step_) {
            case SkipStep::Idle:
                if (skips) {
                    skip_ = next_skip;
                    skip_step_ = SkipStep::Count;
                }
                break;
            case SkipStep::Count:
                if (skip_done) skip_step_ = skip_hit ? SkipStep::Cut : SkipStep::Idle;
                break;
            case SkipStep::Cut:
                if (cut_done) skip_step_ = SkipStep::Idle;
                break;
        }
        ++now_;
        return changed || in.set_dscp;
    }

    // After a cycle in which nothing has changed: the first in which something happens without another input.
    int64_t next_event() const {
        if (stands_still_) return INT64_MAX;
        return std::max(now_, std::min(choice_.next_event(), stamps_.next_event(now_, tail_.to_note())));
    }
    // Go on to cycle `now`, not behind next_event(), with the inputs of the last cycle.
    void skip_to(int64_t now) { now_ = now; }

  private:
    enum class SkipStep : uint8_t { Idle, Count, Cut };
    struct Back {
        uint32_t id = 0;
        uint64_t mark = 0;
    };

    EdfrClassifier classifier_;
    EdfrDue due_;
    EdfrIntake intake_;
    EdfrTail tail_;
    EdfrMover mover_;
    EdfrLists lists_;
    EdfrFetch fetch_;
    EdfrLand land_;
    EdfrLines lines_;
    EdfrStamps stamps_;
    EdfrChoice choice_;
    EdfrQueues queues_;
    EdfrSender sender_;
    EdfrRamFifo<Back> back_;
    std::vector<EdfrChunk> memory_;  // by number
    EdfrMask all_landed_;            // all chunks that were given places have landed
    SkipStep skip_step_ = SkipStep::Idle;
    EdfrStamps::Skip skip_;
    EdfrLines::Line line_;      // of this cycle,
    EdfrSender::Sent to_send_;  // and what is decided
    uint64_t decided_ = 0, sent_ = 0;
    int64_t now_ = 0;
    uint32_t chunks_;
    bool stands_still_;
};

}  // namespace penstock
