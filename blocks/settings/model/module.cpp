// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Python: SettingProfiles; words are (upper, lower) 64 bits.
#include <nanobind/nanobind.h>

#include <cstdint>

#include "blocks/settings/model/setting_profiles.hpp"

namespace penstock {

namespace {
SettingProfiles::Word word(std::uint64_t upper, std::uint64_t lower) { return SettingProfiles::Word{upper} << 64 | lower; }
}  // namespace

NB_MODULE(blocks_settings_model, m) {
    namespace nb = nanobind;

    nb::class_<SettingProfiles>(m, "SettingProfiles", "Which profile has the settings of a queue; `now` is the cycle.")
        .def(
            "__init__",
            [](SettingProfiles* self, std::uint32_t queues, std::uint32_t profiles, std::uint64_t upper, std::uint64_t lower) {
                new (self) SettingProfiles(queues, profiles, word(upper, lower));
            },
            nb::arg("queues"), nb::arg("profiles"), nb::arg("upper"), nb::arg("lower"))
        .def(
            "offer",
            [](SettingProfiles& self, std::int64_t now, std::uint32_t queue, std::uint64_t upper, std::uint64_t lower) {
                return self.offer(now, queue, word(upper, lower));
            },
            nb::arg("now"), nb::arg("queue"), nb::arg("upper"), nb::arg("lower"), "Settings are on offer; whether they are seen now.")
        .def("valid", &SettingProfiles::valid, nb::arg("now"), "They are offered with their profile.")
        .def("full", &SettingProfiles::full, nb::arg("now"), "They are refused.")
        .def("profile", &SettingProfiles::profile, "The profile that they are offered with.")
        .def("fresh", &SettingProfiles::fresh, "No queue has it.")
        .def("profile_of", &SettingProfiles::profile_of, nb::arg("queue"), "The profile that a queue has.")
        .def("used", &SettingProfiles::used, "Profiles that are not free.")
        .def("taken", &SettingProfiles::taken, nb::arg("now"), "The queue has the profile.")
        .def("refused", &SettingProfiles::refused, nb::arg("now"), "After `full`.");
}

}  // namespace penstock
