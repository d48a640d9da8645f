// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// A scheduler of the user's own in the place of ours (event_schedule.hpp): tells its model what pst_schedule tells the hardware, in the
// same cycles, and holds it to the rules.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "blocks/queue/model/fast_queue_manager.hpp"
#include "blocks/schedule/model/event_schedule.hpp"
#include "blocks/schedule/model/scheduler_models.hpp"

namespace penstock {

namespace own_timing {
inline constexpr int kTold = 3;   // from the queue manager's commit until the scheduler is told
inline constexpr int kTake = 2;   // from the question to its commit
inline constexpr int kAgain = 2;  // from the answer to the queue's next question
}  // namespace own_timing

template <typename Record>
class OwnSchedule {
  public:
    OwnSchedule(Record*, std::uint32_t queues, OwnScheduler own) : own_(std::move(own)), queues_(queues) {}

    static std::uint32_t init_cycles(std::uint32_t queues) { return queues; }

    // As in ShapedSchedule.
    void start(std::int64_t) {
        model_ = make_scheduler(own_, queues_, schedule_timing::kCredits);
        states_.assign(queues_, {});
        accepted_.clear();
        taken_.clear();
        std::fill(std::begin(asked_), std::end(asked_), Asked{});
        on_their_way_ = 0;
    }
    bool setting_room() const { return model_->setting_ready(); }

    template <typename Manager, typename Left>
    void step(std::int64_t now, Manager& manager, bool credit, bool, Left&& left, bool = false, bool = false) {
        SchedulerInputs in;
        in.now = now;
        in.credit = credit;
        ActiveQueue active{};
        if (!manager.active().empty()) {
            active = {manager.active().front(), manager.head_length(manager.active().front())};
            in.active = &active;
        }
        if (!accepted_.empty() && accepted_.front().at == now) in.accepted = &accepted_.front().packet;
        if (!taken_.empty() && taken_.front().at == now) in.taken = &taken_.front().packet;
        const SchedulerOutputs out = model_->step(in);
        if (in.accepted) accepted_.pop();
        if (in.taken) taken_.pop();

        on_their_way_ -= credit;
        if (const Asked& asked = asked_[now & 3]; asked.at == now - own_timing::kTake) {
            State& state = states_[asked.queue];
            if (out.take) {
                const auto packet = manager.dequeue(now, asked.queue);
                const std::uint32_t head = packet.backlogged ? manager.head_length(asked.queue) : 0;
                taken_.push({now + own_timing::kTold, {asked.queue, packet.length, manager.bytes(asked.queue), head}});
                state.has = packet.backlogged;
                state.from = now + own_timing::kTold + own_timing::kAgain;
                if (++on_their_way_ > schedule_timing::kCredits)
                    fail(now, "has taken more than the " + std::to_string(schedule_timing::kCredits) + " packets that fit downstream");
                left(asked.queue, packet, ShaperState{}, false, false);
            } else {
                state.from = now + 1;
            }
        }
        if (out.ask != SchedulerOutputs::kNobody) ask(now, out.ask);
        if (in.active && out.active_ready) {
            states_[active.queue] = {true, now + 1};
            manager.active().pop();
        }
    }

    // The queue manager accepts a packet in this cycle, after step(); its queue then has so many bytes.
    void accepted(std::int64_t now, std::uint32_t queue, std::uint32_t length, std::uint32_t backlog) {
        accepted_.push({now + own_timing::kTold, {queue, length, backlog}});
    }

    void write_setting(std::int64_t, std::uint32_t queue, std::uint16_t mantissa, std::uint8_t exponent, std::uint32_t burst) {
        model_->set(queue, std::uint64_t{burst} << settings::kBurstAt | std::uint64_t{exponent} << settings::kExponentAt | mantissa);
    }

    std::int64_t next_event(std::int64_t now) const {
        for (const Asked& asked : asked_)
            if (asked.at + own_timing::kTake > now) return now + 1;
        std::int64_t next = model_->next_step(now);
        if (!accepted_.empty()) next = std::min(next, accepted_.front().at);
        if (!taken_.empty()) next = std::min(next, taken_.front().at);
        return std::max(next, now + 1);
    }

  private:
    template <typename Packet>
    struct Told {
        std::int64_t at;
        Packet packet;
    };
    struct Asked {
        std::int64_t at = INT64_MIN / 2;
        std::uint32_t queue = 0;
    };
    struct State {
        bool has = false;                   // it was announced, and has packets
        std::int64_t from = INT64_MIN / 2;  // cycle from which it may be asked for
    };
    static constexpr std::int64_t kUnderWay = INT64_MAX;

    void ask(std::int64_t now, std::int64_t queue) {
        if (queue < 0 || queue >= queues_) fail(now, "asks for queue " + std::to_string(queue) + " of " + std::to_string(queues_));
        State& state = states_[static_cast<std::uint32_t>(queue)];
        if (!state.has) fail(now, "asks for queue " + std::to_string(queue) + ", which is empty or not yet announced");
        if (now < state.from) fail(now, "asks for queue " + std::to_string(queue) + " less than two cycles after its last answer");
        state.from = kUnderWay;
        asked_[(now + own_timing::kTake) & 3] = {now, static_cast<std::uint32_t>(queue)};
    }
    [[noreturn]] void fail(std::int64_t now, const std::string& what) const {
        throw std::runtime_error("scheduler " + own_.name + ", its model, cycle " + std::to_string(now) + ": " + what);
    }

    OwnScheduler own_;
    std::uint32_t queues_;
    std::shared_ptr<SchedulerModel> model_;
    std::vector<State> states_;
    SmallFifo<Told<AcceptedPacket>, 4> accepted_;
    SmallFifo<Told<PacketTaken>, 4> taken_;
    Asked asked_[4];
    int on_their_way_ = 0;
};

}  // namespace penstock
