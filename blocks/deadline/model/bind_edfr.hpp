// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Python face of the packet-level models of deadline scheduling, and of the experiment with them.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "edfr_experiment.hpp"
#include "exact_edfr.hpp"
#include "skip_fifo_reference.hpp"

namespace penstock {

// A server whose packets' fates are kept until they are taken.
template <typename Server>
class RecordedServer {
  public:
    explicit RecordedServer(Server server) : server_(std::move(server)) {}

    uint64_t arrive(int64_t arrival, int64_t deadline, uint32_t bytes, uint32_t traffic_class) {
        server_.arrive({arrival, deadline, number_, bytes, traffic_class}, *this);
        return number_++;
    }
    void advance(int64_t until) { server_.advance(until, *this); }
    bool empty() const { return server_.empty(); }
    Server& server() { return server_; }

    void operator()(const DeadlinePacket& packet, DeadlineFate fate, int64_t time) { fates_.push_back({packet.number, fate, time}); }

    nanobind::list take() {
        nanobind::list taken;
        for (const Met& met : fates_) taken.append(nanobind::make_tuple(met.number, edfr_fate_name(met.fate), met.time));
        fates_.clear();
        return taken;
    }

    static const char* edfr_fate_name(DeadlineFate fate) {
        constexpr const char* kNames[kDeadlineFates] = {"sent", "expired", "expired_at_head", "tail_dropped"};
        return kNames[static_cast<size_t>(fate)];
    }

  private:
    struct Met {
        uint64_t number;
        DeadlineFate fate;
        int64_t time;
    };
    Server server_;
    uint64_t number_ = 0;
    std::vector<Met> fates_;
};

template <typename Server>
nanobind::class_<RecordedServer<Server>> bind_deadline_server(nanobind::module_& m, const char* name, const char* words) {
    namespace nb = nanobind;
    using Recorded = RecordedServer<Server>;
    return nb::class_<Recorded>(m, name, words)
        .def("arrive", &Recorded::arrive, nb::arg("arrival"), nb::arg("deadline"), nb::arg("bytes"), nb::arg("traffic_class") = 0,
             "Take a packet, after all that starts before it; returns its number. Arrivals come in order")
        .def("advance", &Recorded::advance, nb::arg("until") = std::numeric_limits<int64_t>::max(),
             "Serve what starts before `until`; nothing may arrive before that any more")
        .def("take", &Recorded::take, "Fates since the last call: (number, sent|expired|expired_at_head|tail_dropped, time)")
        .def_prop_ro("empty", &Recorded::empty, "Nothing waits");
}

inline nanobind::dict edfr_amounts(const EdfrAmount& offered, const std::array<EdfrAmount, kDeadlineFates>& fates) {
    namespace nb = nanobind;
    nb::dict packets, bytes;
    packets["offered"] = offered.packets;
    bytes["offered"] = offered.bytes;
    for (uint32_t fate = 0; fate < kDeadlineFates; ++fate) {
        const char* name = RecordedServer<ExactEdfr>::edfr_fate_name(static_cast<DeadlineFate>(fate));
        packets[name] = fates[fate].packets;
        bytes[name] = fates[fate].bytes;
    }
    nb::dict both;
    both["packets"] = packets;
    both["bytes"] = bytes;
    return both;
}

inline nanobind::dict edfr_result(const EdfrResult& result) {
    namespace nb = nanobind;
    nb::list classes;
    for (const EdfrClassResult& own : result.classes) {
        nb::dict line = edfr_amounts(own.offered, own.fates);
        line["late"] = own.late;
        line["delay_sum_ps"] = own.delay_sum;
        line["longest_ps"] = own.longest;
        line["most_late_ps"] = own.fates[0].packets ? nb::cast(own.most_late) : nb::none();
        classes.append(line);
    }
    nb::dict found;
    found["classes"] = classes;
    found["all"] = edfr_amounts(result.all_offered, result.all);
    found["fingerprint"] = result.fingerprint;
    return found;
}

inline EdfrArrivals edfr_arrivals(const std::string& name) {
    if (name == "poisson") return EdfrArrivals::Poisson;
    if (name == "constant") return EdfrArrivals::Constant;
    if (name == "on_off") return EdfrArrivals::OnOff;
    if (name == "pareto") return EdfrArrivals::Pareto;
    throw std::invalid_argument("arrivals are poisson, constant, on_off or pareto, not " + name);
}

inline void bind_edfr(nanobind::module_& m) {
    namespace nb = nanobind;
    bind_deadline_server<ExactEdfr>(m, "ExactEdfr", "Earliest deadline first with reneging: sorted, not preemptive, exact to the time unit")
        .def(
            "__init__",
            [](RecordedServer<ExactEdfr>* self, uint64_t units_per_second, uint64_t rate_bps, const std::vector<uint64_t>& limits,
               uint32_t overhead) {
                const DeadlineLink link(units_per_second, rate_bps, overhead);
                new (self) RecordedServer<ExactEdfr>(ExactEdfr(link, EdfrQueue(limits)));
            },
            nb::arg("units_per_second"), nb::arg("rate_bps"), nb::arg("limits") = std::vector<uint64_t>(), nb::arg("overhead_bytes") = 0);
    bind_deadline_server<LimitedFifo>(m, "LimitedFifo", "FIFO that drops on arrival what would wait longer than `most_wait`")
        .def(
            "__init__",
            [](RecordedServer<LimitedFifo>* self, uint64_t units_per_second, uint64_t rate_bps, int64_t most_wait, uint32_t overhead) {
                const DeadlineLink link(units_per_second, rate_bps, overhead);
                new (self) RecordedServer<LimitedFifo>(LimitedFifo(link, most_wait));
            },
            nb::arg("units_per_second"), nb::arg("rate_bps"), nb::arg("most_wait"), nb::arg("overhead_bytes") = 0);
    bind_deadline_server<SkipFifoReference>(m, "SkipFifoReference", "EDFR from skip-FIFOs, packet by packet")
        .def(
            "__init__",
            [](RecordedServer<SkipFifoReference>* self, uint64_t units_per_second, uint64_t rate_bps, const std::vector<int64_t>& deadlines,
               int64_t tick, uint32_t depth, bool check, const std::vector<uint64_t>& limits, uint32_t overhead) {
                const DeadlineLink link(units_per_second, rate_bps, overhead);
                const SkipFifoQueue queue({deadlines, tick, depth, check, limits});
                new (self) RecordedServer<SkipFifoReference>(SkipFifoReference(link, queue));
            },
            nb::arg("units_per_second"), nb::arg("rate_bps"), nb::arg("deadlines"), nb::arg("tick"), nb::arg("depth") = 1u << 14,
            nb::arg("check") = true, nb::arg("limits") = std::vector<uint64_t>(), nb::arg("overhead_bytes") = 0)
        .def(
            "set_deadline",
            [](RecordedServer<SkipFifoReference>& self, uint32_t traffic_class, int64_t deadline) {
                self.server().queue().set_deadline(traffic_class, deadline);
            },
            nb::arg("traffic_class"), nb::arg("deadline"), "Of packets from now on, and of stamps from the next tick on");
    m.def(
        "edfr_experiment",
        [](const std::vector<std::string>& schedulers, const std::string& arrivals, bool shared, uint64_t rate_bps, double load,
           const std::vector<int64_t>& deadlines, const std::vector<double>& shares, const std::vector<std::pair<uint32_t, double>>& sizes,
           double exponential_bytes, double burst, double pause, double shape, int64_t warm_up, int64_t end, int64_t fifo_wait,
           int64_t tick, uint32_t depth, uint64_t seed) {
            EdfrExperimentSettings settings;
            settings.traffic = {edfr_arrivals(arrivals), shared, rate_bps, load,  deadlines, shares, sizes,
                                exponential_bytes,       burst,  pause,    shape, seed};
            settings.warm_up = warm_up;
            settings.end = end;
            settings.schedulers = schedulers;
            settings.fifo_wait = fifo_wait;
            settings.tick = tick;
            settings.depth = depth;
            std::vector<EdfrResult> results;
            {
                const nb::gil_scoped_release others_go_on;
                results = run_edfr_experiment(settings);
            }
            nb::dict found;
            for (const EdfrResult& result : results) found[result.scheduler.c_str()] = edfr_result(result);
            return found;
        },
        nb::kw_only(), nb::arg("schedulers"), nb::arg("arrivals"), nb::arg("shared") = false, nb::arg("rate_bps"), nb::arg("load"),
        nb::arg("deadlines"), nb::arg("shares"), nb::arg("sizes") = std::vector<std::pair<uint32_t, double>>(),
        nb::arg("exponential_bytes") = 0.0, nb::arg("burst") = 0.0, nb::arg("pause") = 0.0, nb::arg("shape") = 1.5, nb::arg("warm_up"),
        nb::arg("end"), nb::arg("fifo_wait"), nb::arg("tick"), nb::arg("depth") = 1u << 14, nb::arg("seed"),
        "One run: the same packets through each scheduler (exact, fifo, skip_check, skip). Times in ps; sizes as (bytes, weight)");
}

}  // namespace penstock
