# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""An AQM that is not ours and judges arrivals, in the core: it is told the backlog, or with `guard_bytes` whether that is above them."""

import random
import sys
from collections import deque
from pathlib import Path

import pytest

from penstock.designs.access_edge.registers import Aqm, rate_code
from penstock.designs.access_edge.testing.testcore import TestCore
from penstock.parts import registry
from penstock.testing.testkit import seed

sys.path.insert(0, str(Path(__file__).parent))

from test_access_edge_pie import BACKLOG_TO_ARRIVAL, CLOCK_HZ, DROP, PASS, QUEUES, Recorder

MANIFEST = """kind: aqm
words: Drops what comes to a queue with more than so many bytes in it.
sees: arrivals
rtl: {module: backlog_limit, files: [rtl/backlog_limit.sv]}
model: {header: backlog_limit.hpp, class: own::BacklogLimit}
settings:
  - {name: most, unit: bytes, bits: 24, default: 3 kB, words: Bytes behind which nothing is let in.}
"""
MODULE = """// SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
module backlog_limit
  import pst_pkg::*;
  import pst_aqm_pkg::*;
#(
    parameter int unsigned Queues = 64,
    localparam int unsigned QueueIdWidth = $clog2(Queues)
) (
    input  logic                    clk_i,
    input  logic                    rst_i,
    input  logic                    s_enq_valid_i,
    input  logic [QueueIdWidth-1:0] s_enq_queue_i,
    input  backlog_t                s_enq_backlog_i,
    output logic                    m_enq_verdict_valid_o,
    output logic [QueueIdWidth-1:0] m_enq_verdict_queue_o,
    output verdict_e                m_enq_verdict_o,
    input  logic                    s_cfg_valid_i,
    input  logic [QueueIdWidth-1:0] s_cfg_queue_i,
    input  aqm_cfg_t                s_cfg_i
);
  aqm_cfg_t cfg_q[Queues];
  logic [4:1] valid_q;
  logic [4:1][QueueIdWidth-1:0] queue_q;
  logic high_q, drop_q;

  always_ff @(posedge clk_i) begin
    if (s_cfg_valid_i) cfg_q[s_cfg_queue_i] <= s_cfg_i;
    valid_q <= rst_i ? '0 : {valid_q[3:1], s_enq_valid_i};
    queue_q <= {queue_q[3:1], s_enq_queue_i};
    high_q  <= s_enq_backlog_i > cfg_q[queue_q[2]].settings[35-:24];
    drop_q  <= high_q && cfg_q[queue_q[3]].enable;
    if (rst_i) for (int i = 0; i < int'(Queues); i++) cfg_q[i] <= '0;
  end

  assign m_enq_verdict_valid_o = valid_q[4];
  assign m_enq_verdict_queue_o = queue_q[4];
  assign m_enq_verdict_o       = drop_q ? VerdictDrop : VerdictPass;
endmodule
"""
GUARD = 700
MOST = [0, 400, 1500, 4000]  # of each queue


@pytest.mark.parametrize("guard", [pytest.param(0, marks=pytest.mark.slow), GUARD])
def test_backlogs_are_those_of_the_latest_departures(guard: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every verdict, counted from the departures before it: by the number, or with a guard by whether it is above that."""
    print(f"PENSTOCK_SEED={seed()}")
    monkeypatch.setenv(registry.VARIABLE, "")
    folder = tmp_path / "backlog_limit"
    (folder / "rtl").mkdir(parents=True)
    (folder / "backlog_limit.hpp").touch()
    (folder / "rtl" / "backlog_limit.sv").write_text(MODULE)
    (folder / "part.yaml").write_text(MANIFEST + (f"guard_bytes: {guard}\n" if guard else ""))
    registry.add_folder(folder)
    part, rng = registry.find("aqm", "backlog_limit"), random.Random(seed())
    core = TestCore(QUEUES, 1024, aqm={"aqm": "backlog_limit", "TickShift": 2})
    recorder = Recorder(core, {})
    for queue, most in enumerate(MOST):
        core.configure(queue, *rate_code(10**10, CLOCK_HZ), aqm=Aqm(part.pack({"most": most})))
    due = [0.0] * len(MOST)
    for step in range(60_000):
        recorder.cycle()
        for queue in range(len(MOST)):
            if step >= due[queue] and len(core.held[queue]) < 180:
                length = rng.choice([60, 200, 590])
                if core.offer(queue, length):
                    due[queue] = max(due[queue], step - 500) + length * 8 * CLOCK_HZ / (10**10 * rng.uniform(0.5, 2.5))
    for queue, most in enumerate(MOST):
        departures, queued, expected = deque(recorder.left[queue]), 0, []
        for cycle, _, _ in recorder.arrivals[queue]:
            while departures and departures[0][0] + BACKLOG_TO_ARRIVAL <= cycle:
                queued = departures.popleft()[1]
            told = queued if not guard else (1 << 24) - 1 if queued > guard else 0
            expected.append(DROP if told > most else PASS)
        assert expected == recorder.verdicts[queue], f"queue {queue}"
        assert min(expected.count(DROP), expected.count(PASS)) > 50, f"queue {queue}"
    core.close()
