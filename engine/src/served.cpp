// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "served.hpp"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>

namespace penstock::engine {

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kSlice = std::chrono::microseconds(250);    // of real time, at most
constexpr auto kCatchUp = std::chrono::milliseconds(100);  // a clock that is further behind does not make up for the rest
constexpr std::int64_t kLeast = 256;                       // cycles
constexpr std::int64_t kLooks = 32;                        // in a slice, at whether an access waits: then it ends early
constexpr std::int64_t kLeastLook = 16;                    // cycles from one look to the next
constexpr auto kSpin = std::chrono::microseconds(50);      // an access waits so long awake: to be woken takes longer than a look
constexpr std::uint32_t kRegisterBytes = 4096;

// All of a program is looked at before any of it is done.
void check(std::span<const Access> program) {
    for (const Access& access : program)
        if (access.kind > AccessKind::Time || access.address > kRegisterBytes - 4 || access.address % 4)
            throw std::invalid_argument("an access is 0 (write), 1 (read), 2 (wait) or 3 (time) at a multiple of 4 below 4,096");
}

}  // namespace

// The pump goes on only when no access waits: a mutex alone would let it take every turn.
class ServedDevice::Turn {
  public:
    // `gives_way`: it lets others come in that do not.
    Turn(ServedDevice& device, bool gives_way) : device_(device), gives_way_(gives_way), lock_(device.mutex_, std::defer_lock) {
        ++device_.others_;
        if (!gives_way_) ++device_.urgent_;
        take();
    }
    ~Turn() {
        lock_.unlock();
        if (!gives_way_) {
            --device_.urgent_;
            device_.urgent_.notify_all();
        }
        if (--device_.others_ == 0) device_.others_.notify_all();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    // Whether another one waits that does not give way.
    bool wanted() const { return device_.urgent_ != 0; }
    // Lets one of them come in; not two in a row, so that it has its share itself.
    void give_way() {
        const int urgent = device_.urgent_;
        lock_.unlock();
        if (urgent) device_.urgent_.wait(urgent);
        take();
    }

  private:
    void take() {
        for (const auto begin = Clock::now(); !lock_.try_lock();) {
            if (Clock::now() - begin < kSpin) continue;
            lock_.lock();
            break;
        }
    }

    ServedDevice& device_;
    bool gives_way_;
    std::unique_lock<std::mutex> lock_;
};

ServedDevice::ServedDevice(const Job& job, bool real_time)
    : job_(job), real_time_(real_time), measurement_(job.measure), session_(*job.device, job.environment, measurement_) {
    if (!job.flows.empty() || job.wire || job.duration_cycles || job.max_cycles || job.drain || job.reset_after)
        throw std::invalid_argument("a served device has no connections, live traffic, duration or drain: it runs until it is ended");
    measurement_.watch(job.sample_queues);
    for (unsigned input = 0; input < job.device->statement().inputs; ++input)
        traffic_.push_back(make_traffic(job, input, kForever, nullptr));
    session_.open();
    for (const RegisterWrite& write : job.setup_writes) session_.write(write.address, write.value);
    session_.settle();
}

ServedDevice::~ServedDevice() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
}

void ServedDevice::start() {
    if (session_.started()) throw std::invalid_argument("the device runs already");
    std::vector<FrameSource*> sources;
    for (const auto& traffic : traffic_) sources.push_back(traffic.get());
    session_.start(sources);
    thread_ = std::thread(&ServedDevice::pump, this);
}

void ServedDevice::pump() {
    pthread_setname_np(pthread_self(), "device");
    const double hz = job_.environment.clock_hz;
    auto begin = Clock::now();  // when the clock would have been at `from`
    std::int64_t from = session_.now(), slice = kLeast;
    while (!stop_) {
        for (int others; (others = others_) != 0 && !stop_;) others_.wait(others);
        const auto looked = Clock::now();
        std::int64_t now = 0, most = slice;
        const std::int64_t look = std::max(slice / kLooks, kLeastLook);
        {
            const std::lock_guard lock(mutex_);
            now = session_.now();
            if (real_time_) {
                const double due = std::chrono::duration<double>(looked - begin).count() * hz + static_cast<double>(from - now);
                behind_ = std::max(0.0, due / hz - std::chrono::duration<double>(kSlice).count());
                if (due > std::chrono::duration<double>(kCatchUp).count() * hz) begin = looked, from = now;
                most = std::clamp(static_cast<std::int64_t>(due), std::int64_t{0}, slice);
            }
            try {
                // Where a slice ends makes no difference to what the device does.
                for (const std::int64_t until = now + most; session_.now() < until && others_ == 0;) {
                    while (next_write_ < job_.timed_writes.size() && job_.timed_writes[next_write_].cycle <= session_.now()) {
                        session_.write(job_.timed_writes[next_write_].address, job_.timed_writes[next_write_].value);
                        ++next_write_;
                    }
                    const bool more = next_write_ < job_.timed_writes.size();
                    const std::int64_t next = std::min(until, session_.now() + look);
                    session_.advance(more ? std::min(next, job_.timed_writes[next_write_].cycle) : next);
                }
            } catch (const std::exception& error) {
                failed_ = error.what();
                return;
            }
            now_ = session_.now();
        }
        if (now_ - now < most) continue;  // ended early: that says nothing of how long a slice takes
        if (most < kLeast) {
            std::this_thread::sleep_for(std::chrono::microseconds(200));
        } else {
            slice = Clock::now() - looked < kSlice ? std::min(2 * slice, std::int64_t{1} << 24) : std::max(slice / 2, kLeast);
        }
    }
}

std::vector<std::uint32_t> ServedDevice::run(std::span<const Access> program, std::size_t step) {
    check(program);
    Turn turn(*this, step != 0);
    if (!failed_.empty()) throw DeviceError(failed_);
    std::vector<std::uint32_t> found;
    for (std::size_t at = 0; at < program.size(); ++at) {
        if (step && at && at % step == 0 && turn.wanted()) {
            session_.settle();
            turn.give_way();
            if (!failed_.empty()) throw DeviceError(failed_);
        }
        const Access& access = program[at];
        switch (access.kind) {
            case AccessKind::Write:
                session_.write(access.address, access.value);
                break;
            case AccessKind::Read:
                found.push_back(session_.read(access.address));
                break;
            case AccessKind::Time: {
                const double seconds = static_cast<double>(session_.started() ? session_.now() : 0) / job_.environment.clock_hz;
                const auto nanoseconds = static_cast<std::uint64_t>(seconds * 1e9);
                found.insert(found.end(), {static_cast<std::uint32_t>(nanoseconds), static_cast<std::uint32_t>(nanoseconds >> 32)});
                break;
            }
            case AccessKind::Wait:
                for (int reads = 0; (session_.read(access.address) & access.mask) != access.value; ++reads)
                    if (reads == kWaitReads) throw DeviceError("the device does not come to an end with what it was told to do");
                break;
        }
    }
    session_.settle();  // whatever comes next finds it done
    if (session_.started()) now_ = session_.now();
    return found;
}

ServedDevice::Seen ServedDevice::totals() {
    const Turn turn(*this, false);
    return {measurement_.live(), measurement_.histograms()[0]};
}

Outcome ServedDevice::end() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
    for (const auto& traffic : traffic_) traffic->stop();
    if (!failed_.empty()) throw DeviceError(failed_);
    return session_.end(job_.sample_queues, false);
}

}  // namespace penstock::engine
