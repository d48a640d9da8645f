// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// A device that loops frames through, to test the engine itself: it implements pins.h without any hardware, and does
// on request what no device should do. Register 0x800 chooses the fault, register 0x804 has its parameter.
//
// The fate of single frames can be dictated besides. Register 0x810 chooses a frame (they are counted from 1 as they come), those behind it
// say what becomes of it: 0x814 cycles from its last beat in to its first beat out (all bits: it stays), 0x818 the reason for which it is
// dropped (1 to 4 by classify, 5 to 8 by its queue), 0x81C what an AQM says when it comes to its turn (enum Verdict), 0x820 a byte that
// changes in it (offset << 8 | value), as many as one likes. Register 0x808 is not 0 in a device with an AQM: it reports what queues give
// away, and has at most so many frames given away that have not left.
//
// Register 0x80C changes its rules (enum Rule; all bits together but for the first two). By deadline: the id in front of a frame is {class,
// queue} in its lowest 2 and 4 bits, register 0x830 + 4 * class has the cycles from a frame's enqueue event until it is too late, and what
// is too late is dropped for reason 8; queues take turns. Free: the frame that leaves is drawn among those that are due. Rewriting: byte 14
// becomes one less, and where byte 15 is odd four bytes come before byte 12. Register 0x840 is the seed of what is drawn.
//
// Its streams have PST_SEGMENTS segments, one unless it is compiled otherwise: a word out has all beats that are due when it is made.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "penstock/pins.h"

#ifndef PST_SEGMENTS
#define PST_SEGMENTS 1
#endif

namespace {

constexpr std::uint32_t kQueues = 16, kMinFrame = 14, kMaxFrame = 1522, kLatency = 20;

enum Fault : std::uint32_t {
    kNone = 0,
    kLose = 1,           // the n-th frame never comes out
    kReorder = 2,        // the n-th frame leaves after the next one of its queue
    kCorrupt = 3,        // a bit of the n-th frame flips
    kDuplicate = 4,      // the n-th frame comes out twice
    kMiscount = 5,       // the drop counter of runts counts double
    kMiscountQueue = 6,  // so does the counter of what left a queue
    kNoEvent = 7,        // no enqueue event for the n-th frame
    kKeepHole = 8,       // tkeep of the n-th frame has a hole
    kChangeData = 9,     // data change while the output waits
    kAssertion = 10,     // the device itself fails at the n-th frame
    kBoundary = 11,      // a write burst crosses 4 KiB
    kRange = 12,         // a read is beyond the memory
    kLast = 13,          // wlast comes too early
    kTruncate = 14,      // the n-th frame loses its last byte
    kDropValid = 15,     // valid falls before the output was ready
    // counters that count double
    kMiscountAqm = 16,         // what the AQM dropped, by reason
    kMiscountQueueAqm = 17,    // what it dropped of a queue
    kMiscountQueueDrops = 18,  // all drops of a queue
    kMiscountQueueIn = 19,     // what a queue has accepted
    kMiscountMarks = 20,       // marks of the device
    kMiscountQueueMarks = 21,  // marks of a queue
    kMiscountBytes = 22,       // bytes that left a queue, not the packets
    kMiscountHigh = 23,        // the upper half of the drop counter of runts is 1
    // events
    kNotGiven = 24,        // the n-th frame leaves without having been given away
    kClassifyLength = 25,  // the events of the n-th frame tell a byte too few
    kEnqueueLength = 26,
    kDequeueLength = 27,
    kClassifyQueue = 28,  // or name another queue
    // by deadline: the n-th choice, or the first after it where this can be
    kBadDeadline = 29,  // the second frame of the queue goes before the first, whose deadline is earlier
    kSendLate = 30,     // a frame that is too late is sent
    kDropEarly = 31,    // a frame that is not too late is dropped
    // rewriting
    kBadRewrite = 32,  // the n-th frame changes in a byte besides
    kWrongTag = 33,    // the n-th frame has the tag of the one before it
};

enum Rule : std::uint32_t { kByDeadline = 1, kFree = 2, kRewrites = 4, kCarriesTags = 8 };

enum Verdict : std::uint32_t { kSend = 0, kMark = 1, kDrop = 2, kMarkAndDrop = 3 };

constexpr std::uint32_t kStays = ~std::uint32_t{0};
constexpr std::uint8_t kAqmDrop = 8;

struct Dictated {
    std::uint32_t delay = kLatency, reason = 0, verdict = kSend;
    std::vector<std::pair<std::uint32_t, std::uint8_t>> patches;
};

struct Stored {
    std::vector<std::uint8_t> bytes;
    std::uint32_t queue = 0, verdict = kSend;
    std::uint64_t number = 0;  // of the accepted ones
    std::int64_t due = 0;
    std::uint32_t tag = 0, klass = 0, copies = 1;
    std::int64_t deadline = 0;
};

struct Counts {
    std::uint64_t packets = 0, bytes = 0;
    void add(std::size_t length, bool twice = false) { packets += 1 + twice, bytes += (1 + twice) * length; }
};

}  // namespace

struct pst_device {
    std::int64_t now = 0;
    std::uint32_t fault = kNone, parameter = 0, index = 0, read_value = 0;
    std::vector<std::uint8_t> coming;
    std::deque<Stored> stored;
    std::deque<pst_event_pins> classify, enqueue;
    std::deque<std::uint64_t> enqueue_of;  // the frame of each of the latter, as they came
    std::array<Counts, 9> drops;
    std::array<Counts, kQueues> in, out, dropped, aqm_dropped;
    std::array<std::uint64_t, kQueues> marks{};
    std::map<std::uint64_t, Dictated> dictated;
    std::uint64_t come = 0, accepted = 0, marked = 0;
    std::uint32_t chosen_frame = 0;
    std::uint32_t rules = 0, tag = 0, random = 1;  // tag: of the frame that comes
    std::array<std::uint32_t, 4> deadlines{};      // by class, cycles
    std::deque<Stored> entering;                   // by deadline: their enqueue event is still to come
    std::vector<Stored> held;                      // by deadline: in their queues; free: all, as they came
    std::uint32_t queue_turn = 0;
    std::uint64_t choices = 0;
    std::uint32_t ahead = 0, given = 0;  // frames that may have been, and have been, given away and have not left: the first stored ones
    std::size_t sent = 0;                // bytes of the first stored frame
    std::array<pst_output_pins, PST_SEGMENTS> word{};  // that is offered
    bool write_answer = false, read_answer = false, offered = false;
    bool aw_done = false, w_done = false;
    std::string error;

    void take_frame(bool bad) {
        Stored frame;
        for (int i = 0; i < 4; ++i) frame.queue = frame.queue << 8 | coming[i];
        frame.bytes.assign(coming.begin() + 4, coming.end());
        coming.clear();
        frame.tag = tag;
        if (rules & kByDeadline) {
            frame.klass = frame.queue >> 4 & 3;
            if (frame.queue < 64) frame.queue &= 15;
        }
        const auto found = dictated.find(++come);
        const Dictated order = found == dictated.end() ? Dictated{} : found->second;
        frame.due = order.delay == kStays ? std::numeric_limits<std::int64_t>::max() : now + order.delay;
        frame.verdict = order.verdict;
        const std::size_t length = frame.bytes.size();
        const std::uint32_t natural = bad ? 4 : length < kMinFrame ? 1 : length > kMaxFrame ? 2 : frame.queue >= kQueues ? 3 : 0;
        const auto reason = static_cast<std::uint8_t>(order.reason ? order.reason : natural);
        frame.number = accepted + !reason;
        const bool chosen = !reason && frame.number == parameter;
        const auto event = [&](std::uint8_t why, Fault wrong) {
            const std::size_t told = length - (chosen && fault == wrong);
            return pst_event_pins{frame.queue, static_cast<std::uint16_t>(told), 1, why, 0, 0};
        };
        classify.push_back(event(reason <= 4 ? reason : 0, kClassifyLength));
        if (chosen && fault == kClassifyQueue) ++classify.back().queue_o;
        if (reason > 4) {
            enqueue.push_back(event(reason, kEnqueueLength));
            enqueue_of.push_back(come);
            drop(frame.queue, length, reason);
        } else if (reason) {
            drops[reason].add(length, fault == kMiscount && reason == 1);
        }
        if (reason) return;
        ++accepted;
        if (!(chosen && fault == kNoEvent)) {
            enqueue.push_back(event(0, kEnqueueLength));
            enqueue_of.push_back(come);
        }
        in[frame.queue].add(length, fault == kMiscountQueueIn);
        for (const auto& [offset, value] : order.patches) frame.bytes[offset] = value;
        if (chosen && fault == kAssertion) error = "assertion of the stand-in";
        if (chosen && fault == kWrongTag) frame.tag = (frame.tag - 1) & 0x7FFF'FFFF;
        if (chosen && fault == kLose) frame.copies = 0;
        if (rules & kRewrites) rewrite(frame.bytes);
        if (chosen && fault == kBadRewrite) frame.bytes.back() ^= 1;
        if (rules & kByDeadline) {
            if (chosen && fault == kCorrupt) frame.bytes[length / 2] ^= 0x10;
            if (chosen && fault == kTruncate) frame.bytes.pop_back();
            if (chosen && fault == kDuplicate) frame.copies = 2;
            entering.push_back(frame);
            return;
        }
        if (frame.copies == 0) return;
        if (chosen && fault == kCorrupt) frame.bytes[length / 2] ^= 0x10;
        if (chosen && fault == kTruncate) frame.bytes.pop_back();
        if (chosen && fault == kDuplicate) store(frame);
        store(frame);
        if (accepted == parameter + 1 && fault == kReorder && stored.size() >= 2) {
            std::swap(stored[stored.size() - 1].bytes, stored[stored.size() - 2].bytes);
            std::swap(stored[stored.size() - 1].queue, stored[stored.size() - 2].queue);
            std::swap(stored[stored.size() - 1].tag, stored[stored.size() - 2].tag);
        }
    }

    static void rewrite(std::vector<std::uint8_t>& bytes) {
        if (bytes.size() < 16) {
            if (bytes.size() == 15) --bytes[14];
            return;
        }
        --bytes[14];
        const std::uint8_t id[4] = {0x81, 0x00, bytes[14], bytes[15]};
        if (bytes[15] & 1) bytes.insert(bytes.begin() + 12, id, id + 4);
    }

    std::uint32_t draw(std::size_t limit) {
        random = random * 1'664'525 + 1'013'904'223;
        return static_cast<std::uint32_t>((std::uint64_t{random} * limit) >> 32);
    }

    // The enqueue event of the oldest one that enters is told: its queue holds it from now on.
    void enter(bool accepted_event) {
        if (!(rules & kByDeadline) || !accepted_event) return;
        Stored frame = entering.front();
        entering.pop_front();
        frame.deadline = now + deadlines[frame.klass];
        for (std::uint32_t copy = 0; copy < frame.copies; ++copy) held.push_back(frame);
    }

    // By deadline: a queue gives a frame away, or drops it. Frames of equal deadline are held in their order.
    void choose_by_deadline(pst_pins& p) {
        p.ev[2].valid_o = false;
        if (!stored.empty() || held.empty()) return;
        do queue_turn = (queue_turn + 1) % kQueues;
        while (std::none_of(held.begin(), held.end(), [&](const Stored& f) { return f.queue == queue_turn; }));
        const auto earliest = [&](const Stored* than) {
            auto best = held.end();
            for (auto f = held.begin(); f != held.end(); ++f)
                if (f->queue == queue_turn && (!than || f->deadline > than->deadline) &&
                    (best == held.end() || f->deadline < best->deadline))
                    best = f;
            return best;
        };
        auto chosen = earliest(nullptr);
        const bool wrong = ++choices >= parameter;
        if (wrong && fault == kBadDeadline && earliest(&*chosen) != held.end()) {
            chosen = earliest(&*chosen);
            fault = kNone;
        }
        bool late = now > chosen->deadline;
        if (wrong && ((fault == kSendLate && late) || (fault == kDropEarly && !late))) {
            late = !late;
            fault = kNone;
        }
        p.ev[2] = {chosen->queue, static_cast<std::uint16_t>(chosen->bytes.size()), 1, late ? kAqmDrop : std::uint8_t{0}, 0, 0};
        if (late) {
            drop(chosen->queue, chosen->bytes.size(), kAqmDrop);
        } else {
            stored.push_back(*chosen);
            stored.back().due = now;
        }
        held.erase(chosen);
    }

    // Free: any frame that is due.
    void choose_freely() {
        if (!stored.empty()) return;
        const auto due = std::partition(held.begin(), held.end(), [&](const Stored& f) { return f.due <= now; });
        if (due == held.begin()) return;
        const auto chosen = held.begin() + draw(static_cast<std::size_t>(due - held.begin()));
        stored.push_back(*chosen);
        held.erase(chosen);
    }

    // Frames leave in order of the cycles in which they are due.
    void store(const Stored& frame) {
        if (rules & kFree) return held.push_back(frame);
        const auto later = [](std::int64_t due, const Stored& other) { return due < other.due; };
        stored.insert(std::upper_bound(stored.begin() + given, stored.end(), frame.due, later), frame);
    }

    void drop(std::uint32_t queue, std::size_t length, std::uint8_t reason) {
        const bool aqm = reason == kAqmDrop;
        drops[reason].add(length, fault == kMiscountAqm && aqm);
        dropped[queue].add(length, fault == kMiscountQueueDrops);
        if (aqm) aqm_dropped[queue].add(length, fault == kMiscountQueueAqm);
    }

    // The turn of the first stored frame that has not been given away.
    void give(pst_pins& p) {
        p.ev[2].valid_o = false;
        if (given == ahead || given == stored.size() || stored[given].due > now) return;
        const Stored& frame = stored[given];
        const std::size_t length = frame.bytes.size();
        const bool chosen = frame.number == parameter;
        if (chosen && fault == kNotGiven) {
            ++given;
            return;
        }
        const bool dropped_now = frame.verdict == kDrop || frame.verdict == kMarkAndDrop;
        const auto told = static_cast<std::uint16_t>(length - (chosen && fault == kDequeueLength));
        p.ev[2] = {frame.queue, told, 1, dropped_now ? kAqmDrop : std::uint8_t{0}, 0, 0};
        p.ev[2].mark_o = frame.verdict == kMark || frame.verdict == kMarkAndDrop;
        if (frame.verdict == kMark) {
            marked += fault == kMiscountMarks ? 2 : 1;
            marks[frame.queue] += fault == kMiscountQueueMarks ? 2 : 1;
        }
        if (!dropped_now) {
            ++given;
            return;
        }
        drop(frame.queue, length, kAqmDrop);
        stored.erase(stored.begin() + given);
    }

    void offer(pst_pins& p) {
        if (!offered) make_word();
        pst_output_pins* const out = p.out;
        const bool turn = word[0].tvalid_o && !(fault == kDropValid && offered);
        for (unsigned s = 0; s < PST_SEGMENTS; ++s) {
            const std::uint8_t ready = out[s].tready_i;
            out[s] = word[s];
            out[s].tready_i = ready;
        }
        out->tvalid_o = turn;
        if (turn && fault == kChangeData && offered) out->tdata_o[0] ^= 1;
    }

    // The beats of frames whose turn it is.
    void make_word() {
        std::size_t frame_at = 0, from = sent;
        for (pst_output_pins& out : word) {
            out.tkeep_o = 0;
            out.tvalid_o = frame_at < stored.size() && stored[frame_at].due <= now && (given > frame_at || !ahead);
            if (!out.tvalid_o) continue;
            const Stored& frame = stored[frame_at];
            const std::size_t left = frame.bytes.size() - from;
            const std::size_t bytes = left < 64 ? left : 64;
            std::memset(out.tdata_o, 0xEE, 64);
            std::memcpy(out.tdata_o, frame.bytes.data() + from, bytes);
            out.tkeep_o = ~std::uint64_t{0} >> (64 - bytes);
            if (fault == kKeepHole) out.tkeep_o &= ~std::uint64_t{2};
            out.tlast_o = bytes == left;
            out.tuser_o = rules & kCarriesTags ? frame.tag << 1 : 0;
            out.tid_o = frame.queue;
            from += 64;
            if (!out.tlast_o) continue;
            ++frame_at;
            from = 0;
        }
    }

    void sent_word() {
        for (const pst_output_pins& beat : word)
            if (beat.tkeep_o) sent_beat(beat.tlast_o);
    }

    void sent_beat(bool last) {
        sent += 64;
        if (!last) return;
        out[stored.front().queue].add(stored.front().bytes.size(), fault == kMiscountQueue);
        if (fault == kMiscountBytes) ++out[stored.front().queue].bytes;
        stored.pop_front();
        sent = 0;
        if (given) --given;
    }

    void misuse_memory(pst_axi_pins& p) {
        const bool on = accepted > 0 && (fault == kBoundary || fault == kRange || fault == kLast);
        p.awvalid_o = on && fault != kRange && !aw_done;
        p.awaddr_o = fault == kBoundary ? 4096 - 64 : 0;
        p.awlen_o = p.arlen_o = 1;
        p.awsize_o = p.arsize_o = 6;
        p.awburst_o = p.arburst_o = 1;
        p.wvalid_o = on && fault == kLast && aw_done && !w_done;
        p.wstrb_o = ~std::uint64_t{0};
        p.wlast_o = 1;
        p.bready_o = p.rready_o = 1;
        p.arvalid_o = on && fault == kRange;
        p.araddr_o = std::uint64_t{1} << 40;
    }

    std::uint32_t read(std::uint32_t address) const {
        const auto part = [&](const Counts& c) {
            const std::uint64_t value = address & 8 ? c.bytes : c.packets;
            const bool high = address & 4;
            if (high && fault == kMiscountHigh && address == 0x114) return std::uint32_t{1};
            return static_cast<std::uint32_t>(high ? value >> 32 : value);
        };
        if (address == 0x000) return 0x5053'5401;
        if (address == 0x008) return kQueues;
        if (address >= 0x080 && address < 0x090) return part(in[index]);
        if (address >= 0x090 && address < 0x0A0) return part(out[index]);
        if (address >= 0x0A0 && address < 0x0B0) return part(dropped[index]);
        if (address >= 0x0B0 && address < 0x0C0) return part(aqm_dropped[index]);
        if (address >= 0x0C0 && address < 0x0C8) return part({marks[index], 0});
        if (address >= 0x110 && address < 0x190) return part(drops[(address - 0x100) / 16]);
        if (address >= 0x190 && address < 0x198) return part({marked, 0});
        return 0;
    }

    void write(std::uint32_t address, std::uint32_t value) {
        if (address == 0x040) index = value;
        if (address == 0x800) fault = value;
        if (address == 0x804) parameter = value;
        if (address == 0x808) ahead = value;
        if (address == 0x80C) rules = value;
        if (address >= 0x830 && address < 0x840) deadlines[(address - 0x830) / 4] = value;
        if (address == 0x840) random = value;
        if (address == 0x810) chosen_frame = value;
        if (address == 0x814) dictated[chosen_frame].delay = value;
        if (address == 0x818) dictated[chosen_frame].reason = value;
        if (address == 0x81C) dictated[chosen_frame].verdict = value;
        if (address == 0x820) dictated[chosen_frame].patches.emplace_back(value >> 8, static_cast<std::uint8_t>(value));
    }

    static void pulse(std::deque<pst_event_pins>& events, pst_event_pins& pins) {
        pins.valid_o = !events.empty();
        if (events.empty()) return;
        pins = events.front();
        events.pop_front();
    }

    void cycle(pst_pins& p) {
        // outputs of this cycle
        p.init_done_o = 1;
        p.now_o = static_cast<std::uint32_t>(now);
        p.in->tready_o = 1;
        pulse(classify, p.ev[0]);
        p.ev[1].valid_o = false;
        if (!enqueue.empty() && enqueue_of.front() <= come - classify.size()) {  // it has been classified
            pulse(enqueue, p.ev[1]);
            enqueue_of.pop_front();
        }
        enter(p.ev[1].valid_o && p.ev[1].reason_o == 0);
        if (rules & kByDeadline)
            choose_by_deadline(p);
        else
            give(p);
        if (rules & kFree) choose_freely();
        offer(p);
        p.s_axil_awready_o = p.s_axil_wready_o = p.s_axil_awvalid_i && p.s_axil_wvalid_i && !write_answer;
        p.s_axil_arready_o = !read_answer;
        p.s_axil_bvalid_o = write_answer;
        p.s_axil_rvalid_o = read_answer;
        p.s_axil_rdata_o = read_value;
        misuse_memory(p.axi[0]);
        // rising edge
        if (write_answer && p.s_axil_bready_i) write_answer = false;
        if (read_answer && p.s_axil_rready_i) read_answer = false;
        if (p.s_axil_awready_o) write(p.s_axil_awaddr_i, p.s_axil_wdata_i), write_answer = true;
        if (p.s_axil_arvalid_i && p.s_axil_arready_o) read_value = read(p.s_axil_araddr_i), read_answer = true;
        if (p.axi[0].awvalid_o && p.axi[0].awready_i) aw_done = true;
        if (p.axi[0].wvalid_o && p.axi[0].wready_i) w_done = true;
        if (p.out->tvalid_o && p.out->tready_i) sent_word();
        offered = p.out->tvalid_o && !p.out->tready_i;
        if (!p.rst_i && p.in->tvalid_i)
            for (unsigned s = 0; s < PST_SEGMENTS; ++s) take_beat(p.in[s]);
        ++now;
    }

    void take_beat(const pst_input_pins& in) {
        if (in.tkeep_i == 0) return;
        const auto* bytes = reinterpret_cast<const std::uint8_t*>(in.tdata_i);
        for (int i = 0; i < 64; ++i)
            if (in.tkeep_i >> i & 1) coming.push_back(bytes[i]);
        if (rules & kCarriesTags) tag = in.tuser_i >> 1;
        if (in.tlast_i) take_frame(in.tuser_i & 1);
    }
};

extern "C" {
uint32_t pst_pins_version() { return PST_PINS_VERSION; }
void pst_describe(pst_shape* shape) { *shape = {1, 1, 4, 1, PST_SEGMENTS * PST_BEAT_BYTES}; }
pst_device* pst_create() { return new pst_device; }
void pst_destroy(pst_device* device) { delete device; }
const char* pst_error(const pst_device* device) { return device->error.c_str(); }
int pst_step(pst_device* device, pst_pins* pins) {
    device->cycle(*pins);
    return !device->error.empty();
}
}
