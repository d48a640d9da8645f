# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""A gigabit MAC with RGMII for ECP5, made of LiteEth's parts (BSD-2-Clause), as one Verilog module `bridge_mac`.

The parts are those of LiteEth's own core, byte-wide and each in the clock of its side of the PHY. LiteEth's crossings, clocks and resets
are left out: these are ours. The FCS is checked and taken off, and made and put on; nothing is padded. `rx_status` is what the PHY says
between frames (RGMII in-band status): link, speed in two bits, full duplex, from the low bit on.
"""

from pathlib import Path

NAME = "bridge_mac"


def write(path: Path) -> None:
    """Write the module to `path`."""
    from liteeth.common import eth_phy_description
    from liteeth.mac.crc import LiteEthMACCRC32Checker, LiteEthMACCRC32Inserter
    from liteeth.mac.gap import LiteEthMACGap
    from liteeth.mac.preamble import LiteEthMACPreambleChecker, LiteEthMACPreambleInserter
    from liteeth.phy.ecp5rgmii import LiteEthPHYRGMIIRX, LiteEthPHYRGMIITX
    from litex.build.io import DDROutput
    from litex.build.lattice.common import lattice_ecp5_special_overrides
    from litex.gen import Cat, ClockDomain, ClockDomainsRenamer, ClockSignal, Instance, LiteXModule, Record, ResetInserter, Signal
    from litex.gen.fhdl.verilog import convert

    rgmii = Record([("rx_ctl", 1), ("rx_data", 4), ("tx_clk", 1), ("tx_ctl", 1), ("tx_data", 4)], name="rgmii")
    ports = {name: Signal(name=name) for name in ("rx_clk", "rx_rst", "tx_clk", "tx_rst")}
    for name, bits in (("rx_valid", 1), ("rx_data", 8), ("rx_last", 1), ("rx_error", 1), ("rx_status", 4), ("tx_valid", 1), ("tx_ready", 1),
                       ("tx_data", 8), ("tx_last", 1)):  # fmt: skip
        ports[name] = Signal(bits, name=name)

    class Mac(LiteXModule):
        def __init__(self) -> None:
            self.cd_eth_rx, self.cd_eth_tx = ClockDomain("eth_rx"), ClockDomain("eth_tx")
            self.comb += [
                self.cd_eth_rx.clk.eq(ports["rx_clk"]), self.cd_eth_rx.rst.eq(ports["rx_rst"]),
                self.cd_eth_tx.clk.eq(ports["tx_clk"]), self.cd_eth_tx.rst.eq(ports["tx_rst"]),
            ]  # fmt: skip
            rx, tx = ClockDomainsRenamer("eth_rx"), ClockDomainsRenamer("eth_tx")
            self.phy_rx = rx(LiteEthPHYRGMIIRX(rgmii, rx_delay=0))
            self.start = rx(LiteEthMACPreambleChecker(8))
            # A frame of less than its FCS leaves LiteEth's checker in the middle of it, and the next frame would be lost: it begins anew
            # after each last byte.
            self.check = rx(ResetInserter()(LiteEthMACCRC32Checker(eth_phy_description(8))))
            self.fcs = tx(LiteEthMACCRC32Inserter(eth_phy_description(8)))
            self.preamble = tx(LiteEthMACPreambleInserter(8))
            self.gap = tx(LiteEthMACGap(8))
            self.phy_tx = tx(LiteEthPHYRGMIITX(rgmii))
            ended, clock = Signal(), Signal()
            status = self.phy_rx.inband_status.fields
            self.sync.eth_rx += ended.eq(self.start.source.valid & self.start.source.last)
            self.specials += [
                DDROutput(clk=ClockSignal("eth_tx"), i1=1, i2=0, o=clock),
                Instance("DELAYG", p_DEL_MODE="SCLK_ALIGNED", p_DEL_VALUE=0, i_A=clock, o_Z=rgmii.tx_clk),
            ]
            self.comb += [
                self.phy_rx.source.connect(self.start.sink),
                self.start.sink.last_be.eq(self.phy_rx.source.last),
                self.start.source.connect(self.check.sink),
                ports["rx_valid"].eq(self.check.source.valid), ports["rx_data"].eq(self.check.source.data),
                ports["rx_last"].eq(self.check.source.last), ports["rx_error"].eq(self.check.source.error),
                ports["rx_status"].eq(Cat(status.link_status, status.clock_speed, status.duplex_status)),
                self.check.source.ready.eq(1), self.check.reset.eq(ended),
                self.fcs.sink.valid.eq(ports["tx_valid"]), self.fcs.sink.data.eq(ports["tx_data"]),
                self.fcs.sink.last.eq(ports["tx_last"]), self.fcs.sink.last_be.eq(ports["tx_last"]),
                ports["tx_ready"].eq(self.fcs.sink.ready),
                self.fcs.source.connect(self.preamble.sink),
                self.preamble.source.connect(self.gap.sink),
                self.gap.source.connect(self.phy_tx.sink),
            ]  # fmt: skip

    signals = {*ports.values(), *rgmii.flatten()}
    convert(Mac(), signals, name=NAME, special_overrides=lattice_ecp5_special_overrides, regular_comb=True).write(str(path))


if __name__ == "__main__":
    import sys

    write(Path(sys.argv[1]))
