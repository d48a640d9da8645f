// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The queues that TCP meets in figures 4 to 7, each by its name; none of them needs ns-3. A packet has a number, a class and bytes of IP.
//
//   port            the deadline port of this project: its model, equal to the RTL in every cycle
//   skip            the paper's skip-FIFOs (blocks/deadline/model/skip_fifo_reference.hpp) with the encoder's check; skip_unchecked:
//   without exact           exact EDFR fifo            one FIFO with tail drop for all fifos           such a FIFO for each class, served
//   in turn
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "blocks/deadline/model/exact_edfr.hpp"
#include "blocks/deadline/model/skip_fifo_reference.hpp"
#include "port_queue.hpp"

namespace edfr {

inline constexpr std::int64_t kAskAgainNs = 250;     // while the line is free and packets are on their way through the queue
inline constexpr std::uint32_t kLineBytes = 2;       // of each packet besides IP: ns-3's point-to-point header
inline constexpr std::uint32_t kEthernetBytes = 14;  // of a frame in the port,
inline constexpr std::uint32_t kShortestFrame = 60;  // which is that long at least

struct QueueSettings {
    std::string scheduler;
    std::uint64_t rate_bps = 0;
    std::vector<std::int64_t> deadlines;  // of each class, ns
    std::uint64_t fifo_bytes = 0;         // that a FIFO holds, one for all or one for each class
    std::int64_t tick_ns = 12'207;        // of skip-FIFOs,
    std::uint32_t depth = 1u << 14;       // and time stamps of a class: the paper's
    PortQueueSettings port;               // but for what is above
};

class Discipline {
  public:
    explicit Discipline(std::uint64_t rate_bps) : rate_bps_(rate_bps) {}
    virtual ~Discipline() = default;

    virtual void push(std::uint64_t number, std::uint32_t bytes, std::uint32_t own, std::int64_t now) = 0;
    // Asked while the line is free. A queue with packets may have none yet: ask again after kAskAgainNs.
    virtual std::optional<std::uint64_t> pop(std::int64_t now) = 0;
    virtual std::string facts() const { return ""; }

    std::int64_t line_ns(std::uint32_t bytes) const {
        const std::uint64_t bits = 8ULL * (bytes + kLineBytes) * 1'000'000'000;
        return static_cast<std::int64_t>((bits + rate_bps_ - 1) / rate_bps_);
    }
    std::function<void(std::uint64_t)> drop;  // called with the number of each packet that is dropped

  private:
    std::uint64_t rate_bps_;
};

// A packet-level model of blocks/deadline/model.
template <typename Model>
class ModelQueue final : public Discipline {
  public:
    ModelQueue(const QueueSettings& s, Model model) : Discipline(s.rate_bps), model_(std::move(model)), deadlines_(s.deadlines) {}
    void push(std::uint64_t number, std::uint32_t bytes, std::uint32_t own, std::int64_t now) override {
        model_.push({now, now + deadlines_.at(own), number, bytes, own}, sink_);
    }
    std::optional<std::uint64_t> pop(std::int64_t now) override {
        const auto next = model_.pop(now, sink_);
        return next ? std::optional(next->number) : std::nullopt;
    }

  private:
    struct Sink {
        ModelQueue& queue;
        void operator()(const penstock::DeadlinePacket& packet, penstock::DeadlineFate, std::int64_t) const { queue.drop(packet.number); }
    };
    Model model_;
    std::vector<std::int64_t> deadlines_;
    Sink sink_{*this};
};

class HardwareQueue final : public Discipline {
  public:
    explicit HardwareQueue(const QueueSettings& s) : Discipline(s.rate_bps), port_(settings(s)) {}
    void push(std::uint64_t number, std::uint32_t bytes, std::uint32_t own, std::int64_t now) override {
        port_.push(number, std::max(bytes + kEthernetBytes, kShortestFrame), own, now, falls_);
    }
    std::optional<std::uint64_t> pop(std::int64_t now) override {
        return port_.pop(now, [this](std::uint32_t frame) { return line_ns(frame - kEthernetBytes); }, falls_);
    }
    std::string facts() const override {
        return "latest_ns " + std::to_string(port_.latest_ns()) + " cycles " + std::to_string(port_.cycles_run());
    }

  private:
    static PortQueueSettings settings(const QueueSettings& s) {
        PortQueueSettings port = s.port;
        port.deadlines = s.deadlines;
        port.deadlines.resize(port.device.classes, s.deadlines.back());
        return port;
    }
    struct Falls {
        HardwareQueue& queue;
        void operator()(std::uint64_t number, PortFate) const { queue.drop(number); }
    };
    PortQueue port_;
    Falls falls_{*this};
};

// Tail drop by bytes.
class FifoQueue final : public Discipline {
  public:
    FifoQueue(const QueueSettings& s, std::size_t count) : Discipline(s.rate_bps), limit_(s.fifo_bytes), fifos_(count) {}
    void push(std::uint64_t number, std::uint32_t bytes, std::uint32_t own, std::int64_t) override {
        Fifo& fifo = fifos_[fifos_.size() == 1 ? 0 : own];
        if (fifo.bytes + bytes > limit_) return drop(number);
        fifo.bytes += bytes;
        fifo.waiting.push_back({number, bytes});
    }
    std::optional<std::uint64_t> pop(std::int64_t) override {
        for (std::size_t tried = 0; tried < fifos_.size(); ++tried) {
            turn_ = (turn_ + 1) % fifos_.size();
            Fifo& fifo = fifos_[turn_];
            if (fifo.waiting.empty()) continue;
            const auto [number, bytes] = fifo.waiting.front();
            fifo.waiting.pop_front();
            fifo.bytes -= bytes;
            return number;
        }
        return std::nullopt;
    }

  private:
    struct Fifo {
        std::deque<std::pair<std::uint64_t, std::uint32_t>> waiting;
        std::uint64_t bytes = 0;
    };
    std::uint64_t limit_;
    std::vector<Fifo> fifos_;
    std::size_t turn_ = 0;
};

// Return the queue, or nothing when there is no such scheduler. Throws std::invalid_argument for settings that it does not take.
inline std::unique_ptr<Discipline> make_queue(const QueueSettings& s) {
    if (s.scheduler == "port") return std::make_unique<HardwareQueue>(s);
    if (s.scheduler == "exact") return std::make_unique<ModelQueue<penstock::EdfrQueue>>(s, penstock::EdfrQueue());
    if (s.scheduler == "skip" || s.scheduler == "skip_unchecked")
        return std::make_unique<ModelQueue<penstock::SkipFifoQueue>>(
            s, penstock::SkipFifoQueue({s.deadlines, s.tick_ns, s.depth, s.scheduler == "skip"}));
    if (s.scheduler == "fifo") return std::make_unique<FifoQueue>(s, 1);
    if (s.scheduler == "fifos") return std::make_unique<FifoQueue>(s, s.deadlines.size());
    return nullptr;
}

}  // namespace edfr
