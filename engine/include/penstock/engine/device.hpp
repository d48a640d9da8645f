// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// What a device is to the rest of the engine: timed frames go in; frames, and the fate of each, come out; registers are
// read and written. The RTL (RtlDevice) is one, the model of a design another.
#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>

#include "penstock/engine/frame.hpp"
#include "penstock/engine/ingress_fifo.hpp"

namespace penstock::engine {

// The device broke a protocol, or an assertion in it failed. The run has no result.
class DeviceError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

// What a source says when it is asked for a frame.
enum class Answer : std::uint8_t {
    Frame,
    NotYet,  // what comes next depends on what is still to happen
    End,     // there is none, nor will be
};

// Gives frames in the order of their arrival.
class FrameSource {
  public:
    static constexpr std::int64_t kNever = INT64_MAX;

    virtual ~FrameSource() = default;
    // The next frame, for an ingress link that is free from `link_free` on; the device asks in its cycle `now`, and may do so long before
    // the frame arrives: only the source knows how far it may look ahead. After NotYet no frame arrives before cycle `again`, and the
    // device asks again in that cycle, in the one after each in which the observer was told something, and when run() or read() is
    // called.
    virtual Answer next(Frame& frame, Ticks link_free, std::int64_t now, std::int64_t& again) = 0;
    // A frame that it has given found the FIFO in front of the input full: it never arrives.
    virtual void lost(const Frame&) {}
};

// One pulse of an event port.
struct Fate {
    std::uint32_t queue;
    std::uint32_t length;
    std::uint8_t reason;     // pst_pkg::drop_e; 0: goes on
    std::uint32_t page = 0;  // where it is stored, of a device whose statement says `pages`: two that are there at once have two
};

struct MemoryCounts {
    std::uint64_t frames = 0, write_bursts = 0, write_beats = 0, read_bursts = 0, read_beats = 0;
};

// Cycles in which an input offered a beat, and in which it was taken; the same of the outputs; summed over all ports.
struct BusCounts {
    std::int64_t input_offered = 0, input_taken = 0, output_ready = 0, output_taken = 0;
};

// Is told everything that happens at the device, in order of time; within a cycle in the order of these functions.
class Observer {
  public:
    virtual ~Observer() = default;
    // The last beat of a frame was taken. `last_bit` is the cycle in which the link had brought it.
    virtual void arrived(const Frame& frame, std::int64_t last_bit) = 0;
    virtual void classified(std::int64_t cycle, const Fate& fate) = 0;
    virtual void enqueued(std::int64_t cycle, const Fate& fate) = 0;
    // Of a device whose verdict on a frame comes after it has been in its queue (an AQM, a deadline): the frame was taken from its queue,
    // to be sent, with a mark or without, or to be dropped. Told of all frames or of none; of none where their order is free.
    virtual void dequeued(std::int64_t cycle, const Fate& fate, bool mark) = 0;
    // The oldest frame that was taken from this queue and has not left is lost behind it: it could not be read. It may have been sent in
    // part.
    virtual void unread(std::int64_t cycle, const Fate& fate) = 0;
    // Where the order is free and frames have tags: the frame with this one, which its queue took, is dropped, wherever it was.
    virtual void dropped(std::int64_t cycle, std::uint32_t queue, std::uint64_t tag, std::uint8_t reason) = 0;
    // The first beat of a frame leaves by `output`; of a device with several outputs that tells of a frame when its last one has left.
    // kNever: it was none.
    virtual void began(std::int64_t /*cycle*/, unsigned /*output*/) {}
    // A frame has left by `output`; `first_bit` is the cycle of its first beat. `tag`: what the device carried of its number
    // (Statement::tag_bits).
    virtual void departed(std::int64_t first_bit, std::uint32_t queue, std::span<const std::uint8_t> bytes, std::uint64_t tag,
                          unsigned output) = 0;
    // The same for a device that handles frames without their bytes, so does not rewrite them: the frame with this number (Frame::number)
    // has left.
    virtual void departed(std::int64_t first_bit, std::uint32_t queue, std::uint64_t number, std::uint32_t length, unsigned output) = 0;
    // A hint, no more: something will soon be told of this queue, the departure of its oldest frame if `departure`.
    virtual void expect(std::uint32_t queue, bool departure) = 0;
    // The device returns from run() early.
    virtual bool enough() const = 0;
};

class Device {
  public:
    static constexpr std::int64_t kPipelines = 200'000;  // cycles through all pipelines and memories, generously

    virtual ~Device() = default;
    // Reset and initialisation, register accesses of the set-up: no frames, not on the clock.
    virtual void start() = 0;
    // Writes a register. May return before the write is done; reads and later writes come after it.
    virtual void write(std::uint32_t address, std::uint32_t value) = 0;
    // Reads a register; the clock goes on meanwhile.
    virtual std::uint32_t read(std::uint32_t address) = 0;
    // Waits until all writes are done.
    virtual void settle() = 0;
    // The clock starts at 0 here. A source for each input, null: none; sources and `observer` outlive the device or are connected anew.
    virtual void connect(std::span<FrameSource* const> sources, Observer* observer) = 0;
    // Runs until cycle `until`, or until the observer has enough.
    virtual void run(std::int64_t until) = 0;
    // Cycles since connect().
    virtual std::int64_t now() const = 0;
    // No frame is on its way into the device, or next on a link.
    virtual bool input_idle() const = 0;
    // The sources are asked no more, and a frame that has not begun is forgotten. From here on no line is slower than the bus, unless the
    // device knows its times ahead.
    virtual void close_input() = 0;
    // After close_input(): a device that still has frames under way tells something within so many cycles.
    virtual std::int64_t patience() const { return kPipelines; }
    virtual MemoryCounts memory_counts(unsigned memory) const = 0;
    virtual BusCounts bus_counts() const = 0;
    // Frames that found the FIFO in front of their input full, so never came to the device.
    virtual LostFrames ingress_lost() const = 0;
};

}  // namespace penstock::engine
