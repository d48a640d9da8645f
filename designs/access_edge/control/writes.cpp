// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "designs/access_edge/control/writes.hpp"

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

}  // namespace penstock::control
