"""What a part says of itself: the file `part.yaml` in its folder, as typed models.

A setting belongs to a queue and stands in the queue's setting word; a number belongs to the device and is a parameter of the part's module.
Both are declared once, here: scenarios, configurations, registers, benches and documents take them from the manifest.
"""

from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, PrivateAttr, ValidationError, model_validator

from penstock.basics.models import Model
from penstock.basics.where import first_error, path_text
from penstock.errors import UserError
from penstock.parts.values import Unit, in_hardware, read

NAME = r"^[a-z][a-z0-9_]*$"
IDENTIFIER = r"^[A-Za-z_][A-Za-z0-9_]*$"
WORD_BITS = {"aqm": 36, "scheduler": 50}  # of a queue's setting word: pst_pkg::aqm_cfg_t::settings, pst_pkg::shaper_cfg_t
NUMBER_BITS = 32
FILE = "part.yaml"
KIND_WORDS = {"aqm": "AQM", "scheduler": "scheduler"}
RESERVED = ("none", "enable", "ecn", "algorithm")


def _inside(path: str) -> str:
    if PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts:
        raise ValueError(f"must be a path below the part's folder, not {path!r}")
    return path


Inside = Annotated[str, AfterValidator(_inside)]


class Quantity(Model):
    """A value with its unit, range and default, as users give it: "5 ms", 0.1, 3000."""

    name: str = Field(pattern=NAME, description="Its key in scenarios or configurations.")
    words: str = Field(min_length=1, description="What it is, in a sentence.")
    unit: Unit = Field(description="What it counts; docs/how-to/own-aqm.md says how each reaches the hardware.")
    bits: int = Field(strict=True, ge=1, le=NUMBER_BITS, description="Its width in the hardware.")
    least: Any = Field(None, description="Least value; unless given the least that the hardware tells from 0.")
    most: Any = Field(None, description="Largest value; unless given the largest that fits.")
    default: Any = Field(description="Value unless given.")

    @model_validator(mode="after")
    def _check(self) -> "Quantity":
        if self.name in RESERVED:
            raise ValueError(f"name must not be {self.name}, which every part has")
        for key in ("least", "most", "default"):
            if getattr(self, key) is not None:
                try:
                    read(self.unit, getattr(self, key))
                except ValueError as error:
                    raise ValueError(f"{key} {error}") from None
        if self.least is not None and self.most is not None and read(self.unit, self.least) > read(self.unit, self.most):
            raise ValueError(f"least is {self.least}, which is more than most, {self.most}")
        self.read(self.default)
        return self

    def read(self, value: object) -> int | float:
        """Return what a user has given, as a number in the unit's base (ps, bytes, ...). Raises ValueError, a sentence without subject."""
        number = read(self.unit, value)
        if self.least is not None and number < read(self.unit, self.least):
            raise ValueError(f"must be at least {self.least}, not {value}")
        if self.most is not None and number > read(self.unit, self.most):
            raise ValueError(f"must be at most {self.most}, not {value}")
        return number

    def in_hardware(self, number: int | float, clock_hz: int, tick_shift: int) -> int:
        """Return what `read` gave as the hardware has it. Raises ValueError, a sentence without subject, for what its bits cannot hold."""
        return in_hardware(self.unit, number, self.bits, clock_hz, tick_shift)


class Setting(Quantity):
    """A setting of each queue."""


class Number(Quantity):
    """A number of the whole device: a parameter of the part's module, and of its model."""

    parameter: str = Field(pattern=IDENTIFIER, description="Parameter of the part's module.")
    walk: int | None = Field(
        None, strict=True, ge=0, description="A time in which the module comes to every queue, a queue a cycle, with so many cycles beside."
    )

    @model_validator(mode="after")
    def _check_walk(self) -> "Number":
        if self.walk is not None and self.unit not in ("time", "us"):
            raise ValueError(f"walk is given, but the unit is {self.unit}, not a time")
        return self


class Rtl(Model):
    """Its hardware."""

    module: str = Field(pattern=IDENTIFIER, description="Its top module, with the ports of its kind.")
    files: tuple[Inside, ...] = Field(min_length=1, description="Sources below the folder, packages first.")


class CppModel(Model):
    """Its model."""

    header: Inside = Field(description="C++ header below the folder.")
    class_name: str = Field(alias="class", pattern=r"^[A-Za-z_][A-Za-z0-9_]*(::[A-Za-z_][A-Za-z0-9_]*)*$", description="Class in it.")


class Part(Model):
    """A part's manifest. `folder` is where it stands, and its name that of the folder."""

    kind: Literal["aqm", "scheduler"] = Field(description="What it is.")
    title: str | None = Field(None, description="Its name for people; the folder's name unless given.")
    words: str = Field(min_length=1, description="What it does, in a sentence.")
    sees: Literal["departures", "arrivals"] | None = Field(None, description="An AQM: where it judges packets.")
    guard_bytes: int | None = Field(
        None,
        strict=True,
        ge=1,
        description="An AQM that sees arrivals and asks of a backlog only whether it is above this: the device keeps one bit of it.",
    )
    rtl: Rtl | None = Field(None, description="Its hardware; without it only the model runs.")
    model: CppModel | None = Field(None, description="Its model in C++; what is in Python has none.")
    settings: tuple[Setting, ...] = Field((), description="Of each queue, from the top of the setting word down.")
    numbers: tuple[Number, ...] = Field((), description="Of the device.")

    _folder: Path = PrivateAttr(default=Path())
    _python: Path | None = PrivateAttr(default=None)

    @model_validator(mode="after")
    def _check(self) -> "Part":
        if (self.sees is None) == (self.kind == "aqm"):
            raise ValueError("sees is missing: departures or arrivals" if self.kind == "aqm" else "sees is given, which only an AQM has")
        if self.guard_bytes is not None and self.sees != "arrivals":
            raise ValueError("guard_bytes is given, which only an AQM that sees arrivals has")
        names = [quantity.name for quantity in (*self.settings, *self.numbers)]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise ValueError(f"two settings or numbers are called {twice}")
        bits = sum(setting.bits for setting in self.settings)
        if bits > self.word_bits:
            raise ValueError(f"settings take {bits} bits, but the setting word of a queue has {self.word_bits}")
        return self

    @property
    def folder(self) -> Path:
        """The folder, absolute."""
        return self._folder

    @property
    def python(self) -> Path | None:
        """The file of Python that it is, None: it is a folder."""
        return self._python

    @property
    def name(self) -> str:
        """Its name: that of the folder, or of the file of Python."""
        return self._python.stem if self._python else self._folder.name

    @property
    def shown(self) -> str:
        """Its name for people."""
        return self.title or self.name

    @property
    def word_bits(self) -> int:
        """Width of a queue's setting word."""
        return WORD_BITS[self.kind]

    @property
    def hardware(self) -> Rtl:
        """Its hardware. Raises UserError where there is none."""
        if self.rtl is None:
            why = "it is in Python" if self._python else f"{FILE} has no rtl"
            raise UserError(f"{KIND_WORDS[self.kind]} {self.name} has no hardware, as {why}: only --engine model runs it")
        return self.rtl

    @property
    def rtl_files(self) -> list[Path]:
        """Its sources, packages first. Raises UserError where there is no hardware."""
        return [self._folder / file for file in self.hardware.files]

    @property
    def model_header(self) -> Path:
        """The header of its model."""
        assert self.model is not None, "it is in Python"
        return self._folder / self.model.header

    @property
    def model_class(self) -> str:
        """The class in it, with its namespace."""
        assert self.model is not None, "it is in Python"
        return self.model.class_name

    @cached_property
    def places(self) -> dict[str, tuple[int, int]]:
        """Lowest bit and width of each setting in the setting word."""
        found, top = {}, self.word_bits
        for setting in self.settings:
            top -= setting.bits
            found[setting.name] = (top, setting.bits)
        return found

    def pack(self, values: dict[str, int]) -> int:
        """Return the setting word of all settings, each as the hardware has it. Raises ValueError for what does not fit."""
        word = 0
        for name, (low, width) in self.places.items():
            if not 0 <= values[name] < 1 << width:
                raise ValueError(f"{name} holds 0 to {(1 << width) - 1:,}, not {values[name]:,}")
            word |= values[name] << low
        return word

    def module_parameters(self, numbers: dict[str, int]) -> dict[str, int]:
        """Return the module's parameters for numbers as the hardware has them."""
        return {number.parameter: numbers[number.name] for number in self.numbers}

    def placed(self, folder: Path) -> "Part":
        """Return the part with its folder. Raises UserError when a file that it names is not there."""
        self._folder = folder
        if self.model is None:
            raise UserError(f"{folder / FILE}: model is missing")
        for file in (*(self.rtl_files if self.rtl else ()), self.model_header):
            if not file.is_file():
                raise UserError(f"{folder / FILE}: names {file.relative_to(folder)}, which is not there")
        return self

    @classmethod
    def of_python(cls, document: dict[str, Any], path: Path) -> "Part":
        """Return the part that a file of Python is. Raises UserError for what it says of itself and cannot be."""
        try:
            found = cls.model_validate(document)
        except ValidationError as error:
            key, message = first_error(error, document)
            raise UserError(f"{path}: {path_text(key)}{': ' if key else ''}{message}") from None
        found._folder, found._python = path.parent, path
        return found
