// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "designs/access_edge/control/calls.hpp"

#include <algorithm>
#include <limits>

namespace penstock::control {

namespace {

constexpr unsigned kHeaders = 1, kEndStream = 1, kEndHeaders = 4;
constexpr char kOk[] =
    "\x88\x0f\x10\x10"
    "application/grpc";  // :status 200, and content-type without indexing (RFC 7541)

// Words as grpc-message has them: what is no printable ASCII, and '%', as %XX.
std::string percent(std::string_view words) {
    constexpr char kDigits[] = "0123456789ABCDEF";
    std::string made;
    for (const char one : words) {
        const auto byte = static_cast<unsigned char>(one);
        if (byte >= 0x20 && byte < 0x7F && byte != '%') {
            made.push_back(one);
        } else {
            made.append({'%', kDigits[byte >> 4], kDigits[byte & 15]});
        }
    }
    return made;
}

}  // namespace

void Calls::put(std::shared_ptr<Call> call, bool found) {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    calls_.push_back(std::move(call));
    if (!found) come_.notify_one();
}

void Calls::look(std::unique_lock<std::mutex>& lock, const Look& look) {
    looked_after_ = true;
    lock.unlock();
    try {
        look();
    } catch (...) {  // of memory: the next one tries again
        lock.lock();
        looked_after_ = false;
        pass_on();
        throw;
    }
    lock.lock();
    looked_after_ = false;
}

// Called with the lock held, by who looks after the connections no longer.
void Calls::pass_on() {
    for (std::size_t left = std::min(idle_, std::max<std::size_t>(calls_.size(), 1)); left > 0; --left) come_.notify_one();
    if (idle_ == 0) alone_.notify_one();
    if (ended_) quiet_.notify_all();
}

std::shared_ptr<Call> Calls::take(const Look& look_once) {
    std::unique_lock lock(mutex_);
    ++idle_;
    while (!ended_ && calls_.empty()) {
        if (looked_after_) {
            come_.wait(lock);
        } else {
            look(lock, look_once);
        }
    }
    --idle_;
    std::shared_ptr<Call> call;
    if (!ended_) {
        call = std::move(calls_.front());
        calls_.pop_front();
    }
    if (!looked_after_) pass_on();
    return call;
}

void Calls::stand_in(const Look& look_once) {
    std::unique_lock lock(mutex_);
    while (!ended_) {
        if (looked_after_ || idle_) {
            alone_.wait(lock);
            continue;
        }
        look(lock, look_once);
        if (idle_ || ended_) pass_on();
    }
}

std::size_t Calls::behind() const {
    const std::lock_guard lock(mutex_);
    return calls_.size() > idle_ ? calls_.size() - idle_ : 0;
}

void Calls::end(bool await) {
    std::deque<std::shared_ptr<Call>> left;  // each knows of these calls
    std::unique_lock lock(mutex_);
    ended_ = true;
    left.swap(calls_);
    come_.notify_all();
    alone_.notify_all();
    if (await) quiet_.wait(lock, [this] { return !looked_after_ && idle_ == 0; });
    lock.unlock();
}

void append_head(std::string& to, std::size_t length, unsigned type, unsigned flags, std::uint32_t stream) {
    for (const std::size_t byte : {length >> 16, length >> 8, length, std::size_t{type}, std::size_t{flags}, std::size_t{stream >> 24},
                                   std::size_t{stream >> 16}, std::size_t{stream >> 8}, std::size_t{stream}})
        to.push_back(static_cast<char>(byte & 0xFF));
}

std::string head_of_answer(std::uint32_t stream) {
    std::string made;
    append_head(made, sizeof kOk - 1, kHeaders, kEndHeaders, stream);
    return made.append(kOk, sizeof kOk - 1);
}

std::string tail_of_answer(const Answer& answer) {
    std::string block;
    if (answer.status) block.assign(kOk, sizeof kOk - 1);
    append_header(block, "grpc-status", std::to_string(answer.status));
    if (!answer.words.empty()) append_header(block, "grpc-message", percent(answer.words));
    for (const Header& one : answer.more)
        if (block.size() + one.name.size() + one.value.size() + 16 <= kFrame) append_header(block, one.name, one.value);
    std::string made;
    append_head(made, block.size(), kHeaders, kEndStream | kEndHeaders, answer.stream);
    return made += block;
}

std::optional<std::chrono::nanoseconds> timeout_of(std::string_view value) {
    if (value.size() < 2 || value.size() > 9) return std::nullopt;
    std::int64_t number = 0;
    for (const char digit : value.substr(0, value.size() - 1)) {
        if (digit < '0' || digit > '9') return std::nullopt;
        number = number * 10 + (digit - '0');
    }
    std::int64_t unit = 0;
    switch (value.back()) {
        case 'H':
            unit = 3'600'000'000'000;
            break;
        case 'M':
            unit = 60'000'000'000;
            break;
        case 'S':
            unit = 1'000'000'000;
            break;
        case 'm':
            unit = 1'000'000;
            break;
        case 'u':
            unit = 1'000;
            break;
        case 'n':
            unit = 1;
            break;
        default:
            return std::nullopt;
    }
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 4;  // so that a time of the clock can be added
    return std::chrono::nanoseconds(number > kMost / unit ? kMost : number * unit);
}

}  // namespace penstock::control
