// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// What the parts of the model of pst_edfr_wide share: its parameters, and words of segments without their bytes.
#pragma once

#include <array>

#include "edfr_parts.hpp"

namespace penstock {

inline constexpr uint32_t kEdfrColumns = 8;  // at most

// Parameters of pst_edfr_wide. `port` is what each column has; its `columns`, `column`, `decided` and `arrived_given` are not looked at.
struct EdfrWideSettings {
    EdfrSettings port;
    uint32_t columns = 8;
    uint32_t deal_rows = 4096, deal_lists = 1024, deal_records = 512, gather_rows = 4096, gather_ahead = 0;  // rows

    static constexpr uint32_t kDecided = 64;

    EdfrSettings column(uint32_t number) const {
        EdfrSettings s = port;
        s.columns = columns;
        s.column = number;
        s.decided = kDecided;
        s.arrived_given = s.class_from_user = true;
        return s;
    }
    // Chunks that what is on its way to a column may need (Margin in pst_edfr_wide).
    uint32_t margin() const {
        const uint32_t on_the_way = std::min(deal_lists, deal_rows) * columns + port.store_beats + 32;
        return 2 * port.classes + 2 * (port.further() + 1) + (9 * on_the_way) / (EdfrSettings::kBeatUnits * (port.chunk_beats - 2)) + 1;
    }
    // Segments that are decided when nothing further is (Margin in pst_edfr_positions).
    uint32_t window_margin() const { return 5 * columns * segments() + 2 * columns; }
    uint32_t segments() const { return (port.max_frame_bytes + 63) / 64; }

    // Throws std::invalid_argument, as elaboration does.
    void check() const {
        const auto need = [](bool good, const char* what) {
            if (!good) throw std::invalid_argument(std::string("a wide deadline port has ") + what);
        };
        need(columns == 2 || columns == 4 || columns == 8, "2, 4 or 8 columns");
        need(std::has_single_bit(port.run_frames) && port.run_frames >= columns && port.run_frames <= 256,
             "runs of a power of two of frames, as many as columns at least, 256 at most");
        need(std::has_single_bit(deal_rows) && std::has_single_bit(deal_lists) && std::has_single_bit(deal_records) &&
                 std::has_single_bit(gather_rows),
             "powers of two of rows, lists and records");
        need(deal_records >= 8 && deal_records >= 2 * segments() && deal_rows >= deal_records, "records of two of the longest frames");
        need(port.chunks > margin(), "more chunks in a column than may be on their way to it");
        need(window_margin() + columns * segments() <= gather_rows * columns, "a window that holds what is decided");
        column(0).check();
    }
};

struct EdfrSegment {
    bool used = false, last = false, bad = false;
    uint64_t number = 0;
    uint16_t user = 0;
    uint16_t key = 0;   // in a frame's first one: DSCP or kNoDscp, or the class; later the class
    uint8_t bytes = 0;  // in the last one
    int64_t arrived = 0;
};

struct EdfrWord {
    std::array<EdfrSegment, kEdfrColumns> segment{};
    bool any(uint32_t columns) const {
        return std::any_of(segment.begin(), segment.begin() + columns, [](const EdfrSegment& s) { return s.used; });
    }
};

}  // namespace penstock
