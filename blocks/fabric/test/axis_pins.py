"""cocotbext-axi's stream bus on this project's port names (`s_axis_tdata_i`, `m_axis_tdata_o`)."""

from cocotbext.axi import AxiStreamBus


def axis_bus(dut, prefix: str) -> AxiStreamBus:
    """Return the bus of `s_axis` or `m_axis`: all pins run one way, `tready` the other."""
    with_stream, against = ("_i", "_o") if prefix.startswith("s_") else ("_o", "_i")
    pins = {name: f"{prefix}_{name}{with_stream}" for name in ("tvalid", "tlast", "tkeep", "tid", "tdest", "tuser")}

    class Pins(AxiStreamBus):
        _signals = {"tdata": f"{prefix}_tdata{with_stream}"}
        _optional_signals = {**pins, "tready": f"{prefix}_tready{against}"}

    return Pins(dut, None)
