// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Model of pst_page_admission, equal to the RTL in every cycle: which queue may have a page, of which size.
//
// Calls come with the cycle in which their event stands at the ports of the RTL; a decision with its own, which is kDecide cycles after the
// frame was taken. They need not be in order: what is called with cycle t may come until decide() or advance() has been called with a cycle
// that sees it (the constants below). So a device that calls what it does in cycle t in the order decide, free, set is right. Where
// memories may be lost, it calls lose(), granted() and missed() of cycle t before decide() of that cycle, and each grant is told.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "blocks/common/model/settings.hpp"

namespace penstock {

// Cycles of pst_page_admission.
namespace admission_timing {
inline constexpr int kDecide = 3;      // from a frame's handshake to its decision
inline constexpr int kOffer = 1;       // from the decision to m_meta
inline constexpr unsigned kDepth = 8;  // frames inside
inline constexpr int kBack = 3;        // from a page that comes back to the cycle after which it counts as free
inline constexpr int kGiven = 6;       // and to the first decision that no longer counts it for its queue
inline constexpr int kAlpha = 2;       // from a new alpha to the first decision by it
}  // namespace admission_timing

class PageAdmission {
  public:
    static constexpr unsigned kReserveShift = 3;  // after reset 1/8 of the pages of each size are reserved, for all classes together
    static constexpr unsigned kOne = 1U << (settings::kAlphaWidth - 2);  // alpha is 2^(n - kOne)
    static constexpr unsigned kDefaultAlpha = kOne + 3;

    struct Verdict {
        int size = -1;          // rank of its page's size, 0 is the smallest; none: refused
        bool no_share = false;  // refused, but there was a page that was large enough
        std::uint8_t cls = 0;   // the class for which it was decided
    };

    // pages, page_bytes: of each memory. Throws std::invalid_argument.
    PageAdmission(std::uint32_t queues, const std::vector<std::uint32_t>& pages, const std::vector<std::uint32_t>& page_bytes,
                  unsigned classes)
        : classes_(classes), held_(queues), class_(queues) {
        if (queues < 2 || classes < 1 || classes > 8) throw std::invalid_argument("at least 2 queues, 1 to 8 classes");
        if (pages.empty() || pages.size() != page_bytes.size()) throw std::invalid_argument("one page count and one page size per memory");
        bytes_ = page_bytes;
        std::sort(bytes_.begin(), bytes_.end());
        bytes_.erase(std::unique(bytes_.begin(), bytes_.end()), bytes_.end());
        free_.resize(bytes_.size());
        for (std::size_t m = 0; m < pages.size(); ++m) {
            const auto size = std::lower_bound(bytes_.begin(), bytes_.end(), page_bytes[m]) - bytes_.begin();
            free_[static_cast<std::size_t>(size)] += pages[m];
            size_of_.push_back(static_cast<std::uint8_t>(size));
            home_.push_back(pages[m]);
            memories_.insert(memories_.end(), pages[m], static_cast<std::uint8_t>(m));
        }
        owner_.resize(memories_.size());
        alpha_.assign(classes, kDefaultAlpha);
        share_.resize(classes * free_.size());
        shared_ = free_;
        for (std::size_t k = 0; k < free_.size(); ++k) {
            const std::uint32_t reserved = (static_cast<std::uint32_t>(free_[k]) >> kReserveShift) / classes;
            for (unsigned c = 0; c < classes; ++c) share(c, k) = {0, reserved, reserved};
            shared_[k] -= classes * reserved;
        }
    }

    unsigned sizes() const { return static_cast<unsigned>(bytes_.size()); }
    unsigned classes() const { return classes_; }
    std::uint32_t page_bytes(unsigned size) const { return bytes_.at(size); }

    // The decision in cycle `now` of a frame of `length` bytes.
    Verdict decide(std::uint32_t queue, std::uint32_t length, std::int64_t now) {
        advance(now);
        while (!new_classes_.empty() && new_classes_.front().cycle <= now - admission_timing::kDecide) take_class();
        while (!new_alphas_.empty() && new_alphas_.front().cycle <= now - admission_timing::kAlpha) take_alpha();
        while (!counted_.empty() && counted_.front().cycle + admission_timing::kGiven <= now) take_count();
        Verdict verdict;
        verdict.cls = class_.at(queue);
        std::uint64_t fit = 0;
        for (std::size_t k = 0; k < free_.size(); ++k)
            if (length <= bytes_[k] && shared_[k] > 0) fit += static_cast<std::uint64_t>(shared_[k]);
        const bool in_share = (std::uint64_t{held_[queue]} << kOne >> alpha_[verdict.cls]) < fit;
        for (std::size_t k = 0; k < free_.size() && verdict.size < 0; ++k) {
            if (length > bytes_[k]) continue;
            const Share& mine = share(verdict.cls, k);
            if (mine.used < mine.reserved || (in_share && shared_[k] > 0)) verdict.size = static_cast<int>(k);
            if (free_[k] > 0) verdict.no_share = true;
        }
        if (verdict.size >= 0) {
            verdict.no_share = false;
            ++held_[queue];
        }
        step(&verdict);
        return verdict;
    }

    // The pools gave an admitted frame this page.
    void given(std::uint32_t descriptor, std::uint32_t queue, unsigned cls) {
        owner_.at(descriptor) = {queue, static_cast<std::uint8_t>(cls)};
    }

    // A page goes back to the pools in cycle `now`.
    void free(std::uint32_t descriptor, std::int64_t now) {
        const Owner owner = owner_.at(descriptor);
        while (!counted_.empty() && counted_.front().cycle + admission_timing::kGiven < now) take_count();
        come_back({now, owner.cls, size_of_[memories_[descriptor]], static_cast<std::int8_t>(memories_[descriptor])}, owner.queue);
    }

    // From cycle `now` on these memories, a bit each, are lost; what was lost before still is.
    void lose(std::uint32_t memories, std::int64_t now) { falls_.push_back({now, memories}); }
    // The rx handler takes a grant in cycle `now`: of a page; or of none although the frame was to have one of `size`.
    void granted(std::uint32_t descriptor, std::int64_t now) { grants_.push_back({now, memories_.at(descriptor)}); }
    void missed(std::uint32_t queue, unsigned cls, unsigned size, std::int64_t now) {
        missed_.push_back({now, queue, static_cast<std::uint8_t>(cls), static_cast<std::uint8_t>(size)});
    }
    // Whether frames that got no page are still to be counted in cycle `now`: none is taken meanwhile. All pages that came back before
    // `now` have been told.
    bool counting(std::int64_t now) {
        count_missed(now);
        return !missed_.empty() && missed_.front().cycle < now;
    }
    // Or later, without another call.
    bool will_count() const { return !missed_.empty(); }

    // Settings that are taken in cycle `now`. alpha: n of 2^(n - 4).
    // The class that was set last.
    unsigned class_of(std::uint32_t queue) const {
        unsigned cls = class_.at(queue);
        for (const NewClass& change : new_classes_)
            if (change.queue == queue) cls = change.cls;
        return cls;
    }
    void set_class(std::uint32_t queue, unsigned cls, std::int64_t now) {
        while (!new_classes_.empty() && new_classes_.front().cycle <= now - admission_timing::kDecide) take_class();
        new_classes_.push_back({now, queue, static_cast<std::uint8_t>(cls)});
    }
    void set_share(unsigned cls, unsigned size, unsigned alpha, std::uint32_t reserved, std::int64_t now) {
        advance(now + 1);
        while (!new_alphas_.empty() && new_alphas_.front().cycle <= now - admission_timing::kAlpha) take_alpha();
        new_alphas_.push_back({now, static_cast<std::uint8_t>(cls), static_cast<std::uint8_t>(alpha)});
        share(cls, size).wanted = reserved;
        walk_ = 0;
        walk_from_ = now + 1;
        settled_ = false;
        still_ = 0;
    }

    // All that happens before cycle `now`.
    void advance(std::int64_t now) {
        while (at_ < now) {
            std::int64_t end = now;
            if (!missed_.empty()) end = at_;
            if (!backs_.empty()) end = std::min(end, backs_.front().cycle + admission_timing::kBack);
            if (!falls_.empty()) end = std::min(end, falls_.front().cycle);
            skip(end);
            if (at_ < now) step(nullptr);
        }
    }

    // What the registers tell. After advance().
    std::uint32_t free_pages(unsigned size) const { return static_cast<std::uint32_t>(std::max<std::int64_t>(free_.at(size), 0)); }
    std::uint32_t used(unsigned cls, unsigned size) const { return share_.at(cls * free_.size() + size).used; }
    std::uint32_t reserved(unsigned cls, unsigned size) const { return share_.at(cls * free_.size() + size).reserved; }
    // Pages that a queue holds, as the latest decision saw it.
    std::uint32_t held(std::uint32_t queue) const { return held_.at(queue); }

  private:
    struct Share {
        std::uint32_t used = 0, reserved = 0, wanted = 0;
    };
    struct Owner {
        std::uint32_t queue = 0;
        std::uint8_t cls = 0;
    };
    struct Counted {
        std::int64_t cycle;
        std::uint32_t queue;
    };
    struct Back {
        std::int64_t cycle;
        std::uint8_t cls, size;
        std::int8_t memory;  // none: not a page, but a frame that was to have one
    };
    struct Fall {
        std::int64_t cycle;
        std::uint32_t memories;
    };
    struct Grant {
        std::int64_t cycle;
        std::uint8_t memory;
    };
    struct Missed {
        std::int64_t cycle;
        std::uint32_t queue;
        std::uint8_t cls, size;
    };
    struct NewClass {
        std::int64_t cycle;
        std::uint32_t queue;
        std::uint8_t cls;
    };
    struct NewAlpha {
        std::int64_t cycle;
        std::uint8_t cls, alpha;
    };

    Share& share(unsigned cls, std::size_t size) { return share_[cls * free_.size() + size]; }

    // In the order of their cycles: a frame that got no page may be told after a page that comes back later.
    void come_back(const Back& back, std::uint32_t queue) {
        auto at = backs_.end();
        while (at != backs_.begin() && std::prev(at)->cycle > back.cycle) --at;
        backs_.insert(at, back);
        auto count = counted_.end();
        while (count != counted_.begin() && std::prev(count)->cycle > back.cycle) --count;
        counted_.insert(count, {back.cycle, queue});
    }

    // Frames that got no page are counted in cycles before `until` in which no page comes back.
    void count_missed(std::int64_t until) {
        while (!missed_.empty()) {
            missed_at_ = std::max(missed_at_, missed_.front().cycle + 1);
            while (missed_at_ < until && std::any_of(backs_.begin(), backs_.end(), [&](const Back& b) { return b.cycle == missed_at_; }))
                ++missed_at_;
            if (missed_at_ >= until) return;
            const Missed frame = missed_.front();
            missed_.pop_front();
            come_back({missed_at_, frame.cls, frame.size, -1}, frame.queue);
        }
    }

    void take_count() {
        --held_[counted_.front().queue];
        counted_.pop_front();
    }
    void take_class() {
        class_.at(new_classes_.front().queue) = new_classes_.front().cls;
        new_classes_.pop_front();
    }
    void take_alpha() {
        alpha_.at(new_alphas_.front().cls) = new_alphas_.front().alpha;
        new_alphas_.pop_front();
    }

    // Cycles before `end` in which nothing changes are not stepped. A walk that a class holds up, as it has more reserved than is free, may
    // go on for weeks: after a round that changed nothing the next ones do not either, until a page comes back or is taken.
    void skip(std::int64_t end) {
        if (end <= at_) return;
        const auto round = static_cast<std::int64_t>(share_.size());
        if (settled_)
            at_ = end;
        else if (still_ >= round)
            at_ += (end - at_) / round * round;
    }

    bool falls_on(std::uint32_t memories, std::size_t size) const {
        for (std::size_t m = 0; memories >> m != 0; ++m)
            if ((memories >> m & 1) && size_of_[m] == size) return true;
        return false;
    }

    // A reservation is not what is wanted: the walk goes on where that of the RTL is, which never stands still.
    void walk_on() {
        if (settled_) walk_ = static_cast<std::size_t>((at_ - walk_from_) % static_cast<std::int64_t>(share_.size()));
        settled_ = false;
        still_ = 0;
    }

    // One cycle, with the decision that is made in it. What changes is found before anything does.
    void step(const Verdict* decided) {
        if (!missed_.empty()) count_missed(at_);
        const Back* back = nullptr;
        if (!backs_.empty() && backs_.front().cycle + admission_timing::kBack == at_) back = &backs_.front();
        std::uint32_t fall = 0;
        if (!falls_.empty() && falls_.front().cycle == at_) {
            fall = falls_.front().memories & ~lost_;
            lost_ |= fall;
            falls_.pop_front();
        }
        Share* grown = nullptr;
        int by = 0, of_shared = 0;
        if (!settled_ && fall == 0) {
            // The walk: one class and size a cycle.
            const auto cls = static_cast<unsigned>(walk_ / free_.size());
            Share& s = share_[walk_];
            if (!(decided && decided->cls == cls) && !(back && back->cls == cls) && s.reserved != s.wanted) {
                const std::int64_t shared = shared_[walk_ % free_.size()];
                if (s.reserved > s.wanted) {
                    by = -1;
                    of_shared = s.used < s.reserved;
                } else if (s.used > s.reserved) {
                    by = 1;
                } else if (shared > (decided != nullptr)) {
                    by = 1;
                    of_shared = -1;
                }
                grown = &s;
            }
        }
        still_ = decided || back || by != 0 || fall != 0 ? 0 : still_ + 1;
        // Pages of lost memories are gone: those at home when they are lost; one that is given later was counted as one that is left.
        for (std::size_t m = 0; fall >> m != 0; ++m) {
            if (!(fall >> m & 1)) continue;
            free_[size_of_[m]] -= home_[m];
            shared_[size_of_[m]] -= home_[m];
        }
        while (!grants_.empty() && grants_.front().cycle <= at_) {
            const std::size_t m = grants_.front().memory;
            if (lost_ >> m & 1) {
                ++free_[size_of_[m]];
                ++shared_[size_of_[m]];
            }
            --home_[m];
            grants_.pop_front();
        }
        const bool has = decided && decided->size >= 0;
        const bool none = back && back->memory < 0, gone = back && !none && (lost_ >> back->memory & 1);
        Share* mine = has ? &share(decided->cls, static_cast<std::size_t>(decided->size)) : nullptr;
        Share* theirs = back ? &share(back->cls, back->size) : nullptr;
        const bool both = mine && mine == theirs && !none && !gone;
        if (mine) {
            if (!both && mine->used >= mine->reserved) --shared_[static_cast<std::size_t>(decided->size)];
            --free_[static_cast<std::size_t>(decided->size)];
        }
        if (back) {
            if (!gone) {
                ++free_[back->size];
                if (!both && (none || theirs->used > theirs->reserved)) ++shared_[back->size];
            }
            if (!none) ++home_[static_cast<std::size_t>(back->memory)];
        }
        // What was reserved does not come back, or was not there.
        const bool less = (none || gone) && theirs->used <= theirs->reserved && !falls_on(fall, back->size);
        if (mine) ++mine->used;
        if (theirs) --theirs->used;
        if (less) {
            --theirs->reserved;
            walk_on();
        }
        if (grown) {
            grown->reserved += static_cast<std::uint32_t>(by);
            shared_[walk_ % free_.size()] += of_shared;
        }
        if (back) backs_.pop_front();
        for (std::size_t m = 0; fall >> m != 0; ++m) {
            if (!(fall >> m & 1)) continue;
            const std::size_t k = size_of_[m];
            shared_[k] = free_[k];
            for (unsigned c = 0; c < classes_; ++c) share(c, k).reserved = std::min(share(c, k).reserved, share(c, k).used);
        }
        if (fall != 0) walk_on();
        if (!settled_) {
            if (++walk_ == share_.size()) {
                walk_ = 0;
                settled_ = std::all_of(share_.begin(), share_.end(), [](const Share& s) { return s.reserved == s.wanted; });
            }
        }
        ++at_;
    }

    unsigned classes_;
    std::vector<std::uint32_t> bytes_;    // of each page size, in their order
    std::vector<std::uint8_t> size_of_;   // of each memory, its rank
    std::vector<std::uint8_t> memories_;  // of each descriptor
    std::vector<std::int64_t> home_;      // of each memory, pages that no frame has been given
    std::vector<Owner> owner_;            // of each descriptor
    std::vector<std::uint32_t> held_;     // of each queue
    std::vector<std::uint8_t> class_;
    std::vector<std::uint8_t> alpha_;
    std::vector<std::int64_t> free_, shared_;  // less than 0 for a while when a memory is lost
    std::vector<Share> share_;                 // by class and size
    std::int64_t at_ = 0;                      // cycles before it are done
    std::size_t walk_ = 0;
    std::int64_t walk_from_ = 0;  // a cycle in which it begins
    bool settled_ = true;
    std::int64_t still_ = 0;  // cycles since something changed, while the walk goes on
    std::uint32_t lost_ = 0;
    std::int64_t missed_at_ = 0;
    std::deque<Fall> falls_;
    std::deque<Grant> grants_;
    std::deque<Missed> missed_;
    std::deque<Back> backs_;
    std::deque<Counted> counted_;
    std::deque<NewClass> new_classes_;
    std::deque<NewAlpha> new_alphas_;
};

}  // namespace penstock
