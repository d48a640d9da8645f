# SPDX-License-Identifier: Apache-2.0 WITH SHL-2.1
"""The model of pst_page_admission when long stretches of time pass in which nothing changes."""

import random

import pytest

from penstock.engine import engine
from penstock.testing.testkit import seed

CLASSES, PAGES, BYTES = 3, [24, 16], [256, 2048]
END = 2**52  # the engine's last cycle


def random_run(rng: random.Random, stride: int, quiet: int) -> list[tuple]:
    """Frames, pages that come back and new reservations, with up to `quiet` cycles between them; the model is asked every `stride` cycles
    of those. Returns all that it answered and all that its registers told, in order."""
    model = engine.models("memory").PageAdmission(8, PAGES, BYTES, CLASSES)
    free = [list(range(PAGES[0])), list(range(PAGES[0], sum(PAGES)))]
    held: list[int] = []
    now, told = 10, []
    for _ in range(300):
        step = rng.randrange(1, 4) if rng.random() < 0.7 else rng.randrange(1, quiet)
        for at in range(now, now + step, stride):
            model.advance(at)
        now += step
        what = rng.random()
        if what < 0.5:
            queue, length = rng.randrange(8), rng.choice([60, 256, 257, 2048])
            verdict = model.decide(queue, length, now)
            told.append((now, verdict.size, verdict.no_share))
            if verdict.size >= 0:
                held.append(free[verdict.size].pop())
                model.given(held[-1], queue, verdict.cls)
        elif what < 0.8 and held:
            page = held.pop(rng.randrange(len(held)))
            model.free(page, now)
            free[page >= PAGES[0]].append(page)
        else:
            # Often more than there is: the walk waits for pages that do not come back for long.
            model.set_share(rng.randrange(CLASSES), rng.randrange(2), rng.randrange(16), rng.randrange(14), now)
        now += 8  # past all that is under way
        model.advance(now)
        told.append(tuple(model.free_pages(k) for k in range(2)))
        told.append(tuple((model.used(c, k), model.reserved(c, k)) for c in range(CLASSES) for k in range(2)))
    return told


@pytest.mark.parametrize("number", range(20))
def test_quiet_times_are_passed_over_exactly(number: int) -> None:
    """Whether the model is asked in every cycle, or steps over a quiet time at once, it tells the same."""
    print(f"PENSTOCK_SEED={seed()}")
    once, each = (random_run(random.Random(seed() + number), stride, quiet=200) for stride in (10**6, 1))
    assert once == each
    assert {told[1] for told in once if len(told) == 3} == {-1, 0, 1}  # refused, and pages of both sizes


def test_a_reservation_that_is_not_met_for_weeks() -> None:
    """A class wants more pages than are free: weeks later it gets the first one that comes back, and no time is spent on the weeks."""
    model = engine.models("memory").PageAdmission(8, PAGES, BYTES, CLASSES)
    reserved = PAGES[1] // 8 // CLASSES
    for cls in range(CLASSES):  # nothing is reserved for the others, and class 0 may take all
        model.set_share(cls, 1, 15, 0, 10)
    pages = range(PAGES[0], sum(PAGES))
    for count, page in enumerate(pages):
        assert model.decide(count % 8, 2048, 100 + count).size == 1
        model.given(page, count % 8, 0)
    model.set_share(1, 1, 15, reserved + 3, 200)
    for turn, page in enumerate(pages):
        at = END // len(pages) * turn + 1000
        model.advance(at)
        assert model.free_pages(1) == turn and model.reserved(1, 1) == min(turn, reserved + 3)
        model.free(page, at)
    model.advance(END)
    assert model.free_pages(1) == len(pages) and model.reserved(1, 1) == reserved + 3


def test_the_walk_goes_on_in_quiet_times() -> None:
    """Two classes want more than is free. Which of them gets the page that comes back is a matter of the cycle, in rounds over classes and
    sizes, however long nothing has come back."""
    turns = CLASSES * len(PAGES)
    winners = []
    for quiet in range(100, 100 + 3 * turns):
        model = engine.models("memory").PageAdmission(8, PAGES, BYTES, CLASSES)
        reserved = PAGES[1] // 8 // CLASSES
        for cls in range(CLASSES):
            model.set_share(cls, 1, 15, 0, 10)
        for page in range(PAGES[0], sum(PAGES)):
            assert model.decide(0, 2048, 100 + page).size == 1
            model.given(page, 0, 0)
        for cls in (1, 2):
            model.set_share(cls, 1, 15, reserved + 1, 200)
        model.advance(300)
        model.free(PAGES[0], 300 + quiet)
        model.advance(300 + quiet + 50)
        got = [model.reserved(cls, 1) for cls in (1, 2)]
        assert sorted(got) == [0, 1]
        winners.append(1 + got.index(1))
    assert set(winners) == {1, 2} and winners == 3 * winners[:turns]
