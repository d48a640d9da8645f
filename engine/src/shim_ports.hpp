// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Elements of packed arrays at the ports of a verilated model. Depending on the total width Verilator makes such a
// port a plain integer (up to 64 bits) or an array of 32-bit words; these functions do not care which.
#pragma once

#include <verilated.h>

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace penstock::shim {

template <typename Port>
inline constexpr bool kIsWide = !std::is_integral_v<Port>;

// Element `index` of an array of `Width`-bit elements, Width 1..64.
template <unsigned Width, typename Port>
inline std::uint64_t element(const Port& port, unsigned index) {
    constexpr std::uint64_t mask = Width >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << (Width % 64)) - 1;
    if constexpr (kIsWide<Port>) {
        const unsigned bit = index * Width;
        const unsigned last = (bit + Width - 1) / 32;
        std::uint64_t value = port[bit / 32] >> (bit % 32);
        for (unsigned word = bit / 32 + 1, shift = 32 - bit % 32; word <= last; ++word, shift += 32)
            value |= static_cast<std::uint64_t>(port[word]) << shift;
        return value & mask;
    } else {
        return static_cast<std::uint64_t>(port) >> (index * Width) & mask;
    }
}

// Sets element `index` of an array of 1-bit or 2-bit elements.
template <unsigned Width, typename Port>
inline void set_element(Port& port, unsigned index, unsigned value) {
    static_assert(!kIsWide<Port> && Width < 8);
    constexpr unsigned mask = (1U << Width) - 1;
    port = static_cast<Port>((port & ~(mask << (index * Width))) | (value & mask) << (index * Width));
}

// Sets element `index` of an array of elements of up to 32 bits.
template <unsigned Width, typename Port>
inline void set_word(Port& port, unsigned index, std::uint64_t value) {
    static_assert(Width <= 32);
    constexpr std::uint64_t mask = (std::uint64_t{1} << Width) - 1;
    const unsigned bit = index * Width;
    if constexpr (kIsWide<Port>) {
        const std::uint64_t wide = mask << (bit % 32), bits = (value & mask) << (bit % 32);
        port[bit / 32] = static_cast<std::uint32_t>((port[bit / 32] & ~wide) | bits);
        if (wide >> 32) port[bit / 32 + 1] = static_cast<std::uint32_t>((port[bit / 32 + 1] & ~(wide >> 32)) | bits >> 32);
    } else {
        port = static_cast<Port>((static_cast<std::uint64_t>(port) & ~(mask << bit)) | (value & mask) << bit);
    }
}

// 512-bit elements.
template <typename Port>
inline void read_beat(const Port& port, unsigned index, std::uint32_t* to) {
    std::memcpy(to, port.data() + 16 * index, 64);
}

template <typename Port>
inline void write_beat(Port& port, unsigned index, const std::uint32_t* from) {
    std::memcpy(port.data() + 16 * index, from, 64);
}

}  // namespace penstock::shim
