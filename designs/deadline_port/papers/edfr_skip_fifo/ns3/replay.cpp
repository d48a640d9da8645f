// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// A queue of this folder, without ns-3, in front of a line: `replay SCHEDULER RATE FIFO_BYTES DEADLINE_NS...` reads a line `NS CLASS BYTES`
// for each packet, bytes of IP, and prints `s NUMBER NS` for each that begins, `d NUMBER NS` for each that is dropped, in the order in
// which that is known.
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "queues.hpp"

int main(int count, char** given) {
    if (count < 5) return 2;
    edfr::QueueSettings settings;
    settings.scheduler = given[1];
    settings.rate_bps = std::strtoull(given[2], nullptr, 10);
    settings.fifo_bytes = std::strtoull(given[3], nullptr, 10);
    for (int at = 4; at < count; ++at) settings.deadlines.push_back(std::strtoll(given[at], nullptr, 10));
    auto& device = settings.port.device;  // deadline_ddr4_3, with less memory
    device.classes = 3;
    device.chunks = 1u << 14;
    device.places = 8;
    device.stamps = 16'386;
    const auto queue = edfr::make_queue(settings);
    if (!queue) return 2;
    std::uint64_t number = 0, left = 0;
    std::int64_t free_at = 0, now = 0;
    queue->drop = [&](std::uint64_t which) {
        std::printf("d %" PRIu64 " %" PRId64 "\n", which, now);
        --left;
    };
    // The line asks at once when it is free, and again where the queue has none yet.
    std::vector<std::int64_t> bytes_of;
    const auto serve = [&](std::int64_t until) {
        while (left) {
            const std::int64_t at = std::max(free_at, now);
            if (at >= until) return;
            now = at;
            if (const auto next = queue->pop(now)) {
                std::printf("s %" PRIu64 " %" PRId64 "\n", *next, now);
                --left;
                free_at = now + queue->line_ns(static_cast<std::uint32_t>(bytes_of[*next]));
            } else {
                now += edfr::kAskAgainNs;
            }
        }
    };
    std::int64_t at = 0;
    unsigned own = 0, bytes = 0;
    while (std::scanf("%" SCNd64 " %u %u", &at, &own, &bytes) == 3) {
        serve(at);
        now = at;
        bytes_of.push_back(bytes);
        ++left;
        queue->push(number++, bytes, own, at);
    }
    serve(INT64_MAX);
    std::fprintf(stderr, "%s\n", queue->facts().c_str());
}
