// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "python_result.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "penstock/engine/python_columns.hpp"

namespace nb = nanobind;
using namespace penstock::engine;

namespace penstock {

namespace {

nb::dict amounts(const Statement& device, const Totals& totals, std::uint64_t Amount::* what) {
    nb::dict dict, dropped;
    dict["in"] = totals.in.*what;
    dict["out"] = totals.out.*what;
    dict["queued"] = totals.queued.*what;
    each_reason(device, [&](unsigned reason, const char* name) { dropped[name] = totals.dropped[reason].*what; });
    dict["dropped"] = dropped;
    return dict;
}

nb::dict queue_arrays(const Measurement& m) {
    nb::dict dict;
    const std::size_t queues = m.queue_in().size();
    dict["in_packets"] = column<std::uint64_t>(queues, [&](std::uint32_t q) { return m.queue_in()[q].packets; });
    dict["in_bytes"] = column<std::uint64_t>(queues, [&](std::uint32_t q) { return m.queue_in()[q].bytes; });
    dict["out_packets"] = column<std::uint64_t>(queues, [&](std::uint32_t q) { return m.queue_totals(q).out.packets; });
    dict["out_bytes"] = column<std::uint64_t>(queues, [&](std::uint32_t q) { return m.queue_totals(q).out.bytes; });
    dict["drop_packets"] = column<std::uint64_t>(queues, [&](std::uint32_t q) { return m.queue_totals(q).drop.packets; });
    dict["drop_bytes"] = column<std::uint64_t>(queues, [&](std::uint32_t q) { return m.queue_totals(q).drop.bytes; });
    const auto measured = [&](std::uint64_t Amount::* what) {
        return column<std::uint64_t>(queues, [=, &m](std::uint32_t q) { return m.queue_totals(q).out.*what - m.out_before(q).*what; });
    };
    dict["measured_packets"] = measured(&Amount::packets);
    dict["measured_bytes"] = measured(&Amount::bytes);
    const Statement& device = m.device();
    for (std::size_t i = 0; i < device.queue_reasons.size(); ++i)
        dict[(device.drop_reasons[device.queue_reasons[i]] + "_drop_packets").c_str()] =
            column<std::uint64_t>(queues, [&](std::uint32_t q) { return m.queue_drops(i, q); });
    if (device.payload == Payload::EcnMark)
        dict["marked_packets"] = column<std::uint64_t>(queues, [&](std::uint32_t q) { return m.queue_marks(q); });
    dict["first_departure"] = column<std::int64_t>(queues, [&](std::uint32_t q) { return m.queue_totals(q).first_departure; });
    dict["last_departure"] = column<std::int64_t>(queues, [&](std::uint32_t q) { return m.queue_totals(q).last_departure; });
    return dict;
}

void add_cells(nb::dict& dict, const SeriesCells& series, std::size_t columns) {
    std::vector<double> mean(series.latency_sum.size());
    for (std::size_t i = 0; i < mean.size(); ++i) mean[i] = series.packets[i] ? series.latency_sum[i] / series.packets[i] : 0.0;
    dict["bytes"] = to_array(series.bytes, columns);
    dict["packets"] = to_array(series.packets, columns);
    dict["latency_max"] = to_array(series.latency_max, columns);
    dict["latency_mean"] = to_array(std::move(mean), columns);
}

nb::dict series_arrays(const Statement& device, const Series& series) {
    nb::dict dict, drops;
    const std::size_t rows = series.total_out.size();
    dict["interval_cycles"] = series.interval_cycles;
    dict["queues"] = to_array(series.queues);
    if (!series.queues.empty()) add_cells(dict, series.of_queues, series.queues.size());
    if (device.outputs > 1) {
        nb::dict outputs;
        add_cells(outputs, series.of_outputs, device.outputs);
        dict["outputs"] = outputs;
    }
    dict["in_bytes"] = to_array(series.total_in);
    dict["out_bytes"] = to_array(series.total_out);
    each_reason(device, [&](unsigned reason, const char* name) {
        std::vector<std::uint64_t> values(rows);
        for (std::size_t row = 0; row < rows; ++row) values[row] = series.drops[row * kMostReasons + reason];
        drops[name] = to_array(std::move(values));
    });
    dict["drops"] = drops;
    if (device.payload == Payload::EcnMark) dict["marked"] = to_array(series.marked);
    return dict;
}

nb::dict event_arrays(const Events& events) {
    nb::dict dict;
    dict["cycle"] = to_array(events.cycle);
    dict["queue"] = to_array(events.queue);
    return dict;
}

// When what happened to frames that are kept one by one.
void add_events(nb::dict& result, const Measurement& m) {
    nb::dict drops;
    each_reason(m.device(), [&](unsigned reason, const char* name) {
        if (!m.drops_for(reason).cycle.empty()) drops[name] = event_arrays(m.drops_for(reason));
    });
    result["drop_events"] = drops;
    if (m.device().payload == Payload::EcnMark) result["mark_events"] = event_arrays(m.marks());
}

nb::dict group_arrays(const std::vector<GroupTotals>& groups) {
    const std::size_t count = groups.size();
    nb::dict dict;
    dict["first_arrival"] = column<std::int64_t>(count, [&](std::uint32_t g) { return groups[g].first_arrival; });
    dict["last_arrival"] = column<std::int64_t>(count, [&](std::uint32_t g) { return groups[g].last_arrival; });
    dict["out_before_last"] = column<std::uint64_t>(count, [&](std::uint32_t g) { return groups[g].out_before_last; });
    return dict;
}

nb::list histogram_list(const std::vector<Histogram>& histograms) {
    nb::list list;
    for (const Histogram& histogram : histograms) list.append(histogram_dict(histogram));
    return list;
}

nb::list memory_list(const Outcome& outcome) {
    nb::list list;
    for (std::uint32_t m = 0; m < outcome.memories.size(); ++m) {
        const MemoryCounts& memory = outcome.memories[m];
        nb::dict dict;
        dict["frames"] = memory.frames;
        dict["write_bursts"] = memory.write_bursts;
        dict["write_beats"] = memory.write_beats;
        dict["read_bursts"] = memory.read_bursts;
        dict["read_beats"] = memory.read_beats;
        dict["lost"] = std::count(outcome.lost_memories.begin(), outcome.lost_memories.end(), m) != 0;
        list.append(dict);
    }
    return list;
}

void add_totals(nb::dict& result, const Statement& device, const Totals& totals) {
    result["packets"] = amounts(device, totals, &Amount::packets);
    result["bytes"] = amounts(device, totals, &Amount::bytes);
    if (device.payload == Payload::EcnMark) result["marked_packets"] = totals.marked;
    if (device.payload == Payload::Rewritten) result["grown_bytes"] = totals.grown;
    result["order_errors"] = totals.order_errors;
    result["payload_errors"] = totals.payload_errors;
    result["event_errors"] = totals.event_errors;
}

}  // namespace

nb::dict totals_to_python(const Totals& totals, const Measurement& measurement, const Histogram& latency) {
    nb::dict result;
    add_totals(result, measurement.device(), totals);
    result["findings"] = totals.findings;
    result["latency_histogram"] = histogram_dict(latency);
    return result;
}

nb::dict result_to_python(const Outcome& outcome, Measurement& measurement, bool keep_departures) {
    const Totals& totals = measurement.totals();
    nb::dict result;
    result["cycles"] = outcome.cycles;
    result["init_cycles"] = outcome.init_cycles;
    result["wall_seconds"] = outcome.wall_seconds;
    result["run_cpu_seconds"] = outcome.run_cpu_seconds;
    result["interrupted"] = outcome.interrupted;
    result["drained"] = outcome.drained;
    add_totals(result, measurement.device(), totals);
    nb::dict measured;
    measured["from_cycle"] = measurement.after_cycles();
    measured["in_packets"] = totals.in.packets - measurement.in_before().packets;
    measured["in_bytes"] = totals.in.bytes - measurement.in_before().bytes;
    measured["out_packets"] = totals.out.packets - measurement.out_before().packets;
    measured["out_bytes"] = totals.out.bytes - measurement.out_before().bytes;
    result["measured"] = measured;
    result["lost"] = outcome.lost;
    result["counter_mismatches"] = outcome.counter_mismatches;
    result["conservation_ok"] = outcome.conservation_ok;
    result["findings"] = outcome.findings;
    if (keep_departures) {
        nb::dict departures;
        departures["cycle"] = to_array(measurement.take_departure_cycle());
        departures["length"] = to_array(measurement.take_departure_length());
        if (measurement.device().outputs > 1) departures["output"] = to_array(measurement.take_departure_output());
        result["departures"] = departures;
    }
    result["latency_cycles"] = to_array(measurement.take_latency());
    result["latency_queue"] = to_array(measurement.take_latency_queue());
    if (keep_departures) {
        result["departures"]["queue"] = result["latency_queue"];
        add_events(result, measurement);
    }
    if (!measurement.groups().empty()) result["groups"] = group_arrays(measurement.groups());
    result["latency_histograms"] = histogram_list(measurement.histograms());
    result["queue"] = queue_arrays(measurement);
    if (measurement.own()) measurement.own()->add_to(result);
    if (measurement.series().interval_cycles > 0) result["series"] = series_arrays(measurement.device(), measurement.series());
    result["memory"] = memory_list(outcome);
    if (!outcome.own_counters.empty()) result["own_counters"] = outcome.own_counters;
    nb::dict bus;
    bus["input_offered"] = outcome.bus.input_offered;
    bus["input_taken"] = outcome.bus.input_taken;
    bus["output_ready"] = outcome.bus.output_ready;
    bus["output_taken"] = outcome.bus.output_taken;
    result["bus"] = bus;
    nb::dict lost;
    lost["packets"] = outcome.ingress_lost.packets;
    lost["bytes"] = outcome.ingress_lost.bytes;
    result["ingress_lost"] = lost;
    return result;
}

}  // namespace penstock
