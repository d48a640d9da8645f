// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Python: classify(frame, queues=, min_frame_bytes=, max_frame_bytes=, error=, dest=, none=) -> (reason, queue, length)
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <optional>
#include <span>
#include <tuple>

#include "blocks/classify/model/classify.hpp"

namespace penstock {

NB_MODULE(blocks_classify_model, m) {
    namespace nb = nanobind;
    m.def(
        "classify",
        [](const nb::bytes& frame, std::uint32_t queues, std::uint32_t min_frame_bytes, std::uint32_t max_frame_bytes, bool error,
           std::optional<std::uint32_t> dest, bool none) {
            const std::span bytes(static_cast<const std::uint8_t*>(frame.data()), frame.size());
            const ClassifySizes sizes{queues, min_frame_bytes, max_frame_bytes};
            const ClassifyVerdict verdict =
                dest ? classify(*dest, bytes.size(), error, sizes, none) : classify(bytes, bytes.size(), error, sizes);
            return std::tuple(static_cast<unsigned>(verdict.reason), verdict.queue, verdict.length);
        },
        nb::arg("frame"), nb::arg("queues"), nb::arg("min_frame_bytes"), nb::arg("max_frame_bytes"), nb::arg("error") = false,
        nb::arg("dest") = nb::none(), nb::arg("none") = false,
        "Verdict on one frame (prefix included, unless its queue id is `dest`): (reason as in drop_e, queue id or 0xFFFFFFFF, length "
        "without prefix, at most 2^32 - 1).");
}

}  // namespace penstock
