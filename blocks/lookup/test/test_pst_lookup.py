"""pst_lookup beside its model in every cycle, and beside a dictionary: a lookup in every cycle while keys come, go and are moved."""

from pathlib import Path

import pytest

from penstock.hardware import library
from penstock.testing.testkit import run_module, run_soak, seed

BENCH = Path(__file__).parent / "soak_lookup.cpp"
RANDOM, CONSECUTIVE, STRUCTURED = range(3)


def soak(
    entries: int, key_bits: int, stash: int = 8, max_moves: int = 64, chunk_bits: int = 6, split: int = 0, **arguments: int
) -> dict[str, int]:
    parameters = {
        "Entries": entries, "KeyWidth": key_bits, "StashEntries": stash, "MaxMoves": max_moves, "ChunkBits": chunk_bits,
        "SplitStages": split,
    }  # fmt: skip
    settings = {
        "entries": entries, "key_bits": key_bits, "stash": stash, "max_moves": max_moves, "chunk_bits": chunk_bits, "split": split,
    }  # fmt: skip
    traffic = {"operations": 60_000, "seed": seed(), "keys": RANDOM, "fill": 920, "gap": 0, "resets": 2, "model": 1}
    return run_soak(BENCH, "lookup", "pst_lookup", parameters, {**settings, **traffic, **arguments}, library.sources_of("pst_lookup"))


@pytest.mark.parametrize(
    "entries, key_bits, stash, max_moves, chunk_bits, split",
    [(1024, 48, 8, 64, 6, 0), (16, 12, 2, 3, 2, 0), (4096, 80, 4, 16, 8, 0), (16, 12, 2, 3, 2, 1), (4096, 80, 8, 32, 6, 1)],
    ids=["usual", "small", "80-bit", "split-small", "split-80-bit"],
)
@pytest.mark.parametrize("keys", [RANDOM, CONSECUTIVE, STRUCTURED], ids=["random", "consecutive", "structured"])
def test_every_cycle(entries: int, key_bits: int, stash: int, max_moves: int, chunk_bits: int, split: int, keys: int) -> None:
    for fill, gap in [(920, 0), (500, 900)]:
        counts = soak(entries, key_bits, stash, max_moves, chunk_bits, split, keys=keys, fill=fill, gap=gap)
        for name in ("added", "replaced", "deleted", "read", "absent", "hits", "moves", "during"):
            assert counts[name] > 50, name
        if entries >= 1024:
            assert counts["full"] == 0
            assert counts["peak"] >= entries * fill // 1000


def test_more_keys_than_it_has_room_for() -> None:
    """Inserts are refused, and nothing that is present is lost."""
    counts = soak(64, 48, 4, 8, fill=1500, operations=100_000)
    assert counts["full"] > 1000
    assert 64 <= counts["peak"] <= 68


@pytest.mark.slow
@pytest.mark.parametrize("keys", [RANDOM, CONSECUTIVE, STRUCTURED], ids=["random", "consecutive", "structured"])
def test_millions_of_operations_at_full_size(keys: int) -> None:
    counts = soak(262_144, 48, operations=3_000_000, keys=keys, resets=0, model=0)
    assert counts["full"] == 0
    assert counts["peak"] >= 241_172


@pytest.mark.parametrize("parameters", [{"Entries": 48}, {"KeyWidth": 16}, {"StashEntries": 3}])
def test_sizes_out_of_range_are_refused(parameters: dict[str, int]) -> None:
    with pytest.raises(RuntimeError, match="return code"):
        run_module("lookup", "pst_lookup", parameters)
