// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The crossbar between AXI ports and pseudo channels of HBM2, as on an Alveo U280, without data: switches of four ports by four pseudo
// channels in a row, and between neighbours two lateral links each way, one for ports 0 and 1 of a switch and one for ports 2 and 3. Both
// engines have it; values and sources are in engine/memories.yaml.
//
// Time on links is in ticks of the switch clock: a beat of 64 bytes takes two. A write sets out when its data is there, in fragments of
// 512 bytes at most, and holds each link for as long as it takes; read data comes beat by beat. Each link serves in the order of arrival,
// and has room for what waits, as a port has a bounded number of beats under way. Answers are given to a port in the order of its requests.
//
// In each cycle: step_to(), then what a port offers (*_ready, *_valid), then what was handed over (take_*, give_*).
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <queue>
#include <vector>

#include "penstock/engine/dram_port.hpp"

namespace penstock::engine {

struct HbmSwitchSettings {
    // Which pseudo channel an address of a port is in.
    enum class Mapping : std::uint8_t {
        Own,     // the one behind the port
        Across,  // the one behind the port that is as far from the other end: 0 has the last one
        Spread,  // blocks of 4 KiB take turns
        Global,  // bits 32 and up say it; for traces
    };
    static constexpr unsigned kGroup = 4;       // ports, and pseudo channels, of a switch
    static constexpr unsigned kBoundaries = 7;  // between eight switches
    std::uint64_t ticks = 3, per_cycles = 2;    // the switch's clock makes so many ticks in so many cycles of the device
    Mapping mapping = Mapping::Own;
    bool one_id = false;                    // a port has requests under way at one pseudo channel only, in each direction
    std::uint32_t fragment_beats = 8;       // longest burst inside
    std::uint32_t beat_ticks = 2;           // of 64 bytes on a link
    std::uint32_t turn_ticks = 1;           // a lateral link goes from the writes of one port to those of another
    std::uint32_t request = 2, answer = 2;  // ticks through a switch
    std::array<std::uint32_t, kBoundaries> hop_request{0, 1, 1, 5, 1, 1, 1}, hop_answer{1, 1, 1, 6, 1, 1, 1};  // more, for each boundary
};

class HbmSwitch {
  public:
    // As many ports as channels. Throws std::invalid_argument.
    HbmSwitch(const HbmSwitchSettings& settings, const std::vector<DramSettings>& channels);

    // To cycle `cycle`; nothing is done where it is there already.
    void step_to(std::int64_t cycle);
    bool idle() const { return under_way_ == 0 && channels_idle(); }
    bool idle(unsigned port) const {
        const Port& p = ports_[port];
        return p.coming.empty() && p.writes.empty() && p.reads.empty() && p.bursts.empty() && p.beats.empty();
    }
    bool aw_ready(unsigned port) const { return ports_[port].coming.size() < kBursts; }
    bool w_ready(unsigned port) const { return !ports_[port].coming.empty() && ports_[port].held < kWriteBeats; }
    bool ar_ready(unsigned port) const { return ports_[port].reads.size() < kBursts; }
    bool b_valid(unsigned port) const { return !ports_[port].bursts.empty() && ports_[port].bursts.front().left == 0; }
    bool r_valid(unsigned port) const { return !ports_[port].beats.empty() && ports_[port].beats.front(); }
    void take_aw(unsigned port, std::uint64_t address, std::uint32_t beats);
    void take_w(unsigned port);
    void take_ar(unsigned port, std::uint64_t address, std::uint32_t beats);
    void give_b(unsigned port);
    void give_r(unsigned port);
    // Of the pseudo channel with the port's number.
    const DramCounts& counts(unsigned channel) const { return channels_[channel].dram.counts(); }

  private:
    static constexpr unsigned kBursts = 16, kWriteBeats = 128, kReadBeats = 128;  // of a port
    static constexpr std::uint32_t kBeatBytes = 64, kBlockBytes = 4096;
    static constexpr unsigned kNone = ~0U;

    struct Burst {
        std::uint64_t address;
        std::uint32_t beats, left;  // still to come, or to be asked for
        std::uint64_t id;           // of writes: in the port's order
    };
    struct Fragment {
        unsigned port, channel;
        std::uint64_t address;
        std::uint32_t beats;
        std::uint64_t id;  // of a write's burst; of read data: of its beat
    };
    struct Answer {
        std::uint32_t left;  // fragments without response, those that are still to come included
    };
    // In one direction: where a port with one id has something under way.
    struct Target {
        unsigned channel = kNone;
        std::uint32_t fragments = 0;
    };
    struct Port {
        std::deque<Burst> coming, reads;
        std::deque<Fragment> writes;  // with all their data
        std::deque<Answer> bursts;    // writes without response
        std::deque<bool> beats;       // of reads under way: whether it has come
        std::uint64_t first_burst = 0, last_burst = 0, first_beat = 0;
        std::uint32_t held = 0;  // beats of writes, here and under way
        Target writing, reading;
    };
    struct Arrived {
        Fragment fragment;
        std::int64_t tick;  // its next beat is complete
        std::uint32_t done = 0;
        bool opened = false;  // its address has gone to the DRAM
    };
    struct Channel {
        explicit Channel(const DramSettings& settings) : dram(settings) {}
        DramPort dram;
        std::deque<Arrived> writes;
        std::deque<Fragment> reads;            // that have arrived
        std::deque<Fragment> responses, data;  // in the order of the DRAM's answers; of data `beats` are still to come
    };
    struct Link {
        std::int64_t free = 0;
        unsigned port = kNone;  // whose writes it carried last
    };
    enum class What : std::uint8_t { Write, Request, Data, Response };
    struct Event {
        std::int64_t tick;
        std::uint64_t order;
        What what;
        unsigned hop;
        Fragment fragment;
        bool operator>(const Event& other) const { return tick != other.tick ? tick > other.tick : order > other.order; }
    };

    bool channels_idle() const;
    void step();
    void launch(unsigned p);
    void happen(const Event& event);
    void feed(Channel& channel);
    void plan(std::int64_t tick, What what, unsigned hop, const Fragment& fragment) {
        events_.push({tick, planned_++, what, hop, fragment});
    }
    unsigned channel_of(unsigned port, std::uint64_t address) const;
    std::uint64_t local(unsigned port, std::uint64_t address) const;
    // Whether a port may turn to this channel now; if so it is noted.
    bool reach(Target& target, unsigned channel) const;
    std::int64_t pass(Link& link, std::int64_t tick, std::uint32_t beats, unsigned turning_port);
    // Boundaries between a port and a channel, and the n-th on the way from `from` to `to`.
    static unsigned hops(unsigned from, unsigned to) { return from < to ? to - from : from - to; }
    static unsigned boundary(unsigned from, unsigned to, unsigned n) { return from < to ? from + n : from - 1 - n; }
    Link& lateral(bool write, bool up, unsigned boundary, unsigned port);
    std::int64_t way(const std::array<std::uint32_t, HbmSwitchSettings::kBoundaries>& hop, unsigned port, unsigned channel) const;

    HbmSwitchSettings settings_;
    std::vector<Port> ports_;
    std::vector<Channel> channels_;
    std::vector<Link> write_out_, write_in_, read_out_, read_in_;  // of ports, channels, channels, ports
    std::array<Link, std::size_t{2} * 2 * HbmSwitchSettings::kBoundaries * 2> lateral_{};
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
    std::uint64_t planned_ = 0, under_way_ = 0;  // under_way_: write responses and beats of read data to be given
    std::int64_t cycle_ = -1, tick_ = 0;
};

}  // namespace penstock::engine
