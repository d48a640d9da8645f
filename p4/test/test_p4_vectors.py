"""The packet vectors of the router: what the P4 device sends is, byte by byte, what bmv2's simple_switch has sent (tools/p4_vectors.py)."""

import pytest
import vectors
from machine import machine_of

from penstock.designs.p4_switch import runtime_cli
from penstock.designs.p4_switch.tables import Control

GAP_US = 1_000  # between two frames


def test_the_vectors_are_those_that_are_made() -> None:
    """The file has an answer for each vector that the rules make, and enough of them."""
    head, recorded = vectors.read()
    made = vectors.vectors(head["seed"])
    assert len(made) >= 2_000
    assert [(one.why, one.port, one.frame) for one in made] == [(one.why, one.port, one.frame) for one in recorded]
    assert vectors.FILE.stat().st_size < 500_000


@pytest.mark.parametrize("program", list(vectors.COMMANDS))
def test_answers_are_those_of_simple_switch(program: str) -> None:
    head, recorded = vectors.read()
    router = machine_of(program)
    control = Control(router.program)
    runtime_cli.run(control, vectors.commands(program), f"{program}.commands")
    router.machine.configure(control.dictionary())
    wrong = []
    for number, one in enumerate(recorded):
        sent = [answer for answer in router.process(one.port, one.frame, (number + 1) * GAP_US) if answer[0] in vectors.PORTS]
        if sorted(sent) != sorted(one.answer(program)):
            wrong.append(f"{one.why}: {one.frame.hex()} at port {one.port}: {sent} instead of {one.answer(program)}")
    print(f"{len(recorded)} vectors, {sum(bool(one.answer(program)) for one in recorded)} are answered, {len(wrong)} differ")
    assert not wrong, "\n".join(wrong[:5])
    for name, cells in head["counters"][program].items():
        which = router.program.counters[name][0]
        assert [list(router.machine.counter_cell(which, index)) for index in range(len(cells))] == cells, name
