// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Follows every frame from the input to its fate, and compares every byte that comes out.
//
// The device's event ports tell what became of each frame, so nothing is guessed: a frame arrives, classify passes or drops it
// (in order of arrival), the queue manager enqueues or drops it (in order in each queue), and it departs, in the order that the device's
// statement says and with the bytes that it allows. Where the device tells it, the queue gives the frame away before it departs: to be
// sent, perhaps marked, or to be dropped.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "penstock/engine/amount.hpp"
#include "penstock/engine/design.hpp"
#include "penstock/engine/device.hpp"
#include "penstock/engine/histogram.hpp"
#include "penstock/engine/huge_pages.hpp"
#include "penstock/engine/own_measurement.hpp"
#include "penstock/engine/pcap.hpp"

namespace penstock::engine {

struct QueueTotals {
    Amount out, drop;
    std::int64_t first_departure = -1, last_departure = -1;  // cycles, -1: none
};

// What the device's own counters of a queue should say.
struct DeviceView {
    Amount in, out, drop;                      // accepted into the queue, departed, dropped at the queue or by it
    std::array<Amount, kMostReasons> dropped;  // `drop` by reason
    std::uint64_t marks = 0;                   // packets given away with a mark
    std::vector<Amount> outs;                  // `out` after each departure since freeze()
};

struct Totals {
    Amount in, out, queued;
    std::array<Amount, kMostReasons> dropped;
    std::uint64_t marked = 0;           // packets that their queues have given away with a mark
    std::uint64_t order_errors = 0;     // frames that left, or were dropped, against the order of their queue or its deadlines
    std::uint64_t payload_errors = 0;   // frames that cannot come of one that the queue holds
    std::uint64_t event_errors = 0;     // events that fit no frame
    std::int64_t grown = 0;             // bytes by which frames that left had become longer
    std::vector<std::string> findings;  // the first errors in words
};

// What left, [interval][whose].
struct SeriesCells {
    std::vector<std::uint64_t> bytes;
    std::vector<std::uint32_t> packets;
    std::vector<std::uint32_t> latency_max;  // cycles
    std::vector<double> latency_sum;         // cycles

    void resize(std::size_t cells) { bytes.resize(cells), packets.resize(cells), latency_max.resize(cells), latency_sum.resize(cells); }
    void clear() {
        std::fill(bytes.begin(), bytes.end(), 0);
        std::fill(packets.begin(), packets.end(), 0);
        std::fill(latency_max.begin(), latency_max.end(), 0);
        std::fill(latency_sum.begin(), latency_sum.end(), 0);
    }
    void add(std::size_t cell, std::uint32_t length, std::uint32_t latency) {
        bytes[cell] += length;
        ++packets[cell];
        latency_sum[cell] += latency;
        latency_max[cell] = std::max(latency_max[cell], latency);
    }
};

// Time series, one row an interval.
struct Series {
    std::int64_t interval_cycles = 0;  // 0: none
    std::vector<std::uint32_t> queues;
    SeriesCells of_queues;
    SeriesCells of_outputs;                          // of a device with several
    std::vector<std::uint64_t> drops;                // [interval][reason], packets
    std::vector<std::uint64_t> total_in, total_out;  // [interval], bytes of all queues
    std::vector<std::uint64_t> marked;               // [interval], packets given away with a mark
};

// What happened to single frames, in the order in which it did.
struct Events {
    std::vector<std::int64_t> cycle;
    std::vector<std::uint32_t> queue;
};

// What came for a group of queues, and when.
struct GroupTotals {
    std::int64_t first_arrival = -1, last_arrival = -1;  // cycles, -1: none
    std::uint64_t out_bytes = 0, out_before_last = 0;    // that left; that had left when the last one came
};

inline constexpr std::uint8_t kNoGroup = 255;

struct MeasureSettings {
    Statement device;  // what it says of itself
    std::uint64_t seed = 1;
    double clock_hz = 0;
    std::int64_t interval_cycles = 0;
    std::int64_t after_cycles = 0;  // times and rates are of what leaves from this cycle on; what comes before is the warm-up
    std::vector<std::uint32_t> series_queues;
    bool keep_departures = false;
    bool keep_all = true;                  // latencies (and departures) of all frames; else of the frames of `series_queues` only
    std::uint64_t keep_most = UINT64_MAX;  // so many of them, the first ones
    std::vector<std::uint8_t> group_of;    // by queue: its group, kNoGroup: none; empty: there are no groups
    unsigned groups = 0;
    std::string pcap_out;                 // empty: none
    std::shared_ptr<OwnMeasurement> own;  // what the design measures besides, null: nothing; of one measurement
};

// Is told what became of each frame.
class FrameListener {
  public:
    virtual ~FrameListener() = default;
    // It has arrived; a frame with several destinations once for each of its copies, each of which has a fate of its own.
    virtual void arrived(const Frame& frame) = 0;
    // It has left; `last_bit`: the link had brought it, `first_bit`: its first beat left. `mark`: it was to be marked with ECN's CE.
    // `bytes`: what came out of `output`, and be it no byte; without data() where the device handles frames without their bytes.
    virtual void left(const Frame& frame, std::int64_t last_bit, std::int64_t first_bit, bool mark, std::span<const std::uint8_t> bytes,
                      unsigned output) = 0;
    // It was dropped for `reason`, a number of the device's statement.
    virtual void dropped(const Frame& frame, std::int64_t cycle, unsigned reason) = 0;
};

class Measurement final : public Observer {
  public:
    explicit Measurement(const MeasureSettings& settings);
    ~Measurement() override;

    // The clock of the run is on; the device was reset `age` cycles ago.
    void start(std::int64_t age);
    void arrived(const Frame& frame, std::int64_t last_bit) override;
    void classified(std::int64_t cycle, const Fate& fate) override;
    void enqueued(std::int64_t cycle, const Fate& fate) override;
    void dequeued(std::int64_t cycle, const Fate& fate, bool mark) override;
    void unread(std::int64_t cycle, const Fate& fate) override;
    void dropped(std::int64_t cycle, std::uint32_t queue, std::uint64_t tag, std::uint8_t reason) override;
    void began(std::int64_t cycle, unsigned output) override {
        if (pcap_) pcap_->began(cycle, output);
    }
    void departed(std::int64_t first_bit, std::uint32_t queue, std::span<const std::uint8_t> bytes, std::uint64_t tag,
                  unsigned output) override;
    void departed(std::int64_t first_bit, std::uint32_t queue, std::uint64_t number, std::uint32_t length, unsigned output) override;
    void expect(std::uint32_t queue, bool departure) override;
    bool enough() const override { return stop_when_empty_ && live_.queued.packets == 0; }

    const Statement& device() const { return settings_.device; }
    // Null: none. It outlives the measurement.
    void listen(FrameListener* listener) { listener_ = listener; }
    // The device returns from run() as soon as it is empty.
    void stop_when_empty(bool stop) { stop_when_empty_ = stop; }
    // Nothing more will leave: what is there was lost without an event. Of a device whose statement has a silent loss.
    void lose_the_rest(std::int64_t cycle);
    // Nothing more will leave: where the order is free, what younger frames of its queue have overtaken is lost.
    void nothing_more_leaves() { quiet_ = true; }
    // How many frames were lost without an event.
    std::uint64_t lost_at_the_end() const { return lost_at_the_end_; }
    // Nothing that comes after this counts as part of the run; frames are followed on for the device's counters.
    void freeze(std::int64_t cycle);

    const Totals& live() const { return live_; }
    // As they were at freeze().
    const Totals& totals() const { return frozen_; }
    QueueTotals queue_totals(std::uint32_t queue) const { return queues_[queue].totals; }
    // Packets that a queue gave away with a mark until freeze(); of payload EcnMark.
    std::uint64_t queue_marks(std::uint32_t queue) const { return queue_marks_[queue]; }
    // Packets that it dropped until freeze() for the statement's queue_reasons[index].
    std::uint64_t queue_drops(std::size_t index, std::uint32_t queue) const { return queue_drops_[index][queue]; }
    // What came for each queue until freeze().
    const std::vector<Amount>& queue_in() const { return queue_in_; }
    // What came, and what left each queue, until the warm-up was over.
    Amount in_before() const { return in_before_; }
    Amount out_before() const { return out_before_; }
    Amount out_before(std::uint32_t queue) const { return queue_out_before_.empty() ? Amount{} : queue_out_before_[queue]; }
    std::int64_t after_cycles() const { return settings_.after_cycles; }
    std::vector<std::uint32_t> take_latency() { return std::move(latency_); }
    std::vector<std::uint32_t> take_latency_queue() { return std::move(latency_queue_); }
    std::vector<std::int64_t> take_departure_cycle() { return std::move(departure_cycle_); }
    std::vector<std::uint32_t> take_departure_length() { return std::move(departure_length_); }
    // Of a device with several outputs.
    std::vector<std::uint16_t> take_departure_output() { return std::move(departure_output_); }
    // Latencies in cycles: of all frames, then of each group.
    const std::vector<Histogram>& histograms() const { return histograms_; }
    const std::vector<GroupTotals>& groups() const { return groups_; }
    // Drops for a reason, and frames given away with a mark, of the frames that are kept one by one.
    const Events& drops_for(unsigned reason) const { return drop_events_[reason]; }
    const Events& marks() const { return mark_events_; }
    const Series& series() const { return series_; }
    // What the design measures besides, null: nothing; ended by freeze().
    const OwnMeasurement* own() const { return own_; }
    // Frames whose fate the device has not told yet.
    std::uint64_t undecided() const { return undecided_; }
    // Frames that younger ones of their queue have overtaken and that never came.
    std::uint64_t lost() const;
    DeviceView device_view(std::uint32_t queue) const;
    // Queues of which device_view is wanted; sorted by the caller's order.
    void watch(std::span<const std::uint32_t> queues);
    // Everything is in the pcap file.
    void close();

  private:
    static constexpr std::uint32_t kNone = 0xFFFF'FFFF;
    struct alignas(64) Record {
        Frame frame;
        std::int64_t last_bit;
        std::int64_t deadline;  // where frames have one
        std::uint32_t next;
        // Where the order is free: the one before it, the next one with its tag, and in which order frames came to their queues.
        std::uint32_t before, alike;
        std::uint64_t place;
        bool overtaken, mark;  // mark: its queue has given it away with a mark
        bool given;            // where pages name frames: its queue has given it away
        std::uint32_t page;    // the same: where it is
    };
    struct List {
        std::uint32_t head = kNone, tail = kNone;
    };
    // One cache line for each queue.
    struct alignas(64) PerQueue {
        List passed, queued;  // passed by classify; accepted by the queue
        QueueTotals totals;
    };
    static_assert(sizeof(PerQueue) == 64);
    std::uint32_t allocate();
    void append(List& list, std::uint32_t record);
    std::uint32_t pop(List& list);
    void drop(std::int64_t cycle, std::uint32_t record, unsigned reason);
    // The same of a frame that has come as far as its queue, which is there.
    void drop_at_queue(std::int64_t cycle, std::uint32_t record, unsigned reason);
    std::uint32_t given_too_early(std::int64_t cycle, const Fate& fate, std::uint32_t due);
    void given_instead(std::uint32_t queue, std::uint32_t record);
    // Whether a frame that is sent, or dropped, in this cycle has missed its deadline; where the device drops those that have.
    void check_deadline(std::int64_t cycle, std::uint32_t record, bool sent, unsigned reason);
    // Puts a frame where the order of its queue has it.
    void enter(std::uint32_t queue, std::uint32_t record);
    // Takes `record` out of a list, where `before` is before it (kNone: it is the first).
    void unlink(List& list, std::uint32_t before, std::uint32_t record);
    // The same of a queue's list; those before it are marked as overtaken.
    void take_out(List& list, std::uint32_t before, std::uint32_t record);
    void is_changed(std::int64_t cycle, const Frame& frame, std::size_t length, const char* what = " comes out changed (");
    // `record` goes before `due`, which stands before it in the order of their queue.
    void out_of_order(std::int64_t cycle, std::uint32_t record, std::uint32_t due, const char* does);
    // Whether these bytes may come of this frame.
    bool may_become(const Frame& frame, std::span<const std::uint8_t> bytes, bool mark);
    // Whether the frame that leaves this queue next was to be marked.
    bool next_is_marked(std::int64_t cycle, std::uint32_t queue);
    // This record was taken out of its queue's list, where `before` is before it.
    void forget_given(std::uint32_t queue, std::uint32_t record, std::uint32_t before = kNone);
    // Where the order is free: it came to the queue, and leaves it, from wherever it is in the list.
    void enter_freely(std::uint32_t queue, std::uint32_t record);
    void leave_freely(std::uint32_t queue, std::uint32_t record, bool departs = true);
    // Where pages name frames: the one that an event of this queue is about; kNone, a finding: there is none.
    std::uint32_t named(std::int64_t cycle, const Fate& fate, const char* what);
    void dropped_late(std::int64_t cycle, const Fate& fate);
    void given_by_page(std::int64_t cycle, const Fate& fate, bool mark);
    void note_mark(std::int64_t cycle, std::uint32_t record);
    template <typename Fits>
    std::uint32_t take_paged(std::uint32_t queue, std::int64_t cycle, Fits&& fits);
    // Takes the oldest frame of a queue with this tag off it; kNone: there is none.
    std::uint32_t take_tagged(std::uint32_t queue, std::int64_t cycle, std::uint64_t tag);
    std::uint64_t tag_of(std::uint64_t number) const { return number << (64 - settings_.device.tag_bits); }
    template <typename Matches>
    std::uint32_t take_departing(std::uint32_t queue, std::int64_t cycle, Matches&& matches);
    template <typename Matches>
    std::uint32_t take_changed(std::uint32_t queue, std::int64_t cycle, std::size_t length, Matches&& matches);
    // A frame of a queue whose order is free leaves, and fits none that the queue holds: one is taken for it. kNone: it left before.
    std::uint32_t take_for_changed(std::int64_t cycle, std::uint32_t queue, std::span<const std::uint8_t> bytes);
    // Where the order is free: these bytes left a queue.
    void remember(std::uint32_t queue, std::span<const std::uint8_t> bytes);
    void gone(std::int64_t first_bit, std::uint32_t queue, std::uint32_t record, std::uint32_t length, std::span<const std::uint8_t> bytes,
              unsigned output);
    void finding(std::int64_t cycle, std::uint64_t& counter, const std::string& what) { ++counter, say(cycle, what); }
    void say(std::int64_t cycle, const std::string& what);
    std::size_t interval(std::int64_t cycle);
    // The warm-up is over: what was measured of times and rates is forgotten; counters go on.
    void begin();
    // Before a frame is rewritten its length is that with which it came; later events may tell either.
    bool tells_length(const Fate& fate, const Frame& frame) const {
        return fate.length == frame.length || settings_.device.payload == Payload::Rewritten;
    }
    bool known(unsigned reason) const { return reason < kMostReasons && (known_ >> reason & 1); }
    // Whether what happens to the frames of this queue is kept one by one.
    bool is_kept(std::uint32_t queue) const {
        const bool chosen = queue < settings_.device.queues && (settings_.keep_all || in_series(queue));
        return settings_.keep_departures && chosen && events_ < settings_.keep_most;
    }
    void keep(Events& events, std::int64_t cycle, std::uint32_t queue);
    bool in_series(std::uint32_t queue) const { return in_series_[queue / 64] >> queue % 64 & 1; }
    DeviceView* watched(std::uint32_t queue);

    MeasureSettings settings_;
    std::vector<Record, HugePages<Record>> records_;
    std::uint32_t free_ = kNone;
    static constexpr std::size_t kRecent = 32;
    std::array<Frame, kRecent> recent_{};  // that left last, to tell a frame that comes twice from one that is changed
    std::size_t recent_at_ = 0;
    // The same where the order is free, so that the two may be far apart: hashes of what left, at least of the last kRemembered.
    static constexpr std::size_t kRemembered = 1 << 16;
    std::unordered_set<std::uint64_t> left_, left_earlier_;
    // Frames that were taken for others that came out changed; with their bytes.
    struct Guess {
        Frame frame;
        std::vector<std::uint8_t> bytes;
    };
    static constexpr std::size_t kGuesses = 64;
    std::deque<Guess> guesses_;
    // Where the order is free: by tag the frames in queues that carry it, oldest first; by queue the youngest place of those that left.
    std::unordered_map<std::uint64_t, List> tagged_;
    std::vector<std::uint64_t> youngest_left_;
    std::vector<std::uint32_t> by_page_;  // where pages name frames: the record of the frame that is there, kNone
    bool tells_given_ = false;            // queues tell what they give away
    std::uint64_t places_ = 0;
    List arriving_;  // classify has not spoken yet
    std::vector<PerQueue, HugePages<PerQueue>> queues_;
    // Where queues tell what they give away, of each: the last frame that it has given away and that has not departed yet; those before it
    // in the list are given away too. Frames of a queue depart in the order in which it gives them away; those of several need not, for
    // they may wait above the queues. Empty until a queue has told something.
    std::vector<std::uint32_t> given_;
    std::vector<std::uint64_t> queue_marks_;               // of payload EcnMark
    std::vector<std::vector<std::uint64_t>> queue_drops_;  // by the statement's queue_reasons, then by queue
    std::array<std::uint8_t, kMostReasons> drops_of_{};    // the place of a reason in them
    std::vector<Amount> queue_in_;
    std::vector<std::int64_t> queue_grown_;  // of payload Rewritten: bytes, by queue
    std::vector<std::uint8_t> expected_;
    std::vector<std::uint32_t> latency_, latency_queue_, departure_length_;
    std::vector<std::int64_t> departure_cycle_;
    std::vector<std::uint16_t> departure_output_;
    std::vector<Histogram> histograms_;
    std::vector<GroupTotals> groups_;
    std::array<Events, kMostReasons> drop_events_;
    Events mark_events_;
    std::uint64_t events_ = 0;  // in these
    Series series_;
    std::vector<std::int32_t> series_index_;  // by queue, -1: not in the series
    std::vector<std::uint64_t> in_series_;    // the same as a bit by queue, which stays in the cache
    std::vector<std::uint32_t> watched_queues_;
    std::vector<DeviceView> watched_;
    std::unique_ptr<OutputCapture> pcap_;
    OwnMeasurement* own_;
    Totals live_, frozen_;
    std::uint64_t undecided_ = 0, lost_at_the_end_ = 0;
    std::uint32_t known_ = 1;  // a bit for each drop reason of the device, and for "goes on"
    bool stop_when_empty_ = false, is_frozen_ = false, quiet_ = false, is_warm_ = true;
    Amount in_before_, out_before_;
    std::vector<Amount> queue_out_before_;
    FrameListener* listener_ = nullptr;
};

}  // namespace penstock::engine
