# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""From a UART to AXI4-Lite, made of LiteX's parts (BSD-2-Clause), as one Verilog module `bridge_uart`.

LiteX's UARTBone takes commands of its own kind from the serial line, reads and writes by them, and answers reads. The other end is
penstock.hardware.uart_bus, or LiteX's `litex_server`. LiteX's clocks and resets are left out: these are ours.
"""

from pathlib import Path

NAME = "bridge_uart"


def write(path: Path, clock_hz: int, baud: int) -> None:
    """Write the module to `path`, for a clock of `clock_hz`."""
    from litex.gen import ClockDomain, LiteXModule, Record, Signal
    from litex.gen.fhdl.verilog import convert
    from litex.soc.cores.uart import RS232PHY, UARTBone
    from litex.soc.interconnect.axi import AXILiteInterface, Wishbone2AXILite

    pads = Record([("tx", 1), ("rx", 1)], name="uart")
    bus = AXILiteInterface(data_width=32, address_width=32)
    channels = ("aw", "w", "b", "ar", "r")
    handshake = [("valid", 1), ("ready", 1)]
    words = {name: handshake + getattr(bus, name).description.payload_layout for name in channels}
    lite = Record([(f"{name}{part}", bits) for name, parts in words.items() for part, bits in parts], name="axil")
    clk, rst = Signal(name="clk"), Signal(name="rst")

    class Uart(LiteXModule):
        def __init__(self) -> None:
            self.cd_sys = ClockDomain("sys")
            self.bone = UARTBone(RS232PHY(pads, clock_hz, baud), clock_hz)
            self.to_lite = Wishbone2AXILite(self.bone.wishbone, bus)
            self.comb += [self.cd_sys.clk.eq(clk), self.cd_sys.rst.eq(rst), *bus.connect_to_pads(lite)]

    convert(Uart(), {clk, rst, *pads.flatten(), *lite.flatten()}, name=NAME, regular_comb=True).write(str(path))
