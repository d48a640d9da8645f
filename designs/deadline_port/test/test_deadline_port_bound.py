# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""The register bus under full load, frames of one beat as fast as they are taken: no access waits longer than 1,024 cycles."""

import pytest
from test_deadline_port import COMMANDS, TIMING, library, set_class, set_dscp

from penstock.designs.deadline_port import registers
from penstock.designs.deadline_port.config import device
from penstock.engine import engine
from penstock.testing.testkit import seed

BOUND = 1024  # cycles, asserted in pst_deadline_control, too


@pytest.mark.parametrize("name", ["tiny_deadline_3", "tiny_fifo_3", pytest.param("deadline_hbm2_256", marks=pytest.mark.slow)])
def test_no_access_waits_longer_than_its_bound(name: str) -> None:
    """Every register is read, and every command given with another behind it, while frames of a beat come as fast as they are taken."""
    print(f"PENSTOCK_SEED={seed()}")
    config, path = library(name)
    described = device(config, str(path), {**TIMING, "gap_permille": 0}, True)
    session = engine.module().Session({"device": described, "sources": [], "seed": seed(), "ingress_bps": 0, "egress_bps": 0})
    at = registers.address
    if not config.class_from_user:
        for dscp in range(65):
            for address, value in set_dscp(dscp, dscp % config.classes):
                session.write(address, value)
    session.start()
    offered = 0
    longest: dict[str, int] = {}

    def read(what: str, address: int) -> int:
        nonlocal offered
        while offered < session.now + 4 * BOUND:
            session.offer(offered, offered % config.classes if config.class_from_user else 0, bytes(64))
            offered += 1
        begun = session.now
        value = session.read(address)
        longest[what] = max(longest.get(what, 0), session.now - begun)
        return int(value)

    for _ in range(300):
        read("version", at("version"))
    since, before = session.now, session.totals()["packets"]["in"]
    commands = {
        # A longer deadline waits until the time stamps reckon with it, and the next one for that.
        "a longer deadline": set_class(config.classes - 1, 50_000),
        "a shorter deadline": set_class(config.classes - 1, 2_000),
        "snapshot": [(at("class_index"), 0), (at("command"), COMMANDS["snapshot"])],
        "a class of a DSCP": set_dscp(3, 1),
    }
    for _ in range(3):
        for what, writes in commands.items():
            begun = session.now
            for _ in range(2):
                for address, value in writes:
                    session.write(address, value)
            read(f"two times {what}", at("version"))
            session.write(at("command"), 0)
            status = read(f"the command behind {what}", at("status"))
            assert not status >> registers.table()["status"]["fields"]["busy"][0] & 1, what
            assert session.now - begun <= BOUND, f"{what} took {session.now - begun} cycles"
    for register, entry in registers.table().items():
        for offset in range(0, entry["bytes"], 4):
            read(register, entry["address"] + offset)
    print("cycles:", ", ".join(f"{what} {cycles}" for what, cycles in sorted(longest.items(), key=lambda item: -item[1])[:6]))
    assert max(longest.values()) <= BOUND, longest
    came = session.totals()["packets"]["in"] - before
    print(f"{came} frames came in {session.now - since} cycles")
    assert came > 0.3 * (session.now - since), "the port was not kept busy"
    assert session.end()["conservation_ok"]
