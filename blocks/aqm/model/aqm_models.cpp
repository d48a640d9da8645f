// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "aqm_models.hpp"

#include <dlfcn.h>

#include <stdexcept>
#include <utility>
#include <vector>

#include "aqm_parts.hpp"

namespace penstock {

namespace {

std::string known() {
    std::string names;
    for (const BuiltInAqm& part : kBuiltInAqms) names += (names.empty() ? "" : ", ") + std::string(part.name);
    return names;
}

// Closes the library of a model that is refused.
struct Close {
    void operator()(void* handle) const { dlclose(handle); }
};

const AqmFactory& load(const std::string& path) {
    // A name without a slash would be looked for among the system's libraries.
    std::unique_ptr<void, Close> handle(dlopen((path.find('/') == std::string::npos ? "./" + path : path).c_str(), RTLD_NOW | RTLD_LOCAL));
    if (!handle) throw std::invalid_argument(std::string("the AQM's model does not load: ") + dlerror());
    using Get = const AqmFactory* (*)();
    const auto get = reinterpret_cast<Get>(dlsym(handle.get(), "pst_aqm_factory"));
    if (!get) throw std::invalid_argument(path + " is no model of an AQM: it has no function pst_aqm_factory");
    const AqmFactory* const factory = get();
    if (!factory) throw std::invalid_argument(path + " is no model of an AQM: its pst_aqm_factory gives none");
    if (factory->version != kAqmModelVersion)
        throw std::invalid_argument(path + " was made for version " + std::to_string(factory->version) +
                                    " of the AQM models' interface, the engine has " + std::to_string(kAqmModelVersion) +
                                    ": compile it against the present headers");
    (void)handle.release();  // models and their code are used until the process ends
    return *factory;
}

}  // namespace

const AqmFactory& find_aqm(const std::string& name, const std::string& library) {
    if (!library.empty()) return load(library);
    for (const BuiltInAqm& part : kBuiltInAqms)
        if (name == part.name) return *part.factory;
    throw std::invalid_argument("the engine has no AQM " + name + " (it has " + known() + "): another one needs its library");
}

std::shared_ptr<AqmModel> make_aqm(const AqmFactory& factory, std::uint32_t queues, const std::map<std::string, std::int64_t>& numbers) {
    std::vector<AqmNumber> list;
    list.reserve(numbers.size());
    for (const auto& [name, value] : numbers) list.push_back({name.c_str(), value});
    char why[256] = {};
    AqmModel* const made = factory.make(queues, list.data(), list.size(), why, sizeof why);
    if (!made) throw std::invalid_argument(why[0] ? why : "the AQM's model cannot be made");
    return {made, factory.destroy};
}

}  // namespace penstock
