"""`penstock.open`: a device held open, on the RTL or on its model.

import penstock

with penstock.open("demo_64") as device:
    device.queue(3).set(rate="5 Mbit/s")
    device.send(frame, queue=3)
    device.advance("10 ms")
    for frame in device.received():
        ...
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from penstock.parts import registry
from penstock.scenarios.device import design_of
from penstock.scenarios.scenario import Document


def open(
    config: str | Mapping[str, Any],
    *,
    engine: Literal["rtl", "model"] = "model",
    assertions: bool = False,
    parts: Sequence[str | Path] = (),
    **setup: Any,
) -> Any:
    """Open a device and return it; use it in a `with`, which ends it and raises Fault if it did anything wrong.

    `config` is the name of a configuration (`demo_64`; designs/*/configs.yaml have them all), or what a scenario says under `device`.
    `engine`: `model`, fast, or `rtl`, the hardware itself, which takes a minute or more to build the first time (`assertions`: with those
    in the sources). `parts`: AQMs and schedulers of your own, folders or files of Python, as `--with` names them. `setup` has the keys of a
    scenario that say what the device is and how it is set: `seed`, `link`, and those of its design. Returns a
    penstock.Device of the design's own kind (docs/how-to/python.md). Raises UserError.
    """
    from penstock.engine.run import check_engine

    check_engine(engine)
    for part in parts:
        registry.add_folder(Path(part))
    given = {"device": dict(config) if isinstance(config, Mapping) else {"config": config}} | setup
    design = design_of(Document(None, given, None, {}))
    return design.open(given, design.engine(engine), assertions)
