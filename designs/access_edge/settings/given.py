"""What may be said of the settings of a queue, a subscriber, a node or a port: keys, units and ranges.

Scenarios hold these models, and `plain.py` takes the same as plain values. Rates are bit/s, times picoseconds, sizes bytes once validated.
Checks that need the device configuration are in `queues.py` and `parents.py`.
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, ConfigDict, Field, StrictBool, StrictInt, StrictStr, field_validator
from pydantic_core import PydanticCustomError

from penstock.basics.models import Model
from penstock.basics.units import PS_PER_SECOND, describe, format_rate, parse_rate, parse_size, parse_time
from penstock.designs.access_edge.registers import (
    MAX_ALPHA_CODE,
    MAX_CLASS,
    MAX_LIMIT_BYTES,
    MAX_LIMIT_PACKETS,
    MAX_QUANTUM,
    MAX_RATE_BPS,
    MAX_WEIGHT,
    MIN_RATE_BPS,
    ONE_ALPHA_CODE,
)
from penstock.parts.registry import parts
from penstock.parts.values import UNITS
from penstock.paths import BLOCKS

UNSHAPED = "unshaped"
MIN_QUANTUM = 64  # bytes; a packet of n quanta takes n visits of its flow
WORDS_OF_UNITS = dict.fromkeys(UNITS, "whole number") | {
    "time": "time",
    "bytes": "size",
    "gain_hz": "number",
    "fraction": "number, 0 to 1",
}


def _rate_or_unshaped(value: object) -> int | str:
    if isinstance(value, str) and value.strip() == UNSHAPED:
        return UNSHAPED
    try:
        rate = parse_rate(value)
    except ValueError as error:
        raise ValueError(f'{error}; or "unshaped", or 0 for a closed gate') from None
    if 0 < rate < MIN_RATE_BPS:
        raise ValueError(f"must be at least {format_rate(MIN_RATE_BPS)} (or 0 for a closed gate), not {describe(value)}")
    return rate


@dataclass(frozen=True)
class TimeAtRate:
    """A size given as the time that it takes at the queue's own rate: `burst: 5 ms`."""

    picoseconds: int

    def size(self, bps: int) -> int:
        """Return the whole bytes that a rate in bit/s carries in that time."""
        return bps * self.picoseconds // (8 * PS_PER_SECOND)


def _burst(value: object) -> int | TimeAtRate:
    try:
        return parse_size(value)
    except ValueError as error:
        try:
            return TimeAtRate(parse_time(value))
        except ValueError:
            raise ValueError(f'{error}; or the time that it takes at the queue\'s rate, such as "5 ms"') from None


def _guarantee(value: object) -> int:
    rate = parse_rate(value)
    if 0 < rate < MIN_RATE_BPS:
        raise ValueError(f"must be at least {format_rate(MIN_RATE_BPS)} (or 0 for none), not {describe(value)}")
    if rate > MAX_RATE_BPS:
        raise ValueError(f"must be at most {format_rate(MAX_RATE_BPS)}, not {describe(value)}")
    return rate


Guarantee = Annotated[int, BeforeValidator(_guarantee)]
QueueRate = Annotated[int | Literal["unshaped"], BeforeValidator(_rate_or_unshaped)]
Burst = Annotated[int | TimeAtRate, BeforeValidator(_burst)]
ReservedPages = Annotated[StrictInt, Field(ge=0)]
LimitPackets = Annotated[StrictInt, Field(ge=0, le=MAX_LIMIT_PACKETS)]
LimitBytes = Annotated[int, BeforeValidator(parse_size), Field(ge=0, le=MAX_LIMIT_BYTES)]


Quantum = Annotated[int, BeforeValidator(parse_size), Field(ge=MIN_QUANTUM, le=MAX_QUANTUM)]


class Aqm(Model):
    """Active queue management of a queue: whichever the configuration has. Beside these keys it has the settings of that AQM.

    Which these are, and what they may be, its `part.yaml` says (penstock.parts); they are checked where the configuration is known.
    """

    model_config = ConfigDict(extra="allow")

    algorithm: StrictStr | None = Field(None, description="Which one is meant; the configuration must have it.")
    ecn: StrictBool = Field(False, description="ECN-capable frames are marked instead of dropped (PIE: up to a probability of 0.1).")

    @classmethod
    def known_keys(cls) -> list[str]:
        """Return its keys, those of every AQM among them."""
        return list(dict.fromkeys([*cls.model_fields, *(setting.name for part in parts("aqm").values() for setting in part.settings)]))

    @classmethod
    def rows_of_parts(cls) -> list[tuple[str, ...]]:
        """Return rows of the page's table for the settings of ours: key, value, default, meaning."""
        ours = [part for part in parts("aqm").values() if part.folder.is_relative_to(BLOCKS)]
        return [
            (
                f"`{setting.name}`",
                WORDS_OF_UNITS[setting.unit],
                f"`{setting.default}`",
                f"{part.shown}: {setting.words[0].lower()}{setting.words[1:]}",
            )
            for part in ours
            for setting in part.settings
        ]

    @field_validator("algorithm")
    @classmethod
    def _known(cls, value: str | None) -> str | None:
        if value is not None and value not in parts("aqm"):
            *names, last = map(repr, parts("aqm"))
            raise PydanticCustomError("literal_error", "no AQM", {"expected": f"{', '.join(names)} or {last}"})
        return value

    @property
    def own(self) -> dict[str, Any]:
        """The settings of the AQM that are given, as they were written."""
        return dict(self.model_extra or {})


class QueueSettings(Model):
    """What every queue has. In `defaults` it is meant for all queues that do not say otherwise."""

    may_be_unshaped: ClassVar[bool] = True

    rate: QueueRate | None = Field(
        None,
        description='Rate of frame bytes, from 8 kbit/s to the egress link; "unshaped"; or 0, a closed gate that holds all.',
    )
    burst: Burst | None = Field(
        None,
        description="Bytes that may leave at once after the queue was idle, or the time that they take at its rate. 0: strictly paced.",
    )
    limit_packets: LimitPackets | None = Field(None, description="Most packets the queue holds; the next one is dropped.")
    limit_bytes: LimitBytes | None = Field(None, description="Most bytes the queue holds.")
    aqm: Aqm | None = Field(None, description="Active queue management; `{}` takes the defaults. Without it there is none.")
    scheduler: dict[str, Any] | None = Field(
        None, description="Settings of a scheduler of your own, by the names in its part.yaml (docs/how-to/own-scheduler.md)."
    )
    traffic_class: StrictInt | None = Field(
        None,
        ge=0,
        le=MAX_CLASS,
        description="Class, where there is a hierarchy (0 goes first under a congested parent) or an admission.",
    )
    weight: StrictInt | None = Field(
        None, ge=1, le=MAX_WEIGHT, description="Share among the queues of its subscriber that are of its class; 1 unless given."
    )
    quantum: Quantum | None = Field(
        None, description="Bytes of a flow's turn, where the configuration has flow queues; the largest frame unless given."
    )
    hosts: Literal["none", "source", "destination", "both"] | None = Field(
        None,
        description="Whose hosts share the queue before flows do, where the configuration has `flows.hosts`; none unless given.",
    )
    guarantee: Guarantee | None = Field(
        None,
        description="Rate that it gets before the rest is shared by weight, where the configuration has guarantees; 0: none.",
    )


# Short, as a fraction of some hundred million digits takes minutes and gigabytes.
FRACTION = re.compile(r"\s*\+?[0-9_]{0,20}(\.[0-9_]{0,20}|/[0-9_]{1,20})?([eE][+-]?[0-9]{1,2})?\s*")


def _alpha(value: object) -> int:
    """Return n of alpha = 2^(n - 4)."""
    least, most = Fraction(1, 1 << ONE_ALPHA_CODE), 1 << MAX_ALPHA_CODE - ONE_ALPHA_CODE
    found = None
    if isinstance(value, int | float | str) and not isinstance(value, bool):
        with suppress(ValueError, ZeroDivisionError):  # an int of very many digits has no text
            found = Fraction(text) if FRACTION.fullmatch(text := str(value)) else None
    for code in range(MAX_ALPHA_CODE + 1):
        if found == least * 2**code:
            return code
    raise ValueError(f"must be a power of two from {least} to {most:,}, not {describe(value)}")


def _reserved(value: object) -> object:
    """Return pages of every size, or {bytes of a page: pages}."""
    if isinstance(value, Mapping):
        return {parse_size(size): pages for size, pages in value.items()}
    return value


class MemoryShare(Model):
    """How much memory the queues of a class may hold, where the configuration has an admission."""

    traffic_class: StrictInt = Field(ge=0, le=MAX_CLASS, description="Which class.")
    alpha: Annotated[int, BeforeValidator(_alpha)] | None = Field(
        None,
        description="Its queues may each hold so many times what is free and not reserved: 1/16 to 2048, a power of two; else 8.",
    )
    reserved: Annotated[ReservedPages | dict[int, ReservedPages], BeforeValidator(_reserved)] | None = Field(
        None,
        description="Pages that are kept for it: of every size, or by the bytes of a page, `{256: 100, 2048: 50}`.",
    )


class ChangedSettings(QueueSettings):
    """What a change may set: all of a queue; rate and burst of a parent, also node and weight of a subscriber, and the port of a node."""

    node: StrictInt | None = Field(None, ge=0, description="Of subscribers: they move to this node.")
    port: StrictInt | None = Field(None, ge=0, description="Of nodes: they move to this port.")
