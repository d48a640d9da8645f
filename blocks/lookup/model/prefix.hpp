// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Software's side of pst_lookup_prefix: the words of its search tree for a set of prefixes; and the tree as the hardware walks it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace penstock {

using PrefixKey = unsigned __int128;

namespace prefix_timing {
inline constexpr std::uint32_t latency(std::uint32_t levels) { return 2 * levels + 1; }
}  // namespace prefix_timing

struct Prefix {
    PrefixKey bits = 0;  // of a whole key; those behind the length are 0
    std::uint32_t length = 0;
    std::uint32_t value = 0;
};

class PrefixTree {
  public:
    // Raises invalid_argument for more prefixes than fit, a length above the key's, bits behind a length, or a prefix that is there twice.
    PrefixTree(const std::vector<Prefix>& prefixes, std::uint32_t key_bits, std::uint32_t levels)
        : key_bits_(key_bits), levels_(levels), intervals_(std::size_t{1} << 2 * levels) {
        std::map<PrefixKey, std::optional<std::uint32_t>> starts;  // of intervals, and their values
        starts[0] = std::nullopt;
        std::vector<Prefix> sorted = prefixes;
        std::sort(sorted.begin(), sorted.end(),
                  [](const Prefix& a, const Prefix& b) { return a.length != b.length ? a.length < b.length : a.bits < b.bits; });
        for (std::size_t i = 0; i < sorted.size(); i++) {
            const Prefix& prefix = sorted[i];
            if (prefix.length > key_bits) throw std::invalid_argument("a prefix is longer than a key");
            const PrefixKey size = PrefixKey{1} << (key_bits - prefix.length);
            if (prefix.bits & (size - 1)) throw std::invalid_argument("a prefix has bits behind its length");
            if (i > 0 && sorted[i - 1].length == prefix.length && sorted[i - 1].bits == prefix.bits)
                throw std::invalid_argument("a prefix is there twice");
            // A shorter one was there before: all that begins within this prefix belongs to it, and behind it goes on what was.
            const PrefixKey end = prefix.bits + size;
            if (end >> key_bits == 0 && !starts.count(end)) starts[end] = std::prev(starts.upper_bound(end))->second;
            starts.erase(starts.lower_bound(prefix.bits), end >> key_bits ? starts.end() : starts.find(end));
            starts[prefix.bits] = prefix.value;
        }
        if (starts.size() > intervals_) throw std::invalid_argument("there are more prefixes than the tree has room for");
        const PrefixKey last = (PrefixKey{1} << key_bits) - 1;
        for (const auto& [start, value] : starts) {
            starts_.push_back(start);
            values_.push_back(value);
        }
        starts_.resize(intervals_, last);  // the largest key may get there: it has the value of the last interval
        values_.resize(intervals_, values_.back());
    }

    std::uint32_t levels() const { return levels_; }
    std::size_t nodes(std::uint32_t level) const { return std::size_t{1} << 2 * level; }

    // Separator 0, 1 or 2 of a node.
    PrefixKey separator(std::uint32_t level, std::size_t node, std::uint32_t number) const {
        const std::size_t below = std::size_t{1} << 2 * (levels_ - level - 1);  // intervals of a child
        return starts_[(node * 4 + number + 1) * below];
    }
    std::optional<std::uint32_t> value(std::size_t interval) const { return values_[interval]; }

    // As the hardware: down the tree.
    std::optional<std::uint32_t> find(PrefixKey key) const {
        std::size_t node = 0;
        for (std::uint32_t level = 0; level < levels_; level++) {
            std::size_t child = 0;
            for (std::uint32_t i = 0; i < 3; i++)
                if (key >= separator(level, node, i)) child = i + 1;
            node = node * 4 + child;
        }
        return values_[node];
    }

  private:
    std::uint32_t key_bits_, levels_;
    std::size_t intervals_;
    std::vector<PrefixKey> starts_;
    std::vector<std::optional<std::uint32_t>> values_;
};

// A bank as the hardware has it: what was written, whatever it is.
class PrefixBank {
  public:
    explicit PrefixBank(std::uint32_t levels = 1) : values_(std::size_t{1} << 2 * levels) {
        for (std::uint32_t level = 0; level < levels; level++) nodes_.emplace_back(std::size_t{1} << 2 * level);
    }

    void set_node(std::uint32_t level, std::size_t node, const std::array<PrefixKey, 3>& separators) { nodes_[level][node] = separators; }
    void set_value(std::size_t interval, std::optional<std::uint32_t> value) { values_[interval] = value; }

    std::optional<std::uint32_t> find(PrefixKey key) const {
        std::size_t node = 0;
        for (const auto& level : nodes_) {
            std::size_t child = 0;
            for (std::size_t i = 0; i < 3; i++)
                if (key >= level[node][i]) child = i + 1;
            node = node * 4 + child;
        }
        return values_[node];
    }

  private:
    std::vector<std::vector<std::array<PrefixKey, 3>>> nodes_;  // by level
    std::vector<std::optional<std::uint32_t>> values_;
};

}  // namespace penstock
