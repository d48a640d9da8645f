# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""The model of pst_edfr beside the hardware: every port is the same in every cycle, whatever is done to it."""

import cocotb
import pytest
import test_pst_edfr as port
from cocotb.triggers import FallingEdge, ReadOnly

from penstock.testing import testkit

LINE = 64


class Twin:
    """Gives the model each cycle's inputs, and compares what comes out."""

    def __init__(self, dut) -> None:
        from penstock.engine import engine

        models = engine.models("deadline")

        self.dut, self.models = dut, models
        self.settings = settings = models.EdfrSettings()
        names = {"classes": "Classes", "class_from_user": "ClassFromUser", "chunk_beats": "ChunkBeats", "chunks": "Chunks",
                 "places": "Places", "lines": "Lines", "reads": "Reads", "writes": "Writes", "decided": "Decided",
                 "min_frame_bytes": "MinFrameBytes", "max_frame_bytes": "MaxFrameBytes", "store_beats": "StoreBeats",
                 "tick_cycles": "TickCycles", "default_cycles": "DefaultCycles", "no_deadlines": "NoDeadlines"}  # fmt: skip
        for name, parameter in names.items():
            value = testkit.parameter(parameter, getattr(settings, name))
            setattr(settings, name, bool(value) if isinstance(getattr(settings, name), bool) else value)
        self.shift = (settings.chunk_beats * LINE).bit_length() - 1
        self.start = testkit.parameter("StartTime", 0)  # the model's time begins at 0 and does not wrap
        self.compared = self.left_out = 0
        self.frames = 0
        self.sent: dict[str, int] = {}
        self.restart()

    def restart(self) -> None:
        self.model = self.models.EdfrModel(self.settings)
        self.first, self.key, self.waits = True, 64, None

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

    def time(self, name: str) -> int:
        return self.value(name) - self.start & (1 << 32) - 1

    def beat(self) -> tuple[int, int, int, int, bool, bool] | None:
        if not self.value("s_valid_i"):
            return None
        last, size = bool(self.value("s_last_i")), self.value("s_bytes_last_i")
        if self.first:
            data = self.value("s_data_i").to_bytes(LINE, "little")
            from_user = self.settings.class_from_user
            self.key = self.value("s_class_i") if from_user else self.models.edfr_dscp(data[:size] if last else data)
        return (self.frames, self.value("s_user_i"), self.key, size, last, bool(last and self.value("s_bad_i")))

    def memory(self) -> list[bool]:
        value = self.value
        valid, read = value("m_axi_bvalid_i"), value("m_axi_rvalid_i")
        return [bool(value("m_axi_awready_i")), bool(value("m_axi_wready_i")), bool(valid), bool(valid and value("m_axi_bresp_i") >= 2),
                bool(value("m_axi_arready_i")), bool(read), bool(read and value("m_axi_rresp_i") >= 2),
                bool(read and value("m_axi_rlast_i"))]  # fmt: skip

    def compare(self) -> None:
        beat = self.beat()
        setting = (self.value("s_set_class_i"), self.value("s_set_cycles_i")) if self.value("s_set_valid_i") else None
        dscp = (self.value("set_dscp_i"), self.value("set_dscp_class_i")) if self.value("set_dscp_valid_i") else None
        seen, free = self.ports(), self.value("free_o")
        init_done, model_done = self.value("init_done_o"), self.model.init_done
        assert self.settings.no_deadlines or self.model.now == self.time("now_o")
        model_free = self.model.free_chunks
        told = self.model.cycle(beat, bool(self.value("m_ready_i")), self.memory(), setting, dscp, self.value("limit_i"))
        if "m" in told:
            told["m"] = told["m"][:5]
        assert told == seen, f"cycle {self.model.now - 1}: the model says {told}, the hardware {seen}"
        assert model_free == free, f"cycle {self.model.now - 1}: {model_free} chunks are free in the model, {free} in the hardware"
        assert not model_done or init_done
        self.compared += 1
        for name in seen:
            self.sent[name] = self.sent.get(name, 0) + 1
        if beat and seen["ready"]:
            self.first = beat[4]
            self.frames += self.first

    def ports(self) -> dict[str, object]:
        value, found = self.value, {}
        found["ready"], found["set_ready"] = bool(value("s_ready_o")), bool(value("s_set_ready_o"))
        if value("m_valid_o"):
            last = bool(value("m_last_o"))
            size = value("m_bytes_last_o") if last else 0
            found["m"] = (value("m_class_o"), value("m_user_o"), self.time("m_deadline_o"), last, size)
        if value("m_axi_awvalid_o"):
            found["aw"] = (value("m_axi_awaddr_o") >> self.shift, value("m_axi_awlen_o") + 1)
        if value("m_axi_wvalid_o"):
            found["w"] = bool(value("m_axi_wlast_o"))
        found["bready"] = bool(value("m_axi_bready_o"))
        if value("m_axi_arvalid_o"):
            found["ar"] = value("m_axi_araddr_o") >> self.shift
        found["rready"] = bool(value("m_axi_rready_o"))
        for name, fate in (("refused", True), ("fate", True), ("expired", False), ("late", False)):
            if value(f"ev_{name}_valid_o"):
                reason = value(f"ev_{name}_reason_o") if fate else 0
                found[name] = (value(f"ev_{name}_class_o"), value(f"ev_{name}_bytes_o"), value(f"ev_{name}_user_o"), reason)
        if value("ev_fate_valid_o"):
            found["deadline"] = self.time("ev_fate_deadline_o")
        if value("ev_passed_valid_o"):
            fields = (value(f"ev_passed_{field}_o") for field in ("lost", "class", "frames", "bytes"))
            lost, *rest = fields
            found["passed"] = (bool(lost), *rest)
        return found


def beside(test) -> None:
    """Run a test of the hardware with the model beside it."""

    async def run(dut) -> None:
        twin = Twin(dut)
        cocotb.start_soon(twin.watch())
        await test.func(dut)
        dut._log.info("%d cycles compared, %d left out; %s", twin.compared, twin.left_out + twin.model.left_out, twin.sent)
        assert twin.compared > 1000 and twin.sent["m"]

    run.__name__ = run.__qualname__ = test.func.__name__
    globals()[run.__name__] = cocotb.test()(run)


for one in (port.light, port.mixed, port.full, port.over_at_once, port.errors, port.reset):
    beside(one)


SLOW = {**port.SMALL, "Classes": 5, "ChunkBeats": 16, "TickCycles": 37, "Lines": 8, "Places": 4, "ClassFromUser": 1}


@pytest.mark.parametrize("parameters", [port.SMALL, pytest.param(SLOW, marks=pytest.mark.slow),
                                        pytest.param(port.LARGE, marks=pytest.mark.slow)], ids=["3-8", "5-16", "64-64"])  # fmt: skip
def test_edfr_model(parameters: dict) -> None:
    testkit.run_module("deadline", "pst_edfr", parameters)


def test_nothing_is_over_while_time_stands_still() -> None:
    """Without deadlines no frame is late, also where its class may not wait at all."""
    testkit.run_module("deadline", "pst_edfr", {**port.SMALL, "NoDeadlines": 1, "DefaultCycles": 0}, testcase="light")
