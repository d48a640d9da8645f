// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Progress of a run for Python, and Ctrl-C from it.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>

#include "penstock/engine/run.hpp"
#include "wire/bind.hpp"

namespace penstock {

// About ten times a second: lets Python handle signals, and tells it how far the run is. False: stop. Called without the GIL.
class Reporter {
  public:
    // `progress`: None, or called with a dictionary; what it returns, unless None, says whether to go on.
    explicit Reporter(nanobind::object progress) : progress_(std::move(progress)) {}

    bool operator()(const engine::Progress& p) {
        const auto now = Clock::now();
        if (now < next_) return true;
        next_ = now + kPeriod;
        nanobind::gil_scoped_acquire gil;
        try {
            if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
            if (progress_.is_none()) return true;
            const nanobind::object answer = progress_(to_python(p));
            return answer.is_none() || nanobind::cast<bool>(nanobind::bool_(answer));
        } catch (nanobind::python_error& error) {
            // A Ctrl-C ends the run but not the result.
            if (!error.matches(PyExc_KeyboardInterrupt)) throw;
            return false;
        }
    }

  private:
    using Clock = std::chrono::steady_clock;
    static constexpr auto kPeriod = std::chrono::milliseconds(100);

    static nanobind::dict to_python(const engine::Progress& p) {
        nanobind::dict dict;
        dict["phase"] = p.phase;
        dict["cycles"] = p.cycles;
        dict["duration_cycles"] = p.duration_cycles;
        dict["packets_in"] = p.packets_in;
        dict["packets_out"] = p.packets_out;
        dict["dropped"] = p.dropped;
        dict["queued"] = p.queued;
        if (p.wire) dict["wire"] = wire_progress(*p.wire);
        return dict;
    }

    nanobind::object progress_;
    Clock::time_point next_ = Clock::now();
};

}  // namespace penstock
