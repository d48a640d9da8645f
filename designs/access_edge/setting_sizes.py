"""How many profiles of settings a device may have (key `setting_profiles` of a configuration)."""

from penstock.parts.manifest import Part

DESCRIPTION = "Kinds of settings (rate, burst, limits, AQM) that all queues together may have, a power of two; 0: any queue has its own."


def check(count: int, queues: int, goes: bool, aqm: Part | None) -> None:
    """Raise ValueError, a sentence, for what does not go with `count` profiles. `goes`: queues are shaped, and there are no flow queues."""
    if count & (count - 1) or not 4 <= count <= queues:
        raise ValueError(f"setting_profiles is {count:,}; allowed: 0, or a power of two from 4 to queues, {queues:,}")
    if not goes:
        raise ValueError(f"setting_profiles is {count:,}, which needs shaping: true and no flows")
    if aqm and aqm.name != "codel":
        raise ValueError(f"setting_profiles is {count:,}, but {aqm.shown} has its settings by queue; it goes with aqm: codel or none")
