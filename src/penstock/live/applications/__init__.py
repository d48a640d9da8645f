"""Applications of a live run: what sends and receives in the network namespaces at the ends of a device.

`entries` has the keys of a scenario, `build` turns them into objects, `base` says what such an object does and what an end is. The other
modules are one kind each; those in `programs` run inside of a namespace, so they import little.
"""

from typing import Any


def make(scenario: Any, document: Any) -> list[Any]:
    """Return the applications of a scenario, in their order. Raises UserError."""
    from penstock.live.applications import build

    return build.from_scenario(scenario, document)
