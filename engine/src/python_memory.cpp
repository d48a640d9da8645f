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
    while (read_back < todo[0].size() || confirmed < todo[1].size()) {
        port.step();
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

void bind_dram(nb::module_& m) {
    m.def("dram_trace", &dram_trace, nb::arg("dram"), nb::arg("trace"), nb::arg("commands") = false,
          "Single beats of 64 bytes to a channel of DRAM, reads and writes each in order: `trace` has write (0 or 1), address, from (the "
          "cycle "
          "before which it is not offered), one of each for a beat. Returns when each was offered and answered, and what the channel did; "
          "`commands`: each command as (tick, "
          "what, bank, row, column).");
}

}  // namespace penstock
