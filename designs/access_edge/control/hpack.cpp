// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "designs/access_edge/control/hpack.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace penstock::control {

namespace {

constexpr std::size_t kOverhead = 32;  // bytes that an entry of the table counts besides its strings (section 4.1)
constexpr unsigned kEnd = 256, kLongest = 30;

// Bits of each symbol of the code (appendix B); codes of a length follow each other in the order of the symbols, and are less than longer
// ones, so the lengths say all.
constexpr std::array<std::uint8_t, 257> kBits = {
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,  //
    6,  10, 10, 12, 13, 6,  8,  11, 10, 10, 8,  11, 8,  6,  6,  6,  5,  5,  5,  6,  6,  6,  6,  6,  6,  6,  7,  8,  15, 6,  12, 10,  //
    13, 6,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  7,  8,  7,  8,  13, 19, 13, 14, 6,   //
    15, 5,  6,  5,  6,  5,  6,  6,  6,  5,  7,  7,  6,  6,  6,  5,  6,  7,  6,  5,  5,  6,  7,  7,  7,  7,  7,  15, 11, 14, 13, 28,  //
    20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,  //
    22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,  //
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,  //
    20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,  //
    30};

struct Code {
    std::array<std::uint16_t, 257> symbols{};               // in the order of their codes
    std::array<std::uint32_t, kLongest + 2> first{}, at{};  // of each length: its first code, and the place of its symbol

    Code() {
        std::uint32_t code = 0, place = 0;
        for (unsigned bits = 1; bits <= kLongest; ++bits) {
            code <<= 1;
            first[bits] = code;
            at[bits] = place;
            for (unsigned symbol = 0; symbol < kBits.size(); ++symbol)
                if (kBits[symbol] == bits) symbols[place++] = static_cast<std::uint16_t>(symbol), ++code;
        }
        at[kLongest + 1] = place;
    }
};

// Appendix A.
const std::array<Header, 61> kStatic = {{
    {":authority", ""},
    {":method", "GET"},
    {":method", "POST"},
    {":path", "/"},
    {":path", "/index.html"},
    {":scheme", "http"},
    {":scheme", "https"},
    {":status", "200"},
    {":status", "204"},
    {":status", "206"},
    {":status", "304"},
    {":status", "400"},
    {":status", "404"},
    {":status", "500"},
    {"accept-charset", ""},
    {"accept-encoding", "gzip, deflate"},
    {"accept-language", ""},
    {"accept-ranges", ""},
    {"accept", ""},
    {"access-control-allow-origin", ""},
    {"age", ""},
    {"allow", ""},
    {"authorization", ""},
    {"cache-control", ""},
    {"content-disposition", ""},
    {"content-encoding", ""},
    {"content-language", ""},
    {"content-length", ""},
    {"content-location", ""},
    {"content-range", ""},
    {"content-type", ""},
    {"cookie", ""},
    {"date", ""},
    {"etag", ""},
    {"expect", ""},
    {"expires", ""},
    {"from", ""},
    {"host", ""},
    {"if-match", ""},
    {"if-modified-since", ""},
    {"if-none-match", ""},
    {"if-range", ""},
    {"if-unmodified-since", ""},
    {"last-modified", ""},
    {"link", ""},
    {"location", ""},
    {"max-forwards", ""},
    {"proxy-authenticate", ""},
    {"proxy-authorization", ""},
    {"range", ""},
    {"referer", ""},
    {"refresh", ""},
    {"retry-after", ""},
    {"server", ""},
    {"set-cookie", ""},
    {"strict-transport-security", ""},
    {"transfer-encoding", ""},
    {"user-agent", ""},
    {"vary", ""},
    {"via", ""},
    {"www-authenticate", ""},
}};

// Reads a number whose first byte has so many bits of it (section 5.1); false: it does not end, or is above 2^28.
bool read_number(std::string_view& from, unsigned bits, std::uint64_t& number) {
    if (from.empty()) return false;
    const std::uint64_t full = (1u << bits) - 1;
    number = static_cast<unsigned char>(from[0]) & full;
    from.remove_prefix(1);
    if (number < full) return true;
    for (unsigned shift = 0; shift < 28; shift += 7) {
        if (from.empty()) return false;
        const auto byte = static_cast<unsigned char>(from[0]);
        from.remove_prefix(1);
        number += static_cast<std::uint64_t>(byte & 0x7F) << shift;
        if (byte < 0x80) return true;
    }
    return false;
}

bool read_string(std::string_view& from, std::string& into) {
    if (from.empty()) return false;
    const bool coded = static_cast<unsigned char>(from[0]) & 0x80;
    std::uint64_t size = 0;
    if (!read_number(from, 7, size) || size > from.size()) return false;
    const std::string_view text = from.substr(0, size);
    from.remove_prefix(size);
    if (coded) return read_huffman(text, into);
    into.assign(text);
    return true;
}

void append_string(std::string& to, std::string_view text) {
    std::size_t size = text.size();
    if (size < 127) {
        to.push_back(static_cast<char>(size));
    } else {
        to.push_back(127);
        for (size -= 127; size >= 128; size >>= 7) to.push_back(static_cast<char>(size & 127 | 128));
        to.push_back(static_cast<char>(size));
    }
    to.append(text);
}

}  // namespace

bool read_huffman(std::string_view coded, std::string& into) {
    static const Code kCode;
    std::uint32_t code = 0;
    unsigned bits = 0;
    into.clear();
    for (const char byte : coded)
        for (int bit = 7; bit >= 0; --bit) {
            code = code << 1 | (static_cast<unsigned char>(byte) >> bit & 1);
            if (++bits > kLongest) return false;
            const std::uint32_t count = kCode.at[bits + 1] - kCode.at[bits];
            if (code - kCode.first[bits] >= count) continue;  // unsigned: below the first one as well
            const unsigned symbol = kCode.symbols[kCode.at[bits] + code - kCode.first[bits]];
            if (symbol == kEnd) return false;
            into.push_back(static_cast<char>(symbol));
            code = bits = 0;
        }
    return bits < 8 && code == (1u << bits) - 1;  // filled up with the first bits of the end's code, which are ones
}

const Header* HeaderTable::entry(std::uint64_t index) const {
    if (index == 0 || index > kStatic.size() + entries_.size()) return nullptr;
    return index <= kStatic.size() ? &kStatic[index - 1] : &entries_[index - 1 - kStatic.size()];
}

void HeaderTable::shrink(std::size_t size) {
    while (size_ > size) {
        size_ -= entries_.back().name.size() + entries_.back().value.size() + kOverhead;
        entries_.pop_back();
    }
}

void HeaderTable::add(Header header) {
    const std::size_t size = header.name.size() + header.value.size() + kOverhead;
    shrink(size > limit_ ? 0 : limit_ - size);
    if (size > limit_) return;
    size_ += size;
    entries_.push_front(std::move(header));
}

void HeaderTable::allow(std::size_t size) { allowed_ = size; }

std::optional<std::vector<Header>> HeaderTable::read(std::string_view block, std::size_t most) {
    std::vector<Header> found;
    std::size_t size = 0;
    while (!block.empty()) {
        const auto first = static_cast<unsigned char>(block[0]);
        std::uint64_t index = 0;
        if ((first & 0xE0) == 0x20) {  // the table's size, before any field
            if (!found.empty() || !read_number(block, 5, index) || index > allowed_) return std::nullopt;
            limit_ = index;
            shrink(limit_);
            continue;
        }
        const bool known = first & 0x80, kept = (first & 0xC0) == 0x40;
        if (!read_number(block, known ? 7 : kept ? 6 : 4, index)) return std::nullopt;
        Header header;
        if (known || index) {
            const Header* const there = entry(index);
            if (!there) return std::nullopt;
            header = *there;
        } else if (!read_string(block, header.name)) {
            return std::nullopt;
        }
        if (!known && !read_string(block, header.value)) return std::nullopt;
        size += header.name.size() + header.value.size() + kOverhead;
        if (size > most) return std::nullopt;
        if (kept) add(header);
        found.push_back(std::move(header));
    }
    return found;
}

void append_header(std::string& to, std::string_view name, std::string_view value) {
    to.push_back(0);  // without indexing, with a name of its own (section 6.2.2)
    append_string(to, name);
    append_string(to, value);
}

}  // namespace penstock::control
