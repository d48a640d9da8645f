// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Bits of packets, most significant first.
#pragma once

#include <cstdint>
#include <cstring>

namespace penstock::p4 {

inline std::uint64_t big_endian(const std::uint8_t* bytes) {
    std::uint64_t value;
    std::memcpy(&value, bytes, 8);
    return __builtin_bswap64(value);
}

// Up to 64 bits from bit `offset` on. Nine bytes from there may be read.
inline std::uint64_t read_bits(const std::uint8_t* bytes, std::uint64_t offset, unsigned bits) {
    bytes += offset / 8;
    const unsigned skip = offset % 8;
    std::uint64_t value = big_endian(bytes) << skip;
    if (bits + skip > 64) value |= bytes[8] >> (8 - skip);
    return value >> (64 - bits);
}

// A field of any width, in words, least significant first.
inline void read_words(const std::uint8_t* bytes, std::uint64_t offset, unsigned bits, std::uint64_t* words) {
    while (bits > 64) {
        bits -= 64;
        *words++ = read_bits(bytes, offset + bits, 64);
    }
    *words = read_bits(bytes, offset, bits);
}

class BitWriter {
  public:
    explicit BitWriter(std::uint8_t* to) : to_(to) {}

    void put(std::uint64_t value, unsigned bits) {  // 1 to 64 bits, nothing above them
        kept_ = kept_ << bits | value;
        for (have_ += bits; have_ >= 8; have_ -= 8) *to_++ = static_cast<std::uint8_t>(kept_ >> (have_ - 8));
    }
    void put_words(const std::uint64_t* words, unsigned bits) {
        const unsigned top = (bits - 1) % 64 + 1;
        unsigned i = (bits - 1) / 64;
        put(words[i], top);
        while (i-- > 0) put(words[i], 64);
    }
    // Fills the last byte with zeros; returns what comes after it.
    std::uint8_t* done() {
        if (have_) put(0, 8 - have_);
        return to_;
    }
    unsigned pending() const { return have_; }

  private:
    std::uint8_t* to_;
    unsigned __int128 kept_ = 0;
    unsigned have_ = 0;
};

}  // namespace penstock::p4
