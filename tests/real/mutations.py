"""Cases made from cases: a request is asked with another verb, query, header, path or body than the one that was
written down, so that two servers can be compared on requests that nobody thought of.

`Pool` knows what all cases say, so that what is exchanged is often something that a server understands.
`mutated` makes one case of another; the same random numbers make the same case. Pure; mutation_search.py asks."""

from __future__ import annotations

import copy
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any

import yaml

from real.scripts import PATCHES, Case

Step = dict[str, Any]
PAUSE = 2.5
"""Seconds that the real server takes at most to serve a new definition."""
VERBS = ("GET", "PUT", "POST", "PATCH", "DELETE", "HEAD", "OPTIONS")
TABLES: dict[str, Any] = yaml.safe_load((Path(__file__).parent / "mutations.yaml").read_text())
VALUES, QUERIES, METADATA = TABLES["values"], TABLES["queries"], TABLES["metadata"]
CONTENT_TYPES = (*TABLES["content types"], *PATCHES.values())


class Pool:
    """What a lot of cases say: bodies, and values by the name of their field."""

    def __init__(self, cases: Sequence[Case]) -> None:
        self.values: dict[str, list[Any]] = defaultdict(list)
        self.steps: dict[str, list[Step]] = defaultdict(list)
        for case in cases:
            for step in _asking(case["steps"]):
                self.steps[case["area"]].append(step)
                for key, value in _fields(step["request"].get("body")):
                    self.values[key].append(value)


def _fields(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield key, item
            yield from _fields(item)
    elif isinstance(value, list):
        for item in value:
            yield from _fields(item)


def _asking(steps: list[Step]) -> list[Step]:
    """The steps that are requests, those within watches too."""
    found = [step for step in steps if "request" in step]
    for step in steps:
        found += _asking(step.get("while", []))
    return found


def mutated(case: Case, pool: Pool, random: Random) -> Case:
    steps = [_bare(step) for step in copy.deepcopy(case["steps"])]
    made = {"area": case["area"], "name": f"mutated {case['name']}", "steps": steps}
    asked = _asking(steps)
    if not asked:
        return made
    for _ in range(random.choice((1, 1, 1, 2, 2, 3))):
        step = random.choice(asked)
        step.pop("poll", None)
        random.choice(CHANGES)(step, pool, random)
    if random.random() < 0.3:
        _splice(made, pool, random)
    if random.random() < 0.5:
        _look(made, random)
    for step in _asking(steps):
        if step["request"]["method"] == "DELETE" and _is_of_all(step["request"]["path"]):
            step["request"]["method"] = "GET"
    made["steps"] = [item for step in steps for item in _with_pause(step)]
    return made


def _is_of_all(path: str) -> bool:
    """Of objects that other cases have, too."""
    return "<ns>" not in path


def _with_pause(step: Step) -> list[Step]:
    """The real server takes its time with a new definition."""
    request = step.get("request", {})
    defines = request.get("method") == "POST" and request["path"].endswith("/customresourcedefinitions")
    return [step, {"sleep": PAUSE}] if defines and not request.get("query") else [step]


def _bare(step: Step) -> Step:
    """Without the answer that was recorded; nothing is waited for long, and watches end by themselves."""
    kept = {key: value for key, value in step.items() if key not in ("response", "events", "closed")}
    if "poll" in kept:
        kept["poll"] = {**kept["poll"], "timeout": 5}
    if "watch" in kept:
        query = kept["watch"].get("query") or {}
        kept["watch"]["query"] = {**query, "timeoutSeconds": "2"}
        kept |= {"until": "close", "events": [], "while": [_bare(inner) for inner in kept.get("while", [])]}
    return kept


def _query(step: Step, pool: Pool, random: Random) -> None:
    request = step["request"]
    query = dict(request.get("query") or {})
    if query and random.random() < 0.2:
        del query[random.choice(list(query))]
    else:
        name = random.choice(list(QUERIES))
        query[name] = random.choice(QUERIES[name])
        if random.random() < 0.1:
            query[name] = [query[name], random.choice(QUERIES[name])]
    request["query"] = query


def _accept(step: Step, pool: Pool, random: Random) -> None:
    step.pop("pick", None)
    step["request"]["headers"] = {**(step["request"].get("headers") or {}), "Accept": random.choice(TABLES["accepts"])}


def _content(step: Step, pool: Pool, random: Random) -> None:
    step["request"]["headers"] = {
        **(step["request"].get("headers") or {}),
        "Content-Type": random.choice(CONTENT_TYPES),
    }


def _verb(step: Step, pool: Pool, random: Random) -> None:
    request = step["request"]
    step.pop("pick", None)
    request["method"] = random.choice(VERBS)
    if request["method"] == "PATCH" and random.random() < 0.9:
        request["headers"] = {**(request.get("headers") or {}), "Content-Type": random.choice(list(PATCHES.values()))}


def _path(step: Step, pool: Pool, random: Random) -> None:
    request = step["request"]
    parts = request["path"].split("/")
    step.pop("pick", None)
    way = random.random()
    if way < 0.35:
        request["path"] += random.choice(TABLES["endings"])
    elif way < 0.6:
        request["path"] += "/" + random.choice(TABLES["names"])
    elif way < 0.75:
        parts[random.randrange(1, len(parts))] = random.choice(("x", "v2", "V1", "", *TABLES["names"]))
        request["path"] = "/".join(parts)
    elif way < 0.9 and len(parts) > 3:
        del parts[random.randrange(2, len(parts))]
        request["path"] = "/".join(parts)
    else:
        request["path"] = request["path"].replace("<ns>", random.choice(("missing", "kube-system", "A", "default")))


def _body(step: Step, pool: Pool, random: Random) -> None:
    request = step["request"]
    body = request.get("body")
    if not isinstance(body, dict | list):
        request["body"] = _text(body, random)
        return
    request["body"] = _changed(body, pool, random)


def _text(body: Any, random: Random) -> Any:
    text = body if isinstance(body, str) else "{}"
    at = random.randrange(len(text) + 1)
    broken = (text[:at], text[:at] + random.choice('{}[]",:\n\t#&*!') + text[at:])
    if random.random() < 0.2:
        return random.choice(broken)
    return _chosen({"one of": "texts"}, random)


def _changed(body: Any, pool: Pool, random: Random) -> Any:
    places = list(_places(body))
    if not places:
        return random.choice(VALUES)
    holder, key = random.choice(places)
    way = random.random()
    if way < 0.2:
        del holder[key]
    elif way < 0.5:
        holder[key] = random.choice(VALUES)
    elif way < 0.75 and isinstance(key, str) and pool.values.get(key):
        holder[key] = copy.deepcopy(random.choice(pool.values[key]))
    elif way < 0.85 and isinstance(holder, dict):
        name = random.choice(
            ("bogus", str(key).upper(), str(key).capitalize(), f" {key}", random.choice(list(pool.values)))
        )
        holder[name] = copy.deepcopy(random.choice(pool.values.get(name) or VALUES))
    elif isinstance(holder, list):
        holder.insert(random.randrange(len(holder) + 1), copy.deepcopy(random.choice([holder[key], *VALUES])))
    elif isinstance(holder[key], list):
        holder[key] = [*holder[key], *copy.deepcopy(holder[key])]
    else:
        holder[key] = [holder[key]]
    return body


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in list(pairs):
        yield value, key
        yield from _places(item)


def _metadata(step: Step, pool: Pool, random: Random) -> None:
    body = step["request"].get("body")
    if not isinstance(body, dict):
        return _body(step, pool, random)
    about = body.get("metadata")
    field = random.choice(list(METADATA))
    body["metadata"] = {**(about if isinstance(about, dict) else {}), field: random.choice(METADATA[field])}


def _user(step: Step, pool: Pool, random: Random) -> None:
    step["request"]["user"] = random.choice(TABLES["users"])


def _duplicate(step: Step, pool: Pool, random: Random) -> None:
    """A body with a key twice, as text."""
    body = step["request"].get("body")
    if isinstance(body, dict) and body:
        key = random.choice(list(body))
        step["request"]["body"] = json.dumps(body)[:-1] + f", {json.dumps(key)}: {json.dumps(body[key])}" + "}"


def _patch(step: Step, pool: Pool, random: Random) -> None:
    """A patch of any kind, in place of a request for a named object."""
    request = step["request"]
    if request["path"].count("/") < 4 or request["method"] == "POST":
        return _query(step, pool, random)
    step.pop("pick", None)
    kind, body = _chosen(random.choice(TABLES["patches"]), random)
    request["method"], request["body"] = "PATCH", body
    request["headers"] = {**(request.get("headers") or {}), "Content-Type": PATCHES[kind]}


def _chosen(value: Any, random: Random) -> Any:
    """A body with one of what may stand in each place."""
    if isinstance(value, dict) and list(value) == ["one of"]:
        choices = value["one of"]
        return copy.deepcopy(random.choice(TABLES[choices] if isinstance(choices, str) else choices))
    if isinstance(value, dict):
        return {key: _chosen(item, random) for key, item in value.items()}
    return [_chosen(item, random) for item in value] if isinstance(value, list) else value


CHANGES: Sequence[Callable[[Step, Pool, Random], None]] = (
    *[_query] * 3,
    *[_body] * 5,
    *[_metadata, _patch] * 2,
    _accept,
    _content,
    _verb,
    _path,
    _user,
    _duplicate,
)
"""Those that stand here more often are made more often."""


def _splice(case: Case, pool: Pool, random: Random) -> None:
    """A request of another case in between, or one of its own again."""
    asked = _asking(case["steps"])
    step = copy.deepcopy(random.choice(asked if random.random() < 0.5 else pool.steps[case["area"]]))
    step = _bare(step)
    if "{{steps" in json.dumps(step) or "{{steps" in json.dumps(case["steps"]):
        case["steps"].append(step)
    else:
        case["steps"].insert(random.randrange(len(case["steps"]) + 1), step)


def _look(case: Case, random: Random) -> None:
    """The object or list of a request is looked at in the end."""
    request = random.choice(_asking(case["steps"]))["request"]
    case["steps"].append({"request": {"method": "GET", "path": request["path"]}})
