"""How many flow queues a device has behind its queues, and what hardware and model are told of them."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class Flows(BaseModel):
    """Flow queues behind the queues, served as RFC 8290 says (blocks/fq/README.md)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    queues: int = Field(
        strict=True, ge=32, le=1 << 22, description="Flow queues of all queues together, a power of two, 8 for each at least."
    )
    lanes: Literal[1, 2, 4] = Field(1, description="Parts that work side by side; a lane takes some 0.4 packets a cycle.")
    age_us: int = Field(
        100_000, strict=True, ge=1, le=10**8, description="A flow queue that is empty for so long is another flow's, in microseconds."
    )

    hosts: Literal[0, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024] = Field(
        0, description="Hosts of a queue that are told apart, on each side of its flows, so that they share it first; 0: flows alone do."
    )

    @property
    def host_bits(self) -> int:
        """Return the bits of a host's hash, 0: there are none."""
        return self.hosts.bit_length() - 1 if self.hosts else 0

    def age_cycles(self, clock_hz: int) -> int:
        """Return the cycles from one flow queue of a lane's walk to the next."""
        return max(1, self.age_us * clock_hz * self.lanes // (1_000_000 * self.queues))

    def parameters(self, clock_hz: int) -> dict[str, str]:
        """Return the parameters of pst_access_edge."""
        hosts = {"FlowHostBits": str(self.host_bits)} if self.hosts else {}
        return {"Flows": str(self.queues), "FlowLanes": str(self.lanes), "FlowAgeCycles": str(self.age_cycles(clock_hz)), **hosts}

    def of_model(self, clock_hz: int) -> dict[str, int]:
        """Return what the model of the device has to be told."""
        return {"queues": self.queues, "lanes": self.lanes, "age_cycles": self.age_cycles(clock_hz), "host_bits": self.host_bits}

    def check(self, queues: int, shaped: bool, arrivals: str | None, estimate: bool) -> None:
        """Raise ValueError, a sentence, for what does not go with flow queues. `arrivals`: an AQM that judges arrivals; `estimate`: an AQM
        estimates delays."""
        if not shaped:
            raise ValueError("there are flows, which need shaping: true")
        if arrivals is not None:
            raise ValueError(f"there are flows, but {arrivals} judges arrivals, which knows no flows")
        if estimate:
            raise ValueError("there are flows, whose delays cannot be estimated; leave aqm_estimate out")
        if self.queues & (self.queues - 1):
            raise ValueError(f"flows.queues must be a power of two, not {self.queues:,}")
        if queues % self.lanes or queues < 2 * self.lanes:
            raise ValueError(
                f"flows.lanes is {self.lanes}, so queues must be a multiple of it and {2 * self.lanes} at least, not {queues:,}"
            )
        least = max(8 * queues, 32 * self.lanes)
        if self.queues < least:
            raise ValueError(f"flows.queues must be at least {least:,} with {queues:,} queues and {self.lanes} lanes, not {self.queues:,}")
