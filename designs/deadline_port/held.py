"""A deadline port held open, for notebooks and tests of one's own: frames by their bytes, classes that are set.

What a scenario says of a device can be said here, in the same words and units (docs/scenario-deadline-port.md), and is checked by the
same code.
"""

from collections.abc import Iterable, Mapping
from typing import Any, SupportsBytes

from penstock.basics import where
from penstock.basics.units import parse_size, parse_time
from penstock.designs.deadline_port import registers, settings
from penstock.designs.deadline_port.config import Config
from penstock.designs.deadline_port.job import described, lines
from penstock.designs.deadline_port.scenario import Setup, TrafficClass, dscps
from penstock.designs.deadline_port.settings import Settings
from penstock.errors import UserError
from penstock.library import values
from penstock.library.device import Device, built
from penstock.library.records import Received
from penstock.scenarios.device import configuration_as
from penstock.scenarios.headers import DSCPS, dscp_of
from penstock.scenarios.scenario import check

SNAPSHOT_READS = 10_000  # of the status, until a snapshot is there
BUSY = 2  # of the status
COUNTERS = ("in", "out", "missed", "lost", "no_page", "queued")


class HeldSetup(Setup):
    """What the device is; it may have no classes."""

    classes: tuple[TrafficClass, ...] = ()


class DeadlinePortDevice(Device):
    """A deadline port held open."""

    config: Config

    def __init__(self, given: Mapping[str, Any], engine: str, assertions: bool = False) -> None:
        """`given`: the keys `device`, `seed`, `link`, `classes`, `default_class` and `memory_limit` of a scenario; without `classes` all of
        the configuration, `class0` and so on, with its longest deadline. `engine` is `rtl` or `model`. Raises UserError, ToolError."""
        held, document = check(HeldSetup, given)
        config = configuration_as(Config, held, document)
        setup = _with_classes(held, config)
        ingress, egress = lines(setup, document, config)
        self.settings = Settings(setup, config, document.fail)
        self._table = list(self.settings.table)
        device = described(setup.device, config, engine, any_class=True)
        if library := built(config, engine, assertions):
            device["library"] = library
        job = {
            "device": device,
            "seed": setup.seed,
            "ingress_bps": ingress,
            "egress_bps": egress,
            "overhead_bytes": setup.link.overhead_bytes,
            "ingress_fifo_bytes": setup.link.ingress_fifo,
            "egress_buffer_bytes": setup.link.egress_buffer,
            "sources": [],
            "keep_all": False,
        }
        super().__init__(config, job)
        self.write_all(self.settings.first_writes())

    # ---- settings and registers

    def set_class(self, traffic_class: str | int, deadline: str) -> None:
        """Give a class, by name or number, another deadline ("30 ms") for frames that come from now on. Raises UserError."""
        number = self.class_number(traffic_class)
        if self.config.fifo:
            raise UserError(f"{self.config.name} is a plain FIFO, which looks at no deadline")
        found = self._checked().check_deadline(_parsed(parse_time, "deadline", deadline), ("deadline",))
        self.write_all(settings.deadline_writes(number, found))

    def set_dscp(self, dscp: str | int | Iterable[str | int], traffic_class: str | int) -> None:
        """Let frames with a DSCP (`46`, "ef", "8-15", or a list) be of a class from now on; `dscp` "none": all without one."""
        number = self.class_number(traffic_class)
        if self.config.class_from_user:
            raise UserError(f"{self.config.name} gets the class beside the frame, so DSCPs have none")
        given = dscp if isinstance(dscp, (str, int)) else list(dscp)
        for code in (settings.ALL_ELSE,) if given == "none" else _parsed(dscps, "dscp", given):
            self._table[code] = number
            self.write_all(settings.dscp_writes(code, number))

    def set_memory_limit(self, size: str | int | None) -> None:
        """Limit the memory that frames may take, in whole chunks; None: all of it. Raises UserError."""
        chunks = 0 if size is None else self._checked().chunks(_parsed(parse_size, "size", size), ("size",))
        self.write_all(settings.limit_writes(chunks))

    def class_number(self, traffic_class: str | int) -> int:
        """Return the number of a class. Raises UserError."""
        return self._checked().one(traffic_class, ("traffic_class",))

    def counters(self, traffic_class: str | int) -> dict[str, int]:
        """Return what the device itself has counted of a class, all of one moment: `in`, `out`, `missed`, `lost` (in memory), `no_page` (no
        memory) and `queued`, each as `_packets` and `_bytes`."""
        self.write("class_index", self.class_number(traffic_class))
        self.write("command", registers.command("snapshot"))
        for _ in range(SNAPSHOT_READS):
            if not self.read("status") & BUSY:
                break
        parts = (("packets", "frames"), ("bytes", "bytes"))
        return {f"{name}_{word}": self.read(f"{name}_{part}") for name in COUNTERS for word, part in parts}

    def write(self, register: str, value: int) -> None:
        """Write a register by its name in docs/registers_deadline_port.md. Done before the next read. Raises UserError."""
        self.write_all([(self._address(register), values.word(value, f"register {register}"))])

    def read(self, register: str) -> int:
        """Read a register of 4 or 8 bytes by its name. The clock goes on for some cycles meanwhile. Raises UserError."""
        address = self._address(register)
        value: int = self._do(self._session.read, address)
        if registers.table()[register]["bytes"] == 8:
            value |= self._do(self._session.read, address + 4) << 32
        return value

    def write_all(self, writes: Iterable[tuple[int, int]]) -> None:
        """Write registers by (address, value), in order."""
        for address, value in writes:
            self._do(self._session.write, address, value)

    @staticmethod
    def _address(register: str) -> int:
        if register not in registers.table():
            raise UserError(f"the device has no register {register!r}; docs/registers_deadline_port.md lists them")
        return registers.address(register)

    def _checked(self) -> Settings:
        """Return the classes; what is wrong is said of arguments now, not of the keys of a scenario."""
        self.settings.fail = where.fail
        return self.settings

    # ---- frames

    def send(
        self,
        frame: SupportsBytes | bytes,
        traffic_class: str | int | None = None,
        at: str | int | None = None,
        error: bool = False,
    ) -> int:
        """Let a frame arrive; return its number, by which it is known when it leaves.

        `frame` is bytes without FCS, or what `bytes()` makes such of (a Scapy packet); its DSCP says its class, or `traffic_class`
        where the device gets the class beside the frame. It arrives now, or at a later time `at` ("3 ms", or cycles of the clock). `error`:
        damaged on the way; the device drops and counts it. Raises UserError.
        """
        data = values.data(frame, 1)
        if self.config.class_from_user:
            if traffic_class is None:
                raise UserError(f"{self.config.name} gets the class beside the frame, so send() needs traffic_class")
            number = self.class_number(traffic_class)
        else:
            if traffic_class is not None:
                raise UserError(f"{self.config.name} takes the class from the frame's DSCP, so send() takes no traffic_class")
            code = dscp_of(data)
            number = self._table[settings.ALL_ELSE if code is None else code]
        return self._offer(data, number, at, error)

    def received(self) -> Received:
        """Return the frames that have left since the last call; column `traffic_class` says which class each one had."""
        left = super().received()
        left.columns["traffic_class"] = left.columns["queue"]
        return left


def _with_classes(setup: Setup, config: Config) -> Setup:
    """Return the setup with all classes of the configuration, where it names none; with 64 each has the DSCP of its number."""
    if setup.classes:
        return setup
    dscp = {"dscp": f"0-{DSCPS - 1}"} if config.classes == DSCPS and not config.class_from_user else {}
    all_classes = {"name": "class", "count": config.classes, "deadline": f"{config.longest_deadline_us} us", **dscp}
    return setup.model_copy(update={"classes": (TrafficClass.model_validate(all_classes),)})


def _parsed(parse: Any, name: str, value: Any) -> Any:
    try:
        return parse(value)
    except ValueError as error:
        raise UserError(f"{name}: {error}") from None
