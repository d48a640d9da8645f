// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "designs/p4_switch/model/machine/bind.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <deque>
#include <map>
#include <optional>

#include "designs/p4_switch/model/machine/state.hpp"

namespace penstock::p4 {

namespace {

constexpr unsigned kMostRounds = 1000;  // of recirculated packets and clones, for one packet that came in

// Ingress, `waited_us` in a queue that has `depth` packets, egress; recirculated packets at once.
class Machine {
  public:
    Machine(const nb::dict& program, std::uint64_t seed) : switch_(read(program), seed) {}
    ~Machine() {
        for (auto& [place, queue] : waiting_)
            for (const Waiting& one : queue) switch_.give_back(one.packet);
    }

    void configure(const nb::dict& given) {
        Table table(given, "state.");
        switch_.configure(table);
    }

    void blur(std::uint64_t seed) { switch_.blur(seed); }
    void keep_stale() { switch_.keep_stale(); }
    void draw(bool most) { switch_.draw(most); }

    std::vector<std::pair<std::uint32_t, nb::bytes>> process(std::uint32_t port, const nb::bytes& bytes, std::uint64_t now_us,
                                                             std::uint64_t depth, std::uint64_t waited_us) {
        const auto* data = static_cast<const std::uint8_t*>(bytes.data());
        std::vector<std::pair<std::uint32_t, nb::bytes>> sent;
        last_dropped_ = 0;
        all({data, bytes.size()}, port, now_us, depth, waited_us, [&](const Packet& packet, std::uint32_t out) {
            const auto found = packet.bytes();
            sent.emplace_back(out, nb::bytes(found.data(), found.size()));
        });
        return sent;
    }

    // Ingress alone: what it queues waits in queues of this machine, which have no limit. Returns port and priority of each.
    std::vector<std::pair<std::uint32_t, std::uint32_t>> arrive(std::uint32_t port, const nb::bytes& bytes, std::uint64_t now_us) {
        std::vector<std::pair<std::uint32_t, std::uint32_t>> found;
        enter(switch_.take({static_cast<const std::uint8_t*>(bytes.data()), bytes.size()}), port, now_us, found);
        return found;
    }

    // The head of a queue leaves: egress; what it recirculates goes through ingress at once. Returns the frame, or None: dropped,
    // recirculated, or there was none.
    std::optional<nb::bytes> depart(std::uint32_t port, std::uint32_t priority, std::uint64_t now_us) {
        auto& waiting = waiting_[{port, priority}];
        if (waiting.empty()) return std::nullopt;
        const Waiting head = waiting.front();
        waiting.pop_front();
        std::uint64_t depth = 0;  // of all priorities, as simple_switch has it
        for (auto at = waiting_.lower_bound({port, 0}); at != waiting_.end() && at->first.first == port; ++at) depth += at->second.size();
        const QueueFacts facts{port, priority, head.since_us, head.depth, depth};
        queued_.clear();
        const Verdict verdict = switch_.egress(head.packet, facts, {now_us, now_us}, queued_);
        for (const Queued& clone : queued_) wait(clone, now_us);
        if (verdict == Verdict::Recirculate) {
            std::vector<std::pair<std::uint32_t, std::uint32_t>> found;
            enter(head.packet, 0, now_us, found);
            return std::nullopt;
        }
        std::optional<nb::bytes> sent;
        if (verdict == Verdict::Send) {
            const auto bytes = head.packet->bytes();
            sent.emplace(bytes.data(), bytes.size());
        }
        switch_.give_back(head.packet);
        return sent;
    }

    std::size_t waiting(std::uint32_t port, std::uint32_t priority) { return waiting_[{port, priority}].size(); }

    // Packets per second of CPU time: the same one over and over.
    double speed(std::uint32_t port, const nb::bytes& bytes, std::uint64_t count, std::uint64_t gap_us) {
        const auto* data = static_cast<const std::uint8_t*>(bytes.data());
        const std::clock_t begin = std::clock();
        for (std::uint64_t i = 0; i < count; ++i) all({data, bytes.size()}, port, i * gap_us, 0, 0, [](const Packet&, std::uint32_t) {});
        return static_cast<double>(count) * CLOCKS_PER_SEC / static_cast<double>(std::max<std::clock_t>(std::clock() - begin, 1));
    }

    std::vector<std::uint64_t> register_cell(std::size_t which, std::uint64_t index) {
        const Program::Register& shape = switch_.program().registers.at(which);
        if (index >= shape.size) throw nb::index_error("the register has no such cell");
        const std::size_t n = (shape.bits + 63) / 64;
        const auto& cells = switch_.state().registers[which];
        return {cells.begin() + static_cast<std::ptrdiff_t>(index * n), cells.begin() + static_cast<std::ptrdiff_t>((index + 1) * n)};
    }
    std::pair<std::uint64_t, std::uint64_t> counter_cell(std::size_t which, std::uint64_t index) {
        const Counter& cell = switch_.state().counters.at(which).at(index);
        return {cell.packets, cell.bytes};
    }
    // Of all entries: handle, packets, bytes.
    std::vector<std::tuple<std::uint32_t, std::uint64_t, std::uint64_t>> entry_counters(std::size_t table) {
        std::vector<std::tuple<std::uint32_t, std::uint64_t, std::uint64_t>> found;
        switch_.state().tables.at(table).each([&](const Entry& entry) { found.emplace_back(entry.handle, entry.packets, entry.bytes); });
        return found;
    }
    void remove_entry(std::size_t table, std::uint32_t handle) { switch_.state().tables.at(table).remove(handle); }

    std::uint64_t digests() const { return switch_.digests(); }
    std::uint64_t parser_errors() const { return switch_.parser_errors(); }
    std::uint64_t asserts_failed() const { return switch_.asserts_failed(); }
    std::uint64_t packets_out_of_pool() const { return switch_.packets_out_of_pool(); }
    std::uint64_t dropped() const { return last_dropped_; }

  private:
    static std::shared_ptr<const Program> read(const nb::dict& given) {
        Table table(given, "program.");
        return Program::read(table);
    }

    struct Waiting {
        Packet* packet;
        std::uint64_t since_us, depth;
    };

    void wait(const Queued& queued, std::uint64_t now_us) {
        auto& queue = waiting_[{queued.port, queued.priority}];
        queue.push_back({queued.packet, now_us, queue.size()});
    }

    void enter(Packet* packet, std::uint32_t port, std::uint64_t now_us, std::vector<std::pair<std::uint32_t, std::uint32_t>>& found) {
        queued_.clear();
        if (switch_.ingress(packet, port, {now_us, now_us}, queued_) != Fate::Queued) switch_.give_back(packet);
        for (const Queued& queued : queued_) {
            wait(queued, now_us);
            found.emplace_back(queued.port, queued.priority);
        }
    }

    template <typename F>
    void all(std::span<const std::uint8_t> bytes, std::uint32_t port, std::uint64_t now_us, std::uint64_t depth, std::uint64_t waited_us,
             F&& sent) {
        queued_.clear();
        unsigned rounds = 0;
        const auto into = [&](Packet* packet) {
            if (switch_.ingress(packet, port, {now_us, now_us}, queued_) == Fate::Queued) return;
            switch_.give_back(packet);
            ++last_dropped_;
        };
        into(switch_.take(bytes));
        for (std::size_t i = 0; i < queued_.size(); ++i) {
            const Queued next = queued_[i];
            if (++rounds > kMostRounds) {
                switch_.give_back(next.packet);
                ++last_dropped_;
                continue;
            }
            const QueueFacts facts{next.port, next.priority, now_us, depth, depth};
            const std::uint64_t later_us = now_us + waited_us;
            switch (switch_.egress(next.packet, facts, {later_us, later_us}, queued_)) {
                case Verdict::Send:
                    sent(*next.packet, next.port);
                    switch_.give_back(next.packet);
                    break;
                case Verdict::Drop:
                    switch_.give_back(next.packet);
                    ++last_dropped_;
                    break;
                case Verdict::Recirculate:
                    into(next.packet);
                    break;
            }
        }
    }

    V1Switch switch_;
    std::vector<Queued> queued_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::deque<Waiting>> waiting_;  // by port and priority
    std::uint64_t last_dropped_ = 0;
};

}  // namespace

void bind_machine(nb::module_& module) {
    nb::module_& own = module;
    nb::class_<Machine>(own, "Machine")
        .def(nb::init<const nb::dict&, std::uint64_t>(), nb::arg("program"), nb::arg("seed") = 1)
        .def("configure", &Machine::configure)
        .def("blur", &Machine::blur, nb::arg("seed"), "headers that are not valid have anything in their fields from now on")
        .def("keep_stale", &Machine::keep_stale, "headers that are not valid keep in their fields what earlier packets have left there")
        .def("draw", &Machine::draw, nb::arg("most"), "random() gives the largest value of its range from now on, or the least one")
        .def("process", &Machine::process, nb::arg("port"), nb::arg("bytes"), nb::arg("now_us") = 0, nb::arg("depth") = 0,
             nb::arg("waited_us") = 0)
        .def("arrive", &Machine::arrive, nb::arg("port"), nb::arg("bytes"), nb::arg("now_us"))
        .def("depart", &Machine::depart, nb::arg("port"), nb::arg("priority"), nb::arg("now_us"))
        .def("waiting", &Machine::waiting, nb::arg("port"), nb::arg("priority"))
        .def("speed", &Machine::speed, nb::arg("port"), nb::arg("bytes"), nb::arg("count"), nb::arg("gap_us") = 1)
        .def("register_cell", &Machine::register_cell)
        .def("counter_cell", &Machine::counter_cell)
        .def("entry_counters", &Machine::entry_counters)
        .def("remove_entry", &Machine::remove_entry)
        .def_prop_ro("digests", &Machine::digests)
        .def_prop_ro("parser_errors", &Machine::parser_errors)
        .def_prop_ro("asserts_failed", &Machine::asserts_failed)
        .def_prop_ro("packets_out_of_pool", &Machine::packets_out_of_pool)
        .def_prop_ro("dropped", &Machine::dropped, "packets that the last process() has dropped");
}

}  // namespace penstock::p4
