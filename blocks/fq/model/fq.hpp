// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Model of pst_fq, cycle by cycle: flow queues behind each queue, served as RFC 8290 says. The stages are those of the README.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <stdexcept>
#include <vector>

#include "fq_hosts.hpp"
#include "fq_map.hpp"

namespace penstock {

struct FqSetting {
    std::uint32_t quantum = 1514;  // bytes, 1 .. 16,383
    std::uint32_t packets = 0xFFFF, bytes = 0xFF'FFFF;
    std::uint32_t sides = 0;  // hosts that share the queue first: bit 0 those of sources, bit 1 of destinations
};

class Fq {
  public:
    struct Packet {
        std::uint32_t desc = 0, len = 0;
    };
    struct Enqueue {
        std::uint32_t queue = 0, bucket = 0;
        Packet packet;
        FqHosts hosts{};
    };
    struct Setting {
        std::uint32_t queue = 0;
        FqSetting setting;
    };
    // What comes in a cycle.
    struct Input {
        std::optional<Enqueue> enqueue;
        std::optional<std::uint32_t> look;  // queue
        bool take = false;                  // of the look two cycles ago
        std::optional<bool> verdict;        // true: it is dropped
        bool active_ready = true, drop_ready = true;
        std::optional<Setting> setting;
        bool pool_over = false;  // there are more packets in all queues than there may be
    };
    struct Left {
        std::uint32_t queue = 0, flow = 0, left = 0;
        Packet packet;
        bool more = false;  // packets are left in its queue, as it was when it was looked at
    };
    struct Dropped {
        std::uint32_t queue = 0;
        Packet packet;
    };
    struct Active {
        std::uint32_t queue = 0, len = 0;
    };
    enum class EventKind : std::uint32_t { Accepted, TailDrop, HeadDrop };
    struct Event {
        EventKind kind = EventKind::Accepted;
        std::uint32_t queue = 0, flow = 0, len = 0;
    };
    // An operation, as it was done: for the judge.
    enum class Did : std::uint32_t { Enqueued, Refused, Sent, Rotated, Moved, Removed, Dropped, NothingToDrop };
    struct Done {
        std::uint64_t cycle = 0;
        Did did = Did::Enqueued;
        std::uint32_t queue = 0, bucket = 0, flow = 0;
        Packet packet;
    };

    explicit Fq(const FqSizes& s)
        : sizes(s),
          map(s),
          flow_(s.flows),
          queue_(s.queues),
          next_(s.descriptors),
          first_(s.flows),
          head_(s.flows),
          link_(s.flows),
          setting_(s.queues),
          valve_(s.queues),
          newest_(s.queues),
          more_(s.queues),
          staged_(s.queues),
          bucket_(s.flows),
          hosts_(s) {
        for (auto& table : ways_) table.resize(s.flows / 16);
        reset();
    }

    void reset() {
        for (auto& table : ways_) table.assign(table.size(), {});
        flow_.assign(flow_.size(), {});
        queue_.assign(queue_.size(), {});
        setting_.assign(setting_.size(), {});
        valve_.assign(valve_.size(), false);
        newest_.assign(newest_.size(), {});
        more_.assign(more_.size(), false);
        found_.clear();
        visits_.clear();
        active_.clear();
        drops_.clear();
        taken_.clear();
        verdicts_.clear();
        e_ = {};
        p_ = {};
        p4_ = {};
        p5_ = {};
        p6_ = {};
        look_ = {};
        take_ = {};
        walk_ = {};
        hosts_.reset();
        clear_left_ = std::max(sizes.flows, hosts_.clear_cycles());
        find_room_ = visit_room_ = out_room_ = deq_ready_ = false;
        share_ = 0;
        total_ = 0;
        left_.reset();
        event_.reset();
    }

    // --- outputs, as they are in the cycle that comes

    bool init_done() const { return clear_left_ == 0; }
    bool enqueue_ready() const { return find_room_ && !walk_.forced; }
    bool look_ready() const { return deq_ready_; }
    std::optional<Active> active() const { return active_.empty() ? std::nullopt : std::optional(active_.front()); }
    std::optional<Dropped> dropped() const { return drops_.empty() ? std::nullopt : std::optional(drops_.front()); }
    const std::optional<Left>& left() const { return left_; }
    const std::optional<Event>& event() const { return event_; }
    // The packet of the queue that was looked at two cycles ago: what left() has one cycle later, if it is taken.
    Left staged(std::uint32_t queue) const {
        return {queue, staged_[queue].flow, staged_[queue].left, staged_[queue].packet, look_more_[1]};
    }
    std::uint64_t total() const { return total_; }
    // What a look finds: packets and bytes in the flow queues of a queue, and its setting.
    std::uint32_t packets_of(std::uint32_t queue) const { return queue_[queue].packets; }
    std::uint32_t queue_bytes_of(std::uint32_t queue) const { return queue_[queue].bytes; }
    const FqSetting& setting_of(std::uint32_t queue) const { return setting_[queue]; }
    std::uint64_t now() const { return now_; }
    std::uint64_t operations() const { return operations_; }

    // Operations since the last call, in their order, if they are kept.
    std::vector<Done> done() {
        std::vector<Done> found;
        found.swap(done_);
        return found;
    }
    bool keep = false;

    void cycle(const Input& in) {
        const Levels before{found_.size(), visits_.size(), active_.size(), drops_.size(), taken_.size(), !verdicts_.empty()};
        const bool room = find_room_, ready = enqueue_ready(), idle = !init_done();
        const bool active_out = in.active_ready && before.active, drop_out = in.drop_ready && before.drops;

        // What is written first in a cycle is read in it.
        if (in.setting) setting_[in.setting->queue] = in.setting->setting;
        const Results r5 = p5_;
        if (r5.valve) valve_[r5.queue] = *r5.valve;
        if (r5.newest) newest_[r5.queue] = *r5.newest;
        if (r5.more) more_[r5.queue] = *r5.more;

        hosts_.begin(now_);
        Results next5 = queue_stage(p4_, in.pool_over);
        p4_ = flow_stage(p_[3]);
        p_[3] = p_[2];
        p_[2] = p_[1];
        if (p_[2].valid) read(p_[2]);
        bool cleared = false;
        p_[1] = choose(before, cleared);
        if (p_[1].valid) operations_++;
        write_head();

        dequeue(in);
        find(in, room, ready, cleared, r5.walk_no);

        // --- what was pushed is there in the next cycle
        if (active_out) active_.pop_front();
        if (drop_out) drops_.pop_front();
        if (r5.staged) {
            staged_[r5.queue] = *r5.staged;
            active_.push_back({r5.queue, r5.staged->packet.len});
        }
        if (r5.drop) drops_.push_back(*r5.drop);
        if (r5.visit) visits_.push_back(*r5.visit);
        p5_ = next5;
        event_ = next5.event;

        find_room_ = !idle && before.found <= fq_timing::kFindRoom;
        visit_room_ = before.visits <= fq_timing::kVisitRoom;
        out_room_ = before.active <= fq_timing::kOutRoom && before.drops <= fq_timing::kOutRoom;
        deq_ready_ = before.taken <= fq_timing::kTakenRoom;
        if (clear_left_) clear_left_--;
        now_++;
    }

    const FqSizes sizes;
    const FqMap map;

    // Flow queues that are claimed: for tests.
    std::uint32_t claimed() const {
        std::uint32_t count = 0;
        for (const auto& table : ways_) {
            for (const Set& set : table) {
                for (const Way& way : set) count += way.used;
            }
        }
        return count;
    }
    std::uint32_t bytes_of(std::uint32_t flow) const { return flow_[flow].bytes; }
    std::int32_t credits_of(std::uint32_t flow) const { return flow_[flow].credits; }

  private:
    struct Way {
        bool used = false;
        std::uint32_t rest = 0;
    };
    using Set = std::array<Way, FqMap::kWays>;
    struct Flow {
        std::uint32_t bytes = 0, tail = 0;
        std::int32_t credits = 0;
        bool listed = false, idle = false, in_first = false;
    };
    struct Queue {
        std::uint32_t new_head = 0, new_tail = 0, old_head = 0, old_tail = 0, packets = 0, bytes = 0, fat_flow = 0, fat_bytes = 0;
        bool new_any = false, old_any = false, awake = false, dropping = false;
    };
    struct Newest {
        bool any = false;
        std::uint32_t flow = 0;
    };
    struct Staged {
        Packet packet;
        std::uint32_t flow = 0, left = 0;
        bool old = false;
    };
    enum class Kind { Enqueue, Ask, Visit, Drop, Clear };
    struct Op {
        bool valid = false;
        Kind kind = Kind::Enqueue;
        std::uint32_t queue = 0, flow = 0, bucket = 0;
        bool old = false;         // of the visited flow: it is in the old list
        Packet packet;            // of a visit: len is given back
        FqHosts hosts{};          // of an enqueue
        std::uint32_t grant = 0;  // read in p1: what a flow gets whose credits are used up
        FqSetting setting;        // read in p1
        bool valve = false;
    };
    struct Op4 {
        Op op;
        bool accepted = false, append = false, popped = false, rotate = false, remove = false, spent = false, release = false, left = false;
        std::uint32_t bytes = 0;  // of the flow
    };
    struct Results {
        std::uint32_t queue = 0;
        std::optional<Staged> staged;
        std::optional<Op> visit;
        std::optional<Dropped> drop;
        std::optional<Event> event;
        std::optional<bool> valve, more;
        std::optional<Newest> newest;
        bool walk_no = false;
    };
    struct Levels {
        std::size_t found, visits, active, drops, taken;
        bool verdict;
    };
    struct FindOp {
        bool valid = false, push = false, clear = false;
        Op op;
        FqMap::Place place;
        std::uint32_t table = 0, way = 0;
    };
    struct Taken {
        bool valid = false;
        std::uint32_t queue = 0;
        Staged staged;
        Newest newest;
    };
    enum class Step { Wait, Ask, Asked, Clear };
    struct Walk {
        Step step = Step::Wait;
        std::uint32_t timer = 0, waited = 0, flow = 0;
        bool touched = false, forced = false;
    };

    // p1
    void read(Op& op) {
        op.setting = setting_[op.queue];
        op.valve = valve_[op.queue];
        op.grant = hosts_.grant(op.flow, op.setting.quantum);
    }

    // p0: which operation enters.
    Op choose(const Levels& before, bool& cleared) {
        const auto near = [&](std::uint32_t queue) {
            // p_ has moved on already: those of the last three cycles are in its stages 2 and 3 and in p4_.
            for (const Op* op : {&p_[2], &p_[3], &p4_.op}) {
                if (op->valid && (op->kind == Kind::Visit || op->kind == Kind::Drop) && op->queue == queue) return true;
            }
            return false;
        };
        const bool enqueue = before.found && visit_room_ && out_room_;
        const bool visit = before.visits && out_room_ && (visits_.front().kind == Kind::Clear || !near(visits_.front().queue));
        const bool resume = before.taken && before.verdict && visit_room_ && out_room_ && !near(taken_.front().queue);
        if (enqueue && (!(visit || resume) || share_ != 3)) {
            if (visit || resume) share_++;
            const Op op = found_.front();
            found_.pop_front();
            return op;
        }
        if (!visit && !resume) return {};
        share_ = 0;
        if (visit) {
            Op op = visits_.front();
            visits_.pop_front();
            cleared = op.kind == Kind::Clear;
            op.valid = !cleared;
            return op;
        }
        const Taken taken = taken_.front();
        const bool drop = verdicts_.front();
        taken_.pop_front();
        verdicts_.pop_front();
        Op op;
        op.valid = true;
        op.kind = Kind::Visit;
        op.queue = taken.queue;
        op.flow = taken.staged.flow;
        op.old = taken.staged.old;
        op.packet.len = drop ? taken.staged.packet.len : 0;
        if (!drop && op.old && taken.newest.any) {
            op.flow = taken.newest.flow;
            op.old = false;
        }
        return op;
    }

    // p3
    Op4 flow_stage(const Op& op) {
        Op4 r;
        r.op = op;
        if (!op.valid) return r;
        Flow& flow = flow_[op.flow];
        r.bytes = flow.bytes;
        switch (op.kind) {
            case Kind::Enqueue: {
                const std::uint32_t after = flow.bytes + op.packet.len;
                if (flow.bytes == 0) first_[op.flow] = op.packet;
                r.accepted = !(op.valve && after > op.setting.quantum);
                if (!r.accepted) break;
                r.bytes = after;
                r.append = !flow.listed;
                if (flow.bytes == 0)
                    flow.in_first = true;
                else
                    next_[flow.tail] = op.packet;
                if (!flow.listed) {
                    flow.credits = static_cast<std::int32_t>(op.setting.quantum);
                    hosts_.append(now_, op.queue, op.flow, op.hosts, op.setting.quantum, op.setting.sides);
                }
                flow.bytes = after;
                flow.tail = op.packet.desc;
                flow.listed = true;
                flow.idle = false;
                bucket_[op.flow] = op.bucket;
                break;
            }
            case Kind::Ask:
                r.release = !flow.listed && flow.idle;
                if (!flow.listed) flow.idle = true;
                break;
            case Kind::Visit:
                flow.credits += static_cast<std::int32_t>(op.packet.len);
                r.op.packet = {};
                if (flow.credits <= 0) {
                    flow.credits += static_cast<std::int32_t>(op.grant);
                    r.rotate = r.spent = true;
                    hosts_.spent(now_, op.queue, op.flow, op.setting.quantum, op.setting.sides);
                } else if (flow.bytes == 0) {
                    r.rotate = !op.old;
                    r.remove = op.old;
                    if (op.old) {
                        flow.listed = false;
                        hosts_.remove(op.queue, op.flow);
                    }
                } else {
                    pop(r, flow);
                    flow.credits -= static_cast<std::int32_t>(r.op.packet.len);
                }
                break;
            case Kind::Drop:
                if (flow.bytes) pop(r, flow);
                break;
            case Kind::Clear:
                break;
        }
        return r;
    }

    void pop(Op4& r, Flow& flow) {
        r.popped = true;
        r.op.packet = flow.in_first ? first_[r.op.flow] : head_[r.op.flow];
        flow.bytes -= r.op.packet.len;
        flow.in_first = false;
        r.bytes = flow.bytes;
        r.left = flow.bytes != 0;
    }

    // p6: the packet behind the one that was taken out becomes the head.
    void write_head() {
        if (p6_[1].popped && p6_[1].left) head_[p6_[1].op.flow] = next_[p6_[1].op.packet.desc];
        p6_[1] = p6_[0];
    }

    // p4
    Results queue_stage(const Op4& r, bool pool_over) {
        Results out;
        p6_[0] = r;
        const Op& op = r.op;
        if (!op.valid) return out;
        out.queue = op.queue;
        if (op.kind == Kind::Ask) {
            if (r.release) {
                out.visit = Op{};
                out.visit->kind = Kind::Clear;
            }
            out.walk_no = !r.release;
            return out;
        }
        Queue& queue = queue_[op.queue];
        if (op.kind == Kind::Enqueue && !r.accepted) {
            out.drop = Dropped{op.queue, op.packet};
            out.event = Event{EventKind::TailDrop, op.queue, op.flow, op.packet.len};
            note(Did::Refused, op);
            return out;
        }
        if (op.kind == Kind::Enqueue) {
            queue.packets++;
            queue.bytes += op.packet.len;
            total_++;
            out.event = Event{EventKind::Accepted, op.queue, op.flow, op.packet.len};
            note(Did::Enqueued, op);
        } else if (r.popped) {
            queue.packets--;
            queue.bytes -= op.packet.len;
            total_--;
        }
        if (op.flow == queue.fat_flow || r.bytes > queue.fat_bytes) {
            queue.fat_flow = op.flow;
            queue.fat_bytes = r.bytes;
        }
        const bool over = queue.packets > op.setting.packets || queue.bytes > op.setting.bytes || pool_over;
        const auto drop = [&] {
            Op next;
            next.kind = Kind::Drop;
            next.queue = op.queue;
            next.flow = queue.fat_flow;
            return next;
        };
        switch (op.kind) {
            case Kind::Enqueue:
                if (r.append) {
                    if (queue.new_any)
                        link_[queue.new_tail] = op.flow;
                    else
                        queue.new_head = op.flow;
                    queue.new_tail = op.flow;
                    queue.new_any = true;
                }
                if (!queue.awake) {
                    queue.awake = true;
                    out.visit = visit(op.queue, op.flow, false);
                } else if (over && !queue.dropping) {
                    queue.dropping = true;
                    out.visit = drop();
                }
                break;
            case Kind::Visit:
                if (r.popped) {
                    out.staged = Staged{op.packet, op.flow, r.bytes, op.old};
                    note(Did::Sent, op);
                    break;
                }
                if (op.old) {
                    queue.old_any = queue.old_head != queue.old_tail;
                    queue.old_head = link_[op.flow];
                } else {
                    queue.new_any = queue.new_head != queue.new_tail;
                    queue.new_head = link_[op.flow];
                }
                if (r.rotate) {
                    if (queue.old_any)
                        link_[queue.old_tail] = op.flow;
                    else
                        queue.old_head = op.flow;
                    queue.old_tail = op.flow;
                    queue.old_any = true;
                }
                if (queue.new_any)
                    out.visit = visit(op.queue, queue.new_head, false);
                else if (queue.old_any)
                    out.visit = visit(op.queue, queue.old_head, true);
                else
                    queue.awake = false;
                note(r.remove ? Did::Removed : r.spent ? Did::Rotated : Did::Moved, op);
                break;
            case Kind::Drop:
                if (r.popped) {
                    out.drop = Dropped{op.queue, op.packet};
                    out.event = Event{EventKind::HeadDrop, op.queue, op.flow, op.packet.len};
                }
                note(r.popped ? Did::Dropped : Did::NothingToDrop, op);
                queue.dropping = over && queue.fat_bytes;
                if (queue.dropping) out.visit = drop();
                break;
            default:
                break;
        }
        out.valve = queue.packets > op.setting.packets + 64 || queue.bytes > op.setting.bytes + (1u << 17);
        out.newest = Newest{queue.new_any, queue.new_head};
        out.more = queue.packets != 0;
        return out;
    }

    static Op visit(std::uint32_t queue, std::uint32_t flow, bool old) {
        Op op;
        op.valid = true;
        op.kind = Kind::Visit;
        op.queue = queue;
        op.flow = flow;
        op.old = old;
        return op;
    }

    void note(Did did, const Op& op) {
        if (keep) done_.push_back({now_, did, op.queue, op.kind == Kind::Enqueue ? op.bucket : bucket_[op.flow], op.flow, op.packet});
    }

    // Looks, takes and verdicts.
    void dequeue(const Input& in) {
        if (take_[1].valid) taken_.push_back(take_[1]);  // d4
        take_[1] = take_[0];                             // d3
        take_[0] = {};
        left_.reset();
        if (look_[1] && in.take) {  // d2
            const Staged& staged = staged_[*look_[1]];
            take_[0] = Taken{true, *look_[1], staged, newest_[*look_[1]]};
            left_ = Left{*look_[1], staged.flow, staged.left, staged.packet, look_more_[1]};
        }
        look_[1] = look_[0];
        look_[0] = in.look;
        look_more_[1] = look_more_[0];
        look_more_[0] = in.look && more_[*in.look];
        if (in.verdict) verdicts_.push_back(*in.verdict);
    }

    // e0 .. e5, and the walk
    void find(const Input& in, bool room, bool ready, bool cleared, bool no) {
        if (e_[5].valid) {
            found_.push_back(e_[5].op);
            found_.back().valid = true;
        }
        e_[5] = {};
        bool unused = false;
        if (e_[4].valid) e_[5] = decide(e_[4], unused);
        for (std::uint32_t i = 4; i > 1; i--) e_[i] = e_[i - 1];

        // e1: enqueues touch the walk's set; a clearing that was touched clears nothing.
        FindOp& e1 = e_[1];
        if (e1.valid && e1.op.kind == Kind::Enqueue) {
            e_[2].place = map.place(e1.op.queue, e1.op.bucket);
            if (e_[2].place.set[table_of(walk_.flow)] == set_of(walk_.flow)) walk_.touched = true;
        } else if (e1.valid) {
            e_[2].place.set = {set_of(e1.op.flow), set_of(e1.op.flow)};
            if (e1.op.kind == Kind::Ask)
                walk_.touched = false;
            else {
                e_[2].clear = !walk_.touched;
                walk_.flow = walk_.flow + 1 == map.in_tables() ? 0 : walk_.flow + 1;
            }
        }

        e1 = {};
        const bool enqueue = in.enqueue && ready;
        const bool pending = (walk_.step == Step::Ask || walk_.step == Step::Clear) && room && !enqueue;
        walk_.waited = (walk_.step == Step::Ask || walk_.step == Step::Clear) && !pending ? walk_.waited + 1 : 0;
        walk_.forced = walk_.waited >= fq_timing::kPatience;
        if (enqueue) {
            e1.valid = true;
            e1.op.kind = Kind::Enqueue;
            e1.op.queue = in.enqueue->queue;
            e1.op.bucket = in.enqueue->bucket;
            e1.op.packet = in.enqueue->packet;
            e1.op.hosts = in.enqueue->hosts;
        } else if (pending) {
            e1.valid = true;
            e1.op.kind = walk_.step == Step::Ask ? Kind::Ask : Kind::Clear;
            e1.op.flow = walk_.flow;
        }

        switch (walk_.step) {
            case Step::Wait:
                walk_.timer++;
                if (walk_.timer >= sizes.age_cycles) walk_.step = Step::Ask;
                break;
            case Step::Ask:
                if (pending) walk_.step = Step::Asked;
                break;
            case Step::Asked:
                if (cleared) walk_.step = Step::Clear;
                if (unused || no) {
                    walk_.step = Step::Wait;
                    walk_.timer = 0;
                    walk_.flow = walk_.flow + 1 == map.in_tables() ? 0 : walk_.flow + 1;
                }
                break;
            case Step::Clear:
                if (pending) {
                    walk_.step = Step::Wait;
                    walk_.timer = 0;
                }
                break;
        }
    }

    std::uint32_t set_of(std::uint32_t flow) const { return flow & ((1u << map.index_bits) - 1); }
    std::uint32_t table_of(std::uint32_t flow) const { return flow >> map.index_bits & 1; }

    // e4: the flow queue of an enqueue. `unused`: the walk asked for a way that nobody has.
    FindOp decide(const FindOp& from, bool& unused) {
        FindOp r = from;
        r.valid = true;
        if (from.op.kind != Kind::Enqueue) {
            Way& way = ways_[table_of(from.op.flow)][set_of(from.op.flow)][from.op.flow >> (map.index_bits + 1)];
            unused = from.op.kind == Kind::Ask && !way.used;
            r.valid = from.op.kind == Kind::Ask && way.used;
            if (from.op.kind == Kind::Clear && from.clear) way = {};
            return r;
        }
        std::array<std::uint32_t, 2> free{}, way{};
        for (std::uint32_t t = 0; t < FqMap::kTables; t++) {
            const Set& set = ways_[t][from.place.set[t]];
            for (std::uint32_t w = FqMap::kWays; w-- > 0;) {
                if (set[w].used && set[w].rest == from.place.rest) {
                    r.op.flow = map.flow(w, t, from.place.set[t]);
                    return r;
                }
                if (!set[w].used) {
                    free[t]++;
                    way[t] = w;
                }
            }
        }
        if (free[0] + free[1] == 0) {
            r.op.flow = map.own(from.op.queue);
            return r;
        }
        const std::uint32_t t = free[1] > free[0];
        ways_[t][from.place.set[t]][way[t]] = {true, from.place.rest};
        r.op.flow = map.flow(way[t], t, from.place.set[t]);
        return r;
    }

    std::array<std::vector<Set>, FqMap::kTables> ways_;
    std::vector<Flow> flow_;
    std::vector<Queue> queue_;
    std::vector<Packet> next_, first_, head_;
    std::vector<std::uint32_t> link_;
    std::vector<FqSetting> setting_;
    std::vector<bool> valve_;
    std::vector<Newest> newest_;
    std::vector<bool> more_;
    std::vector<Staged> staged_;
    std::vector<std::uint32_t> bucket_;  // of what came last, for the judge
    FqHostShares hosts_;

    std::deque<Op> found_, visits_;
    std::deque<Active> active_;
    std::deque<Dropped> drops_;
    std::deque<Taken> taken_;
    std::deque<bool> verdicts_;
    std::array<FindOp, 6> e_{};
    std::array<Op, 4> p_{};
    Op4 p4_;
    Results p5_;
    std::array<Op4, 2> p6_{};
    std::array<std::optional<std::uint32_t>, 2> look_;
    std::array<bool, 2> look_more_{};
    std::array<Taken, 2> take_;
    Walk walk_;
    std::uint32_t clear_left_ = 0, share_ = 0;
    bool find_room_ = false, visit_room_ = false, out_room_ = false, deq_ready_ = false;
    std::uint64_t total_ = 0, now_ = 0, operations_ = 0;
    std::optional<Left> left_;
    std::optional<Event> event_;
    std::vector<Done> done_;
};

}  // namespace penstock
