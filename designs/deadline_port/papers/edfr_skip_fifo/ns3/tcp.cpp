// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Section IV of the paper in ns-3: TCP through a link whose queue is one of queues.hpp.
//
// A dumbbell of 1 Gbit/s links (--rate): senders - router - router - receivers; data goes one way, the queue in question is before the
// link between the routers. --experiment:
//   long    two groups of 3 x 3 connections without end, one way delays of the TCP evaluation suite
//   http    the same pairs, --users users of each load web pages
//   second  two connections, the second starts at --second-start; until it has delivered --bytes
// Lines on standard output, by their first word (times in s, classes and flows from 0, numbers since the last such line):
//   rtt TIME FLOW SMOOTHED_US LINK_US         each second
//   flow TIME FLOW DELIVERED_BYTES            each second; since the start
//   port TIME CLASS CAME CAME_BYTES SENT SENT_BYTES DROPPED DROPPED_BYTES   each second
//   wait CLASS MS PACKETS                     from --from on: packets sent that have waited so long, rounded down
//   longest CLASS NS                          from --from on
//   pages CLASS PAGES BYTES SECONDS           from --from on
//   grown FLOW BYTES SECONDS                  since the flow's start
//   end
// --trace=FILE: `a NUMBER CLASS BYTES NS`, `s NUMBER NS`, `d NUMBER NS` for each packet that comes, is sent, is dropped.
#include <array>
#include <cstdio>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <unordered_map>

#include "deadline_disc.hpp"
#include "ns3/point-to-point-module.h"
#include "sent_segments.hpp"
#include "traffic.hpp"

using namespace ns3;
using namespace edfr;

namespace {

constexpr std::array<double, 3> kLeftMs = {0, 12, 25}, kRightMs = {2, 37, 75};  // TCP evaluation suite, one way
constexpr std::size_t kClasses = 2;
constexpr std::uint32_t kUsualMtu = 1500, kTcpBytes = 52;  // IP and TCP with time stamps

struct Settings {
    std::string experiment = "long", scheduler = "skip", deadlines = "100,100", algorithm = "TcpCubic", trace, progress;
    double rate = 1e9, seconds = 10, from = 5, second_start = 100, fifo_ms = 100, round_trip_ms = 80;
    std::uint64_t bytes = 1'500'000'000;
    std::uint32_t users = 10, seed = 1, tick = 12207, depth = 1u << 14, buffer = 64'000'000;
    std::uint64_t clock_hz = 300'000'000;
    std::uint32_t classes = 3, chunks = 1u << 18, places = 8, tick_cycles = 3662, stamps = 16386, max_frame = 9600;
};

struct Counts {
    std::uint64_t came = 0, came_bytes = 0, sent = 0, sent_bytes = 0, dropped = 0, dropped_bytes = 0;
};

// What is counted at the port.
class Watch {
  public:
    Watch(Ptr<DeadlineDisc> port, Time from, const std::string& trace) : from_(from) {
        if (!trace.empty()) trace_ = std::fopen(trace.c_str(), "w");
        using Seen = Callback<void, Ptr<const QueueDiscItem>>;
        using Dropped = Callback<void, Ptr<const QueueDiscItem>, const char*>;
        port->TraceConnectWithoutContext("Enqueue", Seen([this](Ptr<const QueueDiscItem> item) { comes(item); }));
        port->TraceConnectWithoutContext("DropBeforeEnqueue", Dropped([this](Ptr<const QueueDiscItem> item, const char*) {
                                             comes(item);
                                             drops(item);
                                         }));
        port->TraceConnectWithoutContext("DropAfterDequeue", Dropped([this](Ptr<const QueueDiscItem> item, const char*) { drops(item); }));
        port->sends = [this](const Item& item) { sends(item); };
    }
    ~Watch() {
        if (trace_) std::fclose(trace_);
    }

    void tell(double time) {
        for (std::size_t own = 0; own < kClasses; ++own) {
            const Counts& c = counts_[own];
            std::printf("port %g %zu %llu %llu %llu %llu %llu %llu\n", time, own, (unsigned long long)c.came,
                        (unsigned long long)c.came_bytes, (unsigned long long)c.sent, (unsigned long long)c.sent_bytes,
                        (unsigned long long)c.dropped, (unsigned long long)c.dropped_bytes);
            counts_[own] = {};
        }
    }
    void tell_waits() const {
        for (std::size_t own = 0; own < kClasses; ++own) {
            for (std::size_t ms = 0; ms < waits_[own].size(); ++ms)
                if (waits_[own][ms]) std::printf("wait %zu %zu %llu\n", own, ms, (unsigned long long)waits_[own][ms]);
            std::printf("longest %zu %lld\n", own, (long long)longest_[own]);
        }
    }

  private:
    struct Waiting {
        std::uint64_t number;
        std::int64_t since;
    };

    void comes(Ptr<const QueueDiscItem> item) {
        const std::uint32_t own = class_of(item);
        const std::int64_t now = Simulator::Now().GetNanoSeconds();
        waiting_[PeekPointer(item)] = {number_, now};
        ++counts_.at(own).came, counts_[own].came_bytes += item->GetSize();
        if (trace_) std::fprintf(trace_, "a %llu %u %u %lld\n", (unsigned long long)number_, own, item->GetSize(), (long long)now);
        ++number_;
    }
    void sends(const Item& item) {
        const std::uint32_t own = class_of(item);
        const Waiting was = leaves(item, 's');
        ++counts_[own].sent, counts_[own].sent_bytes += item->GetSize();
        if (Simulator::Now() < from_) return;
        const std::int64_t waited = Simulator::Now().GetNanoSeconds() - was.since;
        const std::size_t ms = static_cast<std::size_t>(waited / 1'000'000);
        if (ms >= waits_[own].size()) waits_[own].resize(ms + 1);
        ++waits_[own][ms];
        longest_[own] = std::max(longest_[own], waited);
    }
    void drops(Ptr<const QueueDiscItem> item) {
        const std::uint32_t own = class_of(item);
        leaves(item, 'd');
        ++counts_[own].dropped, counts_[own].dropped_bytes += item->GetSize();
    }
    Waiting leaves(Ptr<const QueueDiscItem> item, char fate) {
        const auto found = waiting_.find(PeekPointer(item));
        const Waiting was = found->second;
        waiting_.erase(found);
        if (trace_)
            std::fprintf(trace_, "%c %llu %lld\n", fate, (unsigned long long)was.number, (long long)Simulator::Now().GetNanoSeconds());
        return was;
    }

    Time from_;
    std::FILE* trace_ = nullptr;
    std::uint64_t number_ = 0;
    std::unordered_map<const QueueDiscItem*, Waiting> waiting_;
    std::array<Counts, kClasses> counts_;
    std::array<std::vector<std::uint64_t>, kClasses> waits_;
    std::array<std::int64_t, kClasses> longest_{};
};

struct Flow {
    std::unique_ptr<Bulk> bulk;
    double link_ms;  // both ways
};

void configure(const Settings& s) {
    RngSeedManager::SetSeed(1);
    RngSeedManager::SetRun(s.seed);
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TypeId::LookupByName("ns3::" + s.algorithm)));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(TypeId::LookupByName("ns3::TcpPrrRecovery")));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(segment));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(40)));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(s.buffer));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(s.buffer));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpSocketBase::MaxSegLifetime", DoubleValue(0.05));  // closed connections are forgotten soon
    Config::SetDefault("ns3::TcpCubic::HyStart", BooleanValue(true));
}

}  // namespace

int main(int count, char** given) {
    Settings s;
    CommandLine line;
    line.AddValue("experiment", "long, http, second", s.experiment);
    line.AddValue("scheduler", "exact, skip, skip_unchecked, fifo, fifos", s.scheduler);
    line.AddValue("deadlines", "of both classes, ms", s.deadlines);
    line.AddValue("algorithm", "class of ns-3", s.algorithm);
    line.AddValue("rate", "of all links, bit/s", s.rate);
    line.AddValue("seconds", "of the run, at most", s.seconds);
    line.AddValue("from", "moment from which delays count, s", s.from);
    line.AddValue("fifo", "size of a FIFO, ms of the link", s.fifo_ms);
    line.AddValue("rtt", "of both connections of `second`, ms", s.round_trip_ms);
    line.AddValue("second-start", "of the second connection, s", s.second_start);
    line.AddValue("bytes", "that the second connection delivers", s.bytes);
    line.AddValue("users", "of each pair of hosts", s.users);
    line.AddValue("seed", "", s.seed);
    line.AddValue("tick", "of skip-FIFOs, ns", s.tick);
    line.AddValue("depth", "time stamps of a skip-FIFO", s.depth);
    line.AddValue("clock", "of the port, Hz", s.clock_hz);
    line.AddValue("classes", "of the port", s.classes);
    line.AddValue("chunks", "of the port's memory", s.chunks);
    line.AddValue("places", "chunks of a class that the port fetches ahead", s.places);
    line.AddValue("tick-cycles", "between two time stamps of the port", s.tick_cycles);
    line.AddValue("stamps", "of a class of the port", s.stamps);
    line.AddValue("max-frame", "longest frame that the port takes, bytes", s.max_frame);
    line.AddValue("buffer", "of sockets, bytes", s.buffer);
    line.AddValue("segment", "payload of a packet, bytes", segment);
    line.AddValue("trace", "file", s.trace);
    line.AddValue("progress", "file that has the simulated seconds", s.progress);
    line.Parse(count, given);
    configure(s);

    std::array<double, kClasses> deadline_ms{};
    char comma = 0;
    std::istringstream(s.deadlines) >> deadline_ms[0] >> comma >> deadline_ms[1];
    QueueSettings queue_settings{
        s.scheduler, static_cast<std::uint64_t>(s.rate), {}, static_cast<std::uint64_t>(s.fifo_ms / 1e3 * s.rate / 8), s.tick, s.depth, {}};
    for (const double ms : deadline_ms) queue_settings.deadlines.push_back(static_cast<std::int64_t>(ms * 1e6));
    queue_settings.port.clock_hz = s.clock_hz;
    auto& device = queue_settings.port.device;
    device.classes = s.classes;
    device.chunks = s.chunks;
    device.places = s.places;
    device.tick_cycles = s.tick_cycles;
    device.stamps = s.stamps;
    device.max_frame_bytes = s.max_frame;
    auto queue = make_queue(queue_settings);
    if (!queue) return 2;
    const Ptr<HeldPackets> held = CreateObject<HeldPackets>(std::move(queue));
    const Ptr<DeadlineDisc> port = CreateObject<DeadlineDisc>(held);
    const bool second = s.experiment == "second";
    if (comma != ',' || deadline_ms[0] < 0 || deadline_ms[1] < 0 || !(second || s.experiment == "long" || s.experiment == "http")) return 2;

    // Hosts: of each class three on each side, or one.
    const std::size_t side = second ? 1 : 3;
    NodeContainer routers, left, right;
    routers.Create(2);
    left.Create(kClasses * side);
    right.Create(kClasses * side);
    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    for (const auto* nodes : {&routers, &left, &right}) stack.Install(*nodes);
    const DataRateValue rate(DataRate(static_cast<std::uint64_t>(s.rate)));
    const UintegerValue longest(std::max(kUsualMtu, segment + kTcpBytes));
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", rate);
    link.SetDeviceAttribute("Mtu", longest);
    link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1p"));  // what waits is in the port, but for a packet ahead of the link
    const NetDeviceContainer middle = link.Install(routers);
    const Ptr<QueueDisc> back = CreateObjectWithAttributes<FifoQueueDisc>("MaxSize", QueueSizeValue(QueueSize("1000000p")));
    for (std::uint32_t number = 0; number < 2; ++number)
        routers.Get(number)->GetObject<TrafficControlLayer>()->SetRootQueueDiscOnDevice(middle.Get(number),
                                                                                        number ? back : Ptr<QueueDisc>(port));
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    addresses.Assign(middle);
    Ipv4StaticRoutingHelper routing;
    std::vector<Ipv4Address> left_address, right_address;
    const auto attach = [&](NodeContainer& hosts, std::uint32_t number, std::uint32_t router, double one_way_ms) {
        PointToPointHelper access;
        access.SetDeviceAttribute("DataRate", rate);
        access.SetDeviceAttribute("Mtu", longest);
        access.SetChannelAttribute("Delay", TimeValue(Seconds(one_way_ms / 1e3)));
        access.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1000000p"));
        access.DisableFlowControl();
        addresses.NewNetwork();
        const Ipv4InterfaceContainer ends = addresses.Assign(access.Install(hosts.Get(number), routers.Get(router)));
        routing.GetStaticRouting(hosts.Get(number)->GetObject<Ipv4>())->SetDefaultRoute(ends.GetAddress(1), 1);
        return ends.GetAddress(0);
    };
    const auto delay = [&](const std::array<double, 3>& delays, std::uint32_t number) {
        return second ? s.round_trip_ms / 4 : delays[number % side];
    };
    for (std::uint32_t number = 0; number < left.GetN(); ++number) left_address.push_back(attach(left, number, 0, delay(kLeftMs, number)));
    for (std::uint32_t number = 0; number < right.GetN(); ++number)
        right_address.push_back(attach(right, number, 1, delay(kRightMs, number)));
    for (std::uint32_t number = 0; number < 2; ++number) {
        const Ptr<Ipv4> other = routers.Get(1 - number)->GetObject<Ipv4>();
        routing.GetStaticRouting(routers.Get(number)->GetObject<Ipv4>())->SetDefaultRoute(other->GetAddress(1, 0).GetLocal(), 1);
    }

    const Ptr<UniformRandomVariable> random = CreateObject<UniformRandomVariable>();
    std::vector<Flow> flows;
    std::vector<std::unique_ptr<WebUser>> users;
    std::array<PageCounts, kClasses> pages;
    Pages sizes(1000);
    const auto tos = [](std::size_t own) { return static_cast<std::uint8_t>(own << 2); };
    const Time from = Seconds(s.from);
    for (std::size_t own = 0; own < kClasses; ++own)
        for (std::size_t a = own * side; a < (own + 1) * side; ++a) {
            for (std::size_t b = own * side; b < (own + 1) * side; ++b) {
                if (s.experiment == "http") {
                    for (std::uint32_t user = 0; user < s.users; ++user)
                        users.push_back(std::make_unique<WebUser>(right.Get(b), left.Get(a), left_address[a],
                                                                  static_cast<std::uint16_t>(1000 + users.size()), tos(own), sizes,
                                                                  pages[own], from, Seconds(random->GetValue(0, 2))));
                    continue;
                }
                const double start = random->GetValue(0, 1) + (second && own ? s.second_start : 0);
                const std::uint16_t number = static_cast<std::uint16_t>(1000 + flows.size());
                const double link_ms = 2 * (delay(kLeftMs, a) + delay(kRightMs, b));
                flows.push_back(
                    {std::make_unique<Bulk>(left.Get(a), right.Get(b), right_address[b], number, tos(own), Seconds(start)), link_ms});
            }
        }
    if (second)
        for (std::size_t number = 0; number < flows.size(); ++number) {
            Bulk& bulk = *flows[number].bulk;
            const std::uint64_t step = std::max<std::uint64_t>(1, s.bytes / 60);
            bulk.grows = [&bulk, &s, number, step, next = step]() mutable {
                while (next <= s.bytes && bulk.delivered >= next) {
                    const double taken = (Simulator::Now() - bulk.start()).GetSeconds();
                    std::printf("grown %zu %llu %.6f\n", number, (unsigned long long)next, taken);
                    if (next == s.bytes && number) Simulator::Stop();
                    next = next < s.bytes ? std::min(next + step, s.bytes) : s.bytes + 1;
                }
            };
        }

    Watch watch(port, from, s.trace);
    std::function<void()> tell = [&] {
        const double time = Simulator::Now().GetSeconds();
        for (std::size_t number = 0; number < flows.size(); ++number) {
            const Flow& flow = flows[number];
            std::printf("flow %g %zu %llu\n", time, number, (unsigned long long)flow.bulk->delivered);
            if (flow.bulk->smoothed.IsZero()) continue;
            std::printf("rtt %g %zu %lld %.0f\n", time, number, (long long)flow.bulk->smoothed.GetMicroSeconds(), 1e3 * flow.link_ms);
        }
        watch.tell(time);
        std::fflush(stdout);
        if (!s.progress.empty()) std::ofstream(s.progress, std::ios::trunc) << time;
        Simulator::Schedule(Seconds(1), tell);
    };
    Simulator::Schedule(Seconds(1), tell);
    Simulator::Stop(Seconds(s.seconds) + NanoSeconds(1));  // so that the last second is told
    Simulator::Run();
    watch.tell_waits();
    if (s.experiment == "http")
        for (std::size_t own = 0; own < kClasses; ++own)
            std::printf("pages %zu %llu %llu %.6f\n", own, (unsigned long long)pages[own].pages, (unsigned long long)pages[own].bytes,
                        pages[own].seconds);
    std::printf("end %s\n", port->queue().facts().c_str());
    std::fflush(stdout);
    Simulator::Destroy();
}
