// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The model of a scheduler that is added as a folder of its own (docs/how-to/own-scheduler.md): the ports of pst_schedule_own, one call a
// cycle. Cycles in which nothing comes and nothing is under way are left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace penstock {

// Of everything below: with each change of it another one, so that what was compiled against the old one is refused.
inline constexpr std::uint32_t kSchedulerModelVersion = 2;

// What a scheduler is told. Everything that a packet does is told three cycles after the queue manager has committed it, a dequeue before
// the enqueue of the same cycle.
struct ActiveQueue {  // s_active: a queue that was empty has this packet; from now on it may be asked for
    std::uint32_t queue, length;
};
struct AcceptedPacket {  // s_enq
    std::uint32_t queue, length;
    std::uint32_t backlog;  // bytes in the queue with it
};
struct PacketTaken {  // s_ret
    std::uint32_t queue, length;
    std::uint32_t left;  // bytes in the queue without it; 0: no packet is left
    std::uint32_t head;  // length of the next packet, 0: none
};

// The input ports in one cycle; null: nothing there.
struct SchedulerInputs {
    std::int64_t now = 0;  // cycles since reset; the hardware's now_i has 32 bits of it
    const ActiveQueue* active = nullptr;
    const AcceptedPacket* accepted = nullptr;
    const PacketTaken* taken = nullptr;
    bool credit = false;
};

// The output ports in the same cycle.
struct SchedulerOutputs {
    static constexpr std::int64_t kNobody = -1;
    std::int64_t ask = kNobody;  // m_deq: this queue
    bool take = true;            // m_deq_take_o: for what was asked for two cycles ago
    bool active_ready = true;
};

class SchedulerModel {
  public:
    static constexpr unsigned kWordBits = 50;  // of a queue's setting word
    static constexpr std::int64_t kNever = INT64_MAX;

    virtual ~SchedulerModel() = default;

    // One clock cycle. The first one that is called may be any; the hardware does nothing before it.
    virtual SchedulerOutputs step(const SchedulerInputs& in) = 0;
    // The next cycle after `now` that has to be called although no input comes until then.
    virtual std::int64_t next_step(std::int64_t now) const { return now + 1; }

    // s_cfg_ready_o in the cycle that is called next.
    virtual bool setting_ready() const { return true; }
    // s_cfg: a queue's setting word is written at the end of the cycle that was called last.
    virtual void set(std::uint32_t /*queue*/, std::uint64_t /*word*/) {}
};

// A number of the device by its name.
struct SchedulerNumber {
    const char* name;
    std::int64_t value;
};

// What a model is built with besides the number of queues: the numbers of its part.yaml as the hardware's parameters have them, and
// `credits`, the packets that fit downstream.
class SchedulerNumbers {
  public:
    explicit SchedulerNumbers(std::span<const SchedulerNumber> numbers) : numbers_(numbers) {}

    // Throws std::invalid_argument where there is none.
    std::int64_t operator[](std::string_view name) const {
        for (const SchedulerNumber& number : numbers_)
            if (name == number.name) return number.value;
        throw std::invalid_argument("the scheduler's model needs the number " + std::string(name));
    }

  private:
    std::span<const SchedulerNumber> numbers_;
};

// What makes models of one scheduler: what a library gives to the engine. `make` returns null where the model refuses its numbers, and
// writes why (cut to `size` with its ending 0).
struct SchedulerFactory {
    std::uint32_t version;  // kSchedulerModelVersion; the first word, whatever follows
    SchedulerModel* (*make)(std::uint32_t queues, const SchedulerNumber* numbers, std::size_t count, char* why, std::size_t size);
    void (*destroy)(SchedulerModel* model);
};

// The factory of a class that can be made from (queues, SchedulerNumbers).
template <typename Model>
struct SchedulerFactoryOf {
    static_assert(std::is_base_of_v<SchedulerModel, Model>,
                  "the class of a scheduler's model must be derived from penstock::SchedulerModel");
    static_assert(!std::is_abstract_v<Model>, "the class of a scheduler's model must define step()");
    static_assert(std::is_constructible_v<Model, std::uint32_t, const SchedulerNumbers&>,
                  "the class of a scheduler's model needs a constructor (std::uint32_t queues, const penstock::SchedulerNumbers& numbers)");

    static SchedulerModel* make(std::uint32_t queues, const SchedulerNumber* numbers, std::size_t count, char* why, std::size_t size) {
        // No exception leaves the library: it may have been compiled by another compiler.
        try {
            return new Model(queues, SchedulerNumbers({numbers, count}));
        } catch (const std::exception& failure) {
            std::string_view(failure.what()).substr(0, size - 1).copy(why, size);
        } catch (...) {
            std::string_view("it throws something that is no exception").substr(0, size - 1).copy(why, size);
        }
        return nullptr;
    }
    static void destroy(SchedulerModel* model) { delete model; }
    static constexpr SchedulerFactory factory{kSchedulerModelVersion, &make, &destroy};
};

}  // namespace penstock

// The one symbol of a library with a model; the file that has it is written by the workbench.
#define PENSTOCK_SCHEDULER_LIBRARY(Model)                                                                           \
    extern "C" __attribute__((visibility("default"))) const ::penstock::SchedulerFactory* pst_scheduler_factory() { \
        return &::penstock::SchedulerFactoryOf<Model>::factory;                                                     \
    }
