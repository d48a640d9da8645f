"""Table I: what the device takes on UltraScale+, beside the paper's design. Figures are those of expected.yaml, or synthesised anew."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from penstock.designs.access_edge.papers.massive_qos_queueing import stated
from penstock.errors import UserError
from penstock.papers import Options
from penstock.papers.comparison import entry

PART = "table 1"
DESIGN, TARGET = "access_edge", "xcup"
KEYS = {"lut": "LUT", "ff": "FF", "bram": "BRAM", "uram": "URAM"}


@dataclass(frozen=True)
class Row:
    """A configuration of ours for one of the paper's, and the changes to it."""

    config: str
    changes: dict[str, str]

    def command(self) -> str:
        """Return the command that synthesises it."""
        return " --set ".join(
            [f"./penstock synth {DESIGN}", f"config={self.config}", *(f"{key}={value}" for key, value in self.changes.items())]
        )


_ESTIMATE = {"aqm_estimate": "true"}  # the paper's CoDel takes its delays from backlog and rate, too
_SMALL = {"queues": "2048", "memories.ddr0.pages": "7168", "memories.ddr1.pages": "7168", "memories.sram.pages": "2048"}
ROWS = (  # in the order of stated.RESOURCES
    Row("pass_2048", {}),
    Row("edge_2048", {}),
    Row("codel_2048", _ESTIMATE),
    Row("codel_262144", _ESTIMATE | _SMALL),
    Row("codel_262144", _ESTIMATE),
)


def measure(options: Options, line: Callable[[str], None]) -> dict[str, Any]:
    """Return the resources of each configuration: those that are expected, or (--full) those that synthesis finds."""
    rows = []
    for row, (paper, *numbers) in zip(ROWS, stated.RESOURCES, strict=True):
        found = _synthesised(row, line) if options.full else _expected(row)
        rows.append({
            "config": row.config, "changes": row.changes, "command": row.command(), "ours": {key: found[key] for key in KEYS},
            "paper_config": paper, "paper": dict(zip(KEYS, numbers, strict=True)),
        })  # fmt: skip
    return {"target": TARGET, "from": "synthesis" if options.full else f"designs/{DESIGN}/expected.yaml", "rows": rows}


def _expected(row: Row) -> dict[str, float]:
    from penstock.hardware import expected

    known = expected.find(f"pst_{DESIGN}", TARGET, row.changes, row.config)
    if known is None:
        raise UserError(
            f"designs/{DESIGN}/expected.yaml has no entry for {row.config} with {row.changes or 'no changes'}; --full synthesises"
        )
    return known.figures()


def _synthesised(row: Row, line: Callable[[str], None]) -> dict[str, float]:
    from penstock.hardware import synth

    job, _ = synth.plan(DESIGN, TARGET, {"config": row.config, **row.changes}, [1])
    return synth.run(job, lambda text: line(f"{row.config}: {text}"))


def compare(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the stated numbers beside ours."""
    return [entry(PART, row["paper_config"], KEYS[key], row["paper"][key], row["ours"][key]) for row in found["rows"] for key in KEYS]


def cards(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the page's card."""
    table = [["the paper's configuration", "ours", *KEYS.values()]]
    for row in found["rows"]:
        cells = (f"{row['paper'][key]:,} / {row['ours'][key]:,g}" for key in KEYS)
        table.append([row["paper_config"], f"{row['config']}{' *' if row['changes'] else ''}", *cells])
    note = (
        f"Paper / ours. UltraScale+ (the paper: Alveo U200, Vivado; ours: {found['target']}, Yosys). Ours from {found['from']}. *: "
        "changed; result.json has the commands."
    )
    return [{"title": "Table 1: resources", "note": note, "table": table, "words": words(found)}]


def _step(found: dict[str, Any], whose: str, row: int) -> str:
    """Say what a row has more than the one before."""
    before, after = found["rows"][row - 1][whose], found["rows"][row][whose]
    return ", ".join(f"{after[key] - before[key]:,g} {name}" for key, name in KEYS.items())


def words(found: dict[str, Any]) -> list[tuple[str, str]]:
    """Say what the paper states, what came out, and why they differ."""
    steps = {"shaping": 1, "the AQM": 2, "128 times the queues and 8 times the packets": 4}
    paper, ours = ("; ".join(f"{what} {_step(found, whose, row)}" for what, row in steps.items()) for whose in ("paper", "ours"))
    too_large = [row for row in found["rows"] if row["ours"]["uram"] > stated.U200_URAM]
    short = "".join(
        f" The card has {stated.U200_URAM} URAM: {row['config']} with its {row['ours']['uram']:,g} does not fit." for row in too_large
    )
    return [
        ("The paper", f"Memory is the limit, logic is neglectable. From row to row: {paper}."),
        ("Here", f"From row to row: {ours}.{short}"),
        (
            "Why",
            "The paper's figures hold an Ethernet core, and with two DDR4 memories and SRAM (28,000 LUT and 34,000 FF more) another "
            "memory controller and 2 MB of packets in URAM. Ours end at AXI4-Stream and AXI4 pins: no MAC, no memory controller, no "
            "PCIe, and the SRAM for packets is outside. In them are shapers and timing wheel, CoDel with the delay estimated as in the "
            "paper, all handlers, and five counters of each queue (accepted, lost, sent, dropped by CoDel, marked; the paper has one; "
            "packets of 50 bit, most with bytes of 56), which are most of what 262,144 queues need beside the core. A packet per cycle "
            "instead of one per ten or so costs the words that both sides of a queue read twice; without URAM cascades, which Yosys does "
            "not use, deep memories cost LUTs (docs/synthesis.md).",
        ),
    ]
