// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// The largest of many values, as pst_busiest finds them; a scan takes no time here.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace penstock {

class Busiest {
  public:
    static constexpr unsigned kValueBits = 38;
    struct Place {
        std::uint32_t index = 0;
        std::uint64_t value = 0;
    };

    Busiest(std::uint32_t entries, unsigned keep) : before_(entries), places_(keep) {}

    // level: of values as they are; else of what was added since the scan of that kind before. cycle: the one in which it starts.
    template <typename Value>
    void scan(bool level, std::int64_t cycle, Value&& value_of) {
        std::vector<Place> found;
        for (std::uint32_t index = 0; index < before_.size(); ++index) {
            const std::uint64_t now = value_of(index) & kMost, value = (level ? now : now - before_[index]) & kMost;
            if (!level) before_[index] = now;
            if (value != 0) found.push_back({index, value});
        }
        std::stable_sort(found.begin(), found.end(), [](const Place& a, const Place& b) { return a.value > b.value; });
        found.resize(places_.size());
        places_ = std::move(found);
        level_ = level;
        ++number_;
        if (level) return;
        window_ = known_ ? static_cast<std::uint32_t>(std::min<std::int64_t>(cycle - started_, UINT32_MAX)) : 0;
        started_ = cycle;
        known_ = true;
    }

    // 0 is the first; what is not there is empty.
    Place place(std::uint32_t number) const { return number < places_.size() ? places_[number] : Place{}; }
    bool level() const { return level_; }
    std::uint32_t window() const { return window_; }
    std::uint32_t number() const { return number_ & 0xFFFF; }

  private:
    static constexpr std::uint64_t kMost = (std::uint64_t{1} << kValueBits) - 1;

    std::vector<std::uint64_t> before_;
    std::vector<Place> places_;
    bool level_ = false, known_ = false;
    std::int64_t started_ = 0;
    std::uint32_t window_ = 0, number_ = 0;
};

}  // namespace penstock
