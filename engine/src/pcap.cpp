// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "penstock/engine/pcap.hpp"

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace penstock::engine {

namespace {

// In the byte order of the machine: the magic number tells readers which.
struct FileHeader {
    std::uint32_t magic = 0xA1B2'3C4D;
    std::uint16_t major = 2, minor = 4;
    std::uint32_t zone = 0, accuracy = 0, snap_length = 65'535, link_type = 1;
};
struct RecordHeader {
    std::uint32_t seconds, nanoseconds, stored, length;
};

}  // namespace

PcapWriter::PcapWriter(const std::string& path) : path_(path), buffer_(1 << 20), file_(std::fopen(path.c_str(), "wb")) {
    if (!file_) throw std::runtime_error("cannot write " + path + ": " + std::strerror(errno));
    std::setvbuf(file_.get(), buffer_.data(), _IOFBF, buffer_.size());
    const FileHeader header;
    std::fwrite(&header, sizeof header, 1, file_.get());
}

void PcapWriter::write(std::uint64_t nanoseconds, std::span<const std::uint8_t> frame) {
    const auto length = static_cast<std::uint32_t>(frame.size());
    const RecordHeader header{static_cast<std::uint32_t>(nanoseconds / 1'000'000'000),
                              static_cast<std::uint32_t>(nanoseconds % 1'000'000'000), length, length};
    std::fwrite(&header, sizeof header, 1, file_.get());
    std::fwrite(frame.data(), 1, frame.size(), file_.get());
}

void PcapWriter::close() {
    const bool failed = std::fflush(file_.get()) != 0 || std::ferror(file_.get());
    if (failed) throw std::runtime_error("cannot write " + path_ + ": " + std::strerror(errno));
    file_.reset();
}

}  // namespace penstock::engine
