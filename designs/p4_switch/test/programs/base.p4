// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// What the test programs share: controls that do nothing, and the package.
#ifndef BASE_P4
#define BASE_P4
#include <core.p4>
#include <v1model.p4>

#define NO_CHECKS control Verify(inout headers_t h, inout meta_t m) { apply {} }
#define NO_UPDATE control Update(inout headers_t h, inout meta_t m) { apply {} }
#define NO_EGRESS control TheEgress(inout headers_t h, inout meta_t m, inout standard_metadata_t s) { apply {} }
#define MAIN V1Switch(Parse(), Verify(), TheIngress(), TheEgress(), Update(), Deparse()) main;
#endif
