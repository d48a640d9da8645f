// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Parser: options of a variable length, a stack of labels, lookahead, advance, masks, errors; push, pop and a run-time index.
#include "base.p4"

error { BadVersion, TooDeep }

header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
header label_t { bit<20> label; bit<3> class; bit<1> bottom; bit<8> ttl; }
header ipv4_t {
    bit<4> version; bit<4> ihl; bit<8> tos; bit<16> length; bit<16> id; bit<3> flags; bit<13> offset;
    bit<8> ttl; bit<8> protocol; bit<16> checksum; bit<32> src; bit<32> dst; varbit<320> options;
}
header command_t { bit<8> what; bit<8> index; bit<16> value; }
header report_t { bit<8> fault; bit<8> depth; bit<32> peek; bit<16> last; }
struct headers_t { ethernet_t ethernet; report_t report; command_t command; label_t[4] labels; ipv4_t ipv4; }
struct meta_t { bit<32> peek; bit<16> last; bit<8> depth; }

parser Parse(packet_in p, out headers_t h, inout meta_t m, inout standard_metadata_t s) {
    state start {
        p.extract(h.ethernet);
        transition select(h.ethernet.type) {
            0x8847: labels;
            0x0800: ipv4;
            0x1000 &&& 0xF000: command;
            0x2001: skip;
            0x2002: peek;
            default: accept;
        }
    }
    state command {
        p.extract(h.command);
        transition labels;
    }
    state labels {
        p.extract(h.labels.next);
        m.depth = m.depth + 1;
        verify(m.depth < 200, error.TooDeep);
        m.last = (bit<16>)h.labels.last.label;
        transition select(h.labels.last.bottom) {
            0: labels;
            1: under_labels;
        }
    }
    state under_labels {
        bit<4> version = p.lookahead<bit<4>>();
        transition select(version) {
            4: ipv4;
            default: accept;
        }
    }
    state ipv4 {
        bit<8> first = p.lookahead<bit<8>>();
        verify(first[7:4] == 4, error.BadVersion);
        p.extract(h.ipv4, (bit<32>)(((bit<16>)first[3:0] - 5) * 32));
        transition accept;
    }
    state skip {
        p.advance(32);
        transition labels;
    }
    state peek {
        m.peek = p.lookahead<bit<32>>();
        transition accept;
    }
}

NO_CHECKS
NO_UPDATE
NO_EGRESS

control TheIngress(inout headers_t h, inout meta_t m, inout standard_metadata_t s) {
    apply {
        s.egress_spec = 1;
        h.report.setValid();
        h.report.fault = 0;
        if (s.parser_error == error.NoError) { h.report.fault = 1; }
        else if (s.parser_error == error.PacketTooShort) { h.report.fault = 2; }
        else if (s.parser_error == error.StackOutOfBounds) { h.report.fault = 3; }
        else if (s.parser_error == error.BadVersion) { h.report.fault = 4; }
        else if (s.parser_error == error.HeaderTooShort) { h.report.fault = 5; }
        else if (s.parser_error == error.ParserInvalidArgument) { h.report.fault = 6; }
        h.report.depth = m.depth;
        h.report.peek = m.peek;
        h.report.last = m.last;
        if (h.command.isValid()) {
            bit<8> index = h.command.index;
            if (h.command.what == 0) { h.labels.push_front(1); h.labels[0].setValid(); h.labels[0] = { 77, 3, 0, 9 }; }
            else if (h.command.what == 1) { h.labels.pop_front(2); }
            else if (h.command.what == 2) { h.labels[1].setInvalid(); }
            else if (h.command.what == 3) { h.labels[2] = h.labels[0]; }
            else if (h.command.what == 4 && index < 4) { h.command.value = (bit<16>)h.labels[index].ttl; h.labels[index].ttl = 200; }
            else if (h.command.what == 5 && h.labels[0] == h.labels[1]) { h.command.value = 1; }
        }
    }
}

control Deparse(packet_out p, in headers_t h) {
    apply {
        p.emit(h.ethernet);
        p.emit(h.report);
        p.emit(h.command);
        p.emit(h.labels);
        p.emit(h.ipv4);
    }
}
MAIN
