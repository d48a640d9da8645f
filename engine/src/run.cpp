// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "penstock/engine/run.hpp"

#include <time.h>

#include <algorithm>
#include <chrono>

namespace penstock::engine {

std::unique_ptr<Merge> make_traffic(const Job& job, unsigned input, std::int64_t end, LiveTraffic* live) {
    std::vector<std::unique_ptr<Source>> sources;
    std::vector<bool> recorded;
    for (std::size_t i = 0; i < job.sources.size(); ++i) {
        const JobSource& source = job.sources[i];
        if (source.input != input) continue;
        recorded.push_back(std::holds_alternative<RecordedFrames>(source.frames));
        if (recorded.back())
            sources.push_back(recorded_source(std::get<RecordedFrames>(source.frames)));
        else
            sources.push_back(synthetic_source(std::get<SyntheticSettings>(source.frames), Random(job.environment.seed, 0x5000 + i)));
    }
    LiveSource* living = nullptr;
    if (live && live->wire) living = live->wire.get();
    if (live && std::any_of(job.flows.begin(), job.flows.end(), [input](const auto& flow) { return flow.input == input; }))
        living = live->connections.get();
    return std::make_unique<Merge>(std::move(sources), std::move(recorded), end, input, job.device->statement().inputs, living);
}

namespace {

constexpr std::int64_t kChunk = 2048;       // cycles between two looks at the wall clock
constexpr std::int64_t kSendingChunk = 32;  // less than a frame takes through a device: the end of a drain is exact
constexpr std::size_t kWritesAtOnce = 1024;
double thread_seconds() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// A run: a loop over a session.
class Runner {
  public:
    Runner(const Job& job, Measurement& measurement, LiveTraffic& live, const Poll& poll)
        : job_(job),
          measurement_(measurement),
          connections_(live.connections.get()),
          wire_(live.wire.get()),
          poll_(poll),
          before_(job.reset_after > 0 ? std::make_unique<Before>(job) : nullptr),
          session_(*job.device, job.environment, measurement),
          end_(job.duration_cycles.value_or(kForever)),
          limit_(job.max_cycles.value_or(kForever)) {
        for (unsigned input = 0; input < job.device->statement().inputs; ++input) traffic_.push_back(make_traffic(job, input, end_, &live));
    }

    Outcome run() {
        double cpu_seconds = 0;
        if (before_) session_.inherit(before_->session);
        before_.reset();
        if (set_up()) {
            std::vector<FrameSource*> sources;
            for (const auto& traffic : traffic_) sources.push_back(traffic.get());
            measurement_.listen(connections_ ? static_cast<FrameListener*>(connections_) : wire_);
            session_.start(sources);
            const double begin = thread_seconds();
            wire_ ? play_in_real_time() : play();
            if (job_.drain && !interrupted_) drain();
            cpu_seconds = thread_seconds() - begin;
        }
        if (connections_) connections_->finish(session_.started() ? session_.now() : 0);
        if (wire_) wire_->finish();
        measurement_.listen(nullptr);
        Outcome outcome = session_.end(job_.sample_queues, exhausted());
        outcome.interrupted = interrupted_;
        outcome.run_cpu_seconds = cpu_seconds;
        return outcome;
    }

  private:
    // A run that goes before, with the same traffic but for connections: nothing of it is measured, and its device is reset in the middle
    // of it. It is over when the session of the run is made: what a design counts is of the device that was made last.
    struct Before {
        Measurement unseen;
        std::vector<std::unique_ptr<Merge>> traffic;
        Session session;

        explicit Before(const Job& job) : unseen(unmeasured(job.measure)), session(*job.device, job.environment, unseen) {
            session.open();
            for (const RegisterWrite& write : job.setup_writes) session.write(write.address, write.value);
            std::vector<FrameSource*> sources;
            for (unsigned input = 0; input < job.device->statement().inputs; ++input) {
                traffic.push_back(make_traffic(job, input, job.duration_cycles.value_or(kForever), nullptr));
                sources.push_back(traffic.back().get());
            }
            session.start(sources);
            session.advance(job.reset_after);
        }
        static MeasureSettings unmeasured(MeasureSettings settings) {
            settings.own = nullptr;  // it is the run's
            settings.pcap_out.clear();
            settings.interval_cycles = 0;
            return settings;
        }
    };

    bool keep_going(const char* phase) {
        const Totals& t = measurement_.live();
        const std::uint64_t dropped = t.in.packets - t.out.packets - t.queued.packets;
        const Progress progress{phase,
                                session_.started() ? session_.now() : 0,
                                job_.duration_cycles.value_or(0),
                                t.in.packets,
                                t.out.packets,
                                dropped,
                                t.queued.packets,
                                wire_};
        if (!poll_(progress)) interrupted_ = true;
        return !interrupted_;
    }

    bool set_up() {
        session_.open();
        bool go_on = keep_going("init");
        for (std::size_t i = 0; i < job_.setup_writes.size() && go_on;) {
            for (std::size_t n = 0; n < kWritesAtOnce && i < job_.setup_writes.size(); ++n, ++i)
                session_.write(job_.setup_writes[i].address, job_.setup_writes[i].value);
            session_.settle();
            go_on = keep_going("init");
        }
        return go_on;
    }

    // Runs on by at most `chunk` cycles, not beyond `until`, and does the register writes whose time has come.
    void advance(std::int64_t until, std::int64_t chunk = kChunk) {
        while (next_write_ < job_.timed_writes.size() && job_.timed_writes[next_write_].cycle <= session_.now()) {
            session_.write(job_.timed_writes[next_write_].address, job_.timed_writes[next_write_].value);
            ++next_write_;
        }
        if (next_write_ < job_.timed_writes.size()) until = std::min(until, job_.timed_writes[next_write_].cycle);
        session_.advance(std::min(until, session_.now() + chunk));
    }

    bool exhausted() const {
        return std::all_of(traffic_.begin(), traffic_.end(), [](const auto& traffic) { return traffic->exhausted(); });
    }
    bool all_sent() const { return exhausted() && session_.input_idle(); }

    // Until the duration is over. Without a duration: until all recorded frames are sent.
    void play() {
        const std::int64_t until = std::min(end_, limit_);
        Pace pace(kChunk);
        for (; session_.now() < until && !(end_ == kForever && all_sent()) && keep_going("run"); pace.ran())
            advance(until, end_ == kForever ? kChunk : pace.cycles());
    }

    // Until the duration is over, or an end is gone.
    void play_in_real_time() {
        const std::int64_t until = std::min(end_, limit_);
        wire_->begin(session_.now());
        while (session_.now() < until && keep_going("run")) {
            const std::int64_t to = std::min(until, wire_->turn(session_.now(), measurement_.live().queued.packets == 0));
            while (session_.now() < to) advance(to, to - session_.now());
            wire_->ran(session_.now());
            if (wire_->unplugged() != wire::kNone) interrupted_ = true;
            if (interrupted_) break;
        }
    }

    void drain() {
        std::int64_t quiet_since = session_.now();
        std::uint64_t seen = 0;
        while (session_.now() < limit_) {
            if (all_sent()) {
                measurement_.stop_when_empty(true);
                if (measurement_.enough()) break;
            }
            advance(limit_, all_sent() ? kChunk : kSendingChunk);
            const Totals& t = measurement_.live();
            const std::uint64_t happened = t.in.packets + t.out.packets + (t.in.packets - t.queued.packets);
            if (happened != seen) quiet_since = session_.now();
            seen = happened;
            const bool more_to_come = !exhausted() || next_write_ < job_.timed_writes.size();
            if (!more_to_come && session_.now() - quiet_since >= job_.quiet_cycles) {
                if (measurement_.device().silent_loss) measurement_.lose_the_rest(session_.now());
                measurement_.nothing_more_leaves();
                break;
            }
            if (!keep_going("drain")) break;
        }
        measurement_.stop_when_empty(false);
    }

    const Job& job_;
    Measurement& measurement_;
    tcp::Traffic* connections_;
    wire::Traffic* wire_;
    const Poll& poll_;
    std::unique_ptr<Before> before_;  // null: none, or the run has begun
    Session session_;
    std::int64_t end_, limit_;
    std::vector<std::unique_ptr<Merge>> traffic_;  // by input
    std::size_t next_write_ = 0;
    bool interrupted_ = false;
};

}  // namespace

LiveTraffic::LiveTraffic(const Job& job) {
    if (!job.flows.empty())
        connections = std::make_unique<tcp::Traffic>(job.flows, job.measure.interval_cycles, job.duration_cycles.value_or(kForever),
                                                     job.measure.after_cycles);
    if (job.wire) wire = std::make_unique<wire::Traffic>(*job.wire);
}

Outcome run(const Job& job, Measurement& measurement, LiveTraffic& live, const Poll& poll) {
    const auto begin = std::chrono::steady_clock::now();
    measurement.watch(job.sample_queues);
    Outcome outcome = Runner(job, measurement, live, poll).run();
    outcome.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return outcome;
}

std::vector<std::uint32_t> read_registers(const Job& job, const std::vector<std::uint32_t>& addresses) {
    Measurement measurement(job.measure);
    Session session(*job.device, job.environment, measurement);
    session.open();
    for (const RegisterWrite& write : job.setup_writes) session.write(write.address, write.value);
    session.settle();
    std::vector<std::uint32_t> values;
    for (const std::uint32_t address : addresses) values.push_back(session.read(address));
    return values;
}

}  // namespace penstock::engine
