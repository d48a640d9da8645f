// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// A device that runs on by itself, in a thread of its own, with its traffic, while others read and write its registers.
//
// The clock keeps real time, or falls behind where the engine is slower; then `behind` says by how much, and it never runs faster in order
// to catch up by more than a moment. Register accesses come in programs (Access), each of which is done without another one in between,
// or lets others in where it says so.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "penstock/engine/run.hpp"

namespace penstock::engine {

enum class AccessKind : std::uint32_t {
    Write,  // `value` to `address`
    Read,   // `address`
    Wait,   // until what is read at `address`, masked with `mask`, is `value`
    Time,   // answers the nanoseconds of the device's clock, as if two registers were read, the lower half first
};

// Python hands over rows of four words.
struct Access {
    AccessKind kind;
    std::uint32_t address, value, mask;
};
static_assert(sizeof(Access) == 16);

class ServedDevice {
  public:
    // `real_time`: the clock keeps real time; else it runs as fast as it can. Throws what Session throws, and std::invalid_argument for
    // jobs that have an end or need to know of one.
    ServedDevice(const Job& job, bool real_time);
    ~ServedDevice();
    ServedDevice(const ServedDevice&) = delete;
    ServedDevice& operator=(const ServedDevice&) = delete;

    // Starts the clock and the thread. Once.
    void start();
    // Does a program; returns what its reads have read, in their order. Throws DeviceError when a wait takes more than kWaitReads reads, or
    // when the device has failed before. `step`: after each so many accesses one other program may come in, of those that are done without
    // another one in between; 0: this is one of those.
    std::vector<std::uint32_t> run(std::span<const Access> program, std::size_t step = 0);
    // The clock, as of the last slice or program: nothing is waited for.
    std::int64_t now() const { return now_; }
    // What has been seen up to the same cycle.
    struct Seen {
        Totals totals;
        Histogram latency;
    };
    Seen totals();
    // How far the clock is behind real time, in seconds; 0 where it need not keep it.
    double behind() const { return behind_; }
    // Ends the thread and the session. The device's counters are compared with what was seen.
    Outcome end();
    Measurement& measurement() { return measurement_; }

    static constexpr int kWaitReads = 100'000;

  private:
    class Turn;

    void pump();

    const Job& job_;
    bool real_time_;
    Measurement measurement_;
    Session session_;
    std::vector<std::unique_ptr<Merge>> traffic_;
    std::size_t next_write_ = 0;
    std::mutex mutex_;             // the session
    std::atomic<int> others_ = 0;  // accesses that wait for their turn, or have it
    std::atomic<int> urgent_ = 0;  // those of them that nothing comes in between
    std::atomic<bool> stop_ = false;
    std::atomic<double> behind_ = 0;
    std::atomic<std::int64_t> now_ = 0;
    std::string failed_;  // why the device does not run any more
    std::thread thread_;
};

}  // namespace penstock::engine
