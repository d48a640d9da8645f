// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// Models of pst_islip and of pst_islip_switch, equal to them in every cycle.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace penstock {

// iSLIP of McKeown 1999: one matching per call; the pointers are kept from call to call.
class Islip {
  public:
    struct Choice {
        uint32_t output, cls;
    };

    Islip(uint32_t ports, uint32_t classes, uint32_t iterations)
        : ports_(ports),
          iterations_(iterations),
          grant_pointer_(ports, std::vector<uint32_t>(classes)),
          accept_pointer_(ports, std::vector<uint32_t>(classes)) {}

    // `level(input, output)` is the highest class that waits there (0 is the highest), or a negative number. Returns what each input sends.
    template <typename Level>
    std::vector<std::optional<Choice>> match(Level level) {
        std::vector<std::optional<Choice>> result(ports_);
        std::vector<bool> taken(ports_);
        for (uint32_t iteration = 0; iteration < iterations_; iteration++) {
            struct Grant {
                uint32_t output, cls;
            };
            std::vector<std::vector<Grant>> grants(ports_);
            for (uint32_t output = 0; output < ports_; output++) {
                if (taken[output]) continue;
                int best = -1;
                for (uint32_t input = 0; input < ports_; input++) {
                    const int asked = result[input] ? -1 : level(input, output);
                    if (asked >= 0 && (best < 0 || asked < best)) best = asked;
                }
                if (best < 0) continue;
                for (uint32_t k = 0; k < ports_; k++) {
                    const uint32_t input = (grant_pointer_[output][best] + k) % ports_;
                    if (result[input] || level(input, output) != best) continue;
                    grants[input].push_back({output, static_cast<uint32_t>(best)});
                    break;
                }
            }
            for (uint32_t input = 0; input < ports_; input++) {
                const Grant* chosen = nullptr;
                uint32_t chosen_rank = 0;
                for (const Grant& grant : grants[input]) {
                    const uint32_t rank = (grant.output + ports_ - accept_pointer_[input][grant.cls]) % ports_;
                    if (chosen && (chosen->cls < grant.cls || (chosen->cls == grant.cls && chosen_rank < rank))) continue;
                    chosen = &grant;
                    chosen_rank = rank;
                }
                if (!chosen) continue;
                result[input] = Choice{chosen->output, chosen->cls};
                taken[chosen->output] = true;
                if (iteration > 0) continue;
                grant_pointer_[chosen->output][chosen->cls] = (input + 1) % ports_;
                accept_pointer_[input][chosen->cls] = (chosen->output + 1) % ports_;
            }
        }
        return result;
    }

  private:
    uint32_t ports_, iterations_;
    std::vector<std::vector<uint32_t>> grant_pointer_, accept_pointer_;  // [port][class]
};

// pst_islip_switch cycle by cycle; a cell is a number.
class IslipSwitch {
  public:
    struct Cell {
        uint32_t dest, cls;
        uint64_t data;
    };

    static constexpr uint32_t BufferDepth = 5;

    IslipSwitch(uint32_t ports, uint32_t classes, uint32_t depth, uint32_t iterations)
        : ports_(ports),
          classes_(classes),
          depth_(depth),
          islip_(ports, classes, iterations),
          queues_(ports * ports * classes),
          popped_(ports),
          read_(ports),
          registered_(ports),
          buffers_(ports),
          credits_(ports, BufferDepth) {}

    // Whether a cell from `input` finds its queue full in this cycle.
    bool full(uint32_t input, uint32_t dest, uint32_t cls) const {
        const bool being_read = popped_[input] && popped_[input]->dest == dest && popped_[input]->cls == cls;
        return queue(input, dest, cls).size() + being_read >= depth_;
    }

    // The cell that an output offers in this cycle, or null.
    const uint64_t* offered(uint32_t output) const { return buffers_[output].empty() ? nullptr : &buffers_[output].front(); }

    // Cells that are inside.
    uint64_t cells() const {
        uint64_t sum = 0;
        for (const auto& q : queues_) sum += q.size();
        for (uint32_t port = 0; port < ports_; port++) {
            sum += popped_[port].has_value() + read_[port].has_value() + registered_[port].has_value() + buffers_[port].size();
        }
        return sum;
    }

    // One clock cycle: what each source offers, which outputs are ready. Returns which sources' cells found no room.
    std::vector<bool> cycle(const std::vector<std::optional<Cell>>& arrivals, const std::vector<bool>& ready) {
        const auto match = islip_.match([this](uint32_t input, uint32_t output) {
            for (uint32_t cls = 0; credits_[output] > 0 && cls < classes_; cls++)
                if (!queue(input, output, cls).empty()) return static_cast<int>(cls);
            return -1;
        });
        std::vector<bool> refused(ports_);
        for (uint32_t input = 0; input < ports_; input++)
            refused[input] = arrivals[input] && full(input, arrivals[input]->dest, arrivals[input]->cls);
        for (uint32_t output = 0; output < ports_; output++) {
            if (buffers_[output].empty() || !ready[output]) continue;
            buffers_[output].pop_front();
            credits_[output]++;
        }
        for (uint32_t input = 0; input < ports_; input++) {
            if (registered_[input]) buffers_[registered_[input]->dest].push_back(registered_[input]->data);
            registered_[input] = read_[input];
            read_[input] = popped_[input];
            popped_[input].reset();
            if (match[input]) {
                auto& from = queue(input, match[input]->output, match[input]->cls);
                popped_[input] = from.front();
                from.pop_front();
                credits_[match[input]->output]--;
            }
            if (arrivals[input] && !refused[input]) queue(input, arrivals[input]->dest, arrivals[input]->cls).push_back(*arrivals[input]);
        }
        return refused;
    }

  private:
    std::deque<Cell>& queue(uint32_t input, uint32_t output, uint32_t cls) { return queues_[(input * ports_ + output) * classes_ + cls]; }
    const std::deque<Cell>& queue(uint32_t input, uint32_t output, uint32_t cls) const {
        return queues_[(input * ports_ + output) * classes_ + cls];
    }

    uint32_t ports_, classes_, depth_;
    Islip islip_;
    std::vector<std::deque<Cell>> queues_;                // [input][output][class]
    std::vector<std::optional<Cell>> popped_;             // matched in the last cycle, now being read, by input
    std::vector<std::optional<Cell>> read_, registered_;  // behind it, in the RAM's two output registers, by input
    std::vector<std::deque<uint64_t>> buffers_;           // by output
    std::vector<uint32_t> credits_;                       // room in them
};

}  // namespace penstock
