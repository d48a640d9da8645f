// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The own scheduler of an access edge as a job describes it.
#pragma once

#include "blocks/schedule/model/scheduler_models.hpp"
#include "designs/access_edge/model/device/python_part.hpp"
#include "penstock/engine/python_table.hpp"

namespace penstock {

// Key `scheduler` of `table`: {`name`, `library`: the path of its model, `numbers`: {name: value}}, in Python with `python`, what makes it,
// in place of `library`; or None: it is one of ours. Throws nanobind::value_error that names the key.
inline OwnScheduler take_scheduler(Table& table) {
    OwnScheduler own;
    if (!table.has("scheduler")) return own;
    Table given = table.table("scheduler");
    own.name = given.text("name");
    if (given.has("python")) {
        own.make = [maker = python_object(given.get("python"))](std::uint32_t queues, std::int64_t credits) {
            return python_scheduler(maker, queues, credits);
        };
    } else {
        own.library = given.text("library");
        if (own.library.empty()) bad_job(given.name("library") + " is empty");
    }
    if (given.has("numbers")) own.numbers = given.integers("numbers");
    given.done();
    return own;
}

}  // namespace penstock
