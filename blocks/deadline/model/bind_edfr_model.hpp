// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Python face of the model of pst_edfr: its ports, a cycle a call.
#pragma once

#include <nanobind/stl/string.h>

#include <tuple>

#include "bind_edfr_ports.hpp"

namespace penstock {

using EdfrPortPins = std::tuple<bool, std::vector<bool>, uint32_t>;  // m_ready, memory, limit

class EdfrPorts : public EdfrStepped<EdfrModel, EdfrSettings, EdfrIn, EdfrOut, EdfrPortPins> {
  public:
    using Beat = std::tuple<uint64_t, uint32_t, uint32_t, uint32_t, bool, bool>;  // number, user, DSCP or class, bytes, last, bad

    using EdfrStepped::EdfrStepped;

    nanobind::dict cycle(const std::optional<Beat>& beat, bool m_ready, const std::vector<bool>& memory, const Set& set,
                         const Set& set_dscp, uint32_t limit) {
        EdfrIn in;
        EdfrBeat given;
        if (beat) {
            const auto& [number, user, key, bytes, last, bad] = *beat;
            given = {number, static_cast<uint16_t>(user), static_cast<uint16_t>(key), static_cast<uint8_t>(bytes), last, bad};
            in.beat = &given;
        }
        in.m_ready = m_ready;
        in.memory = memory_in(memory);
        in.limit = limit;
        step(in, beat.has_value(), set, set_dscp, {m_ready, memory, limit});
        return ports();
    }
    uint32_t free_chunks() const { return model_.free_chunks(); }

  private:
    // Outputs of the cycle, those that mean something.
    nanobind::dict ports() const {
        namespace nb = nanobind;
        nb::dict d;
        d["ready"] = out_.ready;
        d["set_ready"] = out_.set_ready;
        if (out_.valid)
            d["m"] = nb::make_tuple(out_.id, out_.frame.user, static_cast<uint32_t>(out_.frame.deadline), out_.last,
                                    out_.last ? out_.bytes_last : 0, out_.frame.number);
        const EdfrMemoryOut& m = out_.memory;
        if (m.awvalid) d["aw"] = nb::make_tuple(m.aw_chunk, m.aw_beats);
        if (m.wvalid) d["w"] = m.wlast;
        d["bready"] = m.bready;
        if (m.arvalid) d["ar"] = m.ar_chunk;
        d["rready"] = m.rready;
        const auto event = [&](const char* name, const EdfrEvent& e) {
            if (e.valid) d[name] = nb::make_tuple(e.id, e.frame.bytes, e.frame.user, static_cast<uint32_t>(e.fate));
        };
        event("refused", out_.refused);
        event("fate", out_.fate);
        event("expired", out_.expired);
        event("late", out_.late);
        if (out_.fate.valid) d["deadline"] = static_cast<uint32_t>(out_.fate.frame.deadline);
        const EdfrPassed& p = out_.passed;
        if (p.valid) d["passed"] = nb::make_tuple(p.lost, p.id, p.count.frames, p.count.bytes);
        return d;
    }
};

inline void bind_edfr_model(nanobind::module_& m) {
    namespace nb = nanobind;
    bind_edfr_face<EdfrPorts, EdfrSettings>(m, "EdfrModel", "pst_edfr, cycle by cycle, without the bytes of frames")
        .def("cycle", &EdfrPorts::cycle, nb::arg("beat").none(), nb::arg("m_ready"), nb::arg("memory"), nb::arg("set").none(),
             nb::arg("set_dscp").none(), nb::arg("limit") = 0,
             "A cycle with these inputs; its outputs. `beat`: (number, user, DSCP or 64 or class, bytes, last, bad); `memory`: awready, "
             "wready, bvalid, berror, arready, rvalid, rerror, rlast")
        .def_prop_ro("free_chunks", &EdfrPorts::free_chunks);
    nb::class_<EdfrSettings>(m, "EdfrSettings", "Parameters of pst_edfr")
        .def(nb::init<>())
        .def_rw("classes", &EdfrSettings::classes)
        .def_rw("class_from_user", &EdfrSettings::class_from_user)
        .def_rw("chunk_beats", &EdfrSettings::chunk_beats)
        .def_rw("chunks", &EdfrSettings::chunks)
        .def_rw("places", &EdfrSettings::places)
        .def_rw("lines", &EdfrSettings::lines)
        .def_rw("reads", &EdfrSettings::reads)
        .def_rw("writes", &EdfrSettings::writes)
        .def_rw("decided", &EdfrSettings::decided)
        .def_rw("min_frame_bytes", &EdfrSettings::min_frame_bytes)
        .def_rw("max_frame_bytes", &EdfrSettings::max_frame_bytes)
        .def_rw("store_beats", &EdfrSettings::store_beats)
        .def_rw("tick_cycles", &EdfrSettings::tick_cycles)
        .def_rw("stamps", &EdfrSettings::stamps)
        .def_rw("default_cycles", &EdfrSettings::default_cycles)
        .def_rw("no_deadlines", &EdfrSettings::no_deadlines)
        .def_rw("run_frames", &EdfrSettings::run_frames)
        .def("check", &EdfrSettings::check);
    m.def(
        "edfr_dscp", [](nb::bytes beat) { return edfr_dscp({reinterpret_cast<const uint8_t*>(beat.data()), beat.size()}); },
        nb::arg("beat"), "DSCP of a frame whose first beat this is; 64: none");
}

}  // namespace penstock
