// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "penstock/engine/python_memory.hpp"

#include <nanobind/stl/vector.h>

#include <limits>
#include <utility>
#include <vector>

namespace penstock {

using namespace engine;

namespace {

constexpr std::int64_t kMostTicks = 1'000'000;

DramTiming timing(Table table) {
    DramTiming t;
    const std::pair<const char*, std::uint32_t*> values[] = {
        {"burst", &t.burst}, {"cl", &t.cl},       {"cwl", &t.cwl},     {"rcd_read", &t.rcd_read}, {"rcd_write", &t.rcd_write},
        {"rp", &t.rp},       {"ras", &t.ras},     {"rrd_s", &t.rrd_s}, {"rrd_l", &t.rrd_l},       {"faw", &t.faw},
        {"ccd_s", &t.ccd_s}, {"ccd_l", &t.ccd_l}, {"wtr_s", &t.wtr_s}, {"wtr_l", &t.wtr_l},       {"rtw", &t.rtw},
        {"rtp", &t.rtp},     {"wr", &t.wr},       {"rfc", &t.rfc},     {"refi", &t.refi}};
    for (const auto& [key, value] : values) *value = static_cast<std::uint32_t>(table.integer(key, 1, kMostTicks));
    if (t.rfc >= t.refi) bad_job(table.name("rfc") + " is not less than refi");
    table.done();
    return t;
}

std::vector<DramField> mapping(Table& table) {
    std::vector<DramField> fields;
    for (Table& field : table.tables("mapping")) {
        const std::string of = field.text("of");
        DramField made;
        if (of == "column")
            made.of = DramField::Of::Column;
        else if (of == "group")
            made.of = DramField::Of::Group;
        else if (of == "bank")
            made.of = DramField::Of::Bank;
        else
            bad_job(field.name("of") + " is none of column, group and bank");
        made.bits = static_cast<std::uint32_t>(field.integer("bits", 0, 32));
        field.done();
        fields.push_back(made);
    }
    return fields;
}

}  // namespace

DramSettings dram_of_job(Table table) {
    DramSettings dram;
    const auto number = [&](const char* key, std::int64_t least, std::int64_t most) {
        return static_cast<std::uint32_t>(table.integer(key, least, most));
    };
    dram.ticks = static_cast<std::uint64_t>(table.integer("ticks", 1, std::int64_t{1} << 40));
    dram.per_cycles = static_cast<std::uint64_t>(table.integer("per_cycles", 1, std::int64_t{1} << 40));
    dram.access_bytes = number("access_bytes", 8, PST_BEAT_BYTES);
    dram.groups = number("groups", 1, 64);
    dram.banks = number("banks", 1, 64);
    dram.row_accesses = number("row_accesses", 1, 1 << 16);
    dram.mapping = mapping(table);
    dram.hash_groups = table.boolean("hash_groups", false);
    dram.timing = timing(table.table("timing"));
    dram.row_bus = table.boolean("row_bus", false);
    dram.read_queue = number("read_queue", 1, 1024);
    dram.write_queue = number("write_queue", 1, 1024);
    dram.batch = number("batch", 1, 1024);
    dram.drain_from = number("drain_from", 1, 1024);
    dram.drain_after = number("drain_after", 1, kMostTicks);
    dram.hit_limit = number("hit_limit", 1, kMostTicks);
    dram.forward = table.boolean("forward", false);
    dram.close_rows = table.boolean("close_rows", false);
    dram.bursts = number("bursts", 1, 1024);
    dram.reorder_beats = number("reorder_beats", 1, 1024);
    dram.read_latency = number("read_latency", 0, kMostTicks);
    dram.write_latency = number("write_latency", 1, kMostTicks);
    dram.first_refresh = number("first_refresh", 1, kMostTicks);
    table.done();
    return dram;
}

namespace {

HbmSwitchSettings crossbar_of_job(Table& table) {
    HbmSwitchSettings crossbar;
    const auto number = [&](const char* key, std::int64_t least, std::int64_t most) {
        return static_cast<std::uint32_t>(table.integer(key, least, most));
    };
    crossbar.ticks = static_cast<std::uint64_t>(table.integer("ticks", 1, std::int64_t{1} << 40));
    crossbar.per_cycles = static_cast<std::uint64_t>(table.integer("per_cycles", 1, std::int64_t{1} << 40));
    const std::string mapping = table.text("mapping");
    if (mapping == "own")
        crossbar.mapping = HbmSwitchSettings::Mapping::Own;
    else if (mapping == "across")
        crossbar.mapping = HbmSwitchSettings::Mapping::Across;
    else if (mapping == "spread")
        crossbar.mapping = HbmSwitchSettings::Mapping::Spread;
    else if (mapping == "global")
        crossbar.mapping = HbmSwitchSettings::Mapping::Global;
    else
        bad_job(table.name("mapping") + " is none of own, across, spread and global");
    crossbar.one_id = table.boolean("one_id", false);
    crossbar.fragment_beats = number("fragment_beats", 1, 64);
    crossbar.beat_ticks = number("beat_ticks", 1, 64);
    crossbar.turn_ticks = number("turn_ticks", 0, 64);
    crossbar.request = number("request", 0, kMostTicks);
    crossbar.answer = number("answer", 0, kMostTicks);
    const auto hops = [&](const char* key, auto& hop) {
        std::vector<Table> found = table.tables(key);
        if (found.size() != hop.size()) bad_job(table.name(key) + " has not a number for each boundary");
        for (std::size_t b = 0; b < hop.size(); ++b) {
            hop[b] = static_cast<std::uint32_t>(found[b].integer("ticks", 0, kMostTicks));
            found[b].done();
        }
    };
    hops("hop_request", crossbar.hop_request);
    hops("hop_answer", crossbar.hop_answer);
    return crossbar;
}

std::vector<MemoryFault> faults_of_job(Table& table) {
    std::vector<MemoryFault> faults;
    for (Table& given : table.tables("faults")) {
        MemoryFault fault;
        const std::string what = given.text("what");
        if (what == "stall")
            fault.what = MemoryFault::What::Stall;
        else if (what == "silent")
            fault.what = MemoryFault::What::Silent;
        else if (what == "errors")
            fault.what = MemoryFault::What::Errors;
        else
            bad_job(given.name("what") + " is none of stall, silent and errors");
        fault.from = given.integer("from", 0, std::int64_t{1} << 62);
        if (given.has("until")) fault.until = given.integer("until", fault.from, std::int64_t{1} << 62);
        given.done();
        faults.push_back(fault);
    }
    return faults;
}

}  // namespace

MemorySettings memory_of_job(Table& table) {
    MemorySettings memory;
    memory.bytes = static_cast<std::uint64_t>(table.integer("bytes", PST_BEAT_BYTES, std::int64_t{1} << 46));
    memory.page_bytes = static_cast<std::uint32_t>(table.integer("page_bytes", PST_BEAT_BYTES, 1 << 20, 0));
    if (table.has("faults")) memory.faults = faults_of_job(table);
    if (table.has("dram")) {
        memory.dram = dram_of_job(table.table("dram"));
        if (table.has("crossbar")) {
            Table crossbar = table.table("crossbar");
            memory.crossbar = crossbar_of_job(crossbar);
            memory.crossbar_first = static_cast<std::uint32_t>(crossbar.integer("first", 0, 31));
            memory.crossbar_ports = static_cast<std::uint32_t>(crossbar.integer("ports", 1, 32));
            crossbar.done();
        }
        return memory;
    }
    memory.read_latency = static_cast<std::uint32_t>(table.integer("read_latency", 1, kMostTicks, memory.read_latency));
    memory.write_latency = static_cast<std::uint32_t>(table.integer("write_latency", 1, kMostTicks, memory.write_latency));
    memory.gap_permille = static_cast<std::uint32_t>(table.integer("gap_permille", 0, 999, 0));
    return memory;
}

namespace {

constexpr const char* kCommands[] = {"activate",       "precharge",       "read",          "write",
                                     "read_precharge", "write_precharge", "precharge_all", "refresh"};

// A master that sends single-beat bursts, reads and writes each in order and as early as the port takes them.
nb::dict dram_trace(nb::dict dram, nb::dict trace, bool with_commands) {
    Table settings(dram, "dram."), given(trace, "trace.");
    std::vector<nb::object> keep;
    const auto write = given.array<std::uint8_t>("write", "uint8", keep);
    const auto address = given.array<std::uint64_t>("address", "uint64", keep);
    const auto from = given.array<std::int64_t>("from", "int64", keep);
    given.done();
    if (write.size() != address.size() || from.size() != address.size()) bad_job("trace: write, address and from are of one length");
    std::vector<std::size_t> todo[2];
    for (std::size_t i = 0; i < write.size(); ++i) todo[write[i] ? 1 : 0].push_back(i);
    std::vector<std::int64_t> offered(write.size(), -1), answered(write.size(), -1);
    DramPort port(dram_of_job(std::move(settings)));
    std::vector<DramController::Command> log;
    if (with_commands) port.log_to(&log);
    std::size_t reads = 0, writes = 0, data = 0, read_back = 0, confirmed = 0;
    // The next cycle in which something may be: that of the next beat where none is under way.
    const auto next = [&] {
        if (!port.idle() || read_back != reads || confirmed != writes) return port.cycle() + 1;
        std::int64_t first = kMaxCycles;
        if (reads < todo[0].size()) first = std::min(first, from[todo[0][reads]]);
        if (writes < todo[1].size()) first = std::min(first, from[todo[1][writes]]);
        return std::max(first, port.cycle() + 1);
    };
    while (read_back < todo[0].size() || confirmed < todo[1].size()) {
        port.step_to(next());
        const std::int64_t now = port.cycle();
        if (port.r_valid()) {
            answered[todo[0][read_back++]] = now;
            port.give_r();
        }
        if (port.b_valid()) {
            answered[todo[1][confirmed++]] = now;
            port.give_b();
        }
        if (data < writes && port.w_ready()) {
            port.take_w();
            ++data;
        }
        if (writes < todo[1].size() && from[todo[1][writes]] <= now && port.aw_ready()) {
            const std::size_t i = todo[1][writes++];
            offered[i] = now;
            port.take_aw(address[i], 1);
        }
        if (reads < todo[0].size() && from[todo[0][reads]] <= now && port.ar_ready()) {
            const std::size_t i = todo[0][reads++];
            offered[i] = now;
            port.take_ar(address[i], 1);
        }
    }
    nb::dict result;
    result["cycles"] = port.cycle() + 1;
    result["offered"] = offered;
    result["answered"] = answered;
    const DramCounts& counts = port.counts();
    result["reads"] = counts.reads;
    result["writes"] = counts.writes;
    result["forwarded"] = counts.forwarded;
    result["activates"] = counts.activates;
    result["refreshes"] = counts.refreshes;
    result["turns"] = counts.turns;
    if (with_commands) {
        nb::list commands;
        for (const DramController::Command& c : log)
            commands.append(nb::make_tuple(c.tick, kCommands[static_cast<unsigned>(c.what)], c.bank, c.row, c.column));
        result["commands"] = commands;
    }
    return result;
}

}  // namespace

namespace {

// As dram_trace, with a master at each port of a crossbar; an item is a burst.
nb::dict crossbar_trace(nb::list drams, nb::dict crossbar, nb::dict trace) {
    std::vector<DramSettings> channels;
    for (nb::handle dram : drams) channels.push_back(dram_of_job(Table(nb::cast<nb::dict>(dram), "drams.")));
    Table settings(crossbar, "crossbar."), given(trace, "trace.");
    std::vector<nb::object> keep;
    const auto port = given.array<std::uint8_t>("port", "uint8", keep);
    const auto write = given.array<std::uint8_t>("write", "uint8", keep);
    const auto address = given.array<std::uint64_t>("address", "uint64", keep);
    const auto beats = given.array<std::uint8_t>("beats", "uint8", keep);
    const auto from = given.array<std::int64_t>("from", "int64", keep);
    given.done();
    HbmSwitch hbm(crossbar_of_job(settings), channels);
    settings.done();
    const std::size_t items = write.size();
    if (port.size() != items || address.size() != items || from.size() != items || beats.size() != items)
        bad_job("trace: port, write, address, beats and from are of one length");
    struct Master {
        std::vector<std::size_t> todo[2];
        std::size_t reads = 0, writes = 0, data = 0, read_back = 0, confirmed = 0;
        unsigned data_beats = 0, read_beats = 0;
    };
    std::vector<Master> masters(channels.size());
    for (std::size_t i = 0; i < items; ++i) {
        if (port[i] >= masters.size() || beats[i] == 0 || beats[i] > 64) bad_job("trace: a port or a number of beats is too large");
        masters[port[i]].todo[write[i] ? 1 : 0].push_back(i);
    }
    std::vector<std::int64_t> offered(items, -1), answered(items, -1);
    std::int64_t now = -1;
    std::size_t done = 0;
    while (done < items) {
        hbm.step_to(++now);
        for (unsigned p = 0; p < masters.size(); ++p) {
            Master& m = masters[p];
            const bool aw_ready = hbm.aw_ready(p), w_ready = hbm.w_ready(p), ar_ready = hbm.ar_ready(p);
            if (hbm.r_valid(p)) {
                const std::size_t i = m.todo[0][m.read_back];
                if (++m.read_beats == beats[i]) {
                    answered[i] = now;
                    m.read_beats = 0;
                    ++m.read_back;
                    ++done;
                }
                hbm.give_r(p);
            }
            if (hbm.b_valid(p)) {
                answered[m.todo[1][m.confirmed++]] = now;
                ++done;
                hbm.give_b(p);
            }
            if (m.data < m.writes && w_ready) {
                hbm.take_w(p);
                if (++m.data_beats == beats[m.todo[1][m.data]]) {
                    m.data_beats = 0;
                    ++m.data;
                }
            }
            if (m.writes < m.todo[1].size() && from[m.todo[1][m.writes]] <= now && aw_ready) {
                const std::size_t i = m.todo[1][m.writes++];
                offered[i] = now;
                hbm.take_aw(p, address[i], beats[i]);
            }
            if (m.reads < m.todo[0].size() && from[m.todo[0][m.reads]] <= now && ar_ready) {
                const std::size_t i = m.todo[0][m.reads++];
                offered[i] = now;
                hbm.take_ar(p, address[i], beats[i]);
            }
        }
    }
    nb::dict result;
    result["cycles"] = now + 1;
    result["offered"] = offered;
    result["answered"] = answered;
    return result;
}

}  // namespace

void bind_dram(nb::module_& m) {
    m.def(
        "crossbar_trace", &crossbar_trace, nb::arg("drams"), nb::arg("crossbar"), nb::arg("trace"),
        "Bursts from the ports of a crossbar to pseudo channels, `drams`; reads and writes of each port in order. `trace` has port, write "
        "(0 or 1), address, beats, from (the cycle before which it is not offered). Returns when each was offered, and answered to the "
        "last beat.");
    m.def("dram_trace", &dram_trace, nb::arg("dram"), nb::arg("trace"), nb::arg("commands") = false,
          "Single beats of 64 bytes to a channel of DRAM, reads and writes each in order: `trace` has write (0 or 1), address, from (the "
          "cycle "
          "before which it is not offered), one of each for a beat. Returns when each was offered and answered, and what the channel did; "
          "`commands`: each command as (tick, "
          "what, bank, row, column).");
}

}  // namespace penstock
