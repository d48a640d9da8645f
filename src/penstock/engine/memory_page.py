"""The tables of docs/memories.md, from engine/memories.yaml and from runs of the timing model: `python tools/generate_memories.py` writes
them, a test compares.
"""

import re
from collections.abc import Iterable
from functools import cache
from itertools import product

from ruamel.yaml import YAML

from penstock.basics.tables import cell
from penstock.engine import memories
from penstock.paths import ROOT
from penstock.testing import dram

PAGE = "docs/memories.md"
TOOL = "tools/generate_memories.py"

# Of each time: its name in the standards, and what it is.
_TIMES = {
    "burst": ("BL / 2", "data of an access"),
    "cl": ("CL", "read to its data"),
    "cwl": ("CWL", "write to its data"),
    "rcd": ("tRCD", "activate to read or write"),
    "rcd_write": ("tRCDWR", "activate to write, where it differs"),
    "rp": ("tRP", "precharge to activate"),
    "ras": ("tRAS", "activate to precharge"),
    "rrd_s": ("tRRD_S", "activate to activate, another bank group"),
    "rrd_l": ("tRRD_L", "activate to activate, the same bank group"),
    "faw": ("tFAW", "window of four activates"),
    "ccd_s": ("tCCD_S", "column to column, another bank group"),
    "ccd_l": ("tCCD_L", "column to column, the same bank group"),
    "wtr_s": ("tWTR_S", "end of write data to read, another bank group"),
    "wtr_l": ("tWTR_L", "end of write data to read, the same bank group"),
    "rtp": ("tRTP", "read to precharge"),
    "wr": ("tWR", "end of write data to precharge"),
    "turn": ("-", "gap on the data bus from read to write"),
    "rfc": ("tRFC", "a refresh of all banks"),
    "refi": ("tREFI", "refresh to refresh"),
}

FRAME_BEATS = (1, 2, 3, 5, 9, 16, 24, 32)
MAPPINGS = (
    *("row bank column group column:1", "row bank column group column:2", "row bank column group column:3"),
    *("row bank column group", "row bank group column"),
)
BATCHES = (8, 32, 64)


def _table(head: Iterable[object], rows: Iterable[Iterable[object]]) -> list[str]:
    heads = [str(value) for value in head]
    lines = [heads, ["---"] * len(heads), *([cell(str(value)) for value in row] for row in rows)]
    return [f"| {' | '.join(line)} |" for line in lines]


def kinds_table() -> list[str]:
    """The kinds of DRAM and what their controllers are by default."""
    rows = [
        (
            f"`{kind.name}`",
            f"{kind.clock_hz // 10**6:,}",
            f"{kind.bytes_per_second / 1e9:.1f}",
            f"{kind.bank_groups} x {kind.banks_per_group}",
            f"{kind.row_bytes:,}",
            kind.access_bytes,
            kind.queue,
            kind.batch,
        )
        for kind in memories.dram_kinds().values()
    ]
    return _table(("kind", "clock, MHz", "peak, GB/s", "groups x banks", "row, bytes", "access, bytes", "`queue`", "`batch`"), rows)


def timing_tables() -> list[str]:
    """Every time of every kind with its source."""
    lines: list[str] = []
    for name, entry in YAML(typ="safe").load(memories.TABLE).items():
        lines += [f"### {name}", "", f"{entry['description'][0].upper()}{entry['description'][1:]}. Sources:", ""]
        lines += [f"- *{short}*: {words}" for short, words in entry["sources"].items()] + [""]
        rows = []
        for key, (clocks, nanoseconds, source) in entry["timing"].items():
            standard, words = _TIMES[key]
            rows.append(
                (
                    f"`{key}`",
                    standard,
                    words,
                    clocks or "",
                    nanoseconds or "",
                    memories.ticks(clocks, nanoseconds, entry["clock_hz"]),
                    source,
                )
            )
        lines += [*_table(("key", "standard", "what", "clocks", "ns", "ticks", "source"), rows), ""]
    return lines[:-1]


def published_table() -> list[str]:
    """Bandwidths and latencies beside those that others have measured."""
    rows: list[tuple[object, ...]] = []
    for kind, device_mhz, clock_hz, bandwidth, latencies in (
        ("ddr4_2400", 300, None, 18.0, (73.3, 89.9, 106.6)),
        ("hbm2", 450, 900_000_000, 13.27, (106.7, 122.2, 137.8)),
    ):
        for write, words in ((0, "reads"), (1, "writes")):
            peak = (clock_hz or memories.dram_kinds()[kind].clock_hz) * 16
            found = dram.share(kind, *dram.sequential(write), device_mhz * 10**6, peak, clock_hz=clock_hz) * peak / 1e9
            rows.append((kind, f"sequential {words}, GB/s", f"{bandwidth:.2f}", f"{found:.2f}", "Shuhai"))
        found_latencies = dram.idle_latency(kind, device_mhz * 10**6, clock_hz)
        for words, published, found in zip(("row open", "no row open", "another row open"), latencies, found_latencies, strict=True):
            rows.append((kind, f"idle read, {words}, ns", f"{published:.1f}", f"{found:.1f}", "Shuhai"))
    for beats in (9, 16, 24, 32):
        each_way = dram.share("ddr4_2400", *dram.pages(beats, seed=beats)) * dram.PEAK["ddr4_2400"] * 8 / 2 / 1e9
        rows.append(
            ("ddr4_2400", f"frames of {beats * 64:,} byte, written and read, Gbit/s each way", "60 to 80", f"{each_way:.1f}", "paper")
        )
    return _table(("kind", "what", "published", "here", "by"), rows)


# Shuhai, FCCM 2020, table VI: cycles of 450 MHz to pseudo channel 0, row open.
_SHUHAI_CYCLES = {0: 55, 4: 56, 8: 58, 12: 60, 16: 71, 20: 73, 24: 75, 28: 77}


def crossbar_table() -> list[str]:
    """Latency and bandwidth through the crossbar beside what others have measured or say."""
    rows: list[tuple[object, ...]] = [("idle read, without crossbar, cycles of 450 MHz", 48, _cycles_without(), "Shuhai, table II")]
    for port, published in _SHUHAI_CYCLES.items():
        words = f"idle read from ports {port} to {port + 3} to pseudo channel 0"
        rows.append((words, published, dram.crossbar_latency(port), "Shuhai, table VI"))
    for words, pairs, write, beats, other, source in (
        ("sequential reads from port 28 to pseudo channel 0, GB/s", [(28, 0)], 0, 8, "as near", "Shuhai, section V"),
        ("sequential writes from port 28 to pseudo channel 0, GB/s", [(28, 0)], 1, 8, "as near", "Shuhai, section V"),
        ("32 ports, each to its own, reads, GB/s", [(p, p) for p in range(32)], 0, 8, "425", "Shuhai, abstract"),
        ("4 ports to the next switch, reads, GB/s", [(p, p + 4) for p in range(4)], 0, 8, "50 % of 57.6", "PG276"),
        ("the same, writes of 512 byte", [(p, p + 4) for p in range(4)], 1, 8, "a dead cycle each", "PG276"),
        ("the same, writes of 64 byte", [(p, p + 4) for p in range(4)], 1, 1, "a dead cycle each", "PG276"),
        ("32 ports across (0 to 31, 1 to 30, ...), reads, GB/s", [(p, 31 - p) for p in range(32)], 0, 8, "-", "4 links in the middle"),
    ):
        rows.append((words, other, f"{dram.crossbar_bandwidth(pairs, write, beats, max(300, 3000 // len(pairs))):.2f}", source))
    return _table(("what", "published", "here", "by"), rows)


def _cycles_without() -> int:
    return round(dram.idle_latency("hbm2", dram.SHUHAI_MHZ * 10**6, dram.SHUHAI_CLOCK_HZ)[0] * dram.SHUHAI_MHZ / 1e3)


def crossbar_values() -> list[str]:
    """Every value of the crossbar with its source."""
    entry = YAML(typ="safe").load(memories.TABLE)["hbm2"]["crossbar"]
    words = {
        "clock_hz": "clock of its links",
        "beat_bytes": "bytes a link carries in a cycle",
        "fragment_bytes": "longest burst inside",
        "turn": "cycles lost on a lateral link between writes of two ports",
        "local": "cycles that it adds to a read of a pseudo channel of the same switch",
        "boundaries": "cycles that each boundary between two switches adds to that",
    }
    rows = []
    for key, (value, source) in entry.items():
        shown = ", ".join(str(v) for v in value) if isinstance(value, list) else f"{value:,}"
        rows.append((f"`{key}`", words[key], shown, source))
    return _table(("key", "what", "value", "source"), rows)


@cache
def _share_of_frames(beats: int, mapping: str, close_rows: bool, batch: int, hash_groups: bool = True) -> float:
    # No beats: one stream of reads.
    beats_of = dram.pages(beats, seed=beats) if beats else dram.sequential(0)
    return dram.share("ddr4_2400", *beats_of, mapping=mapping, close_rows=close_rows, batch=batch, hash_groups=hash_groups)


def controller_table() -> list[str]:
    """Share of the peak by mapping, close_rows and batch, for frames of some sizes."""
    rows = []
    for mapping, close_rows, batch in product(MAPPINGS, (False, True), BATCHES):
        shares = [f"{100 * _share_of_frames(beats, mapping, close_rows, batch):.0f}" for beats in (*FRAME_BEATS, 0)]
        rows.append((f"`{mapping}`", "yes" if close_rows else "no", batch, *shares))
    return _table(("mapping", "close_rows", "batch", *FRAME_BEATS, "stream"), rows)


def hash_table() -> list[str]:
    """The same with and without the hash of bank groups."""
    rows = []
    for mapping, hashed in product(MAPPINGS, (True, False)):
        shares = [f"{100 * _share_of_frames(beats, mapping, False, 32, hashed):.0f}" for beats in FRAME_BEATS]
        rows.append((f"`{mapping}`", "yes" if hashed else "no", *shares))
    return _table(("mapping", "hash_groups", *FRAME_BEATS), rows)


TABLES = {"kinds": kinds_table, "timing": timing_tables, "published": published_table, "controller": controller_table, "hash": hash_table}
TABLES |= {"crossbar": crossbar_table, "crossbar values": crossbar_values}


def updated(text: str) -> str:
    """Return the page with its tables written anew."""
    for name, table in TABLES.items():
        section = re.compile(rf"(?<=<!-- {name} -->\n).*?(?=<!-- end -->)", re.DOTALL)
        lines = "\n".join(["", *table(), "", ""])
        text = section.sub(lines.replace("\\", r"\\"), text)
    return text


def stale() -> bool:
    """Whether the committed page is not what its sources give."""
    page = (ROOT / PAGE).read_text()
    return updated(page) != page
