# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""Named configurations: all are sound, bad ones get one clear sentence, and the wrapper has every number and port."""

import re
from pathlib import Path

import pytest

from penstock.designs import configs
from penstock.designs import design as designs
from penstock.errors import UserError

GOOD = """\
one:
  description: test
  queues: 16
  clock_hz: 220_000_000
  max_frame_bytes: 1522
  memories:
    - {name: ddr, bytes: 1_048_576, pages: 512, page_bytes: 2048}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a design in another place, whose configs.yaml the test writes."""
    for module in (configs, designs):
        monkeypatch.setattr(module, "DESIGNS", tmp_path)
    made = tmp_path / "access_edge"
    made.mkdir()
    (made / "configs.yaml").write_text(GOOD)
    (made / "design.py").touch()
    return made


def test_every_configuration_is_sound() -> None:
    assert "access_edge" in designs.names()
    names = configs.names()
    assert {"tiny_16", "demo_64", "edge_2048", "jumbo_1024", "edge_262144", "edge_1048576", "pass_2048"} <= set(names)
    assert len(names) == len(set(names)), "a scenario may leave the design out"
    for name in names:
        assert configs.load(name).name == name
    for name in configs.names("access_edge"):
        config = configs.load(name)
        last = name.split("_")[-1]  # how many queues, or how it is clocked
        assert last == (f"{config.clock_hz // 1000}khz" if last.endswith("khz") else str(config.queues))
        assert config.descriptors == sum(memory.pages * memory.channels for memory in config.memories)
        assert 1 << config.address_bits >= sum(memory.bytes for memory in config.channels) > 1 << config.address_bits - 1
    assert configs.load("edge_262144").descriptors == 131_072
    assert not configs.load("pass_2048").shaping


@pytest.mark.parametrize("queues", [64, 2048, 262_144])
def test_codel_and_hierarchy_together(queues: int) -> None:
    """`tree_codel_N` is `tree_N` and CoDel: nothing else differs, so what one shows the other has beside it."""
    alone, together = (configs.load(f"{name}_{queues}").model_dump(exclude={"name", "description"}) for name in ("tree", "tree_codel"))
    assert (alone.pop("aqm"), together.pop("aqm")) == ("none", "codel")
    assert together == alone


def test_unknown_names() -> None:
    with pytest.raises(UserError, match="there is no configuration 'tiny16'; did you mean 'tiny_16'"):
        configs.load("tiny16")
    with pytest.raises(UserError, match="there is no design 'acces_edge' with configurations"):
        configs.names("acces_edge")


@pytest.mark.parametrize(
    "old, new, line, message",
    [
        ("queues: 16", "queues: 1", 3, r"one\.queues: must be at least 2, not 1"),
        ("queues: 16", "queues: many", 3, r"one\.queues: must be a whole number, not \"many\""),
        ("  queues: 16\n", "", 1, r"one\.queues: is missing"),
        ("queues: 16", "queues: 16\n  colour: blue", 4, r"one\.colour: is not a setting of a configuration"),
        ("pages: 512", "pages: 513", 7, r"memory ddr has 1,048,576 bytes, but its 513 pages of 2,048 bytes need 1,050,624"),
        ("page_bytes: 2048", "page_bytes: 2000", 7, "memory ddr has pages of 2,000 bytes, which is not a multiple of 64"),
        ("bytes: 1_048_576", "bytes: 1_050_000", 7, "memory ddr has 1,050,000 bytes, which is not a multiple of 4,096"),
        ("page_bytes: 2048", "page_bytes: 1472", 1, "no memory has a page for the largest frame: .* is 1,522, the largest page has 1,472"),
        ("1522", "20000", 5, r"one\.max_frame_bytes: must be at most 16,383, not 20000"),
        ("1522", "1522\n  min_frame_bytes: 1600", 1, "min_frame_bytes is 1,600, which is more than max_frame_bytes, 1,522"),
        ("2048}", "2048}\n    - {name: ddr, bytes: 4096, pages: 1, page_bytes: 64}", 1, "two memories are called ddr"),
        ("queues: 16", "queues: 16\n  shaping: false\n  aqm: codel", 1, "aqm is codel, which needs shaping: true"),
        ("queues: 16", "queues: 16\n  aqm_estimate: true", 1, "aqm_estimate is true, but there is no aqm"),
        ("queues: 16", "queues: 16\n  aqm: red", 4, r"one\.aqm: must be one of 'none', 'cobalt', 'codel', 'dualpi2' or 'pie', not \"red\""),
        ("queues: 16", "queues: 16\n  aqm: codel\n  pie: {update_us: 20}", 1, "pie is given, but aqm is codel"),
        ("queues: 16", "queues: 16\n  aqm: pie\n  pie: {update_us: 0}", 5, r"one\.pie\.update_us: must be at least 1, not 0"),
        (
            "queues: 16",
            "queues: 16\n  aqm: pie\n  pie: {alpha: 14}",
            1,
            r"pie\.alpha is 14.0: that is 69,\d* 2\^-32 per tick, allowed: 1 to 65,535",
        ),
        (
            "queues: 16",
            "queues: 4096\n  aqm: pie\n  pie: {update_us: 15}",
            1,
            "update_us is 15, which is too short to calculate 4,096 queues",
        ),
        ("clock_hz: 220_000_000", "clock_hz: 10", 4, r"one\.clock_hz: must be at least 100,000"),
        ("{name: ddr, bytes: 1_048_576, pages: 512, page_bytes: 2048}", "{name: ddr}", 7, r"one\.memories\.0\.bytes: is missing"),
    ],
)
def test_bad_configurations(folder: Path, old: str, new: str, line: int, message: str) -> None:
    path = folder / "configs.yaml"
    path.write_text(GOOD.replace(old, new, 1))
    with pytest.raises(UserError) as caught:
        configs.load("one", "access_edge")
    text = str(caught.value)
    assert text.startswith(f"{path}:{line}: ") and "\n" not in text
    assert re.search(message, text)


@pytest.mark.parametrize(
    "text, message", [("a: [1", r":\d+: not YAML"), ("- a\n", "must be a mapping from names"), ("one: 3\n", "one must be a mapping from")]
)
def test_bad_files(folder: Path, text: str, message: str) -> None:
    (folder / "configs.yaml").write_text(text)
    with pytest.raises(UserError, match=message):
        configs.load("one", "access_edge")


def test_overrides() -> None:
    tiny = configs.load("tiny_16")
    changed = configs.with_overrides(tiny, {"queues": "128", "memories.sram.pages": 8, "memories.0.pages": "40", "shaping": "false"})
    assert (changed.queues, changed.descriptors, changed.shaping, changed.name) == (128, 48, False, "tiny_16")
    assert tiny.queues == 16 and tiny.descriptors == 64
    for overrides, message in (
        ({"quues": 3}, "quues: there is no such setting of a configuration; did you mean 'queues'"),
        ({"memories.drd.pages": 3}, "memories.drd.pages: there is no memory 'drd'; did you mean 'ddr'"),
        ({"name": "other"}, "name: there is no such setting"),
        ({"queues.pages": 3}, "there is no such setting"),
        ({"queues": "[1"}, "queues: not YAML"),
        ({"queues": "1"}, "queues: must be at least 2, not 1"),
        ({"memories.ddr.pages": 100}, "but its 100 pages of 1,536 bytes need 153,600"),
    ):
        with pytest.raises(UserError, match=re.escape(message)):
            configs.with_overrides(tiny, overrides)


def test_wrapper_has_every_number_and_every_port(tmp_path: Path) -> None:
    config = configs.load("tiny_16")
    path = configs.write_wrapper(config, tmp_path)
    text = path.read_text()
    assert path.name == "pst_access_edge_tiny_16.sv" and f"module {path.stem} (" in text
    for number in (
        ".Queues       (16)", ".Memories     (2)", ".MemPages     ({32'd16, 32'd48})", ".MemPageBytes ({32'd256, 32'd1536})",
        ".MemBytes     ({64'd4096, 64'd131072})", ".AddrWidth    (18)", ".Shaping      (1'b1)",
    ):  # fmt: skip
        assert number in text
    top = configs.sources(config)[-1].read_text()
    ports = re.findall(r"\b(\w+_[io])\s*,?\s*(?://.*)?$", top.split(") (", 1)[1].split(");", 1)[0], re.MULTILINE)
    assert len(ports) == 20
    header, body = text.split(");", 1)
    for port in ports:
        assert re.search(rf"\.{port}\b", body), port
    flat = re.findall(r"\b(\w+_[io]),?$", header, re.MULTILINE)
    assert len(flat) == 93 and not {"s_axis_tdest_i", "m_axis_tdest_o"} & set(flat)  # queue ids are in front of frames
    for port in flat:
        assert re.search(rf"\b{port}\b", body), port
    stamp = path.stat().st_mtime_ns
    configs.write_wrapper(config, tmp_path)
    assert path.stat().st_mtime_ns == stamp, "an unchanged wrapper is not written again"


def test_pie_is_the_rfcs() -> None:
    """RFC 8033's T_UPDATE, alpha and beta (15 ms, 0.125 Hz, 1.25 Hz) at 220 MHz, in ticks of 256 cycles and 2^-32 per tick."""
    assert configs.load("pie_2048").aqm_numbers == {"update_us": 12_891, "alpha": 625, "beta": 6247}
