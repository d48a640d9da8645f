// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// What a program keeps between packets, and what runs its instructions.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "designs/p4_switch/model/machine/match_table.hpp"
#include "designs/p4_switch/model/machine/v1_switch.hpp"

namespace penstock::p4 {

// A counter as bmv2 has it: packets and bytes.
struct Counter {
    std::uint64_t packets = 0, bytes = 0;
};

struct MirrorSession {
    std::int64_t port = -1, group = -1;
};

struct MulticastNode {
    std::uint64_t rid;
    std::vector<std::uint32_t> ports;  // ascending
};

struct Member {
    std::int32_t action;
    std::vector<std::uint64_t> data;
};

struct Profile {
    std::map<std::int32_t, Member> members;
    std::map<std::int32_t, std::vector<std::int32_t>> groups;  // members, ascending
};

// xoshiro256**, seeded by splitmix64: the same numbers everywhere.
class Random {
  public:
    explicit Random(std::uint64_t seed);
    std::uint64_t operator()();
    std::uint64_t below_or_equal(std::uint64_t most);  // each number equally likely

  private:
    std::uint64_t words_[4];
};

struct V1Switch::State {
    State(const Program& program, std::uint64_t seed);

    // --- running
    // Runs instructions up to `end` or `return`; false: the parser stops with `error`.
    bool run(std::uint32_t instruction, Packet& packet, const std::uint64_t* data = nullptr);
    void parse(Packet& packet);
    void deparse(Packet& packet);
    void pipeline(Packet& packet, int which);
    std::uint64_t calculate(const Calculation& calculation, const Packet& packet);

    void set(Packet& packet, Standard field, std::uint64_t value) const {
        const StandardField& found = program.standard[static_cast<int>(field)];
        if (found.place >= 0) packet.values[static_cast<std::size_t>(found.place)] = value & found.mask;
    }
    std::uint64_t get(const Packet& packet, Standard field) const {
        const StandardField& found = program.standard[static_cast<int>(field)];
        return found.place >= 0 ? packet.values[static_cast<std::size_t>(found.place)] : 0;
    }
    bool has(Standard field) const { return program.standard[static_cast<int>(field)].place >= 0; }
    void keep_fields(const Packet& from, Packet& to, std::uint32_t list) const;
    void make_valid(Packet& packet, const HeaderShape& header) const {
        packet.values[header.base] = 1;
        for (const std::uint32_t peer : header.peers) packet.values[program.headers[peer].base] = 0;
    }
    std::uint32_t header_bytes(const Packet& packet, const HeaderShape& header) const;

    const Program& program;
    std::vector<std::vector<std::uint64_t>> cases;  // of each state of the parser: the program's, and those of its value sets
    std::vector<MatchTable> tables;
    std::vector<std::vector<std::uint64_t>> registers;
    std::vector<std::vector<Counter>> counters;
    std::vector<std::vector<Meter>> meters;
    std::vector<Profile> profiles;
    std::map<std::uint64_t, MirrorSession> mirrors;
    std::map<std::uint64_t, std::vector<MulticastNode>> groups;
    Random random;
    enum class Draw : std::uint8_t { Any, Least, Most } draw = Draw::Any;  // what random() gives of its range
    std::uint64_t round_robin = 0;
    std::uint64_t passed_us = 0;
    std::uint64_t asserts_failed = 0;

  private:
    bool extract(Packet& packet, std::uint32_t header, std::uint64_t variable_bits, std::uint64_t most_bits);
    std::uint64_t load(const Packet& packet, std::uint64_t header, std::uint32_t field, unsigned word) const;
    void store(Packet& packet, std::uint64_t header, std::uint32_t field, const std::uint64_t* value, unsigned n) const;
    bool equal(const Packet& packet, std::uint64_t a, std::uint64_t b) const;
    void assign(Packet& packet, std::uint64_t to, std::uint64_t from) const;
    void shift(Packet& packet, const StackShape& stack, std::uint64_t count, bool push) const;
    std::int32_t apply(Packet& packet, std::size_t table);
    void verify_checksums(Packet& packet);

    std::vector<std::uint64_t> scratch_;
    std::vector<std::uint8_t> bytes_;  // of a calculation
    std::uint64_t returned_ = 0;
    // The parser's place.
    const std::uint8_t* front_ = nullptr;
    std::uint64_t position_ = 0, end_ = 0;
    std::uint64_t error_ = 0;
    bool checksum_error_ = false;
};

}  // namespace penstock::p4
