// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Where frames come from: recorded lists and synthetic sources, merged in order of time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "penstock/engine/device.hpp"
#include "penstock/engine/random.hpp"

namespace penstock::engine {

enum class Kind { Constant, Poisson, OnOff };
enum class Pick { Each, RoundRobin, Random };

// A list of frames. The arrays live as long as the run.
struct RecordedFrames {
    std::span<const std::int64_t> cycles;  // arrival, not decreasing
    std::span<const std::uint32_t> queues;
    std::span<const std::int64_t> offsets;  // of the stored bytes in data
    std::span<const std::int32_t> lengths;  // on the wire
    std::span<const std::int32_t> stored;   // bytes present, <= length
    std::span<const std::uint8_t> data;
    std::span<const std::uint8_t> error;  // empty: no frame has an error
};

// What the frames of a synthetic source begin with: `each` bytes for every queue and size, those of a queue together, in the order of
// `queues` and `sizes`. The array lives as long as the run.
struct FrameHeaders {
    std::span<const std::uint8_t> bytes;
    std::uint32_t each = 0;  // 0: as frame_bytes() has them
    std::uint16_t sum_from = 0, sum_at = 0;
};

struct SyntheticSettings {
    Kind kind = Kind::Constant;
    Pick pick = Pick::RoundRobin;
    std::vector<std::uint32_t> queues;
    std::vector<double> cycles_per_byte_each;             // by queue, with Pick::Each; empty: cycles_per_byte for all
    double cycles_per_byte = 0;                           // of frame bytes; per queue with Pick::Each; OnOff: while on
    std::vector<std::pair<std::uint32_t, double>> sizes;  // bytes, weight (share of frames)
    double start_cycle = 0, stop_cycle = 0;
    double on_cycles = 0, off_cycles = 0;  // means of exponential distributions (OnOff)
    FrameHeaders headers;
};

// One source: knows the arrival of its next frame.
class Source {
  public:
    static constexpr double kNever = 1e18;  // cycles

    virtual ~Source() = default;
    // Cycles of an epoch, which begins some cycles after the clock: so fractions of cycles stay exact for weeks.
    double next_arrival() const { return next_; }
    // The epoch begins so many cycles later from now on.
    void move_epoch(double cycles) {
        if (next_ < kNever) next_ -= cycles;
        move(cycles);
    }
    // Fills queue, length, error and data of the frame that arrives at next_arrival(), and moves on.
    virtual void take(Frame& frame) = 0;

  protected:
    virtual void move(double cycles) = 0;

    double next_ = kNever;
};

std::unique_ptr<Source> recorded_source(const RecordedFrames& frames);
std::unique_ptr<Source> synthetic_source(const SyntheticSettings& settings, Random random);

// A binary heap of (time, index); equal times come in order of the index.
class TimeHeap {
  public:
    struct Entry {
        double time;
        std::uint32_t index;
        bool before(const Entry& other) const { return time < other.time || (time == other.time && index < other.index); }
    };

    explicit TimeHeap(std::vector<Entry> entries);
    bool empty() const { return entries_.empty(); }
    const Entry& top() const { return entries_.front(); }
    // The first entry gets a new time, not before its old one.
    void move_top(double time);
    // All entries come so many cycles earlier; `never`: but for these times.
    void earlier(double cycles, double never);

  private:
    void sift_down(std::size_t at);
    std::vector<Entry> entries_;
};

// Frames that depend on what becomes of others: one for all inputs of a device. It lives as long as the run.
class LiveSource {
  public:
    struct Ready {
        bool frame;          // there is one,
        std::int64_t cycle;  // which arrives in this cycle; otherwise there is none before it unless something leaves the device
    };
    virtual ~LiveSource() = default;
    // What comes to `input` next, as it is known in cycle `now`; the frame arrives then or has arrived. Its link is free from `link_free`
    // on.
    virtual Ready next(unsigned input, std::int64_t now, Ticks link_free) = 0;
    // Fills all but number and arrival of that frame.
    virtual void take(unsigned input, Frame& frame) = 0;
    // There is nothing more.
    virtual bool over() const = 0;
};

// All sources of an input, in order of arrival. Synthetic traffic that has not begun on its link at the cycle `end` is
// not sent; recorded frames are all sent that arrive before `end`.
class Merge final : public FrameSource {
  public:
    // Of input `input` of so many: frames are numbered `input`, `input` + `inputs`, ... `live`: null: none.
    Merge(std::vector<std::unique_ptr<Source>> sources, std::vector<bool> recorded, std::int64_t end, unsigned input, unsigned inputs,
          LiveSource* live = nullptr);
    Answer next(Frame& frame, Ticks link_free, std::int64_t now, std::int64_t& again) override;
    bool exhausted() const { return exhausted_; }
    // No more frames from here on.
    void stop() { exhausted_ = true; }

  private:
    std::vector<std::unique_ptr<Source>> sources_;
    std::vector<bool> recorded_;
    // Times up to this are exact to 2^-20 cycle.
    static constexpr double kEpoch = 4'294'967'296.0;
    void move_epoch();
    // The top of the heap is a frame that is sent; what is not is taken away. `late`: the link is busy until the end.
    bool more(bool late);

    TimeHeap heap_;
    std::int64_t epoch_ = 0, last_;
    double end_;  // in the epoch
    unsigned input_;
    LiveSource* live_;
    std::uint64_t number_, step_;
    bool exhausted_ = false;
};

}  // namespace penstock::engine
