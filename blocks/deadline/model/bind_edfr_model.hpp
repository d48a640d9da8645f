// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Python face of the model of pst_edfr: its ports, a cycle a call.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "edfr_model.hpp"

namespace penstock {

// A model that is driven port by port; a cycle that changes nothing may be left out, as the engine does.
class EdfrPorts {
  public:
    using Beat = std::tuple<uint64_t, uint32_t, uint32_t, uint32_t, bool, bool>;  // number, user, DSCP or class, bytes, last, bad

    EdfrPorts(const EdfrSettings& settings, bool leave_out) : model_(settings), leave_out_(leave_out) {}

    nanobind::dict cycle(const std::optional<Beat>& beat, bool m_ready, const std::vector<bool>& memory,
                         const std::optional<std::pair<uint32_t, uint32_t>>& set,
                         const std::optional<std::pair<uint32_t, uint32_t>>& set_dscp, uint32_t limit) {
        if (memory.size() != 8) throw std::invalid_argument("memory: eight pins");
        EdfrIn in;
        EdfrBeat given;
        if (beat) {
            const auto& [number, user, key, bytes, last, bad] = *beat;
            given = {number, static_cast<uint16_t>(user), static_cast<uint16_t>(key), static_cast<uint8_t>(bytes), last, bad};
            in.beat = &given;
        }
        in.m_ready = m_ready;
        in.memory = {memory[0], memory[1], memory[2], memory[3], memory[4], memory[5], memory[6], memory[7]};
        EdfrDue::Set wait;
        if (set) {
            wait = {set->first, set->second};
            in.set = &wait;
        }
        if (set_dscp) {
            in.set_dscp = true;
            in.dscp = set_dscp->first;
            in.dscp_class = set_dscp->second;
        }
        in.limit = limit;
        const bool same = leave_out_ && !beat && !set && !set_dscp && still_ && m_ready == m_ready_ && memory == pins_ && limit == limit_;
        if (same && now_ < model_.next_event()) {
            ++left_out_;
        } else {
            model_.skip_to(now_);
            out_ = {};
            still_ = !model_.cycle(in, out_) && !beat && !set;
            m_ready_ = m_ready;
            pins_ = memory;
            limit_ = limit;
        }
        ++now_;
        return ports();
    }
    int64_t now() const { return now_; }
    int64_t left_out() const { return left_out_; }
    uint32_t free_chunks() const { return model_.free_chunks(); }
    bool init_done() const { return model_.init_done(); }

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

    EdfrModel model_;
    bool leave_out_, still_ = false, m_ready_ = false;
    std::vector<bool> pins_;
    uint32_t limit_ = 0;
    EdfrOut out_;
    int64_t now_ = 0, left_out_ = 0;
};

inline void bind_edfr_model(nanobind::module_& m) {
    namespace nb = nanobind;
    nb::class_<EdfrPorts>(m, "EdfrModel", "pst_edfr, cycle by cycle, without the bytes of frames")
        .def(
            "__init__", [](EdfrPorts* self, const EdfrSettings& settings, bool leave_out) { new (self) EdfrPorts(settings, leave_out); },
            nb::arg("settings"), nb::arg("leave_out") = true)
        .def("cycle", &EdfrPorts::cycle, nb::arg("beat").none(), nb::arg("m_ready"), nb::arg("memory"), nb::arg("set").none(),
             nb::arg("set_dscp").none(), nb::arg("limit") = 0,
             "A cycle with these inputs; its outputs. `beat`: (number, user, DSCP or 64 or class, bytes, last, bad); `memory`: awready, "
             "wready, bvalid, berror, arready, rvalid, rerror, rlast")
        .def_prop_ro("now", &EdfrPorts::now)
        .def_prop_ro("left_out", &EdfrPorts::left_out, "Cycles that were left out because nothing happens in them")
        .def_prop_ro("free_chunks", &EdfrPorts::free_chunks)
        .def_prop_ro("init_done", &EdfrPorts::init_done);
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
