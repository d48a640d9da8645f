// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// A compiled program: flat arrays made of the dictionary that designs/p4_switch/program.py has checked. Immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "designs/p4_switch/model/machine/code.hpp"
#include "penstock/engine/python_table.hpp"

namespace penstock::p4 {

// A field in its header. `place`: its first word behind the header's valid bit; of a variable length: its length in bits, then its bytes.
struct HeaderField {
    std::uint32_t place, bits;
    bool variable, is_signed;
    std::uint32_t offset;  // bits before it in the packet, those of variable fields not counted
};

struct HeaderShape {
    std::uint32_t base, words, bits;
    bool metadata;
    std::int32_t variable = -1;  // index of the field of variable length
    std::vector<HeaderField> fields;
    std::vector<std::uint32_t> peers;  // the other headers of its union: one is valid at most
};

struct StackShape {
    std::uint32_t fill;
    std::vector<std::uint32_t> headers;
};

struct ParserState {
    std::uint32_t code;
    bool empty;                        // nothing is done in it
    std::vector<std::uint32_t> key;    // places
    std::vector<std::uint64_t> cases;  // values, masks, next state
    std::int32_t otherwise;
};

struct Node {
    enum Kind : std::int32_t { Table, Condition, Call } kind;
    std::int32_t what;  // a table, an instruction, an action
    std::int32_t yes, no;
};

struct Action {
    std::uint32_t code, words;
    bool empty;
};

enum class Hash { Csum16, Crc8, Crc16, Crc32, Crc64, Ccitt, Xor16, Xor32, Identity, RoundRobin, Random };

struct Calculation {
    struct Part {
        enum Kind : std::uint32_t { Field, Constant, Header, Valid } kind;
        std::uint32_t header, what, bits;  // what: field, or place of the constant
    };
    Hash hash;
    std::vector<Part> parts;
    bool payload;
};

struct Checksum {
    std::uint32_t header, place, bits, calculation;
    std::int32_t condition;  // instruction, -1: none
    bool verify, update;
};

struct KeyWord {
    std::uint32_t place;
    std::uint64_t mask;
    bool range;
};

// What an entry of a table says; also as it comes from the control plane.
struct EntrySettings {
    std::vector<std::uint64_t> low, high;  // value and mask, or the ends of a range, for each word of the key
    std::uint32_t prefix = 0;
    std::int64_t priority = 0;
    std::int32_t action = -1;
    std::vector<std::uint64_t> data;
    std::int32_t member = -1, group = -1;  // of an action profile

    static EntrySettings read(Table& table);
};

struct TableShape {
    enum Kind { Exact, Lpm, Ternary, Range } kind;
    std::string name;
    std::vector<KeyWord> key;
    std::uint32_t size;
    struct Next {
        std::int32_t hit, miss;
    };
    std::unordered_map<std::int32_t, Next> next;  // by action
    std::int32_t miss;                            // without a default action
    std::int32_t default_action = -1;
    std::vector<std::uint64_t> default_data;
    std::vector<EntrySettings> entries;
    bool counters;
    bool constant_default;
    std::int32_t meter, profile;
    std::uint32_t meter_place, meter_bits;

    // Always the same action with the same data.
    bool plain() const { return key.empty() && constant_default && profile < 0; }
};

// A field that the switch itself uses.
struct StandardField {
    std::int32_t place = -1;
    std::uint64_t mask = 0;
};
enum class Standard {
    IngressPort,
    PacketLength,
    InstanceType,
    EgressSpec,
    EgressPort,
    ParserError,
    ChecksumError,
    IngressTime,
    EgressTime,
    McastGroup,
    EgressRid,
    Priority,
    EnqTime,
    EnqDepth,
    DeqTimedelta,
    DeqDepth,
    Qid,
    Count
};
enum class CoreError { NoError, PacketTooShort, NoMatch, StackOutOfBounds, HeaderTooShort, ParserTimeout, ParserInvalidArgument, Count };

class Program {
  public:
    static std::shared_ptr<const Program> read(Table& table);  // throws nanobind::value_error

    std::uint32_t words, metadata_words, scratch;
    std::vector<std::uint64_t> constants;
    std::vector<Instruction> code;
    std::vector<HeaderShape> headers;
    std::vector<StackShape> stacks;
    std::int32_t initial_state;
    std::vector<ParserState> states;
    std::vector<Action> actions;
    std::vector<Node> nodes;
    std::int32_t start[2];  // ingress, egress
    static constexpr std::uint32_t kNoEntry = ~std::uint32_t{0};
    std::uint32_t linked[2];           // instruction at which they begin
    std::vector<std::uint32_t> entry;  // of each node, to which something goes: its first instruction
    std::vector<TableShape> tables;
    std::vector<Calculation> calculations;
    std::vector<Checksum> checksums;
    std::vector<std::uint32_t> deparser;
    std::int32_t deparser_code;
    struct Register {
        std::uint64_t size;
        std::uint32_t bits;
    };
    std::vector<Register> registers;
    std::vector<std::uint64_t> counters;
    struct Meter {
        std::uint64_t size;
        bool bytes;
    };
    std::vector<Meter> meters;
    std::vector<std::int32_t> profiles;                                         // the selector's calculation, -1: none
    std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> field_lists;  // place, words
    StandardField standard[static_cast<int>(Standard::Count)];
    std::uint64_t errors[static_cast<int>(CoreError::Count)];

  private:
    void read_code(Table& table);
    void read_headers(Table& table);
    void read_flow(Table& table);
    void read_tables(Table& table);
    void read_state(Table& table);
    void link();
};

}  // namespace penstock::p4
