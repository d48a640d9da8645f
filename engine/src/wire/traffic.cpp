// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "penstock/engine/wire/traffic.hpp"

#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "penstock/engine/ecn.hpp"

namespace penstock::engine::wire {

namespace {

constexpr int kAtOnce = 64;                      // frames that are read from an end between two runs
constexpr std::int64_t kStep = 200'000;          // ns between two looks at a device that holds frames
constexpr std::int64_t kMostAtOnce = 1'000'000;  // ns that it runs between two looks at the ends, when it is behind
constexpr std::int64_t kNap = 1'000'000;         // ns between two looks at a device that is empty
constexpr std::int64_t kMostWaiting = 64 << 20;  // bytes at an input
constexpr std::size_t kLeastFrame = 60;          // a network card fills shorter ones up
constexpr std::int64_t kLook = 50'000'000;       // ns between two looks at whether the ends are there

std::uint32_t clamped(std::int64_t ns) { return static_cast<std::uint32_t>(std::clamp<std::int64_t>(ns, 0, UINT32_MAX)); }

std::uint32_t length_of(std::span<const std::uint8_t> frame) { return static_cast<std::uint32_t>(frame.size()); }

}  // namespace

Traffic::Traffic(Settings settings)
    : settings_(std::move(settings)),
      clock_(settings_.clock_hz),
      path_of_(settings_.files.size(), kNone),
      line_of_(settings_.files.size(), kNone),
      busy_(settings_.lines.size()),
      buffer_(kMaxFrameBytes + 1),
      ends_(settings_.files.size()) {
    for (std::size_t i = 0; i < settings_.paths.size(); ++i) {
        path_of_[settings_.paths[i].from] = static_cast<int>(i);
        if (settings_.paths[i].input >= inputs_.size()) inputs_.resize(settings_.paths[i].input + 1);
    }
    for (std::size_t i = 0; i < settings_.lines.size(); ++i) line_of_[settings_.lines[i].from] = static_cast<int>(i);
    for (const int file : settings_.files) places_.push_back({file, POLLIN, 0});
}

// ---- the loop

void Traffic::begin(std::int64_t now) {
    prctl(PR_SET_TIMERSLACK, 1UL);  // of this thread: sleep to the nanosecond, as far as the machine can
    const std::int64_t lead = std::max<std::int64_t>(0, settings_.begin_ns - monotonic_ns());
    const timespec time{lead / 1'000'000'000, lead % 1'000'000'000};
    nanosleep(&time, nullptr);
    clock_.begin(monotonic_ns(), now);
}

std::int64_t Traffic::turn(std::int64_t now, bool idle) {
    std::int64_t wall = monotonic_ns();
    let_go(wall);
    // While the device is behind there is no time to wait.
    const std::int64_t behind = wall - clock_.ns(static_cast<double>(now));
    std::int64_t next = wall;
    if (behind < kStep) {
        next = clock_.ns(static_cast<double>(now)) + (idle ? kNap : kStep);
        if (!due_.empty()) next = std::min(next, due_.top().at);
    }
    const std::int64_t nap = std::max<std::int64_t>(0, next - wall);
    const timespec time{nap / 1'000'000'000, nap % 1'000'000'000};
    if (ppoll(places_.data(), places_.size(), &time, nullptr) > 0) {
        for (unsigned end = 0; end < places_.size(); ++end) {
            if (places_[end].revents & (POLLERR | POLLHUP | POLLNVAL))
                unplugged_ = static_cast<int>(end);
            else if (places_[end].revents & POLLIN)
                read(end);
        }
    }
    wall = monotonic_ns();
    look_whether_plugged(wall);
    let_go(wall);
    return std::clamp(clock_.cycle(wall), now, now + std::max<std::int64_t>(1, clock_.span_cycles(kMostAtOnce)));
}

void Traffic::ran(std::int64_t now) {
    const std::int64_t wall = monotonic_ns();
    behind_now_ = std::max<std::int64_t>(0, wall - clock_.ns(static_cast<double>(now) + 1));
    behind_.add(clamped(behind_now_));
    if (behind_now_ > settings_.slack_ns) {
        clock_.stand(behind_now_);
        stood_still_ += std::exchange(behind_now_, 0);
        ++stops_;
        for (Input& input : inputs_)
            for (Waiting& frame : input.waiting) frame.cycle = std::min(frame.cycle, now);
    }
    let_go(wall);
}

void Traffic::look_whether_plugged(std::int64_t now_ns) {
    if (now_ns < next_look_) return;
    next_look_ = now_ns + kLook;
    // An interface that is down can not be written to.
    std::vector<pollfd> places;
    for (const int file : settings_.files) places.push_back({file, POLLOUT, 0});
    poll(places.data(), places.size(), 0);
    for (std::size_t end = 0; end < places.size(); ++end)
        if (!(places[end].revents & POLLOUT)) unplugged_ = static_cast<int>(end);
}

void Traffic::finish() {
    finished_ = true;
    for (; !due_.empty(); due_.pop()) {
        const Delayed& frame = slots_[due_.top().slot];
        ends_[frame.to].pending.add(length_of(frame.bytes));
    }
    for (const Input& input : inputs_) {
        for (const Waiting& frame : input.waiting) ends_[settings_.paths[frame.path].from].pending.add(length_of(frame.bytes));
        for (const std::uint64_t number : input.sent)  // on the line to the device
            if (const auto* kept = kept_.find(number)) ends_[settings_.paths[kept->own].from].pending.add(length_of(kept->bytes));
    }
}

// ---- ends

void Traffic::read(unsigned end) {
    for (int count = 0; count < kAtOnce; ++count) {
        const ssize_t size = ::read(settings_.files[end], buffer_.data(), buffer_.size());
        if (size < 0) {
            if (errno != EAGAIN && errno != EINTR) unplugged_ = static_cast<int>(end);
            return;
        }
        if (size < 14) continue;  // no Ethernet frame
        auto length = static_cast<std::size_t>(size);
        if (length < kLeastFrame) {
            std::fill(buffer_.begin() + size, buffer_.begin() + kLeastFrame, std::uint8_t{0});
            length = kLeastFrame;
        }
        came(end, monotonic_ns(), {buffer_.data(), length});
    }
}

void Traffic::came(unsigned end, std::int64_t now_ns, std::span<const std::uint8_t> frame) {
    EndCounts& counted = ends_[end];
    counted.read.add(length_of(frame));
    if (const int which = line_of_[end]; which != kNone) {
        const Line& line = settings_.lines[static_cast<std::size_t>(which)];
        BusyLine& busy = busy_[static_cast<std::size_t>(which)];
        std::int64_t gone = now_ns;
        if (line.bps > 0) {
            const std::int64_t start = std::max(now_ns, busy.free_ns);
            if (static_cast<double>(start - now_ns) * line.bps / 8e9 > static_cast<double>(line.buffer_bytes))
                return counted.overrun.add(length_of(frame));
            gone = start + static_cast<std::int64_t>(8e9 * static_cast<double>(frame.size() + settings_.overhead_bytes) / line.bps);
            busy.free_ns = gone;
        }
        return delay(gone + line.delay_ns, line.to, frame);
    }
    if (path_of_[end] == kNone) return counted.unmatched.add(length_of(frame));
    const auto which = static_cast<unsigned>(path_of_[end]);
    const Path& path = settings_.paths[which];
    const int rule = first_match(path.rules, frame);
    if (rule < 0) return counted.unmatched.add(length_of(frame));
    Input& input = inputs_[path.input];
    if (input.bytes + static_cast<std::int64_t>(frame.size()) > kMostWaiting) return counted.overrun.add(length_of(frame));
    input.bytes += static_cast<std::int64_t>(frame.size());
    std::int64_t cycle = clock_.cycle(now_ns);
    if (!input.waiting.empty()) cycle = std::max(cycle, input.waiting.back().cycle);
    input.waiting.push_back({cycle, path.queues[static_cast<std::size_t>(rule)], which, {frame.begin(), frame.end()}});
}

void Traffic::delay(std::int64_t at_ns, unsigned to, std::span<const std::uint8_t> bytes) {
    if (unused_.empty()) {
        unused_.push_back(slots_.size());
        slots_.emplace_back();
    }
    const std::size_t slot = unused_.back();
    unused_.pop_back();
    slots_[slot].to = to;
    slots_[slot].bytes.assign(bytes.begin(), bytes.end());
    due_.push({at_ns, made_++, slot});
}

void Traffic::let_go(std::int64_t now_ns) {
    while (!due_.empty() && due_.top().at <= now_ns) {
        const Due due = due_.top();
        due_.pop();
        const Delayed& frame = slots_[due.slot];
        EndCounts& counted = ends_[frame.to];
        const bool written = write(settings_.files[frame.to], frame.bytes.data(), frame.bytes.size()) >= 0;
        if (!written && (errno == EIO || errno == EBADF || errno == EBADFD)) unplugged_ = static_cast<int>(frame.to);
        (written ? counted.written : counted.failed).add(length_of(frame.bytes));
        late_.add(clamped(now_ns - due.at));
        unused_.push_back(due.slot);
    }
}

// ---- the device

LiveSource::Ready Traffic::next(unsigned input, std::int64_t, Ticks) {
    if (input >= inputs_.size() || inputs_[input].waiting.empty()) return {false, FrameSource::kNever};
    return {true, inputs_[input].waiting.front().cycle};
}

void Traffic::take(unsigned input, Frame& frame) {
    Input& in = inputs_[input];
    Waiting& first = in.waiting.front();
    in.bytes -= static_cast<std::int64_t>(first.bytes.size());
    const auto& kept = kept_.add(frame.number, std::move(first.bytes), first.path).bytes;
    frame.data = kept.data();
    frame.length = frame.stored = static_cast<std::uint32_t>(kept.size());
    frame.queue = frame.address = first.queue;
    in.sent.push_back(frame.number);
    in.waiting.pop_front();
}

// What an input's FIFO loses never arrives, so is known when a younger frame does.
void Traffic::arrived(const Frame& frame) {
    const auto* kept = kept_.find(frame.number);
    if (!kept) return;
    Input& in = inputs_[settings_.paths[kept->own].input];
    while (!in.sent.empty() && in.sent.front() <= frame.number) {
        const std::uint64_t number = in.sent.front();
        in.sent.pop_front();
        if (number != frame.number) kept_.lost(number);
    }
    kept_.arrived(frame.number);
    if (QueueCounts* queue = counts(frame.queue)) queue->in.add(frame.length);
}

void Traffic::left(const Frame& frame, std::int64_t last_bit, std::int64_t first_bit, bool mark, std::span<const std::uint8_t> bytes,
                   unsigned output) {
    const auto* kept = kept_.find(frame.number);
    int to = output < settings_.end_of_output.size() ? settings_.end_of_output[output] : kNone;
    std::int64_t delay_ns = 0;
    if (kept) {
        const Path& path = settings_.paths[kept->own];
        if (path.to != kNone) to = path.to;
        delay_ns = path.delay_ns;
    }
    std::vector<std::uint8_t> copy;
    if (!bytes.data() && kept) {  // a device without bytes: as it came, with its mark
        copy = kept->bytes;
        if (mark) mark_ce(copy.data(), copy.size());
        bytes = copy;
    }
    if (QueueCounts* queue = decided(frame)) {
        queue->out.add(length_of(bytes));
        queue->marked += mark;
        queue->last_sojourn = clamped(first_bit - last_bit);
        queue->sojourn.add(queue->last_sojourn);
    }
    if (to != kNone && !bytes.empty()) {
        const double bps = output < settings_.egress_bps.size() ? settings_.egress_bps[output] : 0;
        const double line = bps > 0 ? 8 * settings_.clock_hz * static_cast<double>(bytes.size()) / bps : 0;
        delay(clock_.ns(static_cast<double>(first_bit) + line) + delay_ns, static_cast<unsigned>(to), bytes);
    }
    kept_.fate(frame.number, true);
}

void Traffic::dropped(const Frame& frame, std::int64_t, unsigned) {
    if (QueueCounts* queue = decided(frame)) queue->dropped.add(frame.length);
    kept_.fate(frame.number, false);
}

// Of a frame whose queue only the device knows that is the first moment to say where it came in.
QueueCounts* Traffic::decided(const Frame& frame) {
    QueueCounts* const queue = counts(frame.queue);
    if (queue && frame.address == kAnyQueue) queue->in.add(frame.length);
    return queue;
}

QueueCounts* Traffic::counts(std::uint32_t queue) {
    if (queue >= kAnyQueue) return nullptr;  // not known yet, or none
    if (const auto found = queues_.find(queue); found != queues_.end()) return &found->second;
    return queues_.size() < kMostQueues ? &queues_[queue] : nullptr;
}

}  // namespace penstock::engine::wire
