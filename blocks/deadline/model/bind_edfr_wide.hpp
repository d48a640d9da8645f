// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Python face of the model of pst_edfr_wide: its ports, a cycle a call.
#pragma once

#include <tuple>

#include "bind_edfr_ports.hpp"
#include "edfr_wide_model.hpp"

namespace penstock {

using EdfrWidePins = std::tuple<bool, std::vector<std::vector<bool>>, bool, uint32_t>;  // m_ready, memory of each column, hold, limit

class EdfrWidePorts : public EdfrStepped<EdfrWideModel, EdfrWideSettings, EdfrWideIn, EdfrWideOut, EdfrWidePins> {
  public:
    // Of a segment: used, last, bad, number, user, DSCP or class, bytes.
    using Segment = std::tuple<bool, bool, bool, uint64_t, uint32_t, uint32_t, uint32_t>;

    EdfrWidePorts(const EdfrWideSettings& settings, bool leave_out) : EdfrStepped(settings, leave_out), columns_(settings.columns) {}

    nanobind::dict cycle(const std::optional<std::vector<Segment>>& word, bool m_ready, const std::vector<std::vector<bool>>& memory,
                         const Set& set, const Set& set_dscp, bool hold, uint32_t limit) {
        if (memory.size() != columns_ || (word && word->size() != columns_)) throw std::invalid_argument("one of each column");
        EdfrWideIn in;
        EdfrWord given;
        if (word) {
            for (uint32_t s = 0; s < columns_; ++s) {
                const auto& [used, last, bad, number, user, key, bytes] = (*word)[s];
                given.segment[s] = {
                    used, last, bad, number, static_cast<uint16_t>(user), static_cast<uint16_t>(key), static_cast<uint8_t>(bytes)};
            }
            in.word = &given;
        }
        in.m_ready = m_ready;
        for (uint32_t c = 0; c < columns_; ++c) in.memory[c] = memory_in(memory[c]);
        in.hold = hold;
        in.limit = limit;
        step(in, word.has_value(), set, set_dscp, {m_ready, memory, hold, limit});
        return ports();
    }
    std::vector<uint32_t> free_chunks() const {
        std::vector<uint32_t> found;
        for (uint32_t c = 0; c < columns_; ++c) found.push_back(model_.free_chunks(c));
        return found;
    }

  private:
    nanobind::dict ports() const {
        namespace nb = nanobind;
        nb::dict d;
        d["ready"] = out_.ready;
        d["set_ready"] = out_.set_ready;
        d["sending"] = out_.sending;
        nb::list row, memories;
        for (uint32_t s = 0; s < columns_ && out_.valid; ++s) {
            const EdfrGather::Cell& cell = out_.row[s];
            if (!cell.used) continue;
            const uint32_t size = cell.last ? cell.bytes_last() : 0;
            if (cell.first)
                row.append(
                    nb::make_tuple(s, cell.last, size, cell.id, cell.frame.user, static_cast<uint32_t>(cell.frame.deadline), cell.bytes));
            else
                row.append(nb::make_tuple(s, cell.last, size));
        }
        d["m"] = row;
        for (uint32_t c = 0; c < columns_; ++c) {
            const EdfrMemoryOut& m = out_.memory[c];
            memories.append(nb::make_tuple(m.awvalid ? int64_t{m.aw_chunk} << 8 | m.aw_beats : -1, m.wvalid ? int{m.wlast} : -1, m.bready,
                                           m.arvalid ? int64_t{m.ar_chunk} : -1, m.rready));
        }
        d["memory"] = memories;
        const auto events = [&](const char* name, const auto& of) {
            nb::list told;
            for (uint32_t i = 0; i < columns_; ++i)
                if (const EdfrEvent& e = of[i]; e.valid)
                    told.append(nb::make_tuple(i, e.id, e.frame.bytes, e.frame.user, static_cast<uint32_t>(e.fate)));
            d[name] = told;
        };
        events("refused", out_.refused);
        events("dropped", out_.dropped);
        events("taken", out_.taken);
        events("expired", out_.expired);
        events("late", out_.late);
        events("overdue", out_.overdue);
        nb::list deadlines;
        for (uint32_t c = 0; c < columns_; ++c)
            if (const EdfrEvent& e = out_.taken[c]; e.valid) deadlines.append(static_cast<uint32_t>(e.frame.deadline));
        d["deadlines"] = deadlines;
        nb::list passed;
        for (uint32_t c = 0; c < columns_; ++c)
            if (const EdfrPassed& p = out_.passed[c]; p.valid)
                passed.append(nb::make_tuple(c, p.lost, p.id, p.count.frames, p.count.bytes));
        d["passed"] = passed;
        return d;
    }

    uint32_t columns_;
};

inline void bind_edfr_wide(nanobind::module_& m) {
    namespace nb = nanobind;
    bind_edfr_face<EdfrWidePorts, EdfrWideSettings>(m, "EdfrWideModel", "pst_edfr_wide, cycle by cycle, without the bytes of frames")
        .def("cycle", &EdfrWidePorts::cycle, nb::arg("word").none(), nb::arg("m_ready"), nb::arg("memory"), nb::arg("set").none(),
             nb::arg("set_dscp").none(), nb::arg("hold") = false, nb::arg("limit") = 0,
             "A cycle with these inputs; its outputs. `word`: of each segment (used, last, bad, number, user, DSCP or 64 or class, bytes); "
             "`memory`: of each column awready, wready, bvalid, berror, arready, rvalid, rerror, rlast")
        .def_prop_ro("free_chunks", &EdfrWidePorts::free_chunks, "Of each column");
    nb::class_<EdfrWideSettings>(m, "EdfrWideSettings", "Parameters of pst_edfr_wide")
        .def(nb::init<>())
        .def_rw("port", &EdfrWideSettings::port)
        .def_rw("columns", &EdfrWideSettings::columns)
        .def_rw("deal_rows", &EdfrWideSettings::deal_rows)
        .def_rw("deal_lists", &EdfrWideSettings::deal_lists)
        .def_rw("deal_records", &EdfrWideSettings::deal_records)
        .def_rw("gather_rows", &EdfrWideSettings::gather_rows)
        .def_rw("gather_ahead", &EdfrWideSettings::gather_ahead)
        .def("check", &EdfrWideSettings::check);
}

}  // namespace penstock
