// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The P4 device between its links: a v1model program around a traffic manager. A frame goes through ingress in the cycle in which its last
// bit comes, and through egress in the cycle in which its output's link takes it; the program itself takes no time.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "designs/p4_switch/model/machine/v1_switch.hpp"
#include "designs/p4_switch/model/queue_tally.hpp"
#include "designs/p4_switch/model/switch_settings.hpp"
#include "designs/p4_switch/model/traffic_manager.hpp"
#include "penstock/engine/environment.hpp"
#include "penstock/engine/link_ports.hpp"

namespace penstock::p4 {

class SwitchDevice final : public engine::Device {
  public:
    // Throws std::invalid_argument for what the model does not know: random gaps at inputs and outputs.
    SwitchDevice(const SwitchSettings& settings, std::unique_ptr<V1Switch> machine, std::shared_ptr<QueueTally> tally,
                 const engine::Environment& environment);

    void start() override { now_ = kResetCycles; }
    void write(std::uint32_t, std::uint32_t) override;
    std::uint32_t read(std::uint32_t) override;
    void settle() override {}
    void connect(std::span<engine::FrameSource* const> sources, engine::Observer* observer) override;
    void run(std::int64_t until) override;
    std::int64_t now() const override { return now_; }
    bool input_idle() const override;
    void close_input() override;
    engine::MemoryCounts memory_counts(unsigned) const override { return {}; }
    engine::BusCounts bus_counts() const override { return bus_; }
    engine::LostFrames ingress_lost() const override;

    // Packets that the program's pool has given out, and those of them that are known to be somewhere: equal, unless one was forgotten.
    std::uint64_t packets_in_use() const { return machine_->packets_out_of_pool(); }
    std::uint64_t packets_known() const { return known_; }
    // Recirculated ones that come to ingress in the next cycle.
    std::uint64_t packets_on_their_way() const { return again_.size(); }

  private:
    static constexpr std::int64_t kResetCycles = 16;  // as RtlDevice's
    static constexpr std::uint32_t kNone = 0xFFFF'FFFF;
    static constexpr std::uint64_t kOwnNumbers = std::uint64_t{1} << 63;  // of copies, which are frames with numbers of their own

    // A packet from its arrival on; its number in held_ is Packet::user.
    struct Held {
        Packet* packet = nullptr;
        std::uint64_t number = 0;
        std::uint32_t flow = 0;
        std::uint32_t bytes = 0;  // as it came to ingress last, which is what it takes of queues and, where it is charged, of the link
        std::int64_t last_bit = 0;
        std::int64_t enqueued = 0;
        std::uint64_t enqueued_us = 0;
        std::uint32_t depth = 0;  // of its queue when it came there
    };
    struct Output {
        engine::LinkOutput link;
        engine::Link line;
        bool paced;
    };

    void cycle();
    void arrive(unsigned input);
    void ingress(std::uint32_t held, std::uint32_t port, bool first);
    void enqueue_copy(const Held& of, const Queued& to, bool clone);
    void enqueue(std::uint32_t held, const Queued& to, bool first);
    void lose(std::uint32_t held, std::uint8_t reason, bool first);
    void send(std::uint32_t output);
    void egress(std::uint32_t output, TrafficManager::Taken taken);
    void forget(std::uint32_t held);
    std::uint32_t hold(Packet* packet);
    std::int64_t next_event() const;
    void skip(std::int64_t until);

    SwitchSettings settings_;
    std::unique_ptr<V1Switch> machine_;
    std::shared_ptr<QueueTally> tally_;
    ProgramClock clock_;
    TrafficManager queues_;
    std::uint64_t seed_;
    std::vector<engine::LinkInput> inputs_;
    std::vector<Output> outputs_;
    std::vector<std::uint32_t> output_of_;  // by the program's port number; kNone: there is none
    std::vector<Held> held_;
    std::vector<std::uint32_t> free_;
    std::uint64_t known_ = 0;
    std::vector<Queued> queued_;
    std::deque<std::uint32_t> again_;  // recirculated: they come to ingress in the next cycle
    std::vector<std::uint8_t> bytes_;  // of the frame that arrives
    engine::Observer* observer_ = nullptr;
    std::int64_t now_ = 0;
    std::uint64_t copies_ = 0;
    engine::BusCounts bus_;
    bool active_ = false;  // the observer was told something in this cycle
};

}  // namespace penstock::p4
