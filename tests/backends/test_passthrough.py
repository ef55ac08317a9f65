"""Pass-through: a scheduler by name, and nothing else."""

from __future__ import annotations

import pytest

from backends.scene import EMPTY, a_gang, a_pod, a_set, objects
from gangline.api.grove import GangPack
from gangline.operator.backends.contract import CannotTranslate, Facts
from gangline.operator.backends.passthrough import PassthroughBackend


def test_nothing_is_written_and_pods_stay_as_they_are() -> None:
    assert objects(PassthroughBackend(), a_gang()) == []
    assert PassthroughBackend().prepare_pod(a_pod(), a_gang()) == a_pod()


def test_a_required_domain_is_refused_and_a_preferred_one_told_to_be_lost() -> None:
    [problem] = PassthroughBackend().check(
        a_set(topologyConstraint={"topologyName": "t", "pack": {"required": "rack"}}), Facts()
    )
    assert problem.message == "passthrough cannot keep a gang inside one rack"
    with pytest.raises(CannotTranslate, match=r"passthrough cannot keep gang llm-0 inside one example\.com/rack"):
        objects(PassthroughBackend(), a_gang(constraint=GangPack(required="example.com/rack")))
    wish = a_gang(constraint=GangPack(preferred="example.com/rack"))
    assert PassthroughBackend().gang_status(wish, EMPTY).lost == ("gang llm-0 would rather be in one example.com/rack",)
