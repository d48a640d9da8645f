// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The router with CoDel alone.
#define ROUTER_CODEL
#include "router.p4"
