// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// One run: a device, traffic for it, and what is measured.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "penstock/engine/measure.hpp"
#include "penstock/engine/session.hpp"
#include "penstock/engine/tcp/traffic.hpp"
#include "penstock/engine/traffic.hpp"
#include "penstock/engine/wire/traffic.hpp"

namespace penstock::engine {

// Frames that come to one input.
struct JobSource {
    std::variant<RecordedFrames, SyntheticSettings> frames;
    unsigned input = 0;
};

struct Job {
    std::shared_ptr<const DeviceKind> device;
    Environment environment;
    MeasureSettings measure;
    std::vector<JobSource> sources;
    std::vector<tcp::FlowSettings> flows;                   // TCP connections
    std::optional<wire::Settings> wire;                     // real frames, in real time; then there are no flows
    std::vector<RegisterWrite> setup_writes, timed_writes;  // timed: in order of time
    std::vector<std::uint32_t> sample_queues;
    std::optional<std::int64_t> duration_cycles;  // none: until the recorded frames are sent
    std::optional<std::int64_t> max_cycles;
    std::int64_t quiet_cycles = 0;  // a drain that sees nothing happen for so long ends
    bool drain = false;
    std::int64_t reset_after = 0;  // a run of so many cycles goes before, and is ended by a reset, whatever is under way
};

struct Progress {
    const char* phase;  // "init", "run", "drain", "check"
    std::int64_t cycles, duration_cycles;
    std::uint64_t packets_in, packets_out, dropped, queued;
    const wire::Traffic* wire = nullptr;  // null: none
};
// Called every few milliseconds; false stops the run.
using Poll = std::function<bool(const Progress&)>;

// What of a job's traffic depends on what becomes of frames; has the part of the result that is about it. Null: there is none.
struct LiveTraffic {
    std::unique_ptr<tcp::Traffic> connections;
    std::unique_ptr<wire::Traffic> wire;

    explicit LiveTraffic(const Job& job);
};

constexpr std::int64_t kForever = std::int64_t{1} << 62;

// What comes to one input until cycle `end`; frames are numbered in turns over all inputs. `live` may be null.
std::unique_ptr<Merge> make_traffic(const Job& job, unsigned input, std::int64_t end, LiveTraffic* live);

// Runs the job; `measurement` and `live` have the rest of the result. Throws DeviceError, std::invalid_argument, std::runtime_error.
Outcome run(const Job& job, Measurement& measurement, LiveTraffic& live, const Poll& poll);

// What the job's device shows in these registers after its set-up writes, before any traffic.
std::vector<std::uint32_t> read_registers(const Job& job, const std::vector<std::uint32_t>& addresses);

}  // namespace penstock::engine
