// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// IPv4 and IPv6 router for v1model with queues by DSCP and an AQM for each queue: README.md has tables, reasons and counters.
//
// ROUTER_CODEL or ROUTER_PIE defined: with that AQM alone (router_codel.p4, router_pie.p4); neither: with all of them.
#include <core.p4>
#include <v1model.p4>
#ifndef ROUTER_CODEL
#ifndef ROUTER_PIE
#define ROUTER_CODEL
#define ROUTER_PIE
#define ROUTER_CODEL_INGRESS
#endif
#endif
#include "codel.p4"
#include "backlog.p4"
#ifdef ROUTER_CODEL_INGRESS
#include "codel_ingress.p4"
#endif
#ifdef ROUTER_PIE
#define PIE_PORTS CODEL_PORTS
#define PIE_QUEUES CODEL_QUEUES
#include "pie.p4"
#endif

const bit<16> TYPE_IPV4 = 0x0800;
const bit<16> TYPE_ARP = 0x0806;
const bit<16> TYPE_IPV6 = 0x86DD;
const bit<16> TYPE_CONTROL = 0x88B5;  // local experimental (IEEE 802): frames to and from the control port
const bit<16> NO_PORT = 511;          // in a frame from the control port: route it
const bit<32> RECIRCULATED = 4;       // instance_type
const bit<10> LINK_LOCAL = 0x3FA;     // fe80::/10

// Why a packet goes to the control port, and indices of the counter `punted`.
const bit<8> PUNT_LOCAL = 1;          // an address of the router
const bit<8> PUNT_LINK = 2;           // ARP, neighbour discovery, link-local multicast
const bit<8> PUNT_EXPIRED = 3;        // TTL or hop limit
const bit<8> PUNT_NO_ROUTE = 4;
const bit<8> PUNT_NO_NEIGHBOUR = 5;
const bit<8> PUNT_TOO_LARGE = 6;      // for the link: to be fragmented, or "packet too big"

// Indices of the counter `bad`: dropped in ingress.
const bit<8> BAD_TRUNCATED = 1;       // headers are cut off
const bit<8> BAD_VERSION = 2;
const bit<8> BAD_HEADER_LENGTH = 3;
const bit<8> BAD_LENGTH = 4;          // longer than the frame, or shorter than the header
const bit<8> BAD_CHECKSUM = 5;
const bit<8> BAD_ADDRESS = 6;         // a source or destination that no router forwards
const bit<8> BAD_PORT = 7;            // came in where no interface is
const bit<8> BAD_MAC = 8;             // to another station, or group-addressed and not for the control port
const bit<8> BAD_TYPE = 9;            // neither IPv4, IPv6 nor ARP
const bit<8> BAD_ROUTE = 10;          // a route says drop
const bit<8> BAD_CONTROL = 11;        // there is no control port to send it to

const bit<8> AQM_NONE = 0;
const bit<8> AQM_CODEL = 1;
const bit<8> AQM_CODEL_ECN = 2;
const bit<8> AQM_CODEL_INGRESS = 3;
const bit<8> AQM_PIE = 4;
const bit<8> AQM_PIE_ECN = 5;

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> type;
}

// Behind an Ethernet header of TYPE_CONTROL, before the frame itself. To the control port: reason, and where the frame came in. From it:
// where it is to go out, NO_PORT to route it.
header note_t {
    bit<8>  reason;
    bit<8>  zero;
    bit<16> port;
}

header ipv4_t {
    bit<4>  version;
    bit<4>  ihl;
    bit<6>  dscp;
    bit<2>  ecn;
    bit<16> length;
    bit<16> id;
    bit<3>  flags;
    bit<13> offset;
    bit<8>  ttl;
    bit<8>  protocol;
    bit<16> checksum;
    bit<32> src;
    bit<32> dst;
}

header ipv4_options_t {
    varbit<320> words;
}

header ipv6_t {
    bit<4>   version;
    bit<6>   dscp;
    bit<2>   ecn;
    bit<20>  label;
    bit<16>  length;
    bit<8>   next;
    bit<8>   hop_limit;
    bit<128> src;
    bit<128> dst;
}

struct headers_t {
    ethernet_t     outer;
    note_t     note;
    ethernet_t     ethernet;
    ipv4_t         ipv4;
    ipv4_options_t options;
    ipv6_t         ipv6;
}

struct metadata_t {
    backlog_t     backlog;
#ifdef ROUTER_PIE
    @field_list(PIE_LIST)
    pie_report_t  pie;
#endif
    bit<8>        aqm;
    bit<32>       target;    // us
    bit<16>       length;    // of the IP packet, in bytes
    bit<16>       mtu;
    bit<48>       station;      // MAC addresses of the next hop, and of the link
    bit<48>       own_station;
    bit<32>       next_hop;
    bit<128>      next_hop6;
}

parser RouterParser(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    state start {
        transition select(standard_metadata.instance_type) {
            RECIRCULATED: accept;
            default: first;
        }
    }
    state first {
        transition select(packet.lookahead<ethernet_t>().type) {
            TYPE_CONTROL: noted;
            default: ethernet;
        }
    }
    state noted {
        packet.extract(hdr.outer);
        packet.extract(hdr.note);
        transition ethernet;
    }
    state ethernet {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) {
            TYPE_IPV4: ipv4;
            TYPE_IPV6: ipv6;
            default: accept;
        }
    }
    state ipv4 {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.ihl) {
            6 &&& 14: options;
            8 &&& 8: options;
            default: accept;
        }
    }
    state options {
        packet.extract(hdr.options, ((bit<32>) hdr.ipv4.ihl - 5) << 5);
        transition accept;
    }
    state ipv6 {
        packet.extract(hdr.ipv6);
        transition accept;
    }
}

control RouterVerify(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum(hdr.ipv4.isValid() && !hdr.options.isValid(),
                        {hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.length, hdr.ipv4.id, hdr.ipv4.flags,
                         hdr.ipv4.offset, hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst},
                        hdr.ipv4.checksum, HashAlgorithm.csum16);
        verify_checksum(hdr.options.isValid(),
                        {hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.length, hdr.ipv4.id, hdr.ipv4.flags,
                         hdr.ipv4.offset, hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src, hdr.ipv4.dst, hdr.options.words},
                        hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

control RouterIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    counter(16, CounterType.packets_and_bytes) bad;
    counter(16, CounterType.packets_and_bytes) punted;
    BacklogArrives() backlog;
#ifdef ROUTER_CODEL_INGRESS
    CodelDrops() codel_drops;
#endif
#ifdef ROUTER_PIE
    PieArrives() pie;
    counter(CODEL_PORTS * CODEL_QUEUES, CounterType.packets_and_bytes) dropped;  // by PIE, or for CoDel
    counter(CODEL_PORTS * CODEL_QUEUES, CounterType.packets_and_bytes) marked;
#endif
    bit<8> wrong = 0;      // a BAD_ reason
    bit<8> reason = 0;     // a PUNT_ reason
    bool own = false;      // from the control port
    bool settled = false;  // the output is known, nothing of the packet changes
    bit<48> station = 0;   // MAC address of the interface that it came in by

    // --- what the control plane sets
    action interface_is(bit<48> mac) {
        station = mac;
    }
    action is_control_port() {
        own = true;
    }
    action no_interface() {
        wrong = BAD_PORT;
    }
    table interfaces {
        key = { standard_metadata.ingress_port: exact; }
        actions = { interface_is; is_control_port; no_interface; }
        const default_action = no_interface();
        size = 512;
    }

    action refuse() {
        wrong = BAD_ADDRESS;
    }
    table refused4 {
        key = { hdr.ipv4.src: ternary; hdr.ipv4.dst: ternary; }
        actions = { refuse; NoAction; }
        const default_action = NoAction();
        const entries = {
            (0x00000000 &&& 0xFF000000, _): refuse();  // this network (RFC 1122, 3.2.1.3)
            (0x7F000000 &&& 0xFF000000, _): refuse();  // loopback
            (0xE0000000 &&& 0xE0000000, _): refuse();  // multicast, reserved, broadcast
            (_, 0x00000000 &&& 0xFF000000): refuse();
            (_, 0x7F000000 &&& 0xFF000000): refuse();
            (_, 0xE0000000 &&& 0xE0000000): refuse();  // group-addressed, but its frame is not
        }
    }
    table refused6 {
        key = { hdr.ipv6.src: ternary; hdr.ipv6.dst: ternary; }
        actions = { refuse; NoAction; }
        const default_action = NoAction();
        const entries = {
            (0 &&& 128w0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFE, _): refuse();  // :: and ::1
            (128w0xFF000000000000000000000000000000 &&& 128w0xFF000000000000000000000000000000, _): refuse();
            (_, 0 &&& 128w0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFE): refuse();
            (_, 128w0xFF000000000000000000000000000000 &&& 128w0xFF000000000000000000000000000000): refuse();
        }
    }

    action forward4(bit<9> port, bit<32> next_hop) {  // next_hop 0: the destination itself
        standard_metadata.egress_spec = port;
        meta.next_hop = next_hop;
    }
    action forward6(bit<9> port, bit<128> next_hop) {
        standard_metadata.egress_spec = port;
        meta.next_hop6 = next_hop;
    }
    action to_router() {
        reason = PUNT_LOCAL;
    }
    action no_route() {
        reason = PUNT_NO_ROUTE;
    }
    action discard() {
        wrong = BAD_ROUTE;
    }
    table routes4 {
        key = { hdr.ipv4.dst: lpm; }
        actions = { forward4; to_router; no_route; discard; }
        const default_action = no_route();
        size = 65536;
    }
    table routes6 {
        key = { hdr.ipv6.dst: lpm; }
        actions = { forward6; to_router; no_route; discard; }
        const default_action = no_route();
        size = 65536;
    }

    action neighbour_is(bit<48> mac) {
        meta.station = mac;
    }
    action no_neighbour() {
        reason = PUNT_NO_NEIGHBOUR;
    }
    table neighbours4 {
        key = { standard_metadata.egress_spec: exact; meta.next_hop: exact; }
        actions = { neighbour_is; no_neighbour; }
        const default_action = no_neighbour();
        size = 16384;
    }
    table neighbours6 {
        key = { standard_metadata.egress_spec: exact; meta.next_hop6: exact; }
        actions = { neighbour_is; no_neighbour; }
        const default_action = no_neighbour();
        size = 16384;
    }

    action link_is(bit<48> mac, bit<16> mtu) {
        meta.own_station = mac;
        meta.mtu = mtu;
    }
    action no_link() {
        reason = PUNT_NO_ROUTE;
    }
    table links {
        key = { standard_metadata.egress_spec: exact; }
        actions = { link_is; no_link; }
        const default_action = no_link();
        size = 512;
    }

    action queue_is(bit<3> queue) {
        standard_metadata.priority = queue;
    }
    table classes4 {
        key = { hdr.ipv4.dscp: exact; }
        actions = { queue_is; }
        default_action = queue_is(0);
        size = 64;
    }
    table classes6 {
        key = { hdr.ipv6.dscp: exact; }
        actions = { queue_is; }
        default_action = queue_is(0);
        size = 64;
    }

    action none() {
        meta.aqm = AQM_NONE;
    }
#ifdef ROUTER_CODEL
    action codel(bit<32> target) {
        meta.aqm = AQM_CODEL;
        meta.target = target;
    }
    action codel_ecn(bit<32> target) {
        meta.aqm = AQM_CODEL_ECN;
        meta.target = target;
    }
#endif
#ifdef ROUTER_CODEL_INGRESS
    action codel_ingress(bit<32> target) {
        meta.aqm = AQM_CODEL_INGRESS;
        meta.target = target;
    }
#endif
#ifdef ROUTER_PIE
    action pie_drop(bit<32> target) {
        meta.aqm = AQM_PIE;
        meta.target = target;
    }
    action pie_ecn(bit<32> target) {
        meta.aqm = AQM_PIE_ECN;
        meta.target = target;
    }
#endif
    table aqm {
        key = { standard_metadata.egress_spec: exact; standard_metadata.priority: exact; }
        actions = {
            none;
#ifdef ROUTER_CODEL
            codel;
            codel_ecn;
#endif
#ifdef ROUTER_CODEL_INGRESS
            codel_ingress;
#endif
#ifdef ROUTER_PIE
            pie_drop;
            pie_ecn;
#endif
        }
#ifdef ROUTER_CODEL
        default_action = codel(CODEL_TARGET_US);
#else
        default_action = pie_drop(PIE_TARGET_US);
#endif
        size = 4096;
    }

    action control_port_is(bit<9> port, bit<3> queue) {
        standard_metadata.egress_spec = port;
        standard_metadata.priority = queue;
        hdr.outer.setValid();
        hdr.outer.dst = 0x0180C2000000;  // not forwarded by bridges
        hdr.outer.src = station;
        hdr.outer.type = TYPE_CONTROL;
        hdr.note.setValid();
        hdr.note.reason = reason;
        hdr.note.zero = 0;
        hdr.note.port = (bit<16>) standard_metadata.ingress_port;
    }
    action no_control_port() {
        wrong = BAD_CONTROL;
    }
    table control_port {
        actions = { control_port_is; no_control_port; }
        default_action = no_control_port();
    }

    apply {
#ifdef ROUTER_PIE
        bit<2> verdict;
        if (standard_metadata.instance_type == RECIRCULATED) {
            pie.apply(standard_metadata, meta.pie, 0, false, verdict);
            exit;
        }
#endif
        interfaces.apply();
        if (wrong == 0) {
            if (standard_metadata.parser_error != error.NoError) {
                wrong = BAD_TRUNCATED;
            } else if (own != hdr.note.isValid()) {
                wrong = BAD_TYPE;
            } else if (own && hdr.note.port != NO_PORT) {
                if (hdr.note.port > NO_PORT) {
                    wrong = BAD_PORT;
                }
                standard_metadata.egress_spec = hdr.note.port[8:0];
                settled = true;
            } else if (!own && hdr.ethernet.dst != station) {
                if (hdr.ethernet.dst[40:40] == 1 &&
                    (hdr.ethernet.type == TYPE_ARP || (hdr.ipv6.isValid() && hdr.ipv6.dst[127:112] == 0xFF02) ||
                     (hdr.ipv4.isValid() && hdr.ipv4.dst[31:8] == 0xE00000))) {
                    reason = PUNT_LINK;
                } else {
                    wrong = BAD_MAC;
                }
            } else if (hdr.ethernet.type == TYPE_ARP) {
                reason = PUNT_LINK;
            }
        }

        if (wrong == 0 && reason == 0 && !settled) {
            bit<32> room = standard_metadata.packet_length - 14;
            if (own) {
                room = room - 18;
            }
            if (hdr.ipv4.isValid()) {
                meta.length = hdr.ipv4.length;
                if (hdr.ipv4.version != 4) {
                    wrong = BAD_VERSION;
                } else if (hdr.ipv4.ihl < 5) {
                    wrong = BAD_HEADER_LENGTH;
                } else if (hdr.ipv4.length < ((bit<16>) hdr.ipv4.ihl << 2) || (bit<32>) hdr.ipv4.length > room) {
                    wrong = BAD_LENGTH;
                } else if (standard_metadata.checksum_error == 1) {
                    wrong = BAD_CHECKSUM;
                } else {
                    refused4.apply();
                    if (wrong == 0) {
                        routes4.apply();
                        if (wrong == 0 && reason == 0) {
                            if (!own && hdr.ipv4.ttl <= 1) {
                                reason = PUNT_EXPIRED;
                            } else {
                                if (meta.next_hop == 0) {
                                    meta.next_hop = hdr.ipv4.dst;
                                }
                                neighbours4.apply();
                                classes4.apply();
                            }
                        }
                    }
                }
            } else if (hdr.ipv6.isValid()) {
                meta.length = hdr.ipv6.length + 40;
                if (hdr.ipv6.version != 6) {
                    wrong = BAD_VERSION;
                } else if ((bit<32>) hdr.ipv6.length + 40 > room) {
                    wrong = BAD_LENGTH;
                } else if (hdr.ipv6.dst[127:118] == LINK_LOCAL) {
                    reason = PUNT_LINK;
                } else {
                    refused6.apply();
                    if (wrong == 0) {
                        routes6.apply();
                        if (wrong == 0 && reason != PUNT_LOCAL && hdr.ipv6.src[127:118] == LINK_LOCAL) {
                            wrong = BAD_ADDRESS;
                        }
                        if (wrong == 0 && reason == 0) {
                            if (!own && hdr.ipv6.hop_limit <= 1) {
                                reason = PUNT_EXPIRED;
                            } else {
                                if (meta.next_hop6 == 0) {
                                    meta.next_hop6 = hdr.ipv6.dst;
                                }
                                neighbours6.apply();
                                classes6.apply();
                            }
                        }
                    }
                }
            } else {
                wrong = BAD_TYPE;
            }
            if (wrong == 0 && reason == 0) {
                links.apply();
                if (reason == 0 && meta.length > meta.mtu) {
                    reason = PUNT_TOO_LARGE;
                }
            }
        }

        if (wrong == 0) {
            hdr.outer.setInvalid();
            hdr.note.setInvalid();
            if (reason != 0) {
                control_port.apply();
                if (wrong == 0) {
                    punted.count((bit<32>) reason);
                    backlog.apply(standard_metadata, meta.backlog);
                }
            } else {
                if (!settled) {
                    hdr.ethernet.dst = meta.station;
                    hdr.ethernet.src = meta.own_station;
                    if (!own) {
                        if (hdr.ipv4.isValid()) {
                            // The word with the TTL is 0x0100 less (RFC 1624, equation 3).
                            bit<17> sum = (bit<17>) (~hdr.ipv4.checksum) + 0xFEFF;
                            hdr.ipv4.checksum = ~(sum[15:0] + (bit<16>) sum[16:16]);
                            hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
                        } else {
                            hdr.ipv6.hop_limit = hdr.ipv6.hop_limit - 1;
                        }
                    }
                    aqm.apply();
                }
                bool drop = false;
                bit<32> queue = (bit<32>) standard_metadata.egress_spec * CODEL_QUEUES + (bit<32>) standard_metadata.priority;
#ifdef ROUTER_CODEL_INGRESS
                if (meta.aqm == AQM_CODEL_INGRESS) {
                    codel_drops.apply(standard_metadata, drop);
                }
#endif
#ifdef ROUTER_PIE
                if (meta.aqm == AQM_PIE || meta.aqm == AQM_PIE_ECN) {
                    bit<2> ecn = 0;
                    if (hdr.ipv4.isValid()) {
                        ecn = hdr.ipv4.ecn;
                    } else if (hdr.ipv6.isValid()) {
                        ecn = hdr.ipv6.ecn;
                    }
                    pie.apply(standard_metadata, meta.pie, meta.target, meta.aqm == AQM_PIE_ECN && ecn != 0, verdict);
                    drop = verdict == PIE_DROP;
                    if (verdict == PIE_MARK) {
                        marked.count(queue);
                        if (hdr.ipv4.isValid()) {
                            codel_mark_ipv4(hdr.ipv4.ecn, hdr.ipv4.checksum);
                        } else {
                            codel_mark_ipv6(hdr.ipv6.ecn);
                        }
                    }
                }
                if (drop) {
                    dropped.count(queue);  // whose egress_spec is now that of a drop
                }
#endif
                if (!drop) {
                    backlog.apply(standard_metadata, meta.backlog);
                }
            }
        }
        if (wrong != 0) {
            bad.count((bit<32>) wrong);
            mark_to_drop(standard_metadata);
        }
    }
}

// Sojourn times of what leaves, by (port, queue): sum and largest in registers, a histogram by powers of two in a counter.
control Measure(in standard_metadata_t standard_metadata, in bit<32> i) {
    counter(CODEL_PORTS * CODEL_QUEUES * 32, CounterType.packets) histogram;
    register<bit<64>>(CODEL_PORTS * CODEL_QUEUES) sojourn_sum;  // us
    register<bit<32>>(CODEL_PORTS * CODEL_QUEUES) sojourn_max;  // us
    bit<32> bucket = 0;

    action is_in(bit<5> power) {
        bucket = (bit<32>) power;
    }
    table buckets {
        key = { standard_metadata.deq_timedelta: lpm; }
        actions = { is_in; }
        const default_action = is_in(0);
        const entries = {
            0: is_in(0);
            1: is_in(1);
            0x2 &&& 0xfffffffe: is_in(2);
            0x4 &&& 0xfffffffc: is_in(3);
            0x8 &&& 0xfffffff8: is_in(4);
            0x10 &&& 0xfffffff0: is_in(5);
            0x20 &&& 0xffffffe0: is_in(6);
            0x40 &&& 0xffffffc0: is_in(7);
            0x80 &&& 0xffffff80: is_in(8);
            0x100 &&& 0xffffff00: is_in(9);
            0x200 &&& 0xfffffe00: is_in(10);
            0x400 &&& 0xfffffc00: is_in(11);
            0x800 &&& 0xfffff800: is_in(12);
            0x1000 &&& 0xfffff000: is_in(13);
            0x2000 &&& 0xffffe000: is_in(14);
            0x4000 &&& 0xffffc000: is_in(15);
            0x8000 &&& 0xffff8000: is_in(16);
            0x10000 &&& 0xffff0000: is_in(17);
            0x20000 &&& 0xfffe0000: is_in(18);
            0x40000 &&& 0xfffc0000: is_in(19);
            0x80000 &&& 0xfff80000: is_in(20);
            0x100000 &&& 0xfff00000: is_in(21);
            0x200000 &&& 0xffe00000: is_in(22);
            0x400000 &&& 0xffc00000: is_in(23);
            0x800000 &&& 0xff800000: is_in(24);
            0x1000000 &&& 0xff000000: is_in(25);
            0x2000000 &&& 0xfe000000: is_in(26);
            0x4000000 &&& 0xfc000000: is_in(27);
            0x8000000 &&& 0xf8000000: is_in(28);
            0x10000000 &&& 0xf0000000: is_in(29);
            0x20000000 &&& 0xe0000000: is_in(30);
            0x40000000 &&& 0xC0000000: is_in(31);
            0x80000000 &&& 0x80000000: is_in(31);
        }
    }

    apply {
        if (i < CODEL_PORTS * CODEL_QUEUES) {
            bit<64> sum;
            bit<32> largest;
            sojourn_sum.read(sum, i);
            sojourn_sum.write(i, sum + (bit<64>) standard_metadata.deq_timedelta);
            sojourn_max.read(largest, i);
            if (standard_metadata.deq_timedelta > largest) {
                sojourn_max.write(i, standard_metadata.deq_timedelta);
            }
            buckets.apply();
            histogram.count(i * 32 + bucket);
        }
    }
}

control RouterEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    counter(CODEL_PORTS * CODEL_QUEUES, CounterType.packets_and_bytes) sent;
    BacklogLeft() backlog;
    Measure() measure;
#ifdef ROUTER_CODEL
    counter(CODEL_PORTS * CODEL_QUEUES, CounterType.packets_and_bytes) dropped;
    counter(CODEL_PORTS * CODEL_QUEUES, CounterType.packets_and_bytes) marked;
    CodelCore() core;
#endif
#ifdef ROUTER_CODEL_INGRESS
    CodelWants() wants;
#endif
#ifdef ROUTER_PIE
    PieReports() pie;
#endif

    apply {
        bit<32> left;
        bit<32> i = CODEL_PORTS * CODEL_QUEUES;  // of a queue beyond: nothing is counted
        if ((bit<32>) standard_metadata.egress_port < CODEL_PORTS && (bit<32>) standard_metadata.priority < CODEL_QUEUES) {
            i = (bit<32>) standard_metadata.egress_port * CODEL_QUEUES + (bit<32>) standard_metadata.priority;
        }
        bool drop = false;
        backlog.apply(standard_metadata, meta.backlog, left);
#ifdef ROUTER_CODEL
        bit<2> verdict = CODEL_PASS;
        if (meta.aqm == AQM_CODEL || meta.aqm == AQM_CODEL_ECN || meta.aqm == AQM_CODEL_INGRESS) {
            bit<2> ecn = 0;
            if (hdr.ipv4.isValid()) {
                ecn = hdr.ipv4.ecn;
            } else if (hdr.ipv6.isValid()) {
                ecn = hdr.ipv6.ecn;
            }
            core.apply(standard_metadata.egress_port, standard_metadata.priority, standard_metadata.egress_global_timestamp,
                       standard_metadata.deq_timedelta, meta.target, left, meta.aqm == AQM_CODEL_ECN && ecn != 0, verdict);
            if (verdict == CODEL_MARK) {
                marked.count(i);
                if (hdr.ipv4.isValid()) {
                    codel_mark_ipv4(hdr.ipv4.ecn, hdr.ipv4.checksum);
                } else {
                    codel_mark_ipv6(hdr.ipv6.ecn);
                }
            }
#ifdef ROUTER_CODEL_INGRESS
            if (meta.aqm == AQM_CODEL_INGRESS) {
                wants.apply(standard_metadata, verdict);
                verdict = CODEL_PASS;
            }
#endif
            if (verdict == CODEL_DROP) {
                drop = true;
                dropped.count(i);
                mark_to_drop(standard_metadata);
            }
        }
#endif
#ifdef ROUTER_PIE
        if (meta.aqm == AQM_PIE || meta.aqm == AQM_PIE_ECN || standard_metadata.instance_type == PIE_CLONED) {
            pie.apply(standard_metadata, meta.pie, left);
            drop = standard_metadata.instance_type == PIE_CLONED;
        }
#endif
        if (!drop) {
            if (i < CODEL_PORTS * CODEL_QUEUES) {
                sent.count(i);
            }
            measure.apply(standard_metadata, i);
        }
    }
}

control RouterUpdate(inout headers_t hdr, inout metadata_t meta) {
    apply { }  // checksums follow what changes, where it changes
}

control RouterDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.outer);
        packet.emit(hdr.note);
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.options);
        packet.emit(hdr.ipv6);
    }
}

V1Switch(RouterParser(), RouterVerify(), RouterIngress(), RouterEgress(), RouterUpdate(), RouterDeparser()) main;
