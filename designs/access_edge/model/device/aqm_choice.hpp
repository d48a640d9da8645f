// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The AQM of an access edge as a job describes it.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "blocks/aqm/model/aqm_model.hpp"
#include "designs/access_edge/model/access_edge.hpp"
#include "designs/access_edge/model/aqm_judges.hpp"
#include "designs/access_edge/model/device/python_part.hpp"
#include "penstock/engine/python_table.hpp"

namespace penstock {

struct AqmChoice {
    const AqmFactory* factory = nullptr;          // null: there is no AQM, or one in Python
    PythonObject python;                          // what makes that one
    std::string name;                             // for errors
    std::uint32_t code = 0;                       // in the register of features
    bool arrivals = false;                        // it judges arrivals, not departures
    bool estimate = false;                        // sojourn times are estimated
    int tick_shift = 8;                           // a tick is 2^tick_shift cycles
    std::map<std::string, std::int64_t> numbers;  // what its model is built with

    explicit operator bool() const { return factory || python; }
    // Throws std::invalid_argument with a sentence when the model refuses its numbers.
    CoreAqm make(std::uint32_t queues) const;
};

// Key `aqm` of `table`: {`name`, `sees`: departures or arrivals, `library`: a path or None, `numbers`: {name: value}, `python`: what makes
// it where it is in Python}, or None. The device's own numbers are added. Throws nanobind::value_error that names the key.
AqmChoice take_aqm(Table& table, bool estimate, int tick_shift, std::uint32_t max_packet_bytes);

}  // namespace penstock
