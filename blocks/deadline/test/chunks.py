"""What the tests of this block share: frames, and a reader of chunks that knows nothing of how the hardware makes them."""

import random
from dataclasses import dataclass

LINE = 64  # bytes of a beat
UNIT = 8


@dataclass(frozen=True)
class Frame:
    """A frame as it goes in and must come out."""

    class_id: int
    user: int
    deadline: int
    data: bytes

    @property
    def header(self) -> int:
        """The word `header_t`: user, deadline, bytes."""
        return self.user << 48 | self.deadline << 16 | len(self.data)


def random_frame(rng: random.Random, classes: int, shortest: int, longest: int) -> Frame:
    """Return a frame; its length is often the shortest, or at the edge of a unit, a beat or a chunk."""
    kind = rng.random()
    if kind < 0.4:
        length = rng.randint(shortest, shortest + 2 * LINE)
    elif kind < 0.8:
        length = rng.choice((LINE, 512, 1514, 4032, longest)) + rng.choice((-65, -64, -8, -1, 0, 1, 8, 64, 65))
    else:
        length = rng.randint(shortest, longest)
    data = rng.randbytes(max(shortest, min(length, longest)))
    return Frame(rng.randrange(classes), rng.getrandbits(16), rng.getrandbits(32), data)


def to_beats(data: bytes) -> list[int]:
    """Return the bytes as 512-bit words, byte 0 in the lowest bits, the last word filled with zeros."""
    return [int.from_bytes(data[at : at + LINE], "little") for at in range(0, len(data), LINE)]


@dataclass(frozen=True)
class Meta:
    """Unit 0 of a chunk."""

    frames: int
    units: int
    front: int
    bytes_before: int  # modulo 2^24
    frames_before: int  # modulo 2^11
    open: int

    @classmethod
    def of(cls, word: int) -> "Meta":
        return cls(word & 0xFF, word >> 8 & 0x3FF, word >> 18 & 0x3FF, word >> 28 & 0xFFFFFF, word >> 52 & 0x7FF, word >> 63)

    @property
    def word(self) -> int:
        low = self.front << 18 | self.units << 8 | self.frames
        return self.open << 63 | self.frames_before << 52 | self.bytes_before << 28 | low

    @property
    def header_beats(self) -> int:
        return -(-(1 + self.frames) * UNIT // LINE)

    @property
    def beats(self) -> int:
        return self.header_beats + -(-self.units * UNIT // LINE)


class Reader:
    """Takes the chunks of one class in their order apart, by the README's description alone."""

    def __init__(self, class_id: int, chunk_beats: int) -> None:
        self.class_id, self.chunk_beats = class_id, chunk_beats
        self.header: tuple[int, int, int] | None = None  # of a frame that goes on: user, deadline, bytes
        self.part = b""
        self.frames = self.bytes = 0  # that began in the chunks so far

    def feed(self, beats: list[int]) -> list[Frame]:
        """Return the frames that end in this chunk, oldest first."""
        meta = Meta.of(beats[0] & (1 << 64) - 1)
        assert len(beats) == meta.beats <= self.chunk_beats, f"{len(beats)} beats for {meta}, of {self.chunk_beats}"
        assert (meta.frames_before, meta.bytes_before) == (self.frames % 2**11, self.bytes % 2**24), f"{meta}: what came before"
        words = b"".join(beat.to_bytes(LINE, "little") for beat in beats)
        data = words[meta.header_beats * LINE :][: meta.units * UNIT]
        whole, at = [], 0
        if self.header is None:
            assert meta.front == 0, f"{meta}: no frame goes on"
        else:
            at = self._take(data, 0, whole)
            assert meta.front * UNIT == at, f"{meta}: {at} bytes at the front are of the frame before"
        for k in range(meta.frames):
            word = int.from_bytes(words[UNIT * (1 + k) :][:UNIT], "little")
            assert self.header is None and at < len(data), "a frame begins before the one ahead of it has ended"
            self.header, self.part = (word >> 48, word >> 16 & 0xFFFFFFFF, word & 0xFFFF), b""
            self.frames, self.bytes = self.frames + 1, self.bytes + (word & 0xFFFF)
            at = self._take(data, at, whole)
        assert at == len(data), f"{meta}: {len(data) - at} bytes belong to no frame"
        assert meta.open == (self.header is not None), f"{meta}: open"
        assert not meta.open or (len(beats) == self.chunk_beats and meta.units % 8 == 0), f"{meta}: open, and not full"
        return whole

    def _take(self, data: bytes, at: int, whole: list[Frame]) -> int:
        user, deadline, length = self.header
        room = -(-(length - len(self.part)) // UNIT) * UNIT
        self.part += data[at : at + room]
        if len(self.part) >= length:
            whole.append(Frame(self.class_id, user, deadline, self.part[:length]))
            self.header = None
        return min(at + room, len(data))
