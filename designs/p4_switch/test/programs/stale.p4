// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Reads a header that is not valid where a packet is too short for it: one value of 65,536 adds a header.
#include "base.p4"

header op_t { bit<16> code; bit<16> other; }
header mark_t { bit<16> mark; }
struct headers_t { op_t op; mark_t mark; }
struct meta_t {}

parser Parse(packet_in p, out headers_t h, inout meta_t m, inout standard_metadata_t s) {
    state start { p.extract(h.op); transition accept; }
}

NO_CHECKS
NO_UPDATE
NO_EGRESS

control TheIngress(inout headers_t h, inout meta_t m, inout standard_metadata_t s) {
    apply {
        s.egress_spec = 1;
        if (h.op.code == 0x1234) {
            h.mark.setValid();
            h.mark.mark = 0xABCD;
        }
    }
}

control Deparse(packet_out p, in headers_t h) { apply { p.emit(h.op); p.emit(h.mark); } }

MAIN
