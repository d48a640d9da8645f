// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// CoDel on numbers that each packet brings along, so that a trace can be given to any target: clock, sojourn time and bytes left come from a
// header, the verdict is written into it. Packets go back where they came from.
#include <core.p4>
#include <v1model.p4>
#define CODEL_PORTS 5
#define CODEL_QUEUES 3
#include "../codel.p4"

header trace_t {
    bit<48> now;
    bit<32> sojourn;
    bit<32> target;
    bit<32> left;
    bit<16> port;
    bit<8>  queue;
    bit<8>  may_mark;
    bit<8>  verdict;
    bit<8>  ecn;
    bit<16> checksum;
}

struct headers_t {
    trace_t trace;
}
struct metadata_t { }

parser TraceParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.trace);
        transition accept;
    }
}

control TraceVerify(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control TraceIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        standard_metadata.egress_spec = standard_metadata.ingress_port;
    }
}

control TraceEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    CodelCore() core;

    apply {
        bit<2> verdict;
        core.apply(hdr.trace.port[8:0], hdr.trace.queue[2:0], hdr.trace.now, hdr.trace.sojourn, hdr.trace.target, hdr.trace.left,
                   hdr.trace.may_mark != 0, verdict);
        hdr.trace.verdict = (bit<8>) verdict;
        if (verdict == CODEL_MARK) {
            codel_mark_ipv4(hdr.trace.ecn[1:0], hdr.trace.checksum);
        }
    }
}

control TraceUpdate(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control TraceDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.trace);
    }
}

V1Switch(TraceParser(), TraceVerify(), TraceIngress(), TraceEgress(), TraceUpdate(), TraceDeparser()) main;
