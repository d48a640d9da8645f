"""pst_islip against a plain transcription of McKeown's paper: the same matching in every cycle, random and adversarial requests."""

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge, ReadOnly

from penstock.hardware import library
from penstock.testing.testkit import parameter, reset, run_module, seed, start


class Paper:
    """The three steps in the words of McKeown 1999, with integer pointers; priorities as in its section on prioritised iSLIP.

    Step 1, request: each unmatched input asks every output for which it has a cell, at the highest class that waits there.
    Step 2, grant: an unmatched output takes the asker of its highest class that appears next from its pointer of that class on. The
    pointer moves to one beyond the granted input if and only if the grant is accepted in step 3 of the first iteration.
    Step 3, accept: an input with grants takes the one of the highest class that appears next from its pointer of that class on; its
    pointer moves to one beyond the accepted output, in the first iteration only.
    """

    def __init__(self, ports: int, classes: int, iterations: int) -> None:
        self.ports, self.iterations = ports, iterations
        self.grant = [[0] * classes for _ in range(ports)]
        self.accept = [[0] * classes for _ in range(ports)]

    def match(self, waiting: list[list[int]]) -> dict[int, tuple[int, int]]:
        """Return {input: (output, class)} for `waiting[input][output]`, a mask of classes."""
        level = {(i, j): (w & -w).bit_length() - 1 for i, row in enumerate(waiting) for j, w in enumerate(row) if w}
        matched: dict[int, tuple[int, int]] = {}
        for iteration in range(self.iterations):
            outputs = {j for j, _ in matched.values()}
            grants: dict[int, list[tuple[int, int]]] = {}
            for j in set(range(self.ports)) - outputs:
                askers = {i: c for (i, to), c in level.items() if to == j and i not in matched}
                if askers:
                    c = min(askers.values())
                    order = [(self.grant[j][c] + k) % self.ports for k in range(self.ports)]
                    grants.setdefault(next(i for i in order if askers.get(i) == c), []).append((c, j))
            for i, offers in grants.items():
                c = min(offers)[0]
                j = min((j for cls, j in offers if cls == c), key=lambda j: (j - self.accept[i][c]) % self.ports)
                matched[i] = (j, c)
                if iteration == 0:
                    self.grant[j][c], self.accept[i][c] = (i + 1) % self.ports, (j + 1) % self.ports
        return matched


@cocotb.test()
async def same_matching(dut) -> None:
    ports, classes, iterations = parameter("Ports", 4), parameter("Classes", 1), parameter("Iterations", 1)
    rng = random.Random(seed())
    dut.request_i.value = 0
    await start(dut)
    paper = Paper(ports, classes, iterations)
    waiting = [[0] * ports for _ in range(ports)]
    for cycle in range(2000):
        await FallingEdge(dut.clk_i)
        if cycle == 1000:
            dut.request_i.value = 0
            await reset(dut)
            paper = Paper(ports, classes, iterations)
        density = (0.05, 0.3, 0.7, 1.0)[cycle // 50 % 4]
        for i in range(ports):  # most requests stay as they are, so that pointers matter
            for j in range(ports):
                if cycle % 50 == 0 or rng.random() < 0.3:
                    waiting[i][j] = sum(1 << c for c in range(classes) if rng.random() < density)
        flat = sum(waiting[i][j] << (i * ports + j) * classes for i in range(ports) for j in range(ports))
        dut.request_i.value = flat
        await ReadOnly()
        match, levels = int(dut.match_o.value), int(dut.class_o.value)
        found = {}
        for i in range(ports):
            row = match >> i * ports & (1 << ports) - 1
            if row:
                assert row & (row - 1) == 0, f"input {i} is matched with outputs {row:b}"
                found[i] = (row.bit_length() - 1, (levels >> i * classes & (1 << classes) - 1).bit_length() - 1)
        assert found == paper.match(waiting), f"cycle {cycle}"


@cocotb.test()
async def round_robin_when_all_ask(dut) -> None:
    """With every queue backlogged the matching is perfect after a while, and each input serves each output once in `Ports` cycles."""
    ports, classes = parameter("Ports", 4), parameter("Classes", 1)
    dut.request_i.value = 0
    await start(dut)
    dut.request_i.value = (1 << ports * ports * classes) - 1
    served = []
    for _ in range(4 * ports):
        await ReadOnly()
        match = int(dut.match_o.value)
        served.append([(match >> i * ports & (1 << ports) - 1).bit_length() - 1 for i in range(ports)])
        await FallingEdge(dut.clk_i)
    for cycle in range(2 * ports, 3 * ports):
        assert sorted(served[cycle]) == list(range(ports)), "not every port has a partner"
    for i in range(ports):
        assert sorted(served[cycle][i] for cycle in range(2 * ports, 3 * ports)) == list(range(ports))


@pytest.mark.parametrize("ports, classes, iterations", [(2, 1, 1), (4, 1, 2), (6, 3, 3)])
def test_pst_islip(ports: int, classes: int, iterations: int) -> None:
    sources = library.sources_of("pst_islip")
    run_module("fabric", "pst_islip", {"Ports": ports, "Classes": classes, "Iterations": iterations}, sources=sources)
