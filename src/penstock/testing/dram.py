"""Address traces for a channel of DRAM, and what it makes of them: for the tests of the timing model and the tables of docs/memories.md."""

from typing import Any

import numpy as np

from penstock.engine import engine, memories

MHZ = 300  # of the device: what the controller of DDR4-2400 gives to the logic around it
KINDS = tuple(memories.dram_kinds())
PEAK = {kind: entry.bytes_per_second for kind, entry in memories.dram_kinds().items()}
BEATS = 20_000


def channel(kind: str, device_hz: int = MHZ * 10**6, **given: Any) -> dict[str, Any]:
    """Return the channel of a job, key `dram`."""
    return memories.in_job(kind, memories.Controller(**given), device_hz, 0, {})["dram"]


def trace(dram: dict[str, Any], write: Any, address: Any, start: Any = None, commands: bool = False) -> dict[str, Any]:
    """Run a trace: in which cycle each beat was offered and answered, and what the channel did."""
    address = np.asarray(address, dtype=np.uint64)
    start = np.zeros(len(address), dtype=np.int64) if start is None else start
    found = engine.module().dram_trace(dram, {"write": np.asarray(write, dtype=np.uint8), "address": address, "from": start}, commands)
    return {key: np.asarray(value) if key in ("offered", "answered") else value for key, value in found.items()}


def share(kind: str, write: Any, address: Any, device_hz: int = MHZ * 10**6, peak: float | None = None, **given: Any) -> float:
    """Return the share of the theoretical bandwidth that beats at these addresses get, offered as fast as the port takes them."""
    found = trace(channel(kind, device_hz, **given), write, address)
    return len(address) * 64 / (found["cycles"] / device_hz) / (peak or PEAK[kind])


def sequential(write: int) -> tuple[np.ndarray, np.ndarray]:
    """Beats one behind the other."""
    return np.full(BEATS, write), np.arange(BEATS) * 64


def random_beats(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Single beats read at random places of 1 GB."""
    return np.zeros(BEATS), np.random.default_rng(seed).integers(0, 1 << 24, BEATS) * 64


def pages(beats: int, seed: int, count: int = BEATS) -> tuple[np.ndarray, np.ndarray]:
    """Frames of so many beats written to random pages of 2 kB, and as many read from others."""
    rng = np.random.default_rng(seed)
    frames = count // beats // 2
    written, read = (rng.integers(0, 1 << 17, frames)[:, None] * 2048 + np.arange(beats) * 64 for _ in range(2))
    return np.r_[np.ones(written.size), np.zeros(read.size)], np.r_[written.ravel(), read.ravel()]


def idle_latency(kind: str, device_hz: int, clock_hz: int | None) -> tuple[float, float, float]:
    """Return the nanoseconds of single reads of an idle channel: of a row that is open, with none open, with another one open."""
    dram = channel(kind, device_hz, clock_hz=clock_hz, hash_groups=False)
    entry = memories.dram_kinds()[kind]
    other_row = entry.row_bytes * entry.bank_groups * entry.banks_per_group
    # After a refresh, with half a tREFI to the next one.
    begin = dram["timing"]["rfc"] // 2 + dram["first_refresh"] * dram["per_cycles"] // dram["ticks"] + 200
    found = trace(dram, [0, 0, 0], [0, 0, other_row], np.array([begin, begin + 150, begin + 300]))
    closed, hit, miss = (found["answered"] - found["offered"]) / device_hz * 1e9
    return hit, closed, miss


SHUHAI_MHZ = 450  # of the AXI ports of HBM2 as Shuhai measures it, with a memory clock of 900 MHz
SHUHAI_CLOCK_HZ = 900_000_000


def through_crossbar(
    bursts: Any, ports: int = 32, mapping: str = "global", one_id: bool = False, device_hz: int = SHUHAI_MHZ * 10**6
) -> dict[str, Any]:
    """Run bursts through the crossbar of HBM2: rows of port, write, channel and address in it (or an address), beats, from.

    Returns when each was offered and answered, in cycles, and in how many cycles all were.
    """
    table = np.asarray(bursts, dtype=np.int64).reshape(-1, 6)
    kind = memories.dram_kinds()["hbm2"]
    given = memories.Controller(clock_hz=SHUHAI_CLOCK_HZ, hash_groups=False)
    drams = [memories.in_job("hbm2", given, device_hz, channel, {})["dram"] for channel in range(ports)]
    crossbar = memories.crossbar_in_job(kind, mapping + ("_one_id" if one_id else ""), device_hz, 0, ports)
    crossbar = {key: value for key, value in crossbar.items() if key not in ("first", "ports")}
    port, write, channel_of, address, beats, start = table.T
    columns = {"port": port, "write": write, "address": (channel_of << 32) + address, "beats": beats, "from": start}
    types = {"port": np.uint8, "write": np.uint8, "address": np.uint64, "beats": np.uint8, "from": np.int64}
    found = engine.module().crossbar_trace(drams, crossbar, {key: column.astype(types[key]) for key, column in columns.items()})
    return {key: np.asarray(value) if key != "cycles" else value for key, value in found.items()}


def crossbar_latency(port: int) -> int:
    """Return the cycles of a single read of an idle pseudo channel 0, row open, from a port of the crossbar (Shuhai's clocks)."""
    found = through_crossbar([(port, 0, 0, 0, 1, 1000), (port, 0, 0, 0, 1, 1200)])
    return int(found["answered"][1] - found["offered"][1])


def crossbar_bandwidth(pairs: list[tuple[int, int]], write: int, beats: int = 8, count: int = 800) -> float:
    """Return the GB/s of sequential bursts from ports to pseudo channels, in Shuhai's clocks; each in a place of its own."""
    rows = [(p, write, c, (p << 23) + 64 * beats * n, beats, 0) for p, c in pairs for n in range(count)]
    answered = np.sort(through_crossbar(rows)["answered"])
    # Between the first and the last tenth.
    first, last = len(rows) // 10, len(rows) * 9 // 10
    return (last - first) * beats * 64 * SHUHAI_MHZ * 1e6 / (answered[last] - answered[first]) / 1e9
