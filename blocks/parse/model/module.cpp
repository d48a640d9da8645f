// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Python: parse(frame, mpls=, window_bytes=, extension_headers=, tunnels=) -> {field: value}; fields() -> [(field, bits)]
#include <nanobind/nanobind.h>

#include <span>

#include "blocks/parse/model/parse.hpp"

namespace penstock {

NB_MODULE(blocks_parse_model, m) {
    namespace nb = nanobind;
    m.def(
        "parse",
        [](const nb::bytes& frame, std::uint32_t mpls, std::uint32_t window_bytes, std::uint32_t extension_headers, bool tunnels) {
            const std::span bytes(static_cast<const std::uint8_t*>(frame.data()), frame.size());
            const ParsedHeaders headers = parse(bytes, static_cast<ParseMpls>(mpls), {window_bytes, extension_headers, tunnels});
            nb::dict found;
            headers.fields([&](const char* name, unsigned, std::uint64_t value) { found[name] = value; });
            return found;
        },
        nb::arg("frame"), nb::arg("mpls") = 0, nb::arg("window_bytes") = 128, nb::arg("extension_headers") = 4, nb::arg("tunnels") = true,
        "Header vector of one frame: fields of pst_parse_pkg::headers_t, those in structs by their own names.");
    m.def(
        "fields",
        [] {
            nb::list found;
            ParsedHeaders{}.fields([&](const char* name, unsigned bits, std::uint64_t) { found.append(nb::make_tuple(name, bits)); });
            return found;
        },
        "Fields of the vector and their bits, the most significant one first.");
}

}  // namespace penstock
