// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The control plane: what designs/p4_switch/tables.py has made of a scenario.
#include <algorithm>
#include <stdexcept>

#include "designs/p4_switch/model/machine/state.hpp"

namespace penstock::p4 {

namespace {

std::vector<std::uint64_t> numbers(Table& table, const char* key) {
    std::vector<nb::object> keep;
    const auto given = table.array<std::uint64_t>(key, "uint64", keep);
    return {given.begin(), given.end()};
}

template <typename T>
T& chosen(Table& table, const char* key, std::vector<T>& all) {
    return all[static_cast<std::size_t>(table.integer(key, 0, static_cast<std::int64_t>(all.size()) - 1))];
}

void check_action(const Program& program, Table& table, std::int32_t action, const std::vector<std::uint64_t>& data) {
    if (action < 0) return;
    if (action >= static_cast<std::int32_t>(program.actions.size())) bad_job(table.name("action") + " is out of range");
    if (data.size() != program.actions[static_cast<std::size_t>(action)].words) bad_job(table.name("data") + " has a wrong length");
}

}  // namespace

void V1Switch::configure(Table& given) {
    State& state = *state_;
    if (given.has("profiles"))
        for (Table& table : given.tables("profiles")) {
            Profile& profile = chosen(table, "profile", state.profiles);
            for (Table& member : table.tables("members")) {
                Member made{static_cast<std::int32_t>(member.integer("action", 0, INT32_MAX)), numbers(member, "data")};
                check_action(*program_, member, made.action, made.data);
                profile.members[static_cast<std::int32_t>(member.integer("member", 0, INT32_MAX))] = std::move(made);
                member.done();
            }
            for (Table& group : table.tables("groups")) {
                auto& members = profile.groups[static_cast<std::int32_t>(group.integer("group", 0, INT32_MAX))];
                for (const std::uint64_t member : numbers(group, "members")) {
                    if (!profile.members.contains(static_cast<std::int32_t>(member)))
                        bad_job(group.name("members") + " has an unknown member");
                    members.push_back(static_cast<std::int32_t>(member));
                }
                std::sort(members.begin(), members.end());
                members.erase(std::unique(members.begin(), members.end()), members.end());
                group.done();
            }
            table.done();
        }
    const auto check_profile = [&](Table& table, const TableShape& shape, const EntrySettings& settings) {
        if (shape.profile < 0) {
            if (settings.member >= 0 || settings.group >= 0) bad_job(table.name("member") + ": the table has no action profile");
            return;
        }
        const Profile& profile = state.profiles[static_cast<std::size_t>(shape.profile)];
        if (settings.member >= 0 && !profile.members.contains(settings.member)) bad_job(table.name("member") + " is unknown");
        if (settings.group >= 0 && !profile.groups.contains(settings.group)) bad_job(table.name("group") + " is unknown");
        if (settings.group >= 0 && program_->profiles[static_cast<std::size_t>(shape.profile)] < 0)
            bad_job(table.name("group") + ": the action profile has no selector");
    };
    if (given.has("defaults"))
        for (Table& table : given.tables("defaults")) {
            MatchTable& found = chosen(table, "table", state.tables);
            const EntrySettings settings = EntrySettings::read(table);
            check_action(*program_, table, settings.action, settings.data);
            check_profile(table, found.shape(), settings);
            found.default_entry(settings);
            table.done();
        }
    if (given.has("entries"))
        for (Table& table : given.tables("entries")) {
            MatchTable& found = chosen(table, "table", state.tables);
            EntrySettings settings = EntrySettings::read(table);
            check_action(*program_, table, settings.action, settings.data);
            check_profile(table, found.shape(), settings);
            std::vector<double> rates;
            if (table.has("rates"))
                for (nb::handle rate : table.list("rates")) rates.push_back(nb::cast<double>(rate));
            try {
                Entry& made = *found.entry(found.add(std::move(settings)));
                if (rates.size() == 4)
                    made.meter.configure(rates[0], static_cast<std::uint64_t>(rates[1]), rates[2], static_cast<std::uint64_t>(rates[3]));
            } catch (const std::invalid_argument& error) {
                bad_job(table.name("table") + " (" + found.shape().name + "): " + error.what());
            }
            table.done();
        }
    if (given.has("switches"))  // of states of the parser that look into value sets
        for (Table& table : given.tables("switches")) {
            const auto states = static_cast<std::int64_t>(program_->states.size());
            const auto which = static_cast<std::size_t>(table.integer("state", 0, states - 1));
            std::vector<std::uint64_t> found = numbers(table, "cases");
            const std::size_t each = 2 * program_->states[which].key.size() + 1;
            if (found.size() % each) bad_job(table.name("cases") + " has a wrong length");
            for (std::size_t i = each - 1; i < found.size(); i += each)
                if (found[i] != ~std::uint64_t{0} && found[i] >= static_cast<std::uint64_t>(states))
                    bad_job(table.name("cases") + " goes to a state that there is not");
            state.cases[which] = std::move(found);
            table.done();
        }
    if (given.has("registers"))
        for (Table& table : given.tables("registers")) {
            const auto which =
                static_cast<std::size_t>(table.integer("register", 0, static_cast<std::int64_t>(state.registers.size()) - 1));
            const Program::Register& shape = program_->registers[which];
            const std::int64_t index = table.integer("index", -1, static_cast<std::int64_t>(shape.size) - 1);
            const auto value = numbers(table, "value");
            if (value.size() != (shape.bits + 63) / 64) bad_job(table.name("value") + " has a wrong length");
            for (std::uint64_t i = index < 0 ? 0 : static_cast<std::uint64_t>(index); i < shape.size; ++i) {
                std::copy(value.begin(), value.end(), state.registers[which].begin() + static_cast<std::ptrdiff_t>(i * value.size()));
                if (index >= 0) break;
            }
            table.done();
        }
    if (given.has("meters"))
        for (Table& table : given.tables("meters")) {
            auto& meters = chosen(table, "meter", state.meters);
            const std::int64_t index = table.integer("index", -1, static_cast<std::int64_t>(meters.size()) - 1);
            const double committed = table.number("committed", 0, 1e12), peak = table.number("peak", 0, 1e12);
            const auto committed_burst = static_cast<std::uint64_t>(table.integer("committed_burst", 0, INT64_MAX));
            const auto peak_burst = static_cast<std::uint64_t>(table.integer("peak_burst", 0, INT64_MAX));
            for (std::size_t i = 0; i < meters.size(); ++i)
                if (index < 0 || i == static_cast<std::size_t>(index)) meters[i].configure(committed, committed_burst, peak, peak_burst);
            table.done();
        }
    if (given.has("mirrors"))
        for (Table& table : given.tables("mirrors")) {
            MirrorSession& session = state.mirrors[static_cast<std::uint64_t>(table.integer("session", 0, 0x7FFF))];
            session = {table.integer("port", -1, INT32_MAX, -1), table.integer("group", -1, INT32_MAX, -1)};
            table.done();
        }
    if (given.has("groups"))
        for (Table& table : given.tables("groups")) {
            auto& nodes = state.groups[static_cast<std::uint64_t>(table.integer("group", 0, INT32_MAX))];
            nodes.clear();
            for (Table& node : table.tables("nodes")) {
                MulticastNode made{static_cast<std::uint64_t>(node.integer("rid", 0, INT32_MAX)), {}};
                for (const std::uint64_t port : numbers(node, "ports")) {
                    if (port > kDropPort) bad_job(node.name("ports") + " has a port that nine bits do not hold");
                    made.ports.push_back(static_cast<std::uint32_t>(port));
                }
                std::sort(made.ports.begin(), made.ports.end());
                nodes.push_back(std::move(made));
                node.done();
            }
            table.done();
        }
    given.done();
}

}  // namespace penstock::p4
