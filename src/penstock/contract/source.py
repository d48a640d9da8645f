"""The sources of the contract: `blocks/common/contract.yaml`, which every device shares, and `designs/<design>/contract.yaml`.

Both are read and checked here. UserError names the file and the key of what is wrong.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from penstock.basics.suggest import nearest
from penstock.basics.wording import words
from penstock.errors import UserError

SHARED = "blocks/common/contract.yaml"
MOST_REASONS = 15  # in the four bits of drop_e, 0 is a frame that goes on
_NAME = r"^[a-z][a-z0-9_]*$"
# A file of the project below one of its folders; no part of its path begins with a dot, so there is no way out.
_FILE = r"^[A-Za-z0-9_]+(/[A-Za-z0-9_][A-Za-z0-9_.]*)+$"

Stage = Literal["classify", "enqueue", "dequeue", "output"]
Stages = Annotated[tuple[Stage, ...], Field(min_length=1)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


_Model = TypeVar("_Model", bound=_Part)


class Reason(_Part):
    """Why frames are dropped."""

    number: int = Field(strict=True, ge=1, le=MOST_REASONS)
    name: str = Field(pattern=_NAME, description="As in results and registers.")
    words: str = Field(min_length=1, description="In reports.")
    meaning: str = Field(min_length=1, description="In the documents.")

    @property
    def camel(self) -> str:
        """The name in SystemVerilog and C++, without what stands before it there: `NoPage`."""
        return camel(self.name)


class Setting(_Part):
    """A number that registers, RTL and models carry."""

    name: str = Field(pattern=_NAME)
    width: int = Field(strict=True, ge=1, le=32, description="Bits.")
    least: int = Field(0, strict=True, ge=0)
    words: str = Field(min_length=1)

    @model_validator(mode="after")
    def _fits(self) -> "Setting":
        if self.least > self.most:
            raise ValueError(f"has a least value of {self.least:,}, but its {self.width} bits hold {self.most:,} at most")
        return self

    @property
    def most(self) -> int:
        """The largest value."""
        return (1 << self.width) - 1


class Rates(_Part):
    """Rates that software may ask for."""

    least_bps: int = Field(strict=True, ge=1)
    most_bps: int = Field(strict=True, ge=1)


class Proof(_Part):
    """A package with other widths, for proofs."""

    file: str = Field(pattern=_FILE)
    widths: dict[str, Annotated[int, Field(strict=True, ge=1, le=32)]]
    words: str = Field(min_length=1)


class Shared(_Part):
    """What every device shares."""

    reasons: tuple[Reason, ...] = Field(min_length=1)
    settings: tuple[Setting, ...] = Field(min_length=1)
    rates: Rates
    proofs: tuple[Proof, ...] = ()

    @model_validator(mode="after")
    def _check(self) -> "Shared":
        _once(self.reasons)
        names = [setting.name for setting in self.settings]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise ValueError(f"two settings are called {twice}")
        for proof in self.proofs:
            for name in proof.widths:
                if name not in names:
                    raise ValueError(f"{proof.file} has a width of {name}, which is no setting{nearest(name, names)}")
        return self

    def setting(self, name: str) -> Setting:
        """Return a setting by its name. Raises KeyError."""
        return {setting.name: setting for setting in self.settings}[name]

    def with_widths(self, widths: dict[str, int]) -> "Shared":
        """Return the same with other widths of some settings."""
        return self.model_copy(
            update={
                "settings": tuple(s.model_copy(update={"width": widths[s.name]}) if s.name in widths else s for s in self.settings),
            }
        )


class DeviceReason(_Part):
    """A reason that a device has."""

    reason: Reason
    stages: Stages


class _OwnReason(Reason):
    stages: Stages


class _DeviceFile(_Part):
    title: str = Field(min_length=1, description="In headings, with its article.")
    registers: str = Field(pattern=_FILE, description="The page with its registers.")
    reasons: dict[str, Stages]
    own: tuple[_OwnReason, ...] = ()


class Device(_Part):
    """What one device has."""

    design: str
    title: str
    page: str
    reasons: tuple[DeviceReason, ...]
    own: tuple[Reason, ...] = ()  # those of `reasons` that no other device has

    @property
    def highest(self) -> int:
        """The largest number of a reason."""
        return max(entry.reason.number for entry in self.reasons)


def camel(name: str) -> str:
    """Return `limit_packets` as `LimitPackets`."""
    return "".join(part.capitalize() for part in name.split("_"))


def designs(root: Path) -> list[str]:
    """Return the designs below `root` that have a contract, in the order of their names."""
    return sorted(path.parent.name for path in root.glob("designs/*/contract.yaml"))


def mapped(root: Path) -> list[Device]:
    """Return the designs below `root` that have registers and no contract: without drop reasons that a scenario's results would have."""
    names = sorted(path.stem for path in root.glob("designs/*/regs/*.rdl") if path.stem == path.parents[1].name)
    without = [name for name in names if name not in designs(root)]
    return [Device(design=n, title=f"the {n.replace('_', ' ')}", page=f"docs/registers_{n}.md", reasons=()) for n in without]


def shared(root: Path) -> Shared:
    """Return what every device shares. Raises UserError."""
    return _validated(Shared, SHARED, root)


def device(root: Path, design: str, common: Shared) -> Device:
    """Return what `design` has, its reasons in the order of their numbers. Raises UserError, for a reason without an explanation, too."""
    name = f"designs/{design}/contract.yaml"
    found = _validated(_DeviceFile, name, root)
    known = {reason.name: reason for reason in common.reasons}
    for reason in found.reasons:
        if reason not in known:
            raise UserError(f"{name}: reasons.{reason}: is not in {SHARED}{nearest(reason, known)}")
    own = tuple(Reason(**{key: getattr(entry, key) for key in Reason.model_fields}) for entry in found.own)
    try:
        _once((*common.reasons, *own))
    except ValueError as error:
        raise UserError(f"{name}: own: {error} (with those of {SHARED})") from None
    every = [DeviceReason(reason=known[reason], stages=stages) for reason, stages in found.reasons.items()]
    every += [DeviceReason(reason=reason, stages=entry.stages) for reason, entry in zip(own, found.own, strict=True)]
    every.sort(key=lambda entry: entry.reason.number)
    if not every:
        raise UserError(f"{name}: reasons: is empty; a device drops frames for one reason at least")
    return Device(design=design, title=found.title, page=found.registers, reasons=tuple(every), own=own)


def _once(reasons: Iterable[Reason]) -> None:
    numbers: dict[int, str] = {}
    names: set[str] = set()
    for reason in reasons:
        if reason.number in numbers:
            raise ValueError(f"the reasons {numbers[reason.number]} and {reason.name} both have number {reason.number}")
        if reason.name in names:
            raise ValueError(f"two reasons are called {reason.name}")
        numbers[reason.number] = reason.name
        names.add(reason.name)


def _validated(model: type[_Model], name: str, root: Path) -> _Model:
    try:
        data: Any = YAML(typ="safe").load((root / name).read_text())
    except OSError as error:
        raise UserError(f"{name}: cannot be read: {error.strerror}") from None
    except YAMLError as error:
        raise UserError(f"{name}: is not valid YAML: {str(error).splitlines()[0]}") from None
    try:
        return model.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"]))
        raise UserError(f"{name}: {key + ': ' if key else ''}{words(first)}") from None
