// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "bind.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "penstock/engine/python_columns.hpp"
#include "penstock/engine/tcp/cubic.hpp"
#include "penstock/engine/tcp/prague.hpp"

namespace nb = nanobind;
using namespace penstock::engine::tcp;

namespace penstock {

namespace {

using Pairs = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

CongestionSettings congestion_settings(const std::string& algorithm, std::uint32_t mss, unsigned initial, bool hystart, double hz) {
    const auto named = algorithm_named(algorithm);
    if (!named) throw nb::value_error("algorithm: reno, cubic, cubic_linux or prague");
    return {*named, mss, initial, hystart, hz};
}

template <typename Field>
nb::object flow_column(const Traffic& traffic, Field field) {
    return column<std::int64_t>(traffic.flows().size(),
                                [&](std::uint32_t i) { return static_cast<std::int64_t>(field(traffic.flows()[i])); });
}

template <typename Field>
nb::object sample_rows(const Traffic& traffic, Field field) {
    std::vector<std::int64_t> values;
    for (const Traffic::Sample& sample : traffic.samples()) values.push_back(static_cast<std::int64_t>(field(sample)));
    return to_array(std::move(values), traffic.series_flows());
}

}  // namespace

nb::dict connections_to_python(const Traffic& traffic, Time interval) {
    using Flow = Traffic::Flow;
    nb::dict dict;
    const auto add = [&](const char* key, auto field) { dict[key] = flow_column(traffic, field); };
    add("queue", [](const Flow& f) { return f.settings.queue; });
    add("start", [](const Flow& f) { return f.settings.start; });
    add("finished", [](const Flow& f) { return f.counts.finished; });
    add("delivered_bytes", [](const Flow& f) { return f.receiver.delivered(); });
    add("measured_bytes", [](const Flow& f) { return f.receiver.delivered() - f.delivered_before; });
    add("duplicate_bytes", [](const Flow& f) { return f.receiver.duplicate_bytes(); });
    add("segments", [](const Flow& f) { return f.sender.counts().segments; });
    add("retransmits", [](const Flow& f) { return f.sender.counts().resent; });
    add("recoveries", [](const Flow& f) { return f.sender.counts().recoveries; });
    add("timeouts", [](const Flow& f) { return f.sender.counts().timeouts; });
    add("ecn_reductions", [](const Flow& f) { return f.sender.counts().ecn_reductions; });
    add("probes", [](const Flow& f) { return f.sender.counts().probes; });
    add("received", [](const Flow& f) { return f.counts.received; });
    add("marked", [](const Flow& f) { return f.counts.marked; });
    add("dropped", [](const Flow& f) { return f.counts.dropped; });
    add("lost", [](const Flow& f) { return f.counts.lost; });
    add("unreadable", [](const Flow& f) { return f.counts.unreadable; });
    if (interval > 0) {
        nb::dict series;
        series["interval_cycles"] = interval;
        series["cwnd"] = sample_rows(traffic, [](const Traffic::Sample& s) { return s.cwnd; });
        series["flight"] = sample_rows(traffic, [](const Traffic::Sample& s) { return s.flight; });
        series["delivered_bytes"] = sample_rows(traffic, [](const Traffic::Sample& s) { return s.delivered; });
        series["srtt"] = sample_rows(traffic, [](const Traffic::Sample& s) { return s.srtt; });
        dict["series"] = series;
    }
    return dict;
}

void bind_tcp(nb::module_& m) {
    nb::class_<RetransmissionTimeout>(m, "RetransmissionTimeout", "RFC 6298; times in any unit that is fine enough.")
        .def(nb::init<Time, Time, Time>(), nb::arg("second"), nb::arg("least"), nb::arg("most"))
        .def("sample", &RetransmissionTimeout::sample, nb::arg("round_trip"))
        .def("back_off", &RetransmissionTimeout::back_off)
        .def_prop_ro("timeout", &RetransmissionTimeout::timeout)
        .def_prop_ro("srtt", &RetransmissionTimeout::srtt)
        .def_prop_ro("variation", &RetransmissionTimeout::variation);

    nb::class_<Congestion>(m, "Congestion", "The congestion window alone; bytes and cycles.")
        .def_static(
            "make",
            [](const std::string& algorithm, std::uint32_t mss, unsigned initial, bool hystart, double clock_hz) {
                return make_congestion(congestion_settings(algorithm, mss, initial, hystart, clock_hz)).release();
            },
            nb::rv_policy::take_ownership, nb::arg("algorithm"), nb::arg("mss"), nb::arg("initial_segments") = 10,
            nb::arg("hystart") = false, nb::arg("clock_hz") = 1e6)
        .def(
            "acknowledged",
            [](Congestion& c, Time now, std::uint64_t bytes, Time round_trip, Time srtt, std::uint64_t una, std::uint64_t nxt) {
                c.acknowledged(now, {bytes, una, nxt, round_trip, srtt});
            },
            nb::arg("now"), nb::arg("bytes"), nb::arg("round_trip") = 0, nb::arg("srtt") = 0, nb::arg("una") = 0, nb::arg("nxt") = 0)
        .def(
            "reduce", [](Congestion& c, Time now, std::uint64_t flight) { c.reduce(now, flight); }, nb::arg("now"), nb::arg("flight"))
        .def("timeout", &Congestion::timeout, nb::arg("now"), nb::arg("flight"), nb::arg("again") = false)
        .def_prop_rw("cwnd", &Congestion::cwnd, &Congestion::set_cwnd)
        .def_prop_ro("ssthresh", &Congestion::ssthresh)
        .def_prop_ro("slow_start", &Congestion::slow_start);

    nb::class_<Sender>(m, "TcpSender", "One sender without a network.")
        .def(
            "__init__",
            [](Sender* self, const std::string& algorithm, std::uint32_t mss, unsigned initial, bool hystart, double clock_hz,
               std::uint64_t bytes, std::uint64_t window, bool ecn, Time least_timeout, Time most_timeout, bool rack, Time longest_delay) {
                new (self) Sender({congestion_settings(algorithm, mss, initial, hystart, clock_hz), bytes, window, ecn, rack, longest_delay,
                                   static_cast<Time>(clock_hz), least_timeout, most_timeout});
            },
            nb::arg("algorithm") = "reno", nb::arg("mss") = 1000, nb::arg("initial_segments") = 10, nb::arg("hystart") = false,
            nb::arg("clock_hz") = 1e6, nb::arg("bytes") = 0, nb::arg("window") = 1 << 22, nb::arg("ecn") = false,
            nb::arg("least_timeout") = 1'000'000, nb::arg("most_timeout") = 60'000'000, nb::arg("rack") = false,
            nb::arg("longest_delay") = 200'000)
        .def(
            "acknowledged",
            [](Sender& sender, Time now, std::uint64_t up_to, const Pairs& sacks, bool ece, std::uint64_t ce_bytes) {
                std::vector<Range> ranges;
                for (const auto& [from, to] : sacks) ranges.push_back({from, to});
                sender.acknowledged(now, {up_to, ranges, ece, ce_bytes});
            },
            nb::arg("now"), nb::arg("up_to"), nb::arg("sacks") = Pairs{}, nb::arg("ece") = false, nb::arg("ce_bytes") = 0)
        .def("expired", &Sender::expired, nb::arg("now"))
        .def(
            "next",
            [](Sender& sender, Time now) -> std::optional<std::tuple<std::uint64_t, std::uint64_t, bool, bool, bool>> {
                const auto segment = sender.next(now);
                if (!segment) return std::nullopt;
                return std::tuple(segment->range.from, segment->range.to, segment->capable, segment->cwr, segment->again);
            },
            nb::arg("now"), "(from, to, ECN-capable, CWR, sent before), or None.")
        .def_prop_ro("timer", [](const Sender& s) { return s.timer() == kNever ? std::optional<Time>() : std::optional<Time>(s.timer()); })
        .def_prop_ro("timeout", [](const Sender& s) { return s.rto().timeout(); })
        .def_prop_ro("srtt", [](const Sender& s) { return s.rto().srtt(); })
        .def_prop_ro("done", &Sender::done)
        .def_prop_ro("cwnd", &Sender::cwnd)
        .def_prop_ro("ssthresh", &Sender::ssthresh)
        .def_prop_ro("alpha",
                     [](const Sender& s) -> std::optional<double> {
                         const auto* const scalable = dynamic_cast<const Prague*>(&s.congestion());
                         return scalable ? std::optional(scalable->alpha()) : std::nullopt;
                     })
        .def_prop_ro("flight", &Sender::flight)
        .def_prop_ro("pipe", &Sender::pipe)
        .def_prop_ro("una", &Sender::una)
        .def_prop_ro("state", [](const Sender& s) { return std::string(s.state()); })
        .def_prop_ro("retransmits", [](const Sender& s) { return s.counts().resent; })
        .def_prop_ro("recoveries", [](const Sender& s) { return s.counts().recoveries; })
        .def_prop_ro("timeouts", [](const Sender& s) { return s.counts().timeouts; })
        .def_prop_ro("ecn_reductions", [](const Sender& s) { return s.counts().ecn_reductions; })
        .def_prop_ro("probes", [](const Sender& s) { return s.counts().probes; });

    nb::class_<Receiver>(m, "TcpReceiver", "One receiver without a network.")
        .def(
            "__init__",
            [](Receiver* self, std::uint32_t mss, std::uint64_t window, Time delay, bool accurate) {
                new (self) Receiver({mss, window, delay, accurate});
            },
            nb::arg("mss") = 1000, nb::arg("window") = 1 << 22, nb::arg("delay") = 0, nb::arg("accurate") = false)
        .def(
            "received",
            [](Receiver& r, Time now, std::uint64_t from, std::uint64_t to, bool ce, bool cwr) {
                return r.received(now, {from, to}, ce, cwr);
            },
            nb::arg("now"), nb::arg("start"), nb::arg("end"), nb::arg("ce") = false, nb::arg("cwr") = false,
            "Whether an acknowledgement is due at once.")
        .def("acknowledge", &Receiver::acknowledge)
        .def_prop_ro("timer",
                     [](const Receiver& r) { return r.timer() == kNever ? std::optional<Time>() : std::optional<Time>(r.timer()); })
        .def_prop_ro("next", &Receiver::next)
        .def_prop_ro("sacks",
                     [](const Receiver& r) {
                         Pairs pairs;
                         for (const Range& range : r.sacks()) pairs.emplace_back(range.from, range.to);
                         return pairs;
                     })
        .def_prop_ro("ece", &Receiver::ece)
        .def_prop_ro("ce_bytes", &Receiver::ce_bytes)
        .def_prop_ro("duplicate_bytes", &Receiver::duplicate_bytes);

    m.def(
        "tcp_segment",
        [](const nb::bytes& header, std::uint32_t ip_at, std::uint32_t sequence, std::uint32_t payload, bool capable, bool cwr,
           std::uint64_t number, std::uint64_t seed, bool l4s, std::uint32_t length_at) {
            const auto* const from = static_cast<const std::uint8_t*>(header.data());
            engine::Frame frame;
            frame.number = number;
            std::vector<std::uint8_t> bytes, all(payload + header.size() + 80);
            build_segment({{from, from + header.size()}, ip_at, length_at},
                          {.sequence = sequence, .payload = payload, .capable = capable, .cwr = cwr, .l4s = l4s}, bytes, frame);
            engine::frame_bytes(frame, seed, all.data());
            return nb::bytes(reinterpret_cast<const char*>(all.data()), frame.length);
        },
        nb::arg("header"), nb::arg("ip_at"), nb::arg("sequence"), nb::arg("payload"), nb::arg("capable") = false, nb::arg("cwr") = false,
        nb::arg("number") = 0, nb::arg("seed") = 1, nb::arg("l4s") = false, nb::arg("length_at") = 0, "The bytes of a segment's frame.");
    m.def(
        "parse_tcp_segment",
        [](const nb::bytes& frame, std::uint32_t ip_at) -> nb::object {
            const auto* const from = static_cast<const std::uint8_t*>(frame.data());
            const auto head = parse_segment({from, frame.size()}, ip_at, true);
            if (!head) return nb::none();
            return nb::make_tuple(head->sequence, head->payload, head->capable, head->ce, head->cwr);
        },
        nb::arg("frame"), nb::arg("ip_at"), "(sequence, payload bytes, ECN-capable, CE, CWR); None: it is none, or a checksum is wrong.");
}

}  // namespace penstock
