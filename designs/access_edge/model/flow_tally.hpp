// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Frames by flow: what each flow of a queue sent, lost and waited, whatever the device knows of flows. A flow is what pst_fq_hash hashes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "blocks/fq/model/fq_hash.hpp"
#include "penstock/engine/amount.hpp"
#include "penstock/engine/frame.hpp"

namespace penstock::engine {

class FlowTally {
  public:
    struct Flow {
        std::uint32_t queue = 0;
        ParsedHeaders headers;  // of its first frame
        Amount in, out, dropped;
        std::uint64_t marked = 0, latency_sum = 0, out_begun = 0;
        std::uint32_t latency_max = 0;
        std::int64_t first_departure = -1, last_departure = -1;
        std::vector<std::uint32_t> latency;  // of its first frames
    };

    FlowTally(std::uint64_t seed, std::uint32_t most) : seed_(seed), most_(most), bytes_(kMaxFrameBytes + 64) {}

    void begin() {
        for (Flow& flow : flows_) {
            flow.latency.clear();
            flow.latency_sum = flow.latency_max = 0;
            flow.out_begun = flow.out.bytes;
            flow.first_departure = flow.last_departure = -1;
        }
        kept_ = 0;
    }
    void accepted(const Frame& frame, std::uint32_t slot) {
        if (slot >= of_slot_.size()) of_slot_.resize(slot + 1, kNone);
        of_slot_[slot] = find(frame);
        if (Flow* const flow = at(of_slot_[slot])) flow->in.add(frame.length);
    }
    void dropped(const Frame& frame) {
        if (Flow* const flow = at(find(frame))) flow->dropped.add(frame.length);
    }
    void marked(const Frame& frame) {
        if (Flow* const flow = at(find(frame))) ++flow->marked;
    }
    void departed(std::int64_t cycle, std::uint32_t slot, std::uint32_t length, std::uint32_t latency) {
        Flow* const flow = slot < of_slot_.size() ? at(of_slot_[slot]) : nullptr;
        if (!flow) return;
        flow->out.add(length);
        flow->latency_sum += latency;
        flow->latency_max = std::max(flow->latency_max, latency);
        if (flow->first_departure < 0) flow->first_departure = cycle;
        flow->last_departure = cycle;
        if (flow->latency.size() >= kKeptOfFlow || kept_ >= kKept) return;
        flow->latency.push_back(latency);
        ++kept_;
    }

    const std::vector<Flow>& flows() const { return flows_; }
    // Frames of flows beyond the most that are told apart.
    std::uint64_t others() const { return others_; }

  private:
    static constexpr std::uint32_t kNone = UINT32_MAX, kHeaderBytes = 129;
    static constexpr std::size_t kKeptOfFlow = 1 << 14, kKept = 1 << 24;

    Flow* at(std::uint32_t index) { return index == kNone ? nullptr : &flows_[index]; }
    std::uint32_t find(const Frame& frame) {
        Frame head = frame;
        head.length = std::min(head.length, kHeaderBytes);
        head.sum_at = 0;
        frame_bytes(head, seed_, bytes_.data());
        const ParsedHeaders headers = parse({bytes_.data(), head.length}, ParseMpls::ByNibble, {kHeaderBytes - 1, 2, false});
        const FqKey key(headers);
        std::uint64_t hash = mix(frame.queue + std::uint64_t{1});
        for (const std::uint8_t chunk : key.chunk) hash = (hash ^ chunk) * 0x9E37'79B9'7F4A'7C15, hash ^= hash >> 29;
        const auto found = index_.find(hash);
        if (found != index_.end()) return found->second;
        if (flows_.size() >= most_) {
            ++others_;
            return kNone;
        }
        index_.emplace(hash, static_cast<std::uint32_t>(flows_.size()));
        Flow& flow = flows_.emplace_back();
        flow.queue = frame.queue;
        flow.headers = headers;
        return static_cast<std::uint32_t>(flows_.size() - 1);
    }

    std::uint64_t seed_;
    std::uint32_t most_;
    std::vector<std::uint8_t> bytes_;
    std::vector<Flow> flows_;
    std::unordered_map<std::uint64_t, std::uint32_t> index_;
    std::vector<std::uint32_t> of_slot_;  // by slot: the flow of the frame that is there
    std::uint64_t kept_ = 0, others_ = 0;
};

}  // namespace penstock::engine
