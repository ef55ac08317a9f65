"""What is filled in of a PodCliqueSet that leaves it open. Plain data in, plain data out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy

from gangline.admission.sets.parts import cliques_of, template_of
from gangline.api.meta import Raw
from gangline.api.notation import Type
from gangline.config import NATIVE, Manner
from gangline.errors import Problem
from gangline.rules.hooks import Denied, HookReview, denied
from gangline.rules.objects.typed import TypedReading, go_duration

LONE_CLIQUE = "main"
"""What the only clique of a set is called that has no name."""


def defaulted(review: HookReview, manner: Manner = NATIVE) -> Raw | Denied:
    """The set with everything filled in that it leaves open. Where no minimum may be zero, a clique of 0 pods becomes
    one of 1.

    Where anything is filled in, the whole set is written as its types say. A set that leaves nothing open stays as the
    user wrote it; one without scaling groups always leaves these open."""
    if review.same_spec:
        return dict(review.obj)
    spec = _read(review.obj)
    if isinstance(spec, Denied):
        return spec
    as_given = deepcopy(spec)
    for made, given in zip(spec["template"].get("cliques") or (), cliques_of(review.obj), strict=True):
        _fill_replicas(made["spec"], (given or {}).get("spec") or {}, manner.zero_minimum_refused)
    if not manner.lone_clique_unnamed_refused:
        _name_lone_clique(spec["template"].get("cliques") or ())
    _fill(spec)
    if spec == as_given and template_of(review.obj).get("podCliqueScalingGroups") is not None:
        return dict(review.obj)
    return denied(list(_no_list(spec)), 422, "Invalid") or review.obj | {"spec": spec}


def _read(obj: Raw) -> Raw | Denied:
    """The spec as its types say, with its termination delay in Go's notation; a refusal where it cannot be read."""
    reading = TypedReading(keep_empty=True)
    spec: Raw = reading.read(Type("struct", "PodCliqueSetSpec", "grove"), obj.get("spec") or {}, "spec")
    delay = spec["template"].get("terminationDelay") if isinstance(spec.get("template"), dict) else None
    if isinstance(delay, str) and go_duration(delay) is None:
        reading.problems.append(
            Problem(
                "spec.template.terminationDelay",
                f"{delay!r} is not a duration",
                value=delay,
                hint="write for example 90s, 30m or 4h",
            )
        )
    if reading.problems:
        return Denied("; ".join(map(str, reading.problems)), tuple(reading.problems), 400, "BadRequest")
    if delay is not None:
        spec["template"]["terminationDelay"] = go_duration(delay)
    return spec


def _name_lone_clique(cliques: Sequence[Raw]) -> None:
    """The only clique of a set needs no name to be told from others."""
    if len(cliques) == 1 and not cliques[0].get("name"):
        cliques[0]["name"] = LONE_CLIQUE


def _fill_replicas(spec: Raw, given: Raw, one_at_least: bool) -> None:
    if "replicas" not in given and not one_at_least:
        spec["replicas"] = 1
    _fill_clique(spec, may_be_empty="replicas" in given and not one_at_least)


def _no_list(spec: Raw) -> Iterator[Problem]:
    """A list that must be written and was not given comes out as none, which no schema takes."""
    for index, resource_claim_template in enumerate(spec["template"].get("resourceClaimTemplates") or ()):
        if resource_claim_template["templateSpec"]["spec"]["devices"].get("requests") is None:
            yield Problem(
                f"spec.template.resourceClaimTemplates[{index}].templateSpec.spec.devices.requests",
                "must be a list",
                "FieldValueTypeInvalid",
            )


def _fill(spec: Raw) -> None:
    template = spec["template"]
    for group in template.get("podCliqueScalingGroups") or ():
        scale = group.get("scaleConfig")
        if scale is not None and scale.get("minReplicas") is None:
            scale["minReplicas"] = group.get("replicas", 1)
    template.setdefault("terminationDelay", "4h0m0s")
    template.setdefault("headlessServiceConfig", {"publishNotReadyAddresses": True})


def _fill_clique(spec: Raw, *, may_be_empty: bool) -> None:
    """Only who says 0 gets a clique without pods, and only where no minimum asks for one."""
    pod, replicas = spec["podSpec"], spec.get("replicas", 0)
    empty = may_be_empty and not spec.get("minAvailable")
    if not pod.get("restartPolicy"):
        pod["restartPolicy"] = "Always"
    pod.setdefault("terminationGracePeriodSeconds", 30)
    if spec.get("minAvailable") is None:
        spec["minAvailable"] = replicas
    scaling = spec.get("autoScalingConfig")
    if scaling is not None and scaling.get("minReplicas") is None:
        scaling["minReplicas"] = replicas
    spec["replicas"] = replicas or (0 if empty else 1)
