"""Who may touch what the operator made."""

from __future__ import annotations

from gangline.admission.sets.authorizer import allowed, hooks, ours, warnings
from gangline.api.grove import PodCliqueSet
from gangline.api.meta import Metadata, Raw
from gangline.rules.hooks import HookReview
from gangline.rules.sets import OperatorSettings

SETTINGS = OperatorSettings(authorizer=True, exempt_users=("system:kube-controller-manager",))


class Sets:
    """A reader that knows one set."""

    def __init__(self, **annotations: str) -> None:
        self.annotations = {key.replace("_", "-"): value for key, value in annotations.items()}

    def get(self, kind: object, name: str, namespace: str = "") -> PodCliqueSet | None:
        notes = {f"grove.io/{key}": value for key, value in self.annotations.items()}
        return PodCliqueSet(metadata=Metadata(name="llm", annotations=notes)) if name == "llm" else None


def asked(user: str, operation: str = "UPDATE", part_of: str = "llm") -> HookReview:
    obj: Raw = {
        "metadata": {
            "name": "llm-0-a",
            "labels": {"app.kubernetes.io/managed-by": "grove-operator", "app.kubernetes.io/part-of": part_of},
        }
    }
    return HookReview(operation, obj, obj if operation != "CREATE" else None, "ns", "llm-0-a", user)


def judged(review: HookReview, read: Sets) -> str:
    found = allowed(review, SETTINGS, read)  # type: ignore[arg-type]
    return found.message if found is not None else ""


def test_a_stranger_is_told_whose_it_is_and_how_to_proceed() -> None:
    assert judged(asked("eve"), Sets()) == (
        "llm-0-a belongs to PodCliqueSet llm and is kept by its operator; eve may not update it. Change the set, or "
        "annotate it with "
        "grove.io/disable-managed-resource-protection=true"
    )


def test_the_operator_and_exempt_users_may() -> None:
    assert judged(asked(SETTINGS.operator_user, "DELETE"), Sets()) == ""
    assert judged(asked("system:kube-controller-manager", "CREATE"), Sets()) == ""


def test_a_set_may_give_up_its_protection() -> None:
    assert judged(asked("eve"), Sets(disable_managed_resource_protection="true")) == ""


def test_what_belongs_to_no_set_is_free_with_a_warning() -> None:
    review = asked("eve", part_of="gone")
    assert judged(review, Sets()) == ""
    assert warnings(review, Sets()) == [  # type: ignore[arg-type]
        "llm-0-a carries the operator's label, but its PodCliqueSet gone does not exist"
    ]


def test_objects_of_others_are_not_asked_about_and_nothing_is_while_it_is_off() -> None:
    assert not ours(HookReview("UPDATE", {"metadata": {"labels": {}}}))
    assert hooks(OperatorSettings(), lambda: None) == []
    pods = next(hook for hook in hooks(SETTINGS, lambda: None) if hook.plural == "pods")
    assert pods.operations == ("UPDATE",)


def test_the_components_beside_the_operator_and_the_clusters_controllers_do_their_work() -> None:
    for user in (
        "system:serviceaccount:gangline-system:operator",
        "system:serviceaccount:gangline-system:binder",
        "system:serviceaccount:kube-system:generic-garbage-collector",
        "system:serviceaccount:kube-system:namespace-controller",
        "system:kube-controller-manager",
        "system:kube-scheduler",
        "system:node:n1",
    ):
        assert judged(asked(user, "DELETE"), Sets()) == ""
    for user in (
        "system:serviceaccount:team:operator",
        "system:serviceaccount:gangline-system-2:operator",
        "system:nodes",
    ):
        assert f"{user} may not update it" in judged(asked(user), Sets())
