// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Sizes of pst_fq, its depths, and where a flow may have its flow queue.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace penstock {

struct FqSizes {
    std::uint32_t queues = 32768;
    std::uint32_t flows = 262144;
    std::uint32_t descriptors = 131072;
    std::uint32_t age_cycles = 64;
    std::uint32_t host_bits = 0;  // hosts of a queue that are told apart; 0: flows alone
};

namespace fq_timing {
inline constexpr std::uint32_t kFind = 4;         // cycles in which an enqueue finds its flow queue: e1 .. e4
inline constexpr std::uint32_t kFindDepth = 16;   // found, waiting for the pipeline
inline constexpr std::uint32_t kFindRoom = 8;     // at most so many when one more is taken
inline constexpr std::uint32_t kVisitDepth = 32;  // next visits, drops, releases
inline constexpr std::uint32_t kVisitRoom = 16;
inline constexpr std::uint32_t kOutDepth = 16;  // announcements, dropped packets
inline constexpr std::uint32_t kOutRoom = 8;
inline constexpr std::uint32_t kTakenDepth = 16;  // packets that left, waiting for their verdict
inline constexpr std::uint32_t kTakenRoom = 9;
inline constexpr std::uint32_t kGrant = 7;      // cycles from p3 of an operation to the p1 in which the flow's new grant is read
inline constexpr std::uint32_t kPatience = 64;  // cycles that the walk waits for a cycle without an enqueue
}  // namespace fq_timing

// Where a key may be: a bijection of keys for each of two tables.
class FqMap {
  public:
    static constexpr std::uint32_t kTables = 2, kWays = 7, kBucketBits = 10;

    struct Place {
        std::array<std::uint32_t, kTables> set{};
        std::uint32_t rest = 0;
    };

    explicit FqMap(const FqSizes& s)
        : queue_bits(bits_of(s.queues)), index_bits(bits_of(s.flows / 16)), rest_bits(queue_bits + kBucketBits - index_bits) {
        for (std::uint32_t t = 0; t < kTables; t++) {
            for (std::uint32_t i = 0; i < rest_bits; i++) column[t].push_back(word(2 * i + t + 1) & ((1u << index_bits) - 1));
        }
    }

    Place place(std::uint32_t queue, std::uint32_t bucket) const {
        const std::uint64_t key = std::uint64_t{bucket} << queue_bits | queue;
        const auto low = static_cast<std::uint32_t>(key & ((1u << index_bits) - 1));
        Place found;
        found.rest = static_cast<std::uint32_t>(key >> index_bits);
        for (std::uint32_t t = 0; t < kTables; t++) {
            found.set[t] = low;
            for (std::uint32_t i = 0; i < rest_bits; i++) {
                if (found.rest >> i & 1) found.set[t] ^= column[t][i];
            }
        }
        return found;
    }

    // A flow queue is {way, table, set}; the eighth way is the queues' own.
    std::uint32_t flow(std::uint32_t way, std::uint32_t table, std::uint32_t set) const { return (way * 2 + table) << index_bits | set; }
    std::uint32_t own(std::uint32_t queue) const { return kWays << (index_bits + 1) | queue; }
    std::uint32_t in_tables() const { return kWays << (index_bits + 1); }

    const std::uint32_t queue_bits, index_bits, rest_bits;
    std::array<std::vector<std::uint32_t>, kTables> column;

  private:
    static std::uint32_t bits_of(std::uint32_t count) { return static_cast<std::uint32_t>(std::bit_width(count - 1)); }

    static std::uint32_t word(std::uint32_t from) {
        std::uint32_t x = from * 0x9E37'79B9u;
        x ^= x >> 16;
        x *= 0x85EB'CA6Bu;
        x ^= x >> 13;
        x *= 0xC2B2'AE35u;
        return x ^ x >> 16;
    }
};

}  // namespace penstock
