// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Dictionaries of a job, read key by key, every value checked. Errors are nanobind::value_error and name the key.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace penstock {

namespace nb = nanobind;

[[noreturn]] inline void bad_job(const std::string& what) { throw nb::value_error(("job: " + what).c_str()); }

// One dictionary of the job. Every key must be asked for, so that a misspelt one is an error and not a default.
class Table {
  public:
    Table(const nb::dict& dict, std::string where) : dict_(dict), where_(std::move(where)) {}

    bool has(const char* key) {
        known_.emplace_back(key);
        return dict_.contains(key) && !dict_[key].is_none();
    }
    std::string name(const char* key) const { return where_ + key; }
    nb::object get(const char* key) {
        if (!has(key)) bad_job(name(key) + " is missing");
        return dict_[key];
    }
    double number(const char* key, double low, double high) { return checked(key, cast<double>(get(key), key), low, high); }
    double number(const char* key, double low, double high, double otherwise) { return has(key) ? number(key, low, high) : otherwise; }
    std::int64_t integer(const char* key, std::int64_t low, std::int64_t high) {
        return checked(key, cast<std::int64_t>(get(key), key), low, high);
    }
    std::int64_t integer(const char* key, std::int64_t low, std::int64_t high, std::int64_t otherwise) {
        return has(key) ? integer(key, low, high) : otherwise;
    }
    bool boolean(const char* key, bool otherwise) { return has(key) ? cast<bool>(get(key), key) : otherwise; }
    std::string text(const char* key) { return cast<std::string>(get(key), key); }
    Table table(const char* key) {
        const nb::object value = get(key);
        if (!nb::isinstance<nb::dict>(value)) bad_job(name(key) + " is not a dictionary");
        return Table(nb::cast<nb::dict>(value), name(key) + ".");
    }
    // The tables of a list.
    std::vector<Table> tables(const char* key) {
        std::vector<Table> found;
        for (nb::handle item : list(key)) {
            const std::string where = name(key) + "[" + std::to_string(found.size()) + "]";
            if (!nb::isinstance<nb::dict>(item)) bad_job(where + " is not a dictionary");
            found.emplace_back(nb::cast<nb::dict>(item), where + ".");
        }
        return found;
    }
    nb::sequence list(const char* key) { return cast<nb::sequence>(get(key), key); }
    // Numbers by names of their own.
    std::map<std::string, std::int64_t> integers(const char* key) {
        std::map<std::string, std::int64_t> found;
        const Table given = table(key);
        for (const auto& [name, value] : given.dict_) {
            const auto text = nb::cast<std::string>(name);
            found[text] = given.cast<std::int64_t>(nb::borrow(value), text.c_str());
        }
        return found;
    }

    // A contiguous array of T made of whatever it is; it lives as long as `keep`.
    template <typename T>
    std::span<const T> array(const char* key, const char* type, std::vector<nb::object>& keep) {
        try {
            nb::object made = nb::module_::import_("numpy").attr("ascontiguousarray")(get(key), type);
            const auto view = nb::cast<nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>>(made);
            keep.push_back(made);
            return {view.data(), view.size()};
        } catch (const nb::python_error&) {
        } catch (const nb::cast_error&) {
        }
        bad_job(name(key) + " is not a list of " + type);
    }

    // Throws at keys that were not asked for.
    void done() const {
        for (const auto& [key, value] : dict_) {
            const auto text = nb::cast<std::string>(key);
            if (std::find(known_.begin(), known_.end(), text) == known_.end()) bad_job(where_ + text + " is not a key of a job");
        }
    }

  private:
    template <typename T>
    T cast(const nb::object& value, const char* key) const {
        try {
            return nb::cast<T>(value);
        } catch (const nb::cast_error&) {
            bad_job(name(key) + " has a wrong type");
        }
    }
    template <typename T>
    T checked(const char* key, T value, T low, T high) const {
        if (!(value >= low && value <= high))
            bad_job(name(key) + " = " + nb::cast<std::string>(nb::str(nb::cast(value))) + " is out of range");
        return value;
    }

    nb::dict dict_;
    std::string where_;
    std::vector<std::string> known_;
};

}  // namespace penstock
