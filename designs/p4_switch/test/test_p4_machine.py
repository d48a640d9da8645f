"""The interpreter of P4 programs, packet by packet, against bmv2's simple_switch: each match kind, operator, header operation, hash, copy.

The answers of simple_switch are recorded (tools/p4_machine_answers.py), so it need not be there.
"""

import json
import struct
from typing import Any

import pytest

from penstock.designs.p4_switch import program as programs
from penstock.designs.p4_switch import runtime_cli
from penstock.designs.p4_switch.tables import Control
from penstock.designs.p4_switch.testing import machine_programs
from penstock.engine import engine
from penstock.errors import UserError

GAP_US = 1_000  # between two packets


def machine(name: str, commands: str | None = None) -> tuple[programs.Program, object]:
    """Return a test program, and what runs it."""
    read = programs.load(machine_programs.FOLDER / f"{name}.json")
    made = engine.module("designs/p4_switch/model").Machine(read.dictionary, 1)
    control = Control(read)
    runtime_cli.run(control, machine_programs.COMMANDS.get(name, "") if commands is None else commands, f"{name}.commands")
    made.configure(control.dictionary())
    return read, made


@pytest.fixture(scope="module", autouse=True)
def _built() -> None:
    engine.build()


@pytest.mark.parametrize("name", list(machine_programs.COMMANDS))
def test_answers_are_those_of_simple_switch(name: str) -> None:
    """Every packet has the same answers, byte by byte: the same frames from the same ports."""
    head, answers = machine_programs.read()
    sent = machine_programs.packets(name, head["seed"])
    assert len(answers[name]) == len(sent)
    _, made = machine(name)
    wrong = []
    for number, (packet, expected) in enumerate(zip(sent, answers[name], strict=True)):
        found = machine_programs.compared(name, packet, made.process(0, packet, (number + 1) * GAP_US))
        if found != (right := machine_programs.compared(name, packet, expected)):
            wrong.append(f"packet {number}, {packet[:120].hex()}: {found}, not {right}")
    print(f"{len(sent)} packets, {sum(map(bool, answers[name]))} are answered, {len(wrong)} differ")
    assert not wrong, "\n".join(text[:2000] for text in wrong[:5])
    assert sum(map(bool, answers[name])) > len(sent) // 2
    assert made.packets_out_of_pool == 0


def test_sums_carry_as_often_as_they_overflow() -> None:
    """The Internet checksum of a header with each identification: a sum of 16-bit words modulo 2^16 - 1, and 0 only of zeros (RFC 1071)."""
    _, made = machine("checks")
    others = [0x4500, 20, 0, 0x3F06, 0xFFFF, 0xFFFF, 0xFFFF, 0xFFFE]  # without identification and checksum; the TTL as it is sent
    for number in range(1 << 16):
        packet = bytes(14) + struct.pack("!10H", 0x4500, 20, number, 0, 0x4006, 0, *others[4:])
        ((_, sent),) = made.process(0, packet, 0)
        assert struct.unpack_from("!H", sent, len(sent) - 10) == (0xFFFF - ((sum(others) + number - 1) % 0xFFFF + 1),), number


def op(code: int, index: int, value: int = 0) -> bytes:
    """Return a packet of the program `state`."""
    return bytes([code]) + index.to_bytes(4, "big") + value.to_bytes(6, "big") + b"\0"


def test_counters_count_packets_and_bytes() -> None:
    """Inside of the array each cell counts for itself; outside of it nothing is counted."""
    read, made = machine("state")
    for index, size in ((0, 0), (0, 10), (3, 5), (4, 0), (1 << 31, 0)):
        made.process(0, op(6, index) + bytes(size), 0)
    number = read.counters["TheIngress.counts"][0]
    assert [made.counter_cell(number, index) for index in range(4)] == [(2, 34), (0, 0), (0, 0), (1, 17)]


def test_entries_count_their_own_packets() -> None:
    """A direct counter counts hits of its entry, in packets and bytes, and no miss."""
    read, made = machine("state")
    for index in (1, 2, 2, 3):
        made.process(0, op(9, index), 0)
    assert made.entry_counters(read.tables["TheIngress.direct"].number) == [(0, 1, 12), (1, 2, 24)]


def colors(made: object, code: int, index: int, times: list[int], size: int = 0) -> list[int]:
    """Return the color of a packet at each time, in microseconds."""
    return [made.process(0, op(code, index) + bytes(size), now)[0][1][11] for now in times]


def test_meters_have_two_rates_and_three_colors() -> None:
    """Committed 0.001 packets for each us with a burst of 2, peak 0.002 with a burst of 4: two are green, two yellow, the next red."""
    _, made = machine("state", "meter_set_rates packets 1 0.001:2 0.002:4\n")
    assert colors(made, 7, 1, [0] * 6) == [0, 0, 1, 1, 2, 2]
    assert colors(made, 7, 1, [500] * 2) == [1, 2]  # one token of the peak rate
    assert colors(made, 7, 1, [100_000] * 5) == [0, 0, 1, 1, 2]  # bursts are full again, and not fuller
    assert colors(made, 7, 0, [0] * 3) == [0, 0, 0]  # without rates all is green
    assert colors(made, 7, 3, [0]) == [3]  # outside of the array the color stays what it was


def test_a_meter_of_bytes_counts_bytes() -> None:
    """A burst of 100 byte lets one packet of 60 byte be green, 200 byte three be no worse than yellow."""
    _, made = machine("state", "meter_set_rates bytes 2 0.000001:100 0.000002:200\n")
    assert colors(made, 8, 2, [0] * 5, size=48) == [0, 1, 1, 2, 2]


def test_a_direct_meter_has_the_rates_of_its_entry() -> None:
    """Of two entries the second has rates; an entry that is not there is named."""
    entries = machine_programs.COMMANDS["state"]
    _, made = machine("state", entries + "meter_set_rates entry_meter 1 0.001:2 0.002:4\n")
    assert colors(made, 9, 2, [0] * 6) == [0, 0, 1, 1, 2, 2]
    assert colors(made, 9, 1, [0] * 6) == [0] * 6
    _, made = machine("state", entries + "meter_array_set_rates entry_meter 0.001:1 0.002:2\n")
    assert [colors(made, 9, index, [0] * 3) for index in (1, 2)] == [[0, 1, 2]] * 2
    with pytest.raises(UserError, match="meter 'entry_meter' belongs to the entries of table 'TheIngress.direct', which are 0 to 1, not 2"):
        machine("state", entries + "meter_set_rates entry_meter 2 0.001:2 0.002:4\n")


def test_random_numbers_stay_within_their_ends() -> None:
    """The same seed gives the same numbers; both ends come; beyond the upper end nothing is drawn."""
    _, one = machine("state")
    _, other = machine("state")
    drawn = [[made.process(0, op(10, 0xFFD, 7), 0)[0][1][5:11] for _ in range(200)] for made in (one, other)]
    assert drawn[0] == drawn[1]
    assert {int.from_bytes(value, "big") for value in drawn[0]} == {0xFFD, 0xFFE, 0xFFF, 0x1000}


def test_what_was_asked_for_is_counted() -> None:
    """Digests, and packets that end in a parser error."""
    _, made = machine("copies")
    for code in (7, 7, 0):
        made.process(0, bytes([code, 1]) + bytes(6), 0)
    assert made.digests == 2
    assert made.parser_errors == 0
    made.process(0, b"\x00", 0)
    assert made.parser_errors == 1


def test_resubmitting_for_ever_ends() -> None:
    """A packet that is resubmitted again and again is dropped; nothing of it is kept."""
    _, made = machine("copies")
    assert made.process(0, bytes([9, 1]) + bytes(6), 0) == []
    assert made.packets_out_of_pool == 0


def with_value_sets(wanted: dict[str, int], bits: int = 16) -> dict[str, Any]:
    """Return the JSON of `parse` in which cases of the first state are looked for in value sets of these names instead."""
    program = json.loads((machine_programs.FOLDER / "parse.json").read_text())
    program["parse_vsets"] = [{"name": f"Parse.{name}", "id": number, "compressed_bitwidth": bits} for number, name in enumerate(wanted)]
    transitions = program["parsers"][0]["parse_states"][0]["transitions"]
    for name, value in wanted.items():
        (case,) = (one for one in transitions if one["value"] == f"0x{value:04x}")
        case |= {"type": "parse_vset", "value": f"Parse.{name}"}
    return program


def test_value_sets_of_the_parser() -> None:
    """What stands in a set is what stood in the program: the same answers as simple_switch's; what does not stand there goes the way of the
    rest, as in the program without that case."""
    head, answers = machine_programs.read()
    sent = machine_programs.packets("parse", head["seed"])
    sets = {"labels": 0x8847, "shifted": 0x1000, "peeked": 0x2002}

    def differ(program: dict[str, Any], commands: str, expected: Any = None) -> list[int]:
        read = programs.parse(program, "parse.json")
        made = engine.module("designs/p4_switch/model").Machine(read.dictionary, 1)
        control = Control(read)
        runtime_cli.run(control, machine_programs.COMMANDS.get("parse", "") + commands, "c")
        made.configure(control.dictionary())
        found = []
        for number, packet in enumerate(sent):
            answer = machine_programs.compared("parse", packet, made.process(0, packet, (number + 1) * GAP_US))
            right = answers["parse"][number] if expected is None else expected[number]
            found += [number] if answer != machine_programs.compared("parse", packet, right) else []
        return found

    whole = "pvs_add labels 0x8847\npvs_add Parse.shifted 4096\npvs_add peeked 8194\n"
    assert differ(with_value_sets(sets), whole) == []
    assert differ(with_value_sets(sets), "pvs_add labels 1\npvs_add labels 2\n" + whole + "pvs_remove labels 1\n") == []
    of_labels = [number for number, packet in enumerate(sent) if packet[12:14] == b"\x88\x47"]
    for commands in (whole + "pvs_remove labels 0x8847\n", whole + "pvs_clear labels\n", whole.replace("0x8847", "0x8848")):
        wrong = differ(with_value_sets(sets), commands)
        assert wrong and set(wrong) <= set(of_labels)
    for commands, words in (
        ("pvs_add labels 65536\n", "value set 'Parse.labels': '65536' does not fit into 16 bits"),
        ("pvs_add cows 1\n", "the program has no value set 'cows'"),
        ("pvs_remove labels 7\n", "value set 'Parse.labels' does not have '7'"),
    ):
        with pytest.raises(UserError, match=words):
            differ(with_value_sets(sets), commands)
    with pytest.raises(UserError, match="looks for 16 bits in the value set 'Parse.labels', which is not declared so"):
        programs.parse(with_value_sets(sets, 8), "parse.json")


def test_a_value_of_several_keys() -> None:
    """It has them one behind the other, without padding, whatever their masks."""
    switch = programs.Switch(0, (4, 70, 1), (("s", (), (0xF, (1 << 70) - 1, 0), 5), ("", (1, 2, 1), (1, 2, 1), 6)))
    value = 0xA << 71 | (1 << 69 | 3) << 1 | 1
    low, high = 3, 1 << 5
    full = (1 << 64) - 1
    assert switch.cases({"s": [value]}) == [0xA, low, high, 1, 0xF, full, 0x3F, 0, 5, 1, 2, 0, 1, 1, 2, 0, 1, 6]
    assert switch.cases({}) == [1, 2, 0, 1, 1, 2, 0, 1, 6]


def test_entries_are_modified_and_deleted_by_handle() -> None:
    """Handles are bmv2's (match_units.cpp, handle_mgr.h): the lowest place that is free, and 2^24 more each time that it was free again."""
    added = "".join(f"table_add lpm_table found 10.{n}.0.0/16 => {n + 1}\n" for n in range(4))

    def values(commands: str) -> list[int]:
        _, made = machine("tables", added + commands)
        packets = [bytes([1, 10, n, 0, 0]) + bytes(18) for n in range(4)]
        return [int.from_bytes(made.process(0, packet, 0)[0][1][24:28], "big") for packet in packets]

    none, again = 0xFFFFFFFF, 1 << 24
    assert values("table_modify lpm_table found 2 => 30\n") == [1, 2, 30, 4]
    assert values("table_modify lpm_table nothing 0\ntable_modify lpm_table found 1 20\n") == [none, 20, 3, 4]
    assert values("table_delete lpm_table 1\ntable_delete lpm_table 0x3\n") == [1, none, 3, none]
    deleted = "table_delete lpm_table 1\ntable_delete lpm_table 0\ntable_add lpm_table found 10.1.0.0/16 => 7\n"
    assert values(deleted) == [none, 7, 3, 4]
    assert values(f"{deleted}table_modify lpm_table found {again} => 8\n") == [none, 8, 3, 4]
    assert values(f"{deleted}table_delete lpm_table {again}\n") == [none, none, 3, 4]
    assert values(f"{deleted}table_add lpm_table found 10.0.0.0/16 => 9\ntable_delete lpm_table {again | 1}\n") == [none, 7, 3, 4]
    assert values("table_clear lpm_table\n" + added + "table_delete lpm_table 2\n") == [1, 2, none, 4]  # it begins with 0 again
    for wrong in ("table_delete lpm_table 4", f"{deleted}table_delete lpm_table 0", "table_modify lpm_table found -1 => 1"):
        with pytest.raises(UserError, match="table 'TheIngress.lpm_table' has no entry with the handle (4|0|-1); there are: "):
            values(f"{wrong}\n")
    with pytest.raises(UserError, match="a handle is a whole number, not 'found'"):
        values("table_modify lpm_table found found => 1\n")


def test_a_direct_meter_keeps_its_rates_when_its_entry_is_modified() -> None:
    entries = machine_programs.COMMANDS["state"]
    rates = "meter_set_rates entry_meter 1 0.001:2 0.002:4\n"
    added = [line for line in entries.splitlines() if "direct" in line]
    action = added[1].split()[2]
    parameters = added[1].partition("=>")[2]
    _, made = machine("state", f"{entries}{rates}table_modify direct {action} 1 => {parameters}\n")
    assert colors(made, 9, 2, [0] * 6) == [0, 0, 1, 1, 2, 2]


def test_an_entry_that_is_removed_is_not_found() -> None:
    """And what it hid is found again."""
    read, made = machine("tables", "table_add lpm_table found 10.0.0.0/8 => 1\ntable_add lpm_table found 10.1.0.0/16 => 2\n")
    packet = bytes([1, 10, 1, 0, 0]) + bytes(18)
    values = [int.from_bytes(made.process(0, packet, 0)[0][1][24:28], "big")]
    made.remove_entry(read.tables["TheIngress.lpm_table"].number, 1)
    values.append(int.from_bytes(made.process(0, packet, 0)[0][1][24:28], "big"))
    made.remove_entry(read.tables["TheIngress.lpm_table"].number, 0)
    values.append(int.from_bytes(made.process(0, packet, 0)[0][1][24:28], "big"))
    assert values == [2, 1, 0xFFFFFFFF]
