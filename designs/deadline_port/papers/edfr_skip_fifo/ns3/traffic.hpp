// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Senders of the paper's section IV on ns-3's sockets: bulk transfers, and users that load web pages of the 3GPP2 model.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <utility>

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"

namespace edfr {

using namespace ns3;

inline std::uint32_t segment = 1448;  // bytes of payload; what is handed over in such pieces ns-3 has not to cut or to join

// Take all that has come; returns how many bytes that was.
inline std::uint64_t taken_from(Ptr<Socket> socket) {
    std::uint64_t bytes = 0;
    while (const Ptr<Packet> packet = socket->Recv(segment, 0)) bytes += packet->GetSize();
    return bytes;
}

inline Ptr<Socket> tcp_socket(Ptr<Node> node) { return Socket::CreateSocket(node, TcpSocketFactory::GetTypeId()); }

// A connection that always has something to send, from its start to the end of the run.
class Bulk {
  public:
    Bulk(Ptr<Node> from, Ptr<Node> to, Ipv4Address address, std::uint16_t port, std::uint8_t tos, Time start) : start_(start) {
        listener_ = tcp_socket(to);
        listener_->Bind(InetSocketAddress(Ipv4Address::GetAny(), port));
        listener_->Listen();
        listener_->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                                     Callback<void, Ptr<Socket>, const Address&>([this](Ptr<Socket> taken, const Address&) {
                                         receiver_ = taken;
                                         taken->SetRecvCallback(Callback<void, Ptr<Socket>>([this](Ptr<Socket> own) { receive(own); }));
                                     }));
        sender_ = tcp_socket(from);
        sender_->SetIpTos(tos);
        sender_->Bind();
        sender_->SetSendCallback(Callback<void, Ptr<Socket>, std::uint32_t>([this](Ptr<Socket>, std::uint32_t) { fill(); }));
        sender_->SetConnectCallback(Callback<void, Ptr<Socket>>([this](Ptr<Socket>) { fill(); }), MakeNullCallback<void, Ptr<Socket>>());
        sender_->TraceConnectWithoutContext("RTT", Callback<void, Time, Time>([this](Time, Time now) { smoothed = now; }));
        Simulator::Schedule(start, [this, address, port] { sender_->Connect(InetSocketAddress(address, port)); });
    }

    Time start() const { return start_; }
    std::uint64_t delivered = 0;  // bytes that the receiving application has got
    Time smoothed;                // round trip time as the sender's TCP has it; 0: none yet
    std::function<void()> grows;  // called when more has been delivered

  private:
    void fill() {
        while (sender_->GetTxAvailable() >= segment)
            if (sender_->Send(Create<Packet>(segment)) <= 0) return;
    }
    void receive(Ptr<Socket> own) {
        delivered += taken_from(own);
        if (grows) grows();
    }

    Time start_;
    Ptr<Socket> listener_, receiver_, sender_;
};

// Sizes and times of web pages: 3GPP2 C.R1002-A, HTTP model. Lognormal objects and Pareto numbers of embedded ones, truncated by drawing
// again; parsing takes an exponential time.
class Pages {
  public:
    explicit Pages(std::int64_t stream) {
        for (auto* own : {static_cast<RandomVariableStream*>(&*normal_), static_cast<RandomVariableStream*>(&*uniform_)})
            own->SetStream(stream++);
    }
    std::uint32_t main_object() { return lognormal(8.35, 1.37, 100, 2'000'000); }     // mean 10,710 byte
    std::uint32_t embedded_object() { return lognormal(6.17, 2.36, 50, 2'000'000); }  // mean 7,758 byte
    std::uint32_t embedded() {                                                        // 0 to 53, mean 5.64
        const double drawn = 2.0 / std::pow(1 - uniform_->GetValue(0, 1), 1 / 1.1);
        return static_cast<std::uint32_t>(std::min(drawn, 55.0) - 2.0);
    }
    Time parsing() { return Seconds(-0.13 * std::log(1 - uniform_->GetValue(0, 1))); }

    static constexpr std::uint32_t kRequest = 350;  // bytes

  private:
    std::uint32_t lognormal(double mu, double sigma, double least, double most) {
        while (true) {
            const double drawn = std::exp(mu + sigma * normal_->GetValue(0, 1));
            if (drawn >= least && drawn <= most) return static_cast<std::uint32_t>(drawn);
        }
    }
    Ptr<NormalRandomVariable> normal_ = CreateObject<NormalRandomVariable>();
    Ptr<UniformRandomVariable> uniform_ = CreateObject<UniformRandomVariable>();
};

struct PageCounts {
    std::uint64_t pages = 0, bytes = 0;
    double seconds = 0;  // of all pages, from the request to the last byte
};

// Loads one page after the other by one connection that stays open: the main object, then, when it is parsed, all that is embedded in it,
// asked for at once. Both ends are in one program: the user tells its server's end what to answer, and requests are bytes to be counted.
class WebUser {
  public:
    WebUser(Ptr<Node> node, Ptr<Node> server, Ipv4Address address, std::uint16_t port, std::uint8_t tos, Pages& pages, PageCounts& counts,
            Time from, Time start)
        : pages_(pages), counts_(counts), from_(from) {
        listener_ = tcp_socket(server);
        listener_->SetIpTos(tos);
        listener_->Bind(InetSocketAddress(Ipv4Address::GetAny(), port));
        listener_->Listen();
        listener_->SetAcceptCallback(
            MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
            Callback<void, Ptr<Socket>, const Address&>([this, tos](Ptr<Socket> taken, const Address&) {
                answers_ = taken;
                taken->SetIpTos(tos);
                taken->SetRecvCallback(Callback<void, Ptr<Socket>>([this](Ptr<Socket>) { asked(); }));
                taken->SetSendCallback(Callback<void, Ptr<Socket>, std::uint32_t>([this](Ptr<Socket>, std::uint32_t) { answer(); }));
            }));
        asks_ = tcp_socket(node);
        asks_->Bind();
        asks_->SetRecvCallback(Callback<void, Ptr<Socket>>([this](Ptr<Socket>) { receive(); }));
        asks_->SetConnectCallback(Callback<void, Ptr<Socket>>([this](Ptr<Socket>) { begin(); }), MakeNullCallback<void, Ptr<Socket>>());
        Simulator::Schedule(start, [this, address, port] { asks_->Connect(InetSocketAddress(address, port)); });
    }

  private:
    void begin() {
        began_ = Simulator::Now();
        loaded_ = 0;
        parsed_ = false;
        ask(1, pages_.main_object());
    }
    void ask(std::uint32_t requests, std::uint64_t bytes) {
        expects_ = requests * Pages::kRequest;
        left_ = promised_ = bytes;
        loaded_ += bytes;
        for (std::uint32_t sent = 0; sent < requests; ++sent) asks_->Send(Create<Packet>(Pages::kRequest));
    }
    void asked() {
        requested_ += taken_from(answers_);
        if (requested_ < expects_) return;
        requested_ = expects_ = 0;
        to_send_ += std::exchange(promised_, 0);
        answer();
    }
    void answer() {
        while (to_send_ && answers_->GetTxAvailable()) {
            const std::uint64_t piece = std::min<std::uint64_t>({to_send_, answers_->GetTxAvailable(), segment});
            const int sent = answers_->Send(Create<Packet>(static_cast<std::uint32_t>(piece)));
            if (sent <= 0) return;
            to_send_ -= static_cast<std::uint64_t>(sent);
        }
    }
    void receive() {
        left_ -= std::min(left_, taken_from(asks_));
        if (left_) return;
        if (!parsed_) {
            parsed_ = true;
            const std::uint32_t embedded = pages_.embedded();
            std::uint64_t bytes = 0;
            for (std::uint32_t number = 0; number < embedded; ++number) bytes += pages_.embedded_object();
            if (embedded) {
                Simulator::Schedule(pages_.parsing(), [this, embedded, bytes] { ask(embedded, bytes); });
                return;
            }
        }
        if (began_ >= from_) {
            ++counts_.pages;
            counts_.bytes += loaded_;
            counts_.seconds += (Simulator::Now() - began_).GetSeconds();
        }
        Simulator::Schedule(pages_.parsing(), [this] { begin(); });
    }

    Pages& pages_;
    PageCounts& counts_;
    Time from_, began_;
    Ptr<Socket> listener_, answers_, asks_;
    bool parsed_ = false;
    std::uint64_t expects_ = 0, requested_ = 0;            // bytes of requests
    std::uint64_t promised_ = 0, to_send_ = 0, left_ = 0;  // of the answer: not asked for yet, at the server, not received yet
    std::uint64_t loaded_ = 0;
};

}  // namespace edfr
