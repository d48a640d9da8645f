// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Every operator on fields of several widths; the results are where the operands were.
#include "base.p4"

header op_t { bit<8> code; bit<8> shift; }
header a8_t { bit<8> a; bit<8> b; bit<8> r; }
header a13_t { bit<13> a; bit<13> b; bit<13> r; bit<1> pad; }
header a32_t { bit<32> a; bit<32> b; bit<32> r; }
header a64_t { bit<64> a; bit<64> b; bit<64> r; }
header a128_t { bit<128> a; bit<128> b; bit<128> r; }
header s16_t { int<16> a; int<16> b; int<16> r; }
header s64_t { int<64> a; int<64> b; int<64> r; }
struct headers_t { op_t op; a8_t a8; a13_t a13; a32_t a32; a64_t a64; a128_t a128; s16_t s16; s64_t s64; }
struct meta_t {}

parser Parse(packet_in p, out headers_t h, inout meta_t m, inout standard_metadata_t s) {
    state start {
        p.extract(h.op);
        p.extract(h.a8);
        p.extract(h.a13);
        p.extract(h.a32);
        p.extract(h.a64);
        p.extract(h.a128);
        p.extract(h.s16);
        p.extract(h.s64);
        transition accept;
    }
}

NO_CHECKS
NO_UPDATE
NO_EGRESS

#define EACH(BOTH) \
    h.a8.r = BOTH(h.a8.a, h.a8.b); h.a13.r = BOTH(h.a13.a, h.a13.b); h.a32.r = BOTH(h.a32.a, h.a32.b); \
    h.a64.r = BOTH(h.a64.a, h.a64.b); h.a128.r = BOTH(h.a128.a, h.a128.b); h.s16.r = BOTH(h.s16.a, h.s16.b); \
    h.s64.r = BOTH(h.s64.a, h.s64.b);
#define ADD(a, b) a + b
#define SUB(a, b) a - b
#define MUL(a, b) a * b
#define AND(a, b) a & b
#define OR(a, b) a | b
#define XOR(a, b) a ^ b
#define NOT(a, b) ~a
#define NEG(a, b) -a
#define ADDSAT(a, b) a |+| b
#define SUBSAT(a, b) a |-| b
#define SHL(a, b) a << h.op.shift
#define SHR(a, b) a >> h.op.shift
#define CHOOSE(a, b) (a < b ? a : b)
#define MIXED(a, b) ((a ^ b) + (a & b)) - (a | b) * b

control TheIngress(inout headers_t h, inout meta_t m, inout standard_metadata_t s) {
    action compare() {
        h.a8.r = (bit<8>)(bit<1>)(h.a8.a < h.a8.b) | (bit<8>)(bit<1>)(h.a8.a <= h.a8.b) << 1 | (bit<8>)(bit<1>)(h.a8.a == h.a8.b) << 2
            | (bit<8>)(bit<1>)(h.a8.a > h.a8.b) << 3 | (bit<8>)(bit<1>)(h.a8.a >= h.a8.b) << 4 | (bit<8>)(bit<1>)(h.a8.a != h.a8.b) << 5;
        h.a128.r = (bit<128>)(bit<1>)(h.a128.a < h.a128.b) | (bit<128>)(bit<1>)(h.a128.a == h.a128.b) << 1;
        h.s16.r = (int<16>)(bit<16>)(bit<1>)(h.s16.a < h.s16.b) | (int<16>)(bit<16>)(bit<1>)(h.s16.a <= h.s16.b) << 1;
        h.s64.r = (int<64>)(bit<64>)(bit<1>)(h.s64.a < h.s64.b) | (int<64>)(bit<64>)(bit<1>)(h.s64.a >= h.s64.b) << 1;
        h.a64.r = (bit<64>)(bit<1>)((h.a64.a < h.a64.b && h.a32.a < h.a32.b) || !(h.a8.a == h.a8.b));
    }
    action cast() {
        h.a8.r = (bit<8>)h.a64.a;
        h.a13.r = h.a32.a[20:8];
        h.a32.r = h.a13.a[7:0] ++ h.a8.a ++ h.a64.b[55:40];
        h.a64.r = (bit<64>)h.a128.a[99:36];
        h.a128.r = h.a64.a ++ h.a64.b;
        h.s16.r = (int<16>)(bit<16>)h.a32.b;
        h.s64.r = (int<64>)h.s16.a;
    }
    apply {
        s.egress_spec = 1;
        if (h.op.code == 0) { EACH(ADD) }
        else if (h.op.code == 1) { EACH(SUB) }
        else if (h.op.code == 2) { EACH(MUL) }
        else if (h.op.code == 3) { EACH(AND) }
        else if (h.op.code == 4) { EACH(OR) }
        else if (h.op.code == 5) { EACH(XOR) }
        else if (h.op.code == 6) { EACH(NOT) }
        else if (h.op.code == 7) { EACH(NEG) }
        else if (h.op.code == 8) { EACH(ADDSAT) }
        else if (h.op.code == 9) { EACH(SUBSAT) }
        else if (h.op.code == 10) { EACH(SHL) }
        else if (h.op.code == 11) { EACH(SHR) }
        else if (h.op.code == 12) { EACH(CHOOSE) }
        else if (h.op.code == 13) { EACH(MIXED) }
        else if (h.op.code == 14) { compare(); }
        else if (h.op.code == 15) { cast(); }
        else { mark_to_drop(s); }
    }
}

control Deparse(packet_out p, in headers_t h) { apply { p.emit(h); } }
MAIN
