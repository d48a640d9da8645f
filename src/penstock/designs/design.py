"""What the workbench must know of a design: `designs/<design>/design.py` has an object DESIGN of a subclass of Design.

`load` finds it by the folder's name; nothing in the workbench names a design.
"""

import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from penstock.basics.suggest import nearest
from penstock.errors import UserError
from penstock.paths import DESIGNS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from penstock.driver.carrier import Carrier
    from penstock.engine.run import Prepared
    from penstock.library.device import Device
    from penstock.parts.manifest import Part
    from penstock.scenarios.common import CommonScenario
    from penstock.scenarios.scenario import Document

NAME = r"^[a-z][a-z0-9_]*$"
ENGINES = ("rtl", "model")  # that a job can run on


class Configuration(BaseModel):
    """What configurations of all designs have. Subclasses add the numbers of the hardware, with their limits."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    # Keys that say the same thing: a change of one takes what the configuration has of the other away.
    instead: ClassVar[Mapping[str, str]] = {}

    name: str = Field(pattern=NAME, description="Name; the wrapper is called `pst_<design>_<name>`.")
    design: str = Field(pattern=NAME, description="Folder below `designs/`.")
    description: str = Field(description="One line for people.")
    clock_hz: int = Field(strict=True, ge=100_000, le=500_000_000, description="Clock in Hz.")

    @property
    def module(self) -> str:
        """Name of the wrapper's module."""
        return f"pst_{self.design}_{self.name}"

    @property
    def memory_sizes(self) -> tuple[int, ...]:
        """Bytes of each memory, in the order of the ports; none of a device without."""
        return ()

    @property
    def bursts(self) -> tuple[int, int]:
        """Reads and writes that a memory has not answered, at most, of a device with memories."""
        raise NotImplementedError


@dataclass
class Plan:
    """A job for the engine and what is needed to explain its result. Designs add to it."""

    job: dict[str, Any]
    notes: list[str] = field(default_factory=list)  # remarks on the input, a sentence each
    engine: str = "rtl"
    flows: list[dict[str, Any]] = field(default_factory=list)  # of each TCP connection, in the job's order: what the result says of it


@dataclass(frozen=True)
class LiveQueue:
    """A queue that live traffic goes through, and what holds it back."""

    name: str
    bottleneck: str = ""  # queues of one bottleneck share its rate; none where a frame's output says what holds it back
    bottleneck_bps: int = 0


@dataclass(frozen=True)
class Table:
    """A table of a result: a row has as many cells as there are heads. The first `left` columns are words, the others numbers."""

    title: str
    note: str
    heads: tuple[str, ...]
    rows: list[tuple[str, ...]]
    left: int = 1
    more: str = ""  # what is not in the table, one line


@dataclass(frozen=True)
class Curve:
    """What a picture shows for each place on its x axis; None: nothing there."""

    name: str
    values: tuple[float | None, ...]
    style: Literal["points", "line", "limit", "bars", "stack"]  # limit: a stroke across the place; stack: bars one above the other


@dataclass(frozen=True)
class Plot:
    """A picture in the report besides those of every run: a design's own, or of TCP connections."""

    title: str
    note: str
    places: tuple[str, ...] | tuple[float, ...]  # of the x axis: names, or times in seconds
    values: Literal["time", "share", "count", "bytes", "rate"]  # of the y axis: seconds, 0..1, packets, bit/s
    curves: list[Curve]


@dataclass(frozen=True)
class Bench:
    """A bench of a design's own: `penstock bench NAME`. Functions raise UserError, and RuntimeError when the hardware does wrong."""

    summary: str  # what it measures
    packets: int  # how many it takes unless told otherwise
    plan: Callable[[dict[str, str], int], dict[str, Any]]  # options of `--set` values and a seed; at least engine, seed, packets
    prepare: Callable[[dict[str, Any], Callable[[str], None] | None], Path | None]  # what must be built: the library, None: the model
    run: Callable[[dict[str, Any], Path | None, Callable[[int, int], None] | None], dict[str, Any]]  # the figures
    lines: Callable[[dict[str, Any]], list[str]]  # of a result, for people


@dataclass(frozen=True)
class Target:
    """A switch outside the workbench that runs scenarios of a design as they are, by the machine's clock: `penstock p4 bmv2`.

    Functions raise UserError (what is missing on this machine, too) and ToolError.
    """

    need: Callable[[], None]  # raises UserError where a tool or a right is missing
    # Of a prepared run; bytes of a packet; hears how far it is.
    run: "Callable[[Prepared, int | None, Callable[[str], None]], dict[str, Any]]"
    compared: Callable[[Mapping[str, Any], Mapping[str, Any] | None], list[dict[str, Any]]]  # figures beside those of `result.json`
    lines: Callable[[Mapping[str, Any], Mapping[str, Any] | None], list[str]]  # the same for people


@dataclass(frozen=True)
class Serving:
    """How a control plane is to be served: what `penstock serve` was told."""

    listen: tuple[str, ...]  # `unix:PATH`, `HOST:PORT`
    store: Path | None  # of the intent; None: in memory
    http: str | None = None  # HOST:PORT of page and metrics
    tls: tuple[Path, Path, Path] | None = None  # certificate, key, and certificate of the clients' authority
    revoked: Path | None = None  # that authority's list of revoked certificates
    line_bps: int | None = None  # of the device's output, where it is known
    plan: Any = None  # of the scenario whose device it is, if any (Plan)
    restore: Path | None = None  # a backup that takes the place of the store
    radius: tuple[str, Path] | None = None  # HOST:PORT for RADIUS, and the file of its secret
    standby: Callable[[], None] | None = None  # wait as long as another server has the store; called when that begins


@dataclass(frozen=True)
class Control:
    """A design's control plane: `penstock serve`."""

    kind: int  # of its register block: the lowest byte of `type`
    serve: "Callable[[Carrier, Serving, Callable[[list[str]], None]], None]"  # until Ctrl-C; calls back with the places when it is ready


ConfigT = TypeVar("ConfigT", bound=Configuration)
PlanT = TypeVar("PlanT", bound=Plan)
ScenarioT = TypeVar("ScenarioT", bound="CommonScenario")


class Design(ABC, Generic[ConfigT, PlanT, ScenarioT]):
    """One design, with its own kinds of configuration, plan and scenario.

    Functions that check something raise UserError: one sentence that says what, where, and what is allowed.

    What is not abstract here is in modules of the design's folder, which have functions of these names: `job` (build), `result` (own),
    `report` (sentences, table), `generated` (numbers, facts, use).
    """

    name: str  # of the folder
    page: str  # the document on its scenarios
    models: tuple[str, ...] = ("scenario",)  # its modules with models that the page has tables of
    engines: tuple[str, ...] = ENGINES  # that it runs on, the first one unless another is asked for; without "rtl" it has no hardware
    input_files: ClassVar[tuple[str, ...]] = ("traffic.*.pcap",)  # keys of a scenario that name files which a run reads; *: each item
    configuration: type[ConfigT]
    scenario: type[ScenarioT]  # the keys of a scenario file for it

    def part(self, module: str) -> ModuleType:
        """Return a module of the design's folder; it is read when it is needed, so that the command line starts fast."""
        return importlib.import_module(f"penstock.designs.{self.name}.{module}")

    def engine(self, asked: str | None) -> str:
        """Return the engine of a run for which `asked` was given, None: nothing. Raises UserError for one that this design lacks."""
        if asked is None:
            return self.engines[0]
        if asked not in self.engines:
            raise UserError(f"--engine {asked}: {self._lacks(asked)}, allowed: {', '.join(self.engines)}")
        return asked

    def need_rtl(self, asked: str) -> None:
        """Raise UserError where there is no RTL; `asked`: the command or option that wants it."""
        if "rtl" not in self.engines:
            raise UserError(f"{asked}: {self._lacks('rtl')}; it runs on the engine {self.engines[0]} alone")

    def _lacks(self, engine: str) -> str:
        return f"{self.name} has no RTL" if engine == "rtl" else f"{self.name} has no engine {engine}"

    def module(self, config: ConfigT) -> str:
        """Return the name of the top module of a configuration."""
        return f"pst_{self.name}"

    def top(self, config: ConfigT) -> Path:
        """Return the file of the top module."""
        return DESIGNS / self.name / "rtl" / f"{self.module(config)}.sv"

    def file_list(self, config: ConfigT) -> Path:
        """Return the list of its sources, packages first."""
        return DESIGNS / self.name / "rtl" / f"{self.module(config).removeprefix('pst_')}.f"

    def shim(self, config: ConfigT) -> Path:
        """Return the functions of pins.h around the verilated top module."""
        return DESIGNS / self.name / "model" / "shim.cpp"

    @abstractmethod
    def parameters(self, config: ConfigT) -> dict[str, str]:
        """Return the parameters of the top module in this configuration, as SystemVerilog."""

    @abstractmethod
    def widths(self, config: ConfigT) -> dict[str, int]:
        """Return what stands in the widths of the top module's ports: `[AddrWidth-1:0]`."""

    @abstractmethod
    def defines(self, config: ConfigT) -> dict[str, int]:
        """Return the macros that the shim is compiled with."""

    def absent(self, config: ConfigT) -> Collection[str]:
        """Return the ports of the top module that this configuration does not have: inputs that are 0, outputs to which nobody listens."""
        return ()

    def bench_marks(self, config: ConfigT) -> Mapping[str, str]:
        """Return what stands for marks of its own in `sim/bench.sv.in`, in this configuration."""
        return {}

    def plugs(self, config: ConfigT) -> dict[str, str]:
        """Return files that stand in the place of those of their names in the list of sources, in this configuration: texts by name."""
        return {}

    def parts(self, config: ConfigT) -> "list[Part]":
        """Return the parts (penstock.parts) that are built in, in this configuration."""
        return []

    def ports(self, config: ConfigT) -> int:
        """Return how many inputs and outputs a device has where hosts can stand, each at its own; 1: one of each."""
        return 1

    @abstractmethod
    def live_queue(self, config: ConfigT, plan: PlanT, queue: int) -> LiveQueue:
        """Return what is known of a queue, by its number in the engine."""

    def plan(self, scenario: ScenarioT, document: "Document", config: ConfigT, engine: str) -> PlanT:
        """Return the plan of a scenario; on the RTL the job's `device.library` is empty still."""
        plan: PlanT = self.part("job").build(scenario, document, config, engine)
        return plan

    def own_result(self, raw: dict[str, Any], config: ConfigT, plan: PlanT) -> dict[str, Any]:
        """Return what `result.json` holds besides the keys of every design (penstock.engine.result)."""
        found: dict[str, Any] = self.part("result").own(raw, config, plan)
        return found

    @abstractmethod
    def plot_data(self, raw: dict[str, Any], config: ConfigT, plan: PlanT) -> "dict[str, NDArray[Any]]":
        """Return the arrays of `series.npz`."""

    def sentences(self, result: dict[str, Any]) -> list[str]:
        """Return what happened, a line each, beside what is said of every device; they begin with one word."""
        found: list[str] = self.part("report").sentences(result)
        return found

    def table(self, result: dict[str, Any], most: int, short: bool) -> Table:
        """Return the table of a result with at most `most` rows; `short`: for the terminal."""
        table: Table = self.part("report").table(result, most, short)
        return table

    def tables(self, result: dict[str, Any], most: int) -> list[Table]:
        """Return the tables of the report, at most `most` rows each: the one of the terminal with all columns, unless there are others."""
        return [self.table(result, most, short=False)]

    def curve_sets(self, result: dict[str, Any]) -> Mapping[str, str]:
        """Return what else may have curves than the first of `curves`: names of arrays in `series.npz` and words, `nodes`: `node`."""
        return {}

    def rate_steps(self, result: dict[str, Any], of: str) -> Mapping[int, list[list[Any]]]:
        """Return what becomes of configured rates, by id: seconds and bit/s, None: unshaped. `of`: "" or a name of `curve_sets`."""
        return {}

    def guarantee_steps(self, result: dict[str, Any], of: str) -> Mapping[int, list[list[Any]]]:
        """Return guaranteed rates by id, of those that have one: since when (seconds) and bit/s. `of`: as for `rate_steps`."""
        return {}

    def plots(self, result: dict[str, Any]) -> list[Plot]:
        """Return the report's pictures of this design, which stand before those of every design."""
        return []

    @abstractmethod
    def curves(self, result: dict[str, Any]) -> str:
        """Return what has a curve in the report: `queue`."""

    @abstractmethod
    def hardware(self, result: dict[str, Any]) -> str:
        """Return the configuration's sizes in a few words: `64 queues`."""

    def sizes(self, config: ConfigT) -> str:
        """Return how large a configuration is and what it has, in a few words."""
        return self.hardware({"device": config.model_dump(mode="json"), "config": config.name, "design": self.name})

    def numbers(self, config: ConfigT) -> Mapping[str, tuple[str, str]]:
        """Return what the test bench of a generated folder must know of a configuration: type and value of each constant, SystemVerilog."""
        found: Mapping[str, tuple[str, str]] = self.part("generated").numbers(config)
        return found

    def test_numbers(self, config: ConfigT) -> Mapping[str, Any]:
        """Return what the cocotb test of a generated folder must know of a configuration."""
        found: Mapping[str, Any] = self.part("generated").test_numbers(config)
        return found

    def software(self) -> Mapping[str, str]:
        """Return files for software, by name, that stand beside the register map of a package."""
        return {}

    def facts(self, config: ConfigT) -> str:
        """Return tables of a configuration's numbers, Markdown, for the README of a generated folder."""
        return str(self.part("generated").facts(config))

    def use(self, config: ConfigT) -> str:
        """Return how its ports are used, a few sentences, for the same page."""
        return str(self.part("generated").use(config))

    @abstractmethod
    def open(self, given: Mapping[str, Any], engine: str, assertions: bool) -> "Device":
        """Return a device held open; `given` has the keys of a scenario that say what it is."""

    def benches(self) -> Mapping[str, Bench]:
        """Return its own benches by name."""
        return {}

    def control(self) -> Control | None:
        """Return its control plane, None: it has none."""
        return None

    def targets(self) -> Mapping[str, Target]:
        """Return switches outside the workbench that its scenarios run on, by name."""
        return {}

    def drop_words(self) -> Mapping[str, str]:
        """Return words for drop reasons, where they have other ones than their names."""
        return {}


# What `load` returns; whoever has it gives it configurations, plans and scenarios that are its own.
AnyDesign: TypeAlias = "Design[Configuration, Plan, CommonScenario]"


class ModelDesign(Design[ConfigT, PlanT, ScenarioT]):
    """A design that has the model engine only: there is nothing of it to lint, to synthesise or to generate."""

    engines = ("model",)

    def sizes(self, config: ConfigT) -> str:
        """Return that the scenario says how large it is."""
        return "as large as its scenario says"

    def parameters(self, config: ConfigT) -> dict[str, str]:
        """Raise UserError."""
        self.need_rtl("parameters")
        return {}

    def widths(self, config: ConfigT) -> dict[str, int]:
        """Raise UserError."""
        self.need_rtl("widths")
        return {}

    def defines(self, config: ConfigT) -> dict[str, int]:
        """Raise UserError."""
        self.need_rtl("defines")
        return {}


def names() -> list[str]:
    """Return the names of the designs that there are."""
    return sorted(path.parent.name for path in DESIGNS.glob("*/design.py"))


def with_rtl() -> list[str]:
    """Return the names of those that are hardware: the others have the model engine only."""
    return [name for name in names() if "rtl" in load(name).engines]


def load(name: str) -> AnyDesign:
    """Return a design. Raises UserError."""
    if name not in names():
        raise UserError(f"there is no design {name!r}{nearest(name, names())}")
    design: AnyDesign = importlib.import_module(f"penstock.designs.{name}.design").DESIGN
    return design
