// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// A meter with two rates and three colors, as simple_switch runs it: the higher rate first, in tokens for each microsecond since the start.
#pragma once

#include <algorithm>
#include <cstdint>

namespace penstock::p4 {

struct Meter {
    struct Rate {
        double per_us = 0;
        std::uint64_t burst = 0, tokens = 0, last = 0;
    };
    bool configured = false;
    Rate rates[2];  // committed, peak

    void configure(double committed, std::uint64_t committed_burst, double peak, std::uint64_t peak_burst) {
        rates[0] = {committed, committed_burst, committed_burst, 0};
        rates[1] = {peak, peak_burst, peak_burst, 0};
        configured = true;
    }
    // 0 green, 1 yellow, 2 red.
    std::uint64_t execute(std::uint64_t passed_us, std::uint64_t amount) {
        if (!configured) return 0;
        for (int i = 1; i >= 0; --i) {
            Rate& rate = rates[i];
            const double product = static_cast<double>(passed_us) * rate.per_us;
            const std::uint64_t made = product < 18e18 ? static_cast<std::uint64_t>(product) : std::uint64_t{18'000'000'000'000'000'000u};
            const std::uint64_t fresh = made > rate.last ? made - rate.last : 0;
            rate.last = std::max(rate.last, made);
            rate.tokens = fresh >= rate.burst - std::min(rate.burst, rate.tokens) ? rate.burst : rate.tokens + fresh;
            if (rate.tokens < amount) return static_cast<std::uint64_t>(i) + 1;
            rate.tokens -= amount;
        }
        return 0;
    }
};

}  // namespace penstock::p4
