// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The entries of a table, and how they are found: by hash (exact), by the hash of each prefix length or by intervals (lpm), by intervals or
// in the order of priority (ternary, range). A lower number is a higher priority; of equal ones the older entry wins.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "designs/p4_switch/model/machine/meter.hpp"
#include "designs/p4_switch/model/machine/program.hpp"

namespace penstock::p4 {

struct Entry : EntrySettings {
    std::uint32_t handle = 0;
    std::int32_t next = -1;
    std::uint64_t packets = 0, bytes = 0;
    Meter meter;
};

class MatchTable {
  public:
    explicit MatchTable(const TableShape& shape);

    // Adds an entry; throws std::invalid_argument when the table is full or has one with the same key.
    std::uint32_t add(EntrySettings settings);
    void remove(std::uint32_t handle);
    Entry* entry(std::uint32_t handle);  // null: there is none
    void clear();
    void default_entry(EntrySettings settings);  // its action and data, or its member of an action profile

    // The entry of a key, null if none. The key has as many words as the shape.
    Entry* find(const std::uint64_t* key) {
        if (stale_) rebuild();
        switch (way_) {
            case Way::Empty:
                return nullptr;
            case Way::Hash:
                return find_hash(key);
            case Way::Intervals:
                return find_interval(key[0]);
            case Way::Prefixes:
                return find_prefix(key);
            case Way::List:
                return find_list(key);
        }
        return nullptr;
    }

    const TableShape& shape() const { return *shape_; }
    const Entry& otherwise() const { return otherwise_; }
    std::size_t size() const { return used_; }
    template <typename F>
    void each(F&& what) {
        for (auto& found : entries_)
            if (found) what(*found);
    }

  private:
    enum class Way { Empty, Hash, Intervals, Prefixes, List };
    struct HashTable {
        std::vector<std::uint64_t> mask;  // of each word of the key
        std::vector<Entry*> slots;        // a power of two, half full at most
        std::uint32_t prefix = 0;
    };

    void rebuild();
    bool as_intervals();
    std::uint64_t hash(const std::uint64_t* key, const std::uint64_t* mask) const;
    void into(HashTable& table, Entry* entry);
    Entry* probe(const HashTable& table, const std::uint64_t* key) const;
    Entry* find_hash(const std::uint64_t* key) const { return probe(hashes_[0], key); }
    Entry* find_prefix(const std::uint64_t* key) const;
    Entry* find_interval(std::uint64_t key) const;
    Entry* find_list(const std::uint64_t* key) const;
    std::uint32_t room();
    std::vector<std::uint64_t> whole_key(const EntrySettings& settings) const;

    const TableShape* shape_;
    unsigned words_;
    std::vector<std::unique_ptr<Entry>> entries_;  // by handle
    std::vector<std::uint32_t> free_;
    std::size_t used_ = 0;
    std::set<std::vector<std::uint64_t>> keys_;  // of all entries
    Entry otherwise_;
    bool stale_ = true;
    Way way_ = Way::Empty;
    std::vector<HashTable> hashes_;
    std::vector<std::uint64_t> starts_;  // of the intervals
    std::vector<Entry*> best_;
    std::vector<Entry*> ordered_;
    std::vector<std::uint64_t> flat_;  // low and high of `ordered_`
};

}  // namespace penstock::p4
