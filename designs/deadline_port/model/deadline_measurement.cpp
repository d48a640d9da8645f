// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "designs/deadline_port/model/deadline_measurement.hpp"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "blocks/common/model/drop.hpp"
#include "blocks/deadline/model/exact_edfr.hpp"
#include "designs/deadline_port/model/deadline_port.hpp"
#include "penstock/engine/amount.hpp"
#include "penstock/engine/python_columns.hpp"

namespace nb = nanobind;

namespace penstock {

using namespace engine;

namespace {

constexpr double kBusBits = 512;
constexpr std::int64_t kNoSlack = std::numeric_limits<std::int64_t>::max();

class DeadlineMeasurement final : public OwnMeasurement {
  public:
    DeadlineMeasurement(std::uint32_t classes, DeadlineLink link, std::int64_t interval, std::function<std::int64_t()> told,
                        std::vector<std::int64_t> deadlines)
        : exact_(link, EdfrQueue{}), interval_(interval), told_(std::move(told)), deadlines_(std::move(deadlines)), classes_(classes) {}

    void arrived(std::int64_t last_bit, const Frame& frame) override { last_bits_.emplace(frame.number, last_bit); }

    void accepted(std::int64_t, const Frame& frame, std::uint32_t slot) override {
        if (slots_.size() <= slot) slots_.resize(slot + 1);
        slots_[slot] = came(frame);
    }

    void dropped(std::int64_t cycle, const Frame& frame, unsigned reason) override {
        if (reason == static_cast<unsigned>(Drop::NoPage)) came(frame);
        last_bits_.erase(frame.number);
        if (reason != kDropMissed || interval_ == 0) return;
        const auto row = static_cast<std::size_t>(std::max<std::int64_t>(cycle, 0) / interval_);
        if (missed_.size() < (row + 1) * classes_.size()) missed_.resize((row + 1) * classes_.size());
        ++missed_[row * classes_.size() + frame.queue];
    }

    const char* departed(std::int64_t first_bit, const Frame& frame, std::uint32_t slot, std::uint32_t, std::uint32_t) override {
        const std::int64_t slack = slots_[slot] - first_bit;
        Class& of = classes_[frame.queue];
        of.least_slack = std::min(of.least_slack, slack);
        of.late += slack < 0;
        return nullptr;
    }

    void end(std::int64_t cycle) override {
        exact_.advance(cycle, *this);
        if (interval_ > 0 && cycle > 0)
            missed_.resize(std::max(missed_.size(), static_cast<std::size_t>((cycle - 1) / interval_ + 1) * classes_.size()));
    }

    // Of the exact EDFR.
    void operator()(const DeadlinePacket& packet, DeadlineFate fate, std::int64_t) {
        Class& of = classes_[packet.traffic_class];
        (fate == DeadlineFate::Sent ? of.sent : of.missed).add(packet.bytes);
    }

    void add_to(nb::dict& result) const override {
        const auto by_class = [&](auto field) {
            return column<std::uint64_t>(classes_.size(), [&](std::uint32_t c) { return field(classes_[c]); });
        };
        nb::dict exact, found;
        exact["sent_packets"] = by_class([](const Class& c) { return c.sent.packets; });
        exact["sent_bytes"] = by_class([](const Class& c) { return c.sent.bytes; });
        exact["missed_packets"] = by_class([](const Class& c) { return c.missed.packets; });
        exact["missed_bytes"] = by_class([](const Class& c) { return c.missed.bytes; });
        found["exact"] = exact;
        found["late_packets"] = by_class([](const Class& c) { return c.late; });
        found["slack_min"] = column<std::int64_t>(classes_.size(), [&](std::uint32_t c) { return classes_[c].least_slack; });
        if (interval_ > 0) found["missed"] = to_array(std::vector<std::uint64_t>(missed_), classes_.size());
        result["deadline"] = found;
    }

  private:
    struct Class {
        Amount sent, missed;  // by the exact EDFR
        std::uint64_t late = 0;
        std::int64_t least_slack = kNoSlack;
    };

    // A good frame came to its class: the exact EDFR gets it, too. Returns its deadline.
    std::int64_t came(const Frame& frame) {
        const auto found = last_bits_.find(frame.number);
        if (found == last_bits_.end()) return 0;
        latest_ = std::max(latest_, found->second);
        const std::int64_t deadline = told_ ? told_() : found->second + deadlines_[frame.queue];
        last_bits_.erase(found);
        const DeadlinePacket packet{latest_, deadline, next_++, frame.length, frame.queue};
        if (deadline < latest_)
            (*this)(packet, DeadlineFate::Expired, latest_);
        else
            exact_.arrive(packet, *this);
        return deadline;
    }

    ExactEdfr exact_;
    std::int64_t interval_;
    std::function<std::int64_t()> told_;
    std::vector<std::int64_t> deadlines_;
    std::vector<Class> classes_;
    std::unordered_map<std::uint64_t, std::int64_t> last_bits_;  // of frames whose class has not taken them
    std::vector<std::int64_t> slots_;                            // deadlines
    std::vector<std::uint64_t> missed_;                          // [interval][class]
    std::int64_t latest_ = 0;
    std::uint64_t next_ = 0;
};

}  // namespace

std::unique_ptr<OwnMeasurement> deadline_measurement(Table& job, const Statement& statement, const Environment& environment,
                                                     std::function<std::int64_t()> told) {
    std::vector<std::int64_t> deadlines;
    if (job.has("deadlines")) {
        std::vector<nb::object> keep;
        const auto given = job.array<std::int64_t>("deadlines", "int64", keep);
        deadlines.assign(given.begin(), given.end());
        if (deadlines.size() != statement.queues) bad_job("deadlines has not one element for each class");
        for (const std::int64_t deadline : deadlines)
            if (deadline < 0 || deadline > kMaxCycles) bad_job("deadlines is out of range");
    }
    if (!told && deadlines.empty()) return nullptr;
    const double bus = kBusBits * environment.clock_hz, given = environment.egress_bps.front();
    const double rate = std::min(given > 0 ? given : bus, static_cast<double>(DeadlineLink::kMaxUnitsPerSecond));
    const DeadlineLink link(static_cast<std::uint64_t>(environment.clock_hz), static_cast<std::uint64_t>(rate),
                            std::min<std::uint32_t>(environment.overhead_bytes, 1024));
    return std::make_unique<DeadlineMeasurement>(statement.queues, link, job.integer("interval_cycles", 0, kMaxCycles, 0), std::move(told),
                                                 std::move(deadlines));
}

}  // namespace penstock
