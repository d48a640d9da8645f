// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "penstock/engine/dram_controller.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <string>

namespace penstock::engine {

DramController::DramController(const DramSettings& settings)
    : settings_(settings), t_(settings.timing), refresh_at_(settings.first_refresh) {
    const auto power = [](std::uint32_t value, const char* what) {
        if (!std::has_single_bit(value)) throw std::invalid_argument(std::string("a DRAM's ") + what + " must be a power of two");
    };
    power(settings.groups, "bank groups");
    power(settings.banks, "banks of a group");
    power(settings.row_accesses, "accesses of a row");
    const std::uint32_t banks = settings.groups * settings.banks;
    if (banks > 64) throw std::invalid_argument("a channel of DRAM has at most 64 banks");
    std::uint32_t bits[4] = {};
    for (const DramField& field : settings.mapping) bits[static_cast<unsigned>(field.of)] += field.bits;
    const auto width = [](std::uint32_t count) { return static_cast<std::uint32_t>(std::bit_width(count - 1)); };
    if (bits[0] != width(settings.row_accesses) || bits[1] != width(settings.groups) || bits[2] != width(settings.banks) || bits[3] != 0)
        throw std::invalid_argument("a DRAM's mapping must have each bit of column, group and bank once");
    const auto groups =
        std::count_if(settings.mapping.begin(), settings.mapping.end(), [](const DramField& f) { return f.of == DramField::Of::Group; });
    if (settings.hash_groups && (groups != 1 || bits[1] == 0)) throw std::invalid_argument("bank groups that are hashed must be one field");
    if (settings.batch == 0 || settings.batch > settings.read_queue || settings.batch > settings.write_queue)
        throw std::invalid_argument("a DRAM controller's batch must fit into its queues");
    if (settings.read_queue > 1024 || settings.write_queue > 1024)
        throw std::invalid_argument("a DRAM controller's queues have 1,024 places at most");

    banks_.resize(banks);
    for (std::uint32_t b = 0; b < banks; ++b) banks_[b].group = b / settings.banks;
    for (unsigned d : {kRead, kWrite}) {
        access_[d].resize(d == kRead ? settings.read_queue : settings.write_queue);
        for (std::size_t i = 0; i < access_[d].size(); ++i)
            access_[d][i].next = i + 1 == access_[d].size() ? kNone : static_cast<std::int16_t>(i + 1);
        column_group_[d].assign(settings.groups, kLongAgo);
    }
    activate_group_.assign(settings.groups, kLongAgo);
}

DramController::Place DramController::place(std::uint64_t address) const {
    std::uint64_t rest = address / settings_.access_bytes;
    std::uint32_t value[4] = {}, shift[4] = {};
    for (const DramField& field : settings_.mapping) {
        const auto of = static_cast<unsigned>(field.of);
        value[of] |= static_cast<std::uint32_t>(rest & ((std::uint64_t{1} << field.bits) - 1)) << shift[of];
        shift[of] += field.bits;
        rest >>= field.bits;
        if (settings_.hash_groups && field.of == DramField::Of::Group)
            for (std::uint64_t above = rest; above; above >>= field.bits) value[of] ^= above & ((std::uint64_t{1} << field.bits) - 1);
    }
    return {value[1] * settings_.banks + value[2], static_cast<std::uint32_t>(rest), value[0]};
}

void DramController::read(std::uint64_t address, std::uint64_t token, std::int64_t tick) {
    const Place at = place(address);
    const Bank& bank = banks_[at.bank];
    std::uint64_t behind = kGone;
    for (std::int16_t i = bank.head[kWrite]; i != kNone; i = access_[kWrite][i].next)
        if (access_[kWrite][i].row == at.row && access_[kWrite][i].column == at.column) behind = access_[kWrite][i].order;
    if (behind != kGone && settings_.forward) {
        ++counts_.forwarded;
        done_.push_back({token, tick + t_.burst});
        return;
    }
    blocked_ += behind != kGone;
    push(kRead, at, token, behind, tick);
}

void DramController::write(std::uint64_t address, std::int64_t tick) {
    if (count_[kWrite] == 0) writes_since_ = tick;
    push(kWrite, place(address), 0, kGone, tick);
}

void DramController::push(unsigned direction, const Place& place, std::uint64_t token, std::uint64_t behind, std::int64_t tick) {
    Bank& bank = banks_[place.bank];
    const std::int16_t i = free_[direction];
    Access& access = access_[direction][i];
    free_[direction] = access.next;
    access = {order_++, token, place.row, place.column, behind, kNone};
    if (bank.tail[direction] == kNone)
        bank.head[direction] = i;
    else
        access_[direction][bank.tail[direction]].next = i;
    bank.tail[direction] = i;
    if (bank.open && bank.row == place.row && bank.hit[direction] == kNone && behind == kGone) bank.hit[direction] = i;
    ++count_[direction];
    used_[direction] |= std::uint64_t{1} << place.bank;
    next_ = std::min(next_, tick);
}

void DramController::work(std::int64_t until) {
    while (next_ < until) {
        const std::int64_t now = next_;
        if (now >= refresh_at_) {
            if (now == refresh_at_ && idle()) pass_refreshes(until);
            next_ = refresh(std::max(now, refresh_at_));
            continue;
        }
        std::int64_t later = std::min(refresh_at_, turn(now));
        const bool at_column = column(now, later);
        const bool at_row = (settings_.row_bus || !at_column) && row(now, later);
        next_ = at_column || at_row ? now + 1 : std::max(later, now + 1);
    }
}

// Chooses the direction. Returns when there may be a reason to turn although no access comes.
std::int64_t DramController::turn(std::int64_t now) {
    const bool reads = count_[kRead] != blocked_, writes = count_[kWrite] != 0;
    const bool full = in_a_row_ >= settings_.batch;
    bool turns = false;
    std::int64_t later = kNever;
    if (direction_ == kWrite) {
        turns = reads && (!writes || full);
    } else if (writes && reads) {
        turns = full && count_[kWrite] + settings_.batch / 2 >= settings_.write_queue;
    } else if (writes) {
        later = writes_since_ + settings_.drain_after;
        turns = count_[kWrite] >= settings_.drain_from || now >= later || blocked_ != 0;
    }
    if (!turns) return later;
    direction_ ^= 1;
    in_a_row_ = 0;
    ++counts_.turns;
    return kNever;
}

// With nothing to do each refresh comes at its time and finds all as the one before it left it: of those before `until` only the last one
// need be made. A log has all of them.
void DramController::pass_refreshes(std::int64_t until) {
    if (log_) return;
    for (const Bank& bank : banks_)
        if (bank.open || bank.activate > refresh_at_) return;
    const std::int64_t more = (until - 1 - refresh_at_) / t_.refi;
    refresh_at_ += more * t_.refi;
    counts_.refreshes += static_cast<std::uint64_t>(more);
}

// All rows are closed as soon as that is allowed, and all banks are refreshed. Returns the tick from which on there is something to do.
std::int64_t DramController::refresh(std::int64_t now) {
    std::int64_t closed = now, start = now;
    bool any = false;
    for (const Bank& bank : banks_) {
        if (bank.open)
            any = true, closed = std::max(closed, bank.precharge);
        else
            start = std::max(start, bank.activate);
    }
    if (any) {
        start = std::max(start, closed + t_.rp);
        note(closed, Command::What::PrechargeAll, 0, 0, 0);
    }
    note(start, Command::What::Refresh, 0, 0, 0);
    for (Bank& bank : banks_) {
        bank.open = false;
        bank.hit[kRead] = bank.hit[kWrite] = kNone;
        bank.activate = start + t_.rfc;
    }
    refresh_at_ += t_.refi;
    ++counts_.refreshes;
    return start + 1;
}

// A write has been made: reads that waited for it need wait no more.
void DramController::release(Bank& bank, std::uint64_t order) {
    for (std::int16_t i = bank.head[kRead]; i != kNone; i = access_[kRead][i].next) {
        if (access_[kRead][i].behind != order) continue;
        access_[kRead][i].behind = kGone;
        --blocked_;
    }
    bank.hit[kRead] = hit_from(bank, kRead, bank.head[kRead]);
}

// The oldest access of a bank that waits for no write.
std::int16_t DramController::oldest(const Bank& bank, unsigned direction) const {
    std::int16_t i = bank.head[direction];
    while (i != kNone && access_[direction][i].behind != kGone) i = access_[direction][i].next;
    return i;
}

bool DramController::hits(const Bank& bank, unsigned direction) const {
    return bank.hit[direction] != kNone && (bank.passed < settings_.hit_limit || bank.hit[direction] == oldest(bank, direction));
}

bool DramController::column(std::int64_t now, std::int64_t& later) {
    const unsigned d = direction_;
    std::uint32_t best = 0;
    std::uint64_t order = UINT64_MAX;
    for (std::uint64_t left = used_[d]; left; left &= left - 1) {
        const auto b = static_cast<std::uint32_t>(std::countr_zero(left));
        const Bank& bank = banks_[b];
        if (!hits(bank, d)) continue;
        const std::int64_t ready = std::max({bank.column[d], column_group_[d][bank.group], column_any_[d]});
        if (ready > now) {
            later = std::min(later, ready);
        } else if (const std::uint64_t its = access_[d][bank.hit[d]].order; its < order) {
            order = its;
            best = b;
        }
    }
    if (order == UINT64_MAX) return false;

    Bank& bank = banks_[best];
    const std::int16_t i = bank.hit[d];
    Access& access = access_[d][i];
    bank.passed = i == bank.head[d] ? 0 : bank.passed + 1;
    if (d == kRead) {
        column_any_[kRead] = now + t_.ccd_s;
        column_group_[kRead][bank.group] = now + t_.ccd_l;
        column_any_[kWrite] = std::max(column_any_[kWrite], now + t_.rtw);
        bank.precharge = std::max(bank.precharge, now + t_.rtp);
        done_.push_back({access.token, now + t_.cl + t_.burst});
        ++counts_.reads;
    } else {
        const std::int64_t written = now + t_.cwl + t_.burst;
        column_any_[kWrite] = now + t_.ccd_s;
        column_group_[kWrite][bank.group] = now + t_.ccd_l;
        column_any_[kRead] = std::max(column_any_[kRead], written + t_.wtr_s);
        column_group_[kRead][bank.group] = std::max(column_group_[kRead][bank.group], written + t_.wtr_l);
        bank.precharge = std::max(bank.precharge, written + t_.wr);
        writes_since_ = now;
        ++counts_.writes;
    }
    ++in_a_row_;

    // Out of its bank's list.
    const std::int16_t after = access.next;
    if (i == bank.head[d]) {
        bank.head[d] = after;
        if (after == kNone) bank.tail[d] = kNone;
    } else {
        std::int16_t before = bank.head[d];
        while (access_[d][before].next != i) before = access_[d][before].next;
        access_[d][before].next = after;
        if (after == kNone) bank.tail[d] = before;
    }
    bank.hit[d] = hit_from(bank, d, after);
    if (d == kWrite && blocked_ != 0) release(bank, access.order);
    access.next = free_[d];
    free_[d] = i;
    --count_[d];
    if (bank.head[d] == kNone) used_[d] &= ~(std::uint64_t{1} << best);

    const bool closes = settings_.close_rows && bank.hit[kRead] == kNone && bank.hit[kWrite] == kNone;  // an auto-precharge
    using enum Command::What;
    note(now, d == kRead ? (closes ? ReadPrecharge : Read) : (closes ? WritePrecharge : Write), best, bank.row, access.column);
    if (closes) {
        bank.open = false;
        bank.activate = std::max(bank.activate, bank.precharge + t_.rp);
    }
    return true;
}

bool DramController::row(std::int64_t now, std::int64_t& later) {
    const std::int64_t four = activated_[activates_ % 4] + t_.faw;
    std::uint32_t best = 0;
    unsigned whose = kRead;
    std::uint64_t order = UINT64_MAX;
    // Those of this direction first; then those of the other one in banks that this one does not need.
    for (unsigned d : {direction_, direction_ ^ 1U}) {
        const std::uint64_t banks = d == direction_ ? used_[d] : used_[d] & ~used_[d ^ 1U];
        for (std::uint64_t left = banks; left; left &= left - 1) {
            const auto b = static_cast<std::uint32_t>(std::countr_zero(left));
            const Bank& bank = banks_[b];
            if (bank.open && hits(bank, d)) continue;
            const std::int16_t first = oldest(bank, d);
            if (first == kNone) continue;
            const std::int64_t ready =
                bank.open ? bank.precharge : std::max({bank.activate, activate_any_, activate_group_[bank.group], four});
            if (ready > now) {
                later = std::min(later, ready);
            } else if (const std::uint64_t its = access_[d][first].order; its < order) {
                order = its;
                best = b;
                whose = d;
            }
        }
        if (order != UINT64_MAX) break;
    }
    if (order == UINT64_MAX) return false;
    Bank& bank = banks_[best];
    if (!bank.open) {
        activate(bank, whose, now);
        return true;
    }
    note(now, Command::What::Precharge, best, bank.row, 0);
    bank.open = false;
    bank.hit[kRead] = bank.hit[kWrite] = kNone;
    bank.activate = std::max(bank.activate, now + t_.rp);
    return true;
}

void DramController::activate(Bank& bank, unsigned direction, std::int64_t now) {
    bank.open = true;
    bank.row = access_[direction][oldest(bank, direction)].row;
    bank.passed = 0;
    bank.activate = now + t_.ras + t_.rp;
    bank.precharge = now + t_.ras;
    bank.column[kRead] = now + t_.rcd_read;
    bank.column[kWrite] = now + t_.rcd_write;
    for (unsigned d : {kRead, kWrite}) bank.hit[d] = hit_from(bank, d, bank.head[d]);
    activate_any_ = now + t_.rrd_s;
    activate_group_[bank.group] = now + t_.rrd_l;
    activated_[activates_++ % 4] = now;
    ++counts_.activates;
    note(now, Command::What::Activate, static_cast<std::uint32_t>(&bank - banks_.data()), bank.row, 0);
}

std::int16_t DramController::hit_from(const Bank& bank, unsigned direction, std::int16_t from) const {
    while (from != kNone && (access_[direction][from].row != bank.row || access_[direction][from].behind != kGone))
        from = access_[direction][from].next;
    return from;
}

}  // namespace penstock::engine
