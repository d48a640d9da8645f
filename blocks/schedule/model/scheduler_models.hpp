// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Models of schedulers from libraries.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "scheduler_model.hpp"

namespace penstock {

// What is needed to make the model of a device's own scheduler.
struct OwnScheduler {
    std::string name;     // for errors
    std::string library;  // with its model; empty: there is no own scheduler, or something else makes its model
    std::map<std::string, std::int64_t> numbers;
    std::function<std::shared_ptr<SchedulerModel>(std::uint32_t queues, std::int64_t credits)> make{};

    explicit operator bool() const { return make || !library.empty(); }
};

// A new model for so many queues. Its library stays loaded. Throws std::invalid_argument with a sentence: the file does not load, it is no
// model of a scheduler, it was made for another version of the interface, or the model refuses its numbers.
std::shared_ptr<SchedulerModel> make_scheduler(const OwnScheduler& own, std::uint32_t queues, std::int64_t credits);

}  // namespace penstock
