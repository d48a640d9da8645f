"""pst_page_admission against its model, cycle by cycle; and what it promises: reservations, and how much a queue alone may hold."""

import random
from collections import deque

import cocotb
import pytest
from cocotb.triggers import FallingEdge, ReadOnly
from memory_bench import Geometry, random_length

from penstock.testing import testkit

DECIDE = 3  # cycles from a frame's handshake to its decision
LATENCY = 4  # and to m_meta
COUNTS = 4  # cycles from a page that comes back to the first decision for which it is free
OFFERED = 5  # and to the first request for which the pools have it


class Bench:
    """The module between a source of frames and pools that have a page when they must; its model, told the same."""

    def __init__(self, dut) -> None:
        from penstock.engine import engine

        models = engine.models("memory")

        self.dut, self.now = dut, 0
        self.geometry = Geometry.under_test()
        self.queues, self.classes = testkit.parameter("Queues", 0), testkit.parameter("Classes", 0)
        self.bytes = sorted(set(self.geometry.page_bytes))
        self.ranks = [self.bytes.index(size) for size in self.geometry.page_bytes]
        self.pages = [sum(p for p, r in zip(self.geometry.pages, self.ranks, strict=True) if r == k) for k in range(len(self.bytes))]
        self.model = models.PageAdmission(self.queues, list(self.geometry.pages), list(self.geometry.page_bytes), self.classes)
        self.free = dict.fromkeys(range(self.geometry.descriptors), -100)  # free pages, and since when
        self.held: list[int] = []
        self.under_way: deque = deque()  # taken and not decided: cycle of the decision, queue, length, user
        self.decided: deque = deque()  # and not handed on: verdict, queue, length, user
        self.asked: tuple | None = None  # handed on, waits for its page: memories, verdict, queue
        self.used = [[0] * len(self.bytes) for _ in range(self.classes)]  # the book: pages of each class and size
        self.back: deque = deque()  # pages that the book has still to take back: cycle, class, size
        self.class_of: dict[int, tuple[int, int]] = {}  # of each held page: class and size
        self.shown: tuple[int, ...] | None = None
        self.refused = self.shares = self.admitted = 0

    async def cycle(self, frame=None, ready=True, free=None, cls=None, share=None, look=(0, 0), give=True):
        """One cycle. `frame`: queue, length, user; `cls`: queue, class; `share`: class, size, alpha, reserved.

        Returns whether the frame was taken, and the verdict of a frame that was handed on.
        """
        dut, model = self.dut, self.model
        await FallingEdge(dut.clk_i)
        self.now += 1
        look = share[:2] if share else look
        given = None
        if self.asked and give:
            memories, verdict, queue = self.asked
            old = [d for d, since in self.free.items() if memories >> self.geometry.memory_of(d) & 1]
            if verdict.size >= 0:
                assert any(self.free[d] + OFFERED <= self.now - 1 for d in old), "an admitted frame finds no page that the pools must have"
                given = self.rng.choice(old)
            dut.given_ok_i.value = int(given is not None)
            dut.given_desc_i.value = given or 0
        dut.given_valid_i.value = int(bool(self.asked and give))
        dut.s_meta_valid_i.value = int(frame is not None)
        dut.s_meta_queue_i.value, dut.s_meta_len_i.value, dut.s_meta_user_i.value = frame or (0, 0, 0)
        ready = ready and (self.asked is None or give)
        dut.m_meta_ready_i.value = int(ready)
        dut.free_valid_i.value = int(free is not None)
        dut.free_desc_i.value = free or 0
        dut.cfg_valid_i.value = int(cls is not None)
        dut.cfg_queue_i.value, dut.cfg_class_i.value = cls or (0, 0)
        dut.share_valid_i.value = int(share is not None)
        dut.share_class_i.value, dut.share_size_i.value = look
        dut.share_alpha_i.value, dut.share_reserved_i.value = share[2:] if share else (0, 0)
        await ReadOnly()

        model.advance(self.now)
        if self.shown:
            found = tuple(int(getattr(dut, f"shown_{name}_o").value) for name in ("free", "used", "reserved"))
            assert found == self.shown, f"cycle {self.now}: free, used, reserved are {found}, model {self.shown}"
        self.shown = (model.free_pages(look[1]), model.used(*look), model.reserved(*look))
        while self.back and self.back[0][0] + COUNTS <= self.now:
            _, c, k = self.back.popleft()
            self.used[c][k] -= 1
        if self.under_way and self.under_way[0][0] == self.now:
            self.decide()
        if given is not None:
            del self.free[given]
            self.held.append(given)
            model.given(given, queue, verdict.cls)
            self.class_of[given] = (verdict.cls, verdict.size)
        if free is not None:
            model.free(free, self.now)
            self.back.append((self.now, *self.class_of.pop(free)))
            self.free[free] = self.now
        if cls:
            model.set_class(*cls, self.now)
        if share:
            model.set_share(*share, self.now)
        if self.asked and give:
            self.asked = None
        taken = frame is not None and bool(int(dut.s_meta_ready_o.value))
        if taken:
            self.under_way.append((self.now + DECIDE, *frame))
        return taken, self.handed_on() if ready and int(dut.m_meta_valid_o.value) else None

    def decide(self) -> None:
        _, queue, length, user = self.under_way.popleft()
        before = [list(row) for row in self.used]
        reserved = [[self.model.reserved(c, k) for k in range(len(self.bytes))] for c in range(self.classes)]
        verdict = self.model.decide(queue, length, self.now)
        self.decided.append((verdict, queue, length, user))
        if verdict.size >= 0:
            self.used[verdict.cls][verdict.size] += 1
            self.admitted += 1
            return
        self.refused += 1
        self.shares += verdict.no_share
        for k, size in enumerate(self.bytes):
            least = reserved[verdict.cls][k]
            assert length > size or before[verdict.cls][k] >= least, f"class {verdict.cls} refused with {before} of {reserved}"

    def handed_on(self):
        """Check what is handed on in this cycle against the model's decision."""
        dut = self.dut
        verdict, queue, length, user = self.decided.popleft()
        memories = sum(1 << m for m, rank in enumerate(self.ranks) if rank == verdict.size)
        names = ("queue", "len", "user", "memories", "no_share")
        found = tuple(int(getattr(dut, f"m_meta_{name}_o").value) for name in names)
        assert found == (queue, length, user, memories, int(verdict.no_share)), f"cycle {self.now}: {found}, model {verdict.size}"
        self.asked = (memories, verdict, queue)
        return verdict


async def begin(dut, running: bool = False) -> Bench:
    for name in ("s_meta_valid", "m_meta_ready", "given_valid", "given_ok", "free_valid", "cfg_valid", "share_valid"):
        getattr(dut, f"{name}_i").value = 0
    for name in ("s_meta_queue", "s_meta_len", "s_meta_user", "given_desc", "free_desc", "cfg_queue", "cfg_class"):
        getattr(dut, f"{name}_i").value = 0
    for name in ("class", "size", "alpha", "reserved"):
        getattr(dut, f"share_{name}_i").value = 0
    dut.lost_i.value = 0
    dut._log.info("seed %d", testkit.seed())
    if not running:
        await testkit.start(dut)
    bench = Bench(dut)
    bench.rng = random.Random(testkit.seed())
    while not int(dut.init_done_o.value):
        await bench.cycle()
    return bench


@cocotb.test()
async def against_model(dut) -> None:
    """Random frames, frees, settings and gaps: every decision and every count is the model's, in its cycle."""
    bench = await begin(dut)
    rng, frame = bench.rng, None
    total = bench.geometry.descriptors
    for step in range(12_000):
        fill, drain, gaps, few = ((1.0, 0.1, 0, 2), (0.5, 0.9, 0.3, 5), (1.0, 1.0, 0, 1), (0.9, 0.3, 0.5, 5))[step // 400 % 4]
        if frame is None and rng.random() < fill:
            queue = rng.randrange(min(few, bench.queues)) if rng.random() < 0.8 else rng.randrange(bench.queues)
            frame = (queue, random_length(rng, max(bench.bytes)), rng.randint(0, 1))
        free = bench.held.pop(rng.randrange(len(bench.held))) if bench.held and rng.random() < drain else None
        cls = (rng.randrange(bench.queues), rng.randrange(bench.classes)) if rng.random() < 0.02 else None
        share = None
        if step % 1600 == 0:  # from time to time nobody has anything reserved, and nearly all may take all
            free_for_all = [(c, k, 15, 0) for c in range(bench.classes) for k in range(len(bench.bytes))]
        if free_for_all:
            share = free_for_all.pop()
        elif rng.random() < 0.01 and step % 1600 > 200:
            size = rng.randrange(len(bench.bytes))
            reserved = rng.choice((0, 1, rng.randint(0, bench.pages[size] // bench.classes), bench.pages[size], total))
            share = (rng.randrange(bench.classes), size, rng.choice((0, 2, 3, 4, 5, 7, 9, 15)), reserved)
        look = (rng.randrange(bench.classes), rng.randrange(len(bench.bytes)))
        taken, _ = await bench.cycle(frame, rng.random() >= gaps, free, cls, share, look, rng.random() >= gaps)
        if taken:
            frame = None
    dut._log.info("%d admitted, %d refused, %d of them for want of a share", bench.admitted, bench.refused, bench.shares)
    assert min(bench.admitted, bench.shares, bench.refused - bench.shares) > 20, "the test saw too little"
    while bench.held or bench.under_way or bench.decided or bench.asked:
        await bench.cycle(free=bench.held.pop() if bench.held else None)
    for size, pages in enumerate(bench.pages):
        for cls in range(bench.classes):
            for _ in range(8):
                await bench.cycle(look=(cls, size))
            assert int(dut.shown_used_o.value) == 0 and int(dut.shown_free_o.value) == pages, "a page was lost"


async def offer(bench: Bench, queue: int, length: int):
    """Offer one frame and wait for its verdict."""
    taken, verdict = False, None
    while verdict is None:
        now, found = await bench.cycle((queue, length, 0) if not taken else None)
        taken, verdict = taken or now, found
    return verdict


@cocotb.test()
async def alone(dut) -> None:
    """A queue alone may hold three quarters of all pages; then every class has its reserved ones."""
    bench = await begin(dut)
    for size, length in enumerate(bench.bytes):
        verdict = await offer(bench, 0, length)
        while verdict.size >= 0:
            verdict = await offer(bench, 0, length)
        assert verdict.no_share
        held = sum(1 for desc in bench.held if bench.ranks[bench.geometry.memory_of(desc)] >= size)
        most = sum(bench.pages[size:])
        assert held >= 0.75 * most or most < 16, f"a queue alone got {held} of {most} pages"
        for cls in range(bench.classes):
            await bench.cycle(cls=(1, cls))
            reserved = bench.model.reserved(cls, size) - bench.model.used(cls, size)
            for k in range(max(0, reserved)):
                verdict = await offer(bench, 1, length)
                assert verdict.size == size, f"class {cls} has {reserved} reserved pages of {length} byte left, and lost frame {k}"
        while bench.held:
            await bench.cycle(free=bench.held.pop())
        for _ in range(8):
            await bench.cycle()


@cocotb.test()
async def every_cycle(dut) -> None:
    """One frame and one page back per cycle, of one queue; the first one after LATENCY cycles."""
    bench = await begin(dut)
    for step in range(1000):
        free = bench.held.pop(0) if len(bench.held) > 2 else None
        taken, verdict = await bench.cycle((0, 1, 0), free=free)
        assert taken, f"stalled at step {step}"
        assert (verdict is not None) == (step >= LATENCY)
        assert verdict is None or verdict.size == 0


@cocotb.test()
async def reset_in_traffic(dut) -> None:
    """A reset forgets pages, classes and settings."""
    bench = await begin(dut)
    await bench.cycle(cls=(0, bench.classes - 1), share=(0, 0, 0, 0))
    for _ in range(30):
        await bench.cycle((0, 1, 1), ready=bench.rng.random() < 0.5)
    await FallingEdge(dut.clk_i)
    await testkit.reset(dut)
    bench = await begin(dut, running=True)
    for _ in range(100):
        await bench.cycle((bench.rng.randrange(bench.queues), 1, 1), ready=bench.rng.random() < 0.5)
    assert bench.admitted > 10


class Pools:
    """Pages by memory, as the pools have them: a page that comes back is offered some cycles later; a lost memory offers none."""

    def __init__(self, geometry: Geometry, rng: random.Random) -> None:
        self.geometry, self.rng = geometry, rng
        self.free = dict.fromkeys(range(geometry.descriptors), -100)
        self.lost = 0

    def find(self, memories: int, now: int) -> int | None:
        may = memories & ~self.lost
        found = [d for d, since in self.free.items() if may >> self.geometry.memory_of(d) & 1 and since + OFFERED <= now]
        return self.rng.choice(found) if found else None


@cocotb.test()
async def a_memory_is_lost(dut) -> None:
    """Memories are lost one after the other, at random moments: a few frames that were decided before find no page, none after them; all
    counts are those of the pages that are left, and reservations are again in force as far as those go."""
    rng = (await begin(dut)).rng
    geometry = Geometry.under_test()
    queues, classes = testkit.parameter("Queues", 0), testkit.parameter("Classes", 0)
    sizes = sorted(set(geometry.page_bytes))
    await FallingEdge(dut.clk_i)
    for name in ("given_valid", "free_valid", "cfg_valid", "share_valid"):
        getattr(dut, f"{name}_i").value = 0
    pools, held, refused, since = Pools(geometry, rng), [], 0, 10**9
    asked: int | None = None
    frame: tuple[int, int] | None = None
    order = rng.sample(range(len(geometry.pages)), len(geometry.pages))
    moments = {rng.randint(300, 500) + 1200 * k: m for k, m in enumerate(order)}
    stop = 1200 * len(order)
    now = 0
    while now < stop or held or asked is not None:
        await FallingEdge(dut.clk_i)
        now += 1
        if now in moments:
            pools.lost |= 1 << moments[now]
            refused, since = 0, now
        dut.lost_i.value = pools.lost
        given, give = None, asked is not None and rng.random() < 0.8
        if give:
            given = pools.find(asked, now - 1)
            if asked and given is None:
                refused += 1
                assert pools.lost and refused <= 9 and now < since + 200, "a frame that was to have a page finds none"
        dut.given_valid_i.value, dut.given_ok_i.value, dut.given_desc_i.value = int(give), int(given is not None), given or 0
        if given is not None:
            del pools.free[given]
            held.append(given)
        if give:
            asked = None
        fill, drain = ((1.0, 0.3), (0.9, 1.0), (0.4, 0.9))[now // 150 % 3] if now < stop else (0.0, 1.0)
        if frame is None and rng.random() < fill:
            frame = (rng.randrange(queues), random_length(rng, max(sizes)))
        dut.s_meta_valid_i.value = int(frame is not None)
        dut.s_meta_queue_i.value, dut.s_meta_len_i.value = frame or (0, 0)
        free = held.pop(rng.randrange(len(held))) if held and held[-1] != given and rng.random() < drain else None
        if free is None and now >= stop and held and given is None:
            free = held.pop()
        dut.free_valid_i.value, dut.free_desc_i.value = int(free is not None), free or 0
        if free is not None:
            pools.free[free] = now
        ready = rng.random() < 0.9 and asked is None
        dut.m_meta_ready_i.value = int(ready)
        await ReadOnly()
        if frame and int(dut.s_meta_ready_o.value):
            frame = None
        if ready and int(dut.m_meta_valid_o.value):
            asked = int(dut.m_meta_memories_o.value)
        if now in {moment + 1000 for moment in moments}:
            for size in range(len(sizes)):
                left = sum(p for m, p in enumerate(geometry.pages) if geometry.page_bytes[m] == sizes[size] and not pools.lost >> m & 1)
                await FallingEdge(dut.clk_i)
                # Frames stand still meanwhile.
                for name in ("given_valid", "s_meta_valid", "free_valid", "m_meta_ready"):
                    getattr(dut, f"{name}_i").value = 0
                in_force = 0
                for cls in range(classes):
                    dut.share_class_i.value, dut.share_size_i.value = cls, size
                    for _ in range(2):
                        await FallingEdge(dut.clk_i)
                    in_force += int(dut.shown_reserved_o.value)
                assert in_force <= left, f"{in_force} pages of {sizes[size]} byte are reserved, and {left} are left"
                now += 1 + 2 * classes
            stop += 100
    for _ in range(60):
        await FallingEdge(dut.clk_i)
        dut.given_valid_i.value = dut.s_meta_valid_i.value = dut.free_valid_i.value = 0
        dut.m_meta_ready_i.value = 1
    for size in range(len(sizes)):
        for cls in range(classes):
            dut.share_class_i.value, dut.share_size_i.value = cls, size
            for _ in range(3):
                await FallingEdge(dut.clk_i)
            found = (int(dut.shown_used_o.value), int(dut.shown_free_o.value), int(dut.shown_reserved_o.value))
            assert found == (0, 0, 0), f"used, free, reserved are {found} when all memories are lost"


@pytest.mark.parametrize(
    ("geometry", "queues", "classes"),
    [
        (Geometry.of((40, 2048)), 5, 1),
        (Geometry.of((23, 2048), (37, 512), (9, 9600), (20, 2048)), 16, 4),
        (Geometry.of((24, 1536), (24, 256)), 2, 8),
    ],
    ids=["one", "four", "two"],
)
def test_pst_page_admission(geometry: Geometry, queues: int, classes: int) -> None:
    given = geometry.parameters("Memories", "MemPages", "MemPageBytes") | {"Queues": str(queues), "Classes": str(classes)}
    testkit.run_module("memory", "pst_page_admission", given)


@pytest.mark.parametrize("pages", [7, 3])
def test_few_pages(pages: int) -> None:
    """Fewer pages than frames may be under way: one more than there are is a bit more, and a refusal is one in each cycle."""
    given = Geometry.of((pages, 2048)).parameters("Memories", "MemPages", "MemPageBytes") | {"Queues": "2", "Classes": "1"}
    testkit.run_module("memory", "pst_page_admission", given, "against_model")
