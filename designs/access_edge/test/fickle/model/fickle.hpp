// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Model of fickle.sv.
#pragma once

#include <cstdint>
#include <vector>

#include "blocks/schedule/model/scheduler_model.hpp"

namespace penstock {

class Fickle : public SchedulerModel {
  public:
    Fickle(std::uint32_t queues, const SchedulerNumbers& numbers)
        : queues_(queues), credits_(numbers["credits"]), hash_(static_cast<std::uint32_t>(numbers["seed"])), has_(queues), busy_(queues) {}

    SchedulerOutputs step(const SchedulerInputs& in) override {
        catch_up(in.now);
        SchedulerOutputs out;
        out.active_ready = hash_ & 3;
        const std::uint32_t queue = (hash_ >> 8 & 255) % queues_;
        if (has_[queue] && !busy_[queue] && credits_ != 0) out.ask = queue;
        out.take = hash_ & 0x70;
        const bool decided = asked_[1] >= 0, left = decided && !out.take;
        // What is set and cleared in one cycle is as the registers have it.
        if (again_ >= 0) busy_[again_] = false;
        if (left) busy_[asked_[1]] = false;
        if (decided && out.take) has_[asked_[1]] = false;
        if (out.ask >= 0) busy_[queue] = true;
        credits_ += in.credit + left - (out.ask >= 0);
        asked_[1] = asked_[0];
        asked_[0] = out.ask;
        again_ = in.taken ? std::int64_t{in.taken->queue} : -1;

        hash_ = mixed(hash_, static_cast<std::uint32_t>(in.now), 1, in.credit);
        if (in.active && out.active_ready) {
            hash_ = mixed(hash_, in.active->queue, in.active->length, 2);
            has_[in.active->queue] = true;
        }
        if (in.accepted) hash_ = mixed(hash_, in.accepted->queue, in.accepted->length, in.accepted->backlog);
        if (in.taken) {
            hash_ = mixed(hash_, in.taken->queue, in.taken->length, in.taken->left);
            hash_ = mixed(hash_, in.taken->head, in.taken->left != 0, 3);
            if (in.taken->left) has_[in.taken->queue] = true;
        }
        now_ = in.now + 1;
        return out;
    }

    bool setting_ready() const override { return hash_ & 12; }
    void set(std::uint32_t queue, std::uint64_t word) override {
        hash_ = mixed(hash_, queue, static_cast<std::uint32_t>(word), static_cast<std::uint32_t>(word >> 32));
    }

  private:
    static std::uint32_t mixed(std::uint32_t hash, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
        return ((hash << 5 | hash >> 27) ^ a) + (b << 16 | b >> 16) + c * 2654435761U;
    }
    // Cycles before the first one that is called.
    void catch_up(std::int64_t now) {
        for (; now_ < now; ++now_) hash_ = mixed(hash_, static_cast<std::uint32_t>(now_), 1, 0);
    }

    std::uint32_t queues_;
    std::int64_t credits_, now_ = 0;
    std::uint32_t hash_;
    std::vector<bool> has_, busy_;
    std::int64_t asked_[2] = {-1, -1}, again_ = -1;
};

}  // namespace penstock
