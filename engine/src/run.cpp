// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "penstock/engine/run.hpp"

#include <time.h>

#include <algorithm>
#include <chrono>

#include "penstock/engine/counters.hpp"
#include "penstock/engine/model_device.hpp"
#include "penstock/engine/rtl_device.hpp"

namespace penstock::engine {

namespace {

constexpr std::int64_t kChunk = 2048;       // cycles between two looks at the wall clock
constexpr std::int64_t kSendingChunk = 32;  // less than a frame takes through a device: the end of a drain is exact
constexpr std::size_t kWritesAtOnce = 1024;
double thread_seconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

constexpr std::int64_t kForever = std::int64_t{1} << 62;

std::unique_ptr<Merge> make_traffic(const Job& job, std::int64_t end) {
    std::vector<std::unique_ptr<Source>> sources;
    std::vector<bool> recorded;
    for (const auto& source : job.sources) {
        recorded.push_back(std::holds_alternative<RecordedFrames>(source));
        if (recorded.back())
            sources.push_back(recorded_source(std::get<RecordedFrames>(source)));
        else
            sources.push_back(synthetic_source(std::get<SyntheticSettings>(source), Random(job.device.seed, 0x5000 + sources.size())));
    }
    return std::make_unique<Merge>(std::move(sources), std::move(recorded), end);
}

std::unique_ptr<Device> make_device(const DeviceSettings& settings) {
    if (settings.library.empty()) return make_model_device(settings);
    return std::make_unique<RtlDevice>(settings);
}

// The steps of a run on one device.
class Runner {
  public:
    Runner(const Job& job, Measurement& measurement, const Poll& poll)
        : job_(job),
          measurement_(measurement),
          poll_(poll),
          owned_(make_device(job.device)),
          device_(*owned_),
          end_(job.duration_cycles.value_or(kForever)),
          limit_(job.max_cycles.value_or(kForever)),
          traffic_(make_traffic(job, end_)) {}

    Outcome run() {
        if (set_up()) {
            device_.connect(traffic_.get(), &measurement_);
            measurement_.start(outcome_.init_cycles);
            in_run_ = true;
            const double begin = thread_seconds();
            play();
            if (job_.drain && !outcome_.interrupted) drain();
            outcome_.run_cpu_seconds = thread_seconds() - begin;
        } else {
            device_.connect(nullptr, &measurement_);
        }
        finish();
        return std::move(outcome_);
    }

  private:
    bool keep_going(const char* phase) {
        const Totals& t = measurement_.live();
        const std::uint64_t dropped = t.in.packets - t.out.packets - t.queued.packets;
        const Progress progress{
            phase, in_run_ ? device_.now() : 0, job_.duration_cycles.value_or(0), t.in.packets, t.out.packets, dropped, t.queued.packets};
        if (!poll_(progress)) outcome_.interrupted = true;
        return !outcome_.interrupted;
    }

    bool set_up() {
        device_.start();
        if (device_.read(registers::kType) != registers::kTypeAccessEdge)
            throw DeviceError("the type register is not that of an access edge");
        if (const auto queues = device_.read(registers::kQueues); queues != job_.measure.queues)
            throw std::invalid_argument("the device has " + std::to_string(queues) + " queues, the job " +
                                        std::to_string(job_.measure.queues));
        bool go_on = keep_going("init");
        for (std::size_t i = 0; i < job_.setup_writes.size() && go_on;) {
            for (std::size_t n = 0; n < kWritesAtOnce && i < job_.setup_writes.size(); ++n, ++i)
                device_.write(job_.setup_writes[i].address, job_.setup_writes[i].value);
            device_.settle();
            go_on = keep_going("init");
        }
        outcome_.init_cycles = device_.now();
        return go_on;
    }

    // Runs on by at most `chunk` cycles, not beyond `until`, and does the register writes whose time has come.
    void advance(std::int64_t until, std::int64_t chunk = kChunk) {
        while (next_write_ < job_.timed_writes.size() && job_.timed_writes[next_write_].cycle <= device_.now()) {
            device_.write(job_.timed_writes[next_write_].address, job_.timed_writes[next_write_].value);
            ++next_write_;
        }
        if (next_write_ < job_.timed_writes.size()) until = std::min(until, job_.timed_writes[next_write_].cycle);
        device_.run(std::min(until, device_.now() + chunk));
    }

    bool all_sent() const { return traffic_->exhausted() && device_.input_idle(); }

    // Until the duration is over. Without a duration: until all recorded frames are sent.
    void play() {
        const std::int64_t until = std::min(end_, limit_);
        while (device_.now() < until && !(end_ == kForever && all_sent()) && keep_going("run")) advance(until);
    }

    void drain() {
        std::int64_t quiet_since = device_.now();
        std::uint64_t seen = 0;
        while (device_.now() < limit_) {
            if (all_sent()) {
                measurement_.stop_when_empty(true);
                if (measurement_.enough()) break;
            }
            advance(limit_, all_sent() ? kChunk : kSendingChunk);
            const Totals& t = measurement_.live();
            const std::uint64_t happened = t.in.packets + t.out.packets + (t.in.packets - t.queued.packets);
            if (happened != seen) quiet_since = device_.now();
            seen = happened;
            const bool more_to_come = !traffic_->exhausted() || next_write_ < job_.timed_writes.size();
            if (!more_to_come && device_.now() - quiet_since >= job_.quiet_cycles) break;
            if (!keep_going("drain")) break;
        }
        measurement_.stop_when_empty(false);
    }

    void finish() {
        outcome_.cycles = device_.now();
        outcome_.drained = all_sent() && measurement_.live().queued.packets == 0;
        outcome_.bus = device_.bus_counts();
        for (unsigned m = 0; m < job_.device.memories.size(); ++m) outcome_.memories.push_back(device_.memory_counts(m));
        measurement_.freeze(outcome_.cycles);
        outcome_.lost = measurement_.lost();

        device_.close_input();
        CounterCheck check(device_, measurement_);
        outcome_.counter_mismatches = check.run(job_.sample_queues);
        measurement_.close();

        const Totals& t = measurement_.totals();
        Amount accounted{t.out.packets + t.queued.packets, t.out.bytes + t.queued.bytes};
        for (const Amount& amount : t.dropped) accounted.packets += amount.packets, accounted.bytes += amount.bytes;
        outcome_.conservation_ok = accounted == t.in && t.event_errors == 0 && outcome_.lost == 0 && outcome_.counter_mismatches == 0;
        outcome_.findings = t.findings;
        if (outcome_.lost)
            outcome_.findings.push_back(std::to_string(outcome_.lost) + " frames never came out, younger ones of their queues did");
        outcome_.findings.insert(outcome_.findings.end(), check.findings().begin(), check.findings().end());
    }

    const Job& job_;
    Measurement& measurement_;
    const Poll& poll_;
    std::unique_ptr<Device> owned_;
    Device& device_;
    std::int64_t end_, limit_;
    std::unique_ptr<Merge> traffic_;
    std::size_t next_write_ = 0;
    bool in_run_ = false;  // the clock of the run is on
    Outcome outcome_;
};

}  // namespace

Outcome run(const Job& job, Measurement& measurement, const Poll& poll) {
    const auto begin = std::chrono::steady_clock::now();
    measurement.watch(job.sample_queues);
    Outcome outcome = Runner(job, measurement, poll).run();
    outcome.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return outcome;
}

std::vector<std::uint32_t> read_registers(const Job& job, const std::vector<std::uint32_t>& addresses) {
    const std::unique_ptr<Device> device = make_device(job.device);
    device->start();
    for (const RegisterWrite& write : job.setup_writes) device->write(write.address, write.value);
    device->settle();
    std::vector<std::uint32_t> values;
    for (const std::uint32_t address : addresses) values.push_back(device->read(address));
    return values;
}

}  // namespace penstock::engine
