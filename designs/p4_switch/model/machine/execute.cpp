// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Instructions, one after the other.
#include <algorithm>
#include <array>

#include "designs/p4_switch/model/machine/bits.hpp"
#include "designs/p4_switch/model/machine/state.hpp"
#include "designs/p4_switch/model/machine/wide.hpp"

namespace penstock::p4 {

bool V1Switch::State::run(std::uint32_t instruction, Packet& packet, const std::uint64_t* data) {
    // Constants and data are only read: the compiler gives no instruction that writes there.
    std::uint64_t* const spaces[4] = {packet.values.get(), scratch_.data(), const_cast<std::uint64_t*>(program.constants.data()),
                                      const_cast<std::uint64_t*>(data)};
    const auto at = [&](std::uint32_t place) -> std::uint64_t* { return spaces[place >> 28] + (place & 0xFFF'FFFF); };
    const auto error = [&](CoreError which) {
        error_ = program.errors[static_cast<int>(which)];
        return false;
    };
    for (const Instruction* i = &program.code[instruction];; ++i) {
        switch (i->op) {
            case Op::end_:
                return true;
            case Op::return_:
                returned_ = *at(i->a);
                return true;
            case Op::jump_:
                i = &program.code[i->b] - 1;
                break;
            case Op::jump_if_zero_:
                if (!*at(i->a)) i = &program.code[i->b] - 1;
                break;
            case Op::mov_:
                if (i->n == 1)
                    *at(i->d) = *at(i->a);
                else
                    std::memmove(at(i->d), at(i->a), i->n * sizeof(std::uint64_t));
                break;
            case Op::widen_:
                wide::widen(at(i->d), at(i->a), i->b, i->c, i->n);
                break;
            case Op::extend_:
                wide::extend(at(i->d), at(i->a), i->b, i->c, i->n);
                break;
            case Op::index_: {
                const std::uint64_t* value = at(i->a);
                const bool one = std::all_of(value + 1, value + i->n, [](std::uint64_t word) { return word == 0; });
                *at(i->d) = one && !(i->n == 1 && i->b && value[0] >> 63) ? value[0] : ~std::uint64_t{0};
                break;
            }
            case Op::add_:
                if (i->n == 1)
                    *at(i->d) = (*at(i->a) + *at(i->b)) & *at(i->c);
                else
                    wide::add(at(i->d), at(i->a), at(i->b), i->n);
                break;
            case Op::sub_:
                if (i->n == 1)
                    *at(i->d) = (*at(i->a) - *at(i->b)) & *at(i->c);
                else
                    wide::sub(at(i->d), at(i->a), at(i->b), i->n);
                break;
            case Op::mul_:
                if (i->n == 1)
                    *at(i->d) = (*at(i->a) * *at(i->b)) & *at(i->c);
                else
                    wide::mul(at(i->d), at(i->a), at(i->b), i->n);
                break;
            case Op::shl_: {
                const std::uint64_t amount = *at(i->b);
                if (i->n == 1)
                    *at(i->d) = (amount < 64 ? *at(i->a) << amount : 0) & *at(i->c);
                else
                    wide::shl(at(i->d), at(i->a), amount, i->n);
                break;
            }
            case Op::shr_: {
                const std::uint64_t amount = *at(i->b);
                if (i->n == 1)
                    *at(i->d) = amount < 64 ? *at(i->a) >> amount : 0;
                else
                    wide::shr(at(i->d), at(i->a), amount, i->n, false);
                break;
            }
            case Op::sar_:
                wide::shr(at(i->d), at(i->a), *at(i->b), i->n, true);
                break;
            case Op::not_: {
                std::uint64_t *d = at(i->d), *a = at(i->a);
                if (i->n == 1)
                    *d = ~*a & *at(i->c);
                else
                    for (unsigned k = 0; k < i->n; ++k) d[k] = ~a[k];
                break;
            }
            case Op::div_:
            case Op::mod_:
                if (i->n > 1)
                    wide::divide(at(i->d), at(i->a), at(i->b), i->n, i->op == Op::mod_);
                else if (const std::uint64_t b = *at(i->b))
                    *at(i->d) = i->op == Op::div_ ? *at(i->a) / b : *at(i->a) % b;
                else
                    *at(i->d) = 0;
                break;
            case Op::and_: {
                std::uint64_t *d = at(i->d), *a = at(i->a), *b = at(i->b);
                for (unsigned k = 0; k < i->n; ++k) d[k] = a[k] & b[k];
                break;
            }
            case Op::or_: {
                std::uint64_t *d = at(i->d), *a = at(i->a), *b = at(i->b);
                for (unsigned k = 0; k < i->n; ++k) d[k] = a[k] | b[k];
                break;
            }
            case Op::xor_: {
                std::uint64_t *d = at(i->d), *a = at(i->a), *b = at(i->b);
                for (unsigned k = 0; k < i->n; ++k) d[k] = a[k] ^ b[k];
                break;
            }
            case Op::eq_:
                if (i->n == 1)
                    *at(i->d) = *at(i->a) == *at(i->b);
                else
                    *at(i->d) = std::equal(at(i->a), at(i->a) + i->n, at(i->b));
                break;
            case Op::ne_:
                if (i->n == 1)
                    *at(i->d) = *at(i->a) != *at(i->b);
                else
                    *at(i->d) = !std::equal(at(i->a), at(i->a) + i->n, at(i->b));
                break;
            case Op::ltu_:
                *at(i->d) = i->n == 1 ? *at(i->a) < *at(i->b) : wide::compare(at(i->a), at(i->b), i->n, false) < 0;
                break;
            case Op::leu_:
                *at(i->d) = i->n == 1 ? *at(i->a) <= *at(i->b) : wide::compare(at(i->a), at(i->b), i->n, false) <= 0;
                break;
            case Op::lts_:
                *at(i->d) = wide::compare(at(i->a), at(i->b), i->n, true) < 0;
                break;
            case Op::les_:
                *at(i->d) = wide::compare(at(i->a), at(i->b), i->n, true) <= 0;
                break;
            case Op::lnot_:
                *at(i->d) = !*at(i->a);
                break;
            case Op::select_:
                std::memmove(at(i->d), at(*at(i->a) ? i->b : i->c), i->n * sizeof(std::uint64_t));
                break;

            case Op::header_at_: {
                const auto& headers = program.stacks[i->a].headers;
                const std::uint64_t index = *at(i->b);
                *at(i->d) = index < headers.size() ? headers[index] : kNoHeader;
                break;
            }
            case Op::last_header_: {
                const StackShape& stack = program.stacks[i->a];
                const std::uint64_t fill = packet.values[stack.fill];
                *at(i->d) = fill && fill <= stack.headers.size() ? stack.headers[fill - 1] : kNoHeader;
                break;
            }
            case Op::load_field_: {
                const std::uint64_t header = *at(i->a);
                std::uint64_t* d = at(i->d);
                for (unsigned k = 0; k < i->n; ++k) d[k] = load(packet, header, i->b, k);
                break;
            }
            case Op::store_field_:
                store(packet, *at(i->a), i->b, at(i->c), i->n);
                break;
            case Op::valid_: {
                const std::uint64_t header = *at(i->a);
                *at(i->d) = header != kNoHeader && packet.values[program.headers[header].base];
                break;
            }
            case Op::equal_headers_:
                *at(i->d) = equal(packet, *at(i->a), *at(i->b));
                break;
            case Op::equal_variable_: {
                const auto number = [](const std::uint64_t* field) {
                    const auto* bytes = reinterpret_cast<const std::uint8_t*>(field + 1);
                    std::span<const std::uint8_t> found{bytes, field[0] / 8};
                    while (!found.empty() && !found[0]) found = found.subspan(1);
                    return found;
                };
                const auto a = number(at(i->a)), b = number(at(i->b));
                *at(i->d) = std::equal(a.begin(), a.end(), b.begin(), b.end());
                break;
            }
            case Op::add_header_:
            case Op::add_header_fast_: {
                const std::uint64_t number = *at(i->a);
                if (number == kNoHeader) break;
                const HeaderShape& header = program.headers[number];
                std::uint64_t* values = &packet.values[header.base];
                if (i->op == Op::add_header_ && !values[0]) {
                    std::memset(values, 0, header.words * sizeof(std::uint64_t));
                    packet.length += header.bits / 8;
                }
                make_valid(packet, header);
                break;
            }
            case Op::remove_header_: {
                const std::uint64_t number = *at(i->a);
                if (number == kNoHeader) break;
                const HeaderShape& header = program.headers[number];
                if (packet.values[header.base]) packet.length -= header_bytes(packet, header);
                packet.values[header.base] = 0;
                break;
            }
            case Op::assign_header_:
                assign(packet, *at(i->a), *at(i->b));
                break;
            case Op::push_:
                shift(packet, program.stacks[i->a], *at(i->b), true);
                break;
            case Op::pop_:
                shift(packet, program.stacks[i->a], *at(i->b), false);
                break;

            case Op::extract_:
                if (!extract(packet, i->a, *at(i->b), i->c)) return false;
                break;
            case Op::extract_next_: {
                const StackShape& stack = program.stacks[i->a];
                std::uint64_t& fill = packet.values[stack.fill];
                if (fill >= stack.headers.size()) return error(CoreError::StackOutOfBounds);
                if (!extract(packet, stack.headers[fill], *at(i->b), i->c)) return false;
                ++fill;
                break;
            }
            case Op::lookahead_:
                if ((end_ - position_) * 8 < std::uint64_t{i->a} + i->b) return error(CoreError::PacketTooShort);
                read_words(front_ + position_, i->a, i->b, at(i->d));
                break;
            case Op::advance_: {
                const std::uint64_t bits = *at(i->a);
                if (bits % 8) return error(CoreError::ParserInvalidArgument);
                if (end_ - position_ < bits / 8) return error(CoreError::PacketTooShort);
                position_ += bits / 8;
                break;
            }
            case Op::verify_:
                if (*at(i->a)) break;
                error_ = *at(i->b);
                return false;

            case Op::register_read_: {
                const Program::Register& shape = program.registers[i->a];
                const std::uint64_t index = *at(i->b);
                if (index >= shape.size) break;
                std::memcpy(at(i->d), &registers[i->a][index * i->n], i->n * sizeof(std::uint64_t));
                break;
            }
            case Op::register_write_: {
                const Program::Register& shape = program.registers[i->a];
                const std::uint64_t index = *at(i->b);
                if (index >= shape.size) break;
                std::uint64_t* cell = &registers[i->a][index * i->n];
                std::memcpy(cell, at(i->c), i->n * sizeof(std::uint64_t));
                if (shape.bits % 64) cell[i->n - 1] &= (std::uint64_t{1} << shape.bits % 64) - 1;
                break;
            }
            case Op::count_: {
                auto& cells = counters[i->a];
                const std::uint64_t index = *at(i->b);
                if (index >= cells.size()) break;
                ++cells[index].packets;
                cells[index].bytes += packet.ingress_length;
                break;
            }
            case Op::execute_meter_: {
                auto& cells = meters[i->a];
                const std::uint64_t index = *at(i->b);
                if (index >= cells.size()) break;
                *at(i->d) = cells[index].execute(passed_us, program.meters[i->a].bytes ? packet.ingress_length : 1);
                break;
            }
            case Op::hash_: {
                const std::uint64_t most = std::max<std::uint64_t>(*at(i->c), 1);
                const std::uint64_t base = *at(i->b);
                *at(i->d) = base + calculate(program.calculations[i->a], packet) % most;
                break;
            }
            case Op::random_: {
                const std::uint64_t low = *at(i->a), high = *at(i->b);
                if (low <= high)
                    *at(i->d) = draw == Draw::Least ? low : draw == Draw::Most ? high : low + random.below_or_equal(high - low);
                break;
            }
            case Op::drop_:
                set(packet, Standard::EgressSpec, kDropPort);
                set(packet, Standard::McastGroup, 0);
                break;
            case Op::clone_:
                packet.clone = static_cast<std::uint32_t>(*at(i->a) & 0xFFFF) | 0x8000;
                packet.clone_fields = static_cast<std::uint32_t>(*at(i->b) & 0xFFFF);
                break;
            case Op::resubmit_:
                packet.resubmit = static_cast<std::uint32_t>(*at(i->a) & 0xFFFF);
                break;
            case Op::recirculate_:
                packet.recirculate = static_cast<std::uint32_t>(*at(i->a) & 0xFFFF);
                break;
            case Op::digest_:
                packet.digest = static_cast<std::uint32_t>(*at(i->a) & 0xFFFF);
                break;
            case Op::truncate_:
                packet.truncated = static_cast<std::uint32_t>(std::min<std::uint64_t>(packet.truncated, *at(i->a)));
                break;
            case Op::exit_:
                packet.exited = true;
                break;
            case Op::check_:
                asserts_failed += !*at(i->a);
                break;

            case Op::mov_word_:
                *at(i->d) = *at(i->a);
                break;
            case Op::add_word_:
                *at(i->d) = (*at(i->a) + *at(i->b)) & *at(i->c);
                break;
            case Op::sub_word_:
                *at(i->d) = (*at(i->a) - *at(i->b)) & *at(i->c);
                break;
            case Op::shl_word_: {
                const std::uint64_t amount = *at(i->b);
                *at(i->d) = (amount < 64 ? *at(i->a) << amount : 0) & *at(i->c);
                break;
            }
            case Op::shr_word_: {
                const std::uint64_t amount = *at(i->b);
                *at(i->d) = amount < 64 ? *at(i->a) >> amount : 0;
                break;
            }
            case Op::and_word_:
                *at(i->d) = *at(i->a) & *at(i->b);
                break;
            case Op::or_word_:
                *at(i->d) = *at(i->a) | *at(i->b);
                break;
            case Op::xor_word_:
                *at(i->d) = *at(i->a) ^ *at(i->b);
                break;
            case Op::eq_word_:
                *at(i->d) = *at(i->a) == *at(i->b);
                break;
            case Op::ne_word_:
                *at(i->d) = *at(i->a) != *at(i->b);
                break;
            case Op::ltu_word_:
                *at(i->d) = *at(i->a) < *at(i->b);
                break;
            case Op::branch_:
                i = &program.code[*at(i->a) ? i->c : i->d] - 1;
                break;
            case Op::branch_eq_:
                i = &program.code[*at(i->a) == *at(i->b) ? i->c : i->d] - 1;
                break;
            case Op::branch_ne_:
                i = &program.code[*at(i->a) != *at(i->b) ? i->c : i->d] - 1;
                break;
            case Op::branch_ltu_:
                i = &program.code[*at(i->a) < *at(i->b) ? i->c : i->d] - 1;
                break;
            case Op::table_: {
                const std::int32_t next = apply(packet, i->a);
                if (next < 0 || packet.exited) return true;
                i = &program.code[program.entry[static_cast<std::size_t>(next)]] - 1;
                break;
            }
            case Op::call_:
                run(i->a, packet, at(i->b));
                break;
            case Op::leave_if_exited_:
                if (packet.exited) return true;
                break;
            default:
                __builtin_unreachable();  // saves a comparison for each instruction
        }
    }
}

std::uint64_t V1Switch::State::load(const Packet& packet, std::uint64_t header, std::uint32_t field, unsigned word) const {
    if (header == kNoHeader) return 0;
    const HeaderShape& shape = program.headers[header];
    return packet.values[shape.base + shape.fields[field].place + word];
}

void V1Switch::State::store(Packet& packet, std::uint64_t header, std::uint32_t field, const std::uint64_t* value, unsigned n) const {
    if (header == kNoHeader) return;
    const HeaderShape& shape = program.headers[header];
    const HeaderField& found = shape.fields[field];
    std::uint64_t* to = &packet.values[shape.base + found.place];
    std::memmove(to, value, n * sizeof(std::uint64_t));
    if (found.bits % 64) to[n - 1] &= (std::uint64_t{1} << found.bits % 64) - 1;
}

std::uint32_t V1Switch::State::header_bytes(const Packet& packet, const HeaderShape& header) const {
    if (header.variable < 0) return header.bits / 8;
    const HeaderField& field = header.fields[static_cast<std::size_t>(header.variable)];
    return (header.bits + static_cast<std::uint32_t>(packet.values[header.base + field.place])) / 8;
}

bool V1Switch::State::equal(const Packet& packet, std::uint64_t a, std::uint64_t b) const {
    if (a == kNoHeader || b == kNoHeader) return false;
    const HeaderShape &one = program.headers[a], &other = program.headers[b];
    const std::uint64_t *left = &packet.values[one.base], *right = &packet.values[other.base];
    if (!left[0] || !right[0] || one.words != other.words) return false;
    if (one.variable < 0) return std::equal(left, left + one.words, right);
    const HeaderField& variable = one.fields[static_cast<std::size_t>(one.variable)];
    const std::uint64_t bytes = left[variable.place] / 8;
    if (left[variable.place] != right[variable.place] || std::memcmp(left + variable.place + 1, right + variable.place + 1, bytes))
        return false;
    return std::all_of(one.fields.begin(), one.fields.end(), [&](const HeaderField& field) {
        return field.variable || std::equal(left + field.place, left + field.place + (field.bits + 63) / 64, right + field.place);
    });
}

void V1Switch::State::assign(Packet& packet, std::uint64_t to, std::uint64_t from) const {
    if (to == kNoHeader) return;
    const HeaderShape& shape = program.headers[to];
    const std::uint64_t* source = from == kNoHeader ? nullptr : &packet.values[program.headers[from].base];
    if (!source || !source[0]) {
        packet.values[shape.base] = 0;
        return;
    }
    std::memmove(&packet.values[shape.base], source, shape.words * sizeof(std::uint64_t));
    make_valid(packet, shape);
}

// As P4_16 has it: what moves beyond the stack is lost; what comes in at the front after a push is invalid.
void V1Switch::State::shift(Packet& packet, const StackShape& stack, std::uint64_t count, bool push) const {
    const std::uint64_t depth = stack.headers.size();
    std::uint64_t& fill = packet.values[stack.fill];
    count = std::min(count, depth);
    if (!count) return;
    const auto base = [&](std::uint64_t i) { return &packet.values[program.headers[stack.headers[i]].base]; };
    const std::size_t bytes = program.headers[stack.headers[0]].words * sizeof(std::uint64_t);
    if (push) {
        fill = std::min(depth, fill + count);
        for (std::uint64_t i = depth; i-- > count;) std::memcpy(base(i), base(i - count), bytes);
        for (std::uint64_t i = 0; i < count; ++i) *base(i) = 0;
    } else {
        fill -= std::min(fill, count);
        for (std::uint64_t i = 0; i + count < depth; ++i) std::memcpy(base(i), base(i + count), bytes);
        for (std::uint64_t i = depth - count; i < depth; ++i) *base(i) = 0;
    }
}

}  // namespace penstock::p4
