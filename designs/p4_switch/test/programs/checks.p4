// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Checksums of IPv4 with options and of UDP over the payload, verified and updated under conditions; all hashes.
#include "base.p4"

header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
header ipv4_t {
    bit<4> version; bit<4> ihl; bit<8> tos; bit<16> length; bit<16> id; bit<3> flags; bit<13> offset;
    bit<8> ttl; bit<8> protocol; bit<16> checksum; bit<32> src; bit<32> dst;
}
header options_t { varbit<320> options; }
header udp_t { bit<16> sport; bit<16> dport; bit<16> length; bit<16> checksum; }
header hash_t { bit<8> fault; bit<32> crc32; bit<16> crc16; bit<16> csum16; bit<64> identity; bit<16> xor16; bit<16> based; bit<32> odd; }
struct headers_t { ethernet_t ethernet; hash_t hash; ipv4_t ipv4; options_t options; udp_t udp; }
struct meta_t {}

parser Parse(packet_in p, out headers_t h, inout meta_t m, inout standard_metadata_t s) {
    state start {
        p.extract(h.ethernet);
        p.extract(h.ipv4);
        p.extract(h.options, (bit<32>)(((bit<16>)h.ipv4.ihl - 5) * 32));
        transition select(h.ipv4.protocol) {
            17: udp;
            default: accept;
        }
    }
    state udp { p.extract(h.udp); transition accept; }
}

#define IPV4 { h.ipv4.version, h.ipv4.ihl, h.ipv4.tos, h.ipv4.length, h.ipv4.id, h.ipv4.flags, h.ipv4.offset, h.ipv4.ttl, \
    h.ipv4.protocol, h.ipv4.src, h.ipv4.dst, h.options.options }
#define UDP { h.ipv4.src, h.ipv4.dst, 8w0, h.ipv4.protocol, h.udp.length, h.udp.sport, h.udp.dport, h.udp.length }

control Verify(inout headers_t h, inout meta_t m) {
    apply {
        verify_checksum(h.ipv4.isValid(), IPV4, h.ipv4.checksum, HashAlgorithm.csum16);
        verify_checksum_with_payload(h.udp.isValid() && h.udp.checksum != 0, UDP, h.udp.checksum, HashAlgorithm.csum16);
    }
}

control TheIngress(inout headers_t h, inout meta_t m, inout standard_metadata_t s) {
    apply {
        s.egress_spec = 1;
        h.hash.setValid();
        h.hash.fault = (bit<8>)s.checksum_error;
        hash(h.hash.crc32, HashAlgorithm.crc32, 32w0, { h.ipv4.src, h.ipv4.dst, h.ipv4.protocol }, 64w0x100000000);
        hash(h.hash.crc16, HashAlgorithm.crc16, 16w0, { h.ipv4.src, h.ipv4.dst, h.ipv4.protocol }, 32w0x10000);
        hash(h.hash.csum16, HashAlgorithm.csum16, 16w0, { h.ipv4.src, h.ipv4.dst, h.ipv4.protocol }, 32w0x10000);
        hash(h.hash.identity, HashAlgorithm.identity, 64w0, { h.ipv4.src, h.ipv4.dst }, 64w0xFFFFFFFFFFFFFFFF);
        hash(h.hash.xor16, HashAlgorithm.xor16, 16w0, { h.ipv4.src, h.ipv4.dst, h.ipv4.protocol }, 32w0x10000);
        hash(h.hash.based, HashAlgorithm.crc16, 16w100, { h.ipv4.src, h.udp.sport }, 32w17);
        hash(h.hash.odd, HashAlgorithm.crc32, 32w0, { h.ipv4.version, h.ipv4.flags, h.ipv4.offset, h.ipv4.ihl }, 64w0x100000000);
        h.ipv4.ttl = h.ipv4.ttl - 1;
        if (h.udp.isValid()) { h.udp.dport = h.udp.dport + 1; }
    }
}

control Update(inout headers_t h, inout meta_t m) {
    apply {
        update_checksum(h.ipv4.isValid(), IPV4, h.ipv4.checksum, HashAlgorithm.csum16);
        update_checksum_with_payload(h.udp.isValid() && h.udp.checksum != 0, UDP, h.udp.checksum, HashAlgorithm.csum16);
    }
}

NO_EGRESS

control Deparse(packet_out p, in headers_t h) { apply { p.emit(h); } }
MAIN
