// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Writes a pcap file with nanosecond time stamps (magic 0xA1B23C4D), link type Ethernet, frames without FCS.
#pragma once

#include <cstdint>
#include <cstdio>
#include <memory>
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

}  // namespace penstock::engine
