// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// A switch under traffic, slot by slot. In a slot packets arrive first, then each output sends at most one: a packet that leaves in the
// slot in which it came has latency 0.
#pragma once

#include <ctime>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "recorder.hpp"
#include "trace_traffic.hpp"
#include "traffic.hpp"

namespace penstock::switch_sim {

struct Setting {
    std::string algorithm;  // cprra, oq, pim, rrm, islip, drrm, edrrm
    unsigned iterations;    // of the last five
    unsigned ports;         // 2, 4, ... 64
    std::uint32_t depth;    // packets in each of the P x P FIFOs; or kUnlimited
    std::string traffic;    // uniform, bursty, nonuniform, diagonal, hotspot, trace
    double rate, burst, hot;
    std::uint64_t seed;
    std::vector<TracePacket> trace;
    bool keep;  // the fate of every packet
};

class Simulation {
  public:
    virtual ~Simulation() = default;
    // Goes on for `slots` slots.
    virtual void advance(std::uint64_t slots) = 0;

    virtual const Latencies& latencies() const = 0;
    virtual std::uint64_t drops() const = 0;
    virtual std::uint64_t waiting() const = 0;  // packets in the switch
    virtual const std::vector<Fate>& fates() const = 0;
    std::uint64_t slots() const { return now_; }
    std::uint64_t arrived() const { return arrived_; }
    double cpu_seconds() const { return cpu_seconds_; }

  protected:
    std::uint64_t now_ = 0, arrived_ = 0;
    double cpu_seconds_ = 0;  // of advance(), of the thread that ran it
};

// Throws std::invalid_argument when a name is unknown; numbers are the caller's to check.
std::unique_ptr<Simulation> make_simulation(Setting setting);

template <class Switch, bool Keep>
class SimulationOf final : public Simulation {
  public:
    SimulationOf(Switch fabric, std::unique_ptr<Traffic> traffic) : fabric_(std::move(fabric)), traffic_(std::move(traffic)) {}

    void advance(std::uint64_t slots) override {
        const double started = cpu_time();
        for (const std::uint64_t end = now_ + slots; now_ < end; ++now_) {
            const unsigned place = static_cast<unsigned>(now_ % Arrivals::kSlots);
            if (place == 0) traffic_->next(arrivals_);
            const Ports inputs = arrivals_.inputs[place];
            arrived_ += size(inputs);
            fabric_.slot(now_, inputs, arrivals_.destinations(place), recorder_);
        }
        cpu_seconds_ += cpu_time() - started;
    }

    const Latencies& latencies() const override { return recorder_.latencies(); }
    std::uint64_t drops() const override { return recorder_.drops(); }
    std::uint64_t waiting() const override { return fabric_.waiting(); }
    const std::vector<Fate>& fates() const override { return recorder_.fates(); }

  private:
    static double cpu_time() {
        std::timespec time{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
    }

    Switch fabric_;
    std::unique_ptr<Traffic> traffic_;
    Arrivals arrivals_;
    Recorder<Keep> recorder_;
};

}  // namespace penstock::switch_sim
