"""What must be equal, and what may differ in words: the recordings' table "What to compare exactly"."""

from __future__ import annotations

import difflib
import json
import re
from typing import Any

from conformance.apiserver.normalise import Normaliser, ages, event_ages, inputs
from conformance.apiserver.paths import pick

Step = dict[str, Any]
_DECODER_CASES = re.compile(r"bad-json-|int-field-string|bool-field-string|int-overflow|yaml-bad|delete-body-garbage")
_GO_STRUCT = re.compile(
    r'Invalid value: (?:\[)?\{"[A-Z]|Duplicate value: \{"[A-Z]|cannot unmarshal|\{[A-Z]\w+:|@@ -\d|"Spec":\{"'
)


def answers(case: dict[str, Any], namespace: str, done: list[Step]) -> list[Step]:
    """The steps of a case with the answers we gave, normalised as the recorded ones are."""
    projected = [_project(step, result, namespace) for step, result in zip(case["steps"], done, strict=True)]
    normaliser = Normaliser(case, namespace)
    for result in projected:
        normaliser.learn(result)
    return [_emit(step, result, normaliser) for step, result in zip(case["steps"], projected, strict=True)]


def _project(step: Step, result: Step, namespace: str) -> Step:
    if "watch" in step:
        inner = zip(step.get("while", []), result.get("while", []), strict=False)
        return {
            **result,
            "while": [_project(asked, got, namespace) for asked, got in inner],
            "events": _events(step, result),
        }
    if "sleep" in step:
        return result
    if "pick" in step:
        result = dict(result)
        if step["pick"]:
            whole = ages(result["body"])
            result["body"] = {path: pick(whole, path.replace("<ns>", namespace)) for path in step["pick"]}
        else:
            result.pop("body", None)
    return unordered(result) if step.get("unordered") else result


def _events(step: Step, result: Step) -> list[Any]:
    """Periodic bookmarks come by the clock: dropped, or joined where a step asks for them. Bookmarks' versions are not
    compared."""
    kept: list[Any] = []
    for event in result.get("events", []):
        if event.get("type") != "BOOKMARK":
            kept.append(event)
            continue
        periodic = "k8s.io/initial-events-end" not in json.dumps(event)
        if periodic and (not step.get("bookmarks") or (kept and kept[-1]["type"] == "BOOKMARK")):
            continue
        about = (event.get("object") or {}).get("metadata") or {}
        if "resourceVersion" in about:
            about["resourceVersion"] = "<rv:bookmark>"
        kept.append(event)
    return kept


def unordered(result: Step) -> Step:
    body = result.get("body")
    if not isinstance(body, dict):
        return result
    body = json.loads(json.dumps(body))
    if body.get("message"):
        body["message"] = "<unordered>"
    causes = (body.get("details") or {}).get("causes")
    if isinstance(causes, list):
        causes.sort(key=lambda cause: json.dumps(cause, sort_keys=True))
    return {**result, "body": body}


def _emit(step: Step, result: Step, normaliser: Normaliser) -> Step:
    found = inputs(step)
    if "sleep" in step:
        return found
    if "watch" in step:
        inner = zip(step.get("while", []), result.get("while", []), strict=False)
        found["while"] = [_emit(asked, got, normaliser) for asked, got in inner]
        if "response" in result:
            found["response"] = normaliser.normal(result["response"])
        else:
            found["events"] = normaliser.normal(result["events"])
            if step.get("sort"):
                found["events"].sort(key=lambda event: json.dumps(event, sort_keys=True))
        if result.get("closed"):
            found["closed"] = True
        return found
    response = normaliser.normal(result)
    if not response.get("headers"):
        response.pop("headers", None)
    if isinstance(response.get("body"), str):
        response["body"] = normaliser.message(response["body"])
    return {**found, "response": response}


def difference(case: dict[str, Any], got: list[Step], full: bool = False) -> str:
    """Empty where a case passes; else what differs, recorded (-) against ours (+)."""
    told = []
    for index, (ours, recorded) in enumerate(zip(got, case["steps"], strict=True)):
        want, have = _settled(case, recorded, ours)
        if want == have:
            continue
        before, after = (
            json.dumps(side, indent=1, sort_keys=True, ensure_ascii=False).split("\n") for side in (want, have)
        )
        lines = [
            line
            for line in difflib.unified_diff(before, after, lineterm="", n=2 if full else 0)
            if line[:3] not in ("---", "+++")
        ]
        lines = lines[:60] if full else [line for line in lines if line[:2] != "@@"][:3]
        told.append(
            f"step {index}:"
            + ("\n    " + "\n    ".join(lines) if full else " " + " ".join(" ".join(lines).split())[:300])
        )
        if not full:
            break
    return "\n  ".join(told)


def _settled(case: dict[str, Any], recorded: Step, ours: Step) -> tuple[Any, Any]:
    area, name = case["area"], case["name"]
    want, have = _without_while(recorded), _without_while(ours)
    inner = [_settled(case, a, b) for a, b in zip(recorded.get("while", []), ours.get("while", []), strict=False)]
    if area == "gc":
        want, have = _outcome(want), _outcome(have)
    elif _texts_are_loose(area, name, want):
        want, have = loosen(want), loosen(have)
    if name == "version":
        want, have = shape(want), shape(have)
    return [want, [pair[0] for pair in inner]], [have, [pair[1] for pair in inner]]


def _without_while(step: Step) -> Step:
    kept = {key: value for key, value in step.items() if key != "while"}
    return {**kept, "events": event_ages(kept["events"])} if kept.get("events") else kept


def _texts_are_loose(area: str, name: str, recorded: Step) -> bool:
    text = json.dumps(recorded.get("response") or {}, ensure_ascii=False).replace('\\"', '"')
    status = (recorded.get("response") or {}).get("status")
    if area == "crud":
        return bool(_DECODER_CASES.search(name) or _GO_STRUCT.search(text))
    if area == "listwatch":
        return name.startswith("label-sel-bad-")
    if area == "patch":
        return (
            name.startswith(("json-", "cr-test-", "cr.json", "media-"))
            or status == 500
            or bool(_GO_STRUCT.search(text))
        )
    if area == "apply":
        return status in (400, 500) or bool(_GO_STRUCT.search(text))
    if area == "crd":
        return "bad-cel-compile-" in name or "cost" in name or bool(_GO_STRUCT.search(text))
    return area in ("pods", "builtins") and bool(_GO_STRUCT.search(text))


def loosen(value: Any) -> Any:
    """Without the words of refusals and warnings."""
    if isinstance(value, list):
        return [loosen(item) for item in value]
    if not isinstance(value, dict):
        return value
    found = {key: loosen(item) for key, item in value.items()}
    if "message" in found and ("code" in found or found.get("kind") == "Status"):
        found["message"] = "<text>"
    for key in ("causes", "details.causes"):
        if isinstance(found.get(key), list):
            found[key] = [{name: part for name, part in cause.items() if name != "message"} for cause in found[key]]
    if "Warning" in found:
        found["Warning"] = len(found["Warning"])
    return found


def _outcome(step: Step) -> Any:
    """Of a case with controllers only what came of it: status codes, and what was picked."""
    response = step.get("response") or {}
    return {"status": response.get("status"), "body": loosen(response.get("body"))}


def shape(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: shape(item) for key, item in value.items()}
    return [shape(item) for item in value] if isinstance(value, list) else type(value).__name__
