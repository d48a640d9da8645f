"""Settings of one queue: resolved against what it had before, checked against the configuration, and written to registers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from penstock.basics.suggest import nearest
from penstock.basics.units import format_rate
from penstock.basics.where import Fail, KeyPath
from penstock.designs.access_edge import registers, scheduler
from penstock.designs.access_edge.settings.device import Device
from penstock.designs.access_edge.settings.given import UNSHAPED, Aqm, QueueSettings, TimeAtRate
from penstock.parts.manifest import Setting
from penstock.parts.registry import parts

BUS_BITS = 512
DEFAULT_LINE_BPS = 100 * 10**9

# What the device has after reset.
RESET_LIMIT_PACKETS: int = registers.table()["queue_limit_packets"]["fields"]["packets"][2]
RESET_LIMIT_BYTES: int = registers.table()["queue_limit_bytes"]["fields"]["bytes"][2]
SIDES = {"none": 0, "source": 1, "destination": 2, "both": 3}


@dataclass(frozen=True)
class Settings:
    """Resolved settings of one queue."""

    rate_bps: int | None = None  # None: unshaped; 0: closed gate
    burst: int | TimeAtRate = 0
    limit_packets: int = RESET_LIMIT_PACKETS
    limit_bytes: int = RESET_LIMIT_BYTES
    aqm: registers.Aqm = registers.NO_AQM
    traffic_class: int = 0
    weight: int = 1
    scheduler_word: int | None = None  # of an own scheduler; None: its defaults
    guarantee_bps: int = 0  # 0: none
    quantum: int = 0  # bytes of a flow's turn, where there are flow queues; 0: the largest frame
    sides: int = 0  # whose hosts share the queue first, where hosts are told apart: 1 those of sources, 2 of destinations

    @property
    def burst_bytes(self) -> int:
        """The burst in bytes; 0 where a time is given and there is no rate."""
        return self.burst if isinstance(self.burst, int) else self.burst.size(self.rate_bps or 0)

    def writes(self, queue: int, config: Device) -> list[tuple[int, int]]:
        """Return the register writes that give a queue these settings."""
        part = config.own_scheduler
        word = None if part is None else scheduler.word(part, {}, config.clock_hz, config.tick_shift)
        own = registers.queue_writes(
            queue,
            self.rate_bps,
            self.burst_bytes,
            self.limit_packets,
            self.limit_bytes,
            config.clock_hz,
            None if config.aqm == "none" else self.aqm,
            word if self.scheduler_word is None else self.scheduler_word,
            self.traffic_class if config.admission else None,
            self.quantum if config.flows else None,
            self.sides,
        )
        if config.hierarchy is None:
            return own
        guarantee = self.guarantee_bps if config.hierarchy.guarantees else None
        return own + registers.class_writes(queue, self.traffic_class, self.weight, guarantee, config.clock_hz)


RESET = Settings()


def resolved(
    given: QueueSettings, base: Settings, config: Device, fastest_bps: int, key: KeyPath, fail: Fail, rate_key: str = "rate"
) -> Settings:
    """Return `base` with what is given. Calls `fail` for what the configuration cannot have.

    `fastest_bps`: the egress link's rate. `key`: where the settings stand, and `rate_key`, where the rate does below that.
    """
    rate = base.rate_bps if given.rate is None else None if given.rate == UNSHAPED else int(given.rate)
    found = Settings(
        rate,
        base.burst if given.burst is None else given.burst,
        base.limit_packets if given.limit_packets is None else given.limit_packets,
        base.limit_bytes if given.limit_bytes is None else given.limit_bytes,
        base.aqm if given.aqm is None else _aqm(given.aqm, config, (*key, "aqm"), fail),
        base.traffic_class if given.traffic_class is None else given.traffic_class,
        base.weight if given.weight is None else given.weight,
        base.scheduler_word if given.scheduler is None else _scheduler(given.scheduler, config, (*key, "scheduler"), fail),
        base.guarantee_bps if given.guarantee is None else given.guarantee,
        base.quantum if given.quantum is None else given.quantum,
        base.sides if given.hosts is None else SIDES[given.hosts],
    )
    if given.quantum is not None and config.flows is None:
        fail((*key, "quantum"), f"is set, but configuration {config.name} has no flow queues")
    if given.hosts not in (None, "none") and not (config.flows and config.flows.hosts):
        fail((*key, "hosts"), f"is {given.hosts}, but configuration {config.name} tells no hosts apart (flows.hosts)")
    check_guarantee(given, found.guarantee_bps, rate, config, (*key, "guarantee"), fail)
    _check_class(given, config, key, fail)
    if rate is not None and rate > fastest_bps:
        fail((*key, rate_key), f"must be at most the egress link's {format_rate(fastest_bps)}, not {format_rate(rate)}")
    if rate is not None and not config.shaped:
        fail((*key, rate_key), f"is {format_rate(rate)}, but configuration {config.name} has no shapers")
    check_least(rate, config, (*key, rate_key), fail)
    if rate:
        most = registers.MAX_BURST_CYCLES * rate // (8 * config.clock_hz)
        if found.burst_bytes > most:
            fail((*key, "burst"), f"must be at most {most:,} byte at {format_rate(rate)}, not {found.burst_bytes:,}")
    return found


def check_guarantee(given: QueueSettings, guarantee: int, rate: int | None, config: Device, key: KeyPath, fail: Fail) -> None:
    """Call `fail` for a guaranteed rate that the configuration does not have, or that is above `rate`, the ceiling (None: none)."""
    if given.guarantee is not None and not (config.hierarchy and config.hierarchy.guarantees):
        fail(key, f"is set, but configuration {config.name} has no guarantees")
    check_least(guarantee, config, key, fail)
    if rate and guarantee > rate:
        fail(key, f"must be at most the rate, {format_rate(rate)}, not {format_rate(guarantee)}")


def check_least(rate: int | None, config: Device, key: KeyPath, fail: Fail) -> None:
    """Call `fail` for a rate that is too low for the configuration's clock and frames; None or 0: there is none."""
    least = registers.least_rate(config.clock_hz, config.max_frame_bytes)
    if rate and rate < least:
        why = f"a clock of {config.clock_hz / 1e6:g} MHz and frames of up to {config.max_frame_bytes:,} byte"
        fail(key, f"must be at least {least:,} bit/s in configuration {config.name} ({why}), not {rate:,}")


def check_id(queue: int, config: Device, key: KeyPath, fail: Fail) -> None:
    """Call `fail` unless the configuration has this queue."""
    if queue >= config.queues:
        fail(key, f"names queue {queue}, but configuration {config.name} has queues 0 to {config.queues - 1:,}")


def fastest(line_bps: int) -> int:
    """Return the highest rate of a queue in front of an egress link of `line_bps`."""
    return min(line_bps, registers.MAX_RATE_BPS)


def default_line(config: Device) -> int:
    """Return the rate of a link that nobody has said anything about, in bit/s."""
    return min(DEFAULT_LINE_BPS, BUS_BITS * config.clock_hz)


def must_be_written(config: Device) -> bool:
    """Tell whether every queue has to be written: its scheduler's settings are 0 after reset, not what they are by default."""
    return config.own_scheduler is not None and bool(config.own_scheduler.settings)


def _scheduler(given: Mapping[str, Any], config: Device, key: KeyPath, fail: Fail) -> int:
    part = config.own_scheduler
    if part is None:
        fail(key, f"is set, but configuration {config.name} has no scheduler of your own")
    settings = {setting.name: setting for setting in part.settings}
    values = {}
    for name, value in given.items():
        if name not in settings:
            known = f"is no setting of scheduler {part.name}{nearest(name, settings)}"
            fail((*key, name), known if settings else f"is set, but scheduler {part.name} has no settings")
        try:
            values[name] = settings[name].read(value)
        except ValueError as error:
            fail((*key, name), str(error))
    try:
        return scheduler.word(part, values, config.clock_hz, config.tick_shift)
    except ValueError as error:
        fail(key, str(error))


def _check_class(given: QueueSettings, config: Device, key: KeyPath, fail: Fail) -> None:
    hierarchy = config.hierarchy
    classed = hierarchy or config.admission
    if given.weight is not None and hierarchy is None:
        fail((*key, "weight"), f"is set, but configuration {config.name} has no hierarchy")
    if given.traffic_class is not None and classed is None:
        fail((*key, "traffic_class"), f"is set, but configuration {config.name} has no hierarchy and no admission")
    if classed and given.traffic_class is not None and given.traffic_class >= classed.classes:
        most = f"0 to {classed.classes - 1}"
        fail((*key, "traffic_class"), f"must be {most} in configuration {config.name}, not {given.traffic_class}")


def _aqm(given: Aqm, config: Device, key: KeyPath, fail: Fail) -> registers.Aqm:
    part = config.aqm_part
    if part is None:
        fail(key, f"is set, but configuration {config.name} has no AQM")
    has = f"configuration {config.name} has {part.shown}"
    if given.algorithm not in (None, part.name):
        fail((*key, "algorithm"), f"is {given.algorithm}, but {has}")
    foreign = next((name for name in given.own if name not in part.places), None)
    if foreign:
        others = [setting for other in parts("aqm").values() for setting in other.settings if setting.name == foreign]
        fail((*key, foreign), f"is set, but {has}, which has no such {'time' if others[0].unit == 'time' else 'setting'}")
    values = {setting.name: _value(setting, given.own.get(setting.name, setting.default), config, key, fail) for setting in part.settings}
    return registers.Aqm(part.pack(values), given.ecn)


def _value(setting: Setting, value: Any, config: Device, key: KeyPath, fail: Fail) -> int:
    """Return a setting of an AQM as the hardware has it. Calls `fail` for what it cannot be."""
    try:
        number = setting.read(value)
    except ValueError as error:
        fail((*key, setting.name), str(error))
    try:
        return setting.in_hardware(number, config.clock_hz, config.tick_shift)
    except ValueError as error:
        fail((*key, setting.name), f"cannot be: {'a time of the AQM' if setting.unit == 'time' else setting.name} {error}")
