// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Pieces of which results are made: columns as NumPy arrays, drop reasons by name, histograms.
#pragma once

#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "penstock/engine/design.hpp"
#include "penstock/engine/histogram.hpp"

namespace penstock {

// A NumPy array that owns the vector's memory; with `columns` as rows of so many.
template <typename T>
nanobind::object to_array(std::vector<T> values, std::size_t columns = 0) {
    namespace nb = nanobind;
    auto owned = std::make_unique<std::vector<T>>(std::move(values));
    const std::size_t rows = columns ? owned->size() / columns : owned->size();
    T* const data = owned->data();
    nb::capsule owner(owned.release(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    if (columns) return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<2>>(data, {rows, columns}, owner));
    return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(data, {rows}, owner));
}

// One column of a table with so many rows.
template <typename T, typename Field>
nanobind::object column(std::size_t rows, Field field) {
    std::vector<T> values(rows);
    for (std::size_t i = 0; i < rows; ++i) values[i] = field(static_cast<std::uint32_t>(i));
    return to_array(std::move(values));
}

// Does `add` for each drop reason that the device has: its number and its name.
template <typename Add>
void each_reason(const engine::Statement& device, Add&& add) {
    for (unsigned reason = 1; reason < device.drop_reasons.size(); ++reason)
        if (!device.drop_reasons[reason].empty()) add(reason, device.drop_reasons[reason].c_str());
}

inline nanobind::dict histogram_dict(const engine::Histogram& histogram) {
    std::vector<std::uint32_t> values;
    std::vector<std::uint64_t> frames;
    for (unsigned bin = 0; bin < histogram.bins().size(); ++bin) {
        if (!histogram.bins()[bin]) continue;
        values.push_back(std::min(engine::Histogram::upper(bin), histogram.largest()));
        frames.push_back(histogram.bins()[bin]);
    }
    nanobind::dict dict;
    dict["count"] = histogram.count();
    dict["sum"] = histogram.sum();
    dict["min"] = histogram.count() ? histogram.least() : 0;
    dict["values"] = to_array(std::move(values));
    dict["frames"] = to_array(std::move(frames));
    return dict;
}

}  // namespace penstock
