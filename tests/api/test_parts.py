"""The spec and the status of an object of any kind are plain data, whether or not we know its type."""

from __future__ import annotations

from gangline.api.builtin import Untyped
from gangline.api.grove import PodClique, PodCliqueSpec, PodCliqueStatus
from gangline.api.meta import Object, spec_of, status_of


def test_a_typed_part_is_given_as_it_is_written() -> None:
    clique = PodClique(spec=PodCliqueSpec(replicas=2), status=PodCliqueStatus(ready_replicas=1))
    assert spec_of(clique)["replicas"] == 2
    assert status_of(clique)["readyReplicas"] == 1


def test_a_part_of_a_kind_that_is_not_known_is_given_as_it_came() -> None:
    foreign = Untyped(spec={"minMember": 3}, status=None)
    assert spec_of(foreign) == {"minMember": 3} and status_of(foreign) == {}


def test_a_kind_without_such_a_part_has_an_empty_one() -> None:
    assert spec_of(Object()) == {} and status_of(Object()) == {}
