# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""The packet memory in the control plane: how full it is, by class, what fills it, and the warning before it is full."""

import contextlib
import random
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock.command_line.app import main
from penstock.designs import configs
from penstock.designs.access_edge import registers
from penstock.designs.access_edge.control import memory, metrics
from penstock.designs.access_edge.control.codes import Codes
from penstock.designs.access_edge.control.facts import ONE_CLASS_SINCE, Facts, Hierarchy, Sharing, ask
from penstock.designs.access_edge.control.intent import Intent
from penstock.designs.access_edge.control.memory import Memory, OfClass
from penstock.designs.access_edge.control.plant import Plant
from penstock.designs.access_edge.control.programs import Programs
from penstock.designs.access_edge.control.server import serving
from penstock.designs.access_edge.control.services.counters import _memory
from penstock.designs.access_edge.control.sweep import Sweep
from penstock.designs.access_edge.testing.control import CONFIG, Mirror, plant_of
from penstock.driver.in_process import InProcess
from penstock.engine.run import Request, prepare
from penstock.paths import ROOT
from penstock.testing.testkit import seed
from penstock.v1 import common_pb2, counters_pb2
from penstock.v1.subscribers_pb2 import Subscriber

PAGES, CLASSES, BACKUP = 4096, 4, 3
SECONDS = 60.0


@contextlib.contextmanager
def greedy(*settings: str) -> Iterator[tuple[Plant, Sweep]]:
    """The scenario greedy_queue, for ever, with a subscriber for each home; the sweep goes on."""
    run = prepare(Request(ROOT / "scenarios/greedy_queue.yaml", ["duration=1000 s", *settings], engine="model"))
    with contextlib.closing(InProcess(run.plan.job)) as carrier, contextlib.closing(Intent(None)) as intent:
        plant = Plant(carrier, ask(carrier), intent)
        plant.restore()
        first = Subscriber(name="greedy", index=0, rate_bps=50_000_000, burst_bytes=3_000)
        for cls in range(CLASSES):
            first.queues.add(traffic_class=cls)
        second = Subscriber(name="neighbour", index=1, rate_bps=50_000_000, burst_bytes=3_000)
        for _ in range(CLASSES):
            second.queues.add(traffic_class=2)
        plant.change([lambda: first, lambda: second])
        sweep = Sweep(plant, pause_seconds=0.02)
        sweep.start()
        try:
            yield plant, sweep
        finally:
            sweep.stop()


def until(sweep: Sweep, true: Any) -> None:
    end = time.monotonic() + SECONDS
    while not true():
        assert time.monotonic() < end and not sweep.error, sweep.error or sweep.packet_memory()
        time.sleep(0.02)


def test_a_full_memory_is_seen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By class, with what is reserved and what is dropped for it, in metrics, gRPC and `ctl` alike; the sums are the device's."""
    with greedy() as (plant, sweep):
        assert plant.facts.admission == Sharing(CLASSES, 1) and plant.facts.descriptors == PAGES
        excess = 250e6 / 12_000  # packets a second that come and cannot leave
        until(sweep, lambda: sweep.packet_memory().used > 0.75 * PAGES and sweep.reason_rates.get("no_share", 0) > 0.5 * excess)
        found = sweep.packet_memory()
        assert found.pages == PAGES and len(found.classes) == CLASSES
        assert found.used == sum(one.used for one in found.classes) and found.classes[BACKUP].used > 0.95 * found.used
        assert [one.reserved for one in found.classes] == [PAGES // 8 // CLASSES] * CLASSES
        assert abs(found.used - int(sweep.queued[:, 0].sum())) < 0.1 * PAGES  # each packet has a page; the looks are of different moments
        assert set(sweep.reason_rates) == set(registers.contract()["reasons"])
        assert sweep.reason_rates["no_share"] < 2 * excess
        text = metrics.exposition(plant, sweep).decode()
        for words in (f"penstock_memory_pages {PAGES}.0", 'penstock_memory_class_reserved_pages{class="0"} 128.0'):
            assert f"\n{words}\n" in text, words
        with serving(plant, sweep, [f"unix:{tmp_path / 'c.sock'}"]) as (place,):
            capsys.readouterr()
            assert main(["ctl", "--server", place, "counters"]) == 0
            said = capsys.readouterr().out
            assert f" of {PAGES:,} pages used, " in said and "class 0 " in said and "(128 reserved)" in said, said
            assert "no_share " in said and "/s)" in said, said


def test_a_memory_that_is_not_shared(tmp_path: Path) -> None:
    """Then what is queued is what is used, and no class has a part of its own."""
    with greedy("device.overrides.admission=false") as (plant, sweep):
        assert plant.facts.admission is None
        until(sweep, lambda: sweep.packet_memory().used > 0.7 * PAGES and sweep.reason_rates.get("no_page"))
        found = sweep.packet_memory()
        assert found.classes == () and found.used <= PAGES
        assert "penstock_memory_class" not in metrics.exposition(plant, sweep).decode()
        assert "those of class 0, too (no_page)" in found.warning and "share it by class" in found.warning


def test_rates_of_drops() -> None:
    """Packets a second by the device's clock; none before the second reading, nor where the device was reset."""
    sweep = object.__new__(Sweep)
    sweep.reasons, sweep._reasons_at = {}, 0
    sweep._take_drops({"aqm": (100, 1), "runt": (7, 1)}, 10**9, None)
    assert sweep.reason_rates == {}
    sweep._take_drops({"aqm": (130, 1), "runt": (7, 1)}, 3 * 10**9, None)
    assert sweep.reason_rates == {"aqm": 15.0, "runt": 0.0}
    sweep._take_drops({"aqm": (140, 1), "runt": (0, 0)}, 4 * 10**9, None)
    assert sweep.reason_rates == {}
    sweep._take_drops({"aqm": (140, 1), "runt": (1, 0)}, 4 * 10**9, None)
    assert sweep.reason_rates == {}, "no time has passed"


def test_what_the_limits_add_up_to() -> None:
    """By class, of queues that are set: packets, or bytes where these are fewer of Ethernet's smallest; what is not named holds nothing."""
    number = seed()
    print(f"PENSTOCK_SEED={number}")
    rng = random.Random(number)
    plant = plant_of(Mirror(configs.load(CONFIG)))
    expected, queues = [0] * 8, 0
    for index in rng.sample(range(16), 9):
        made = Subscriber(name=f"home-{index}", index=index)
        for _ in range(rng.randrange(5)):
            queue = common_pb2.QueueSettings(traffic_class=rng.randrange(4))
            packets, size = 65_535, (1 << 24) - 1
            if rng.random() < 0.7:
                queue.limit_packets = packets = rng.choice([0, 1, 50, 2_000])
            if rng.random() < 0.5:
                queue.limit_bytes = size = rng.choice([0, 1, 60, 61, 9_000])
            made.queues.append(queue)
            most = min(packets, -(-size // 60))
            expected[queue.traffic_class] += most
            queues += most > 0
        plant.change([lambda made=made: made])
    sums, count = memory.limits(plant)
    assert sums.tolist() == expected and count == queues
    gone = next(iter(plant.index_of))
    plant.change([lambda: gone])
    assert memory.limits(plant)[0].sum() <= sum(expected)
    assert memory.of(plant, None, 5).used == 5 and memory.of(plant, None, -5).used == 0


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (Memory(1000, 0, 1000, 10, ()), None),
        (Memory(1000, 0, 1001, 10, ()), "1,001 packets, and memory holds 1,000. When it is full, all queues lose packets"),
        (Memory(1000, 0, 1001, 10, ()), "`limit_packets` of 100 on average would fit"),
        (Memory(1000, 0, 5000, 500, (OfClass(0, 0, 5000),)), "there are 500 queues, too many for a share each"),
        (Memory(1000, 0, 5000, 100, (OfClass(0, 0, 5000),)), "a class keeps what is reserved for it, and others lose packets (no_share)"),
    ],
)
def test_the_warning(found: Memory, words: str | None) -> None:
    assert words in found.warning if words else found.warning == ""


def test_an_import_warns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """On standard error, with the remedy; and not where all fits."""
    plant = plant_of(Mirror(configs.load(CONFIG)))
    table = tmp_path / "homes.csv"
    with serving(plant, Sweep(plant), [f"unix:{tmp_path / 'c.sock'}"]) as (place,):
        for limit, warns in ((2000, True), (1000, False)):
            rows = [f"h{n},0,,{limit},0" for n in range(4)]
            table.write_text("\n".join(["name,node,rate,queue_limit_packets,queue_class", *rows]) + "\n")
            assert main(["ctl", "--server", place, "import", str(table)]) == 0
            said = capsys.readouterr().err
            assert ("8,000 packets, and memory holds 4,096" in said and "`limit_packets` of 1,024 on average" in said) == warns, said
            assert bool(said) == warns


@pytest.mark.parametrize(("minor", "writes"), [(ONE_CLASS_SINCE, 2.0), (ONE_CLASS_SINCE - 1, 3.0)])
def test_sharing_costs_no_write(minor: int, writes: float) -> None:
    """Four queues of four classes and rates: a write for the rate and one for the class, which is that of memory, too. An older device is
    told it twice."""
    facts = Facts(minor, 64, PAGES, 1522, 10_000_000, 8, True, "none", Hierarchy(4, 4, 2, 4), Sharing(4))
    without = replace(facts, admission=None)
    lengths = []
    for some in (facts, without):
        codes, programs = Codes(some), Programs(some)
        queues = [common_pb2.QueueSettings(rate_bps=10**6 * (1 + n % 4), traffic_class=n % 4) for n in range(64)]
        numbers = np.array([codes.queue(queue) for queue in queues], dtype=np.int32)
        lengths.append(programs.queues(np.arange(64, dtype=np.uint32), codes.queue_rows(numbers)).writes)
    assert lengths[0] / 64 == pytest.approx(writes, rel=0.1)
    assert (lengths[0] == lengths[1]) == (minor >= ONE_CLASS_SINCE)


def test_totals_have_the_memory() -> None:
    plant = plant_of(Mirror(configs.load(CONFIG)))
    found = memory.of(plant, memory.Shares(np.array([5, 6, 7, 8]), np.array([1, 2, 3, 4])), 0)
    said = _memory(found)
    assert (said.pages, said.used_pages, [one.used_pages for one in said.classes]) == (PAGES, 26, [5, 6, 7, 8])
    assert [one.reserved_pages for one in said.classes] == [1, 2, 3, 4] and isinstance(said, counters_pb2.Memory)
