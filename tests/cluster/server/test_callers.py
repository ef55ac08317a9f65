"""Who holds connections: how many one address may have, who makes way, and what is logged of it."""

from __future__ import annotations

import logging

import pytest

from gangline.cluster.server.wire.connection_limits import Callers


class Caller:
    def __init__(self, address: str) -> None:
        self.address = address
        self.gone = False

    def abort(self) -> None:
        self.gone = True


def crowd(callers: Callers, address: str, count: int) -> list[Caller]:
    found = [Caller(address) for _ in range(count)]
    assert all(callers.enter(item) for item in found)
    return found


def test_over_the_limit_the_one_that_was_silent_the_longest_makes_way() -> None:
    callers = Callers(3, 100, lambda: 0.0)
    first, second, third = crowd(callers, "10.0.0.1", 3)
    callers.spoke(first)
    crowd(callers, "10.0.0.1", 1)
    assert (first.gone, second.gone, third.gone) == (False, True, False)


def test_when_all_have_asked_something_a_new_one_is_turned_away() -> None:
    callers = Callers(2, 100, lambda: 0.0)
    for item in crowd(callers, "10.0.0.1", 2):
        callers.spoke(item)
    assert not callers.enter(Caller("10.0.0.1"))
    assert callers.enter(Caller("10.0.0.2")), "others are not concerned"


def test_who_leaves_makes_room_once() -> None:
    callers = Callers(1, 100, lambda: 0.0)
    [one] = crowd(callers, "10.0.0.1", 1)
    callers.spoke(one)
    stranger = Caller("10.0.0.1")
    assert not callers.enter(stranger)
    callers.leave(stranger)
    assert not callers.enter(Caller("10.0.0.1")), "one who never entered makes no room"
    callers.leave(one)
    callers.leave(one)
    [another] = crowd(callers, "10.0.0.1", 1)
    callers.spoke(another)
    assert not callers.enter(Caller("10.0.0.1"))


def test_over_the_limit_for_all_the_address_with_the_most_silent_ones_loses_one() -> None:
    callers = Callers(10, 5, lambda: 0.0)
    quiet, few = crowd(callers, "10.0.0.9", 3), crowd(callers, "10.0.0.1", 2)
    crowd(callers, "10.0.0.2", 1)
    assert [item.gone for item in quiet] == [True, False, False] and not any(item.gone for item in few)


def test_it_is_logged_once_a_minute_whatever_happens(caplog: pytest.LogCaptureFixture) -> None:
    now = 0.0
    callers = Callers(1, 100, lambda: now)
    with caplog.at_level(logging.WARNING):
        crowd(callers, "10.0.0.1", 500)
        now = 61.0
        crowd(callers, "10.0.0.1", 1)
    first, second = (record.getMessage() for record in caplog.records)
    assert first == (
        "10.0.0.1 has 1 connections to the API server, as many as one address may have (--connections-per-address): "
        "a connection that asked nothing makes way, or the new one is turned away"
    )
    assert second.endswith("; this happened 499 times since the last such line")


def test_a_process_that_holds_all_it_can_says_what_to_raise(caplog: pytest.LogCaptureFixture) -> None:
    callers = Callers(10, 1, lambda: 0.0)
    crowd(callers, "10.0.0.1", 1)
    crowd(callers, "10.0.0.2", 1)
    assert caplog.messages == [
        "the API server has 1 connections, as many as this process can hold (ulimit -n): "
        "a connection that asked nothing makes way, or the new one is turned away"
    ]
