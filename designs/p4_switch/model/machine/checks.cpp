// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Checksums and hashes over fields, constants, headers and payload.
#include <algorithm>
#include <array>

#include "designs/p4_switch/model/machine/bits.hpp"
#include "designs/p4_switch/model/machine/state.hpp"

namespace penstock::p4 {

namespace {

// A CRC of any width up to 64 bits, byte by byte. Reflected ones go from the right.
class Crc {
  public:
    Crc(unsigned width, std::uint64_t polynomial, std::uint64_t initial, std::uint64_t final, bool reflected)
        : width_(width),
          mask_(width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1),
          initial_(initial),
          final_(final),
          reflected_(reflected) {
        std::uint64_t mirrored = 0;
        for (unsigned i = 0; i < width; ++i) mirrored |= (polynomial >> i & 1) << (width - 1 - i);
        for (std::uint64_t byte = 0; byte < 256; ++byte) {
            std::uint64_t value = reflected ? byte : byte << (width - 8);
            for (int bit = 0; bit < 8; ++bit) {
                if (reflected)
                    value = value & 1 ? value >> 1 ^ mirrored : value >> 1;
                else
                    value = (value >> (width - 1) & 1 ? value << 1 ^ polynomial : value << 1) & mask_;
            }
            table_[byte] = value;
        }
    }
    std::uint64_t operator()(const std::uint8_t* bytes, std::size_t count) const {
        std::uint64_t value = initial_;
        for (std::size_t i = 0; i < count; ++i) {
            if (reflected_)
                value = table_[(value ^ bytes[i]) & 0xFF] ^ value >> 8;
            else
                value = (table_[(value >> (width_ - 8) ^ bytes[i]) & 0xFF] ^ value << 8) & mask_;
        }
        return value ^ final_;
    }

  private:
    unsigned width_;
    std::uint64_t mask_, initial_, final_;
    bool reflected_;
    std::array<std::uint64_t, 256> table_{};
};

std::uint64_t crc(Hash hash, const std::uint8_t* bytes, std::size_t count) {
    static const Crc crc8(8, 0x07, 0, 0, false), crc16(16, 0x8005, 0, 0, true), crc32(32, 0x04C11DB7, 0xFFFFFFFF, 0xFFFFFFFF, true),
        ccitt(16, 0x1021, 0xFFFF, 0, false), crc64(64, 0x1B, 0, 0, true);
    switch (hash) {
        case Hash::Crc8:
            return crc8(bytes, count);
        case Hash::Crc16:
            return crc16(bytes, count);
        case Hash::Ccitt:
            return ccitt(bytes, count);
        case Hash::Crc64:
            return crc64(bytes, count);
        default:
            return crc32(bytes, count);
    }
}

std::uint64_t folded(std::uint64_t sum) {
    while (sum >> 16) sum = (sum & 0xFFFF) + (sum >> 16);
    return sum;
}

// The ones' complement sum of what is put in, 16 bits by 16 bits.
class Sum {
  public:
    void put(std::uint64_t value, unsigned bits) {
        offset_ += bits;
        const unsigned over = (16 - offset_ % 16) % 16;  // zeros behind it in its last 16 bits
        const auto shifted = static_cast<unsigned __int128>(value) << over;
        for (auto rest = shifted; rest; rest >>= 16) sum_ += static_cast<std::uint64_t>(rest & 0xFFFF);
    }
    void put_words(const std::uint64_t* words, unsigned bits) {
        const unsigned top = (bits - 1) % 64 + 1;
        unsigned i = (bits - 1) / 64;
        put(words[i], top);
        while (i-- > 0) put(words[i], 64);
    }
    void put_bytes(const std::uint8_t* bytes, std::size_t count) {
        std::size_t i = 0;
        if (offset_ % 16 == 0) {
            for (; i + 8 <= count; i += 8) {
                const std::uint64_t eight = big_endian(bytes + i);
                sum_ += (eight >> 48) + (eight >> 32 & 0xFFFF) + (eight >> 16 & 0xFFFF) + (eight & 0xFFFF);
            }
            offset_ += 8 * i;
        }
        for (; i < count; ++i) put(bytes[i], 8);
    }
    void to_byte() { offset_ = (offset_ + 7) / 8 * 8; }
    std::uint64_t checksum() const { return ~folded(sum_) & 0xFFFF; }

  private:
    std::uint64_t sum_ = 0;
    std::uint64_t offset_ = 0;
};

// Calls `put(words, bits)` and `put_bytes(bytes, count)` for each part whose header is valid.
template <typename Put, typename PutBytes>
void each_part(const Program& program, const Calculation& calculation, const std::uint64_t* values, Put&& put, PutBytes&& put_bytes) {
    const auto one = [&](const HeaderShape& header, const HeaderField& field) {
        const std::uint64_t* from = values + header.base + field.place;
        if (field.variable)
            put_bytes(reinterpret_cast<const std::uint8_t*>(from + 1), from[0] / 8);
        else
            put(from, field.bits);
    };
    for (const Calculation::Part& part : calculation.parts) {
        if (part.kind == Calculation::Part::Constant) {
            put(&program.constants[part.what & 0xFFF'FFFF], part.bits);
            continue;
        }
        const HeaderShape& header = program.headers[part.header];
        if (!header.metadata && !values[header.base]) continue;
        if (part.kind == Calculation::Part::Field) {
            one(header, header.fields[part.what]);
        } else if (part.kind == Calculation::Part::Valid) {
            put(&values[header.base], 1);
        } else {
            for (const HeaderField& field : header.fields) one(header, field);
        }
    }
}

}  // namespace

std::uint64_t V1Switch::State::calculate(const Calculation& calculation, const Packet& packet) {
    const std::uint64_t* values = packet.values.get();
    const std::uint8_t* payload = packet.buffer.get() + packet.begin + packet.parsed;
    const std::size_t left = calculation.payload ? std::min(packet.size, std::max(packet.truncated, packet.parsed)) - packet.parsed : 0;
    if (calculation.hash == Hash::Csum16) {
        Sum sum;
        each_part(
            program, calculation, values, [&](const std::uint64_t* words, unsigned bits) { sum.put_words(words, bits); },
            [&](const std::uint8_t* bytes, std::size_t count) { sum.put_bytes(bytes, count); });
        sum.to_byte();
        sum.put_bytes(payload, left);
        return sum.checksum();
    }
    if (calculation.hash == Hash::RoundRobin) return round_robin++;
    if (calculation.hash == Hash::Random) return random();
    std::uint64_t most = 64 + 8 * left;
    each_part(
        program, calculation, values, [&](const std::uint64_t*, unsigned bits) { most += bits; },
        [&](const std::uint8_t*, std::size_t count) { most += 8 * count; });
    if (bytes_.size() < most / 8) bytes_.resize(most / 8);
    BitWriter writer(bytes_.data());
    each_part(
        program, calculation, values, [&](const std::uint64_t* words, unsigned bits) { writer.put_words(words, bits); },
        [&](const std::uint8_t* bytes, std::size_t count) {
            for (std::size_t i = 0; i < count; ++i) writer.put(bytes[i], 8);
        });
    std::uint8_t* end = writer.done();
    std::memcpy(end, payload, left);
    const std::uint8_t* bytes = bytes_.data();
    const std::size_t count = static_cast<std::size_t>(end - bytes) + left;
    std::uint64_t value = 0;
    switch (calculation.hash) {
        case Hash::Identity:
            for (std::size_t i = 0; i < std::min<std::size_t>(count, 8); ++i) value = value << 8 | bytes[i];
            return value;
        case Hash::Xor16:
            for (std::size_t i = 0; i < count; ++i) value ^= std::uint64_t{bytes[i]} << (i % 2 ? 0 : 8);
            return value;
        case Hash::Xor32:
            for (std::size_t i = 0; i < count; ++i) value ^= std::uint64_t{bytes[i]} << (24 - 8 * (i % 4));
            return value;
        default:
            return crc(calculation.hash, bytes, count);
    }
}

}  // namespace penstock::p4
