// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "designs/p4_switch/model/machine/match_table.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace penstock::p4 {

namespace {

constexpr std::size_t kFewEntries = 8;  // up to which a list is as fast as anything

std::uint64_t mixed(std::uint64_t value) {
    value ^= value >> 32;
    value *= 0x9E3779B97F4A7C15u;
    return value ^ value >> 29;
}

}  // namespace

MatchTable::MatchTable(const TableShape& shape) : shape_(&shape), words_(static_cast<unsigned>(shape.key.size())) {
    otherwise_.next = shape.miss;
    if (shape.default_action >= 0) {
        EntrySettings settings;
        settings.action = shape.default_action;
        settings.data = shape.default_data;
        default_entry(std::move(settings));
    }
    for (const EntrySettings& settings : shape.entries) add(settings);
}

void MatchTable::default_entry(EntrySettings settings) {
    static_cast<EntrySettings&>(otherwise_) = std::move(settings);
    const auto found = shape_->next.find(otherwise_.action);
    otherwise_.next = found == shape_->next.end() ? shape_->miss : found->second.miss;
}

std::uint32_t MatchTable::room() {
    if (!free_.empty()) {
        const auto smallest = std::min_element(free_.begin(), free_.end());
        const std::uint32_t handle = *smallest;
        free_.erase(smallest);
        return handle;
    }
    entries_.emplace_back();
    return static_cast<std::uint32_t>(entries_.size() - 1);
}

std::vector<std::uint64_t> MatchTable::whole_key(const EntrySettings& settings) const {
    std::vector<std::uint64_t> key = settings.low;
    key.insert(key.end(), settings.high.begin(), settings.high.end());
    const bool ordered = shape_->kind == TableShape::Ternary || shape_->kind == TableShape::Range;
    if (ordered) key.push_back(static_cast<std::uint64_t>(settings.priority));
    return key;
}

std::uint32_t MatchTable::add(EntrySettings settings) {
    if (settings.low.size() != words_ || settings.high.size() != words_) throw std::invalid_argument("the key has a wrong length");
    if (used_ >= std::max<std::size_t>(shape_->size, shape_->entries.size())) throw std::invalid_argument("the table is full");
    if (!keys_.insert(whole_key(settings)).second) throw std::invalid_argument("the table has an entry with the same key");
    const std::uint32_t handle = room();
    auto made = std::make_unique<Entry>();
    static_cast<EntrySettings&>(*made) = std::move(settings);
    made->handle = handle;
    const auto found = shape_->next.find(made->action);
    made->next = found == shape_->next.end() ? shape_->miss : found->second.hit;
    entries_[handle] = std::move(made);
    ++used_;
    stale_ = true;
    return handle;
}

void MatchTable::remove(std::uint32_t handle) {
    if (!entry(handle)) throw std::invalid_argument("the table has no such entry");
    keys_.erase(whole_key(*entry(handle)));
    entries_[handle].reset();
    free_.push_back(handle);
    --used_;
    stale_ = true;
}

Entry* MatchTable::entry(std::uint32_t handle) { return handle < entries_.size() ? entries_[handle].get() : nullptr; }

void MatchTable::clear() {
    entries_.clear();
    free_.clear();
    keys_.clear();
    used_ = 0;
    stale_ = true;
}

std::uint64_t MatchTable::hash(const std::uint64_t* key, const std::uint64_t* mask) const {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < words_; ++i) value = mixed(value ^ (key[i] & mask[i]));
    return value;
}

void MatchTable::into(HashTable& table, Entry* entry) {
    const std::uint64_t last = table.slots.size() - 1;
    std::uint64_t slot = hash(entry->low.data(), table.mask.data()) & last;
    while (table.slots[slot]) slot = (slot + 1) & last;
    table.slots[slot] = entry;
}

Entry* MatchTable::probe(const HashTable& table, const std::uint64_t* key) const {
    const std::uint64_t last = table.slots.size() - 1;
    for (std::uint64_t slot = hash(key, table.mask.data()) & last; Entry* found = table.slots[slot]; slot = (slot + 1) & last) {
        unsigned i = 0;
        while (i < words_ && (key[i] & table.mask[i]) == found->low[i]) ++i;
        if (i == words_) return found;
    }
    return nullptr;
}

Entry* MatchTable::find_prefix(const std::uint64_t* key) const {
    for (const HashTable& table : hashes_)
        if (Entry* found = probe(table, key)) return found;
    return nullptr;
}

Entry* MatchTable::find_interval(std::uint64_t key) const {
    const auto after = std::upper_bound(starts_.begin(), starts_.end(), key);
    return after == starts_.begin() ? nullptr : best_[static_cast<std::size_t>(after - starts_.begin()) - 1];
}

Entry* MatchTable::find_list(const std::uint64_t* key) const {
    const std::uint64_t* values = flat_.data();
    for (Entry* entry : ordered_) {
        unsigned i = 0;
        for (; i < words_; ++i) {
            const std::uint64_t low = values[2 * i], high = values[2 * i + 1];
            if (shape_->key[i].range ? key[i] < low || key[i] > high : (key[i] & high) != low) break;
        }
        if (i == words_) return entry;
        values += 2 * words_;
    }
    return nullptr;
}

// One word, each entry's set of keys without a gap: sorted ends, and for what is between two of them the entry that wins.
bool MatchTable::as_intervals() {
    if (words_ != 1) return false;
    const std::uint64_t full = shape_->key[0].mask;
    if (full & (full + 1)) return false;
    using Rank = std::tuple<std::int64_t, std::uint32_t, Entry*>;
    std::map<std::uint64_t, std::pair<std::vector<Rank>, std::vector<Rank>>> ends;  // begin, end
    for (Entry* entry : ordered_) {
        std::uint64_t low = entry->low[0], high = entry->high[0];
        if (!shape_->key[0].range) {
            const std::uint64_t open = full & ~high;
            if (open & (open + 1)) return false;
            high = low | open;
        }
        const Rank rank{shape_->kind == TableShape::Lpm ? -std::int64_t{entry->prefix} : entry->priority, entry->handle, entry};
        ends[low].first.push_back(rank);
        if (high != ~std::uint64_t{0}) ends[high + 1].second.push_back(rank);
    }
    std::set<Rank> open;
    for (auto& [place, changes] : ends) {
        for (const Rank& rank : changes.second) open.erase(rank);
        for (const Rank& rank : changes.first) open.insert(rank);
        starts_.push_back(place);
        best_.push_back(open.empty() ? nullptr : std::get<2>(*open.begin()));
    }
    return true;
}

void MatchTable::rebuild() {
    stale_ = false;
    hashes_.clear();
    starts_.clear();
    best_.clear();
    ordered_.clear();
    flat_.clear();
    way_ = Way::Empty;
    for (auto& entry : entries_)
        if (entry) ordered_.push_back(entry.get());
    if (ordered_.empty()) return;
    std::stable_sort(ordered_.begin(), ordered_.end(), [&](const Entry* a, const Entry* b) {
        if (shape_->kind == TableShape::Lpm) return a->prefix > b->prefix;
        return a->priority < b->priority;
    });
    const auto table_for = [&](const std::vector<std::uint64_t>& mask, std::size_t count) -> HashTable& {
        std::size_t slots = 4;
        while (slots < 2 * count + 2) slots *= 2;
        hashes_.push_back({mask, std::vector<Entry*>(slots), 0});
        return hashes_.back();
    };
    if (shape_->kind == TableShape::Exact) {
        HashTable& table = table_for(ordered_[0]->high, ordered_.size());
        for (Entry* entry : ordered_) into(table, entry);
        way_ = Way::Hash;
    } else if (ordered_.size() > kFewEntries && as_intervals()) {
        way_ = Way::Intervals;
    } else if (shape_->kind == TableShape::Lpm) {
        for (std::size_t i = 0; i < ordered_.size();) {
            std::size_t end = i;
            while (end < ordered_.size() && ordered_[end]->prefix == ordered_[i]->prefix) ++end;
            HashTable& table = table_for(ordered_[i]->high, end - i);
            table.prefix = ordered_[i]->prefix;
            for (; i < end; ++i) into(table, ordered_[i]);
        }
        way_ = Way::Prefixes;
    } else {
        for (const Entry* entry : ordered_)
            for (unsigned i = 0; i < words_; ++i) {
                flat_.push_back(entry->low[i]);
                flat_.push_back(entry->high[i]);
            }
        way_ = Way::List;
    }
}

}  // namespace penstock::p4
