// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "designs/access_edge/control/relay.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace penstock::control {

namespace {

constexpr std::size_t kPiece = 64 << 10;  // bytes that are held in each direction of a connection, at most
constexpr std::uint64_t kListener = 0, kWake = ~std::uint64_t{0};
constexpr std::size_t kHead = 9;      // of a frame: length, type, flags, stream (RFC 9113, section 4.1)
constexpr std::size_t kPreface = 24;  // that a client begins with (section 3.4)
constexpr unsigned kData = 0, kHeaders = 1, kReset = 3, kEndStream = 1;
constexpr int kShare = 2;  // calls of a process while others call as well
constexpr auto kLong = std::chrono::milliseconds(500);
constexpr auto kRecent = std::chrono::milliseconds(1000);  // so long a process that has called counts as one that calls
constexpr int kAgainMs = 5;                                // while calls wait: what keeps them out may end by time alone
constexpr int kFlags = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;

[[noreturn]] void fail(const std::string& what) { throw std::system_error(errno, std::generic_category(), what); }

sockaddr_un address_of(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        fail(path);
    }
    std::memcpy(address.sun_path, path.data(), path.size());
    return address;
}

}  // namespace

// One side of a connection, and what was read from it and not yet taken by the other.
struct Relay::End {
    Pair* pair = nullptr;
    int socket = -1;
    bool second = false;  // towards the server
    std::array<char, kPiece> held;
    std::size_t begin = 0, limit = 0, end = 0;  // what may be sent is before the limit
    std::uint64_t inside = 0;                   // bytes of a frame that have been looked at and not yet come
    bool over = false;                          // nothing comes any more
    bool shut = false;                          // and the other side knows
    bool ready = false;                         // there may be something to read
    bool takes = true;                          // it may take something
    bool gone = false;                          // who had it is gone: what it has sent goes on, and nothing is sent to it
    bool waits = false;                         // a call that it begins waits
    std::uint32_t watched = 0;
};

struct Relay::Pair {
    std::uint64_t number = 0;
    int process = 0;
    std::uint32_t last_stream = 0;
    std::unordered_map<std::uint32_t, Clock::time_point> streams;  // calls that count, and since when
    End ends[2];
};

Relay::Relay(const std::string& path, std::string to, std::string name, std::size_t most)
    : to_(std::move(to)), name_(std::move(name)), most_(most) {
    const sockaddr_un address = address_of(path);
    address_of(to_);
    listener_ = ::socket(AF_UNIX, kFlags, 0);
    epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
    wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    const auto close_all = [this] {
        for (const int file : {listener_, epoll_, wake_})
            if (file >= 0) ::close(file);
    };
    epoll_event of_listener{EPOLLIN, {.u64 = kListener}}, of_wake{EPOLLIN, {.u64 = kWake}};
    if (listener_ < 0 || epoll_ < 0 || wake_ < 0 || ::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) ||
        ::listen(listener_, SOMAXCONN) || ::epoll_ctl(epoll_, EPOLL_CTL_ADD, listener_, &of_listener) ||
        ::epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_, &of_wake)) {
        const int error = errno;
        close_all();
        errno = error;
        fail(path);
    }
    thread_ = std::thread(&Relay::run, this);
}

Relay::~Relay() {
    const std::uint64_t one = 1;
    while (::write(wake_, &one, sizeof one) < 0 && errno == EINTR) {
    }
    thread_.join();
    while (!pairs_.empty()) drop(pairs_.begin()->first);
    for (const int file : {listener_, epoll_, wake_}) ::close(file);
}

void Relay::run() {
    std::array<epoll_event, 64> events;
    while (true) {
        bool waits = false;
        for (const auto& [process, caller] : callers_) waits = waits || !caller.held.empty();
        const int count = ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), waits ? kAgainMs : -1);
        if (count < 0 && errno != EINTR) return;
        for (int i = 0; i < count; ++i) {
            const std::uint64_t what = events[i].data.u64;
            if (what == kWake) return;
            if (what == kListener) {
                accept();
                continue;
            }
            // A pair may have gone by an event before this one.
            if (const auto found = pairs_.find(what >> 1); found != pairs_.end()) serve(found->second->ends[what & 1], events[i].events);
        }
        go_on();
    }
}

void Relay::accept() {
    const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (client < 0) {
        if (errno == EMFILE || errno == ENFILE) ::usleep(1000);  // it stays in the listener's queue
        return;
    }
    if (pairs_.size() >= most_) {
        ::close(client);
        return;
    }
    ucred who{};
    socklen_t size = sizeof who;
    const int server = ::socket(AF_UNIX, kFlags, 0);
    const std::uint64_t number = next_++;
    bool done = server >= 0 && ::getsockopt(client, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0;
    if (done) {
        const std::string own = name_ + "/" + std::to_string(who.pid) + "/" + std::to_string(number);
        sockaddr_un from{};
        from.sun_family = AF_UNIX;
        done = own.size() + 1 < sizeof from.sun_path;
        if (done) {
            std::memcpy(from.sun_path + 1, own.data(), own.size());
            const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + own.size());
            const sockaddr_un to = address_of(to_);
            done = ::bind(server, reinterpret_cast<const sockaddr*>(&from), length) == 0 &&
                   ::connect(server, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0;
        }
    }
    if (!done) {
        if (server >= 0) ::close(server);
        ::close(client);
        return;
    }
    auto pair = std::make_unique<Pair>();
    pair->number = number;
    pair->process = who.pid;
    pair->ends[0].inside = kPreface;
    ++callers_[who.pid].connections;
    for (const bool second : {false, true}) {
        End& end = pair->ends[second];
        end.pair = pair.get();
        end.second = second;
        end.socket = second ? server : client;
        epoll_event event{0, {.u64 = number << 1 | second}};
        ::epoll_ctl(epoll_, EPOLL_CTL_ADD, end.socket, &event);
    }
    Pair& made = *pair;
    pairs_.emplace(number, std::move(pair));
    open_ = pairs_.size();
    for (End& end : made.ends) watch(end);
}

void Relay::serve(End& end, std::uint32_t events) {
    Pair& pair = *end.pair;
    End& other = pair.ends[!end.second];
    if (events & (EPOLLIN | EPOLLHUP | EPOLLERR | EPOLLRDHUP)) end.ready = true;
    if (events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) end.takes = true;
    if (events & EPOLLHUP && !end.gone) {
        end.gone = true;
        ::epoll_ctl(epoll_, EPOLL_CTL_DEL, end.socket, nullptr);  // it would be told for ever
    }
    const bool on = !(events & EPOLLERR) && move(end, other) && (end.gone || move(other, end));
    if (!on || (end.shut && (end.gone || other.shut)) || (other.shut && other.gone)) {
        drop(pair.number);
        return;
    }
    watch(end);
    watch(other);
}

bool Relay::move(End& from, End& to) {
    // A few pieces at a time: then others have their turn.
    for (int turn = 0; turn < 4 || from.gone; ++turn) {
        if (from.begin && from.begin == from.limit) {  // what waits goes to the front
            std::memmove(from.held.data(), from.held.data() + from.begin, from.end - from.begin);
            from.end -= from.begin;
            from.begin = from.limit = 0;
        }
        if (from.end < from.held.size() && from.begin == 0 && from.ready && !from.over) {
            const std::size_t room = from.held.size() - from.end;
            const ssize_t got = ::recv(from.socket, from.held.data() + from.end, room, 0);
            if (got > 0) {
                from.end += static_cast<std::size_t>(got);
                // Less than asked for: there was no more. What is gone is told no more, so it is read to its end.
                from.ready = from.gone || static_cast<std::size_t>(got) == room;
            } else if (got == 0) {
                from.over = true;
            } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
                from.ready = false;
            } else if (errno != EINTR) {
                return false;
            }
        }
        look(from);
        if (from.begin < from.limit && to.takes) {
            const ssize_t sent = ::send(to.socket, from.held.data() + from.begin, from.limit - from.begin, MSG_NOSIGNAL);
            if (sent >= 0) {
                from.begin += static_cast<std::size_t>(sent);
            } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
                to.takes = false;
            } else if (errno != EINTR) {
                return false;
            }
        }
        if (from.over && from.begin == from.end && !from.shut) {
            from.shut = true;
            ::shutdown(to.socket, SHUT_WR);
        }
        if (from.begin < from.limit ? !to.takes : from.waits || !from.ready || from.over) break;
    }
    return true;
}

void Relay::look(End& from) {
    Pair& pair = *from.pair;
    from.waits = false;
    while (from.limit < from.end) {
        if (from.inside) {
            const auto some = static_cast<std::size_t>(std::min<std::uint64_t>(from.inside, from.end - from.limit));
            from.limit += some;
            from.inside -= some;
            continue;
        }
        if (from.end - from.limit < kHead) {
            if (from.over) from.limit = from.end;  // a broken frame is the server's to judge
            return;
        }
        const auto* const head = reinterpret_cast<const unsigned char*>(from.held.data() + from.limit);
        const std::uint32_t length = head[0] << 16 | head[1] << 8 | head[2];
        const unsigned type = head[3], flags = head[4];
        const std::uint32_t stream = (head[5] & 0x7Fu) << 24 | head[6] << 16 | head[7] << 8 | head[8];
        if (!from.second && type == kHeaders && stream > pair.last_stream) {
            if (!from.over && !admit(pair, stream)) {
                from.waits = true;
                return;
            }
            pair.last_stream = stream;
        }
        if (type == kReset || (from.second && (type == kData || type == kHeaders) && flags & kEndStream)) ended(pair, stream);
        from.inside = kHead + length;
    }
}

bool Relay::admit(Pair& pair, std::uint32_t stream) {
    const auto now = Clock::now();
    Caller& caller = callers_[pair.process];
    caller.last = now;
    while (!caller.begun.empty()) {  // what has ended, or lasts, counts no longer
        const auto [number, begun] = caller.begun.front();
        const auto found = pairs_.find(number);
        if (found != pairs_.end()) {
            auto& streams = found->second->streams;
            if (const auto one = streams.find(begun); one != streams.end()) {
                if (now - one->second < kLong) break;
                streams.erase(one);
                --caller.running;
            }
        }
        caller.begun.pop_front();
    }
    if (caller.running >= kShare) {
        for (const auto& [process, other] : callers_) {
            if (process == pair.process || (other.running == 0 && now - other.last > kRecent)) continue;
            if (std::find(caller.held.begin(), caller.held.end(), pair.number) == caller.held.end()) caller.held.push_back(pair.number);
            return false;
        }
    }
    ++caller.running;
    caller.begun.emplace_back(pair.number, stream);
    pair.streams.emplace(stream, now);
    return true;
}

void Relay::ended(Pair& pair, std::uint32_t stream) {
    if (pair.streams.erase(stream) == 0) return;
    --callers_[pair.process].running;
}

void Relay::go_on() {
    std::vector<std::uint64_t> some;
    for (auto& [process, caller] : callers_) {
        some.insert(some.end(), caller.held.begin(), caller.held.end());
        caller.held.clear();
    }
    for (const std::uint64_t number : some)  // each says again that it waits, if it has to
        if (const auto found = pairs_.find(number); found != pairs_.end()) serve(found->second->ends[0], 0);
}

void Relay::watch(End& end) {
    if (end.gone) return;
    const End& other = end.pair->ends[!end.second];
    std::uint32_t wanted = 0;
    if (!end.over && !end.waits && end.begin == end.limit) wanted |= EPOLLIN;
    if (other.begin < other.limit) wanted |= EPOLLOUT;
    if (wanted == end.watched) return;
    end.watched = wanted;
    epoll_event event{wanted, {.u64 = end.pair->number << 1 | end.second}};
    ::epoll_ctl(epoll_, EPOLL_CTL_MOD, end.socket, &event);
}

void Relay::drop(std::uint64_t number) {
    const auto found = pairs_.find(number);
    if (found == pairs_.end()) return;
    for (const End& end : found->second->ends) ::close(end.socket);
    if (const auto caller = callers_.find(found->second->process); caller != callers_.end()) {
        caller->second.running -= static_cast<int>(found->second->streams.size());
        if (--caller->second.connections == 0) callers_.erase(caller);
    }
    pairs_.erase(found);
    open_ = pairs_.size();
}

}  // namespace penstock::control
