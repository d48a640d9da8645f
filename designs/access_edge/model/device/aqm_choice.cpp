// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "designs/access_edge/model/device/aqm_choice.hpp"

#include <stdexcept>
#include <string>

#include "blocks/aqm/model/aqm_models.hpp"

namespace penstock {

namespace {

constexpr int kTimeWidth = 26;  // bits of a time in ticks: pst_aqm_pkg::AqmTimeWidth

// In the register of features: the two that had a number before there were others, which have one in common.
std::uint32_t code_of(const std::string& name) {
    namespace values = access_edge::values;
    constexpr std::uint32_t kOther = 3;
    return name == "codel" ? values::kAqmKindCodel : name == "pie" ? values::kAqmKindPie : kOther;
}

}  // namespace

CoreAqm AqmChoice::make(std::uint32_t queues) const {
    if (!*this) return {};
    try {
        if (python) return {python_aqm(python, queues), tick_shift};
        return {make_aqm(*factory, queues, numbers), tick_shift};
    } catch (const std::invalid_argument& failure) {
        throw std::invalid_argument("AQM " + name + ": " + failure.what());
    }
}

AqmChoice take_aqm(Table& table, bool estimate, int tick_shift, std::uint32_t max_packet_bytes) {
    AqmChoice aqm;
    aqm.estimate = estimate;
    aqm.tick_shift = tick_shift;
    if (!table.has("aqm")) return aqm;
    const std::string where = table.name("aqm");
    Table given = table.table("aqm");
    const std::string sees = given.text("sees"), library = given.has("library") ? given.text("library") : "";
    aqm.name = given.text("name");
    if (sees != "departures" && sees != "arrivals") bad_job(where + ".sees is departures or arrivals");
    aqm.arrivals = sees == "arrivals";
    aqm.code = code_of(aqm.name);
    aqm.numbers = {{"tick_shift", tick_shift}, {"max_packet_bytes", max_packet_bytes}, {"estimate", estimate}, {"time_width", kTimeWidth}};
    if (given.has("numbers")) {
        for (const auto& [number, value] : given.integers("numbers"))
            if (!aqm.numbers.emplace(number, value).second) bad_job(where + ".numbers." + number + " is given by the device itself");
    }
    if (given.has("python")) aqm.python = python_object(given.get("python"));
    given.done();
    if (aqm.python) return aqm;
    try {
        aqm.factory = &find_aqm(aqm.name, library);
    } catch (const std::invalid_argument& failure) {
        bad_job(where + ": " + failure.what());
    }
    return aqm;
}

}  // namespace penstock
