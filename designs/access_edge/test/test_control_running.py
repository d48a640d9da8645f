# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Gates, counters and traffic behind the control plane: traffic is the same whoever looks, and accesses let each other in."""

import contextlib
import random
import statistics
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import grpc
import numpy as np
import pytest

from penstock.designs import configs
from penstock.designs.access_edge import registers
from penstock.designs.access_edge.control.access import Limits
from penstock.designs.access_edge.control.client import Client
from penstock.designs.access_edge.control.facts import ask
from penstock.designs.access_edge.control.server import serving
from penstock.designs.access_edge.control.services.counters import Counters
from penstock.designs.access_edge.control.sweep import Sweep, snapshots
from penstock.designs.access_edge.testing.control import (
    CONFIG,
    CountingMirror,
    Mirror,
    fails,
    home,
    plant_of,
    small_device,
)
from penstock.driver.carrier import READ, WRITE, CarrierError, parts, program, reads
from penstock.testing.testkit import seed
from penstock.v1 import counters_pb2, queues_pb2, subscribers_pb2


def pass_time(carrier: Any, cycles: int) -> None:
    """Wait until the device's clock has gone on by so much: on a busy machine that is much longer than on an idle one."""
    end, until = time.monotonic() + 120, carrier.cycles() + cycles
    while carrier.cycles() < until:
        assert time.monotonic() < end, "the device stands still"
        time.sleep(0.01)


def test_gates_hold_and_release(served: Any) -> None:
    """A closed gate: what comes waits and nothing leaves; opened, it drains. Judged by the device's own counters."""
    client, plant, _, _ = served
    client.provision([home("gated")])
    of = queues_pb2.QueueName(of=queues_pb2.QueueName.OfSubscriber(subscriber="gated", position=2))

    def look() -> Any:
        return client.queues.Get(queues_pb2.GetQueueRequest(queue=of)).counters

    client.gates.Close(queues_pb2.GateRequest(subscribers=["gated"]))
    pass_time(plant.carrier, 220_000)  # what was on its way has left
    first = look()
    pass_time(plant.carrier, 2_200_000)
    second = look()
    assert second.out_packets == first.out_packets and second.in_packets > first.in_packets
    assert second.queued_packets == first.queued_packets + second.in_packets - first.in_packets > 0
    client.gates.Open(queues_pb2.GateRequest(subscribers=["gated"]))
    opened = look()  # on a busy machine the queue may have reached its limit before it was opened
    end = time.monotonic() + 20
    while (third := look()).queued_packets > 2:
        assert time.monotonic() < end, "it does not drain"
        time.sleep(0.05)
    assert third.out_packets >= second.in_packets - third.queued_packets and third.dropped_packets == opened.dropped_packets
    fails(grpc.StatusCode.NOT_FOUND, "no subscriber 'nobody'", client.gates.Close, queues_pb2.GateRequest(subscribers=["gated", "nobody"]))


def test_counters_are_watched(served: Any) -> None:
    """What there is first, then changes; sums by node are those of their queues; counters never go back, also when a subscriber moves."""
    client, plant, sweep, _ = served
    client.provision([home(f"watched-{n}", node=n % 2) for n in range(4)])
    with sweep.done:
        number = sweep.number
        assert sweep.done.wait_for(lambda: sweep.number >= number + 3, timeout=30)
    before = client.counters.Totals(counters_pb2.TotalsRequest())
    assert before.device.in_packets == sum(node.in_packets for node in before.nodes) == sum(cls.in_packets for cls in before.classes) > 0
    stream = client.counters.Watch(counters_pb2.WatchRequest(subscriber="watched-1", period_ms=100))
    first = next(stream)
    assert first.snapshot and first.last_of_snapshot and len(first.queues) == 4
    seen = {queue.queue: queue.in_packets for queue in first.queues}
    end = time.monotonic() + 20
    grown = False
    while not grown:  # a change may be a rate alone, where nothing has come for a while
        assert time.monotonic() < end and not (change := next(stream)).snapshot
        assert all(queue.in_packets >= seen[queue.queue] for queue in change.queues)
        grown = any(queue.in_packets > seen[queue.queue] for queue in change.queues)
    stream.cancel()
    client.subscribers.Move(subscribers_pb2.MoveSubscriberRequest(name="watched-1", node=3))
    with sweep.done:
        number = sweep.number
        assert sweep.done.wait_for(lambda: sweep.number >= number + 3, timeout=30)
    after = client.counters.Totals(counters_pb2.TotalsRequest())
    for old, new in zip(before.nodes, after.nodes, strict=True):
        assert new.in_packets >= old.in_packets
    assert after.nodes[3].in_packets > before.nodes[3].in_packets
    assert after.device.in_packets <= plant.carrier.device.totals()["packets"]["in"]
    end = time.monotonic() + 30
    while not (top := client.counters.Top(counters_pb2.TopRequest(count=3)).queues):  # a busy machine: nothing left between two looks
        assert time.monotonic() < end
        time.sleep(0.05)
    assert len(top) <= 3 and top[0].counters.rate_bps >= top[-1].counters.rate_bps and top[0].subscriber
    assert after.reasons[0].reason in registers.DROP_WORDS


def test_counters_before_the_first_sweep_are_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Figures that are not there have no age."""
    from penstock.command_line.app import main

    plant = plant_of(CountingMirror(configs.load(CONFIG)))
    plant.change([lambda: home("a")])
    sweep = Sweep(plant)
    with serving(plant, sweep, [f"unix:{tmp_path / 'c.sock'}"]) as (place,), Client(place) as client:
        assert not client.counters.Totals(counters_pb2.TotalsRequest()).HasField("age_ns")
        assert main(["ctl", "--server", place, "counters"]) == 0 and capsys.readouterr().out.endswith("; no figures yet\n")
        sweep._once()
        assert client.counters.Totals(counters_pb2.TotalsRequest()).HasField("age_ns")
        assert main(["ctl", "--server", place, "counters"]) == 0 and "; figures are " in capsys.readouterr().out


def test_a_queue_that_falls_silent_is_watched() -> None:
    """While nothing comes or leaves the rate becomes 0, and the first packet waits longer: both are told, and what stays as it is, not."""
    plant = plant_of(Mirror(configs.load(CONFIG)))
    plant.change([lambda: home("a")])
    sweep = Sweep(plant)
    sweep.counts[:4], sweep.rates[:2], sweep.sojourn[2] = 5, 38_322.9, 1_000
    context: Any = SimpleNamespace(is_active=lambda: True)
    told = Counters(plant, sweep, Limits())._changes(counters_pb2.WatchRequest(subscriber="a"), context, 0.0)

    def after(do: Callable[[], object]) -> list[int]:
        do()
        sweep.number += 1
        return [queue.queue for queue in next(told).queues]

    assert after(lambda: None) == [0, 1, 2, 3]
    assert after(lambda: None) == []
    assert after(lambda: sweep.rates.__setitem__(1, 0.0)) == [1]
    assert after(lambda: sweep.sojourn.__setitem__(2, 2_000)) == [2]
    assert after(lambda: sweep.counts.__setitem__((3, 0), 6)) == [3]
    assert after(lambda: None) == []


@pytest.mark.parametrize("wrong", [(4, 0, 0, 0), (WRITE, 4_096, 0, 0), (READ, 2, 0, 0)])
def test_a_program_is_looked_at_before_it_is_done(served: Any, wrong: tuple[int, int, int, int]) -> None:
    """What cannot be done is refused with all that is around it."""
    carrier, at = served[1].carrier, registers.address("queue_rate")
    (before,) = carrier.run(reads([at])).tolist()
    with pytest.raises(CarrierError, match="a multiple of 4 below 4,096"):
        carrier.run(program([(WRITE, at, before ^ 1, 0), wrong]))
    assert carrier.run(reads([at])).tolist() == [before]


ENDS = """
device: { config: tree_64 }
duration: 1 s
drain: false
traffic: [{ name: all, stop: 1 ms, poisson: { queues: 0-63, pick: random, rate: 3 Gbit/s, size: imix } }]
queues: [{ ids: 0-63, rate: 20 Mbit/s, burst: 3 kB }]
"""


@pytest.mark.parametrize("engine", ["model", pytest.param("rtl", marks=pytest.mark.slow)])
def test_traffic_is_the_same_whoever_looks(engine: str, tmp_path: Path) -> None:
    """Slices end early for accesses, and traffic does not notice: reads at any time change nothing, and the scenario's own changes come in
    their cycles, as in a run that is not served."""
    from penstock.driver.in_process import InProcess
    from penstock.engine import engine as simulator
    from penstock.engine.run import Request, prepare
    from penstock.library.device import built

    def outcome(reads: bool, changes: str = "") -> Any:
        scenario = tmp_path / "s.yaml"
        scenario.write_text(ENDS + changes)
        run = prepare(Request(scenario, engine=engine))
        run.plan.job["device"]["library"] = built(run.config, engine, assertions=True)
        carrier = InProcess(run.plan.job, real_time=False)
        end = time.monotonic() + 300
        while carrier.cycles() < 220_000 * 4:  # 4 ms
            assert time.monotonic() < end
            if reads:
                carrier.run(read)
            else:
                time.sleep(0.001)
        found = carrier.device.end()
        assert found["conservation_ok"]
        return whole(found)

    def whole(found: dict[str, Any]) -> Any:
        assert found["packets"]["in"] > 900
        histograms = [{key: np.asarray(value).tolist() for key, value in one.items()} for one in found["latency_histograms"]]
        return found["packets"], found["bytes"], histograms

    read = np.array([[READ, registers.address("status"), 0, 0]] * 3, dtype=np.uint32)
    alone = outcome(reads=False)
    assert outcome(reads=True) == alone
    changes = (
        "changes: [" + ", ".join(f"{{ at: {at} us, queues: {at % 64}, set: {{ rate: 100 Mbit/s }} }}" for at in range(100, 900, 7)) + "]"
    )
    changed = outcome(False, changes)
    (tmp_path / "s.yaml").write_text(ENDS.replace("duration: 1 s", "duration: 4 ms") + changes)
    run = prepare(Request(tmp_path / "s.yaml", engine=engine))
    run.plan.job["device"]["library"] = built(run.config, engine, assertions=True)
    assert changed == whole(simulator.run(run.plan.job)) != alone


def _name_of(task: Path) -> str:
    with contextlib.suppress(OSError):  # it has ended
        return (task / "comm").read_text().strip()
    return ""


def test_an_access_ends_a_slice(tmp_path: Path) -> None:
    """An access may come at any time of a slice: of those that come early the device runs little of it, by its own clock, and not all."""
    from penstock.driver.in_process import InProcess
    from penstock.engine import engine
    from penstock.engine.run import Request, prepare

    engine.build()
    scenario = tmp_path / "s.yaml"
    traffic = "[{ name: all, poisson: { queues: 0-63, pick: random, rate: 5 Gbit/s, size: 64 } }]"  # nothing is skipped: time is short
    scenario.write_text(f"device: {{ config: {CONFIG} }}\nduration: 1 s\ndrain: false\ntraffic: {traffic}\n")
    carrier = InProcess(prepare(Request(scenario, engine="model")).plan.job, real_time=False)
    read = np.array([[READ, registers.address("status"), 0, 0]], dtype=np.uint32)
    shares, rng = [], random.Random(seed())
    while not (found := [task for task in Path("/proc/self/task").iterdir() if _name_of(task) == "device"]):
        time.sleep(0.01)  # it has not begun yet
    spent = found[-1] / "schedstat"  # ns that it had a processor
    for _ in range(5):
        begin, cycles = int(spent.read_text().split()[0]), carrier.cycles()
        time.sleep(0.1)
        # By its own processor time: others may have the processor for a while, here and below, and the device does not run then.
        speed = (carrier.cycles() - cycles) / (int(spent.read_text().split()[0]) - begin) * 1e9
        seen = []
        for _ in range(150):
            time.sleep(rng.uniform(0.0005, 0.0015))
            begun = carrier.cycles()  # the slice that is under way
            carrier.run(read)
            if (ran := carrier.cycles() - begun) > 100:  # else the device was asleep, and the read alone took these cycles
                seen.append(ran)
        shares.append(statistics.quantiles(seen, n=10)[0] / (speed * 250e-6))
    carrier.close()
    assert min(shares) < 0.45, shares


def test_parts_end_where_others_may_come_in() -> None:
    """A carrier that cannot be interrupted does a long program in parts, each of which is short and ends where others may come in."""
    whole = reads(range(0, 20_000, 4))
    for step in (1, 7, 1024, 3_000):
        found = parts(whole, step)
        assert len(found) > 1 and all(len(part) % step == 0 for part in found[:-1]) and len(found[0]) <= max(step, 1024)
        assert (np.concatenate(found) == whole).all()
    assert len(parts(whole, 0)) == len(parts(whole[:0], 5)) == 1


def test_who_reads_much_lets_others_in(tmp_path: Path) -> None:
    """Of a program that others may come in between, one that comes meanwhile does not wait for the end; in all others nothing comes in
    between."""
    from penstock.driver.in_process import InProcess
    from penstock.engine import engine
    from penstock.engine.run import Request, prepare

    engine.build()
    carrier = InProcess(prepare(Request(small_device(tmp_path), engine="model")).plan.job)
    index = registers.address("queue_index")

    def accesses(value: int, count: int) -> Any:
        return np.tile(np.array([[WRITE, index, value, 0], [READ, index, 0, 0]], dtype=np.uint32), (count, 1))

    def beside(step: int, count: int) -> tuple[float, Any]:
        """Do a long program, and short ones from its middle on; return what share of it the first of these took, and what was read."""
        found: list[Any] = []
        long, short = accesses(1, count), accesses(2, 1)
        thread = threading.Thread(target=lambda: found.append((carrier.run(long, step), time.monotonic())))
        begin = time.monotonic()
        thread.start()
        time.sleep(0.02)
        asked = time.monotonic()
        carrier.run(short)
        answered = time.monotonic()
        while thread.is_alive():
            assert carrier.run(short).tolist() == [2]
        (values, end) = found[0]
        return (answered - asked) / (end - begin), values

    count = 500_000
    shares = [beside(2, count) for _ in range(3)]
    assert all(set(values.tolist()) == {1} and len(values) == count for _, values in shares)
    assert min(share for share, _ in shares) < 0.2
    share, values = beside(0, count)
    assert set(values.tolist()) == {1} and share > 0.3
    carrier.close()


def test_traffic_goes_on_for_ever(tmp_path: Path) -> None:
    """Beyond the duration of the scenario, but for a source that stops before it."""
    from penstock.driver.in_process import InProcess
    from penstock.engine import engine
    from penstock.engine.run import Request, prepare

    engine.build()
    scenario = tmp_path / "s.yaml"
    scenario.write_text(
        f"device: {{ config: {CONFIG} }}\nduration: 10 us\ndrain: false\ntraffic:\n"
        "  - { name: on, constant: { queues: 0, rate: 1 Gbit/s, size: 100 } }\n"
        "  - { name: off, stop: 5 us, constant: { queues: 1, rate: 1 Gbit/s, size: 100 } }\n"
    )
    carrier = InProcess(prepare(Request(scenario, engine="model")).plan.job, real_time=False)
    end = time.monotonic() + 60
    while carrier.cycles() < 220 * 1000:  # 1 ms
        assert time.monotonic() < end
        time.sleep(0.01)
    on, off = snapshots(carrier, ask(carrier), np.array([0, 1]))[0][:, 0].tolist()
    assert on >= 1250 and off == 7, (on, off)  # 0.8 us a frame
    carrier.close()
