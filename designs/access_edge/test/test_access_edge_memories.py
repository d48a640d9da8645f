"""The access edge on memories of all kinds: the model is the RTL's twin in every cycle, whatever the memories do."""

import random
from typing import Any

import pytest

from penstock.designs import configs
from penstock.designs.access_edge.testing import twins
from penstock.engine import engine, memories
from penstock.errors import UserError
from penstock.hardware import verilate
from penstock.testing.testkit import seed

JOBS = {"tiny_16": 32, "jumbo_1024": 32, "tiny_codel_16": 8, "tiny_mix_16": 12}
# Seeds of jobs in which what is rare happens: stored frames wait for room behind the rx handler.
RARE = {"tiny_16": [388]}


def with_random_kinds(config: Any, rng: random.Random) -> Any:
    """Return `config` with another kind for each memory, and a controller of random size for each channel of DRAM."""
    changes: dict[str, object] = {}
    for memory in config.memories:
        kind = rng.choice(memories.kinds())
        changes[f"memories.{memory.name}.kind"] = kind
        if kind in memories.dram_kinds():
            queue = rng.choice((4, 16, 64))
            changes |= {
                f"memories.{memory.name}.queue": queue,
                f"memories.{memory.name}.batch": rng.randint(1, queue),
                f"memories.{memory.name}.close_rows": rng.random() < 0.5,
                f"memories.{memory.name}.hash_groups": rng.random() < 0.5,
            }
        if kind == "hbm2":
            changes[f"memories.{memory.name}.crossbar"] = rng.choice(memories.CROSSBARS)
    return configs.with_overrides(config, changes)


@pytest.mark.parametrize("name", ["tiny_16", pytest.param("jumbo_1024", marks=pytest.mark.slow), "tiny_codel_16"])
def test_engines_are_equal_on_any_memory(name: str) -> None:
    config = configs.load(name)
    library = verilate.build_device(config, print)
    dram = 0
    for number in [*range(seed(), seed() + JOBS[name]), *RARE.get(name, [])]:
        rng = random.Random(number)
        job, timing = twins.random_job(config, number)
        mixed = with_random_kinds(config, rng)
        rtl, model = (engine.run(job | {"device": twins.device(mixed, where, timing)}) for where in (library, None))
        assert twins.differences(rtl, model) == [], f"seed {number}"
        for one in (rtl, model):
            assert one["findings"] == [] and one["conservation_ok"], f"seed {number}"
        if any(memory.kind in memories.dram_kinds() for memory in mixed.memories):
            assert rtl["memory"] == model["memory"], f"seed {number}"
            dram += rtl["packets"]["out"]
    assert dram > 100


@pytest.mark.slow
def test_32_memories_of_any_mix() -> None:
    """As many memories as there may be, of five page sizes and all kinds: equal engines, all memories at work, nothing lost on the way."""
    config = configs.load("tiny_mix_16")
    assert len(config.channels) == memories.MAX_CHANNELS
    assert {memory.kind for memory in config.channels} == set(memories.kinds())
    library = verilate.build_device(config, print)
    carried = [0] * memories.MAX_CHANNELS
    for number in range(seed(), seed() + JOBS["tiny_mix_16"]):
        job, timing = twins.random_job(config, number)
        mixed = configs.with_overrides(config, {"memories.hbm.crossbar": memories.CROSSBARS[number % len(memories.CROSSBARS)]})
        rtl, model = (engine.run(job | {"device": twins.device(mixed, where, timing)}) for where in (library, None))
        assert twins.differences(rtl, model) == [], f"seed {number}"
        for one in (rtl, model):
            assert one["findings"] == [] and one["conservation_ok"], f"seed {number}"
        assert rtl["memory"] == model["memory"], f"seed {number}"
        carried = [beats + memory["write_beats"] for beats, memory in zip(carried, rtl["memory"], strict=True)]
    assert min(carried) > 0, "each memory was used"


def test_channels_are_memories_of_their_own() -> None:
    config = configs.with_overrides(configs.load("edge_2048"), {"memories.ddr.channels": 3, "memories.ddr.kind": "ddr4_3200"})
    assert [memory.name for memory in config.channels] == ["ddr0", "ddr1", "ddr2"]
    assert config.descriptors == 3 * config.memories[0].pages
    described = twins.device(config, None, {"read_latency": 1, "write_latency": 1, "gap_permille": 0})["memories"]
    assert len({memory["dram"]["first_refresh"] for memory in described}) == 3, "they do not refresh together"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"memories.ddr.kind": "ddr4_2666"}, "must be one of ideal, sram, ddr4_2400"),
        ({"memories.ddr.channels": 33}, "must be at most 32, not 33"),
        ({"max_frame_bytes": 2049}, "no memory has a page for the largest frame: max_frame_bytes is 2,049, the largest page has 2,048"),
        ({"memories.ddr.mapping": "row bank column group"}, "kind ideal has no controller"),
        ({"memories.ddr.kind": "hbm2", "memories.ddr.batch": 1000}, "more than the 128 places"),
        ({"memories.ddr.kind": "ddr4_3200", "memories.ddr.crossbar": "own"}, "kind ddr4_3200 has no crossbar"),
    ],
)
def test_what_a_memory_cannot_be(change: dict[str, object], words: str) -> None:
    with pytest.raises(UserError, match=words):
        configs.with_overrides(configs.load("edge_2048"), change)
