// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "designs/frame_switch/model/design.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "blocks/common/model/drop.hpp"
#include "designs/frame_switch/model/pin_face.hpp"
#include "designs/frame_switch/model/switch_device.hpp"
#include "penstock/engine/closing.hpp"
#include "penstock/engine/measure.hpp"
#include "penstock/engine/rtl_device.hpp"

namespace penstock {

using namespace engine;

namespace {

constexpr std::int64_t kPipeline = 256;  // cycles from the last beat to the last event of a frame, generously

class FrameSwitchKind final : public DeviceKind {
  public:
    FrameSwitchKind(std::string library, const FrameSwitchSettings& settings, std::vector<Group> groups)
        : library_(std::move(library)),
          settings_(settings),
          flows_(settings.ports, settings.classes, settings.max_cells() * settings.data_bytes, std::move(groups)) {
        statement_.queues = flows_.count();
        statement_.inputs = statement_.outputs = settings.ports;
        statement_.registers = false;
        statement_.drop_reasons.resize(kLostInSwitch + 1);
        statement_.drop_reasons[static_cast<unsigned>(Drop::Oversize)] = "oversize";
        statement_.drop_reasons[static_cast<unsigned>(Drop::BadQueueId)] = "bad_queue_id";
        statement_.drop_reasons[static_cast<unsigned>(Drop::BadFrame)] = "bad_frame";
        if (settings.back_pressure) return;
        statement_.drop_reasons[kLostInSwitch] = "lost_in_switch";
        statement_.silent_loss = kLostInSwitch;
    }

    const Statement& statement() const override { return statement_; }
    std::unique_ptr<Device> make(const Environment& environment) const override {
        *seen_ = {};
        if (library_.empty()) return std::make_unique<SwitchDevice>(settings_, flows_, seen_, environment);
        return std::make_unique<RtlDevice>(library_, std::make_unique<FrameSwitchFace>(flows_, settings_.ports, seen_), settings_.ports,
                                           settings_.ports, environment);
    }
    void identify(Device&) const override {}  // there are no registers; RtlDevice has compared the ports

    CounterReport check_counters(Device& device, const Measurement& measurement, std::span<const std::uint32_t>) const override {
        const Totals& live = measurement.live();
        finish(device, measurement, kPipeline, 0, [&] { return live.queued.packets == 0 && device.input_idle(); });
        device.run(device.now() + kPipeline);
        CounterReport report;
        const auto check = [&](bool good, const std::string& what, std::uint64_t told, std::uint64_t seen) {
            if (good) return;
            ++report.mismatches;
            report.findings.push_back(what + ": the device tells of " + std::to_string(told) + ", the engine has seen " +
                                      std::to_string(seen));
        };
        const auto dropped = [&](Drop reason) { return live.dropped[static_cast<unsigned>(reason)].packets; };
        const std::uint64_t refused = dropped(Drop::BadQueueId), bad = dropped(Drop::BadFrame) + dropped(Drop::Oversize);
        check(seen_->refused == refused, "frames refused", seen_->refused, refused);
        // Without back-pressure a bad frame may miss a cell too; then the device tells of it as lost, if of anything.
        const bool all_told = settings_.back_pressure;
        check(all_told ? seen_->bad == bad : seen_->bad <= bad, "bad frames at the outputs", seen_->bad, bad);
        const std::uint64_t bad_and_lost = bad - std::min(bad, seen_->bad);
        // The last frames of a flow are missed without the device telling, and frames that it has told of are not missed yet.
        const std::uint64_t told = seen_->lost + seen_->no_room, missed = live.dropped[kLostInSwitch].packets;
        check(told <= missed + live.queued.packets + bad_and_lost && missed <= told + measurement.lost_at_the_end(), "frames lost", told,
              missed);
        return report;
    }

  private:
    std::string library_;
    FrameSwitchSettings settings_;
    Flows flows_;
    Statement statement_;
    std::shared_ptr<SwitchEvents> seen_ = std::make_shared<SwitchEvents>();  // of the device that was made last
};

}  // namespace

std::shared_ptr<const DeviceKind> frame_switch_kind(Table& device, Environment&) {
    const auto number = [&](const char* key, std::int64_t least, std::int64_t most) {
        return static_cast<std::uint32_t>(device.integer(key, least, most));
    };
    std::string library;
    if (device.has("model") == device.has("library")) bad_job("device.library or device.model: one of them is needed");
    if (device.has("model")) {
        if (!device.boolean("model", false)) bad_job("device.model is true, or not there");
    } else {
        library = device.text("library");
        if (library.empty()) bad_job("device.library is empty");
    }
    FrameSwitchSettings settings;
    settings.ports = number("ports", 2, 32);
    settings.data_bytes = number("data_bytes", 1, PST_BEAT_BYTES);
    settings.classes = number("classes", 1, 64);
    settings.max_frame_bytes = number("max_frame_bytes", 1, kMaxFrameBytes);
    settings.room_cells = number("room_cells", 2, 1 << 20);
    settings.back_pressure = device.boolean("back_pressure", true);
    settings.fifo_depth = number("fifo_depth", 1, 1 << 16);
    settings.islip = device.boolean("islip", false);
    settings.stages = number("stages", 1, 4);
    settings.iterations = number("iterations", 1, 64);
    std::vector<Group> groups;
    for (Table& given : device.tables("groups")) {
        groups.push_back({static_cast<std::uint32_t>(given.integer("source", 0, settings.ports - 1)),
                          static_cast<std::uint32_t>(given.integer("class", 0, settings.classes - 1)),
                          static_cast<std::uint64_t>(given.integer("destinations", 1, (std::int64_t{1} << settings.ports) - 1))});
        given.done();
    }
    return std::make_shared<FrameSwitchKind>(std::move(library), settings, std::move(groups));
}

}  // namespace penstock
