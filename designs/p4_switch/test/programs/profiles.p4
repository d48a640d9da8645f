// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// An action profile, and one with a selector.
#include "base.p4"

header key_t { bit<8> which; bit<16> a; bit<32> flow; }
header out_t { bit<32> value; }
struct headers_t { key_t key; out_t out_; }
struct meta_t {}

parser Parse(packet_in p, out headers_t h, inout meta_t m, inout standard_metadata_t s) {
    state start { p.extract(h.key); transition accept; }
}

NO_CHECKS
NO_UPDATE
NO_EGRESS

control TheIngress(inout headers_t h, inout meta_t m, inout standard_metadata_t s) {
    action found(bit<32> value) { h.out_.value = value; }
    action other(bit<16> value) { h.out_.value = (bit<32>)value << 16; }
    table plain {
        key = { h.key.a: exact @name("a"); }
        actions = { found; other; NoAction; }
        implementation = action_profile(64);
        size = 64;
    }
    table selected {
        key = { h.key.a: lpm @name("a"); h.key.flow: selector; }
        actions = { found; other; NoAction; }
        implementation = action_selector(HashAlgorithm.crc16, 64, 16);
        size = 64;
    }
    apply {
        s.egress_spec = 1;
        h.out_.setValid();
        h.out_.value = 0;
        if (h.key.which == 0) { plain.apply(); } else { selected.apply(); }
    }
}

control Deparse(packet_out p, in headers_t h) { apply { p.emit(h); } }
MAIN
