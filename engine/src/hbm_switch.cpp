// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "penstock/engine/hbm_switch.hpp"

#include <algorithm>
#include <stdexcept>

namespace penstock::engine {

namespace {
__extension__ using Wide = __int128;
}

HbmSwitch::HbmSwitch(const HbmSwitchSettings& settings, const std::vector<DramSettings>& channels)
    : settings_(settings),
      ports_(channels.size()),
      write_out_(channels.size()),
      write_in_(channels.size()),
      read_out_(channels.size()),
      read_in_(channels.size()) {
    if (channels.empty() || channels.size() > std::size_t{HbmSwitchSettings::kGroup} * (HbmSwitchSettings::kBoundaries + 1))
        throw std::invalid_argument("a crossbar of HBM has 1 to 32 pseudo channels");
    if (settings.ticks == 0 || settings.per_cycles == 0) throw std::invalid_argument("the clock of a crossbar must run");
    if (settings.fragment_beats == 0 || settings.beat_ticks == 0) throw std::invalid_argument("a crossbar must carry something");
    channels_.reserve(channels.size());
    for (const DramSettings& channel : channels) channels_.emplace_back(channel);
}

bool HbmSwitch::channels_idle() const {
    return std::all_of(channels_.begin(), channels_.end(), [](const Channel& c) { return c.dram.idle(); });
}

unsigned HbmSwitch::channel_of(unsigned port, std::uint64_t address) const {
    const auto count = static_cast<unsigned>(channels_.size());
    switch (settings_.mapping) {
        case HbmSwitchSettings::Mapping::Across:
            return count - 1 - port;
        case HbmSwitchSettings::Mapping::Spread:
            return static_cast<unsigned>((port + address / kBlockBytes) % count);
        case HbmSwitchSettings::Mapping::Global:
            return static_cast<unsigned>((address >> 32) % count);
        default:
            return port;
    }
}

// Where a port's address is in its channel: no two addresses that a channel has are in one place.
std::uint64_t HbmSwitch::local(unsigned port, std::uint64_t address) const {
    if (settings_.mapping == HbmSwitchSettings::Mapping::Global) return address & 0xFFFF'FFFF;
    if (settings_.mapping != HbmSwitchSettings::Mapping::Spread) return address;
    const std::uint64_t count = channels_.size(), block = address / kBlockBytes;
    return (block / count * count + port) * kBlockBytes + address % kBlockBytes;
}

void HbmSwitch::take_aw(unsigned port, std::uint64_t address, std::uint32_t beats) {
    Port& p = ports_[port];
    const std::uint32_t fragments = (beats + settings_.fragment_beats - 1) / settings_.fragment_beats;
    p.coming.push_back({address, beats, beats, p.last_burst++});
    p.bursts.push_back({fragments});
    ++under_way_;
}

void HbmSwitch::take_w(unsigned port) {
    Port& p = ports_[port];
    Burst& burst = p.coming.front();
    ++p.held;
    --burst.left;
    const std::uint32_t come = burst.beats - burst.left;
    if (burst.left == 0 || come % settings_.fragment_beats == 0) {
        const std::uint32_t beats = (come - 1) % settings_.fragment_beats + 1;
        const std::uint64_t address = burst.address + std::uint64_t{come - beats} * kBeatBytes;
        p.writes.push_back({port, channel_of(port, address), local(port, address), beats, burst.id});
    }
    if (burst.left == 0) p.coming.pop_front();
}

void HbmSwitch::take_ar(unsigned port, std::uint64_t address, std::uint32_t beats) {
    ports_[port].reads.push_back({address, beats, beats, 0});
    under_way_ += beats;
}

void HbmSwitch::give_b(unsigned port) {
    ports_[port].bursts.pop_front();
    ++ports_[port].first_burst;
    --under_way_;
}

void HbmSwitch::give_r(unsigned port) {
    ports_[port].beats.pop_front();
    ++ports_[port].first_beat;
    --under_way_;
}

bool HbmSwitch::reach(Target& target, unsigned channel) const {
    if (settings_.one_id && target.fragments != 0 && target.channel != channel) return false;
    target.channel = channel;
    ++target.fragments;
    return true;
}

HbmSwitch::Link& HbmSwitch::lateral(bool write, bool up, unsigned boundary, unsigned port) {
    return lateral_[((std::size_t{write} * 2 + up) * HbmSwitchSettings::kBoundaries + boundary) * 2 + port % HbmSwitchSettings::kGroup / 2];
}

// Ticks that the boundaries between a port and a channel add.
std::int64_t HbmSwitch::way(const std::array<std::uint32_t, HbmSwitchSettings::kBoundaries>& hop, unsigned port, unsigned channel) const {
    const unsigned from = port / HbmSwitchSettings::kGroup, to = channel / HbmSwitchSettings::kGroup;
    std::int64_t sum = 0;
    for (unsigned n = 0; n < hops(from, to); ++n) sum += hop[boundary(from, to, n)];
    return sum;
}

// When what comes to a link at `tick` begins to pass it. `turning_port`: whose writes these are, where turns cost.
std::int64_t HbmSwitch::pass(Link& link, std::int64_t tick, std::uint32_t beats, unsigned turning_port) {
    std::int64_t start = std::max(tick, link.free);
    if (turning_port != kNone && link.port != turning_port) {
        if (link.port != kNone) start = std::max(tick, link.free + settings_.turn_ticks);
        link.port = turning_port;
    }
    link.free = start + std::int64_t{beats} * settings_.beat_ticks;
    return start;
}

void HbmSwitch::launch(unsigned p) {
    Port& port = ports_[p];
    if (!port.writes.empty() && reach(port.writing, port.writes.front().channel)) {
        plan(tick_, What::Write, 0, port.writes.front());
        port.writes.pop_front();
    }
    if (port.reads.empty()) return;
    Burst& burst = port.reads.front();
    const std::uint32_t beats = std::min(burst.left, settings_.fragment_beats);
    const unsigned channel = channel_of(p, burst.address);
    if (port.beats.size() + beats > kReadBeats || !reach(port.reading, channel)) return;
    const Fragment fragment{p, channel, local(p, burst.address), beats, port.first_beat + port.beats.size()};
    port.beats.insert(port.beats.end(), beats, false);
    plan(tick_ + settings_.request + way(settings_.hop_request, p, channel), What::Request, 0, fragment);
    burst.address += std::uint64_t{beats} * kBeatBytes;
    burst.left -= beats;
    if (burst.left == 0) port.reads.pop_front();
}

void HbmSwitch::happen(const Event& event) {
    const Fragment& f = event.fragment;
    const unsigned port_switch = f.port / HbmSwitchSettings::kGroup, channel_switch = f.channel / HbmSwitchSettings::kGroup;
    const unsigned between = hops(port_switch, channel_switch);
    switch (event.what) {
        case What::Request:
            channels_[f.channel].reads.push_back(f);
            break;
        case What::Response: {
            Port& port = ports_[f.port];
            --port.bursts[f.id - port.first_burst].left;
            --port.writing.fragments;
            break;
        }
        case What::Write: {
            if (event.hop == 0) {
                const std::int64_t start = pass(write_out_[f.port], event.tick, f.beats, kNone);
                plan(start + settings_.request, What::Write, 1, f);
            } else if (event.hop <= between) {
                const unsigned at = boundary(port_switch, channel_switch, event.hop - 1);
                const std::int64_t start = pass(lateral(true, port_switch < channel_switch, at, f.port), event.tick, f.beats, f.port);
                plan(start + settings_.hop_request[at], What::Write, event.hop + 1, f);
            } else {
                const std::int64_t start = pass(write_in_[f.channel], event.tick, f.beats, kNone);
                channels_[f.channel].writes.push_back({f, start + settings_.beat_ticks});
            }
            break;
        }
        case What::Data: {
            if (event.hop == 0) {
                const std::int64_t start = pass(read_out_[f.channel], event.tick, 1, kNone);
                plan(start + settings_.answer, What::Data, 1, f);
            } else if (event.hop <= between) {
                const unsigned at = boundary(channel_switch, port_switch, event.hop - 1);
                const std::int64_t start = pass(lateral(false, channel_switch < port_switch, at, f.port), event.tick, 1, kNone);
                plan(start + settings_.hop_answer[at], What::Data, event.hop + 1, f);
            } else if (event.hop == between + 1) {
                const std::int64_t start = pass(read_in_[f.port], event.tick, 1, kNone);
                plan(start + settings_.beat_ticks, What::Data, event.hop + 1, f);
            } else {
                Port& port = ports_[f.port];
                port.beats[f.id - port.first_beat] = true;
                if (f.beats == 0) --port.reading.fragments;
            }
            break;
        }
    }
}

// What has arrived at a channel goes to its DRAM.
void HbmSwitch::feed(Channel& channel) {
    if (!channel.reads.empty() && channel.dram.ar_ready()) {
        const Fragment& f = channel.reads.front();
        channel.dram.take_ar(f.address, f.beats);
        channel.data.push_back(f);
        channel.reads.pop_front();
    }
    if (channel.writes.empty()) return;
    Arrived& arrived = channel.writes.front();
    const Fragment& f = arrived.fragment;
    if (arrived.tick > tick_) return;
    // An address that waits for room for its data has been taken all the same.
    if (!arrived.opened) {
        if (!channel.dram.aw_ready()) return;
        channel.dram.take_aw(f.address, f.beats);
        channel.responses.push_back(f);
        arrived.opened = true;
    }
    if (!channel.dram.w_ready()) return;
    channel.dram.take_w();
    --ports_[f.port].held;
    arrived.tick += settings_.beat_ticks;
    if (++arrived.done == f.beats) channel.writes.pop_front();
}

void HbmSwitch::step() {
    ++cycle_;
    tick_ = static_cast<std::int64_t>(static_cast<Wide>(cycle_) * settings_.ticks / settings_.per_cycles);
    for (Channel& channel : channels_) {
        channel.dram.step_to(cycle_);
        if (channel.dram.b_valid()) {
            channel.dram.give_b();
            const Fragment& f = channel.responses.front();
            plan(tick_ + settings_.answer + way(settings_.hop_answer, f.port, f.channel), What::Response, 0, f);
            channel.responses.pop_front();
        }
        if (channel.dram.r_valid()) {
            channel.dram.give_r();
            Fragment& f = channel.data.front();
            --f.beats;
            plan(tick_, What::Data, 0, f);
            ++f.id;
            if (f.beats == 0) channel.data.pop_front();
        }
    }
    for (unsigned p = 0; p < ports_.size(); ++p) launch(p);
    while (!events_.empty() && events_.top().tick <= tick_) {
        const Event event = events_.top();
        events_.pop();
        happen(event);
    }
    for (Channel& channel : channels_) feed(channel);
}

void HbmSwitch::step_to(std::int64_t cycle) {
    while (cycle_ < cycle) {
        if (idle()) cycle_ = cycle - 1;
        step();
    }
}

}  // namespace penstock::engine
