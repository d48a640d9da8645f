// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "designs/deadline_port/model/design.hpp"

#include <bit>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "blocks/common/model/drop.hpp"
#include "designs/deadline_port/model/counters.hpp"
#include "designs/deadline_port/model/deadline_measurement.hpp"
#include "designs/deadline_port/model/deadline_port.hpp"
#include "designs/deadline_port/model/device_settings.hpp"
#include "designs/deadline_port/model/pin_face.hpp"
#include "designs/deadline_port/model/port_device.hpp"
#include "designs/deadline_port/model/wide_device.hpp"
#include "designs/deadline_port/model/wide_face.hpp"
#include "penstock/engine/measure.hpp"
#include "penstock/engine/own_measurement.hpp"
#include "penstock/engine/python_memory.hpp"
#include "penstock/engine/rtl_device.hpp"

namespace penstock {

using namespace engine;

namespace {

static_assert(std::string_view(deadline_port::kDropNames[kDropMissed]) == "missed");

class DeadlinePortKind final : public DeviceKind {
  public:
    explicit DeadlinePortKind(DeadlinePortSettings settings) : settings_(std::move(settings)) {
        statement_.queues = settings_.classes;
        statement_.drop_reasons.assign(std::begin(deadline_port::kDropNames), std::end(deadline_port::kDropNames));
        statement_.queue_reasons = {static_cast<std::uint8_t>(Drop::NoPage), static_cast<std::uint8_t>(Drop::ReadError), kDropMissed};
        if (settings_.fifo) return;
        // A class is a FIFO whatever its deadlines are: those of frames that wait stay when its setting changes.
        statement_.deadline = [book = book_](const Frame&, std::int64_t) { return book->deadline; };
        statement_.missed = kDropMissed;
    }

    const Statement& statement() const override { return statement_; }
    std::unique_ptr<Device> make(const Environment& environment) const override {
        *book_ = {};
        std::unique_ptr<PinFace> face;
        if (settings_.columns == 1)
            face = std::make_unique<DeadlinePortFace>(settings_, book_);
        else
            face = std::make_unique<DeadlineWideFace>(settings_, book_);
        if (settings_.library.empty())
            return settings_.columns == 1 ? make_port_device(settings_, environment, std::move(face))
                                          : make_wide_device(settings_, environment, std::move(face));
        return std::make_unique<RtlDevice>(settings_.library, std::move(face), 1, 1, environment);
    }
    void identify(Device& device) const override {
        namespace registers = deadline_port::registers;
        if (device.read(registers::kType) != deadline_port::resets::kTypeValue)
            throw DeviceError("the type register is not that of a deadline port");
        const auto same = [&](const char* what, std::uint32_t has, std::uint32_t job) {
            if (has != job)
                throw std::invalid_argument("the device has " + std::to_string(has) + " " + what + ", the job " + std::to_string(job));
        };
        same("classes", device.read(registers::kClasses), settings_.classes);
        same("bytes in a chunk", device.read(registers::kChunkBytes), settings_.chunk_bytes);
        same("chunks", device.read(registers::kChunks), settings_.chunks);
        same("for plain_fifo", deadline_port::fields::kFeaturesPlainFifo.of(device.read(registers::kFeatures)), settings_.fifo);
    }
    CounterReport check_counters(Device& device, const Measurement& measurement, std::span<const std::uint32_t> queues) const override {
        return DeadlineCounterCheck(device, measurement, *book_, settings_.fifo).run(queues);
    }
    std::unique_ptr<OwnMeasurement> own_measurement(Table& job, const Environment& environment) const override {
        return deadline_measurement(job, settings_, environment, book_);
    }

  private:
    DeadlinePortSettings settings_;
    Statement statement_;
    std::shared_ptr<DeadlineBook> book_ = std::make_shared<DeadlineBook>();  // of the device that was made last
};

}  // namespace

std::shared_ptr<const DeviceKind> deadline_port_kind(Table& device, Environment& environment) {
    DeadlinePortSettings settings;
    if (device.has("model") == device.has("library")) bad_job("device.library or device.model: one of them is needed");
    if (device.has("model")) {
        if (!device.boolean("model", false)) bad_job("device.model is true, or not there");
    } else {
        settings.library = device.text("library");
        if (settings.library.empty()) bad_job("device.library is empty");
    }
    const auto number = [&](const char* key, std::int64_t least, std::int64_t most) {
        return static_cast<std::uint32_t>(device.integer(key, least, most));
    };
    const auto power = [&](const char* key, std::int64_t least, std::int64_t most) {
        const std::uint32_t value = number(key, least, most);
        if (!std::has_single_bit(value)) bad_job(device.name(key) + " is no power of two");
        return value;
    };
    settings.classes = number("classes", 2, 256);
    settings.class_from_user = device.boolean("class_from_user", false);
    settings.fifo = device.boolean("fifo", false);
    settings.any_class = device.boolean("any_class", false);
    settings.chunk_bytes = power("chunk_bytes", 512, 4096);
    if (device.has("columns")) settings.columns = power("columns", 1, DeadlineWideFace::kMostColumns);
    settings.chunks = power("chunks", 4, std::int64_t{settings.columns} << 20);
    settings.places = power("places", 2, 16);
    settings.lines = power("lines", 4, 64);
    settings.reads = number("reads", 2, 64);
    settings.writes = number("writes", 2, 64);
    settings.decided = number("decided", 2, 64);
    settings.min_frame_bytes = number("min_frame_bytes", 8, kMaxFrameBytes);
    settings.max_frame_bytes = number("max_frame_bytes", 64, 16'383);
    settings.store_beats = power("store_beats", 2, 1 << 14);
    settings.tick_cycles = number("tick_cycles", 3, 1 << 24);
    settings.stamps = number("stamps", 2, (1 << 16) - 1);
    settings.default_cycles = number("default_cycles", 1, (1 << 30) - 1);
    if (settings.columns > 1) {
        if (settings.fifo) bad_job("device.fifo is for a device of one column");
        settings.run_frames = power("run_frames", settings.columns, 256);
        settings.deal_rows = power("deal_rows", 8, 1 << 20);
        settings.deal_lists = power("deal_lists", 2, 1 << 20);
        settings.deal_records = power("deal_records", 8, 1 << 20);
        settings.gather_rows = power("gather_rows", 2, 1 << 20);
        settings.gather_ahead = number("gather_ahead", 0, settings.gather_rows);
    }
    for (Table& memory : device.tables("memories")) {
        environment.memories.push_back(memory_of_job(memory));
        memory.done();
    }
    if (const std::size_t memories = environment.memories.size(); memories % settings.columns || !std::has_single_bit(memories))
        bad_job("device.memories has " + std::to_string(memories) + " elements, not a power of two for each column");
    return std::make_shared<DeadlinePortKind>(std::move(settings));
}

}  // namespace penstock
