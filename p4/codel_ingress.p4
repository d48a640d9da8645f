// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// CoDel for targets on which a packet dropped in egress costs its time on the link: egress decides, ingress drops. Include after codel.p4.
//
// CodelDecides in egress judges each packet that leaves and lets it go; for each drop that CoDel wants it counts `codel_wanted` up.
// CodelDrops in ingress drops the next packet to that queue for each drop that is wanted and not yet made. Both see both registers; each is
// written by one of them only, so nothing is lost where they run at the same time. What is wanted when the queue leaves the dropping state
// is called off. Marks are made in egress, as they cost nothing there.
#ifndef CODEL_INGRESS_P4
#define CODEL_INGRESS_P4

register<bit<32>>(CODEL_PORTS * CODEL_QUEUES) codel_wanted;  // drops asked for; egress writes
register<bit<32>>(CODEL_PORTS * CODEL_QUEUES) codel_made;    // drops made; ingress writes

// In egress, with the core's verdict on a packet.
control CodelWants(in standard_metadata_t standard_metadata, in bit<2> verdict) {
    apply {
        if (verdict[1:1] == 1 && (bit<32>) standard_metadata.egress_port < CODEL_PORTS &&
            (bit<32>) standard_metadata.priority < CODEL_QUEUES) {
            bit<32> i = (bit<32>) standard_metadata.egress_port * CODEL_QUEUES + (bit<32>) standard_metadata.priority;
            bit<32> wanted;
            if (verdict == CODEL_DROP) {
                codel_wanted.read(wanted, i);
                wanted = wanted + 1;
            } else {
                codel_made.read(wanted, i);
            }
            codel_wanted.write(i, wanted);
        }
    }
}

// In egress: one line in place of Codel.
@noWarn("unused")
control CodelDecides(inout standard_metadata_t standard_metadata) {
    CodelCore() core;
    CodelWants() wants;

    apply {
        bit<2> verdict;
        core.apply(standard_metadata.egress_port, standard_metadata.priority, standard_metadata.egress_global_timestamp,
                   standard_metadata.deq_timedelta, CODEL_TARGET_US, (bit<32>) standard_metadata.deq_qdepth * CODEL_MTU, false, verdict);
        wants.apply(standard_metadata, verdict);
    }
}

// In ingress, at the end: port and priority are settled.
control CodelDrops(inout standard_metadata_t standard_metadata, out bool dropped) {
    apply {
        dropped = false;
        if ((bit<32>) standard_metadata.egress_spec < CODEL_PORTS && (bit<32>) standard_metadata.priority < CODEL_QUEUES) {
            bit<32> i = (bit<32>) standard_metadata.egress_spec * CODEL_QUEUES + (bit<32>) standard_metadata.priority;
            bit<32> wanted;
            bit<32> made;
            codel_wanted.read(wanted, i);
            codel_made.read(made, i);
            wanted = wanted - made;
            if (wanted != 0 && wanted[31:31] == 0) {
                codel_made.write(i, made + 1);
                dropped = true;
                mark_to_drop(standard_metadata);
            }
        }
    }
}

#endif
