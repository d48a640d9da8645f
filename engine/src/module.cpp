// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The Python module penstock._engine.
#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <vector>

#include "bench_core.hpp"
#include "core_driver.hpp"
#include "ideal_server.hpp"
#include "models.hpp"
#include "python_job.hpp"
#include "python_result.hpp"
#include "switch_sim/bind.hpp"

namespace nb = nanobind;
using namespace penstock::engine;

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kPeriod = std::chrono::milliseconds(100);

nb::dict progress_to_python(const Progress& p) {
    nb::dict dict;
    dict["phase"] = p.phase;
    dict["cycles"] = p.cycles;
    dict["duration_cycles"] = p.duration_cycles;
    dict["packets_in"] = p.packets_in;
    dict["packets_out"] = p.packets_out;
    dict["dropped"] = p.dropped;
    dict["queued"] = p.queued;
    return dict;
}

// True: the exception is a Ctrl-C, which ends the run but not the result.
bool is_interrupt(const nb::python_error& error) { return error.matches(PyExc_KeyboardInterrupt); }

// About ten times a second: lets Python handle signals, and tells it how far the run is. False: stop.
class Reporter {
  public:
    explicit Reporter(nb::object progress) : progress_(std::move(progress)) {}

    bool operator()(const Progress& p) {
        const auto now = Clock::now();
        if (now < next_) return true;
        next_ = now + kPeriod;
        nb::gil_scoped_acquire gil;
        try {
            if (PyErr_CheckSignals() != 0) throw nb::python_error();
            if (progress_.is_none()) return true;
            const nb::object answer = progress_(progress_to_python(p));
            return answer.is_none() || nb::cast<bool>(nb::bool_(answer));
        } catch (nb::python_error& error) {
            if (!is_interrupt(error)) throw;
            return false;
        }
    }

  private:
    nb::object progress_;
    Clock::time_point next_ = Clock::now();
};

nb::dict run_job(const nb::dict& dict, nb::object progress) {
    penstock::PythonJob python = penstock::job_from_python(dict);
    Measurement measurement(python.job.measure);
    Reporter reporter(std::move(progress));
    Outcome outcome;
    {
        nb::gil_scoped_release no_gil;
        outcome = run(python.job, measurement, std::ref(reporter));
    }
    return penstock::result_to_python(outcome, measurement, python.job.measure.keep_departures);
}

}  // namespace

NB_MODULE(_engine, m) {
    m.doc() = "Penstock's engine: drives a device cycle by cycle and measures it; models of the blocks.";
    m.def("run", &run_job, nb::arg("job"), nb::arg("progress") = nb::none(),
          "Run a job and return its result; docs/architecture.md, \"The engine\", has the keys. Raises ValueError when the job makes no "
          "sense, "
          "RuntimeError when the device breaks a protocol or one of its assertions fails.");
    m.def(
        "read_registers",
        [](const nb::dict& job, const std::vector<std::uint32_t>& addresses) {
            return read_registers(penstock::job_from_python(job).job, addresses);
        },
        nb::arg("job"), nb::arg("addresses"), "What the device of a job shows in these registers after the job's register_writes");
    m.def("shaper_code", &penstock::shaper_code, nb::arg("cycles_per_byte"), "A shaper's code as one word, without a burst");
    m.def(
        "encode_shaper",
        [](std::uint32_t mantissa, std::uint32_t exponent, std::uint32_t burst) {
            return penstock::encode_shaper({mantissa, exponent, burst});
        },
        nb::arg("mantissa"), nb::arg("exponent"), nb::arg("burst"), "A shaper's setting as one word");
    m.def(
        "decode_shaper",
        [](std::uint64_t code) {
            const penstock::ShaperSetting setting = penstock::decode_shaper(code);
            return std::tuple(setting.mantissa, setting.exponent, setting.burst);
        },
        nb::arg("code"), "(mantissa, exponent, burst) of a shaper's word");
    penstock::bind_models(m);
    penstock::bind_bench(m);
    penstock::bind_switch_sim(m);
}
