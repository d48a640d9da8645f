# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""The parts of a gigabit MAC with RGMII for ECP5, made of LiteEth's (BSD-2-Clause), as two Verilog modules.

`bridge_phy` is byte-wide, each half in the clock of its side of the PHY: the pins, the preamble taken off, the gap. `bridge_fcs` takes one
byte per cycle or four: the FCS is checked and taken off, and made and put on, and a preamble is put before it. They are put together in
designs/bridge/boards/pst_bridge_mac.sv. LiteEth's crossings, width converters, clocks and resets are left out: these are ours. Nothing is
padded.
"""

from pathlib import Path
from typing import Any

PHY, FCS = "bridge_phy", "bridge_fcs"


def _ports(widths: dict[str, int]) -> dict[str, Any]:
    from litex.gen import Signal

    return {name: Signal(bits, name=name) for name, bits in widths.items()}


def write_phy(path: Path, rx_delay_ps: int, tx_delay_ps: int) -> None:
    """Write `bridge_phy` to `path`. Received data is delayed against its clock by `rx_delay_ps`, and the clock sent by `tx_delay_ps`.

    `rx_status` is what the PHY says between frames (RGMII in-band status): link, speed in two bits, full duplex, from the low bit on.
    Received bytes cannot wait.
    """
    from liteeth.mac.gap import LiteEthMACGap
    from liteeth.mac.preamble import LiteEthMACPreambleChecker
    from liteeth.phy.ecp5rgmii import LiteEthPHYRGMIIRX, LiteEthPHYRGMIITX
    from litex.build.io import DDROutput
    from litex.build.lattice.common import lattice_ecp5_special_overrides
    from litex.gen import Cat, ClockDomain, ClockDomainsRenamer, ClockSignal, Instance, LiteXModule, Record, Signal
    from litex.gen.fhdl.verilog import convert

    rgmii = Record([("rx_ctl", 1), ("rx_data", 4), ("tx_clk", 1), ("tx_ctl", 1), ("tx_data", 4)], name="rgmii")
    ports = _ports({"rx_clk": 1, "rx_rst": 1, "tx_clk": 1, "tx_rst": 1, "rx_valid": 1, "rx_data": 8, "rx_last": 1, "rx_status": 4,
                    "tx_valid": 1, "tx_ready": 1, "tx_data": 8, "tx_last": 1})  # fmt: skip

    class Phy(LiteXModule):
        def __init__(self) -> None:
            self.cd_eth_rx, self.cd_eth_tx = ClockDomain("eth_rx"), ClockDomain("eth_tx")
            self.comb += [
                self.cd_eth_rx.clk.eq(ports["rx_clk"]), self.cd_eth_rx.rst.eq(ports["rx_rst"]),
                self.cd_eth_tx.clk.eq(ports["tx_clk"]), self.cd_eth_tx.rst.eq(ports["tx_rst"]),
            ]  # fmt: skip
            rx, tx = ClockDomainsRenamer("eth_rx"), ClockDomainsRenamer("eth_tx")
            self.phy_rx = rx(LiteEthPHYRGMIIRX(rgmii, rx_delay=rx_delay_ps * 1e-12))
            self.start = rx(LiteEthMACPreambleChecker(8))
            self.gap = tx(LiteEthMACGap(8))
            self.phy_tx = tx(LiteEthPHYRGMIITX(rgmii))
            clock, status = Signal(), self.phy_rx.inband_status.fields
            self.specials += [
                DDROutput(clk=ClockSignal("eth_tx"), i1=1, i2=0, o=clock),
                Instance("DELAYG", p_DEL_MODE="SCLK_ALIGNED", p_DEL_VALUE=tx_delay_ps // 25, i_A=clock, o_Z=rgmii.tx_clk),
            ]
            self.comb += [
                self.phy_rx.source.connect(self.start.sink),
                self.start.source.ready.eq(1),
                ports["rx_valid"].eq(self.start.source.valid), ports["rx_data"].eq(self.start.source.data),
                ports["rx_last"].eq(self.start.source.last),
                ports["rx_status"].eq(Cat(status.link_status, status.clock_speed, status.duplex_status)),
                self.gap.sink.valid.eq(ports["tx_valid"]), self.gap.sink.data.eq(ports["tx_data"]),
                self.gap.sink.last.eq(ports["tx_last"]), ports["tx_ready"].eq(self.gap.sink.ready),
                self.gap.source.ready.eq(1),
            ]  # fmt: skip
            # A register of its own before the pins: these are far from the rest.
            self.sync.eth_tx += [self.phy_tx.sink.valid.eq(self.gap.source.valid), self.phy_tx.sink.data.eq(self.gap.source.data)]

    signals = {*ports.values(), *rgmii.flatten()}
    convert(Phy(), signals, name=PHY, special_overrides=lattice_ecp5_special_overrides, regular_comb=True).write(str(path))


def write_fcs(path: Path, width: int) -> None:
    """Write `bridge_fcs` to `path`, with `width` bytes per cycle, 1 or 4. Received words cannot wait.

    Words have their first byte in the low bits; `*_end` is, at a last word, the bit of its last byte, and 0 at others.
    """
    from liteeth.common import eth_phy_description
    from liteeth.mac.crc import LiteEthMACCRC32Checker, LiteEthMACCRC32Inserter
    from liteeth.mac.preamble import LiteEthMACPreambleInserter
    from litex.gen import ClockDomain, ClockDomainsRenamer, LiteXModule, ResetInserter, Signal
    from litex.gen.fhdl.verilog import convert

    bits = 8 * width
    stream = {"valid": 1, "data": bits, "last": 1, "end": width}
    ports = _ports({"rx_clk": 1, "rx_rst": 1, "tx_clk": 1, "tx_rst": 1, "rx_error": 1,
                    **{f"{side}_{name}": size for side in ("rx_in", "rx", "tx", "tx_out") for name, size in stream.items()},
                    "tx_ready": 1, "tx_out_ready": 1})  # fmt: skip

    class Fcs(LiteXModule):
        def __init__(self) -> None:
            self.cd_eth_rx, self.cd_eth_tx = ClockDomain("eth_rx"), ClockDomain("eth_tx")
            rx, tx = ClockDomainsRenamer("eth_rx"), ClockDomainsRenamer("eth_tx")
            # A frame of less than its FCS leaves LiteEth's checker in the middle of it, and the next frame would be lost: it begins anew
            # after each last word.
            self.check = check = rx(ResetInserter()(LiteEthMACCRC32Checker(eth_phy_description(bits))))
            self.fcs = fcs = tx(LiteEthMACCRC32Inserter(eth_phy_description(bits)))
            self.preamble = tx(LiteEthMACPreambleInserter(bits))
            ended = Signal()
            self.sync.eth_rx += ended.eq(ports["rx_in_valid"] & ports["rx_in_last"])
            out = self.preamble.source
            self.comb += [
                self.cd_eth_rx.clk.eq(ports["rx_clk"]), self.cd_eth_rx.rst.eq(ports["rx_rst"]),
                self.cd_eth_tx.clk.eq(ports["tx_clk"]), self.cd_eth_tx.rst.eq(ports["tx_rst"]),
                check.reset.eq(ended), check.source.ready.eq(1),
                check.sink.valid.eq(ports["rx_in_valid"]), check.sink.data.eq(ports["rx_in_data"]),
                check.sink.last.eq(ports["rx_in_last"]), check.sink.last_be.eq(ports["rx_in_end"]),
                ports["rx_valid"].eq(check.source.valid), ports["rx_data"].eq(check.source.data), ports["rx_last"].eq(check.source.last),
                ports["rx_end"].eq(check.source.last_be), ports["rx_error"].eq(check.source.error[0]),
                fcs.sink.valid.eq(ports["tx_valid"]), fcs.sink.data.eq(ports["tx_data"]), fcs.sink.last.eq(ports["tx_last"]),
                fcs.sink.last_be.eq(ports["tx_end"]), ports["tx_ready"].eq(fcs.sink.ready),
                fcs.source.connect(self.preamble.sink),
                ports["tx_out_valid"].eq(out.valid), ports["tx_out_data"].eq(out.data), ports["tx_out_last"].eq(out.last),
                ports["tx_out_end"].eq(out.last_be), out.ready.eq(ports["tx_out_ready"]),
            ]  # fmt: skip

    convert(Fcs(), set(ports.values()), name=FCS, regular_comb=True).write(str(path))
