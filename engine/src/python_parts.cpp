// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include <nanobind/nanobind.h>

#include <map>
#include <utility>

#include "penstock/engine/parts.hpp"

namespace penstock {

namespace {

std::map<std::string, std::any>& provisions() {
    static std::map<std::string, std::any> map;
    return map;
}

}  // namespace

void provide(const std::string& name, std::any what) { provisions()[name] = std::move(what); }

const std::any* provided(const std::string& folder, const std::string& argument) {
    const std::string name = argument.empty() ? folder : folder + " " + argument;
    auto found = provisions().find(name);
    if (found == provisions().end()) {
        nanobind::module_::import_("penstock.engine.parts").attr("load")(folder.c_str(), argument.c_str());
        found = provisions().find(name);
    }
    return found == provisions().end() ? nullptr : &found->second;
}

}  // namespace penstock
