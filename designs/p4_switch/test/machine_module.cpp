// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The interpreter as a module of its own, which test_p4_switch_fuzz.py builds with sanitizers.
#include "designs/p4_switch/model/machine/bind.hpp"

NB_MODULE(_machine, module) { penstock::p4::bind_machine(module); }
