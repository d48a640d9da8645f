# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""What a sweep refuses: one sentence, and nothing is run."""

from pathlib import Path

import pytest
from sweeping import SMALL, Calls, write

from penstock.command_line.app import main
from penstock.errors import UserError
from penstock.paths import ROOT
from penstock.sweeps import spec
from penstock.sweeps.point import points
from penstock.sweeps.values import MAX_RUNS


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty; docs/how-to/sweep.md says what a sweep holds"),
        ("- a", "is not a sweep: its top level must be keys with values, such as `run: hello.yaml`"),
        ("a: [", ":1: is not valid YAML"),
        ("seeds: 1..3", "the sweep must have one of `run`, `bench` and `switch-sim`, and has none"),
        ("run: x.yaml\nbench: queue", ":2: `bench` cannot stand beside `run`"),
        ("bench: queue\nseedz: 3", ":2: `seedz` is not a known key; did you mean 'seeds'?"),
        ("bench: queu", ":1: `bench` is refused: there is no bench 'queu'; did you mean 'queue'?"),
        ("run: nope.yaml", ":1: `run` is refused: "),
        (
            "run: HELLO\nset:\n  duration: 1 s\n  queus.slow.rate: 5",
            ":4: `set.queus.slow.rate` is refused: HELLO: `queus` is not a known key",
        ),
        (
            "run: HELLO\nset:\n  duration: 1 s\n  queues.slow.rate: [1 x, 2 x]",
            ":4: `set.queues.slow.rate` is refused: --set queues.slow.rate=1 x: ",
        ),
        ("run: HELLO\nset: { output.pcap: x.pcap }", ":2: `set.output.pcap` has no meaning in a sweep"),
        ("run: HELLO\nset: { traffic.0.pcap: x.pcap }", "/x.pcap: cannot be read"),
        ("run: HELLO\nset: { device.config: demo_65 }", ":2: `set.device.config` is refused: --set device.config=demo_65"),
        ("bench: queue\nset: { queus: 64 }", ":2: `set.queus` is refused: --set: there is no key 'queus'; did you mean 'queues'?"),
        ("bench: queue\ngrids:\n- { queues: 64 }\n- { queues: 1 }", ":4: `grids.1.queues` is refused: --set queues=1: give 2 to"),
        ("bench: queue\nset: { queues: 64 }\ngrids:\n- { queues: 32 }", ":4: `grids.0.queues` stands in `set`, too"),
        ("bench: queue\nset: { queues: 64, queues: 32 }", ":2: `queues` stands there a second time"),
        ("bench: queue\nset: { queues: 1..100, packets: 1..101 }", ":2: `set` makes 10,100 runs with seeds and engines, allowed: 10,000"),
        ("bench: queue\nseeds: 0..100000000", ":2: `seeds` has more than 10,000 values"),
        ("bench: queue\nseeds: one", ':2: `seeds` must be whole numbers from 0 to 4,294,967,295, such as 1..8 or [1, 5], not "one"'),
        ("bench: queue\nseeds: [4294967296]", ":2: `seeds` must be whole numbers"),
        ("bench: queue\nseeds: [true]", ":2: `seeds` must be whole numbers"),
        ("bench: queue\nengines: modle", ':2: `engines` must be one or a list of rtl, model, not "modle"'),
        ("bench: fabric\nengines: rtl", ":2: `engines` is refused: --set: there is no key 'engine'"),
        ("bench: queue\nset: { queues: 5..1 }", ":2: `set.queues` must ascend"),
        ("bench: queue\nset: { queues: 1..9 step 0 }", ":2: `set.queues` must ascend"),
        ("bench: queue\nset: { queues: 1..x }", ':2: `set.queues` must be a range such as "1..8"'),
        ("bench: queue\nset: { queues: [] }", ":2: `set.queues` must hold at least one value"),
        ("bench: queue\nset: { queues: }", ":2: `set.queues` has an empty value"),
        ("bench: queue\nset: { queues: { a: 1 } }", ":2: `set.queues` must be a value, a list or a range"),
        ("bench: queue\nset: { queues: [[1, 2]] }", ":2: `set.queues` must have single values"),
        ("run: HELLO\nset:\n  duration: [20 ms, .inf]", ":3: `set.duration.1` must be a finite number, not inf"),
        ("bench: queue\nset: { queues: [64, .nan] }", ":2: `set.queues.1` must be a finite number, not nan"),
        ("bench: queue\nset: 5", ":2: `set` must be keys with values, not 5"),
        ("bench: queue\nset: { seed: 1..3 }", ":2: `set.seed` stands beside `set`: write `seeds: [...]`"),
        ("bench: queue\nset: { engine: rtl }", ":2: `set.engine` stands beside `set`: write `engines: [...]`"),
        ("bench: queue\nname: ../x", ":2: `name` must be a name"),
        ("switch-sim: islip", ":1: `switch-sim` must be options of `penstock switch-sim`"),
        ("switch-sim: { ports: 4 }", ":1: `switch-sim` is refused: --algorithm: must be given"),
        ("switch-sim: { algorithm: islipp }", ":1: `switch-sim.algorithm` is refused: --algorithm islipp: there is no such algorithm"),
        ("switch-sim: { algoritm: islip }", ":1: `switch-sim.algoritm` is refused: --algoritm: there is no such option"),
        ("switch-sim: { algorithm: oq, ports: four }", ':1: `switch-sim.ports` is refused: --ports must be a whole number, not "four"'),
        ("switch-sim: { algorithm: oq, rate: [0.1] }", ":1: `switch-sim` has no single value for `rate`; lists of values stand in `set`"),
        ("switch-sim: { algorithm: oq, seed: 3 }", ":1: `switch-sim.seed` stands beside `switch-sim`"),
        ("switch-sim: { algorithm: oq, seeds: 0 }", ":1: `switch-sim.seeds` is refused: --seeds 0: give a whole number, 1 or more"),
        ("switch-sim: { algorithm: oq }\nset: { algorithm: pim }", ":2: `set.algorithm` stands in `switch-sim`, too"),
        ("switch-sim: { algorithm: oq }\nset: { rate: [2, 3] }", ":2: `set.rate` is refused: --rate 2: give more than 0"),
        ("switch-sim: { algorithm: oq }\nengines: rtl", ":2: `engines` has no meaning for switch-sim"),
        ("switch-sim: { algorithm: oq, traffic: trace, trace: no.csv }", ":1: `switch-sim.trace` is refused: --trace "),
        ("switch-sim: { algorithm: oq }\nplots: [{ x: rate }]", ":2: `plots.0.y` is missing"),
        ("switch-sim: { algorithm: oq }\nplots: [{ x: rate, y: z, bye: 3 }]", ":2: `plots.0.bye` is not a known key; did you mean 'by'?"),
        (
            "switch-sim: { algorithm: oq }\nplots: [{ x: rate, y: z, log: z }]",
            ":2: `plots.0.log` must be one of 'x', 'y' or 'xy', not \"z\"",
        ),
    ],
)
def test_bad_files_are_refused_with_a_sentence(
    text: str, words: str, calls: Calls, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Status 2, one line with file, line and key, nothing run, no folder left."""
    hello = str(ROOT / "scenarios/hello.yaml")
    file = write(tmp_path, text.replace("HELLO", hello))
    assert main(["sweep", str(file), "--out", str(tmp_path / "out")]) == 2
    said = capsys.readouterr()
    assert (
        said.out == ""
        and said.err.startswith(f"penstock: {file}")
        and words.replace("HELLO", hello) in said.err
        and said.err.count("\n") == 1
    )
    assert not calls.made and not (tmp_path / "out").exists()


def test_a_sweep_is_bounded(tmp_path: Path) -> None:
    """Seeds, engines and all grids count; what is allowed is just allowed."""
    text = "bench: queue\nengines: [rtl, model]\nseeds: 1..1000\ngrids:\n- { queues: 64 }\n- { queues: 2..5 }\n"
    sweep, _ = spec.load(write(tmp_path, text))
    assert sum(map(len, points(sweep, tmp_path))) == MAX_RUNS
    with pytest.raises(UserError, match=r":4: `grids` makes 12,000 runs with seeds and engines, allowed: 10,000"):
        spec.load(write(tmp_path, text + "- { packets: 5 }\n"))


def test_bad_options_are_refused(calls: Calls, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write(tmp_path, SMALL)
    taken = write(tmp_path, "", "taken")
    for options, words in (
        (["--by", "rate"], "--by and --log belong to --plot X Y"),
        (["--plot", "rate", "throughput", "--log", "z"], "--log z: give x, y or xy"),
        (["--cluster", "tcp://127.0.0.1:1", "--workers", "2"], "--workers is for this machine"),
        (["--workers", "0"], "--workers"),
        (["--out", str(taken)], f"--out {taken}: is a file, not a folder"),
        (["--out", "/proc/x"], "--out /proc/x: cannot be written"),
    ):
        assert main(["sweep", str(file), *options]) == 2
        said = capsys.readouterr().err
        assert words in said and said.count("\n") == 1
    assert main(["sweep", str(tmp_path / "sweeep.yaml")]) == 2
    assert "there is no such file; did you mean 'sweep.yaml'?" in capsys.readouterr().err
    assert not calls.made
