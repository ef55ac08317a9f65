"""How often a process looks for news: at once while little happens, seldom and for many at a time in a crowd."""

from __future__ import annotations

import asyncio
import socket

import pytest

from gangline.component_names import COMPONENT_NAMES
from gangline.runtime.process.looks import OWN_PACE, PER_SECOND, LookCredit, PacedSelector, paced_loop


def test_while_little_happens_each_look_is_taken_at_once() -> None:
    looks, now = LookCredit(0.0, per_second=100.0, most=10.0), 0.0
    for _ in range(1000):
        now += 0.01
        assert looks.wait(now) == 0.0
        looks.spend()


def test_in_a_crowd_looks_come_at_a_steady_pace_once_the_credit_is_spent() -> None:
    looks, now, taken = LookCredit(0.0, per_second=100.0, most=10.0), 0.0, 0
    while now < 1.0:
        now += looks.wait(now) + 1e-6
        looks.spend()
        taken += 1
    assert taken == pytest.approx(110, abs=2)


def test_after_a_rest_there_is_credit_again_but_never_more_than_the_most() -> None:
    looks = LookCredit(0.0, per_second=100.0, most=10.0)
    for _ in range(10):
        looks.spend()
    assert looks.wait(0.0) == pytest.approx(0.01)
    assert looks.wait(3600.0) == 0.0
    for _ in range(10):
        looks.spend()
    assert looks.wait(3600.0) == pytest.approx(0.01)


def test_what_gathered_is_taken_by_one_look() -> None:
    selector, pairs = PacedSelector(), [socket.socketpair() for _ in range(3)]
    for near, _ in pairs:
        selector.register(near, 1)
    for _, far in pairs:
        far.send(b"x")
    assert {key.fileobj for key, _ in selector.select()} == {near for near, _ in pairs}
    selector.close()
    for near, far in pairs:
        near.close()
        far.close()


def test_a_loop_without_credit_runs_what_is_due_and_still_hears_everything() -> None:
    async def talk() -> list[bytes]:
        near, far = socket.socketpair()
        reader, ours = await asyncio.open_connection(sock=near)
        _, writer = await asyncio.open_connection(sock=far)
        heard = []
        for number in range(70):
            writer.write(b"%d\n" % number)
            heard.append(await reader.readline())
        writer.close()
        ours.close()
        return heard

    with asyncio.Runner(loop_factory=paced_loop) as runner:
        assert runner.run(talk()) == [b"%d\n" % number for number in range(70)]


def test_who_only_tells_how_things_stand_looks_less_often_and_every_pace_is_of_a_component() -> None:
    assert set(OWN_PACE) <= set(COMPONENT_NAMES)
    for component, others in (("queue-controller", "binder"), ("podgroup-controller", "scheduler")):
        assert OWN_PACE[component] < OWN_PACE.get(others, PER_SECOND)
