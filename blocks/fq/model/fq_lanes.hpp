// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Model of pst_fq, cycle by cycle: lanes side by side, of which a queue's low bits say the one it is in.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "fq.hpp"

namespace penstock {

class FqLanes {
  public:
    struct Input {
        std::optional<Fq::Enqueue> enqueue;
        std::optional<std::uint32_t> look;
        bool take = false;
        std::optional<bool> verdict;
        bool active_ready = true, drop_ready = true;
        std::optional<Fq::Setting> setting;
        std::uint32_t pool = 0xFFFF'FFFF;  // packets that all queues may hold
    };

    FqLanes(std::uint32_t lanes, const FqSizes& s)
        : lanes_(lanes), bits_(static_cast<std::uint32_t>(std::bit_width(lanes) - 1)), enqueues_(lanes) {
        for (std::uint32_t l = 0; l < lanes; l++)
            lane_.emplace_back(FqSizes{s.queues / lanes, s.flows / lanes, s.descriptors, s.age_cycles, s.host_bits});
    }

    void reset() {
        for (Fq& lane : lane_) lane.reset();
        for (auto& waiting : enqueues_) waiting.clear();
        active_.clear();
        drops_.clear();
        order_.clear();
        looked_ = {};
        turn_ = 0;
        packets_ = 0;
        pool_over_ = false;
    }

    // --- outputs, as they are in the cycle that comes

    bool init_done() const {
        for (const Fq& lane : lane_) {
            if (!lane.init_done()) return false;
        }
        return true;
    }
    bool enqueue_ready(std::uint32_t queue) const { return enqueues_[lane_of(queue)].size() < kEnqueueDepth; }
    bool look_ready() const {
        for (const Fq& lane : lane_) {
            if (!lane.look_ready()) return false;
        }
        return true;
    }
    std::optional<Fq::Active> active() const { return active_.empty() ? std::nullopt : std::optional(active_.front()); }
    std::optional<Fq::Dropped> dropped() const { return drops_.empty() ? std::nullopt : std::optional(drops_.front()); }
    std::optional<Fq::Left> left() const {
        for (std::uint32_t l = 0; l < lanes_; l++) {
            if (auto left = lane_[l].left()) {
                left->queue = queue_of(left->queue, l);
                left->flow = flow_of(left->flow, l);
                return left;
            }
        }
        return std::nullopt;
    }
    std::optional<Fq::Event> event(std::uint32_t l) const {
        auto event = lane_[l].event();
        if (event) {
            event->queue = queue_of(event->queue, l);
            event->flow = flow_of(event->flow, l);
        }
        return event;
    }
    // The packet of the queue that was looked at two cycles ago: what left() has one cycle later, if it is taken.
    Fq::Left staged(std::uint32_t queue) const {
        const std::uint32_t l = lane_of(queue);
        Fq::Left found = lane_[l].staged(in_lane(queue));
        found.queue = queue;
        found.flow = flow_of(found.flow, l);
        return found;
    }
    std::uint32_t packets() const { return packets_; }
    // What a look into a queue finds.
    std::uint32_t packets_of(std::uint32_t queue) const { return lane_[lane_of(queue)].packets_of(in_lane(queue)); }
    std::uint32_t bytes_of(std::uint32_t queue) const { return lane_[lane_of(queue)].queue_bytes_of(in_lane(queue)); }
    const FqSetting& setting_of(std::uint32_t queue) const { return lane_[lane_of(queue)].setting_of(in_lane(queue)); }
    std::uint32_t lanes() const { return lanes_; }
    const Fq& lane(std::uint32_t l) const { return lane_[l]; }
    Fq& lane(std::uint32_t l) { return lane_[l]; }

    std::uint32_t lane_of(std::uint32_t queue) const { return queue & (lanes_ - 1); }
    std::uint32_t queue_of(std::uint32_t queue, std::uint32_t l) const { return queue << bits_ | l; }
    std::uint32_t flow_of(std::uint32_t flow, std::uint32_t l) const { return flow << bits_ | l; }
    std::uint32_t in_lane(std::uint32_t queue) const { return queue >> bits_; }

    void cycle(const Input& in) {
        std::optional<std::uint32_t> active_lane, drop_lane;
        std::uint32_t sum = 0;
        for (std::uint32_t i = lanes_; i-- > 0;) {
            const std::uint32_t l = (turn_ + i) & (lanes_ - 1);
            if (lane_[l].active()) active_lane = l;
            if (lane_[l].dropped()) drop_lane = l;
            sum += static_cast<std::uint32_t>(lane_[l].total());
        }
        const bool active_room = active_.size() < kOutDepth, drop_room = drops_.size() < kOutDepth;
        const bool active_out = in.active_ready && !active_.empty(), drop_out = in.drop_ready && !drops_.empty();
        std::optional<Fq::Active> to_active;
        std::optional<Fq::Dropped> to_drops;
        if (active_lane && active_room) {
            to_active = lane_[*active_lane].active();
            to_active->queue = queue_of(to_active->queue, *active_lane);
        }
        if (drop_lane && drop_room) {
            to_drops = lane_[*drop_lane].dropped();
            to_drops->queue = queue_of(to_drops->queue, *drop_lane);
        }
        const bool enqueue = in.enqueue && enqueue_ready(in.enqueue->queue);

        for (std::uint32_t l = 0; l < lanes_; l++) {
            Fq::Input lane;
            if (!enqueues_[l].empty()) lane.enqueue = enqueues_[l].front();
            if (in.look && lane_of(*in.look) == l) lane.look = in_lane(*in.look);
            lane.take = in.take;
            if (in.verdict && !order_.empty() && order_.front() == l) lane.verdict = in.verdict;
            lane.active_ready = active_lane == l && active_room;
            lane.drop_ready = drop_lane == l && drop_room;
            if (in.setting && lane_of(in.setting->queue) == l) lane.setting = Fq::Setting{in_lane(in.setting->queue), in.setting->setting};
            lane.pool_over = pool_over_;
            const bool taken = lane.enqueue && lane_[l].enqueue_ready();
            lane_[l].cycle(lane);
            if (taken) enqueues_[l].pop_front();
        }

        if (in.verdict && !order_.empty()) order_.pop_front();
        if (looked_[1] && in.take) order_.push_back(lane_of(*looked_[1]));
        looked_[1] = looked_[0];
        looked_[0] = in.look;
        if (enqueue) {
            Fq::Enqueue packet = *in.enqueue;
            const std::uint32_t l = lane_of(packet.queue);
            packet.queue = in_lane(packet.queue);
            enqueues_[l].push_back(packet);
        }
        if (active_out) active_.pop_front();
        if (drop_out) drops_.pop_front();
        if (to_active) active_.push_back(*to_active);
        if (to_drops) drops_.push_back(*to_drops);
        turn_ = turn_ + 1 == lanes_ ? 0 : turn_ + 1;
        packets_ = sum;
        pool_over_ = sum > in.pool;
    }

  private:
    static constexpr std::size_t kEnqueueDepth = 8, kOutDepth = 4;

    std::uint32_t lanes_, bits_;
    std::vector<Fq> lane_;
    std::vector<std::deque<Fq::Enqueue>> enqueues_;
    std::deque<Fq::Active> active_;
    std::deque<Fq::Dropped> drops_;
    std::deque<std::uint32_t> order_;
    std::array<std::optional<std::uint32_t>, 2> looked_;
    std::uint32_t turn_ = 0, packets_ = 0;
    bool pool_over_ = false;
};

}  // namespace penstock
