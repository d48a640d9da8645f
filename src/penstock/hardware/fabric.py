"""Parameters of the cell switch `pst_fabric`, as `bench`, `generate` and `synth` take them."""

import re
from collections.abc import Mapping

from penstock.errors import UserError

PORTS = (2, 4, 8, 16, 32, 64)
STAGES = (1, 2, 4)
DEFAULTS = {"ports": 16, "stages": 1, "width": 256, "fifo_depth": 64, "classes": 1, "back_pressure": 0}  # arbiter: see complete()
RANGES = {"width": (1, 4096), "fifo_depth": (1, 65536), "classes": (1, 256), "back_pressure": (0, 1), "arbiter": (0, 1)}
KEYS = (*DEFAULTS, "arbiter")
MAX_ELABORATED_FIFOS = 4096  # one for each input, output and class; Yosys takes 0.4 MB for each and more, and has 4 GB in all


def pipeline_cycles(ports: int, stages: int) -> int:
    """Return the pipeline's latency in cycles by the paper's formula (section 4.2); `ports` a power of two, `stages` its S."""
    log = ports.bit_length() - 1
    latency = log + max(log * (log + 1) // 2, 2 * log + 1)
    return -(-(latency - log) // stages) + -(-(1 + log) // stages) - 1


def complete(given: Mapping[str, int]) -> dict[str, int]:
    """Return all parameters, those that are not `given` with their defaults. Raises UserError for what the hardware refuses.

    The arbiter is the full one unless nothing can be dropped and there is one class, as in the hardware.
    """
    values = DEFAULTS | dict(given)
    values.setdefault("arbiter", int(not values["back_pressure"] or values["classes"] > 1))
    for key, allowed in (("ports", PORTS), ("stages", STAGES)):
        if values[key] not in allowed:
            raise UserError(f"{key}={values[key]}: give {', '.join(map(str, allowed[:-1]))} or {allowed[-1]}")
    for key, (least, most) in RANGES.items():
        if not least <= values[key] <= most:
            raise UserError(f"{key}={values[key]}: give {least:,} to {most:,}")
    if values["classes"] > 1 and not values["arbiter"]:
        raise UserError(f"classes={values['classes']}: more than one class needs the full arbiter, arbiter=1")
    least = pipeline_cycles(values["ports"], values["stages"]) + 2
    if values["back_pressure"] and values["fifo_depth"] < least:
        raise UserError(f"fifo_depth={values['fifo_depth']}: give {least} or more with back_pressure=1 (pipeline cycles + 2)")
    return values


def check_elaboration(values: Mapping[str, int]) -> None:
    """Raise UserError for a switch that has more FIFOs than Yosys can elaborate one by one in its memory."""
    fifos = values["ports"] ** 2 * values["classes"]
    if fifos > MAX_ELABORATED_FIFOS:
        most = MAX_ELABORATED_FIFOS // values["ports"] ** 2
        many = f"{values['ports']} x {values['ports']} ports of {values['classes']} classes are {fifos:,} FIFOs"
        raise UserError(f"classes={values['classes']}: {many}, too many for Yosys' memory; give at most {most} with these ports")


def take(settings: dict[str, str]) -> dict[str, int]:
    """Take the parameters out of `--set` values and return all of them. Raises UserError."""
    given = {}
    for key in KEYS:
        text = settings.pop(key, None)
        if text is None:
            continue
        plain = text.replace("_", "").replace(",", "")
        if not re.fullmatch("[0-9]{1,9}", plain):
            raise UserError(f"{key}={text}: give a whole number")
        given[key] = int(plain)
    return complete(given)


def parameters(values: Mapping[str, int]) -> dict[str, str]:
    """Return the parameters of the module for the values of `complete` (other keys are left alone)."""
    flags = ("back_pressure", "arbiter")
    return {key.title().replace("_", ""): f"1'b{values[key]}" if key in flags else str(values[key]) for key in KEYS}


def check(of_module: Mapping[str, int | str]) -> None:
    """Raise UserError when the module refuses these parameters (named as in the source; those left out are in order)."""
    snake = {re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower(): value for name, value in of_module.items()}
    given = {key: int(str(value).split("'b")[-1]) for key, value in snake.items() if re.fullmatch(r"[0-9]+|1?'b[01]", str(value))}
    # The module's own default depth.
    complete({"fifo_depth": 32, **given})
