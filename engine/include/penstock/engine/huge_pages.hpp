// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Allocator for large arrays that are read at random: on huge pages where the system has them, so that a miss of the cache is not one of
// the address translation too.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <new>

namespace penstock {

template <typename T>
struct HugePages {
    using value_type = T;
    static constexpr std::size_t kPage = std::size_t{1} << 21;

    HugePages() = default;
    template <typename U>
    HugePages(const HugePages<U>&) {}

    T* allocate(std::size_t count) {
        const std::size_t bytes = (count * sizeof(T) + kPage - 1) / kPage * kPage;
        void* const memory = std::aligned_alloc(kPage, bytes);
        if (!memory) throw std::bad_alloc();
        madvise(memory, bytes, MADV_HUGEPAGE);  // only a hint
        return static_cast<T*>(memory);
    }
    void deallocate(T* memory, std::size_t) { std::free(memory); }
    bool operator==(const HugePages&) const = default;
};

}  // namespace penstock
