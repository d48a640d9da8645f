// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Clones, resubmit, recirculate, multicast, truncate, digest, exit; what is kept, and what standard_metadata says.
#include "base.p4"

header op_t { bit<8> code; bit<8> session; bit<16> group; bit<32> value; }
header seen_t {
    bit<8> instance; bit<8> port; bit<16> egress_port; bit<16> rid; bit<16> length; bit<32> kept; bit<32> lost; bit<16> ingress_port;
    bit<48> time; bit<32> waited; bit<24> depth;
}
struct headers_t { op_t op; seen_t seen; }
struct digest_t { bit<32> value; }
struct meta_t {
    @field_list(1) bit<32> kept;
    bit<32> lost;
    @field_list(1) bit<8> rounds;
}

parser Parse(packet_in p, out headers_t h, inout meta_t m, inout standard_metadata_t s) {
    state start {
        p.extract(h.op);
        transition select(h.op.code) {
            0x80 &&& 0x80: seen;
            default: accept;
        }
    }
    state seen { p.extract(h.seen); transition accept; }
}

NO_CHECKS
NO_UPDATE

control TheIngress(inout headers_t h, inout meta_t m, inout standard_metadata_t s) {
    apply {
        s.egress_spec = (bit<9>)h.op.session;
        bit<8> code = h.op.code & 0x7F;
        if (code == 1) {
            m.kept = 0x1111; m.lost = 0x2222;
            h.op.value = 0xDEAD;
            clone_preserving_field_list(CloneType.I2E, (bit<32>)h.op.session, 1);
            s.egress_spec = 3;
        } else if (code == 2) {
            if (s.instance_type == 0) { m.kept = 0x3333; m.lost = 0x4444; h.op.value = 1; resubmit_preserving_field_list(1); }
            else { h.op.value = m.kept + m.lost; m.rounds = m.rounds + 1; }
        } else if (code == 3) {
            s.mcast_grp = h.op.group;
        } else if (code == 4) {
            m.kept = 0x5555;
            m.lost = 0x6666;
        } else if (code == 5) {
            if (s.instance_type == 4) { h.op.value = h.op.value + m.kept; }
        } else if (code == 6) {
            truncate(10);
        } else if (code == 7) {
            digest<digest_t>(1, { h.op.value });
        } else if (code == 8) {
            s.mcast_grp = h.op.group;
            mark_to_drop(s);
        } else if (code == 9) {
            resubmit_preserving_field_list(2);
        } else if (code == 10) {
            s.priority = 2;
        } else if (code == 11) {
            clone(CloneType.I2E, (bit<32>)h.op.session);
            mark_to_drop(s);
        } else if (code == 12) {
            if (h.op.value == 5) { exit; }
            h.op.value = 6;
        } else if (code == 13) {
            s.mcast_grp = h.op.group;
            mark_to_drop(s);
            s.mcast_grp = h.op.group;
        }
    }
}

control TheEgress(inout headers_t h, inout meta_t m, inout standard_metadata_t s) {
    apply {
        bit<8> code = h.op.code & 0x7F;
        if (code == 4 && s.instance_type != 2) { clone_preserving_field_list(CloneType.E2E, (bit<32>)h.op.session + 1, 1); }
        if (code == 5 && h.op.value < 3) {
            h.op.value = h.op.value + 1; m.kept = 0x100; recirculate_preserving_field_list(1);
        } else if (!h.seen.isValid()) {
            h.seen.setValid();
            h.seen.instance = (bit<8>)s.instance_type;
            h.seen.port = (bit<8>)s.egress_spec;
            h.seen.egress_port = (bit<16>)s.egress_port;
            h.seen.rid = s.egress_rid;
            h.seen.length = (bit<16>)s.packet_length;
            h.seen.kept = m.kept;
            h.seen.lost = m.lost;
            h.seen.ingress_port = (bit<16>)s.ingress_port;
            h.seen.time = s.egress_global_timestamp;
            h.seen.waited = s.deq_timedelta;
            h.seen.depth = (bit<24>)s.deq_qdepth;
            h.op.code = h.op.code | 0x80;
        }
        if (code == 14) { mark_to_drop(s); }
    }
}

control Deparse(packet_out p, in headers_t h) { apply { p.emit(h); } }
MAIN
