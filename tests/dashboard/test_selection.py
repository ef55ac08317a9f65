"""Gangs as chosen: an address says which are shown and in which order, and what it cannot mean does no harm."""

from __future__ import annotations

import pytest

from dashboard.seen import Given, eviction, group, look, node, pod, queue, verdict
from gangline.dashboard.model import GangsPage
from gangline.dashboard.pages import GANGS, gangs_page, page
from gangline.dashboard.views import document


def owned(given: Given, user: str) -> Given:
    given[1]["metadata"]["labels"] = {"user": user}
    return given


OBJECTS = (
    node("n", 8),
    queue("company"),
    queue("search", "company"),
    queue("maps", "company"),
    owned(group("a", 1, "search", priorityClassName="train"), "ann"),
    pod("a-0", "a", 2, on="n"),
    owned(group("b", 1, "maps", priorityClassName="build"), "bob"),
    pod("b-0", "b", 6),
    group("c", 1, "search", priorityClassName="build"),
    pod("c-0", "c", 4),
)


def chosen(**query: str) -> GangsPage:
    return gangs_page(look(*OBJECTS), query)


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ({"queue": "search"}, ["c", "a"]),
        ({"queue": "company"}, ["b", "c", "a"]),
        ({"state": "waiting"}, ["b", "c"]),
        ({"user": "ann"}, ["a"]),
        ({"priority": "build", "queue": "maps"}, ["b"]),
        ({"namespace": "work"}, ["b", "c", "a"]),
        ({"namespace": "elsewhere"}, []),
        ({"q": "B"}, ["b"]),
        ({"sort": "gpus"}, ["a", "c", "b"]),
        ({"sort": "-gpus"}, ["b", "c", "a"]),
        ({"sort": "name"}, ["a", "b", "c"]),
        ({"sort": "__class__"}, ["b", "c", "a"]),
    ],
)
def test_an_address_says_which_gangs_are_shown_and_in_which_order(query: dict[str, str], names: list[str]) -> None:
    assert [line.name for line in chosen(**query).gangs.rows] == names


@pytest.mark.parametrize("sort", ["name", "gpus", "-gpus", "-priority", "queue"])
def test_equals_come_in_the_order_of_their_numbers_whichever_way_round(sort: str) -> None:
    gangs = (item for n in (10, 9, 1) for item in (group(f"g-{n}", 1, "search"), pod(f"g-{n}-0", f"g-{n}", 1)))
    page = gangs_page(look(*gangs), {"sort": sort})
    assert [line.name for line in page.gangs.rows] == ["g-1", "g-9", "g-10"]


def test_what_may_be_chosen_is_what_there_is() -> None:
    there = chosen().options
    assert (there.queues, there.users, there.priorities) == (
        ("company", "maps", "search"),
        ("ann", "bob"),
        ("build", "train"),
    )


def test_a_heading_sorts_and_keeps_the_rest_of_the_choice() -> None:
    text = document(chosen(queue="search", sort="gpus"))
    assert 'href="?queue=search&amp;sort=-gpus"' in text and 'href="?queue=search&amp;sort=name"' in text


def test_a_word_that_no_gang_knows_is_shown_as_it_was_asked_for() -> None:
    text = document(chosen(user="<b>"))
    assert "No gang is like this." in text and '<option value="&lt;b&gt;" selected>&lt;b&gt;</option>' in text


def test_the_next_rows_are_of_the_same_choice() -> None:
    many = [group(f"g-{number}", 1, "search") for number in range(GANGS + 1)]
    text = document(gangs_page(look(queue("search"), *many), {"queue": "search"}))
    assert f'href="?queue=search&amp;sort=state&amp;gangs={GANGS}#gangs"' in text


def test_every_row_says_how_its_gang_stands_and_an_evicted_one_what_it_lacks_now() -> None:
    why = verdict("lost", "8 GPUs short")
    given = look(
        group("runs", 2),
        pod("runs-0", "runs", 8, on="n"),
        pod("runs-1", "runs", 8, on="m"),
        group("lost", 1, why=why),
        pod("lost-0", "lost", 8),
        eviction("lost", "reclaim", "runs"),
    )
    text = document(page(given, ["gangs"], {}))
    assert "2 of 2 pods running on 2 nodes" in text
    assert text.count("evicted</span>") == 1 and "now: 8 GPUs short" in text
