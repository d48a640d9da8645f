// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Guaranteed rates below a congested parent, as pst_guarantee and pst_sibling_order keep them: see ../README.md, "Guarantees".
#pragma once

#include <cstdint>

#include "../../common/model/settings.hpp"
#include "../../schedule/model/stamp.hpp"
#include "../../timing/model/shaper.hpp"

namespace penstock {

// Period of a guaranteed rate, coded as that of a shaper; mantissa 0: there is none.
struct GuaranteeSetting {
    uint16_t mantissa = 0;
    uint8_t exponent = 0;

    bool operator==(const GuaranteeSetting&) const = default;
    bool any() const { return mantissa != 0; }
};

// As one word, as registers and RTL carry it (pst_pkg::guarantee_cfg_t).
inline GuaranteeSetting decode_guarantee(uint32_t code) {
    return {static_cast<uint16_t>(code & settings::kMostMantissa),
            static_cast<uint8_t>(code >> settings::kExponentAt & settings::kMostExponent)};
}
inline uint32_t encode_guarantee(const GuaranteeSetting& s) { return uint32_t{s.exponent} << settings::kExponentAt | s.mantissa; }

// When the next packet is within the guarantee, in 2^-16 cycles (stamps).
struct Guarantee {
    int64_t stamp = 0;

    bool due(const GuaranteeSetting& setting, int64_t now) const { return setting.any() && stamps::due(stamp, now); }
    // What was late for longer than `most` cycles is not made up for.
    void limit(int64_t now, int64_t most) { stamp = stamps::later(stamp, stamps::at(now - most)); }
    // A packet goes by the guarantee. No more than `keep` cycles of what was late are made up for; `longest`: what a packet takes at most.
    void charge(const GuaranteeSetting& setting, int64_t now, uint32_t length, int64_t keep, int64_t longest) {
        const int64_t more = Shaper::time_of(length, setting.mantissa, setting.exponent, longest);
        stamp = stamps::later(stamps::after(stamp, more), stamps::at(now - keep));
    }
};

}  // namespace penstock
