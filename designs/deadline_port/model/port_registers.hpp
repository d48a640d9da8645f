// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// pst_deadline_control of the model, and the bus in front of it: when a setting that the engine writes reaches the port.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "blocks/common/model/drop.hpp"
#include "blocks/count/model/interrupt.hpp"
#include "designs/deadline_port/model/deadline_port.hpp"
#include "designs/deadline_port/model/device_settings.hpp"
#include "penstock/engine/amount.hpp"

namespace penstock::engine {

class PortRegisters {
  public:
    struct Counters {
        Amount in, out, missed, lost, no_page;
    };
    struct Setting {
        std::uint32_t id, to;  // class and cycles; DSCP and class
    };

    PortRegisters(const DeadlinePortSettings& settings, std::uint32_t memories, std::uint32_t clock_hz)
        : settings_(settings),
          memories_(memories),
          clock_hz_(clock_hz),
          of_(settings.classes),
          deadline_now_(settings.classes, settings.default_cycles) {}

    void write(std::uint32_t address, std::uint32_t value) { pending_.push_back({address, value}); }
    // All writes are answered; a setting may still be on offer.
    bool idle() const { return pending_.empty() && outstanding_ == 0; }
    // Nothing is under way: step() need not be called.
    bool quiet() const { return idle() && state_ == State::Idle && !command_; }

    // What is offered in this cycle: the deadline of a class; the class of a DSCP, for one cycle.
    std::optional<Setting> offered() const {
        if (state_ != State::SetClass) return {};
        return Setting{class_, cycles_};
    }
    std::optional<Setting> dscp(bool init_done) const {
        using namespace deadline_port;
        if (!starts(init_done) || *command_ != values::kCommandWriteDscp || refusal() != values::kRefusalAccepted) return {};
        return Setting{dscp_index_, dscp_class_};
    }
    // No frame is to come in or to be sent.
    bool stop() const { return stop_; }
    // What is under way: all is at rest; memories that owe answers.
    void show_drain(bool done, std::uint32_t outstanding) {
        done_ = done;
        outstanding_now_ = outstanding;
    }
    std::uint32_t limit() const { return memory_limit_ >= settings_.chunks ? 0 : memory_limit_; }

    // The end of a cycle, behind its events. `taken`: the deadline that was offered.
    void step(bool init_done, bool taken) {
        using namespace deadline_port;
        if (state_ == State::Idle && quiet()) return;
        const bool responding = responding_;
        responding_ = false;
        // The register block: a write takes effect in the cycle after it was taken from the bus, a command is answered when it starts.
        const bool accept = held_ && !external_, start = starts(init_done);
        const bool taken_from_bus = !pending_.empty() && outstanding_ < kOutstanding && (!held_ || accept);
        if (state_ == State::SetClass && taken) {
            deadline_now_[class_] = cycles_;
            state_ = State::Idle;
        } else if (state_ == State::Wait && --wait_ == 0) {
            shown_ = read_;
            state_ = State::Idle;
        } else if (state_ == State::Read) {
            read_ = of_[class_];
            state_ = State::Wait;
            wait_ = kSnapshotCycles + static_cast<unsigned>(std::countr_zero(settings_.columns));
        }
        if (start) {
            refused_ = refusal();
            class_ = class_index_;
            cycles_ = class_deadline_;
            if (refused_ == values::kRefusalAccepted) {
                if (*command_ == values::kCommandWriteClass) state_ = State::SetClass;
                if (*command_ == values::kCommandSnapshot) state_ = State::Read;
                if (*command_ == values::kCommandWriteDscp) dscp_now_[dscp_index_] = dscp_class_;
            }
            command_.reset();
            external_ = false;
            responding_ = true;
        }
        if (accept) {
            held_ = false;
            if (held_write_.address == registers::kCommand) {
                command_ = held_write_.value;
                external_ = true;
            } else {
                execute(held_write_);
                responding_ = true;
            }
        }
        if (taken_from_bus) {
            held_write_ = pending_.front();
            pending_.pop_front();
            held_ = true;
            ++outstanding_;
        }
        if (responding) --outstanding_;
    }

    std::uint32_t read(std::uint32_t address, std::uint32_t free_chunks, bool init_done);
    // The interrupt, which the device tells what happens.
    Interrupt& interrupt() { return interrupt_; }

    // Counters.
    Counters& of(std::uint32_t klass) { return of_[klass]; }
    Amount& dropped(unsigned reason) { return dropped_[reason]; }

  private:
    struct Write {
        std::uint32_t address, value;
    };
    enum class State : std::uint8_t { Idle, SetClass, Read, Wait };
    static constexpr unsigned kOutstanding = 8;     // as RegisterMaster
    static constexpr unsigned kSnapshotCycles = 3;  // and one for each level of the sums over columns
    static constexpr std::uint32_t kDscps = 65;
    static constexpr std::uint32_t kIrqBits = deadline_port::fields::kIrqMaskOverflow.at(1) | deadline_port::fields::kIrqMaskDrained.at(1) |
                                              deadline_port::fields::kIrqMaskDrops.at(1);

    bool starts(bool init_done) const { return command_ && state_ == State::Idle && init_done; }
    std::uint32_t refusal() const {
        using namespace deadline_port;
        switch (*command_) {
            case values::kCommandWriteClass:
                if (class_index_ >= settings_.classes) return values::kRefusalBadClass;
                return class_deadline_ >> 30 ? values::kRefusalBadDeadline : values::kRefusalAccepted;
            case values::kCommandSnapshot:
                return class_index_ >= settings_.classes ? values::kRefusalBadClass : values::kRefusalAccepted;
            case values::kCommandWriteDscp:
                if (settings_.class_from_user) return values::kRefusalNoCommand;
                if (dscp_index_ >= kDscps) return values::kRefusalBadDscp;
                return dscp_class_ >= settings_.classes ? values::kRefusalBadClass : values::kRefusalAccepted;
            default:
                return values::kRefusalNoCommand;
        }
    }
    void execute(const Write& write) {
        using namespace deadline_port;
        if (write.address == registers::kClassIndex) class_index_ = write.value;
        if (write.address == registers::kClassDeadline) class_deadline_ = write.value;
        if (write.address == registers::kDscpIndex) dscp_index_ = write.value;
        if (write.address == registers::kDscpClass) dscp_class_ = write.value;
        if (write.address == registers::kMemoryLimit) memory_limit_ = write.value;
        if (write.address == registers::kDrain) stop_ = fields::kDrainStop.of(write.value);
        if (write.address == registers::kIrqMask) interrupt_.set_mask(write.value & kIrqBits);
        if (write.address == registers::kIrqCause || write.address == registers::kIrqDrops) interrupt_.settle();
        if (write.address == registers::kIrqCause) interrupt_.clear(write.value);
        if (write.address == registers::kIrqDrops) interrupt_.set_threshold(write.value);
    }

    DeadlinePortSettings settings_;
    std::uint32_t memories_, clock_hz_;
    std::vector<Counters> of_;
    std::array<Amount, deadline_port::kDropReasons> dropped_{};
    std::deque<Write> pending_;
    unsigned outstanding_ = 0, wait_ = 0;
    bool held_ = false, responding_ = false;  // a write waits in the register block; its answer is on the bus
    Write held_write_{};
    bool external_ = false;  // the bus waits for the command's answer
    std::optional<std::uint32_t> command_;
    State state_ = State::Idle;
    std::uint32_t class_ = 0, cycles_ = 0, refused_ = 0;
    std::uint32_t class_index_ = 0, class_deadline_ = 0, dscp_index_ = 0, dscp_class_ = 0, memory_limit_ = 0;
    Counters read_, shown_;
    Interrupt interrupt_;
    bool stop_ = false, done_ = false;
    std::uint32_t outstanding_now_ = 0;
    std::vector<std::uint32_t> deadline_now_;
    std::array<std::uint32_t, kDscps> dscp_now_{};
};

}  // namespace penstock::engine
