"""What the folder of a generated frame switch says and tries: its stub test bench, the numbers in its README."""

from penstock.designs.design import Stub
from penstock.designs.frame_switch.config import Config

PATIENCE_CYCLES = 1000  # that a lone frame may take through the switch


def stub(config: Config) -> Stub:
    """Return the stub test bench: a frame of one beat from input 0 to the last output."""
    last = config.ports - 1
    declarations = f"""  localparam int unsigned PatienceCycles = {PATIENCE_CYCLES};
"""
    body = f"""    // A frame of one beat from input 0 to output {last}; inputs change at the falling edge.
    m_axis_tready_i   = '1;
    s_axis_tdata_i[0] = {8 * config.data_bytes}'({8 * min(4, config.data_bytes)}'hc0ffee42);
    s_axis_tkeep_i[0] = '1;
    s_axis_tlast_i[0] = 1'b1;
    s_axis_tdest_i[0] = {config.ports}'(1 << {last});
    s_axis_tvalid_i[0] = 1'b1;
    do @(posedge clk_i); while (!s_axis_tready_o[0]);
    @(negedge clk_i);
    s_axis_tvalid_i[0] = 1'b0;
    for (int unsigned cycle = 0; !m_axis_tvalid_o[{last}]; cycle++) begin
      if (cycle == PatienceCycles) $fatal(1, "the frame has not come out within %0d cycles", PatienceCycles);
      @(negedge clk_i);
    end
    if (m_axis_tdata_o[{last}] != s_axis_tdata_i[0] || m_axis_tid_o[{last}] != '0 || !m_axis_tlast_o[{last}])
      $fatal(1, "another frame came out");
    $display("a frame went from input 0 to output {last}: PASS");
    // Frames go into s_axis (destinations in tdest, class and error in tuser) and come out of m_axis: here is the place for yours.
"""
    return Stub("resets it and sends one frame through", (), declarations, body)  # of each output it looks at one port only


def facts(config: Config) -> str:
    """Return the table of its numbers."""
    scheduler = f"cprra, S = {config.stages}" if config.scheduler == "cprra" else f"iSLIP, iterations in a cycle: {config.iterations}"
    return f"""| | |
|---|---|
| inputs, and as many outputs | {config.ports} |
| bytes of a beat | {config.data_bytes} |
| traffic classes | {config.classes} |
| longest frame | {config.max_frame_bytes:,} byte |
| room at an output | {config.room_cells:,} beats for each source and class |
| losses | {"none: inputs wait" if config.back_pressure else "whole frames, where there is no room; inputs never wait"} |
| cell switch | {scheduler}; {config.fifo_depth} cells in a FIFO |
| clock | {config.clock_hz / 1e6:g} MHz in simulations; nothing in the hardware depends on it |
"""


def use(config: Config) -> str:
    """Return how its ports are used."""
    return """`s_axis_*` and `m_axis_*` are arrays of AXI4-Streams, one for each port; `tdest` has a bit for each
output and counts at a frame's first beat, `tuser` is {class at the first beat, error at the last}; at the outputs `tid` is the source
and `tuser` the class."""
