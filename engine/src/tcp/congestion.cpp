// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "penstock/engine/tcp/congestion.hpp"

#include "penstock/engine/tcp/cubic.hpp"
#include "penstock/engine/tcp/prague.hpp"
#include "penstock/engine/tcp/reno.hpp"

namespace penstock::engine::tcp {

std::optional<Algorithm> algorithm_named(std::string_view name) {
    if (name == "reno") return Algorithm::Reno;
    if (name == "cubic") return Algorithm::Cubic;
    if (name == "cubic_linux") return Algorithm::CubicLinux;
    if (name == "prague") return Algorithm::Prague;
    return std::nullopt;
}

std::unique_ptr<Congestion> make_congestion(const CongestionSettings& settings) {
    if (settings.algorithm == Algorithm::Reno) return std::make_unique<Reno>(settings);
    if (settings.algorithm == Algorithm::Prague) return std::make_unique<Prague>(settings);
    return std::make_unique<Cubic>(settings);
}

}  // namespace penstock::engine::tcp
