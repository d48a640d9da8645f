// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// An ns-3 queueing discipline around any queue of queues.hpp, which decides; ns-3 holds the packets and counts. A packet's class is its
// DSCP.
//
// The disc keeps the line's pace itself: it gives a packet when the line has sent the one before, so none waits in the device behind it,
// and the moment in which a queue lets a packet go is the one in which its first bit leaves.
#pragma once

#include <functional>
#include <memory>
#include <unordered_map>
#include <utility>

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/traffic-control-module.h"
#include "queues.hpp"

namespace edfr {

using Item = ns3::Ptr<ns3::QueueDiscItem>;

inline std::uint32_t class_of(ns3::Ptr<const ns3::QueueDiscItem> item) {
    const auto ip = ns3::DynamicCast<const ns3::Ipv4QueueDiscItem>(item);
    return ip ? static_cast<std::uint32_t>(ip->GetHeader().GetDscp()) : 0;
}

class HeldPackets final : public ns3::QueueDisc::InternalQueue {
  public:
    explicit HeldPackets(std::unique_ptr<Discipline> queue) : queue_(std::move(queue)) {
        queue_->drop = [this](std::uint64_t number) { DoRemove(take(number)); };
        SetMaxSize(ns3::QueueSize("10000000p"));  // the queue says what is dropped
    }

    bool Enqueue(Item item) override {
        Iterator place;
        if (!DoEnqueue(GetContainer().end(), item, place)) return false;
        places_.emplace(number_, place);
        queue_->push(number_++, item->GetSize(), class_of(item), ns3::Simulator::Now().GetNanoSeconds());
        return true;
    }
    Item Dequeue() override {
        const auto next = queue_->pop(ns3::Simulator::Now().GetNanoSeconds());
        return next ? DoDequeue(take(*next)) : nullptr;
    }
    Item Remove() override { return nullptr; }
    ns3::Ptr<const ns3::QueueDiscItem> Peek() const override { return nullptr; }
    const Discipline& queue() const { return *queue_; }

  private:
    Iterator take(std::uint64_t number) {
        const auto found = places_.find(number);
        NS_ABORT_MSG_IF(found == places_.end(), "the queue names packet " << number << ", which it does not have");
        const Iterator place = found->second;
        places_.erase(found);
        return place;
    }

    std::unique_ptr<Discipline> queue_;
    std::unordered_map<std::uint64_t, Iterator> places_;  // of each waiting packet, by its number
    std::uint64_t number_ = 0;
};

class DeadlineDisc final : public ns3::QueueDisc {
  public:
    explicit DeadlineDisc(ns3::Ptr<HeldPackets> held) : QueueDisc(ns3::QueueDiscSizePolicy::NO_LIMITS), held_(held) {
        AddInternalQueue(held);
    }

    // Called with each packet that leaves for the line. (ns-3's trace `Dequeue` also has those that are dropped behind the queue.)
    std::function<void(const Item&)> sends;
    const Discipline& queue() const { return held_->queue(); }

  private:
    bool DoEnqueue(Item item) override { return held_->Enqueue(item); }
    Item DoDequeue() override {
        const std::int64_t now = ns3::Simulator::Now().GetNanoSeconds();
        if (now < free_at_) {  // asked early, by an arrival or by what was to ask again: then nothing else may wake the disc
            wake(free_at_ - now);
            return nullptr;
        }
        Item item = held_->Dequeue();
        if (item) {
            free_at_ = now + held_->queue().line_ns(item->GetSize());
            if (sends) sends(item);
            wake(free_at_ - now);
        } else if (held_->GetNPackets()) {
            wake(kAskAgainNs);
        }
        return item;
    }
    void wake(std::int64_t ns) {
        if (!woken_.IsPending()) woken_ = ns3::Simulator::Schedule(ns3::NanoSeconds(ns), [this] { Run(); });
    }
    ns3::Ptr<const ns3::QueueDiscItem> DoPeek() override { return nullptr; }
    bool CheckConfig() override { return true; }
    void InitializeParams() override {}

    ns3::Ptr<HeldPackets> held_;
    std::int64_t free_at_ = 0;
    ns3::EventId woken_;
};

}  // namespace edfr
