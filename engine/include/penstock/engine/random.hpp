// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Random numbers, so that one seed repeats a run to the bit: whole ones on every machine, exponential ones with one libm and compiler.
#pragma once

#include <cmath>
#include <cstdint>

namespace penstock::engine {

// Scrambles 64 bits; a bijection (the finaliser of SplitMix64).
constexpr std::uint64_t mix(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xBF58'476D'1CE4'E5B9;
    x = (x ^ (x >> 27)) * 0x94D0'49BB'1331'11EB;
    return x ^ (x >> 31);
}

// SplitMix64: 64 bits a call, period 2^64.
class Random {
  public:
    explicit Random(std::uint64_t seed, std::uint64_t stream = 0) : state_(mix(seed) ^ mix(stream + 0x632B'E59B'D9B4'E019)) {}

    std::uint64_t bits() { return mix(state_ += 0x9E37'79B9'7F4A'7C15); }
    // 0..limit-1; the bias is below limit / 2^32.
    std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>((bits() >> 32) * limit >> 32); }
    // True in `permille` of 1,000 calls.
    bool permille(std::uint32_t permille) { return below(1000) < permille; }
    // What the n-th call of permille() from here on will say, n from 1.
    bool permille_at(std::uint64_t n, std::uint32_t permille) const {
        return static_cast<std::uint32_t>((mix(state_ + n * 0x9E37'79B9'7F4A'7C15) >> 32) * 1000 >> 32) < permille;
    }
    // [0, 1)
    double uniform() { return static_cast<double>(bits() >> 11) * 0x1.0p-53; }
    // Exponential with the given mean.
    double exponential(double mean) { return -mean * std::log1p(-uniform()); }

  private:
    std::uint64_t state_;
};

}  // namespace penstock::engine
