# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""TCP connections through an access edge: what they send, lose and mark adds up, on model and RTL alike."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from penstock.designs import configs
from penstock.designs.access_edge import config as configuration
from penstock.engine import engine
from penstock.engine import run as runs
from penstock.errors import UserError
from penstock.testing.testkit import seed

HEAD = """
device: {{ config: {config} }}
duration: {duration}
queues:
  - {{ id: 0, name: bottleneck, rate: 24 Mbit/s, burst: 3 kB, {queue} }}
  - {{ id: 3, name: other, rate: 5 Mbit/s, limit_packets: 10 }}
traffic:
"""


def prepared(
    folder: Path, traffic: str, config: str = "demo_64", duration: str = "2 s", queue: str = "limit_packets: 50", **more: Any
) -> Any:
    """Return a scenario with these sources, ready for the model."""
    path = folder / "scenario.yaml"
    path.write_text(HEAD.format(config=config, duration=duration, queue=queue) + traffic)
    return runs.prepare(runs.Request(path, engine="model", **more))


def outcome(run: Any) -> dict[str, Any]:
    """Run it on the model and return what is in `result.json`."""
    result: dict[str, Any] = run.summary(engine.run(run.plan.job))
    assert result["conservation"]["ok"] and not result["findings"]
    for flow in result["tcp"]["flows"]:
        assert flow["unreadable"] == 0
        # What was sent has come, was dropped, or is on its way: at most a window.
        under_way = flow["segments"] - flow["received"] - flow["dropped"] - flow["lost"]
        assert 0 <= under_way < 200
    return result


@pytest.mark.parametrize("algorithm", ["cubic", "reno"])
def test_connections_fill_their_queue(tmp_path: Path, algorithm: str) -> None:
    """1,460 of 1,514 byte of each frame are payload; four connections take all of the rate but for the first slow start."""
    result = outcome(
        prepared(tmp_path, f"  - tcp: {{ queues: bottleneck, flows: 4, rtt: 20 ms, algorithm: {algorithm} }}\n", duration="5 s")
    )
    tcp = result["tcp"]
    assert 0.95 < tcp["goodput_bps"] / (24e6 * 1460 / 1514) <= 1.0
    assert sum(flow["dropped"] for flow in tcp["flows"]) == result["packets"]["dropped"]["tail_drop_packets"] > 0
    assert sum(flow["segments"] for flow in tcp["flows"]) >= result["packets"]["in"]
    assert tcp["retransmits"] >= sum(flow["dropped"] for flow in tcp["flows"]) - 60  # the last ones are still to be sent again
    assert sum(flow["share"] for flow in tcp["flows"]) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(("window", "rtt"), [(30_000, 20), (15_000, 40)])
def test_window_by_round_trip(tmp_path: Path, window: int, rtt: int) -> None:
    """Without a loss a connection sends a receive window a round trip: whole segments, and the time of the device and its queue on top."""
    text = f"  - tcp: {{ queues: bottleneck, flows: 1, rtt: {rtt} ms, window: {window}, delayed_ack: 0 ms, spread: 0 ms }}\n"
    flow = outcome(prepared(tmp_path, text))["tcp"]["flows"][0]
    assert flow["retransmits"] == flow["dropped"] == 0
    segments = window // 1460
    serving = 1514 * 8 / 24e6  # a packet is paced behind the one before it; the window comes back as it went out
    assert flow["goodput_bps"] == pytest.approx(8 * 1460 * segments / (rtt / 1000 + serving), rel=0.03)


def test_limited_bytes_arrive(tmp_path: Path) -> None:
    """Every byte arrives, with and without losses; the last segment is short, and one of a single byte is a frame of 60."""
    text = "".join(f"  - tcp: {{ queues: other, flows: 2, rtt: 3 ms, bytes: {size} }}\n" for size in (1, 1461, 100_001))
    text += "  - poisson: { queues: other, rate: 2 Mbit/s, size: 500 }\n"
    result = outcome(prepared(tmp_path, text, duration="4 s"))
    assert [flow["delivered_bytes"] for flow in result["tcp"]["flows"]] == [1, 1, 1461, 1461, 100_001, 100_001]
    assert all(flow["finished_s"] is not None for flow in result["tcp"]["flows"])
    assert result["packets"]["dropped"]


def test_figures_are_of_the_stop(tmp_path: Path) -> None:
    """What waits when the connection stops comes later, and is in no rate: goodput is at most the queue's share of payload."""
    text = "  - { stop: 100 ms, tcp: { queues: other, flows: 1, rtt: 2 ms, spread: 0, initial_window: 60 } }\n"
    result = outcome(prepared(tmp_path, text, queue="limit_packets: 100", settings=["queues.other.limit_packets=100"]))
    flow = result["tcp"]["flows"][0]
    served = 5e6 * 0.1 / 8 / 1514  # frames until then
    assert result["packets"]["out"] > served + 20 and flow["finished_s"] is None
    assert served - 3 <= flow["received"] <= served + 1 and flow["delivered_bytes"] == 1460 * flow["received"]
    assert flow["goodput_bps"] <= 5e6 * 1460 / 1514


def test_nothing_begins_after_the_stop(tmp_path: Path) -> None:
    """Of what waits for a slow line nothing follows; a connection that goes on has the line then."""
    text = "  - { stop: 300 ms, tcp: { queues: bottleneck, flows: 1, rtt: 5 ms, spread: 0, initial_window: 200 } }\n"
    text += "  - { start: 200 ms, tcp: { queues: other, flows: 1, rtt: 5 ms, spread: 0, initial_window: 200 } }\n"
    settings = ["link.ingress=4 Mbit/s", "queues.other.limit_packets=100"]
    run = prepared(tmp_path, text, duration="600 ms", settings=settings)
    raw = engine.run(run.plan.job)
    clock, line = run.config.clock_hz, 8 * (1514 + 24) / 4e6
    came = np.asarray(raw["departures"]["cycle"]) / clock - np.asarray(raw["latency_cycles"]) / clock
    stopped, other = (came[np.asarray(raw["latency_queue"]) == queue] for queue in (0, 3))
    assert 0.3 - line < stopped.max() < 0.3 + 1.01 * line, "a frame whose first bit is on the line is sent"
    assert other.min() < 0.3 + 2.5 * line and np.diff(other[other > 0.31]).max() < 1.1 * line
    assert raw["conservation_ok"] and raw["tcp"]["segments"][0] > len(stopped) + 20


def test_marks_in_place_of_losses(tmp_path: Path) -> None:
    """CoDel marks ECN-capable connections: nothing is sent again, the windows are reduced, and each mark was seen by its receiver."""
    queue = "limit_packets: 500, aqm: { target: 2 ms, interval: 20 ms, ecn: true }"
    for ip in (4, 6):
        text = (
            f"  - {{ tcp: {{ queues: bottleneck, flows: 4, rtt: 10 ms, ecn: true, hystart: true }}, headers: {{ ip: {ip}, dscp: ef }} }}\n"
        )
        result = outcome(prepared(tmp_path, text, "demo_codel_64", "3 s", queue))
        flows = result["tcp"]["flows"]
        marked = sum(flow["marked"] for flow in flows)
        assert 10 < marked <= result["marked_packets"] <= marked + 4
        assert result["tcp"]["timeouts"] == 0 and all(0 < flow["ecn_reductions"] <= flow["marked"] for flow in flows)
        assert result["tcp"]["goodput_bps"] > 0.85 * 24e6


def test_codel_keeps_the_wait_short(tmp_path: Path) -> None:
    text = "  - tcp: { queues: bottleneck, flows: 4, rtt: 4 ms }\n"
    waits = []
    for aqm in ("", ", aqm: { target: 1 ms, interval: 20 ms }"):
        result = outcome(prepared(tmp_path, text, "demo_codel_64", "3 s", "limit_packets: 100" + aqm))
        assert result["tcp"]["goodput_bps"] > 0.9 * 24e6 * 1460 / 1514
        waits.append(result["latency_ns"]["p50"])
    assert waits[0] > 25e6 and waits[1] < 5e6


def test_a_seed_repeats_a_run(tmp_path: Path) -> None:
    text = "  - tcp: { queues: [bottleneck, other], flows: 6, rtt: 7 ms }\n  - poisson: { queues: other, rate: 1 Mbit/s, size: imix }\n"
    seen = [outcome(prepared(tmp_path, text, seed=number, duration="1 s"))["tcp"] for number in (5, 5, 6)]
    assert seen[0] == seen[1] != seen[2]
    assert [flow["queue"] for flow in seen[0]["flows"]] == [0, 3, 0, 3, 0, 3]


@pytest.mark.parametrize("number", range(2))
def test_model_and_rtl_agree(tiny: tuple[configs.Configuration, str], tmp_path: Path, number: int) -> None:
    """The same segments at the same cycles, whoever reads them: the receiver of the RTL takes each frame's bytes as they come out."""
    print(f"PENSTOCK_SEED={seed()}")
    rtt = ("20 us", "150 us")[number]
    text = f"  - tcp: {{ queues: [bottleneck, other], flows: 3, rtt: {rtt}, min_rto: 200 us, delayed_ack: 50 us, size: 700 }}\n"
    text += "  - poisson: { queues: 5, rate: 100 Mbit/s, size: imix }\n"
    fast = ["queues.bottleneck.rate=2 Gbit/s", "queues.other.rate=500 Mbit/s", "queues.bottleneck.limit_packets=12"]
    run = prepared(tmp_path, text, "tiny_16", "600 us", seed=seed() + number, settings=fast)
    on_model = engine.run(run.plan.job)
    timing = {key: run.plan.job["device"]["memories"][0][key] for key in ("read_latency", "write_latency", "gap_permille")}
    on_rtl = engine.run(run.plan.job | {"device": configuration.device(*tiny, timing)})
    for raw in (on_model, on_rtl):
        assert raw["conservation_ok"] and raw["findings"] == []
    assert np.asarray(on_rtl["tcp"]["dropped"]).sum() > 0 and np.asarray(on_rtl["tcp"]["unreadable"]).sum() == 0
    for key in ("segments", "retransmits", "timeouts", "delivered_bytes", "received", "dropped"):
        assert np.array_equal(on_model["tcp"][key], on_rtl["tcp"][key]), key
    for key in ("cycle", "queue", "length"):
        assert np.array_equal(on_model["departures"][key], on_rtl["departures"][key]), key


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("tcp: { queues: 1 }", "traffic.0.tcp.rtt"),
        ("tcp: { queues: 1, rtt: 1 ns }", "must be at least 1"),
        ("tcp: { queues: 64, rtt: 1 ms }", "queue"),
        ("tcp: { queues: 1, rtt: 1 ms, algorithm: bbr }", "algorithm"),
        ("tcp: { queues: 1, rtt: 1 ms, size: 9000 }", "must be at most the 1,522 byte that demo_64 takes, not 9,000"),
        ("tcp: { queues: 1, rtt: 1 ms, window: 1 kB }", "must be at least a frame's 1,514 byte, not 1,000"),
        ("tcp: { queues: 1, rtt: 1 ms, flows: 0 }", "flows"),
        ("{ tcp: { queues: 1, rtt: 1 ms, size: 60 }, headers: { ip: 6 } }", "must be more than the 74 byte of the headers, not 60"),
        ("{ tcp: { queues: 1, rtt: 1 ms }, headers: { ecn: 1 } }", "is not for TCP"),
        ("{ tcp: { queues: 1, rtt: 1 ms }, start: 3 s }", "which is not before the end of the run"),
        ("{ tcp: { queues: 1, rtt: 1 ms }, start: 1 s, stop: 1 s }", "has a `stop` that is not after its `start`"),
        ("tcp: { queues: 1, rtt: 1 ms, bytes: 0 }", "must be at least 1"),
    ],
)
def test_bad_input_is_one_sentence(tmp_path: Path, entry: str, words: str) -> None:
    with pytest.raises(UserError) as said:
        prepared(tmp_path, f"  - {entry}\n")
    assert words in str(said.value) and "\n" not in str(said.value)
