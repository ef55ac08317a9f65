"""Every answer with code 500 is listed, with its reason, in docs/compat.md."""

from __future__ import annotations

from pathlib import Path

import pytest

import gangline

SOURCE = Path(gangline.__file__).parent / "cluster" / "server"
LISTED = (Path(__file__).parents[3] / "docs" / "compat.md").read_text()
WAYS = ("internal(", "internal_failure(", "call_failed(", "failure(500", "failure(\n        500", "Response(500")
KNOWN = {
    "admit/plugins.py",
    "admit/webhook_protocol.py",
    "admit/webhooks.py",
    "convert/converted_shelf.py",
    "convert/webhook_converter.py",
    "other_paths.py",
    "server.py",
    "status.py",
    "verbs/patch_reader.py",
    "verbs/patches.py",
    "verbs/subresources/budgets.py",
    "verbs/subresources/pod_requests.py",
    "verbs/subresources/scale_object.py",
    "verbs/write_checks.py",
    "verbs/writes.py",
}


def test_a_500_is_answered_only_where_the_list_says_so() -> None:
    """A new place belongs into the table of docs/compat.md first."""
    answering = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if any(way in path.read_text() for way in WAYS)
    }
    assert answering == KNOWN


@pytest.mark.parametrize(
    "text",
    [
        "failed calling webhook",
        "what admission made of the object cannot be read",
        "conversion webhook for",
        "a conversion failed",
        "resource name may not be empty",
        "failed to create typed patch object",
        "resourceVersion should not be set on objects to be created",
        "strconv.ParseUint: parsing",
        "target.name: Required value",
        "has more than one PodDisruptionBudget",
        "the spec replicas field",
        "[-]journal failed",
        "the request made the server fail",
    ],
)
def test_the_list_has_the_words_that_the_server_says(text: str) -> None:
    assert text in LISTED
    assert any(text in path.read_text() for path in SOURCE.rglob("*.py"))
