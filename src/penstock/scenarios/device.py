"""Which device a scenario is about: design and configuration."""

import difflib
import re
from collections.abc import Iterator
from typing import Any

from penstock.basics.units import describe
from penstock.designs import configs
from penstock.designs import design as designs
from penstock.designs.configs import Config
from penstock.designs.design import AnyDesign, Configuration
from penstock.errors import UserError
from penstock.scenarios.common import CommonSetup
from penstock.scenarios.scenario import Document


def design_of(document: Document) -> AnyDesign:
    """Return the design that key `device` of a scenario names, or else its configuration; checks nothing else. Raises UserError."""
    given = document.data.get("device")
    device = given if isinstance(given, dict) else {}
    if (name := device.get("design")) is not None:
        if name not in designs.names():
            document.fail(("device", "design"), f"names {describe(name)}, but the designs are {', '.join(designs.names())}")
        return designs.load(name)
    name = device.get("config")
    having = [design for design in designs.names() if name in configs.names(design)]
    if len(having) > 1:
        document.fail(("device", "config"), f'names "{name}", of which there is one in {" and one in ".join(having)}; add `design`')
    if not having:  # the design of the nearest name speaks, or the first one: its own checks say what is wrong
        close = difflib.get_close_matches(name[:100], configs.names(), n=1) if isinstance(name, str) else []
        having = [configs.design_of(close[0]) if close else designs.names()[0]]
    return designs.load(having[0])


def configuration(scenario: CommonSetup, document: Document) -> Configuration:
    """Return the device configuration that a scenario names, with its overrides. Raises UserError."""
    return configuration_as(Configuration, scenario, document)


def configuration_as(kind: type[Config], scenario: CommonSetup, document: Document) -> Config:
    """Return the same for one design, whose configurations are of this kind. Raises UserError."""
    name, design = scenario.device.config, scenario.device.design
    if name not in configs.names(design):
        document.fail(("device", "config"), f'names "{name}", but the configurations are {", ".join(configs.names(design))}')
    config = configs.load_as(kind, name, design)
    overrides, own = dict(_flat(scenario.device.overrides)), scenario.device.numbers()
    if twice := next((key for key in own if key in overrides), None):
        document.fail(("device", twice), f"is given, and so is `device.overrides.{twice}`; give one of the two")
    try:
        return configs.with_overrides(config, overrides | own)
    except UserError as error:
        if meant := next((key for key in own if re.search(rf"(^|: )({key}(: | is )|there is no {key} )", str(error))), None):
            document.fail(("device", meant), f"cannot be used: {error}")
        # The last one from the command line, if there is one: what stands in the file has mostly been tried before.
        keys = [key for key in document.settings if key[:2] == ("device", "overrides")]
        document.fail(keys[-1] if keys else ("device", "overrides"), f"cannot be used: {error}")


def _flat(values: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in values.items():
        if isinstance(value, dict) and value:
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value
