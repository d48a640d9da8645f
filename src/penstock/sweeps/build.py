"""What points need built, once each, before they are dealt out: else all workers would wait for one compiler."""

from collections.abc import Callable, Iterable, Iterator

from penstock.errors import ToolError, UserError
from penstock.sweeps.point import Point
from penstock.sweeps.sources import resolved


def prepare(points: Iterable[Point], report: Callable[[str], None]) -> Iterator[tuple[Point, str]]:
    """Build the engine and the devices of all points; yield those whose device cannot be built, each with the reason in a sentence.

    `report` gets a line for each build. Raises ToolError when the engine cannot be built, without which nothing runs.
    """
    from penstock.engine import engine

    engine.build(report)
    failed: dict[str, str] = {}
    done: set[str] = set()
    for point in points:
        device = repr((point.target, point.engine, point.settings))  # seeds change no device
        if point.kind == "switch-sim" or point.engine == "model":
            continue
        if device not in done:
            done.add(device)
            try:
                _build(point, report)
            except ToolError as error:
                failed[device] = str(error).splitlines()[0]
            except UserError:
                pass  # the point itself will say so
        if device in failed:
            yield point, failed[device]


def _build(point: Point, report: Callable[[str], None]) -> None:
    if point.kind == "bench":
        from penstock.benches import bench
        from penstock.command_line.options import parse_settings

        engine = [f"engine={point.engine}"] if point.engine else []
        bench.prepare(bench.plan(point.target, parse_settings([*engine, *point.texts()]), point.seed or 1), report)
    else:
        from penstock.designs import design as designs
        from penstock.hardware import verilate
        from penstock.scenarios import scenario
        from penstock.scenarios.device import configuration

        config = configuration(*scenario.load(resolved(point.target), point.texts()))
        if designs.load(config.design).engine(point.engine) == "rtl":
            verilate.build_device(config, report)
