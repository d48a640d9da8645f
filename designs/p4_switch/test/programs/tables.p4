// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Tables of all match kinds: the entry that was hit, its parameters, hit and miss, constant entries, a switch on the action.
#include "base.p4"

header key_t { bit<8> which; bit<32> a; bit<16> b; bit<128> c; }
header out_t { bit<8> hit; bit<32> value; bit<128> wide; }
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
    action wide(bit<128> value) { h.out_.wide = value; h.out_.value = 7; }
    action nothing() { h.out_.value = 0xFFFFFFFF; }
    table exact_table {
        key = { h.key.a: exact @name("a"); h.key.b: exact @name("b"); }
        actions = { found; wide; nothing; }
        default_action = nothing();
        size = 4096;
    }
    table leaving {
        key = { h.key.a: exact @name("a"); }
        actions = { found; nothing; }
        default_action = nothing();
    }
    table lpm_table {
        key = { h.key.a: lpm @name("a"); }
        actions = { found; nothing; }
        default_action = nothing();
        size = 4096;
    }
    table lpm_wide {
        key = { h.key.b: exact @name("b"); h.key.c: lpm @name("c"); }
        actions = { found; nothing; }
        default_action = nothing();
        size = 4096;
    }
    table ternary_table {
        key = { h.key.a: ternary @name("a"); h.key.c: ternary @name("c"); }
        actions = { found; nothing; }
        default_action = nothing();
        size = 4096;
    }
    table ternary_single {
        key = { h.key.b: ternary @name("b"); }
        actions = { found; nothing; }
        default_action = nothing();
        size = 4096;
    }
    table range_table {
        key = { h.key.b: range @name("b"); }
        actions = { found; nothing; }
        default_action = nothing();
        size = 4096;
    }
    table range_pair {
        key = { h.key.b: range @name("b"); h.key.a: ternary @name("a"); h.key.which: exact @name("which"); }
        actions = { found; nothing; }
        default_action = nothing();
        size = 4096;
    }
    table optional_table {
        key = { h.key.a: optional @name("a"); h.key.b: optional @name("b"); }
        actions = { found; nothing; }
        default_action = nothing();
        size = 64;
    }
    table constant_table {
        key = { h.key.b: ternary; h.key.a: lpm; }
        actions = { found; nothing; }
        const default_action = nothing();
        const entries = {
            (0x8000 &&& 0x8000, 0x0A000000 &&& 0xFF000000): found(1);
            (0x8000 &&& 0xC000, _): found(2);
            (_, 0x0A0B0000 &&& 0xFFFF0000): found(3);
            (5, 6): found(4);
        }
    }
    apply {
        s.egress_spec = 1;
        h.out_.setValid();
        h.out_.hit = 0;
        h.out_.value = 0;
        h.out_.wide = 0;
        if (h.key.which == 0) { if (exact_table.apply().hit) { h.out_.hit = 1; } }
        else if (h.key.which == 1) { if (lpm_table.apply().hit) { h.out_.hit = 1; } else { h.out_.hit = 2; } }
        else if (h.key.which == 2) { if (!lpm_wide.apply().hit) { h.out_.hit = 3; } }
        else if (h.key.which == 3) { ternary_table.apply(); }
        else if (h.key.which == 4) { ternary_single.apply(); }
        else if (h.key.which == 5) { range_table.apply(); }
        else if (h.key.which == 6) { range_pair.apply(); }
        else if (h.key.which == 7) { optional_table.apply(); }
        else if (h.key.which == 8) {
            switch (constant_table.apply().action_run) {
                found: { h.out_.hit = 9; }
                nothing: { h.out_.hit = 10; }
            }
        }
        else if (h.key.which == 9) { leaving.apply(); if (h.out_.value == 7) { exit; } h.out_.hit = 11; }
        else { mark_to_drop(s); }
    }
}

control Deparse(packet_out p, in headers_t h) { apply { p.emit(h); } }
MAIN
