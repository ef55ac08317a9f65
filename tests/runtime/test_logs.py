"""Lines of a log: what a machine finds in them."""

from __future__ import annotations

import json
import logging

from gangline.runtime.logs import JsonLines


def line(**fields: object) -> dict[str, str]:
    record = logging.LogRecord("gangline.scheduler", logging.INFO, "", 0, "%s placed", ("a",), None)
    record.__dict__.update(fields)
    read: dict[str, str] = json.loads(JsonLines().format(record))
    return {name: value for name, value in read.items() if name != "time"}


def test_a_line_says_who_writes_it_and_how_grave_it_is() -> None:
    assert line() == {"level": "info", "logger": "gangline.scheduler", "message": "a placed"}


def test_a_line_about_a_gang_has_the_gang_and_its_queue_in_fields_of_their_own() -> None:
    shown = line(gang="default/a", queue="team", action="reclaim", colour="blue")
    assert (shown["gang"], shown["queue"], shown["action"]) == ("default/a", "team", "reclaim")
    assert "colour" not in shown
