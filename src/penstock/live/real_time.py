"""Whether a live run keeps real time: where it does not it takes longer than its duration, and that is said as soon as it is seen."""

from collections.abc import Callable, Mapping
from typing import Any

from penstock.basics.units import format_time_ns

LOST_SECONDS, WITHIN_SECONDS = 1.0, 20.0  # so much is lost within so long: then it is said. A hiccup is less


class Keeping:
    """Looks at the engine's progress and says, once, that the device does not keep up."""

    def __init__(self, name: str, duration_s: float | None, clock_hz: float, model: bool, say: Callable[[str], None]) -> None:
        """`duration_s`: None where a command ends the run."""
        self._name, self._duration, self._clock, self._model, self._say = name, duration_s, clock_hz, model, say
        self._since, self._lost = 0.0, 0.0  # when the look back begins, and what was lost by then
        self.fell_behind: dict[str, Any] | None = None  # for the result: when it was said, and what had been run by then

    def look(self, now: Mapping[str, Any]) -> None:
        """Take the progress."""
        wire = now["wire"]
        lost, ran = (wire["stood_still_ns"] + wire["behind_ns"]) / 1e9, now["cycles"] / self._clock
        after = ran + lost
        if self.fell_behind is not None or (self._duration is not None and ran >= self._duration):
            return
        if lost - self._lost < LOST_SECONDS:
            if after - self._since > WITHIN_SECONDS:
                self._since, self._lost = after, lost
            return
        self.fell_behind = {"after_s": round(after, 3), "ran_s": round(ran, 3)}
        words = (
            f"{self._name}: the engine does not keep real time: {format_time_ns(ran * 1e9)} of the device in {format_time_ns(after * 1e9)}"
        )
        if self._duration is not None and ran > 0:
            words += f", so that its {self._duration:g} s may take {self._duration * after / ran:.0f} s"
        helps = "a lower rate or an idle machine" if self._model else "`--engine model`, a lower rate or an idle machine"
        self._say(f"{words}; programs see longer delays than they should; {helps} helps")
