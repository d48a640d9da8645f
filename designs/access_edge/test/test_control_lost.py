# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""The control plane of a device that was lost and has begun anew: its registers hold nothing of what was written before."""

import socket
from pathlib import Path

import pytest

from penstock.designs import configs
from penstock.designs.access_edge import registers
from penstock.designs.access_edge.control.compare import differences
from penstock.designs.access_edge.control.plant import Subscriber
from penstock.designs.access_edge.testing.control import CONFIG, Mirror, plant_of
from penstock.driver import remote
from penstock.driver.carrier import CarrierError
from penstock.v1 import common_pb2


def mirror(hierarchy: bool) -> Mirror:
    """Registers of a device that has a hierarchy, or says that it has none."""
    made = Mirror(configs.load(CONFIG))
    low, _, _ = registers.table()["features"]["fields"]["hierarchy"]
    made.registers[registers.address("features")] &= ~(int(not hierarchy) << low)
    return made


@pytest.mark.parametrize("hierarchy", [True, False])
def test_nothing_is_taken_for_written(hierarchy: bool, tmp_path: Path) -> None:
    """The settings of a queue, which were the last that were written before the loss, are written again: with a hierarchy and without."""
    path, first, anew = tmp_path / "device", mirror(hierarchy), mirror(hierarchy)
    with remote.listening(path, first):
        carrier = remote.Remote(path)
        plant = plant_of(carrier)
        queues = [common_pb2.QueueSettings(rate_bps=50_000_000, limit_packets=7)] * plant.facts.queues_per_subscriber
        plant.change([lambda: Subscriber(name="a", queues=queues)])
    carrier._socket.shutdown(socket.SHUT_RDWR)  # type: ignore[union-attr]
    with pytest.raises(CarrierError, match="the device is gone"):
        carrier.cycles()
    with remote.listening(path, anew):
        plant.restore()
        assert not plant.stale and differences(plant) == []
    carrier.close()
    assert anew.queues == first.queues and anew.queues[0] == anew.queues[len(queues) - 1] != (1, 0, 0, 0, 0)
