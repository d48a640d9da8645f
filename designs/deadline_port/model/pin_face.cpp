// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "designs/deadline_port/model/pin_face.hpp"

#include <algorithm>
#include <string>

namespace penstock::engine {

DeadlinePortFace::DeadlinePortFace(const DeadlinePortSettings& settings, std::shared_ptr<DeadlineBook> book)
    : settings_(settings), book_(std::move(book)), lanes_(settings.fifo ? 1 : settings.classes) {
    book_->held.assign(settings.classes, {});
}

bool DeadlinePortFace::good(const Frame& frame) const {
    return !frame.error && frame.length >= settings_.min_frame_bytes && frame.length <= settings_.max_frame_bytes &&
           frame.queue < settings_.classes;
}

void DeadlinePortFace::arrived(const Frame& frame, std::int64_t last_bit, std::int64_t, Observer& observer) const {
    pending_.push_back({frame, last_bit, good(frame), false});
    if (!settings_.any_class) observer.arrived(frame, last_bit);  // else its class is not known yet
}

DeadlinePortFace::Pending* DeadlinePortFace::pending(bool good) {
    const auto found = std::find_if(pending_.begin(), pending_.end(), [&](const Pending& frame) { return frame.good == good; });
    return found == pending_.end() ? nullptr : &*found;
}

void DeadlinePortFace::classify(std::int64_t now, Pending& frame, Fate fate, Observer& observer) {
    if (frame.told) return;
    frame.told = true;
    if (settings_.any_class) {
        frame.frame.queue = fate.queue;
        observer.arrived(frame.frame, frame.last_bit);
    }
    observer.classified(now, fate);
}

void DeadlinePortFace::refused(std::int64_t now, const pst_event_pins& event, Observer& observer) {
    Pending* const frame = pending(false);
    if (!frame) return book_->finding(now, "a frame of " + std::to_string(event.len_o) + " bytes is refused, but none is bad");
    // Observers hear of frames in the order of their arrival.
    if (!settings_.any_class)
        for (Pending& older : pending_) {
            if (&older == frame) break;
            classify(now, older, {older.frame.queue, static_cast<std::uint16_t>(older.frame.length), 0}, observer);
        }
    const bool there = frame->frame.queue < settings_.classes;  // else it goes as a bad one of class 0
    classify(now, *frame, {there ? event.queue_o : frame->frame.queue, event.len_o, event.reason_o}, observer);
    pending_.erase(std::find_if(pending_.begin(), pending_.end(), [](const Pending& p) { return !p.good; }));
}

void DeadlinePortFace::fate(std::int64_t now, const pst_event_pins& event, std::int64_t deadline, Observer& observer) {
    Pending* const frame = pending(true);
    if (!frame || event.queue_o >= settings_.classes)
        return book_->finding(now, "a frame of class " + std::to_string(event.queue_o) + " came, and there is none");
    classify(now, *frame, {event.queue_o, event.len_o, 0}, observer);
    book_->deadline = deadline;
    observer.enqueued(now, {event.queue_o, event.len_o, event.reason_o});
    if (event.reason_o == 0) {
        Lane& to = lane(event.queue_o);
        to.frames.push_back({frame->frame.number, frame->frame.length, static_cast<std::uint8_t>(event.queue_o), State::Waiting});
        ++to.waiting;
    }
    pending_.erase(std::find_if(pending_.begin(), pending_.end(), [](const Pending& p) { return p.good; }));
}

// A frame that the device names by the low bits of its number. `all_before`: those before it that have no name were skipped or lost.
void DeadlinePortFace::named(std::int64_t now, const pst_event_pins& event, State state, bool all_before, Observer& observer) {
    const std::uint32_t klass = event.queue_o & 0xFF, bits = settings_.fifo ? 0xFF : 0xFFFF, name = event.queue_o >> 8 & bits;
    if (klass >= settings_.classes) return book_->finding(now, "an event of class " + std::to_string(klass));
    Lane& of = lane(klass);
    const auto fits = [&](const Entry& entry) {
        return entry.state == State::Waiting && entry.klass == klass && (entry.number & bits) == name;
    };
    const auto found = std::find_if(of.frames.begin(), of.frames.end(), fits);
    if (found == of.frames.end())
        return book_->finding(now, "class " + std::to_string(klass) + " has no frame whose number ends with " + std::to_string(name));
    found->state = state;
    --of.waiting;
    if (state == State::Sent) book_->begins(found->number, now);
    if (state == State::Dropped) {
        book_->held[klass].missed.add(found->length);
        if (found->length != event.len_o)
            book_->finding(now, "frame " + std::to_string(found->number) + " is dropped with " + std::to_string(event.len_o) + " bytes");
    }
    // Those before it have left the lane when so many are in it.
    const std::size_t left = of.frames.size() - static_cast<std::size_t>(found - of.frames.begin());
    const std::uint64_t number = found->number;
    while (all_before && of.frames.size() > left) {
        if (of.frames.front().state != State::Waiting) {
            advance(now, of, observer);
        } else if (!of.passed.empty()) {
            pass(now, of, observer);
        } else {
            book_->finding(now, "frame " + std::to_string(of.frames.front().number) + " is overtaken by frame " + std::to_string(number));
            --of.waiting;
            of.frames.pop_front();
        }
    }
    advance(now, of, observer);
}

// The first frame of a lane was skipped or lost.
void DeadlinePortFace::pass(std::int64_t now, Lane& lane, Observer& observer) {
    const Entry entry = lane.frames.front();
    Passed& as = lane.passed.front();
    lane.frames.pop_front();
    --lane.waiting;
    --lane.passed_frames;
    HeldBack& held = book_->held[as.klass];
    Amount& amount = as.lost ? held.lost : held.missed;
    --as.frames;
    as.bytes -= entry.length;
    --amount.packets;
    amount.bytes -= entry.length;
    observer.dequeued(now, {entry.klass, static_cast<std::uint16_t>(entry.length), as.lost ? kReadErrorReason : kDropMissed}, false);
    if (as.frames) return;
    if (as.bytes) {
        book_->finding(now, "the frames of class " + std::to_string(as.klass) + " that were passed over have other bytes than was told");
        amount.bytes -= as.bytes;
    }
    lane.passed.pop_front();
}

// Tells what is known of the first frames.
void DeadlinePortFace::advance(std::int64_t now, Lane& lane, Observer& observer) {
    while (!lane.frames.empty()) {
        const Entry entry = lane.frames.front();
        if (entry.state == State::Waiting) {
            if (lane.passed_frames == 0 || lane.passed_frames != lane.waiting) return;  // or all that have no name are gone
            pass(now, lane, observer);
            continue;
        }
        lane.frames.pop_front();
        if (entry.state == State::Dropped) {
            HeldBack& held = book_->held[entry.klass];
            --held.missed.packets;
            held.missed.bytes -= entry.length;
        }
        observer.dequeued(
            now, {entry.klass, static_cast<std::uint16_t>(entry.length), entry.state == State::Dropped ? kDropMissed : std::uint8_t{0}},
            false);
    }
}

bool DeadlinePortFace::events(std::int64_t now, std::span<const pst_event_pins> events, Observer& observer) {
    if (events[kIn].valid_o) refused(now, events[kIn], observer);
    if (events[kFate].valid_o) fate(now, events[kFate], now + static_cast<std::int32_t>(events[kDeadline].queue_o), observer);
    if (events[kPassed].valid_o) {
        const pst_event_pins& event = events[kPassed];
        const std::uint32_t klass = event.mark_o;
        const std::uint64_t bytes = std::uint64_t{event.len_o} << 32 | events[kPassedBytes].queue_o;
        if (klass < settings_.classes && event.queue_o) {
            Lane& of = lane(klass);
            of.passed.push_back({event.reason_o != 0, klass, event.queue_o, bytes});
            of.passed_frames += event.queue_o;
            HeldBack& held = book_->held[klass];
            Amount& amount = event.reason_o ? held.lost : held.missed;
            amount.packets += event.queue_o;
            amount.bytes += bytes;
            advance(now, of, observer);
        } else {
            book_->finding(now, "frames of class " + std::to_string(klass) + " were passed over, " + std::to_string(event.queue_o));
        }
    }
    if (events[kExpired].valid_o) named(now, events[kExpired], State::Dropped, false, observer);
    if (events[kLate].valid_o) named(now, events[kLate], State::Dropped, true, observer);
    if (events[kBegin].valid_o) named(now, events[kBegin], State::Sent, true, observer);
    return true;
}

}  // namespace penstock::engine
