"""Answers and remedies as `gangline explain` prints them: text, JSON and YAML.

Last in an answer's journey, after answers.py. Writes to no terminal.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from gangline.api.yaml_text import yaml_text
from gangline.errors import BadInput
from gangline.rules.values.documents import json_text
from gangline.rules.verdicts import GangAnswer

if TYPE_CHECKING:
    from gangline.why.changes import Remedy

MARK = re.compile(r"^# gangline: (patch|new|replace)$", re.MULTILINE)
"""How a printed change is meant; above each document."""
HOW = "how"
LISTED = re.compile(r'\A\{\s*"apiVersion": "v1",\s*"kind": "List",\s*"how": \[([^\]]*)\]')
"""The same of a remedy as JSON; before its items."""


OWN = ("and behind that: ", "would start if ", "or ", "next try ")
"""How the lines begin that differ between pods of one Deployment: each counts on those before it in the queue."""
NAMED = 6
"""Workloads of the same answer that are named, at most."""


def printed(answers: Sequence[GangAnswer], output: str) -> str:
    data = [answer.data for answer in answers]
    if output == "json":
        return json_text(data)
    if output == "yaml":
        return yaml_text(data, unicode=True).rstrip()
    lines = [line for alike in _alike(answers) for line in _lines(alike)]
    return "\n".join(lines) or "nothing waits"


def _alike(answers: Sequence[GangAnswer]) -> list[list[GangAnswer]]:
    """Answers on pods and gangs that say the same but for the name and for what would start them, as those on the pods
    of one Deployment do; in the order in which the first of each came."""
    groups: dict[tuple[str, ...], list[GangAnswer]] = {}
    for answer in answers:
        kind, name = str(answer.data.get("kind")), str(answer.data["gang"])
        why = (line for line in answer.text.splitlines() if not line.lstrip().startswith(OWN))
        same_lines = (*why, answer.starts, answer.evicted, *answer.failed)
        alone = "" if kind in ("pod", "gang") else name
        key = (kind, alone, str(answer.data.get("namespace")), *(line.replace(name, "") for line in same_lines))
        groups.setdefault(key, []).append(answer)
    return list(groups.values())


def _lines(alike: Sequence[GangAnswer]) -> Iterator[str]:
    """The first of them in full, the others by name."""
    first, others = alike[0], [str(answer.data["gang"]) for answer in alike[1:]]
    yield from (line for line in (first.text, first.starts, first.evicted, *first.failed) if line)
    if others:
        rest = f" and {len(others) - NAMED} more" if len(others) > NAMED else ""
        yield f"and {len(others)} more like it: {', '.join(others[:NAMED])}{rest}"


def printed_fix(answers: Sequence[tuple[GangAnswer, Sequence[Remedy]]], number: int, output: str) -> str:
    """The N-th remedy of the first workload that has one."""
    with_remedies = [(answer, remedies) for answer, remedies in answers if remedies]
    if not with_remedies:
        raise BadInput(
            "no change is known that would start it: " + "; ".join(answer.text.splitlines()[0] for answer, _ in answers)
        )
    answer, remedies = with_remedies[0]
    if number > len(remedies):
        raise BadInput(
            f"there {'is 1 remedy' if len(remedies) == 1 else f'are {len(remedies)} remedies'}, not {number}"
        )
    remedy = remedies[number - 1]
    if output == "text":
        return f"{answer.data['remedies'][number - 1]['text']}\n"
    if output == "json":
        how = [change.how for change in remedy.changes]
        return json_text({"apiVersion": "v1", "kind": "List", HOW: how, "items": remedy.documents()}) + "\n"
    head = [f"# {answer.data['gang']} would start if {answer.data['remedies'][number - 1]['text']}", *_hints(remedy)]
    documents = [f"# gangline: {change.how}\n{yaml_text(change.document(), unicode=True)}" for change in remedy.changes]
    return "\n".join(head) + "\n" + "---\n".join(documents)


def marks(text: str) -> list[str]:
    """How each document of a printed remedy is to be applied; empty for any other text."""
    listed = LISTED.search(text)
    return re.findall(r'"(patch|new|replace)"', listed[1]) if listed else MARK.findall(text)


def _hints(remedy: Remedy) -> list[str]:
    """How each kind of change is applied."""
    ways = {change.how for change in remedy.changes}
    texts = {
        "patch": "# objects that exist are merge patches: kubectl patch KIND NAME --type merge --patch-file "
        "(kubectl apply would take away what a patch does not name)",
        "new": "# objects that do not exist are new: kubectl create -f",
        "replace": "# made anew in place of itself: kubectl replace --force -f",
    }
    hints = [texts[way] for way in ("patch", "new", "replace") if way in ways]
    return ["# gangline apply -f - does all of this as it is meant; with kubectl:", *hints]
