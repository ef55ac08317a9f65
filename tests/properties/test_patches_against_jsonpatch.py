"""JSON patch and merge patch, beside the library jsonpatch and the text of RFC 7396."""

from __future__ import annotations

import copy
from functools import partial
from typing import Any

import jsonpatch
import jsonpointer
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gangline.cluster.server.patch.json_patch import PatchFailed, json_patch
from gangline.rules.values.merge_patch import merge_patch
from properties.examples import examples
from properties.oracle import REFUSED, Difference, answer, json_values, meant, names, plain

Operation = dict[str, Any]
REFUSALS = (jsonpatch.JsonPatchException, jsonpointer.JsonPointerException, TypeError)


@st.composite
def pointers(draw: st.DrawFn, document: Any) -> str:
    """A path that mostly leads somewhere."""
    path = ""
    while draw(st.booleans()):
        step = _step(draw, document)
        path += "/" + step.replace("~", "~0").replace("/", "~1")
        document = answer(partial(_below, document, step), KeyError, IndexError, ValueError, TypeError)
    return path


def _step(draw: st.DrawFn, document: Any) -> str:
    known: list[str] = [*document] if isinstance(document, dict) else []
    known += [str(at) for at in range(len(document))] if isinstance(document, list) else []
    odd = names | st.sampled_from(["-", "1", "9", "01", "+1", "1_0", " 1", "-1"])
    return draw(st.sampled_from(known) | odd if known else odd)


def _below(document: Any, step: str) -> Any:
    return document[step] if isinstance(document, dict) else document[int(step)]


@st.composite
def patches(draw: st.DrawFn) -> tuple[Any, list[Operation]]:
    document = draw(json_values)
    operations = []
    for _ in range(draw(st.integers(1, 4))):
        operation: Operation = {
            "op": draw(st.sampled_from(["add", "remove", "replace", "test", "move", "copy"])),
            "path": draw(pointers(document)),
        }
        if operation["op"] in ("move", "copy"):
            operation["from"] = draw(pointers(document))
        elif operation["op"] != "remove":
            operation["value"] = draw(json_values)
        operations.append(operation)
    return document, operations


def _lookup(document: Any, pointer: str) -> Any:
    return answer(lambda: jsonpointer.resolve_pointer(document, pointer), jsonpointer.JsonPointerException, TypeError)


def _parent(document: Any, pointer: str) -> Any:
    return _lookup(document, pointer.rpartition("/")[0]) if pointer else None


def _is_missing_key(document: Any, pointer: str) -> bool:
    parent = _parent(document, pointer)
    return isinstance(parent, dict) and _lookup(document, pointer) == REFUSED


def _goes_into_text(document: Any, operation: Operation) -> bool:
    return any(
        isinstance(_lookup(document, text[:at]), str)
        for text in (operation["path"], operation.get("from", ""))
        for at, letter in enumerate(text)
        if letter == "/"
    )


def _has_index(*forms: str) -> Any:
    return lambda document, operation: any(
        part in forms for text in (operation["path"], operation.get("from", "")) for part in text.split("/")
    )


def _is_of_the_whole(document: Any, operation: Operation) -> bool:
    """What the real server does not do to a whole document."""
    if operation["op"] == "replace":
        return not operation["path"] and not isinstance(operation["value"], dict | list)
    return operation["op"] != "test" and "" in (operation["path"], operation.get("from"))


DIFFERENCES = [
    Difference(
        "the real server adds a key that `replace` does not find",
        lambda document, operation: operation["op"] == "replace" and _is_missing_key(document, operation["path"]),
    ),
    Difference(
        "the real server copies a key that is not there as null",
        lambda document, operation: operation["op"] == "copy" and _is_missing_key(document, operation["from"]),
    ),
    Difference(
        "the real server holds that what is not there equals null",
        lambda document, operation: operation["op"] == "test" and operation["value"] is None,
    ),
    Difference("only `replace` puts a whole document, and only an object or a list", _is_of_the_whole),
    Difference("the real server counts a negative index from the end", _has_index("-1")),
    Difference("the real server reads an index with a sign or with zeros before it", _has_index("+1", "01")),
    Difference("the library looks up letters of a text", _goes_into_text),
    Difference(
        "the library knows the place behind a list's end as a value of its own",
        lambda document, operation: (
            any(
                text.endswith("/-") and isinstance(_parent(document, text), list)
                for text in (operation["path"], operation.get("from", ""))
            )
            and operation["op"] != "add"
        ),
    ),
]


@settings(max_examples=examples(200))
@given(patches())
@example(([None], [{"op": "copy", "path": "/ 1", "from": ""}]))
@example(([*range(20)], [{"op": "remove", "path": "/1_0"}]))
def test_a_json_patch_gives_what_the_library_gives(patch: tuple[Any, list[Operation]]) -> None:
    document, operations = patch
    for operation in operations:
        before = copy.deepcopy(document)
        if meant(DIFFERENCES, document, operation):
            return
        ours = answer(partial(json_patch, document, [operation]), PatchFailed)
        theirs = answer(partial(jsonpatch.apply_patch, before, [operation]), *REFUSALS)
        assert plain(ours) == plain(theirs)
        assert document == before, "a patch does not change what it is given"
        if ours == REFUSED:
            return
        document = ours


@settings(max_examples=150)
@given(json_values, json_values.filter(lambda value: isinstance(value, dict | list)))
def test_a_patch_that_the_library_makes_of_two_documents_leads_from_one_to_the_other(before: Any, after: Any) -> None:
    operations = jsonpatch.make_patch(before, after).patch
    assert plain(json_patch(before, operations)) == plain(after)


def _rfc_7396(target: Any, patch: Any) -> Any:
    """MergePatch of RFC 7396, line by line."""
    if not isinstance(patch, dict):
        return patch
    merged = copy.deepcopy(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            if name in merged:
                del merged[name]
        else:
            merged[name] = _rfc_7396(merged.get(name), value)
    return merged


@settings(max_examples=150)
@given(json_values, json_values)
def test_a_merge_patch_gives_what_the_rfc_says(target: Any, patch: Any) -> None:
    before = copy.deepcopy(target)
    assert plain(merge_patch(target, patch)) == plain(_rfc_7396(target, patch))
    assert target == before, "a patch does not change what it is given"
