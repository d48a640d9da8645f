// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// One channel of DRAM and its controller, command by command: when an access is made. It knows no data.
//
// Time is in ticks of the memory clock. Nothing is stepped: the controller goes from one tick in which a command can be given to the next.
// The controller is first-ready, first come first served: of the accesses in the direction of the bus (reads or writes) the oldest whose
// row is open goes first; rows are opened for the oldest access of each bank, for those of the other direction too where their bank has
// nothing else to do. The direction turns after `batch` accesses when the other one waits (writes wait when their queue is nearly full),
// and when there is nothing left. A read of what is still in the write queue waits until that has been written, and has the queue written
// as soon as no other read is left; or, with `forward`, it is answered from the queue.
#pragma once

#include <cstdint>
#include <vector>

#include "penstock/engine/dram_settings.hpp"

namespace penstock::engine {

class DramController {
  public:
    struct Done {
        std::uint64_t token;
        std::int64_t tick;  // the data has come
    };

    // A command as it is given to the memory, for those who judge the controller. A refresh closes all banks: their precharge is one
    // command.
    struct Command {
        enum class What : std::uint8_t { Activate, Precharge, Read, Write, ReadPrecharge, WritePrecharge, PrechargeAll, Refresh };
        std::int64_t tick;
        What what;
        std::uint32_t bank, row, column;
    };

    // Throws std::invalid_argument when the settings make no channel.
    explicit DramController(const DramSettings& settings);

    std::uint32_t read_room() const { return settings_.read_queue - count_[kRead]; }
    std::uint32_t write_room() const { return settings_.write_queue - count_[kWrite]; }
    bool idle() const { return count_[kRead] + count_[kWrite] == 0; }
    // An access to byte address `address` comes at `tick`, which is not before that of advance(). There must be room.
    void read(std::uint64_t address, std::uint64_t token, std::int64_t tick);
    void write(std::uint64_t address, std::int64_t tick);
    // Gives all commands before tick `until`. Reads that they complete are appended to done(), also with later ticks.
    void advance(std::int64_t until) {
        if (next_ < until) work(until);
    }
    // No command before this tick, unless an access comes.
    std::int64_t next() const { return next_; }
    std::vector<Done>& done() { return done_; }
    const DramCounts& counts() const { return counts_; }
    // Every command from now on is appended to `log`, which outlives the controller; null: none.
    void log_to(std::vector<Command>* log) { log_ = log; }

  private:
    static constexpr unsigned kRead = 0, kWrite = 1;
    static constexpr std::int16_t kNone = -1;
    static constexpr std::uint64_t kGone = UINT64_MAX;
    static constexpr std::int64_t kNever = INT64_MAX / 4, kLongAgo = -kNever;

    struct Place {
        std::uint32_t bank, row, column;
    };
    struct Access {
        std::uint64_t order, token;
        std::uint32_t row, column;
        std::uint64_t behind;  // of a read: the write that goes first, by its order; kGone: none
        std::int16_t next;     // of its bank and direction, in order; or of the free ones
    };
    struct Bank {
        bool open = false;
        std::uint32_t row = 0, group = 0;
        std::uint32_t passed = 0;                                // accesses to the open row while an older one waits for another
        std::int64_t activate = kLongAgo, precharge = kLongAgo;  // not before
        std::int64_t column[2] = {kLongAgo, kLongAgo};
        std::int16_t head[2] = {kNone, kNone}, tail[2] = {kNone, kNone};
        std::int16_t hit[2] = {kNone, kNone};  // the oldest that needs the open row
    };

    Place place(std::uint64_t address) const;
    void push(unsigned direction, const Place& place, std::uint64_t token, std::uint64_t behind, std::int64_t tick);
    void release(Bank& bank, std::uint64_t order);
    std::int16_t oldest(const Bank& bank, unsigned direction) const;
    void work(std::int64_t until);
    std::int64_t turn(std::int64_t now);
    std::int64_t refresh(std::int64_t now);
    void pass_refreshes(std::int64_t until);
    bool column(std::int64_t now, std::int64_t& later);
    bool row(std::int64_t now, std::int64_t& later);
    void activate(Bank& bank, unsigned direction, std::int64_t now);
    void note(std::int64_t tick, Command::What what, std::uint32_t bank, std::uint32_t row, std::uint32_t column) const {
        if (log_) log_->push_back({tick, what, bank, row, column});
    }
    std::int16_t hit_from(const Bank& bank, unsigned direction, std::int16_t from) const;
    // Whether accesses to the open row still go before the older ones of the bank.
    bool hits(const Bank& bank, unsigned direction) const;

    DramSettings settings_;
    DramTiming t_;
    std::vector<Bank> banks_;
    std::vector<Access> access_[2];
    std::int16_t free_[2] = {0, 0};
    std::uint32_t count_[2] = {0, 0};
    std::uint32_t blocked_ = 0;       // reads that wait for a write
    std::uint64_t used_[2] = {0, 0};  // banks with accesses
    std::uint64_t order_ = 0;

    unsigned direction_ = kRead;
    std::uint32_t in_a_row_ = 0;  // accesses since the last turn
    std::int64_t writes_since_ = 0;
    std::int64_t next_ = 0, refresh_at_;
    std::int64_t column_any_[2] = {kLongAgo, kLongAgo};
    std::vector<std::int64_t> column_group_[2], activate_group_;
    std::int64_t activate_any_ = kLongAgo, activated_[4] = {kLongAgo, kLongAgo, kLongAgo, kLongAgo};
    unsigned activates_ = 0;
    std::vector<Done> done_;
    DramCounts counts_;
    std::vector<Command>* log_ = nullptr;
};

}  // namespace penstock::engine
