# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Frames with headers as they leave a device: read by dpkt and plain arithmetic."""

import random
import struct
from pathlib import Path

import dpkt
import numpy as np
import pytest

from penstock.engine import engine
from penstock.scenarios import headers, scenario
from penstock.scenarios.device import configuration, design_of
from penstock.scenarios.headers import Headers
from penstock.testing.frames import check_frame, drawn
from penstock.testing.testkit import seed

SIZES = [66, 301, 1514]
QUEUES = 8


@pytest.fixture(scope="module", autouse=True)
def built() -> None:
    """The engine, up to date."""
    engine.build(print)


@pytest.mark.parametrize("pick", ["each", "round_robin", "random"])
@pytest.mark.parametrize("kind", ["constant", "poisson", "onoff"])
def test_frames_that_leave_have_the_headers(kind: str, pick: str, tmp_path: Path) -> None:
    rng = random.Random(f"{seed()} {kind} {pick}")
    print(f"PENSTOCK_SEED={seed()}")
    given = drawn(rng)
    # Of a frame switch a queue is a flow: source 0, destination q / classes, class q % classes; its model needs no RTL.
    data = {"device": {"config": "switch_4"}, "seed": rng.randrange(1000), "duration": "100 us", "traffic": []}
    data["traffic"] = [{"inputs": 0, "constant": {"outputs": 0, "rate": "1 Gbit/s", "size": 64}}]
    document = scenario.Document(None, data, None, {})
    design = design_of(document)
    described = scenario.validated(design.scenario, document)
    config = configuration(described, document)
    job = design.plan(described, document, config, "model").job
    queues = np.array(rng.sample(range(QUEUES), rng.randint(1, QUEUES)), dtype=np.uint32)
    dscps = [rng.randrange(64) for _ in queues]
    made = headers.in_job(Headers.model_validate(given), dscps, queues, SIZES)
    source = {"kind": kind, "queues": queues, "pick": pick, "bps": 4e9, "sizes": [[size, 1] for size in SIZES], "headers": made, "input": 0}
    if kind == "onoff":
        source |= {"on_cycles": 500, "off_cycles": 200}
    job |= {"sources": [source], "pcap_out": str(tmp_path / "out.pcap")}
    result = engine.run(job)
    assert result["conservation_ok"] and result["payload_errors"] == 0, result["findings"]
    with (tmp_path / "out.pcap").open("rb") as file:
        left = [bytes(frame) for _, frame in dpkt.pcap.Reader(file)]
    assert len(left) == result["packets"]["out"] > 10 and {len(frame) for frame in left} <= set(SIZES)
    # A capture is in the order in which frames began to leave; they are told of as they have left, by several outputs.
    departures = result["departures"]
    order = np.argsort(departures["cycle"], kind="stable")
    for frame, queue, length in zip(left, departures["queue"][order].tolist(), departures["length"][order].tolist(), strict=True):
        code, destination = check_frame(frame, given)
        assert len(frame) == length
        assert code == dscps[queues.tolist().index(queue)] == headers.dscp_of(frame)
        if "dst" not in given:
            assert destination == queue
        assert frame[:6] == b"\x02\x00" + struct.pack("!I", queue) and frame[6:12] == b"\x02\x01" + struct.pack("!I", queue)
    payloads = {frame[-20:] for frame in left if len(frame) == 301}
    assert len(payloads) == sum(len(frame) == 301 for frame in left)  # random behind the headers


@pytest.mark.parametrize("ip", [4, 6])
def test_a_frame_that_ends_with_its_headers(ip: int, tmp_path: Path) -> None:
    """Nothing is behind UDP's header: its checksum is right nevertheless."""
    given = {"ip": ip, "vlan": [7]}
    size = {4: 46, 6: 66}[ip]
    text = {"device": {"config": "switch_4"}, "duration": "20 us", "traffic": []}
    text["traffic"] = [{"inputs": 0, "headers": given, "constant": {"outputs": 0, "rate": "1 Gbit/s", "size": size}}]
    document = scenario.Document(None, text, None, {})
    design = design_of(document)
    described = scenario.validated(design.scenario, document)
    plan = design.plan(described, document, configuration(described, document), "model")
    result = engine.run(plan.job | {"pcap_out": str(tmp_path / "out.pcap")})
    assert result["packets"]["out"] > 10
    with (tmp_path / "out.pcap").open("rb") as file:
        for _, frame in dpkt.pcap.Reader(file):
            assert len(frame) == size
            check_frame(bytes(frame), given)


def test_scenario_has_them(tmp_path: Path) -> None:
    """By the key of a scenario of a design that looks at no DSCP; two values of each key."""
    rng = random.Random(seed())
    print(f"PENSTOCK_SEED={seed()}")
    for given in ({}, {"dscp": "af41", "ecn": 1}, drawn(rng), drawn(rng)):
        text = {"device": {"config": "switch_4"}, "duration": "100 us", "traffic": []}
        text["traffic"] = [{"inputs": "0-1", "headers": given, "poisson": {"outputs": "0-3", "rate": "2 Gbit/s", "size": SIZES[1]}}]
        document = scenario.Document(None, text, None, {})
        design = design_of(document)
        described = scenario.validated(design.scenario, document)
        plan = design.plan(described, document, configuration(described, document), "model")
        result = engine.run(plan.job | {"pcap_out": str(tmp_path / "out.pcap")})
        assert result["conservation_ok"] and result["packets"]["out"] > 10
        with (tmp_path / "out.pcap").open("rb") as file:
            codes = {check_frame(bytes(frame), given)[0] for _, frame in dpkt.pcap.Reader(file)}
        assert codes == {headers.dscp(given.get("dscp", 0))}


@pytest.mark.parametrize("key", ["bytes", "each", "sum_at", "sum_from", "other"])
def test_engine_refuses_headers_that_do_not_fit(key: str) -> None:
    document = scenario.Document(None, {"device": {"config": "switch_4"}, "duration": "1 us", "traffic": [
        {"inputs": 0, "headers": {}, "constant": {"outputs": 0, "rate": "1 Gbit/s", "size": 64}}]}, None, {})  # fmt: skip
    design = design_of(document)
    described = scenario.validated(design.scenario, document)
    job = design.plan(described, document, configuration(described, document), "model").job
    given = job["sources"][0]["headers"]
    given[key] = {"bytes": given["bytes"][1:], "each": 0, "sum_at": 42, "sum_from": 41, "other": 1}[key]
    with pytest.raises(ValueError, match=rf"sources\[0\].headers.{key}"):
        engine.run(job)
