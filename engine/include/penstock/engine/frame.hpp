// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// A frame as the engine handles it, and the bytes of a synthetic one.
#pragma once

#include <cstdint>
#include <cstring>

#include "penstock/engine/random.hpp"

namespace penstock::engine {

inline constexpr std::uint32_t kMaxFrameBytes = 65'535;

// Link time: 2^-28 cycles, so that a link's rate is right over a long run.
__extension__ typedef __int128 Ticks;
inline constexpr int kTickBits = 28;
inline constexpr Ticks ticks(std::int64_t cycle) { return Ticks{cycle} << kTickBits; }
inline constexpr std::int64_t cycle_ceil(Ticks t) { return static_cast<std::int64_t>((t + (Ticks{1} << kTickBits) - 1) >> kTickBits); }
// The last cycle of a run: a double has it to the cycle. Fourteen weeks at 500 MHz.
inline constexpr std::int64_t kMaxCycles = std::int64_t{1} << 52;

// Of a frame of which only the device says where it belongs.
inline constexpr std::uint32_t kAnyQueue = 0xFFFF'FFFE;

struct Frame {
    std::uint64_t number = 0;            // counts the frames of a run
    Ticks arrival = 0;                   // its first bit may be on the ingress link from here on
    const std::uint8_t* data = nullptr;  // `stored` bytes of it; the rest is synthetic
    std::uint32_t stored = 0;
    std::uint32_t queue = 0;
    std::uint32_t length = 0;   // bytes without queue-id prefix and FCS, at most kMaxFrameBytes
    bool error = false;         // arrives with its error flag set
    std::uint32_t address = 0;  // queue id that a synthetic frame shows: all copies of a frame show the same
    // sum_at not 0: the Internet checksum (RFC 1071) over the bytes from sum_from on stands there, two bytes; what `data` has in its place,
    // the sum of a pseudo-header, counts.
    std::uint16_t sum_from = 0, sum_at = 0;
};

// Puts the checksum where the frame wants one; one that ends before it has none.
inline void put_checksum(const Frame& frame, std::uint8_t* to) {
    if (frame.sum_at == 0 || frame.sum_at + 2U > frame.length) return;
    // Four words at a time in the order of this machine: the sum of swapped words is the swapped sum (RFC 1071, 2.(B)).
    std::uint64_t sum = 0, eight;
    std::uint32_t at = frame.sum_from;
    for (; at + 8 <= frame.length; at += 8) {
        std::memcpy(&eight, to + at, 8);
        sum += (eight & 0xFFFF'FFFF) + (eight >> 32);
    }
    eight = 0;
    if (at < frame.length) std::memcpy(&eight, to + at, frame.length - at);
    sum += (eight & 0xFFFF'FFFF) + (eight >> 32);
    while (sum >> 16) sum = (sum & 0xFFFF) + (sum >> 16);
    sum = (sum << 8 | sum >> 8) & 0xFFFF;
    const auto found = static_cast<std::uint16_t>(sum == 0xFFFF ? 0xFFFF : ~sum);  // of UDP a zero means: there is none (RFC 768)
    to[frame.sum_at] = static_cast<std::uint8_t>(found >> 8);
    to[frame.sum_at + 1] = static_cast<std::uint8_t>(found);
}

// Writes the `frame.length` bytes of the frame to `to`, which must have room for 8 more. Nothing needs to be remembered of a
// synthetic frame: its bytes follow from the seed, its number and its address. It starts like an Ethernet frame (addresses that
// are locally administered and hold the queue id, EtherType 0x88B5 for local experiments), the rest is noise.
inline void frame_bytes(const Frame& frame, std::uint64_t seed, std::uint8_t* to) {
    const std::uint32_t stored = frame.stored < frame.length ? frame.stored : frame.length;
    if (stored) std::memcpy(to, frame.data, stored);
    if (stored == frame.length) return put_checksum(frame, to);
    const std::uint64_t base = mix(seed ^ mix(frame.number + 1));
    std::uint32_t at = stored;
    for (; at % 8; ++at) to[at] = static_cast<std::uint8_t>(base >> (8 * (at % 8)));
    for (; at < frame.length; at += 8) {
        std::uint64_t word = base + (at + 8) * 0x9E37'79B9'7F4A'7C15;
        word ^= word >> 32;
        std::memcpy(to + at, &word, 8);
    }
    if (stored == 0 && frame.length >= 14) {
        const auto q = frame.address;
        const auto byte = [q](int shift) { return static_cast<std::uint8_t>(q >> shift); };
        const std::uint8_t header[14] = {0x02, 0x00,     byte(24), byte(16), byte(8), byte(0), 0x02,
                                         0x01, byte(24), byte(16), byte(8),  byte(0), 0x88,    0xB5};
        std::memcpy(to, header, sizeof header);
    }
    put_checksum(frame, to);
}

// A link of fixed rate. Every frame costs its bytes and a fixed overhead (on Ethernet 24: preamble, gap and FCS).
class Link {
  public:
    static constexpr double kLeastRate = 1;  // bit/s: then what fits into a buffer takes a number of cycles that fits into 64 bits

    // bps = 0: as fast as the bus; else at least kLeastRate.
    // `buffer_bytes`: of the buffer between link and device.
    Link(double bps, double clock_hz, std::uint32_t overhead_bytes, std::uint32_t buffer_bytes = 0)
        : per_byte_(bps > 0 ? 8.0 * clock_hz / bps * static_cast<double>(Ticks{1} << kTickBits) : 0.0),
          overhead_(overhead_bytes),
          buffer_(buffer_bytes) {}

    // Time that `bytes` take. On a slow line more ticks than 64 bits hold.
    Ticks time(std::uint32_t bytes) const {
        const double ticks = per_byte_ * bytes;
        return ticks < 0x1p62 ? Ticks{static_cast<std::int64_t>(ticks)} : static_cast<Ticks>(ticks);  // the first is faster
    }
    Ticks frame_time(std::uint32_t bytes) const { return time(bytes + overhead_); }
    std::uint32_t overhead() const { return overhead_; }
    std::uint32_t buffer() const { return buffer_; }

  private:
    double per_byte_;  // ticks; a double, because a rounded one would be a wrong rate on a long run
    std::uint32_t overhead_, buffer_;
};

}  // namespace penstock::engine
