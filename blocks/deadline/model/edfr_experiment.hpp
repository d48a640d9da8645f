// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// One run of the experiment on EDFR's properties: the same packets through several schedulers, each on a link of its own.
//
// Packets that arrive from `warm_up` to `end` are counted. Arrivals go on until the last of them has met its fate, so the end of the
// run is no easier than its middle; what arrived before and after is in `all`, which must be conserved.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "deadline_link.hpp"
#include "edfr_traffic.hpp"
#include "exact_edfr.hpp"
#include "skip_fifo_reference.hpp"

namespace penstock {

struct EdfrAmount {
    uint64_t packets = 0;
    uint64_t bytes = 0;
    void add(uint32_t length) { ++packets, bytes += length; }
};

struct EdfrClassResult {
    EdfrAmount offered;
    std::array<EdfrAmount, kDeadlineFates> fates;
    uint64_t late = 0;                                        // sent after the deadline
    int64_t most_late = std::numeric_limits<int64_t>::min();  // start less deadline, of what was sent; negative: never late
    int64_t longest = 0;                                      // delay of what was sent
    double delay_sum = 0;                                     // ps
};

struct EdfrResult {
    std::string scheduler;
    std::vector<EdfrClassResult> classes;  // of the counted packets
    EdfrAmount all_offered;                // of all packets of the run
    std::array<EdfrAmount, kDeadlineFates> all;
    uint64_t fingerprint = 0;  // of which packets were sent, and when: equal runs have the same
};

struct EdfrExperimentSettings {
    EdfrTrafficSettings traffic;
    int64_t warm_up = 0;  // ps
    int64_t end = 0;
    std::vector<std::string> schedulers;  // exact, fifo, skip_check, skip
    int64_t fifo_wait = 0;                // longest wait of the FIFO
    int64_t tick = 0;                     // of skip-FIFOs
    uint32_t depth = 0;
};

// Counts the fates of one scheduler's packets.
class EdfrTally {
  public:
    EdfrTally(const EdfrExperimentSettings& settings, const std::string& scheduler) : warm_up_(settings.warm_up), end_(settings.end) {
        result_.scheduler = scheduler;
        result_.classes.resize(settings.traffic.deadlines.size());
    }

    void offered(const DeadlinePacket& packet) {
        result_.all_offered.add(packet.bytes);
        if (counts(packet)) result_.classes[packet.traffic_class].offered.add(packet.bytes);
    }

    void operator()(const DeadlinePacket& packet, DeadlineFate fate, int64_t time) {
        const auto place = static_cast<size_t>(fate);
        result_.all[place].add(packet.bytes);
        if (fate == DeadlineFate::Sent)
            result_.fingerprint += EdfrRandom::mix(EdfrRandom::mix(packet.number) ^ static_cast<uint64_t>(time));
        if (!counts(packet)) return;
        EdfrClassResult& own = result_.classes[packet.traffic_class];
        own.fates[place].add(packet.bytes);
        if (fate != DeadlineFate::Sent) return;
        const int64_t delay = time - packet.arrival;
        own.delay_sum += static_cast<double>(delay);
        own.longest = std::max(own.longest, delay);
        own.most_late = std::max(own.most_late, time - packet.deadline);
        own.late += time > packet.deadline;
    }

    // Throws std::logic_error when a packet or byte was lost or came twice.
    EdfrResult finish() const {
        EdfrAmount met;
        for (const EdfrAmount& fate : result_.all) met.packets += fate.packets, met.bytes += fate.bytes;
        if (met.packets != result_.all_offered.packets || met.bytes != result_.all_offered.bytes)
            throw std::logic_error(result_.scheduler + ": " + std::to_string(result_.all_offered.bytes) + " bytes came, " +
                                   std::to_string(met.bytes) + " met a fate");
        return result_;
    }

  private:
    bool counts(const DeadlinePacket& packet) const { return packet.arrival >= warm_up_ && packet.arrival < end_; }

    int64_t warm_up_, end_;
    EdfrResult result_;
};

class EdfrContestant {
  public:
    virtual ~EdfrContestant() = default;
    virtual void play(const std::vector<DeadlinePacket>& packets) = 0;
    virtual EdfrResult finish() = 0;
};

template <typename Server>
class EdfrContestantOf : public EdfrContestant {
  public:
    EdfrContestantOf(EdfrTally tally, Server server) : tally_(std::move(tally)), server_(std::move(server)) {}
    void play(const std::vector<DeadlinePacket>& packets) override {
        for (const DeadlinePacket& packet : packets) {
            tally_.offered(packet);
            server_.arrive(packet, tally_);
        }
    }
    EdfrResult finish() override {
        server_.advance(std::numeric_limits<int64_t>::max(), tally_);
        return tally_.finish();
    }

  private:
    EdfrTally tally_;
    Server server_;
};

inline std::unique_ptr<EdfrContestant> edfr_contestant(const std::string& name, const EdfrExperimentSettings& settings) {
    const DeadlineLink link(1'000'000'000'000, settings.traffic.rate_bps);
    const EdfrTally tally(settings, name);
    if (name == "exact") return std::make_unique<EdfrContestantOf<ExactEdfr>>(tally, ExactEdfr(link, EdfrQueue()));
    if (name == "fifo") return std::make_unique<EdfrContestantOf<LimitedFifo>>(tally, LimitedFifo(link, settings.fifo_wait));
    if (name != "skip" && name != "skip_check") throw std::invalid_argument("there is no scheduler " + name);
    const SkipFifoQueue queue({settings.traffic.deadlines, settings.tick, settings.depth, name == "skip_check"});
    return std::make_unique<EdfrContestantOf<SkipFifoReference>>(tally, SkipFifoReference(link, queue));
}

// Throws std::invalid_argument for settings that make no sense.
inline std::vector<EdfrResult> run_edfr_experiment(const EdfrExperimentSettings& settings) {
    if (settings.warm_up < 0 || settings.end <= settings.warm_up || settings.end > DeadlineLink::kMaxTime / 2)
        throw std::invalid_argument("a run counts from its warm-up to its end, which is after it");
    EdfrTraffic traffic(settings.traffic);
    std::vector<std::unique_ptr<EdfrContestant>> contestants;
    contestants.reserve(settings.schedulers.size());
    for (const std::string& name : settings.schedulers) contestants.push_back(edfr_contestant(name, settings));
    const std::vector<int64_t>& deadlines = settings.traffic.deadlines;
    const int64_t longest = std::max(*std::max_element(deadlines.begin(), deadlines.end()), settings.fifo_wait);
    const int64_t stop = settings.end + longest + settings.tick;
    std::vector<DeadlinePacket> packets;  // as many as stay in the cache while all schedulers get them
    for (bool more = true; more;) {
        packets.clear();
        while (packets.size() < 2048) {
            const DeadlinePacket packet = traffic.next();
            more = packet.arrival < stop;
            if (!more) break;
            packets.push_back(packet);
        }
        for (const auto& contestant : contestants) contestant->play(packets);
    }
    std::vector<EdfrResult> results;
    results.reserve(contestants.size());
    for (const auto& contestant : contestants) results.push_back(contestant->finish());
    return results;
}

}  // namespace penstock
