// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The model of an AQM, as a device sees it: one call a packet. CoDel and PIE are such models, and so is what is written elsewhere
// (blocks/aqm/README.md, "Model of an AQM of your own").
//
// Times are counts from reset that never wrap here. `cycle` is the clock cycle in which the hardware has the packet at the named ports;
// a tick is 2^tick_shift cycles, and tick `now` is cycle >> tick_shift. The hardware has 26 bits of a time in ticks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace penstock {

// Of everything below: with each change of it another one, so that what was compiled against the old one is refused.
inline constexpr std::uint32_t kAqmModelVersion = 3;

enum class AqmVerdict : std::uint8_t { Pass = 0, Mark = 1, Drop = 2 };

// How a queue is set (pst_pkg::aqm_cfg_t). After reset a queue is not enabled.
struct AqmSetting {
    static constexpr unsigned kWordBits = 36;
    static constexpr std::uint64_t kMostWord = (1ULL << kWordBits) - 1;

    bool enable = false;     // the AQM acts on this queue; if not, every packet passes
    bool ecn = false;        // packets are marked in place of dropped where that may be
    std::uint64_t word = 0;  // 36 bits: the part's own settings, the first one in the uppermost bits

    // The same as one word: enable, ecn, and the setting word in the lower bits.
    static AqmSetting of(std::uint64_t code) {
        return {(code >> (kWordBits + 1) & 1) != 0, (code >> kWordBits & 1) != 0, code & kMostWord};
    }
    std::uint64_t code() const { return std::uint64_t{enable} << (kWordBits + 1) | std::uint64_t{ecn} << kWordBits | word; }
    // `width` bits of the word from bit `at` on, at most 32.
    std::uint32_t field(unsigned at, unsigned width) const { return static_cast<std::uint32_t>(word >> at & ((1ULL << width) - 1)); }
};

// A packet leaves its queue. Packets of one queue are at least 9 cycles apart, with estimated delays 11.
struct AqmDeparture {
    std::int64_t cycle;     // it is at s_take; state and setting of its queue are read two cycles before, at s_look
    std::int64_t now;       // tick of `cycle`
    std::int64_t sojourn;   // ticks since it came to its queue, or that its backlog takes at its queue's rate (number `estimate`); from 0
    std::uint32_t queue;    // below the number of queues
    std::uint32_t left;     // bytes that it leaves behind in its queue, below 2^24
    std::uint16_t length;   // its bytes, without FCS, below 2^14
    bool ect;               // it may be marked; of an AQM that judges arrivals: it was marked
    std::uint32_t setting;  // whose setting counts: `queue`; where `queue` is a flow queue, the queue that it is behind
};

// A packet comes to its queue. At most one in a cycle.
struct AqmArrival {
    std::int64_t cycle;     // it is at s_enq
    std::int64_t now;       // tick of `cycle`
    std::uint32_t queue;    // below the number of queues
    std::uint32_t backlog;  // bytes in its queue before it, as the latest departure known in `cycle` left them: never more than there
                            // are; below 2^24
    bool ect;               // it may be marked
};

// All queues of a device; a process may have several devices. An AQM judges either departures or arrivals (`sees` in its part.yaml); each
// verdict stands for what the hardware answers two cycles after s_take, or four after s_enq.
class AqmModel {
  public:
    virtual ~AqmModel() = default;

    // A queue has this setting from `cycle` on. Judging departures, it counts from the next departure that is told on.
    virtual void set(std::int64_t cycle, std::uint32_t queue, const AqmSetting& setting) = 0;

    // Of an AQM that judges departures: each packet taken from its queue, in order. Drop: the next packet of the queue is judged in its
    // place. Judging arrivals it is told, too, what leaves, and the verdict is not asked for: in `cycle`, in order with settings and
    // arrivals.
    virtual AqmVerdict departs(const AqmDeparture& /*packet*/) { return AqmVerdict::Pass; }

    // Of an AQM that judges arrivals: each packet that comes, before the limits of its queue are looked at, in `cycle`, in order with
    // settings and departures; what is of the same cycle was told before.
    virtual AqmVerdict arrives(const AqmArrival& /*packet*/) { return AqmVerdict::Pass; }

    // What the hardware reads back of a queue: its setting, or nothing where its module has no ports for that.
    virtual AqmSetting setting(std::uint32_t /*queue*/) const { return {}; }
};

// A number of the device by its name.
struct AqmNumber {
    const char* name;
    std::int64_t value;
};

// What a model is built with besides the number of queues: the numbers of its part.yaml, in the units of the hardware's parameters, and
//   tick_shift        a tick is 2^tick_shift cycles, 0 .. 16
//   max_packet_bytes  largest frame of the device
//   estimate          1: sojourn times are estimated from backlog and rate, 0: measured
//   time_width        bits of a time in ticks in the hardware
// They are there while the constructor runs, not longer.
class AqmNumbers {
  public:
    explicit AqmNumbers(std::span<const AqmNumber> numbers) : numbers_(numbers) {}

    // Throws std::invalid_argument where there is none.
    std::int64_t operator[](std::string_view name) const {
        if (const AqmNumber* found = find(name)) return found->value;
        throw std::invalid_argument("the AQM's model needs the number " + std::string(name));
    }
    std::int64_t get(std::string_view name, std::int64_t otherwise) const {
        const AqmNumber* found = find(name);
        return found ? found->value : otherwise;
    }

  private:
    const AqmNumber* find(std::string_view name) const {
        for (const AqmNumber& number : numbers_)
            if (name == number.name) return &number;
        return nullptr;
    }

    std::span<const AqmNumber> numbers_;
};

// What makes models of one AQM: what a library gives to the engine. `make` returns null where the model refuses its numbers, and writes why
// (cut to `size` with its ending 0).
struct AqmFactory {
    std::uint32_t version;  // kAqmModelVersion; the first word, whatever follows
    AqmModel* (*make)(std::uint32_t queues, const AqmNumber* numbers, std::size_t count, char* why, std::size_t size);
    void (*destroy)(AqmModel* model);
};

// The factory of a class that can be made from (queues, AqmNumbers).
template <typename Model>
struct AqmFactoryOf {
    static_assert(std::is_base_of_v<AqmModel, Model>, "the class of an AQM's model must be derived from penstock::AqmModel");
    static_assert(!std::is_abstract_v<Model>, "the class of an AQM's model must define set()");
    static_assert(std::is_constructible_v<Model, std::uint32_t, const AqmNumbers&>,
                  "the class of an AQM's model needs a constructor (std::uint32_t queues, const penstock::AqmNumbers& numbers)");

    static AqmModel* make(std::uint32_t queues, const AqmNumber* numbers, std::size_t count, char* why, std::size_t size) {
        // No exception leaves the library: it may have been compiled by another compiler.
        const auto say = [&](std::string_view words) { why[words.copy(why, size - 1)] = 0; };
        try {
            return new Model(queues, AqmNumbers({numbers, count}));
        } catch (const std::exception& failure) {
            say(failure.what());
        } catch (...) {
            say("the AQM's model throws something that is no exception");
        }
        return nullptr;
    }
    static void destroy(AqmModel* model) { delete model; }
    static constexpr AqmFactory factory{kAqmModelVersion, &make, &destroy};
};

}  // namespace penstock

// The one symbol of a library with a model. penstock.hardware.part_model writes the file that has it.
#define PENSTOCK_AQM_LIBRARY(Model)                                                                     \
    extern "C" __attribute__((visibility("default"))) const ::penstock::AqmFactory* pst_aqm_factory() { \
        return &::penstock::AqmFactoryOf<Model>::factory;                                               \
    }
