// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// TCP connections around a device: senders at its inputs, receivers behind its outputs, and a delay. What the device drops never arrives;
// what it marks arrives marked. Acknowledgements pass no queue: they take half a round trip, always. The other half is from the frame's
// last bit at the output to the receiver.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "penstock/engine/measure.hpp"
#include "penstock/engine/tcp/receiver.hpp"
#include "penstock/engine/tcp/segment.hpp"
#include "penstock/engine/tcp/sender.hpp"
#include "penstock/engine/traffic.hpp"

namespace penstock::engine::tcp {

struct FlowSettings {
    SenderSettings sender;
    ReceiverSettings receiver;
    HeaderTemplate header;
    std::uint32_t queue = 0;
    unsigned input = 0;
    Time start = 0, stop = kNever;  // from `stop` on it stands still: nothing is sent, received or acknowledged
    Time round_trip = 0;            // without the device
    double cycles_per_byte = 0;     // of the line at the output
    std::uint32_t sequence = 0;     // initial sequence number
};

struct FlowCounts {
    std::uint64_t received = 0, marked = 0;  // segments that came to the receiver
    std::uint64_t dropped = 0;               // by the device
    std::uint64_t lost = 0;                  // in front of its input
    std::uint64_t unreadable = 0;            // whose headers or sums were wrong
    Time finished = -1;                      // when all was acknowledged
};

class Traffic final : public LiveSource, public FrameListener {
  public:
    static constexpr std::size_t kSeriesFlows = 32;

    // A row of the series each `interval` cycles (0: none), of the first kSeriesFlows flows, until cycle `end`: then all stops. Goodput is
    // measured from cycle `after` on.
    Traffic(const std::vector<FlowSettings>& flows, Time interval, Time end, Time after);

    Ready next(unsigned input, std::int64_t now, Ticks link_free) override;
    void take(unsigned input, Frame& frame) override;
    bool over() const override { return finished_ == flows_.size(); }

    void arrived(const Frame& frame) override;
    void left(const Frame& frame, std::int64_t last_bit, std::int64_t first_bit, bool mark, std::span<const std::uint8_t> bytes,
              unsigned output) override;
    void dropped(const Frame& frame, std::int64_t cycle, unsigned reason) override;

    // The run is over in cycle `now`.
    void finish(Time now);

    struct Flow {
        FlowSettings settings;
        Sender sender;
        Receiver receiver;
        FlowCounts counts;
        std::uint64_t delivered_before = 0;   // bytes in order at the receiver until the warm-up was over
        Time timer = kNever, delay = kNever;  // events that are under way
        explicit Flow(const FlowSettings& of) : settings(of), sender(of.sender), receiver(of.receiver) {}
    };
    struct Sample {
        std::uint64_t cwnd, flight, delivered;
        Time srtt;
    };
    const std::vector<Flow>& flows() const { return flows_; }
    const std::vector<Sample>& samples() const { return samples_; }  // [interval][flow]
    std::size_t series_flows() const { return std::min(flows_.size(), kSeriesFlows); }

  private:
    enum class What : std::uint8_t { Start, Segment, Acknowledgement, Timer, Delay };
    struct Event {
        Time at;
        std::uint32_t flow;
        What what;
        std::uint64_t number;  // in the order in which they were made
        std::uint64_t up_to = 0;
        SegmentHead head{};
        std::vector<Range> sacks{};
        bool ece = false;
        std::uint64_t ce_bytes = 0;
        bool operator>(const Event& other) const {
            return std::tuple(at, flow, what, number) > std::tuple(other.at, other.flow, other.what, other.number);
        }
    };
    struct Waiting {
        Time at;
        std::uint32_t flow;
        std::vector<std::uint8_t> bytes;
        Frame frame;
    };
    struct Sent {
        std::uint32_t flow;
        std::vector<std::uint8_t> bytes;
    };
    struct Input {
        std::deque<Waiting> waiting;
        std::deque<std::uint64_t> sent;  // numbers of frames that have not arrived
    };
    static constexpr std::size_t kKept = 64;  // more than a measurement remembers of those that left last

    void run(Time until);
    void handle(const Event& event);
    void send(std::uint32_t index, Time now);
    void acknowledge(std::uint32_t index, Time now);
    void push(Event event);
    void sample(Time until);
    void forget(std::unordered_map<std::uint64_t, Sent>::iterator at, bool left);
    // Of a 32-bit number of a connection, the place in its bytes that is nearest to `near`.
    static std::uint64_t unwrapped(std::uint32_t number, std::uint64_t near);

    // What happens from `now` on is behind the warm-up, if that is over then.
    void begin(Time now);

    std::vector<Flow> flows_;
    Time interval_, end_, after_, now_ = 0;
    bool is_warm_ = false;
    std::map<unsigned, Input> inputs_;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
    std::uint64_t made_ = 0;
    std::unordered_map<std::uint64_t, Sent> sent_;  // by the frame's number
    std::deque<Sent> left_, dropped_;               // the last ones
    std::vector<Sample> samples_;
    Time next_sample_;
    std::size_t finished_ = 0;
};

}  // namespace penstock::engine::tcp
