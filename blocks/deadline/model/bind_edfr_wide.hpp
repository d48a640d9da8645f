// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Python face of the model of pst_edfr_wide: its ports, a cycle a call.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "edfr_wide_model.hpp"

namespace penstock {

class EdfrWidePorts {
  public:
    // Of a segment: used, last, bad, number, user, DSCP or class, bytes.
    using Segment = std::tuple<bool, bool, bool, uint64_t, uint32_t, uint32_t, uint32_t>;
    using Set = std::optional<std::pair<uint32_t, uint32_t>>;

    EdfrWidePorts(const EdfrWideSettings& settings, bool leave_out) : model_(settings), columns_(settings.columns), leave_out_(leave_out) {}

    nanobind::dict cycle(const std::optional<std::vector<Segment>>& word, bool m_ready, const std::vector<std::vector<bool>>& memory,
                         const Set& set, const Set& set_dscp) {
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
        for (uint32_t c = 0; c < columns_; ++c) {
            const std::vector<bool>& m = memory[c];
            if (m.size() != 8) throw std::invalid_argument("memory: eight pins of each column");
            in.memory[c] = {m[0], m[1], m[2], m[3], m[4], m[5], m[6], m[7]};
        }
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
        const bool same = leave_out_ && !word && !set && !set_dscp && still_ && m_ready == m_ready_ && memory == pins_;
        if (same && now_ < model_.next_event()) {
            ++left_out_;
        } else {
            model_.skip_to(now_);
            out_ = {};
            still_ = !model_.cycle(in, out_) && !word && !set;
            m_ready_ = m_ready;
            pins_ = memory;
        }
        ++now_;
        return ports();
    }
    int64_t now() const { return now_; }
    int64_t left_out() const { return left_out_; }
    bool init_done() const { return model_.init_done(); }
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
        nb::list row, memories;
        for (uint32_t s = 0; s < columns_ && out_.valid; ++s) {
            const EdfrGather::Cell& cell = out_.row[s];
            if (!cell.used) continue;
            const uint32_t size = cell.last ? cell.bytes_last() : 0;
            if (cell.first)
                row.append(nb::make_tuple(s, cell.last, size, cell.id, cell.frame.user, static_cast<uint32_t>(cell.frame.deadline)));
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
        const auto events = [&](const char* name, const auto& of, bool fate, bool named, bool deadline = false) {
            nb::list told;
            for (uint32_t i = 0; i < columns_; ++i)
                if (const EdfrEvent& e = of[i]; e.valid)
                    told.append(nb::make_tuple(i, e.id, e.frame.bytes, fate ? static_cast<uint32_t>(e.fate) : 0, named ? e.frame.user : 0,
                                               deadline ? static_cast<uint32_t>(e.frame.deadline) : 0));
            d[name] = told;
        };
        events("refused", out_.refused, true, false);
        events("dropped", out_.dropped, false, false);
        events("taken", out_.taken, false, true, true);
        events("expired", out_.expired, false, true);
        events("late", out_.late, false, true);
        events("overdue", out_.overdue, false, true);
        nb::list passed;
        for (uint32_t c = 0; c < columns_; ++c)
            if (const EdfrPassed& p = out_.passed[c]; p.valid)
                passed.append(nb::make_tuple(c, p.lost, p.id, p.count.frames, p.count.bytes));
        d["passed"] = passed;
        return d;
    }

    EdfrWideModel model_;
    uint32_t columns_;
    bool leave_out_, still_ = false, m_ready_ = false;
    std::vector<std::vector<bool>> pins_;
    EdfrWideOut out_;
    int64_t now_ = 0, left_out_ = 0;
};

inline void bind_edfr_wide(nanobind::module_& m) {
    namespace nb = nanobind;
    nb::class_<EdfrWidePorts>(m, "EdfrWideModel", "pst_edfr_wide, cycle by cycle, without the bytes of frames")
        .def(
            "__init__",
            [](EdfrWidePorts* self, const EdfrWideSettings& settings, bool leave_out) { new (self) EdfrWidePorts(settings, leave_out); },
            nb::arg("settings"), nb::arg("leave_out") = true)
        .def("cycle", &EdfrWidePorts::cycle, nb::arg("word").none(), nb::arg("m_ready"), nb::arg("memory"), nb::arg("set").none(),
             nb::arg("set_dscp").none(),
             "A cycle with these inputs; its outputs. `word`: of each segment (used, last, bad, number, user, DSCP or 64 or class, bytes); "
             "`memory`: of each column awready, wready, bvalid, berror, arready, rvalid, rerror, rlast")
        .def_prop_ro("now", &EdfrWidePorts::now)
        .def_prop_ro("left_out", &EdfrWidePorts::left_out, "Cycles that were left out because nothing happens in them")
        .def_prop_ro("free_chunks", &EdfrWidePorts::free_chunks, "Of each column")
        .def_prop_ro("init_done", &EdfrWidePorts::init_done);
    nb::class_<EdfrWideSettings>(m, "EdfrWideSettings", "Parameters of pst_edfr_wide")
        .def(nb::init<>())
        .def_rw("port", &EdfrWideSettings::port)
        .def_rw("columns", &EdfrWideSettings::columns)
        .def_rw("deal_rows", &EdfrWideSettings::deal_rows)
        .def_rw("deal_lists", &EdfrWideSettings::deal_lists)
        .def_rw("deal_records", &EdfrWideSettings::deal_records)
        .def_rw("gather_rows", &EdfrWideSettings::gather_rows)
        .def("check", &EdfrWideSettings::check);
}

}  // namespace penstock
