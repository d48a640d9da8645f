// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Registers, counters, meters, random numbers; inside and outside of their arrays.
#include "base.p4"

header op_t { bit<8> code; bit<32> index; bit<48> value; bit<8> color; }
struct headers_t { op_t op; }
struct meta_t { bit<2> color; }

parser Parse(packet_in p, out headers_t h, inout meta_t m, inout standard_metadata_t s) {
    state start { p.extract(h.op); transition accept; }
}

NO_CHECKS
NO_UPDATE
NO_EGRESS

control TheIngress(inout headers_t h, inout meta_t m, inout standard_metadata_t s) {
    register<bit<48>>(10) cells;
    register<bit<12>>(5) narrow;
    register<bit<128>>(3) wide;
    counter(4, CounterType.packets_and_bytes) counts;
    meter(3, MeterType.packets) packets;
    meter(3, MeterType.bytes) bytes;
    direct_counter(CounterType.packets_and_bytes) entry_counts;
    direct_meter<bit<2>>(MeterType.packets) entry_meter;
    action nothing() { entry_counts.count(); entry_meter.read(m.color); }
    table direct {
        key = { h.op.index: exact @name("index"); }
        actions = { nothing; NoAction; }
        default_action = NoAction();
        counters = entry_counts;
        meters = entry_meter;
        size = 16;
    }
    apply {
        s.egress_spec = 1;
        m.color = 3;
        if (h.op.code == 0) { cells.read(h.op.value, h.op.index); }
        else if (h.op.code == 1) { cells.write(h.op.index, h.op.value); }
        else if (h.op.code == 2) { bit<12> v = 0xABC; narrow.read(v, h.op.index); h.op.value = (bit<48>)v; }
        else if (h.op.code == 3) { narrow.write(h.op.index, (bit<12>)h.op.value); }
        else if (h.op.code == 4) { bit<128> v = 5; wide.read(v, h.op.index); h.op.value = v[119:72]; }
        else if (h.op.code == 5) { wide.write(h.op.index, (bit<128>)h.op.value << 72); }
        else if (h.op.code == 6) { counts.count(h.op.index); }
        else if (h.op.code == 7) { packets.execute_meter(h.op.index, m.color); }
        else if (h.op.code == 8) { bytes.execute_meter(h.op.index, m.color); }
        else if (h.op.code == 9) { direct.apply(); }
        else if (h.op.code == 10) { random(h.op.value, (bit<48>)h.op.index, 0x1000); }
        else { mark_to_drop(s); }
        h.op.color = (bit<8>)m.color;
    }
}

control Deparse(packet_out p, in headers_t h) { apply { p.emit(h); } }
MAIN
