// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// ns-3's TCP on a plain tail-drop bottleneck, for a comparison: senders - router - sink. One line of JSON: throughput, queue, losses.
// bottleneck ALGORITHM FLOWS RATE_BPS ROUND_TRIP_MS LIMIT_PACKETS SECONDS WARM_UP_SECONDS RUN
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"

using namespace ns3;

namespace {

std::uint64_t enqueued = 0, dropped = 0, samples = 0, length = 0;
bool counting = false;

void count_in(Ptr<const Packet>) { enqueued += counting; }
void count_drop(Ptr<const Packet>) { dropped += counting; }
void look(Ptr<Queue<Packet>> queue) {
    if (counting) ++samples, length += queue->GetNPackets();
    Simulator::Schedule(MicroSeconds(500), &look, queue);
}

}  // namespace

int main(int count, char** given) {
    if (count != 9) return 2;
    const std::string algorithm = given[1];
    const int flows = std::atoi(given[2]);
    const double rate = std::atof(given[3]), trip = std::atof(given[4]), seconds = std::atof(given[6]), warm = std::atof(given[7]);
    RngSeedManager::SetRun(std::strtoul(given[8], nullptr, 10));
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TypeId::LookupByName("ns3::" + algorithm)));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(TypeId::LookupByName("ns3::TcpPrrRecovery")));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1460));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(40)));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(4'000'000));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(4'000'000));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(Seconds(1)));
    Config::SetDefault("ns3::TcpCubic::HyStart", BooleanValue(false));

    NodeContainer senders, middle;
    senders.Create(flows);
    middle.Create(2);  // router, sink
    InternetStackHelper stack;
    stack.Install(senders);
    stack.Install(middle);
    PointToPointHelper access, narrow;
    access.SetDeviceAttribute("DataRate", StringValue("1Gbps"));
    access.SetChannelAttribute("Delay", StringValue("1us"));
    access.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("100000p"));
    narrow.SetDeviceAttribute("DataRate", DataRateValue(DataRate(static_cast<std::uint64_t>(rate))));
    narrow.SetChannelAttribute("Delay", TimeValue(Seconds(trip / 2000 - 1e-6)));
    narrow.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue(std::string(given[5]) + "p"));
    access.DisableFlowControl();  // a full queue drops, and has no queueing discipline above it
    narrow.DisableFlowControl();
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    const NetDeviceContainer link = narrow.Install(middle);
    const Ipv4InterfaceContainer ends = addresses.Assign(link);
    for (int flow = 0; flow < flows; ++flow) {
        addresses.NewNetwork();
        const NetDeviceContainer devices = access.Install(senders.Get(flow), middle.Get(0));
        addresses.Assign(devices);
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 9));
    ApplicationContainer sinks = sink.Install(middle.Get(1));
    sinks.Start(Seconds(0));
    Ptr<UniformRandomVariable> start = CreateObject<UniformRandomVariable>();
    for (int flow = 0; flow < flows; ++flow) {
        BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(ends.GetAddress(1), 9));
        bulk.SetAttribute("SendSize", UintegerValue(1460));
        bulk.Install(senders.Get(flow)).Start(Seconds(start->GetValue(0, trip / 1000)));
    }
    const Ptr<Queue<Packet>> queue = DynamicCast<PointToPointNetDevice>(link.Get(0))->GetQueue();
    queue->TraceConnectWithoutContext("Enqueue", MakeCallback(&count_in));
    queue->TraceConnectWithoutContext("Drop", MakeCallback(&count_drop));
    Simulator::Schedule(Seconds(0), &look, queue);
    std::uint64_t before = 0;
    Simulator::Schedule(Seconds(warm), [&] {
        counting = true;
        before = DynamicCast<PacketSink>(sinks.Get(0))->GetTotalRx();
    });
    Simulator::Stop(Seconds(seconds));
    Simulator::Run();
    const std::uint64_t bytes = DynamicCast<PacketSink>(sinks.Get(0))->GetTotalRx() - before;
    std::printf("{\"goodput_bps\": %.1f, \"queue_packets\": %.3f, \"loss\": %.6f}\n", 8.0 * static_cast<double>(bytes) / (seconds - warm),
                samples ? static_cast<double>(length) / static_cast<double>(samples) : 0.0,
                enqueued + dropped ? static_cast<double>(dropped) / static_cast<double>(enqueued + dropped) : 0.0);
    Simulator::Destroy();
}
