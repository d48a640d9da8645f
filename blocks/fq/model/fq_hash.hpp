// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Model of pst_fq_hash: the bucket of a packet's flow by its headers.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "blocks/parse/model/parse.hpp"

namespace penstock {

// What of a packet's headers is hashed, six bits a chunk, from the low bits of the key on.
struct FqKey {
    static constexpr std::uint32_t kChunks = 50, kChunkBits = 6;
    std::array<std::uint8_t, kChunks> chunk{};

    FqKey() = default;
    explicit FqKey(const ParsedHeaders& headers) {
        // {a zero, IP version, protocol, ports, source, destination}: bytes, the last one lowest.
        std::array<std::uint8_t, 38> bytes{};
        const auto put = [&](std::size_t from, std::size_t count, std::uint64_t value) {
            for (std::size_t i = 0; i < count; i++) bytes[from + i] = static_cast<std::uint8_t>(value >> 8 * i);
        };
        std::uint32_t ports = 0;
        if (headers.ip != 0) {
            for (std::size_t i = 0; i < 16; i++) {
                bytes[i] = headers.destination[15 - i];
                bytes[16 + i] = headers.source[15 - i];
            }
            const bool whole = headers.fragment == ParseFragment::None;
            switch (headers.transport) {
                case ParseTransport::Tcp:
                case ParseTransport::Udp:
                case ParseTransport::Sctp:
                case ParseTransport::Esp:
                    ports = whole ? headers.transport_word : 0;
                    break;
                default:
                    break;
            }
            put(36, 1, headers.protocol);
            put(37, 1, headers.ip);
        } else {
            ports = headers.ethertype;
            put(0, 6, headers.destination_mac);
            put(16, 6, headers.source_mac);
        }
        put(32, 4, ports);
        for (std::uint32_t c = 0; c < kChunks; c++) {
            const std::uint32_t bit = c * kChunkBits, at = bit / 8;
            const std::uint32_t two = bytes[at] | (at + 1 < bytes.size() ? bytes[at + 1] << 8 : 0);
            chunk[c] = static_cast<std::uint8_t>(two >> bit % 8 & 63);
        }
    }
};

class FqHash {
  public:
    static constexpr std::uint32_t kWords = 64 * FqKey::kChunks, kMostBucket = 1023, kMostHost = 1023;

    void set(std::uint32_t index, std::uint32_t word) { words_[index] = static_cast<std::uint16_t>(word & kMostBucket); }
    // Hosts of a flow: the words of each address alone. Chunks 21 and 42 have bits of something else, too.
    std::array<std::uint32_t, 2> hosts(const FqKey& key) const {
        const auto word = [&](std::uint32_t c, std::uint32_t mask) { return std::uint32_t{words_[c * 64 + (key.chunk[c] & mask)]}; };
        std::uint32_t source = word(21, 0b111100) ^ word(42, 0b001111), destination = word(21, 0b000011);
        for (std::uint32_t c = 22; c < 42; c++) source ^= word(c, 63);
        for (std::uint32_t c = 0; c < 21; c++) destination ^= word(c, 63);
        return {source & kMostHost, destination & kMostHost};
    }
    std::uint32_t bucket(const FqKey& key) const {
        std::uint32_t sum = 0;
        for (std::uint32_t c = 0; c < FqKey::kChunks; c++) sum ^= words_[c * 64 + key.chunk[c]];
        return sum;
    }

  private:
    std::array<std::uint16_t, kWords> words_{};
};

}  // namespace penstock
