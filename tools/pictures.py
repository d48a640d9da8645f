"""Makes the pictures of README.md and docs/tutorial.md from scenarios: the terminal, a report, a comparison; light and dark.

`python tools/pictures.py` writes docs/pictures/; it needs Chromium. With `--check` it writes nothing and needs none: it runs the scenarios
again, says which pictures show other figures than the runs have now, and exits with status 1 when there are some; figures.json beside them
has a digest of the figures of each page. What cannot be done is one sentence and status 2.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from io import StringIO
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from rich.console import Console  # noqa: E402
from rich.terminal_theme import DEFAULT_TERMINAL_THEME, SVG_EXPORT_THEME  # noqa: E402
from rich.text import Text  # noqa: E402

from penstock.errors import UserError  # noqa: E402

TOOL = "python tools/pictures.py"
FOLDER = ROOT / "docs" / "pictures"
SCENARIO = "scenarios/first_light.yaml"
SLOWER = 'queues.anna-bulk.rate="12 Mbit/s"'
COLUMNS = 80
THEMES = {"light": DEFAULT_TERMINAL_THEME, "dark": SVG_EXPORT_THEME}
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
SIZES = {"report": (1300, 716), "comparison": (1300, 614)}  # pixels of each page, from its top: to the end of a row of curves
BROWSER_SECONDS = 60
# Of a result: what differs from run to run, the version, and what was asked for, which the pictures do not show.
NOT_SHOWN = ("wall_seconds", "cycles_per_second", "penstock", "device", "scenario")
NOT_IN_COMPARISON = ("failures", "interrupted")  # the page has words for these where there is anything to say


def penstock(*arguments: str) -> str:
    """Run a command and return what it says, with colours. Raises UserError."""
    environment = {**os.environ, "FORCE_COLOR": "1", "COLUMNS": str(COLUMNS), "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, "-P", "-m", "penstock", *arguments], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise UserError(f"penstock {' '.join(arguments)}: {done.stderr.strip() or f'ended with status {done.returncode}'}")
    return done.stdout


def runs(folder: Path) -> str:
    """Do the runs below a folder, and their comparison; return what the first one said."""
    said = penstock("run", SCENARIO, "--engine", "model", "--out", str(folder / "first_light"))
    penstock("run", SCENARIO, "--engine", "model", "--set", SLOWER.replace('"', ""), "--out", str(folder / "slower"))
    penstock("compare", str(folder / "first_light"), str(folder / "slower"), "--out", str(folder))
    return said


def terminal(said: str, theme: str) -> str:
    """Return a picture of the terminal, SVG, without what differs from run to run and without fonts from elsewhere."""
    lines = [line for line in said.splitlines() if not line.startswith("Report ")]
    lines[0] = re.sub(r" in [0-9.]+ s, .*? cycles/s", "", lines[0])
    screen = Console(record=True, width=COLUMNS, file=StringIO(), force_terminal=True, color_system="truecolor")
    screen.print(Text("$ ", style="bold green").append(f"./penstock run {SCENARIO}", style="not bold default"))
    for line in lines:
        screen.print(Text.from_ansi(line), no_wrap=True, overflow="ignore", crop=False)
    drawn = screen.export_svg(title="penstock", theme=THEMES[theme], unique_id=f"penstock-{theme}")
    drawn = re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.DOTALL).replace("Fira Code,", "")
    return "\n".join(line.rstrip() for line in drawn.splitlines()) + "\n"


def figures(folder: Path) -> dict[str, str]:
    """Return a digest of the figures that each page shows."""
    from penstock.reports.compare import comparison

    result = json.loads((folder / "first_light" / "result.json").read_text())
    compared = comparison([folder / "first_light", folder / "slower"]).as_json()
    shown = {
        "report": {key: value for key, value in result.items() if key not in NOT_SHOWN},
        "comparison": {key: value for key, value in compared.items() if key not in NOT_IN_COMPARISON},
    }
    return {name: hashlib.sha256(json.dumps(what, sort_keys=True).encode()).hexdigest() for name, what in shown.items()}


def photograph(page: Path, picture: Path, size: tuple[int, int], theme: str) -> None:
    """Draw the upper part of a page. Raises UserError."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        raise UserError(f"there is no {', '.join(BROWSERS[:-1])} or {BROWSERS[-1]} on the PATH to draw pages with")
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--virtual-time-budget=6000"]
    command += [f"--blink-settings=preferredColorScheme={0 if theme == 'dark' else 1}", "--window-size={},{}".format(*size)]
    try:
        subprocess.run([*command, f"--screenshot={picture}", page.as_uri()], capture_output=True, timeout=BROWSER_SECONDS, check=True)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        raise UserError(f"{browser} did not draw {page.name}: {error}") from None
    if not picture.exists():
        raise UserError(f"{browser} has written no picture of {page.name}")


def pages(folder: Path) -> dict[str, Path]:
    """Return the pages of which there are pictures."""
    return {"report": folder / "first_light" / "report.html", "comparison": folder / "comparison.html"}


def write(folder: Path, said: str) -> list[Path]:
    """Write all pictures and return their paths. Raises UserError."""
    FOLDER.mkdir(exist_ok=True)
    written = []
    for theme in THEMES:
        written.append(FOLDER / f"terminal-{theme}.svg")
        written[-1].write_text(terminal(said, theme))
        for name, page in pages(folder).items():
            written.append(FOLDER / f"{name}-{theme}.png")
            photograph(page, written[-1], SIZES[name], theme)
    written.append(FOLDER / "figures.json")
    written[-1].write_text(json.dumps(figures(folder), indent=2) + "\n")
    return written


def stale(folder: Path, said: str) -> list[str]:
    """Return the names of pictures that show something else than the runs, or that are not there."""
    names = [f"terminal-{theme}.svg" for theme in THEMES]
    found = [name for name in names if not _same(FOLDER / name, terminal(said, name.removesuffix(".svg").split("-")[1]))]
    noted = json.loads((FOLDER / "figures.json").read_text()) if (FOLDER / "figures.json").exists() else {}
    for name, digest in figures(folder).items():
        drawn = [f"{name}-{theme}.png" for theme in THEMES]
        found += drawn if noted.get(name) != digest else [one for one in drawn if not (FOLDER / one).exists()]
    return found


def _same(path: Path, text: str) -> bool:
    return path.exists() and path.read_text() == text


def main() -> int:
    """Run the program."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; status 1 when a picture shows other figures than the runs")
    check = parser.parse_args().check
    try:
        with tempfile.TemporaryDirectory(prefix="penstock-pictures-") as name:
            said = runs(Path(name))
            old = stale(Path(name), said) if check else []
            if not check:
                print(*(path.relative_to(ROOT) for path in write(Path(name), said)), sep="\n")
    except UserError as error:
        print(f"pictures: {error}", file=sys.stderr)
        return 2
    if old:
        print(f"not what the runs show: {', '.join(old)} (docs/pictures); run {TOOL}", file=sys.stderr)
    return 1 if old else 0


if __name__ == "__main__":
    sys.exit(main())
