// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// PIE (RFC 8033) for v1model, to be included after <v1model.p4>. PIE drops arrivals, but only egress knows how long packets wait: egress
// clones a packet that leaves, and the clone is recirculated to ingress with the delay in its metadata, at most once in PIE_REPORT_US for
// each queue, and when the queue has become empty. Needed from the control plane: clone session PIE_SESSION to a port that is no link.
//
// In the program's metadata:   @field_list(PIE_LIST) pie_report_t pie;
// In the parser, first:        select (standard_metadata.instance_type) { PIE_RECIRCULATED: accept; ... }
// In ingress, at the end:      pie.apply(standard_metadata, meta.pie, PIE_TARGET_US, false, verdict);   // PieArrives
// In egress:                   pie.apply(standard_metadata, meta.pie, left);                             // PieReports
//
// Followed are RFC 8033's sections 4.1 and 4.2 and appendix B: burst allowance, guards, de-randomisation, auto-tuning, decay. T_UPDATE is
// 2^14 us (16.4 ms; the RFC's 15 ms is a recommendation), so that the number of periods that have passed is a shift. There is no timer: the
// first arrival after the end of a period does the update. After several periods without an arrival it does them as one: the term with
// alpha that many times (at most 64), the one with beta once, the decay linearly. After 512 periods (8.4 s) the state is as after reset,
// which is where PIE with a timer would be by then. Probabilities are in 2^-32.
#ifndef PIE_P4
#define PIE_P4

// --- parameters
#ifndef PIE_TARGET_US
#define PIE_TARGET_US 15000
#endif
#ifndef PIE_MAX_BURST_US
#define PIE_MAX_BURST_US 150000
#endif
#ifndef PIE_REPORT_US
#define PIE_REPORT_US 4096
#endif
#ifndef PIE_FEW_BYTES
#define PIE_FEW_BYTES 2048
#endif
#ifndef PIE_SESSION
#define PIE_SESSION 1
#endif
#ifndef PIE_PORTS
#define PIE_PORTS 64
#endif
#ifndef PIE_QUEUES
#define PIE_QUEUES 8
#endif
#define PIE_LIST 1
#define PIE_PERIOD_BITS 14
#define PIE_FORGET_BITS 23
#define PIE_ALPHA 537           // 0.125 per second, in 2^-32 per us
#define PIE_BETA 5369           // 1.25
#define PIE_LONGEST_US 0x1FFFFFF
#define PIE_TENTH 429496729     // 0.1 and so on, in 2^-32
#define PIE_FIFTH 858993460
#define PIE_FIFTIETH 85899345
#define PIE_ACCU_LOW 3650722202
#define PIE_ACCU_HIGH 36507222016
#define PIE_CLONED 2            // standard_metadata.instance_type, as simple_switch has it
#define PIE_RECIRCULATED 4

const bit<2> PIE_PASS = 0;
const bit<2> PIE_MARK = 1;
const bit<2> PIE_DROP = 2;
const bit<2> PIE_REPORT = 3;  // it was a report, which ends here

struct pie_report_t {
    bit<1>  known;
    bit<1>  few;    // not more than PIE_FEW_BYTES are left in the queue
    bit<9>  port;
    bit<3>  queue;
    bit<32> delay;  // us
}

// reference: QDELAY_REF in us. may_mark: the packet is ECN-capable, and is to be marked while the probability is at most 0.1.
control PieArrives(inout standard_metadata_t standard_metadata, in pie_report_t report, in bit<32> reference, in bool may_mark,
                   out bit<2> verdict) {
    register<bit<33>>(PIE_PORTS * PIE_QUEUES) told;       // latest report: few, delay
    register<bit<48>>(PIE_PORTS * PIE_QUEUES) updated;    // us
    register<bit<32>>(PIE_PORTS * PIE_QUEUES) drop_prob;  // 2^-32
    register<bit<36>>(PIE_PORTS * PIE_QUEUES) accu_prob;  // 2^-32
    register<bit<32>>(PIE_PORTS * PIE_QUEUES) delay_old;  // us
    register<bit<32>>(PIE_PORTS * PIE_QUEUES) burst;      // us

    apply {
        verdict = PIE_PASS;
        if (standard_metadata.instance_type == PIE_RECIRCULATED && report.known == 1) {
            verdict = PIE_REPORT;
            if ((bit<32>) report.port < PIE_PORTS && (bit<32>) report.queue < PIE_QUEUES) {
                told.write((bit<32>) report.port * PIE_QUEUES + (bit<32>) report.queue, report.few ++ report.delay);
            }
            mark_to_drop(standard_metadata);
        } else if ((bit<32>) standard_metadata.egress_spec < PIE_PORTS && (bit<32>) standard_metadata.priority < PIE_QUEUES) {
            bit<32> i = (bit<32>) standard_metadata.egress_spec * PIE_QUEUES + (bit<32>) standard_metadata.priority;
            bit<33> latest;
            bit<32> old;
            bit<32> prob;
            bit<32> allowance;
            bit<48> last;
            told.read(latest, i);
            delay_old.read(old, i);
            drop_prob.read(prob, i);
            burst.read(allowance, i);
            updated.read(last, i);
            bit<48> passed = standard_metadata.ingress_global_timestamp - last;
            if (passed >> PIE_FORGET_BITS != 0) {
                prob = 0;
                old = 0;
                allowance = PIE_MAX_BURST_US;
                updated.write(i, standard_metadata.ingress_global_timestamp);
                drop_prob.write(i, prob);
                delay_old.write(i, old);
                burst.write(i, allowance);
                accu_prob.write(i, 0);
            } else if (passed >> PIE_PERIOD_BITS != 0) {
                bit<64> periods = (bit<64>) (passed >> PIE_PERIOD_BITS);
                bit<64> delay = (bit<64>) latest[31:0];
                bit<64> times = periods;
                if (times > 64) {
                    times = 64;
                }
                bit<64> up = delay * (PIE_ALPHA * times + PIE_BETA);
                bit<64> down = (bit<64>) reference * (PIE_ALPHA * times) + (bit<64>) old * PIE_BETA;
                bit<64> sum = (bit<64>) prob;
                if (up >= down) {
                    up = up - down;
                    if (prob > PIE_TENTH) {
                        if (up > PIE_FIFTIETH) {
                            up = PIE_FIFTIETH;
                        }
                    } else if (prob >= 42949673) {
                        up = up >> 1;
                    } else if (prob >= 4294968) {
                        up = up >> 3;
                    } else if (prob >= 429497) {
                        up = up >> 5;
                    } else if (prob >= 42950) {
                        up = up >> 7;
                    } else if (prob >= 4295) {
                        up = up >> 9;
                    } else {
                        up = up >> 11;
                    }
                    sum = sum + up;
                    if (sum > 0xFFFFFFFF) {
                        sum = 0xFFFFFFFF;
                    }
                } else {
                    // What is taken away is rounded up.
                    down = down - up;
                    if (prob <= PIE_TENTH) {
                        if (prob >= 42949673) {
                            down = (down + 1) >> 1;
                        } else if (prob >= 4294968) {
                            down = (down + 7) >> 3;
                        } else if (prob >= 429497) {
                            down = (down + 31) >> 5;
                        } else if (prob >= 42950) {
                            down = (down + 127) >> 7;
                        } else if (prob >= 4295) {
                            down = (down + 511) >> 9;
                        } else {
                            down = (down + 2047) >> 11;
                        }
                    }
                    if (sum > down) {
                        sum = sum - down;
                    } else {
                        sum = 0;
                    }
                }
                if (delay == 0 && old == 0) {
                    if (times == 64) {
                        sum = 0;
                    } else {
                        sum = sum - (sum >> 6) * times;
                    }
                }
                prob = sum[31:0];
                periods = periods << PIE_PERIOD_BITS;
                if (prob == 0 && 2 * delay < (bit<64>) reference && 2 * (bit<64>) old < (bit<64>) reference) {
                    allowance = PIE_MAX_BURST_US;
                } else if (periods < (bit<64>) allowance) {
                    allowance = allowance - periods[31:0];
                } else {
                    allowance = 0;
                }
                old = delay[31:0];
                updated.write(i, last + periods[47:0]);
                drop_prob.write(i, prob);
                delay_old.write(i, old);
                burst.write(i, allowance);
            }
            if (allowance == 0 && latest[32:32] == 0 && (2 * (bit<64>) old >= (bit<64>) reference || prob >= PIE_FIFTH)) {
                bit<36> accu;
                bit<32> drawn;
                accu_prob.read(accu, i);
                accu = accu + (bit<36>) prob;
                if (prob == 0) {
                    accu = 0;
                }
                random(drawn, 0, 0xFFFFFFFF);
                if ((drawn < prob && accu >= PIE_ACCU_LOW) || accu >= PIE_ACCU_HIGH) {
                    accu = 0;
                    if (may_mark && prob <= PIE_TENTH) {
                        verdict = PIE_MARK;
                    } else {
                        verdict = PIE_DROP;
                        mark_to_drop(standard_metadata);
                    }
                }
                accu_prob.write(i, accu);
            }
        }
    }
}

// In egress. left: bytes that the packet leaves behind in its queue.
control PieReports(in standard_metadata_t standard_metadata, inout pie_report_t report, in bit<32> left) {
    register<bit<48>>(PIE_PORTS * PIE_QUEUES) reported;  // us, of the latest report
    register<bit<1>>(PIE_PORTS * PIE_QUEUES) waits;      // it told a delay

    apply {
        if (standard_metadata.instance_type == PIE_CLONED && report.known == 1) {
            recirculate_preserving_field_list(PIE_LIST);
        } else if ((bit<32>) standard_metadata.egress_port < PIE_PORTS && (bit<32>) standard_metadata.priority < PIE_QUEUES) {
            bit<32> i = (bit<32>) standard_metadata.egress_port * PIE_QUEUES + (bit<32>) standard_metadata.priority;
            bit<48> latest;
            bit<1> told;
            reported.read(latest, i);
            waits.read(told, i);
            if (standard_metadata.egress_global_timestamp - latest >= PIE_REPORT_US || (left == 0 && told == 1)) {
                report.known = 1;
                report.few = 0;
                if (left <= PIE_FEW_BYTES) {
                    report.few = 1;
                }
                report.port = standard_metadata.egress_port;
                report.queue = standard_metadata.priority;
                report.delay = standard_metadata.deq_timedelta;
                if (report.delay > PIE_LONGEST_US) {
                    report.delay = PIE_LONGEST_US;
                }
                if (left == 0) {
                    report.delay = 0;
                }
                told = 1;
                if (report.delay == 0) {
                    told = 0;
                }
                reported.write(i, standard_metadata.egress_global_timestamp);
                waits.write(i, told);
                clone_preserving_field_list(CloneType.E2E, PIE_SESSION, PIE_LIST);
            }
        }
    }
}

#endif
