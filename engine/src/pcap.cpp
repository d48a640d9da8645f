// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "penstock/engine/pcap.hpp"

#include <algorithm>
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

void OutputCapture::left(std::int64_t first_bit, unsigned output, std::span<const std::uint8_t> frame) {
    began_[output] = kNever;
    const std::int64_t earliest = *std::min_element(began_.begin(), began_.end());
    if (waiting_.empty() && first_bit <= earliest) return write(first_bit, frame);
    waiting_.push({first_bit, count_++, {frame.begin(), frame.end()}});
    write_until(earliest);
}

void OutputCapture::write_until(std::int64_t first_bit) {
    for (; !waiting_.empty() && waiting_.top().first_bit <= first_bit; waiting_.pop())
        write(waiting_.top().first_bit, waiting_.top().bytes);
}

void OutputCapture::write(std::int64_t first_bit, std::span<const std::uint8_t> frame) {
    file_.write(static_cast<std::uint64_t>(static_cast<long double>(first_bit) * 1e9L / clock_hz_ + 0.5L), frame);
}

void OutputCapture::close() {
    write_until(kNever);
    file_.close();
}

}  // namespace penstock::engine
