// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// A FIFO of fixed capacity without allocation.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace penstock::engine {

template <typename T, std::size_t Capacity>
class Ring {
    static_assert((Capacity & (Capacity - 1)) == 0);

  public:
    bool empty() const { return head_ == tail_; }
    bool full() const { return tail_ - head_ == Capacity; }
    std::uint32_t size() const { return tail_ - head_; }
    T& front() { return items_[head_ % Capacity]; }
    const T& front() const { return items_[head_ % Capacity]; }
    T& back() { return items_[(tail_ - 1) % Capacity]; }
    // The n-th from the front.
    const T& at(std::uint32_t n) const { return items_[(head_ + n) % Capacity]; }
    void push(const T& item) { items_[tail_++ % Capacity] = item; }
    // An empty ring starts over, so that one that holds little stays in few cache lines.
    void pop() {
        if (++head_ == tail_) head_ = tail_ = 0;
    }

  private:
    std::array<T, Capacity> items_{};
    std::uint32_t head_ = 0, tail_ = 0;
};

}  // namespace penstock::engine
