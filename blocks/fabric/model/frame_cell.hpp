// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// What the models of the frame switch pass to each other: its parameters, beats at its ports, cells inside. A beat has a tag in place of
// its bytes.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace penstock {

// The parameters of pst_frame_switch.
struct FrameSwitchSettings {
    uint32_t ports = 4, data_bytes = 32, classes = 8, max_frame_bytes = 9600, room_cells = 512;
    bool back_pressure = true;
    uint32_t fifo_depth = 16;
    bool islip = false;
    uint32_t stages = 1, iterations = 1;
    uint32_t number_width = 0;  // 0: 1 with back-pressure, 16 without, as in the hardware

    uint32_t max_cells() const { return (max_frame_bytes + data_bytes - 1) / data_bytes; }
    uint32_t number_mask() const { return (1u << (number_width ? number_width : back_pressure ? 1 : 16)) - 1; }
};

// A beat at an input. Destinations and class count at the first beat of a frame, the error flag at the last, as at the hardware's ports.
struct FrameBeatIn {
    bool valid = false;
    bool last = false, error = false;
    uint32_t klass = 0;      // with one class it is not looked at
    uint64_t dest_mask = 0;  // a bit for each output
    uint32_t bytes = 0;      // in this beat, 0..data_bytes
    uint64_t tag = 0;        // comes out with the beat, whatever it is: the frame's number
    bool hole = false;       // a 0 in tkeep below a 1, or before the last beat
};

// A beat at an output.
struct FrameBeatOut {
    bool valid = false;
    bool last = false;
    uint32_t source = 0, klass = 0, bytes = 0;
    uint32_t index = 0;  // of the beat in its frame
    uint64_t tag = 0;
};

// A cell, which is a beat with its header.
struct FrameCell {
    uint64_t tag;
    uint32_t number, index;
    uint16_t bytes;
    uint8_t dest, source, klass;
    bool last, error;
};

// The first bit of `bits` (not 0) from `from` on, or the first of all.
inline uint32_t first_from(uint64_t bits, uint32_t from) {
    const uint64_t ahead = bits >> from << from;
    return static_cast<uint32_t>(std::countr_zero(ahead ? ahead : bits));
}

}  // namespace penstock
