// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "designs/p4_switch/model/machine/program.hpp"

#include <map>

namespace penstock::p4 {

namespace {

const std::map<std::string, Hash> kHashes = {
    {"csum16", Hash::Csum16},          {"cksum16", Hash::Csum16}, {"crc8_custom", Hash::Crc8},   {"crc16", Hash::Crc16},
    {"crc16_custom", Hash::Crc16},     {"crc32", Hash::Crc32},    {"crc32_custom", Hash::Crc32}, {"crc64_custom", Hash::Crc64},
    {"crcCCITT", Hash::Ccitt},         {"xor16", Hash::Xor16},    {"xor32", Hash::Xor32},        {"identity", Hash::Identity},
    {"round_robin", Hash::RoundRobin}, {"random", Hash::Random},
};

template <typename T>
std::vector<T> numbers(Table& table, const char* key) {
    constexpr bool is_signed = std::is_signed_v<T>;
    std::vector<nb::object> keep;
    std::vector<T> made;
    if constexpr (is_signed) {
        for (const std::int64_t value : table.array<std::int64_t>(key, "int64", keep)) made.push_back(static_cast<T>(value));
    } else {
        for (const std::uint64_t value : table.array<std::uint64_t>(key, "uint64", keep)) made.push_back(static_cast<T>(value));
    }
    return made;
}

}  // namespace

EntrySettings EntrySettings::read(Table& table) {
    EntrySettings made;
    made.low = numbers<std::uint64_t>(table, "low");
    made.high = numbers<std::uint64_t>(table, "high");
    made.prefix = static_cast<std::uint32_t>(table.integer("prefix", 0, 1 << 16, 0));
    made.priority = table.integer("priority", INT64_MIN, INT64_MAX, 0);
    made.action = static_cast<std::int32_t>(table.integer("action", -1, INT32_MAX, -1));
    made.data = numbers<std::uint64_t>(table, "data");
    made.member = static_cast<std::int32_t>(table.integer("member", -1, INT32_MAX, -1));
    made.group = static_cast<std::int32_t>(table.integer("group", -1, INT32_MAX, -1));
    return made;
}

std::shared_ptr<const Program> Program::read(Table& table) {
    auto made = std::make_shared<Program>();
    made->read_code(table);
    made->read_headers(table);
    made->read_flow(table);
    made->read_tables(table);
    made->read_state(table);
    table.done();
    made->link();
    return made;
}

void Program::read_code(Table& table) {
    words = static_cast<std::uint32_t>(table.integer("words", 1, 1 << 24));
    metadata_words = static_cast<std::uint32_t>(table.integer("metadata_words", 0, words));
    scratch = static_cast<std::uint32_t>(table.integer("scratch", 0, 1 << 24));
    constants = numbers<std::uint64_t>(table, "constants");
    constants.push_back(0);
    static const std::map<std::string, Op> known = {
#define X(name) {#name, Op::name##_},
        PENSTOCK_P4_OPERATIONS(X)
#undef X
    };
    std::vector<Op> operations;
    for (nb::handle name : table.list("operations")) {
        const auto found = known.find(nb::cast<std::string>(name));
        if (found == known.end()) bad_job(table.name("operations") + ": " + nb::cast<std::string>(name) + " is no operation");
        operations.push_back(found->second);
    }
    const auto given = numbers<std::uint64_t>(table, "code");
    if (given.size() % 6) bad_job(table.name("code") + " does not have six numbers for each instruction");
    for (std::size_t i = 0; i < given.size(); i += 6) {
        if (given[i] >= operations.size()) bad_job(table.name("code") + " has an unknown operation");
        const auto place = [&](unsigned which) { return static_cast<std::uint32_t>(given[i + which]); };
        code.push_back({operations[given[i]], static_cast<std::uint16_t>(given[i + 1]), place(2), place(3), place(4), place(5)});
    }
    code.push_back({Op::end_, 0, 0, 0, 0, 0});
}

void Program::read_headers(Table& table) {
    for (Table& given : table.tables("headers")) {
        HeaderShape shape{};
        shape.base = static_cast<std::uint32_t>(given.integer("base", 0, words));
        shape.bits = static_cast<std::uint32_t>(given.integer("bits", 0, 1 << 24));
        shape.metadata = given.boolean("metadata", false);
        shape.words = 1;
        shape.peers = numbers<std::uint32_t>(given, "peers");
        std::uint32_t offset = 0;
        const auto fields = numbers<std::uint32_t>(given, "fields");
        for (std::size_t i = 0; i + 3 < fields.size(); i += 4) {
            const bool variable = fields[i + 2];
            if (variable) shape.variable = static_cast<std::int32_t>(shape.fields.size());
            shape.fields.push_back({fields[i], fields[i + 1], variable, fields[i + 3] != 0, offset});
            if (!variable) offset += fields[i + 1];
            shape.words = fields[i] + (fields[i + 1] + 63) / 64 + variable;
        }
        if (shape.base + shape.words > words) bad_job(given.name("base") + " is beyond the packet's words");
        given.done();
        headers.push_back(std::move(shape));
    }
    for (Table& given : table.tables("stacks")) {
        stacks.push_back({static_cast<std::uint32_t>(given.integer("fill", 0, words - 1)), numbers<std::uint32_t>(given, "headers")});
        given.done();
    }
    const auto given = numbers<std::int32_t>(table, "standard");
    if (given.size() != 2 * static_cast<std::size_t>(Standard::Count)) bad_job(table.name("standard") + " has a wrong length");
    for (std::size_t i = 0; i < static_cast<std::size_t>(Standard::Count); ++i) {
        const auto bits = static_cast<unsigned>(given[2 * i + 1]);
        standard[i] = {given[2 * i], bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1};
    }
    const auto values = numbers<std::uint64_t>(table, "errors");
    if (values.size() != static_cast<std::size_t>(CoreError::Count)) bad_job(table.name("errors") + " has a wrong length");
    std::copy(values.begin(), values.end(), errors);
    for (Table& list : table.tables("field_lists")) {
        const auto id = static_cast<std::uint64_t>(list.integer("id", 0, 1 << 30));
        field_lists[id] = numbers<std::uint32_t>(list, "words");
        list.done();
    }
}

void Program::read_flow(Table& table) {
    Table parser = table.table("parser");
    initial_state = static_cast<std::int32_t>(parser.integer("initial", -1, 1 << 24));
    for (Table& given : parser.tables("states")) {
        ParserState state{};
        state.code = static_cast<std::uint32_t>(given.integer("code", 0, static_cast<std::int64_t>(code.size()) - 1));
        state.empty = code[state.code].op == Op::end_;
        state.key = numbers<std::uint32_t>(given, "key");
        state.cases = numbers<std::uint64_t>(given, "cases");
        state.otherwise = static_cast<std::int32_t>(given.integer("default", -1, 1 << 24));
        given.done();
        states.push_back(std::move(state));
    }
    parser.done();
    const auto given_actions = numbers<std::uint32_t>(table, "actions");
    for (std::size_t i = 0; i + 1 < given_actions.size(); i += 2)
        actions.push_back({given_actions[i], given_actions[i + 1], code.at(given_actions[i]).op == Op::end_});
    const auto given_nodes = numbers<std::int32_t>(table, "nodes");
    for (std::size_t i = 0; i + 3 < given_nodes.size(); i += 4)
        nodes.push_back({static_cast<Node::Kind>(given_nodes[i]), given_nodes[i + 1], given_nodes[i + 2], given_nodes[i + 3]});
    const auto starts = numbers<std::int32_t>(table, "starts");
    if (starts.size() != 2) bad_job(table.name("starts") + " has a wrong length");
    std::copy(starts.begin(), starts.end(), start);
    Table out = table.table("deparser");
    deparser = numbers<std::uint32_t>(out, "order");
    deparser_code = static_cast<std::int32_t>(out.integer("code", -1, static_cast<std::int64_t>(code.size()) - 1));
    out.done();
    for (Table& given : table.tables("calculations")) {
        const auto hash = kHashes.find(given.text("algorithm"));
        if (hash == kHashes.end()) bad_job(given.name("algorithm") + " is no algorithm");
        Calculation made{hash->second, {}, given.boolean("payload", false)};
        const auto parts = numbers<std::uint32_t>(given, "parts");
        for (std::size_t i = 0; i + 3 < parts.size(); i += 4)
            made.parts.push_back({static_cast<Calculation::Part::Kind>(parts[i]), parts[i + 1], parts[i + 2], parts[i + 3]});
        given.done();
        calculations.push_back(std::move(made));
    }
    const auto sums = numbers<std::int32_t>(table, "checksums");
    for (std::size_t i = 0; i + 6 < sums.size(); i += 7) {
        const auto place = [&](unsigned which) { return static_cast<std::uint32_t>(sums[i + which]); };
        checksums.push_back({place(0), place(1), place(2), place(3), sums[i + 4], sums[i + 5] != 0, sums[i + 6] != 0});
    }
}

void Program::read_tables(Table& table) {
    for (Table& given : table.tables("tables")) {
        TableShape shape{};
        shape.name = given.text("name");
        shape.kind = static_cast<TableShape::Kind>(given.integer("kind", 0, 3));
        const auto key = numbers<std::uint64_t>(given, "key");
        for (std::size_t i = 0; i + 2 < key.size(); i += 3)
            shape.key.push_back({static_cast<std::uint32_t>(key[i]), key[i + 1], key[i + 2] != 0});
        given.has("lpm");
        shape.size = static_cast<std::uint32_t>(given.integer("size", 0, 1 << 30));
        const auto next = numbers<std::int32_t>(given, "next");
        for (std::size_t i = 0; i + 2 < next.size(); i += 3) shape.next[next[i]] = {next[i + 1], next[i + 2]};
        shape.miss = static_cast<std::int32_t>(given.integer("miss", -1, 1 << 24));
        if (given.has("default")) {
            const auto entry = numbers<std::uint64_t>(given, "default");
            shape.default_action = static_cast<std::int32_t>(entry.at(0));
            shape.default_data.assign(entry.begin() + 1, entry.end());
        }
        for (Table& entry : given.tables("entries")) {
            shape.entries.push_back(EntrySettings::read(entry));
            entry.done();
        }
        shape.counters = given.boolean("counters", false);
        shape.constant_default = given.boolean("constant_default", false);
        shape.meter = static_cast<std::int32_t>(given.integer("meter", -1, 1 << 24));
        const auto target = numbers<std::uint32_t>(given, "meter_target");
        shape.meter_place = target.at(0);
        shape.meter_bits = target.at(1);
        shape.profile = static_cast<std::int32_t>(given.integer("profile", -1, 1 << 24));
        given.done();
        tables.push_back(std::move(shape));
    }
}

void Program::read_state(Table& table) {
    for (nb::handle given : table.list("registers")) {
        const auto pair = nb::cast<nb::sequence>(given);
        registers.push_back({nb::cast<std::uint64_t>(pair[0]), nb::cast<std::uint32_t>(pair[1])});
    }
    counters = numbers<std::uint64_t>(table, "counters");
    for (nb::handle given : table.list("meters")) {
        const auto pair = nb::cast<nb::sequence>(given);
        meters.push_back({nb::cast<std::uint64_t>(pair[0]), nb::cast<int>(pair[1]) != 0});
    }
    for (Table& given : table.tables("profiles")) {
        profiles.push_back(static_cast<std::int32_t>(given.integer("calculation", -1, 1 << 24)));
        given.done();
    }
}

}  // namespace penstock::p4
