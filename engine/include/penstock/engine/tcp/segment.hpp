// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// TCP segments as bytes: Ethernet and what is between it and IP, IPv4 or IPv6, TCP without options.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "penstock/engine/frame.hpp"

namespace penstock::engine::tcp {

inline constexpr std::uint32_t kTcpBytes = 20;
inline constexpr std::uint32_t kLeastFrameBytes = 60;  // of Ethernet, without FCS; what is shorter is filled up

// What all segments of a connection begin with: addresses, traffic class and ports are right, lengths, ECN, numbers and sums are not.
struct HeaderTemplate {
    std::vector<std::uint8_t> bytes;
    std::uint32_t ip_at = 14;     // where IP begins
    std::uint32_t length_at = 0;  // where a length of all behind it stands, as PPPoE has one (RFC 2516, 4); 0: there is none

    bool ipv4() const { return bytes[ip_at] >> 4 == 4; }
    std::uint32_t tcp_at() const { return static_cast<std::uint32_t>(bytes.size()) - kTcpBytes; }
};

struct SegmentHead {
    std::uint32_t sequence = 0, acknowledgement = 0;
    std::uint32_t payload = 0;  // bytes
    bool capable = false, cwr = false, push = false;
    bool l4s = false;  // capable by ECT(1), not ECT(0)
    bool ce = false;   // of one that has come
};

// A segment's frame: `frame.data` points into `bytes`. A short one is stored whole, of others the headers are, and the engine sums up.
void build_segment(const HeaderTemplate& header, const SegmentHead& head, std::vector<std::uint8_t>& bytes, Frame& frame);

// What a frame's bytes say, whose IP begins at `ip_at`; none: they are no such segment, or a checksum is wrong. `sums`: the payload is
// there, and its sum is looked at.
std::optional<SegmentHead> parse_segment(std::span<const std::uint8_t> frame, std::uint32_t ip_at, bool sums);

}  // namespace penstock::engine::tcp
