// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "designs/access_edge/model/device/python_part.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace nb = nanobind;

namespace penstock {

namespace {

constexpr const char* kModule = "penstock.parts.python";

// What the functions are given: a queue, which keeps what they write into it, and a packet.
struct PythonQueue {
    std::uint32_t number, backlog, head;  // bytes; head: of its next packet
};
struct PythonPacket {
    double now_ns, sojourn_ns;
    std::uint32_t backlog, length;
    bool ecn;
};

void bind_once() {
    if (nb::type<PythonQueue>().is_valid()) return;
    nb::module_ module = nb::module_::import_(kModule);
    nb::class_<PythonQueue>(module, "Queue", nb::dynamic_attr(), "A queue: its settings, its state, and whatever is written into it.")
        .def_ro("number", &PythonQueue::number)
        .def_ro("backlog", &PythonQueue::backlog, "Bytes in it")
        .def_ro("head", &PythonQueue::head, "Bytes of its next packet; of a scheduler");
    nb::class_<PythonPacket>(module, "Packet", "A packet that comes or leaves.")
        .def_ro("now_ns", &PythonPacket::now_ns, "Time since reset")
        .def_ro("sojourn_ns", &PythonPacket::sojourn_ns, "Time since it came to its queue")
        .def_ro("backlog", &PythonPacket::backlog, "Bytes in its queue without it")
        .def_ro("length", &PythonPacket::length, "Its bytes")
        .def_ro("ecn", &PythonPacket::ecn, "It may be marked");
}

// What a call returns; what Python raises becomes a sentence, but for what ends programs.
template <typename Call>
auto in_python(Call&& call) -> decltype(call()) {
    try {
        return call();
    } catch (nb::python_error& error) {
        if (!error.matches(PyExc_Exception)) throw;
        const nb::object words = nb::module_::import_(kModule).attr("failure")(error.value());
        throw std::invalid_argument(nb::cast<std::string>(words));
    }
}

// The functions of a file as they were made for one model, and its queues. All calls need Python's lock.
class Functions {
  public:
    Functions(const PythonObject& maker, std::uint32_t queues) : queues_(queues) {
        bind_once();
        made_ = in_python([&] { return (*maker)(); });
        on_enqueue = made_.attr("on_enqueue");
        on_dequeue = made_.attr("on_dequeue");
        choose = made_.attr("choose");
        tick_ns = nb::cast<double>(made_.attr("tick_ns"));
        cycle_ns = nb::cast<double>(made_.attr("cycle_ns"));
    }

    nb::object on_enqueue, on_dequeue, choose;  // None: there is none
    double tick_ns = 0, cycle_ns = 0;

    // The queue, made when it is first asked for, with these settings.
    nb::object& queue(std::uint32_t number, bool ecn, std::uint64_t word) {
        nb::object& found = queues_[number];
        if (!found.is_valid()) {
            found = nb::cast(PythonQueue{number, 0, 0});
            in_python([&] { return made_.attr("begin")(found, ecn, word); });
        }
        return found;
    }
    bool knows(std::uint32_t number) const { return queues_[number].is_valid(); }
    void set(std::uint32_t number, bool ecn, std::uint64_t word) {
        in_python([&] { return made_.attr("set")(queues_[number], ecn, word); });
    }
    [[noreturn]] void fail(const char* function, const nb::object& said, const char* allowed) const {
        throw std::invalid_argument(nb::cast<std::string>(made_.attr("path")) + ": " + function + " returned " +
                                    nb::cast<std::string>(nb::repr(said)) + "; " + allowed);
    }

  private:
    nb::object made_;
    std::vector<nb::object> queues_;
};

// Functions that are made and dropped with Python's lock by threads that do not hold it.
class Held {
  public:
    Held(const PythonObject& maker, std::uint32_t queues) {
        const nb::gil_scoped_acquire lock;
        functions_ = std::make_unique<Functions>(maker, queues);
    }
    ~Held() {
        const nb::gil_scoped_acquire lock;
        functions_.reset();
    }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;
    Functions* operator->() const { return functions_.get(); }

  private:
    std::unique_ptr<Functions> functions_;
};

class PythonAqm final : public AqmModel {
  public:
    PythonAqm(const PythonObject& maker, std::uint32_t queues) : functions_(maker, queues), settings_(queues) {
        judges_arrivals_ = !functions_->on_enqueue.is_none();
        hears_departures_ = !functions_->on_dequeue.is_none();
    }

    void set(std::int64_t, std::uint32_t queue, const AqmSetting& setting) override {
        settings_[queue] = setting;
        if (!functions_->knows(queue)) return;
        const nb::gil_scoped_acquire lock;
        functions_->set(queue, setting.ecn, setting.word);
    }
    AqmSetting setting(std::uint32_t queue) const override { return settings_[queue]; }

    AqmVerdict departs(const AqmDeparture& packet) override {
        const AqmSetting& own = settings_[packet.queue];
        if (!own.enable || !hears_departures_) return AqmVerdict::Pass;
        const PythonPacket told{ns(packet.now), ns(packet.sojourn), packet.left, packet.length, packet.ect};
        return call("on_dequeue", functions_->on_dequeue, packet.queue, told, !judges_arrivals_);
    }
    AqmVerdict arrives(const AqmArrival& packet) override {
        if (!settings_[packet.queue].enable) return AqmVerdict::Pass;
        return call("on_enqueue", functions_->on_enqueue, packet.queue, {ns(packet.now), 0, packet.backlog, 0, packet.ect}, true);
    }

  private:
    double ns(std::int64_t ticks) const { return static_cast<double>(ticks) * functions_->tick_ns; }

    AqmVerdict call(const char* name, const nb::object& function, std::uint32_t number, const PythonPacket& packet, bool judges) {
        const AqmSetting& own = settings_[number];
        const nb::gil_scoped_acquire lock;
        const nb::object& queue = functions_->queue(number, own.ecn, own.word);
        nb::inst_ptr<PythonQueue>(queue)->backlog = packet.backlog;
        const nb::object said = in_python([&] { return function(queue, nb::cast(packet)); });
        if (said.is_none()) return AqmVerdict::Pass;
        const auto is = [&](const char* word) {
            return PyUnicode_Check(said.ptr()) && PyUnicode_CompareWithASCIIString(said.ptr(), word) == 0;
        };
        if (!judges) functions_->fail(name, said, "beside on_enqueue it is told what leaves, and returns nothing");
        if (is("drop")) return AqmVerdict::Drop;
        if (is("mark")) return own.ecn && packet.ecn ? AqmVerdict::Mark : AqmVerdict::Drop;
        functions_->fail(name, said, "allowed are \"drop\", \"mark\" and None, which lets the packet pass");
    }

    Held functions_;
    std::vector<AqmSetting> settings_;
    bool judges_arrivals_ = false, hears_departures_ = false;
};

// Asks as soon as packets fit downstream and all is known of what was asked for last: every seven cycles.
class PythonScheduler final : public SchedulerModel {
  public:
    PythonScheduler(const PythonObject& maker, std::uint32_t queues, std::int64_t credits)
        : functions_(maker, queues), words_(queues), waiting_(queues), credits_(credits) {}

    SchedulerOutputs step(const SchedulerInputs& in) override {
        SchedulerOutputs out;
        credits_ += in.credit;
        if (in.taken || in.accepted || in.active || in.credit) asleep_until_ = 0;
        if (in.taken) left(in.now, *in.taken);
        if (in.accepted) came(in.now, *in.accepted);
        if (in.active) {
            PythonQueue& queue = of(in.active->queue);
            queue.backlog = queue.head = in.active->length;
            wait(in.active->queue, in.now + 1);
        }
        wake(in.now);
        if (may_decide() && in.now >= std::max(asleep_until_, known_from_)) decide(in.now, out);
        return out;
    }
    std::int64_t next_step(std::int64_t now) const override {
        std::int64_t next = kNever;
        for (const auto& [from, queue] : soon_) next = std::min(next, from);
        if (may_decide()) next = std::min(next, std::max(asleep_until_, known_from_));
        return next == kNever ? kNever : std::max(next, now + 1);
    }
    void set(std::uint32_t queue, std::uint64_t word) override {
        words_[queue] = word;
        if (!functions_->knows(queue)) return;
        const nb::gil_scoped_acquire lock;
        functions_->set(queue, false, word);
    }

  private:
    static constexpr std::int64_t kAgain = 2;  // from an answer until its queue may be asked for again

    bool may_decide() const { return credits_ > 0 && !ready_.empty() && known_from_ != kNever; }
    PythonQueue& of(std::uint32_t number) {
        if (functions_->knows(number)) return *nb::inst_ptr<PythonQueue>(functions_->queue(number, false, 0));
        const nb::gil_scoped_acquire lock;
        return *nb::inst_ptr<PythonQueue>(functions_->queue(number, false, words_[number]));
    }
    void wait(std::uint32_t queue, std::int64_t from) {
        waiting_[queue] = true;
        soon_.emplace_back(from, queue);
    }
    // What may be asked for from this cycle on.
    void wake(std::int64_t now) {
        const auto due = [&](const auto& entry) { return entry.first <= now; };
        for (const auto& [from, queue] : soon_) {
            if (from > now) continue;
            ready_.insert(std::lower_bound(ready_.begin(), ready_.end(), queue), queue);
            asleep_until_ = 0;
        }
        soon_.erase(std::remove_if(soon_.begin(), soon_.end(), due), soon_.end());
    }
    void came(std::int64_t now, const AcceptedPacket& packet) {
        of(packet.queue).backlog = packet.backlog;
        tell(functions_->on_enqueue, packet.queue, {ns(now), 0, packet.backlog - packet.length, packet.length, false});
    }
    void left(std::int64_t now, const PacketTaken& packet) {
        PythonQueue& queue = of(packet.queue);
        known_from_ = now + kAgain;
        if (packet.left) {
            queue.backlog = packet.left, queue.head = packet.head;
            wait(packet.queue, now + kAgain);
        } else if (!waiting_[packet.queue]) {
            queue.backlog = queue.head = 0;
        }
        tell(functions_->on_dequeue, packet.queue, {ns(now), 0, packet.left, packet.length, false});
    }
    void tell(const nb::object& function, std::uint32_t queue, const PythonPacket& packet) {
        if (function.is_none()) return;
        const nb::gil_scoped_acquire lock;
        in_python([&] { return function(functions_->queue(queue, false, words_[queue]), nb::cast(packet)); });
    }
    void decide(std::int64_t now, SchedulerOutputs& out) {
        const nb::gil_scoped_acquire lock;
        nb::list queues;
        for (const std::uint32_t queue : ready_) queues.append(functions_->queue(queue, false, words_[queue]));
        const nb::object said = in_python([&] { return functions_->choose(queues, ns(now)); });
        if (said.is_none()) {
            asleep_until_ = kNever;
        } else if (nb::isinstance<PythonQueue>(said)) {
            const std::uint32_t number = nb::inst_ptr<PythonQueue>(said)->number;
            const auto at = std::lower_bound(ready_.begin(), ready_.end(), number);
            if (at == ready_.end() || *at != number) refuse(said);
            ready_.erase(at);
            waiting_[number] = false;
            --credits_;
            known_from_ = kNever;
            out.ask = number;
        } else if ((PyFloat_Check(said.ptr()) || PyLong_Check(said.ptr())) && !PyBool_Check(said.ptr())) {
            const double cycles = std::ceil(nb::cast<double>(said) / functions_->cycle_ns);
            if (!(cycles >= 0 && cycles < 1e15)) refuse(said);
            asleep_until_ = now + std::max<std::int64_t>(1, static_cast<std::int64_t>(cycles));
        } else {
            refuse(said);
        }
    }
    [[noreturn]] void refuse(const nb::object& said) const {
        functions_->fail("choose", said, "allowed are one of the queues that it was given, a time in ns to wait, and None");
    }
    double ns(std::int64_t cycles) const { return static_cast<double>(cycles) * functions_->cycle_ns; }

    Held functions_;
    std::vector<std::uint64_t> words_;                         // settings, by queue
    std::vector<bool> waiting_;                                // it is in `soon_` or `ready_`
    std::deque<std::pair<std::int64_t, std::uint32_t>> soon_;  // queues with packets, and from when on they may be asked for
    std::vector<std::uint32_t> ready_;                         // that may be, in order of their numbers
    std::int64_t credits_, asleep_until_ = 0;
    std::int64_t known_from_ = 0;  // what the last decision has changed is known; kNever: it is under way
};

}  // namespace

PythonObject python_object(nb::object object) {
    return {new nb::object(std::move(object)), [](nb::object* held) {
                const nb::gil_scoped_acquire lock;
                delete held;
            }};
}

std::shared_ptr<AqmModel> python_aqm(const PythonObject& maker, std::uint32_t queues) { return std::make_shared<PythonAqm>(maker, queues); }

std::shared_ptr<SchedulerModel> python_scheduler(const PythonObject& maker, std::uint32_t queues, std::int64_t credits) {
    return std::make_shared<PythonScheduler>(maker, queues, credits);
}

}  // namespace penstock
