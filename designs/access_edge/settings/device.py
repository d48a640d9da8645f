"""What settings must know of a device: a configuration says it (`config.Config`), or the device itself (`control.facts.Facts`)."""

from typing import Protocol

from penstock.parts.manifest import Part


class Hierarchy(Protocol):
    """Sizes of what is above the queues."""

    @property
    def queues_per_subscriber(self) -> int:
        """Queues of each subscriber."""

    @property
    def nodes(self) -> int:
        """Number of access nodes."""

    @property
    def ports(self) -> int:
        """Number of ports."""

    @property
    def classes(self) -> int:
        """Number of traffic classes."""

    @property
    def guarantees(self) -> bool:
        """Whether queues and subscribers may have guaranteed rates."""


class Admission(Protocol):
    """Classes among which memory is shared."""

    @property
    def classes(self) -> int:
        """Their number."""


class Flows(Protocol):
    """Flow queues behind the queues."""

    @property
    def queues(self) -> int:
        """Their number."""

    @property
    def hosts(self) -> int:
        """Hosts of a queue that are told apart on each side; 0: none."""


class Device(Protocol):
    """Sizes and parts of a device."""

    @property
    def name(self) -> str:
        """Of its configuration."""

    @property
    def queues(self) -> int:
        """Number of queues."""

    @property
    def max_frame_bytes(self) -> int:
        """Longest frame."""

    @property
    def clock_hz(self) -> int:
        """Clock in Hz."""

    @property
    def tick_shift(self) -> int:
        """A tick of the AQM's time has 2**this cycles."""

    @property
    def shaped(self) -> bool:
        """Whether queues have shapers."""

    @property
    def aqm(self) -> str:
        """Name of the AQM, or `none`."""

    @property
    def aqm_part(self) -> Part | None:
        """The AQM that is built in."""

    @property
    def own_scheduler(self) -> Part | None:
        """The scheduler of the user's own that is built in."""

    @property
    def hierarchy(self) -> Hierarchy | None:
        """What is above the queues."""

    @property
    def flows(self) -> Flows | None:
        """Flow queues behind the queues."""

    @property
    def admission(self) -> Admission | None:
        """How memory is shared."""
