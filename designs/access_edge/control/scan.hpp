// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Subscribers as they come over the wire, read into columns: a message of a stream has a thousand of them, most of whose settings were met
// before. What is not as usual is left to the Python code, which knows all of the protocol: `plain` is false then, and nothing else is
// said.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace penstock::control {

// Numbers of settings (codes.py) by what was asked for.
class Plans {
  public:
    static constexpr std::size_t kMost = std::size_t{1} << 20;  // of parents: then they are forgotten
    static constexpr std::size_t kMostKey = 256;                // bytes of a message of a queue that is remembered
    static constexpr std::size_t kOfKey = 128;                  // bytes that one takes besides

    struct Parent {
        std::int64_t rate_bps = -1;  // -1: no limit
        std::uint32_t burst_bytes = 0;
        std::uint32_t weight = 1;
        std::uint64_t guarantee_bps = 0;  // 0: none
        bool operator==(const Parent&) const = default;
    };

    // `most_bytes`: of memory for messages of queues, open and closed: then they are forgotten.
    explicit Plans(std::size_t most_bytes) : most_bytes_(most_bytes) {}

    std::size_t bytes() const { return bytes_; }

    void learn(std::string_view queue, bool closed, std::int32_t number);
    void learn(const Parent& parent, std::int32_t number);
    // kUnknown: not met yet.
    std::int32_t queue(std::string_view settings, bool closed) const;
    std::int32_t parent(const Parent& settings) const;

    static constexpr std::int32_t kUnknown = -2;

  private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
    };
    struct ParentHash {
        std::size_t operator()(const Parent& parent) const;
    };

    std::size_t most_bytes_, bytes_ = 0;
    std::unordered_map<std::string, std::int32_t, Hash, std::equal_to<>> queues_[2];  // open, closed
    std::unordered_map<Parent, std::int32_t, ParentHash> parents_;
};

// A subscriber; what is of its text are views of the message.
struct Scanned {
    std::string_view whole, name;
    std::int64_t index = -1;  // -1: not said
    std::uint32_t node = 0;
    Plans::Parent parent;
    bool closed = false;
    std::uint32_t first_queue = 0, queues = 0;  // in Scan::queues
};

// A penstock.v1.ProvisionRequest.
struct Scan {
    bool plain = true;
    bool all_or_nothing = false;
    std::vector<Scanned> subscribers;
    std::vector<std::string_view> queues;
    std::uint32_t most_queues = 0;  // of one subscriber
};

// Reads a message, which must outlive what is returned. Not plain: it is broken, or has a version, a field or a form of one that only the
// Python code knows, or a subscriber of more than `most_bytes`.
Scan scan(std::string_view message, std::size_t most_bytes);

// The bytes of a subscriber with its place and version, which stand behind all that was sent: of a field that comes twice the last one
// counts.
std::string with_place(std::string_view whole, std::uint32_t index, std::uint64_t version);

}  // namespace penstock::control
