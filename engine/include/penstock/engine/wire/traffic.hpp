// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Real frames through a device in real time. An end is a file of Ethernet frames, a TAP device: what is read there comes to an input of the
// device in the cycle of that moment; what leaves the device is written to an end when its time has come, a delay later. Frames may also go
// past the device, by a line of their own.
//
// One thread does all of it, between two runs of the device: turn() reads and writes, and says how far the device runs then.
#pragma once

#include <poll.h>

#include <cstdint>
#include <deque>
#include <map>
#include <queue>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "penstock/engine/amount.hpp"
#include "penstock/engine/histogram.hpp"
#include "penstock/engine/kept_frames.hpp"
#include "penstock/engine/measure.hpp"
#include "penstock/engine/traffic.hpp"
#include "penstock/engine/wire/classifier.hpp"
#include "penstock/engine/wire/clock.hpp"

namespace penstock::engine::wire {

inline constexpr int kNone = -1;

// Frames of an end that go through the device.
struct Path {
    unsigned from = 0;
    unsigned input = 0;
    int to = kNone;  // end that they go to; none: the output says it
    std::int64_t delay_ns = 0;
    std::vector<Rule> rules;
    std::vector<std::uint32_t> queues;  // by rule; what no rule matches is left out
};
// Frames of an end that go past it, by a line with a buffer in front.
struct Line {
    unsigned from = 0, to = 0;
    double bps = 0;  // 0: of no length
    std::int64_t delay_ns = 0;
    std::int64_t buffer_bytes = 0;
};
struct Settings {
    double clock_hz = 0;
    std::vector<int> files;          // of the ends
    std::vector<int> end_of_output;  // by output of the device
    std::vector<Path> paths;
    std::vector<Line> lines;
    std::vector<double> egress_bps;    // by output
    std::uint32_t overhead_bytes = 0;  // of a frame, on lines
    std::int64_t slack_ns = 0;         // the device stands still rather than be further behind
    std::int64_t begin_ns = 0;         // CLOCK_MONOTONIC: the clock starts then, or at once where that is over
};

struct EndCounts {
    Amount read, written;
    Amount unmatched;  // no rule matches
    Amount overrun;    // found no room: the device, or a line's buffer, was too far behind
    Amount failed;     // the kernel did not take it
    Amount pending;    // on its way when the run ended: to this end, or from it and not in the device yet
};
// Frames of a queue of the device.
struct QueueCounts {
    Amount in, out, dropped;
    std::uint64_t marked = 0;
    std::uint32_t last_sojourn = 0;  // cycles
    Histogram sojourn;               // cycles
};

class Traffic final : public LiveSource, public FrameListener {
  public:
    static constexpr std::size_t kMostQueues = 1024;  // that are told apart

    explicit Traffic(Settings settings);

    // ---- for the loop of a run

    // Waits until the clock starts, at cycle `now` of the device.
    void begin(std::int64_t now);
    // Reads and writes, and waits while there is nothing to do; returns the cycle to which the device runs now. `idle`: it holds no frame.
    std::int64_t turn(std::int64_t now, bool idle);
    // The device has run.
    void ran(std::int64_t now);
    // An end that is gone, kNone: all are there. The run ends then.
    int unplugged() const { return unplugged_; }
    // The run is over.
    void finish();

    // ---- the device

    Ready next(unsigned input, std::int64_t now, Ticks link_free) override;
    void take(unsigned input, Frame& frame) override;
    bool over() const override { return finished_; }
    void arrived(const Frame& frame) override;
    void left(const Frame& frame, std::int64_t last_bit, std::int64_t first_bit, bool mark, std::span<const std::uint8_t> bytes,
              unsigned output) override;
    void dropped(const Frame& frame, std::int64_t cycle, unsigned reason) override;

    // ---- what was seen

    const std::vector<EndCounts>& ends() const { return ends_; }
    const std::map<std::uint32_t, QueueCounts>& queues() const { return queues_; }
    const Histogram& behind_ns() const { return behind_; }  // of the device, after each time that it has run
    const Histogram& late_ns() const { return late_; }      // of a frame that was written
    std::int64_t behind_now_ns() const { return behind_now_; }
    std::int64_t stood_still_ns() const { return stood_still_; }
    std::uint64_t stops() const { return stops_; }
    const Clock& clock() const { return clock_; }

  private:
    struct Waiting {  // at an input
        std::int64_t cycle;
        std::uint32_t queue;
        unsigned path;
        std::vector<std::uint8_t> bytes;
    };
    struct Input {
        std::deque<Waiting> waiting;
        std::int64_t bytes = 0;
        std::deque<std::uint64_t> sent;  // numbers of frames that have not arrived
    };
    struct Due {
        std::int64_t at;
        std::uint64_t number;  // in the order in which they were made
        std::size_t slot;
        bool operator>(const Due& other) const { return std::tuple(at, number) > std::tuple(other.at, other.number); }
    };
    struct Delayed {
        unsigned to;
        std::vector<std::uint8_t> bytes;
    };
    struct BusyLine {
        std::int64_t free_ns = 0;
    };

    void read(unsigned end);
    void came(unsigned end, std::int64_t now_ns, std::span<const std::uint8_t> frame);
    void let_go(std::int64_t now_ns);
    void delay(std::int64_t at_ns, unsigned to, std::span<const std::uint8_t> bytes);
    void look_whether_plugged(std::int64_t now_ns);
    QueueCounts* decided(const Frame& frame);  // of its queue, which the device has said by now
    QueueCounts* counts(std::uint32_t queue);

    Settings settings_;
    Clock clock_;
    std::vector<int> path_of_, line_of_;  // by end
    std::vector<Input> inputs_;
    std::vector<BusyLine> busy_;
    std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
    std::vector<Delayed> slots_;
    std::vector<std::size_t> unused_;
    std::uint64_t made_ = 0;
    KeptFrames<unsigned> kept_;  // with the path
    std::vector<pollfd> places_;
    std::vector<std::uint8_t> buffer_;
    std::vector<EndCounts> ends_;
    std::map<std::uint32_t, QueueCounts> queues_;
    Histogram behind_, late_;
    std::int64_t behind_now_ = 0, stood_still_ = 0, next_look_ = 0;
    std::uint64_t stops_ = 0;
    int unplugged_ = kNone;
    bool finished_ = false;
};

}  // namespace penstock::engine::wire
