"""The corpus of request scripts, read into the cases that the conformance player plays.

A file of `corpus/` is one area; folders in it hold what only another release of Kubernetes has, `-plain` where no gates
but those it needs are on. A script is a sentence with a list of steps. A step is `VERB path: body`, where the verb may
also be one of `PATCHES`, `~` in a path is the script's own namespace, and further keys (`user`, `headers`, `pick`,
`poll`, `unordered`) go to the player. A name that begins with a dot holds what several scripts of the file repeat.
Pure."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from yaml_loading import load_yaml

CORPUS = Path(__file__).parent / "corpus"
PATCHES = {
    "MERGE": "application/merge-patch+json",
    "JSON": "application/json-patch+json",
    "STRATEGIC": "application/strategic-merge-patch+json",
    "APPLY": "application/apply-patch+yaml",
}
VERBS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", *PATCHES)
Case = dict[str, Any]


def scripts(folder: str = "") -> Iterator[Case]:
    """Every script for the usual release, or those of a folder."""
    for file in sorted((CORPUS / folder).glob("*.yaml")):
        for name, steps in load_yaml(file.read_text()).items():
            if name.startswith("."):
                continue
            area = f"{folder} {file.stem}".strip()
            yield {"area": area, "name": name, "steps": [_step(step) for step in steps]}


def folders() -> list[str]:
    """Of which releases, beyond the usual one, there are scripts, with their gates on or plain."""
    return sorted(item.name for item in CORPUS.iterdir() if item.is_dir())


def title(case: Case) -> str:
    """What a script is called in lists."""
    return f"{case['area']}: {case['name']}"


def _step(written: dict[str, Any]) -> dict[str, Any]:
    if "sleep" in written:
        return written
    if "WATCH" in written:
        path, query = _address(written["WATCH"])
        asked = {key: written[key] for key in ("headers", "user") if key in written}
        return {
            "watch": {"path": path, "query": query, **asked},
            "events": [None] * written.get("events", 0),
            "while": [_step(inner) for inner in written.get("while", [])],
            **{key: value for key, value in written.items() if key in ("until", "sort", "bookmarks")},
        }
    [line] = [key for key in written if key.split(" ")[0] in VERBS]
    request = _request(line, written)
    kept = {key: value for key, value in written.items() if key not in (line, "user", "headers", "token")}
    return {"request": request, **kept}


def _request(line: str, written: dict[str, Any]) -> dict[str, Any]:
    verb, address = line.split(" ", 1)
    path, query = _address(address)
    headers = dict(written.get("headers") or {})
    if verb in PATCHES:
        headers = {"Content-Type": PATCHES[verb], **headers}
    request = {
        "method": "PATCH" if verb in PATCHES else verb,
        "path": path,
        "query": query,
        "headers": headers,
        "body": written[line],
    }
    return request | {key: written[key] for key in ("user", "token") if key in written}


def _address(written: str) -> tuple[str, dict[str, list[str]]]:
    path, _, query = written.replace("/~", "/namespaces/<ns>").partition("?")
    found: dict[str, list[str]] = {}
    for key, value in parse_qsl(query, keep_blank_values=True):
        found.setdefault(key, []).append(value)
    return path, found
