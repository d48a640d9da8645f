// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Integers of n words, least significant first. The result may be one of the operands.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace penstock::p4::wide {

using Word = std::uint64_t;
using Twice = unsigned __int128;
constexpr unsigned kMost = 64;

inline void add(Word* d, const Word* a, const Word* b, unsigned n) {
    Twice carry = 0;
    for (unsigned i = 0; i < n; ++i) {
        carry += Twice{a[i]} + b[i];
        d[i] = static_cast<Word>(carry);
        carry >>= 64;
    }
}

inline void sub(Word* d, const Word* a, const Word* b, unsigned n) {
    Word borrow = 0;
    for (unsigned i = 0; i < n; ++i) {
        const Twice taken = Twice{a[i]} - b[i] - borrow;
        d[i] = static_cast<Word>(taken);
        borrow = static_cast<Word>(taken >> 64) & 1;
    }
}

inline void mul(Word* d, const Word* a, const Word* b, unsigned n) {
    Word product[kMost] = {};
    for (unsigned i = 0; i < n; ++i) {
        Twice carry = 0;
        for (unsigned j = 0; i + j < n; ++j) {
            carry += Twice{a[i]} * b[j] + product[i + j];
            product[i + j] = static_cast<Word>(carry);
            carry >>= 64;
        }
    }
    std::memcpy(d, product, n * sizeof(Word));
}

inline void shl(Word* d, const Word* a, Word amount, unsigned n) {
    const Word whole = amount / 64;
    const unsigned bits = amount % 64;
    for (unsigned i = n; i-- > 0;) {
        const Word upper = i >= whole ? a[i - whole] : 0;
        const Word lower = i > whole ? a[i - whole - 1] : 0;
        d[i] = bits ? upper << bits | lower >> (64 - bits) : upper;
    }
}

inline void shr(Word* d, const Word* a, Word amount, unsigned n, bool is_signed) {
    const Word fill = is_signed && a[n - 1] >> 63 ? ~Word{0} : 0;
    const Word whole = std::min<Word>(amount / 64, n);
    const unsigned bits = amount / 64 >= n ? 0 : amount % 64;
    for (unsigned i = 0; i < n; ++i) {
        const Word lower = i + whole < n ? a[i + whole] : fill;
        const Word upper = i + whole + 1 < n ? a[i + whole + 1] : fill;
        d[i] = bits ? lower >> bits | upper << (64 - bits) : lower;
    }
}

inline int compare(const Word* a, const Word* b, unsigned n, bool is_signed) {
    if (is_signed && (a[n - 1] ^ b[n - 1]) >> 63) return a[n - 1] >> 63 ? -1 : 1;
    for (unsigned i = n; i-- > 0;)
        if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
    return 0;
}

// Quotient or remainder of unsigned numbers, bit by bit; 0 if b is 0.
inline void divide(Word* d, const Word* a, const Word* b, unsigned n, bool remainder) {
    Word quotient[kMost] = {}, rest[kMost] = {};
    const bool zero = std::all_of(b, b + n, [](Word word) { return word == 0; });
    for (unsigned bit = zero ? 0 : n * 64; bit-- > 0;) {
        shl(rest, rest, 1, n);
        rest[0] |= a[bit / 64] >> bit % 64 & 1;
        if (compare(rest, b, n, false) < 0) continue;
        sub(rest, rest, b, n);
        quotient[bit / 64] |= Word{1} << bit % 64;
    }
    std::memcpy(d, remainder ? rest : quotient, n * sizeof(Word));
}

// The `have` words of a, whose bit `bits` - 1 is the sign, in n words.
inline void extend(Word* d, const Word* a, unsigned bits, unsigned have, unsigned n) {
    const unsigned last = (bits - 1) / 64, top = (bits - 1) % 64;
    const Word fill = a[last] >> top & 1 ? ~Word{0} : 0;
    const Word edge = top == 63 ? a[last] : (a[last] & ((Word{2} << top) - 1)) | (fill << top << 1);
    for (unsigned i = 0; i < n; ++i) d[i] = i < last && i < have ? a[i] : i == last ? edge : fill;
}

// The `have` words of a in n words.
inline void widen(Word* d, const Word* a, unsigned have, bool is_signed, unsigned n) {
    const Word fill = is_signed && a[have - 1] >> 63 ? ~Word{0} : 0;
    for (unsigned i = 0; i < n; ++i) d[i] = i < have ? a[i] : fill;
}

}  // namespace penstock::p4::wide
