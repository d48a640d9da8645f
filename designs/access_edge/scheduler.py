"""Which scheduler a configuration has: one of ours, or one of the user's own, and what hardware and model are told of it.

Shaped queues and pass-through are choices of the core itself; any other name is a part (penstock.parts), which is put into the place that
the core has for it. An own scheduler has neither an AQM nor a hierarchy beside it.
"""

from collections.abc import Callable
from typing import Any

from penstock.basics.suggest import nearest
from penstock.errors import UserError
from penstock.parts import registry
from penstock.parts.manifest import Part
from penstock.paths import shown

SHAPED, PASSTHROUGH = "shaped", "passthrough"
OURS = (SHAPED, PASSTHROUGH)

Report = Callable[[str], None]


def name(scheduler: str | None, shaping: bool | None) -> str:
    """Return the scheduler's name from the two keys that may say it. Raises ValueError when they contradict each other."""
    if scheduler is None:
        return PASSTHROUGH if shaping is False else SHAPED
    if shaping is not None and shaping != (scheduler == SHAPED):
        raise ValueError(f"scheduler is {scheduler}, but shaping is {str(shaping).lower()}; give one of the two")
    return scheduler


def own(scheduler: str) -> Part | None:
    """Return the part of an own scheduler, None: it is one of ours. Raises UserError when there is none of that name."""
    if scheduler in OURS:  # without a look at folders: this is asked for each queue
        return None
    known = registry.parts("scheduler")
    if scheduler not in known:
        close = nearest(scheduler, [*OURS, *known])
        raise UserError(f"there is no scheduler {scheduler!r}{close} (--with DIR or FILE.py adds one of your own)")
    return known[scheduler]


def check_names() -> None:
    """Raise ValueError where an own scheduler has the name of one of ours."""
    if taken := next((part for name, part in registry.parts("scheduler").items() if name in OURS), None):
        where = shown(taken.python or taken.folder)
        raise ValueError(f"{where}: {taken.name} is the name of a scheduler of ours; the folder's name is the part's")


def word(part: Part, given: dict[str, int | float], clock_hz: int, tick_shift: int) -> int:
    """Return the setting word of a queue; `given` are values in their units' base. Raises ValueError, `NAME: sentence`."""
    found = {}
    for setting in part.settings:
        try:
            value = given[setting.name] if setting.name in given else setting.read(setting.default)
            found[setting.name] = setting.in_hardware(value, clock_hz, tick_shift)
        except ValueError as error:
            raise ValueError(f"{setting.name}: {error}") from None
    return part.pack(found)


def told(part: Part, parameters: dict[str, int], report: Report | None = None, times: tuple[int, int] | None = None) -> dict[str, Any]:
    """Return what a job says of it (key `device.model.scheduler`); its model is compiled if need be. Raises UserError.

    `times`: clock in Hz and tick shift of the device, which one in Python is told.
    """
    from penstock.hardware import part_model

    if part.python:
        return {"name": part.name, "python": part_model.maker(part, times)}

    library = part_model.library(part, report)
    return {
        "name": part.name,
        "library": str(library),
        "numbers": {part_model.parameter_number(name): value for name, value in parameters.items()},
    }


def plugs(part: Part, parameters: dict[str, int]) -> dict[str, str]:
    """Return the files that are written anew for a device with this scheduler, text by name."""
    from penstock.hardware import plug_scheduler

    return {plug_scheduler.FRAME.name: plug_scheduler.text(part, parameters)}


def check(part: Part, aqm: str, hierarchy: bool) -> None:
    """Raise ValueError for what an own scheduler cannot have beside it."""
    beside = f"aqm is {aqm}" if aqm != "none" else "there is a hierarchy" if hierarchy else ""
    if beside:
        raise ValueError(f"scheduler is {part.name}, and {beside}: a scheduler of your own works without, only `shaped` has them")
