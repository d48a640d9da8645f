// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "python_job.hpp"

#include <algorithm>
#include <any>
#include <cctype>
#include <cmath>
#include <limits>
#include <string>

#include "penstock/engine/parts.hpp"
#include "penstock/engine/python_table.hpp"
#include "stand_in_kind.hpp"
#include "wire/bind.hpp"

namespace nb = nanobind;
using namespace penstock::engine;

namespace penstock {

namespace {

constexpr double kMaxRate = 1e15;                             // bit/s
constexpr std::int64_t kQuietCycles = std::int64_t{1} << 26;  // longer than anything in a device takes

// Two frames on the slowest of these lines. Of rates in the device itself only who sets them knows.
std::int64_t quiet_on_lines(const Environment& environment) {
    Ticks longest = 0;
    for (std::size_t port = 0; port < std::max(environment.ingress_bps.size(), environment.egress_bps.size()); ++port)
        longest =
            std::max({longest, environment.ingress(port).frame_time(kMaxFrameBytes), environment.egress(port).frame_time(kMaxFrameBytes)});
    return static_cast<std::int64_t>(std::min<Ticks>(kQuietCycles + 2 * (longest >> kTickBits), kMaxCycles));
}

RecordedFrames recorded_frames(Table& table, std::vector<nb::object>& keep) {
    RecordedFrames frames;
    table.text("kind");
    frames.cycles = table.array<std::int64_t>("cycles", "int64", keep);
    frames.queues = table.array<std::uint32_t>("queues", "uint32", keep);
    frames.offsets = table.array<std::int64_t>("offsets", "int64", keep);
    frames.lengths = table.array<std::int32_t>("lengths", "int32", keep);
    frames.stored = table.array<std::int32_t>("stored", "int32", keep);
    frames.data = table.array<std::uint8_t>("data", "uint8", keep);
    if (table.has("error")) frames.error = table.array<std::uint8_t>("error", "uint8", keep);
    table.done();
    const std::size_t n = frames.cycles.size();
    if (frames.queues.size() != n || frames.offsets.size() != n || frames.lengths.size() != n || frames.stored.size() != n ||
        (!frames.error.empty() && frames.error.size() != n))
        bad_job(table.name("cycles") + " and the other arrays of the frames are not equally long");
    for (std::size_t i = 0; i < n; ++i) {
        const auto frame = [&](const char* key) { return table.name(key) + "[" + std::to_string(i) + "]"; };
        if (frames.cycles[i] < (i ? frames.cycles[i - 1] : 0) || frames.cycles[i] > kMaxCycles)
            bad_job(frame("cycles") + " is not in order of time");
        if (frames.lengths[i] < 0 || frames.lengths[i] > static_cast<std::int32_t>(kMaxFrameBytes))
            bad_job(frame("lengths") + " is not in 0..65535");
        if (frames.stored[i] < 0 || frames.stored[i] > frames.lengths[i]) bad_job(frame("stored") + " is more than the frame's length");
        const auto size = static_cast<std::int64_t>(frames.data.size());
        if (frames.offsets[i] < 0 || frames.offsets[i] > size || frames.stored[i] > size - frames.offsets[i])
            bad_job(frame("offsets") + " points out of the data");
    }
    return frames;
}

FrameHeaders frame_headers(Table table, std::size_t frames, std::vector<nb::object>& keep) {
    FrameHeaders headers;
    headers.bytes = table.array<std::uint8_t>("bytes", "uint8", keep);
    headers.each = static_cast<std::uint32_t>(table.integer("each", 1, kMaxFrameBytes));
    headers.sum_at = static_cast<std::uint16_t>(table.integer("sum_at", 0, headers.each - 1, 0));
    headers.sum_from = static_cast<std::uint16_t>(table.integer("sum_from", 0, headers.sum_at, 0));
    if (headers.bytes.size() != frames * headers.each)
        bad_job(table.name("bytes") + " has " + std::to_string(headers.bytes.size()) +
                " bytes, not `each` for every queue and size: " + std::to_string(frames * headers.each));
    table.done();
    return headers;
}

SyntheticSettings synthetic(Table& table, const std::string& kind, double clock_hz, double stop_cycle, std::vector<nb::object>& keep) {
    SyntheticSettings source;
    table.text("kind");
    if (kind == "constant")
        source.kind = Kind::Constant;
    else if (kind == "poisson")
        source.kind = Kind::Poisson;
    else if (kind == "onoff")
        source.kind = Kind::OnOff;
    else
        bad_job(table.name("kind") + " is not frames, tcp, wire, constant, poisson or onoff");
    const std::string pick = table.has("pick") ? table.text("pick") : "round_robin";
    if (pick == "each")
        source.pick = Pick::Each;
    else if (pick == "round_robin")
        source.pick = Pick::RoundRobin;
    else if (pick == "random")
        source.pick = Pick::Random;
    else
        bad_job(table.name("pick") + " is not each, round_robin or random");
    const auto queues = table.array<std::uint32_t>("queues", "uint32", keep);
    if (queues.empty()) bad_job(table.name("queues") + " is empty");
    source.queues.assign(queues.begin(), queues.end());
    if (table.has("bps_each")) {
        for (const double bps : table.array<double>("bps_each", "float64", keep)) {
            if (!(bps >= 1e-3 && bps <= kMaxRate)) bad_job(table.name("bps_each") + " is out of range");
            source.cycles_per_byte_each.push_back(8.0 * clock_hz / bps);
        }
        if (source.pick != Pick::Each || source.cycles_per_byte_each.size() != source.queues.size())
            bad_job(table.name("bps_each") + " needs pick each and one rate for each queue");
    } else {
        source.cycles_per_byte = 8.0 * clock_hz / table.number("bps", 1e-3, kMaxRate);
    }
    for (nb::handle item : table.list("sizes")) {
        try {
            const auto pair = nb::cast<nb::sequence>(item);
            const auto bytes = nb::cast<std::int64_t>(pair[0]);
            const auto weight = nb::cast<double>(pair[1]);
            if (bytes < 1 || bytes > kMaxFrameBytes || !(weight > 0) || !std::isfinite(weight))
                bad_job(table.name("sizes") + ": bytes are 1..65535, weights above 0");
            source.sizes.emplace_back(static_cast<std::uint32_t>(bytes), weight);
        } catch (const nb::cast_error&) {
            bad_job(table.name("sizes") + " is not a list of (bytes, weight)");
        }
    }
    if (source.sizes.empty()) bad_job(table.name("sizes") + " is empty");
    source.start_cycle = table.number("start_cycle", 0, static_cast<double>(kMaxCycles), 0);
    source.stop_cycle = std::min(stop_cycle, table.number("stop_cycle", 0, std::numeric_limits<double>::infinity(), stop_cycle));
    if (source.kind == Kind::OnOff) {
        source.on_cycles = table.number("on_cycles", 1, static_cast<double>(kMaxCycles));
        source.off_cycles = table.number("off_cycles", 1, static_cast<double>(kMaxCycles));
    } else {
        table.has("on_cycles"), table.has("off_cycles");  // of no meaning here
    }
    if (table.has("headers")) source.headers = frame_headers(table.table("headers"), source.queues.size() * source.sizes.size(), keep);
    table.done();
    return source;
}

// The connections of a source. The rate of the line behind them is that of the device's one output unless given.
void tcp_flows(Table& table, unsigned input, std::size_t number, Job& job, std::vector<nb::object>& keep) {
    table.text("kind");
    const double clock_hz = job.environment.clock_hz;
    const auto queues = table.array<std::uint32_t>("queues", "uint32", keep);
    const auto starts = table.array<std::int64_t>("start_cycles", "int64", keep);
    if (queues.empty() || starts.size() != queues.size())
        bad_job(table.name("start_cycles") + " does not have an element for each of `queues`, which are not none");
    tcp::FlowSettings flow;
    flow.input = input;
    flow.stop = table.integer("stop_cycle", 0, kMaxCycles, job.duration_cycles.value_or(tcp::kNever));
    flow.round_trip = table.integer("round_trip_cycles", 2, kMaxCycles);
    const double line_bps = table.number("line_bps", 0, kMaxRate, job.environment.egress_bps.front());
    flow.cycles_per_byte = line_bps > 0 ? 8 * clock_hz / line_bps : 0;
    tcp::CongestionSettings& congestion = flow.sender.congestion;
    const auto algorithm = tcp::algorithm_named(table.text("algorithm"));
    if (!algorithm) bad_job(table.name("algorithm") + " is not reno, cubic, cubic_linux or prague");
    congestion.algorithm = *algorithm;
    congestion.initial_segments = static_cast<unsigned>(table.integer("initial_segments", 1, 1000, 10));
    congestion.hystart = table.boolean("hystart", false);
    congestion.clock_hz = clock_hz;
    flow.sender.bytes = static_cast<std::uint64_t>(table.integer("bytes", 0, std::numeric_limits<std::int64_t>::max(), 0));
    flow.sender.ecn = table.boolean("ecn", false);
    flow.receiver.accurate = tcp::is_scalable(congestion.algorithm);
    if (flow.receiver.accurate && !flow.sender.ecn) bad_job(table.name("ecn") + " is false, but the algorithm lives by marks");
    flow.sender.rack = table.boolean("rack", false);
    flow.sender.first_timeout = static_cast<tcp::Time>(clock_hz);
    flow.sender.longest_delay = static_cast<tcp::Time>(clock_hz / 5);  // 200 ms, as RFC 8985 advises
    flow.sender.least_timeout = table.integer("least_timeout_cycles", 1, kMaxCycles, flow.sender.first_timeout);
    flow.sender.most_timeout = std::max(60 * flow.sender.first_timeout, flow.sender.least_timeout);
    flow.receiver.delay = table.integer("delay_cycles", 0, kMaxCycles, 0);
    flow.sender.window = flow.receiver.window = static_cast<std::uint64_t>(table.integer("window_bytes", 1, 1 << 30, 1 << 22));

    Table headers = table.table("headers");
    const auto bytes = headers.array<std::uint8_t>("bytes", "uint8", keep);
    const auto each = static_cast<std::size_t>(headers.integer("each", 14 + 20 + tcp::kTcpBytes, 1000));
    flow.header.ip_at = static_cast<std::uint32_t>(headers.integer("ip_at", 14, 40));
    flow.header.length_at = static_cast<std::uint32_t>(headers.integer("length_at", 0, flow.header.ip_at - 2, 0));
    headers.done();
    const std::uint32_t frame_bytes = static_cast<std::uint32_t>(table.integer("frame_bytes", 1, kMaxFrameBytes));
    table.done();
    if (bytes.size() != each * queues.size()) bad_job(headers.name("bytes") + " does not have `each` bytes for every connection");
    if (frame_bytes < std::max<std::size_t>(each + 1, tcp::kLeastFrameBytes)) bad_job(table.name("frame_bytes") + " is too short");
    congestion.mss = flow.receiver.mss = frame_bytes - static_cast<std::uint32_t>(each);
    if (flow.sender.window < congestion.mss) bad_job(table.name("window_bytes") + " is less than a segment");
    Random random(job.environment.seed, 0x7000 + number);
    for (std::size_t i = 0; i < queues.size(); ++i) {
        if (queues[i] >= job.measure.device.queues)
            bad_job(table.name("queues") + ": the device has no queue " + std::to_string(queues[i]));
        if (starts[i] < 0) bad_job(table.name("start_cycles") + " has a time before the clock starts");
        flow.header.bytes.assign(bytes.begin() + static_cast<std::ptrdiff_t>(i * each),
                                 bytes.begin() + static_cast<std::ptrdiff_t>((i + 1) * each));
        const unsigned version = flow.header.bytes[flow.header.ip_at] >> 4;
        if (each != flow.header.ip_at + (version == 4 ? 20U : version == 6 ? 40U : 1000U) + tcp::kTcpBytes)
            bad_job(headers.name("bytes") + " are not Ethernet, IPv4 or IPv6, and TCP");
        flow.queue = queues[i];
        flow.start = starts[i];
        flow.sequence = static_cast<std::uint32_t>(random.bits());
        job.flows.push_back(flow);
    }
}

// The rate of each port's line: a number for all, or a list.
std::vector<double> line_rates(Table& table, const char* key, std::size_t ports) {
    std::vector<double> rates;
    if (!table.has(key) || !nb::isinstance<nb::sequence>(table.get(key))) {
        rates.assign(ports, table.number(key, 0, kMaxRate, 0));
    } else {
        try {
            for (nb::handle item : table.list(key)) rates.push_back(nb::cast<double>(item));
        } catch (const nb::cast_error&) {
            bad_job(table.name(key) + " is not a rate, nor a list of them");
        }
    }
    if (rates.size() != ports)
        bad_job(table.name(key) + " has " + std::to_string(rates.size()) + " rates, the device " + std::to_string(ports) +
                " ports on that side");
    for (const double rate : rates)
        if (rate != 0 && !(rate >= Link::kLeastRate && rate <= kMaxRate)) bad_job(table.name(key) + " is out of range");
    return rates;
}

std::vector<std::uint32_t> queue_list(Table& table, const char* key, std::uint32_t queues, std::vector<nb::object>& keep) {
    if (!table.has(key)) return {};
    const auto ids = table.array<std::uint32_t>(key, "uint32", keep);
    for (const std::uint32_t id : ids)
        if (id >= queues) bad_job(table.name(key) + ": the device has no queue " + std::to_string(id));
    return {ids.begin(), ids.end()};
}

// [(address, value)] or, timed, [(cycle, address, value)].
std::vector<RegisterWrite> register_writes(Table& table, const char* key, bool timed) {
    std::vector<RegisterWrite> writes;
    if (!table.has(key)) return writes;
    for (nb::handle item : table.list(key)) {
        try {
            const auto tuple = nb::cast<nb::sequence>(item);
            const std::size_t at = timed ? 1 : 0;
            if (nb::len(tuple) != at + 2) throw nb::cast_error();
            writes.push_back(
                {timed ? nb::cast<std::int64_t>(tuple[0]) : 0, nb::cast<std::uint32_t>(tuple[at]), nb::cast<std::uint32_t>(tuple[at + 1])});
        } catch (const nb::cast_error&) {
            bad_job(table.name(key) + "[" + std::to_string(writes.size()) + "] is not " +
                    (timed ? "(cycle, address, value)" : "(address, value)"));
        }
    }
    std::stable_sort(writes.begin(), writes.end(), [](const RegisterWrite& a, const RegisterWrite& b) { return a.cycle < b.cycle; });
    return writes;
}

// Null: there is no such design.
std::shared_ptr<const DeviceKind> kind_of(const std::string& design, Table& device, Environment& environment) {
    const bool is_name =
        std::all_of(design.begin(), design.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; });
    const std::any* maker = is_name ? provided("designs/" + design + "/model") : nullptr;
    return maker ? std::any_cast<KindMaker>(*maker)(device, environment) : nullptr;
}

// Key `device` of a job.
std::shared_ptr<const DeviceKind> take_device(Table& table, Environment& environment) {
    Table device = table.table("device");
    environment.clock_hz = device.number("clock_hz", 1.0, 1e12);
    const std::string design = device.text("design");
    auto kind = design == "stand_in" ? stand_in_kind(device, environment) : kind_of(design, device, environment);
    if (!kind) bad_job("device.design: there is no design " + design);
    device.done();
    return kind;
}

}  // namespace

void prepare_device(const nb::dict& dict) {
    Table table(dict, "");
    Environment environment;
    take_device(table, environment);
}

PythonJob job_from_python(const nb::dict& dict) {
    PythonJob python;
    Job& job = python.job;
    Table table(dict, "");
    job.device = take_device(table, job.environment);
    job.measure.device = job.device->statement();
    const std::uint32_t queues = job.measure.device.queues;

    job.environment.seed = job.measure.seed =
        static_cast<std::uint64_t>(table.integer("seed", 0, std::numeric_limits<std::int64_t>::max(), 1));
    job.environment.ingress_bps = line_rates(table, "ingress_bps", job.measure.device.inputs);
    job.environment.egress_bps = line_rates(table, "egress_bps", job.measure.device.outputs);
    job.environment.ingress_fifo_bytes = static_cast<std::uint32_t>(table.integer("ingress_fifo_bytes", 0, 1 << 30, 0));
    job.environment.egress_buffer_bytes = static_cast<std::uint32_t>(table.integer("egress_buffer_bytes", 0, 1 << 20, 0));
    job.environment.overhead_bytes = static_cast<std::uint32_t>(table.integer("overhead_bytes", 0, 10'000, 24));
    job.environment.valid_permille = static_cast<std::uint32_t>(table.integer("valid_permille", 1, 1000, 1000));
    job.environment.ready_permille = static_cast<std::uint32_t>(table.integer("ready_permille", 1, 1000, 1000));
    if (table.has("fault")) {
        Table fault = table.table("fault");
        job.environment.flip_byte = fault.integer("memory_flip_byte", 0, std::numeric_limits<std::int64_t>::max(), -1);
        fault.done();
    }

    if (table.has("duration_cycles")) job.duration_cycles = table.integer("duration_cycles", 0, kMaxCycles);
    job.reset_after = table.integer("reset_after_cycles", 0, kMaxCycles, 0);
    if (table.has("max_cycles")) job.max_cycles = table.integer("max_cycles", 0, kMaxCycles);
    job.drain = table.boolean("drain", false);
    job.quiet_cycles = table.integer("quiet_cycles", 1, kMaxCycles, quiet_on_lines(job.environment));

    MeasureSettings& measure = job.measure;
    measure.clock_hz = job.environment.clock_hz;
    measure.interval_cycles = table.integer("interval_cycles", 0, kMaxCycles, 0);
    measure.after_cycles = table.integer("after_cycles", 0, kMaxCycles, 0);
    measure.series_queues = queue_list(table, "series_queues", queues, python.keep);
    measure.keep_departures = table.boolean("keep_departures", false);
    measure.own = job.device->own_measurement(table, job.environment);
    measure.keep_all = table.boolean("keep_all", true);
    if (table.has("keep_most")) measure.keep_most = static_cast<std::uint64_t>(table.integer("keep_most", 0, kMaxCycles));
    if (table.has("group_of")) {
        const auto groups = table.array<std::uint8_t>("group_of", "uint8", python.keep);
        if (groups.size() != queues) bad_job("group_of does not have an element for each queue");
        measure.group_of.assign(groups.begin(), groups.end());
        for (const std::uint8_t group : groups)
            if (group != kNoGroup) measure.groups = std::max(measure.groups, group + 1U);
    }
    if (table.has("pcap_out")) measure.pcap_out = table.text("pcap_out");
    job.sample_queues = queue_list(table, "sample_queues", queues, python.keep);
    job.setup_writes = register_writes(table, "register_writes", false);
    job.timed_writes = register_writes(table, "timed_register_writes", true);

    if (table.has("wire")) {
        job.wire = wire_settings(table.table("wire"), job.environment.clock_hz, job.measure.device.outputs);
        job.wire->egress_bps = job.environment.egress_bps;
        job.wire->overhead_bytes = job.environment.overhead_bytes;
        if (!job.duration_cycles) bad_job("duration_cycles must end a run with wires");
    }
    const double stop = job.duration_cycles ? static_cast<double>(*job.duration_cycles) : Source::kNever;
    for (Table& source : table.tables("sources")) {
        const std::string kind = source.text("kind");
        const auto input = static_cast<unsigned>(source.integer("input", 0, job.measure.device.inputs - 1, 0));
        if (kind == "frames")
            job.sources.push_back({recorded_frames(source, python.keep), input});
        else if (kind == "tcp") {
            tcp_flows(source, input, job.flows.size(), job, python.keep);
            if (!job.duration_cycles && !job.max_cycles) bad_job(source.name("kind") + ": duration_cycles or max_cycles must end the run");
            continue;
        } else if (kind == "wire") {
            if (!job.wire) bad_job(source.name("kind") + ": there is no key `wire`");
            job.wire->paths.push_back(wire_path(source, input, job.wire->files.size(), python.keep));
            continue;
        } else
            job.sources.push_back({synthetic(source, kind, job.environment.clock_hz, stop, python.keep), input});
        const auto* made = std::get_if<SyntheticSettings>(&job.sources.back().frames);
        if (made && made->stop_cycle >= Source::kNever && !job.max_cycles)
            bad_job(source.name("stop_cycle") + ", duration_cycles or max_cycles must end the run");
    }
    if (job.wire && !job.flows.empty()) bad_job("sources: simulated connections and wires are not for one run");
    table.done();
    return python;
}

}  // namespace penstock
