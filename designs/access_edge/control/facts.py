"""What an access edge says of itself in its registers; as much of a configuration as settings need."""

from dataclasses import dataclass

from penstock.designs.access_edge import registers
from penstock.driver import blocks
from penstock.driver.carrier import Carrier, CarrierError, reads
from penstock.parts.manifest import Part
from penstock.parts.registry import parts

KIND, MAJOR, MINOR = 1, 1, 5  # of the register block that this software knows; a later minor version only adds
SCANS_SINCE = 6  # minor version
HOSTS_SINCE = 16
ONE_CLASS_SINCE = 11  # from which on command 9 takes the class of memory from that in the hierarchy
INIT_READS = 1_000_000


@dataclass(frozen=True)
class Hierarchy:
    """Sizes of the hierarchy."""

    queues_per_subscriber: int
    nodes: int
    ports: int
    classes: int
    guarantees: bool = False  # queues and subscribers may have guaranteed rates


@dataclass(frozen=True)
class Sharing:
    """Classes among which memory is shared, and how many sizes of pages it has."""

    classes: int
    sizes: int = 1


@dataclass(frozen=True)
class FlowQueues:
    """How many flow queues there are behind all queues, and how many hosts of a queue are told apart."""

    queues: int
    hosts: int


@dataclass(frozen=True)
class Facts:
    """A device by its own words. Settings take it like a configuration (penstock.designs.access_edge.settings.device)."""

    minor: int  # version of the register map
    queues: int
    descriptors: int
    max_frame_bytes: int
    clock_hz: int
    tick_shift: int
    shaped: bool
    aqm: str
    hierarchy: Hierarchy | None
    admission: Sharing | None
    busiest: int = 0  # places of the table that its scan fills; 0: it cannot scan
    sojourn: bool = False  # it keeps time stamps of packets, so a snapshot has the sojourn time of the head
    node_counters: bool = False  # it counts by node and class, too
    header_profiles: int = 0  # kinds of matches that it can look for in headers; 0: it does not find queues there
    header_entries: int = 0  # places for their keys
    prefix_levels: int = 0  # of the tree of prefixes; 0: there is none
    flows: FlowQueues | None = None
    name: str = "of the device"
    own_scheduler: None = None  # registers do not tell of one

    @property
    def aqm_part(self) -> Part | None:
        """The AQM that is built in."""
        return None if self.aqm == "none" else parts("aqm")[self.aqm]

    @property
    def queues_per_subscriber(self) -> int:
        """1 where there is no hierarchy: a subscriber is a queue then."""
        return self.hierarchy.queues_per_subscriber if self.hierarchy else 1

    @property
    def subscribers(self) -> int:
        """How many subscribers the device has room for."""
        return self.queues // self.queues_per_subscriber


def ask(carrier: Carrier) -> Facts:
    """Return what a device says of itself, once its memories are cleared. Raises CarrierError for one that is not understood."""
    block = blocks.find(carrier, KIND, "access edge", MAJOR, MINOR)
    if block.offset:
        raise CarrierError(f"{carrier.name}: its access edge is at {block.offset:#x}; this software knows it at 0 only")
    names = (
        "queues", "descriptors", "max_frame_bytes", "clock_hz", "features", "queues_per_subscriber", "nodes", "ports", "classes",
        "share_classes", "share_sizes", "busiest_places", "status",
    )  # fmt: skip
    said = dict(zip(names, carrier.run(reads(registers.address(name) for name in names)).tolist(), strict=True))
    _await_init(carrier, said["status"])

    def feature(name: str) -> int:
        low, width, _ = registers.table()["features"]["fields"][name]
        return int(said["features"] >> low & (1 << width) - 1)

    kinds = {number: name for name, number in registers.AQM_CODES.items()}
    kind = kinds.get(feature("aqm"), "other")
    if kind not in ("none", *parts("aqm")):
        raise CarrierError(f"{carrier.name}: has an AQM of its own, whose settings this software does not know")
    sizes = (said["queues_per_subscriber"], said["nodes"], said["ports"], said["classes"], bool(feature("guarantees")))
    hierarchy = Hierarchy(*sizes) if feature("hierarchy") else None
    headers = ("find_profiles", "find_entries", "find_prefix_levels") if feature("headers") else ()
    profiles, entries, levels = carrier.run(reads(registers.address(name) for name in headers)).tolist() if headers else (0, 0, 0)
    of_flows = ("flows", *(("flow_hosts",) if block.minor >= HOSTS_SINCE else ())) if feature("flows") else ()
    flows, hosts = [*(carrier.run(reads(registers.address(name) for name in of_flows)).tolist() if of_flows else ()), 0, 0][:2]
    return Facts(
        block.minor,
        said["queues"],
        said["descriptors"],
        said["max_frame_bytes"],
        said["clock_hz"],
        feature("tick_shift"),
        bool(feature("shaping")),
        kind,
        hierarchy,
        Sharing(said["share_classes"], said["share_sizes"]) if feature("admission") else None,
        said["busiest_places"] if block.minor >= SCANS_SINCE else 0,
        bool(feature("sojourn")),
        bool(feature("node_counters")),
        profiles,
        entries,
        levels,
        FlowQueues(flows, hosts) if flows else None,
    )


def _await_init(carrier: Carrier, status: int) -> None:
    """Wait until the device has cleared its memories."""
    for _ in range(INIT_READS):
        if status & registers.STATUS_INIT_DONE:
            return
        (status,) = carrier.run(reads([registers.address("status")])).tolist()
    raise CarrierError(f"{carrier.name}: the device does not come out of reset")
