// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Calls that the relay takes itself (relay.hpp), on their way to the threads that do them and back.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "designs/access_edge/control/hpack.hpp"

namespace penstock::control {

class Calls;
class Relay;

// A call with one request and one answer. Whoever takes it answers it once.
struct Call {
    using Clock = std::chrono::steady_clock;

    std::shared_ptr<Calls> of;
    std::uint64_t connection = 0;
    std::uint32_t stream = 0;
    std::size_t method = 0;  // its place in the list that the relay was given
    std::string peer;        // as gRPC names who has called
    std::string message;     // of the request
    std::optional<Clock::time_point> deadline;
    std::atomic<bool> cancelled = false;

    // Whether somebody waits for the answer.
    bool waits() const { return !cancelled && !(deadline && Clock::now() > *deadline); }
};

// What a call was answered: a message where `status` is 0 (OK), and words else; `more`: fields behind it.
struct Answer {
    std::uint64_t connection = 0;
    std::uint32_t stream = 0;
    unsigned status = 0;
    std::string message, words;
    std::vector<Header> more;
};

// Calls that wait to be done. Its methods may be called from any thread.
//
// Whoever has nothing to do looks after the connections, and does the call that it finds there: so no thread has to wake another one
// between a client and its answer. Only where all have something to do the relay's own thread looks after them.
class Calls {
  public:
    using Look = std::function<void()>;  // looks after the connections until something has happened; calls `put`

    // `found`: by who looks after the connections, and who takes it next.
    void put(std::shared_ptr<Call> call, bool found);
    // Waits for a call and takes it; nothing: there will be no more.
    std::shared_ptr<Call> take(const Look& look);
    // Looks after the connections while no other thread does, until the end.
    void stand_in(const Look& look);
    // How many wait for a thread, beyond those that are there for them.
    std::size_t behind() const;
    // There are no more calls, from now on: all that wait are let go. `await`: waits until none looks after the connections.
    void end(bool await);

    // Who may touch the connections, and where answers go: nowhere (nullptr) once the relay is closed.
    std::mutex connections;
    Relay* relay = nullptr;

  private:
    void look(std::unique_lock<std::mutex>& lock, const Look& look);
    void pass_on();

    mutable std::mutex mutex_;
    std::condition_variable come_, alone_, quiet_;
    std::deque<std::shared_ptr<Call>> calls_;
    std::size_t idle_ = 0;  // threads that would take a call
    bool looked_after_ = false, ended_ = false;
};

// The frames of an answer (RFC 9113; gRPC over HTTP/2): the fields before the message, those behind it, and, where the call has failed,
// those that are all. A frame has at most kFrame bytes.
constexpr std::size_t kFrame = 16384;
std::string head_of_answer(std::uint32_t stream);
std::string tail_of_answer(const Answer& answer);
// A frame's head: length, type, flags, stream.
void append_head(std::string& to, std::size_t length, unsigned type, unsigned flags, std::uint32_t stream);

// How long a call may take, by the value of grpc-timeout; nothing where it is none.
std::optional<std::chrono::nanoseconds> timeout_of(std::string_view value);

}  // namespace penstock::control
