// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Rules from header fields to numbers, for frames that come in by the thousand: what penstock.scenarios.rules does for captures.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace penstock::engine::wire {

// An IP address; of one that was cut the bytes that are there.
struct Address {
    std::array<std::uint8_t, 16> bytes{};
    std::size_t size = 0;
};
using Mac = std::array<std::uint8_t, 6>;

// What rules look at (penstock.scenarios.frame_fields). What a frame does not have is empty, as is what was cut off; what is wrong behind
// a field does not hide it.
struct Fields {
    unsigned version = 0;  // 4, 6; 0: no IP
    std::optional<std::uint8_t> protocol, dscp;
    Address source, destination;
    std::optional<std::uint16_t> source_port, destination_port;  // of TCP, UDP, DCCP, SCTP, UDP-Lite; not of later fragments
    std::array<std::uint16_t, 2> vlans{};                        // ids of the two outermost tags
    std::size_t vlan_count = 0;
    std::optional<Mac> source_mac, destination_mac;
    std::optional<std::uint32_t> mpls;   // label at the top of the stack
    std::optional<std::uint16_t> pppoe;  // session
};

// Never reads beyond the frame.
Fields fields_of(std::span<const std::uint8_t> frame);

struct Network {
    unsigned version;  // 4, 6
    Address address;
    std::size_t bits;  // of the address that count
    bool has(unsigned of_version, const Address& given) const;
};
struct PortRange {
    std::uint16_t first, last;
    bool has(const std::optional<std::uint16_t>& port) const { return port && first <= *port && *port <= last; }
};

// What is empty matches everything.
struct Rule {
    std::optional<std::uint8_t> protocol, dscp;
    std::optional<Network> source, destination;
    std::optional<PortRange> source_port, destination_port;
    std::vector<std::uint16_t> vlans;  // at most two, the outer one first
    std::optional<Mac> source_mac, destination_mac;
    std::optional<std::uint32_t> mpls;
    std::optional<std::uint16_t> pppoe;

    bool matches(const Fields& fields) const;
};

// The first rule that matches, -1: none does.
int first_match(const std::vector<Rule>& rules, std::span<const std::uint8_t> frame);

}  // namespace penstock::engine::wire
