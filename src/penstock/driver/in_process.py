"""A device of the engine, RTL or model: it runs in a thread of its own with its traffic; its registers are read and written meanwhile."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.driver.carrier import CarrierError
from penstock.scenarios.traffic import MAX_CYCLES

# What a job says of its end and of what is kept for a report: a device that is served has none.
_OF_A_RUN = ("duration_cycles", "max_cycles", "drain", "pcap_out", "hierarchy", "group_of", "lateness", "keep_most")


class InProcess:
    """A carrier to a device in this process."""

    name = "in process"
    losses = 0

    def __init__(self, job: dict[str, Any], real_time: bool = True) -> None:
        """`job`: of a run (docs/jobs.md), of which the end and what only a report needs are left out; `real_time`: the device's clock keeps
        real time where the engine is fast enough. Raises CarrierError."""
        from penstock.engine import engine

        kept = {key: value for key, value in job.items() if key not in _OF_A_RUN}
        kept |= {"keep_departures": False, "keep_all": False, "series_queues": [], "sample_queues": kept.get("sample_queues", [])}
        kept["interval_cycles"] = 0
        kept["sources"] = [_endless(source, job.get("duration_cycles")) for source in job["sources"]]
        try:
            self.device = engine.module().Served(kept, real_time)
            self.device.start()
        except (ValueError, RuntimeError) as error:
            raise CarrierError(str(error)) from error

    def run(self, program: NDArray[np.uint32], step: int = 0) -> NDArray[np.uint32]:
        """Do a program. Raises CarrierError."""
        try:
            found: NDArray[np.uint32] = self.device.run(np.ascontiguousarray(program), step)
        except (ValueError, RuntimeError) as error:
            raise CarrierError(str(error)) from error
        return found

    def cycles(self) -> int:
        """Return the time of the device's clock."""
        return int(self.device.now)

    def close(self) -> None:
        """End the device."""
        self.device = None


def _endless(source: dict[str, Any], duration: int | None) -> dict[str, Any]:
    """Return a source that does not stop because the run that it was meant for would; one that stops before that does so here, too."""
    ends = duration is not None and source.get("stop_cycle", 0) >= duration
    return source | {"stop_cycle": MAX_CYCLES} if ends else source
