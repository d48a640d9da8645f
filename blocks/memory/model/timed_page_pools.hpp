// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Model of pst_page_pools and pst_page_allocator that knows time: which page a frame gets in which cycle, exactly as the RTL.
// page_pools.hpp is the same without time; there a freed page is free at once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace penstock {

// Cycles of pst_page_allocator and pst_page_pools.
namespace pool_timing {
inline constexpr int kFetch = 3;       // from the read of the ring of freed pages, or of the fresh counter, to the offer
inline constexpr int kPipe = 2;        // of these, in the RAM: while a page is there no freed page passes it by
inline constexpr unsigned kAhead = 4;  // pages fetched ahead
inline constexpr int kFree = 1;        // from the pools' free port to the allocator's
}  // namespace pool_timing

// Free pages of one memory: 0..pages-1 first, then in the order in which they come back.
class TimedAllocator {
  public:
    explicit TimedAllocator(std::uint32_t pages) : pages_(pages), freed_(pages) {}

    // Whether a page is offered in cycle `now`; all events before it have been told.
    bool offers(std::int64_t now) {
        fetch(now);
        return popped_ < fetched_ && offer_[popped_ % kAhead] <= now;
    }
    // Takes the page that is offered.
    std::uint32_t take(std::int64_t now) {
        const std::uint64_t n = popped_++;
        taken_[n % kAhead] = now;
        if (n < pages_) return static_cast<std::uint32_t>(n);
        const std::uint32_t page = freed_[out_].page;
        out_ = after(out_);
        return page;
    }
    // A page comes back in cycle `now`, before take() of the same cycle.
    void free(std::uint32_t page, std::int64_t now) {
        fetch(now);
        freed_[in_] = {page, now};
        in_ = after(in_);
        ++returned_;
        // Nothing before it but what has been fetched: it needs no trip through the RAM.
        if (fetched_ - popped_ < kAhead && fetched_ + 1 == pages_ + returned_ && last_fetch_ < now - pool_timing::kPipe) {
            offer_[fetched_++ % kAhead] = now + 1;
            next_ = after(next_);
        }
    }

  private:
    static constexpr unsigned kAhead = pool_timing::kAhead;
    struct Freed {
        std::uint32_t page;
        std::int64_t cycle;
    };

    // Fetches what has been fetched before cycle `now`.
    void fetch(std::int64_t now) {
        while (fetched_ - popped_ < kAhead && fetched_ < pages_ + returned_) {
            std::int64_t cycle = last_fetch_ + 1;
            if (fetched_ >= kAhead) cycle = std::max(cycle, taken_[fetched_ % kAhead] + 1);
            if (fetched_ >= pages_) cycle = std::max(cycle, freed_[next_].cycle + 1);
            if (cycle >= now) return;
            if (fetched_ >= pages_) next_ = after(next_);
            offer_[fetched_++ % kAhead] = cycle + pool_timing::kFetch;
            last_fetch_ = cycle;
        }
    }

    std::size_t after(std::size_t place) const { return place + 1 == freed_.size() ? 0 : place + 1; }

    std::uint64_t pages_;
    std::vector<Freed> freed_;                               // a ring
    std::size_t in_ = 0, next_ = 0, out_ = 0;                // where the next page is put, fetched, taken
    std::uint64_t fetched_ = 0, popped_ = 0, returned_ = 0;  // pages, since reset
    std::int64_t offer_[kAhead] = {}, taken_[kAhead] = {};   // of the page with this number modulo kAhead
    std::int64_t last_fetch_ = INT64_MIN / 2;
};

class TimedPagePools {
  public:
    // One element per memory: its pages, and the size of each in bytes.
    TimedPagePools(const std::vector<std::uint32_t>& pages, std::vector<std::uint32_t> page_bytes)
        : page_bytes_(std::move(page_bytes)), later_(pages.size(), false) {
        std::uint32_t base = 0;
        for (const std::uint32_t count : pages) {
            allocators_.emplace_back(count);
            base_.push_back(base);
            base += count;
        }
        base_.push_back(base);
    }

    std::uint32_t descriptors() const { return base_.back(); }
    std::uint32_t base(unsigned memory) const { return base_[memory]; }
    unsigned memory_of(std::uint32_t descriptor) const {
        unsigned memory = 0;
        while (descriptor >= base_[memory + 1]) ++memory;
        return memory;
    }

    // The request's handshake: a page of the smallest size that holds `length` bytes and of which one is offered, memories of one size in
    // turn. Nothing: there is none. of_bytes: only pages of this size; 0: of any. lost: memories that give none, a bit each.
    std::optional<std::uint32_t> allocate(std::uint32_t length, std::int64_t now, std::uint32_t of_bytes = 0, std::uint32_t lost = 0) {
        int choice = -1;
        for (unsigned m = 0; m < allocators_.size(); ++m) {
            if (lost >> m & 1) continue;
            if (of_bytes != 0 && page_bytes_[m] != of_bytes) continue;
            if (length > page_bytes_[m] || !allocators_[m].offers(now)) continue;
            if (choice < 0 || page_bytes_[m] < page_bytes_[choice] ||
                (page_bytes_[m] == page_bytes_[choice] && later_[m] && !later_[choice]))
                choice = static_cast<int>(m);
        }
        if (choice < 0) return std::nullopt;
        for (unsigned m = 0; m < allocators_.size(); ++m)
            if (page_bytes_[m] == page_bytes_[choice]) later_[m] = static_cast<int>(m) > choice;
        return base_[choice] + allocators_[choice].take(now);
    }

    // The allocator's free port: pool_timing::kFree cycles after that of the pools.
    void free(std::uint32_t descriptor, std::int64_t now) {
        const unsigned memory = memory_of(descriptor);
        allocators_[memory].free(descriptor - base_[memory], now);
    }

  private:
    std::vector<TimedAllocator> allocators_;
    std::vector<std::uint32_t> page_bytes_, base_;
    std::vector<bool> later_;  // comes after the memory of its page size that was served last
};

}  // namespace penstock
