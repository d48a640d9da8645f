"""What pst_share_write and pst_share_read do in every cycle, written down once more, of the same parts."""

from collections import deque


class Fifo:
    """pst_fifo: full or not, and what stands at its head, is that of the beginning of the cycle."""

    def __init__(self, depth: int) -> None:
        self.depth, self.words = depth, deque()

    @property
    def ready(self) -> bool:
        return len(self.words) < self.depth

    @property
    def head(self) -> object | None:
        return self.words[0] if self.words else None

    def clock(self, pushed: object | None, popped: bool) -> None:
        if popped:
            self.words.popleft()
        if pushed is not None:
            self.words.append(pushed)


class Turns:
    """The choice among the ports: those behind the one served last come first, the lowest of them."""

    def __init__(self, ports: int) -> None:
        self.ports, self.last = ports, ports - 1

    def choose(self, offered: list[bool]) -> int | None:
        order = [*range(self.last + 1, self.ports), *range(self.last + 1)]
        return next((port for port in order if offered[port]), None)


class ShareWrite:
    """`step` takes what stands at the inputs and returns what must stand at the outputs."""

    def __init__(self, ports: int, outstanding: int) -> None:
        self.ports, self.turns, self.owner = ports, Turns(ports), None
        # A skid buffer is a FIFO of two places that takes no word while both are taken.
        self.addresses, self.beats, self.order = Fifo(2), Fifo(2), Fifo(outstanding)

    def step(self, aw: list, w: list, awready: bool, wready: bool, b: bool, bready: list[bool]) -> dict[str, object]:
        """`aw`, `w`: the word at each port, None without valid; a beat is (word, last)."""
        address, beat, responder = self.addresses.head, self.beats.head, self.order.head
        winner = None
        if self.owner is None:
            winner = self.turns.choose([a is not None and d is not None for a, d in zip(aw, w, strict=True)])
        start = winner is not None and self.addresses.ready and self.beats.ready and self.order.ready
        source = winner if start else self.owner
        taken = source is not None and w[source] is not None and self.beats.ready
        answered = b and responder is not None and bready[responder]
        outputs = {
            "awready": [start and p == winner for p in range(self.ports)],
            "wready": [taken and p == source for p in range(self.ports)],
            "bvalid": [b and p == responder for p in range(self.ports)],
            "aw": address, "w": beat, "bready": responder is not None and bready[responder],
        }  # fmt: skip
        self.addresses.clock(aw[winner] if start else None, address is not None and awready)
        self.beats.clock(w[source] if taken else None, beat is not None and wready)
        self.order.clock(winner if start else None, answered)
        if start:
            self.turns.last = winner
        if taken:
            self.owner = None if w[source][1] else source
        return outputs


class ShareRead:
    """The same of pst_share_read."""

    def __init__(self, ports: int, outstanding: int) -> None:
        self.ports, self.turns = ports, Turns(ports)
        self.addresses, self.beats, self.order = Fifo(2), Fifo(2), Fifo(outstanding)

    def step(self, ar: list, arready: bool, r: object | None, rready: list[bool]) -> dict[str, object]:
        """`ar`: the word at each port, `r` the beat (word, last) of the memory; None without valid."""
        address, beat, reader = self.addresses.head, self.beats.head, self.order.head
        winner = self.turns.choose([word is not None for word in ar])
        start = winner is not None and self.addresses.ready and self.order.ready
        taken = beat is not None and reader is not None and rready[reader]
        outputs = {
            "arready": [start and p == winner for p in range(self.ports)],
            "rvalid": [beat is not None and p == reader for p in range(self.ports)],
            "ar": address, "r": beat, "rready": self.beats.ready,
        }  # fmt: skip
        self.addresses.clock(ar[winner] if start else None, address is not None and arready)
        self.order.clock(winner if start else None, taken and beat[1])
        self.beats.clock(r if r is not None and self.beats.ready else None, taken)
        if start:
            self.turns.last = winner
        return outputs
