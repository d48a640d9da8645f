// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "penstock/engine/tcp/segment.hpp"

#include <algorithm>

#include "penstock/engine/ecn.hpp"

namespace penstock::engine::tcp {

namespace {

constexpr std::uint8_t kFlagPush = 0x08, kFlagAck = 0x10, kFlagCwr = 0x80;
constexpr std::uint8_t kProtocol = 6;

void put16(std::uint8_t* to, std::uint32_t value) {
    to[0] = static_cast<std::uint8_t>(value >> 8);
    to[1] = static_cast<std::uint8_t>(value);
}
void put32(std::uint8_t* to, std::uint32_t value) {
    put16(to, value >> 16);
    put16(to + 2, value & 0xFFFF);
}
std::uint32_t get16(const std::uint8_t* from) { return static_cast<std::uint32_t>(from[0] << 8 | from[1]); }
std::uint32_t get32(const std::uint8_t* from) { return get16(from) << 16 | get16(from + 2); }

// The Internet checksum's sum (RFC 1071), not yet inverted.
std::uint32_t sum(const std::uint8_t* from, std::size_t bytes, std::uint64_t begin = 0) {
    for (std::size_t at = 0; at < bytes; at += 2) begin += static_cast<std::uint32_t>(from[at] << 8) + (at + 1 < bytes ? from[at + 1] : 0U);
    while (begin >> 16) begin = (begin & 0xFFFF) + (begin >> 16);
    return static_cast<std::uint32_t>(begin);
}
std::uint32_t pseudo_sum(const std::uint8_t* ip, bool ipv4, std::uint32_t tcp_bytes) {
    return sum(ip + (ipv4 ? 12 : 8), ipv4 ? 8 : 32, kProtocol + std::uint64_t{tcp_bytes});
}

}  // namespace

void build_segment(const HeaderTemplate& header, const SegmentHead& head, std::vector<std::uint8_t>& bytes, Frame& frame) {
    bytes = header.bytes;
    std::uint8_t* const ip = bytes.data() + header.ip_at;
    const std::uint8_t ecn = !head.capable ? 0 : head.l4s ? 1 : 2;
    std::uint8_t* const tcp = bytes.data() + header.tcp_at();
    const std::uint32_t tcp_bytes = kTcpBytes + head.payload;
    if (header.ipv4()) {
        ip[1] = static_cast<std::uint8_t>((ip[1] & ~3U) | ecn);
        put16(ip + 2, header.tcp_at() - header.ip_at + tcp_bytes);
        put16(ip + 10, 0);
        put16(ip + 10, ~sum(ip, 20) & 0xFFFF);
    } else {
        ip[1] = static_cast<std::uint8_t>((ip[1] & 0xCFU) | ecn << 4);
        put16(ip + 4, tcp_bytes);
    }
    put32(tcp + 4, head.sequence);
    put32(tcp + 8, head.acknowledgement);
    tcp[12] = kTcpBytes / 4 << 4;
    tcp[13] = static_cast<std::uint8_t>(kFlagAck | (head.push ? kFlagPush : 0U) | (head.cwr ? kFlagCwr : 0U));
    put16(tcp + 14, 0xFFFF);
    put16(tcp + 16, pseudo_sum(ip, header.ipv4(), tcp_bytes));
    put16(tcp + 18, 0);
    if (header.length_at != 0) put16(bytes.data() + header.length_at, header.tcp_at() + tcp_bytes - header.length_at - 2);
    frame.length = header.tcp_at() + tcp_bytes;
    if (frame.length < kLeastFrameBytes) {
        bytes.resize(frame.length);  // its payload is zeros
        put16(bytes.data() + header.tcp_at() + 16, ~sum(bytes.data() + header.tcp_at(), tcp_bytes) & 0xFFFF);
        bytes.resize(kLeastFrameBytes);
        frame.length = kLeastFrameBytes;
    } else {
        frame.sum_from = static_cast<std::uint16_t>(header.tcp_at());
        frame.sum_at = static_cast<std::uint16_t>(header.tcp_at() + 16);
    }
    frame.data = bytes.data();
    frame.stored = static_cast<std::uint32_t>(bytes.size());
}

std::optional<SegmentHead> parse_segment(std::span<const std::uint8_t> frame, std::uint32_t ip_at, bool sums) {
    if (ip_at >= frame.size()) return std::nullopt;
    const EcnField ecn = ecn_of_ip(const_cast<std::uint8_t*>(frame.data()) + ip_at, frame.size() - ip_at);  // which only looks
    const std::uint8_t* const ip = ecn.header;
    if (ip == nullptr) return std::nullopt;
    const std::uint32_t ip_bytes = ecn.ipv4 ? (ip[0] & 15U) * 4U : 40U;
    const std::uint32_t total = ecn.ipv4 ? get16(ip + 2) : 40U + get16(ip + 4);
    const auto left = static_cast<std::size_t>(frame.data() + frame.size() - ip);
    if ((ecn.ipv4 ? ip[9] : ip[6]) != kProtocol || total < ip_bytes + kTcpBytes || left < ip_bytes + kTcpBytes) return std::nullopt;
    if (ecn.ipv4 && sum(ip, ip_bytes) != 0xFFFF) return std::nullopt;
    const std::uint8_t* const tcp = ip + ip_bytes;
    const std::uint32_t tcp_bytes = total - ip_bytes, head = (tcp[12] >> 4) * 4U;
    if (head < kTcpBytes || head > tcp_bytes) return std::nullopt;
    if (sums && (left < total || sum(tcp, tcp_bytes, pseudo_sum(ip, ecn.ipv4, tcp_bytes)) != 0xFFFF)) return std::nullopt;
    return SegmentHead{.sequence = get32(tcp + 4),
                       .acknowledgement = get32(tcp + 8),
                       .payload = tcp_bytes - head,
                       .capable = ecn.capable(),
                       .cwr = (tcp[13] & kFlagCwr) != 0,
                       .push = (tcp[13] & kFlagPush) != 0,
                       .l4s = ecn.codepoint() == 1,
                       .ce = ecn.codepoint() == 3};
}

}  // namespace penstock::engine::tcp
