// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Parser and deparser.
#include <algorithm>

#include "designs/p4_switch/model/machine/bits.hpp"
#include "designs/p4_switch/model/machine/state.hpp"

namespace penstock::p4 {

bool V1Switch::State::extract(Packet& packet, std::uint32_t header, std::uint64_t variable_bits, std::uint64_t most_bits) {
    const auto error = [&](CoreError which) {
        error_ = program.errors[static_cast<int>(which)];
        return false;
    };
    const HeaderShape& shape = program.headers[header];
    const std::uint8_t* from = front_ + position_;
    std::uint64_t* values = &packet.values[shape.base];
    std::uint64_t bytes = shape.bits / 8;
    if (shape.variable < 0) {
        if (end_ - position_ < bytes) return error(CoreError::PacketTooShort);
        for (const HeaderField& field : shape.fields) {
            if (field.bits <= 64)
                values[field.place] = read_bits(from, field.offset, field.bits);
            else
                read_words(from, field.offset, field.bits, values + field.place);
        }
    } else {
        if (variable_bits % 8) return error(CoreError::ParserInvalidArgument);
        if (variable_bits / 8 > end_ - position_ || end_ - position_ < bytes + variable_bits / 8) return error(CoreError::PacketTooShort);
        if ((bytes + variable_bits / 8) * 8 > most_bits) return error(CoreError::HeaderTooShort);
        std::uint64_t offset = 0;
        for (const HeaderField& field : shape.fields) {
            if (!field.variable) {
                read_words(from, offset, field.bits, values + field.place);
                offset += field.bits;
                continue;
            }
            values[field.place] = variable_bits;
            auto* to = reinterpret_cast<std::uint8_t*>(values + field.place + 1);
            for (std::uint64_t i = 0; i < variable_bits / 8; ++i) to[i] = static_cast<std::uint8_t>(read_bits(from, offset + 8 * i, 8));
            offset += variable_bits;
        }
        bytes += variable_bits / 8;
    }
    make_valid(packet, shape);
    position_ += bytes;
    return true;
}

void V1Switch::State::parse(Packet& packet) {
    front_ = packet.buffer.get() + packet.begin;
    position_ = 0;
    end_ = packet.size;
    error_ = program.errors[static_cast<int>(CoreError::NoError)];
    checksum_error_ = false;
    // A state that takes nothing may go back to itself for ever; so does bmv2. Here it ends as if the packet were too short.
    std::uint64_t patience = 64 * (end_ + program.states.size() + 1);
    for (std::int32_t next = program.initial_state; next >= 0;) {
        const ParserState& state = program.states[static_cast<std::size_t>(next)];
        if (!state.empty && !run(state.code, packet)) break;
        if (--patience == 0) {
            error_ = program.errors[static_cast<int>(CoreError::ParserTimeout)];
            break;
        }
        next = state.otherwise;
        const std::size_t n = state.key.size();
        if (!n) continue;
        const std::uint64_t* const spaces[2] = {packet.values.get(), scratch_.data()};
        const auto key = [&](std::size_t i) { return spaces[state.key[i] >> 28][state.key[i] & 0xFFF'FFFF]; };
        const std::vector<std::uint64_t>& own = cases[static_cast<std::size_t>(&state - program.states.data())];
        const std::uint64_t* const end = own.data() + own.size();
        if (n == 1) {
            const std::uint64_t value = key(0);
            for (const std::uint64_t* trial = own.data(); trial < end; trial += 3) {
                if ((value & trial[1]) != trial[0]) continue;
                next = static_cast<std::int32_t>(trial[2]);
                break;
            }
            continue;
        }
        for (const std::uint64_t* trial = own.data(); trial < end; trial += 2 * n + 1) {
            std::size_t i = 0;
            while (i < n && (key(i) & trial[n + i]) == trial[i]) ++i;
            if (i < n) continue;
            next = static_cast<std::int32_t>(trial[2 * n]);
            break;
        }
    }
    packet.parsed = static_cast<std::uint32_t>(position_);
    verify_checksums(packet);
    set(packet, Standard::ParserError, error_);
    set(packet, Standard::ChecksumError, checksum_error_);
    packet.parser_error = error_ != program.errors[static_cast<int>(CoreError::NoError)];
}

void V1Switch::State::verify_checksums(Packet& packet) {
    for (const Checksum& checksum : program.checksums) {
        if (!checksum.verify || !packet.values[program.headers[checksum.header].base]) continue;
        if (checksum.condition >= 0) {
            run(static_cast<std::uint32_t>(checksum.condition), packet);
            if (!returned_) continue;
        }
        const std::uint64_t found = calculate(program.calculations[checksum.calculation], packet);
        checksum_error_ |= found != packet.values[checksum.place & 0xFFF'FFFF];
    }
}

void V1Switch::State::deparse(Packet& packet) {
    for (const Checksum& checksum : program.checksums) {
        if (!checksum.update) continue;
        if (checksum.condition >= 0) {
            run(static_cast<std::uint32_t>(checksum.condition), packet);
            if (!returned_) continue;
        }
        const std::uint64_t mask = checksum.bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << checksum.bits) - 1;
        packet.values[checksum.place & 0xFFF'FFFF] = calculate(program.calculations[checksum.calculation], packet) & mask;
    }
    if (program.deparser_code >= 0) run(static_cast<std::uint32_t>(program.deparser_code), packet);
    std::uint32_t bytes = 0;
    for (const std::uint32_t number : program.deparser) {
        const HeaderShape& header = program.headers[number];
        if (packet.values[header.base]) bytes += header_bytes(packet, header);
    }
    if (bytes > packet.begin + packet.parsed) packet.make_room(bytes);
    const std::uint32_t to = packet.begin + packet.parsed - bytes;
    BitWriter writer(packet.buffer.get() + to);
    for (const std::uint32_t number : program.deparser) {
        const HeaderShape& header = program.headers[number];
        const std::uint64_t* values = &packet.values[header.base];
        if (!values[0]) continue;
        for (const HeaderField& field : header.fields) {
            if (field.variable) {
                const auto* from = reinterpret_cast<const std::uint8_t*>(values + field.place + 1);
                for (std::uint64_t i = 0; i < values[field.place] / 8; ++i) writer.put(from[i], 8);
            } else if (field.bits <= 64) {
                writer.put(values[field.place], field.bits);
            } else {
                writer.put_words(values + field.place, field.bits);
            }
        }
    }
    packet.size = bytes + packet.size - packet.parsed;
    packet.begin = to;
    packet.parsed = 0;
    packet.size = std::min(packet.size, packet.truncated);
}

}  // namespace penstock::p4
