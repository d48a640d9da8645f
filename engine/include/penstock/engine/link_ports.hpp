// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The links at a device's ports, beat by beat: one in front of an input, which brings the frames of a source, and one behind an output.
#pragma once

#include <algorithm>
#include <cstdint>

#include "penstock/engine/device.hpp"
#include "penstock/engine/frame.hpp"
#include "penstock/engine/ingress_fifo.hpp"

namespace penstock::engine {

// The input's side asks for frames and hands them over in beats; a beat is there when the link has brought it.
class LinkInput {
  public:
    static constexpr std::int64_t kNever = INT64_MAX;

    // `head`: bytes in front of each frame, which cost no time on the link; `beat`: bytes of a beat, more than that.
    LinkInput(const Link& link, std::uint32_t head, std::uint32_t beat) : link_(link), head_(head), beat_(beat), fifo_(link.buffer()) {}

    void connect(FrameSource* source) {
        source_ = source;
        link_free_ = 0;
        fifo_.restart();
        fetch(0);
    }
    // The source is asked no more, a frame that has not begun is forgotten, and one that has comes as fast as the bus takes it.
    void close() {
        source_ = nullptr;
        asking_ = false;
        link_ = Link(0, 0, 0);
        start_ = 0;
        beat_cycle_ = sending_ ? 0 : kNever;
        waiting_ = false;
    }
    // No frame is on its way in, or next.
    bool idle() const { return !sending_ && !waiting_; }
    // The source has said that it does not know yet, and may in this cycle.
    bool asking() const { return asking_; }
    std::int64_t ask_again() const { return ask_again_; }
    // Asks the source for the next frame.
    void fetch(std::int64_t now) {
        beat_cycle_ = kNever;
        for (;;) {
            const Answer answer = source_ ? source_->next(frame_, link_free_, now, ask_again_) : Answer::End;
            waiting_ = answer == Answer::Frame;
            asking_ = answer == Answer::NotYet;
            if (!waiting_) return;
            start_ = std::max(frame_.arrival, link_free_);
            link_free_ = start_ + link_.frame_time(frame_.length);
            if (fifo_.takes(last_bit(), frame_.length)) break;
            source_->lost(frame_);
        }
        at_ = 0;
        beat_cycle_ = cycle_ceil(start_ + link_.time(std::min(frame_.length, beat_ - head_)));
    }

    // The next beat: when it may be offered, and which part of head and frame it is.
    std::int64_t beat_cycle() const { return beat_cycle_; }
    const Frame& frame() const { return frame_; }
    std::uint32_t at() const { return at_; }
    std::uint32_t beat_bytes() const { return std::min(beat_, head_ + frame_.length - at_); }
    bool last() const { return at_ + beat_bytes() == head_ + frame_.length; }
    // When the link has brought all of the frame.
    std::int64_t last_bit() const { return cycle_ceil(start_ + link_.time(frame_.length)); }

    // The first beat is offered.
    void begin() {
        waiting_ = false;
        sending_ = true;
    }
    // The beat was taken in cycle `now`. True: it was the frame's last one; then fetch() is to follow.
    bool taken(std::int64_t now) {
        if (last()) {
            sending_ = false;
            fifo_.taken(now, frame_.length);
            return true;
        }
        at_ += beat_;
        beat_cycle_ = cycle_ceil(start_ + link_.time(at_ + beat_bytes() - head_));
        return false;
    }

    // Frames that found the FIFO in front of the input full.
    const LostFrames& lost() const { return fifo_.lost(); }

  private:
    Link link_;
    std::uint32_t head_, beat_;
    IngressFifo fifo_;
    FrameSource* source_ = nullptr;
    Frame frame_;           // on the link or next on it
    bool waiting_ = false;  // frame_ is next, not yet begun
    bool asking_ = false;
    bool sending_ = false;  // frame_ is being handed over
    std::int64_t ask_again_ = 0;
    Ticks link_free_ = 0, start_ = 0;   // as if the device never stalled
    std::int64_t beat_cycle_ = kNever;  // the link has brought the next beat
    std::uint32_t at_ = 0;
};

// The output's side: when the link takes a beat. What the link has not sent yet waits in a buffer of some bytes: a beat is taken while
// there is less in it. Without one a link stands idle for the rest of the bus cycle in which a short last beat ends.
class LinkOutput {
  public:
    explicit LinkOutput(const Link& link) : link_(link), ahead_(link.time(link.buffer())) {}

    void restart() { free_ = 0; }
    // The link takes whatever the bus brings from here on.
    void open() {
        link_ = Link(0, 0, 0);
        free_ = 0;
    }
    bool ready(std::int64_t now) const { return free_ < ticks(now + 1) + ahead_; }
    // The first cycle in which it is ready, or one before cycle 0.
    std::int64_t ready_from() const { return static_cast<std::int64_t>((free_ - ahead_) >> kTickBits); }
    void taken(std::int64_t now, std::uint32_t bytes, bool last) {
        free_ = std::max(free_, ticks(now)) + link_.time(bytes) + (last ? link_.time(link_.overhead()) : 0);
    }

  private:
    Link link_;
    Ticks ahead_;
    Ticks free_ = 0;
};

}  // namespace penstock::engine
