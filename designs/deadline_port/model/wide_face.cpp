// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "designs/deadline_port/model/wide_face.hpp"

#include <algorithm>
#include <string>

namespace penstock::engine {

namespace {

constexpr std::uint32_t kNameBits = 0xFFFF;

std::uint32_t class_of(const pst_event_pins& event) { return event.queue_o & 0xFF; }
std::uint32_t name_of(const pst_event_pins& event) { return event.queue_o >> 8 & kNameBits; }

}  // namespace

DeadlineWideFace::DeadlineWideFace(const DeadlinePortSettings& settings, std::shared_ptr<DeadlineBook> book)
    : settings_(settings), book_(std::move(book)), lanes_(settings.classes) {
    book_->held.assign(settings.classes, {});
}

bool DeadlineWideFace::good(const Frame& frame) const {
    return !frame.error && frame.length >= settings_.min_frame_bytes && frame.length <= settings_.max_frame_bytes &&
           frame.queue < settings_.classes;
}

// ---- from the input to a column

void DeadlineWideFace::arrived(const Frame& frame, std::int64_t last_bit, std::int64_t, Observer&) const {
    if (pending_.empty()) book_->awaited = last_bit;
    pending_.push_back({.frame = frame, .last_bit = last_bit});
}

// The oldest frame with this name whose fate is not known; it must be a good one, or a bad one.
std::size_t DeadlineWideFace::pending(std::int64_t now, std::uint32_t name, bool is_good) {
    const auto found = std::find_if(pending_.begin(), pending_.end(), [&](const Pending& frame) {
        return !frame.taken && !frame.told && (frame.frame.number & kNameBits) == name;
    });
    if (found == pending_.end()) {
        book_->finding(now, "an event at the input names " + std::to_string(name) + ", and no frame that has come ends with that");
        return kNone;
    }
    if (good(found->frame) != is_good)
        book_->finding(now,
                       "frame " + std::to_string(found->frame.number) + (is_good ? " is kept, but is bad" : " is refused, but is good"));
    return static_cast<std::size_t>(found - pending_.begin());
}

void DeadlineWideFace::tell(std::int64_t now, std::size_t index, const Fate& fate, Observer& observer) {
    Pending& pending = pending_[index];
    pending.told = true;
    Frame frame = pending.frame;
    const std::int64_t last_bit = pending.last_bit;
    if (settings_.any_class) frame.queue = fate.queue;
    for (; !pending_.empty() && pending_.front().told; ++first_) pending_.pop_front();
    book_->awaited = pending_.empty() ? DeadlineBook::kNone : pending_.front().last_bit;
    observer.arrived(frame, last_bit);
    observer.classified(now, fate);
}

// The next frame of a class that a column has taken.
void DeadlineWideFace::tell_next(std::int64_t now, std::uint32_t klass, Observer& observer) {
    Lane& lane = lanes_[klass];
    const Entry& entry = lane.frames[lane.told++];
    const Fate fate{klass, entry.length, 0};
    tell(now, entry.place - first_, fate, observer);
    book_->deadline = entry.deadline;
    observer.enqueued(now, fate);
}

// Tells of the frames that have come first, as far as their fates are known.
void DeadlineWideFace::catch_up(std::int64_t now, Observer& observer) {
    while (!pending_.empty() && pending_.front().taken) {
        const std::uint32_t klass = pending_.front().klass;
        tell_next(now, klass, observer);
        advance(now, klass, observer);
    }
}

void DeadlineWideFace::refused(std::int64_t now, const pst_event_pins& event, Observer& observer) {
    const std::size_t index = pending(now, name_of(event), false);
    if (index == kNone) return;
    const std::uint32_t queue = pending_[index].frame.queue;  // of a class that there is not it goes as a bad one of class 0
    tell(now, index, {queue < settings_.classes ? class_of(event) : queue, event.len_o, event.reason_o}, observer);
}

void DeadlineWideFace::dropped(std::int64_t now, const pst_event_pins& event, Observer& observer) {
    const std::size_t index = pending(now, name_of(event), true);
    if (index == kNone) return;
    tell(now, index, {class_of(event), event.len_o, 0}, observer);
    observer.enqueued(now, {class_of(event), event.len_o, kNoPageReason});
}

void DeadlineWideFace::taken(std::int64_t now, unsigned column, const pst_event_pins& event) {
    const std::uint32_t klass = class_of(event);
    const std::size_t index = pending(now, name_of(event), true);
    if (index == kNone) return;
    if (klass >= settings_.classes) return book_->finding(now, "a frame of class " + std::to_string(klass) + " came, and there is none");
    Pending& frame = pending_[index];
    frame.taken = true;
    frame.klass = klass;
    const std::uint64_t place = first_ + index;
    Lane& lane = lanes_[klass];
    auto at = lane.frames.end();
    while (at != lane.frames.begin() && std::prev(at)->place > place) --at;
    lane.frames.insert(at, {.place = place,
                            .number = frame.frame.number,
                            .deadline = now + static_cast<std::int32_t>(event.page_o),
                            .length = event.len_o,
                            .column = static_cast<std::uint8_t>(column),
                            .state = State::Waiting});
    ++lane.waiting[column];
}

// ---- from a column to the line

// Frames of a class that were skipped or lost in a column.
void DeadlineWideFace::passed(std::int64_t now, unsigned column, const pst_event_pins& event, Observer& observer) {
    const std::uint32_t klass = event.mark_o, frames = event.queue_o;
    const std::uint64_t bytes = std::uint64_t{event.page_o} << 32 | event.len_o;
    if (klass >= settings_.classes || frames == 0)
        return book_->finding(now, "frames of class " + std::to_string(klass) + " were passed over, " + std::to_string(frames));
    Lane& lane = lanes_[klass];
    lane.passed[column].push_back({event.reason_o != 0, frames, bytes});
    lane.passed_frames[column] += frames;
    Amount& amount = event.reason_o ? book_->held[klass].lost : book_->held[klass].missed;
    amount.packets += frames;
    amount.bytes += bytes;
    pass_the_rest(now, klass, column);
    advance(now, klass, observer);
}

// A frame that the device names. `column`: the one that tells, or the output (-1): there those before it that have no name were skipped or
// lost.
void DeadlineWideFace::named(std::int64_t now, int column, const pst_event_pins& event, State state, Observer& observer) {
    const std::uint32_t klass = class_of(event), name = name_of(event);
    if (klass >= settings_.classes) return book_->finding(now, "an event of class " + std::to_string(klass));
    Lane& lane = lanes_[klass];
    const auto is_here = [&](const Entry& entry) { return entry.state == State::Waiting && (column < 0 || entry.column == column); };
    const auto found = std::find_if(lane.frames.begin(), lane.frames.end(),
                                    [&](const Entry& entry) { return is_here(entry) && (entry.number & kNameBits) == name; });
    if (found == lane.frames.end())
        return book_->finding(now, "class " + std::to_string(klass) + " has no frame whose number ends with " + std::to_string(name));
    if (column < 0)
        for (auto entry = lane.frames.begin(); entry != found; ++entry)
            if (entry->state == State::Waiting) pass(now, klass, *entry);
    found->state = state;
    --lane.waiting[found->column];
    if (state == State::Sent) book_->begins(found->number, now);
    if (state == State::Missed) {
        book_->held[klass].missed.add(found->length);
        if (found->length != event.len_o)
            book_->finding(now, "frame " + std::to_string(found->number) + " is dropped with " + std::to_string(event.len_o) + " bytes");
    }
    pass_the_rest(now, klass, found->column);
    // What leaves is told of, whatever is not known of older frames of other classes; those of its own have all been taken.
    const auto index = static_cast<std::size_t>(found - lane.frames.begin());
    while (state == State::Sent && lane.told <= index) tell_next(now, klass, observer);
    advance(now, klass, observer);
}

// A frame that waits in its column was the next one there that was skipped or lost.
void DeadlineWideFace::pass(std::int64_t now, std::uint32_t klass, Entry& entry) {
    Lane& lane = lanes_[klass];
    --lane.waiting[entry.column];
    if (lane.passed[entry.column].empty()) {
        entry.state = State::Unknown;
        return book_->finding(now, "frame " + std::to_string(entry.number) + " is overtaken by another one of its class");
    }
    Passed& as = lane.passed[entry.column].front();
    entry.state = as.lost ? State::Lost : State::Missed;
    --lane.passed_frames[entry.column];
    --as.frames;
    as.bytes -= entry.length;
    if (as.frames) return;
    if (as.bytes) {
        book_->finding(now, "the frames of class " + std::to_string(klass) + " that were passed over have other bytes than was told");
        (as.lost ? book_->held[klass].lost : book_->held[klass].missed).bytes -= as.bytes;
    }
    lane.passed[entry.column].pop_front();
}

// So many were skipped or lost in a column as wait there.
void DeadlineWideFace::pass_the_rest(std::int64_t now, std::uint32_t klass, unsigned column) {
    Lane& lane = lanes_[klass];
    if (lane.passed_frames[column] == 0 || lane.passed_frames[column] != lane.waiting[column]) return;
    for (Entry& entry : lane.frames)
        if (entry.column == column && entry.state == State::Waiting) pass(now, klass, entry);
}

// Tells what is known of the first frames of a class.
void DeadlineWideFace::advance(std::int64_t now, std::uint32_t klass, Observer& observer) {
    Lane& lane = lanes_[klass];
    HeldBack& held = book_->held[klass];
    for (; lane.told != 0 && lane.frames.front().state != State::Waiting; --lane.told) {
        const Entry entry = lane.frames.front();
        lane.frames.pop_front();
        if (entry.state == State::Unknown) continue;
        if (entry.state != State::Sent) {
            Amount& amount = entry.state == State::Lost ? held.lost : held.missed;
            --amount.packets;
            amount.bytes -= entry.length;
        }
        const std::uint8_t reason = entry.state == State::Sent   ? std::uint8_t{0}
                                    : entry.state == State::Lost ? kReadErrorReason
                                                                 : kDropMissed;
        observer.dequeued(now, {klass, entry.length, reason}, false);
    }
}

bool DeadlineWideFace::events(std::int64_t now, std::span<const pst_event_pins> events, Observer& observer) {
    const std::uint32_t columns = settings_.columns;
    const auto each = [&](Event kind, auto&& handle) {
        for (unsigned c = 0; c < columns; ++c)
            if (const pst_event_pins& event = events[kind * columns + c]; event.valid_o) handle(c, event);
    };
    each(kRefused, [&](unsigned, const pst_event_pins& event) { refused(now, event, observer); });
    each(kDropped, [&](unsigned, const pst_event_pins& event) { dropped(now, event, observer); });
    each(kTaken, [&](unsigned c, const pst_event_pins& event) { taken(now, c, event); });
    catch_up(now, observer);
    each(kPassed, [&](unsigned c, const pst_event_pins& event) { passed(now, c, event, observer); });
    // A column checks frames for the last time while older ones of it are on their way to the line.
    const auto missed = [&](unsigned c, const pst_event_pins& event) { named(now, static_cast<int>(c), event, State::Missed, observer); };
    each(kExpired, missed);
    each(kLate, missed);
    for (unsigned s = 0; s < columns; ++s) {  // in the order of the word
        if (const pst_event_pins& event = events[kOverdue * columns + s]; event.valid_o) named(now, -1, event, State::Missed, observer);
        if (const pst_event_pins& event = events[kBegin * columns + s]; event.valid_o) named(now, -1, event, State::Sent, observer);
    }
    return true;
}

}  // namespace penstock::engine
