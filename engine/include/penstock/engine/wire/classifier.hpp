// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Rules from header fields to numbers, for frames that come in by the thousand: what penstock.scenarios.pcap does for captures.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace penstock::engine::wire {

using Address = std::array<std::uint8_t, 16>;  // of IPv4 the first four bytes

// What rules look at; what a frame does not have is empty. IPv4 and IPv6 behind any number of VLAN tags, extension headers passed over.
struct Fields {
    unsigned version = 0;  // 4, 6; 0: no IP
    std::optional<std::uint8_t> protocol;
    Address source{}, destination{};
    std::optional<std::uint16_t> source_port, destination_port;  // of TCP, UDP and SCTP; not of later fragments
};

// Never reads beyond the frame; a header that is cut or contradicts itself is none.
Fields fields_of(std::span<const std::uint8_t> frame);

struct Network {
    unsigned version;  // 4, 6
    Address address, mask;
    bool has(unsigned of_version, const Address& given) const;
};
struct PortRange {
    std::uint16_t first, last;
    bool has(const std::optional<std::uint16_t>& port) const { return port && first <= *port && *port <= last; }
};

// What is empty matches everything.
struct Rule {
    std::optional<std::uint8_t> protocol;
    std::optional<Network> source, destination;
    std::optional<PortRange> source_port, destination_port;

    bool matches(const Fields& fields) const;
};

// The first rule that matches, -1: none does.
int first_match(const std::vector<Rule>& rules, std::span<const std::uint8_t> frame);

}  // namespace penstock::engine::wire
