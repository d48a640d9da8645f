// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Register words of many rows, made into as few writes as it takes (programs.py says how).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace penstock::control {

// One register: a word for each row.
struct Column {
    std::uint32_t address;
    bool executes;  // written `execute` above its address, it sets what it is of
    bool steps;     // the hardware adds one to it after each row; the first column does, and no other
};

// Kinds of a carrier's accesses (src/penstock/driver/carrier.py).
constexpr std::uint32_t kWrite = 0, kRead = 1;

struct Writes {
    std::vector<std::uint32_t> accesses;  // four words each: the writes, and a read of the first column behind each run of neighbours
    std::vector<std::uint32_t> ends;      // what these reads must read
    std::size_t writes = 0;
};

// `values`: the words, a row after the other. `held`: what each register is known to hold, -1 where that is not known; it is brought up to
// what it holds afterwards, but for the column that steps.
Writes make_writes(std::span<const Column> columns, std::span<const std::uint32_t> values, std::uint32_t execute,
                   std::span<std::int64_t> held);

}  // namespace penstock::control
