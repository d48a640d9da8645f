"""Kinds of packet memory: what a configuration may name, and the numbers that the engine gets for it.

`ideal` answers after a fixed time whatever else it does; `sram` is the same with the latencies of on-chip memory. The others are
channels of DRAM, with the values and sources of `engine/memories.yaml`.
"""

from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from math import ceil
from typing import Any, NamedTuple

from ruamel.yaml import YAML

from penstock.basics.suggest import meant
from penstock.paths import ROOT

TABLE = ROOT / "engine" / "memories.yaml"
IDEAL, SRAM = "ideal", "sram"
SRAM_READ_CYCLES, SRAM_WRITE_CYCLES = 6, 3  # an UltraRAM column with its registers in and out
BEAT_BYTES = 64
MAX_CHANNELS = 32
FIELDS = ("row", "bank", "group", "column")
# What a configuration may say of the crossbar between ports and pseudo channels, as HbmSwitchSettings::Mapping has it; spread_one_id: the
# same, and a port has requests under way at one pseudo channel only.
NO_CROSSBAR = "none"
CROSSBARS = (NO_CROSSBAR, "own", "across", "spread", "spread_one_id")

# The controller, where a configuration says nothing else; all in engine/include/penstock/engine/dram_settings.hpp.
DRAIN_FROM, DRAIN_AFTER, HIT_LIMIT = 16, 256, 32
BURSTS, REORDER_BEATS = 16, 128


class Controller(NamedTuple):
    """What a configuration may say of a channel and its controller; None: as the kind has it."""

    clock_hz: int | None = None
    mapping: str | None = None
    hash_groups: bool = True
    close_rows: bool = False
    queue: int | None = None
    batch: int | None = None
    crossbar: str = NO_CROSSBAR
    forward: bool = False  # reads of what is in the write queue are answered from there, as in DRAMsim3


class Kind(NamedTuple):
    """A kind of DRAM, by the keys of engine/memories.yaml."""

    name: str
    description: str
    clock_hz: int
    access_bytes: int
    bank_groups: int
    banks_per_group: int
    row_bytes: int
    row_bus: bool
    timing: Mapping[str, tuple[int, float]]
    mapping: str
    queue: int
    batch: int
    idle_ns: float
    response_ns: float
    crossbar: Mapping[str, Any] | None

    @property
    def bytes_per_second(self) -> int:
        """What the data pins carry at most."""
        return self.clock_hz * self.access_bytes // self.timing["burst"][0]


@cache
def dram_kinds() -> dict[str, Kind]:
    """Return the kinds of DRAM by name."""
    table = YAML(typ="safe").load(TABLE)
    return {name: _kind(name, entry) for name, entry in table.items()}


def _kind(name: str, entry: Mapping[str, Any]) -> Kind:
    keys = {key: entry[key] for key in Kind._fields if key not in ("name", "timing", "crossbar")}
    crossbar = {key: value[0] for key, value in entry["crossbar"].items()} if "crossbar" in entry else None
    times = {key: (int(value[0]), float(value[1])) for key, value in entry["timing"].items()}
    return Kind(name=name, crossbar=crossbar, timing=times, **keys)


def kinds() -> tuple[str, ...]:
    """Return the names of all kinds."""
    return (IDEAL, SRAM, *dram_kinds())


def check_kind(name: str) -> str:
    """Return `name`. Raises ValueError, a sentence without its subject."""
    if name not in kinds():
        raise ValueError(f"must be one of {', '.join(kinds())}, not {name!r}{meant(name, kinds())}")
    return name


def fields(mapping: str, kind: Kind) -> list[dict[str, Any]]:
    """Return the fields of an address as the engine has them, the least significant first; the row is what is above them.

    `mapping` names them the most significant first: `row bank column group`, each once. A field may be split: `column:1` is one bit of it,
    `column` without a number all that are left. Raises ValueError, a sentence without its subject.
    """
    names = mapping.split()
    if not names or names[0] != "row" or names.count("row") != 1:
        raise ValueError(f"must begin with `row`, which is there once, not {mapping!r}")
    accesses = kind.row_bytes // kind.access_bytes
    left = {"column": accesses.bit_length() - 1, "group": kind.bank_groups.bit_length() - 1, "bank": kind.banks_per_group.bit_length() - 1}
    sized = [_field(name, mapping) for name in names[1:]]
    for of, bits in sized:
        left[of] -= bits or 0
    found = []
    for of, bits in sized:
        found.append({"of": of, "bits": left[of] if bits is None else bits})
        if bits is None:
            left[of] = 0
    if wrong := [of for of, bits in left.items() if bits] or [of for of in left if [n for n, b in sized if b is None].count(of) > 1]:
        raise ValueError(f"must have all bits of row, bank, group and column once, not {mapping!r}: see {wrong[0]}")
    return found[::-1]


def _field(text: str, mapping: str) -> tuple[str, int | None]:
    of, colon, bits = text.partition(":")
    if of not in FIELDS[1:] or (colon and not bits.isdecimal()):
        raise ValueError(f"must be made of row, bank, group, column and column:N, not {mapping!r}")
    return of, int(bits) if colon else None


def check_controller(name: str, given: Controller) -> None:
    """Raise ValueError, a sentence, where `given` makes no sense for kind `name`."""
    if name not in dram_kinds():
        if given != Controller():
            raise ValueError(
                f"kind {name} has no controller: memory_clock_hz, mapping, hash_groups, close_rows, queue, batch and crossbar are of DRAM"
            )
        return
    if given.crossbar not in CROSSBARS:
        raise ValueError(f"crossbar must be one of {', '.join(CROSSBARS)}, not {given.crossbar!r}{meant(given.crossbar, CROSSBARS)}")
    if given.crossbar != NO_CROSSBAR and dram_kinds()[name].crossbar is None:
        raise ValueError(f"kind {name} has no crossbar: that is between pseudo channels of {', '.join(_with_crossbar())}")
    if given.mapping is not None:
        try:
            fields(given.mapping, dram_kinds()[name])
        except ValueError as error:
            raise ValueError(f"mapping {error}") from None
    kind = dram_kinds()[name]
    batch, queue = given.batch or kind.batch, given.queue or kind.queue
    if batch > queue:
        raise ValueError(f"batch is {batch}, more than the {queue} places of a queue")


def _with_crossbar() -> list[str]:
    return [name for name, kind in dram_kinds().items() if kind.crossbar is not None]


def crossbar_in_job(kind: Kind, mapping: str, device_hz: int, first: int, ports: int) -> dict[str, Any]:
    """Return key `crossbar` of a memory in a job: memories `first` to `first + ports - 1` share it. `mapping`: of CROSSBARS, or global."""
    of = kind.crossbar
    if of is None:
        raise ValueError(f"kind {kind.name} has no crossbar")
    ratio = Fraction(of["clock_hz"], device_hz)
    beat = BEAT_BYTES // of["beat_bytes"]
    # A read is a cycle later than its ticks at the ports of a device that is as fast as the switch, and its data takes `beat` ticks twice.
    inside = of["local"] - beat - 1
    return {
        "ticks": ratio.numerator,
        "per_cycles": ratio.denominator,
        "mapping": mapping.removesuffix("_one_id"),
        "one_id": mapping.endswith("_one_id"),
        "fragment_beats": of["fragment_bytes"] // BEAT_BYTES,
        "beat_ticks": beat,
        "turn_ticks": of["turn"],
        "request": inside // 2,
        "answer": inside - inside // 2,
        "hop_request": [{"ticks": ticks // 2} for ticks in of["boundaries"]],
        "hop_answer": [{"ticks": ticks - ticks // 2} for ticks in of["boundaries"]],
        "first": first,
        "ports": ports,
    }


def ticks(clocks: int, nanoseconds: float, clock_hz: int) -> int:
    """Return a time in ticks of the memory clock: so many clocks, or nanoseconds rounded up, whichever is more.

    Rounded as JEDEC rounds (JESD79-4B, 13.3): a fortieth of a tick and less above a whole one is none.
    """
    exact = Fraction(nanoseconds).limit_denominator(1000) * clock_hz / 10**9
    return max(clocks, ceil(exact - Fraction(25, 1000)), 1)


def timing(kind: Kind, clock_hz: int) -> dict[str, int]:
    """Return the timing of a channel in ticks, by the keys of a job."""
    given = {name: ticks(clocks, nanoseconds, clock_hz) for name, (clocks, nanoseconds) in kind.timing.items()}
    rcd, turn, rcd_write = given.pop("rcd"), given.pop("turn"), given.pop("rcd_write", None)
    read_to_write = max(1, given["cl"] + given["burst"] + turn - given["cwl"])
    return given | {"rcd_read": rcd, "rcd_write": rcd_write or rcd, "rtw": read_to_write}


def in_job(
    name: str, given: Controller, device_hz: int, channel: int, ideal: Mapping[str, int], of: tuple[int, int] | None = None
) -> dict[str, Any]:
    """Return a memory's keys of a job but `bytes`. `ideal`: the latencies of ideal ones; `channel` moves the refresh of each channel.

    `of`: the first one of the memory's channels, and how many there are, where they may share a crossbar.
    """
    if name == IDEAL:
        return dict(ideal)
    if name == SRAM:
        return {"read_latency": SRAM_READ_CYCLES, "write_latency": SRAM_WRITE_CYCLES, "gap_permille": 0}
    kind = dram_kinds()[name]
    clock = given.clock_hz or kind.clock_hz
    ratio = Fraction(clock, device_hz)
    values, queue = timing(kind, clock), given.queue or kind.queue
    found: dict[str, Any] = {
        "dram": {
            "ticks": ratio.numerator,
            "per_cycles": ratio.denominator,
            "access_bytes": kind.access_bytes,
            "groups": kind.bank_groups,
            "banks": kind.banks_per_group,
            "row_accesses": kind.row_bytes // kind.access_bytes,
            "mapping": fields(given.mapping or kind.mapping, kind),
            "hash_groups": given.hash_groups,
            "timing": values,
            "row_bus": kind.row_bus,
            "read_queue": queue,
            "write_queue": queue,
            "batch": given.batch or kind.batch,
            "drain_from": min(DRAIN_FROM, queue),
            "drain_after": DRAIN_AFTER,
            "hit_limit": HIT_LIMIT,
            "close_rows": given.close_rows,
            "forward": given.forward,
            "bursts": BURSTS,
            "reorder_beats": REORDER_BEATS,
            "read_latency": round(kind.idle_ns * device_hz / 1e9),
            "write_latency": max(1, round(kind.response_ns * device_hz / 1e9)),
            "first_refresh": values["refi"] * (channel % MAX_CHANNELS + 1) // MAX_CHANNELS + values["rfc"],
        }
    }
    if given.crossbar != NO_CROSSBAR:
        found["crossbar"] = crossbar_in_job(kind, given.crossbar, device_hz, *(of or (channel, 1)))
    return found
