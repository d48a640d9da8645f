// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Parts of the engine that are compiled and loaded when they are first needed (src/penstock/engine/parts.py). A part provides what it has
// under a name when it is loaded; whoever needs that asks by the name.
#pragma once

#include <any>
#include <memory>
#include <string>

#include "penstock/engine/environment.hpp"

namespace penstock {

class Table;

namespace engine {
class DeviceKind;
}

// What a design provides under the name of its folder: makes the device that key `device` of a job describes.
// Throws nanobind::value_error that names the key.
using KindMaker = std::shared_ptr<const engine::DeviceKind> (*)(Table& device, engine::Environment& environment);

// While the part is loaded.
void provide(const std::string& name, std::any what);

// What the part in `folder` provides under its folder's name, with its argument behind a blank if it is a template. The part is compiled
// and loaded if need be; Python's lock is held. Null: there is no such part.
const std::any* provided(const std::string& folder, const std::string& argument = {});

}  // namespace penstock
