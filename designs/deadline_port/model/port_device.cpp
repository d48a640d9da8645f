// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "designs/deadline_port/model/port_device.hpp"

#include <array>
#include <cstring>
#include <utility>

#include "blocks/common/model/drop.hpp"
#include "blocks/deadline/model/edfr_model.hpp"
#include "designs/deadline_port/model/deadline_device.hpp"
#include "designs/deadline_port/model/port_memories.hpp"

namespace penstock::engine {

namespace {

constexpr std::uint32_t kFifoClasses = 2;                                                                  // inside a plain FIFO
enum Event : unsigned { kIn, kFate, kDeadline, kExpired, kLate, kPassed, kPassedBytes, kBegin, kEvents };  // as shim.cpp has them

EdfrSettings inside(const DeadlinePortSettings& s) {
    EdfrSettings port;
    port.classes = s.fifo ? kFifoClasses : s.classes;
    port.class_from_user = s.class_from_user || s.fifo;
    port.chunk_beats = s.chunk_bytes / EdfrSettings::kBeatBytes;
    port.chunks = s.chunks;
    port.places = s.places;
    port.lines = s.lines;
    port.reads = s.reads;
    port.writes = s.writes;
    port.decided = s.decided;
    port.min_frame_bytes = s.min_frame_bytes;
    port.max_frame_bytes = s.max_frame_bytes;
    port.store_beats = s.store_beats;
    port.tick_cycles = s.tick_cycles;
    port.stamps.assign(port.classes, s.stamps);
    port.default_cycles = s.default_cycles;
    port.no_deadlines = s.fifo;
    return port;
}

EdfrSettings before(const DeadlinePortSettings& s) {
    EdfrSettings found;
    found.class_from_user = s.class_from_user;
    return found;
}

class PortDevice final : public DeadlineDevice {
  public:
    PortDevice(const DeadlinePortSettings& settings, const Environment& environment, std::unique_ptr<PinFace> face)
        : DeadlineDevice(settings, environment, std::move(face)),
          port_(inside(settings)),
          classifier_(before(settings)),
          memories_(settings, environment.memories, dram_accesses(environment.memories), 0, environment.seed) {}

    bool input_idle() const override { return input_.idle(); }
    MemoryCounts memory_counts(unsigned memory) const override { return memories_.counts(memory); }

  private:
    void cycle() override;
    std::int64_t next_event() const override;
    bool offered() const override { return offered_; }
    std::uint32_t free_chunks() const override { return port_.free_chunks(); }

    void offer();
    void events();
    void send();

    EdfrModel port_;
    EdfrClassifier classifier_;  // of a plain FIFO
    PortMemories memories_;
    EdfrBeat beat_;  // at the input
    bool offered_ = false;
    EdfrIn in_;    // of the port, in the last cycle that was not left out,
    EdfrOut out_;  // and what it said
    bool still_ = false;
    std::int64_t wakes_ = 0;  // while nothing else comes, in cycles since reset
    bool begun_ = false;      // the frame at the output has been told of
    std::uint32_t sent_bytes_ = 0;
    std::int64_t first_bit_ = 0;
};

void PortDevice::offer() {
    const Frame& frame = input_.frame();
    if (input_.at() == 0) {
        input_.begin();
        beat_.number = frame.number;
        beat_.user = static_cast<std::uint16_t>(frame.number);
        beat_.key = key_of(frame);
    }
    beat_.last = input_.last();
    beat_.bytes = static_cast<std::uint8_t>(input_.beat_bytes());
    beat_.bad = beat_.last && frame.error;
    if (unknown_class(frame)) {
        beat_.key = 0;
        beat_.bad = beat_.last;
    }
    offered_ = true;
}

void PortDevice::cycle() {
    fetch_if_asked();
    if (!offered_ && now_ >= input_.beat_cycle()) offer();
    active_ = false;
    // The counters of all classes are cleared meanwhile.
    const bool ready = output_.ready(now_), init_done = port_.init_done() && age() >= settings_.classes;
    bus_.output_ready += ready;

    // While the device is drained nothing goes from the port to its memories.
    const bool stop = registers_.stop(), closed = drained_, open = !stop || half_;
    EdfrIn in;
    in.m_ready = ready;
    in.memory = memories_.step(now_ + origin_, now_);
    if (closed) in.memory.awready = in.memory.wready = in.memory.arready = false;
    in.limit = registers_.limit();
    in.hold = stop;
    const auto setting = registers_.offered(), dscp = registers_.dscp(init_);
    EdfrDue::Set wait;
    if (setting && !settings_.fifo) {
        wait = {setting->id, setting->to};
        in.set = &wait;
    }
    if (dscp && !settings_.fifo) {
        in.set_dscp = true;
        in.dscp = dscp->id;
        in.dscp_class = dscp->to;
    }
    const EdfrBeat* given = offered_ && init_ && open ? &beat_ : nullptr;
    EdfrBeat beside;
    if (settings_.fifo) {
        if (classifier_.valid2) {
            beside = classifier_.beat2;
            beside.user = static_cast<std::uint16_t>(classifier_.class2 << 8 | (beside.user & 0xFF));
            beside.key = 0;
            in.beat = &beside;
        }
    } else {
        in.beat = given;
    }

    // A cycle like the last one, in which nothing has changed, is left out.
    const bool same = still_ && !in.beat && !in.set && !in.set_dscp && (in.m_ready == in_.m_ready || !out_.valid) &&
                      in.limit == in_.limit && in.hold == in_.hold && std::memcmp(&in.memory, &in_.memory, sizeof in.memory) == 0;
    if (!same || age() >= wakes_) {
        port_.skip_to(age());
        still_ = !port_.cycle(in, out_) && !in.beat && !in.set;
        if (still_) wakes_ = port_.next_event();
        in_ = in;
    }
    bool taken = given && out_.ready;
    if (settings_.fifo) {
        taken = given && classifier_.ready(out_.ready);
        if (classifier_.clock(given, out_.ready)) still_ = false;
        if (dscp) classifier_.table[dscp->id] = dscp->to;
    }

    const bool taken_any = taken, last = beat_.last;
    if (offered_) ++bus_.input_offered;
    if (taken) {
        ++bus_.input_taken;
        offered_ = false;
        if (input_.taken(now_)) {
            face_->arrived(input_.frame(), input_.last_bit(), now_, *observer_);
            active_ = true;
            input_.fetch(now_);
        }
    }
    const EdfrMemoryOut& asks = out_.memory;
    const bool rests =
        stop && !half_ && inside_ == 0 && !out_.sending && memories_.idle() && (closed || (!asks.awvalid && !asks.wvalid && !asks.arvalid));
    if (taken_any && !half_) ++inside_;
    if (taken_any) half_ = !last;
    inside_ -= out_.refused.valid + out_.fate.valid;
    const std::uint32_t outstanding = memories_.outstanding();
    memories_.clock(in.memory, out_.memory, now_ + origin_, now_);
    if (rests && !drained_) registers_.interrupt().happens(deadline_port::fields::kIrqCauseDrained.at(1));
    registers_.show_drain(drained_ = rests, outstanding);
    events();
    if (out_.valid && ready) send();
    if (!registers_.quiet()) registers_.step(init_, settings_.fifo || out_.set_ready);
    init_ = init_done;
    ++now_;
}

void PortDevice::events() {
    const bool begins = out_.valid && !begun_;
    if (!(out_.refused.valid || out_.fate.valid || out_.expired.valid || out_.late.valid || out_.passed.valid || begins)) return;
    const bool fifo = settings_.fifo;
    std::array<pst_event_pins, kEvents> pins{};
    std::uint32_t lost = 0;  // frames, in this cycle
    const auto name = [&](std::uint32_t klass, const EdfrFrame& frame) { return std::uint32_t{frame.user} << 8 | klass; };
    const auto length = [](const EdfrFrame& frame) { return static_cast<std::uint32_t>(frame.bytes); };
    const auto class_of = [&](const EdfrEvent& e) { return fifo ? e.frame.user >> 8 : e.id; };
    if (const EdfrEvent& e = out_.refused; e.valid) {
        const Drop reason = e.fate == EdfrFate::Bad                     ? Drop::BadFrame
                            : e.frame.bytes < settings_.min_frame_bytes ? Drop::Runt
                                                                        : Drop::Oversize;
        registers_.dropped(static_cast<unsigned>(reason)).add(e.frame.bytes);
        ++lost;
        pins[kIn] = {class_of(e), length(e.frame), true, static_cast<std::uint8_t>(reason), 0};
    }
    if (const EdfrEvent& e = out_.fate; e.valid) {
        const bool kept = e.fate == EdfrFate::Taken;
        const std::uint32_t klass = class_of(e);
        registers_.of(klass).in.add(e.frame.bytes);
        if (!kept) {
            registers_.of(klass).no_page.add(e.frame.bytes);
            registers_.dropped(static_cast<unsigned>(Drop::NoPage)).add(e.frame.bytes);
            ++lost;
        }
        pins[kFate] = {klass, length(e.frame), true, static_cast<std::uint8_t>(kept ? Drop::None : Drop::NoPage), 0};
        pins[kDeadline] = {static_cast<std::uint32_t>(e.frame.deadline - (fifo ? 0 : age())), 0, true, 0, 0};
    }
    const auto missed = [&](std::uint32_t klass, std::uint32_t bytes) {
        registers_.of(klass).missed.add(bytes);
        registers_.dropped(kDropMissed).add(bytes);
        ++lost;
    };
    if (const EdfrEvent& e = out_.expired; e.valid) {
        missed(e.id, e.frame.bytes);
        pins[kExpired] = {name(e.id, e.frame), length(e.frame), true, 0, 0};
    }
    if (const EdfrEvent& e = out_.late; e.valid) {
        missed(e.id, e.frame.bytes);
        pins[kLate] = {name(e.id, e.frame), length(e.frame), true, 0, 0};
    }
    if (const EdfrPassed& p = out_.passed; p.valid) {
        const auto add = [&](Amount& to) {
            to.packets += p.count.frames;
            to.bytes += p.count.bytes;
        };
        add(p.lost ? registers_.of(p.id).lost : registers_.of(p.id).missed);
        add(registers_.dropped(p.lost ? static_cast<unsigned>(Drop::ReadError) : kDropMissed));
        lost += p.count.frames;
        pins[kPassed] = {p.count.frames, static_cast<std::uint16_t>(p.count.bytes >> 32), true, p.lost, static_cast<std::uint8_t>(p.id)};
        pins[kPassedBytes] = {static_cast<std::uint32_t>(p.count.bytes), 0, true, 0, 0};
    }
    if (lost) registers_.interrupt().happens(0, lost);
    if (begins) {
        const std::uint32_t klass = fifo ? out_.frame.user >> 8 : out_.id, user = fifo ? out_.frame.user & 0xFF : out_.frame.user;
        pins[kBegin] = {user << 8 | klass, 0, true, 0, 0};
        begun_ = true;
    }
    active_ |= face_->events(now_, pins, *observer_);
}

void PortDevice::send() {
    ++bus_.output_taken;
    if (sent_bytes_ == 0) first_bit_ = now_;
    const std::uint32_t bytes = out_.last ? out_.bytes_last : EdfrSettings::kBeatBytes;
    sent_bytes_ += bytes;
    output_.taken(now_, bytes, out_.last);
    if (!out_.last) return;
    const std::uint32_t klass = settings_.fifo ? out_.frame.user >> 8 : out_.id;
    registers_.of(klass).out.add(sent_bytes_);
    observer_->departed(first_bit_, klass, out_.frame.number, sent_bytes_, 0);
    active_ = true;
    begun_ = false;
    sent_bytes_ = 0;
}

// The next cycle in which something may happen.
std::int64_t PortDevice::next_event() const {
    if (!still_ || !memories_.idle() || !registers_.quiet() || !init_ || registers_.stop() != drained_) return now_;
    std::int64_t next = wakes_ - (origin_ - kResetCycles);
    if (out_.valid) next = std::min(next, std::max(now_, output_.ready_from()));
    if (offered_ && out_.ready && (!registers_.stop() || half_)) return now_;
    if (!offered_) next = std::min(next, input_.beat_cycle());
    if (input_.asking()) next = active_ ? now_ : std::min(next, input_.ask_again());
    return next;
}

}  // namespace

std::unique_ptr<Device> make_port_device(const DeadlinePortSettings& settings, const Environment& environment,
                                         std::unique_ptr<PinFace> face) {
    return std::make_unique<PortDevice>(settings, environment, std::move(face));
}

}  // namespace penstock::engine
