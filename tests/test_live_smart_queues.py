# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""FQ-CoDel of the device, and then of the Linux kernel, in one run: sparse flows wait no longer, bulk flows share alike.

Two flows of 64 share one of 1,024 buckets with a probability of 87 %, in the device as in the kernel, and then each gets half. The bounds
are about flows with buckets of their own. So the kernel has 65,536 buckets here. The device keeps its 1,024: the test draws a key with
which the call and the pings, whose ports are known, meet no busy flow, or repeats the run; downloads that share a bucket are counted,
printed, and left out of Jain's index.

A device's queue chooses a packet when the one before it has left (blocks/fq/README.md, "Order"), and pays for it after it has left; the
kernel's token bucket has chosen one packet, too, but it has paid before it leaves. So a call may wait for one packet more. Beside few
downloads that is much of a delay below a millisecond, and one packet's time is allowed beside the 1.2 times. Beside 64 none is: a round of
them takes 32 ms, a call sends every 20, so every second packet finds its flow in the list of old ones and waits for some 12 ms, with both
alike. The median of such delays is one or the other by chance; their mean is compared.
"""

import json
import os
import random
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from penstock.designs.access_edge import find
from penstock.engine import engine
from penstock.live import kernel_queue
from penstock.network import spaces
from penstock.paths import PACKAGE, ROOT
from penstock.testing.testkit import seed

SERVER, HOME = "10.0.1.1", "10.0.2.2"
VOICE_PORT = 16386  # of the second application
PROPAGATION_MS = 10.0
SETTLED_S = 5.0
PACKET_MS = 1514 * 8 / 24_000  # a full one at 24 Mbit/s
TRIES = 4
MOST_LATE_MS = 3.0  # of a machine that tells delays of a millisecond or two apart, by the median
WITHOUT = (
    spaces.problem() or kernel_queue.missing("fq_codel limit 10240") or (None if shutil.which("iperf3") else "iperf3 is not on the PATH")
)


def buckets(key: int, flows: Sequence[tuple[int, int, int]]) -> list[int]:
    """The buckets of flows from SERVER to HOME, {protocol, source port, destination port}, by definition (blocks/fq/README.md)."""
    values = [value for _, value in find.flow_words(key)]
    words = dict(zip(values[0::3], values[1::3], strict=True))
    found = []
    for protocol, source, destination in flows:
        ends = int(IPv4Address(HOME)) | int(IPv4Address(SERVER)) << 128
        whole = ends | (source << 16 | destination) << 256 | protocol << 288 | 4 << 296
        total = 0
        for chunk in range(find.FLOW_CHUNKS):
            total ^= words[chunk << find.CHUNK_BITS | whole >> find.CHUNK_BITS * chunk & (1 << find.CHUNK_BITS) - 1]
        found.append(total)
    return found


def test_buckets_are_those_of_random_words() -> None:
    """Ports choose buckets evenly: of 64 flows two pairs share one of 1,024, in the mean over keys."""
    flows = [(6, 40_000 + 2 * i, 5201) for i in range(64)]
    pairs = []
    for key in range(seed(), seed() + 200):
        seen = Counter(buckets(key, flows))
        pairs.append(sum(many * (many - 1) // 2 for many in seen.values()))
    print(f"PENSTOCK_SEED={seed()}: {sum(pairs) / len(pairs):.2f} pairs share a bucket, 64 * 63 / 2 / 1024 = 1.97 would")
    assert 1.3 < sum(pairs) / len(pairs) < 2.7


def play(place: Path, flows: int, key: int) -> dict[str, dict[str, Any]]:
    """Results of the device's and the kernel's FQ-CoDel by round."""
    document = yaml.safe_load((ROOT / "scenarios/live_smart_queues.yaml").read_text())
    document["seed"] = key
    document["duration"] = "15 s"
    document["applications"][0]["iperf"]["flows"] = flows
    document["rounds"] = [one for one in document["rounds"] if one["name"].endswith("FQ-CoDel")]
    kernel = document["rounds"][1]["set"]["network.ends.router.kernel_queue"]
    assert kernel["queue"].startswith("fq_codel ")
    kernel["queue"] += " flows 65536"
    place.mkdir()
    (place / "s.yaml").write_text(yaml.safe_dump(document))
    env = dict(os.environ) | {"PYTHONPATH": str(PACKAGE.parent)}
    command = [sys.executable, "-P", "-m", "penstock", "live", str(place / "s.yaml"), "--engine", "model", "--json"]
    done = subprocess.run([*command, "--out", str(place / "out")], env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return {one["name"]: one["result"] for one in json.loads(done.stdout)["rounds"]}


def waits(application: dict[str, Any], propagation_ms: float) -> list[float]:
    """What packets of a sparse flow waited beside the way's own delay, ms, once the downloads are under way."""
    over = application["over_time"]
    seen = zip(over["time_s"], over["delay_ms"], strict=True)
    late = [delay - propagation_ms for at, delay in seen if at > SETTLED_S and delay is not None]
    assert len(late) > 50
    return late


@pytest.mark.slow
@pytest.mark.skipif(WITHOUT is not None, reason=f"no FQ-CoDel of the Linux kernel here: {WITHOUT}")
@pytest.mark.parametrize("flows", [1, 4, 16, 64])
def test_sparse_flows_wait_no_longer_than_with_the_kernel(tmp_path: Path, flows: int) -> None:
    """The call waits at most 1.2 times as long as with the kernel (above); downloads share alike, by Jain's index 0.99 of those alone."""
    engine.module()
    rng = random.Random(seed())
    print(f"PENSTOCK_SEED={seed()}")
    for number in range(TRIES):
        rounds = play(tmp_path / str(number), flows, key := rng.randrange(1 << 32))
        said = json.loads((tmp_path / str(number) / "out/fq-codel/000_downloads_client.json").read_text())
        ports = [one["local_port"] for one in said["start"]["connected"]]
        *busy, call, pings = buckets(key, [*((6, port, 5201) for port in ports), (17, VOICE_PORT, VOICE_PORT), (1, 0, 0)])
        if not {call, pings} & set(busy) and call != pings:
            break
        print(f"with key {key} a sparse flow shares a bucket: drawn anew")
    else:
        pytest.fail(f"a sparse flow shared a bucket {TRIES} times; with 64 flows of 1,024 buckets the chance is below 1 in 4,000")
    shared = Counter(busy)
    figures = {}
    for name, result in rounds.items():
        by = {one["name"]: one for one in result["applications"]}
        assert all(not one["error"] for one in by.values()), (name, [one["error"] for one in by.values()])
        rows = [row for row in result["flows"] if row["application"] == "downloads"]
        alone = [row["bytes"] for row, bucket in zip(rows, busy, strict=True) if name != "FQ-CoDel" or shared[bucket] == 1]
        jain = sum(alone) ** 2 / (len(alone) * sum(one * one for one in alone))
        delays = waits(by["call"], PROPAGATION_MS)
        figures[name] = float(np.mean(delays) if flows == 64 else np.median(delays)), jain
        print(f"{name}: {flows} downloads, {len(alone)} alone in their buckets, Jain's index {jain:.4f} of these, "
              f"{by['downloads']['jain']} of all; the call waits {figures[name][0]:.3f} ms")  # fmt: skip
    ours, kernels = figures["FQ-CoDel"], figures["kernel FQ-CoDel"]
    assert ours[1] >= 0.99
    late = max(result["let_go_late_ms"]["p99"] for result in rounds.values())
    print(f"ratio of delays {ours[0] / kernels[0]:.3f}, frames let go late at 99 %: {late:.2f} ms")
    if late > MOST_LATE_MS:
        pytest.skip(f"Jain's index holds; this machine is too busy for delays: frames are {late:.1f} ms late at 99 %")
    assert ours[0] <= 1.2 * kernels[0] + (0 if flows == 64 else PACKET_MS)
