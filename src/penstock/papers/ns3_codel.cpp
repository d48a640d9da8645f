// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// ns-3's CoDel behind ns-3's senders: a bottleneck of packets of 1,500 byte of IP, senders - router - sink. It prints a line for each
// packet that the bottleneck's link takes: time of arrival at the router's queue and time at which its transmission begins, in us; then
// "dropped by_codel queue_full".
// codel SENDERS COUNT PACKETS_PER_SECOND ROUND_TRIP_US LIMIT_PACKETS SECONDS SEED; SENDERS: TcpCubic, TcpBbr, or udp, where COUNT is
// thousandths of the link's rate.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <unordered_map>

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

using namespace ns3;

namespace {

constexpr int kIpBytes = 1500, kPppBytes = 2;
std::unordered_map<std::uint64_t, std::int64_t> came;  // ns, by the packet's number
std::uint64_t by_codel = 0, full = 0;

void comes(Ptr<const QueueDiscItem> item) { came[item->GetPacket()->GetUid()] = Simulator::Now().GetNanoSeconds(); }
void begins(Ptr<const Packet> packet) {
    const auto found = came.find(packet->GetUid());
    if (found == came.end()) return;
    std::printf("%.3f %.3f\n", static_cast<double>(found->second) / 1e3, static_cast<double>(Simulator::Now().GetNanoSeconds()) / 1e3);
    came.erase(found);
}
void drops(Ptr<const QueueDiscItem> item, const char*) { came.erase(item->GetPacket()->GetUid()), ++by_codel; }
void overflows(Ptr<const QueueDiscItem> item, const char*) { came.erase(item->GetPacket()->GetUid()), ++full; }

}  // namespace

int main(int count, char** given) {
    if (count != 8) return 2;
    const std::string senders = given[1], limit = std::string(given[5]) + "p";
    const bool udp = senders == "udp";
    const int number = std::atoi(given[2]), flows = udp ? 1 : number;
    const double pace = std::atof(given[3]), trip = std::atof(given[4]) / 1e6, seconds = std::atof(given[6]);
    RngSeedManager::SetSeed(1);
    RngSeedManager::SetRun(std::strtoul(given[7], nullptr, 10));
    if (!udp) Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TypeId::LookupByName("ns3::" + senders)));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(TypeId::LookupByName("ns3::TcpPrrRecovery")));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(kIpBytes - 40));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(40)));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(4'000'000));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(4'000'000));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpCubic::HyStart", BooleanValue(true));

    NodeContainer hosts, middle;
    hosts.Create(flows);
    middle.Create(2);  // router, sink
    InternetStackHelper stack;
    stack.Install(hosts);
    stack.Install(middle);
    PointToPointHelper access, narrow;
    access.SetDeviceAttribute("DataRate", StringValue("1Gbps"));
    access.SetChannelAttribute("Delay", StringValue("1us"));
    access.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("100000p"));
    narrow.SetDeviceAttribute("DataRate", DataRateValue(DataRate(static_cast<std::uint64_t>(pace * 8 * (kIpBytes + kPppBytes)))));
    narrow.SetChannelAttribute("Delay", TimeValue(Seconds(trip / 2 - 1e-6)));
    narrow.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1p"));  // packets wait in CoDel's queue, and one for the link
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    const NetDeviceContainer link = narrow.Install(middle);
    TrafficControlHelper control;
    control.SetRootQueueDisc("ns3::CoDelQueueDisc", "MaxSize", StringValue(limit), "Target", StringValue("5ms"), "Interval",
                             StringValue("100ms"), "MinBytes", UintegerValue(kIpBytes));
    const QueueDiscContainer codel = control.Install(link.Get(0));
    const Ipv4InterfaceContainer ends = addresses.Assign(link);
    for (int flow = 0; flow < flows; ++flow) {
        addresses.NewNetwork();
        addresses.Assign(access.Install(hosts.Get(flow), middle.Get(0)));
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    const Address target = InetSocketAddress(ends.GetAddress(1), 9);
    PacketSinkHelper sink(udp ? "ns3::UdpSocketFactory" : "ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), 9));
    sink.Install(middle.Get(1)).Start(Seconds(0));
    if (udp) {
        UdpClientHelper steady(target);
        steady.SetAttribute("MaxPackets", UintegerValue(0));
        steady.SetAttribute("Interval", TimeValue(Seconds(1e3 / (number * pace))));
        steady.SetAttribute("PacketSize", UintegerValue(kIpBytes - 28));
        steady.Install(hosts.Get(0)).Start(Seconds(0));
    } else {
        Ptr<UniformRandomVariable> start = CreateObject<UniformRandomVariable>();
        for (int flow = 0; flow < flows; ++flow) {
            BulkSendHelper bulk("ns3::TcpSocketFactory", target);
            bulk.SetAttribute("SendSize", UintegerValue(kIpBytes - 40));
            bulk.Install(hosts.Get(flow)).Start(Seconds(start->GetValue(0, trip)));
        }
    }
    const Ptr<QueueDisc> queue = codel.Get(0);
    queue->TraceConnectWithoutContext("Enqueue", MakeCallback(&comes));
    queue->TraceConnectWithoutContext("DropAfterDequeue", MakeCallback(&drops));
    queue->TraceConnectWithoutContext("DropBeforeEnqueue", MakeCallback(&overflows));
    link.Get(0)->TraceConnectWithoutContext("PhyTxBegin", MakeCallback(&begins));
    Simulator::Stop(Seconds(seconds));
    Simulator::Run();
    std::printf("dropped %llu %llu\n", static_cast<unsigned long long>(by_codel), static_cast<unsigned long long>(full));
    Simulator::Destroy();
}
