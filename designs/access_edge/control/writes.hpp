// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Register words of many rows, made into as few writes as it takes (programs.py says how).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
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

// Makes the programs of changes (programs.py says how), and knows what the device's setting registers hold.
class Changes {
  public:
    // Registers of a row, the one that steps first, and for each of the others its column in the rows of settings (the last ones of a
    // subscriber, which have none, take its node).
    struct Layout {
        std::vector<Column> columns;
        std::vector<std::size_t> settings;
    };
    // Rows of words, `columns` each, by number.
    struct Rows {
        std::span<const std::uint32_t> words;
        std::size_t columns;
        std::span<const std::uint32_t> row(std::int64_t number) const;  // throws std::out_of_range
    };
    // What is in force: numbers of settings by queue and by subscriber (negative: it has none), and the node of each subscriber.
    struct InForce {
        std::span<const std::int32_t> queues, subscribers, nodes;
        Rows queue_rows, subscriber_rows;
    };

    Changes(Layout queue, Layout subscriber, std::uint32_t execute)
        : queue_(std::move(queue)), subscriber_(std::move(subscriber)), execute_(execute) {}

    // Nothing is known of the registers: something else has written them.
    void forget() { held_.clear(); }
    // The writes that give each row (of queues, or of subscribers) its words, its index first.
    Writes rows(bool of_queues, std::span<const std::uint32_t> values);
    // The writes that bring what is in force at some places, in their order, to the device: subscribers, then their `each` queues. Throws
    // std::out_of_range.
    Writes of(std::span<const std::uint32_t> places, std::size_t each, const InForce& what);

  private:
    Layout queue_, subscriber_;
    std::uint32_t execute_;
    std::unordered_map<std::uint32_t, std::int64_t> held_;  // by address: what was written last
};

}  // namespace penstock::control
