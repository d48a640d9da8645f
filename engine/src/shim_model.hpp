// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// What the shims share: one verilated model with its context, stepped one clock cycle at a time. A failing assertion
// ($error, $fatal, $stop) becomes an error code instead of the end of the process.
#pragma once

#include <verilated.h>

#include <exception>
#include <memory>
#include <stdexcept>
#include <string>

#define PST_EXPORT extern "C" __attribute__((visibility("default")))

namespace penstock::shim {

template <typename Model>
class Clocked {
  public:
    Clocked() : context_(std::make_unique<VerilatedContext>()), top(std::make_unique<Model>(context_.get(), "top")) {}
    ~Clocked() { top->final(); }

    // One cycle: `drive` sets the inputs, `sample` reads the outputs before the rising edge. 0, or 1 after a failure.
    template <typename Drive, typename Sample>
    int cycle(Drive&& drive, Sample&& sample) {
        try {
            top->clk_i = 0;
            drive();
            top->eval();
            sample();
            top->clk_i = 1;
            context_->timeInc(1);
            top->eval();
            return 0;
        } catch (const std::exception& failure) {
            error = failure.what();
            return 1;
        }
    }

  private:
    std::unique_ptr<VerilatedContext> context_;

  public:
    std::unique_ptr<Model> top;
    std::string error;
};

[[noreturn]] inline void fail(const char* what, const char* file, int line, const char* scope) {
    throw std::runtime_error(std::string(what) + " in " + (scope ? scope : "?") + " (" + (file ? file : "?") + ":" + std::to_string(line) +
                             ")");
}

}  // namespace penstock::shim

// Verilator calls these (VL_USER_STOP, VL_USER_FATAL).
void vl_stop(const char* file, int line, const char* scope) VL_MT_UNSAFE { penstock::shim::fail("an assertion failed", file, line, scope); }
void vl_fatal(const char* file, int line, const char* scope, const char* message) VL_MT_UNSAFE {
    penstock::shim::fail(message ? message : "fatal error", file, line, scope);
}
