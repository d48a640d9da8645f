// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "python_session.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include "penstock/engine/ecn.hpp"
#include "penstock/engine/python_columns.hpp"
#include "penstock/engine/session.hpp"
#include "python_job.hpp"
#include "python_progress.hpp"
#include "python_result.hpp"

namespace nb = nanobind;
using namespace penstock::engine;

namespace penstock {

namespace {

constexpr std::int64_t kChunk = 1 << 16;  // cycles between two looks at the wall clock

// What has become of frames since it was asked last: a row for each.
class Fates final : public FrameListener {
  public:
    explicit Fates(OfferedFrames& frames, std::uint64_t seed) : frames_(frames), seed_(seed) {}

    void arrived(const Frame& frame) override { frames_.remember(frame.number); }
    void left(const Frame& frame, std::int64_t last_bit, std::int64_t first_bit, bool mark, std::span<const std::uint8_t> bytes,
              unsigned output) override {
        left_.number.push_back(frame.number);
        left_.cycle.push_back(first_bit);
        left_.queue.push_back(frame.queue);
        waited_.push_back(first_bit - last_bit);
        marked_.push_back(mark);
        output_.push_back(static_cast<std::uint16_t>(output));
        if (!bytes.data()) {
            const std::size_t at = data_.size();
            data_.resize(at + frame.length + 8);  // what frame_bytes() needs
            frame_bytes(frame, seed_, data_.data() + at);
            data_.resize(at + frame.length);
            if (mark) mark_ce(data_.data() + at, frame.length);
        } else {
            data_.insert(data_.end(), bytes.begin(), bytes.end());
        }
        offsets_.push_back(static_cast<std::int64_t>(data_.size()));
        frames_.forget(frame.number, true);
    }
    void dropped(const Frame& frame, std::int64_t cycle, unsigned reason) override {
        lost_.number.push_back(frame.number);
        lost_.cycle.push_back(cycle);
        lost_.queue.push_back(frame.queue);
        lost_length_.push_back(frame.length);
        reason_.push_back(static_cast<std::uint8_t>(reason));
        frames_.forget(frame.number, false);
    }

    // Columns of the frames that have left: their bytes are data[offsets[i]:offsets[i + 1]].
    nb::dict take_left() {
        nb::dict dict = std::exchange(left_, {}).columns();
        dict["latency"] = to_array(std::exchange(waited_, {}));
        dict["marked"] = to_array(std::exchange(marked_, {}));
        dict["output"] = to_array(std::exchange(output_, {}));
        dict["offsets"] = to_array(std::exchange(offsets_, {0}));
        dict["data"] = to_array(std::exchange(data_, {}));
        return dict;
    }
    nb::dict take_dropped() {
        nb::dict dict = std::exchange(lost_, {}).columns();
        dict["length"] = to_array(std::exchange(lost_length_, {}));
        dict["reason"] = to_array(std::exchange(reason_, {}));
        return dict;
    }

  private:
    struct Rows {
        std::vector<std::uint64_t> number;
        std::vector<std::int64_t> cycle;
        std::vector<std::uint32_t> queue;

        nb::dict columns() {
            nb::dict dict;
            dict["number"] = to_array(std::move(number));
            dict["cycle"] = to_array(std::move(cycle));
            dict["queue"] = to_array(std::move(queue));
            return dict;
        }
    };

    OfferedFrames& frames_;
    std::uint64_t seed_;
    Rows left_, lost_;
    std::vector<std::int64_t> waited_, offsets_{0};
    std::vector<std::uint8_t> marked_, data_, reason_;
    std::vector<std::uint16_t> output_;
    std::vector<std::uint32_t> lost_length_;
};

class PythonSession {
  public:
    explicit PythonSession(const nb::dict& settings)
        : python_(job_from_python(settings)),
          measurement_(python_.job.measure),
          frames_(python_.job.device->statement().inputs),
          fates_(frames_, python_.job.environment.seed),
          session_(*python_.job.device, python_.job.environment, measurement_) {
        const Job& job = python_.job;
        if (!job.sources.empty() || !job.timed_writes.empty() || job.duration_cycles || job.max_cycles || job.drain || job.reset_after)
            throw nb::value_error("a session has no sources, timed writes, duration or drain: that is what its caller decides");
        measurement_.watch(job.sample_queues);
        measurement_.listen(&fates_);
        nb::gil_scoped_release no_gil;
        session_.open();
        for (const RegisterWrite& write : job.setup_writes) session_.write(write.address, write.value);
        session_.settle();
    }

    void start() {
        open();
        if (session_.started()) throw std::invalid_argument("the session has started already");
        session_.start(frames_.sources());
    }
    void write(std::uint32_t address, std::uint32_t value) {
        open();
        session_.write(address, value);
    }
    std::uint32_t read(std::uint32_t address) {
        open();
        nb::gil_scoped_release no_gil;
        return session_.read(address);
    }
    std::uint64_t offer(std::int64_t cycle, std::uint32_t queue, const nb::bytes& bytes, bool error, unsigned input) {
        running();
        const auto* const first = reinterpret_cast<const std::uint8_t*>(bytes.c_str());
        return offer(cycle, input, queue, std::vector<std::uint8_t>(first, first + bytes.size()), error);
    }
    // Returns the number of the first one.
    std::uint64_t offer_many(const nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>& cycles,
                             const nb::ndarray<const std::uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>& queues,
                             const nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>& offsets,
                             const nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>& data, unsigned input) {
        running();
        const std::size_t n = cycles.size();
        if (n == 0 || queues.size() != n || offsets.size() != n + 1)
            throw nb::value_error("cycles and queues have an element for each frame, one at least, and offsets one more");
        for (std::size_t i = 0; i < n; ++i)
            if (cycles.data()[i] < session_.now()) throw nb::value_error("a frame cannot arrive in the past");
        for (std::size_t i = 0; i < n; ++i) {
            const std::int64_t from = offsets.data()[i], to = offsets.data()[i + 1];
            if (from < 0 || to < from || to > static_cast<std::int64_t>(data.size()) || to - from > kMaxFrameBytes)
                throw nb::value_error("offsets do not rise, point out of the data, or a frame has more than 65,535 byte");
        }
        std::uint64_t first = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const std::uint64_t number = offer(cycles.data()[i], input, queues.data()[i],
                                               {data.data() + offsets.data()[i], data.data() + offsets.data()[i + 1]}, false);
            if (i == 0) first = number;
        }
        return first;
    }

    // Runs until cycle `until`, or until the device is empty and has been offered nothing more. Returns the cycle.
    std::int64_t advance(std::int64_t until, bool until_empty, nb::object progress) {
        running();
        if (until < session_.now()) throw nb::value_error("the clock goes on, not back");
        if (until > kMaxCycles) throw nb::value_error("the clock ends at 2^52 cycles");
        Reporter reporter(std::move(progress));
        bool stopped = false;
        {
            nb::gil_scoped_release no_gil;
            const std::int64_t begin = session_.now();
            Pace pace(kChunk);
            while (session_.now() < until && !stopped) {
                const bool sent = until_empty && frames_.empty() && session_.input_idle();
                measurement_.stop_when_empty(sent);
                if (sent && measurement_.enough()) break;
                // A frame that is still to arrive keeps it from being empty; after the last one every cycle counts.
                const std::int64_t to_come = frames_.latest() - session_.now();
                const bool sending = until_empty && !sent && to_come < kSendingChunk;
                const std::int64_t most = until_empty && !sent ? std::min(pace.cycles(), to_come) : pace.cycles();
                const std::int64_t to = std::min(until, session_.now() + (sending ? kSendingChunk : most));
                frames_.look_ahead(to);  // not beyond: who interrupts may offer frames that come before those of later
                session_.advance(to);
                pace.ran();
                const Totals& t = measurement_.live();
                stopped = !reporter({"run", session_.now() - begin, until - begin, t.in.packets, t.out.packets,
                                     t.in.packets - t.out.packets - t.queued.packets, t.queued.packets});
            }
            measurement_.stop_when_empty(false);
            frames_.look_ahead(session_.now());
        }
        if (stopped) {
            PyErr_SetNone(PyExc_KeyboardInterrupt);
            throw nb::python_error();
        }
        return session_.now();
    }

    nb::dict take_left() { return fates_.take_left(); }
    nb::dict take_dropped() { return fates_.take_dropped(); }
    nb::dict totals() const {
        nb::dict dict = seen(ended_ ? measurement_.totals() : measurement_.live()), lost;
        const LostFrames frames = session_.ingress_lost();
        lost["packets"] = frames.packets;
        lost["bytes"] = frames.bytes;
        dict["ingress_lost"] = lost;
        return dict;
    }
    std::size_t kept() const { return frames_.kept(); }
    const std::vector<std::string>& drop_reasons() const { return measurement_.device().drop_reasons; }
    std::int64_t now() const { return session_.started() ? session_.now() : 0; }
    bool started() const { return session_.started(); }

    nb::dict end() {
        open();
        ended_ = true;
        Outcome outcome;
        {
            nb::gil_scoped_release no_gil;
            const bool sent = frames_.empty();
            frames_.close();
            outcome = session_.end(python_.job.sample_queues, sent);
        }
        measurement_.listen(nullptr);
        return result_to_python(outcome, measurement_, python_.job.measure.keep_departures);
    }

  private:
    static constexpr std::int64_t kSendingChunk = 32;  // less than a frame takes through a device

    nb::dict seen(const Totals& totals) const { return totals_to_python(totals, measurement_, measurement_.histograms()[0]); }
    void open() const {
        if (ended_) throw std::invalid_argument("the session has ended");
    }
    void running() const {
        open();
        if (!session_.started()) throw std::invalid_argument("the session has not started");
    }
    std::uint64_t offer(std::int64_t cycle, unsigned input, std::uint32_t queue, std::vector<std::uint8_t> bytes, bool error) {
        if (cycle < session_.now()) throw nb::value_error("a frame cannot arrive in the past");
        return frames_.offer(cycle, input, queue, std::move(bytes), error);
    }

    PythonJob python_;
    Measurement measurement_;
    OfferedFrames frames_;
    Fates fates_;
    Session session_;
    bool ended_ = false;
};

}  // namespace

void bind_session(nb::module_& m) {
    nb::class_<PythonSession>(m, "Session",
                              "A device held open. Times are cycles of its clock, which starts with start(). The settings are those of a "
                              "job without sources and duration (docs/jobs.md). Raises ValueError for what makes "
                              "no sense, RuntimeError when the device breaks a protocol or one of its assertions fails.")
        .def(nb::init<const nb::dict&>(), nb::arg("settings"))
        .def("start", &PythonSession::start, "Start the clock; before that the device is set up.")
        .def("write", &PythonSession::write, nb::arg("address"), nb::arg("value"), "Write a register; done before the next read.")
        .def("read", &PythonSession::read, nb::arg("address"), "Read a register; the clock goes on meanwhile.")
        .def("offer", nb::overload_cast<std::int64_t, std::uint32_t, const nb::bytes&, bool, unsigned>(&PythonSession::offer),
             nb::arg("cycle"), nb::arg("queue"), nb::arg("data"), nb::arg("error") = false, nb::arg("input") = 0,
             "Offer a frame that arrives in `cycle`, now or later; returns its number.")
        .def("offer_many", &PythonSession::offer_many, nb::arg("cycles"), nb::arg("queues"), nb::arg("offsets"), nb::arg("data"),
             nb::arg("input") = 0,
             "Offer frames: the bytes of the i-th are data[offsets[i]:offsets[i + 1]]; returns the number of the first, the others follow.")
        .def("advance", &PythonSession::advance, nb::arg("until"), nb::arg("until_empty") = false, nb::arg("progress") = nb::none(),
             "Run until this cycle, or until the device is empty and nothing more is offered; returns the cycle.")
        .def("take_left", &PythonSession::take_left, "Columns of the frames that have left since the last call.")
        .def("take_dropped", &PythonSession::take_dropped, "Columns of the frames that were dropped since the last call.")
        .def("totals", &PythonSession::totals,
             "Packets and bytes in, out, queued and dropped by reason so far, what FIFOs of inputs lost, what went wrong.")
        .def("end", &PythonSession::end, "End the session and return its result, as a run's.")
        .def_prop_ro("drop_reasons", &PythonSession::drop_reasons, "Names of the device's drop reasons by number; empty: it has none.")
        .def_prop_ro("now", &PythonSession::now)
        .def_prop_ro("kept", &PythonSession::kept, "How many frames' bytes are kept; for tests.")
        .def_prop_ro("started", &PythonSession::started);
}

}  // namespace penstock
