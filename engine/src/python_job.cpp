// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "python_job.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <string>

#include "blocks/stream/model/settings.hpp"

namespace nb = nanobind;
using namespace penstock::engine;

namespace penstock {

namespace {

[[noreturn]] void bad(const std::string& what) { throw nb::value_error(("job: " + what).c_str()); }

// One dictionary of the job. Every key must be asked for, so that a misspelt one is an error and not a default.
class Table {
  public:
    Table(const nb::dict& dict, std::string where) : dict_(dict), where_(std::move(where)) {}

    bool has(const char* key) {
        known_.emplace_back(key);
        return dict_.contains(key) && !dict_[key].is_none();
    }
    std::string name(const char* key) const { return where_ + key; }
    nb::object get(const char* key) {
        if (!has(key)) bad(name(key) + " is missing");
        return dict_[key];
    }
    double number(const char* key, double low, double high) { return checked(key, cast<double>(get(key), key), low, high); }
    double number(const char* key, double low, double high, double otherwise) { return has(key) ? number(key, low, high) : otherwise; }
    std::int64_t integer(const char* key, std::int64_t low, std::int64_t high) {
        return checked(key, cast<std::int64_t>(get(key), key), low, high);
    }
    std::int64_t integer(const char* key, std::int64_t low, std::int64_t high, std::int64_t otherwise) {
        return has(key) ? integer(key, low, high) : otherwise;
    }
    bool boolean(const char* key, bool otherwise) { return has(key) ? cast<bool>(get(key), key) : otherwise; }
    std::string text(const char* key) { return cast<std::string>(get(key), key); }
    nb::sequence list(const char* key) { return cast<nb::sequence>(get(key), key); }

    // A contiguous array of T made of whatever it is; it lives as long as `keep`.
    template <typename T>
    std::span<const T> array(const char* key, const char* type, std::vector<nb::object>& keep) {
        try {
            nb::object made = nb::module_::import_("numpy").attr("ascontiguousarray")(get(key), type);
            const auto view = nb::cast<nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>>(made);
            keep.push_back(made);
            return {view.data(), view.size()};
        } catch (const nb::python_error&) {
        } catch (const nb::cast_error&) {
        }
        bad(name(key) + " is not a list of " + type);
    }

    // Throws at keys that nobody has asked for.
    void done() const {
        for (const auto& [key, value] : dict_) {
            const auto text = nb::cast<std::string>(key);
            if (std::find(known_.begin(), known_.end(), text) == known_.end()) bad(where_ + text + " is not a key of a job");
        }
    }

  private:
    template <typename T>
    T cast(const nb::object& value, const char* key) const {
        try {
            return nb::cast<T>(value);
        } catch (const nb::cast_error&) {
            bad(name(key) + " has a wrong type");
        }
    }
    template <typename T>
    T checked(const char* key, T value, T low, T high) const {
        if (!(value >= low && value <= high)) bad(name(key) + " = " + nb::cast<std::string>(nb::str(nb::cast(value))) + " is out of range");
        return value;
    }

    nb::dict dict_;
    std::string where_;
    std::vector<std::string> known_;
};

constexpr double kMaxRate = 1e15;                             // bit/s
constexpr std::int64_t kQuietCycles = std::int64_t{1} << 26;  // longer than a frame of 1,518 bytes takes at 64 kbit/s and 220 MHz

MemorySettings memory_settings(Table table, PagePool* pool) {
    MemorySettings memory;
    memory.bytes = static_cast<std::uint64_t>(table.integer("bytes", PST_BEAT_BYTES, std::int64_t{1} << 46));
    memory.read_latency = static_cast<std::uint32_t>(table.integer("read_latency", 1, 1'000'000, memory.read_latency));
    memory.write_latency = static_cast<std::uint32_t>(table.integer("write_latency", 1, 1'000'000, memory.write_latency));
    memory.gap_permille = static_cast<std::uint32_t>(table.integer("gap_permille", 0, 999, 0));
    if (pool) {
        pool->pages = static_cast<std::uint32_t>(table.integer("pages", 1, 1 << 28));
        pool->page_bytes = static_cast<std::uint32_t>(table.integer("page_bytes", PST_BEAT_BYTES, 1 << 20));
    }
    table.done();
    return memory;
}

// What the model has to know of the device; the RTL knows it.
void model_settings(Table table, DeviceSettings& device) {
    device.max_frame_bytes = static_cast<std::uint32_t>(table.integer("max_frame_bytes", 1, settings::kMostLength));
    device.min_frame_bytes = static_cast<std::uint32_t>(table.integer("min_frame_bytes", 1, device.max_frame_bytes));
    device.shaping = table.boolean("shaping", true);
    const std::string aqm = table.has("aqm") ? table.text("aqm") : "none";
    if (aqm != "none" && aqm != "codel" && aqm != "pie") bad("device.model.aqm is none, codel or pie");
    device.aqm = aqm == "codel" ? AqmKind::Codel : aqm == "pie" ? AqmKind::Pie : AqmKind::None;
    device.aqm_estimate = table.boolean("aqm_estimate", false);
    AqmParameters& built = device.aqm_parameters;
    built.max_packet_bytes = device.max_frame_bytes;
    built.tick_shift = static_cast<int>(table.integer("tick_shift", 0, 16, built.tick_shift));
    built.update_ticks = table.integer("pie_update_ticks", 1, (1 << 18) - 1, built.update_ticks);
    built.alpha = table.integer("pie_alpha", 1, 65'535, built.alpha);
    built.beta = table.integer("pie_beta", 1, 65'535, built.beta);
    if (device.aqm != AqmKind::None && !device.shaping) bad("device.model.aqm needs shaping");
    device.gates = table.has("hierarchy");
    if (device.gates) {
        if (!device.shaping) bad("device.model.hierarchy needs shaping");
        if (!nb::isinstance<nb::dict>(table.get("hierarchy"))) bad("device.model.hierarchy is not a dictionary");
        Table sizes(nb::cast<nb::dict>(table.get("hierarchy")), "device.model.hierarchy.");
        const auto number = [&](const char* key, std::int64_t least, std::int64_t most) {
            return static_cast<std::uint32_t>(sizes.integer(key, least, most));
        };
        device.tree = {number("queues_per_subscriber", 1, 8), number("nodes", 2, 1 << 22), number("ports", 2, 1 << 22),
                       number("classes", 1, settings::kMostTrafficClass + 1)};
        if (!std::has_single_bit(device.tree.queues_per_subscriber)) bad("device.model.hierarchy.queues_per_subscriber is 1, 2, 4 or 8");
        sizes.done();
    }
    table.done();
}

void device_settings(Table table, Job& job) {
    const bool model = table.has("model");
    if (model == table.has("library")) bad("device.library or device.model: one of them is needed");
    if (model) {
        if (!nb::isinstance<nb::dict>(table.get("model"))) bad("device.model is not a dictionary");
        model_settings(Table(nb::cast<nb::dict>(table.get("model")), "device.model."), job.device);
    } else {
        job.device.library = table.text("library");
        if (job.device.library.empty()) bad("device.library is empty");
    }
    job.device.clock_hz = table.number("clock_hz", 1.0, 1e12);
    job.measure.queues = static_cast<std::uint32_t>(table.integer("queues", 1, 1 << 24));
    const nb::sequence memories = table.list("memories");
    for (nb::handle memory : memories) {
        const std::string where = "device.memories[" + std::to_string(job.device.memories.size()) + "].";
        if (!nb::isinstance<nb::dict>(memory)) bad(where.substr(0, where.size() - 1) + " is not a dictionary");
        if (model) job.device.pools.emplace_back();
        job.device.memories.push_back(
            memory_settings(Table(nb::cast<nb::dict>(memory), where), model ? &job.device.pools.back() : nullptr));
    }
    job.device.queues = job.measure.queues;
    if (job.device.gates && job.device.queues % job.device.tree.queues_per_subscriber != 0)
        bad("device.queues is no multiple of device.model.hierarchy.queues_per_subscriber");
    table.done();
}

RecordedFrames recorded_frames(Table table, std::vector<nb::object>& keep) {
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
        bad(table.name("cycles") + " and the other arrays of the frames are not equally long");
    for (std::size_t i = 0; i < n; ++i) {
        const auto frame = [&](const char* key) { return table.name(key) + "[" + std::to_string(i) + "]"; };
        if (frames.cycles[i] < (i ? frames.cycles[i - 1] : 0) || frames.cycles[i] > kMaxCycles)
            bad(frame("cycles") + " is not in order of time");
        if (frames.lengths[i] < 0 || frames.lengths[i] > static_cast<std::int32_t>(kMaxFrameBytes))
            bad(frame("lengths") + " is not in 0..65535");
        if (frames.stored[i] < 0 || frames.stored[i] > frames.lengths[i]) bad(frame("stored") + " is more than the frame's length");
        const auto size = static_cast<std::int64_t>(frames.data.size());
        if (frames.offsets[i] < 0 || frames.offsets[i] > size || frames.stored[i] > size - frames.offsets[i])
            bad(frame("offsets") + " points out of the data");
    }
    return frames;
}

SyntheticSettings synthetic(Table table, const std::string& kind, double clock_hz, double stop_cycle, std::vector<nb::object>& keep) {
    SyntheticSettings source;
    table.text("kind");
    if (kind == "constant")
        source.kind = Kind::Constant;
    else if (kind == "poisson")
        source.kind = Kind::Poisson;
    else if (kind == "onoff")
        source.kind = Kind::OnOff;
    else
        bad(table.name("kind") + " is not frames, constant, poisson or onoff");
    const std::string pick = table.has("pick") ? table.text("pick") : "round_robin";
    if (pick == "each")
        source.pick = Pick::Each;
    else if (pick == "round_robin")
        source.pick = Pick::RoundRobin;
    else if (pick == "random")
        source.pick = Pick::Random;
    else
        bad(table.name("pick") + " is not each, round_robin or random");
    const auto queues = table.array<std::uint32_t>("queues", "uint32", keep);
    if (queues.empty()) bad(table.name("queues") + " is empty");
    source.queues.assign(queues.begin(), queues.end());
    if (table.has("bps_each")) {
        for (const double bps : table.array<double>("bps_each", "float64", keep)) {
            if (!(bps >= 1e-3 && bps <= kMaxRate)) bad(table.name("bps_each") + " is out of range");
            source.cycles_per_byte_each.push_back(8.0 * clock_hz / bps);
        }
        if (source.pick != Pick::Each || source.cycles_per_byte_each.size() != source.queues.size())
            bad(table.name("bps_each") + " needs pick each and one rate for each queue");
    } else {
        source.cycles_per_byte = 8.0 * clock_hz / table.number("bps", 1e-3, kMaxRate);
    }
    for (nb::handle item : table.list("sizes")) {
        try {
            const auto pair = nb::cast<nb::sequence>(item);
            const auto bytes = nb::cast<std::int64_t>(pair[0]);
            const auto weight = nb::cast<double>(pair[1]);
            if (bytes < 1 || bytes > kMaxFrameBytes || !(weight > 0) || !std::isfinite(weight))
                bad(table.name("sizes") + ": bytes are 1..65535, weights above 0");
            source.sizes.emplace_back(static_cast<std::uint32_t>(bytes), weight);
        } catch (const nb::cast_error&) {
            bad(table.name("sizes") + " is not a list of (bytes, weight)");
        }
    }
    if (source.sizes.empty()) bad(table.name("sizes") + " is empty");
    source.start_cycle = table.number("start_cycle", 0, static_cast<double>(kMaxCycles), 0);
    source.stop_cycle = std::min(stop_cycle, table.number("stop_cycle", 0, std::numeric_limits<double>::infinity(), stop_cycle));
    if (source.kind == Kind::OnOff) {
        source.on_cycles = table.number("on_cycles", 1, static_cast<double>(kMaxCycles));
        source.off_cycles = table.number("off_cycles", 1, static_cast<double>(kMaxCycles));
    } else {
        table.has("on_cycles"), table.has("off_cycles");  // of no meaning here
    }
    table.done();
    return source;
}

std::vector<std::uint32_t> queue_list(Table& table, const char* key, std::uint32_t queues, std::vector<nb::object>& keep) {
    if (!table.has(key)) return {};
    const auto ids = table.array<std::uint32_t>(key, "uint32", keep);
    for (const std::uint32_t id : ids)
        if (id >= queues) bad(table.name(key) + ": the device has no queue " + std::to_string(id));
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
            bad(table.name(key) + "[" + std::to_string(writes.size()) + "] is not " +
                (timed ? "(cycle, address, value)" : "(address, value)"));
        }
    }
    std::stable_sort(writes.begin(), writes.end(), [](const RegisterWrite& a, const RegisterWrite& b) { return a.cycle < b.cycle; });
    return writes;
}

// Who is below whom in a device with a hierarchy. Everything is checked here: the tally trusts it.
TreePlaces tree_places(Table table, std::uint32_t queues, std::vector<nb::object>& keep) {
    TreePlaces tree;
    tree.queues_per_subscriber = static_cast<std::uint32_t>(table.integer("queues_per_subscriber", 1, 8));
    tree.ports = static_cast<std::uint32_t>(table.integer("ports", 1, 1 << 22));
    const auto parents = [&](const char* key) {
        const auto given = table.array<std::uint32_t>(key, "uint32", keep);
        return std::vector<std::uint32_t>(given.begin(), given.end());
    };
    tree.node_of = parents("node_of"), tree.port_of = parents("port_of");
    if (tree.node_of.size() != queues / tree.queues_per_subscriber) bad(table.name("node_of") + " does not have each subscriber's node");
    const auto check = [&](const char* key, std::uint32_t parent, std::size_t most) {
        if (parent >= most) bad(table.name(key) + " names " + std::to_string(parent) + ", which is not there");
    };
    for (const std::uint32_t node : tree.node_of) check("node_of", node, tree.port_of.size());
    for (const std::uint32_t port : tree.port_of) check("port_of", port, tree.ports);
    for (nb::handle item : table.list("moves")) {
        try {
            const auto move = nb::cast<nb::sequence>(item);
            tree.moves.push_back({nb::cast<std::int64_t>(move[0]), nb::cast<bool>(move[1]), nb::cast<std::uint32_t>(move[2]),
                                  nb::cast<std::uint32_t>(move[3])});
        } catch (const nb::cast_error&) {
            bad(table.name("moves") + " is not a list of (cycle, whether it is a node, id, parent)");
        }
        const TreePlaces::Move& move = tree.moves.back();
        check("moves", move.id, move.node ? tree.port_of.size() : tree.node_of.size());
        check("moves", move.parent, move.node ? tree.ports : tree.port_of.size());
    }
    std::stable_sort(tree.moves.begin(), tree.moves.end(),
                     [](const TreePlaces::Move& a, const TreePlaces::Move& b) { return a.cycle < b.cycle; });
    table.done();
    return tree;
}

}  // namespace

PythonJob job_from_python(const nb::dict& dict) {
    PythonJob python;
    Job& job = python.job;
    Table table(dict, "");
    const nb::object device = table.get("device");
    if (!nb::isinstance<nb::dict>(device)) bad("device is not a dictionary");
    device_settings(Table(nb::cast<nb::dict>(device), "device."), job);

    job.device.seed = job.measure.seed = static_cast<std::uint64_t>(table.integer("seed", 0, std::numeric_limits<std::int64_t>::max(), 1));
    job.device.ingress_bps = table.number("ingress_bps", 0, kMaxRate, 0);
    job.device.egress_bps = table.number("egress_bps", 0, kMaxRate, 0);
    job.device.overhead_bytes = static_cast<std::uint32_t>(table.integer("overhead_bytes", 0, 10'000, 24));
    job.device.valid_permille = static_cast<std::uint32_t>(table.integer("valid_permille", 1, 1000, 1000));
    job.device.ready_permille = static_cast<std::uint32_t>(table.integer("ready_permille", 1, 1000, 1000));
    if (table.has("fault")) {
        Table fault(nb::cast<nb::dict>(table.get("fault")), "fault.");
        job.device.flip_byte = fault.integer("memory_flip_byte", 0, std::numeric_limits<std::int64_t>::max(), -1);
        fault.done();
    }

    if (table.has("duration_cycles")) job.duration_cycles = table.integer("duration_cycles", 0, kMaxCycles);
    if (table.has("max_cycles")) job.max_cycles = table.integer("max_cycles", 0, kMaxCycles);
    job.drain = table.boolean("drain", false);
    job.quiet_cycles = table.integer("quiet_cycles", 1, kMaxCycles, kQuietCycles);

    MeasureSettings& measure = job.measure;
    measure.clock_hz = job.device.clock_hz;
    measure.interval_cycles = table.integer("interval_cycles", 0, kMaxCycles, 0);
    measure.series_queues = queue_list(table, "series_queues", measure.queues, python.keep);
    measure.keep_departures = table.boolean("keep_departures", false);
    if (table.has("lateness")) {
        Table lateness(nb::cast<nb::dict>(table.get("lateness")), "lateness.");
        const auto shapers = lateness.array<std::uint64_t>("shapers", "uint64", python.keep);
        if (shapers.size() != measure.queues) bad("lateness.shapers has not one element for each queue");
        measure.lateness = {.shapers = {shapers.begin(), shapers.end()},
                            .link_bps = static_cast<std::uint64_t>(job.device.egress_bps),
                            .clock_hz = static_cast<std::uint64_t>(job.device.clock_hz),
                            .overhead_bytes = job.device.overhead_bytes,
                            .from_cycle = lateness.integer("from_cycle", 0, kMaxCycles, 0)};
        if (measure.lateness->link_bps == 0) bad("lateness needs egress_bps");
        lateness.done();
    }
    measure.keep_all = table.boolean("keep_all", true);
    if (table.has("group_of")) {
        const auto groups = table.array<std::uint8_t>("group_of", "uint8", python.keep);
        if (groups.size() != measure.queues) bad("group_of does not have an element for each queue");
        measure.group_of.assign(groups.begin(), groups.end());
        for (const std::uint8_t group : groups)
            if (group != kNoGroup) measure.groups = std::max(measure.groups, group + 1U);
    }
    if (table.has("tree")) {
        if (!nb::isinstance<nb::dict>(table.get("tree"))) bad("tree is not a dictionary");
        measure.tree = tree_places(Table(nb::cast<nb::dict>(table.get("tree")), "tree."), measure.queues, python.keep);
    }
    if (table.has("pcap_out")) measure.pcap_out = table.text("pcap_out");
    job.sample_queues = queue_list(table, "sample_queues", measure.queues, python.keep);
    job.setup_writes = register_writes(table, "register_writes", false);
    job.timed_writes = register_writes(table, "timed_register_writes", true);

    const double stop = job.duration_cycles ? static_cast<double>(*job.duration_cycles) : Source::kNever;
    for (nb::handle item : table.list("sources")) {
        const std::string where = "sources[" + std::to_string(job.sources.size()) + "].";
        if (!nb::isinstance<nb::dict>(item)) bad(where.substr(0, where.size() - 1) + " is not a dictionary");
        Table source(nb::cast<nb::dict>(item), where);
        const std::string kind = source.text("kind");
        if (kind == "frames")
            job.sources.emplace_back(recorded_frames(source, python.keep));
        else
            job.sources.emplace_back(synthetic(source, kind, job.device.clock_hz, stop, python.keep));
        const auto* made = std::get_if<SyntheticSettings>(&job.sources.back());
        if (made && made->stop_cycle >= Source::kNever && !job.max_cycles)
            bad(where + "stop_cycle, duration_cycles or max_cycles must end the run");
    }
    table.done();
    return python;
}

}  // namespace penstock
