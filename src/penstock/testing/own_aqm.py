"""An AQM that is not ours, for tests: a step marker, and what else is written into a folder outside of the source tree."""

from dataclasses import dataclass
from pathlib import Path

STEP_MARKER = """
// Marks what has waited at least a step, or drops it when it may not be marked.
#pragma once

#include <cstdint>
#include <vector>

#include "blocks/aqm/model/aqm_model.hpp"

namespace penstock {

class StepMarker : public AqmModel {
  public:
    StepMarker(std::uint32_t queues, const AqmNumbers&) : settings_(queues) {}

    void set(std::int64_t, std::uint32_t queue, const AqmSetting& setting) override { settings_[queue] = setting; }
    AqmVerdict departs(const AqmDeparture& packet) override {
        const AqmSetting& own = settings_[packet.queue];
        if (!own.enable || packet.sojourn < own.field(18, 18)) return AqmVerdict::Pass;
        return own.ecn && packet.ect ? AqmVerdict::Mark : AqmVerdict::Drop;
    }

  private:
    std::vector<AqmSetting> settings_;
};

}  // namespace penstock
"""
# The same at the arrival, by the bytes in the queue.
BACKLOG_MARKER = (
    STEP_MARKER.replace("StepMarker", "BacklogMarker")
    .replace("""AqmVerdict departs(const AqmDeparture& packet) override {""", """AqmVerdict arrives(const AqmArrival& packet) override {""")
    .replace("packet.sojourn <", "packet.backlog <")
    .replace("has waited at least a step", "comes to a queue with at least so many bytes")
)
STEP_AT = 18  # where the step begins in the setting word


@dataclass(frozen=True)
class OwnPart:
    """A part in a folder of its own, as `penstock.parts` gives it."""

    folder: Path
    model_class: str = "penstock::StepMarker"
    sees: str = "departures"
    kind: str = "aqm"
    python: Path | None = None

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def model_header(self) -> Path:
        return self.folder / "model" / f"{self.name}.hpp"


def write_part(folder: Path, header: str = STEP_MARKER, model_class: str = "penstock::StepMarker", sees: str = "departures") -> OwnPart:
    """Write a part with this header into `folder`."""
    part = OwnPart(folder, model_class, sees)
    part.model_header.parent.mkdir(parents=True, exist_ok=True)
    part.model_header.write_text(header)
    return part
