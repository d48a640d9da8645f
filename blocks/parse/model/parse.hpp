// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Model of pst_parse: the header vector of a frame. It has no state; when the vector comes is the hardware's affair.
//
// Layouts: IEEE 802.3 and 802.1Q, RFC 1042 (SNAP), RFC 2516 (PPPoE), RFC 3032 and 4448 (MPLS), RFC 791, RFC 8200, RFC 4302, RFC 9293,
// RFC 768, RFC 9260, RFC 792, RFC 4303, 3GPP TS 29.281 (GTP-U), RFC 2661 and 3931 (L2TP).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace penstock {

enum class ParseEnd : std::uint32_t { Done, Unknown, Cut, Beyond, Deep, BadVersion, BadLength, BadPppoe };
enum class ParseMpls : std::uint32_t { ByNibble, Ip, Ethernet, ControlWord };
enum class ParseFragment : std::uint32_t { None, First, Later };
enum class ParseTransport : std::uint32_t { None, Tcp, Udp, Sctp, Icmp, Esp };
enum class ParseTunnel : std::uint32_t { None, Gtpu, L2tp2, L2tp3 };

struct ParseSizes {
    std::uint32_t window_bytes = 128;
    std::uint32_t extension_headers = 4;
    bool tunnels = true;
};

struct ParseTag {
    std::uint32_t tpid = 0, pcp = 0, dei = 0, id = 0;
};

struct ParseLabel {
    std::uint32_t label = 0, traffic_class = 0, bottom = 0, ttl = 0;
};

// pst_parse_pkg::headers_t; each field of a header that was not read is 0.
struct ParsedHeaders {
    ParseEnd ending = ParseEnd::Done;
    bool ethernet = false;
    std::uint64_t destination_mac = 0, source_mac = 0;
    std::uint32_t tags = 0;
    ParseTag outer_tag, inner_tag;
    bool snap = false;
    std::uint32_t ethertype = 0;
    bool pppoe = false;
    std::uint32_t session = 0, ppp = 0, labels = 0;
    std::array<ParseLabel, 4> label{};
    bool control_word = false, inner_ethernet = false;
    std::uint64_t inner_destination_mac = 0, inner_source_mac = 0;
    std::uint32_t inner_ethertype = 0, ip = 0, dscp = 0, ecn = 0, protocol = 0;
    std::array<std::uint8_t, 16> source{}, destination{};  // most significant byte first; an IPv4 address in the last four
    ParseFragment fragment = ParseFragment::None;
    std::uint32_t network_at = 0;
    ParseTransport transport = ParseTransport::None;
    std::uint32_t transport_word = 0, transport_at = 0;
    ParseTunnel tunnel = ParseTunnel::None;
    bool tunnel_control = false;
    std::uint32_t tunnel_id = 0;

    // Calls visit(name, bits, value) for each field in the order of the struct, the most significant one first; addresses in two halves.
    template <typename Visit>
    void fields(Visit&& visit) const {
        const auto half = [](const std::array<std::uint8_t, 16>& address, std::size_t from) {
            std::uint64_t value = 0;
            for (std::size_t i = from; i < from + 8; i++) value = value << 8 | address[i];
            return value;
        };
        const auto tag = [&](const char* tpid, const char* pcp, const char* dei, const char* id, const ParseTag& of) {
            visit(tpid, 2u, std::uint64_t{of.tpid});
            visit(pcp, 3u, std::uint64_t{of.pcp});
            visit(dei, 1u, std::uint64_t{of.dei});
            visit(id, 12u, std::uint64_t{of.id});
        };
        const auto a_label = [&](const char* name, const char* traffic_class, const char* bottom, const char* ttl, const ParseLabel& of) {
            visit(name, 20u, std::uint64_t{of.label});
            visit(traffic_class, 3u, std::uint64_t{of.traffic_class});
            visit(bottom, 1u, std::uint64_t{of.bottom});
            visit(ttl, 8u, std::uint64_t{of.ttl});
        };
        visit("ending", 3u, static_cast<std::uint64_t>(ending));
        visit("ethernet", 1u, std::uint64_t{ethernet});
        visit("destination_mac", 48u, destination_mac);
        visit("source_mac", 48u, source_mac);
        visit("tags", 2u, std::uint64_t{tags});
        tag("outer_tpid", "outer_pcp", "outer_dei", "outer_id", outer_tag);
        tag("inner_tpid", "inner_pcp", "inner_dei", "inner_id", inner_tag);
        visit("snap", 1u, std::uint64_t{snap});
        visit("ethertype", 16u, std::uint64_t{ethertype});
        visit("pppoe", 1u, std::uint64_t{pppoe});
        visit("session", 16u, std::uint64_t{session});
        visit("ppp", 16u, std::uint64_t{ppp});
        visit("labels", 3u, std::uint64_t{labels});
        a_label("label3", "traffic_class3", "bottom3", "ttl3", label[3]);
        a_label("label2", "traffic_class2", "bottom2", "ttl2", label[2]);
        a_label("label1", "traffic_class1", "bottom1", "ttl1", label[1]);
        a_label("label0", "traffic_class0", "bottom0", "ttl0", label[0]);
        visit("control_word", 1u, std::uint64_t{control_word});
        visit("inner_ethernet", 1u, std::uint64_t{inner_ethernet});
        visit("inner_destination_mac", 48u, inner_destination_mac);
        visit("inner_source_mac", 48u, inner_source_mac);
        visit("inner_ethertype", 16u, std::uint64_t{inner_ethertype});
        visit("ip", 3u, std::uint64_t{ip});
        visit("dscp", 6u, std::uint64_t{dscp});
        visit("ecn", 2u, std::uint64_t{ecn});
        visit("protocol", 8u, std::uint64_t{protocol});
        visit("source_high", 64u, half(source, 0));
        visit("source_low", 64u, half(source, 8));
        visit("destination_high", 64u, half(destination, 0));
        visit("destination_low", 64u, half(destination, 8));
        visit("fragment", 2u, static_cast<std::uint64_t>(fragment));
        visit("network_at", 8u, std::uint64_t{network_at});
        visit("transport", 3u, static_cast<std::uint64_t>(transport));
        visit("transport_word", 32u, std::uint64_t{transport_word});
        visit("transport_at", 8u, std::uint64_t{transport_at});
        visit("tunnel", 2u, static_cast<std::uint64_t>(tunnel));
        visit("tunnel_control", 1u, std::uint64_t{tunnel_control});
        visit("tunnel_id", 32u, std::uint64_t{tunnel_id});
    }
};

class Parser {
  public:
    Parser(std::span<const std::uint8_t> frame, ParseMpls mpls, const ParseSizes& sizes)
        : sizes_(sizes), mpls_(mpls), bytes_(frame.first(std::min<std::size_t>(frame.size(), sizes.window_bytes))) {
        // Where a frame that goes on behind the window ends is not known while its headers are read.
        end_ = frame.size() <= sizes.window_bytes ? frame.size() : kFar;
    }

    ParsedHeaders run() {
        h_.ending = link();
        return h_;
    }

  private:
    static constexpr std::uint64_t kFar = 1u << 20;

    std::uint32_t byte(std::size_t i) const { return at_ + i < bytes_.size() ? bytes_[at_ + i] : 0; }
    std::uint32_t word(std::size_t i) const { return byte(i) << 8 | byte(i + 1); }
    std::uint32_t two_words(std::size_t i) const { return word(i) << 16 | word(i + 2); }
    std::uint64_t mac(std::size_t i) const { return std::uint64_t{word(i)} << 32 | two_words(i + 2); }

    // Why a header of so many bytes cannot be read, if it cannot.
    std::optional<ParseEnd> lacks(std::uint64_t size) const {
        if (at_ + size > end_) return ParseEnd::Cut;
        if (at_ + size > sizes_.window_bytes) return ParseEnd::Beyond;
        return std::nullopt;
    }

    // What follows ends after so many bytes at the latest.
    void ends_after(std::uint64_t bytes) { end_ = std::min(end_, at_ + bytes); }

    static bool is_tag(std::uint32_t type) { return type == 0x8100 || type == 0x88A8 || type == 0x9100; }

    ParseEnd link() {
        if (const auto why = lacks(14)) return *why;
        h_.ethernet = true;
        h_.destination_mac = mac(0);
        h_.source_mac = mac(6);
        h_.ethertype = word(12);
        at_ = 14;
        while (is_tag(h_.ethertype)) {
            if (h_.tags == 2) return ParseEnd::Deep;
            if (const auto why = lacks(4)) return *why;
            const std::uint32_t tpid = h_.ethertype == 0x8100 ? 0 : h_.ethertype == 0x88A8 ? 1 : 2;
            (h_.tags ? h_.inner_tag : h_.outer_tag) = {tpid, word(0) >> 13, word(0) >> 12 & 1, word(0) & 0xFFF};
            h_.tags++;
            h_.ethertype = word(2);
            at_ += 4;
        }
        if (h_.ethertype <= 1500) return snap();
        if (h_.ethertype < 0x0600) return ParseEnd::BadLength;
        if (h_.ethertype == 0x8864) return pppoe();
        return by_ethertype(h_.ethertype);
    }

    ParseEnd by_ethertype(std::uint32_t type) {
        switch (type) {
            case 0x0800:
                return ipv4();
            case 0x86DD:
                return ipv6();
            case 0x8847:
            case 0x8848:
                return mpls();
            default:
                return ParseEnd::Unknown;
        }
    }

    ParseEnd snap() {
        ends_after(h_.ethertype);
        if (const auto why = lacks(8)) return *why;
        const bool is_snap = word(0) == 0xAAAA && byte(2) == 3 && word(3) == 0 && (byte(5) == 0 || byte(5) == 0xF8);
        if (!is_snap) return ParseEnd::Unknown;
        h_.snap = true;
        h_.ethertype = word(6);
        at_ += 8;
        return by_ethertype(h_.ethertype);
    }

    ParseEnd pppoe() {
        if (const auto why = lacks(6)) return *why;
        if (word(0) != 0x1100) return ParseEnd::BadPppoe;
        h_.pppoe = true;
        h_.session = word(2);
        const std::uint32_t length = word(4);
        at_ += 6;
        ends_after(length);
        if (const auto why = lacks(2)) return *why;
        h_.ppp = word(0);
        at_ += 2;
        switch (h_.ppp) {
            case 0x0021:
                return ipv4();
            case 0x0057:
                return ipv6();
            case 0x0281:
            case 0x0283:
                return mpls();
            default:
                return ParseEnd::Unknown;
        }
    }

    ParseEnd mpls() {
        for (bool bottom = false; !bottom; at_ += 4) {
            if (h_.labels == 4) return ParseEnd::Deep;
            if (const auto why = lacks(4)) return *why;
            bottom = byte(2) & 1;
            h_.label[h_.labels++] = {two_words(0) >> 12, byte(2) >> 1 & 7, bottom, byte(3)};
        }
        if (const auto why = lacks(1)) return *why;
        if (mpls_ == ParseMpls::Ethernet) return inner_ethernet();
        const std::uint32_t nibble = byte(0) >> 4;
        if (nibble == 4 && mpls_ != ParseMpls::ControlWord) return ipv4();
        if (nibble == 6 && mpls_ != ParseMpls::ControlWord) return ipv6();
        if (nibble != 0 || mpls_ == ParseMpls::Ip) return ParseEnd::Unknown;
        if (const auto why = lacks(4)) return *why;
        h_.control_word = true;
        at_ += 4;
        return inner_ethernet();
    }

    ParseEnd inner_ethernet() {
        if (const auto why = lacks(14)) return *why;
        h_.inner_ethernet = true;
        h_.inner_destination_mac = mac(0);
        h_.inner_source_mac = mac(6);
        h_.inner_ethertype = word(12);
        at_ += 14;
        return h_.inner_ethertype == 0x0800 ? ipv4() : h_.inner_ethertype == 0x86DD ? ipv6() : ParseEnd::Unknown;
    }

    ParseEnd ipv4() {
        if (const auto why = lacks(20)) return *why;
        if (byte(0) >> 4 != 4) return ParseEnd::BadVersion;
        const std::uint32_t header = 4 * (byte(0) & 15), total = word(2);
        if (header < 20 || total < header) return ParseEnd::BadLength;
        h_.ip = 4;
        h_.network_at = at_;
        h_.dscp = byte(1) >> 2;
        h_.ecn = byte(1) & 3;
        h_.protocol = byte(9);
        for (std::size_t i = 0; i < 4; i++) h_.source[12 + i] = byte(12 + i), h_.destination[12 + i] = byte(16 + i);
        const std::uint32_t offset = word(6);
        h_.fragment = offset & 0x1FFF ? ParseFragment::Later : offset & 0x2000 ? ParseFragment::First : ParseFragment::None;
        ends_after(total);
        if (const auto why = lacks(header)) return *why;
        at_ += header;
        return h_.fragment == ParseFragment::Later ? ParseEnd::Done : transport();
    }

    ParseEnd ipv6() {
        if (const auto why = lacks(40)) return *why;
        if (byte(0) >> 4 != 6) return ParseEnd::BadVersion;
        h_.ip = 6;
        h_.network_at = at_;
        h_.dscp = word(0) >> 6 & 63;
        h_.ecn = word(0) >> 4 & 3;
        h_.protocol = byte(6);
        for (std::size_t i = 0; i < 16; i++) h_.source[i] = byte(8 + i), h_.destination[i] = byte(24 + i);
        const std::uint32_t length = word(4);
        at_ += 40;
        ends_after(length);
        for (std::uint32_t i = 0; is_extension(h_.protocol); i++) {
            if (i == sizes_.extension_headers) return ParseEnd::Deep;
            if (const auto why = extension()) return *why;
            if (h_.fragment == ParseFragment::Later) return ParseEnd::Done;
        }
        return transport();
    }

    static bool is_extension(std::uint32_t protocol) {
        return protocol == 0 || protocol == 43 || protocol == 44 || protocol == 51 || protocol == 60;
    }

    std::optional<ParseEnd> extension() {
        if (const auto why = lacks(8)) return why;
        const std::uint32_t kind = h_.protocol, length = byte(1), offset = word(2);
        if (kind == 51 && length == 0) return ParseEnd::BadLength;
        const std::uint32_t size = kind == 44 ? 8 : kind == 51 ? 4 * (length + 2) : 8 * (length + 1);
        if (const auto why = lacks(size)) return why;
        h_.protocol = byte(0);
        if (kind == 44 && offset >> 3) {
            h_.fragment = ParseFragment::Later;
        } else if (kind == 44 && offset & 1) {
            h_.fragment = ParseFragment::First;
        }
        at_ += size;
        return std::nullopt;
    }

    ParseEnd transport() {
        std::uint32_t size = 8;
        ParseTransport kind = ParseTransport::None;
        switch (h_.protocol) {
            case 1:
                if (h_.ip == 4) kind = ParseTransport::Icmp;
                break;
            case 58:
                if (h_.ip == 6) kind = ParseTransport::Icmp;
                break;
            case 6:
                kind = ParseTransport::Tcp, size = 20;
                break;
            case 17:
                kind = ParseTransport::Udp;
                break;
            case 132:
                kind = ParseTransport::Sctp, size = 12;
                break;
            case 50:
                kind = ParseTransport::Esp;
                break;
            case 59:
                return h_.ip == 6 ? ParseEnd::Done : ParseEnd::Unknown;
            default:
                break;
        }
        const bool l2tp = sizes_.tunnels && h_.protocol == 115;
        if (l2tp) size = 4;
        if (kind == ParseTransport::None && !l2tp) return ParseEnd::Unknown;
        if (const auto why = lacks(size)) return *why;
        if (kind == ParseTransport::Tcp && byte(12) >> 4 < 5) return ParseEnd::BadLength;
        if (kind == ParseTransport::Udp && word(4) < 8) return ParseEnd::BadLength;
        h_.transport_at = at_;
        if (l2tp) {
            h_.tunnel = ParseTunnel::L2tp3;
            h_.tunnel_id = two_words(0);
            return ParseEnd::Done;
        }
        h_.transport = kind;
        h_.transport_word = two_words(0);
        if (kind != ParseTransport::Udp || !sizes_.tunnels) return ParseEnd::Done;
        const std::uint32_t port = word(2);
        ends_after(word(4));
        at_ += 8;
        return port == 2152 ? gtpu() : port == 1701 ? l2tp_over_udp() : ParseEnd::Done;
    }

    ParseEnd gtpu() {
        if (const auto why = lacks(8)) return *why;
        if (byte(0) >> 4 != 3) return ParseEnd::BadVersion;  // version 1, and GTP, not GTP'
        h_.tunnel = ParseTunnel::Gtpu;
        h_.tunnel_id = two_words(4);
        return ParseEnd::Done;
    }

    ParseEnd l2tp_over_udp() {
        if (const auto why = lacks(2)) return *why;
        const std::uint32_t flags = word(0), version = flags & 15;
        if (version != 2 && version != 3) return ParseEnd::BadVersion;
        const bool no_length = version == 2 && !(flags & 0x4000);
        if (const auto why = lacks(no_length ? 6 : 8)) return *why;
        h_.tunnel = version == 2 ? ParseTunnel::L2tp2 : ParseTunnel::L2tp3;
        h_.tunnel_control = flags >> 15;
        h_.tunnel_id = two_words(no_length ? 2 : 4);
        return ParseEnd::Done;
    }

    ParseSizes sizes_;
    ParseMpls mpls_;
    std::span<const std::uint8_t> bytes_;
    std::uint64_t at_ = 0, end_ = 0;  // of the next header; of what may be read
    ParsedHeaders h_;
};

// Returns the header vector of a frame, of which at least the window is there.
inline ParsedHeaders parse(std::span<const std::uint8_t> frame, ParseMpls mpls, const ParseSizes& sizes) {
    return Parser(frame, mpls, sizes).run();
}

}  // namespace penstock
