// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// A v1model program with its state, packet by packet: parser, checksums, ingress, and after the queue egress and deparser. Semantics are
// those of bmv2's simple_switch. It has no time and no queues of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "designs/p4_switch/model/machine/packet.hpp"
#include "designs/p4_switch/model/machine/program.hpp"

namespace penstock::p4 {

class Random;

// Microseconds. Fields of a program have what its clock shows, which has 48 bits; meters need time that never goes back.
struct Time {
    std::uint64_t clock_us;
    std::uint64_t passed_us;  // since the start
};

// A packet that goes to the queue of an output.
struct Queued {
    Packet* packet;
    std::uint32_t port, priority;  // priority: standard_metadata.priority (intrinsic_metadata.priority), 0 if the program has none
};

// What the queue tells to egress. Depths in packets, without the packet itself at enqueue and without it at dequeue, as simple_switch
// counts.
struct QueueFacts {
    std::uint32_t port = 0, priority = 0;
    std::uint64_t enq_timestamp_us = 0;
    std::uint64_t enq_qdepth = 0, deq_qdepth = 0;
};

// What became of the packet that ingress was given.
enum class Fate : std::uint8_t {
    Queued,         // it is in `out`; after a multicast it is the first of its copies
    Dropped,        // by the program: egress_spec is the drop port (511)
    NoMembers,      // a multicast group without members
    TooManyRounds,  // resubmitted more often than `kMaxResubmits`; simple_switch would go on for ever
};
enum class Verdict : std::uint8_t { Send, Drop, Recirculate };

class V1Switch {
  public:
    static constexpr std::uint32_t kDropPort = 511;
    static constexpr unsigned kMaxResubmits = 64;

    V1Switch(std::shared_ptr<const Program> program, std::uint64_t seed);
    ~V1Switch();
    V1Switch(const V1Switch&) = delete;

    // What a program reads of headers that are not valid is undefined in P4; here it is 0. After blur() it is anything, after keep_stale()
    // what earlier packets have left, as in simple_switch.
    void blur(std::uint64_t seed);
    void keep_stale() { stale_ = true; }
    // random() gives the largest value of its range from now on, or the least one: what a program makes of chance lies between, mostly.
    void draw(bool most);

    // --- packets: from the pool, and back
    Packet* take(std::span<const std::uint8_t> bytes);
    void give_back(Packet* packet);
    std::uint64_t packets_out_of_pool() const { return taken_; }

    // Parser, checksums, ingress; then clone, resubmit (done inside), multicast, drop. Appends to `out` what is to be queued, in the order
    // in which simple_switch enqueues it: clones first. Fate is that of `packet`; unless it is Queued the caller gives the packet back. A
    // recirculated packet keeps its metadata, as egress() has left them: port and time are ignored for it.
    Fate ingress(Packet* packet, std::uint32_t port, Time now, std::vector<Queued>& out);

    // The packet has left its queue: egress, clones (appended to `clones`), checksums, deparser. After Send its bytes() are those of the
    // output; after Recirculate they are those that ingress() parses next. After Send and Drop the caller gives it back.
    Verdict egress(Packet* packet, const QueueFacts& facts, Time now, std::vector<Queued>& clones);

    // --- control plane: a table of a job, as designs/p4_switch/tables.py makes it. Throws nanobind::value_error.
    void configure(Table& state);

    const Program& program() const { return *program_; }
    std::uint64_t digests() const { return digests_; }                // asked for by the program
    std::uint64_t parser_errors() const { return parser_errors_; }    // packets with standard_metadata.parser_error != NoError
    std::uint64_t asserts_failed() const { return asserts_failed_; }  // assert() and assume(): simple_switch would abort

    struct State;
    State& state() { return *state_; }

  private:
    Packet* blank();
    Packet* copy(const Packet& packet, bool values);
    void clear(Packet& packet);
    void queue(Packet* packet, std::uint32_t port, std::vector<Queued>& out) const;
    unsigned multicast(Packet& packet, std::uint64_t group, Packet* first, std::vector<Queued>& out);
    void to_session(Packet* made, std::uint32_t session, std::vector<Queued>& out);

    std::shared_ptr<const Program> program_;
    std::unique_ptr<State> state_;
    std::vector<std::unique_ptr<Packet>> all_;
    std::vector<Packet*> free_;
    std::unique_ptr<Random> blur_;
    bool stale_ = false;
    std::uint64_t taken_ = 0, digests_ = 0, parser_errors_ = 0, asserts_failed_ = 0;
};

}  // namespace penstock::p4
