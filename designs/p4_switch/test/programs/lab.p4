// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The first bytes of a packet say what becomes of it, so that a test can dictate the way of each one: output, priority, what the program
// does with it (flags), and an argument. With kStamp the packet's next bytes are overwritten by what the queue has told.
#include <core.p4>
#include <v1model.p4>

const bit<8> kDropIngress = 1;
const bit<8> kDropEgress = 2;
const bit<8> kCloneIngress = 4;   // to mirror session `arg`
const bit<8> kMulticast = 8;      // to group `arg`
const bit<8> kRecirculate = 16;   // once, then to output `arg`; with 255 again and again
const bit<8> kCloneEgress = 32;   // to mirror session `arg`
const bit<8> kStamp = 64;
const bit<8> kResubmit = 128;     // once

const bit<32> kIngressClone = 1;
const bit<32> kEgressClone = 2;
const bit<32> kResubmitted = 6;

header command_t {
    bit<8> port;
    bit<8> priority;
    bit<8> flags;
    bit<8> arg;
}

header stamp_t {
    bit<48> ingress;
    bit<48> egress;
    bit<32> enqueued;
    bit<32> waited;
    bit<32> enq_depth;
    bit<32> deq_depth;
    bit<32> length;
    bit<16> port;
    bit<16> ingress_port;
}

struct headers_t {
    command_t command;
    stamp_t stamp;
}

struct metadata_t {}

parser LabParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.command);
        transition select(hdr.command.flags & kStamp) {
            kStamp: stamp;
            default: accept;
        }
    }
    state stamp {
        packet.extract(hdr.stamp);
        transition accept;
    }
}

control LabVerify(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control LabIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        standard_metadata.egress_spec = (bit<9>)hdr.command.port;
        standard_metadata.priority = (bit<3>)hdr.command.priority;
        if (hdr.command.flags & kCloneIngress != 0) {
            clone(CloneType.I2E, (bit<32>)hdr.command.arg);
        }
        if (hdr.command.flags & kResubmit != 0 && standard_metadata.instance_type != kResubmitted) {
            resubmit_preserving_field_list(0);
        }
        if (hdr.command.flags & kMulticast != 0) {
            standard_metadata.mcast_grp = (bit<16>)hdr.command.arg;
        }
        if (hdr.command.flags & kDropIngress != 0) {
            mark_to_drop(standard_metadata);
        }
        hdr.command.flags = hdr.command.flags & (255 - kCloneIngress - kMulticast - kResubmit);
    }
}

control LabEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        if (standard_metadata.instance_type == kIngressClone || standard_metadata.instance_type == kEgressClone) {
            hdr.command.flags = hdr.command.flags & kStamp;
        }
        if (hdr.stamp.isValid()) {
            hdr.stamp.ingress = standard_metadata.ingress_global_timestamp;
            hdr.stamp.egress = standard_metadata.egress_global_timestamp;
            hdr.stamp.enqueued = standard_metadata.enq_timestamp;
            hdr.stamp.waited = standard_metadata.deq_timedelta;
            hdr.stamp.enq_depth = (bit<32>)standard_metadata.enq_qdepth;
            hdr.stamp.deq_depth = (bit<32>)standard_metadata.deq_qdepth;
            hdr.stamp.length = standard_metadata.packet_length;
            hdr.stamp.port = (bit<16>)standard_metadata.egress_port;
            hdr.stamp.ingress_port = (bit<16>)standard_metadata.ingress_port;
        }
        if (hdr.command.flags & kCloneEgress != 0) {
            hdr.command.flags = hdr.command.flags & (255 - kCloneEgress);
            clone(CloneType.E2E, (bit<32>)hdr.command.arg);
        }
        if (hdr.command.flags & kDropEgress != 0) {
            mark_to_drop(standard_metadata);
        } else if (hdr.command.flags & kRecirculate != 0) {
            if (hdr.command.arg != 255) {
                hdr.command.flags = hdr.command.flags & (255 - kRecirculate);
                hdr.command.port = hdr.command.arg;
            }
            recirculate_preserving_field_list(0);
        }
    }
}

control LabCompute(inout headers_t hdr, inout metadata_t meta) {
    apply {}
}

control LabDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.command);
        packet.emit(hdr.stamp);
    }
}

V1Switch(LabParser(), LabVerify(), LabIngress(), LabEgress(), LabCompute(), LabDeparser()) main;
