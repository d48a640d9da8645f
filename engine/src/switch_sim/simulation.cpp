// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Every switch and every traffic by its name. A new scheduler is a header and a line here.
#include "simulation.hpp"

#include "bernoulli_traffic.hpp"
#include "bursty_traffic.hpp"
#include "cprra.hpp"
#include "crossbar_switch.hpp"
#include "destinations.hpp"
#include "drrm.hpp"
#include "edrrm.hpp"
#include "islip.hpp"
#include "output_queued_switch.hpp"
#include "pim.hpp"
#include "rrm.hpp"

namespace penstock::switch_sim {

namespace {

enum Stream : std::uint64_t { kTraffic, kScheduler };  // of random numbers: all algorithms see the same traffic for one seed

template <class Destinations>
std::unique_ptr<Traffic> bernoulli(const Setting& setting, Destinations destinations, Random random) {
    return std::make_unique<BernoulliTraffic<Destinations>>(setting.ports, setting.rate, std::move(destinations), random);
}

std::unique_ptr<Traffic> make_traffic(Setting& setting) {
    const Random random(setting.seed, kTraffic);
    const std::string& name = setting.traffic;
    if (name == "uniform") return bernoulli(setting, UniformDestinations(setting.ports), random);
    if (name == "nonuniform") return bernoulli(setting, FavouredDestinations(setting.ports, setting.hot), random);
    if (name == "hotspot") return bernoulli(setting, FavouredDestinations(setting.ports, setting.hot, 0), random);
    if (name == "diagonal") return bernoulli(setting, DiagonalDestinations(setting.ports), random);
    if (name == "bursty") return std::make_unique<BurstyTraffic>(setting.ports, setting.rate, setting.burst, random);
    if (name == "trace") return std::make_unique<TraceTraffic>(std::move(setting.trace));
    throw std::invalid_argument("traffic: there is no '" + name + "'");
}

template <class Switch>
std::unique_ptr<Simulation> simulation(Setting& setting, Switch fabric) {
    std::unique_ptr<Traffic> traffic = make_traffic(setting);
    if (setting.keep) return std::make_unique<SimulationOf<Switch, true>>(std::move(fabric), std::move(traffic));
    return std::make_unique<SimulationOf<Switch, false>>(std::move(fabric), std::move(traffic));
}

template <class Scheduler>
std::unique_ptr<Simulation> crossbar(Setting& setting) {
    Scheduler scheduler(setting.ports, setting.iterations, Random(setting.seed, kScheduler));
    return simulation(setting, CrossbarSwitch<Scheduler>(setting.ports, setting.depth, std::move(scheduler)));
}

}  // namespace

std::unique_ptr<Simulation> make_simulation(Setting setting) {
    const std::string& name = setting.algorithm;
    if (name == "cprra") return simulation(setting, Cprra(setting.ports, setting.depth, setting.keep));
    if (name == "oq") return simulation(setting, OutputQueuedSwitch(setting.ports, setting.depth));
    if (name == "pim") return crossbar<Pim>(setting);
    if (name == "rrm") return crossbar<Rrm>(setting);
    if (name == "islip") return crossbar<Islip>(setting);
    if (name == "drrm") return crossbar<Drrm>(setting);
    if (name == "edrrm") return crossbar<Edrrm>(setting);
    throw std::invalid_argument("algorithm: there is no '" + name + "'");
}

}  // namespace penstock::switch_sim
