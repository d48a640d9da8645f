// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "penstock/engine/traffic.hpp"

#include <algorithm>
#include <cmath>

namespace penstock::engine {

namespace {

class Recorded final : public Source {
  public:
    explicit Recorded(const RecordedFrames& frames) : frames_(frames) { advance(); }

    void take(Frame& frame) override {
        frame.queue = frames_.queues[at_];
        frame.length = static_cast<std::uint32_t>(frames_.lengths[at_]);
        frame.stored = static_cast<std::uint32_t>(frames_.stored[at_]);
        frame.data = frames_.data.data() + frames_.offsets[at_];
        frame.error = !frames_.error.empty() && frames_.error[at_];
        ++at_;
        advance();
    }

  private:
    void advance() { next_ = at_ < frames_.cycles.size() ? static_cast<double>(frames_.cycles[at_] - epoch_) : kNever; }
    void move(double cycles) override { epoch_ += static_cast<std::int64_t>(cycles); }

    RecordedFrames frames_;
    std::int64_t epoch_ = 0;
    std::size_t at_ = 0;
};

// Frame sizes drawn by weight.
class Sizes {
  public:
    explicit Sizes(const std::vector<std::pair<std::uint32_t, double>>& sizes) {
        double sum = 0, bytes = 0;
        for (const auto& [size, weight] : sizes) {
            bytes_.push_back(size);
            up_to_.push_back(sum += weight);
            bytes_up_to_.push_back(bytes += weight * size);
        }
        mean_ = bytes / sum;
    }
    double mean() const { return mean_; }
    std::uint32_t bytes(std::size_t index) const { return bytes_[index]; }
    std::size_t draw(Random& random) const { return draw(random, up_to_); }
    // The frame that a look at the line at a random time meets: longer ones more often.
    std::uint32_t draw_by_bytes(Random& random) const { return bytes_[draw(random, bytes_up_to_)]; }

  private:
    std::size_t draw(Random& random, const std::vector<double>& up_to) const {
        if (bytes_.size() == 1) return 0;
        const double at = random.uniform() * up_to.back();
        const auto found = std::upper_bound(up_to.begin(), up_to.end() - 1, at);
        return static_cast<std::size_t>(found - up_to.begin());
    }

    std::vector<std::uint32_t> bytes_;
    std::vector<double> up_to_, bytes_up_to_;  // sums of the weights, of weight * bytes
    double mean_ = 0;
};

// Length and headers of a frame of the source's queue number `which`.
void draw_frame(const SyntheticSettings& settings, const Sizes& sizes, std::size_t which, Random& random, Frame& frame) {
    const std::size_t size = sizes.draw(random);
    frame.length = sizes.bytes(size);
    const FrameHeaders& headers = settings.headers;
    if (headers.each == 0) return;
    frame.data = headers.bytes.data() + (which * settings.sizes.size() + size) * headers.each;
    frame.stored = std::min(headers.each, frame.length);
    frame.sum_from = headers.sum_from;
    frame.sum_at = headers.sum_at;
}

// Time that a frame takes at its source's rate passes in bursts only: what is left of it when one ends goes on in the next, so the rate
// while on is kept, however short bursts are. Moves `time` behind the pauses that it reaches, and `on_until` to the end of its burst.
double behind_pauses(const SyntheticSettings& settings, Random& random, double& on_until, double time) {
    if (settings.kind != Kind::OnOff) return time;
    while (time >= on_until && time < settings.stop_cycle) {
        const double pause = random.exponential(settings.off_cycles);
        time += pause;
        on_until += pause + random.exponential(settings.on_cycles);
    }
    return time;
}

// The first frame of an on-off source, `gap` of a burst's time after its start: it is on then as often as in the long run.
double first_in_burst(const SyntheticSettings& settings, Random& random, double& on_until, double gap) {
    const double share = settings.on_cycles / (settings.on_cycles + settings.off_cycles);
    const double pause = random.uniform() >= share ? random.exponential(settings.off_cycles) : 0;
    on_until = settings.start_cycle + pause + random.exponential(settings.on_cycles);
    return behind_pauses(settings, random, on_until, settings.start_cycle + pause + gap);
}

// Several queues that share one arrival process, and Poisson traffic of equal rates: many independent Poisson processes of one rate
// are one Poisson process whose every arrival picks a queue at random.
class Shared final : public Source {
  public:
    Shared(const SyntheticSettings& settings, Random random) : settings_(settings), sizes_(settings.sizes), random_(random) {
        if (settings_.pick == Pick::Each) {
            settings_.cycles_per_byte /= static_cast<double>(settings_.queues.size());
            settings_.pick = Pick::Random;
        }
        for (std::size_t i = 0; i < settings_.queues.size(); ++i)
            consecutive_ = consecutive_ && settings_.queues[i] == settings_.queues[0] + i;
        double first = settings_.start_cycle;
        if (settings_.kind == Kind::Poisson) first += gap(0);
        if (settings_.kind == Kind::OnOff)
            first = first_in_burst(settings_, random_, on_until_, random_.uniform() * gap(sizes_.draw_by_bytes(random_)));
        set_next(first);
    }

    void take(Frame& frame) override {
        const auto queues = static_cast<std::uint32_t>(settings_.queues.size());
        const std::uint32_t which = settings_.pick == Pick::Random ? random_.below(queues) : turn_;
        turn_ = turn_ + 1 == queues ? 0 : turn_ + 1;
        frame.queue = consecutive_ ? settings_.queues[0] + which : settings_.queues[which];
        draw_frame(settings_, sizes_, which, random_, frame);
        set_next(behind_pauses(settings_, random_, on_until_, next_ + gap(frame.length)));
    }

  private:
    double gap(std::uint32_t length) {
        if (settings_.kind == Kind::Poisson) return random_.exponential(sizes_.mean() * settings_.cycles_per_byte);
        return length * settings_.cycles_per_byte;
    }
    void set_next(double time) { next_ = time < settings_.stop_cycle ? time : kNever; }
    void move(double cycles) override {
        settings_.stop_cycle -= cycles;
        on_until_ -= cycles;
    }

    SyntheticSettings settings_;
    Sizes sizes_;
    Random random_;
    double on_until_ = 0;
    std::uint32_t turn_ = 0;
    bool consecutive_ = true;  // the ids are; so a random one needs no look into a large table
};

// Traffic with its own clock in every queue; they start as if they had run for long, so the load is the same from the beginning.
class PerQueue final : public Source {
  public:
    PerQueue(const SyntheticSettings& settings, Random random)
        : settings_(settings),
          sizes_(settings.sizes),
          random_(random),
          on_until_(settings.kind == Kind::OnOff ? settings.queues.size() : 0),
          heap_(phases()) {
        set_next();
    }

    void take(Frame& frame) override {
        const std::uint32_t index = heap_.top().index;
        frame.queue = settings_.queues[index];
        draw_frame(settings_, sizes_, index, random_, frame);
        const double time = heap_.top().time + gap(index, frame.length);
        heap_.move_top(on_until_.empty() ? time : behind_pauses(settings_, random_, on_until_[index], time));
        set_next();
    }

  private:
    double cycles_per_byte(std::uint32_t index) const {
        return settings_.cycles_per_byte_each.empty() ? settings_.cycles_per_byte : settings_.cycles_per_byte_each[index];
    }
    double gap(std::uint32_t index, std::uint32_t length) {
        if (settings_.kind == Kind::Poisson) return random_.exponential(sizes_.mean() * cycles_per_byte(index));
        return length * cycles_per_byte(index);
    }
    double first_gap(std::uint32_t index) {
        if (settings_.kind == Kind::Poisson) return gap(index, 0);
        return random_.uniform() * sizes_.draw_by_bytes(random_) * cycles_per_byte(index);
    }
    std::vector<TimeHeap::Entry> phases() {
        std::vector<TimeHeap::Entry> entries(settings_.queues.size());
        for (std::uint32_t i = 0; i < entries.size(); ++i) {
            const double gap = first_gap(i);
            entries[i] = {on_until_.empty() ? settings_.start_cycle + gap : first_in_burst(settings_, random_, on_until_[i], gap), i};
        }
        return entries;
    }
    void set_next() { next_ = heap_.top().time < settings_.stop_cycle ? heap_.top().time : kNever; }
    void move(double cycles) override {
        settings_.stop_cycle -= cycles;
        for (double& until : on_until_) until -= cycles;
        heap_.earlier(cycles, kNever);
    }

    SyntheticSettings settings_;
    Sizes sizes_;
    Random random_;
    std::vector<double> on_until_;
    TimeHeap heap_;
};

std::vector<TimeHeap::Entry> first_arrivals(const std::vector<std::unique_ptr<Source>>& sources) {
    std::vector<TimeHeap::Entry> entries;
    for (std::uint32_t i = 0; i < sources.size(); ++i) entries.push_back({sources[i]->next_arrival(), i});
    return entries;
}

}  // namespace

std::unique_ptr<Source> recorded_source(const RecordedFrames& frames) { return std::make_unique<Recorded>(frames); }

std::unique_ptr<Source> synthetic_source(const SyntheticSettings& settings, Random random) {
    if (settings.pick == Pick::Each && (settings.kind != Kind::Poisson || !settings.cycles_per_byte_each.empty()))
        return std::make_unique<PerQueue>(settings, random);
    return std::make_unique<Shared>(settings, random);
}

TimeHeap::TimeHeap(std::vector<Entry> entries) : entries_(std::move(entries)) {
    for (std::size_t i = entries_.size() / 2; i-- > 0;) sift_down(i);
}

void TimeHeap::move_top(double time) {
    entries_.front().time = time;
    sift_down(0);
}

void TimeHeap::earlier(double cycles, double never) {
    for (Entry& entry : entries_)
        if (entry.time < never) entry.time -= cycles;
}

void TimeHeap::sift_down(std::size_t at) {
    const Entry moved = entries_[at];
    for (std::size_t child; (child = 2 * at + 1) < entries_.size(); at = child) {
        if (child + 1 < entries_.size() && entries_[child + 1].before(entries_[child])) ++child;
        if (!entries_[child].before(moved)) break;
        entries_[at] = entries_[child];
    }
    entries_[at] = moved;
}

Merge::Merge(std::vector<std::unique_ptr<Source>> sources, std::vector<bool> recorded, std::int64_t end, unsigned input, unsigned inputs,
             LiveSource* live)
    : sources_(std::move(sources)),
      recorded_(std::move(recorded)),
      heap_(first_arrivals(sources_)),
      last_(end),
      end_(std::min(static_cast<double>(end), Source::kNever)),
      input_(input),
      live_(live),
      number_(input),
      step_(inputs) {}

// As many whole epochs as have passed, so nothing is rounded.
void Merge::move_epoch() {
    const double passed = std::floor(heap_.top().time / kEpoch) * kEpoch;
    for (const auto& source : sources_) source->move_epoch(passed);
    heap_.earlier(passed, Source::kNever);
    epoch_ += static_cast<std::int64_t>(passed);
    end_ -= passed;
}

bool Merge::more(bool late) {
    while (!heap_.empty()) {
        if (heap_.top().time >= kEpoch && heap_.top().time < std::min(end_, Source::kNever)) move_epoch();
        const TimeHeap::Entry first = heap_.top();
        if (first.time >= end_) return false;
        if (!late || recorded_[first.index]) return true;
        heap_.move_top(Source::kNever);
    }
    return false;
}

Answer Merge::next(Frame& frame, Ticks link_free, std::int64_t now, std::int64_t& again) {
    if (exhausted_) return Answer::End;
    const bool late = link_free >= ticks(last_);
    const bool open = more(late);
    const Ticks arrival = open ? ticks(epoch_) + static_cast<Ticks>(heap_.top().time * static_cast<double>(ticks(1))) : 0;
    if (live_ && !late && now < last_ && !live_->over()) {
        const LiveSource::Ready ready = live_->next(input_, now, link_free);
        if (ready.frame && (!open || ticks(ready.cycle) <= arrival)) {
            frame = Frame{};
            frame.arrival = ticks(ready.cycle);
            frame.number = std::exchange(number_, number_ + step_);
            live_->take(input_, frame);
            return Answer::Frame;
        }
        // A frame of another source that is still to come may be overtaken.
        if (!open || arrival >= ticks(now + 1)) {
            again = std::min(ready.cycle, last_);
            if (open) again = std::min(again, static_cast<std::int64_t>(arrival >> kTickBits));
            return Answer::NotYet;
        }
    }
    if (open) {
        const TimeHeap::Entry first = heap_.top();
        Source& source = *sources_[first.index];
        frame = Frame{};
        frame.arrival = arrival;
        frame.number = std::exchange(number_, number_ + step_);
        source.take(frame);
        frame.address = frame.queue;
        heap_.move_top(source.next_arrival());
        return Answer::Frame;
    }
    exhausted_ = true;
    return Answer::End;
}

}  // namespace penstock::engine
