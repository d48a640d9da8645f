// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Writes a pcap file with nanosecond time stamps (magic 0xA1B23C4D), link type Ethernet, frames without FCS; in order of time.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <queue>
#include <span>
#include <string>
#include <vector>

namespace penstock::engine {

class PcapWriter {
  public:
    // Throws std::runtime_error when the file cannot be written.
    explicit PcapWriter(const std::string& path);
    void write(std::uint64_t nanoseconds, std::span<const std::uint8_t> frame);
    // Everything is in the file after this. Throws when it is not.
    void close();

  private:
    struct Closer {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    std::string path_;
    std::vector<char> buffer_;  // outlives the file
    std::unique_ptr<std::FILE, Closer> file_;
};

// A capture at several outputs: a frame has the time of its first beat, and is known when its last one has left. It is written when no
// frame that is still leaving began before it.
class OutputCapture {
  public:
    // Throws std::runtime_error when the file cannot be written.
    OutputCapture(const std::string& path, double clock_hz, unsigned outputs) : file_(path), clock_hz_(clock_hz), began_(outputs, kNever) {}
    // The first beat of a frame leaves by `output`.
    void began(std::int64_t cycle, unsigned output) { began_[output] = cycle; }
    // The frame whose first beat left by `output` in cycle `first_bit` has left.
    void left(std::int64_t first_bit, unsigned output, std::span<const std::uint8_t> frame);
    // Everything is in the file after this. Throws when it is not.
    void close();

  private:
    static constexpr std::int64_t kNever = INT64_MAX;
    struct Waiting {
        std::int64_t first_bit;
        std::uint64_t number;  // in the order in which they left
        std::vector<std::uint8_t> bytes;
        bool operator>(const Waiting& other) const {
            return first_bit != other.first_bit ? first_bit > other.first_bit : number > other.number;
        }
    };
    void write(std::int64_t first_bit, std::span<const std::uint8_t> frame);
    void write_until(std::int64_t first_bit);

    PcapWriter file_;
    double clock_hz_;
    std::vector<std::int64_t> began_;  // by output; kNever: no frame is leaving
    std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> waiting_;
    std::uint64_t count_ = 0;
};

}  // namespace penstock::engine
