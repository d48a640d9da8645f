// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// What all parts of the model of pst_edfr share: its parameters, what a frame and a chunk are without their bytes, masks of classes, FIFOs.
//
// Each part has the registers of its module. In a cycle first all outputs are asked for, then each part is clocked with what was handed
// over; clock() returns whether anything in it has changed: a cycle in which nothing has, at the same inputs, is followed by one just like
// it.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace penstock {

// Parameters of pst_edfr.
struct EdfrSettings {
    uint32_t classes = 64;
    bool class_from_user = false;
    uint32_t chunk_beats = 64;
    uint32_t chunks = 4096;
    uint32_t places = 4, lines = 16, reads = 16, writes = 16, decided = 4;
    uint32_t min_frame_bytes = 60, max_frame_bytes = 9600;
    uint32_t store_beats = 512;
    uint32_t tick_cycles = 3052;
    std::vector<uint32_t> stamps;  // of each class; empty: 64
    uint32_t default_cycles = 100'000;
    bool no_deadlines = false;                          // time stands still: nothing is over
    bool arrived_given = false;                         // frames wait from the cycle that stands beside them
    uint32_t columns = 1, column = 0, run_frames = 16;  // of a wide port that this is a column of; 1: it is none

    static constexpr uint32_t kBeatUnits = 8, kUnitBytes = 8, kBeatBytes = 64;
    uint32_t room() const { return (chunk_beats - 1) * kBeatUnits; }
    // Chunks that the longest frame can reach into, the one that it begins in not counted.
    uint32_t further() const { return ((max_frame_bytes + kUnitBytes - 1) / kUnitBytes + room() - 1) / room(); }

    // Throws std::invalid_argument, as elaboration does.
    void check() const {
        const auto need = [](bool good, const char* what) {
            if (!good) throw std::invalid_argument(std::string("a deadline port has ") + what);
        };
        need(classes >= 2 && classes <= 256, "2 to 256 classes");
        need(chunk_beats >= 8 && chunk_beats <= 64 && std::has_single_bit(chunk_beats), "chunks of 8, 16, 32 or 64 beats");
        need(chunks <= 1u << 20 && chunks >= 2 * classes + 2 * (further() + 1), "up to 2^20 chunks, and enough for its classes");
        need(places >= 2 && places <= 16 && std::has_single_bit(places), "2, 4, 8 or 16 places of a class");
        need(places >= further() + 1, "places that hold the longest frame");
        need(lines >= 4 && lines <= 64 && std::has_single_bit(lines), "4, 8, 16, 32 or 64 headers of a class at hand");
        need(reads >= 2 && reads <= 64 && decided >= 2 && decided <= 64 && writes >= 2,
             "2 to 64 reads and decided frames, 2 writes or more");
        need(min_frame_bytes >= 8 && max_frame_bytes >= 64 && max_frame_bytes <= 65535 && min_frame_bytes <= max_frame_bytes,
             "frames of 8 byte at least to 64..65535");
        need(store_beats >= 2 && std::has_single_bit(store_beats) && store_beats * kBeatBytes >= max_frame_bytes,
             "an intake that holds the longest frame, a power of two of beats");
        need(tick_cycles > classes, "a tick that is longer than a round");
        need(stamps.empty() || stamps.size() == classes, "a number of stamps for each class");
        for (const uint32_t size : stamps) need(size >= 2 && size < 65536, "2 to 65535 stamps of a class");
        need(default_cycles < 1u << 30, "default waits below 2^30 cycles");
    }
};

// A frame without its bytes. Times are cycles since reset; the hardware has them modulo 2^32.
struct EdfrFrame {
    uint64_t number = 0;  // of its user: the model carries it, the hardware does not have it
    int64_t deadline = 0;
    uint32_t bytes = 0;
    uint16_t user = 0;
};

struct EdfrCount {
    uint32_t frames = 0;
    uint64_t bytes = 0;
};

// meta_t, and the headers that follow it. Serials are those of the hardware, but count on beyond 2^24.
struct EdfrChunk {
    bool open = false;  // the last frame in it goes on in the next chunk
    EdfrCount before;   // of the class, in chunks before this one
    uint32_t data_units = 0;
    std::vector<EdfrFrame> frames;  // that begin here

    uint32_t headers() const { return (static_cast<uint32_t>(frames.size()) + EdfrSettings::kBeatUnits) / EdfrSettings::kBeatUnits; }
    uint32_t beats() const { return headers() + (data_units + EdfrSettings::kBeatUnits - 1) / EdfrSettings::kBeatUnits; }
};

// stamp_t
struct EdfrStamp {
    int64_t serial = -1;
    uint32_t number = 0, previous = 0;
    EdfrCount before;
};

// A bit for each class.
struct EdfrMask {
    static constexpr uint32_t kWords = 4;
    std::array<uint64_t, kWords> word{};

    bool operator[](uint32_t c) const { return word[c / 64] >> c % 64 & 1; }
    void set(uint32_t c) { word[c / 64] |= uint64_t{1} << c % 64; }
    void clear(uint32_t c) { word[c / 64] &= ~(uint64_t{1} << c % 64); }
    void put(uint32_t c, bool to) { to ? set(c) : clear(c); }
    bool any() const { return (word[0] | word[1] | word[2] | word[3]) != 0; }
    bool operator==(const EdfrMask&) const = default;
    EdfrMask operator&(const EdfrMask& b) const {
        return with(b, [](uint64_t x, uint64_t y) { return x & y; });
    }
    EdfrMask operator|(const EdfrMask& b) const {
        return with(b, [](uint64_t x, uint64_t y) { return x | y; });
    }
    // a and not b
    EdfrMask operator-(const EdfrMask& b) const {
        return with(b, [](uint64_t x, uint64_t y) { return x & ~y; });
    }
    // The first behind `last`, or of all. There is one.
    uint32_t next(int last) const {
        const auto from = static_cast<uint32_t>(last + 1);
        for (uint32_t w = from / 64; w < kWords; ++w) {
            const uint64_t left = w == from / 64 ? word[w] >> from % 64 << from % 64 : word[w];
            if (left) return w * 64 + static_cast<uint32_t>(std::countr_zero(left));
        }
        for (uint32_t w = 0; w < kWords; ++w)
            if (word[w]) return w * 64 + static_cast<uint32_t>(std::countr_zero(word[w]));
        return 0;
    }
    template <typename Each>
    void each(Each&& each) const {
        for (uint32_t w = 0; w < kWords; ++w)
            for (uint64_t left = word[w]; left; left &= left - 1) each(w * 64 + static_cast<uint32_t>(std::countr_zero(left)));
    }

  private:
    template <typename How>
    EdfrMask with(const EdfrMask& b, How&& how) const {
        EdfrMask to;
        for (uint32_t w = 0; w < kWords; ++w) to.word[w] = how(word[w], b.word[w]);
        return to;
    }
};

// pst_deadline_pick
struct EdfrPick {
    int last = -1;
    uint32_t choose(const EdfrMask& request) const { return request.next(last); }
};

// A queue in memory that is given once, or grows.
template <typename T>
class EdfrRing {
  public:
    explicit EdfrRing(uint32_t size = 8) : items_(std::bit_ceil(std::max(size, 2u))) {}
    bool empty() const { return head_ == tail_; }
    uint32_t size() const { return tail_ - head_; }
    T& front() { return items_[head_ & (items_.size() - 1)]; }
    const T& front() const { return items_[head_ & (items_.size() - 1)]; }
    T& push(T item) {
        if (size() == items_.size()) grow();
        T& at = items_[tail_++ & (items_.size() - 1)];
        at = std::move(item);
        return at;
    }
    // The same, with what stood in that place before: a vector keeps its memory.
    T& push_place() {
        if (size() == items_.size()) grow();
        return items_[tail_++ & (items_.size() - 1)];
    }
    void pop() { ++head_; }

  private:
    void grow() {
        std::vector<T> more(2 * items_.size());
        const uint32_t count = size();
        for (uint32_t i = 0; i < count; ++i) more[i] = std::move(items_[(head_ + i) & (items_.size() - 1)]);
        items_ = std::move(more);
        head_ = 0;
        tail_ = count;
    }
    std::vector<T> items_;
    uint32_t head_ = 0, tail_ = 0;
};

// pst_fifo
template <typename T>
class EdfrFifo {
  public:
    explicit EdfrFifo(uint32_t depth) : depth_(depth), ring_(depth) {}
    bool ready() const { return ring_.size() < depth_; }
    bool valid() const { return !ring_.empty(); }
    uint32_t level() const { return ring_.size(); }
    T& front() { return ring_.front(); }
    const T& front() const { return ring_.front(); }
    void push(T item) {
        if (!ready()) throw std::logic_error("a FIFO of the deadline port's model runs over");
        ring_.push(std::move(item));
    }
    void pop() { ring_.pop(); }

  private:
    uint32_t depth_;
    EdfrRing<T> ring_;
};

// pst_ram_fifo, without its words: three cycles from a commit to the output, two words outside of the depth.
class EdfrRamFifoState {
  public:
    explicit EdfrRamFifoState(uint32_t depth) : depth_(depth) {}
    bool ready() const { return committed_ + open_ != depth_; }
    bool overrun() const { return open_ == depth_; }
    bool valid() const { return out_; }
    bool clock(bool m_ready, bool push, bool commit, bool rewind) {
        const bool advance = fetched_ && (!out_ || m_ready), read = committed_ != 0 && (!fetched_ || advance);
        const bool changed = advance || read || (out_ && m_ready) || push || rewind;
        if (!changed) return false;
        push = push && ready() && !rewind;
        out_ = advance || (out_ && !m_ready);
        fetched_ = read || (fetched_ && !advance);
        committed_ -= read;
        open_ += push;
        if (push && commit) {
            committed_ += open_;
            open_ = 0;
        }
        if (rewind) open_ = 0;
        return true;
    }

  private:
    uint32_t depth_, committed_ = 0, open_ = 0;
    bool fetched_ = false, out_ = false;
};

// The same with them, each committed as it comes.
template <typename T>
class EdfrRamFifo {
  public:
    explicit EdfrRamFifo(uint32_t depth) : state_(depth) {}
    bool ready() const { return state_.ready(); }
    bool valid() const { return state_.valid(); }
    const T& front() const { return words_.front(); }
    bool clock(bool m_ready, const T* in) {
        const bool leaves = valid() && m_ready, room = ready();
        if (in && room) words_.push(*in);
        if (leaves) words_.pop();
        return state_.clock(m_ready, in != nullptr, true, false);
    }

  private:
    EdfrRamFifoState state_;
    EdfrRing<T> words_;
};

}  // namespace penstock
