// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "designs/access_edge/control/writes.hpp"

#include <stdexcept>

namespace penstock::control {

Writes make_writes(std::span<const Column> columns, std::span<const std::uint32_t> values, std::uint32_t execute,
                   std::span<std::int64_t> held) {
    Writes made;
    const std::size_t count = columns.size(), rows = values.size() / count;
    made.accesses.reserve(rows * 12 + 8);
    const auto access = [&made](std::uint32_t kind, std::uint32_t address, std::uint32_t value) {
        made.accesses.insert(made.accesses.end(), {kind, address, value, 0});
    };
    for (std::size_t row = 0; row < rows; ++row) {
        const std::uint32_t* const words = &values[row * count];
        const std::uint32_t* const before = row ? words - count : nullptr;
        const auto wanted = [&](std::size_t column) {
            if (before) return words[column] != before[column] + (columns[column].steps ? 1 : 0);
            return columns[column].steps || held[column] != words[column];
        };
        // The last one of a row that can sets it; where none differs, the last one is written again, so that the row counts.
        std::size_t last = count - 1;
        for (std::size_t column = count; column-- > 0;)
            if (columns[column].executes && wanted(column)) {
                last = column;
                break;
            }
        for (std::size_t column = 0; column < count; ++column) {
            if (column != last && !wanted(column)) continue;
            if (columns[column].steps && before) {  // a run of neighbours ends here
                access(kRead, columns[column].address, 0);
                made.ends.push_back(before[column] + 1);
            }
            access(kWrite, columns[column].address + (column == last ? execute : 0), words[column]);
            ++made.writes;
        }
    }
    if (rows) {
        const std::uint32_t* const words = &values[(rows - 1) * count];
        access(kRead, columns[0].address, 0);
        made.ends.push_back(words[0] + 1);
        for (std::size_t column = 0; column < count; ++column)
            if (!columns[column].steps) held[column] = words[column];
    }
    return made;
}

std::span<const std::uint32_t> Changes::Rows::row(std::int64_t number) const {
    if (number < 0 || (static_cast<std::size_t>(number) + 1) * columns > words.size())
        throw std::out_of_range("a setting that is not there");
    return words.subspan(static_cast<std::size_t>(number) * columns, columns);
}

Writes Changes::rows(bool of_queues, std::span<const std::uint32_t> values) {
    if (values.empty()) return {};
    const std::vector<Column>& columns = (of_queues ? queue_ : subscriber_).columns;
    std::vector<std::int64_t> held;
    for (const Column& column : columns) {
        const auto found = held_.find(column.address);
        held.push_back(found == held_.end() ? -1 : found->second);
    }
    Writes made = make_writes(columns, values, execute_, held);
    for (std::size_t i = 1; i < columns.size(); ++i) held_[columns[i].address] = held[i];  // snapshots move what steps
    return made;
}

Writes Changes::of(std::span<const std::uint32_t> places, std::size_t each, const InForce& what) {
    std::vector<std::uint32_t> values, of_queues;
    for (const std::uint32_t place : places) {
        if (place >= what.subscribers.size() || place >= what.nodes.size() || (place + std::size_t{1}) * each > what.queues.size())
            throw std::out_of_range("a place that is not there");
        if (what.subscribers[place] >= 0) {
            const auto row = what.subscriber_rows.row(what.subscribers[place]);
            values.push_back(place);
            for (const std::size_t column : subscriber_.settings) values.push_back(row[column]);
            values.push_back(static_cast<std::uint32_t>(what.nodes[place]));
        }
        for (std::size_t queue = place * each; queue < (place + std::size_t{1}) * each; ++queue) {
            const auto row = what.queue_rows.row(what.queues[queue]);
            of_queues.push_back(static_cast<std::uint32_t>(queue));
            for (const std::size_t column : queue_.settings) of_queues.push_back(row[column]);
        }
    }
    // Before their queues: a subscriber's limit holds when its queues get theirs.
    Writes made = rows(false, values), behind = rows(true, of_queues);
    made.accesses.insert(made.accesses.end(), behind.accesses.begin(), behind.accesses.end());
    made.ends.insert(made.ends.end(), behind.ends.begin(), behind.ends.end());
    made.writes += behind.writes;
    return made;
}

}  // namespace penstock::control
