// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "python_served.hpp"

#include <nanobind/ndarray.h>

#include <stdexcept>
#include <utility>
#include <vector>

#include "penstock/engine/python_columns.hpp"
#include "python_job.hpp"
#include "python_result.hpp"
#include "served.hpp"

namespace nb = nanobind;
using namespace penstock::engine;

namespace penstock {

namespace {

class PythonServed {
  public:
    PythonServed(const nb::dict& job, bool real_time) : python_(job_from_python(job)) {
        nb::gil_scoped_release no_gil;
        device_ = std::make_unique<ServedDevice>(python_.job, real_time);
    }

    void start() {
        nb::gil_scoped_release no_gil;
        device_->start();
    }
    auto run(const nb::ndarray<const std::uint32_t, nb::shape<-1, 4>, nb::c_contig, nb::device::cpu>& program, std::size_t step) {
        std::vector<std::uint32_t> found;
        {
            nb::gil_scoped_release no_gil;
            found = device_->run({reinterpret_cast<const Access*>(program.data()), program.shape(0)}, step);
        }
        return to_array(std::move(found));
    }
    std::int64_t now() const { return device_->now(); }
    nb::dict totals() {
        const ServedDevice::Seen seen = [&] {
            const nb::gil_scoped_release no_gil;
            return device_->totals();
        }();
        return totals_to_python(seen.totals, device_->measurement(), seen.latency);
    }
    double behind() const { return device_->behind(); }
    nb::dict end() {
        Outcome outcome;
        {
            nb::gil_scoped_release no_gil;
            outcome = device_->end();
        }
        return result_to_python(outcome, device_->measurement(), false);
    }

  private:
    PythonJob python_;
    std::unique_ptr<ServedDevice> device_;
};

}  // namespace

void bind_served(nb::module_& m) {
    nb::class_<PythonServed>(m, "Served",
                             "A device that runs on by itself in a thread of its own, with the traffic of a job (docs/jobs.md) that has no "
                             "duration, while its registers are read and written. Raises ValueError for what makes no sense, RuntimeError "
                             "when the device breaks a protocol or one of its assertions fails.")
        .def(nb::init<const nb::dict&, bool>(), nb::arg("job"), nb::arg("real_time") = true)
        .def("start", &PythonServed::start, "Start the clock; before that the device is set up.")
        .def("run", &PythonServed::run, nb::arg("program"), nb::arg("step") = 0,
             "Do register accesses with nothing between them: rows of kind (0 write, 1 read, 2 wait), address, value, mask. Returns what "
             "the reads have read. With `step` others that want the registers come in after each so many.")
        .def("totals", &PythonServed::totals, "Packets and bytes in, out, queued and dropped by reason so far, and what went wrong.")
        .def("end", &PythonServed::end, "End it and return the result, as a run's.")
        .def_prop_ro("behind", &PythonServed::behind, "Seconds that the clock is behind real time.")
        .def_prop_ro("now", &PythonServed::now, "Cycles of the clock.");
}

}  // namespace penstock
