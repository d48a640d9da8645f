// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// pst_access_edge_core as benches see it: pins (pins_core.h), a cycle at a time; and the verilated one from its shared library.
#pragma once

#include <dlfcn.h>

#include <stdexcept>
#include <string>

#include "designs/access_edge/bench/pins_core.h"

namespace penstock {

class Core {
  public:
    virtual ~Core() = default;
    pst_core_pins pins{};
    // One clock cycle. Throws std::runtime_error when an assertion fails.
    virtual void step() = 0;
};

// The verilated core.
class RtlCore final : public Core {
  public:
    explicit RtlCore(const std::string& path) : handle_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
        if (!handle_) throw std::runtime_error(dlerror());
        const auto version = symbol<decltype(&pst_core_pins_version)>("pst_core_pins_version");
        if (version() != PST_CORE_PINS_VERSION) throw std::runtime_error(path + " was built for another version of pins_core.h");
        step_ = symbol<decltype(&pst_core_step)>("pst_core_step");
        error_ = symbol<decltype(&pst_core_error)>("pst_core_error");
        destroy_ = symbol<decltype(&pst_core_destroy)>("pst_core_destroy");
        core_ = symbol<decltype(&pst_core_create)>("pst_core_create")();
        if (!core_) throw std::runtime_error("no memory for the core");
    }
    ~RtlCore() override {
        if (core_) destroy_(core_);
        if (handle_) dlclose(handle_);
    }
    RtlCore(const RtlCore&) = delete;
    RtlCore& operator=(const RtlCore&) = delete;

    void step() override {
        if (step_(core_, &pins) != 0) throw std::runtime_error(std::string("assertion in the core: ") + error_(core_));
    }

  private:
    template <class F>
    F symbol(const char* name) {
        auto* found = dlsym(handle_, name);
        if (!found) throw std::runtime_error(dlerror());
        return reinterpret_cast<F>(found);
    }

    void* handle_;
    pst_core* core_ = nullptr;
    decltype(&pst_core_step) step_ = nullptr;
    decltype(&pst_core_error) error_ = nullptr;
    decltype(&pst_core_destroy) destroy_ = nullptr;
};

}  // namespace penstock
