"""What a call feels like, by packets: jitter (RFC 3550), playout, and the E-model (ITU-T G.107), which foretells what listeners say.

Each constant has its place in the recommendation or paper beside it. All were compared with independent public implementations that name
the same places: amplet2 (udpstream/mos.h: 93.2, 100 ms, sT = 1, Ie and Bpl of G.711), loom (core/rtp/codec and core/quality/emodel: codecs,
Ie,eff with BurstR, 93.2), and for playout a summary of Ramjee's paper (Facu-Glo/redesTpt: 0.75 where delay rises, 0.998002 where it falls).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

# ITU-T G.107 (06/2015), 7.7: R with all parameters at their defaults (table 2), no delay and no loss; 4.41 by annex B.
R_DEFAULT = 93.2
# Ramjee, Kurose, Towsley, Schulzrinne, "Adaptive playout mechanisms for packetized audio applications in wide-area networks", INFOCOM
# 1994, algorithm 2: weights of the past where delay falls and where it rises (its alpha, beta), and deviations of playout behind the mean.
FALLS, RISES, DEVIATIONS = 0.998002, 0.75, 4.0
TALKSPURT_S = 1.0  # playout moves between talkspurts; real ones last about a second (ITU-T P.59)


@dataclass(frozen=True)
class Codec:
    """How one speaks (RFC 3551), and what its losses cost: Ie and Bpl of ITU-T G.113, appendix I."""

    payload: int  # RTP payload type (RFC 3551)
    size: int  # bytes of speech in a packet
    interval_ms: int
    ticks: int  # of RTP's clock in a packet
    ahead_ms: float  # look-ahead of the coder
    ie: float
    bpl: float


CODECS = {
    "g711": Codec(0, 160, 20, 160, 0.0, 0.0, 25.1),  # "G.711 + PLC", concealment of losses by G.711 appendix I; without it Bpl is 4.3
    # "G.729-A + VAD", the only G.729 that has a Bpl there
    "g729": Codec(18, 20, 20, 160, 5.0, 11.0, 19.0),
}


def jitter_ms(transits_ms: Sequence[float]) -> list[float]:
    """Return the interarrival jitter after each packet, by transit times in the order of arrival (RFC 3550, 6.4.1: J += (|D| - J) / 16)."""
    found: list[float] = []
    jitter = 0.0
    for before, transit in zip(transits_ms, transits_ms[1:], strict=False):
        jitter += (abs(transit - before) - jitter) / 16
        found.append(jitter)
    return found


def playout(delays_ms: Sequence[float | None], a_talkspurt: int) -> tuple[list[float], list[bool]]:
    """Return each packet's playout delay and whether it was there by then; `delays_ms`: in the order of sending, None: lost.

    The first packet that arrives sets the estimate. Within a talkspurt, of so many packets, the delay stays.
    """
    mean, deviation, delay = None, 0.0, 0.0
    delays, there = [], []
    for number, seen in enumerate(delays_ms):
        if mean is None and seen is not None:
            mean, delay = seen, seen
        if number % a_talkspurt == 0 and mean is not None:
            delay = mean + DEVIATIONS * deviation
        delays.append(delay)
        there.append(seen is not None and seen <= delay + 1e-9)
        if mean is not None and seen is not None:
            weight = RISES if seen > mean else FALLS
            mean = weight * mean + (1 - weight) * seen
            deviation = FALLS * deviation + (1 - FALLS) * abs(mean - seen)
    return delays, there


def burst_ratio(there: Sequence[bool]) -> float:
    """Return BurstR (G.107, 7.5): the mean length of a loss burst over that at random losses of the same share; at least 1."""
    lost = sum(not one for one in there)
    bursts = sum(not one and (number == 0 or there[number - 1]) for number, one in enumerate(there))
    return max(1.0, lost / bursts * (1 - lost / len(there))) if bursts and lost < len(there) else 1.0


def delay_impairment(ta_ms: float) -> float:
    """Return Idd for a one-way delay from mouth to ear (G.107, 7-27 and 7-28), with sT = 1 and mT = 100 ms (its table 1); no echo."""
    if ta_ms <= 100:
        return 0.0
    x = math.log2(ta_ms / 100)
    return 25 * ((1 + x**6) ** (1 / 6) - 3 * (1 + (x / 3) ** 6) ** (1 / 6) + 2)


def loss_impairment(codec: Codec, lost_percent: float, burst: float = 1.0) -> float:
    """Return Ie,eff for a share of lost packets (G.107, 7-29)."""
    return codec.ie + (95 - codec.ie) * lost_percent / (lost_percent / burst + codec.bpl)


def rating(codec: Codec, ta_ms: float, lost_percent: float, burst: float = 1.0) -> float:
    """Return the rating R."""
    return R_DEFAULT - delay_impairment(ta_ms) - loss_impairment(codec, lost_percent, burst)


def mos(r: float) -> float:
    """Return the mean opinion score of a rating, 1 to 4.5 (G.107, annex B)."""
    if r <= 0:
        return 1.0
    return 4.5 if r >= 100 else max(1.0, 1 + 0.035 * r + r * (r - 60) * (100 - r) * 7e-6)
