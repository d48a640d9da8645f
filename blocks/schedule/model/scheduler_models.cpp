// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "scheduler_models.hpp"

#include <dlfcn.h>

#include <stdexcept>
#include <vector>

namespace penstock {

namespace {

struct Close {
    void operator()(void* handle) const { dlclose(handle); }
};

const SchedulerFactory& load(const std::string& path) {
    // A name without a slash would be looked for among the system's libraries.
    std::unique_ptr<void, Close> handle(dlopen((path.find('/') == std::string::npos ? "./" + path : path).c_str(), RTLD_NOW | RTLD_LOCAL));
    if (!handle) throw std::invalid_argument(std::string("the scheduler's model does not load: ") + dlerror());
    using Get = const SchedulerFactory* (*)();
    const auto get = reinterpret_cast<Get>(dlsym(handle.get(), "pst_scheduler_factory"));
    if (!get) throw std::invalid_argument(path + " is no model of a scheduler: it has no function pst_scheduler_factory");
    const SchedulerFactory* const factory = get();
    if (!factory) throw std::invalid_argument(path + " is no model of a scheduler: its pst_scheduler_factory gives none");
    if (factory->version != kSchedulerModelVersion)
        throw std::invalid_argument(path + " was made for version " + std::to_string(factory->version) +
                                    " of the schedulers' interface, the engine has " + std::to_string(kSchedulerModelVersion) +
                                    ": compile it against the present headers");
    (void)handle.release();  // models and their code are used until the process ends
    return *factory;
}

}  // namespace

std::shared_ptr<SchedulerModel> make_scheduler(const OwnScheduler& own, std::uint32_t queues, std::int64_t credits) {
    if (own.make) return own.make(queues, credits);
    const SchedulerFactory& factory = load(own.library);
    std::vector<SchedulerNumber> list{{"credits", credits}};
    for (const auto& [name, value] : own.numbers) list.push_back({name.c_str(), value});
    char why[256] = {};
    SchedulerModel* const made = factory.make(queues, list.data(), list.size(), why, sizeof why);
    if (!made) throw std::invalid_argument("scheduler " + own.name + ": " + (why[0] ? why : "its model cannot be made"));
    return {made, factory.destroy};
}

}  // namespace penstock
