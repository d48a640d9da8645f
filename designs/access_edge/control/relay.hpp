// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// A Unix socket in front of another one: gRPC does not tell the connections of a Unix socket apart, so each is passed on from an address of
// its own, which names the process that has made it. Bytes go on as they come, in order, in a thread without Python; what one side does not
// take is not read from the other.
//
// gRPC takes calls in the order in which they come, so who has a hundred under way is served a hundred times as often as who has one. While
// several processes call, each has at most kShare calls under way here: a HEADERS frame that opens one more (RFC 9113, section 6.2) waits,
// and all of its connection behind it, until a call of its process has ended. Calls that last longer than kLong, such as streams, do not
// count: so nothing waits for ever, not even a call that is under way for what stands behind one that waits.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace penstock::control {

class Relay {
  public:
    // Listens at `path`, which must not be there, and closes what is above `most` connections; passes them on to the socket at `to`. The
    // address that they come from there is the abstract one `name`/PROCESS/NUMBER. Throws std::system_error.
    Relay(const std::string& path, std::string to, std::string name, std::size_t most);
    ~Relay();
    Relay(const Relay&) = delete;
    Relay& operator=(const Relay&) = delete;

    std::size_t connections() const { return open_; }

  private:
    using Clock = std::chrono::steady_clock;
    struct Pair;
    struct End;
    // What a process has under way.
    struct Caller {
        int running = 0;           // calls that count
        Clock::time_point last{};  // a call of it has begun, or wants to
        std::size_t connections = 0;
        std::deque<std::pair<std::uint64_t, std::uint32_t>> begun;  // pair and stream of those that count, the oldest first
        std::vector<std::uint64_t> held;                            // pairs with a call that waits
    };

    void run();
    void accept();
    void serve(End& end, std::uint32_t events);
    // Moves what can be moved from one end to the other; false: the pair is at its end.
    bool move(End& from, End& to);
    // Looks at frames as far as they may be sent.
    void look(End& from);
    bool admit(Pair& pair, std::uint32_t stream);
    void ended(Pair& pair, std::uint32_t stream);
    // Tries those again that wait and may go.
    void go_on();
    void watch(End& end);
    void drop(std::uint64_t number);

    std::string to_, name_;
    std::size_t most_;
    int listener_ = -1, epoll_ = -1, wake_ = -1;
    std::uint64_t next_ = 1;
    std::unordered_map<std::uint64_t, std::unique_ptr<Pair>> pairs_;
    std::unordered_map<int, Caller> callers_;
    std::atomic<std::size_t> open_ = 0;
    std::thread thread_;
};

}  // namespace penstock::control
