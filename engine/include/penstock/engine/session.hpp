// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// A device held open: frames are offered, the clock is advanced, and registers are read and written in between, as long as one likes.
// A run (run.hpp) is a loop over a session; so is whatever decides what to send by what has come out.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "penstock/engine/design.hpp"
#include "penstock/engine/device.hpp"
#include "penstock/engine/kept_frames.hpp"
#include "penstock/engine/measure.hpp"

namespace penstock::engine {

struct RegisterWrite {
    std::int64_t cycle;  // of the run; set-up writes come before the clock starts
    std::uint32_t address, value;
};

struct Outcome {
    std::int64_t cycles = 0, init_cycles = 0;
    bool interrupted = false;
    bool drained = false;  // nothing was left in the device
    std::uint64_t lost = 0, counter_mismatches = 0;
    bool conservation_ok = false;
    double wall_seconds = 0;
    double run_cpu_seconds = 0;  // of this thread, from the start of the clock to its end
    std::vector<std::string> findings;
    std::vector<MemoryCounts> memories;
    std::vector<std::uint32_t> lost_memories;  // that do not answer any more
    std::vector<std::uint64_t> own_counters;   // that only a device of this kind has
    BusCounts bus;
    LostFrames ingress_lost;
};

class Session {
  public:
    // `kind` and `measurement` outlive the session. Throws DeviceError, std::invalid_argument, std::runtime_error.
    Session(const DeviceKind& kind, const Environment& environment, Measurement& measurement);

    // Goes on with the hardware of another session of the same device, in the middle of whatever it does; before open(), which resets it. A
    // model has none, and is made anew.
    void inherit(Session& other);
    // Reset and initialisation; registers may be written and read from here on.
    void open();
    // The clock starts at 0, and the sources, one for each input, which outlive the session, are asked for frames. Once, after open().
    void start(std::span<FrameSource* const> sources);
    bool started() const { return started_; }

    // Both throw std::invalid_argument where the device has no registers.
    void write(std::uint32_t address, std::uint32_t value) { registers().write(address, value); }
    void settle() { device_->settle(); }
    std::uint32_t read(std::uint32_t address) { return registers().read(address); }

    // Runs until cycle `until`, or until the device is empty where the measurement stops then.
    void advance(std::int64_t until) { device_->run(until); }
    // Cycles of the clock; before start() those since reset.
    std::int64_t now() const { return device_->now(); }
    // No frame is on its way into the device, or next on a link.
    bool input_idle() const { return device_->input_idle(); }
    // Frames that found the FIFO in front of an input full.
    LostFrames ingress_lost() const { return device_->ingress_lost(); }

    // Ends the session: nothing comes in any more, the frames under way get their fate, and the device's own counters (of `sample_queues`
    // and of all drops) are compared with what was seen. The result is of the moment before. `sent`: the sources have no more frames.
    Outcome end(std::span<const std::uint32_t> sample_queues, bool sent);

  private:
    Device& registers() const;

    const DeviceKind& kind_;
    std::size_t memories_;
    Measurement& measurement_;
    std::unique_ptr<Device> device_;
    std::int64_t init_cycles_ = 0;
    bool started_ = false;
};

// How many cycles a device runs between two looks at the wall clock: more and more, where little happens. Results do not depend on it.
class Pace {
  public:
    explicit Pace(std::int64_t least) : least_(least), cycles_(least), begin_(Clock::now()) {}
    std::int64_t cycles() const { return cycles_; }
    // The device has run so many.
    void ran() {
        const auto now = Clock::now();
        cycles_ = now - begin_ < kShort ? std::min(2 * cycles_, kMaxCycles) : std::max(cycles_ / 4, least_);
        begin_ = now;
    }

  private:
    using Clock = std::chrono::steady_clock;
    static constexpr auto kShort = std::chrono::milliseconds(2);

    std::int64_t least_, cycles_;
    Clock::time_point begin_;
};

// Frames that are offered one by one, in any order of their arrivals. The device is told of a frame when the clock reaches its arrival, or
// is about to, so one that is offered later may come before it.
class OfferedFrames {
  public:
    explicit OfferedFrames(unsigned inputs);
    OfferedFrames(const OfferedFrames&) = delete;
    OfferedFrames& operator=(const OfferedFrames&) = delete;

    // For Session::start(): one for each input.
    std::vector<FrameSource*> sources();
    // A frame of these bytes for `queue` that arrives at `input` in cycle `cycle` of the clock, not before now. Returns its number, which
    // counts from 0 over all inputs. Throws std::invalid_argument.
    std::uint64_t offer(std::int64_t cycle, unsigned input, std::uint32_t queue, std::vector<std::uint8_t> bytes, bool error = false);
    // The device may look ahead to this cycle: nothing more will be offered that arrives before it.
    void look_ahead(std::int64_t cycle) { horizon_ = cycle; }
    // No more frames are offered.
    void close() { closed_ = true; }
    bool empty() const;
    // How many frames' bytes are kept: of those that wait or are in the device, and of some that have had their fate.
    std::size_t kept() const { return kept_.size(); }
    // No frame that was offered arrives later.
    std::int64_t latest() const { return latest_; }
    // The frame has arrived, or a copy of it: its bytes are needed until each copy has had its fate.
    void remember(std::uint64_t number) { kept_.arrived(number); }
    // The frame has had its fate, or a copy of it: it has left, or was dropped.
    void forget(std::uint64_t number, bool left) { kept_.fate(number, left); }

  private:
    struct Offered {
        std::int64_t cycle;
        Frame frame;
        bool later(const Offered& than) const { return cycle != than.cycle ? cycle > than.cycle : frame.number > than.frame.number; }
    };
    class Input final : public FrameSource {
      public:
        explicit Input(OfferedFrames& all) : all_(all) {}
        Answer next(Frame& frame, Ticks link_free, std::int64_t now, std::int64_t& again) override;
        void lost(const Frame& frame) override { all_.kept_.lost(frame.number); }
        void push(const Offered& offered);
        bool empty() const { return waiting_.empty(); }

      private:
        OfferedFrames& all_;
        std::vector<Offered> waiting_;  // a heap by arrival, and by number where these are equal
    };
    struct Nothing {};

    std::vector<Input> inputs_;
    KeptFrames<Nothing> kept_;
    std::uint64_t next_ = 0;
    std::int64_t horizon_ = 0, latest_ = 0;
    bool closed_ = false;
};

}  // namespace penstock::engine
