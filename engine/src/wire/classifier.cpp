// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "penstock/engine/wire/classifier.hpp"

#include <algorithm>

namespace penstock::engine::wire {

namespace {

using Bytes = std::span<const std::uint8_t>;

unsigned word(Bytes bytes, std::size_t at) { return static_cast<unsigned>(bytes[at] << 8 | bytes[at + 1]); }

bool is_tag(unsigned type) { return type == 0x8100 || type == 0x88A8 || type == 0x9100 || type == 0x9200; }

bool begins(Bytes bytes, std::initializer_list<std::uint8_t> with) {
    return bytes.size() >= with.size() && std::equal(with.begin(), with.end(), bytes.begin());
}

void shorten(Bytes& bytes, std::size_t most) { bytes = bytes.first(std::min(bytes.size(), most)); }

// `size` bytes from `at` on, or those of them that are there.
Address address(Bytes packet, std::size_t at, std::size_t size) {
    Address found;
    if (at >= packet.size()) return found;
    found.size = std::min(size, packet.size() - at);
    std::copy_n(packet.begin() + static_cast<std::ptrdiff_t>(at), found.size, found.bytes.begin());
    return found;
}

void read_ports(Fields& fields, Bytes payload) {
    constexpr std::array<std::uint8_t, 5> kWithPorts{6, 17, 33, 132, 136};
    if (std::find(kWithPorts.begin(), kWithPorts.end(), *fields.protocol) == kWithPorts.end()) return;
    if (payload.size() >= 2) fields.source_port = static_cast<std::uint16_t>(word(payload, 0));
    if (payload.size() >= 4) fields.destination_port = static_cast<std::uint16_t>(word(payload, 2));
}

void read_ipv4(Fields& fields, Bytes packet) {
    if (packet.empty() || packet[0] >> 4 != 4 || (packet[0] & 15) < 5) return;
    fields.version = 4;
    if (packet.size() > 1) fields.dscp = packet[1] >> 2;
    if (packet.size() > 9) fields.protocol = packet[9];
    fields.source = address(packet, 12, 4);
    fields.destination = address(packet, 16, 4);
    if (packet.size() <= 20 || (word(packet, 6) & 0x1FFF) != 0) return;
    const std::size_t header = 4U * (packet[0] & 15U);
    if (const std::size_t length = word(packet, 2)) shorten(packet, length);  // 0: by segmentation offload
    if (header <= packet.size()) read_ports(fields, packet.subspan(header));
}

constexpr std::uint8_t kHopByHop = 0, kRouting = 43, kFragment = 44, kAuthentication = 51, kOptions = 60;

bool is_extension(std::uint8_t next) {
    return next == kHopByHop || next == kRouting || next == kFragment || next == kAuthentication || next == kOptions;
}

void read_ipv6(Fields& fields, Bytes packet) {
    if (packet.empty() || packet[0] >> 4 != 6) return;
    fields.version = 6;
    if (packet.size() > 1) fields.dscp = static_cast<std::uint8_t>((packet[0] & 15) << 2 | packet[1] >> 6);
    fields.source = address(packet, 8, 16);
    fields.destination = address(packet, 24, 16);
    if (packet.size() <= 6) return;
    std::uint8_t next = packet[6];
    Bytes rest = packet.subspan(std::min<std::size_t>(packet.size(), 40));
    if (const std::size_t length = word(packet, 4)) shorten(rest, length);  // 0: by segmentation offload, and of jumbograms
    while (is_extension(next)) {
        if (rest.empty()) return;
        const std::uint8_t kind = next;
        next = rest[0];
        if (!is_extension(next)) fields.protocol = next;
        if (rest.size() < (kind == kFragment ? 4 : 2)) return;
        if (kind == kFragment && (word(rest, 2) & 0xFFF8) != 0) return;  // a later fragment: what it holds are no headers
        const std::size_t size = kind == kFragment ? 8 : kind == kAuthentication ? 4U * (rest[1] + 2U) : 8U * (rest[1] + 1U);
        rest = rest.subspan(std::min(rest.size(), size));
    }
    fields.protocol = next;
    read_ports(fields, rest);
}

// A stack of labels, and the IP packet below it, which only its first four bits show (RFC 4928, 3).
void read_mpls(Fields& fields, Bytes packet) {
    for (bool bottom = false; !bottom; packet = packet.subspan(std::min<std::size_t>(packet.size(), 4))) {
        if (packet.size() < 3) return;
        if (!fields.mpls) fields.mpls = word(packet, 0) << 4 | packet[2] >> 4;
        bottom = (packet[2] & 1) != 0;
    }
    read_ipv4(fields, packet);
    read_ipv6(fields, packet);
}

void read_payload(Fields& fields, unsigned type, Bytes packet) {
    if (type == 0x0800) read_ipv4(fields, packet);
    if (type == 0x86DD) read_ipv6(fields, packet);
    if (type == 0x8847 || type == 0x8848) read_mpls(fields, packet);
    if ((type != 0x8863 && type != 0x8864) || packet.size() < 4) return;  // PPPoE, RFC 2516
    fields.pppoe = static_cast<std::uint16_t>(word(packet, 2));
    if (type == 0x8863 || packet.size() < 8 || packet[1] != 0) return;
    const unsigned carried = word(packet, 6);
    shorten(packet, 6 + word(packet, 4));
    packet = packet.subspan(std::min<std::size_t>(packet.size(), 8));
    if (carried == 0x0021) read_ipv4(fields, packet);
    if (carried == 0x0057) read_ipv6(fields, packet);
    if (carried == 0x0281 || carried == 0x0283) read_mpls(fields, packet);
}

std::optional<Mac> mac(Bytes frame, std::size_t at) {
    if (frame.size() < at + 6) return std::nullopt;
    Mac found;
    std::copy_n(frame.begin() + static_cast<std::ptrdiff_t>(at), found.size(), found.begin());
    return found;
}

}  // namespace

Fields fields_of(Bytes frame) {
    constexpr unsigned kLeastType = 0x0600;  // what is less is the length of an 802.3 frame
    Fields fields;
    fields.destination_mac = mac(frame, 0);
    fields.source_mac = mac(frame, 6);
    Bytes rest = frame.subspan(std::min<std::size_t>(frame.size(), 12));
    while (rest.size() >= 2) {
        const unsigned type = word(rest, 0);
        rest = rest.subspan(2);
        if (is_tag(type)) {
            if (rest.size() >= 2 && fields.vlan_count < fields.vlans.size())
                fields.vlans[fields.vlan_count++] = static_cast<std::uint16_t>(word(rest, 0) & 0xFFF);
            rest = rest.subspan(std::min<std::size_t>(rest.size(), 2));
        } else if (type < kLeastType) {
            shorten(rest, type);
            if (begins(rest, {6, 6, 3})) {  // LLC of IP
                read_ipv4(fields, rest.subspan(3));
                break;
            }
            if (!begins(rest, {0xAA, 0xAA, 3, 0, 0, 0}) && !begins(rest, {0xAA, 0xAA, 3, 0, 0, 0xF8})) break;  // SNAP
            rest = rest.subspan(6);
        } else {
            read_payload(fields, type, rest);
            break;
        }
    }
    return fields;
}

bool Network::has(unsigned of_version, const Address& given) const {
    if (version != of_version || bits > 8 * given.size) return false;
    for (std::size_t i = 0; 8 * i < bits; ++i) {
        const std::size_t ignored = std::min<std::size_t>(8, 8 * (i + 1) - std::min(bits, 8 * (i + 1)));
        if ((given.bytes[i] ^ address.bytes[i]) >> ignored) return false;
    }
    return true;
}

namespace {

template <class T>
bool asked(const std::optional<T>& rule, const std::optional<T>& found) {
    return !rule || rule == found;
}

}  // namespace

bool Rule::matches(const Fields& fields) const {
    return asked(protocol, fields.protocol) && asked(dscp, fields.dscp) && asked(mpls, fields.mpls) && asked(pppoe, fields.pppoe) &&
           asked(source_mac, fields.source_mac) && asked(destination_mac, fields.destination_mac) && vlans.size() <= fields.vlan_count &&
           std::equal(vlans.begin(), vlans.end(), fields.vlans.begin()) && (!source || source->has(fields.version, fields.source)) &&
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
