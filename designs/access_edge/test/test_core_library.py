# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""The library of the core (designs/access_edge/bench/pins_core.h): what C++ soak tests and benches load."""

import random
from collections import defaultdict

from penstock.designs.access_edge.bench.core import build_core
from penstock.designs.access_edge.testing.testcore import CoreLibrary
from penstock.testing.testkit import seed

QUEUES, DESCRIPTORS = 16, 64


def test_core_library() -> None:
    """Packets of all queues go through in order; queue 3 may hold two at most, and its others are dropped and reported."""
    print(f"PENSTOCK_SEED={seed()}")
    rng = random.Random(seed())
    core = CoreLibrary(build_core(QUEUES, DESCRIPTORS, shaping=True, report=print, assertions=True))
    pins, cycle = core.pins, core.step
    pins.rst = 1
    cycle()
    pins.rst = 0
    for _ in range(10 * QUEUES + 100):
        cycle()
    assert pins.init_done
    pins.s_cfg_valid, pins.s_cfg_queue, pins.s_cfg_shaper, pins.s_cfg_limit_packets, pins.s_cfg_limit_bytes = 1, 3, 1, 2, 16_777_215
    cycle()
    while not pins.s_cfg_ready:
        cycle()
    pins.s_cfg_valid = 0

    free = list(range(DESCRIPTORS))
    expected: dict[int, list[tuple[int, int]]] = defaultdict(list)
    decisions: list[tuple[int, int, int]] = []  # queue, descriptor, length, oldest first
    accepted = dropped = left = sent = 0
    for step in range(20_000):
        if not pins.s_enq_valid and free and sent < 2000 and rng.random() < 0.7:
            pins.s_enq_valid = 1
            pins.s_enq_queue, pins.s_enq_desc, pins.s_enq_len = rng.randrange(QUEUES), free.pop(0), rng.randint(14, 1522)
        pins.m_out_ready, pins.m_drop_ready = rng.random() < (0.2 if step < 1000 else 0.6), rng.random() < 0.5
        cycle()
        if pins.s_enq_valid and pins.s_enq_ready:
            decisions.append((pins.s_enq_queue, pins.s_enq_desc, pins.s_enq_len))
            pins.s_enq_valid = 0
            sent += 1
        if pins.ev_valid:
            queue, descriptor, length = decisions.pop(0)
            assert (pins.ev_queue, pins.ev_len) == (queue, length)
            accepted, dropped = accepted + (pins.ev_reason == 0), dropped + (pins.ev_reason != 0)
            assert pins.ev_reason in (0, 6) and (pins.ev_reason == 0 or queue == 3)
            if pins.ev_reason == 0:
                expected[queue].append((descriptor, length))
        if pins.m_drop_valid and pins.m_drop_ready:
            free.append(pins.m_drop_desc)
        if pins.m_out_valid and pins.m_out_ready:
            assert (pins.m_out_desc, pins.m_out_len) == expected[pins.m_out_queue].pop(0)
            free.append(pins.m_out_desc)
            left += 1
    assert sent == 2000 and left == accepted == 2000 - dropped and dropped > 0
    assert sorted(free) == list(range(DESCRIPTORS))
    core.close()
