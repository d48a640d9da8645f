// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// A packet inside a P4 program: its bytes, and the values of all headers and metadata in one flat array.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

namespace penstock::p4 {

class V1Switch;

// What standard_metadata.instance_type says, as simple_switch counts it.
enum class Instance : std::uint64_t { Normal = 0, IngressClone = 1, EgressClone = 2, Recirculated = 4, Replicated = 5, Resubmitted = 6 };

// Packets belong to the pool of a V1Switch: `take`, `give_back`. Buffers keep their size, so nothing is allocated in steady state.
struct Packet {
    std::uint64_t number = 0;   // the caller's, copied into copies
    std::uint64_t user = 0;     // likewise
    bool copy = false;          // a clone, or a copy of a multicast beyond the first
    bool recirculated = false;  // its metadata stand as egress has left them for the next ingress

    std::span<const std::uint8_t> bytes() const { return {buffer.get() + begin, size}; }

  private:
    friend class V1Switch;
    std::unique_ptr<std::uint8_t[]> buffer;  // `capacity` bytes and a margin that may be read
    std::uint32_t capacity = 0;
    std::uint32_t begin = 0;  // where its bytes are
    std::uint32_t size = 0;
    std::uint32_t parsed = 0;  // bytes that the parser has taken off the front, until the deparser puts the headers there
    std::uint32_t ingress_port = 0;
    std::uint32_t ingress_length = 0;             // what meters and counters see
    std::uint32_t length = 0;                     // its length with the headers that were added and removed so far
    std::uint32_t clone = 0;                      // 0x8000 | session
    std::uint32_t clone_fields = 0;               // number of a field list
    std::uint32_t resubmit = 0, recirculate = 0;  // likewise; 0: not asked for
    std::uint32_t digest = 0;
    std::uint32_t truncated = ~std::uint32_t{0};  // bytes at most
    bool exited = false;
    bool parser_error = false;
    std::unique_ptr<std::uint64_t[]> values;

    void fill(std::span<const std::uint8_t> from);
    void make_room(std::uint32_t headers);  // so many bytes before the payload
    void forget();                          // what the program has asked for
};

}  // namespace penstock::p4
