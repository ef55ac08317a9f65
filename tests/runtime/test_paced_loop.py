"""How often the loop of a process wakes up: at once while little happens, at a fixed rate under load."""

from __future__ import annotations

import asyncio
import socket

import pytest

from gangline.component_names import COMPONENT_NAMES
from gangline.runtime.process.paced_loop import OWN_PACE, PER_SECOND, PacedSelector, WakeUpCredit, paced_loop


def test_while_little_happens_the_loop_wakes_up_at_once() -> None:
    credit, now = WakeUpCredit(0.0, per_second=100.0, most=10.0), 0.0
    for _ in range(1000):
        now += 0.01
        assert credit.wait(now) == 0.0
        credit.spend()


def test_under_load_the_loop_wakes_up_at_a_fixed_rate_once_the_credit_is_spent() -> None:
    credit, now, wake_ups = WakeUpCredit(0.0, per_second=100.0, most=10.0), 0.0, 0
    while now < 1.0:
        now += credit.wait(now) + 1e-6
        credit.spend()
        wake_ups += 1
    assert wake_ups == pytest.approx(110, abs=2)


def test_after_a_rest_there_is_credit_again_but_never_more_than_the_most() -> None:
    credit = WakeUpCredit(0.0, per_second=100.0, most=10.0)
    for _ in range(10):
        credit.spend()
    assert credit.wait(0.0) == pytest.approx(0.01)
    assert credit.wait(3600.0) == 0.0
    for _ in range(10):
        credit.spend()
    assert credit.wait(3600.0) == pytest.approx(0.01)


def test_one_wake_up_finds_everything_that_came_meanwhile() -> None:
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


def test_components_that_only_report_wake_up_less_often_and_every_rate_is_of_a_component() -> None:
    assert set(OWN_PACE) <= set(COMPONENT_NAMES)
    for component, others in (("queue-controller", "binder"), ("podgroup-controller", "scheduler")):
        assert OWN_PACE[component] < OWN_PACE.get(others, PER_SECOND)
