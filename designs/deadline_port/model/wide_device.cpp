// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "designs/deadline_port/model/wide_device.hpp"

#include <array>
#include <cstring>
#include <iterator>
#include <utility>
#include <vector>

#include "blocks/common/model/drop.hpp"
#include "blocks/deadline/model/edfr_wide_model.hpp"
#include "designs/deadline_port/model/deadline_device.hpp"
#include "designs/deadline_port/model/port_memories.hpp"
#include "designs/deadline_port/model/wide_face.hpp"
#include "penstock/engine/word_input.hpp"

namespace penstock::engine {

namespace {

EdfrWideSettings inside_wide(const DeadlinePortSettings& s) {
    EdfrWideSettings wide;
    wide.columns = s.columns;
    wide.deal_rows = s.deal_rows;
    wide.deal_lists = s.deal_lists;
    wide.deal_records = s.deal_records;
    wide.gather_rows = s.gather_rows;
    wide.gather_ahead = s.gather_ahead;
    EdfrSettings& port = wide.port;
    port.classes = s.classes;
    port.class_from_user = s.class_from_user;
    port.chunk_beats = s.chunk_bytes / EdfrSettings::kBeatBytes;
    port.chunks = s.chunks / s.columns;
    port.places = s.places;
    port.lines = s.lines;
    port.reads = s.reads;
    port.writes = s.writes;
    port.min_frame_bytes = s.min_frame_bytes;
    port.max_frame_bytes = s.max_frame_bytes;
    port.store_beats = s.store_beats;
    port.tick_cycles = s.tick_cycles;
    port.stamps.assign(port.classes, s.stamps);
    port.default_cycles = s.default_cycles;
    port.run_frames = s.run_frames;
    return wide;
}

class WideDevice final : public DeadlineDevice {
  public:
    WideDevice(const DeadlinePortSettings& settings, const Environment& environment, std::unique_ptr<PinFace> face)
        : DeadlineDevice(settings, environment, std::move(face)),
          columns_(settings.columns),
          each_(static_cast<unsigned>(environment.memories.size()) / settings.columns),
          port_(inside_wide(settings)),
          words_(settings.columns) {
        auto drams = dram_accesses(environment.memories);
        for (unsigned c = 0; c < columns_; ++c) {
            const auto first = drams.begin() + c * each_;
            memories_.emplace_back(
                settings, std::span(environment.memories).subspan(std::size_t{c} * each_, each_),
                std::vector<std::unique_ptr<DramAccess>>(std::make_move_iterator(first), std::make_move_iterator(first + each_)), c * each_,
                environment.seed);
        }
    }

    bool input_idle() const override { return input_.idle() && !words_.offered() && face_->idle(); }
    MemoryCounts memory_counts(unsigned memory) const override { return memories_[memory / each_].counts(memory % each_); }

  private:
    using Face = DeadlineWideFace;

    void cycle() override;
    std::int64_t next_event() const override;
    bool offered() const override { return words_.offered(); }
    std::uint32_t free_chunks() const override { return free_; }

    void put(unsigned segment);
    bool step_port(const EdfrWideIn& in);
    bool memories_rest(bool closed) const;
    void events();
    void send();

    std::uint32_t columns_, each_;  // each_: memories of a column
    EdfrWideModel port_;
    std::vector<PortMemories> memories_;  // by column
    WordInput words_;
    EdfrWord offered_, word_;                        // at the pins; behind them, in front of the port
    std::uint32_t offered_begins_ = 0, begins_ = 0;  // frames that begin there
    bool word_valid_ = false;
    std::uint32_t free_ = 0;  // chunks, in the cycle before
    EdfrWideIn in_;           // of the port, in the last cycle that was not left out,
    EdfrWideOut out_;         // and what it said
    bool still_ = false;
    std::int64_t wakes_ = 0;  // while nothing else comes, in cycles since reset
    bool row_told_ = false;   // the row at the output has been offered before
    // Of the frame that leaves:
    std::uint32_t sent_class_ = 0, sent_bytes_ = 0;
    std::uint64_t sent_number_ = 0;
    std::int64_t first_bit_ = 0;
};

// A beat of the link's frame into the word at the pins.
void WideDevice::put(unsigned segment) {
    const Frame& frame = input_.frame();
    if (input_.beat_bytes() == 0) throw DeviceError("cycle " + std::to_string(now_) + ": a frame without bytes has no segment");
    const bool unknown = unknown_class(frame);
    EdfrSegment& to = offered_.segment[segment];
    to = {.used = true, .last = input_.last(), .number = frame.number, .user = static_cast<std::uint16_t>(frame.number)};
    to.bad = to.last && (frame.error || unknown);
    to.bytes = static_cast<std::uint8_t>(input_.beat_bytes());
    if (input_.at() == 0) {
        if (!unknown) to.key = key_of(frame);
        ++offered_begins_;
    }
}

// A cycle of the port; one like the last one, in which nothing has changed, is left out.
bool WideDevice::step_port(const EdfrWideIn& in) {
    const bool same = still_ && !in.word && !in.set && !in.set_dscp && (in.m_ready == in_.m_ready || !out_.valid) &&
                      in.limit == in_.limit && in.hold == in_.hold && std::memcmp(&in.memory, &in_.memory, sizeof in.memory) == 0;
    if (same && age() < wakes_) return false;
    port_.skip_to(age());
    still_ = !port_.cycle(in, out_) && !in.word && !in.set;
    if (still_) wakes_ = port_.next_event();
    in_ = in;
    in_.word = nullptr;
    in_.set = nullptr;
    return true;
}

// No column has anything under way to its memories or is about to.
bool WideDevice::memories_rest(bool closed) const {
    for (unsigned c = 0; c < columns_; ++c) {
        const EdfrMemoryOut& asks = out_.memory[c];
        if (!memories_[c].idle() || (!closed && (asks.awvalid || asks.wvalid || asks.arvalid))) return false;
    }
    return true;
}

void WideDevice::cycle() {
    fetch_if_asked();
    if (!words_.offered() && now_ >= input_.beat_cycle()) {
        offered_ = {};
        offered_begins_ = 0;
        words_.make(input_, now_, [] { return true; }, [this](unsigned segment) { put(segment); });
    }
    active_ = false;
    // The counters of all classes are cleared meanwhile.
    const bool ready = output_.ready(now_), init_done = port_.init_done() && age() >= settings_.classes;
    bus_.output_ready += ready;

    // While the device is drained nothing goes from the columns to their memories.
    const bool stop = registers_.stop(), closed = drained_, open = !stop || half_;
    EdfrWideIn in;
    in.word = word_valid_ ? &word_ : nullptr;
    in.m_ready = ready;
    for (unsigned c = 0; c < columns_; ++c) {
        EdfrMemoryIn& memory = in.memory[c];
        memory = memories_[c].step(now_ + origin_, now_);
        if (closed) memory.awready = memory.wready = memory.arready = false;
    }
    const std::uint32_t limit = registers_.limit();  // an equal part for each column; 0 is none
    in.limit = limit == 0 ? 0 : std::max(1U, limit / columns_);
    in.hold = stop;
    const auto setting = registers_.offered(), dscp = registers_.dscp(init_);
    EdfrDue::Set wait;
    if (setting) {
        wait = {setting->id, setting->to};
        in.set = &wait;
    }
    if (dscp) {
        in.set_dscp = true;
        in.dscp = dscp->id;
        in.dscp_class = dscp->to;
    }
    free_ = 0;
    for (unsigned c = 0; c < columns_; ++c) free_ += port_.free_chunks(c);
    const bool stepped = step_port(in);

    // The word behind the pins goes to the port, and another one comes.
    const bool moves = word_valid_ && out_.ready, takes = !word_valid_ || out_.ready;
    const bool taken = words_.offered() && init_ && open && takes;
    const bool rests = stop && !half_ && !word_valid_ && inside_ == 0 && !out_.sending && memories_rest(closed);
    if (words_.offered()) ++bus_.input_offered;
    if (moves) inside_ += begins_;
    if (takes) word_valid_ = taken;
    if (taken) {
        ++bus_.input_taken;
        word_ = offered_;
        begins_ = offered_begins_;
        for (unsigned s = 0; s < columns_; ++s)
            if (word_.segment[s].used) half_ = !word_.segment[s].last;
        words_.taken(input_, now_, [this](const Frame& frame, std::int64_t last_bit) {
            face_->arrived(frame, last_bit, now_, *observer_);
            active_ = true;
        });
    }
    std::uint32_t outstanding = 0;
    for (unsigned c = 0; c < columns_; ++c) {
        outstanding |= memories_[c].outstanding() << c * each_;
        memories_[c].clock(in.memory[c], out_.memory[c], now_ + origin_, now_);
    }
    if (rests && !drained_) registers_.interrupt().happens(deadline_port::fields::kIrqCauseDrained.at(1));
    registers_.show_drain(drained_ = rests, outstanding);
    if (stepped) events();
    if (out_.valid && ready) send();
    if (!registers_.quiet()) registers_.step(init_, out_.set_ready);
    init_ = init_done;
    ++now_;
}

void WideDevice::events() {
    std::array<pst_event_pins, Face::kEvents * Face::kMostColumns> pins{};
    std::uint32_t lost = 0;  // frames, in this cycle
    bool any = false;
    const auto name = [](std::uint32_t klass, const EdfrFrame& frame) { return std::uint32_t{frame.user} << 8 | klass; };
    const auto tell = [&](Face::Event kind, unsigned at, const EdfrEvent& e) -> pst_event_pins& {
        any = true;
        pst_event_pins& to = pins[kind * columns_ + at];
        to = {name(e.id, e.frame), static_cast<std::uint32_t>(e.frame.bytes), true, 0, 0, 0};
        return to;
    };
    const auto missed = [&](Face::Event kind, unsigned at, const EdfrEvent& e) {
        if (!e.valid) return;
        registers_.of(e.id).missed.add(e.frame.bytes);
        registers_.dropped(kDropMissed).add(e.frame.bytes);
        ++lost;
        tell(kind, at, e);
    };
    for (unsigned c = 0; c < columns_; ++c) {
        if (const EdfrEvent& e = out_.refused[c]; e.valid) {
            const Drop reason = e.fate == EdfrFate::Bad                     ? Drop::BadFrame
                                : e.frame.bytes < settings_.min_frame_bytes ? Drop::Runt
                                                                            : Drop::Oversize;
            registers_.dropped(static_cast<unsigned>(reason)).add(e.frame.bytes);
            ++lost;
            --inside_;
            tell(Face::kRefused, c, e).reason_o = static_cast<std::uint8_t>(reason);
        }
        if (const EdfrEvent& e = out_.dropped[c]; e.valid) {
            registers_.of(e.id).in.add(e.frame.bytes);
            registers_.of(e.id).no_page.add(e.frame.bytes);
            registers_.dropped(static_cast<unsigned>(Drop::NoPage)).add(e.frame.bytes);
            ++lost;
            --inside_;
            tell(Face::kDropped, c, e);
        }
        if (const EdfrEvent& e = out_.taken[c]; e.valid) {
            registers_.of(e.id).in.add(e.frame.bytes);
            --inside_;
            tell(Face::kTaken, c, e).page_o = static_cast<std::uint32_t>(e.frame.deadline - age());
        }
        missed(Face::kExpired, c, out_.expired[c]);
        missed(Face::kLate, c, out_.late[c]);
        missed(Face::kOverdue, c, out_.overdue[c]);
        if (const EdfrPassed& p = out_.passed[c]; p.valid) {
            const auto add = [&](Amount& to) {
                to.packets += p.count.frames;
                to.bytes += p.count.bytes;
            };
            add(p.lost ? registers_.of(p.id).lost : registers_.of(p.id).missed);
            add(registers_.dropped(p.lost ? static_cast<unsigned>(Drop::ReadError) : kDropMissed));
            lost += p.count.frames;
            any = true;
            pins[Face::kPassed * columns_ + c] = {
                p.count.frames, static_cast<std::uint32_t>(p.count.bytes), true,
                p.lost,         static_cast<std::uint8_t>(p.id),           static_cast<std::uint32_t>(p.count.bytes >> 32)};
        }
    }
    if (lost) registers_.interrupt().happens(0, lost);
    if (out_.valid && !row_told_)
        for (unsigned s = 0; s < columns_; ++s)
            if (const EdfrGather::Cell& cell = out_.row[s]; cell.used && cell.first) {
                any = true;
                pins[Face::kBegin * columns_ + s] = {name(cell.id, cell.frame), 0, true, 0, 0, 0};
            }
    row_told_ = out_.valid;
    if (any) active_ |= face_->events(now_, std::span(pins).first(std::size_t{Face::kEvents} * columns_), *observer_);
}

void WideDevice::send() {
    ++bus_.output_taken;
    row_told_ = false;
    for (unsigned s = 0; s < columns_; ++s) {
        const EdfrGather::Cell& cell = out_.row[s];
        if (!cell.used) continue;
        if (cell.first) {
            sent_class_ = cell.id;
            sent_number_ = cell.frame.number;
            sent_bytes_ = 0;
            first_bit_ = now_;
        }
        const std::uint32_t bytes = cell.last ? cell.bytes_last() : EdfrSettings::kBeatBytes;
        sent_bytes_ += bytes;
        output_.taken(now_, bytes, cell.last);
        if (!cell.last) continue;
        registers_.of(sent_class_).out.add(sent_bytes_);
        observer_->departed(first_bit_, sent_class_, sent_number_, sent_bytes_, 0);
        active_ = true;
    }
}

// The next cycle in which something may happen.
std::int64_t WideDevice::next_event() const {
    if (!still_ || word_valid_ || !registers_.quiet() || !init_ || registers_.stop() != drained_) return now_;
    for (const PortMemories& memories : memories_)
        if (!memories.idle()) return now_;
    std::int64_t next = wakes_ - (origin_ - kResetCycles);
    if (out_.valid) next = std::min(next, std::max(now_, output_.ready_from()));
    if (words_.offered() && (!registers_.stop() || half_)) return now_;
    if (!words_.offered()) next = std::min(next, input_.beat_cycle());
    if (input_.asking()) next = active_ ? now_ : std::min(next, input_.ask_again());
    return next;
}

}  // namespace

std::unique_ptr<Device> make_wide_device(const DeadlinePortSettings& settings, const Environment& environment,
                                         std::unique_ptr<PinFace> face) {
    return std::make_unique<WideDevice>(settings, environment, std::move(face));
}

}  // namespace penstock::engine
