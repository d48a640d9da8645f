// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
#include "designs/access_edge/control/scan.hpp"

#include <algorithm>
#include <optional>

namespace penstock::control {

namespace {

// Fields of penstock.v1.ProvisionRequest and of Subscriber (src/penstock/v1/subscribers.proto).
namespace request_field {
constexpr std::uint32_t kSubscribers = 1, kAllOrNothing = 2;
}
namespace field {
constexpr std::uint32_t kName = 1, kIndex = 2, kNode = 3, kRate = 4, kBurst = 5, kWeight = 6, kQueues = 7, kGateClosed = 8, kVersion = 9,
                        kGuarantee = 10;
}
constexpr std::uint32_t kVarint = 0, kBytes = 2;  // wire types

class Reader {
  public:
    explicit Reader(std::string_view bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

    bool more() const { return at_ < end_; }
    bool broken() const { return broken_; }

    std::uint64_t varint() { return varint(64); }
    // Tags and lengths have 32 bits and five bytes: protobuf refuses a message with a longer one, and what is read here must be a message.
    std::uint64_t tag() {
        const std::uint64_t value = varint(32);
        broken_ = broken_ || value >> 32;
        return value;
    }
    std::string_view bytes() {
        const std::uint64_t size = tag();
        if (broken_ || size > static_cast<std::uint64_t>(end_ - at_)) {
            broken_ = true;
            return {};
        }
        const std::string_view found(at_, size);
        at_ += size;
        return found;
    }

  private:
    std::uint64_t varint(unsigned bits) {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < bits; shift += 7) {
            if (at_ == end_) break;
            const auto byte = static_cast<unsigned char>(*at_++);
            value |= std::uint64_t{byte & 0x7Fu} << shift;
            if (byte < 0x80) return value;
        }
        broken_ = true;
        return 0;
    }

    const char* at_;
    const char* end_;
    bool broken_ = false;
};

// Returns false for what is not plain.
bool scan_subscriber(std::string_view bytes, Scan& all) {
    Scanned made;
    made.whole = bytes;
    made.first_queue = static_cast<std::uint32_t>(all.queues.size());
    Reader reader(bytes);
    while (reader.more()) {
        const std::uint64_t tag = reader.tag();
        if (reader.broken()) return false;
        if (tag == (field::kName << 3 | kBytes)) {
            if (made.name.data()) return false;  // only the last of several is looked at (Message::names), and each must be text
            made.name = reader.bytes();
        } else if (tag == (field::kQueues << 3 | kBytes)) {
            all.queues.push_back(reader.bytes());
        } else if ((tag & 7) == kVarint) {
            const std::uint64_t value = reader.varint();
            switch (tag >> 3) {
                case field::kIndex:
                    made.index = static_cast<std::uint32_t>(value);
                    break;
                case field::kNode:
                    made.node = static_cast<std::uint32_t>(value);
                    break;
                case field::kRate:
                    if (value >> 63) return false;
                    made.parent.rate_bps = static_cast<std::int64_t>(value);
                    break;
                case field::kBurst:
                    made.parent.burst_bytes = static_cast<std::uint32_t>(value);
                    break;
                case field::kWeight:
                    made.parent.weight = static_cast<std::uint32_t>(value);
                    break;
                case field::kGateClosed:
                    made.closed = value != 0;
                    break;
                case field::kGuarantee:
                    made.parent.guarantee_bps = value;
                    break;
                case field::kVersion:
                    if (value) return false;
                    break;
                default:
                    return false;
            }
        } else {
            return false;
        }
        if (reader.broken()) return false;
    }
    made.queues = static_cast<std::uint32_t>(all.queues.size()) - made.first_queue;
    all.most_queues = std::max(all.most_queues, made.queues);
    all.subscribers.push_back(made);
    return true;
}

void put_varint(std::string& to, std::uint64_t value) {
    for (; value > 0x7F; value >>= 7) to.push_back(static_cast<char>((value & 0x7F) | 0x80));
    to.push_back(static_cast<char>(value));
}

}  // namespace

std::size_t Plans::ParentHash::operator()(const Parent& parent) const {
    constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15;
    std::uint64_t mixed = static_cast<std::uint64_t>(parent.rate_bps) * kOdd;
    mixed = (mixed ^ mixed >> 32 ^ (std::uint64_t{parent.burst_bytes} << 32 | parent.weight)) * kOdd;
    mixed = (mixed ^ mixed >> 32 ^ parent.guarantee_bps) * kOdd;
    return mixed ^ mixed >> 29;
}

void Plans::learn(std::string_view queue, bool closed, std::int32_t number) {
    if (queue.size() > kMostKey) return;
    if (bytes_ + queue.size() + kOfKey > most_bytes_) {
        for (auto& known : queues_) known.clear();
        bytes_ = 0;
    }
    if (queues_[closed].insert_or_assign(std::string(queue), number).second) bytes_ += queue.size() + kOfKey;
}

void Plans::learn(const Parent& parent, std::int32_t number) {
    if (parents_.size() >= kMost) parents_.clear();
    parents_.insert_or_assign(parent, number);
}

std::int32_t Plans::queue(std::string_view settings, bool closed) const {
    const auto found = queues_[closed].find(settings);
    return found == queues_[closed].end() ? kUnknown : found->second;
}

std::int32_t Plans::parent(const Parent& settings) const {
    const auto found = parents_.find(settings);
    return found == parents_.end() ? kUnknown : found->second;
}

Scan scan(std::string_view message, std::size_t most_bytes) {
    Scan found;
    Reader reader(message);
    while (reader.more() && found.plain) {
        const std::uint64_t tag = reader.tag();
        if (tag == (request_field::kSubscribers << 3 | kBytes)) {
            const std::string_view bytes = reader.bytes();
            found.plain = !reader.broken() && bytes.size() <= most_bytes && scan_subscriber(bytes, found);
        } else if (tag == (request_field::kAllOrNothing << 3 | kVarint)) {
            found.all_or_nothing = reader.varint() != 0;
        } else {
            found.plain = false;
        }
        if (reader.broken()) found.plain = false;
    }
    return found;
}

std::string with_place(std::string_view whole, std::uint32_t index, std::uint64_t version) {
    std::string made;
    made.reserve(whole.size() + 18);
    made.append(whole);
    put_varint(made, field::kIndex << 3 | kVarint);
    put_varint(made, index);
    put_varint(made, field::kVersion << 3 | kVarint);
    put_varint(made, version);
    return made;
}

}  // namespace penstock::control
