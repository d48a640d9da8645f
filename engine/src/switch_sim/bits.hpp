// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Sets of ports as bit masks: bit p is port p.
#pragma once

#include <bit>
#include <cstdint>

namespace penstock::switch_sim {

using Ports = std::uint64_t;  // a set of ports

constexpr unsigned kMaxPorts = 64;

constexpr Ports port(unsigned number) { return Ports{1} << number; }
constexpr Ports all_ports(unsigned count) { return count == kMaxPorts ? ~Ports{0} : port(count) - 1; }
constexpr unsigned lowest(Ports set) { return static_cast<unsigned>(std::countr_zero(set)); }
constexpr unsigned size(Ports set) { return static_cast<unsigned>(std::popcount(set)); }

// A round-robin arbiter: the first of `set` (not empty) from port `start` on, cyclically.
constexpr unsigned first_from(Ports set, unsigned start) {
    const Ports not_before = set >> start << start;
    return lowest(not_before ? not_before : set);
}

// The member of `set` that has `rank` members before it (rank < size(set)).
constexpr unsigned member(Ports set, unsigned rank) {
    while (rank-- > 0) set &= set - 1;
    return lowest(set);
}

// The port after `number`, cyclically; `count` is a power of two.
constexpr unsigned next(unsigned number, unsigned count) { return (number + 1) & (count - 1); }

// Calls `visit(port)` for each of `set`, lowest first.
template <class Visit>
constexpr void for_each(Ports set, Visit visit) {
    for (; set; set &= set - 1) visit(lowest(set));
}

}  // namespace penstock::switch_sim
