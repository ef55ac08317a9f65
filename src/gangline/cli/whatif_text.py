"""What `gangline whatif` answers, as people read it and as data; no command of `gangline`. Pure."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from gangline.api.yaml_text import yaml_text
from gangline.cli.terminal import painted
from gangline.rules.values.documents import json_text

if TYPE_CHECKING:
    from gangline.whatif import WhatifAnswer
    from gangline.whatif.compare import GangOutcome

STILL = "still waits"
SHOWN = 6
COUNTED = {"Node": "nodes", "Pod": "pods", "PodGroup": "podgroups", "Queue": "queues"}
MARKS = {
    "starts": ("✓", "green"),
    "waits": ("✗", "red"),
    "starts in part": ("◐", "yellow"),
    "loses its place": ("✗", "red"),
}


def shown(counts: Counter[str], answer: WhatifAnswer, output: str, server: str) -> str:
    if output == "text":
        read = ", ".join(_counted(counts[kind], word) for kind, word in COUNTED.items())
        return "\n".join([f"{read} of {server} read; nothing there is changed", *lines(answer)])
    data = {"read": {word: counts[kind] for kind, word in COUNTED.items()}, **as_data(answer)}
    if output == "json":
        return json_text(data)
    return yaml_text(data, unicode=True).rstrip()


def as_data(answer: WhatifAnswer) -> dict[str, Any]:
    def outcomes(gangs: list[GangOutcome]) -> list[dict[str, Any]]:
        return [{key: value for key, value in asdict(gang).items() if key != "uid"} for gang in gangs]

    return {
        "waits": answer.waits,
        "new": outcomes(answer.new),
        "others": outcomes(answer.others),
        "notJudged": answer.not_judged,
    }


def lines(answer: WhatifAnswer) -> list[str]:
    changes = [line for gang in answer.new for line in _new(gang)]
    changes += [line for gang in answer.others if gang.fate != STILL for line in _other(gang)]
    changes += [f"? {text}" for text in answer.not_judged]
    return [
        *(changes or ["nothing would start or stop"]),
        *_still([gang for gang in answer.others if gang.fate == STILL]),
    ]


def _still(gangs: list[GangOutcome]) -> list[str]:
    """Who waited before and gets nothing of the change, in one line."""
    if not gangs:
        return []
    who = ", ".join(gang.name for gang in gangs[:SHOWN]) + (f" and {len(gangs) - SHOWN} more" if gangs[SHOWN:] else "")
    many = "1 gang still waits" if len(gangs) == 1 else f"{len(gangs)} gangs still wait"
    return [f"{painted('✗', 'red')} {many}: {who}"]


def _new(gang: GangOutcome) -> list[str]:
    mark, colour = MARKS[gang.fate]
    first = f"{painted(mark, colour)} {gang.name} {gang.fate}: {_pods(gang.pods)}{_where(gang)}"
    return [first, *(f"    {line}" for line in gang.why.splitlines())]


def _other(gang: GangOutcome) -> list[str]:
    """What happened to it stands in its line, a verdict below."""
    mark, colour = MARKS.get(gang.fate, ("↷", "yellow"))
    happened, *verdict = gang.why.splitlines() or [""]
    why = f" by {happened}" if happened else ""
    where = _where(gang) if gang.fate in ("starts", "moves") else ""
    first = f"{painted(mark, colour)} {gang.name} {gang.fate}: {_pods(gang.pods)}{where}{why}"
    return [first, *(f"    {line}" for line in verdict)]


def _where(gang: GangOutcome) -> str:
    return f" on {', '.join(f'{node} ({count})' for node, count in gang.nodes.items())}" if gang.nodes else ""


def _pods(count: int) -> str:
    return _counted(count, "pods")


def _counted(count: int, word: str) -> str:
    """`word` is a plural."""
    return f"{count} {word.removesuffix('s') if count == 1 else word}"
