"""The access edge when its memories stall, answer with errors, or never again: nothing hangs or leaks, each loss has a counted reason,
service resumes; on both engines, in every cycle the same.
"""

import random
from typing import Any

import pytest

from penstock.designs import configs
from penstock.designs.access_edge import registers
from penstock.designs.access_edge.setup import Setup
from penstock.designs.access_edge.testing import twins
from penstock.engine import engine
from penstock.errors import UserError
from penstock.hardware import verilate
from penstock.testing.testkit import seed

JOBS = 16
TIMEOUT = 3000  # cycles; memories of these jobs answer within 400, or they have a fault


def traffic(queues: list[int], bps: float = 20e9, sizes: list[tuple[int, int]] | None = None, duration: int = 60_000) -> dict[str, Any]:
    """Return a job without its device and its seed: frames of all sizes to queues that are not shaped."""
    return {
        "duration_cycles": duration,
        "drain": True,
        "max_cycles": duration + 400_000,
        "quiet_cycles": 50_000,
        "ingress_bps": 100e9,
        "egress_bps": 100e9,
        "register_writes": [(registers.address("memory_timeout"), TIMEOUT)],
        "sources": [
            {"kind": "poisson", "queues": queues, "pick": "random", "bps": bps, "sizes": sizes or [(60, 3), (200, 2), (590, 2), (1514, 2)]}
        ],
        "sample_queues": queues[:16],
        "keep_departures": True,
    }


def with_faults(device: dict[str, Any], faults: list[list[dict[str, Any]]]) -> dict[str, Any]:
    """Return key `device` of a job with faults, a list for each memory."""
    return device | {"memories": [memory | {"faults": own} for memory, own in zip(device["memories"], faults, strict=True)]}


def both(config: Any, job: dict[str, Any], faults: list[list[dict[str, Any]]], gaps: int = 0) -> dict[str, Any]:
    """Run a job on both engines, which must agree and find nothing wrong; return the result."""
    timing = {"read_latency": 44, "write_latency": 22, "gap_permille": gaps}
    library = verilate.build_device(config, print)
    rtl, model = (engine.run(job | {"device": with_faults(twins.device(config, where, timing), faults)}) for where in (library, None))
    assert twins.differences(rtl, model) == []
    assert rtl["memory"] == model["memory"]
    for one in (rtl, model):
        assert one["findings"] == [] and one["conservation_ok"], one["findings"]
    return rtl


def lost(result: dict[str, Any]) -> dict[str, int]:
    return {reason: count for reason, count in result["packets"]["dropped"].items() if count}


def test_engines_are_equal_whatever_the_memories_do() -> None:
    """Random jobs, and random faults at random moments."""
    config = configs.load("tiny_16")
    reasons: dict[str, int] = {}
    memories_lost = 0
    for number in range(seed(), seed() + JOBS):
        print(f"seed {number}")
        rng = random.Random(number)
        job, timing = twins.random_job(config, number)
        job["register_writes"] = [(registers.address("memory_timeout"), rng.choice([1000, TIMEOUT])), *job["register_writes"]]
        faults: list[list[dict[str, Any]]] = [[], []]
        for _ in range(rng.choice([1, 2, 4])):
            begin = rng.randrange(job["duration_cycles"])
            what = rng.choice(["stall", "errors", "silent"])
            until = {} if what == "silent" and rng.random() < 0.3 else {"until": begin + rng.choice([1, 30, 800, 2000, 5000])}
            rng.choice(faults).append({"what": what, "from": begin, **until})
        library = verilate.build_device(config, print)
        devices = (with_faults(twins.device(config, where, timing), faults) for where in (library, None))
        rtl, model = (engine.run(job | {"device": device}) for device in devices)
        assert twins.differences(rtl, model) == [], f"seed {number}"
        assert rtl["memory"] == model["memory"], f"seed {number}"
        for one in (rtl, model):
            assert one["findings"] == [] and one["conservation_ok"], f"seed {number}"
        memories_lost += sum(memory["lost"] for memory in rtl["memory"])
        for reason, count in lost(rtl).items():
            reasons[reason] = reasons.get(reason, 0) + count
    print(reasons, memories_lost)
    assert reasons["read_error"] > 20 and reasons["write_error"] > 20 and memories_lost > 1


def test_a_stall_is_survived() -> None:
    """The first memory takes and gives nothing for almost the time-out: nothing is lost but what finds no page; service resumes."""
    config = configs.load("tiny_16")
    rng = random.Random(seed())
    begin = rng.randrange(10_000, 40_000)
    print(f"seed {seed()}: from cycle {begin}")
    job = {"seed": seed(), **traffic(list(range(16)))}
    result = both(config, job, [[{"what": "stall", "from": begin, "until": begin + TIMEOUT - 100}], []])
    assert set(lost(result)) <= {"no_page"}, "a stall costs what finds no page, no more"
    assert not any(memory["lost"] for memory in result["memory"]) and result["drained"]
    late = result["departures"]["cycle"] > begin + TIMEOUT + 5000
    assert late.any() and result["latency_cycles"][late].max() < 3000, "service does not resume"


def test_errors_for_a_while() -> None:
    """Frames that are written or read meanwhile are lost, with their reasons, half sent ones too; all others come out whole."""
    config = configs.load("tiny_16")
    rng = random.Random(seed())
    windows = [{"what": "errors", "from": at, "until": at + rng.choice([20, 100, 1000])} for at in range(rng.randrange(5000), 60_000, 6000)]
    print(f"seed {seed()}: {windows}")
    result = both(config, {"seed": seed(), **traffic(list(range(16)), sizes=[(1514, 1), (250, 1)])}, [windows, windows])
    found = lost(result)
    assert set(found) <= {"write_error", "read_error", "no_page"} and min(found["write_error"], found["read_error"]) > 5, found
    assert result["drained"] and not any(memory["lost"] for memory in result["memory"])


@pytest.mark.parametrize("name", ["tiny_16", "tiny_codel_16"])
def test_silence_of_one_memory(name: str) -> None:
    """From a random moment on one memory answers no more: the device goes on with the other one, and late answers do no harm."""
    config = configs.load(name)
    for number in range(seed(), seed() + 3):
        rng = random.Random(number)
        begin, which = rng.randrange(5000, 30_000), rng.randrange(2)
        wakes = rng.choice([{}, {"until": begin + TIMEOUT + rng.randrange(5000)}])
        print(f"seed {number}: memory {which} from cycle {begin} {wakes}")
        faults: list[list[dict[str, Any]]] = [[], []]
        faults[which] = [{"what": "silent", "from": begin, **wakes}]
        # Small frames fit into both memories, large ones into the first.
        job = {"seed": number, **traffic(list(range(16)), bps=8e9, sizes=[(60, 3), (200, 2), (1000, 1)])}
        result = both(config, job, faults)
        assert [memory["lost"] for memory in result["memory"]] == [which == 0, which == 1]
        assert result["drained"] and set(lost(result)) <= {"write_error", "read_error", "no_page", "aqm"}
        after = result["departures"]["cycle"] > begin + TIMEOUT + 5000
        assert after.sum() > 200 and result["latency_cycles"][after].max() < 2000, "the other memory is not enough"


def test_silence_where_memory_is_shared() -> None:
    """With an admission, whose counts lose a memory with it: on both engines the same, memory by memory until none is left."""
    config = configs.load("tiny_share_16")
    missed = 0
    for number in range(seed(), seed() + 12):
        rng = random.Random(number)
        faults: list[list[dict[str, Any]]] = [[] for _ in config.channels]
        falls = rng.sample(range(len(faults)), rng.randint(1, len(faults)))
        for which in falls:
            begin = rng.randrange(5000, 40_000)
            wakes = {"until": begin + TIMEOUT + rng.randrange(5000)} if rng.random() < 0.3 else {}
            faults[which] = [{"what": "silent", "from": begin, **wakes}]
        print(f"seed {number}: {faults}")
        job = {"seed": number, **traffic(list(range(16)), bps=rng.choice([8e9, 60e9]))}
        for _ in range(rng.randrange(4)):
            job["register_writes"] = [
                *job["register_writes"],
                *registers.share_writes(rng.randrange(4), rng.randrange(2), 7, rng.randrange(20)),
            ]
        result = both(config, job, faults)
        for which, memory in enumerate(result["memory"]):
            for_ever = which in falls and "until" not in faults[which][0]
            assert memory["lost"] if for_ever else (which in falls or not memory["lost"]), "one that wakes may be in time"
        assert result["drained"] and set(lost(result)) <= {"write_error", "read_error", "no_page", "no_share"}
        missed += result["packets"]["dropped"]["no_page"]
    assert missed > 10, "no frame that was to have a page found none"


@pytest.mark.parametrize("name", ["tiny_16", "tiny_share_16"])
def test_a_reset_with_requests_under_way(name: str) -> None:
    """A device that is reset in the middle of traffic, memories with it, is as one that has just been switched on: in every cycle."""
    config = configs.load(name)
    library = verilate.build_device(config, print)
    for number in range(seed(), seed() + 8):
        rng = random.Random(number)
        job, timing = twins.random_job(config, number)
        after = rng.randrange(1, job["duration_cycles"])
        print(f"seed {number}: reset after cycle {after}")
        fresh, rtl, model = (
            engine.run(job | before | {"device": twins.device(config, where, timing)})
            for where, before in ((library, {}), (library, {"reset_after_cycles": after}), (None, {"reset_after_cycles": after}))
        )
        assert twins.differences(fresh, rtl) == [] and twins.differences(rtl, model) == [], f"seed {number}"
        assert rtl["findings"] == [] and rtl["conservation_ok"]


def test_all_memories_fall_silent() -> None:
    """Nothing hangs: every frame has its fate, the drain ends, and the registers tell."""
    config = configs.load("tiny_16")
    rng = random.Random(seed())
    faults = [[{"what": "silent", "from": rng.randrange(5000, 20_000)}] for _ in config.channels]
    print(f"seed {seed()}: {faults}")
    result = both(config, {"seed": seed(), **traffic(list(range(16)))}, faults)
    assert all(memory["lost"] for memory in result["memory"]) and result["drained"]
    assert result["packets"]["dropped"]["no_page"] > 1000 and result["packets"]["queued"] == 0


def full_job(config: Any, queues: int, opens: int, duration: int, bps: float) -> dict[str, Any]:
    """Return a job in which closed gates fill every page, until they open in cycle `opens`."""
    closed = [w for queue in range(queues) for w in registers.queue_writes(queue, 0, 0, 65_535, (1 << 24) - 1, config.clock_hz)]
    opened = [(opens, *w) for q in range(queues) for w in registers.queue_writes(q, None, 0, 65_535, (1 << 24) - 1, config.clock_hz)]
    job = {"seed": seed(), **traffic(list(range(queues)), bps=bps, duration=duration)}
    return job | {"register_writes": job["register_writes"] + closed, "timed_register_writes": opened}


def check_full(result: dict[str, Any], opens: int) -> None:
    assert set(lost(result)) == {"no_page"} and result["drained"] and result["findings"] == [] and result["conservation_ok"]
    assert not any(memory["lost"] for memory in result["memory"]), "a memory that nobody asks is not lost"
    left = result["departures"]["cycle"]
    assert left.min() >= opens and (left > opens + (result["cycles"] - opens) // 2).sum() > 50, "service does not resume"


def test_a_full_buffer() -> None:
    """Every page is taken for long: what comes is lost with its reason; then all leave, and service goes on as before."""
    config = configs.load("tiny_16")
    check_full(both(config, full_job(config, 8, 150_000, 200_000, 3e9), [[], []], gaps=50), 150_000)


@pytest.mark.parametrize("where", ["model", pytest.param("rtl", marks=pytest.mark.slow)])
def test_full_for_more_than_a_second(where: str) -> None:
    """The same for a second and more of the device's time."""
    config = configs.load("demo_64")
    job = full_job(config, 8, 12_000_000, 14_000_000, 30e6) | {"ingress_bps": 1e9, "egress_bps": 1e9}
    library = verilate.build_device(config, print) if where == "rtl" else None
    timing = {"read_latency": 2, "write_latency": 1, "gap_permille": 0}
    result = engine.run(job | {"device": twins.device(config, library, timing)})
    assert result["packets"]["dropped"]["no_page"] > 2000
    check_full(result, 12_000_000)


@pytest.mark.parametrize(
    ("device", "words"),
    [
        ({"memory_faults": [{"memory": "ddr7", "what": "silent"}]}, 'is "ddr7", but configuration tiny_16 has ddr, sram'),
        ({"memory_faults": [{"memory": "ddr", "what": "stall", "from": "1 ms"}]}, "is a stall without `for`"),
        ({"memory_faults": [{"memory": "ddr", "what": "deaf"}]}, "what"),
        ({"memory_faults": [{"memory": "ddr", "what": "errors", "to": "1 ms"}]}, "is not a known key"),
        ({"memory_timeout": "1 min"}, r"must be 0 or 1 to 4,294,967,295 cycles of 220 MHz, not 13,200,000,000"),
        ({"memory_timeout": "1 ps"}, "must be 0 or 1 to"),
    ],
)
def test_what_a_fault_cannot_be(device: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError, match=words):
        setup = Setup({"device": {"config": "tiny_16", **device}})
        setup.job(None)
        setup.first_writes()


def test_faults_of_a_scenario_are_those_of_a_job() -> None:
    faults = [
        {"memory": "sram", "what": "stall", "from": "10 us", "for": "1 us"},
        {"memory": "ddr", "what": "silent"},
        {"memory": "sram", "what": "errors", "for": "1 ps"},
    ]
    setup = Setup({"device": {"config": "tiny_16", "memory_faults": faults, "memory_timeout": "1 ms"}})
    assert [memory.get("faults") for memory in setup.job(None)["device"]["memories"]] == [
        [{"what": "silent", "from": 0}],
        [{"what": "stall", "from": 2200, "until": 2420}, {"what": "errors", "from": 0, "until": 1}],
    ]
    assert setup.first_writes() == [(registers.address("memory_timeout"), 220_000)]


@pytest.mark.parametrize("name", ["tiny_16", "tiny_share_16"])
def test_a_refused_write_has_a_reason_of_its_own(name: str) -> None:
    """While memories refuse all writes, each good frame counts as write_error, packets and bytes; no other counter moves."""
    config = configs.load(name)
    print(f"PENSTOCK_SEED={seed()}")
    rng = random.Random(seed())
    sizes = [rng.randint(config.min_frame_bytes, config.max_frame_bytes) for _ in range(40)]
    for library in (str(verilate.build_device(config, print)), None):
        device = twins.device(config, library, {"read_latency": 44, "write_latency": 22, "gap_permille": 0})
        faults: list[list[dict[str, Any]]] = [[{"what": "errors", "from": 0}] for _ in config.memories]
        job = {"device": with_faults(device, faults), "sources": [], "seed": seed(), "ingress_bps": 10e9, "egress_bps": 0}
        session = engine.module().Session(job)
        session.start()
        for size in sizes:
            session.offer(0, rng.randrange(config.queues), bytes(size))
        session.advance(100_000, until_empty=True)
        for reason in registers.DROP_REASONS.values():
            wanted = [len(sizes), sum(sizes)] if reason == "write_error" else [0, 0]
            seen = [session.read(registers.address(f"dropped_{reason}_{what}")) for what in ("packets", "bytes")]
            assert seen == wanted, (reason, library)
        assert session.end()["conservation_ok"]
