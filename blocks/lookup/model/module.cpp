// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Python: Lookup(entries=, key_bits=, ...), an operation at a time; PrefixTree(prefixes, key_bits=, levels=), its writes and what it finds;
// seed_words(...), the random words that a seed stands for.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "blocks/lookup/model/lookup.hpp"
#include "blocks/lookup/model/prefix.hpp"

namespace penstock {

namespace {

namespace nb = nanobind;

LookupKey key_of(const nb::bytes& bytes) {
    LookupKey key = 0;
    for (std::size_t i = 0; i < bytes.size(); i++) key = key << 8 | static_cast<const std::uint8_t*>(bytes.data())[i];
    return key;
}

nb::bytes bytes_of(LookupKey value, std::uint32_t size) {
    std::string bytes(size, '\0');
    for (std::uint32_t i = size; i-- > 0; value >>= 8) bytes[i] = static_cast<char>(value & 255);
    return nb::bytes(bytes.data(), bytes.size());
}

// A table, an operation at a time.
class LookupTable {
  public:
    LookupTable(std::uint32_t entries, std::uint32_t key_bits, std::uint32_t stash, std::uint32_t max_moves, std::uint32_t chunk_bits,
                std::uint64_t seed)
        : model_({entries, key_bits, stash, max_moves, chunk_bits}) {
        model_.mix().seed(seed);
        while (!model_.init_done()) step(std::nullopt);
    }

    // What became of it, and in how many cycles.
    std::tuple<std::uint32_t, std::uint64_t> operate(LookupOp op, const nb::bytes& key, std::uint32_t value) {
        return operate(op, key_of(key), value);
    }

    std::tuple<std::uint32_t, std::uint64_t> operate(LookupOp op, LookupKey key, std::uint32_t value) {
        const Lookup::Operation operation{op, key, value};
        const std::uint64_t began = cycles_;
        while (!model_.ready()) step(std::nullopt);
        step(operation);
        while (!model_.done()) step(std::nullopt);
        return {static_cast<std::uint32_t>(*model_.done()), cycles_ - began};
    }

    std::optional<std::uint32_t> find(const nb::bytes& key) const {
        const Lookup::Answer answer = model_.find(key_of(key));
        return answer.hit ? std::optional(answer.value) : std::nullopt;
    }

    // Inserts keys (of `size` bytes each, one behind the other); how many were refused.
    std::uint64_t insert_all(const nb::bytes& keys, std::uint32_t size) {
        std::uint64_t refused = 0;
        const auto* byte = static_cast<const std::uint8_t*>(keys.data());
        for (std::size_t at = 0; at + size <= keys.size(); at += size) {
            LookupKey key = 0;
            for (std::uint32_t i = 0; i < size; i++) key = key << 8 | byte[at + i];
            refused += std::get<0>(operate(LookupOp::Insert, key, static_cast<std::uint32_t>(at / size))) ==
                       static_cast<std::uint32_t>(LookupDone::Full);
        }
        return refused;
    }

    void settle() {
        for (std::uint64_t until = cycles_ + 1'000'000; model_.stashed() && cycles_ < until;) step(std::nullopt);
    }

    nb::bytes crowding(std::size_t count, std::uint32_t bits, std::uint32_t size) const {
        std::string found;
        for (LookupKey key : model_.mix().crowding(count, bits)) {
            for (std::uint32_t i = size; i-- > 0;) found.push_back(static_cast<char>(key >> (8 * i) & 255));
        }
        return nb::bytes(found.data(), found.size());
    }

    std::uint64_t keys() const { return model_.keys(); }
    std::uint64_t cycles() const { return cycles_; }
    std::uint32_t moves() const { return model_.moves(); }
    std::uint32_t stashed() const { return model_.stashed(); }

  private:
    void step(const std::optional<Lookup::Operation>& operation) {
        model_.cycle(std::nullopt, operation);
        cycles_++;
    }

    Lookup model_;
    std::uint64_t cycles_ = 0;
};

}  // namespace

NB_MODULE(blocks_lookup_model, m) {
    nb::class_<LookupTable>(m, "Lookup")
        .def(nb::init<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t, std::uint64_t>(),
             nb::arg("entries") = 262144, nb::arg("key_bits") = 48, nb::arg("stash") = 8, nb::arg("max_moves") = 64,
             nb::arg("chunk_bits") = 6, nb::arg("seed") = 1)
        .def(
            "insert", [](LookupTable& t, const nb::bytes& key, std::uint32_t value) { return t.operate(LookupOp::Insert, key, value); },
            nb::arg("key"), nb::arg("value"), "(done_e, cycles); keys are bytes, most significant first.")
        .def(
            "delete", [](LookupTable& t, const nb::bytes& key) { return t.operate(LookupOp::Delete, key, 0); }, nb::arg("key"),
            "(done_e, cycles)")
        .def("find", &LookupTable::find, nb::arg("key"), "The key's value, None if it is absent.")
        .def("insert_all", &LookupTable::insert_all, nb::arg("keys"), nb::arg("size"),
             "Insert keys of `size` bytes each; returns how many were refused.")
        .def("crowding", &LookupTable::crowding, nb::arg("count"), nb::arg("bits"), nb::arg("size"),
             "Keys whose places all begin with `bits` zeros, as one who knows the seed would choose them.")
        .def("settle", &LookupTable::settle, "Run until the stash is empty, a million cycles at the most.")
        .def_prop_ro("keys", &LookupTable::keys)
        .def_prop_ro("cycles", &LookupTable::cycles)
        .def_prop_ro("moves", &LookupTable::moves)
        .def_prop_ro("stashed", &LookupTable::stashed);

    m.def(
        "seed_words",
        [](std::uint32_t entries, std::uint32_t key_bits, std::uint32_t chunk_bits, std::uint64_t seed) {
            nb::list found;
            const LookupMix mix({entries, key_bits, 8, 64, chunk_bits});
            mix.each_word(seed, [&](std::uint32_t chunk, std::uint32_t index, LookupKey word) {
                found.append(nb::make_tuple(chunk, index, bytes_of(word, 16)));
            });
            return found;
        },
        nb::arg("entries"), nb::arg("key_bits"), nb::arg("chunk_bits") = 6, nb::arg("seed") = 1,
        "Random words of the hash for a seed: [(chunk, index, word)], words as 16 bytes, most significant first.");

    nb::class_<PrefixTree>(m, "PrefixTree")
        .def(
            "__init__",
            [](PrefixTree* tree, const std::vector<std::tuple<nb::bytes, std::uint32_t, std::uint32_t>>& prefixes, std::uint32_t key_bits,
               std::uint32_t levels) {
                std::vector<Prefix> found;
                found.reserve(prefixes.size());
                for (const auto& [bits, length, value] : prefixes) found.push_back({key_of(bits), length, value});
                new (tree) PrefixTree(found, key_bits, levels);
            },
            nb::arg("prefixes"), nb::arg("key_bits") = 65, nb::arg("levels") = 7,
            "From [(bits of a whole key as bytes, length, value)]. Raises ValueError for prefixes that do not fit.")
        .def(
            "find", [](const PrefixTree& tree, const nb::bytes& key) { return tree.find(key_of(key)); }, nb::arg("key"),
            "The value of the longest prefix, None without one.")
        .def(
            "writes",
            [](const PrefixTree& tree, std::uint32_t key_bits) {
                nb::list found;
                for (std::uint32_t level = 0; level < tree.levels(); level++) {
                    for (std::size_t node = 0; node < tree.nodes(level); node++) {
                        nb::list separators;
                        for (std::uint32_t i = 0; i < 3; i++) {
                            separators.append(bytes_of(tree.separator(level, node, i), (key_bits + 7) / 8));
                        }
                        found.append(nb::make_tuple(level, node, separators));
                    }
                }
                return found;
            },
            nb::arg("key_bits") = 65, "Nodes of the tree: [(level, node, three separators as bytes)].")
        .def(
            "values",
            [](const PrefixTree& tree) {
                nb::list found;
                for (std::size_t i = 0; i < tree.nodes(tree.levels()); i++) found.append(tree.value(i));
                return found;
            },
            "The value of each interval, None where no prefix is.");
}

}  // namespace penstock
