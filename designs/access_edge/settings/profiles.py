"""Profiles of settings (`setting_profiles`): whether the device has one for all that is written.

The device refuses settings of one kind too many, and the queue keeps what it has (blocks/settings/README.md). What is written is followed
here with the same rules, so that a run says it before it begins.
"""

from collections import Counter
from collections.abc import Iterable

from penstock.basics.where import Fail
from penstock.designs.access_edge import registers
from penstock.designs.access_edge.config import Config

_OF_QUEUE = tuple(
    registers.address(f"queue_{name}") for name in ("rate", "burst", "limit_packets", "limit_bytes", "aqm", "aqm_target", "aqm_interval")
)
_INDEX, _COMMAND = registers.address("queue_index"), registers.address("queue_command")
_RESET = (
    registers.word("queue_rate", mantissa=1),
    0,
    *(registers.table()[name]["fields"][field][2] for name, field in (("queue_limit_packets", "packets"), ("queue_limit_bytes", "bytes"))),
    0,
    0,
    0,
)


class Kinds:
    """The kinds of settings that queues have, as writes change them."""

    def __init__(self, config: Config) -> None:
        self._most = config.setting_profiles - 1
        self._aqm = config.aqm != "none"
        self._registers = dict(zip(_OF_QUEUE, _RESET, strict=True)) | {_INDEX: 0}
        self._kind_of: dict[int, tuple[int, ...]] = {}
        self._queues_of: Counter[tuple[int, ...]] = Counter({_RESET: config.queues})

    def follow(self, writes: Iterable[tuple[int, int]]) -> str | None:
        """Follow register writes; return what is wrong with them, if the device refuses one."""
        for address, value in writes:
            if address in self._registers:
                self._registers[address] = value
            elif address == _COMMAND and value == registers.COMMAND_WRITE and (words := self._set()):
                return words
        return None

    def _set(self) -> str | None:
        queue, kind = self._registers[_INDEX], tuple(self._registers[register] for register in _OF_QUEUE)
        if not self._aqm:
            kind = kind[:4] + (0, 0, 0)
        old = self._kind_of.get(queue, _RESET)
        if kind == old:
            return None
        alone = old != _RESET and self._queues_of[old] == 1
        if kind not in self._queues_of and len(self._queues_of) - alone >= self._most:
            return (
                f"queue {queue} would have settings of one more kind than the {self._most:,} that setting_profiles leaves room for "
                "(rate, burst, limits and AQM, those after reset included)"
            )
        self._queues_of[kind] += 1
        self._queues_of[old] -= 1
        if not self._queues_of[old] and old != _RESET:
            del self._queues_of[old]
        self._kind_of[queue] = kind
        return None


def check(writes: Iterable[tuple[int, int]], config: Config, fail: Fail) -> None:
    """Call `fail` where the device has no profile for one of all settings that a run writes."""
    if config.setting_profiles and (words := Kinds(config).follow(writes)):
        fail(("queues",), f"do not fit: {words}")
