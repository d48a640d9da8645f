// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// What the Python faces of the models of pst_edfr and pst_edfr_wide share: settings and memory pins as Python gives them, and cycles that
// are left out because nothing changes in them, as the engine does.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <utility>

#include "edfr_model.hpp"

namespace penstock {

// `Pins`: all inputs that stay as they are while nothing happens.
template <typename Model, typename Settings, typename In, typename Out, typename Pins>
class EdfrStepped {
  public:
    using Set = std::optional<std::pair<uint32_t, uint32_t>>;  // class and cycles, or DSCP and class

    EdfrStepped(const Settings& settings, bool leave_out) : model_(settings), leave_out_(leave_out) {}

    int64_t now() const { return now_; }
    int64_t left_out() const { return left_out_; }
    bool init_done() const { return model_.init_done(); }

  protected:
    static EdfrMemoryIn memory_in(const std::vector<bool>& pins) {
        if (pins.size() != 8) throw std::invalid_argument("memory: eight pins");
        return {pins[0], pins[1], pins[2], pins[3], pins[4], pins[5], pins[6], pins[7]};
    }
    // A cycle; `given`: a beat or word is offered.
    void step(In& in, bool given, const Set& set, const Set& set_dscp, Pins pins) {
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
        const bool same = leave_out_ && !given && !set && !set_dscp && still_ && pins == pins_;
        if (same && now_ < model_.next_event()) {
            ++left_out_;
        } else {
            model_.skip_to(now_);
            out_ = {};
            still_ = !model_.cycle(in, out_) && !given && !set;
            pins_ = std::move(pins);
        }
        ++now_;
    }

    Model model_;
    Out out_;

  private:
    bool leave_out_, still_ = false;
    Pins pins_{};
    int64_t now_ = 0, left_out_ = 0;
};

// What both faces have in Python.
template <typename Face, typename Settings>
nanobind::class_<Face> bind_edfr_face(nanobind::module_& m, const char* name, const char* words) {
    namespace nb = nanobind;
    return nb::class_<Face>(m, name, words)
        .def(
            "__init__", [](Face* self, const Settings& settings, bool leave_out) { new (self) Face(settings, leave_out); },
            nb::arg("settings"), nb::arg("leave_out") = true)
        .def_prop_ro("now", &Face::now)
        .def_prop_ro("left_out", &Face::left_out, "Cycles that were left out because nothing happens in them")
        .def_prop_ro("init_done", &Face::init_done);
}

}  // namespace penstock
