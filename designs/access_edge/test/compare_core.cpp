// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Drives the verilated pst_access_edge_core and its model (core_model.hpp) with the same random traffic and compares every port in every
// cycle. Arguments: library, queues, descriptors, kind (0 pass-through, 1 shaped, 2 CoDel, 3 CoDel with estimated delays, 4 PIE, 5 PIE with
// estimated delays; with a hierarchy 6, with CoDel 7, with PIE 8; 9: a scheduler of one's own), cycles, seed, tolerance of the shapers in
// cycles. Last, with a hierarchy: queues of a subscriber, nodes, ports, classes, cycles of guarantees, as 4,4,2,4,0; of an own scheduler
// the library of its model. Kinds of flow queues: 10, with CoDel 11, with a hierarchy 12, with both 13; the numbers of a hierarchy (0
// without), flow queues, lanes, cycles of the walk. With profiles=N behind all that the core has N profiles of settings. Prints what was
// seen; a difference ends the program with 1.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <random>
#include <utility>
#include <vector>

#include "blocks/aqm/codel/model/codel.hpp"
#include "blocks/aqm/pie/model/timed_pie.hpp"
#include "blocks/timing/model/shaper_code.hpp"
#include "designs/access_edge/bench/core_library.hpp"
#include "designs/access_edge/model/core_model.hpp"

namespace {

using penstock::CoreSetting;

// The library is built with these: ticks so short that thousands of packets meet a delay, and many rounds.
constexpr int kTickShift = 2;
constexpr std::uint32_t kMaxPacketBytes = 100;
constexpr int kGuardCount = 12;                                    // CoDel
constexpr int kUpdateTicks = 20, kAlpha = 20'000, kBeta = 60'000;  // PIE

struct Phase {
    unsigned enqueue, out, drop, setting;  // per mille of the cycles
    unsigned hot, max_len, reasons;
    bool low_limits;
    unsigned hierarchy;  // per mille of the cycles in which a setting of the hierarchy is offered
};

// Before any traffic subscribers, nodes and ports get their settings. Later classes and weights change; in most runs so do parents.
constexpr long kSetup = 4096;

// The AQM's model as a device makes it.
template <typename Aqm>
penstock::CoreAqm make_aqm(std::uint32_t queues, bool estimate) {
    const penstock::AqmNumber numbers[] = {
        {"tick_shift", kTickShift},   {"max_packet_bytes", kMaxPacketBytes}, {"estimate", estimate}, {"time_width", 26},
        {"guard_count", kGuardCount}, {"update_ticks", kUpdateTicks},        {"alpha", kAlpha},      {"beta", kBeta}};
    return {std::make_shared<Aqm>(queues, penstock::AqmNumbers(numbers)), kTickShift};
}

// Who has which profile of settings, given to queues in any order: what is free may be given at once.
class Profiles {
  public:
    Profiles(std::uint32_t queues, std::uint32_t profiles) : settings_(profiles), queues_of_(profiles), of_(queues) {
        if (profiles) queues_of_[0] = queues;
    }
    explicit operator bool() const { return !settings_.empty(); }
    // Chooses the profile for a setting that is about to be offered; where none is free it becomes one that there is.
    template <typename Below>
    void choose(CoreSetting& setting, pst_core_pins& pins, const Below& below) {
        std::vector<std::size_t> free, used;
        for (std::size_t p = 0; p < settings_.size(); ++p) (queues_of_[p] ? used : free).push_back(p);
        std::erase(used, std::size_t{0});  // whose settings are those after reset
        std::erase(free, std::size_t{0});
        fresh_ = used.empty() || (!free.empty() && below(2));
        profile_ = fresh_ ? free[below(free.size())] : used[below(used.size())];
        if (!fresh_) {
            const std::uint32_t queue = setting.queue;
            setting = settings_[profile_];
            setting.queue = queue;
        }
        pins.s_cfg_profile_i = static_cast<std::uint16_t>(profile_);
        pins.s_cfg_fresh_i = fresh_;
    }
    std::uint16_t of(std::uint32_t queue) const { return of_[queue]; }
    // The queue has it.
    void taken(const CoreSetting& setting) {
        settings_[profile_] = setting;
        ++queues_of_[profile_];
        --queues_of_[of_[setting.queue]];
        of_[setting.queue] = static_cast<std::uint16_t>(profile_);
    }

  private:
    std::vector<CoreSetting> settings_;
    std::vector<std::uint32_t> queues_of_;
    std::vector<std::uint16_t> of_;
    std::size_t profile_ = 0;
    bool fresh_ = false;
};

template <typename Model>
int compare(const char* library, std::uint32_t queues, std::uint32_t descriptors, long cycles, unsigned long seed,
            const penstock::CoreAqm& aqm, const penstock::OwnScheduler& own, std::uint32_t tolerance, const penstock::HierarchySizes& sizes,
            bool busy, const penstock::FlowSizes& flows, std::uint32_t profile_count) {
    penstock::RtlCore rtl(library);
    Profiles profiles(queues, profile_count);
    bool peeked = false;  // the queue's profile was asked for in the last cycle
    Model model(queues, descriptors, aqm, sizes, own, tolerance, penstock::kLeastTimeWidth, flows);
    std::mt19937_64 random(seed);
    const auto below = [&](std::uint64_t limit) { return static_cast<std::uint32_t>(random() % limit); };
    auto& p = rtl.pins;
    p.rst_i = 1;
    for (int i = 0; i < 4; ++i) rtl.step();
    p.rst_i = 0;
    std::int64_t now = 0;
    for (; rtl.step(), !p.init_done_o; ++now) {
    }
    // This was the first cycle with init_done_o; the model knows when it is.
    if (now != Model::init_cycles(queues, flows))
        return std::printf("init_done_o at cycle %ld, the model says %u\n", now, Model::init_cycles(queues, flows)), 1;
    model.start(now);
    model.step(now, nullptr, false, false, nullptr);

    std::deque<std::uint32_t> free;
    for (std::uint32_t d = 0; d < descriptors; ++d) free.push_back(d);
    Phase phase{};
    long in = 0, out = 0, dropped = 0, settings = 0, skipped = 0, marks = 0, heads = 0;
    std::int64_t due = now + 1;  // the next cycle that the model has to be stepped in
    // Of every third run with a hierarchy: subscribers and nodes have rates, and bursts for the sake of which they hold back for what of
    // them waits above.
    const bool tight = Model::kHierarchy && seed % 3 == 1;
    // Of these and of every other run: hardly any queue is slow, so packets crowd before nodes and ports, which let batches of them go.
    const bool crowded = tight || (Model::kHierarchy && seed % 2 == 0);
    const bool moves = below(4) != 0;  // parents' settings change in mid-traffic, too
    // `busy`: what has traffic changes, as fast as settings are taken; in half of these runs parents have high rates, so that much comes
    // through, and in all of them some so low that wheels have a horizon.
    const bool quick = busy && below(2) != 0;
    const auto draw_setting = [&] {
        CoreSetting s;
        s.queue = below(4) ? below(queues) : below(phase.hot);
        const auto kind = crowded && below(32) ? 1 : below(16);
        s.mantissa = kind == 0 && below(2) ? 0 : kind == 1 ? 1 : 32768 + below(32768);
        s.exponent = kind < 2 ? 0 : below(16) ? below(13) : below(23);
        s.burst = below(3) ? below(5000) : below(1u << 28);
        // An own scheduler's settings are any; the highest ones are not 0.
        if (!own.library.empty()) s.mantissa = below(65536), s.exponent = below(32), s.burst = below(1u << 28) | 1u << 25;
        s.limit_packets = phase.low_limits ? below(40) : 65535;
        s.limit_bytes = phase.low_limits ? below(40'000) : 0xFFFFFF;
        const auto draw_aqm = [&](unsigned disabled, unsigned drops, unsigned least, unsigned longs) {
            const bool enable = below(disabled) != 0, ecn = below(drops) != 0;
            const std::uint64_t target = below(60);
            return penstock::AqmSetting{enable, ecn, target << 18 | (least + below(below(longs) ? 20 : 2000))};
        };
        s.aqm = draw_aqm(8, 2, 1, 4);
        // PIE begins anew when it is turned on, and needs its time to act.
        if (Model::kArrivals) s.aqm = draw_aqm(64, 4, 0, 8);
        return s;
    };
    const auto draw_hierarchy = [&](bool setup) {
        using What = penstock::HierarchySetting::What;
        penstock::HierarchySetting s;
        s.what = static_cast<What>(setup || moves ? below(4) : 0);
        const std::uint32_t counts[] = {queues, queues / sizes.queues_per_subscriber, sizes.nodes, sizes.ports};
        s.id = below(counts[static_cast<int>(s.what)]);
        if (busy && !setup && s.what < What::Node && below(2))
            s.id = below(phase.hot) / (s.what == What::Queue ? 1 : sizes.queues_per_subscriber);
        s.parent = s.what == What::Subscriber ? below(sizes.nodes) : s.what == What::Node ? below(sizes.ports) : 0;
        const auto kind = below(16);
        // About the rate of the traffic, so that each level is congested at times.
        s.shaper.mantissa = kind == 0 && below(2) ? 0 : kind < 6 ? 1 : 32768 + below(32768);
        s.shaper.exponent = kind < 6 ? 0 : busy && kind == 15 ? 18 + below(4) : 8 + below(quick ? 5 : 10);
        s.shaper.burst = below(3) ? 0 : below(5000);
        s.cls = static_cast<std::uint8_t>(below(sizes.classes));
        s.weight = static_cast<std::uint8_t>(1 + below(8));
        if (crowded && s.what == What::Subscriber) s.shaper = {};
        if (crowded && s.what > What::Subscriber) s.shaper = {32768 + below(32768), 9 + below(5), below(below(2) ? 20'000 : 2'000)};
        // Nodes with a burst below ports that are as slow: they hold back for what of them waits there, at the end of a round, too.
        if (tight && s.what == What::Node) s.shaper = {32768 + below(32768), 14 + below(3), 4096u << below(4)};
        if (tight && s.what == What::Port) s.shaper = {32768 + below(32768), 14, below(20'000)};
        if (tight && s.what == What::Subscriber) s.shaper = {32768 + below(32768), 12 + below(5), 2048u << below(4)};
        if (crowded && seed % 4 == 0) s.cls = 0, s.parent = 0;  // long lists
        if (sizes.guarantee_cycles && below(4))
            s.guarantee = {static_cast<std::uint16_t>(32768 + below(32768)), static_cast<std::uint8_t>(12 + below(8))};
        return s;
    };
    penstock::HierarchySetting hierarchy_offered;
    penstock::AqmSetting offered;
    for (long n = 1; n < cycles; ++n) {
        ++now;
        if (n % 4096 == 1) {
            const unsigned rates[] = {0, 5, 100, 500, 700, 1000};
            phase = {rates[below(6)],
                     rates[1 + below(5)],
                     rates[1 + below(5)],
                     below(3) ? below(3) : rates[below(4)],
                     1 + below(std::min(queues, 8u)),
                     below(Model::kArrivals ? 8 : 2) == 0 ? 64U : 1514U,
                     below(4) ? 0U : 50U,
                     below(2) == 0,
                     below(3) ? below(5)
                     : busy   ? 100U << below(3)
                              : 100U};
            if (below(6) == 0) phase.out = 0;
            if (Model::kFlows) p.flow_limit_i = below(3) ? 0 : 1 + below(descriptors / 2);
            model.set_flow_limit(p.flow_limit_i ? p.flow_limit_i : UINT32_MAX);
            if (Model::kHierarchy && n < kSetup) phase.enqueue = 0, phase.hierarchy = 1000;
        }
        if (!p.s_enq_valid_i && !free.empty() && below(1000) < phase.enqueue) {
            p.s_enq_valid_i = 1;
            p.s_enq_queue_i = below(2) ? below(queues) : below(phase.hot);
            p.s_enq_desc_i = free.front();
            p.s_enq_len_i = static_cast<std::uint16_t>(1 + below(phase.max_len));
            p.s_enq_reason_i = below(1000) < phase.reasons ? 5 : 0;
            p.s_enq_ect_i = Model::kJudges && (below(3) == 0) != Model::kArrivals;
            if (Model::kFlows) p.s_enq_hashes_i = below(n / 4096 % 3 ? 4 : 1024) | below(1 << 20) << 10;
            if (!p.s_enq_reason_i) free.pop_front();
        }
        p.m_out_ready_i = below(1000) < phase.out;
        p.m_drop_ready_i = below(1000) < phase.drop;
        p.m_drop_head_ready_i = Model::kJudges && below(1000) < phase.drop;
        CoreSetting setting;
        peeked = std::exchange(p.s_cfg_peek_i, 0);
        if (peeked) {
            p.s_cfg_valid_i = 1;
        } else if (!p.s_cfg_valid_i && below(1000) < phase.setting) {
            setting = draw_setting();
            if (profiles) profiles.choose(setting, p, below);
            p.s_cfg_valid_i = !profiles;
            p.s_cfg_peek_i = !p.s_cfg_valid_i;
            p.s_cfg_queue_i = setting.queue;
            p.s_cfg_shaper_i = penstock::encode_shaper({setting.mantissa, setting.exponent, setting.burst});
            p.s_cfg_limit_packets_i = setting.limit_packets;
            p.s_cfg_limit_bytes_i = setting.limit_bytes;
            if (Model::kFlows)
                p.s_cfg_quantum_i = static_cast<std::uint16_t>((below(4) ? 1 + below(3000) : 0) | (flows.host_bits ? below(4) << 14 : 0));
            p.s_cfg_aqm_i =
                static_cast<std::uint64_t>(setting.aqm.enable) << 37 | static_cast<std::uint64_t>(setting.aqm.ecn) << 36 | setting.aqm.word;
            offered = setting.aqm;
        }
        if (Model::kHierarchy && !p.s_hierarchy_cfg_valid_i && below(1000) < phase.hierarchy) {
            hierarchy_offered = draw_hierarchy(n < kSetup);
            p.s_hierarchy_cfg_valid_i = 1;
            p.s_hierarchy_cfg_what_i = static_cast<std::uint8_t>(hierarchy_offered.what);
            p.s_hierarchy_cfg_id_i = hierarchy_offered.id;
            p.s_hierarchy_cfg_shaper_i = penstock::encode_shaper(hierarchy_offered.shaper);
            p.s_hierarchy_cfg_parent_i = hierarchy_offered.parent;
            p.s_hierarchy_cfg_class_i = hierarchy_offered.cls;
            p.s_hierarchy_cfg_weight_i = static_cast<std::uint8_t>(hierarchy_offered.weight - 1);
            p.s_hierarchy_cfg_guarantee_i = penstock::encode_guarantee(hierarchy_offered.guarantee);
        }
        rtl.step();
        const auto differs = [&](const char* what, long a, long b) {
            std::printf("cycle %ld: %s is %ld in the RTL, %ld in the model (seed %lu)\n", now, what, a, b, seed);
            return 1;
        };
#define EQUAL(what, a, b) \
    if ((a) != (b)) return differs(what, static_cast<long>(a), static_cast<long>(b))
        EQUAL("now", p.now_o, static_cast<std::uint32_t>(now));
        if (peeked) EQUAL("s_cfg_old_o", p.s_cfg_old_o, profiles.of(p.s_cfg_queue_i));
        const bool cfg_taken = p.s_cfg_valid_i && model.setting_ready();
        EQUAL("s_cfg_ready_o", bool(p.s_cfg_ready_o), model.setting_ready());
        bool hierarchy_taken = false;
        if constexpr (Model::kHierarchy) {
            if (p.s_hierarchy_cfg_valid_i)
                EQUAL("s_hierarchy_cfg_ready_o", bool(p.s_hierarchy_cfg_ready_o), model.hierarchy_setting_ready());
            hierarchy_taken = p.s_hierarchy_cfg_valid_i && p.s_hierarchy_cfg_ready_o;
        }
        EQUAL("s_enq_ready_o", bool(p.s_enq_ready_o), model.enqueue_ready(cfg_taken || p.s_cfg_peek_i));
        EQUAL("m_out_valid_o", bool(p.m_out_valid_o), model.out_valid(now));
        if (p.m_out_valid_o) {
            EQUAL("m_out_queue_o", p.m_out_queue_o, model.out().queue);
            EQUAL("m_out_desc_o", p.m_out_desc_o, model.out().descriptor);
            EQUAL("m_out_len_o", p.m_out_len_o, model.out().length);
            EQUAL("m_out_mark_o", bool(p.m_out_mark_o), model.out().mark);
        }
        EQUAL("m_drop_head_valid_o", bool(p.m_drop_head_valid_o), model.drop_head_valid(now));
        if (p.m_drop_head_valid_o) EQUAL("m_drop_head_desc_o", p.m_drop_head_desc_o, model.drop_head());
        if constexpr (Model::kJudges) {
            const auto* judged = model.judged(now);
            EQUAL("ev_deq_valid_o", bool(p.ev_deq_valid_o), judged != nullptr);
            if (judged) {
                EQUAL("ev_deq_queue_o", p.ev_deq_queue_o, judged->queue);
                EQUAL("ev_deq_len_o", p.ev_deq_len_o, judged->length);
                EQUAL("ev_deq_reason_o", p.ev_deq_reason_o, judged->verdict == penstock::AqmVerdict::Drop ? 8 : 0);
                EQUAL("ev_deq_mark_o", bool(p.ev_deq_mark_o), judged->verdict == penstock::AqmVerdict::Mark);
                marks += p.ev_deq_mark_o;
                heads += p.ev_deq_reason_o == 8;
            }
        }
        EQUAL("m_drop_valid_o", bool(p.m_drop_valid_o), model.drop_valid());
        if (p.m_drop_valid_o) EQUAL("m_drop_desc_o", p.m_drop_desc_o, model.drop());
        if (Model::kFlows) EQUAL("flow_packets_o", p.flow_packets_o, model.flow_packets());
        EQUAL("ev_valid_o", bool(p.ev_valid_o), model.event_valid());
        if (p.ev_valid_o) {
            EQUAL("ev_queue_o", p.ev_queue_o, model.event().queue);
            EQUAL("ev_reason_o", p.ev_reason_o, model.event().reason);
            EQUAL("ev_len_o", p.ev_len_o, model.event().length);
            heads += p.ev_reason_o == 8;
        }
        const bool enq_taken = p.s_enq_valid_i && p.s_enq_ready_o, out_taken = p.m_out_valid_o && p.m_out_ready_i;
        const bool drop_taken = p.m_drop_valid_o && p.m_drop_ready_i, head_taken = p.m_drop_head_valid_o && p.m_drop_head_ready_i;
        if (hierarchy_taken || head_taken || enq_taken || out_taken || drop_taken || cfg_taken || now >= due) {
            const typename Model::Packet packet{p.s_enq_desc_i, p.s_enq_queue_i, p.s_enq_len_i, p.s_enq_reason_i, 0, p.s_enq_hashes_i};
            if (cfg_taken) {
                const penstock::ShaperSetting shaper = penstock::decode_shaper(p.s_cfg_shaper_i);
                setting = {p.s_cfg_queue_i,
                           shaper.burst,
                           p.s_cfg_limit_bytes_i,
                           static_cast<std::uint16_t>(shaper.mantissa),
                           p.s_cfg_limit_packets_i,
                           static_cast<std::uint8_t>(shaper.exponent),
                           offered,
                           0,
                           p.s_cfg_quantum_i};
                if (profiles) profiles.taken(setting);
            }
            model.step(now, enq_taken ? &packet : nullptr, out_taken, drop_taken, cfg_taken ? &setting : nullptr, p.s_enq_ect_i, head_taken,
                       hierarchy_taken ? &hierarchy_offered : nullptr);
            due = model.next_event(now);
        } else {
            ++skipped;
        }
        if (enq_taken) p.s_enq_valid_i = 0, ++in;
        if (cfg_taken) p.s_cfg_valid_i = 0, ++settings;
        if (hierarchy_taken) p.s_hierarchy_cfg_valid_i = 0, ++settings;
        if (out_taken) free.push_back(p.m_out_desc_o), ++out;
        if (drop_taken) free.push_back(p.m_drop_desc_o), ++dropped;
        if (head_taken) free.push_back(p.m_drop_head_desc_o);
    }
    std::printf("%ld cycles equal: %ld in, %ld out, %ld dropped, %ld settings, %ld marked, %ld dropped by the AQM, %ld cycles left out\n",
                cycles, in, out, dropped, settings, marks, heads, skipped);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    const auto queues = static_cast<std::uint32_t>(std::atol(argv[2])), descriptors = static_cast<std::uint32_t>(std::atol(argv[3]));
    const long cycles = std::atol(argv[5]);
    const auto seed = static_cast<unsigned long>(std::atol(argv[6]));
    const long kind = std::atol(argv[4]);
    const char* const last = argc > 8 && std::strncmp(argv[8], "profiles=", 9) != 0 ? argv[8] : "";
    std::uint32_t profiles = 0;
    if (std::sscanf(argv[argc - 1], "profiles=%u", &profiles) == 1) --argc;
    const bool busy = argc > 9;
    const penstock::OwnScheduler own{"own", kind == 9 ? last : "", {{"seed", 1}}};
    penstock::HierarchySizes sizes;
    if (kind >= 6 && kind <= 8 &&
        std::sscanf(last, "%u,%u,%u,%u,%u", &sizes.queues_per_subscriber, &sizes.nodes, &sizes.ports, &sizes.classes,
                    &sizes.guarantee_cycles) != 5)
        return std::puts("sizes of the hierarchy?"), 2;
    penstock::FlowSizes flows;
    if (kind >= 10 &&
        std::sscanf(last, "%u,%u,%u,%u,%u,%u,%u,%u,%u", &sizes.queues_per_subscriber, &sizes.nodes, &sizes.ports, &sizes.classes,
                    &sizes.guarantee_cycles, &flows.flows, &flows.lanes, &flows.age_cycles, &flows.host_bits) != 9)
        return std::puts("sizes of the flow queues?"), 2;
    if (kind == 11 || kind == 13) flows.quantum = kMaxPacketBytes;
    const auto tolerance = static_cast<std::uint32_t>(std::atol(argv[7]));
    const auto run = [&]<typename Model>(const penstock::CoreAqm& aqm = {}) {
        return compare<Model>(argv[1], queues, descriptors, cycles, seed, aqm, own, tolerance, sizes, busy, flows, profiles);
    };
    using namespace penstock;
    switch (kind) {
        case 0:
            return run.operator()<PassthroughCore>();
        case 1:
            return run.operator()<ShapedCore>();
        case 2:
            return run.operator()<JudgedCore<DepartureJudge<false>>>(make_aqm<Codel>(queues, false));
        case 3:
            return run.operator()<JudgedCore<DepartureJudge<true>>>(make_aqm<Codel>(queues, true));
        case 4:
            return run.operator()<JudgedCore<ArrivalJudge<false>>>(make_aqm<TimedPie>(queues, false));
        case 5:
            return run.operator()<JudgedCore<ArrivalJudge<true>>>(make_aqm<TimedPie>(queues, true));
        case 6:
            return run.operator()<HierarchyCore>();
        case 7:
            return run.operator()<HierarchyCoreFor<DepartureJudge<false>>>(make_aqm<Codel>(queues, false));
        case 8:
            return run.operator()<HierarchyCoreFor<ArrivalJudge<false>>>(make_aqm<TimedPie>(queues, false));
        case 10:
            return run.operator()<FlowCoreFor<NoJudge>>();
        case 11:
            return run.operator()<FlowCoreFor<DepartureJudge<false>>>(make_aqm<Codel>(flows.flows, false));
        case 12:
            return run.operator()<FlowHierarchyCoreFor<NoJudge>>();
        case 13:
            return run.operator()<FlowHierarchyCoreFor<DepartureJudge<false>>>(make_aqm<Codel>(flows.flows, false));
        default:
            return run.operator()<OwnCore>();
    }
}
