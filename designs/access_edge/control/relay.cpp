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
#include <optional>
#include <system_error>
#include <utility>

namespace penstock::control {

namespace {

constexpr std::size_t kPiece = 64 << 10;  // bytes that are held in each direction of a connection before no more is read
constexpr std::uint64_t kListener = 0, kWake = ~std::uint64_t{0};
constexpr std::size_t kHead = 9;  // of a frame: length, type, flags, stream (RFC 9113, section 4.1)
constexpr std::string_view kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";  // that a client begins with (section 3.4)
constexpr unsigned kData = 0, kHeaders = 1, kReset = 3, kSettings = 4, kPing = 6, kGoAway = 7, kWindowUpdate = 8, kContinuation = 9;
constexpr unsigned kEndStream = 1, kAck = 1, kEndHeaders = 4, kPadded = 8, kPriority = 32;
constexpr unsigned kTableSize = 1, kWindowSize = 4;       // settings
constexpr std::int64_t kFirstWindow = 65535;              // of a connection and of its streams (section 6.9.2)
constexpr std::size_t kMostFields = 64 << 10;             // bytes of a call's header fields, before and after they are read
constexpr std::size_t kPrefix = 5;                        // of a message: whether it is compressed, and its length
constexpr std::size_t kMostTaken = 64, kMostBehind = 16;  // calls of a connection, and calls for which there is no thread yet
constexpr int kShare = 2;                                 // calls of a process while others call as well
constexpr auto kLong = std::chrono::milliseconds(500);
constexpr auto kRecent = std::chrono::milliseconds(1000);  // so long a process that has called counts as one that calls
constexpr int kAgainMs = 5;                                // while calls wait: what keeps them out may end by time alone
constexpr int kFlags = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;

std::uint32_t word_of(std::string_view bytes) {
    std::uint32_t word = 0;
    for (const char byte : bytes.substr(0, 4)) word = word << 8 | static_cast<unsigned char>(byte);
    return word;
}

void append_word(std::string& to, std::uint32_t word) {
    for (int shift = 24; shift >= 0; shift -= 8) to.push_back(static_cast<char>(word >> shift & 0xFF));
}

void append_window(std::string& to, std::uint32_t stream, std::uint32_t bytes) {
    append_head(to, 4, kWindowUpdate, 0, stream);
    append_word(to, bytes);
}

// Fields and data in frames of at most kFrame bytes.
void append_fields(std::string& to, std::uint32_t stream, std::string_view block, bool last) {
    unsigned type = kHeaders, flags = last ? kEndStream : 0;
    do {
        const std::string_view some = block.substr(0, kFrame);
        block.remove_prefix(some.size());
        append_head(to, some.size(), type, flags | (block.empty() ? kEndHeaders : 0), stream);
        to += some;
        type = kContinuation, flags = 0;
    } while (!block.empty());
}

void append_data(std::string& to, std::uint32_t stream, std::string_view data, bool last) {
    do {
        const std::string_view some = data.substr(0, kFrame);
        data.remove_prefix(some.size());
        append_head(to, some.size(), kData, last && data.empty() ? kEndStream : 0, stream);
        to += some;
    } while (!data.empty());
}

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

// One side of a connection: what was read from it and not looked at yet, and what goes on to the other.
struct Relay::End {
    Pair* pair = nullptr;
    int socket = -1;
    bool second = false;  // towards the server
    std::array<char, kPiece> held;
    std::size_t begin = 0, end = 0;
    std::string out;
    std::size_t sent = 0;      // of `out`
    std::uint64_t inside = 0;  // bytes of a frame that go on and have not yet come
    bool over = false;         // nothing comes any more
    bool shut = false;         // and the other side knows
    bool ready = false;        // there may be something to read
    bool takes = true;         // it may take something
    bool gone = false;         // who had it is gone: what it has sent goes on, and nothing is sent to it
    bool waits = false;        // for what it says to go on
    std::uint32_t watched = 0;

    std::string_view there() const { return {held.data() + begin, end - begin}; }
    std::size_t waiting() const { return out.size() - sent; }
    void pass(std::size_t bytes) {
        out.append(held.data() + begin, bytes);
        begin += bytes;
    }
};

struct Relay::Pair {
    // A call that is taken here, from its request on.
    struct Taken {
        std::shared_ptr<Call> call;
        std::int64_t window = 0;  // bytes of data that its client takes
        std::optional<Answer> answer;
        std::string data;      // of the answer
        std::size_t sent = 0;  // of it
        bool begun = false;
    };
    // A call whose request is coming.
    struct Coming {
        std::uint32_t stream = 0;
        std::vector<Header> fields;
        std::shared_ptr<Call> call;
        std::string data;
        std::int64_t window = 0;
    };

    std::uint64_t number = 0;
    int process = 0;
    std::string peer;
    bool begun = false, plain = false;                              // the preface has come; it has not: this is none of HTTP/2
    std::uint32_t last_stream = 0, last_given = 0, last_taken = 0;  // opened; and gone on, and taken here
    std::uint32_t last_held = 0;                                    // that had to wait
    std::unordered_map<std::uint32_t, Clock::time_point> streams;   // calls that count, and since when
    HeaderTable table;                                              // of the client
    std::string block;                                              // a header block that goes on in the next frame
    std::uint32_t block_stream = 0;
    bool block_ends = false;  // the stream, too
    std::optional<Coming> coming;
    std::unordered_map<std::uint32_t, Taken> taken;
    std::deque<std::uint32_t> answered;                                    // in the order in which they were answered
    std::int64_t window = kFirstWindow, window_of_streams = kFirstWindow;  // data that the client takes in all, and of a new stream
    std::uint64_t owed = 0;                                                // data that was sent it and that the server does not know of
    std::size_t read = 0;                                                  // data that was taken here and that the client may send anew
    std::string aside;                                                     // frames that are said to the client from here
    bool greeted = false;                                                  // the server has begun with its settings
    bool in_block = false;                                                 // the server is amid a header block
    End ends[2];
};

Relay::Relay(const std::string& path, std::string to, std::string name, std::size_t most, const std::vector<std::string>& methods,
             std::size_t message_bytes)
    : to_(std::move(to)), name_(std::move(name)), most_(most), message_bytes_(message_bytes) {
    for (const std::string& method : methods) methods_.emplace(method, methods_.size());
    const sockaddr_un address = address_of(path);
    address_of(to_);
    listener_ = ::socket(AF_UNIX, kFlags, 0);
    epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
    wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    calls_ = std::make_shared<Calls>();
    calls_->relay = this;
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
    thread_ = std::thread([this] { calls_->stand_in([this] { look(); }); });
}

Relay::~Relay() { close(); }

std::shared_ptr<Call> Relay::take() {
    return calls_->take([this] { look(); });
}

void Relay::end() {
    stop_ = true;
    const std::uint64_t one = 1;
    while (::write(wake_, &one, sizeof one) < 0 && errno == EINTR) {
    }
    calls_->end(false);
}

void Relay::close() {
    if (!thread_.joinable()) return;
    end();
    thread_.join();
    calls_->end(true);
    const std::lock_guard lock(calls_->connections);
    calls_->relay = nullptr;
    while (!pairs_.empty()) drop(pairs_.begin()->first);
    for (const int file : {listener_, epoll_, wake_}) ::close(file);
}

void Relay::look() {
    std::array<epoll_event, 64> events;
    bool waits = false;
    {
        const std::lock_guard lock(calls_->connections);
        for (const auto& [process, caller] : callers_) waits = waits || !caller.held.empty();
    }
    const int count = ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), waits ? kAgainMs : -1);
    const std::lock_guard lock(calls_->connections);
    looks_ = true;
    for (int i = 0; i < count && !stop_; ++i) {
        const std::uint64_t what = events[static_cast<std::size_t>(i)].data.u64;
        if (what == kWake) break;  // it stays there: it is the end
        if (what == kListener) {
            accept();
            continue;
        }
        // A pair may have gone by an event before this one.
        if (const auto found = pairs_.find(what >> 1); found != pairs_.end())
            serve(found->second->ends[what & 1], events[static_cast<std::size_t>(i)].events);
    }
    if (!stop_) go_on();
    looks_ = false;
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
    pair->peer = "unix-abstract:" + name_ + "/" + std::to_string(who.pid) + "/" + std::to_string(number);
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
    Pair& pair = *from.pair;
    // A few pieces at a time: then others have their turn.
    for (int turn = 0; turn < 4 || from.gone; ++turn) {
        if (from.begin) {  // what waits goes to the front
            std::memmove(from.held.data(), from.held.data() + from.begin, from.end - from.begin);
            from.end -= from.begin;
            from.begin = 0;
        }
        const bool room = from.waiting() < kPiece && (from.second || from.gone || to.waiting() + pair.aside.size() < kPiece);
        if (room && from.end < from.held.size() && from.ready && !from.over) {
            const std::size_t most = from.held.size() - from.end;
            const ssize_t got = ::recv(from.socket, from.held.data() + from.end, most, 0);
            if (got > 0) {
                from.end += static_cast<std::size_t>(got);
                // Less than asked for: there was no more. Of who is gone nothing more is told, so that is read to its end.
                from.ready = from.gone || static_cast<std::size_t>(got) == most;
            } else if (got == 0) {
                from.over = true;
                if (!from.second) cancel(pair);
            } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
                from.ready = false;
            } else if (errno != EINTR) {
                return false;
            }
        }
        if (room && !(from.second ? look_at_server(pair) : look_at_client(pair))) return false;
        if (from.waiting() && to.takes) {
            const ssize_t sent = ::send(to.socket, from.out.data() + from.sent, from.waiting(), MSG_NOSIGNAL);
            if (sent >= 0) {
                from.sent += static_cast<std::size_t>(sent);
                if (from.waiting() == 0) {
                    from.out.clear();
                    from.sent = 0;
                }
            } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
                to.takes = false;
            } else if (errno != EINTR) {
                return false;
            }
        }
        if (from.over && from.begin == from.end && from.waiting() == 0 && !from.shut) {
            from.shut = true;
            ::shutdown(to.socket, SHUT_WR);
        }
        if (from.waiting() ? !to.takes : !room || from.waits || !from.ready || from.over) break;
    }
    return true;
}

bool Relay::look_at_client(Pair& pair) {
    End& from = pair.ends[0];
    from.waits = false;
    while (from.begin < from.end) {
        std::string_view there = from.there();
        if (pair.plain) {
            from.pass(there.size());
            continue;
        }
        if (!pair.begun) {
            const std::size_t some = std::min(there.size(), kPreface.size());
            pair.plain = there.substr(0, some) != kPreface.substr(0, some) || (from.over && some < kPreface.size());
            if (pair.plain) continue;
            if (some < kPreface.size()) return true;
            from.pass(some);
            pair.begun = true;
            continue;
        }
        if (from.inside) {
            const auto some = static_cast<std::size_t>(std::min<std::uint64_t>(from.inside, there.size()));
            from.inside -= some;
            from.pass(some);
            continue;
        }
        const bool whole = there.size() >= kHead;
        const std::size_t length = whole ? word_of(there) >> 8 : 0;
        const unsigned type = whole ? static_cast<unsigned char>(there[3]) : 0, flags = whole ? static_cast<unsigned char>(there[4]) : 0;
        const std::uint32_t stream = whole ? word_of(there.substr(5)) & 0x7FFFFFFFu : 0;
        const bool coming = pair.coming && pair.coming->stream == stream;
        if (whole && pair.block_stream && (type != kContinuation || stream != pair.block_stream)) return false;  // section 6.10
        const bool fields = type == kHeaders || type == kContinuation;
        if (whole && type == kData && coming && (flags & kPadded || length + pair.coming->data.size() > message_bytes_ + kPrefix))
            give_up(pair);
        const bool of_data = whole && type == kData && pair.coming && pair.coming->stream == stream;
        if (whole && !fields && !of_data && type != kReset && type != kSettings && type != kPing && type != kWindowUpdate) {
            from.inside = kHead + length;
            continue;
        }
        if (whole && kHead + length > kPiece) return false;
        if (!whole || there.size() < kHead + length) {
            if (from.over) from.pass(there.size());  // a broken frame is the server's to judge
            return true;
        }
        if (type == kHeaders && pair.coming) give_up(pair);  // streams are opened in the order of their numbers
        if (type == kHeaders && stream > pair.last_stream) {
            if (!from.over && !admit(pair, stream)) {
                from.waits = true;
                pair.last_held = stream;
                return true;
            }
            pair.last_stream = stream;
        }
        const std::string_view frame = there.substr(0, kHead + length), what = frame.substr(kHead);
        const bool own = (pair.coming && pair.coming->stream == stream) || pair.taken.contains(stream);
        bool goes_on = false;
        if (fields) {
            if (!take_fields(pair, type, flags, stream, what)) return false;
        } else if (of_data) {
            take_data(pair, flags, what);
        } else if (type == kReset) {
            ended(pair, stream);
            if (pair.coming && pair.coming->stream == stream) {
                have_read(pair, pair.coming->data.size());
                pair.coming.reset();
            } else if (const auto found = pair.taken.find(stream); found != pair.taken.end()) {
                found->second.call->cancelled = true;
                pair.taken.erase(found);
            }
            goes_on = !own && stream <= pair.last_given;
        } else if (type == kSettings) {
            if (!(flags & kAck)) take_settings(pair, what);
            goes_on = true;
        } else if (type == kPing) {
            // The server counts those that come without data of its own, and it has none of the answers from here.
            goes_on = flags & kAck || pair.last_taken == 0 || length != 8;
            if (!goes_on) {
                append_head(pair.aside, 8, kPing, kAck, 0);
                pair.aside += what;
            }
        } else {
            take_window(pair, stream, frame);
        }
        if (goes_on) {
            from.pass(frame.size());
        } else {
            from.begin += frame.size();
        }
        send_answers(pair);
    }
    return true;
}

bool Relay::take_fields(Pair& pair, unsigned type, unsigned flags, std::uint32_t stream, std::string_view what) {
    if (type == kHeaders) {
        if (stream == 0) return false;
        std::size_t behind = 0;
        if (flags & kPadded) {
            if (what.empty()) return false;
            behind = static_cast<unsigned char>(what[0]);
            what.remove_prefix(1);
        }
        if (flags & kPriority) {
            if (what.size() < 5) return false;
            what.remove_prefix(5);
        }
        if (behind > what.size()) return false;
        what.remove_suffix(behind);
        pair.block.clear();
        pair.block_ends = flags & kEndStream;
    } else if (pair.block_stream == 0) {
        return false;
    }
    if (pair.block.size() + what.size() > kMostFields) return false;
    pair.block += what;
    pair.block_stream = flags & kEndHeaders ? 0 : stream;
    if (pair.block_stream) return true;
    auto fields = pair.table.read(pair.block, kMostFields);
    if (!fields) return false;
    auto call = std::make_shared<Call>();
    if (!pair.block_ends && stream != pair.last_held && stream > pair.last_given && stream > pair.last_taken &&
        takes(pair, *fields, *call)) {
        call->stream = stream;
        pair.coming = Pair::Coming{stream, std::move(*fields), std::move(call), {}, pair.window_of_streams};
        return true;
    }
    if (pair.taken.contains(stream)) return true;  // more of a call that was whole: it is nothing to anybody
    std::string block;
    for (const Header& field : *fields) append_header(block, field.name, field.value);
    append_fields(pair.ends[0].out, stream, block, pair.block_ends);
    pair.last_given = std::max(pair.last_given, stream);
    return true;
}

bool Relay::takes(Pair& pair, const std::vector<Header>& fields, Call& call) const {
    if (pair.taken.size() >= kMostTaken || pair.ends[1].waiting() >= kPiece || calls_->behind() >= kMostBehind) return false;
    bool path = false, post = false, type = false;
    for (const Header& field : fields) {
        if (field.name == ":path") {
            const auto found = methods_.find(field.value);
            if (found == methods_.end()) return false;
            call.method = found->second;
            path = true;
        } else if (field.name == ":method") {
            post = field.value == "POST";
        } else if (field.name == "content-type") {
            type = field.value == "application/grpc" || field.value == "application/grpc+proto";
        } else if (field.name == "grpc-encoding") {
            if (field.value != "identity") return false;
        } else if (field.name == "grpc-timeout") {
            const auto timeout = timeout_of(field.value);
            if (!timeout) return false;
            call.deadline = Clock::now() + *timeout;
        }
    }
    return path && post && type;
}

void Relay::take_data(Pair& pair, unsigned flags, std::string_view what) {
    Pair::Coming& coming = *pair.coming;
    coming.data += what;
    if (!(flags & kEndStream)) return;
    const std::string_view data = coming.data;
    if (data.size() < kPrefix || data[0] != 0 || word_of(data.substr(1)) != data.size() - kPrefix) {
        pair.last_given = coming.stream;
        std::string block;
        for (const Header& field : coming.fields) append_header(block, field.name, field.value);
        append_fields(pair.ends[0].out, coming.stream, block, false);
        append_data(pair.ends[0].out, coming.stream, data, true);
        pair.coming.reset();
        return;
    }
    have_read(pair, data.size());
    const std::shared_ptr<Call> call = coming.call;
    call->of = calls_;
    call->connection = pair.number;
    call->peer = pair.peer;
    call->message = data.substr(kPrefix);
    pair.taken[coming.stream] = {call, coming.window, {}, {}, 0, false};
    pair.last_taken = coming.stream;
    pair.coming.reset();
    calls_->put(call, looks_);
}

void Relay::have_read(Pair& pair, std::size_t bytes) {
    pair.read += bytes;
    if (pair.read < kFrame) return;
    append_window(pair.aside, 0, static_cast<std::uint32_t>(pair.read));
    pair.read = 0;
}

void Relay::give_up(Pair& pair) {
    const Pair::Coming coming = std::move(*pair.coming);
    pair.coming.reset();
    pair.last_given = std::max(pair.last_given, coming.stream);
    std::string block;
    for (const Header& field : coming.fields) append_header(block, field.name, field.value);
    append_fields(pair.ends[0].out, coming.stream, block, false);
    if (!coming.data.empty()) append_data(pair.ends[0].out, coming.stream, coming.data, false);
    if (coming.window != pair.window_of_streams)
        append_window(pair.ends[0].out, coming.stream, static_cast<std::uint32_t>(coming.window - pair.window_of_streams));
}

void Relay::take_window(Pair& pair, std::uint32_t stream, std::string_view frame) {
    std::string& out = pair.ends[0].out;
    const std::uint32_t more = frame.size() == kHead + 4 ? word_of(frame.substr(kHead)) & 0x7FFFFFFFu : 0;
    if (more == 0) {  // the server's to judge
        out += frame;
    } else if (stream == 0) {
        pair.window += more;
        const auto known = static_cast<std::uint32_t>(std::min<std::uint64_t>(more, pair.owed));
        pair.owed -= known;
        if (more > known) append_window(out, 0, more - known);
    } else if (pair.coming && pair.coming->stream == stream) {
        pair.coming->window += more;
    } else if (const auto found = pair.taken.find(stream); found != pair.taken.end()) {
        found->second.window += more;
    } else if (stream <= pair.last_given) {
        out += frame;
    }
}

void Relay::take_settings(Pair& pair, std::string_view what) {
    for (; what.size() >= 6; what.remove_prefix(6)) {
        if (word_of(what) >> 16 != kWindowSize) continue;
        const std::int64_t size = word_of(what.substr(2));
        const std::int64_t more = size - pair.window_of_streams;
        pair.window_of_streams = size;
        for (auto& [stream, taken] : pair.taken) taken.window += more;
        if (pair.coming) pair.coming->window += more;
    }
}

bool Relay::look_at_server(Pair& pair) {
    End& from = pair.ends[1];
    from.waits = false;
    send_answers(pair);
    while (from.begin < from.end) {
        const std::string_view there = from.there();
        if (from.inside || pair.plain) {
            const auto some = pair.plain ? there.size() : static_cast<std::size_t>(std::min<std::uint64_t>(from.inside, there.size()));
            from.inside -= pair.plain ? 0 : some;
            from.pass(some);
            send_answers(pair);
            continue;
        }
        const bool whole = there.size() >= kHead;
        const std::size_t length = whole ? word_of(there) >> 8 : 0;
        const unsigned type = whole ? static_cast<unsigned char>(there[3]) : 0, flags = whole ? static_cast<unsigned char>(there[4]) : 0;
        const bool looked_into = whole && (type == kSettings || type == kGoAway) && length <= kPiece - kHead;
        if (!whole || (looked_into && there.size() < kHead + length)) {
            if (from.over) from.pass(there.size());
            return true;
        }
        const std::uint32_t stream = word_of(there.substr(5)) & 0x7FFFFFFFu;
        if (type == kData) {
            if (static_cast<std::int64_t>(length) > pair.window && pair.owed) {  // the client has less room than the server knows
                from.waits = true;
                return true;
            }
            pair.window -= static_cast<std::int64_t>(length);
        }
        if (type == kHeaders || type == kContinuation) pair.in_block = !(flags & kEndHeaders);
        if (type == kReset || ((type == kData || type == kHeaders) && flags & kEndStream)) ended(pair, stream);
        if (looked_into && type == kSettings && !(flags & kAck))
            for (std::string_view what = there.substr(kHead, length); what.size() >= 6; what.remove_prefix(6))
                if (word_of(what) >> 16 == kTableSize) pair.table.allow(word_of(what.substr(2)));
        if (looked_into && type == kGoAway && length >= 4) {  // what was taken here was not lost
            const std::uint32_t last = std::max(word_of(there.substr(kHead)) & 0x7FFFFFFFu, pair.last_taken);
            for (int byte = 0; byte < 4; ++byte)
                from.held[from.begin + kHead + static_cast<std::size_t>(byte)] = static_cast<char>(last >> (24 - 8 * byte) & 0xFF);
        }
        from.inside = kHead + length;
        pair.greeted = true;
    }
    return true;
}

void Relay::answer(Answer answer) {
    const auto found = pairs_.find(answer.connection);
    if (found == pairs_.end()) return;
    Pair& pair = *found->second;
    const std::uint32_t stream = answer.stream;
    const auto taken = pair.taken.find(stream);
    if (taken == pair.taken.end() || taken->second.answer) return;  // nobody waits for it
    if (answer.status == 0) {
        std::string& data = taken->second.data;
        data.push_back(0);
        append_word(data, static_cast<std::uint32_t>(answer.message.size()));
        data += answer.message;
    }
    taken->second.answer = std::move(answer);
    pair.answered.push_back(stream);
    serve(pair.ends[1], 0);
    go_on();
}

void Relay::send_answers(Pair& pair) {
    End& end = pair.ends[1];
    if (end.inside || pair.in_block || !pair.greeted) return;
    end.out += pair.aside;
    pair.aside.clear();
    if (pair.answered.empty()) return;
    std::deque<std::uint32_t> left;
    for (const std::uint32_t stream : pair.answered) {
        const auto found = pair.taken.find(stream);
        if (found == pair.taken.end()) continue;  // cancelled
        Pair::Taken& taken = found->second;
        if (!taken.data.empty() && !taken.begun) end.out += head_of_answer(stream);
        taken.begun = true;
        while (taken.sent < taken.data.size()) {
            const std::int64_t room = std::min({pair.window, taken.window, static_cast<std::int64_t>(kFrame)});
            if (room <= 0) break;
            const std::string_view some = std::string_view(taken.data).substr(taken.sent, static_cast<std::size_t>(room));
            append_head(end.out, some.size(), kData, 0, stream);
            end.out += some;
            taken.sent += some.size();
            pair.window -= static_cast<std::int64_t>(some.size());
            taken.window -= static_cast<std::int64_t>(some.size());
            pair.owed += some.size();
        }
        if (taken.sent < taken.data.size()) {
            left.push_back(stream);
            continue;
        }
        end.out += tail_of_answer(*taken.answer);
        pair.taken.erase(found);
        ended(pair, stream);
    }
    pair.answered = std::move(left);
}

void Relay::cancel(Pair& pair) {
    if (pair.coming) have_read(pair, pair.coming->data.size());
    for (auto& [stream, taken] : pair.taken) {
        taken.call->cancelled = true;
        ended(pair, stream);
    }
    pair.taken.clear();
    pair.coming.reset();
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
    // What is answered here goes the other way, so it counts as well.
    if (!end.over && !end.waits && end.waiting() == 0 && (end.second || other.waiting() + end.pair->aside.size() < kPiece))
        wanted |= EPOLLIN;
    if (other.waiting()) wanted |= EPOLLOUT;
    if (wanted == end.watched) return;
    end.watched = wanted;
    epoll_event event{wanted, {.u64 = end.pair->number << 1 | end.second}};
    ::epoll_ctl(epoll_, EPOLL_CTL_MOD, end.socket, &event);
}

void Relay::drop(std::uint64_t number) {
    const auto found = pairs_.find(number);
    if (found == pairs_.end()) return;
    cancel(*found->second);
    for (const End& end : found->second->ends) ::close(end.socket);
    if (const auto caller = callers_.find(found->second->process); caller != callers_.end()) {
        caller->second.running -= static_cast<int>(found->second->streams.size());
        if (--caller->second.connections == 0) callers_.erase(caller);
    }
    pairs_.erase(found);
    open_ = pairs_.size();
}

}  // namespace penstock::control
