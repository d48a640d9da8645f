// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// What becomes of a packet is up to chance: one draw of 65,536 drops it, another one sends it elsewhere.
#include "base.p4"

header op_t { bit<8> code; }
struct headers_t { op_t op; }
struct meta_t { bit<16> drawn; }

parser Parse(packet_in p, out headers_t h, inout meta_t m, inout standard_metadata_t s) {
    state start { p.extract(h.op); transition accept; }
}

NO_CHECKS
NO_UPDATE
NO_EGRESS

control TheIngress(inout headers_t h, inout meta_t m, inout standard_metadata_t s) {
    apply {
        s.egress_spec = 1;
        random(m.drawn, (bit<16>)0, 0xFFFF);
        if (m.drawn == 0) { mark_to_drop(s); }
        if (m.drawn == 0xFFFF) { s.egress_spec = 2; }
    }
}

control Deparse(packet_out p, in headers_t h) { apply { p.emit(h.op); } }

MAIN
