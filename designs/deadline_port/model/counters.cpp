// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "designs/deadline_port/model/counters.hpp"

#include "blocks/common/model/drop.hpp"
#include "designs/deadline_port/model/deadline_port.hpp"
#include "penstock/engine/closing.hpp"

namespace penstock::engine {

namespace {
namespace registers = deadline_port::registers;

constexpr std::int64_t kPipeline = 64;  // cycles from an event to its counter, generously
constexpr std::size_t kFindings = 16;
constexpr std::uint64_t kFrameMask = deadline_port::fields::kQueuedFramesValue.most(),
                        kByteMask = deadline_port::fields::kQueuedBytesValue.most();
constexpr unsigned kNoPage = static_cast<unsigned>(Drop::NoPage), kReadError = static_cast<unsigned>(Drop::ReadError);

std::string text(const Amount& amount) { return std::to_string(amount.packets) + " frames, " + std::to_string(amount.bytes) + " bytes"; }
Amount sum(const Amount& a, const Amount& b) { return {a.packets + b.packets, a.bytes + b.bytes}; }
}  // namespace

std::uint64_t DeadlineCounterCheck::read64(std::uint32_t address) {
    const std::uint64_t low = device_.read(address);
    return low | static_cast<std::uint64_t>(device_.read(address + 4)) << 32;
}

// The frames first: reading them may hold the bytes, which are behind them.
Amount DeadlineCounterCheck::read_amount(std::uint32_t frames) {
    const std::uint64_t count = read64(frames);
    return {count, read64(frames + 8)};
}

void DeadlineCounterCheck::between(const std::string& what, const Amount& device, const Amount& least, const Amount& most) {
    if (least.packets <= device.packets && device.packets <= most.packets && least.bytes <= device.bytes && device.bytes <= most.bytes)
        return;
    ++report_.mismatches;
    if (report_.findings.size() < kFindings)
        report_.findings.push_back(what + ": the device counts " + text(device) + ", the engine has seen " + text(most));
}

Amount DeadlineCounterCheck::dropped(unsigned reason) const {
    Amount amount = measurement_.live().dropped[reason];
    for (const HeldBack& held : book_.held)
        if (reason == kDropMissed || reason == kReadError) amount = sum(amount, reason == kDropMissed ? held.missed : held.lost);
    return amount;
}

DeadlineCounterCheck::Seen DeadlineCounterCheck::seen(std::uint32_t klass) const {
    const DeviceView view = measurement_.device_view(klass);
    Seen seen{sum(view.in, view.dropped[kNoPage]), view.out, view.dropped[kDropMissed], view.dropped[kReadError], view.dropped[kNoPage]};
    if (klass < book_.held.size()) {
        seen.missed = sum(seen.missed, book_.held[klass].missed);
        seen.lost = sum(seen.lost, book_.held[klass].lost);
    }
    if (fifo_) seen.lost = klass == 0 ? dropped(kReadError) : Amount{};
    return seen;
}

CounterReport DeadlineCounterCheck::run(std::span<const std::uint32_t> classes) {
    device_.run(device_.now() + kPipeline);
    finish(device_, measurement_, kPipeline, 0, [&] { return measurement_.undecided() == 0 && device_.input_idle(); });
    device_.run(device_.now() + kPipeline);
    for (unsigned reason = 1; reason < deadline_port::kDropReasons; ++reason) {
        const std::uint32_t address = deadline_port::kDropCounters[reason].packets;
        if (address == 0) continue;  // a number that no reason has
        const Amount before = dropped(reason);
        const Amount read = read_amount(address);
        between(std::string("drop counter ") + deadline_port::kDropNames[reason], read, before, dropped(reason));
    }
    for (const std::uint32_t klass : classes) check_class(klass);
    report_.mismatches += book_.wrong;
    report_.findings.insert(report_.findings.end(), book_.words.begin(), book_.words.end());
    return report_;
}

void DeadlineCounterCheck::check_class(std::uint32_t klass) {
    const Seen before = seen(klass);
    device_.write(registers::kClassIndex, klass);
    device_.write(registers::kCommand, deadline_port::values::kCommandSnapshot);
    while (deadline_port::fields::kStatusBusy.of(device_.read(registers::kStatus))) {
    }
    const Seen after = seen(klass);
    const std::string name = "class " + std::to_string(klass);
    const Amount in = read_amount(registers::kInFrames), out = read_amount(registers::kOutFrames);
    const Amount missed = read_amount(registers::kMissedFrames), lost = read_amount(registers::kLostFrames);
    const Amount no_page = read_amount(registers::kNoPageFrames), queued = read_amount(registers::kQueuedFrames);
    between(name + " in", in, before.in, after.in);
    between(name + " out", out, before.out, after.out);
    between(name + " missed", missed, before.missed, after.missed);
    between(name + " lost", lost, before.lost, after.lost);
    between(name + " dropped for want of memory", no_page, before.no_page, after.no_page);
    const Amount gone = sum(sum(out, missed), sum(lost, no_page));
    Amount all = sum(gone, queued);  // modulo the width of the counters: of a plain FIFO what class 0 holds may be less than none
    all.packets &= kFrameMask, all.bytes &= kByteMask;
    between(name + " in, less what is gone and queued", all, in, in);
}

}  // namespace penstock::engine
