// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "stand_in_kind.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "penstock/engine/closing.hpp"
#include "penstock/engine/measure.hpp"
#include "penstock/engine/pin_face.hpp"
#include "penstock/engine/rtl_device.hpp"

namespace penstock {

using namespace engine;

namespace {

constexpr std::uint32_t kQueues = 16, kClasses = 4, kMostTagBits = 31;
constexpr std::uint32_t kHeadBytes = 4;  // queue id, most significant byte first
constexpr std::uint8_t kGivenUp = 8;     // drop reason of what queues give away to be dropped

// In a device that orders by deadline the id in front of a frame is {class, queue}, in the lowest bits.
class StandInFace final : public PinFace {
  public:
    StandInFace(bool classes, unsigned tag_bits) : classes_(classes), tag_bits_(tag_bits) {}

    std::uint32_t head_bytes() const override { return kHeadBytes; }
    void write_head(const Frame& frame, std::uint8_t* to) const override {
        for (unsigned i = 0; i < kHeadBytes; ++i) to[i] = static_cast<std::uint8_t>(frame.queue >> (24 - 8 * i));
    }
    std::uint32_t user(const Frame& frame, bool, bool last) const override {
        const std::uint64_t tag = frame.number & ((std::uint64_t{1} << tag_bits_) - 1);
        return static_cast<std::uint32_t>(tag << 1) | (last && frame.error);
    }
    std::uint32_t queue(unsigned, std::uint32_t id, std::uint32_t) const override { return id; }
    std::uint64_t tag(std::uint32_t user) const override { return user >> 1; }
    const char* fault(std::uint32_t user) const override { return user & 1 ? "says that a good frame is a bad one" : nullptr; }
    void arrived(const Frame& frame, std::int64_t last_bit, std::int64_t, Observer& observer) const override {
        Frame told = frame;
        if (classes_ && frame.queue < kClasses * kQueues) told.queue = frame.queue % kQueues;
        observer.arrived(told, last_bit);
    }
    unsigned event_ports() const override { return 4; }  // an access edge's; nothing ever comes of the last one
    bool events(std::int64_t now, std::span<const pst_event_pins> events, Observer& observer) override {
        const auto fate = [](const pst_event_pins& p) { return Fate{p.queue_o, p.len_o, p.reason_o}; };
        if (events[0].valid_o) observer.classified(now, fate(events[0]));
        if (events[1].valid_o) observer.enqueued(now, fate(events[1]));
        if (events[2].valid_o) observer.dequeued(now, fate(events[2]), events[2].mark_o);
        return true;
    }

  private:
    bool classes_;
    unsigned tag_bits_;
};

// What a rewriting stand-in may do: byte 14 becomes one less, and four bytes that begin with 0x8100 come before byte 12, or not. A frame
// that has no byte 14 stays as it is.
bool may_come_of(std::span<const std::uint8_t> in, std::span<const std::uint8_t> out) {
    const std::size_t more = out.size() == in.size() ? 0 : 4;
    if (out.size() != in.size() + more) return false;
    if (in.size() < 15) return more == 0 && std::equal(in.begin(), in.end(), out.begin());
    if (more && (out[12] != 0x81 || out[13] != 0)) return false;
    for (std::size_t i = 0; i < in.size(); ++i)
        if (out[i < 12 ? i : i + more] != static_cast<std::uint8_t>(in[i] - (i == 14))) return false;
    return true;
}

class StandIn final : public DeviceKind {
  public:
    StandIn(std::string library, Statement statement) : library_(std::move(library)), statement_(std::move(statement)) {}

    const Statement& statement() const override { return statement_; }
    std::unique_ptr<Device> make(const Environment& environment) const override {
        auto face = std::make_unique<StandInFace>(statement_.order == Order::ByDeadline, statement_.tag_bits);
        return std::make_unique<RtlDevice>(library_, std::move(face), 1, 1, environment);
    }
    void identify(Device&) const override {}
    CounterReport check_counters(Device& device, const Measurement& measurement, std::span<const std::uint32_t>) const override {
        const Totals& live = measurement.live();
        finish(device, measurement, 256, 0, [&] { return live.queued.packets == 0 && device.input_idle(); });
        CounterReport report;
        for (std::uint32_t reason = 1; reason < statement_.drop_reasons.size(); ++reason) {
            const std::uint64_t counted = device.read(0x100 + 16 * reason), seen = live.dropped[reason].packets;
            if (counted == seen) continue;
            ++report.mismatches;
            report.findings.push_back("drop counter " + statement_.drop_reasons[reason] + ": the device counts " + std::to_string(counted) +
                                      ", the engine has seen " + std::to_string(seen));
        }
        return report;
    }

  private:
    std::string library_;
    Statement statement_;
};

template <typename Choice>
Choice choose(Table& device, const char* key, const std::vector<std::pair<std::string, Choice>>& choices) {
    const std::string text = device.has(key) ? device.text(key) : choices.front().first;
    for (const auto& [name, choice] : choices)
        if (name == text) return choice;
    bad_job(device.name(key) + " is not one of the rules");
}

}  // namespace

std::shared_ptr<const DeviceKind> stand_in_kind(Table& device, Environment& environment) {
    Statement statement;
    statement.queues = kQueues;
    statement.order = choose<Order>(device, "order", {{"fifo", Order::Fifo}, {"by_deadline", Order::ByDeadline}, {"free", Order::Free}});
    statement.payload = choose<Payload>(
        device, "payload", {{"unchanged", Payload::Unchanged}, {"ecn_mark", Payload::EcnMark}, {"rewritten", Payload::Rewritten}});
    if (statement.payload == Payload::Rewritten && device.boolean("judged", true)) statement.rewrite = may_come_of;
    statement.tag_bits = static_cast<unsigned>(device.integer("tag_bits", 0, kMostTagBits, 0));
    if (statement.order == Order::ByDeadline) {
        std::vector<std::int64_t> after;
        for (nb::handle item : device.list("deadlines")) after.push_back(nb::cast<std::int64_t>(item));
        if (after.size() != kClasses) bad_job(device.name("deadlines") + " has not one element for each class");
        statement.deadline = [after](const Frame& frame, std::int64_t enqueued) {
            return enqueued + after[frame.address / kQueues % kClasses];
        };
        statement.missed = kGivenUp;
    }
    statement.drop_reasons = {"",
                              "runt",
                              "oversize",
                              "bad_queue_id",
                              "bad_frame",
                              "no_page",
                              "tail_drop_packets",
                              "tail_drop_bytes",
                              statement.missed ? "missed" : "aqm"};
    statement.queue_reasons = {kGivenUp};
    environment.memories.push_back({.bytes = 65'536});  // which it does not use
    return std::make_shared<StandIn>(device.text("library"), std::move(statement));
}

}  // namespace penstock
