// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Benches of pst_access_edge_core (queue manager, scheduler, output FIFO) at its descriptor ports: how many packets
// per cycle it takes and gives, and how long a single packet needs. Every packet is checked: FIFO order in its queue,
// its length, its event, and that nothing is left or lost at the end.
#include "bench_core.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench_lateness.hpp"
#include "core_mirror.hpp"
#include "core_model_pins.hpp"

namespace nb = nanobind;

namespace penstock {
namespace {

constexpr uint32_t kMinLen = 60, kMaxLen = 1514;  // Ethernet without FCS
// Per-queue limits after reset are 65,535 packets and 16,777,215 bytes; this many of the largest frames stay below both.
constexpr uint32_t kBacklogPerQueue = 8192;
// What the system does in that many cycles without a departure, while packets are waiting, is called a hang.
constexpr uint64_t kPatience = 50'000'000;
constexpr uint64_t kProgressCycles = 1 << 16;

struct Options {
    std::string library, mode, pattern;
    uint32_t queues = 0, descriptors = 0;
    uint64_t packets = 0, seed = 1;
    bool shaping = true;  // of the model; the library has it built in
};

// Which queue is next: any; always the same one; one of four neighbours, which move on by one every 64 packets.
class Pattern {
  public:
    Pattern(const Options& options, std::mt19937_64& rng) : random_(rng), queues_(options.queues), kind_(options.pattern) {
        if (kind_ != "random" && kind_ != "same" && kind_ != "neighbours") throw std::invalid_argument("unknown pattern " + kind_);
        base_ = draw(queues_);
    }

    uint32_t next() {
        if (kind_ == "same") return base_;
        if (kind_ == "random") return draw(queues_);
        if (++count_ % 64 == 0) base_ = (base_ + 1) % queues_;
        return (base_ + draw(std::min(4u, queues_))) % queues_;
    }

    // How many queues share the load at any time.
    uint32_t active() const { return kind_ == "same" ? 1 : kind_ == "random" ? queues_ : std::min(4u, queues_); }

  private:
    uint32_t draw(uint32_t below) { return static_cast<uint32_t>(random_() % below); }

    std::mt19937_64& random_;
    uint32_t queues_, base_ = 0;
    uint64_t count_ = 0;
    std::string kind_;
};

class Bench {
  public:
    Bench(const Options& options, nb::object progress)
        : options_(options),
          progress_(std::move(progress)),
          owned_(make_core(options.library, options.queues, options.descriptors, options.shaping)),
          core_(*owned_),
          mirror_(options.queues, options.descriptors),
          rng_(options.seed),
          pattern_(options, rng_) {}

    nb::dict run() {
        reset();
        if (options_.mode == "idle-latency") return idle_latency();
        if (options_.mode != "queue" && options_.mode != "schedule") throw std::invalid_argument("unknown mode " + options_.mode);
        if (options_.mode == "schedule") set_rates();
        return throughput();
    }

  private:
    void reset() {
        core_.pins.rst_i = 1;
        for (int i = 0; i < 4; ++i) core_.step();
        core_.pins.rst_i = 0;
        core_.pins.m_drop_ready_i = 1;
        for (uint64_t i = 0; !core_.pins.init_done_o; ++i) {
            core_.step();
            if (i > kPatience) throw std::runtime_error("init_done_o does not rise");
        }
    }

    // Every queue gets a period of 0.25 to 0.75 of what would share one packet per cycle: all rates together are about two packets per
    // cycle, and each is above the queue's load, so the core is the limit and queues still wait in the wheel for their time.
    void set_rates() {
        const double mean_len = (kMinLen + kMaxLen) / 2.0;
        std::uniform_real_distribution<double> share(0.25, 0.75);
        auto& p = core_.pins;
        for (uint32_t queue = 0; queue < options_.queues; ++queue) {
            const double period = std::max(1.0, share(rng_) * pattern_.active() / mean_len * 65536.0);  // 2^-16 cycles per byte
            int exponent = std::clamp(static_cast<int>(std::floor(std::log2(period))), 0, 31);
            const auto mantissa = std::clamp<uint64_t>(static_cast<uint64_t>(std::lround(std::ldexp(period, 15 - exponent))), 32768, 65535);
            p.s_cfg_queue_i = queue;
            p.s_cfg_shaper_i = static_cast<uint64_t>(exponent) << 16 | mantissa;
            p.s_cfg_limit_packets_i = 65535;
            p.s_cfg_limit_bytes_i = 0xFFFFFF;
            p.s_cfg_valid_i = 1;
            do {
                cycle();
            } while (!p.s_cfg_ready_o);
            p.s_cfg_valid_i = 0;
        }
    }

    // One clock cycle: what is offered stays offered until it is taken, and everything that comes out is checked.
    void cycle() {
        auto& p = core_.pins;
        core_.step();
        ++cycles_;
        if (p.s_enq_valid_i && p.s_enq_ready_o) {
            mirror_.enqueue(p.s_enq_queue_i, p.s_enq_desc_i, p.s_enq_len_i);
            ++enqueued_;
            p.s_enq_valid_i = 0;
        }
        if (p.ev_valid_o) mirror_.event(p.ev_queue_o, p.ev_len_o, p.ev_reason_o);
        if (p.m_drop_valid_o) throw std::runtime_error("a page was given back for a packet that nobody dropped");
        if (p.m_out_valid_o && p.m_out_ready_i) {
            mirror_.departure(p.m_out_queue_o, p.m_out_desc_o, p.m_out_len_o);
            ++dequeued_;
            quiet_ = 0;
        } else if (mirror_.waiting() && p.m_out_ready_i && ++quiet_ > kPatience) {
            throw std::runtime_error("packets wait, but none has come out for " + std::to_string(kPatience) + " cycles");
        }
        if (cycles_ % kProgressCycles == 0) report();
    }

    void report() {
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        if (!progress_.is_none()) progress_(dequeued_, cycles_);
    }

    void offer() {
        auto& p = core_.pins;
        if (p.s_enq_valid_i || !mirror_.has_free()) return;
        p.s_enq_valid_i = 1;
        p.s_enq_queue_i = pattern_.next();
        p.s_enq_desc_i = mirror_.take();
        p.s_enq_len_i = static_cast<uint16_t>(kMinLen + rng_() % (kMaxLen - kMinLen + 1));
    }

    void drain() {
        core_.pins.m_out_ready_i = 1;
        while (core_.pins.s_enq_valid_i || mirror_.waiting()) cycle();
        for (int i = 0; i < 256; ++i) cycle();  // a packet too many would come now
        mirror_.check_empty();
    }

    // A backlog is laid up first, so that in the measured time both sides always have something to do.
    nb::dict throughput() {
        const uint64_t most = std::min<uint64_t>(options_.descriptors, uint64_t{kBacklogPerQueue} * pattern_.active());
        while (mirror_.waiting() < most / 2) {
            offer();
            cycle();
        }
        core_.pins.m_out_ready_i = 1;
        const uint64_t start = cycles_, in = enqueued_, out = dequeued_;
        while (enqueued_ - in < options_.packets) {
            if (mirror_.waiting() < most) offer();
            cycle();
        }
        const double span = static_cast<double>(cycles_ - start);
        nb::dict result;
        result["cycles"] = cycles_ - start;
        result["packets"] = enqueued_ - in;
        result["enqueues_per_cycle"] = static_cast<double>(enqueued_ - in) / span;
        result["dequeues_per_cycle"] = static_cast<double>(dequeued_ - out) / span;
        drain();
        result["total_cycles"] = cycles_;
        result["total_packets"] = enqueued_;
        return result;
    }

    // From the cycle of the enqueue handshake to the first cycle with m_out_valid_o, in a system that holds nothing else.
    nb::dict idle_latency() {
        auto& p = core_.pins;
        p.m_out_ready_i = 1;
        std::vector<uint32_t> latencies;
        latencies.reserve(options_.packets);
        for (uint64_t n = 0; n < options_.packets; ++n) {
            for (uint64_t gap = rng_() % 200; gap > 0; --gap) cycle();
            offer();
            while (p.s_enq_valid_i) cycle();
            const uint64_t taken = cycles_;
            while (mirror_.waiting()) cycle();
            latencies.push_back(static_cast<uint32_t>(cycles_ - taken));
        }
        nb::dict result;
        result["cycles"] = cycles_;
        result["packets"] = enqueued_;
        result["latency_cycles"] = nb::cast(latencies);
        drain();
        return result;
    }

    Options options_;
    nb::object progress_;
    std::unique_ptr<Core> owned_;
    Core& core_;
    Mirror mirror_;
    std::mt19937_64 rng_;
    Pattern pattern_;
    uint64_t cycles_ = 0, enqueued_ = 0, dequeued_ = 0, quiet_ = 0;
};

nb::dict core_bench(const nb::dict& given, nb::object progress) {
    Options options;
    options.library = nb::cast<std::string>(given["library"]);
    options.mode = nb::cast<std::string>(given["mode"]);
    options.pattern = nb::cast<std::string>(given["pattern"]);
    options.queues = nb::cast<uint32_t>(given["queues"]);
    options.descriptors = nb::cast<uint32_t>(given["descriptors"]);
    options.packets = nb::cast<uint64_t>(given["packets"]);
    options.seed = nb::cast<uint64_t>(given["seed"]);
    options.shaping = nb::cast<bool>(given["shaping"]);
    if (options.queues < 2 || options.descriptors < 2 || options.packets < 1)
        throw std::invalid_argument("queues and descriptors must be at least 2, packets at least 1");
    return Bench(options, std::move(progress)).run();
}

}  // namespace

void bind_bench(nb::module_& m) {
    m.def("core_bench", &core_bench, nb::arg("options"), nb::arg("progress").none() = nb::none(),
          "Run a bench of pst_access_edge_core. Options: library (empty: the model), shaping, mode (queue, schedule, idle-latency), "
          "pattern (random, same,\n"
          "neighbours), queues, descriptors, packets, seed. progress(packets, cycles) is called now and then. Returns cycles,\n"
          "packets, and enqueues_per_cycle and dequeues_per_cycle, or latency_cycles (a list). Raises RuntimeError when the\n"
          "core loses, invents, changes or reorders a packet.");
    m.def("lateness_bench", &lateness_bench, nb::arg("options"), nb::arg("progress").none() = nb::none(),
          "Measure how late pst_access_edge_core sends shaped packets; bench_lateness.hpp has the options and the result.");
}

}  // namespace penstock
