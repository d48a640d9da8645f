# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""The model of pst_edfr_wide beside the hardware: every port is the same in every cycle, whatever is done to it."""

import random

import cocotb
import pytest
import test_pst_edfr_wide as port
from cocotb.triggers import FallingEdge, ReadOnly
from wide_bench import Bench

from penstock.testing import testkit

LINE = 64
SEGMENT_EVENTS = ("refused", "dropped", "overdue")
COLUMN_EVENTS = ("taken", "expired", "late")
NO_CHUNK = 1  # fate_e


class Twin:
    """Gives the model each cycle's inputs, and compares what comes out."""

    def __init__(self, dut) -> None:
        from penstock.engine import engine

        models = engine.models("deadline")
        get = testkit.parameter
        self.dut, self.models, self.columns = dut, models, get("Columns", 8)
        self.settings = settings = models.EdfrWideSettings()
        ports = settings.port
        names = {"classes": "Classes", "class_from_user": "ClassFromUser", "chunk_beats": "ChunkBeats", "chunks": "Chunks",
                 "places": "Places", "lines": "Lines", "reads": "Reads", "writes": "Writes", "run_frames": "RunFrames",
                 "min_frame_bytes": "MinFrameBytes", "max_frame_bytes": "MaxFrameBytes", "store_beats": "StoreBeats",
                 "tick_cycles": "TickCycles", "default_cycles": "DefaultCycles"}  # fmt: skip
        for name, parameter in names.items():
            value = get(parameter, getattr(ports, name))
            setattr(ports, name, bool(value) if isinstance(getattr(ports, name), bool) else value)
        settings.port = ports
        wide = {"columns": "Columns", "deal_rows": "DealRows", "deal_lists": "DealLists", "deal_records": "DealRecords",
                "gather_rows": "GatherRows", "gather_ahead": "GatherAhead"}  # fmt: skip
        for name, parameter in wide.items():
            setattr(settings, name, get(parameter, getattr(settings, name)))
        self.class_width = max(1, (ports.classes - 1).bit_length())
        self.address_width = len(dut.m_axi_awaddr_o) // self.columns
        self.free_width = len(dut.free_o) // self.columns
        self.shift = (ports.chunk_beats * LINE).bit_length() - 1
        self.start = get("StartTime", 0)  # the model's time begins at 0 and does not wrap
        self.compared = self.left_out = self.frames = 0
        self.sent: dict[str, int] = {}
        self.restart()

    def restart(self) -> None:
        self.model = self.models.EdfrWideModel(self.settings)
        self.open, self.key = False, 64

    async def watch(self) -> None:
        while True:
            await FallingEdge(self.dut.clk_i)
            await ReadOnly()
            if int(self.dut.rst_i.value):
                self.left_out += self.model.left_out
                self.restart()
            else:
                self.compare()

    def value(self, name: str) -> int:
        return int(getattr(self.dut, name).value)

    def each(self, name: str, width: int = 1) -> list[int]:
        """Return a port's value by column or segment."""
        value = getattr(self.dut, name).value.to_unsigned()
        return [value >> width * i & (1 << width) - 1 for i in range(self.columns)]

    def word(self) -> list[tuple] | None:
        """Return the segments that are offered, with the class of each frame at its first one, and numbers as if they are taken."""
        if not self.value("s_valid_i"):
            return None
        used, last, bad = self.each("s_used_i"), self.each("s_last_i"), self.each("s_bad_i")
        sizes, users, data = self.each("s_bytes_last_i", 7), self.each("s_user_i", 16), self.each("s_data_i", 512)
        classes = self.each("s_class_i", self.class_width)
        segments, within, number = [], self.open, self.frames
        for s in range(self.columns):
            key = 64
            if used[s] and not within:
                piece = data[s].to_bytes(LINE, "little")
                own = self.settings.port.class_from_user
                key = classes[s] if own else self.models.edfr_dscp(piece[: sizes[s]] if last[s] else piece)
            elif self.settings.port.class_from_user:
                key = classes[s]
            segments.append((bool(used[s]), bool(last[s]), bool(bad[s] and last[s]), number, users[s], key, sizes[s] if last[s] else LINE))
            if used[s]:
                within = not last[s]
                number += last[s]
        self.after = within, number
        return segments

    def memory(self) -> list[list[bool]]:
        names = ("awready", "wready", "bvalid", "bresp", "arready", "rvalid", "rresp", "rlast")
        aw, w, b, bresp, ar, r, rresp, rlast = (self.each(f"m_axi_{name}_i", 2 if "resp" in name else 1) for name in names)
        return [[bool(aw[c]), bool(w[c]), bool(b[c]), bool(b[c] and bresp[c] >= 2), bool(ar[c]), bool(r[c]),
                 bool(r[c] and rresp[c] >= 2), bool(r[c] and rlast[c])] for c in range(self.columns)]  # fmt: skip

    def compare(self) -> None:
        word = self.word() if self.value("init_done_o") else None
        setting = (self.value("s_set_class_i"), self.value("s_set_cycles_i")) if self.value("s_set_valid_i") else None
        dscp = (self.value("set_dscp_i"), self.value("set_dscp_class_i")) if self.value("set_dscp_valid_i") else None
        assert self.model.now == self.value("now_o") - self.start & (1 << 32) - 1
        seen, free, model_free = self.ports(), self.each("free_o", self.free_width), self.model.free_chunks
        told = self.model.cycle(word, bool(self.value("m_ready_i")), self.memory(), setting, dscp,
                                bool(self.value("hold_i")), self.value("limit_i"))  # fmt: skip
        if not self.value("init_done_o"):
            told["ready"] = seen["ready"]
        different = {name: (told[name], seen[name]) for name in seen if told[name] != seen[name]}
        assert not different, f"cycle {self.model.now - 1}: the model and the hardware say {different}"
        assert model_free == free, f"cycle {self.model.now - 1}: {model_free} chunks are free in the model, {free} in the hardware"
        self.compared += 1
        for name, what in seen.items():
            self.sent[name] = self.sent.get(name, 0) + bool(what)
        if word and seen["ready"]:
            self.open, self.frames = self.after

    def ports(self) -> dict[str, object]:
        value, found = self.value, {}
        found["ready"], found["set_ready"] = bool(value("s_ready_o")), bool(value("s_set_ready_o"))
        found["sending"] = bool(value("sending_o"))
        found["m"] = []
        if value("m_valid_o"):
            used, first, last = self.each("m_used_o"), self.each("m_first_o"), self.each("m_last_o")
            sizes, classes = self.each("m_bytes_last_o", 7), self.each("m_class_o", self.class_width)
            users, deadlines, whole = self.each("m_user_o", 16), self.each("m_deadline_o", 32), self.each("m_bytes_o", 16)
            for s in range(self.columns):
                if used[s]:
                    head = (classes[s], users[s], deadlines[s] - self.start & (1 << 32) - 1, whole[s]) if first[s] else ()
                    found["m"].append((s, bool(last[s]), sizes[s] if last[s] else 0, *head))
        aw, w, ar = self.each("m_axi_awvalid_o"), self.each("m_axi_wvalid_o"), self.each("m_axi_arvalid_o")
        to, length, at = self.each("m_axi_awaddr_o", self.address_width), self.each("m_axi_awlen_o", 8), self.each("m_axi_wlast_o")
        bready, rready, of = self.each("m_axi_bready_o"), self.each("m_axi_rready_o"), self.each("m_axi_araddr_o", self.address_width)
        found["memory"] = [
            ((to[c] >> self.shift) << 8 | length[c] + 1 if aw[c] else -1, at[c] if w[c] else -1, bool(bready[c]),
             of[c] >> self.shift if ar[c] else -1, bool(rready[c])) for c in range(self.columns)]  # fmt: skip
        for name in SEGMENT_EVENTS + COLUMN_EVENTS:
            valid, of_class = self.each(f"ev_{name}_valid_o"), self.each(f"ev_{name}_class_o", self.class_width)
            sizes = self.each(f"ev_{name}_bytes_o", 16)
            users = self.each(f"ev_{name}_user_o", 16)
            reason = self.each("ev_refused_reason_o", 2) if name == "refused" else [NO_CHUNK if name == "dropped" else 0] * self.columns
            found[name] = [(i, of_class[i], sizes[i], users[i], reason[i]) for i in range(self.columns) if valid[i]]
            if name == "taken":
                deadlines = self.each("ev_taken_deadline_o", 32)
                found["deadlines"] = [deadlines[i] - self.start & (1 << 32) - 1 for i in range(self.columns) if valid[i]]
        valid, lost = self.each("ev_passed_valid_o"), self.each("ev_passed_lost_o")
        of_class, frames = self.each("ev_passed_class_o", self.class_width), self.each("ev_passed_frames_o", 32)
        sizes = self.each("ev_passed_bytes_o", 40)
        found["passed"] = [(c, bool(lost[c]), of_class[c], frames[c], sizes[c]) for c in range(self.columns) if valid[c]]
        return found


def beside(test) -> None:
    """Run a test of the hardware with the model beside it."""

    async def run(dut) -> None:
        twin = Twin(dut)
        cocotb.start_soon(twin.watch())
        await test.func(dut)
        dut._log.info("%d cycles compared, %d left out; %s", twin.compared, twin.left_out + twin.model.left_out, twin.sent)
        assert twin.compared > 500 and twin.sent["m"]

    run.__name__ = run.__qualname__ = test.func.__name__
    globals()[run.__name__] = cocotb.test(skip=test.skip)(run)


for one in (port.light, port.mixed, port.lost, port.full, port.over_at_once, port.held, port.limited, port.pairs,
            port.pairs_among_classes, port.reset):  # fmt: skip
    beside(one)


def headers(rng: random.Random) -> bytes:
    """The first bytes of a frame: its DSCP behind up to two tags, or none."""
    tags = b"".join(rng.choice((b"\x81\x00", b"\x88\xa8")) + rng.randbytes(2) for _ in range(rng.randrange(3)))
    dscp = rng.randrange(64)
    ip = rng.choice((b"\x08\x00\x45" + bytes([dscp << 2]), b"\x86\xdd" + (6 << 12 | dscp << 6).to_bytes(2, "big"), rng.randbytes(4)))
    return rng.randbytes(12) + tags + ip


@cocotb.test()
async def any_words(dut) -> None:
    """Words as they may be at worst: DSCPs whose class changes, endless and bad frames, segments without a frame; the model judges."""
    twin = Twin(dut)
    rng = random.Random(testkit.seed())
    bench = Bench(dut, rng)
    bench.idle()
    cocotb.start_soon(twin.watch())
    await testkit.start(dut)
    cocotb.start_soon(bench.memory.run())
    await bench.ready()
    left, first, word = 0, True, False  # segments of the frame under way
    for _ in range(3000):
        await FallingEdge(dut.clk_i)
        if not word and rng.random() < 0.7:
            word = True
            values = dict.fromkeys(("used", "data", "last", "bytes_last", "bad", "class", "user"), 0)
            for s in range(bench.columns):
                if rng.random() < 0.2:
                    continue
                if first:
                    left = rng.choice((1, 1, 1, 2, 3, rng.randint(1, 24), 60))
                start = headers(rng) if first else b""
                left, first = left - 1, left == 1
                values["used"] |= 1 << s
                values["data"] |= int.from_bytes(start + rng.randbytes(LINE - len(start)), "little") << 512 * s
                values["last"] |= int(first) << s
                values["bytes_last"] |= rng.choice((1, 16, rng.randint(1, LINE), LINE)) << 7 * s
                values["bad"] |= int(rng.random() < 0.1) << s
                values["user"] |= rng.getrandbits(16) << 16 * s
            for name, value in values.items():
                getattr(dut, f"s_{name}_i").value = value
        dut.s_valid_i.value = int(word)
        dut.m_ready_i.value = int(rng.random() < 0.6)
        dut.hold_i.value = int(rng.random() < 0.02) if not int(dut.hold_i.value) else int(rng.random() < 0.9)
        dut.set_dscp_valid_i.value = int(rng.random() < 0.05)
        dut.set_dscp_i.value, dut.set_dscp_class_i.value = rng.randrange(65), rng.randrange(bench.classes)
        await ReadOnly()
        word = word and not int(dut.s_ready_o.value)
    dut._log.info("%d cycles compared; %s", twin.compared, twin.sent)
    for name in ("m", "refused", "taken"):
        assert twin.sent[name] > 50, f"the test does not see {name}"


MEDIUM = {**port.SMALL, "Columns": 4, "GatherAhead": 40, "RunFrames": 8, "Classes": 5, "ChunkBeats": 16, "TickCycles": 150, "Lines": 8}


# Fewer lists a column, so that little may be on the way to each of them.
LARGE = {**port.SMALL, "Columns": 8, "RunFrames": 8, "Classes": 4, "DealLists": 16, "Chunks": 256, "ChunkBeats": 16}


@pytest.mark.parametrize(
    "parameters", [port.SMALL, *(pytest.param(p, marks=pytest.mark.slow) for p in (MEDIUM, LARGE))], ids=["2-3", "4-5", "8-4"]
)
def test_edfr_wide_model(parameters: dict) -> None:
    testkit.run_module("deadline", "pst_edfr_wide", parameters)


@pytest.mark.parametrize("testcase", ["pairs", "pairs_among_classes"])
def test_small_frames_in_pairs(testcase: str) -> None:
    testkit.run_module("deadline", "pst_edfr_wide", port.PAIRS, testcase=testcase)


def test_classes_by_dscp() -> None:
    """The class of a frame is that of its DSCP in the cycle in which it is looked up."""
    testkit.run_module("deadline", "pst_edfr_wide", {**port.SMALL, "ClassFromUser": 0}, testcase="any_words")
