"""Registers of the access edge for software: addresses by name, and settings as the hardware wants them.

Addresses, fields, named values, drop reasons and ranges come from `designs/access_edge/regs/access_edge.json`, which
tools/generate_contract.py makes from the SystemRDL and the contract files. How a rate becomes mantissa and exponent is in
docs/architecture.md, "Rates as the hardware sees them".
"""

from dataclasses import dataclass
from typing import Any

from penstock.basics.units import format_rate
from penstock.designs.access_edge import rates
from penstock.designs.access_edge.contract_numbers import contract
from penstock.errors import UserError


def most(setting: str) -> int:
    """Return the largest value of a setting of the contract (`burst`, `limit_packets`, ...)."""
    return contract()["settings"][setting]["most"]


MIN_RATE_BPS, MAX_RATE_BPS = rates.MIN_RATE_BPS, rates.MAX_RATE_BPS
MAX_LENGTH = most("length")
MAX_BURST_CYCLES = most("burst")
MAX_LIMIT_PACKETS = most("limit_packets")
MAX_LIMIT_BYTES = most("limit_bytes")
MAX_QUANTUM = most("length")
MAX_CLASS = most("traffic_class")
MAX_ALPHA_CODE = most("alpha")
ONE_ALPHA_CODE = 4  # alpha is 2^(n - 4)
DEFAULT_ALPHA_CODE: int = contract()["registers"]["share_alpha"]["fields"]["exponent"][2]
RESERVE_SHIFT = 3  # after reset 1/8 of the pages of each size are reserved, in equal parts for all classes
MAX_WEIGHT = most("weight_less_one") + 1

MANTISSA_BITS: int = contract()["settings"]["mantissa"]["width"]
MIN_MANTISSA: int = contract()["settings"]["mantissa"]["least"]  # of a rate; less are a closed gate and unshaped
MAX_EXPONENT = most("exponent")
# A shaper as one word: burst, exponent, mantissa, which begins at bit 0.
EXPONENT_AT = MANTISSA_BITS
BURST_AT: int = MANTISSA_BITS + contract()["settings"]["exponent"]["width"]

CLOSED, UNSHAPED = rates.CLOSED, rates.UNSHAPED  # rate codes of a closed gate and of none

_COMMANDS: dict[str, int] = contract()["enums"]["command"]
COMMAND_WRITE = _COMMANDS["write"]
COMMAND_HIERARCHY = {level: _COMMANDS[f"tree_{level}"] for level in ("queue", "subscriber", "node", "port")}
COMMAND_SNAPSHOT = _COMMANDS["snapshot"]
COMMAND_WRITE_NEXT = _COMMANDS["write_next"]
COMMAND_SHARE = _COMMANDS["share"]
COMMAND_PROVISION = _COMMANDS["provision"]
COMMAND_READ_BACK = _COMMANDS["read_back"]  # of a queue; and three more: subscriber, node, port
COMMAND_SUBSCRIBER_NEXT = _COMMANDS["tree_subscriber_next"]
COMMAND_SCAN = _COMMANDS["scan"]
COMMAND_SCAN_BACKLOG = _COMMANDS["scan_backlog"]
COMMAND_SNAPSHOT_NODE = _COMMANDS["snapshot_node"]
AQM_CODES: dict[str, int] = contract()["enums"]["aqm_kind"]

# JSON names of the drop reasons, by the code that the hardware has for them; and how reports call them.
DROP_REASONS: dict[int, str] = {entry["number"]: name for name, entry in contract()["reasons"].items()}
DROP_WORDS: dict[str, str] = {name: entry["words"] for name, entry in contract()["reasons"].items()}


def table() -> dict[str, dict[str, Any]]:
    """Return each register's `address`, size in `bytes` and `fields` ({name: [lowest bit, width, value after reset or None]})."""
    return contract()["registers"]


def address(name: str) -> int:
    """Return the byte address of a register; a register of 8 bytes has its lower half there. Raises KeyError for an unknown name."""
    return table()[name]["address"]


def command(name: str) -> int:
    """Return the number of a command."""
    return _COMMANDS[name]


def refusal(name: str) -> int:
    """Return the number of why a command is refused."""
    return contract()["enums"]["refusal"][name]


def executing(name: str) -> int:
    """Return the address at which a write of a setting register is the command `provision` or `tree_subscriber_next`, too. Raises KeyError
    for a register that is no setting."""
    return address(f"execute_{name}")


def word(name: str, **values: int) -> int:
    """Return the value of a register from those of its fields; what is left out is 0. Raises ValueError for what a field cannot hold."""
    fields = table()[name]["fields"]
    total = 0
    for field, value in values.items():
        low, width, _ = fields[field]
        if not 0 <= value < 1 << width:
            raise ValueError(f"{name}.{field} holds 0 to {(1 << width) - 1:,}, not {value:,}")
        total |= value << low
    return total


STATUS_INIT_DONE = word("status", init_done=1)
STATUS_BUSY = word("status", busy=1)
STATUS_REFUSED = word("status", refused=1)


def drop_addresses(reason: str) -> tuple[int, int]:
    """Return the addresses of the device's packet and byte counter for a drop reason (each 8 bytes, lower half first)."""
    return address(f"dropped_{reason}_packets"), address(f"dropped_{reason}_bytes")


def rate_code(bps: int | None, clock_hz: int) -> tuple[int, int]:
    """Return (mantissa, exponent) of a rate in bit/s of frame bytes; None: unshaped, 0: closed gate.

    The rate of the code differs from `bps` by at most 2^-16 of it. Raises UserError outside 8 kbit/s .. 100 Gbit/s, and when the
    clock is so slow or so fast that no code is near.
    """
    if bps is None:
        return UNSHAPED
    if bps == 0:
        return CLOSED
    if not MIN_RATE_BPS <= bps <= MAX_RATE_BPS:
        allowed = f"{format_rate(MIN_RATE_BPS)} to {format_rate(MAX_RATE_BPS)}"
        raise UserError(f"a queue's rate must be {allowed}, 0 (closed gate) or unshaped, not {bps:,} bit/s")
    code = rates.encode(bps, clock_hz)
    if code is None:
        raise UserError(f"a rate of {format_rate(bps)} cannot be set at a clock of {clock_hz:,} Hz")
    return code


def time_width(max_frame_bytes: int) -> int:
    """Return the bits of a time in cycles of a device (TimeWidth of pst_access_edge_core): a largest frame takes an eighth of that at 2^18
    cycles per byte or more."""
    return max(32, (max_frame_bytes - 1).bit_length() + 18 + 3)


def least_rate(clock_hz: int, max_frame_bytes: int) -> int:
    """Return the lowest rate in bit/s that is exact: the time of a largest frame is not cut off. Every such rate has a code."""
    longest = 1 << time_width(max_frame_bytes) - 3  # where pst_shaper_increment cuts off; a code is 2^-16 off at most
    frame = -(-8 * clock_hz * max_frame_bytes // (longest - (longest >> 16) - 1))
    return max(MIN_RATE_BPS, frame)


def code_rate(mantissa: int, exponent: int, clock_hz: int) -> float | None:
    """Return the rate in bit/s that a code stands for: None when it is unshaped, 0.0 for a closed gate."""
    return rates.decode(mantissa, exponent, clock_hz)


def burst_cycles(burst_bytes: int, bps: int | None, clock_hz: int) -> int:
    """Return a burst in cycles: the time that `burst_bytes` take at the rate. 0 for an unshaped queue and a closed gate.

    Raises UserError for a burst that takes longer than 2^28 - 1 cycles.
    """
    if not bps or burst_bytes == 0:
        return 0
    cycles = rates.burst_cycles(burst_bytes, bps, clock_hz)
    if cycles is None:
        most = MAX_BURST_CYCLES * bps // (8 * clock_hz)
        raise UserError(f"a burst at {format_rate(bps)} can have at most {most:,} byte, not {burst_bytes:,}")
    return cycles


def shaper_code(rate: int | None, burst: int, clock_hz: int) -> int:
    """Return a shaper's setting as one word (burst, exponent, mantissa) for a rate in bit/s and a burst in bytes."""
    mantissa, exponent = rate_code(rate, clock_hz)
    return burst_cycles(burst, rate, clock_hz) << BURST_AT | exponent << EXPONENT_AT | mantissa


HALF_BITS: int = contract()["settings"]["aqm_ticks"]["width"]  # of the setting word in each of two registers


@dataclass(frozen=True)
class Aqm:
    """Active queue management of one queue: the setting word of 36 bits (what is in it, the part says), and what every AQM has."""

    settings: int
    ecn: bool = False  # mark packets that may be marked instead of dropping them
    enable: bool = True

    @classmethod
    def of_halves(cls, upper: int, lower: int, ecn: bool = False, enable: bool = True) -> "Aqm":
        """Return it from both halves of the setting word: CoDel's TARGET and INTERVAL, PIE's QDELAY_REF and MAX_BURST, in ticks."""
        return cls(upper << HALF_BITS | lower, ecn, enable)

    @property
    def halves(self) -> tuple[int, int]:
        """The upper and the lower half of the setting word."""
        return self.settings >> HALF_BITS, self.settings & (1 << HALF_BITS) - 1

    @property
    def code(self) -> int:
        """All in one word, as pst_pkg::aqm_cfg_t has it."""
        return int(self.enable) << 2 * HALF_BITS + 1 | int(self.ecn) << 2 * HALF_BITS | self.settings


NO_AQM = Aqm(0, enable=False)


def hierarchy_writes(
    level: str, index: int, rate: int | None, burst: int, parent: int, clock_hz: int, weight: int = 1, guarantee: int | None = None
) -> list[tuple[int, int]]:
    """Return the writes that give a subscriber, node or port its rate (bit/s), burst (byte) and parent at once, and a subscriber its weight
    (1..8) and its guaranteed rate (bit/s, 0: none; None for devices without guarantees); see `queue_writes`."""
    mantissa, exponent = rate_code(rate, clock_hz)
    return [
        (address("tree_index"), index),
        (address("tree_rate"), word("tree_rate", mantissa=mantissa, exponent=exponent)),
        (address("tree_burst"), burst_cycles(burst, rate, clock_hz)),
        (address("tree_parent"), parent),
        *([(address("tree_class"), word("tree_class", weight=weight - 1))] if level == "subscriber" else []),
        *(guarantee_writes(guarantee, clock_hz) if level == "subscriber" else []),
        (address("queue_command"), COMMAND_HIERARCHY[level]),
    ]


def guarantee_writes(guarantee: int | None, clock_hz: int) -> list[tuple[int, int]]:
    """Return the write of a guaranteed rate in bit/s, 0: none; of a device without guarantees (None) nothing."""
    if guarantee is None:
        return []
    mantissa, exponent = rate_code(guarantee, clock_hz) if guarantee else (0, 0)
    return [(address("tree_guarantee"), word("tree_guarantee", mantissa=mantissa, exponent=exponent))]


def class_writes(queue: int, traffic_class: int, weight: int, guarantee: int | None = None, clock_hz: int = 0) -> list[tuple[int, int]]:
    """Return the writes that give a queue its class (0..7), its weight (1..8) in its subscriber and its guaranteed rate at once."""
    return [
        (address("tree_index"), queue),
        (address("tree_class"), word("tree_class", cls=traffic_class, weight=weight - 1)),
        *guarantee_writes(guarantee, clock_hz),
        (address("queue_command"), COMMAND_HIERARCHY["queue"]),
    ]


def queue_writes(
    index: int,
    rate: int | None,
    burst: int,
    limit_packets: int,
    limit_bytes: int,
    clock_hz: int,
    aqm: Aqm | None = None,
    shaper: int | None = None,
    share_class: int | None = None,
    quantum: int | None = None,
    sides: int = 0,
) -> list[tuple[int, int]]:
    """Return the (address, value) writes, in order, that give queue `index` all its settings at once.

    `rate` in bit/s (None: unshaped, 0: closed gate), `burst` and `limit_bytes` in bytes. Limits beyond what the hardware can hold mean
    the most it can. `aqm` is for devices that have one; None leaves its registers alone, for all others. `shaper` is the word of a queue of
    an own scheduler, in place of that of rate and burst. `share_class` is the class whose share of memory it takes from, for devices with
    an admission. `quantum` are the bytes of a flow's turn, 0: the largest frame; for devices with flow queues. `sides` are those whose
    hosts share the queue before their flows do: 1 sources, 2 destinations.
    Raises UserError for a rate or burst that cannot be set.
    """
    code = shaper_code(rate, burst, clock_hz) if shaper is None else shaper
    mantissa, exponent = code & (1 << EXPONENT_AT) - 1, code >> EXPONENT_AT & MAX_EXPONENT
    manage = [] if aqm is None else [
        (address("queue_aqm"), word("queue_aqm", enable=int(aqm.enable), ecn=int(aqm.ecn))),
        (address("queue_aqm_target"), aqm.halves[0]),
        (address("queue_aqm_interval"), aqm.halves[1]),
    ]  # fmt: skip
    share = [] if share_class is None else [(address("queue_class"), share_class)]
    return [
        *manage,
        *share,
        *([] if quantum is None else [(address("queue_quantum"), word("queue_quantum", bytes=quantum, sides=sides))]),
        (address("queue_index"), index),
        (address("queue_rate"), word("queue_rate", mantissa=mantissa, exponent=exponent)),
        (address("queue_burst"), code >> BURST_AT),
        (address("queue_limit_packets"), min(limit_packets, MAX_LIMIT_PACKETS)),
        (address("queue_limit_bytes"), min(limit_bytes, MAX_LIMIT_BYTES)),
        (address("queue_command"), COMMAND_WRITE),
    ]


def share_writes(cls: int, size: int, alpha_code: int, reserved: int) -> list[tuple[int, int]]:
    """Return the writes that give a class its alpha, as n of 2^(n - 4), and so many reserved pages of one size (0 is the smallest)."""
    return [
        (address("share_class"), cls),
        (address("share_size"), size),
        (address("share_alpha"), alpha_code),
        (address("share_reserved"), reserved),
        (address("queue_command"), COMMAND_SHARE),
    ]
