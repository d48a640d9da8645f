// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The router with PIE alone.
#define ROUTER_PIE
#include "router.p4"
