// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Rx handler, memory fabric, guards, memories and tx handler without their data, cycle by cycle: for memories of which it is not known
// beforehand when they answer, as channels of DRAM. memory_timing.hpp has the same in closed form, for ideal memories. The names are those
// of the RTL (blocks/memory/rtl).
//
// Everything between two memories is a FIFO. A word leaves one cycle after it came at the earliest, one a cycle, and finds room where
// there was room at the beginning of the cycle.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "penstock/engine/dram_access.hpp"
#include "penstock/engine/memory_model.hpp"
#include "penstock/engine/memory_timing.hpp"
#include "penstock/engine/random.hpp"
#include "penstock/engine/ring.hpp"

namespace penstock::engine {

// A FIFO of the RTL, `Most` words deep unless less is said.
template <typename T, unsigned Most>
class Stage {
  public:
    explicit Stage(unsigned depth = Most) : depth_(depth) {}
    bool room(std::int64_t now) const { return items_.size() + (popped_ == now) < depth_; }
    bool valid(std::int64_t now) const { return !items_.empty() && items_.front().since < now; }
    bool empty() const { return items_.empty(); }
    T& front() { return items_.front().item; }
    void push(const T& item, std::int64_t now) { items_.push({item, now}); }
    void pop(std::int64_t now) {
        items_.pop();
        popped_ = now;
    }

  private:
    struct Item {
        T item;
        std::int64_t since;
    };
    Ring<Item, Most> items_;
    unsigned depth_;
    std::int64_t popped_ = INT64_MIN / 2;
};

// A memory's port, as in memory_model.hpp: ideal, or a channel of DRAM.
class SteppedPort {
  public:
    SteppedPort(const MemorySettings& settings, std::unique_ptr<DramAccess> dram, unsigned index, std::uint64_t seed);

    // As DramPort's; `cycle` counts from power-on, `now` is that of the run.
    void step(std::int64_t cycle, std::int64_t now);
    bool aw_ready() const { return !fault_.deaf && (dram_ ? dram_->aw_ready() : !gap_ && writes_.size() < kOutstanding); }
    bool w_ready() const { return !fault_.deaf && (dram_ ? dram_->w_ready() : !gap_ && !writes_.empty()); }
    bool ar_ready() const { return !fault_.deaf && (dram_ ? dram_->ar_ready() : !gap_ && reads_.size() < kOutstanding); }
    bool b_valid() const { return !fault_.mute && (dram_ ? dram_->b_valid() : !answers_.empty() && answers_.front() <= cycle_); }
    bool r_valid() const { return offered_; }
    // Of what is offered; write responses are always taken.
    bool b_error() const { return fault_.errors; }
    bool r_error() const { return error_; }
    bool idle() const { return dram_ ? dram_->idle() : writes_.empty() && reads_.empty() && answers_.empty(); }
    void take_aw(std::uint64_t address, std::uint32_t beats);
    void take_w();
    void take_ar(std::uint64_t address, std::uint32_t beats);
    void give_b();
    void give_r();

    MemoryCounts counts;

  private:
    static constexpr std::size_t kOutstanding = 64;
    struct Burst {
        std::int64_t ready;
        std::uint32_t left;
    };

    MemorySettings settings_;
    Random random_;
    std::unique_ptr<DramAccess> dram_;
    std::int64_t cycle_ = -1;
    Ring<std::uint32_t, 2 * kOutstanding> writes_;
    Ring<Burst, 2 * kOutstanding> reads_;
    Ring<std::int64_t, 2 * kOutstanding> answers_;
    bool gap_ = false, offered_ = false, error_ = false;
    MemoryFaultNow fault_;
};

// pst_memory_guard: what it has to know of a memory. Counts and lists are as they were at the beginning of a cycle.
class Guard {
  public:
    struct Burst {
        std::uint64_t address;
        std::uint32_t beats;
    };
    static constexpr unsigned kMost = memory_timing::kMostOutstanding;

    bool lost = false;
    unsigned aw_open = 0, w_open = 0;                       // writes without response: addresses and last beats taken
    Ring<std::uint32_t, 2 * kMost> noted;                   // beats of the writes that were offered to the memory and have not been sent
    Ring<std::uint32_t, 2 * kMost> owed;                    // of reads without their last beat
    std::uint32_t w_beat = 0, r_beat = 0;                   // of the first of these
    bool aw_held = false, ar_held = false, r_held = false;  // offered in the cycle before, or before the memory was lost, and not taken
    Burst aw{}, ar{};
    bool write_waiting = false, read_waiting = false;

    // The memory is lost, and still takes or gives something.
    bool has_late(const SteppedPort& port) const { return lost && (aw_held || ar_held || r_held || !noted.empty() || !port.idle()); }
    // Nothing happened for a while.
    void rest() { write_waited_ = read_waited_ = 0; }
    // At the end of a cycle.
    void step(std::uint32_t timeout) {
        if (timeout != 0 && (write_waited_ >= timeout || read_waited_ >= timeout)) lost = true;
        write_waited_ = write_waiting ? std::min(write_waited_ + 1, kMostWaited) : 0;
        read_waited_ = read_waiting ? std::min(read_waited_ + 1, kMostWaited) : 0;
    }
    void sent_beat() {
        if (++w_beat != noted.front()) return;
        w_beat = 0;
        noted.pop();
    }
    void got_beat() {
        if (++r_beat != owed.front()) return;
        r_beat = 0;
        owed.pop();
    }

  private:
    static constexpr std::uint64_t kMostWaited = 0xFFFF'FFFF;
    std::uint64_t write_waited_ = 0, read_waited_ = 0;
};

// A frame on its way to or from its page. `memory` < 0: it has none.
struct MemoryFrame {
    std::int32_t memory;
    std::uint32_t descriptor, length;
};

class SteppedMemory {
  public:
    // outstanding: frames, and bursts, under way in each direction at most.
    SteppedMemory(const std::vector<MemorySettings>& settings, const std::vector<PageLayout>& layout, unsigned outstanding,
                  std::uint64_t seed);

    // Cycle 0 of all other calls is so many cycles after power-on.
    void set_origin(std::int64_t cycles) { origin_ = cycles; }
    // Cycles that a memory may be waited for, from the next cycle on; 0: for ever.
    void set_timeout(std::uint32_t cycles) { timeout_ = cycles; }
    // Memories that are lost in the cycle that was stepped last, a bit each.
    std::uint32_t lost() const { return lost_; }
    // A frame without a page is reported before its data has been swallowed.
    bool busy() const {
        if (under_way_ != 0 || !jobs_.empty()) return true;
        if (lost_ == 0) return false;
        for (std::size_t m = 0; m < ports_.size(); ++m)
            if (guards_[m].has_late(ports_[m])) return true;
        return false;
    }
    // Whether the rx handler takes a grant, the tx handler a frame, in cycle `now`; after step(now).
    bool takes(std::int64_t now) const { return written_.room(now) && write_splitter_.free(); }
    bool fetches(std::int64_t now) const { return fetched_.room(now) && read_splitter_.free(); }
    void store(const MemoryFrame& frame, std::int64_t now);
    void fetch(const MemoryFrame& frame, std::int64_t now);
    // A cycle. Tells `hooks`: beat_taken(now), of the input buffer; stored(frame, from, failed): its enqueue is offered from `from` on, or
    // the memory has refused it; sent(frame, from, bytes, last, failed), which returns the cycle in which the output takes the beat that is
    // there from `from` on; unread(frame, from), the same of the word that stands for a frame that is not sent; page_read(frame, now): the
    // page has been read. enqueue_room(), refused_room(), page_room(): whether there was room for what is stored, for the page of a frame
    // that is refused, and for a page that has been read, at the beginning of the cycle.
    template <typename Hooks>
    void step(std::int64_t now, Hooks&& hooks);
    const MemoryCounts& counts(unsigned memory) const { return ports_[memory].counts; }

  private:
    struct Burst {
        std::int32_t memory;
        std::uint64_t address;  // of its memory
        std::uint32_t beats;
        bool last;  // of its frame
    };
    // pst_burst_splitter: three registers, the last of which holds a frame until its last burst has gone.
    class Splitter {
      public:
        bool free() const { return !page_.full; }
        void enter(const MemoryFrame& frame, std::int64_t now) { page_ = {true, now, frame}; }
        bool offers(std::int64_t now) const { return burst_.full && burst_.since < now; }
        Burst burst(const std::vector<PageLayout>& layout) const;
        // The burst that is offered is taken.
        void take(const Burst& burst);
        // After take().
        void step(std::int64_t now);

      private:
        struct Register {
            bool full = false;
            std::int64_t since = 0;
            MemoryFrame frame{};
        };
        Register page_, start_, burst_;
        std::uint32_t done_ = 0;  // beats of the frame in burst_ that have gone
    };

    // Bursts on their way to the memories: FIFO of the handler, skid buffer of the fabric, FIFO of each memory.
    struct Addresses {
        explicit Addresses(std::size_t memories) : port(memories) {}
        Stage<Burst, memory_timing::kSkid> handler, fabric;
        std::vector<Stage<Burst, memory_timing::kPortBursts>> port;
    };

    template <typename Hooks>
    void step_writes(std::int64_t now, Hooks& hooks);
    template <typename Hooks>
    void step_reads(std::int64_t now, Hooks& hooks);
    // A memory and its guard.
    void guard_write(std::size_t m, std::int64_t now);
    void guard_read(std::size_t m, std::int64_t now);

    std::vector<PageLayout> layout_;
    std::vector<SteppedPort> ports_;
    std::vector<Guard> guards_;
    unsigned outstanding_;
    std::uint32_t timeout_ = 0, lost_ = 0;
    std::int64_t last_step_ = INT64_MIN / 2;
    std::int64_t origin_ = 0;
    std::uint32_t under_way_ = 0;  // frames that have been taken, and are not yet enqueued or read

    // Writes.
    Splitter write_splitter_;
    Stage<MemoryFrame, memory_timing::kMostOutstanding> written_;  // u_order
    Stage<Burst, memory_timing::kJobs> jobs_;                      // u_jobs
    Stage<Burst, memory_timing::kMostOutstanding> pending_;        // u_pending
    Addresses write_addresses_;
    Stage<std::int32_t, memory_timing::kMostOutstanding> data_route_;
    std::uint32_t job_beats_ = 0;  // of the job at the head, taken
    struct Beat {
        bool last;  // of its burst
    };
    Stage<Beat, memory_timing::kSkid> handler_data_, fabric_data_;
    std::vector<Stage<Beat, memory_timing::kPortBeats>> port_data_;
    std::vector<Stage<bool, memory_timing::kMostOutstanding>> answers_;  // whether it is an error
    bool write_failed_ = false;                                          // a burst of the frame at the head of written_

    // Reads.
    Splitter read_splitter_;
    Stage<MemoryFrame, memory_timing::kMostOutstanding> fetched_;  // u_order
    Addresses read_addresses_;
    Stage<Burst, memory_timing::kMostOutstanding> read_route_;
    std::uint32_t route_beats_ = 0;                                  // of the burst at the head of read_route_, gone
    std::uint32_t handler_beats_ = 0;                                // of the frame at the head of fetched_, taken
    bool read_failed_ = false, read_skip_ = false;                   // a beat of it is an error; its first one was
    std::vector<Stage<bool, memory_timing::kPortBeats>> port_read_;  // whether it is an error
    Stage<bool, memory_timing::kSkid> fabric_read_;
    Past<memory_timing::kSkid> out_;  // when the beats in the handler's skid buffer leave it
};

template <typename Hooks>
void SteppedMemory::step(std::int64_t now, Hooks&& hooks) {
    lost_ = 0;
    for (std::size_t m = 0; m < ports_.size(); ++m) {
        ports_[m].step(now + origin_, now);
        if (last_step_ + 1 != now) guards_[m].rest();
        if (guards_[m].lost) lost_ |= 1U << m;
    }
    last_step_ = now;
    step_writes(now, hooks);
    step_reads(now, hooks);
    for (Guard& guard : guards_) guard.step(timeout_);
}

template <typename Hooks>
void SteppedMemory::step_writes(std::int64_t now, Hooks& hooks) {
    // From the last stage to the first; room is what there was before this cycle.
    if (pending_.valid(now)) {
        const Burst& burst = pending_.front();
        if ((burst.memory < 0 || answers_[burst.memory].valid(now)) &&
            (!burst.last || (hooks.enqueue_room() && (burst.memory < 0 || hooks.refused_room())))) {
            if (burst.memory >= 0) {
                write_failed_ |= answers_[burst.memory].front();
                answers_[burst.memory].pop(now);
            }
            if (burst.last) {
                hooks.stored(written_.front(), now + 1, write_failed_);
                write_failed_ = false;
                written_.pop(now);
                --under_way_;
            }
            pending_.pop(now);
        }
    }
    for (std::size_t m = 0; m < ports_.size(); ++m) guard_write(m, now);
    if (fabric_data_.valid(now) && data_route_.valid(now) && port_data_[data_route_.front()].room(now)) {
        const Beat beat = fabric_data_.front();
        port_data_[data_route_.front()].push(beat, now);
        fabric_data_.pop(now);
        if (beat.last) data_route_.pop(now);
    }
    if (write_addresses_.fabric.valid(now)) {
        const Burst burst = write_addresses_.fabric.front();
        auto& port = write_addresses_.port[burst.memory];
        if (port.room(now) && data_route_.room(now)) {
            port.push(burst, now);
            data_route_.push(burst.memory, now);
            write_addresses_.fabric.pop(now);
        }
    }
    if (handler_data_.valid(now) && fabric_data_.room(now)) {
        fabric_data_.push(handler_data_.front(), now);
        handler_data_.pop(now);
    }
    if (write_addresses_.handler.valid(now) && write_addresses_.fabric.room(now)) {
        write_addresses_.fabric.push(write_addresses_.handler.front(), now);
        write_addresses_.handler.pop(now);
    }
    if (jobs_.valid(now)) {
        const Burst& job = jobs_.front();
        if (job.memory < 0 || handler_data_.room(now)) {
            hooks.beat_taken(now);
            const bool last = ++job_beats_ == job.beats;
            if (job.memory >= 0) handler_data_.push({last}, now);
            if (last) {
                jobs_.pop(now);
                job_beats_ = 0;
            }
        }
    }
    if (write_splitter_.offers(now) && jobs_.room(now) && pending_.room(now) && write_addresses_.handler.room(now)) {
        const Burst burst = write_splitter_.burst(layout_);
        if (burst.memory >= 0) write_addresses_.handler.push(burst, now);
        jobs_.push(burst, now);
        pending_.push(burst, now);
        write_splitter_.take(burst);
    }
    write_splitter_.step(now);
}

template <typename Hooks>
void SteppedMemory::step_reads(std::int64_t now, Hooks& hooks) {
    if (fabric_read_.valid(now) && out_.oldest() < now && fetched_.valid(now) && hooks.page_room()) {
        const MemoryFrame frame = fetched_.front();
        const std::uint32_t beats = (frame.length + memory_timing::kBeatBytes - 1) / memory_timing::kBeatBytes;
        const bool error = fabric_read_.front();
        if (handler_beats_ == 0) read_skip_ = error;
        read_failed_ |= error;
        const bool last = ++handler_beats_ == beats;
        const std::uint32_t bytes = last ? frame.length - (beats - 1) * memory_timing::kBeatBytes : memory_timing::kBeatBytes;
        const std::int64_t from = std::max(now + 1, out_.last() + 1);
        if (!read_skip_)
            out_.push(hooks.sent(frame, from, bytes, last, read_failed_));
        else if (last)
            out_.push(hooks.unread(frame, from));
        if (last) read_failed_ = false;
        fabric_read_.pop(now);
        if (last) {
            handler_beats_ = 0;
            fetched_.pop(now);
            hooks.page_read(frame, now);
            --under_way_;
        }
    }
    if (read_route_.valid(now)) {
        const Burst& burst = read_route_.front();
        auto& port = port_read_[burst.memory];
        if (port.valid(now) && fabric_read_.room(now)) {
            fabric_read_.push(port.front(), now);
            port.pop(now);
            if (++route_beats_ == burst.beats) {
                route_beats_ = 0;
                read_route_.pop(now);
            }
        }
    }
    for (std::size_t m = 0; m < ports_.size(); ++m) guard_read(m, now);
    if (read_addresses_.fabric.valid(now)) {
        const Burst burst = read_addresses_.fabric.front();
        auto& port = read_addresses_.port[burst.memory];
        if (port.room(now) && read_route_.room(now)) {
            port.push(burst, now);
            read_route_.push(burst, now);
            read_addresses_.fabric.pop(now);
        }
    }
    if (read_addresses_.handler.valid(now) && read_addresses_.fabric.room(now)) {
        read_addresses_.fabric.push(read_addresses_.handler.front(), now);
        read_addresses_.handler.pop(now);
    }
    if (read_splitter_.offers(now) && read_addresses_.handler.room(now)) {
        const Burst burst = read_splitter_.burst(layout_);
        read_addresses_.handler.push(burst, now);
        read_splitter_.take(burst);
    }
    read_splitter_.step(now);
}

}  // namespace penstock::engine
