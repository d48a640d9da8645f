// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// A Unix socket in front of another one: gRPC does not tell the connections of a Unix socket apart, so each is passed on from an address of
// its own, which names the process that has made it. What comes goes on, in order, in a thread without Python; what one side does not take
// is not read from the other.
//
// Short calls that gRPC's own server would spend most of their time in are taken here: one whole request of a method that is named, at most
// `message_bytes` long, not compressed, in frames that follow each other, that did not have to wait for its process's share. They wait for
// a thread that does them (calls.hpp), and their answers go between the frames of the server. All other calls are the server's, as is the
// connection: what it is told of fields is written anew without a table (RFC 7541), as those of calls that it never sees fill the client's;
// and of the windows of flow control (RFC 9113, section 5.2) it is given what it would have without them.
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
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "designs/access_edge/control/calls.hpp"

namespace penstock::control {

class Relay {
  public:
    // Listens at `path`, which must not be there, and closes what is above `most` connections; passes them on to the socket at `to`. The
    // address that they come from there is the abstract one `name`/PROCESS/NUMBER. Throws std::system_error.
    // `methods`: paths of the calls that are taken here, with requests of at most `message_bytes`.
    Relay(const std::string& path, std::string to, std::string name, std::size_t most, const std::vector<std::string>& methods,
          std::size_t message_bytes);
    ~Relay();
    Relay(const Relay&) = delete;
    Relay& operator=(const Relay&) = delete;

    // Ends all connections, and lets nobody in any more.
    void close();
    std::size_t connections() const { return open_; }
    // Waits for a call and takes it; nothing: there will be no more. From any thread.
    std::shared_ptr<Call> take();
    // Lets those go that wait for a call, for good.
    void end();
    // Sends an answer, if somebody waits for it. From any thread that has Calls::connections.
    void answer(Answer answer);

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

    // Waits for something to happen, and does what follows.
    void look();
    void accept();
    void serve(End& end, std::uint32_t events);
    // Moves what can be moved from one end to the other; false: the pair is at its end.
    bool move(End& from, End& to);
    // Looks at what has come and says what of it goes on; false: it makes no sense.
    bool look_at_client(Pair& pair);
    bool look_at_server(Pair& pair);
    // A whole frame of the client that may concern a call taken here.
    bool take_fields(Pair& pair, unsigned type, unsigned flags, std::uint32_t stream, std::string_view what);
    void take_data(Pair& pair, unsigned flags, std::string_view what);
    void take_window(Pair& pair, std::uint32_t stream, std::string_view frame);
    void take_settings(Pair& pair, std::string_view what);
    bool takes(Pair& pair, const std::vector<Header>& fields, Call& call) const;
    // So much data of the client is out of the way.
    void have_read(Pair& pair, std::size_t bytes);
    // Gives the call that is coming to the server after all.
    void give_up(Pair& pair);
    void cancel(Pair& pair);
    void send_answers(Pair& pair);
    bool admit(Pair& pair, std::uint32_t stream);
    void ended(Pair& pair, std::uint32_t stream);
    // Tries those again that wait and may go.
    void go_on();
    void watch(End& end);
    void drop(std::uint64_t number);

    std::string to_, name_;
    std::size_t most_, message_bytes_;
    std::unordered_map<std::string, std::size_t> methods_;
    std::shared_ptr<Calls> calls_;
    std::atomic<bool> stop_ = false;
    bool looks_ = false;  // at what has happened
    int listener_ = -1, epoll_ = -1, wake_ = -1;
    std::uint64_t next_ = 1;
    std::unordered_map<std::uint64_t, std::unique_ptr<Pair>> pairs_;
    std::unordered_map<int, Caller> callers_;
    std::atomic<std::size_t> open_ = 0;
    std::thread thread_;
};

}  // namespace penstock::control
