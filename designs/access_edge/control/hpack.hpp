// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Header fields of HTTP/2 as they go over a connection (HPACK, RFC 7541): read with the table that the other side fills, written without
// one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::control {

struct Header {
    std::string name, value;
};

// What one side has said so far of its header fields.
class HeaderTable {
  public:
    // Reads a whole header block. Nothing where it is broken, or has more than `most` bytes when read: then the connection is of no use.
    std::optional<std::vector<Header>> read(std::string_view block, std::size_t most);
    // The reader has said how large the table may be (SETTINGS_HEADER_TABLE_SIZE), in bytes as section 4.1 counts them.
    void allow(std::size_t size);

  private:
    const Header* entry(std::uint64_t index) const;
    void add(Header header);
    void shrink(std::size_t size);

    std::deque<Header> entries_;  // the newest first
    std::size_t size_ = 0, limit_ = 4096, allowed_ = 4096;
};

// Appends a field that leaves the reader's table as it is.
void append_header(std::string& to, std::string_view name, std::string_view value);

// Reads a string in the code of appendix B; false: it is none.
bool read_huffman(std::string_view coded, std::string& into);

}  // namespace penstock::control
