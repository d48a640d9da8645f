// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The smallest program with CoDel: what comes in by a port leaves by the port that the table says, and CoDel keeps the queues there short.
#include <core.p4>
#include <v1model.p4>
#include "codel.p4"

struct headers_t { }
struct metadata_t { }

parser PortParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    state start {
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
    Codel() codel;

    apply {
        codel.apply(standard_metadata);
    }
}

control PortUpdate(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control PortDeparser(packet_out packet, in headers_t hdr) {
    apply { }
}

V1Switch(PortParser(), PortVerify(), PortIngress(), PortEgress(), PortUpdate(), PortDeparser()) main;
