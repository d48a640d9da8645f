"""Bus masters for cocotb tests: cocotbext-axi on ports that end in _i and _o."""

import logging
from types import SimpleNamespace
from typing import Any


def ports(dut: Any, prefix: str) -> SimpleNamespace:
    """Return the ports `<prefix>_*` of a module under their names without the suffix, as cocotbext-axi's buses look for them."""
    found = {name[:-2]: getattr(dut, name) for name in dir(dut) if name.startswith(f"{prefix}_") and name.endswith(("_i", "_o"))}
    return SimpleNamespace(_name=dut._name, _log=dut._log, **found)


def axi_lite_master(dut: Any, prefix: str = "s_axil", reset: bool = True) -> Any:
    """Return a cocotbext-axi AxiLiteMaster on `dut`; with `reset` it is reset together with the module."""
    from cocotbext.axi import AxiLiteBus, AxiLiteMaster

    master = AxiLiteMaster(AxiLiteBus.from_prefix(ports(dut, prefix), prefix), dut.clk_i, dut.rst_i if reset else None)
    master.write_if.log.setLevel(logging.WARNING)  # a line for each access would bury everything else
    master.read_if.log.setLevel(logging.WARNING)
    return master
