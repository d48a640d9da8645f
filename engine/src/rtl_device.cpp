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
}  // namespace

RtlDevice::RtlDevice(const DeviceSettings& settings)
    : settings_(settings),
      library_(settings.library),
      device_(nullptr),
      ingress_(settings.ingress_bps, settings.clock_hz, settings.overhead_bytes),
      egress_(settings.egress_bps, settings.clock_hz, settings.overhead_bytes),
      input_random_(settings.seed, 0x494E),
      output_random_(settings.seed, 0x4F55'54),
      input_(kPrefixBytes + kMaxFrameBytes + 2 * PST_BEAT_BYTES),
      output_(kMaxFrameBytes + 1 + PST_BEAT_BYTES) {
    if (library_.memories != settings_.memories.size())
        throw std::invalid_argument("the device has " + std::to_string(library_.memories) + " memories, the job " +
                                    std::to_string(settings_.memories.size()));
    for (unsigned m = 0; m < settings_.memories.size(); ++m)
        memories_.push_back(std::make_unique<MemoryModel>(settings_.memories[m], m, settings_.seed));
    if (settings_.flip_byte >= 0) memories_[0]->flip_byte(settings_.flip_byte);
    device_ = library_.create();
    if (!device_) throw std::bad_alloc();
}

RtlDevice::~RtlDevice() {
    if (device_) library_.destroy(device_);
}

void RtlDevice::fail(const std::string& what) const { throw DeviceError("cycle " + std::to_string(now_) + ": " + what); }

void RtlDevice::start() {
    pins_.rst_i = 1;
    for (int i = 0; i < kResetCycles; ++i) cycle();
    pins_.rst_i = 0;
    for (std::int64_t i = 0; !pins_.init_done_o; ++i) {
        if (i == kInitLimit) fail("init_done_o does not rise");
        cycle();
    }
}

void RtlDevice::connect(FrameSource* source, Observer* observer) {
    source_ = source;
    observer_ = observer;
    now_ = 0;
    bus_ = {};
    egress_free_ = link_free_ = 0;
    fetch();
}

void RtlDevice::settle() {
    while (!registers_.idle()) {
        if (registers_.stuck() > kRegisterLimit) fail("the register bus is stuck");
        cycle();
    }
}

std::uint32_t RtlDevice::read(std::uint32_t address) {
    settle();
    registers_.read(address);
    settle();
    return registers_.value();
}

void RtlDevice::run(std::int64_t until) {
    if (asking_) fetch();
    while (now_ < until) {
        cycle();
        if (active_ && observer_->enough()) return;
    }
}

void RtlDevice::cycle() {
    if (asking_ && (active_ || now_ >= ask_again_)) fetch();
    active_ = false;
    if (!pins_.s_axis_tvalid_i && now_ >= beat_cycle_) offer_beat();
    pins_.m_axis_tready_i =
        egress_free_ < ticks(now_ + 1) && (settings_.ready_permille >= 1000 || output_random_.permille(settings_.ready_permille));
    for (std::size_t m = 0; m < memories_.size(); ++m) memories_[m]->drive(pins_.axi[m], now_);
    registers_.drive(pins_);

    if (library_.step(device_, &pins_)) fail(library_.error(device_));

    if (!pins_.rst_i) {
        if (pins_.s_axis_tvalid_i) {
            ++bus_.input_offered;
            if (pins_.s_axis_tready_o) input_taken();
        }
        for (std::size_t m = 0; m < memories_.size(); ++m) memories_[m]->sample(pins_.axi[m], now_);
        registers_.sample(pins_);
        if (pins_.ev_classify.valid_o | pins_.ev_enqueue.valid_o | pins_.ev_dequeue.valid_o) report_fates();
        bus_.output_ready += pins_.m_axis_tready_i;
        if (pins_.m_axis_tvalid_o | output_held_) {
            output_hold();
            if (pins_.m_axis_tvalid_o && pins_.m_axis_tready_i) output_taken();
        }
    }
    ++now_;
}

// ---- input

// Asks the source for the next frame.
void RtlDevice::fetch() {
    const Answer answer = source_ ? source_->next(frame_, link_free_, now_, ask_again_) : Answer::End;
    waiting_ = answer == Answer::Frame;
    asking_ = answer == Answer::NotYet;
    beat_cycle_ = kNever;
    if (!waiting_) return;
    link_start_ = std::max(frame_.arrival, link_free_);
    link_free_ = link_start_ + ingress_.frame_time(frame_.length);
    input_bytes_ = kPrefixBytes + frame_.length;
    input_at_ = 0;
    beat_cycle_ = cycle_ceil(link_start_ + ingress_.time(std::min(frame_.length, PST_BEAT_BYTES - kPrefixBytes)));
}

void RtlDevice::close_input() {
    source_ = nullptr;
    asking_ = false;
    if (waiting_) beat_cycle_ = kNever;
    waiting_ = false;
}

void RtlDevice::load() {
    for (unsigned i = 0; i < kPrefixBytes; ++i) input_[i] = static_cast<std::uint8_t>(frame_.queue >> (24 - 8 * i));
    frame_bytes(frame_, settings_.seed, input_.data() + kPrefixBytes);
    waiting_ = false;
    sending_ = true;
}

void RtlDevice::offer_beat() {
    if (settings_.valid_permille < 1000 && !input_random_.permille(settings_.valid_permille)) return;
    if (waiting_) load();
    const std::uint32_t bytes = std::min<std::uint32_t>(PST_BEAT_BYTES, input_bytes_ - input_at_);
    std::memcpy(pins_.s_axis_tdata_i, input_.data() + input_at_, PST_BEAT_BYTES);
    pins_.s_axis_tkeep_i = ~std::uint64_t{0} >> (PST_BEAT_BYTES - bytes);
    pins_.s_axis_tlast_i = input_at_ + bytes == input_bytes_;
    pins_.s_axis_tuser_i = pins_.s_axis_tlast_i && frame_.error;
    pins_.s_axis_tvalid_i = 1;
}

void RtlDevice::input_taken() {
    ++bus_.input_taken;
    pins_.s_axis_tvalid_i = 0;
    input_at_ += PST_BEAT_BYTES;
    if (!pins_.s_axis_tlast_i) {
        const std::uint32_t brought = std::min(input_at_ + PST_BEAT_BYTES, input_bytes_) - kPrefixBytes;
        beat_cycle_ = cycle_ceil(link_start_ + ingress_.time(brought));
        return;
    }
    sending_ = false;
    observer_->arrived(frame_, cycle_ceil(link_start_ + ingress_.time(frame_.length)));
    active_ = true;
    fetch();
}

// ---- fates and output

void RtlDevice::report_fates() {
    if (!observer_) fail("an event before the first frame");
    const auto fate = [](const pst_event_pins& p) { return Fate{p.queue_o, p.len_o, p.reason_o}; };
    if (pins_.ev_classify.valid_o) observer_->classified(now_, fate(pins_.ev_classify));
    if (pins_.ev_enqueue.valid_o) observer_->enqueued(now_, fate(pins_.ev_enqueue));
    if (pins_.ev_dequeue.valid_o) observer_->dequeued(now_, fate(pins_.ev_dequeue), pins_.ev_dequeue_mark_o);
    active_ = true;
}

// A source that has raised valid holds valid and payload until ready.
void RtlDevice::output_hold() {
    const pst_pins& p = pins_;
    if (output_held_ &&
        !(p.m_axis_tvalid_o && p.m_axis_tkeep_o == held_keep_ && p.m_axis_tid_o == held_tid_ &&
          static_cast<bool>(p.m_axis_tlast_o) == held_last_ && std::memcmp(p.m_axis_tdata_o, held_data_.data(), PST_BEAT_BYTES) == 0))
        fail("m_axis changed before it was taken");
    output_held_ = p.m_axis_tvalid_o && !p.m_axis_tready_i;
    if (!output_held_) return;
    held_keep_ = p.m_axis_tkeep_o;
    held_tid_ = p.m_axis_tid_o;
    held_last_ = p.m_axis_tlast_o;
    std::memcpy(held_data_.data(), p.m_axis_tdata_o, PST_BEAT_BYTES);
}

void RtlDevice::output_taken() {
    const pst_pins& p = pins_;
    if (!observer_) fail("output before the first frame");
    ++bus_.output_taken;
    const std::uint64_t keep = p.m_axis_tkeep_o;
    if (keep == 0 || (keep & (keep + 1)) != 0) fail("m_axis_tkeep is not contiguous from bit 0");
    if (!p.m_axis_tlast_o && keep != ~std::uint64_t{0}) fail("m_axis_tkeep has a gap before the last beat");
    const auto bytes = static_cast<std::uint32_t>(std::popcount(keep));
    if (output_bytes_ == 0) {
        first_bit_ = now_;
        output_queue_ = p.m_axis_tid_o;
    } else if (p.m_axis_tid_o != output_queue_) {
        fail("m_axis_tid changes inside a frame");
    }
    if (output_bytes_ + bytes > kMaxFrameBytes) fail("a frame at the output has no end");
    std::memcpy(output_.data() + output_bytes_, p.m_axis_tdata_o, PST_BEAT_BYTES);
    output_bytes_ += bytes;
    egress_free_ = std::max(egress_free_, ticks(now_)) + egress_.time(bytes) + (p.m_axis_tlast_o ? egress_.time(egress_.overhead()) : 0);
    if (!p.m_axis_tlast_o) return;
    if (p.m_axis_tuser_o) fail("m_axis_tuser reports a memory error, but the memories gave none");
    observer_->departed(first_bit_, output_queue_, {output_.data(), output_bytes_});
    active_ = true;
    output_bytes_ = 0;
}

}  // namespace penstock::engine
