// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The Python module penstock._engine.
#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <functional>
#include <tuple>
#include <vector>

#include "blocks/timing/model/shaper_code.hpp"
#include "penstock/engine/python_memory.hpp"
#include "python_job.hpp"
#include "python_progress.hpp"
#include "python_result.hpp"
#include "python_served.hpp"
#include "python_session.hpp"
#include "tcp/bind.hpp"
#include "wire/bind.hpp"

namespace nb = nanobind;
using namespace penstock::engine;

namespace {

nb::dict run_job(const nb::dict& dict, nb::object progress) {
    penstock::PythonJob python = penstock::job_from_python(dict);
    Measurement measurement(python.job.measure);
    LiveTraffic live(python.job);
    penstock::Reporter reporter(std::move(progress));
    Outcome outcome;
    {
        nb::gil_scoped_release no_gil;
        outcome = run(python.job, measurement, live, std::ref(reporter));
    }
    nb::dict result = penstock::result_to_python(outcome, measurement, python.job.measure.keep_departures);
    if (live.connections) result["tcp"] = penstock::connections_to_python(*live.connections, python.job.measure.interval_cycles);
    if (live.wire) result["wire"] = penstock::wire_to_python(*live.wire);
    return result;
}

}  // namespace

NB_MODULE(_engine, m) {
    m.doc() = "Penstock's engine: drives a device cycle by cycle and measures it.";
    m.def("run", &run_job, nb::arg("job"), nb::arg("progress") = nb::none(),
          "Run a job and return its result; docs/jobs.md has the keys. Raises ValueError when the job makes no "
          "sense, "
          "RuntimeError when the device breaks a protocol or one of its assertions fails.");
    m.def(
        "read_registers",
        [](const nb::dict& job, const std::vector<std::uint32_t>& addresses) {
            return read_registers(penstock::job_from_python(job).job, addresses);
        },
        nb::arg("job"), nb::arg("addresses"), "What the device of a job shows in these registers after the job's register_writes");
    m.def(
        "prepare", [](const nb::dict& job) { penstock::prepare_device(job); }, nb::arg("job"),
        "Compile and load what the device of a job takes, key `device`. Raises ValueError when that makes no sense.");
    nb::set_leak_warnings(false);  // a session that is open when Python ends is none
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
    penstock::bind_session(m);
    penstock::bind_served(m);
    penstock::bind_dram(m);
    penstock::bind_tcp(m);
    penstock::bind_wire(m);
}
