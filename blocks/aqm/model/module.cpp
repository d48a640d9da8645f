// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Python face of what all AQMs share: the estimated delay, and any AQM's model as a device has it.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "aqm_models.hpp"
#include "delay_estimate.hpp"

namespace penstock {

// The model of any AQM, as a device has it.
class LoadedAqm {
  public:
    LoadedAqm(const std::string& name, const std::string& library, std::uint32_t queues, const std::map<std::string, std::int64_t>& numbers)
        : model_(make_aqm(find_aqm(name, library), queues, numbers)) {}
    AqmModel* operator->() { return model_.get(); }

  private:
    std::shared_ptr<AqmModel> model_;
};

}  // namespace penstock

NB_MODULE(blocks_aqm_model, m) {
    namespace nb = nanobind;
    using penstock::LoadedAqm;
    m.def("delay_estimate", &penstock::delay_estimate, nb::arg("backlog"), nb::arg("mantissa"), nb::arg("exponent"),
          nb::arg("tick_shift") = 8, nb::arg("time_width") = 26, "Delay in ticks of `backlog` bytes at a shaper's period");
    m.attr("aqm_model_version") = penstock::kAqmModelVersion;
    nb::class_<LoadedAqm>(m, "AqmModel", "The model of an AQM by its name, or from a library; aqm_model.hpp has what it is told")
        .def(nb::init<const std::string&, const std::string&, uint32_t, const std::map<std::string, int64_t>&>(), nb::arg("name"),
             nb::arg("library"), nb::arg("queues"), nb::arg("numbers"))
        .def(
            "set",
            [](LoadedAqm& model, int64_t cycle, uint32_t queue, bool enable, bool ecn, uint64_t word) {
                model->set(cycle, queue, {enable, ecn, word});
            },
            nb::arg("cycle"), nb::arg("queue"), nb::arg("enable"), nb::arg("ecn"), nb::arg("word"))
        .def(
            "departs",
            [](LoadedAqm& model, int64_t cycle, int64_t now, int64_t sojourn, uint32_t queue, uint32_t left, uint16_t length, bool ect) {
                return static_cast<int>(model->departs({cycle, now, sojourn, queue, left, length, ect, queue}));
            },
            nb::arg("cycle"), nb::arg("now"), nb::arg("sojourn"), nb::arg("queue"), nb::arg("left"), nb::arg("length"), nb::arg("ect"),
            "0 pass, 1 mark, 2 drop")
        .def(
            "arrives",
            [](LoadedAqm& model, int64_t cycle, int64_t now, uint32_t queue, uint32_t backlog, bool ect) {
                return static_cast<int>(model->arrives({cycle, now, queue, backlog, ect}));
            },
            nb::arg("cycle"), nb::arg("now"), nb::arg("queue"), nb::arg("backlog"), nb::arg("ect"), "0 pass, 1 mark, 2 drop");
}
