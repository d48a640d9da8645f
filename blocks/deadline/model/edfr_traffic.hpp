// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Random arrivals for experiments with deadline schedulers: packets of several classes, in order of time, in picoseconds.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "deadline_link.hpp"

namespace penstock {

// SplitMix64: the same numbers on every machine.
class EdfrRandom {
  public:
    explicit EdfrRandom(uint64_t seed, uint64_t stream = 0) : state_(mix(seed) ^ mix(stream + 0x632B'E59B'D9B4'E019)) {}

    uint64_t bits() { return mix(state_ += 0x9E37'79B9'7F4A'7C15); }
    double uniform() { return static_cast<double>(bits() >> 11) * 0x1.0p-53; }  // [0, 1)
    double exponential(double mean) { return -mean * std::log1p(-uniform()); }
    // Pareto of this shape, which is above 1: P(X > x) = (least / x)^shape.
    double pareto(double mean, double shape) { return mean * (shape - 1) / shape * std::pow(1 - uniform(), -1 / shape); }

    static uint64_t mix(uint64_t x) {
        x = (x ^ (x >> 30)) * 0xBF58'476D'1CE4'E5B9;
        x = (x ^ (x >> 27)) * 0x94D0'49BB'1331'11EB;
        return x ^ (x >> 31);
    }

  private:
    uint64_t state_;
};

enum class EdfrArrivals : uint8_t {
    Poisson,
    Constant,  // equal distances, a random phase for each source
    OnOff,     // Poisson within bursts; bursts and pauses of exponential length
    Pareto     // the same with lengths of a Pareto distribution: a sum of such sources is self-similar
};

struct EdfrTrafficSettings {
    EdfrArrivals arrivals = EdfrArrivals::Poisson;
    bool shared = false;                             // one source, whose packets get classes at random; otherwise each class has its own
    uint64_t rate_bps = 0;                           // of the link
    double load = 0;                                 // offered, as a share of the link
    std::vector<int64_t> deadlines;                  // of each class, from arrival, ps
    std::vector<double> shares;                      // of each class in the packets
    std::vector<std::pair<uint32_t, double>> sizes;  // bytes and weight; no size: `exponential_bytes`
    double exponential_bytes = 0;                    // mean of exponential sizes, rounded to bytes
    double burst_ps = 0;                             // mean length of a burst
    double pause_ps = 0;                             // mean length of a pause
    double shape = 1.5;                              // of Pareto lengths
    uint64_t seed = 0;
};

class EdfrTraffic {
  public:
    // Throws std::invalid_argument.
    explicit EdfrTraffic(const EdfrTrafficSettings& settings) : settings_(settings), random_(settings.seed, 0) {
        check();
        const double weights = std::accumulate(settings.shares.begin(), settings.shares.end(), 0.0);
        double up_to = 0;
        for (const double share : settings.shares) class_up_to_.push_back((up_to += share) / weights);
        double weight = 0, bytes = 0;
        for (const auto& [size, often] : settings.sizes) weight += often, bytes += often * size;
        mean_bytes_ = settings.sizes.empty() ? settings.exponential_bytes : bytes / weight;
        for (const auto& [size, often] : settings.sizes)
            size_up_to_.push_back((size_up_to_.empty() ? 0.0 : size_up_to_.back()) + often / weight);
        const double all = settings.load * static_cast<double>(settings.rate_bps) / 8 / mean_bytes_ / 1e12;  // packets a picosecond
        const size_t sources = settings.shared ? 1 : settings.shares.size();
        for (size_t number = 0; number < sources; ++number) {
            const double share = settings.shared ? 1 : settings.shares[number] / weights;
            sources_.emplace_back(settings_, 1 / (all * share), number + 1);
            order_.push_back({sources_.back().next(), static_cast<uint32_t>(number)});
        }
        std::make_heap(order_.begin(), order_.end(), later);
    }

    DeadlinePacket next() {
        std::pop_heap(order_.begin(), order_.end(), later);
        auto& [time, source] = order_.back();
        DeadlinePacket packet{};
        packet.arrival = std::llround(time);
        packet.number = number_++;
        packet.bytes = size();
        packet.traffic_class = settings_.shared ? place(class_up_to_, random_.uniform()) : source;
        packet.deadline = packet.arrival + settings_.deadlines[packet.traffic_class];
        time = sources_[source].next();
        std::push_heap(order_.begin(), order_.end(), later);
        return packet;
    }

    double mean_bytes() const { return mean_bytes_; }

  private:
    class Source {
      public:
        Source(const EdfrTrafficSettings& settings, double mean_ps, uint64_t stream)
            : settings_(&settings), random_(settings.seed, stream), distance_(mean_ps) {
            if (settings.arrivals == EdfrArrivals::Constant) time_ = random_.uniform() * distance_ - distance_;
            if (bursts()) {
                const double period = settings.burst_ps + settings.pause_ps;
                distance_ *= settings.burst_ps / period;
                if (random_.uniform() * period >= settings.burst_ps) time_ = length(settings.pause_ps);
                end_ = time_ + length(settings.burst_ps);
            }
        }

        double next() {
            time_ += settings_->arrivals == EdfrArrivals::Constant ? distance_ : random_.exponential(distance_);
            // What is left of a distance at the end of a burst goes on in the next one, so the mean rate is kept.
            while (bursts() && time_ > end_) {
                const double left = time_ - end_;
                const double begin = end_ + length(settings_->pause_ps);
                time_ = begin + left;
                end_ = begin + length(settings_->burst_ps);
            }
            return time_;
        }

      private:
        bool bursts() const { return settings_->arrivals == EdfrArrivals::OnOff || settings_->arrivals == EdfrArrivals::Pareto; }
        double length(double mean) {
            return settings_->arrivals == EdfrArrivals::OnOff ? random_.exponential(mean) : random_.pareto(mean, settings_->shape);
        }

        const EdfrTrafficSettings* settings_;
        EdfrRandom random_;
        double distance_;  // of two packets, within a burst
        double time_ = 0;
        double end_ = 0;  // of the burst
    };

    struct Next {
        double time;
        uint32_t source;
    };
    static bool later(const Next& a, const Next& b) { return a.time != b.time ? a.time > b.time : a.source > b.source; }

    static uint32_t place(const std::vector<double>& up_to, double value) {
        const auto found = std::upper_bound(up_to.begin(), up_to.end() - 1, value);
        return static_cast<uint32_t>(found - up_to.begin());
    }

    uint32_t size() {
        if (settings_.sizes.size() == 1) return settings_.sizes.front().first;
        if (!settings_.sizes.empty()) return settings_.sizes[place(size_up_to_, random_.uniform())].first;
        const double bytes = std::ceil(random_.exponential(settings_.exponential_bytes));
        return static_cast<uint32_t>(std::clamp(bytes, 1.0, static_cast<double>(DeadlineLink::kMaxBytes)));
    }

    void check() const {
        const auto refuse = [](const std::string& words) { throw std::invalid_argument(words); };
        if (settings_.deadlines.empty() || settings_.deadlines.size() != settings_.shares.size())
            refuse("traffic has one class at least, and a share for each");
        for (const double share : settings_.shares)
            if (!(share > 0)) refuse("the share of a class is above 0");
        for (const auto& [size, often] : settings_.sizes)
            if (!(often > 0) || !size) refuse("a size has bytes and a weight above 0");
        if (settings_.sizes.empty() && !(settings_.exponential_bytes >= 1)) refuse("traffic has sizes, or a mean of at least one byte");
        if (!(settings_.load > 0) || !(settings_.load <= 100)) refuse("a load is above 0 and at most 100");
        const bool bursts = settings_.arrivals == EdfrArrivals::OnOff || settings_.arrivals == EdfrArrivals::Pareto;
        if (bursts && !(settings_.burst_ps > 0 && settings_.pause_ps >= 0)) refuse("bursts are longer than 0, pauses not shorter");
        if (settings_.arrivals == EdfrArrivals::Pareto && !(settings_.shape > 1))
            refuse("a Pareto length has a mean: its shape is above 1");
    }

    const EdfrTrafficSettings settings_;
    EdfrRandom random_;  // sizes, and classes of a shared source
    std::vector<Source> sources_;
    std::vector<Next> order_;  // a heap, the next packet's source first
    std::vector<double> class_up_to_, size_up_to_;
    double mean_bytes_ = 0;
    uint64_t number_ = 0;
};

}  // namespace penstock
