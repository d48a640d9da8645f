// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// CoDel (RFC 8289) for v1model, to be included after <v1model.p4>. One line in egress: `codel.apply(standard_metadata);`.
//
// Codel      drops; the queue is (egress_port, priority).
// CodelEcn   says `mark` in place of dropping what is ECN-capable; codel_mark_ipv4 and codel_mark_ipv6 mark.
// CodelCore  the algorithm on plain numbers, for programs that know their queues better.
//
// Each packet that leaves its queue gets one decision. State is kept for CODEL_PORTS x CODEL_QUEUES queues; packets of all others pass.
// Times are microseconds modulo 2^48 with 16 bits of fraction; differences up to 2^47 us (4.4 years) are told apart.
#ifndef CODEL_P4
#define CODEL_P4

// --- parameters: define them before the include to have others. INTERVAL is that of the law's table: `penstock p4 law --interval`.
#ifndef CODEL_LAW
#define CODEL_LAW "codel_law.p4"
#endif
#include CODEL_LAW
#ifndef CODEL_TARGET_US
#define CODEL_TARGET_US 5000
#endif
#ifndef CODEL_MTU
#define CODEL_MTU 1514
#endif
#ifndef CODEL_PORTS
#define CODEL_PORTS 64
#endif
#ifndef CODEL_QUEUES
#define CODEL_QUEUES 8
#endif

const bit<2> CODEL_PASS = 0;
const bit<2> CODEL_MARK = 1;
const bit<2> CODEL_DROP = 2;
const bit<2> CODEL_LEFT = 3;  // pass, and the dropping state has ended with this packet

// Where a queue is in the RFC's deque(). Below: first_above_time is 0. Above: it is set. Dropping: it has passed, and packets are dropped
// when drop_next comes. Owing: the same, and the last packet was dropped: if the next may be dropped, too, drop_next goes on by `owed`.
const bit<2> CODEL_BELOW = 0;
const bit<2> CODEL_ABOVE = 1;
const bit<2> CODEL_DROPPING = 2;
const bit<2> CODEL_OWING = 3;

// now: clock in us. sojourn: time in the queue in us. left: bytes that the packet leaves behind. may_mark: it is ECN-capable, and wanted so.
@noWarn("unused")
control CodelCore(in bit<9> port, in bit<3> queue, in bit<48> now, in bit<32> sojourn, in bit<32> target, in bit<32> left,
                  in bool may_mark, out bit<2> verdict) {
    register<bit<34>>(CODEL_PORTS * CODEL_QUEUES) state;        // mode, count, lastcount
    register<bit<48>>(CODEL_PORTS * CODEL_QUEUES) first_above;  // us
    register<bit<64>>(CODEL_PORTS * CODEL_QUEUES) drop_next;    // 2^-16 us
    register<bit<40>>(CODEL_PORTS * CODEL_QUEUES) owed;         // 2^-16 us
    CodelLaw() law;

    apply {
        verdict = CODEL_PASS;
        if ((bit<32>) port < CODEL_PORTS && (bit<32>) queue < CODEL_QUEUES) {
            bit<32> i = (bit<32>) port * CODEL_QUEUES + (bit<32>) queue;
            bit<34> word;
            state.read(word, i);
            bit<2> mode = word[33:32];
            if (sojourn < target || left <= CODEL_MTU) {
                if (mode != CODEL_BELOW) {
                    if (mode != CODEL_ABOVE) {
                        verdict = CODEL_LEFT;
                    }
                    state.write(i, CODEL_BELOW ++ word[31:0]);
                }
            } else if (mode == CODEL_BELOW) {
                first_above.write(i, now + CODEL_INTERVAL_US);
                state.write(i, CODEL_ABOVE ++ word[31:0]);
            } else {
                bit<16> count = word[31:16];
                bit<16> lastcount = word[15:0];
                bit<64> time = now ++ 16w0;
                bit<64> next;
                bit<64> lag;
                bool act = false;
                drop_next.read(next, i);
                if (mode == CODEL_ABOVE) {
                    bit<48> since;
                    first_above.read(since, i);
                    since = now - since;
                    if (since[47:47] == 0) {
                        // Enter: the remembered count is good for 16 intervals.
                        act = true;
                        count = count - lastcount;
                        lag = time - next;
                        if (count == 0 || (lag[63:63] == 0 && lag >= (16 * CODEL_INTERVAL_US) << 16)) {
                            count = 1;
                        }
                        lastcount = count;
                        next = time;
                    }
                } else {
                    if (mode == CODEL_OWING) {
                        bit<40> step_before;
                        owed.read(step_before, i);
                        next = next + (bit<64>) step_before;
                    }
                    lag = time - next;
                    if (lag[63:63] == 0) {
                        act = true;
                        if (count != 0xFFFF) {
                            count = count + 1;
                        }
                    }
                }
                if (act) {
                    bit<40> step;
                    law.apply(count, step);
                    verdict = CODEL_DROP;
                    if (may_mark) {
                        verdict = CODEL_MARK;
                    }
                    if (mode == CODEL_ABOVE || may_mark) {
                        next = next + (bit<64>) step;
                        mode = CODEL_DROPPING;
                    } else {
                        owed.write(i, step);
                        mode = CODEL_OWING;
                    }
                    drop_next.write(i, next);
                    state.write(i, mode ++ count ++ lastcount);
                } else if (mode == CODEL_OWING) {
                    drop_next.write(i, next);
                    state.write(i, CODEL_DROPPING ++ word[31:0]);
                }
            }
        }
    }
}

// In egress. v1model tells how many packets are left, not bytes: one is taken to be of CODEL_MTU, so the guard holds with one left.
@noWarn("unused")
control Codel(inout standard_metadata_t standard_metadata) {
    CodelCore() core;

    apply {
        bit<2> verdict;
        core.apply(standard_metadata.egress_port, standard_metadata.priority, standard_metadata.egress_global_timestamp,
                   standard_metadata.deq_timedelta, CODEL_TARGET_US, (bit<32>) standard_metadata.deq_qdepth * CODEL_MTU, false, verdict);
        if (verdict == CODEL_DROP) {
            mark_to_drop(standard_metadata);
        }
    }
}

// In egress. ecn: the field of the packet's IP header, 0 without one.
@noWarn("unused")
control CodelEcn(inout standard_metadata_t standard_metadata, in bit<2> ecn, out bool mark) {
    CodelCore() core;

    apply {
        bit<2> verdict;
        core.apply(standard_metadata.egress_port, standard_metadata.priority, standard_metadata.egress_global_timestamp,
                   standard_metadata.deq_timedelta, CODEL_TARGET_US, (bit<32>) standard_metadata.deq_qdepth * CODEL_MTU, ecn != 0,
                   verdict);
        mark = verdict == CODEL_MARK;
        if (verdict == CODEL_DROP) {
            mark_to_drop(standard_metadata);
        }
    }
}

// Sets CE. The word with the field grows by 3 - ecn, and the checksum follows (RFC 1624, equation 3).
action codel_mark_ipv4(inout bit<2> ecn, inout bit<16> checksum) {
    bit<17> sum = (bit<17>) (~checksum) + (bit<17>) (2w3 - ecn);
    checksum = ~(sum[15:0] + (bit<16>) sum[16:16]);
    ecn = 3;
}

action codel_mark_ipv6(inout bit<2> ecn) {
    ecn = 3;
}

#endif
