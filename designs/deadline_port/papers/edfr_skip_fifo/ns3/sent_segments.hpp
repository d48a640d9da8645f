// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
// What ns-3's TCP asks of its list of sent segments, in a time that windows of ten thousand segments allow.
//
// Three functions of ns-3's TcpTxBuffer walk over the whole list for each segment or acknowledgement; and the wheel is built with its
// assertions, one of which compares the list with itself at each step of such a walk. At 1 Gbit/s nothing comes of that. These definitions
// are taken in place of the library's (a program's symbols come first). They answer what the library's would, but stop walking when the
// answer is known; and a segment is sent again as it was sent first, while ns-3 may join it with the next one.
#pragma once

#include <algorithm>

#include "ns3/internet-module.h"
#include "ns3/simulator.h"

namespace ns3 {

__attribute__((used)) TcpTxItem* TcpTxBuffer::CopyFromSequence(std::uint32_t bytes, const SequenceNumber32& seq) {
    const SequenceNumber32 unsent = m_firstByteSeq.Get() + m_sentSize;
    std::uint32_t most = std::min(bytes, SizeFromSequence(seq));
    if (most == 0) return nullptr;
    TcpTxItem* found = nullptr;
    if (unsent <= seq) {
        found = GetNewSegment(most);
    } else {
        most = std::min(most, static_cast<std::uint32_t>(unsent - seq));
        const auto at = std::find_if(m_sentList.begin(), m_sentList.end(), [&](const TcpTxItem* item) { return item->m_startSeq == seq; });
        if (at == m_sentList.end() || (*at)->m_packet->GetSize() > most) {
            found = GetTransmittedSegment(most, seq);
        } else {
            found = *at;
            if (!found->m_retrans) {
                found->m_retrans = true;
                m_retrans += found->m_packet->GetSize();
            }
        }
    }
    found->m_lastSent = Simulator::Now();
    return found;
}

// RFC 6675: the first lost segment that has not been sent again; else what is new. Behind the last lost one there is none.
__attribute__((used)) bool TcpTxBuffer::NextSeg(SequenceNumber32* seq, SequenceNumber32* end, bool recovers) const {
    std::uint32_t lost = 0;
    for (auto at = m_sentList.begin(); at != m_sentList.end() && lost < m_lostOut; ++at) {
        const TcpTxItem& item = **at;
        if (!item.m_lost) continue;
        lost += item.m_packet->GetSize();
        if (item.m_retrans || item.m_sacked || (m_sackSeen && item.m_startSeq >= m_highestSack.second)) continue;
        *seq = item.m_startSeq;
        *end = *seq + m_segmentSize;
        return true;
    }
    if (m_size > m_sentSize) {
        const std::uint32_t window = m_rWndCallback();
        if (m_sentSize >= window) return false;
        *seq = m_firstByteSeq.Get() + m_sentSize;
        *end = *seq + std::min(m_segmentSize, window - m_sentSize);
        return true;
    }
    // Nothing new: in recovery the first segment below the highest that was acknowledged, of which nothing is known.
    for (auto at = m_sentList.begin(); recovers && at != m_sentList.end(); ++at) {
        const TcpTxItem& item = **at;
        if (m_sackSeen && item.m_startSeq >= m_highestSack.second) break;
        if (item.m_retrans || item.m_sacked) continue;
        *seq = item.m_startSeq;
        *end = *seq + m_segmentSize;
        return true;
    }
    return false;
}

// The list is in order: behind `ack` there is nothing that ends there.
__attribute__((used)) bool TcpTxBuffer::IsRetransmittedDataAcked(const SequenceNumber32& ack) const {
    for (const TcpTxItem* item : m_sentList) {
        const SequenceNumber32 end = item->m_startSeq + item->m_packet->GetSize();
        if (end >= ack) return end == ack && !item->m_sacked && item->m_retrans;
    }
    return false;
}

}  // namespace ns3
