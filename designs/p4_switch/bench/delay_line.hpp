// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The lines around a real switch, such as bmv2's simple_switch, by the machine's clock: what this program does in the place of cables.
//
//   hosts that send (TUN) ─┬─► line at the input ─► port of the switch ... port of the switch ─► half a round trip ─► hosts that receive
//   frames of a plan ──────┘                                                                                               (TUN)
//   hosts that send ◄───────────────────────────────────── half a round trip ◄──────────────────────────────────────────────┘
//
// Each frame has its time when it goes to the switch and when it comes back; it is known again by its addresses, the identification of IPv4
// and the first bytes of its transport header, so nothing is written into it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <queue>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace penstock::p4 {

// Addresses and ports of a connection: version, source, destination, source port, destination port.
using Ends = std::array<std::uint8_t, 37>;
struct EndsHash {
    std::size_t operator()(const Ends& ends) const;
};

// What is read in a frame, or in a packet without Ethernet.
struct Seen {
    bool ip = false;
    std::size_t network = 0;  // where IP begins
    std::size_t end = 0;      // of IP, without padding behind it
    bool ports = false;       // TCP or UDP, first fragment: `ends` is known
    Ends ends{};
    std::uint64_t digest = 0;  // of what routers leave as it is
};
Seen look_at(std::span<const std::uint8_t> frame);
Seen look_at_packet(std::span<const std::uint8_t> frame, std::size_t network);
Ends turned(const Ends& ends);  // of the way back

// A frame of the plan: `front` and `front_bytes` say where its first bytes are, the rest is random (`random`) or zero.
struct Planned {
    std::int64_t at_ns;
    std::uint32_t input, flow;
    std::uint64_t front;
    std::uint32_t front_bytes, length;
    std::uint16_t sum_from, sum_at;  // of a checksum that is to be completed; sum_at 0: none
    bool random;
};

struct Connection {
    Ends ends;
    std::uint32_t input, flow;
    std::vector<std::uint8_t> front;  // Ethernet and tags before the switch
    std::int64_t there_ns, back_ns;   // delay behind the switch, and of what comes back
};

struct LineSettings {
    std::vector<int> ports;                 // sockets at the ports of the switch
    std::vector<std::int64_t> ingress_bps;  // of the line at each
    std::int64_t overhead_bytes = 0;        // of a frame on the line
    int senders = -1, receivers = -1;       // TUN devices; -1: none
    std::size_t most_frames = 0;            // that go to the switch
};

class DelayLine {
  public:
    struct Frames {  // that went to the switch, in their order; out_ns -1: did not come back
        std::vector<std::int64_t> in_ns, out_ns;
        std::vector<std::uint32_t> flow, length, out_length;
        std::vector<std::uint16_t> input, output;
    };
    struct Copies {  // frames that came back once more
        std::vector<std::int64_t> in_ns, out_ns;
        std::vector<std::uint32_t> flow, length;
        std::vector<std::uint16_t> output;
    };
    struct Counts {
        std::uint64_t unknown = 0;        // came out of the switch and is no frame that went in
        std::uint64_t same = 0;           // frames that went in and cannot be told from one before them
        std::uint64_t others = 0;         // of hosts, and of no connection
        std::uint64_t send_failures = 0;  // the kernel took no frame for the switch
        std::uint64_t host_failures = 0;  // ... no packet for a host
        std::uint64_t acknowledged = 0;   // packets of receivers
        bool too_many = false;            // the run ended early, as most_frames had come
    };

    DelayLine(LineSettings settings, std::vector<Connection> connections, std::vector<Planned> plan, std::vector<std::uint8_t> fronts,
              std::uint64_t seed);

    // Times are of CLOCK_MONOTONIC. From `begin` to `end` frames go to the switch; then until nothing has come out of it for `quiet_ns`, at
    // most `drain_ns`. Returns when it is over.
    void run(std::int64_t begin_ns, std::int64_t end_ns, std::int64_t drain_ns, std::int64_t quiet_ns);
    void stop() { stopped_ = true; }

    const Frames& frames() const { return frames_; }
    const Copies& copies() const { return copies_; }
    const Counts& counts() const { return counts_; }
    const std::vector<std::int64_t>& late_ns() const { return late_ns_; }  // how much later than it should each frame was let go
    std::int64_t begin_ns() const { return begin_ns_; }

  private:
    enum class To : std::uint8_t { Switch, Sender, Receiver };
    struct Waiting {
        std::vector<std::uint8_t> bytes;
        std::uint64_t digest = 0;
        std::uint32_t flow = 0;
        std::uint16_t port = 0;
        To to = To::Switch;
    };
    struct Due {
        std::int64_t at;
        std::uint64_t order;
        std::size_t slot;
        bool operator>(const Due& other) const { return at != other.at ? at > other.at : order > other.order; }
    };

    std::size_t slot();
    void wait(std::int64_t at, std::size_t slot);
    std::int64_t on_the_line(std::uint32_t input, std::int64_t now, std::size_t bytes);
    void take_planned(std::int64_t now);
    void let_go(std::int64_t now);
    void from_senders(bool open);
    void from_receivers();
    bool from_switch(std::uint16_t port);
    void came_out(std::uint16_t port, std::int64_t now, std::span<const std::uint8_t> frame);
    std::uint64_t random();

    LineSettings settings_;
    std::vector<Connection> connections_;
    std::unordered_map<Ends, std::size_t, EndsHash> by_ends_;
    std::vector<Planned> plan_;
    std::vector<std::uint8_t> fronts_;
    std::uint64_t random_;
    std::size_t next_ = 0;  // of the plan
    std::int64_t begin_ns_ = 0, last_out_ = 0;
    std::vector<std::int64_t> free_;  // when the line at each input is free
    std::vector<Waiting> slots_;
    std::vector<std::size_t> unused_;
    std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
    std::uint64_t order_ = 0;
    std::vector<std::uint8_t> buffer_;
    std::unordered_map<std::uint64_t, std::size_t> known_;  // by digest: the frame that went in last
    Frames frames_;
    Copies copies_;
    Counts counts_;
    std::vector<std::int64_t> late_ns_;
    std::atomic<bool> stopped_ = false;
};

}  // namespace penstock::p4
