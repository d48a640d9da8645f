# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""The computer's end of a bridge's serial port: LiteX's client is the judge of what is sent; what goes wrong there is one sentence."""

import json
import random

import pytest
from typer.testing import CliRunner

from penstock.commands import app
from penstock.errors import UserError
from penstock.hardware import bridge_registers, uart_bus
from penstock.hardware import bridge_setting as setting


class Wire:
    """A line that keeps what is written and answers with what it is given."""

    def __init__(self, answer: bytes = b"") -> None:
        self.sent, self.answer = b"", answer

    def write(self, data: bytes) -> int:
        self.sent += bytes(data)
        return len(data)

    def read(self, size: int) -> bytes:
        found, self.answer = self.answer[:size], self.answer[size:]
        return found

    def inWaiting(self) -> int:  # as LiteX calls it
        return 0


def test_commands_are_those_of_litex() -> None:
    from litex.tools.remote.comm_uart import CommUART

    rng = random.Random(4)
    for _ in range(50):
        words = [rng.getrandbits(32) for _ in range(rng.randint(1, 8))]  # LiteX splits more
        address, answer = 4 * rng.randrange(1024), b"".join(word.to_bytes(4, "big") for word in words)
        theirs, ours = CommUART.__new__(CommUART), uart_bus.UartBus(wire := Wire(answer), "wire")
        theirs.port, theirs.debug, theirs.addr_bytes = Wire(answer), False, 4
        theirs.write(address, words)
        ours.write(address, *words)
        assert theirs.read(address, len(words)) == words == ours.read(address, len(words))
        assert theirs.port.sent == wire.sent


def test_no_answer_is_one_sentence() -> None:
    bus = uart_bus.UartBus(Wire(b"PS"), "/dev/ttyUSB1")
    with pytest.raises(UserError, match=r"/dev/ttyUSB1: 2 of 8 bytes came within 1 s; is the bridge loaded"):
        bridge_registers.Bridge(bus)


def test_a_line_that_fails_is_one_sentence() -> None:
    """As pyserial says it when the board is unplugged, in the middle of a command or of an answer."""

    class Unplugged:
        def write(self, data: bytes) -> None:
            if not self.takes:
                raise OSError("write failed")

        def read(self, size: int) -> bytes:
            raise OSError("device reports readiness to read but returned no data")

        takes = False

    line = Unplugged()
    with pytest.raises(UserError, match="^/dev/here: the serial port has failed: write failed; is the board still connected"):
        uart_bus.UartBus(line, "/dev/here").write(0, 1)
    line.takes = True
    with pytest.raises(UserError, match="^/dev/here: the serial port has failed: device reports"):
        uart_bus.UartBus(line, "/dev/here").read(0)


@pytest.mark.parametrize(
    "options, words",
    [
        (["--port", "/dev/none"], "/dev/none: cannot be opened as a serial port"),
        (["--port", "loop://"], "loop://: 6 of 8 bytes came within 1 s"),  # its own command comes back
        (["--port", "loop://", "--build"], "--port does not go together with --build or --load"),
        (["--port", "loop://", "--rates", "50"], "--rates is `50`, must be two numbers"),
    ],
)
def test_bad_input_is_one_sentence(options: list[str], words: str) -> None:
    result = CliRunner().invoke(app, ["board", "versa_ecp5", *options])
    assert result.exit_code != 0 and words in str(result.exception)


class Memory:
    """Registers of a bridge that is quiet: commands 1 and 2 keep settings, counters count their own number."""

    name = "memory"

    def __init__(self, queues: int) -> None:
        self.words = {0: 0x50535403, 4: 0x10000, 8: queues, 12: 64 * queues, 16: 32 * queues, 20: 1536, 24: 62_500_000}
        self.words |= {0x30: 0b101011 & ~8, 0x34: 0, 0x38: 3}
        self.set: dict[tuple[int, int], list[int]] = {}

    def read(self, address: int, words: int = 1) -> list[int]:
        return [self.words.get(address + 4 * place, 0) for place in range(words)]

    def write(self, address: int, *words: int) -> None:
        self.words |= {address + 4 * place: word for place, word in enumerate(words)}
        if address == 0x60:
            key = self.words[0x40], self.words.get(0x44, 0)
            if words[0] == 1:
                self.set[key] = self.read(0x48, 6)
            elif words[0] == 2:
                self.words |= {0x48 + 4 * place: word for place, word in enumerate(self.set.get(key, [1, 0, 0, 0, 0, 1514]))}
            else:
                self.words |= {0x68: self.words[0x64], 0x6C: 1, 0x70: 1000 * self.words[0x40], 0x74: 2}


def test_rates_and_what_is_shown() -> None:
    device = bridge_registers.Bridge(Memory(16))
    device.set_rate(1, 50_000_000)
    device.set_queue(1, 3, setting.UNSHAPED)
    state = device.state()
    json.dumps(state)
    text = bridge_registers.lines(state)
    assert text[0] == "bridge, register map 1.0: 16 shaped queues and 1,024 flow queues in each direction"
    assert text[1:3] == ["  port 0: up, 1 Gbit/s, half duplex", "  port 1: the PHY gives no clock"]
    assert "    queues 0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15: 50 Mbit/s, CoDel" in text
    assert "    queues 3: no rate, no CoDel" in text
    assert state["directions"][1]["counters"]["flow_overflow"] == {"frames": (1 << 32) + 15, "bytes": (2 << 32) + 1000}
    assert abs(state["directions"][1]["queues"][0]["rate_bps"] / 50e6 - 1) < 2**-15
    assert state["directions"][0]["queues"][0]["rate_bps"] is None
    with pytest.raises(UserError, match="a rate is 0.5 Mbit/s, allowed: 1 to 1000"):
        device.set_rate(0, 500_000)
    with pytest.raises(UserError, match="memory: this bridge was built without queues"):
        bridge_registers.Bridge(Memory(0)).set_rate(0, 50_000_000)
