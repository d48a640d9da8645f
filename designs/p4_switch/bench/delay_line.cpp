// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "designs/p4_switch/bench/delay_line.hpp"

#include <linux/if_packet.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

namespace penstock::p4 {

namespace {

constexpr std::size_t kMostBytes = 65'600;  // of a frame, with its tags
constexpr int kAtOnce = 64;                 // frames that are read from one place before others have their turn
constexpr std::size_t kEthernet = 14, kTag = 4, kAddresses = 12;
constexpr std::size_t kTransportBytes = 48;  // that a digest looks at: TCP's header with time stamps, UDP's with 40 bytes behind it
constexpr std::int64_t kNap = 100'000'000;   // longest sleep

std::int64_t now_ns() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

unsigned word(std::span<const std::uint8_t> bytes, std::size_t at) { return bytes[at] << 8 | bytes[at + 1]; }

class Digest {
  public:
    void add(std::span<const std::uint8_t> bytes) {
        for (const std::uint8_t byte : bytes) value_ = (value_ ^ byte) * 0x100'0000'01b3;
    }
    std::uint64_t value() const {
        std::uint64_t x = value_;
        x = (x ^ (x >> 30)) * 0xbf58'476d'1ce4'e5b9;
        x = (x ^ (x >> 27)) * 0x94d0'49bb'1331'11eb;
        return x ^ (x >> 31);
    }

  private:
    std::uint64_t value_ = 0xcbf2'9ce4'8422'2325;
};

// Behind the network header: ports, and what is left of the digest.
void transport(std::span<const std::uint8_t> frame, std::size_t at, unsigned protocol, bool first, Seen& seen, Digest& digest) {
    const std::size_t some = seen.end > at ? std::min(seen.end - at, kTransportBytes) : 0;
    digest.add(frame.subspan(at, some));
    if (first && some >= 4 && (protocol == 6 || protocol == 17)) {
        seen.ports = true;
        std::copy_n(frame.begin() + at, 4, seen.ends.begin() + 33);
    }
}

}  // namespace

std::size_t EndsHash::operator()(const Ends& ends) const {
    Digest digest;
    digest.add(ends);
    return digest.value();
}

Ends turned(const Ends& ends) {
    Ends found = ends;
    std::copy_n(ends.begin() + 1, 16, found.begin() + 17);
    std::copy_n(ends.begin() + 17, 16, found.begin() + 1);
    std::copy_n(ends.begin() + 33, 2, found.begin() + 35);
    std::copy_n(ends.begin() + 35, 2, found.begin() + 33);
    return found;
}

Seen look_at_packet(std::span<const std::uint8_t> frame, std::size_t network) {
    Seen seen;
    Digest digest;
    seen.network = network;
    const auto ip = frame.subspan(std::min(network, frame.size()));
    const unsigned version = ip.empty() ? 0 : ip[0] >> 4;
    if (version == 4 && ip.size() >= 20) {
        const std::size_t header = 4 * (ip[0] & 15u), total = word(ip, 2);
        seen.ip = header >= 20 && total >= header && total <= ip.size();
        if (seen.ip) {
            seen.end = network + total;
            seen.ends[0] = 4;
            std::copy_n(ip.begin() + 12, 4, seen.ends.begin() + 1);
            std::copy_n(ip.begin() + 16, 4, seen.ends.begin() + 17);
            digest.add(ip.subspan(2, 6));   // length, identification, fragment
            digest.add(ip.subspan(9, 1));   // protocol
            digest.add(ip.subspan(12, 8));  // addresses
            transport(frame, network + header, ip[9], (word(ip, 6) & 0x1fff) == 0, seen, digest);
        }
    } else if (version == 6 && ip.size() >= 40) {
        const std::size_t total = 40 + word(ip, 4);
        seen.ip = total <= ip.size();
        if (seen.ip) {
            seen.end = network + total;
            seen.ends[0] = 6;
            std::copy_n(ip.begin() + 8, 32, seen.ends.begin() + 1);
            digest.add(ip.subspan(4, 3));
            digest.add(ip.subspan(8, 32));
            transport(frame, network + 40, ip[6], true, seen, digest);
        }
    }
    if (!seen.ip)
        digest.add(frame.subspan(std::min(kAddresses, frame.size()),
                                 std::min(frame.size() - std::min(kAddresses, frame.size()), std::size_t{64})));
    seen.digest = digest.value();
    return seen;
}

Seen look_at(std::span<const std::uint8_t> frame) {
    std::size_t at = kAddresses;
    for (int tags = 0; tags < 2 && at + 2 + kTag <= frame.size() && (word(frame, at) == 0x8100 || word(frame, at) == 0x88a8); ++tags)
        at += kTag;
    const unsigned type = at + 2 <= frame.size() ? word(frame, at) : 0;
    return look_at_packet(frame, type == 0x0800 || type == 0x86dd ? at + 2 : frame.size());
}

DelayLine::DelayLine(LineSettings settings, std::vector<Connection> connections, std::vector<Planned> plan,
                     std::vector<std::uint8_t> fronts, std::uint64_t seed)
    : settings_(std::move(settings)),
      connections_(std::move(connections)),
      plan_(std::move(plan)),
      fronts_(std::move(fronts)),
      random_(seed),
      free_(settings_.ports.size(), 0),
      buffer_(kMostBytes) {
    for (std::size_t number = 0; number < connections_.size(); ++number) by_ends_[connections_[number].ends] = number;
}

std::uint64_t DelayLine::random() {  // splitmix64
    std::uint64_t x = random_ += 0x9e37'79b9'7f4a'7c15;
    x = (x ^ (x >> 30)) * 0xbf58'476d'1ce4'e5b9;
    x = (x ^ (x >> 27)) * 0x94d0'49bb'1331'11eb;
    return x ^ (x >> 31);
}

std::size_t DelayLine::slot() {
    if (unused_.empty()) {
        slots_.emplace_back();
        return slots_.size() - 1;
    }
    const std::size_t found = unused_.back();
    unused_.pop_back();
    return found;
}

void DelayLine::wait(std::int64_t at, std::size_t slot) { due_.push({at, order_++, slot}); }

// When the last bit of a frame that comes now is at the switch: frames of an input go one after the other.
std::int64_t DelayLine::on_the_line(std::uint32_t input, std::int64_t now, std::size_t bytes) {
    const auto bits = 8 * (static_cast<std::int64_t>(bytes) + settings_.overhead_bytes);
    const auto each = static_cast<std::int64_t>(static_cast<double>(bits) * 1e9 / static_cast<double>(settings_.ingress_bps[input]));
    return free_[input] = std::max(now, free_[input]) + each;
}

void DelayLine::take_planned(std::int64_t now) {
    for (; next_ < plan_.size() && begin_ns_ + plan_[next_].at_ns <= now; ++next_) {
        const Planned& planned = plan_[next_];
        const std::size_t number = slot();
        Waiting& frame = slots_[number];
        frame.bytes.assign(fronts_.begin() + static_cast<std::ptrdiff_t>(planned.front),
                           fronts_.begin() + static_cast<std::ptrdiff_t>(planned.front + planned.front_bytes));
        frame.bytes.resize(planned.length);
        if (planned.random)
            for (std::size_t at = planned.front_bytes; at < planned.length; at += 8) {
                const std::uint64_t value = random();
                std::memcpy(frame.bytes.data() + at, &value, std::min<std::size_t>(8, planned.length - at));
            }
        if (planned.sum_at != 0) {  // ones' complement (RFC 1071); the pseudo header's sum stands there already
            std::uint64_t sum = 0;
            for (std::size_t at = planned.sum_from; at < planned.length; at += 2)
                sum += frame.bytes[at] << 8 | (at + 1 < planned.length ? frame.bytes[at + 1] : 0);
            while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
            sum = sum == 0xffff ? 0xffff : 0xffff ^ sum;
            frame.bytes[planned.sum_at] = static_cast<std::uint8_t>(sum >> 8);
            frame.bytes[planned.sum_at + 1u] = static_cast<std::uint8_t>(sum);
        }
        frame.digest = look_at(frame.bytes).digest;
        frame.flow = planned.flow;
        frame.port = static_cast<std::uint16_t>(planned.input);
        frame.to = To::Switch;
        wait(on_the_line(planned.input, begin_ns_ + planned.at_ns, planned.length), number);
    }
}

void DelayLine::let_go(std::int64_t now) {
    while (!due_.empty() && due_.top().at <= now) {
        const Due due = due_.top();
        due_.pop();
        Waiting& frame = slots_[due.slot];
        const std::int64_t goes = now_ns();
        late_ns_.push_back(goes - due.at);
        if (frame.to == To::Switch) {
            if (const auto [place, fresh] = known_.insert_or_assign(frame.digest, frames_.in_ns.size()); !fresh) ++counts_.same;
            frames_.in_ns.push_back(goes);
            frames_.out_ns.push_back(-1);
            frames_.flow.push_back(frame.flow);
            frames_.length.push_back(static_cast<std::uint32_t>(frame.bytes.size()));
            frames_.out_length.push_back(0);
            frames_.input.push_back(frame.port);
            frames_.output.push_back(0);
            if (write(settings_.ports[frame.port], frame.bytes.data(), frame.bytes.size()) < 0) ++counts_.send_failures;
            if (frames_.in_ns.size() >= settings_.most_frames) counts_.too_many = true;
        } else if (write(frame.to == To::Sender ? settings_.senders : settings_.receivers, frame.bytes.data(), frame.bytes.size()) < 0) {
            ++counts_.host_failures;
        }
        unused_.push_back(due.slot);
    }
}

void DelayLine::from_senders(bool open) {
    for (int count = 0; count < kAtOnce; ++count) {
        const ssize_t size = read(settings_.senders, buffer_.data(), buffer_.size());
        if (size <= 0) return;
        if (!open) continue;
        const std::span<const std::uint8_t> packet(buffer_.data(), static_cast<std::size_t>(size));
        const Seen seen = look_at_packet(packet, 0);
        const auto found = seen.ports ? by_ends_.find(seen.ends) : by_ends_.end();
        if (found == by_ends_.end()) {
            ++counts_.others;
            continue;
        }
        const Connection& connection = connections_[found->second];
        const std::size_t number = slot();
        Waiting& frame = slots_[number];
        frame.bytes = connection.front;
        frame.bytes.insert(frame.bytes.end(), packet.begin(), packet.end());
        frame.digest = seen.digest;
        frame.flow = connection.flow;
        frame.port = static_cast<std::uint16_t>(connection.input);
        frame.to = To::Switch;
        wait(on_the_line(connection.input, now_ns(), frame.bytes.size()), number);
    }
}

void DelayLine::from_receivers() {
    for (int count = 0; count < kAtOnce; ++count) {
        const ssize_t size = read(settings_.receivers, buffer_.data(), buffer_.size());
        if (size <= 0) return;
        const std::span<const std::uint8_t> packet(buffer_.data(), static_cast<std::size_t>(size));
        const Seen seen = look_at_packet(packet, 0);
        const auto found = seen.ports ? by_ends_.find(turned(seen.ends)) : by_ends_.end();
        if (found == by_ends_.end()) {
            ++counts_.others;
            continue;
        }
        ++counts_.acknowledged;
        const std::size_t number = slot();
        slots_[number].bytes.assign(packet.begin(), packet.end());
        slots_[number].to = To::Sender;
        wait(now_ns() + connections_[found->second].back_ns, number);
    }
}

bool DelayLine::from_switch(std::uint16_t port) {
    bool any = false;
    for (int count = 0; count < kAtOnce; ++count) {
        alignas(cmsghdr) char control[256];
        iovec part{buffer_.data(), buffer_.size() - kTag};
        msghdr message{};
        message.msg_iov = &part;
        message.msg_iovlen = 1;
        message.msg_control = control;
        message.msg_controllen = sizeof control;
        const ssize_t size = recvmsg(settings_.ports[port], &message, MSG_DONTWAIT);
        if (size <= 0) return any;
        const std::int64_t now = now_ns();
        any = true;
        auto length = static_cast<std::size_t>(size);
        for (cmsghdr* part_of = CMSG_FIRSTHDR(&message); part_of; part_of = CMSG_NXTHDR(&message, part_of)) {
            if (part_of->cmsg_level != SOL_PACKET || part_of->cmsg_type != PACKET_AUXDATA) continue;
            tpacket_auxdata aux{};
            std::memcpy(&aux, CMSG_DATA(part_of), sizeof aux);
            if (!(aux.tp_status & TP_STATUS_VLAN_VALID) || length < kAddresses) continue;
            // The kernel takes the outer tag out of the frame.
            std::memmove(buffer_.data() + kAddresses + kTag, buffer_.data() + kAddresses, length - kAddresses);
            const unsigned type = aux.tp_status & TP_STATUS_VLAN_TPID_VALID ? aux.tp_vlan_tpid : 0x8100u;
            const std::array<std::uint8_t, kTag> tag{static_cast<std::uint8_t>(type >> 8), static_cast<std::uint8_t>(type),
                                                     static_cast<std::uint8_t>(aux.tp_vlan_tci >> 8),
                                                     static_cast<std::uint8_t>(aux.tp_vlan_tci)};
            std::copy(tag.begin(), tag.end(), buffer_.begin() + kAddresses);
            length += kTag;
        }
        came_out(port, now, {buffer_.data(), length});
    }
    return any;
}

void DelayLine::came_out(std::uint16_t port, std::int64_t now, std::span<const std::uint8_t> frame) {
    const Seen seen = look_at(frame);
    const auto length = static_cast<std::uint32_t>(frame.size());
    if (const auto found = known_.find(seen.digest); found == known_.end()) {
        ++counts_.unknown;
    } else if (const std::size_t number = found->second; frames_.out_ns[number] < 0) {
        frames_.out_ns[number] = now;
        frames_.output[number] = port;
        frames_.out_length[number] = length;
    } else if (copies_.in_ns.size() < settings_.most_frames) {
        copies_.in_ns.push_back(frames_.in_ns[number]);
        copies_.out_ns.push_back(now);
        copies_.flow.push_back(frames_.flow[number]);
        copies_.length.push_back(length);
        copies_.output.push_back(port);
    }
    if (!seen.ports) return;
    const auto to = by_ends_.find(seen.ends);
    if (to == by_ends_.end()) return;
    const std::size_t number = slot();
    slots_[number].bytes.assign(frame.begin() + static_cast<std::ptrdiff_t>(seen.network),
                                frame.begin() + static_cast<std::ptrdiff_t>(seen.end));
    slots_[number].to = To::Receiver;
    wait(now + connections_[to->second].there_ns, number);
}

void DelayLine::run(std::int64_t begin_ns, std::int64_t end_ns, std::int64_t drain_ns, std::int64_t quiet_ns) {
    prctl(PR_SET_TIMERSLACK, 1UL);  // of this thread: sleep to the nanosecond, as far as the machine can
    begin_ns_ = begin_ns;
    last_out_ = end_ns;
    std::vector<pollfd> places;
    for (const int port : settings_.ports) places.push_back({port, POLLIN, 0});
    const std::size_t ports = places.size();
    if (settings_.senders >= 0) places.push_back({settings_.senders, POLLIN, 0});
    if (settings_.receivers >= 0) places.push_back({settings_.receivers, POLLIN, 0});
    while (!stopped_ && !counts_.too_many) {
        std::int64_t now = now_ns();
        if (now < end_ns) take_planned(now);
        let_go(now);
        now = now_ns();
        if (now >= end_ns && (now >= end_ns + drain_ns || (due_.empty() && now >= last_out_ + quiet_ns))) break;
        std::int64_t next = now + kNap;
        if (!due_.empty()) next = std::min(next, due_.top().at);
        if (next_ < plan_.size() && now < end_ns) next = std::min(next, begin_ns_ + plan_[next_].at_ns);
        if (now < end_ns) next = std::min(next, end_ns);
        const std::int64_t nap = std::max<std::int64_t>(0, next - now);
        const timespec time{nap / 1'000'000'000, nap % 1'000'000'000};
        if (ppoll(places.data(), places.size(), &time, nullptr) <= 0) continue;
        for (std::size_t place = 0; place < places.size(); ++place) {
            if (!places[place].revents) continue;
            if (place < ports) {
                if (from_switch(static_cast<std::uint16_t>(place))) last_out_ = std::max(last_out_, now_ns());
            } else if (places[place].fd == settings_.senders) {
                from_senders(now_ns() < end_ns);
            } else {
                from_receivers();
            }
        }
    }
}

}  // namespace penstock::p4
