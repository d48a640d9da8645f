// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// A compiled program: flat arrays made of the dictionary that designs/p4_switch/program.py has checked. Immutable.
#pragma once

#include <memory>

#include "penstock/engine/python_table.hpp"

namespace penstock::p4 {

class Program {
  public:
    static std::shared_ptr<const Program> read(Table& table);  // throws nanobind::value_error
};

}  // namespace penstock::p4
