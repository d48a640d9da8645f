"""The model of the classifier against frames whose verdict was worked out by hand."""

import pytest

from penstock.engine import engine

SIZES = {"queues": 1000, "min_frame_bytes": 60, "max_frame_bytes": 1514}
PASSED, RUNT, OVERSIZE, BAD_QUEUE_ID, BAD_FRAME = range(5)  # pst_pkg::drop_e
NO_QUEUE = 0xFFFFFFFF


@pytest.fixture(scope="module")
def classify():
    """The C++ model, built."""
    return engine.models("classify").classify


def frame(queue: str, length: int) -> bytes:
    """A frame of `length` bytes behind the prefix that is given in hexadecimal, as it stands on the wire."""
    return bytes.fromhex(queue) + b"\xa5" * length


@pytest.mark.parametrize(
    "data, error, verdict",
    [
        # The prefix is most significant byte first: 0x0102 is queue 258, not 513.
        (frame("00 00 01 02", 60), False, (PASSED, 258, 60)),
        (frame("00 00 00 00", 1514), False, (PASSED, 0, 1514)),
        (frame("00 00 03 e7", 64), False, (PASSED, 999, 64)),
        (frame("00 00 03 e8", 64), False, (BAD_QUEUE_ID, 1000, 64)),
        # Only the top bit is wrong: an id must be compared in full width.
        (frame("80 00 00 01", 64), False, (BAD_QUEUE_ID, 2147483649, 64)),
        (frame("00 00 00 01", 59), False, (RUNT, 1, 59)),
        (frame("00 00 00 01", 0), False, (RUNT, 1, 0)),
        (frame("00 00 00 01", 1515), False, (OVERSIZE, 1, 1515)),
        # The reported length is exact.
        (frame("00 00 00 01", 65535), False, (OVERSIZE, 1, 65535)),
        (frame("00 00 00 01", 65536), False, (OVERSIZE, 1, 65536)),
        (frame("00 00 00 01", 4480000), False, (OVERSIZE, 1, 4480000)),
        # No room for a queue id.
        (b"\x00\x00\x01", False, (RUNT, NO_QUEUE, 0)),
        (b"\x00", False, (RUNT, NO_QUEUE, 0)),
        (b"\x00\x00\x01", True, (BAD_FRAME, NO_QUEUE, 0)),
        # Precedence: bad frame, then length, then queue id.
        (frame("ff ff ff ff", 59), True, (BAD_FRAME, NO_QUEUE, 59)),
        (frame("ff ff ff ff", 2000), True, (BAD_FRAME, NO_QUEUE, 2000)),
        (frame("00 00 00 07", 100), True, (BAD_FRAME, 7, 100)),
        (frame("00 00 03 e8", 59), False, (RUNT, 1000, 59)),
        (frame("00 00 03 e8", 1515), False, (OVERSIZE, 1000, 1515)),
    ],
    ids=lambda value: f"{value[:4].hex()}+{len(value)}" if isinstance(value, bytes) else str(value),
)
def test_verdict(classify, data: bytes, error: bool, verdict: tuple[int, int, int]) -> None:
    assert classify(data, error=error, **SIZES) == verdict


def test_sizes_are_parameters(classify) -> None:
    assert classify(frame("00 00 00 00", 20), queues=1, min_frame_bytes=20, max_frame_bytes=20) == (PASSED, 0, 20)
    assert classify(frame("00 00 00 01", 20), queues=1, min_frame_bytes=20, max_frame_bytes=20) == (BAD_QUEUE_ID, 1, 20)
