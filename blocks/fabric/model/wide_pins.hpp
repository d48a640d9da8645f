// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Bits of a verilated port, whatever its width (Verilator makes integers of up to 64 bits, arrays of words beyond).
#pragma once

#include <cstdint>
#include <type_traits>

namespace penstock {

// Up to 32 bits of `port` from bit `from` on.
template <class Port>
uint32_t get_bits(const Port& port, uint32_t from, uint32_t width) {
    const uint64_t mask = (uint64_t{1} << width) - 1;
    if constexpr (std::is_integral_v<Port>) {
        return static_cast<uint64_t>(port) >> from & mask;
    } else {
        uint64_t word = port[from / 32];
        if (from % 32 + width > 32) word |= uint64_t{port[from / 32 + 1]} << 32;
        return word >> from % 32 & mask;
    }
}

template <class Port>
void put_bits(Port& port, uint32_t from, uint32_t width, uint64_t value) {
    const uint64_t mask = (uint64_t{1} << width) - 1;
    value &= mask;
    if constexpr (std::is_integral_v<Port>) {
        port = (static_cast<uint64_t>(port) & ~(mask << from)) | value << from;
    } else {
        const uint32_t at = from / 32, shift = from % 32;
        port[at] = (port[at] & ~(mask << shift)) | value << shift;
        if (shift + width > 32) port[at + 1] = (port[at + 1] & ~(mask >> (32 - shift))) | value >> (32 - shift);
    }
}

// A payload of `width` bits that is made from `id`, at element `index` of a packed array.
inline uint32_t payload_word(uint64_t id, uint32_t word) {
    uint64_t x = id + 0x9e3779b97f4a7c15ull * word;
    if (word) {  // the first words are the id itself
        x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
        x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    }
    return static_cast<uint32_t>(word ? x >> 32 : x);
}

template <class Port>
void put_payload(Port& port, uint32_t index, uint32_t width, uint64_t id) {
    for (uint32_t bit = 0; bit < width; bit += 32) {
        put_bits(port, index * width + bit, width - bit < 32 ? width - bit : 32, payload_word(id, bit / 32));
    }
}

template <class Port>
bool is_payload(const Port& port, uint32_t index, uint32_t width, uint64_t id) {
    for (uint32_t bit = 0; bit < width; bit += 32) {
        const uint32_t some = width - bit < 32 ? width - bit : 32, expected = payload_word(id, bit / 32);
        if (get_bits(port, index * width + bit, some) != (some < 32 ? expected & ((1u << some) - 1) : expected)) return false;
    }
    return true;
}

}  // namespace penstock
