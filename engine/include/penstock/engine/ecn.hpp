// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Explicit congestion notification in the bytes of a frame (RFC 3168): IPv4 and IPv6 behind up to two VLAN tags. Written from the
// standards, to judge the hardware and to tell the model what the hardware finds out.
#pragma once

#include <cstddef>
#include <cstdint>

namespace penstock::engine {

// Where the ECN field of a frame is.
struct EcnField {
    std::uint8_t* header = nullptr;  // of IP; null: this is not an IP packet
    bool ipv4 = false;

    unsigned codepoint() const { return header == nullptr ? 0 : ipv4 ? header[1] & 3U : header[1] >> 4 & 3U; }
    // ECT(0) or ECT(1): it may be marked.
    bool capable() const { return codepoint() == 1 || codepoint() == 2; }
};

// Of a packet that is IP by the first bits of its header.
inline EcnField ecn_of_ip(std::uint8_t* header, std::size_t length) {
    if (length >= 20 && header[0] >> 4 == 4 && (header[0] & 15) >= 5) return {header, true};
    if (length >= 40 && header[0] >> 4 == 6) return {header, false};
    return {};
}

inline EcnField find_ecn(std::uint8_t* frame, std::size_t length) {
    const auto word = [&](std::size_t at) { return frame[at] << 8 | frame[at + 1]; };
    std::size_t at = 12;
    for (int tags = 0; tags < 2 && at + 4 < length && (word(at) == 0x8100 || word(at) == 0x88A8); ++tags) at += 4;
    if (at + 2 >= length) return {};
    const int type = word(at);
    const EcnField found = ecn_of_ip(frame + at + 2, length - at - 2);
    return type == (found.ipv4 ? 0x0800 : 0x86DD) ? found : EcnField{};
}

// Sets Congestion Experienced where the field is ECT. The checksum of an IPv4 header changes by the difference (RFC 1624, equation 3).
inline void mark_ce(std::uint8_t* frame, std::size_t length) {
    const EcnField field = find_ecn(frame, length);
    if (!field.capable()) return;
    if (!field.ipv4) {
        field.header[1] |= 0x30;
        return;
    }
    const std::uint32_t before = static_cast<std::uint32_t>(field.header[0]) << 8 | field.header[1];
    field.header[1] |= 3;
    const std::uint32_t after = static_cast<std::uint32_t>(field.header[0]) << 8 | field.header[1];
    std::uint32_t sum = (~(static_cast<std::uint32_t>(field.header[10]) << 8 | field.header[11]) & 0xFFFF) + (~before & 0xFFFF) + after;
    while (sum >> 16) sum = (sum & 0xFFFF) + (sum >> 16);
    field.header[10] = static_cast<std::uint8_t>(~sum >> 8);
    field.header[11] = static_cast<std::uint8_t>(~sum);
}

}  // namespace penstock::engine
