// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "penstock/engine/rtl_device.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace penstock::engine {

namespace {
constexpr std::int64_t kResetCycles = 16;
constexpr std::int64_t kInitLimit = 50'000'000;     // a walker over a million queues needs a fiftieth of it
constexpr std::int64_t kRegisterLimit = 1'000'000;  // the bus is stuck after that

// Each port draws from a sequence of its own.
constexpr std::uint64_t kInputSequence = 0x494E, kOutputSequence = 0x4F55'54, kNextPort = std::uint64_t{1} << 32;

void same(const char* what, std::size_t library, std::size_t job) {
    if (library != job)
        throw std::invalid_argument("the device has " + std::to_string(library) + " " + what + ", the job " + std::to_string(job));
}
}  // namespace

RtlDevice::RtlDevice(const std::string& library, std::unique_ptr<PinFace> face, unsigned inputs, unsigned outputs,
                     const Environment& environment)
    : environment_(environment),
      library_(library),
      face_(std::move(face)),
      head_(face_->head_bytes()),
      segments_(std::max(1U, library_.shape.beat_bytes / PST_BEAT_BYTES)),
      beat_(library_.shape.beat_bytes / segments_),
      device_(nullptr),
      in_pins_(std::size_t{library_.shape.inputs} * segments_),
      out_pins_(std::size_t{library_.shape.outputs} * segments_),
      events_(library_.shape.events),
      axi_(library_.shape.memories) {
    same("memories", library_.shape.memories, environment_.memories.size());
    same("inputs", library_.shape.inputs, inputs);
    same("outputs", library_.shape.outputs, outputs);
    same("event ports", library_.shape.events, face_->event_ports());
    pins_.in = in_pins_.data();
    pins_.out = out_pins_.data();
    pins_.ev = events_.data();
    pins_.axi = axi_.data();
    for (unsigned i = 0; i < inputs; ++i)
        inputs_.push_back({LinkInput(environment.ingress(i), head_, beat_), WordInput(segments_),
                           Random(environment_.seed, kInputSequence + i * kNextPort),
                           std::vector<std::uint8_t>(head_ + kMaxFrameBytes + 2 * PST_BEAT_BYTES)});
    for (unsigned o = 0; o < outputs; ++o)
        outputs_.push_back({.link = LinkOutput(environment.egress(o)),
                            .random = Random(environment_.seed, kOutputSequence + o * kNextPort),
                            .data = std::vector<std::uint8_t>(kMaxFrameBytes + 1 + PST_BEAT_BYTES),
                            .before = std::vector<pst_output_pins>(segments_)});
    auto drams = dram_accesses(environment_.memories);
    for (unsigned m = 0; m < environment_.memories.size(); ++m)
        memories_.push_back(std::make_unique<MemoryModel>(environment_.memories[m], std::move(drams[m]), m, environment_.seed));
    if (environment_.flip_byte >= 0 && !memories_.empty()) memories_[0]->flip_byte(environment_.flip_byte);
    device_ = library_.create();
    if (!device_) throw std::bad_alloc();
}

RtlDevice::~RtlDevice() {
    if (device_) library_.destroy(device_);
}

void RtlDevice::fail(const std::string& what) const { throw DeviceError("cycle " + std::to_string(now_) + ": " + what); }

std::string RtlDevice::port(const char* name, std::size_t number, std::size_t of) const {
    return of == 1 ? name : std::string(name) + "[" + std::to_string(number) + "]";
}

void RtlDevice::start() {
    pins_.rst_i = 1;
    for (int i = 0; i < kResetCycles; ++i) cycle();
    pins_.rst_i = 0;
    for (std::int64_t i = 0; !pins_.init_done_o; ++i) {
        if (i == kInitLimit) fail("init_done_o does not rise");
        cycle();
    }
}

void RtlDevice::connect(std::span<FrameSource* const> sources, Observer* observer) {
    observer_ = observer;
    now_ = 0;
    bus_ = {};
    for (Output& output : outputs_) output.link.restart();
    for (std::size_t i = 0; i < inputs_.size(); ++i) inputs_[i].link.connect(i < sources.size() ? sources[i] : nullptr);
}

// Frames may have been offered since the last cycle.
void RtlDevice::ask() {
    for (Input& input : inputs_)
        if (input.link.asking()) input.link.fetch(now_);
}

void RtlDevice::settle() {
    while (!registers_.idle()) {
        if (registers_.stuck() > kRegisterLimit) fail("the register bus is stuck");
        cycle();
    }
}

std::uint32_t RtlDevice::read(std::uint32_t address) {
    ask();
    settle();
    registers_.read(address);
    settle();
    return registers_.value();
}

void RtlDevice::run(std::int64_t until) {
    ask();
    while (now_ < until) {
        cycle();
        if (active_ && observer_->enough()) return;
    }
}

void RtlDevice::cycle() {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
        Input& input = inputs_[i];
        if (input.link.asking() && (active_ || now_ >= input.link.ask_again())) input.link.fetch(now_);
        if (!input.words.offered() && now_ >= input.link.beat_cycle()) offer_word(input, input_pins(i));
    }
    active_ = false;
    for (std::size_t o = 0; o < outputs_.size(); ++o)
        output_pins(o)->tready_i = outputs_[o].link.ready(now_) &&
                                   (environment_.ready_permille >= 1000 || outputs_[o].random.permille(environment_.ready_permille));
    for (std::size_t m = 0; m < memories_.size(); ++m) memories_[m]->drive(axi_[m], now_);
    registers_.drive(pins_);

    if (library_.step(device_, &pins_)) fail(library_.error(device_));

    if (!pins_.rst_i) {
        for (std::size_t i = 0; i < inputs_.size(); ++i) {
            pst_input_pins& pins = *input_pins(i);
            if (!pins.tvalid_i) continue;
            ++bus_.input_offered;
            if (pins.tready_o) input_taken(inputs_[i], pins);
        }
        for (std::size_t m = 0; m < memories_.size(); ++m) memories_[m]->sample(axi_[m], now_);
        registers_.sample(pins_);
        report_events();
        for (std::size_t o = 0; o < outputs_.size(); ++o) {
            const pst_output_pins& pins = *output_pins(o);
            bus_.output_ready += pins.tready_i;
            if (!(pins.tvalid_o | outputs_[o].held)) continue;
            output_hold(outputs_[o], &pins);
            if (pins.tvalid_o && pins.tready_i) output_taken(outputs_[o], static_cast<unsigned>(o));
        }
    }
    ++now_;
}

// ---- input

void RtlDevice::close_input() {
    for (Input& input : inputs_) input.link.close();
    for (Output& output : outputs_) output.link.open();
}

LostFrames RtlDevice::ingress_lost() const {
    LostFrames lost;
    for (const Input& input : inputs_) lost += input.link.lost();
    return lost;
}

bool RtlDevice::input_idle() const {
    return face_->idle() &&
           std::all_of(inputs_.begin(), inputs_.end(), [](const Input& input) { return input.link.idle() && !input.words.offered(); });
}

void RtlDevice::offer_word(Input& input, pst_input_pins* pins) {
    for (unsigned s = 0; s < segments_; ++s) pins[s].tkeep_i = 0;
    const auto draw = [&] { return environment_.valid_permille >= 1000 || input.random.permille(environment_.valid_permille); };
    pins->tvalid_i = input.words.make(input.link, now_, draw, [&](unsigned segment) { put_beat(input, pins[segment]); });
}

void RtlDevice::put_beat(Input& input, pst_input_pins& pins) {
    const Frame& frame = input.link.frame();
    const std::uint32_t at = input.link.at(), bytes = input.link.beat_bytes();
    if (at == 0) {
        face_->write_head(frame, input.data.data());
        frame_bytes(frame, environment_.seed, input.data.data() + head_);
        if (segments_ > 1 && bytes == 0) fail("a frame without bytes has no segment");
    }
    std::memcpy(pins.tdata_i, input.data.data() + at, PST_BEAT_BYTES);
    pins.tkeep_i = bytes == 0 ? 0 : ~std::uint64_t{0} >> (64 - bytes);
    pins.tlast_i = input.link.last();
    pins.tdest_i = face_->dest(frame);
    pins.tuser_i = face_->user(frame, at == 0, pins.tlast_i);
}

void RtlDevice::input_taken(Input& input, pst_input_pins& pins) {
    ++bus_.input_taken;
    pins.tvalid_i = 0;
    input.words.taken(input.link, now_, [&](const Frame& frame, std::int64_t last_bit) {
        face_->arrived(frame, last_bit, now_, *observer_);
        active_ = true;
    });
}

// ---- events and output

void RtlDevice::report_events() {
    if (std::none_of(events_.begin(), events_.end(), [](const pst_event_pins& event) { return event.valid_o; })) return;
    if (!observer_) fail("an event before the first frame");
    active_ |= face_->events(now_, events_, *observer_);
}

// A source that has raised valid holds valid and payload until ready.
void RtlDevice::output_hold(Output& output, const pst_output_pins* pins) {
    const auto same = [](const pst_output_pins& p, const pst_output_pins& held) {
        return p.tkeep_o == held.tkeep_o && (p.tkeep_o == 0 || (p.tid_o == held.tid_o && p.tlast_o == held.tlast_o &&
                                                                std::memcmp(p.tdata_o, held.tdata_o, PST_BEAT_BYTES) == 0));
    };
    if (output.held && !(pins->tvalid_o && std::equal(pins, pins + segments_, output.before.begin(), same)))
        fail(port("m_axis", static_cast<std::size_t>(&output - outputs_.data()), outputs_.size()) + " changed before it was taken");
    output.held = pins->tvalid_o && !pins->tready_i;
    if (output.held) std::copy_n(pins, segments_, output.before.begin());
}

void RtlDevice::output_taken(Output& output, unsigned number) {
    if (!observer_) fail("output before the first frame");
    ++bus_.output_taken;
    const pst_output_pins* const pins = output_pins(number);
    if (segments_ == 1) return beat_taken(output, number, *pins);
    bool any = false;
    for (unsigned s = 0; s < segments_; ++s) {
        if (pins[s].tkeep_o == 0) continue;
        any = true;
        beat_taken(output, number, pins[s]);
    }
    if (!any) fail(port("m_axis", number, outputs_.size()) + ": a word has no used segment");
}

void RtlDevice::beat_taken(Output& output, unsigned number, const pst_output_pins& p) {
    const auto bad = [&](const std::string& what) { fail(port("m_axis", number, outputs_.size()) + what); };
    const std::uint64_t keep = p.tkeep_o, all = ~std::uint64_t{0} >> (64 - beat_);
    if (keep == 0 || (keep & (keep + 1)) != 0 || keep > all) bad("_tkeep is not contiguous from bit 0");
    if (!p.tlast_o && keep != all) bad("_tkeep has a gap before the last beat");
    const auto bytes = static_cast<std::uint32_t>(std::popcount(keep));
    if (output.bytes == 0) {
        output.first_bit = now_;
        observer_->began(now_, number);
        output.id = p.tid_o;
    } else if (p.tid_o != output.id) {
        bad("_tid changes inside a frame");
    }
    if (output.bytes + bytes > kMaxFrameBytes) bad(": a frame has no end");
    std::memcpy(output.data.data() + output.bytes, p.tdata_o, PST_BEAT_BYTES);
    output.bytes += bytes;
    output.link.taken(now_, bytes, p.tlast_o);
    if (!p.tlast_o) return;
    if (const char* wrong = face_->fault(p.tuser_o)) bad(std::string("_tuser ") + wrong);
    if (face_->damaged(p.tuser_o)) {
        output.bytes = 0;
        observer_->began(FrameSource::kNever, number);
        return;
    }
    observer_->departed(output.first_bit, face_->queue(number, output.id, p.tuser_o), {output.data.data(), output.bytes},
                        face_->tag(p.tuser_o), number);
    active_ = true;
    output.bytes = 0;
}

}  // namespace penstock::engine
