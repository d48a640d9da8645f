// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Python: choose(frame, port, profiles, mpls=) -> (profile or None, routed, key, prefix, class); queue(subscriber, class) -> queue
#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <span>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "blocks/profile/model/profile.hpp"

namespace penstock {

namespace nb = nanobind;

namespace {

using PythonProfile = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, nb::bytes>;

nb::object wide(const WideKey& key) { return (nb::int_(key.high) << nb::int_(64)) | nb::int_(key.low); }

}  // namespace

NB_MODULE(blocks_profile_model, m) {
    m.def(
        "choose",
        [](const nb::bytes& frame, std::uint32_t port, const std::vector<PythonProfile>& given, std::uint32_t mpls) {
            std::vector<Profile> profiles;
            for (const auto& [ports, kind, space, class_of, classes] : given) {
                Profile& made = profiles.emplace_back(Profile{ports, ProfileKind(kind), space, ProfileClass(class_of), {}});
                if (classes.size() != made.classes.size()) throw std::invalid_argument("a profile has 64 classes");
                std::copy_n(static_cast<const std::uint8_t*>(classes.data()), made.classes.size(), made.classes.begin());
            }
            const std::span bytes(static_cast<const std::uint8_t*>(frame.data()), frame.size());
            const ProfileChoice found = choose_profile(parse(bytes, static_cast<ParseMpls>(mpls), {}), port, profiles);
            const nb::object profile = found.profile ? nb::object(nb::int_(*found.profile)) : nb::none();
            return nb::make_tuple(profile, found.routed, wide(found.key), wide(found.prefix), found.number);
        },
        nb::arg("frame"), nb::arg("port"), nb::arg("profiles"), nb::arg("mpls") = 0,
        "What the first profile that fits makes of a frame; a profile is (ports, kind, space, class of, 64 classes).");
    m.def("queue", &subscriber_queue, nb::arg("subscriber"), nb::arg("number"), "Queue of a class of a subscriber's.");
}

}  // namespace penstock
