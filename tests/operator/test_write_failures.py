"""How a write that the server refused is named in `status.lastErrors`, and whether a second look is enough."""

from __future__ import annotations

import pytest

from gangline.api.kinds import POD_CLIQUE, ROLE_BINDING
from gangline.errors import ApiError, api_error
from gangline.operator.act import WriteFailure
from gangline.rules.objects.writes import Create, Patch

CREATE = Create(POD_CLIQUE, {"metadata": {"name": "a"}}, code="ERR_CREATE", taken="ERR_TAKEN")
PATCH = Patch(POD_CLIQUE, "a", "default", {}, code="ERR_PATCH")


def refused(code: int, reason: str) -> ApiError:
    return api_error({"kind": "Status", "code": code, "reason": reason, "message": "no"})


TAKEN, MISSING, STALE = refused(409, "AlreadyExists"), refused(404, "NotFound"), refused(409, "Conflict")
FORBIDDEN = refused(403, "Forbidden")


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        (WriteFailure(CREATE, TAKEN), "ERR_TAKEN"),
        (WriteFailure(CREATE, FORBIDDEN), "ERR_CREATE"),
        (WriteFailure(CREATE, STALE), "ERR_CREATE"),
        (WriteFailure(PATCH, STALE), "ERR_PATCH"),
    ],
)
def test_a_name_that_somebody_else_has_gets_a_code_of_its_own(failure: WriteFailure, code: str) -> None:
    assert failure.code == code


@pytest.mark.parametrize(
    ("failure", "stale"),
    [
        (WriteFailure(PATCH, STALE), True),
        (WriteFailure(PATCH, MISSING), True),
        (WriteFailure(CREATE, MISSING), False),
        (WriteFailure(CREATE, TAKEN), False),
        (WriteFailure(PATCH, FORBIDDEN), False),
    ],
)
def test_only_an_old_view_is_mended_by_a_second_look(failure: WriteFailure, stale: bool) -> None:
    assert failure.stale is stale


@pytest.mark.parametrize("plural", ["roles", "rolebindings"])
def test_a_binding_that_came_before_its_role_needs_only_a_second_look(plural: str) -> None:
    binding = Create(ROLE_BINDING, {"metadata": {"name": "grove.io:pcs:llm"}}, code="ERR_SYNC_ROLEBINDING")
    told = f'{plural}.rbac.authorization.k8s.io "grove.io:pcs:llm" not found'
    early = WriteFailure(binding, api_error({"kind": "Status", "code": 404, "reason": "NotFound", "message": told}))
    assert early.stale and "CustomResourceDefinition" not in str(early)
    assert not WriteFailure(binding, MISSING).stale


def test_what_cannot_be_made_for_want_of_its_kind_asks_for_the_definition() -> None:
    assert "is its CustomResourceDefinition installed?" in str(WriteFailure(CREATE, MISSING))
    assert "CustomResourceDefinition" not in str(WriteFailure(PATCH, MISSING))
