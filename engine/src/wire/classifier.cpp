// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "penstock/engine/wire/classifier.hpp"

#include <algorithm>

namespace penstock::engine::wire {

namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::uint8_t kTcp = 6, kUdp = 17, kSctp = 132;

unsigned word(Bytes bytes, std::size_t at) { return static_cast<unsigned>(bytes[at] << 8 | bytes[at + 1]); }

bool is_tag(unsigned type) { return type == 0x8100 || type == 0x88A8 || type == 0x9100 || type == 0x9200; }

// Ports of a header that is there as a whole.
void read_ports(Fields& fields, Bytes payload) {
    const std::size_t least = fields.protocol == kTcp ? 20 : fields.protocol == kUdp ? 8 : fields.protocol == kSctp ? 12 : SIZE_MAX;
    if (payload.size() < least) return;
    if (fields.protocol == kTcp && (payload[12] >> 4 < 5 || payload.size() < 4U * (payload[12] >> 4))) return;
    fields.source_port = static_cast<std::uint16_t>(word(payload, 0));
    fields.destination_port = static_cast<std::uint16_t>(word(payload, 2));
}

Fields fields_of_ipv4(Bytes packet) {
    Fields fields;
    if (packet.size() < 20 || packet[0] >> 4 != 4) return fields;
    const std::size_t header = 4U * (packet[0] & 15U);
    if (header < 20) return fields;
    fields.version = 4;
    fields.protocol = packet[9];
    std::copy_n(packet.begin() + 12, 4, fields.source.begin());
    std::copy_n(packet.begin() + 16, 4, fields.destination.begin());
    const std::size_t length = word(packet, 2);
    const std::size_t end = std::min(packet.size(), length ? length : packet.size());
    if ((word(packet, 6) & 0x1FFF) == 0 && header <= end) read_ports(fields, packet.subspan(header, end - header));
    return fields;
}

Fields fields_of_ipv6(Bytes packet) {
    constexpr std::uint8_t kHopByHop = 0, kRouting = 43, kFragment = 44, kAuthentication = 51, kOptions = 60;
    Fields fields;
    if (packet.size() < 40 || packet[0] >> 4 != 6) return fields;
    std::uint8_t next = packet[6];
    bool later_fragment = false;
    const std::size_t length = word(packet, 4);
    Bytes rest = packet.subspan(40, std::min(packet.size() - 40, length ? length : packet.size() - 40));
    while (next == kHopByHop || next == kRouting || next == kFragment || next == kAuthentication || next == kOptions) {
        if (rest.size() < 8) return fields;
        const std::size_t size = next == kFragment ? 8 : next == kAuthentication ? 4U * (rest[1] + 2U) : 8U * (rest[1] + 1U);
        if (rest.size() < size) return fields;
        later_fragment = later_fragment || (next == kFragment && (word(rest, 2) & 0xFFF8) != 0);
        next = rest[0];
        rest = rest.subspan(size);
    }
    fields.version = 6;
    fields.protocol = next;
    std::copy_n(packet.begin() + 8, 16, fields.source.begin());
    std::copy_n(packet.begin() + 24, 16, fields.destination.begin());
    if (!later_fragment) read_ports(fields, rest);
    return fields;
}

}  // namespace

Fields fields_of(Bytes frame) {
    std::size_t at = 12;
    while (at + 2 <= frame.size() && is_tag(word(frame, at))) at += 4;
    if (at + 2 > frame.size()) return {};
    const unsigned type = word(frame, at);
    const Bytes packet = frame.subspan(at + 2);
    return type == 0x0800 ? fields_of_ipv4(packet) : type == 0x86DD ? fields_of_ipv6(packet) : Fields{};
}

bool Network::has(unsigned of_version, const Address& given) const {
    if (version != of_version) return false;
    for (std::size_t i = 0; i < given.size(); ++i)
        if ((given[i] & mask[i]) != address[i]) return false;
    return true;
}

bool Rule::matches(const Fields& fields) const {
    return (!protocol || protocol == fields.protocol) && (!source || source->has(fields.version, fields.source)) &&
           (!destination || destination->has(fields.version, fields.destination)) &&
           (!source_port || source_port->has(fields.source_port)) && (!destination_port || destination_port->has(fields.destination_port));
}

int first_match(const std::vector<Rule>& rules, Bytes frame) {
    if (rules.empty()) return -1;
    const Fields fields = fields_of(frame);
    for (std::size_t i = 0; i < rules.size(); ++i)
        if (rules[i].matches(fields)) return static_cast<int>(i);
    return -1;
}

}  // namespace penstock::engine::wire
