// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Instructions of a compiled program. An operand is a place: in its upper four bits which array, in the others the word in it.
#pragma once

#include <cstdint>

namespace penstock::p4 {

// `n`: words of the operands. Arithmetic is on unsigned words, least significant first; what is signed is in two's complement.
#define PENSTOCK_P4_OPERATIONS(X)                                                                    \
    X(end)          /* of an action, a parser state */                                               \
    X(jump)         /* to instruction a */                                                           \
    X(jump_if_zero) /* to instruction b if a is 0 */                                                 \
    X(mov)          /* d = a */                                                                      \
    X(widen)        /* d = the b words of a; c: they are signed */                                   \
    X(extend)       /* d = the c words of a, whose bit b - 1 is the sign */                          \
    X(index)        /* d = a in one word, 2^64 - 1 if it has more or is negative; b: it is signed */ \
    X(add)          /* d = a + b, in one word & c; so sub, mul, shl and not */                       \
    X(sub)                                                                                           \
    X(mul)                                                                                           \
    X(shl)                                                                                           \
    X(not)                                                                                           \
    X(shr)                                                                                           \
    X(sar)                                                                                           \
    X(div) /* 0 if b is 0; so mod */                                                                 \
    X(mod)                                                                                           \
    X(and)                                                                                           \
    X(or)                                                                                            \
    X(xor)                                                                                           \
    X(eq)                                                                                            \
    X(ne)                                                                                            \
    X(ltu)                                                                                           \
    X(leu)                                                                                           \
    X(lts)                                                                                           \
    X(les)                                                                                           \
    X(lnot)                                                                                          \
    X(select)         /* d = a ? b : c */                                                            \
    X(header_at)      /* d = number of header b of stack a, kNoHeader outside of it */               \
    X(last_header)    /* d = number of the last header of stack a that was extracted */              \
    X(load_field)     /* d = field b of header a; 0 of kNoHeader */                                  \
    X(store_field)    /* field b of header a = c */                                                  \
    X(valid)          /* d = header a is valid */                                                    \
    X(equal_headers)  /* d = both are valid and equal */                                             \
    X(equal_variable) /* d = fields of variable length a and b are equal as numbers */               \
    X(add_header)                                                                                    \
    X(add_header_fast)                                                                               \
    X(remove_header)                                                                                 \
    X(assign_header) /* header a = header b */                                                       \
    X(push)          /* b headers at the front of stack a */                                         \
    X(pop)                                                                                           \
    X(extract)        /* header a, its field of variable length has b bits, at most c */             \
    X(extract_next)   /* the same to stack a */                                                      \
    X(lookahead)      /* d = b bits from bit a on */                                                 \
    X(advance)        /* by a bits */                                                                \
    X(verify)         /* error b unless a */                                                         \
    X(register_read)  /* d = cell b of register a, which has c bits; kept outside */                 \
    X(register_write) /* cell b of register a = c */                                                 \
    X(count)          /* counter a, cell b */                                                        \
    X(execute_meter)  /* d = color of cell b of meter a; kept outside */                             \
    X(hash)           /* d = b + hash a % c */                                                       \
    X(random)         /* d = from a to b; kept if a > b */                                           \
    X(drop)                                                                                          \
    X(clone) /* to session a, keeping the fields of list b */                                        \
    X(resubmit)                                                                                      \
    X(recirculate)                                                                                   \
    X(digest)                                                                                        \
    X(truncate)                                                                                      \
    X(exit)                                                                                          \
    X(check)                                                                                         \
    X(return) /* a, of a condition */                                                                \
    /* What Program::link() makes of these. */                                                       \
    X(mov_word)                                                                                      \
    X(add_word)                                                                                      \
    X(sub_word)                                                                                      \
    X(shl_word)                                                                                      \
    X(shr_word)                                                                                      \
    X(and_word)                                                                                      \
    X(or_word)                                                                                       \
    X(xor_word)                                                                                      \
    X(eq_word)                                                                                       \
    X(ne_word)                                                                                       \
    X(ltu_word)                                                                                      \
    X(branch)    /* to instruction c if a, else to d */                                              \
    X(branch_eq) /* to instruction c if a == b, else to d; so ne and ltu */                          \
    X(branch_ne)                                                                                     \
    X(branch_ltu)                                                                                    \
    X(table) /* table a, then to the node that follows */                                            \
    X(call)  /* the action at instruction a with the data b */                                       \
    X(leave_if_exited)

enum class Op : std::uint16_t {
#define X(name) name##_,
    PENSTOCK_P4_OPERATIONS(X)
#undef X
};

struct Instruction {
    Op op;
    std::uint16_t n;
    std::uint32_t d, a, b, c;
};

constexpr std::uint64_t kNoHeader = ~std::uint64_t{0};
constexpr unsigned kMostWords = 64;  // of a value in an expression; fields that are only moved may have more
enum Space : std::uint32_t { Values, Scratch, Constants, Data };

}  // namespace penstock::p4
