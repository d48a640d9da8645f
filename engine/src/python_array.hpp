// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#pragma once

#include <nanobind/ndarray.h>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

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

}  // namespace penstock
