"""pst_setting_profiles: who has which profile, judged by what all queues were given; and every cycle, compared with the model."""

import random

import cocotb
import pytest
from cocotb.triggers import FallingEdge

from penstock.engine import engine
from penstock.testing.testkit import parameter, run_module, seed, start


@pytest.mark.parametrize(
    "parameters",
    [
        {"Queues": 16, "Profiles": 4, "Width": 128},
        {"Queues": 40, "Profiles": 32, "Width": 128},
        {"Queues": 12, "Profiles": 4, "Width": 8},
        {"Queues": 300, "Profiles": 256, "Width": 61},
    ],
    ids=lambda parameters: f"{parameters['Profiles']}-of-{parameters['Queues']}",
)
def test_profiles(parameters: dict[str, int]) -> None:
    run_module("settings", "pst_setting_profiles", parameters)


class Bench:
    """Queues that are given settings. What must be follows from `given` alone: what each queue has been given last."""

    def __init__(self, dut) -> None:
        self.dut, self.rng = dut, random.Random(seed())
        dut._log.info(f"PENSTOCK_SEED={seed()}")
        self.queues, self.profiles, self.width = parameter("Queues", 16), parameter("Profiles", 4), parameter("Width", 128)
        self.refused = self.fresh = self.shared = self.longest = 0

    async def start(self) -> None:
        self.dut.s_valid_i.value = self.dut.m_ready_i.value = self.dut.old_i.value = 0
        await start(self.dut)
        await self.clear()

    async def clear(self) -> None:
        """After reset all queues have profile 0, whose word is 0."""
        self.given, self.has, self.word_of = [0] * self.queues, [0] * self.queues, {0: 0}
        self.model, self.cycle = engine.models("settings").SettingProfiles(self.queues, self.profiles, 0, 0), 0
        while not int(self.dut.init_done_o.value):
            await FallingEdge(self.dut.clk_i)

    async def step(self) -> None:
        await FallingEdge(self.dut.clk_i)
        self.cycle += 1
        # Whatever is not asked for may be anything.
        self.dut.old_i.value = self.rng.getrandbits(16) % self.profiles

    async def give(self, queue: int, word: int) -> None:
        """Give a queue settings, and see what becomes of them."""
        dut, model, rng = self.dut, self.model, self.rng
        dut.s_valid_i.value, dut.s_word_i.value = 1, word
        slow, began = rng.random() < 0.3, self.cycle
        while True:
            dut.m_ready_i.value = ready = not slow or rng.random() < 0.2
            await self.settle()
            peeks = model.offer(self.cycle, queue, word >> 64, word & (1 << 64) - 1)
            assert bool(int(dut.m_peek_o.value)) == peeks
            valid, full = bool(int(dut.m_valid_o.value)), bool(int(dut.full_o.value))
            assert (valid, full) == (model.valid(self.cycle), model.full(self.cycle)), self.cycle
            if full or (valid and ready):
                break
            await self.step()
            if peeks:
                dut.old_i.value = self.has[queue]
        in_use = {0, *self.given}
        self.longest = max(self.longest, self.cycle - began)
        if full:
            # One profile stays free, unless the queue gives its own back.
            back = self.given[queue] != 0 and self.given.count(self.given[queue]) == 1
            assert word not in in_use and len(in_use) - back == self.profiles - 1
            model.refused(self.cycle)
            self.refused += 1
        else:
            profile, fresh = int(dut.m_profile_o.value), bool(int(dut.m_fresh_o.value))
            assert (profile, fresh) == (model.profile(), model.fresh())
            assert fresh == (word not in in_use)
            if fresh:
                assert profile not in self.has and profile != 0
                self.word_of[profile] = word
            assert self.word_of[profile] == word
            assert model.profile_of(queue) == self.has[queue]
            model.taken(self.cycle)
            self.has[queue], self.given[queue] = profile, word
            self.fresh += fresh
            self.shared += not fresh
        await self.step()
        dut.s_valid_i.value, dut.m_ready_i.value = 0, rng.random() < 0.5

    async def settle(self) -> None:
        """Let what was set in this half of the cycle come out."""
        await cocotb.triggers.Timer(1, "ns")

    async def quiet(self) -> None:
        """Wait until nothing is under way, and compare how many profiles are in use."""
        for _ in range(10):
            await self.step()
            assert not int(self.dut.m_valid_o.value) and not int(self.dut.full_o.value)
        assert int(self.dut.used_o.value) == len({0, *self.given}) == self.model.used()


@cocotb.test()
async def random_settings(dut) -> None:
    """Few kinds of settings that many queues have, more kinds than there are profiles, and settings of one queue alone."""
    bench = Bench(dut)
    rng = bench.rng
    await bench.start()
    for number in range(2000):
        if number % 100 == 0:
            kinds = [rng.getrandbits(bench.width) for _ in range(rng.choice([2, bench.profiles - 1, bench.profiles, 2 * bench.profiles]))]
            kinds += [kind ^ 1 << rng.randrange(min(bench.width, 12)) for kind in kinds]  # nearly the same, in the same chain or not
            queues = rng.choice([1, 2, bench.queues, bench.queues])
            leaves = rng.choice([0.1, 0.5, 0.8])
        # Queues go back to what they had after reset, so that profiles become free.
        word = 0 if rng.random() < leaves else rng.getrandbits(bench.width) if rng.random() < 0.1 else rng.choice(kinds)
        await bench.give(rng.randrange(queues), word)
        if rng.random() < 0.1:
            await bench.quiet()
    for queue in range(bench.queues):
        await bench.give(queue, 0)
    await bench.quiet()
    assert int(dut.used_o.value) == 1
    assert bench.fresh > 15 and bench.shared > 100 and bench.longest > 5, vars(bench)
    assert bench.refused > 20 or bench.profiles > 4, vars(bench)


@cocotb.test()
async def fills_and_empties(dut) -> None:
    """Every profile is taken, in chains as long as the hash makes them; one more is refused; each comes back."""
    bench = Bench(dut)
    rng = bench.rng
    await bench.start()
    for _ in range(2):
        words = rng.sample(range(1, min(1 << bench.width, 1 << 30)), bench.profiles)
        for queue in range(bench.profiles - 2):
            await bench.give(queue, words[queue])
        await bench.quiet()
        refused = bench.refused
        await bench.give(bench.queues - 1, words[-1])
        assert bench.refused == refused + 1
        await bench.give(0, words[-1])  # a queue that has its profile alone may change it
        await bench.give(bench.queues - 1, words[-1])
        assert bench.refused == refused + 1
        for queue in rng.sample(range(bench.queues), bench.queues):
            await bench.give(queue, 0)
        await bench.quiet()


@cocotb.test()
async def reset_in_mid_setting(dut) -> None:
    """Whatever is under way is forgotten, and all queues have profile 0 again."""
    bench = Bench(dut)
    rng = bench.rng
    await bench.start()
    for _ in range(30):
        for _ in range(rng.randrange(6)):
            await bench.give(rng.randrange(bench.queues), rng.getrandbits(bench.width))
        dut.s_valid_i.value, dut.s_word_i.value, dut.m_ready_i.value = rng.random() < 0.5, rng.getrandbits(bench.width), 0
        for _ in range(rng.randrange(12)):
            await FallingEdge(dut.clk_i)  # what was given last is counted, and may be followed by more settings
        dut.rst_i.value, dut.s_valid_i.value = 1, 0
        await bench.step()
        dut.rst_i.value = 0
        await bench.step()
        await bench.clear()
        await bench.quiet()
