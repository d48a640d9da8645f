"""pst_chunk_lists against its model in every cycle, and against a book of where each chunk is."""

import random
from collections import deque

import cocotb
import pytest
from cocotb.triggers import FallingEdge, Timer

from penstock.hardware import library
from penstock.testing.testkit import parameter, reset, run_module, seed, start

OPERATIONS = ("push", "pop", "free", "splice")
INPUTS = (
    "m_number_ready", "s_push_valid", "s_push_class", "s_push_number", "s_push_bad", "s_pop_valid", "s_pop_class", "s_free_valid",
    "s_free_number", "s_splice_valid", "s_splice_class", "s_splice_all", "s_splice_number", "s_splice_previous", "s_splice_count",
)  # fmt: skip


class Bench:
    """Offers operations at random, and keeps the book: free ones in the order in which they are given out, outside, on a class's list."""

    def __init__(self, dut, rng: random.Random) -> None:
        from penstock.engine import engine

        models = engine.models("deadline")

        self.dut, self.rng, self.models = dut, rng, models
        self.classes, self.chunks = parameter("Classes", 64), parameter("Chunks", 4096)
        self.model = models.ChunkLists(self.classes, self.chunks, parameter("ReadLatency", 2))
        self.counts = dict.fromkeys((*OPERATIONS, "number", "all", "none_left", "last_popped", "reused"), 0)
        self.longest_wait = 0
        self.restart()

    def restart(self) -> None:
        self.model.reset()
        self.model.clock(self.models.ChunkListsInputs(False, None, None, None, None))  # the cycle in which reset is released
        self.free = deque(range(self.chunks))
        self.outside: list[int] = []
        self.lists: list[deque[tuple[int, int]]] = [deque() for _ in range(self.classes)]
        self.offers: dict[str, tuple] = {}
        self.waited = dict.fromkeys(OPERATIONS, 0)
        self.popping: deque[tuple[int, tuple[int, int]]] = deque()  # cycle in which it is to come, chunk
        self.given, self.now = 0, 0

    def idle(self) -> None:
        for name in INPUTS:
            getattr(self.dut, f"{name}_i").value = 0

    def busy(self) -> int:
        """A class: few are long, so that splices have something to do."""
        return self.rng.randrange(min(self.classes, 2)) if self.rng.random() < 0.6 else self.rng.randrange(self.classes)

    def drawn(self) -> int:
        """Take one of the chunks that are outside."""
        place = self.rng.randrange(len(self.outside))
        self.outside[place], self.outside[-1] = self.outside[-1], self.outside[place]
        return self.outside.pop()

    def offer(self, chances: dict[str, float]) -> None:
        """Begin to offer what is not offered yet; an offer holds until it is taken, and fits the lists whatever else is taken first."""
        rng, offers = self.rng, self.offers
        if "push" not in offers and self.outside and rng.random() < chances["push"]:
            offers["push"] = (self.busy(), self.drawn(), rng.getrandbits(1))
        if "free" not in offers and self.outside and rng.random() < chances["free"]:
            offers["free"] = (self.drawn(),)
        if "pop" not in offers and rng.random() < chances["pop"]:
            class_ = self.busy()
            if self.lists[class_] and offers.get("splice", (None,))[0] != class_:
                offers["pop"] = (class_,)
        if "splice" not in offers and rng.random() < chances["splice"]:
            class_ = self.busy()
            chunks = self.lists[class_]
            if offers.get("pop", (None,))[0] != class_:
                if rng.random() < 0.3 or len(chunks) < 2:
                    offers["splice"] = (class_, 1, rng.randrange(self.chunks), rng.randrange(self.chunks), rng.randrange(self.chunks))
                else:
                    count = rng.choice((1, len(chunks) - 1, rng.randrange(1, len(chunks))))
                    offers["splice"] = (class_, 0, chunks[count][0], chunks[count - 1][0], count)

    async def cycle(self, chances: dict[str, float]) -> None:
        dut = self.dut
        await FallingEdge(dut.clk_i)
        self.offer(chances)
        offers = self.offers
        ready = self.rng.random() < chances["number"]
        dut.m_number_ready_i.value = ready
        names = {"push": ("class", "number", "bad"), "pop": ("class",), "free": ("number",)}
        names["splice"] = ("class", "all", "number", "previous", "count")
        for operation in OPERATIONS:
            getattr(dut, f"s_{operation}_valid_i").value = operation in offers
            for name, value in zip(names[operation], offers.get(operation, ()), strict=operation in offers):
                getattr(dut, f"s_{operation}_{name}_i").value = value
        await Timer(1, unit="ns")

        push, splice = offers.get("push"), offers.get("splice")
        inputs = self.models.ChunkListsInputs(
            ready,
            (*push[:2], bool(push[2])) if push else None,
            *offers.get("pop", (None,)),
            *offers.get("free", (None,)),
            (splice[0], bool(splice[1]), *splice[2:]) if splice else None,
        )
        expected = self.model.outputs(inputs)
        where = f"cycle {self.now}"
        number = int(dut.m_number_o.value) if int(dut.m_number_valid_o.value) else None
        assert number == expected.number, f"{where}: chunk {number} is offered, model {expected.number}"
        popped = (int(dut.m_popped_number_o.value), bool(int(dut.m_popped_bad_o.value))) if int(dut.m_popped_valid_o.value) else None
        assert popped == expected.popped, f"{where}: {popped} was popped, model {expected.popped}"
        assert int(dut.free_o.value) == expected.free_count, where
        taken = {operation for operation in OPERATIONS if int(getattr(dut, f"s_{operation}_ready_o").value)}
        assert taken == {operation for operation in OPERATIONS if getattr(expected, f"{operation}_ready")}, f"{where}: ready are {taken}"
        empty = int(dut.empty_o.value)
        assert [bool(empty >> c & 1) for c in range(self.classes)] == [self.model.empty(c) for c in range(self.classes)], where
        self.model.clock(inputs)
        self.enter(number if ready else None, popped, taken)
        self.now += 1

    def enter(self, number: int | None, popped: tuple[int, bool] | None, taken: set[str]) -> None:
        """What the outputs say goes into the book, which says whether that may be."""
        if popped is not None:
            assert self.popping and self.popping[0] == (self.now, popped), f"cycle {self.now}: popped {popped}, due {list(self.popping)}"
            self.popping.popleft()
            self.outside.append(popped[0])
        assert not self.popping or self.popping[0][0] > self.now, f"cycle {self.now}: nothing was popped, due {list(self.popping)}"
        if number is not None:
            assert number == self.free.popleft(), f"cycle {self.now}: chunk {number} is not the one that waits longest"
            self.outside.append(number)
            self.counts["number"] += 1
            self.given += 1
            self.counts["reused"] += self.given > self.chunks
        self.counts["none_left"] += not self.free
        for operation in OPERATIONS:
            if operation not in self.offers:
                continue
            self.waited[operation] = 0 if operation in taken else self.waited[operation] + 1
            self.longest_wait = max(self.longest_wait, self.waited[operation])
            if operation in taken:
                self.counts[operation] += 1
                getattr(self, f"_{operation}")(*self.offers.pop(operation))

    def _push(self, class_: int, number: int, bad: int) -> None:
        self.lists[class_].append((number, bool(bad)))

    def _pop(self, class_: int) -> None:
        self.popping.append((self.now + 2, self.lists[class_].popleft()))
        self.counts["last_popped"] += not self.lists[class_]

    def _free(self, number: int) -> None:
        self.free.append(number)

    def _splice(self, class_: int, every: int, number: int, previous: int, count: int) -> None:
        for _ in range(len(self.lists[class_]) if every else count):
            self.free.append(self.lists[class_].popleft()[0])
        assert every or self.lists[class_][0][0] == number
        self.counts["all"] += every

    async def settle(self) -> None:
        """What is offered is taken, nothing new comes; then every chunk is where the book has it."""
        none = dict.fromkeys((*OPERATIONS, "number"), 0.0)
        for _ in range(30):
            await self.cycle(none)
        assert not self.offers
        assert not self.popping
        places = [*self.free, *self.outside, *(number for chunks in self.lists for number, _ in chunks)]
        assert sorted(places) == list(range(self.chunks)), "a chunk is in two places, or in none"
        assert int(self.dut.free_o.value) == len(self.free)
        assert int(self.dut.empty_o.value) == sum(1 << c for c, chunks in enumerate(self.lists) if not chunks)


# Chances a cycle of each operation: everything at once; memory that fills; that empties; all is skipped; only what the loop does.
REGIMES = (
    {"number": 1.0, "push": 1.0, "pop": 1.0, "free": 1.0, "splice": 0.05},
    {"number": 0.9, "push": 0.8, "pop": 0.1, "free": 0.1, "splice": 0.01},
    {"number": 0.1, "push": 0.3, "pop": 0.9, "free": 0.9, "splice": 0.1},
    {"number": 0.8, "push": 0.8, "pop": 0.2, "free": 0.5, "splice": 0.8},
    {"number": 1.0, "push": 0.0, "pop": 0.0, "free": 1.0, "splice": 0.0},
    {"number": 0.05, "push": 0.1, "pop": 0.1, "free": 0.1, "splice": 0.05},
)


@cocotb.test()
async def every_chunk_in_its_place(dut) -> None:
    rng = random.Random(seed())
    print(f"PENSTOCK_SEED={seed()}")
    bench = Bench(dut, rng)
    bench.idle()
    await start(dut)
    assert int(dut.init_done_o.value) == 1
    for run in range(3):
        if run:
            bench.idle()
            await reset(dut)  # in mid-traffic
            bench.restart()
        while bench.now < 2500 or (run and bench.now < 25_000 and bench.given < bench.chunks + 300):
            for _ in range(rng.randrange(20, 300)):
                await bench.cycle(REGIMES[(bench.now // 97) % len(REGIMES)])
            if rng.random() < 0.2:
                await bench.settle()
        await bench.settle()
    print(bench.counts, bench.longest_wait)
    assert min(bench.counts[name] for name in (*OPERATIONS, "number", "all", "last_popped", "reused")) > 20, bench.counts
    assert bench.chunks > 16 or bench.counts["none_left"] > 20, bench.counts
    # Each of push, pop and splice waits for the two others at most, which take 2 + ReadLatency cycles each; and for one that is under way.
    assert bench.longest_wait <= 3 * (2 + parameter("ReadLatency", 2))


@cocotb.test()
async def everything_out_and_back(dut) -> None:
    """Chunks go to one class, as many as there are (or 200), and are skipped at once; then they are given out again, in that order."""
    bench = Bench(dut, random.Random(seed()))
    bench.idle()
    await start(dut)
    bench.busy = lambda: 0
    fill = {"number": 1.0, "push": 1.0, "pop": 0.0, "free": 0.0, "splice": 0.0}
    many = min(bench.chunks, 200)
    for every in (0, 1):
        while len(bench.lists[0]) < many:
            await bench.cycle(fill)
        await bench.settle()
        held = [number for number, _ in bench.lists[0]]
        bench.offers["splice"] = (0, every, held[-1], held[-2], len(held) - 1)
        free = len(bench.free)
        await bench.settle()
        assert len(bench.free) == free + len(held) - (not every), "what was skipped is not free"


@pytest.mark.parametrize("parameters", [
    {"Classes": 3, "Chunks": 16, "ReadLatency": 2},
    {"Classes": 3, "Chunks": 16, "ReadLatency": 1},
    {"Classes": 64, "Chunks": 4096, "ReadLatency": 2},
])  # fmt: skip
def test_pst_chunk_lists(parameters: dict[str, object]) -> None:
    from penstock.engine import engine

    engine.build()
    own = [path for path in library.sources_of("pst_chunk_lists") if path.stem in ("pst_ram_1r1w", "pst_chunk_lists")]
    run_module("deadline", "pst_chunk_lists", parameters, sources=own)
