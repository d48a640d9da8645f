// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Makes one list of instructions of each pipeline: conditions become branches, actions that are always the same stand where they are
// called. And what works on one word gets operations of its own.
#include <algorithm>
#include <map>
#include <optional>

#include "designs/p4_switch/model/machine/program.hpp"

namespace penstock::p4 {

namespace {

constexpr std::size_t kMostInlined = 64;  // instructions of an action; a longer one is called

std::optional<Op> of_one_word(Op op) {
    switch (op) {
        case Op::mov_:
            return Op::mov_word_;
        case Op::add_:
            return Op::add_word_;
        case Op::sub_:
            return Op::sub_word_;
        case Op::shl_:
            return Op::shl_word_;
        case Op::shr_:
            return Op::shr_word_;
        case Op::and_:
            return Op::and_word_;
        case Op::or_:
            return Op::or_word_;
        case Op::xor_:
            return Op::xor_word_;
        case Op::eq_:
            return Op::eq_word_;
        case Op::ne_:
            return Op::ne_word_;
        case Op::ltu_:
            return Op::ltu_word_;
        default:
            return std::nullopt;
    }
}

// The branch that does what a comparison and a branch on its result do.
std::optional<Op> as_branch(const Instruction& given) {
    if (given.n != 1) return std::nullopt;
    switch (given.op) {
        case Op::eq_:
            return Op::branch_eq_;
        case Op::ne_:
            return Op::branch_ne_;
        case Op::ltu_:
            return Op::branch_ltu_;
        default:
            return std::nullopt;
    }
}

class Linker {
  public:
    explicit Linker(Program& program) : program_(program) {}

    // Returns where the pipeline begins that starts at a node.
    std::uint32_t pipeline(std::int32_t start) {
        end_ = here();
        emit({Op::end_, 0, 0, 0, 0, 0});
        target(start);
        while (!open_.empty()) {
            const std::int32_t node = open_.back();
            open_.pop_back();
            chain(node);
        }
        for (const auto& [place, node] : branches_) {
            Instruction& made = program_.code[place];
            made.c = entry(node.first);
            made.d = entry(node.second);
        }
        branches_.clear();
        return entry(start);
    }

  private:
    std::uint32_t here() const { return static_cast<std::uint32_t>(program_.code.size()); }
    void emit(const Instruction& given) { program_.code.push_back(given); }
    std::uint32_t entry(std::int32_t node) const { return node < 0 ? end_ : program_.entry[static_cast<std::size_t>(node)]; }

    // Sees to it that a node is emitted; returns its place if it has one.
    std::uint32_t target(std::int32_t node) {
        if (node >= 0 && entry(node) == Program::kNoEntry) open_.push_back(node);
        return entry(node);
    }

    // A node and what always follows it.
    void chain(std::int32_t number) {
        while (number >= 0) {
            if (entry(number) != Program::kNoEntry) {
                emit({Op::jump_, 0, 0, 0, entry(number), 0});
                return;
            }
            program_.entry[static_cast<std::size_t>(number)] = here();
            const Node node = program_.nodes[static_cast<std::size_t>(number)];
            if (node.kind == Node::Condition) return condition(node);
            if (node.kind == Node::Call) {
                call(program_.actions[static_cast<std::size_t>(node.what)].code, nullptr);
                number = node.yes;
                continue;
            }
            const TableShape& shape = program_.tables[static_cast<std::size_t>(node.what)];
            if (!shape.plain()) {
                emit({Op::table_, 0, 0, static_cast<std::uint32_t>(node.what), 0, end_});
                for (const auto& [action, next] : shape.next) target(next.hit), target(next.miss);
                target(shape.miss);
                return;
            }
            if (shape.default_action >= 0) call(program_.actions[static_cast<std::size_t>(shape.default_action)].code, &shape.default_data);
            const auto found = shape.next.find(shape.default_action);
            number = found == shape.next.end() ? shape.miss : found->second.miss;
        }
        emit({Op::end_, 0, 0, 0, 0, 0});
    }

    void condition(const Node& node) {
        std::uint32_t from = static_cast<std::uint32_t>(node.what);
        while (program_.code[from].op != Op::return_) emit(Instruction{program_.code[from++]});
        const std::uint32_t answer = program_.code[from].a;
        Instruction& last = program_.code.back();
        std::int32_t yes = node.yes, no = node.no;
        const bool any = from > static_cast<std::uint32_t>(node.what) && last.d == answer;
        if (const auto fused = any ? as_branch(last) : std::nullopt)
            last.op = *fused;
        else
            emit({Op::branch_, 1, 0, answer, 0, 0});
        branches_[here() - 1] = {yes, no};
        target(no);
        target(yes);
    }

    // `data`: of an action whose parameters are constants.
    void call(std::uint32_t from, const std::vector<std::uint64_t>* data) {
        std::uint32_t end = from;
        bool exits = false;
        while (program_.code[end].op != Op::end_) exits |= program_.code[end++].op == Op::exit_;
        if (end - from > kMostInlined || (data && !data->empty())) {
            std::uint32_t place = 0;
            if (data) {
                place = static_cast<std::uint32_t>(program_.constants.size());
                program_.constants.insert(program_.constants.end(), data->begin(), data->end());
            }
            emit({Op::call_, 0, 0, from, Constants << 28 | place, 0});
        } else {
            const std::uint32_t moved = here() - from;
            for (std::uint32_t i = from; i < end; ++i) {
                Instruction made = program_.code[i];
                if (made.op == Op::jump_ || made.op == Op::jump_if_zero_) made.b += moved;
                emit(made);
            }
        }
        if (exits) emit({Op::leave_if_exited_, 0, 0, 0, 0, 0});
    }

    Program& program_;
    std::uint32_t end_ = 0;
    std::vector<std::int32_t> open_;                                           // nodes that something goes to
    std::map<std::uint32_t, std::pair<std::int32_t, std::int32_t>> branches_;  // instruction; where to if it holds, if not
};

}  // namespace

void Program::link() {
    entry.assign(nodes.size(), kNoEntry);
    Linker linker(*this);
    for (int which = 0; which < 2; ++which) linked[which] = linker.pipeline(start[which]);
    for (Instruction& instruction : code)
        if (instruction.n == 1)
            if (const auto op = of_one_word(instruction.op)) instruction.op = *op;
}

}  // namespace penstock::p4
