// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// port_codel.p4 with ECN: IPv4 and IPv6 packets that are ECN-capable are marked in place of dropped.
#include <core.p4>
#include <v1model.p4>
#include "codel.p4"

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

// As far as CoDel needs them; what follows is payload here.
header ipv4_t {
    bit<14> version_ihl_dscp;
    bit<2>  ecn;
    bit<64> length_to_protocol;
    bit<16> checksum;
}

header ipv6_t {
    bit<10> version_dscp;
    bit<2>  ecn;
    bit<20> label;
}

struct headers_t {
    ethernet_t ethernet;
    ipv4_t     ipv4;
    ipv6_t     ipv6;
}

struct metadata_t { }

parser PortParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) {
            0x0800: ipv4;
            0x86DD: ipv6;
            default: accept;
        }
    }
    state ipv4 {
        packet.extract(hdr.ipv4);
        transition accept;
    }
    state ipv6 {
        packet.extract(hdr.ipv6);
        transition accept;
    }
}

control PortVerify(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control PortIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    action forward(bit<9> port) {
        standard_metadata.egress_spec = port;
    }
    action drop() {
        mark_to_drop(standard_metadata);
    }
    table ports {
        key = { standard_metadata.ingress_port: exact; }
        actions = { forward; drop; }
        default_action = drop();
        size = 512;
    }

    apply {
        ports.apply();
    }
}

control PortEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    CodelEcn() codel;

    apply {
        bool mark;
        bit<2> ecn = 0;
        if (hdr.ipv4.isValid()) {
            ecn = hdr.ipv4.ecn;
        } else if (hdr.ipv6.isValid()) {
            ecn = hdr.ipv6.ecn;
        }
        codel.apply(standard_metadata, ecn, mark);
        if (mark && hdr.ipv4.isValid()) {
            codel_mark_ipv4(hdr.ipv4.ecn, hdr.ipv4.checksum);
        } else if (mark) {
            codel_mark_ipv6(hdr.ipv6.ecn);
        }
    }
}

control PortUpdate(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control PortDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.ipv6);
    }
}

V1Switch(PortParser(), PortVerify(), PortIngress(), PortEgress(), PortUpdate(), PortDeparser()) main;
