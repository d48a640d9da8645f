// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Bytes behind a packet that leaves its queue: v1model counts packets only, and simple_switch those of all queues of a port together.
//
// Ingress counts the bytes that it sends to each queue and writes the count into each packet's metadata; egress compares it with the
// present count. What the queue refuses (tail drop) is counted, too, as long as packets from before are in the queue: so after tail drops
// the number may be too large, never too small, until these packets have left. Each register is written by one side only.
// A packet without the count (a copy, a clone) is judged by packets: each of those left is taken to have BACKLOG_PACKET bytes.
#ifndef BACKLOG_P4
#define BACKLOG_P4

#ifndef BACKLOG_PORTS
#define BACKLOG_PORTS CODEL_PORTS
#endif
#ifndef BACKLOG_QUEUES
#define BACKLOG_QUEUES CODEL_QUEUES
#endif
#ifndef BACKLOG_PACKET
#define BACKLOG_PACKET CODEL_MTU
#endif

struct backlog_t {
    bit<1>  known;
    bit<32> until;  // bytes sent to the queue, this packet's included
}

register<bit<32>>(BACKLOG_PORTS * BACKLOG_QUEUES) backlog_sent;

// In ingress, at the end: port and priority are settled, and the packet will be queued.
control BacklogArrives(in standard_metadata_t standard_metadata, inout backlog_t backlog) {
    apply {
        if ((bit<32>) standard_metadata.egress_spec < BACKLOG_PORTS && (bit<32>) standard_metadata.priority < BACKLOG_QUEUES) {
            bit<32> i = (bit<32>) standard_metadata.egress_spec * BACKLOG_QUEUES + (bit<32>) standard_metadata.priority;
            bit<32> sent;
            backlog_sent.read(sent, i);
            sent = sent + standard_metadata.packet_length;
            backlog_sent.write(i, sent);
            backlog.known = 1;
            backlog.until = sent;
        }
    }
}

// In egress.
control BacklogLeft(in standard_metadata_t standard_metadata, in backlog_t backlog, out bit<32> left) {
    apply {
        left = (bit<32>) standard_metadata.deq_qdepth * BACKLOG_PACKET;
        if (backlog.known == 1 && standard_metadata.instance_type == 0 && standard_metadata.deq_qdepth != 0 &&
            (bit<32>) standard_metadata.egress_port < BACKLOG_PORTS && (bit<32>) standard_metadata.priority < BACKLOG_QUEUES) {
            bit<32> i = (bit<32>) standard_metadata.egress_port * BACKLOG_QUEUES + (bit<32>) standard_metadata.priority;
            backlog_sent.read(left, i);
            left = left - backlog.until;
        }
    }
}

#endif
