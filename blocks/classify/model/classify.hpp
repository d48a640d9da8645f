// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Model of pst_classify: the verdict on one frame. It has no state; order and buffering are the hardware's affair.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "blocks/common/model/drop.hpp"

namespace penstock {

// Queue that is reported for a frame too short to hold a queue id.
inline constexpr std::uint32_t kNoQueue = 0xFFFF'FFFF;
// Bytes of the queue id in front of each frame, most significant first.
inline constexpr std::size_t kPrefixBytes = 4;

struct ClassifySizes {
    std::uint32_t queues;           // ids 0..queues-1
    std::uint32_t min_frame_bytes;  // without prefix and FCS
    std::uint32_t max_frame_bytes;  // without prefix and FCS
};

struct ClassifyVerdict {
    Drop reason;           // Drop::None: the frame passes
    std::uint32_t queue;   // its id, or kNoQueue
    std::uint32_t length;  // bytes without prefix, at most 2^32 - 1: longer ones are reported so
};

// Judges a frame of `length` bytes whose queue id is known; `error` is its error flag, or says that a beat had a hole in tkeep (it counts
// as a full one); `none`: no queue was found for it. Of several reasons the first in the order bad frame, runt, oversize, no subscriber,
// bad queue id counts.
inline ClassifyVerdict classify(std::uint32_t queue, std::uint64_t length, bool error, const ClassifySizes& sizes, bool none = false) {
    Drop reason = Drop::None;
    if (error) {
        reason = Drop::BadFrame;
    } else if (length < sizes.min_frame_bytes) {
        reason = Drop::Runt;
    } else if (length > sizes.max_frame_bytes) {
        reason = Drop::Oversize;
    } else if (none) {
        reason = Drop::NoSubscriber;
    } else if (queue >= sizes.queues) {
        reason = Drop::BadQueueId;
    }
    return {reason, none ? kNoQueue : queue, static_cast<std::uint32_t>(std::min<std::uint64_t>(length, 0xFFFF'FFFF))};
}

// The same of a frame of `frame_bytes` bytes with its prefix. `head` holds its first bytes, at least the prefix when the frame has one.
inline ClassifyVerdict classify(std::span<const std::uint8_t> head, std::uint64_t frame_bytes, bool error, const ClassifySizes& sizes) {
    const bool has_prefix = frame_bytes >= kPrefixBytes && head.size() >= kPrefixBytes;
    std::uint32_t queue = kNoQueue;
    if (has_prefix) {
        queue = 0;
        for (const std::uint8_t byte : head.first(kPrefixBytes)) queue = queue << 8 | byte;
    }
    return classify(queue, has_prefix ? frame_bytes - kPrefixBytes : 0, error, sizes);
}

}  // namespace penstock
