// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Model of pst_page_pools and pst_page_allocator: which memory a frame goes to, and to which page.
//
// Pages of one memory are handed out in the order 0, 1, 2, ... and then in the order in which they came back; the
// hardware does exactly the same, so descriptors can be compared. The model knows no time: a freed page is free at
// once, in the hardware some cycles later.
#pragma once

#include <cstdint>
#include <deque>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace penstock {

// Free pages of one memory: a FIFO that holds 0..pages-1 to begin with.
class PageAllocator {
  public:
    explicit PageAllocator(std::uint32_t pages) : held_(pages, false) {
        if (pages == 0) throw std::invalid_argument("a memory has no pages");
    }

    std::uint32_t pages() const { return static_cast<std::uint32_t>(held_.size()); }
    std::uint32_t free_pages() const { return pages() - fresh_ + static_cast<std::uint32_t>(freed_.size()); }

    // Takes the next free page; nothing when there is none.
    std::optional<std::uint32_t> allocate() {
        if (free_pages() == 0) return std::nullopt;
        std::uint32_t page = fresh_;
        if (fresh_ < pages()) {
            ++fresh_;
        } else {
            page = freed_.front();
            freed_.pop_front();
        }
        held_[page] = true;
        return page;
    }

    // Gives a page back. Throws std::invalid_argument when it is not held.
    void free(std::uint32_t page) {
        if (page >= pages() || !held_[page]) throw std::invalid_argument("page " + std::to_string(page) + " is not held");
        held_[page] = false;
        freed_.push_back(page);
    }

  private:
    std::vector<bool> held_;
    std::uint32_t fresh_ = 0;  // first page that was never handed out
    std::deque<std::uint32_t> freed_;
};

class PagePools {
  public:
    // One element per memory: its pages, and the size of each in bytes. Throws std::invalid_argument.
    PagePools(const std::vector<std::uint32_t>& pages, std::vector<std::uint32_t> page_bytes) : page_bytes_(std::move(page_bytes)) {
        if (pages.empty() || pages.size() != page_bytes_.size()) throw std::invalid_argument("one page count and one page size per memory");
        for (const std::uint32_t bytes : page_bytes_)
            if (bytes == 0 || bytes % 64 != 0) throw std::invalid_argument("page sizes are multiples of 64 byte");
        for (const std::uint32_t count : pages) allocators_.emplace_back(count);
        base_.resize(pages.size() + 1);
        std::partial_sum(pages.begin(), pages.end(), base_.begin() + 1);
    }

    std::uint32_t descriptors() const { return base_.back(); }
    std::uint32_t memories() const { return static_cast<std::uint32_t>(allocators_.size()); }
    std::uint32_t free_pages(std::uint32_t memory) const { return allocators_.at(memory).free_pages(); }

    // Memory that holds `desc`. Throws std::out_of_range.
    std::uint32_t memory_of(std::uint32_t desc) const {
        if (desc >= descriptors()) throw std::out_of_range("descriptor " + std::to_string(desc) + " does not exist");
        std::uint32_t memory = 0;
        while (desc >= base_[memory + 1]) ++memory;
        return memory;
    }

    // Finds a page for a frame of `len` bytes: of the smallest size that holds it and of which one is free, memories of
    // one size in turn. Returns the descriptor; nothing when there is no such page.
    std::optional<std::uint32_t> allocate(std::uint32_t len) {
        std::optional<std::uint32_t> choice;
        for (std::uint32_t m = 0; m < memories(); ++m) {
            if (len > page_bytes_[m] || allocators_[m].free_pages() == 0) continue;
            if (!choice || page_bytes_[m] < page_bytes_[*choice]) {
                choice = m;
            } else if (page_bytes_[m] == page_bytes_[*choice] && comes_later(m) && !comes_later(*choice)) {
                choice = m;
            }
        }
        if (!choice) return std::nullopt;
        for (Turn& turn : turns_)
            if (turn.page_bytes == page_bytes_[*choice]) turn.last = *choice;
        if (!last_of(page_bytes_[*choice])) turns_.push_back({page_bytes_[*choice], *choice});
        return base_[*choice] + allocators_[*choice].allocate().value();
    }

    // Gives the page of `desc` back. Throws std::out_of_range or std::invalid_argument.
    void free(std::uint32_t desc) {
        const std::uint32_t memory = memory_of(desc);
        allocators_[memory].free(desc - base_[memory]);
    }

  private:
    struct Turn {
        std::uint32_t page_bytes;
        std::uint32_t last;  // memory of this page size that was served last
    };

    std::optional<std::uint32_t> last_of(std::uint32_t page_bytes) const {
        for (const Turn& turn : turns_)
            if (turn.page_bytes == page_bytes) return turn.last;
        return std::nullopt;
    }
    bool comes_later(std::uint32_t memory) const {
        const auto last = last_of(page_bytes_[memory]);
        return last && memory > *last;
    }

    std::vector<std::uint32_t> page_bytes_;
    std::vector<PageAllocator> allocators_;
    std::vector<std::uint32_t> base_;  // first descriptor of each memory, and the end
    std::vector<Turn> turns_;
};

}  // namespace penstock
