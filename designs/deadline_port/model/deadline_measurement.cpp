// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "designs/deadline_port/model/deadline_measurement.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <optional>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "blocks/common/model/drop.hpp"
#include "blocks/deadline/model/edfr_parts.hpp"
#include "blocks/deadline/model/exact_edfr.hpp"
#include "penstock/engine/python_columns.hpp"

namespace nb = nanobind;

namespace penstock {

using namespace engine;

namespace {

// When the line has brought each frame's first beat, of frames in the order in which they come.
class FirstBeats {
  public:
    explicit FirstBeats(const Link& line) : line_(line) {}

    std::int64_t of(const Frame& frame, std::int64_t last_bit) {
        const Ticks all = line_.time(frame.length);
        Ticks start = std::max(frame.arrival, free_);
        // One before it was lost in front of the port: then it began some part of a cycle before this at most.
        if (cycle_ceil(start + all) != last_bit) start = ticks(last_bit) - all;
        free_ = start + line_.frame_time(frame.length);
        return cycle_ceil(start + line_.time(std::min(frame.length, EdfrSettings::kBeatBytes)));
    }

  private:
    Link line_;
    Ticks free_ = 0;
};

// Every good frame goes to an exact EDFR in front of the same link: from its last bit on, with the deadline that the device has given it.
// Frames that the device drops for want of memory go there, too: the exact one has all the memory that it needs. A plain FIFO gives none:
// there it is the one that a port with deadlines gives, which counts from the first beat on.
class DeadlineMeasurement final : public OwnMeasurement {
  public:
    DeadlineMeasurement(std::uint32_t classes, std::int64_t interval, std::optional<DeadlineLink> link, const Link& line,
                        std::shared_ptr<DeadlineBook> book, std::vector<std::int64_t> wait)
        : interval_(interval), book_(std::move(book)), first_beats_(line), wait_(std::move(wait)), of_(classes) {
        if (link) exact_.emplace(*link, EdfrQueue());
    }

    void arrived(std::int64_t last_bit, const Frame& frame) override {
        came_.push_back({frame.number, first_beats_.of(frame, last_bit), last_bit});
        ++of_[frame.queue].came;
    }
    void begin() override {
        for (Row& row : of_) {
            row.slack = std::numeric_limits<std::int64_t>::max();
            row.exact_missed_begun = row.missed.packets;
            row.came = row.missed_here = 0;
        }
    }
    void accepted(std::int64_t, const Frame& frame, std::uint32_t slot) override {
        if (slot >= deadline_.size()) deadline_.resize(std::max<std::size_t>(slot + 1, 2 * deadline_.size()));
        deadline_[slot] = offer(frame);
    }
    void dropped(std::int64_t cycle, const Frame& frame, unsigned reason) override {
        if (reason == static_cast<unsigned>(Drop::NoPage)) offer(frame);
        if (reason == kDropMissed) ++of_[frame.queue].missed_here;
        if (reason != kDropMissed || interval_ == 0) return;
        const auto row = static_cast<std::size_t>(cycle / interval_);
        if (missed_.size() < (row + 1) * of_.size()) missed_.resize((row + 1) * of_.size());
        ++missed_[row * of_.size() + frame.queue];
    }
    const char* departed(std::int64_t, const Frame& frame, std::uint32_t slot, std::uint32_t, std::uint32_t) override {
        const std::int64_t slack = deadline_[slot] - book_->began(frame.number);
        Row& row = of_[frame.queue];
        row.slack = std::min(row.slack, slack);
        row.late += slack < 0;
        return nullptr;
    }
    void end(std::int64_t cycle) override {
        offer_to_exact(DeadlineBook::kNone);
        if (exact_) exact_->advance(cycle, *this);
        if (interval_ != 0 && cycle > 0) missed_.resize(static_cast<std::size_t>((cycle - 1) / interval_ + 1) * of_.size());
    }

    // What the exact one has made of a frame.
    void operator()(const DeadlinePacket& packet, DeadlineFate fate, std::int64_t time) {
        Row& row = of_[packet.traffic_class];
        if (fate != DeadlineFate::Sent) return row.missed.add(packet.bytes);
        row.sent.add(packet.bytes);
        row.delay += static_cast<std::uint64_t>(time - packet.arrival);
    }

    void add_to(nb::dict& result) const override {
        const auto rows = of_.size();
        nb::dict own;
        own["slack_min"] = column<std::int64_t>(rows, [&](std::uint32_t c) { return of_[c].slack; });
        own["late_packets"] = column<std::uint64_t>(rows, [&](std::uint32_t c) { return of_[c].late; });
        own["came"] = column<std::uint64_t>(rows, [&](std::uint32_t c) { return of_[c].came; });
        own["missed_here"] = column<std::uint64_t>(rows, [&](std::uint32_t c) { return of_[c].missed_here; });
        if (interval_ != 0) own["missed"] = to_array(std::vector<std::uint64_t>(missed_), rows);
        if (exact_) {
            nb::dict exact;
            exact["sent_packets"] = column<std::uint64_t>(rows, [&](std::uint32_t c) { return of_[c].sent.packets; });
            exact["sent_bytes"] = column<std::uint64_t>(rows, [&](std::uint32_t c) { return of_[c].sent.bytes; });
            exact["missed_packets"] = column<std::uint64_t>(rows, [&](std::uint32_t c) { return of_[c].missed.packets; });
            exact["missed_bytes"] = column<std::uint64_t>(rows, [&](std::uint32_t c) { return of_[c].missed.bytes; });
            exact["measured_missed"] =
                column<std::uint64_t>(rows, [&](std::uint32_t c) { return of_[c].missed.packets - of_[c].exact_missed_begun; });
            exact["sent_delay_sum"] = column<std::uint64_t>(rows, [&](std::uint32_t c) { return of_[c].delay; });
            own["exact"] = exact;
        }
        result["deadline"] = own;
    }

  private:
    struct Row {
        Amount sent, missed;      // by the exact one
        std::uint64_t delay = 0;  // sum of those that it sent, from the last bit to the start
        std::uint64_t late = 0;   // by the device
        // Since the warm-up: what came, what the device has dropped for its deadline; and what the exact one had dropped by then.
        std::uint64_t came = 0, missed_here = 0, exact_missed_begun = 0;
        std::int64_t slack = std::numeric_limits<std::int64_t>::max();
    };
    struct Came {
        std::uint64_t number;
        std::int64_t first_beat, last_bit;
    };

    // Frames have their deadlines in the order in which they came; those before it were refused. Returns its deadline.
    std::int64_t offer(const Frame& frame) {
        while (!came_.empty() && came_.front().number != frame.number) came_.pop_front();
        if (came_.empty()) return book_->deadline;
        const auto [number, first_beat, arrival] = came_.front();
        came_.pop_front();
        const std::int64_t deadline = wait_.empty() ? book_->deadline : first_beat + kDueCycles + wait_[frame.queue];
        if (exact_ && deadline < arrival)
            of_[frame.queue].missed.add(frame.length);
        else if (exact_)
            early_.push({arrival, deadline, frame.number, frame.length, frame.queue});
        offer_to_exact(book_->awaited);
        return deadline;
    }
    // The exact one has frames in the order in which they came, so it waits for the device to tell of those that came before.
    void offer_to_exact(std::int64_t awaited) {
        for (; !early_.empty() && early_.top().arrival < awaited; early_.pop()) exact_->arrive(early_.top(), *this);
    }

    struct Later {
        bool operator()(const DeadlinePacket& a, const DeadlinePacket& b) const {
            return std::tie(a.arrival, a.number) > std::tie(b.arrival, b.number);
        }
    };

    static constexpr std::int64_t kDueCycles = 2;  // from a first beat at the port to pst_deadline_due, through pst_dscp_class

    std::int64_t interval_;
    std::shared_ptr<DeadlineBook> book_;
    FirstBeats first_beats_;
    std::vector<std::int64_t> wait_;  // by class; empty: the device tells deadlines
    std::optional<ExactEdfr> exact_;
    std::vector<Row> of_;
    std::vector<std::uint64_t> missed_;   // [interval][class]
    std::vector<std::int64_t> deadline_;  // by slot
    std::deque<Came> came_;
    std::priority_queue<DeadlinePacket, std::vector<DeadlinePacket>, Later> early_;
};

}  // namespace

std::unique_ptr<OwnMeasurement> deadline_measurement(Table& job, const DeadlinePortSettings& settings, const Environment& environment,
                                                     std::shared_ptr<DeadlineBook> book) {
    std::vector<std::int64_t> wait;
    if (settings.fifo) {  // it gives no deadlines
        if (!job.has("deadlines")) return nullptr;
        std::vector<nb::object> keep;
        const auto given = job.array<std::int64_t>("deadlines", "int64", keep);
        wait.assign(given.begin(), given.end());
        if (wait.size() != settings.classes) bad_job("deadlines has not one element for each class");
        for (const std::int64_t cycles : wait)
            if (cycles < 0 || cycles > kMaxCycles) bad_job("deadlines is out of range");
    }
    std::optional<DeadlineLink> link;
    if (!environment.egress_bps.empty() && environment.egress_bps.front() >= 1)
        link.emplace(static_cast<std::uint64_t>(environment.clock_hz), static_cast<std::uint64_t>(environment.egress_bps.front()),
                     environment.overhead_bytes);
    return std::make_unique<DeadlineMeasurement>(settings.classes, job.integer("interval_cycles", 0, kMaxCycles, 0), link,
                                                 environment.ingress(0), std::move(book), std::move(wait));
}

}  // namespace penstock
