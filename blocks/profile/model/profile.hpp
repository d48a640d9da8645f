// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Model of pst_profile, and of how pst_subscriber makes a queue of what it finds. It has no time: both take a fixed number of cycles.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "blocks/parse/model/parse.hpp"

namespace penstock {

// pst_profile_pkg::kind_e and class_e
enum class ProfileKind : std::uint32_t {
    Off,
    Any,
    TwoTags,
    OuterTag,
    SessionSource,
    SessionDestination,
    MacSource,
    MacDestination,
    Ipv4Source,
    Ipv4Destination,
    Ipv6Source,
    Ipv6Destination,
    TopLabel,
    LastLabel,
    RoutedSource,
    RoutedDestination
};
enum class ProfileClass : std::uint32_t { None, Dscp, OuterPcp, InnerPcp, Traffic, Ecn };

struct Profile {
    std::uint32_t ports = 0;  // bit p: it looks at frames of input port p
    ProfileKind kind = ProfileKind::Off;
    std::uint32_t space = 0;
    ProfileClass class_of = ProfileClass::None;
    std::array<std::uint8_t, 64> classes{};
};

// A key of 80 bits as pst_lookup has it, and a prefix key of 65 bits, as upper and lower 64 bits.
struct WideKey {
    std::uint64_t high = 0, low = 0;
};

struct ProfileChoice {
    std::optional<std::size_t> profile;
    bool routed = false;
    WideKey key, prefix;
    std::uint32_t number = 0;  // class
};

// The first profile that fits the headers of a frame from input port `port` (0 .. 15), and what it makes of them.
inline ProfileChoice choose_profile(const ParsedHeaders& h, std::uint32_t port, const std::vector<Profile>& profiles) {
    const auto upper = [](const std::array<std::uint8_t, 16>& address, std::size_t from, std::size_t count) {
        std::uint64_t value = 0;
        for (std::size_t i = from; i < from + count; i++) value = value << 8 | address[i];
        return value;
    };
    // The fields of a kind, nothing if the headers do not have them.
    const auto fields = [&](ProfileKind kind) -> std::optional<std::uint64_t> {
        const auto when = [](bool there, std::uint64_t value) { return there ? std::optional(value) : std::nullopt; };
        const std::uint64_t session = std::uint64_t{h.session} << 48;
        switch (kind) {
            case ProfileKind::Any:
                return 0;
            case ProfileKind::TwoTags:
                return when(h.tags == 2, h.outer_tag.id << 12 | h.inner_tag.id);
            case ProfileKind::OuterTag:
                return when(h.tags > 0, h.outer_tag.id);
            case ProfileKind::SessionSource:
                return when(h.pppoe, session | h.source_mac);
            case ProfileKind::SessionDestination:
                return when(h.pppoe, session | h.destination_mac);
            case ProfileKind::MacSource:
                return when(h.ethernet, h.source_mac);
            case ProfileKind::MacDestination:
                return when(h.ethernet, h.destination_mac);
            case ProfileKind::Ipv4Source:
                return when(h.ip == 4, upper(h.source, 12, 4));
            case ProfileKind::Ipv4Destination:
                return when(h.ip == 4, upper(h.destination, 12, 4));
            case ProfileKind::Ipv6Source:
                return when(h.ip == 6, upper(h.source, 0, 8));
            case ProfileKind::Ipv6Destination:
                return when(h.ip == 6, upper(h.destination, 0, 8));
            case ProfileKind::TopLabel:
                return when(h.labels > 0, h.label[0].label);
            case ProfileKind::LastLabel:
                return when(h.labels > 0, h.label[(h.labels + 3) % 4].label);
            case ProfileKind::RoutedSource:
                return when(h.ip != 0, h.ip == 6 ? upper(h.source, 0, 8) : upper(h.source, 12, 4) << 32);
            case ProfileKind::RoutedDestination:
                return when(h.ip != 0, h.ip == 6 ? upper(h.destination, 0, 8) : upper(h.destination, 12, 4) << 32);
            default:
                return std::nullopt;
        }
    };
    const auto value = [&](ProfileClass of) -> std::uint32_t {
        switch (of) {
            case ProfileClass::Dscp:
                return h.dscp;
            case ProfileClass::OuterPcp:
                return h.outer_tag.pcp;
            case ProfileClass::InnerPcp:
                return h.inner_tag.pcp;
            case ProfileClass::Traffic:
                return h.label[0].traffic_class;
            case ProfileClass::Ecn:
                return h.ecn;
            default:
                return 0;
        }
    };
    for (std::size_t i = 0; i < profiles.size(); i++) {
        const Profile& p = profiles[i];
        const auto found = (p.ports >> port & 1) ? fields(p.kind) : std::nullopt;
        if (!found) continue;
        ProfileChoice choice;
        choice.profile = i;
        choice.routed = p.kind == ProfileKind::RoutedSource || p.kind == ProfileKind::RoutedDestination;
        if (choice.routed)
            choice.prefix = {h.ip == 6 ? 1u : 0u, *found};
        else
            choice.key = {std::uint64_t{p.space} << 12, *found};
        choice.number = p.classes[value(p.class_of)];
        return choice;
    }
    return {};
}

// pst_profile_pkg::subscriber_t: base in the low 28 bits, last class above.
inline std::uint32_t subscriber_queue(std::uint32_t subscriber, std::uint32_t number) {
    return ((subscriber & 0xFFF'FFFF) + std::min(number, subscriber >> 28)) & 0xFFF'FFFF;
}

}  // namespace penstock
