// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The compiled part of the control plane: what is done for each queue of many, reading what comes in a stream (scan.hpp) and making
// register writes (writes.hpp).
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

#include "designs/access_edge/control/relay.hpp"
#include "designs/access_edge/control/scan.hpp"
#include "designs/access_edge/control/writes.hpp"
#include "penstock/engine/python_columns.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace penstock {

namespace {

using control::Changes;
using control::Plans;
using control::Scan;
using control::Scanned;

template <typename T>
using Words = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

std::string_view view(const nb::bytes& bytes) { return {bytes.c_str(), bytes.size()}; }
nb::bytes bytes_of(std::string_view text) { return nb::bytes(text.data(), text.size()); }

// A message, held as long as what was read from it.
class Message {
  public:
    Message(nb::bytes bytes, std::size_t most_bytes) : bytes_(std::move(bytes)) {
        nb::gil_scoped_release no_gil;
        scan_ = control::scan(view(bytes_), most_bytes);
    }

    const Scan& scan() const { return scan_; }
    std::size_t size() const { return bytes_.size(); }

    // Names as text; None where they are not plain: no UTF-8.
    nb::object names() const {
        nb::list found;
        for (const Scanned& one : scan_.subscribers) {
            PyObject* const text = PyUnicode_DecodeUTF8(one.name.data(), static_cast<Py_ssize_t>(one.name.size()), nullptr);
            if (!text) {
                PyErr_Clear();
                return nb::none();
            }
            found.append(nb::steal(text));
        }
        return found;
    }
    nb::object indices() const {
        return column<std::int64_t>(scan_.subscribers.size(), [this](std::uint32_t row) { return scan_.subscribers[row].index; });
    }
    nb::object nodes() const {
        return column<std::uint32_t>(scan_.subscribers.size(), [this](std::uint32_t row) { return scan_.subscribers[row].node; });
    }

    // Settings that were not met before, each once: of queues (bytes, closed), and of parents (rate or None, burst, weight, guarantee).
    nb::tuple unknown(const Plans& plans) const {
        nb::list queues, parents;
        std::unordered_set<std::string_view> seen[2];
        std::vector<Plans::Parent> met;
        for (const Scanned& one : scan_.subscribers) {
            for (std::uint32_t at = one.first_queue; at < one.first_queue + one.queues; ++at) {
                const std::string_view settings = scan_.queues[at];
                if (plans.queue(settings, one.closed) == Plans::kUnknown && seen[one.closed].insert(settings).second)
                    queues.append(nb::make_tuple(bytes_of(settings), one.closed));
            }
            if (plans.parent(one.parent) != Plans::kUnknown || (!met.empty() && met.back() == one.parent)) continue;
            met.push_back(one.parent);
            const std::int64_t rate = one.parent.rate_bps;
            parents.append(nb::make_tuple(rate < 0 ? nb::object(nb::none()) : nb::cast(rate), one.parent.burst_bytes, one.parent.weight,
                                          one.parent.guarantee_bps));
        }
        return nb::make_tuple(queues, parents);
    }

    // Numbers of the settings: of queues, a row of `each` for a subscriber, and of subscribers; `absent`: of queues that are not named.
    nb::tuple codes(const Plans& plans, std::uint32_t each, std::int32_t absent) const {
        const std::size_t rows = scan_.subscribers.size();
        std::vector<std::int32_t> queues(rows * each, absent), parents(rows);
        {
            nb::gil_scoped_release no_gil;
            for (std::size_t row = 0; row < rows; ++row) {
                const Scanned& one = scan_.subscribers[row];
                for (std::uint32_t n = 0; n < one.queues && n < each; ++n)
                    queues[row * each + n] = plans.queue(scan_.queues[one.first_queue + n], one.closed);
                parents[row] = plans.parent(one.parent);
            }
        }
        return nb::make_tuple(to_array(std::move(queues), each), to_array(std::move(parents)));
    }

    // The bytes of each with its place and version, which count up from `version`.
    nb::list placed(const Words<const std::uint32_t>& indices, std::uint64_t version) const {
        if (indices.shape(0) != scan_.subscribers.size()) throw nb::value_error("a place for each subscriber is needed");
        nb::list found;
        for (std::size_t row = 0; row < scan_.subscribers.size(); ++row)
            found.append(bytes_of(control::with_place(scan_.subscribers[row].whole, indices.data()[row], version + row)));
        return found;
    }

  private:
    nb::bytes bytes_;
    Scan scan_;
};

constexpr std::size_t kLetOthersOn = 64;  // subscribers, from which on Python goes on meanwhile: to get it back may take long

using Matrix = nb::ndarray<const std::uint32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

Changes::Layout layout(const std::vector<std::uint32_t>& addresses, const std::vector<bool>& executes, std::vector<std::size_t> settings) {
    if (addresses.empty() || addresses.size() != executes.size() || settings.size() >= addresses.size())
        throw nb::value_error("each register has an address, and says whether it executes");
    Changes::Layout made{{}, std::move(settings)};
    for (std::size_t i = 0; i < addresses.size(); ++i) made.columns.push_back({addresses[i], executes[i], i == 0});
    return made;
}

nb::tuple program(control::Writes made, const Words<const std::uint32_t>& end) {
    made.accesses.insert(made.accesses.end(), end.data(), end.data() + end.shape(0));
    return nb::make_tuple(to_array(std::move(made.accesses), 4), to_array(std::move(made.ends)), made.writes);
}

template <typename Array>
auto span_of(const Array& array) {
    return std::span(array.data(), array.size());
}

}  // namespace

NB_MODULE(designs_access_edge_control, m) {
    nb::class_<Plans>(m, "Plans", "Numbers of settings by what was asked for.")
        .def(nb::init<std::size_t>(), "most_bytes"_a)
        .def_prop_ro("bytes", &Plans::bytes)
        .def(
            "learn_queue",
            [](Plans& plans, const nb::bytes& settings, bool closed, std::int32_t number) { plans.learn(view(settings), closed, number); },
            "settings"_a, "closed"_a, "number"_a)
        .def(
            "learn_parent",
            [](Plans& plans, std::optional<std::int64_t> rate, std::uint32_t burst, std::uint32_t weight, std::uint64_t guarantee,
               std::int32_t number) { plans.learn({rate.value_or(-1), burst, weight, guarantee}, number); },
            "rate_bps"_a.none(), "burst_bytes"_a, "weight"_a, "guarantee_bps"_a, "number"_a)
        .def_ro_static("UNKNOWN", &Plans::kUnknown);
    nb::class_<Message>(m, "Message", "A penstock.v1.ProvisionRequest, read into columns.")
        .def(nb::init<nb::bytes, std::size_t>(), "message"_a, "most_bytes"_a)
        .def_prop_ro("plain", [](const Message& self) { return self.scan().plain; })
        .def_prop_ro("all_or_nothing", [](const Message& self) { return self.scan().all_or_nothing; })
        .def_prop_ro("count", [](const Message& self) { return self.scan().subscribers.size(); })
        .def_prop_ro("queues", [](const Message& self) { return self.scan().queues.size(); })
        .def_prop_ro("most_queues", [](const Message& self) { return self.scan().most_queues; })
        .def_prop_ro("size", &Message::size)
        .def("names", &Message::names)
        .def("indices", &Message::indices)
        .def("nodes", &Message::nodes)
        .def("unknown", &Message::unknown, "plans"_a)
        .def("codes", &Message::codes, "plans"_a, "each"_a, "absent"_a)
        .def("placed", &Message::placed, "indices"_a, "version"_a);
    nb::class_<control::Relay>(m, "Relay", "A Unix socket in front of another one, which tells who has connected (relay.hpp).")
        .def(nb::init<const std::string&, std::string, std::string, std::size_t>(), "path"_a, "to"_a, "name"_a, "most"_a)
        .def_prop_ro("connections", &control::Relay::connections);
    using Addresses = std::vector<std::uint32_t>;
    using Flags = std::vector<bool>;
    using Settings = std::vector<std::size_t>;
    nb::class_<Changes>(m, "Changes",
                        "Makes programs of changes: accesses with `end` behind them, what their reads must read, and how many of them are "
                        "writes (writes.hpp).")
        .def(
            "__init__",
            [](Changes* at, const std::tuple<Addresses, Flags, Settings>& queue, const std::tuple<Addresses, Flags, Settings>& subscriber,
               std::uint32_t execute) { new (at) Changes(std::apply(layout, queue), std::apply(layout, subscriber), execute); },
            "queue"_a, "subscriber"_a, "execute"_a)
        .def("forget", &Changes::forget)
        .def(
            "rows",
            [](Changes& self, bool of_queues, const Matrix& values, const Words<const std::uint32_t>& end) {
                return program(self.rows(of_queues, span_of(values)), end);
            },
            "of_queues"_a, "values"_a, "end"_a)
        .def(
            "of",
            [](Changes& self, const Words<const std::uint32_t>& places, std::size_t each, const Words<const std::int32_t>& queues,
               const Words<const std::int32_t>& subscribers, const Words<const std::int32_t>& nodes, const Matrix& queue_rows,
               const Matrix& subscriber_rows, const Words<const std::uint32_t>& end) {
                const Changes::Rows of_queues{span_of(queue_rows), queue_rows.shape(1)};
                const Changes::Rows of_subscribers{span_of(subscriber_rows), subscriber_rows.shape(1)};
                const Changes::InForce what{span_of(queues), span_of(subscribers), span_of(nodes), of_queues, of_subscribers};
                control::Writes made;
                if (places.shape(0) > kLetOthersOn) {
                    nb::gil_scoped_release no_gil;
                    made = self.of(span_of(places), each, what);
                } else {
                    made = self.of(span_of(places), each, what);
                }
                return program(std::move(made), end);
            },
            "places"_a, "each"_a, "queues"_a, "subscribers"_a, "nodes"_a, "queue_rows"_a, "subscriber_rows"_a, "end"_a);
}

}  // namespace penstock
