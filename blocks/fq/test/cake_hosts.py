"""How CAKE shares a queue among hosts first, in plain Python: a flow's turn is worth the quantum over the flows that its host has."""

from rfc8290 import Flow

LATE = 9  # cycles from an operation to the first one that sees the grant which it has changed
MOST = 63  # more flows of a host count as this
LEAST = 16  # bytes of a turn, or the quantum: the block's own bound


class HostShares:
    """The hosts of one queue. `sides`: 1 those of sources count, 2 of destinations, 3 both (CAKE: dual-srchost, dual-dsthost, triple)."""

    def __init__(self, quantum: int, sides: int, bits: int) -> None:
        self.quantum, self.sides, self.bits = quantum, sides, bits
        self.hosts: dict[int, tuple[int, int]] = {}
        self.old: set[int] = set()  # flows of the old list that have used up credits
        self.grants: dict[int, list[tuple[int, int]]] = {}  # from which cycle on, bytes

    def comes(self, flow: Flow, hosts: tuple[int, int], cycle: int) -> None:
        """It comes to the new list."""
        assert flow.name not in self.old
        self.hosts[flow.name] = hosts[0] % 2**self.bits, hosts[1] % 2**self.bits
        self.divide(flow, cycle)

    def counts(self, flow: Flow, cycle: int) -> None:
        """Its credits were used up: it is in the old list, and counts."""
        self.old.add(flow.name)
        self.divide(flow, cycle)

    def leaves(self, flow: Flow) -> None:
        """It leaves the old list."""
        self.old.discard(flow.name)

    def load(self, flow: Flow) -> int:
        """The flows of its host; where both sides count, of the one with more."""
        mine = self.hosts[flow.name]
        loads = [sum(self.hosts[other][side] == mine[side] for other in self.old) for side in (0, 1) if self.sides >> side & 1]
        return max(1, *loads) if loads else 1

    def divide(self, flow: Flow, cycle: int) -> None:
        bytes_ = self.quantum * (65536 // min(self.load(flow), MOST)) // 65536
        self.grants.setdefault(flow.name, []).append((cycle + LATE, max(min(self.quantum, LEAST), bytes_)))

    def grant(self, flow: Flow, cycle: int) -> int:
        """What it gets if its credits are used up now."""
        return next((bytes_ for since, bytes_ in reversed(self.grants[flow.name]) if since <= cycle), 0)
