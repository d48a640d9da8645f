// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include <dlfcn.h>

#include <stdexcept>

#include "penstock/engine/rtl_device.hpp"

namespace penstock::engine {

namespace {

template <typename Function>
Function symbol(void* handle, const char* name, const std::string& path) {
    void* found = dlsym(handle, name);
    if (!found) throw std::runtime_error(path + " is not a device: it has no function " + name);
    return reinterpret_cast<Function>(found);
}

}  // namespace

DeviceLibrary::DeviceLibrary(const std::string& path) : handle_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (!handle_) throw std::runtime_error(std::string("the device does not load: ") + dlerror());
    try {
        const auto version = symbol<decltype(&pst_pins_version)>(handle_, "pst_pins_version", path)();
        if (version != PST_PINS_VERSION)
            throw std::runtime_error(path + " has version " + std::to_string(version) + " of the pins, the engine " +
                                     std::to_string(PST_PINS_VERSION));
        symbol<decltype(&pst_describe)>(handle_, "pst_describe", path)(&shape);
        if (!shape.inputs || !shape.outputs || !shape.beat_bytes ||
            (shape.beat_bytes > PST_BEAT_BYTES && shape.beat_bytes % PST_BEAT_BYTES))
            throw std::runtime_error(path + " describes a device without inputs, outputs or beats");
        create = symbol<decltype(&pst_create)>(handle_, "pst_create", path);
        destroy = symbol<decltype(&pst_destroy)>(handle_, "pst_destroy", path);
        step = symbol<decltype(&pst_step)>(handle_, "pst_step", path);
        error = symbol<decltype(&pst_error)>(handle_, "pst_error", path);
    } catch (...) {
        dlclose(handle_);
        throw;
    }
}

DeviceLibrary::~DeviceLibrary() { dlclose(handle_); }

}  // namespace penstock::engine
