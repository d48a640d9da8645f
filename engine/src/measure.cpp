// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "penstock/engine/measure.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <utility>

#include "blocks/common/model/drop.hpp"
#include "penstock/engine/ecn.hpp"

namespace penstock::engine {

namespace {
constexpr std::size_t kFindings = 16;    // more words do not help
constexpr unsigned kSearchDepth = 4096;  // how far behind the head a frame is looked for

std::string frame_text(const Frame& frame) {
    return "frame " + std::to_string(frame.number) + " (queue " + std::to_string(frame.queue) + ", " + std::to_string(frame.length) +
           " bytes)";
}
}  // namespace

void Statement::check() const {
    const auto refuse = [](const char* why) { throw std::invalid_argument(std::string("the device's statement: ") + why); };
    if (order == Order::ByDeadline && !deadline) refuse("an order by deadline needs a function that tells deadlines");
    if (order == Order::Free && deadline) refuse("frames have no deadline where the order is free");
    if (missed && !deadline) refuse("frames miss a deadline only where there is a function that tells deadlines");
    if (silent_loss && order != Order::Fifo) refuse("losses may be silent only where the order is that of arrival");
    if (pages && order != Order::Free) refuse("pages name frames only where the order is free");
    if (late && !pages) refuse("frames are dropped late only where pages name them");
    if (order == Order::Free && payload == Payload::EcnMark && !pages)
        refuse("marks are told in the order of a queue, so it cannot be free");
    if (rewrite && payload != Payload::Rewritten) refuse("only a payload that is rewritten has a function that judges it");
    for (const std::uint8_t reason : queue_reasons)
        if (reason >= drop_reasons.size() || drop_reasons[reason].empty())
            refuse("drops are counted by queue for a reason that it does not have");
    if (tag_bits > 64) refuse("a tag has at most 64 bits");
}

std::unique_ptr<OwnMeasurement> DeviceKind::own_measurement(Table&, const Environment&) const { return nullptr; }

Measurement::Measurement(const MeasureSettings& settings)
    : settings_(settings), queues_(settings.device.queues), expected_(kMaxFrameBytes + 64), own_(settings.own.get()) {
    settings_.device.check();
    histograms_.resize(1 + settings_.groups);
    groups_.resize(settings_.groups);
    if (settings_.device.payload == Payload::Rewritten) queue_grown_.resize(settings_.device.queues);
    for (std::size_t reason = 1; reason < settings_.device.drop_reasons.size() && reason < kMostReasons; ++reason)
        if (!settings_.device.drop_reasons[reason].empty()) known_ |= 1U << reason;
    if (settings_.device.payload == Payload::EcnMark) queue_marks_.resize(settings_.device.queues);
    drops_of_.fill(kMostReasons);
    for (const std::uint8_t reason : settings_.device.queue_reasons) {
        drops_of_[reason] = static_cast<std::uint8_t>(queue_drops_.size());
        queue_drops_.emplace_back(settings_.device.queues);
    }
    records_.reserve(1 << 12);
    series_.interval_cycles = settings_.interval_cycles;
    series_.queues = settings_.series_queues;
    if (settings_.interval_cycles > 0 || !settings_.keep_all) {
        series_index_.assign(settings_.device.queues, -1);
        in_series_.assign(settings_.device.queues / 64 + 1, 0);
        for (std::size_t i = 0; i < settings_.series_queues.size(); ++i) {
            const std::uint32_t queue = settings_.series_queues[i];
            series_index_[queue] = static_cast<std::int32_t>(i);
            in_series_[queue / 64] |= std::uint64_t{1} << queue % 64;
        }
    }
    if (settings_.device.order == Order::Free) youngest_left_.resize(settings_.device.queues);
    is_warm_ = settings_.after_cycles == 0;
    if (!settings_.pcap_out.empty())
        pcap_ = std::make_unique<OutputCapture>(settings_.pcap_out, settings_.clock_hz, settings_.device.outputs);
}

Measurement::~Measurement() = default;

void Measurement::start(std::int64_t age) {
    if (own_) own_->start(age);
}

// ---- records and lists

std::uint32_t Measurement::allocate() {
    if (free_ == kNone) {
        records_.emplace_back();
        return static_cast<std::uint32_t>(records_.size() - 1);
    }
    const std::uint32_t record = free_;
    free_ = records_[record].next;
    return record;
}

void Measurement::append(List& list, std::uint32_t record) {
    records_[record].next = kNone;
    (list.head == kNone ? list.head : records_[list.tail].next) = record;
    list.tail = record;
}

std::uint32_t Measurement::pop(List& list) {
    const std::uint32_t record = list.head;
    if (record != kNone) list.head = records_[record].next;
    return record;
}

void Measurement::enter(std::uint32_t queue, std::uint32_t record) {
    if (settings_.device.order == Order::Free) return enter_freely(queue, record);
    List& list = queues_[queue].queued;
    std::uint32_t before = given_.empty() ? kNone : given_[queue];
    const std::int64_t deadline = records_[record].deadline;
    if (settings_.device.order != Order::ByDeadline || list.head == kNone || list.tail == before ||
        records_[list.tail].deadline <= deadline)
        return append(list, record);
    std::uint32_t next = before == kNone ? list.head : records_[before].next;
    while (records_[next].deadline <= deadline) before = std::exchange(next, records_[next].next);
    records_[record].next = next;
    (before == kNone ? list.head : records_[before].next) = record;
}

void Measurement::enter_freely(std::uint32_t queue, std::uint32_t record) {
    List& list = queues_[queue].queued;
    Record& entered = records_[record];
    entered.before = list.head == kNone ? kNone : list.tail;
    entered.place = ++places_;
    append(list, record);
    if (settings_.device.tag_bits == 0) return;
    List& alike = tagged_[tag_of(entered.frame.number)];
    entered.alike = kNone;
    (alike.head == kNone ? alike.head : records_[alike.tail].alike) = record;
    alike.tail = record;
}

void Measurement::leave_freely(std::uint32_t queue, std::uint32_t record, bool departs) {
    List& list = queues_[queue].queued;
    const Record& left = records_[record];
    (left.before == kNone ? list.head : records_[left.before].next) = left.next;
    (left.next == kNone ? list.tail : records_[left.next].before) = left.before;
    if (departs) youngest_left_[queue] = std::max(youngest_left_[queue], left.place);
    if (settings_.device.pages && by_page_[left.page] == record) by_page_[left.page] = kNone;
    if (settings_.device.tag_bits == 0) return;
    const auto found = tagged_.find(tag_of(left.frame.number));
    List& alike = found->second;
    std::uint32_t before = kNone;
    for (std::uint32_t at = alike.head; at != record; at = records_[at].alike) before = at;
    (before == kNone ? alike.head : records_[before].alike) = left.alike;
    if (alike.tail == record) alike.tail = before;
    if (alike.head == kNone) tagged_.erase(found);
}

std::uint32_t Measurement::take_tagged(std::uint32_t queue, std::int64_t cycle, std::uint64_t tag) {
    const auto carries = [&](const Frame& frame) { return tag_of(frame.number ^ tag) == 0; };
    if (settings_.device.order != Order::Free) return take_departing(queue, cycle, carries);
    const auto found = tagged_.find(tag_of(tag));
    if (found == tagged_.end()) return kNone;
    std::uint32_t record = found->second.head;
    while (record != kNone && records_[record].frame.queue != queue) record = records_[record].alike;
    if (record != kNone) leave_freely(queue, record);
    return record;
}

void Measurement::unlink(List& list, std::uint32_t before, std::uint32_t record) {
    (before == kNone ? list.head : records_[before].next) = records_[record].next;
    if (list.tail == record) list.tail = before;
}

void Measurement::take_out(List& list, std::uint32_t before, std::uint32_t record) {
    for (std::uint32_t older = list.head; older != record; older = records_[older].next) records_[older].overtaken = true;
    unlink(list, before, record);
}

void Measurement::keep(Events& events, std::int64_t cycle, std::uint32_t queue) {
    if (!is_kept(queue)) return;
    ++events_;
    events.cycle.push_back(cycle);
    events.queue.push_back(queue);
}

void Measurement::say(std::int64_t cycle, const std::string& what) {
    if (live_.findings.size() < kFindings) live_.findings.push_back("cycle " + std::to_string(cycle) + ": " + what);
}

void Measurement::out_of_order(std::int64_t cycle, std::uint32_t record, std::uint32_t due, const char* does) {
    std::string what = frame_text(records_[record].frame) + " " + does + " before " + frame_text(records_[due].frame);
    if (settings_.device.order == Order::ByDeadline) {
        const std::int64_t earlier = records_[record].deadline - records_[due].deadline;
        what +=
            earlier ? ", whose deadline is " + std::to_string(earlier) + " cycles earlier" : ", which came first and has the same deadline";
    }
    finding(cycle, live_.order_errors, what);
}

// ---- the way of a frame

void Measurement::arrived(const Frame& frame, std::int64_t last_bit) {
    const std::uint32_t record = allocate();
    Record& made = records_[record];
    made.frame = frame;
    made.last_bit = last_bit;
    made.overtaken = made.mark = made.given = false;
    append(arriving_, record);
    ++undecided_;
    if (listener_) listener_->arrived(frame);
    if (!is_warm_ && last_bit >= settings_.after_cycles) begin();
    live_.in.add(frame.length);
    live_.queued.add(frame.length);
    if (is_frozen_) return;
    if (own_ && frame.queue < settings_.device.queues) own_->arrived(last_bit, frame);
    if (settings_.groups && frame.queue < settings_.device.queues && settings_.group_of[frame.queue] != kNoGroup) {
        GroupTotals& group = groups_[settings_.group_of[frame.queue]];
        if (group.first_arrival < 0) group.first_arrival = last_bit;
        group.last_arrival = last_bit;
        group.out_before_last = group.out_bytes;
    }
    if (settings_.interval_cycles > 0) series_.total_in[interval(last_bit)] += frame.length;
}

void Measurement::drop(std::int64_t cycle, std::uint32_t record, unsigned reason) {
    const Frame& frame = records_[record].frame;
    live_.dropped[reason].add(frame.length);
    if (listener_) listener_->dropped(frame, cycle, reason);
    --live_.queued.packets;
    live_.queued.bytes -= frame.length;
    if (!is_frozen_) {
        if (frame.queue < settings_.device.queues) queues_[frame.queue].totals.drop.add(frame.length);
        if (own_ && frame.queue < settings_.device.queues) own_->dropped(cycle, frame, reason);
        if (settings_.interval_cycles > 0) ++series_.drops[interval(cycle) * kMostReasons + reason];
        keep(drop_events_[reason], cycle, frame.queue);
    }
    records_[record].next = free_;
    free_ = record;
}

void Measurement::drop_at_queue(std::int64_t cycle, std::uint32_t record, unsigned reason) {
    const Frame& frame = records_[record].frame;
    if (DeviceView* const watch = watched(frame.queue)) {
        watch->drop.add(frame.length);
        watch->dropped[reason].add(frame.length);
    }
    if (!is_frozen_ && drops_of_[reason] < queue_drops_.size()) ++queue_drops_[drops_of_[reason]][frame.queue];
    drop(cycle, record, reason);
}

void Measurement::classified(std::int64_t cycle, const Fate& fate) {
    const std::uint32_t record = pop(arriving_);
    if (record == kNone) return finding(cycle, live_.event_errors, "classify speaks of a frame that has not arrived");
    Frame& frame = records_[record].frame;
    if (frame.queue == kAnyQueue) frame.queue = fate.queue;
    if (!known(fate.reason) || fate.queue != frame.queue || fate.length != frame.length)
        finding(
            cycle, live_.event_errors,
            "classify says queue " + std::to_string(fate.queue) + ", " + std::to_string(fate.length) + " bytes of " + frame_text(frame));
    if (fate.reason != 0 && known(fate.reason)) {
        --undecided_;
        return drop(cycle, record, fate.reason);
    }
    if (frame.queue >= settings_.device.queues) {
        finding(cycle, live_.event_errors, "classify passes " + frame_text(frame) + ", a queue that the device does not have");
        --undecided_;
        return drop(cycle, record, static_cast<unsigned>(Drop::BadQueueId));
    }
    append(queues_[frame.queue].passed, record);
}

void Measurement::enqueued(std::int64_t cycle, const Fate& fate) {
    if (settings_.device.late && fate.reason == *settings_.device.late) return dropped_late(cycle, fate);
    const std::uint32_t record = fate.queue < settings_.device.queues ? pop(queues_[fate.queue].passed) : kNone;
    if (record == kNone)
        return finding(cycle, live_.event_errors, "an enqueue decision on queue " + std::to_string(fate.queue) + " fits no frame");
    const Frame& frame = records_[record].frame;
    if (!known(fate.reason) || !tells_length(fate, frame))
        finding(cycle, live_.event_errors, "an enqueue decision says " + std::to_string(fate.length) + " bytes of " + frame_text(frame));
    --undecided_;
    if (fate.reason != 0 && known(fate.reason)) {
        return drop_at_queue(cycle, record, fate.reason);
    }
    if (DeviceView* const watch = watched(fate.queue)) watch->in.add(frame.length);
    if (settings_.device.deadline) records_[record].deadline = settings_.device.deadline(frame, cycle);
    enter(fate.queue, record);
    if (settings_.device.pages) {
        if (by_page_.size() <= fate.page) by_page_.resize(fate.page + 1, kNone);
        by_page_[fate.page] = record;  // one that was there before has been read, and is on its way out
        records_[record].page = fate.page;
    }
    if (own_ && !is_frozen_) own_->accepted(cycle, frame, record);
}

std::uint32_t Measurement::named(std::int64_t cycle, const Fate& fate, const char* what) {
    const std::uint32_t record = fate.page < by_page_.size() ? by_page_[fate.page] : kNone;
    if (record == kNone || records_[record].frame.queue != fate.queue || !tells_length(fate, records_[record].frame)) {
        finding(cycle, live_.event_errors,
                "queue " + std::to_string(fate.queue) + what + std::to_string(fate.length) + " bytes in page " + std::to_string(fate.page) +
                    (record == kNone ? ", which is empty" : ", where " + frame_text(records_[record].frame) + " is"));
        return kNone;
    }
    return record;
}

void Measurement::dropped_late(std::int64_t cycle, const Fate& fate) {
    const std::uint32_t record = named(cycle, fate, " drops ");
    if (record == kNone) return;
    leave_freely(fate.queue, record, false);
    drop_at_queue(cycle, record, fate.reason);
}

void Measurement::given_by_page(std::int64_t cycle, const Fate& fate, bool mark) {
    const std::uint32_t record = named(cycle, fate, " gives away ");
    tells_given_ = true;
    if (record == kNone) return;
    if (records_[record].given || (fate.reason != 0 && (!known(fate.reason) || mark)))
        finding(cycle, live_.event_errors,
                "queue " + std::to_string(fate.queue) + " gives away " + frame_text(records_[record].frame) +
                    (records_[record].given ? " for the second time" : " for a reason that there is not"));
    if (fate.reason == 0 || !known(fate.reason)) {
        records_[record].given = true;
        records_[record].mark = mark;
        if (mark) note_mark(cycle, record);
        return;
    }
    leave_freely(fate.queue, record, false);
    drop_at_queue(cycle, record, fate.reason);
}

// The oldest frame of a queue that fits, of those that it has given away if it tells; one that it has not is a finding.
template <typename Fits>
std::uint32_t Measurement::take_paged(std::uint32_t queue, std::int64_t cycle, Fits&& fits) {
    if (queue >= settings_.device.queues) return kNone;
    std::uint32_t early = kNone;
    for (std::uint32_t record = queues_[queue].queued.head; record != kNone; record = records_[record].next) {
        if ((tells_given_ && !records_[record].given && early != kNone) || !fits(records_[record])) continue;
        if (!tells_given_ || records_[record].given) return leave_freely(queue, record), record;
        early = record;
    }
    if (early == kNone) return kNone;
    finding(cycle, live_.event_errors, frame_text(records_[early].frame) + " leaves, which its queue has not given away, or not yet");
    leave_freely(queue, early);
    return early;
}

void Measurement::note_mark(std::int64_t cycle, std::uint32_t record) {
    const std::uint32_t queue = records_[record].frame.queue;
    ++live_.marked;
    if (DeviceView* const watch = watched(queue)) ++watch->marks;
    if (is_frozen_) return;
    if (!queue_marks_.empty()) ++queue_marks_[queue];
    if (own_) own_->marked(cycle, records_[record].frame);
    if (settings_.interval_cycles > 0) ++series_.marked[interval(cycle)];
    keep(mark_events_, cycle, queue);
}

// Frames given away before and not departed yet are in the queue's list still, before the one that is given away now.
void Measurement::dequeued(std::int64_t cycle, const Fate& fate, bool mark) {
    const Statement& device = settings_.device;
    if (device.pages) return given_by_page(cycle, fate, mark);
    const std::string who = "queue " + std::to_string(fate.queue);
    if (device.order == Order::Free)
        return finding(cycle, live_.event_errors, who + " gives away a frame, but where the order is free that names none");
    if (given_.empty()) given_.resize(device.queues, kNone);
    List* const list = fate.queue < device.queues ? &queues_[fate.queue].queued : nullptr;
    const std::uint32_t before = list ? given_[fate.queue] : kNone;
    std::uint32_t record = before != kNone ? records_[before].next : list ? list->head : kNone;
    if (record == kNone) return finding(cycle, live_.event_errors, who + " gives away a frame that it does not hold");
    if (device.order == Order::ByDeadline && !tells_length(fate, records_[record].frame)) record = given_too_early(cycle, fate, record);
    const bool sent = fate.reason == 0 || !known(fate.reason);
    if (!tells_length(fate, records_[record].frame) || (fate.reason != 0 && (!known(fate.reason) || mark)))
        finding(cycle, live_.event_errors,
                who + " gives away " + std::to_string(fate.length) + " bytes, not " + frame_text(records_[record].frame));
    if (mark && device.payload != Payload::EcnMark)
        finding(cycle, live_.event_errors, who + " marks " + frame_text(records_[record].frame) + ", but the device has no marks");
    check_deadline(cycle, record, sent, fate.reason);
    if (sent) {
        given_[fate.queue] = record;
        records_[record].mark = mark;
        if (mark) note_mark(cycle, record);
        return;
    }
    unlink(*list, before, record);
    drop_at_queue(cycle, record, fate.reason);
}

// The queue gives away a frame of another length than the one whose turn it is: another one that it holds, if there is one so long, which
// then comes first.
std::uint32_t Measurement::given_too_early(std::int64_t cycle, const Fate& fate, std::uint32_t due) {
    List& list = queues_[fate.queue].queued;
    std::uint32_t before = due;
    while (records_[before].next != kNone && records_[records_[before].next].frame.length != fate.length) before = records_[before].next;
    const std::uint32_t found = records_[before].next;
    if (found == kNone) return due;
    out_of_order(cycle, found, due, "is given away");
    records_[due].overtaken = true;
    unlink(list, before, found);
    const std::uint32_t given = given_[fate.queue];
    records_[found].next = due;
    (given == kNone ? list.head : records_[given].next) = found;
    return found;
}

// A frame leaves that was not given away as far as its length told: then it was given away, and the last of those that were was not.
void Measurement::given_instead(std::uint32_t queue, std::uint32_t record) {
    if (given_.empty()) return;
    std::uint32_t& given = given_[queue];
    std::uint32_t before = kNone;
    for (std::uint32_t at = queues_[queue].queued.head; at != given; before = std::exchange(at, records_[at].next))
        if (at == record) return;
    if (given != record) given = before;
}

void Measurement::check_deadline(std::int64_t cycle, std::uint32_t record, bool sent, unsigned reason) {
    const auto& missed = settings_.device.missed;
    if (!missed) return;
    const std::int64_t late = cycle - records_[record].deadline;
    if (sent && late > 0)
        finding(cycle, live_.order_errors,
                frame_text(records_[record].frame) + " is sent " + std::to_string(late) + " cycles after its deadline");
    if (!sent && reason == *missed && late <= 0)
        finding(cycle, live_.order_errors,
                frame_text(records_[record].frame) + " is dropped for its deadline, which is " + std::to_string(-late) + " cycles ahead");
}

bool Measurement::next_is_marked(std::int64_t cycle, std::uint32_t queue) {
    if (given_.empty() || queue >= settings_.device.queues) return false;
    if (given_[queue] == kNone) {
        finding(cycle, live_.event_errors, "a frame leaves queue " + std::to_string(queue) + ", which has given none away, or not yet");
        return false;
    }
    return records_[queues_[queue].queued.head].mark;
}

void Measurement::forget_given(std::uint32_t queue, std::uint32_t record, std::uint32_t before) {
    if (!given_.empty() && given_[queue] == record) given_[queue] = before;
}

bool Measurement::may_become(const Frame& frame, std::span<const std::uint8_t> bytes, bool mark) {
    const Statement& device = settings_.device;
    if (device.payload == Payload::Rewritten) {
        if (!device.rewrite) return true;
        frame_bytes(frame, settings_.seed, expected_.data());
        return device.rewrite({expected_.data(), frame.length}, bytes);
    }
    if (frame.length != bytes.size()) return false;
    frame_bytes(frame, settings_.seed, expected_.data());
    if (mark) {
        if (!find_ecn(expected_.data(), frame.length).capable()) return false;
        mark_ce(expected_.data(), frame.length);
    }
    return std::memcmp(expected_.data(), bytes.data(), bytes.size()) == 0;
}

// Takes the departing frame off its queue: the one whose turn it is, unless the order is free or the device has done something wrong.
// kNone: the queue does not hold it.
template <typename Matches>
std::uint32_t Measurement::take_departing(std::uint32_t queue, std::int64_t cycle, Matches&& matches) {
    if (queue >= settings_.device.queues) return kNone;
    List& list = queues_[queue].queued;
    if (list.head == kNone) return kNone;
    const std::uint32_t oldest = list.head;
    if (matches(records_[oldest].frame)) {
        forget_given(queue, oldest);
        if (settings_.device.order == Order::Free) return leave_freely(queue, oldest), oldest;
        return pop(list);
    }
    if (settings_.device.order == Order::Free) {
        std::uint32_t record = records_[oldest].next;
        while (record != kNone && !matches(records_[record].frame)) record = records_[record].next;
        if (record != kNone) leave_freely(queue, record);
        return record;
    }
    // What lies between is lost where losses are silent, and is passed once only; a search that ends in nothing is of a bad device.
    const unsigned most = settings_.device.silent_loss ? std::numeric_limits<unsigned>::max() : kSearchDepth;
    std::uint32_t before = list.head;
    for (unsigned depth = 0; depth < most && records_[before].next != kNone; ++depth, before = records_[before].next) {
        const std::uint32_t found = records_[before].next;
        if (!matches(records_[found].frame)) continue;
        if (settings_.device.silent_loss) {
            while (list.head != found) drop(cycle, pop(list), *settings_.device.silent_loss);
            return pop(list);
        }
        out_of_order(cycle, found, list.head, "leaves");
        if (settings_.device.order == Order::ByDeadline) given_instead(queue, found);
        take_out(list, before, found);
        forget_given(queue, found, before);
        return found;
    }
    return kNone;
}

void Measurement::is_changed(std::int64_t cycle, const Frame& frame, std::size_t length, const char* what) {
    finding(cycle, live_.payload_errors, frame_text(frame) + what + std::to_string(length) + " bytes)");
}

// What left fits no frame of its queue, which has some: it is the one whose turn it was, changed, or it comes for the second time.
template <typename Matches>
std::uint32_t Measurement::take_changed(std::uint32_t queue, std::int64_t cycle, std::size_t length, Matches&& matches) {
    if (queue >= settings_.device.queues || queues_[queue].queued.head == kNone) return kNone;
    const auto left_before = [&](const Frame& frame) { return frame.queue == queue && frame.length && matches(frame); };
    if (std::any_of(recent_.begin(), recent_.end(), left_before)) return kNone;
    List& list = queues_[queue].queued;
    is_changed(cycle, records_[list.head].frame, length);
    forget_given(queue, list.head);
    return pop(list);
}

namespace {
std::uint64_t hash(std::uint32_t queue, std::span<const std::uint8_t> bytes) {
    std::uint64_t value = mix(queue + 1);
    for (const std::uint8_t byte : bytes) value = (value ^ byte) * 0x9E37'79B9'7F4A'7C15, value ^= value >> 32;
    return value;
}
}  // namespace

void Measurement::remember(std::uint32_t queue, std::span<const std::uint8_t> bytes) {
    left_.insert(hash(queue, bytes));
    if (left_.size() < kRemembered) return;
    left_earlier_ = std::move(left_);
    left_.clear();
}

// The oldest of the same length is taken for it. If that one comes out after all, it was another one that had changed.
std::uint32_t Measurement::take_for_changed(std::int64_t cycle, std::uint32_t queue, std::span<const std::uint8_t> bytes) {
    if (queue >= settings_.device.queues || queues_[queue].queued.head == kNone) return kNone;
    const auto wrong = std::find_if(guesses_.begin(), guesses_.end(), [&](const Guess& guess) {
        return guess.frame.queue == queue && may_become(guess.frame, bytes, false);
    });
    if (wrong == guesses_.end() && (left_.contains(hash(queue, bytes)) || left_earlier_.contains(hash(queue, bytes)))) return kNone;
    const List& list = queues_[queue].queued;
    std::uint32_t taken = list.head;
    while (taken != kNone && records_[taken].frame.length != bytes.size()) taken = records_[taken].next;
    if (taken == kNone) taken = list.head;
    const Frame& frame = records_[taken].frame;
    if (wrong != guesses_.end())
        guesses_.erase(wrong);
    else
        is_changed(cycle, frame, bytes.size(), ", or another one of its queue, comes out changed (");
    std::vector<std::uint8_t> its(frame.length + 8);  // what frame_bytes() needs
    frame_bytes(frame, settings_.seed, its.data());
    Guess& guess = guesses_.emplace_back(frame, std::move(its));
    guess.frame.data = guess.bytes.data();
    guess.frame.stored = frame.length;
    if (guesses_.size() > kGuesses) guesses_.pop_front();
    leave_freely(queue, taken);
    return taken;
}

// Not a drop of its queue: that has counted neither it nor that it left.
void Measurement::unread(std::int64_t cycle, const Fate& fate) {
    next_is_marked(cycle, fate.queue);
    const auto fits = [&](const Frame& frame) { return tells_length(fate, frame); };
    const std::uint32_t record = settings_.device.pages ? take_paged(fate.queue, cycle, [&](const Record& one) { return fits(one.frame); })
                                                        : take_departing(fate.queue, cycle, fits);
    if (record == kNone || !known(fate.reason) || fate.reason == 0)
        finding(cycle, live_.event_errors,
                "a frame of " + std::to_string(fate.length) + " bytes is lost behind queue " + std::to_string(fate.queue) +
                    (record == kNone ? ", which does not hold it" : " for a reason that there is not"));
    if (record != kNone) drop(cycle, record, known(fate.reason) ? fate.reason : 0U);
}

void Measurement::dropped(std::int64_t cycle, std::uint32_t queue, std::uint64_t tag, std::uint8_t reason) {
    const std::uint32_t record = settings_.device.tag_bits ? take_tagged(queue, cycle, tag) : kNone;
    const bool right = record != kNone && known(reason) && reason != 0;
    if (!right)
        finding(cycle, live_.event_errors,
                "a frame of queue " + std::to_string(queue) + " is dropped" +
                    (record == kNone ? ", which does not hold it" : " for a reason that there is not"));
    if (record != kNone) drop_at_queue(cycle, record, right ? reason : 0U);
}

void Measurement::departed(std::int64_t first_bit, std::uint32_t queue, std::span<const std::uint8_t> bytes, std::uint64_t tag,
                           unsigned output) {
    static constexpr std::uint8_t kSomewhere = 0;
    if (bytes.empty()) bytes = {&kSomewhere, 0};  // no byte is left of it, which is not a device that tells none
    if (!is_frozen_ && pcap_) pcap_->left(first_bit, output, bytes);
    const bool mark = next_is_marked(first_bit, queue);
    const auto length = static_cast<std::uint32_t>(bytes.size());
    if (settings_.device.tag_bits) {
        const std::uint32_t record = take_tagged(queue, first_bit, tag);
        if (record != kNone && !may_become(records_[record].frame, bytes, mark)) is_changed(first_bit, records_[record].frame, length);
        return gone(first_bit, queue, record, length, bytes, output);
    }
    const bool free = settings_.device.order == Order::Free;
    const auto fits = [&](const Frame& frame) { return may_become(frame, bytes, mark); };
    std::uint32_t record = settings_.device.pages
                               ? take_paged(queue, first_bit, [&](const Record& one) { return may_become(one.frame, bytes, one.mark); })
                               : take_departing(queue, first_bit, fits);
    if (record == kNone) record = free ? take_for_changed(first_bit, queue, bytes) : take_changed(queue, first_bit, length, fits);
    if (free) remember(queue, bytes);
    gone(first_bit, queue, record, length, bytes, output);
}

void Measurement::departed(std::int64_t first_bit, std::uint32_t queue, std::uint64_t number, std::uint32_t length, unsigned output) {
    if (settings_.device.payload == Payload::Rewritten) throw DeviceError("a device that rewrites frames does not tell their bytes");
    const bool mark = next_is_marked(first_bit, queue);
    const auto is = [&](const Frame& frame) { return frame.number == number && frame.length == length; };
    std::uint32_t record = settings_.device.pages ? take_paged(queue, first_bit, [&](const Record& one) { return is(one.frame); })
                                                  : take_departing(queue, first_bit, is);
    if (record == kNone && settings_.device.order != Order::Free) record = take_changed(queue, first_bit, length, is);
    if (record != kNone && !is_frozen_ && pcap_) {
        frame_bytes(records_[record].frame, settings_.seed, expected_.data());
        if (mark || (settings_.device.pages && records_[record].mark)) mark_ce(expected_.data(), length);
        pcap_->left(first_bit, output, {expected_.data(), length});
    }
    gone(first_bit, queue, record, length, {}, output);
}

void Measurement::gone(std::int64_t first_bit, std::uint32_t queue, std::uint32_t record, std::uint32_t length,
                       std::span<const std::uint8_t> bytes, unsigned output) {
    if (record == kNone)
        return finding(first_bit, live_.event_errors, "a frame leaves queue " + std::to_string(queue) + ", which does not hold it");
    recent_[recent_at_++ % kRecent] = records_[record].frame;
    if (!is_warm_ && first_bit >= settings_.after_cycles) begin();
    if (given_.empty()) check_deadline(first_bit, record, true, 0);
    const std::uint32_t came = records_[record].frame.length;
    const std::int64_t last_bit = records_[record].last_bit;
    const auto latency = static_cast<std::uint32_t>(std::clamp<std::int64_t>(first_bit - last_bit, 0, 0xFFFF'FFFF));
    if (own_ && !is_frozen_)
        if (const char* const wrong = own_->departed(first_bit, records_[record].frame, record, length, latency))
            say(first_bit, frame_text(records_[record].frame) + " " + wrong);
    if (listener_) listener_->left(records_[record].frame, last_bit, first_bit, records_[record].mark, bytes, output);
    records_[record].next = free_;
    free_ = record;
    live_.out.add(length);
    --live_.queued.packets;
    live_.queued.bytes -= came;
    if (settings_.device.payload == Payload::Rewritten) {
        const std::int64_t grown = std::int64_t{length} - came;
        live_.grown += grown;
        if (!is_frozen_) queue_grown_[queue] += grown;
    }
    if (DeviceView* const watch = watched(queue)) {
        watch->out.add(length);
        if (is_frozen_) watch->outs.push_back(watch->out);
    }
    if (is_frozen_) return;

    histograms_[0].add(latency);
    if (settings_.groups && settings_.group_of[queue] != kNoGroup) {
        histograms_[1 + settings_.group_of[queue]].add(latency);
        groups_[settings_.group_of[queue]].out_bytes += length;
    }
    if (is_warm_ && (settings_.keep_all || in_series(queue)) && latency_.size() < settings_.keep_most) {
        latency_.push_back(latency);
        latency_queue_.push_back(queue);
        if (settings_.keep_departures) {
            departure_cycle_.push_back(first_bit);
            departure_length_.push_back(length);
            if (settings_.device.outputs > 1) departure_output_.push_back(static_cast<std::uint16_t>(output));
        }
    }
    QueueTotals& totals = queues_[queue].totals;
    totals.out.add(length);
    if (totals.first_departure < 0) totals.first_departure = first_bit;
    totals.last_departure = first_bit;
    if (settings_.interval_cycles == 0) return;
    const std::size_t row = interval(first_bit);
    series_.total_out[row] += length;
    if (const unsigned outputs = settings_.device.outputs; outputs > 1) series_.of_outputs.add(row * outputs + output, length, latency);
    if (in_series(queue))
        series_.of_queues.add(row * series_.queues.size() + static_cast<std::size_t>(series_index_[queue]), length, latency);
}

// ---- the rest

// Row of the time series; rows up to it are made.
std::size_t Measurement::interval(std::int64_t cycle) {
    const auto row = static_cast<std::size_t>(cycle / settings_.interval_cycles);
    if (row < series_.total_out.size()) return row;
    series_.of_queues.resize((row + 1) * series_.queues.size());
    if (settings_.device.outputs > 1) series_.of_outputs.resize((row + 1) * settings_.device.outputs);
    series_.drops.resize((row + 1) * kMostReasons);
    series_.total_in.resize(row + 1);
    series_.total_out.resize(row + 1);
    series_.marked.resize(row + 1);
    return row;
}

void Measurement::lose_the_rest(std::int64_t cycle) {
    for (PerQueue& queue : queues_)
        for (; queue.queued.head != kNone; ++lost_at_the_end_) drop(cycle, pop(queue.queued), *settings_.device.silent_loss);
}

void Measurement::begin() {
    is_warm_ = true;
    if (is_frozen_) return;
    in_before_ = live_.in, out_before_ = live_.out;
    std::fill(histograms_.begin(), histograms_.end(), Histogram{});
    std::fill(groups_.begin(), groups_.end(), GroupTotals{});
    series_.of_queues.clear();
    series_.of_outputs.clear();
    queue_out_before_.resize(queues_.size());
    for (std::size_t queue = 0; queue < queues_.size(); ++queue) {
        QueueTotals& totals = queues_[queue].totals;
        queue_out_before_[queue] = totals.out;
        totals.first_departure = totals.last_departure = -1;
    }
    if (own_) own_->begin();
}

void Measurement::freeze(std::int64_t cycle) {
    if (!is_warm_) begin();
    frozen_ = live_;
    is_frozen_ = true;
    if (own_) own_->end(cycle);
    if (settings_.interval_cycles > 0 && cycle > 0) interval(cycle - 1);
    // What came is what left, what was lost, and what is still there.
    queue_in_.resize(settings_.device.queues);
    const auto add = [&](const List& list) {
        for (std::uint32_t record = list.head; record != kNone; record = records_[record].next) {
            const Frame& frame = records_[record].frame;
            if (frame.queue >= settings_.device.queues) continue;
            queue_in_[frame.queue].add(frame.length);
            if (own_) own_->left_over(cycle, frame);
        }
    };
    for (std::uint32_t queue = 0; queue < settings_.device.queues; ++queue) {
        const PerQueue& q = queues_[queue];
        Amount& in = queue_in_[queue];
        in.packets += q.totals.out.packets + q.totals.drop.packets;
        in.bytes += q.totals.out.bytes + q.totals.drop.bytes;
        if (!queue_grown_.empty()) in.bytes -= static_cast<std::uint64_t>(queue_grown_[queue]);
        add(q.passed);
        add(q.queued);
    }
    add(arriving_);
}

void Measurement::expect(std::uint32_t queue, bool departure) {
    if (queue >= settings_.device.queues) return;
    if (const std::uint32_t head = departure ? queues_[queue].queued.head : kNone; head != kNone)
        __builtin_prefetch(&records_[head], 1);
    else
        __builtin_prefetch(&queues_[queue], 1);
}

void Measurement::close() {
    if (pcap_) pcap_->close();
    pcap_.reset();
}

std::uint64_t Measurement::lost() const {
    std::uint64_t count = 0;
    const bool free = settings_.device.order == Order::Free;
    // A queue whose gate is closed, or that drops late, names what it drops; what it holds, it holds.
    if ((free && !quiet_) || settings_.device.pages) return 0;
    for (std::uint32_t queue = 0; queue < settings_.device.queues; ++queue)
        for (std::uint32_t record = queues_[queue].queued.head; record != kNone; record = records_[record].next)
            count += free ? records_[record].place < youngest_left_[queue] : records_[record].overtaken;
    return count;
}

void Measurement::watch(std::span<const std::uint32_t> queues) {
    watched_queues_.assign(queues.begin(), queues.end());
    std::sort(watched_queues_.begin(), watched_queues_.end());
    watched_queues_.erase(std::unique(watched_queues_.begin(), watched_queues_.end()), watched_queues_.end());
    watched_.assign(watched_queues_.size(), {});
}

DeviceView* Measurement::watched(std::uint32_t queue) {
    const auto found = std::lower_bound(watched_queues_.begin(), watched_queues_.end(), queue);
    if (found == watched_queues_.end() || *found != queue) return nullptr;
    return &watched_[static_cast<std::size_t>(found - watched_queues_.begin())];
}

DeviceView Measurement::device_view(std::uint32_t queue) const {
    const auto found = std::lower_bound(watched_queues_.begin(), watched_queues_.end(), queue);
    if (found == watched_queues_.end() || *found != queue) return {};
    return watched_[static_cast<std::size_t>(found - watched_queues_.begin())];
}

}  // namespace penstock::engine
