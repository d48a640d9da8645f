"""The soaks of the three switches fail with each planted fault (on a copy of the RTL; the faults of proofs are in test_*_proofs.py)."""

from functools import partial
from pathlib import Path

import pytest
import test_pst_fabric
import test_pst_frame_switch
import test_pst_islip_switch

from penstock.hardware import library

CELLS_LOST = partial(test_pst_fabric.soak, ports=4, stages=4, width=20, depth=3, cycles=50_000)
CELLS_IN_ORDER = partial(CELLS_LOST, full=1)
CELLS_KEPT = partial(CELLS_LOST, depth=4, pressure=1)
FRAMES_LOST = partial(test_pst_frame_switch.soak, "fabric_2", False, 2, 64, **test_pst_frame_switch.MIX)
FRAMES_KEPT = partial(test_pst_frame_switch.soak, "fabric_2", True, **test_pst_frame_switch.MIX)
ISLIP_LOST = partial(test_pst_islip_switch.soak, 4, 1, 8, 2, 0)
ISLIP_KEPT = partial(test_pst_islip_switch.soak, 4, 3, 5, 4, 1, ready=800)

FAULTS = {
    "the rotating arbiter stops at an empty FIFO": (CELLS_LOST, "pst_rotating_arbiter", " || out_of_step)", ")"),
    "the full arbiter forgets which it has served": (CELLS_IN_ORDER, "pst_batch_arbiter", "last ? '0 : served_q | pick", "'0"),
    "the offset counters forget the batch before": (
        CELLS_LOST, "pst_offset_counters", "sum_q[d] <= sum_q[d] + counts_i[d]", "sum_q[d] <= counts_i[d]"
    ),
    "back-pressure keeps a place too few": (CELLS_KEPT, "pst_fabric", "BackPressure ? Latency + 2", "BackPressure ? Latency + 1"),
    "destinations count at every beat": (FRAMES_KEPT, "pst_frame_segment", "first_q ? beat.dest : dest_q", "beat.dest"),
    "a beat is done with its first copy": (FRAMES_KEPT, "pst_frame_segment", "(sent && left == '0)", "sent"),
    "the last byte of a beat is lost": (FRAMES_KEPT, "pst_frame_segment", "BytesWidth'(b + 1)", "BytesWidth'(b)"),
    "a cell goes without a credit": (FRAMES_KEPT, "pst_frame_segment", "!swallow && credit;", "!swallow;"),
    "a frame with an error keeps its credits": (FRAMES_KEPT, "pst_frame_segment", "last && error ? credit_t'(index_q) : '1", "'1"),
    "a credit comes back to every source": (FRAMES_KEPT, "pst_frame_switch", " && credit_source[j] == PortWidth'(i)", ""),
    "a missing cell is not seen": (FRAMES_LOST, "pst_frame_reassemble", "open_q[flow] && header_q.index == index_q[flow]", "open_q[flow]"),
    "full room is not seen": (FRAMES_LOST, "pst_frame_reassemble", "in_turn && room && !forget", "in_turn && !forget"),
    "a frame that was cut off is not counted": (
        FRAMES_LOST, "pst_frame_reassemble", "- 1'b1)) + (NumberWidth + 1)'(open_q[flow])", "- 1'b1))"
    ),
    "a frame that lost its end stays": (FRAMES_LOST, "pst_frame_reassemble", "same ? write_q[flow] : commit_q[flow]", "write_q[flow]"),
    "an iteration too few": (ISLIP_LOST, "pst_islip", "n < Iterations;", "n < Iterations - 1;"),
    "a pointer moves without an accept": (
        ISLIP_KEPT, "pst_islip", "first_accept[i][j] && first_grant_class[j][c]", "first_grant[j][i] && first_grant_class[j][c]"
    ),
    "pointers move in every iteration": (ISLIP_LOST, "pst_islip", "if (n == 0) begin", "begin"),
    "a full buffer at the output is not seen": (ISLIP_KEPT, "pst_islip_switch", "room[j] ? backlogged[i][j] : '0", "backlogged[i][j]"),
    "the crossbar switches a cycle early": (ISLIP_LOST, "pst_islip_switch", "head[from_q3]", "head[from_q2]"),
    "two drops of a cycle count as one": (
        ISLIP_LOST, "pst_islip_switch", "drops[s_cell_dest_i[i]] += 1'b1", "drops[s_cell_dest_i[i]] = 1'b1"
    ),
    "a cell is written over while it is read": (
        ISLIP_KEPT, "pst_voq", " || (pop_q[q] && count_q[q] == count_t'(Depth - 1))", ""
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTS)
def test_planted_fault_fails(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    soak, module, old, new = FAULTS[name]
    sources_of = library.sources_of

    def planted(top: str) -> list[Path]:
        sources = sources_of(top)
        (place,) = (i for i, source in enumerate(sources) if source.stem == module)
        text = sources[place].read_text()
        assert text.count(old) == 1, f"{module}: the place for the fault, {old!r}, is there {text.count(old)} times"
        sources[place] = tmp_path / sources[place].name
        sources[place].write_text(text.replace(old, new))
        return sources

    monkeypatch.setattr(library, "sources_of", planted)
    # What a bench or an assertion of the RTL says; a compiler's error is no success.
    with pytest.raises(AssertionError, match=r"cycle [0-9]+: |Assertion failed in|%Error: .*\.sv:[0-9]+: "):
        soak()


@pytest.mark.slow
@pytest.mark.parametrize("soak", [CELLS_LOST, CELLS_IN_ORDER, CELLS_KEPT, FRAMES_LOST, FRAMES_KEPT, ISLIP_LOST, ISLIP_KEPT])
def test_without_a_fault_they_pass(soak: partial[dict[str, int]]) -> None:
    assert soak()
