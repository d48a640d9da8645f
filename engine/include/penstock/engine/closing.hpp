// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The end of a session: the inputs are closed, and the frames under way get their fate before counters are compared.
#pragma once

#include <algorithm>
#include <cstdint>

#include "penstock/engine/device.hpp"
#include "penstock/engine/measure.hpp"

namespace penstock::engine {

// Runs a device whose inputs are closed until done(), or until it has told nothing for Device::patience() and `more` cycles: a frame that
// has begun takes as long as its line needs for it, so no number of cycles in all is enough. `step`: cycles between two calls of done().
template <typename Done>
void finish(Device& device, const Measurement& measurement, std::int64_t step, std::int64_t more, Done&& done) {
    const std::int64_t patience = device.patience() + more;
    const auto told = [&] {
        const Totals& t = measurement.live();
        return t.in.packets + t.out.packets + (t.in.packets - t.queued.packets) + measurement.undecided();
    };
    std::uint64_t before = told();
    std::int64_t since = device.now(), steps = step;
    while (!done() && device.now() - since < patience) {
        device.run(device.now() + steps);
        steps = std::min(2 * steps, patience);  // little happens on a slow line
        if (told() == before) continue;
        before = told();
        since = device.now();
        steps = step;
    }
}

}  // namespace penstock::engine
