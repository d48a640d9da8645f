// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The access edge as a model: the same device as the RTL, event by event, with one kind of core.
#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "blocks/common/model/drop.hpp"
#include "blocks/count/model/busiest.hpp"
#include "blocks/memory/model/page_admission.hpp"
#include "blocks/memory/model/timed_page_pools.hpp"
#include "blocks/settings/model/setting_profiles.hpp"
#include "blocks/timing/model/shaper_code.hpp"
#include "designs/access_edge/model/core_model.hpp"
#include "designs/access_edge/model/counters.hpp"
#include "designs/access_edge/model/device/input_model.hpp"
#include "designs/access_edge/model/device/register_model.hpp"
#include "designs/access_edge/model/node_counters.hpp"
#include "penstock/engine/ecn.hpp"
#include "penstock/engine/huge_pages.hpp"
#include "penstock/engine/measure.hpp"
#include "penstock/engine/memory_timing.hpp"
#include "penstock/engine/ring.hpp"
#include "penstock/engine/stepped_memory.hpp"

namespace penstock::engine {

namespace {

// Cycles of pst_access_edge and of the set-up, as RtlDevice sees them.
constexpr std::int64_t kResetCycles = 16;
constexpr std::int64_t kInitCycles = 2;  // from the last memory that is cleared to init_done_o, the cycle that sees it included
constexpr std::int64_t kReadCycles = 3;  // of a register
constexpr std::int64_t kSeenCycles = 2;  // from the cycle whose moves of keys a register shows to the end of its read
constexpr std::int64_t kLookCycles = 6;  // from the start of a snapshot until the age of the queue's head is known
constexpr std::int64_t kMerge = 1;       // from the choice of pst_free_merge to the pools and the admission
constexpr std::int64_t kFreeCycles = kMerge + pool_timing::kFree;  // and to the page allocator
// pst_access_edge_buckets: from the last beat that its headers are read of to the bucket; it reads the random words so many cycles before.
constexpr std::int64_t kBucket = 17, kHash = 3;
constexpr std::uint32_t kHeaderBeats = 2;
constexpr std::int64_t kNever = INT64_MAX;
constexpr std::uint32_t kSlack = 16;  // cycles between a request to an ideal memory and its answer, besides the latency

template <typename Core>
class ModelDevice final : public Device {
  public:
    explicit ModelDevice(const DeviceSettings& settings)
        : settings_(settings),
          input_(settings),
          pools_(page_counts(settings), page_sizes(settings)),
          memories_(make_memories(settings)),
          layout_(make_layout(settings, pools_)),
          write_(memories_, layout_, settings.outstanding),
          read_(memories_, layout_, settings.outstanding),
          stepped_(make_stepped(settings, layout_)),
          core_(settings.queues, pools_.descriptors(), settings.aqm.make(settings.flows.flows ? settings.flows.flows : settings.queues),
                settings.hierarchy_sizes, settings.scheduler, settings.tolerance_cycles, time_width_of(settings.max_frame_bytes),
                settings.flows),
          ect_bytes_(Core::kJudges ? kMaxFrameBytes + 64 : 0),
          admission_(make_admission(settings)),
          find_(settings.find.profiles != 0 ? std::optional<FindModel>(std::in_place, settings.find) : std::nullopt),
          registers_(settings.queues, settings.hierarchy, settings.hierarchy_sizes, settings.share_classes,
                     admission_ ? admission_->sizes() : 0, settings.busiest != 0, settings.node_counters, find_ ? &*find_ : nullptr,
                     Core::kFlows ? &flow_hash_ : nullptr, settings.setting_profiles != 0),
          profiles_(settings.setting_profiles != 0
                        ? std::optional<SettingProfiles>(std::in_place, settings.queues, settings.setting_profiles, reset_word())
                        : std::nullopt),
          head_bytes_(find_ || Core::kFlows ? kMaxFrameBytes + 64 : 0),
          nodes_(settings.node_counters, settings.queues, settings.hierarchy_sizes),
          busiest_(settings.busiest ? settings.queues : 0, settings.busiest),
          egress_(settings.egress(0)),
          beat_time_(egress_.time(kBeat)),
          overhead_time_(egress_.time(egress_.overhead())),
          ahead_time_(egress_.time(egress_.buffer())) {
        if (stepped_) stepped_->set_timeout(registers_.memory_timeout());
        for (const MemorySettings& memory : settings.memories)
            if (!memory.dram) slowest_ = std::max({slowest_, memory.read_latency, memory.write_latency});
        sent_.resize(settings.queues);
        if (Core::kJudges) {
            aqm_drop_.resize(settings.queues);
            marks_.resize(settings.queues);
        }
    }

    void start() override {
        const std::int64_t cleared = std::max<std::int64_t>(Core::init_cycles(settings_.queues, settings_.flows), settings_.queues);
        now_ = kResetCycles + std::max(cleared, find_ ? find_->init_cycles() : 0) + kInitCycles;
        origin_ = -kResetCycles;
        // The scheduler's clock has been running since its own memories were cleared.
        std::int64_t cycle = Core::init_cycles(settings_.queues, settings_.flows);
        core_.start(cycle);
        while (cycle < now_ + origin_) {
            core_.step(cycle, nullptr, false, false, nullptr);
            cycle = core_.next_event(cycle);
        }
        set_core_due(cycle);
    }
    void write(std::uint32_t address, std::uint32_t value) override { registers_.write(address, value); }
    std::uint32_t read(std::uint32_t address) override;
    void settle() override {
        while (!registers_.idle()) {
            cycle();
            if (const std::int64_t next = next_event(); next != kNever && !registers_.idle()) now_ = next;
        }
    }
    void connect(std::span<FrameSource* const> sources, Observer* observer) override;
    void run(std::int64_t until) override;
    std::int64_t now() const override { return now_; }
    bool input_idle() const override { return input_.frames() <= told_; }
    void close_input() override {
        input_.close(now_, told_);
        find_arrival();
    }
    // Arrivals and departures are timed ahead, with the lines as they are.
    std::int64_t patience() const override {
        const Ticks longest = std::max(settings_.ingress(0).frame_time(kMaxFrameBytes), egress_.frame_time(kMaxFrameBytes) + ahead_time_);
        return static_cast<std::int64_t>(std::min<Ticks>(longest >> kTickBits, kMaxCycles)) + kPipelines;
    }
    MemoryCounts memory_counts(unsigned m) const override { return stepped_ ? stepped_->counts(m) : memories_[m].counts; }
    LostFrames ingress_lost() const override { return input_.lost(); }
    BusCounts bus_counts() const override {
        BusCounts counts = input_.counts();
        counts.output_ready = now_ - not_ready_;
        counts.output_taken = sent_beats_;
        return counts;
    }

  private:
    static constexpr std::uint32_t kBeat = memory_timing::kBeatBytes;
    static constexpr std::int64_t kClosed = 16;
    static constexpr unsigned kPrefetch = 4;        // frames before its own arrives, a queue's words are called for
    static constexpr unsigned kInputFrames = 1024;  // more than the input store has beats

    struct Passed {  // classify has passed it
        std::uint64_t number;
        std::int64_t stored;
        std::uint32_t queue, length;
        bool ect;
    };
    struct Admitted {  // or not: the admission has decided
        Passed frame;
        PageAdmission::Verdict verdict;
        std::int64_t from;  // it can ask for its page
    };
    // With flow queues: a frame on its way to its bucket, which its enqueue waits for.
    struct Bucket {
        FqKey key;
        std::uint32_t beats, window;  // that have not been taken; of which headers are read
        std::int64_t known = kNever;
        bool hashed = false;
        std::uint32_t hashes = 0;  // FqHashes
    };
    struct Classified {
        std::int64_t cycle;
        Fate fate;
    };
    struct Enqueue {
        std::int64_t from;
        typename Core::Packet packet;
        bool ect;
    };
    struct Leaving {
        std::int64_t first_bit, last_beat, counted;  // counted: the tx handler is rid of it, which the counters of its queue see
        std::uint64_t number;
        std::uint32_t queue, length;
        bool unread = false;  // it is lost: its page could not be read
    };
    struct Freed {
        std::int64_t from;
        std::uint32_t descriptor;
    };

    static std::vector<std::uint32_t> page_counts(const DeviceSettings& settings) {
        std::vector<std::uint32_t> counts;
        for (const PagePool& pool : settings.pools) counts.push_back(pool.pages);
        return counts;
    }
    static std::vector<std::uint32_t> page_sizes(const DeviceSettings& settings) {
        std::vector<std::uint32_t> sizes;
        for (const PagePool& pool : settings.pools) sizes.push_back(pool.page_bytes);
        return sizes;
    }
    static std::optional<PageAdmission> make_admission(const DeviceSettings& settings) {
        if (settings.share_classes == 0) return {};
        return std::optional<PageAdmission>(std::in_place, settings.queues, page_counts(settings), page_sizes(settings),
                                            settings.share_classes);
    }
    static std::vector<MemoryTimes> make_memories(const DeviceSettings& settings) {
        std::vector<MemoryTimes> memories;
        for (const MemorySettings& memory : settings.memories) memories.emplace_back().settings = memory;
        return memories;
    }
    // None where all memories answer after a fixed time: their times are computed.
    static std::unique_ptr<SteppedMemory> make_stepped(const DeviceSettings& settings, const std::vector<PageLayout>& layout) {
        // Flow queues may hold frames up in front of them, which the computed times do not know.
        const bool computed = settings.flows.flows == 0 &&
                              std::all_of(settings.memories.begin(), settings.memories.end(),
                                          [](const MemorySettings& m) { return !m.dram && m.gap_permille == 0 && m.faults.empty(); });
        return computed ? nullptr : std::make_unique<SteppedMemory>(settings.memories, layout, settings.outstanding, settings.seed);
    }
    static std::vector<PageLayout> make_layout(const DeviceSettings& settings, const TimedPagePools& pools) {
        std::vector<PageLayout> layout;
        std::uint64_t base = 0;
        for (unsigned m = 0; m < settings.memories.size(); ++m) {
            layout.push_back({base, settings.pools[m].page_bytes, pools.base(m)});
            base += settings.memories[m].bytes;
        }
        return layout;
    }

    static std::array<std::int64_t, admission_timing::kDepth> make_long_ago() {
        std::array<std::int64_t, admission_timing::kDepth> cycles;
        cycles.fill(INT64_MIN / 2);
        return cycles;
    }

    void cycle();
    // Goes on to a cycle, from one that something happens in to the next.
    void pass(std::int64_t until) {
        while (now_ < until) {
            cycle();
            now_ = std::clamp(next_event(), now_, until);
        }
    }
    void set_core_due(std::int64_t cycle) { core_due_ = cycle == kNever ? kNever : cycle - origin_; }
    void arrivals();
    void tell_taken();
    void ask() {
        input_.ask(now_);
        find_arrival();
    }
    // The next frame is looked at when its last beat has been taken, and its queue is known.
    void find_arrival() {
        arrival_ = kNever;
        if (!input_.has_frame() || !input_.ready()) return;
        arrival_ = find_ ? std::max(input_.frame().last, input_.frame().known) : input_.frame().last;
    }
    void find_queue();
    FqKey flow_key(const Frame& frame);
    void hash_flows();
    bool bucket_known() const { return !Core::kFlows || (!buckets_.empty() && buckets_.front().known <= now_); }
    void take_beat();
    void find_decision();
    void decide();
    void find_page();
    void store_frame();
    void step_memory();
    void lose_memories();
    // A frame is lost, for the interrupt.
    void lost() { registers_.interrupt().happens(0, 1); }
    void set_memory_timeout();
    void leave(const Leaving& frame);
    bool memory_ready() const { return stepped_ ? stepped_->fetches(now_) : read_.ready(now_); }
    template <typename Out>
    void send(const Out& out);
    bool capable(const Frame& frame);
    std::int64_t send_beat(std::int64_t from, std::uint32_t bytes, bool is_last);
    std::int64_t output_beat(std::int64_t from, std::int64_t free);
    std::int64_t next_event() const;
    // The settings of a queue as pst_setting_profiles has them; and those after reset.
    static SettingProfiles::Word word_of(const CoreSetting& s) {
        SettingProfiles::Word word = encode_shaper({s.mantissa, s.exponent, s.burst});
        word = word << settings::kLimitPacketsWidth | s.limit_packets;
        word = word << settings::kLimitBytesWidth | s.limit_bytes;
        return word << (AqmSetting::kWordBits + 2) | (Core::kJudges ? s.aqm.code() : 0);
    }
    static SettingProfiles::Word reset_word() {
        CoreSetting s;
        s.mantissa = 1;
        s.limit_packets = settings::kMostLimitPackets;
        s.limit_bytes = settings::kMostLimitBytes;
        return word_of(s);
    }
    // Something happens at the registers in the next cycle; what they offer and the core does not take changes nothing.
    bool registers_move() const {
        if (!registers_.waits()) return !registers_.quiet();
        if (profiles_ && registers_.offered()) return true;
        return registers_.offered() ? core_.setting_ready() : core_.hierarchy_setting_ready();
    }
    // What a register of a counter shows; none: it is not one.
    std::optional<std::uint32_t> counter(std::uint32_t address);
    std::uint32_t share(std::uint32_t address);
    // Settings are shown from now on, what there is of them in what they are of.
    void read_back(const RegisterModel::ReadBack& read);
    // What has left of a queue, as the counters of the RTL have it: what the tx handler is rid of.
    Amount sent(std::uint32_t queue) const;

    DeviceSettings settings_;
    InputModel input_;
    TimedPagePools pools_;
    std::vector<MemoryTimes> memories_;
    std::vector<PageLayout> layout_;
    WriteTimes write_;
    ReadTimes read_;
    std::unique_ptr<SteppedMemory> stepped_;
    Core core_;
    std::vector<std::uint8_t> ect_bytes_;  // of a frame that is looked at
    std::optional<PageAdmission> admission_;
    std::optional<FindModel> find_;  // queues are found in headers
    RegisterModel registers_;
    std::optional<SettingProfiles> profiles_;
    FqHash flow_hash_;
    std::vector<std::uint8_t> head_bytes_;  // of a frame whose headers are read
    std::uint64_t held_find_count_ = 0;
    NodeCounters nodes_;
    Busiest busiest_;
    Link egress_;
    Ticks beat_time_, overhead_time_, ahead_time_;
    Observer* observer_ = nullptr;

    std::int64_t now_ = 0;
    std::int64_t origin_ = 0;  // the core's clock in cycle 0
    bool active_ = false;      // the observer was told something in this cycle
    std::int64_t core_due_ = 0;

    // input: arrival -> classified -> page -> enqueue
    std::int64_t arrival_ = kNever;
    unsigned told_ = 0;  // frames from the next one on that have arrived already, as far as the observer knows
    Ring<Classified, kInputFrames> classified_;
    Ring<Passed, kInputFrames> passed_;
    // With an admission: the frame at the head of passed_ is decided; how many have been; when each of the last ones left it, and the
    // last one came.
    std::int64_t decide_at_ = kNever;
    std::uint64_t decisions_ = 0;
    std::array<std::int64_t, admission_timing::kDepth> left_admission_ = make_long_ago();
    std::int64_t came_ = INT64_MIN / 2, came_at_ = 0;
    Ring<Admitted, admission_timing::kDepth> admitted_;
    std::int64_t page_at_ = kNever;  // the frame at the head (of admitted_, if there is an admission, else of passed_) asks for its page
    std::int64_t granted_ = INT64_MIN / 2, asked_ = INT64_MIN / 2;
    Ring<Enqueue, 4 * memory_timing::kMostOutstanding> enqueues_;
    // With a stepped memory: frames on their way to their pages, the last of which may still wait for the rx handler; frames being sent.
    Ring<Enqueue, 4 * memory_timing::kMostOutstanding> storing_;
    std::optional<MemoryFrame> granted_frame_;
    PageAdmission::Verdict granted_verdict_;  // of that frame
    std::uint32_t granted_queue_ = 0;
    std::uint32_t lost_ = 0;           // memories, as the admission knows
    std::uint32_t gone_ = 0;           // memories, as the interrupt knows
    std::deque<std::int64_t> closed_;  // cycles of late in which the admission took no frame
    struct Sending {
        std::uint64_t number;
        std::uint32_t queue;
    };
    Ring<Sending, 2 * memory_timing::kMostOutstanding> sending_;
    std::int64_t first_beat_ = -1, last_beat_ = -1;  // of the frame that is being sent
    std::array<Amount, access_edge::kDropReasons> dropped_{}, held_drops_{};

    // With flow queues: keys of the frames in passed_ and admitted_, and of those behind them until they are enqueued.
    std::deque<FqKey> keys_;
    std::deque<Bucket> buckets_;
    std::uint32_t swallowed_ = 0;  // beats to come of a frame that found no page, and whose loss is told already

    // AQM
    std::vector<Amount> aqm_drop_;      // by queue
    std::vector<std::uint64_t> marks_;  // by queue
    std::uint64_t marked_ = 0;
    Amount snapshot_aqm_drop_;
    std::uint64_t snapshot_marks_ = 0;
    // The two stages of pst_ecn_mark hold two beats each: when the last two beats have left each of them, and the tx handler.
    std::int64_t first_out_[2] = {-8, -8}, second_out_[2] = {-8, -8}, marker_in_ = -8;

    // output
    Ticks egress_free_ = 0;
    Ring<Leaving, 2 * memory_timing::kMostOutstanding> leaving_;
    Ring<Freed, kInputFrames> sent_pages_;
    std::int64_t not_ready_ = 0, sent_beats_ = 0;

    // pages on their way back to the pools
    // Of the merge's ports: 0 sent, which goes first, 1 dropped at the tail, 2 refused by a memory, 3 dropped at the head; of the last
    // three the one served last.
    int turn_ = 3;
    Ring<Freed, 4> refused_;
    std::uint32_t slowest_ = 0;                    // latency of an ideal memory
    std::vector<Amount, HugePages<Amount>> sent_;  // by queue
    Ring<Freed, 4> returning_;

    QueueState snapshot_;
    std::pair<std::uint32_t, std::uint32_t> backlog_;  // of it: packets, bytes
    std::int64_t head_sojourn_ = 0;
    struct {
        ShaperSetting shaper{0, 0, 0};
        std::uint32_t limit_packets = 0, limit_bytes = 0, parent = 0, cls = 0, weight_less_one = 0, guarantee = 0, share_class = 0,
                      quantum = 0;
        AqmSetting aqm{};
    } back_;
    std::optional<NodeCounters::Row> shown_node_;  // the snapshot is of a node and class
    Amount snapshot_sent_;
};

template <typename Core>
void ModelDevice<Core>::connect(std::span<FrameSource* const> sources, Observer* observer) {
    observer_ = observer;
    origin_ += now_;
    if (core_due_ != kNever) core_due_ -= now_;
    if (stepped_) stepped_->set_origin(origin_ + kResetCycles);
    now_ = 0;
    egress_free_ = 0;
    input_.connect(sources.empty() ? nullptr : sources.front());
    find_arrival();
}

// ---- one cycle

template <typename Core>
void ModelDevice<Core>::cycle() {
    if (input_.asking() && (active_ || now_ >= input_.ask_again())) ask();
    active_ = false;
    if (stepped_) {
        step_memory();
        if (stepped_->lost() & ~gone_) registers_.interrupt().happens(access_edge::fields::kIrqCauseMemoryLost.at(1));
        gone_ = stepped_->lost();
    }
    if (stepped_ && admission_) lose_memories();
    while (now_ >= arrival_) arrivals();
    while (!classified_.empty() && classified_.front().cycle <= now_) {
        if (classified_.front().fate.reason) lost();
        observer_->classified(now_, classified_.front().fate);
        classified_.pop();
        active_ = true;
    }
    if (!returning_.empty() && returning_.front().from <= now_) {
        pools_.free(returning_.front().descriptor, now_);
        returning_.pop();
    }
    if (now_ >= decide_at_) decide();
    if (now_ >= page_at_) store_frame();
    if constexpr (Core::kFlows) hash_flows();

    // Pages that were sent go back first, the others in turns.
    const bool back[] = {!sent_pages_.empty() && sent_pages_.front().from <= now_, core_.drop_valid(),
                         !refused_.empty() && refused_.front().from <= now_, core_.drop_head_valid(now_ + origin_)};
    bool take_drop = false, take_head = false;
    if (back[0] || back[1] || back[2] || back[3]) {
        while (!back[0] && !back[turn_ = turn_ % 3 + 1]) {
        }
        const int from = back[0] ? 0 : turn_;
        take_drop = from == 1;
        take_head = from == 3;
        const std::uint32_t page = take_drop   ? core_.drop()
                                   : take_head ? core_.drop_head()
                                   : from == 0 ? sent_pages_.front().descriptor
                                               : refused_.front().descriptor;
        returning_.push({now_ + kFreeCycles, page});
        if (admission_) admission_->free(page, now_ + origin_ + kMerge);
        if (from == 0) sent_pages_.pop();
        if (from == 2) refused_.pop();
    }

    const CoreSetting* setting = registers_.offered();
    const bool peek = profiles_ && setting && profiles_->offer(now_, setting->queue, word_of(*setting));
    const bool setting_taken = setting && core_.setting_ready() && (!profiles_ || profiles_->valid(now_));
    const bool setting_refused = profiles_ && setting && profiles_->full(now_);
    const HierarchySetting* hierarchy_setting = registers_.offered_hierarchy(setting_taken);
    if (hierarchy_setting && !core_.hierarchy_setting_ready()) hierarchy_setting = nullptr;
    if (nodes_ && hierarchy_setting) nodes_.set(*hierarchy_setting);
    const bool enqueue =
        !enqueues_.empty() && enqueues_.front().from <= now_ && bucket_known() && core_.enqueue_ready(setting_taken || peek);
    const bool out = core_.out_valid(now_ + origin_) && memory_ready();

    if (core_.event_valid()) {
        const auto& packet = core_.event();
        if (packet.reason) {
            dropped_[packet.reason].add(packet.length);
            lost();
        }
        if (nodes_) nodes_.came(packet.queue, packet.length, packet.reason);
        if (Core::kArrivals && packet.reason == static_cast<unsigned>(Drop::Aqm)) aqm_drop_[packet.queue].add(packet.length);
        observer_->enqueued(now_, {packet.queue, packet.length, packet.reason, packet.descriptor});
        active_ = true;
    }
    if constexpr (Core::kJudges) {
        if (const auto* p = core_.judged(now_ + origin_)) {
            const bool mark = p->verdict == AqmVerdict::Mark, gone = p->verdict == AqmVerdict::Drop;
            if (gone) {
                lost();
                dropped_[static_cast<unsigned>(Drop::Aqm)].add(p->length);
                aqm_drop_[p->queue].add(p->length);
                if (nodes_) nodes_.dropped(p->queue, p->length);
            }
            if (nodes_ && mark) nodes_.marked(p->queue);
            marked_ += mark;
            marks_[p->queue] += mark;
            observer_->dequeued(now_, {p->queue, p->length, static_cast<std::uint8_t>(gone ? Drop::Aqm : Drop::None), p->descriptor}, mark);
            active_ = true;
        }
    }
    if (enqueue || out || take_drop || take_head || setting_taken || hierarchy_setting || now_ >= core_due_) {
        if (out) send(core_.out());
        if constexpr (Core::kFlows) {
            core_.set_flow_limit(registers_.flow_limit());
            if (enqueue) {
                enqueues_.front().packet.hashes = buckets_.front().hashes;
                swallowed_ += buckets_.front().beats;
                buckets_.pop_front();
            }
        }
        core_.step(now_ + origin_, enqueue ? &enqueues_.front().packet : nullptr, out, take_drop, setting_taken ? setting : nullptr,
                   enqueue && enqueues_.front().ect, take_head, hierarchy_setting);
        if (enqueue) enqueues_.pop();
        set_core_due(core_.next_event(now_ + origin_));
    }
    if (admission_ && setting_taken) admission_->set_class(setting->queue, setting->share_class, now_ + origin_);
    if (!registers_.quiet()) {
        if (profiles_ && setting_taken) profiles_->taken(now_);
        if (setting_refused) profiles_->refused(now_);
        registers_.step(setting_taken, hierarchy_setting != nullptr, now_ + origin_, setting_refused);
        if (find_) find_->forget(input_.unseen_before(now_) + origin_);
        set_memory_timeout();
        if (const auto share = registers_.take_share())
            admission_->set_share(share->cls, share->size, share->alpha, std::min(share->reserved, pools_.descriptors()), now_ + origin_);
        if (const auto read = registers_.take_read_back()) read_back(*read);
        if (const auto backlog = registers_.take_scan()) {
            busiest_.scan(*backlog, now_ + origin_,
                          [&](std::uint32_t queue) { return *backlog ? core_.backlog(queue).second : sent(queue).bytes; });
            registers_.interrupt().happens(access_edge::fields::kIrqCauseScanEnded.at(1));
        }
        if (const auto queue = registers_.take_snapshot()) {
            shown_node_.reset();
            snapshot_ = core_.queue(*queue);
            backlog_ = core_.backlog(*queue);
            head_sojourn_ = core_.head_sojourn(*queue, now_ + origin_ + kLookCycles);
            snapshot_sent_ = sent(*queue);
            if constexpr (Core::kJudges) {
                snapshot_aqm_drop_ = aqm_drop_[*queue];
                snapshot_marks_ = marks_[*queue];
            }
        }
        if (const auto place = registers_.take_node_snapshot()) {
            shown_node_ = nodes_.row(place->node, place->cls);
            snapshot_ = {};
            backlog_ = {};
            head_sojourn_ = 0;
        }
    }
    if (!leaving_.empty() && leaving_.front().last_beat <= now_) {
        leave(leaving_.front());
        leaving_.pop();
        if (leaving_.size() > 1) {
            observer_->expect(leaving_.at(1).queue, true);
            __builtin_prefetch(&sent_[leaving_.at(1).queue], 1);
        }
        active_ = true;
    }
    ++now_;
}

template <typename Core>
void ModelDevice<Core>::run(std::int64_t until) {
    if (input_.asking()) ask();
    while (now_ < until) {
        cycle();
        if (active_ && observer_->enough()) return;
        const std::int64_t next = next_event();
        if (next > now_) now_ = std::min(next, until);
    }
    tell_taken();
}

// The next cycle in which something may happen.
template <typename Core>
std::int64_t ModelDevice<Core>::next_event() const {
    if (core_due_ <= now_ || registers_move() || (stepped_ && (stepped_->busy() || granted_frame_))) return now_;
    if (admission_ && admission_->will_count()) return now_;
    std::int64_t next = std::min({core_due_, arrival_, decide_at_, page_at_});
    if (input_.asking()) next = active_ ? now_ : std::min(next, input_.ask_again());
    if (!classified_.empty()) next = std::min(next, classified_.front().cycle);
    if (!returning_.empty()) next = std::min(next, returning_.front().from);
    if (!sent_pages_.empty()) next = std::min(next, sent_pages_.front().from);
    if (!refused_.empty()) next = std::min(next, refused_.front().from);
    if (!enqueues_.empty()) next = std::min(next, enqueues_.front().from);
    if (!leaving_.empty()) next = std::min(next, leaving_.front().last_beat);
    if (const std::int64_t out = core_.next_out(); out != kNever)
        next = std::min(next, std::max(out - origin_, stepped_ ? now_ : read_.ready_from()));
    return std::max(next, now_);
}

// ---- input

template <typename Core>
void ModelDevice<Core>::arrivals() {
    const InputFrame& in = input_.frame();
    const Frame& frame = in.frame;
    if (told_ > 0)
        --told_;
    else
        observer_->arrived(frame, in.last_bit);
    if (find_) find_queue();
    active_ = true;
    if (in.reason) dropped_[in.reason].add(frame.length);
    const auto length = static_cast<std::uint16_t>(frame.length);
    classified_.push({in.stored + classify_timing::kEvent, {frame.queue, length, in.reason}});
    if (in.reason == 0) {
        passed_.push({frame.number, in.stored, frame.queue, frame.length, capable(frame)});
        if constexpr (Core::kFlows) keys_.push_back(flow_key(frame));
        if (passed_.size() == 1) admission_ ? find_decision() : find_page();
    }
    input_.advance(now_);
    find_arrival();
    if (const Frame* soon = input_.look_ahead(kPrefetch); soon && soon->queue < settings_.queues) {
        core_.prefetch(soon->queue);
        observer_->expect(soon->queue, false);
    }
}

// The queue of the frame that comes next, by its headers.
template <typename Core>
void ModelDevice<Core>::find_queue() {
    Frame head = input_.frame().frame;
    const std::int64_t vector = input_.frame().vector + origin_;
    head.length = std::min(head.length, 2 * kBeat + 1);  // more is not read
    head.sum_at = 0;
    frame_bytes(head, settings_.seed, head_bytes_.data());
    input_.resolve(find_->find({head_bytes_.data(), head.length}, vector));
    find_->forget(vector);
}

// What the flow of a frame is told by.
template <typename Core>
FqKey ModelDevice<Core>::flow_key(const Frame& frame) {
    Frame head = frame;
    head.length = std::min(head.length, kHeaderBeats * kBeat + 1);  // more is not read
    head.sum_at = 0;
    frame_bytes(head, settings_.seed, head_bytes_.data());
    return FqKey(parse({head_bytes_.data(), head.length}, ParseMpls::ByNibble, {kHeaderBeats * kBeat, 2, false}));
}

template <typename Core>
void ModelDevice<Core>::hash_flows() {
    for (Bucket& frame : buckets_) {
        if (frame.known == kNever || frame.known - kHash > now_) break;
        if (!frame.hashed) frame.hashes = FqHashes::pack(flow_hash_.bucket(frame.key), flow_hash_.hosts(frame.key));
        frame.hashed = true;
    }
}

// A beat of the oldest frame that has some left is on its way to the memory.
template <typename Core>
void ModelDevice<Core>::take_beat() {
    if (swallowed_ != 0) {
        --swallowed_;
        return;
    }
    for (Bucket& frame : buckets_) {
        if (frame.beats == 0) continue;
        --frame.beats;
        if (frame.window != 0 && --frame.window == 0) frame.known = now_ + kBucket;
        return;
    }
}

// At the end of a run of cycles: frames that the device has taken, but that cannot be followed any further until the store has room.
// What counts the frames under way now counts these.
template <typename Core>
void ModelDevice<Core>::tell_taken() {
    while (arrival_ < now_) arrivals();
    if (arrival_ != kNever && !find_) return;  // with headers a frame is looked at later than it is taken
    unsigned count = 0;
    input_.taken_before(now_, [&](const Frame& frame, std::int64_t last_bit) {
        if (++count <= told_) return;
        observer_->arrived(frame, last_bit);
        ++told_;
    });
}

// When the admission decides on the frame at the head: it is stored, and there is a place for it.
template <typename Core>
void ModelDevice<Core>::find_decision() {
    decide_at_ = kNever;
    if (passed_.empty() || admitted_.full()) return;
    const std::int64_t place = left_admission_[decisions_ % left_admission_.size()] + 1;
    came_at_ = std::max({passed_.front().stored + classify_timing::kOffer, came_ + 1, place});
    while (std::find(closed_.begin(), closed_.end(), came_at_) != closed_.end()) ++came_at_;
    decide_at_ = came_at_ + admission_timing::kDecide;
}

// Memories that are lost from this cycle on; and frames that found no page for that, which the admission counts before it takes others.
template <typename Core>
void ModelDevice<Core>::lose_memories() {
    if (stepped_->lost() != lost_) admission_->lose(lost_ = stepped_->lost(), now_ + origin_);
    if (lost_ == 0 || !admission_->counting(now_ + origin_)) return;
    // A decision is never longer than this behind its frame.
    while (!closed_.empty() && closed_.front() < now_ - kClosed) closed_.pop_front();
    closed_.push_back(now_);
    if (decide_at_ == kNever || came_at_ != now_) return;
    ++came_at_;
    ++decide_at_;
}

template <typename Core>
void ModelDevice<Core>::decide() {
    const Passed frame = passed_.front();
    passed_.pop();
    came_ = came_at_;
    ++decisions_;
    admitted_.push({frame, admission_->decide(frame.queue, frame.length, now_ + origin_), now_ + admission_timing::kOffer});
    if (admitted_.size() == 1) find_page();
    find_decision();
}

// When the frame at the head asks for its page: it is stored, and the grant before is taken.
template <typename Core>
void ModelDevice<Core>::find_page() {
    if (granted_ == kNever) {
        page_at_ = kNever;
    } else if (admission_) {
        page_at_ = admitted_.empty() ? kNever : std::max({admitted_.front().from, granted_, asked_ + 1});
    } else {
        page_at_ = passed_.empty() ? kNever : std::max({passed_.front().stored + classify_timing::kOffer, granted_, asked_ + 1});
    }
}

template <typename Core>
void ModelDevice<Core>::store_frame() {
    Passed frame;
    PageAdmission::Verdict verdict;
    if (admission_) {
        frame = admitted_.front().frame;
        verdict = admitted_.front().verdict;
        left_admission_[(decisions_ - admitted_.size()) % left_admission_.size()] = now_;
        admitted_.pop();
        if (decide_at_ == kNever) find_decision();
    } else {
        frame = passed_.front();
        passed_.pop();
    }
    asked_ = now_;
    const bool refused = admission_ && verdict.size < 0;
    const std::uint32_t of_bytes = admission_ && !refused ? admission_->page_bytes(static_cast<unsigned>(verdict.size)) : 0;
    const auto page = refused ? std::nullopt : pools_.allocate(frame.length, now_, of_bytes, stepped_ ? stepped_->lost() : 0);
    if (admission_ && page) admission_->given(*page, frame.queue, verdict.cls);
    const Drop lost = page ? Drop::None : verdict.no_share ? Drop::NoShare : Drop::NoPage;
    const int memory = page ? static_cast<int>(pools_.memory_of(*page)) : -1;
    const std::uint32_t descriptor = page.value_or(0);
    const Enqueue enqueue{
        now_,
        {descriptor, frame.queue, static_cast<std::uint16_t>(frame.length), static_cast<std::uint8_t>(lost), frame.number},
        frame.ect};
    if constexpr (Core::kFlows) {
        const std::uint32_t beats = (frame.length + kBeat - 1) / kBeat;
        buckets_.push_back({keys_.front(), beats, std::min(beats, kHeaderBeats)});
        keys_.pop_front();
    }
    if (stepped_) {
        granted_frame_ = MemoryFrame{memory, descriptor, frame.length};
        granted_verdict_ = verdict;
        granted_queue_ = frame.queue;
        storing_.push(enqueue);
        page_at_ = granted_ = kNever;
        return;
    }
    granted_ = write_.grant(now_ + 1);
    enqueues_.push(enqueue);
    enqueues_.back().from = write_.store(granted_, memory, descriptor, frame.length, [&](std::int64_t cycle) { input_.beat_taken(cycle); });
    find_page();
    if (arrival_ == kNever) {
        input_.retry();
        find_arrival();
    }
}

// ---- output

template <typename Core>
template <typename Out>
void ModelDevice<Core>::send(const Out& out) {
    const std::uint32_t descriptor = out.descriptor, length = out.length;
    const int memory = static_cast<int>(pools_.memory_of(descriptor));
    observer_->expect(out.queue, false);
    if (stepped_) {
        sending_.push({out.tag, out.queue});
        stepped_->fetch({memory, descriptor, length}, now_);
        return;
    }
    first_beat_ = -1;
    const std::int64_t read = read_.fetch(now_, memory, descriptor, length,
                                          [&](std::int64_t from, std::uint32_t bytes, bool last) { return send_beat(from, bytes, last); });
    leaving_.push({first_beat_, last_beat_, Core::kJudges ? marker_in_ : last_beat_, out.tag, out.queue, length});
    sent_pages_.push({read + 1, descriptor});
}

// A beat that is there from cycle `from` on: returns when the tx handler is rid of it.
template <typename Core>
std::int64_t ModelDevice<Core>::send_beat(std::int64_t from, std::uint32_t bytes, bool is_last) {
    const auto free = static_cast<std::int64_t>((egress_free_ - ahead_time_) >> kTickBits);
    const std::int64_t cycle = Core::kJudges ? output_beat(from, free) : std::max(from, free);
    if (first_beat_ < 0) first_beat_ = cycle;
    egress_free_ = std::max(egress_free_, ticks(cycle)) + (is_last ? egress_.time(bytes) + overhead_time_ : beat_time_);
    not_ready_ += std::max<std::int64_t>(0, static_cast<std::int64_t>((egress_free_ - ahead_time_) >> kTickBits) - cycle - 1);
    ++sent_beats_;
    last_beat_ = cycle;
    return Core::kJudges ? marker_in_ : cycle;
}

// A cycle of the memories of which it is not known when they answer.
template <typename Core>
void ModelDevice<Core>::step_memory() {
    struct Hooks {
        ModelDevice& device;
        void beat_taken(std::int64_t now) {
            device.input_.beat_taken(now);
            if constexpr (Core::kFlows) device.take_beat();
        }
        void stored(const MemoryFrame& frame, std::int64_t from, bool failed) {
            device.enqueues_.push(device.storing_.front());
            Enqueue& enqueue = device.enqueues_.back();
            enqueue.from = from;
            device.storing_.pop();
            if (!failed) return;
            enqueue.packet.reason = static_cast<std::uint8_t>(Drop::WriteError);
            device.refused_.push({from, frame.descriptor});
        }
        std::int64_t sent(const MemoryFrame& frame, std::int64_t from, std::uint32_t bytes, bool last, bool failed) {
            const std::int64_t rid = device.send_beat(from, bytes, last);
            return last ? end(frame, rid, failed) : rid;
        }
        // A word without bytes: the line is not asked.
        std::int64_t unread(const MemoryFrame& frame, std::int64_t from) {
            device.first_beat_ = device.last_beat_ = Core::kJudges ? device.output_beat(from, from) : from;
            return end(frame, Core::kJudges ? device.marker_in_ : from, true);
        }
        std::int64_t end(const MemoryFrame& frame, std::int64_t rid, bool failed) {
            const Sending& sending = device.sending_.front();
            device.leaving_.push({device.first_beat_, device.last_beat_, rid, sending.number, sending.queue, frame.length, failed});
            device.sending_.pop();
            device.first_beat_ = -1;
            return rid;
        }
        bool enqueue_room() const { return device.enqueues_.size() < memory_timing::kEnqueues; }
        bool refused_room() const { return device.refused_.size() < memory_timing::kRefused; }
        bool page_room() const { return device.sent_pages_.size() < memory_timing::kFreed; }
        void page_read(const MemoryFrame& frame, std::int64_t now) { device.sent_pages_.push({now + 1, frame.descriptor}); }
    };
    stepped_->step(now_, Hooks{*this});
    if (granted_frame_ && asked_ < now_ && stepped_->takes(now_)) {
        stepped_->store(*granted_frame_, now_);
        if (admission_ && granted_frame_->memory >= 0)
            admission_->granted(granted_frame_->descriptor, now_ + origin_);
        else if (admission_ && granted_verdict_.size >= 0)
            admission_->missed(granted_queue_, granted_verdict_.cls, static_cast<unsigned>(granted_verdict_.size), now_ + origin_);
        granted_frame_.reset();
        granted_ = now_;
        find_page();
    }
    if (arrival_ == kNever) {
        input_.retry();
        find_arrival();
    }
}

// A memory that always answers is lost only if the time-out is shorter than its answer takes.
template <typename Core>
void ModelDevice<Core>::set_memory_timeout() {
    const std::uint32_t timeout = registers_.memory_timeout();
    if (stepped_) return stepped_->set_timeout(timeout);
    if (timeout != 0 && timeout < slowest_ + kSlack)
        throw DeviceError("a time-out of " + std::to_string(timeout) + " cycles is shorter than the memories take to answer (" +
                          std::to_string(slowest_) + " cycles, and " + std::to_string(kSlack) + " for the way)");
}

// A frame has left, or would have, could it have been read.
template <typename Core>
void ModelDevice<Core>::leave(const Leaving& frame) {
    if (frame.unread) {
        constexpr auto kReason = static_cast<std::uint8_t>(Drop::ReadError);
        dropped_[kReason].add(frame.length);
        lost();
        observer_->unread(now_, {frame.queue, static_cast<std::uint16_t>(frame.length), kReason});
        return;
    }
    sent_[frame.queue].add(frame.length);
    if (nodes_) nodes_.left(frame.queue, frame.length);
    observer_->departed(frame.first_bit, frame.queue, frame.number, frame.length, 0);
}

// Whether the device finds the frame ECN-capable. Synthetic frames are none.
template <typename Core>
bool ModelDevice<Core>::capable(const Frame& frame) {
    if (!Core::kJudges || frame.stored == 0) return false;
    frame_bytes(frame, settings_.seed, ect_bytes_.data());
    return find_ecn(ect_bytes_.data(), frame.length).capable();
}

// A beat that the tx handler offers from cycle `from` on passes pst_ecn_mark: returns when it is taken at the output, which is free from
// cycle `free` on; marker_in_: when the tx handler is rid of it.
template <typename Core>
std::int64_t ModelDevice<Core>::output_beat(std::int64_t from, std::int64_t free) {
    marker_in_ = std::max({from, marker_in_ + 1, first_out_[0] + 1});
    const std::int64_t between = std::max({marker_in_ + 1, first_out_[1] + 1, second_out_[0] + 1});
    const std::int64_t cycle = std::max({between + 1, second_out_[1] + 1, free});
    first_out_[0] = std::exchange(first_out_[1], between);
    second_out_[0] = std::exchange(second_out_[1], cycle);
    return cycle;
}

// ---- registers

// The half of a counter of 8 bytes that is read, if it is this one.
std::optional<std::uint32_t> half(std::uint32_t address, std::uint32_t counter, std::uint64_t value) {
    if (address == counter) return static_cast<std::uint32_t>(value);
    if (address == counter + 4) return static_cast<std::uint32_t>(value >> 32);
    return {};
}

template <typename Core>
std::optional<std::uint32_t> ModelDevice<Core>::counter(std::uint32_t address) {
    for (unsigned reason = 1; reason < access_edge::kDropReasons; ++reason) {
        const access_edge::DropCounters& at = access_edge::kDropCounters[reason];
        if (at.packets == 0) continue;  // a number that no reason has
        // Reading the lower half of the packets holds packets and bytes of that moment.
        if (address == at.packets) held_drops_[reason] = dropped_[reason];
        if (const auto found = half(address, at.packets, held_drops_[reason].packets)) return found;
        if (const auto found = half(address, at.bytes, held_drops_[reason].bytes)) return found;
    }
    if (find_) {
        if (address == registers::kFindCount) held_find_count_ = find_->count(registers_.find_item());
        if (const auto found = half(address, registers::kFindCount, held_find_count_)) return found;
    }
    if (shown_node_) {
        const NodeCounters::Row& row = *shown_node_;
        const Amount lost{row.lost.packets + row.aqm.packets, row.lost.bytes + row.aqm.bytes};
        const std::tuple<std::uint32_t, std::uint32_t, const Amount&> counters[] = {
            {registers::kInPackets, registers::kInBytes, row.in},
            {registers::kOutPackets, registers::kOutBytes, row.out},
            {registers::kDropPackets, registers::kDropBytes, lost},
            {registers::kAqmDropPackets, registers::kAqmDropBytes, row.aqm},
        };
        for (const auto& [packets, bytes, amount] : counters) {
            if (const auto found = half(address, packets, amount.packets)) return found;
            if (const auto found = half(address, bytes, amount.bytes)) return found;
        }
        if (const auto found = half(address, registers::kMarkPackets, row.marks)) return found;
    }
    const QueueState& queue = snapshot_;
    const Amount &aqm = snapshot_aqm_drop_, head = Core::kArrivals ? Amount{} : aqm;  // dropped at the head
    const struct {
        std::uint32_t at;
        std::uint64_t value;
    } counters[] = {
        {registers::kInPackets, queue.accepted_packets},
        {registers::kInBytes, queue.accepted_bytes},
        {registers::kOutPackets, snapshot_sent_.packets},
        {registers::kOutBytes, snapshot_sent_.bytes},
        {registers::kDropPackets, queue.dropped_packets + head.packets},
        {registers::kDropBytes, queue.dropped_bytes + head.bytes},
        {registers::kAqmDropPackets, aqm.packets},
        {registers::kAqmDropBytes, aqm.bytes},
        {registers::kMarkPackets, snapshot_marks_},
        {registers::kMarkedPackets, marked_},
        {registers::kBusiestBytes, busiest_.place(registers_.busiest_place()).value},
    };
    for (const auto& counter : counters)
        if (const auto found = half(address, counter.at, counter.value)) return found;
    return {};
}

// With an AQM the stages that mark frames hold some that the tx handler is rid of.
template <typename Core>
Amount ModelDevice<Core>::sent(std::uint32_t queue) const {
    Amount amount = sent_[queue];
    if (!Core::kJudges) return amount;
    for (unsigned i = 0; i < leaving_.size() && leaving_.at(i).counted < now_; ++i)
        if (leaving_.at(i).queue == queue && !leaving_.at(i).unread) amount.add(leaving_.at(i).length);
    return amount;
}

template <typename Core>
void ModelDevice<Core>::read_back(const RegisterModel::ReadBack& read) {
    back_ = {};
    const HierarchySetting found = core_.hierarchy_setting(read.what, read.id);
    back_.shaper = found.shaper;
    if (read.what == HierarchySetting::What::Queue) {
        const QueueState& queue = core_.queue(read.id);
        back_.shaper = settings_.shaping ? core_.shaper(read.id) : ShaperSetting{0, 0, 0};
        back_.limit_packets = queue.limit_packets;
        back_.limit_bytes = queue.limit_bytes;
        back_.cls = found.cls;
        back_.aqm = core_.aqm_setting(read.id);
        back_.quantum = core_.quantum(read.id) | access_edge::fields::kNowQuantumSides.at(core_.sides(read.id));
        if (admission_) back_.share_class = admission_->class_of(read.id);
    }
    back_.parent = found.parent;
    back_.weight_less_one = found.weight - 1U;
    back_.guarantee = encode_guarantee(found.guarantee);
}

// What the admission tells of the class and page size that the window shows.
template <typename Core>
std::uint32_t ModelDevice<Core>::share(std::uint32_t address) {
    const auto shown = registers_.shown_share();
    if (!shown) return 0;
    admission_->advance(now_ + origin_);
    const auto [cls, size] = *shown;
    if (address == registers::kShareFree) return admission_->free_pages(size);
    return address == registers::kShareUsed ? admission_->used(cls, size) : admission_->reserved(cls, size);
}

template <typename Core>
std::uint32_t ModelDevice<Core>::read(std::uint32_t address) {
    namespace fields = access_edge::fields;
    if (input_.asking()) ask();  // frames may have been offered since the last cycle
    settle();
    pass(now_ + kReadCycles);
    if (const auto found = counter(address)) return *found;
    switch (address) {
        case registers::kType:
            return access_edge::resets::kTypeValue;
        case registers::kVersion:
            return access_edge::resets::kVersionValue;
        case registers::kQueues:
            return settings_.queues;
        case registers::kDescriptors:
            return pools_.descriptors();
        case registers::kMemories:
            return static_cast<std::uint32_t>(settings_.memories.size());
        case registers::kMaxFrameBytes:
            return settings_.max_frame_bytes;
        case registers::kClockHz:
            return static_cast<std::uint32_t>(settings_.clock_hz);
        case registers::kFeatures: {
            const int tick = settings_.aqm ? settings_.aqm.tick_shift : 0;
            return fields::kFeaturesShaping.at(settings_.shaping) | fields::kFeaturesAqm.at(settings_.aqm.code) |
                   fields::kFeaturesAqmEstimate.at(settings_.aqm.estimate) |
                   fields::kFeaturesTickShift.at(static_cast<std::uint32_t>(tick)) | fields::kFeaturesHierarchy.at(settings_.hierarchy) |
                   fields::kFeaturesAdmission.at(settings_.share_classes != 0) | fields::kFeaturesNodeCounters.at(bool{nodes_}) |
                   fields::kFeaturesSojourn.at(settings_.aqm && !settings_.aqm.estimate && !Core::kFlows) |
                   fields::kFeaturesGuarantees.at(settings_.hierarchy_sizes.guarantee_cycles != 0) |
                   fields::kFeaturesHeaders.at(find_.has_value()) | fields::kFeaturesFlows.at(Core::kFlows) |
                   fields::kFeaturesCounterMemory.at(settings_.counter_memory);
        }
        case registers::kStatus:
            return fields::kStatusInitDone.at(1) | fields::kStatusBusy.at(!registers_.quiet()) |
                   fields::kStatusRefused.at(registers_.refused() != 0) | fields::kStatusReason.at(registers_.refused());
        case registers::kQueuesPerSubscriber:
            return settings_.hierarchy ? settings_.hierarchy_sizes.queues_per_subscriber : 0;
        case registers::kNodes:
            return settings_.hierarchy ? settings_.hierarchy_sizes.nodes : 0;
        case registers::kPorts:
            return settings_.hierarchy ? settings_.hierarchy_sizes.ports : 0;
        case registers::kClasses:
            return settings_.hierarchy ? settings_.hierarchy_sizes.classes : 0;
        case registers::kShareClasses:
            return settings_.share_classes;
        case registers::kShareSizes:
            return admission_ ? admission_->sizes() : 0;
        case registers::kShareFree:
        case registers::kShareUsed:
        case registers::kShareInForce:
            return share(address);
        case registers::kMemoryTimeout:
            return registers_.memory_timeout();
        case registers::kMemoryLost:
            return stepped_ ? stepped_->lost() : 0;
        case registers::kIrqCause:
            registers_.interrupt().settle();
            return registers_.interrupt().cause();
        case registers::kIrqMask:
            return registers_.interrupt().mask();
        case registers::kIrqDrops:
            return registers_.interrupt().threshold();
        case registers::kIrqLost:
            return registers_.interrupt().lost();
        case registers::kQueueIndex:
            return registers_.index();
        case registers::kBacklogPackets:
            return backlog_.first;
        case registers::kBacklogBytes:
            return backlog_.second;
        case registers::kHeadSojourn:
            return static_cast<std::uint32_t>(std::min<std::int64_t>(head_sojourn_, UINT32_MAX));
        case registers::kNowRate:
            return fields::kNowRateMantissa.at(back_.shaper.mantissa) | fields::kNowRateExponent.at(back_.shaper.exponent);
        case registers::kNowBurst:
            return back_.shaper.burst;
        case registers::kNowLimitPackets:
            return back_.limit_packets;
        case registers::kNowLimitBytes:
            return back_.limit_bytes;
        case registers::kNowParent:
            return back_.parent;
        case registers::kNowClass:
            return fields::kNowClassCls.at(back_.cls) | fields::kNowClassWeight.at(back_.weight_less_one);
        case registers::kNowGuarantee:
            return back_.guarantee;
        case registers::kNowShareClass:
            return back_.share_class;
        case registers::kNowAqm:
            return fields::kNowAqmEnable.at(back_.aqm.enable) | fields::kNowAqmEcn.at(back_.aqm.ecn);
        case registers::kNowAqmTarget:
            return static_cast<std::uint32_t>(back_.aqm.word >> AqmSetting::kWordBits / 2);
        case registers::kNowAqmInterval:
            return back_.aqm.field(0, AqmSetting::kWordBits / 2);
        case registers::kBusiestPlaces:
            return settings_.busiest;
        case registers::kBusiestPlace:
            return registers_.busiest_place();
        case registers::kBusiestStatus:
            return fields::kBusiestStatusBacklog.at(busiest_.level()) | fields::kBusiestStatusScans.at(busiest_.number());
        case registers::kBusiestQueue:
            return busiest_.place(registers_.busiest_place()).index;
        case registers::kBusiestWindow:
            return busiest_.window();
        case registers::kTreeIndex:
            return registers_.hierarchy_index();
        case registers::kFlows:
            return settings_.flows.flows;
        case registers::kFlowPackets:
            return core_.flow_packets();
        case registers::kFlowLimit:
            return registers_.flow_limit();
        case registers::kFlowHosts:
            return settings_.flows.host_bits ? 1u << settings_.flows.host_bits : 0;
        case registers::kSettingProfiles:
            return settings_.setting_profiles;
        case registers::kSettingProfilesUsed:
            return profiles_ ? profiles_->used() : 0;
        case registers::kNowQuantum:
            return back_.quantum;
        case registers::kFindProfiles:
            return find_ ? find_->profiles() : 0;
        case registers::kFindEntries:
            return find_ ? find_->entries() : 0;
        case registers::kFindPrefixLevels:
            return find_ ? find_->prefix_levels() : 0;
        case registers::kFindKeys:
            return find_ ? static_cast<std::uint32_t>(find_->keys()) : 0;
        case registers::kFindMoves:
            return find_ ? find_->moves(now_ + origin_ - kSeenCycles) : 0;
        case registers::kFindRead:
            return registers_.find_read();
        default:
            return 0;
    }
}

}  // namespace

}  // namespace penstock::engine
