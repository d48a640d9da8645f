// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// How long Linux lets a thread run before others have their turn. What it is given in all does not change; but one with a short slice that
// has slept comes soon after it is woken, in place of one with a longer slice (EEVDF). Kernels before 6.12 do not know that: nothing
// changes.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>

namespace penstock::engine {

constexpr std::chrono::microseconds kPrompt(100);    // of what is waited for: the shortest that there is
constexpr std::chrono::microseconds kPatient(3000);  // of what always has something to do: about as long as by default

// Of the calling thread, and of those that it starts from now on. The kernel may refuse it; then all stays as it is.
inline void set_slice(std::chrono::nanoseconds slice) {
    struct {  // sched_attr of sched_setattr(2), in its first version
        std::uint32_t size, policy;
        std::uint64_t flags;
        std::int32_t nice;
        std::uint32_t priority;
        std::uint64_t runtime, deadline, period;
    } attributes{};
    if (::syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) < 0 || attributes.policy != 0) return;  // not SCHED_OTHER
    attributes.runtime = static_cast<std::uint64_t>(slice.count());
    ::syscall(SYS_sched_setattr, 0, &attributes, 0);
}

}  // namespace penstock::engine
