# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Headers of generated frames before the engine has them: read by dpkt and plain arithmetic; what cannot be is refused in a sentence."""

import random
import struct
from typing import Any

import dpkt
import numpy as np
import pytest

from penstock.errors import UserError
from penstock.scenarios import headers, scenario
from penstock.scenarios.device import configuration, design_of
from penstock.scenarios.headers import Headers
from penstock.testing.frames import check_frame, drawn, ones_sum
from penstock.testing.testkit import seed

SIZES = [66, 301, 1514]


def test_headers_before_the_engine_sums_them_up() -> None:
    """Random ones, with a payload of zeros, for which UDP's checksum is that of the headers alone."""
    rng = random.Random(seed())
    print(f"PENSTOCK_SEED={seed()}")
    for _ in range(100):
        given = drawn(rng)
        queues = np.array([rng.randrange(65_536) for _ in range(3)], dtype=np.uint32)
        dscps = [rng.randrange(64) for _ in queues]
        made = headers.in_job(Headers.model_validate(given), dscps, queues, SIZES)
        rows = made["bytes"].reshape(len(queues), len(SIZES), made["each"])
        for queue, code, of_queue in zip(queues.tolist(), dscps, rows, strict=True):
            for size, row in zip(SIZES, of_queue, strict=True):
                frame = bytearray(row.tobytes().ljust(size, b"\0"))
                at = made["sum_at"]
                frame[at : at + 2] = struct.pack("!H", (0xFFFF ^ ones_sum(bytes(frame[made["sum_from"] :]))) or 0xFFFF)
                assert check_frame(bytes(frame), given) == (code, queue if "dst" not in given else check_frame(bytes(frame), given)[1])


@pytest.mark.parametrize(
    ("given", "size", "says"),
    [
        ({"ip": 5}, 300, "`traffic.0.headers.ip` must be one of 4 or 6, not 5"),
        ({"dscp": 64}, 300, "`traffic.0.headers.dscp` must be a DSCP, a number from 0 to 63 or a name such as ef, af41 or cs6, not 64"),
        ({"dscp": "eff"}, 300, "did you mean 'ef'?"),
        ({"dscp": True}, 300, "`traffic.0.headers.dscp` must be a DSCP"),
        ({"ecn": 4}, 300, "`traffic.0.headers.ecn` must be at most 3, not 4"),
        ({"vlan": [1, 2, 3]}, 300, "`traffic.0.headers.vlan` must be a VLAN id from 0 to 4094, or a list of at most two"),
        ({"vlan": 4095}, 300, "`traffic.0.headers.vlan` must be a VLAN id from 0 to 4094"),
        ({"src": "somewhere"}, 300, "`traffic.0.headers.src` must be an address such as"),
        ({"ip": 6, "dst": "10.0.0.1"}, 300, "`traffic.0.headers` has a `dst` of IPv4, but `ip` is 6"),
        ({"sport": 65_536}, 300, "`traffic.0.headers.sport` must be at most 65,535, not 65536"),
        ({"dport": -1}, 300, "`traffic.0.headers.dport` must be at least 0, not -1"),
        ({}, 41, "`traffic.0.headers` are 42 byte, but `size` has frames of 41 byte"),
        ({"ip": 6, "vlan": [1, 2]}, 69, "`traffic.0.headers` are 70 byte, but `size` has frames of 69 byte"),
        ({"port": 1}, 300, "`traffic.0.headers.port` is not a known key"),
    ],
)
def test_errors_are_one_sentence(given: dict[str, Any], size: int, says: str) -> None:
    text = {"device": {"config": "switch_4"}, "duration": "20 us", "traffic": []}
    text["traffic"] = [{"inputs": 0, "headers": given, "poisson": {"outputs": 0, "rate": "2 Gbit/s", "size": size}}]
    document = scenario.Document(None, text, None, {})
    design = design_of(document)
    with pytest.raises(UserError) as caught:
        described = scenario.validated(design.scenario, document)
        design.plan(described, document, configuration(described, document), "model")
    assert says in str(caught.value).replace("'4' or '6'", "4 or 6") and "\n" not in str(caught.value)


def test_names_of_dscps() -> None:
    """RFC 4594, figure 3, has the values."""
    stated = {
        "ef": 46,
        "cs1": 8,
        "cs5": 40,
        "cs7": 56,
        "af11": 10,
        "af12": 12,
        "af13": 14,
        "af21": 18,
        "af31": 26,
        "af43": 38,
        "be": 0,
        "va": 44,
    }
    assert {name: headers.dscp(name) for name in stated} == stated
    assert [headers.dscp(value) for value in (0, 63, "0", "63", "EF")] == [0, 63, 0, 63, 46]


def test_dscp_of_any_frame() -> None:
    """Frames of all kinds, whole and cut, against dpkt and the place of the field."""
    rng = random.Random(seed())
    print(f"PENSTOCK_SEED={seed()}")
    for _ in range(2000):
        code, tags, version = rng.randrange(64), rng.randrange(4), rng.choice((4, 6, 4, 6, 0))
        packet = bytes(dpkt.ip.IP(tos=code << 2 | 1)) if version == 4 else bytes(dpkt.ip6.IP6(fc=code << 2 | 1))
        kind = {4: 0x0800, 6: 0x86DD, 0: rng.choice((0x0806, 0x88B5))}[version]
        stack = b"".join(struct.pack("!HH", rng.choice((0x8100, 0x88A8)), rng.getrandbits(16)) for _ in range(tags))
        frame = rng.randbytes(12) + stack + struct.pack("!H", kind) + packet
        assert headers.dscp_of(frame) == (code if version and tags <= 2 else None)
        needed = 14 + 4 * min(tags, 2) + 2
        assert headers.dscp_of(frame[: rng.randrange(needed)]) is None
        assert headers.dscp_of(frame[:needed]) == (code if version and tags <= 2 else None)
        if version:  # the version in the packet is not the one that the type says
            wrong = 14 + 4 * tags
            other = frame[:wrong] + bytes([frame[wrong] ^ 0x70]) + frame[wrong + 1 :]
            assert headers.dscp_of(other) is None
