"""Rules of Job: its pods, its completions and indexes, and what may change once it runs.

job_policies.py judges what it does about pods that fail or succeed, cron_jobs.py those that start it.
"""

from __future__ import annotations

from gangline.cluster.kinds.checks import (
    IMMUTABLE,
    Obj,
    Problems,
    domain_path,
    immutable,
    label_selector,
    not_negative,
    one_of,
    selector_matches,
)
from gangline.cluster.kinds.pods.pod_warnings import name_warnings, pod_warnings
from gangline.cluster.kinds.pods.spec_checks import template
from gangline.cluster.kinds.pods.spec_defaults import default_template
from gangline.cluster.kinds.rules import KindRules
from gangline.cluster.kinds.workloads.job_policies import failure_policy, success_policy
from gangline.cluster.kinds.workloads.job_status import job_status
from gangline.errors import Problem
from gangline.rules.values import problems as say

_MOST, _FEW = 100_000, 10_000


def default_job_spec(spec: Obj) -> None:
    default_template(spec.setdefault("template", {}), restart="")
    if spec.get("completions") is None and spec.get("parallelism") is None:
        spec["completions"] = 1
    spec.setdefault("parallelism", 1)
    if spec.get("backoffLimit") is None:
        spec["backoffLimit"] = 2**31 - 1 if spec.get("backoffLimitPerIndex") is not None else 6
    spec.setdefault("completionMode", "NonIndexed")
    spec.setdefault("suspend", False)
    spec.setdefault("manualSelector", False)
    spec.setdefault(
        "podReplacementPolicy", "Failed" if spec.get("podFailurePolicy") is not None else "TerminatingOrFailed"
    )
    default_failure_policy(spec)


def default_failure_policy(spec: Obj) -> None:
    for rule in (spec.get("podFailurePolicy") or {}).get("rules") or []:
        for condition in rule.get("onPodConditions") or []:
            condition["status"] = condition.get("status") or "True"


class JobRules(KindRules):
    generation = True
    has_status = True

    def defaults(self, obj: Obj) -> None:
        spec = obj.setdefault("spec", {})
        default_job_spec(spec)
        labels = (spec["template"].get("metadata") or {}).get("labels")
        if labels and not obj["metadata"].get("labels"):
            obj["metadata"]["labels"] = dict(labels)

    def prepare_create(self, obj: Obj) -> None:
        super().prepare_create(obj)
        if not obj["spec"].get("manualSelector"):
            _own_selector(obj)

    def validate(self, obj: Obj) -> list[Problem]:
        return [*_own_labels(obj), *job_spec(obj["spec"], "spec"), *_selector(obj["spec"])]

    def validate_update(self, new: Obj, old: Obj, subresource: str = "") -> list[Problem]:
        if subresource == "status":
            return job_status(new, old)
        judged_twice = [*job_spec(new["spec"], "spec"), *_selector(new["spec"])]  # as a job, and as a change of one
        return [*_own_labels(new), *judged_twice, *judged_twice, *_unchanged(new["spec"], old["spec"], old)]

    def warnings(self, obj: Obj, old: Obj | None = None) -> list[str]:
        if old is not None and not self.spec_changed(obj, old):
            return []
        name = obj["metadata"].get("name") or ""
        return [*(name_warnings(name) if old is None else ()), *job_warnings(obj["spec"], "spec")]


def job_warnings(spec: Obj, path: str) -> list[str]:
    indexed = spec.get("completionMode") == "Indexed"
    many = indexed and (spec.get("completions") or 0) > 100_000 and (spec.get("parallelism") or 0) > 10_000
    warning = (
        f"{path}: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, "
        "Kubernetes might not be able to track completedIndexes when a big number of indexes fail"
    )
    return [*([warning] if many else ()), *pod_warnings(spec.get("template") or {}, f"{path}.template")]


def _own_selector(obj: Obj) -> None:
    """A job selects its pods by its own uid, and labels them so."""
    uid, name = obj["metadata"].get("uid", ""), obj["metadata"].get("name", "")
    spec = obj["spec"]
    about = spec["template"].setdefault("metadata", {})
    labels = about["labels"] = dict(about.get("labels") or {})
    if not obj["metadata"].get("labels"):
        obj["metadata"]["labels"] = labels
    for label, value in _labels_of(uid, name).items():
        labels.setdefault(label, value)
    selector = dict(spec.get("selector") or {})
    selector["matchLabels"] = {"batch.kubernetes.io/controller-uid": uid, **(selector.get("matchLabels") or {})}
    spec["selector"] = selector


def _labels_of(uid: str, name: str) -> dict[str, str]:
    return {
        "controller-uid": uid,
        "job-name": name,
        "batch.kubernetes.io/controller-uid": uid,
        "batch.kubernetes.io/job-name": name,
    }


def _own_labels(obj: Obj) -> Problems:
    """A job that selects by its uid must have labelled its pods so."""
    spec, about = obj["spec"], obj["metadata"]
    if spec.get("manualSelector") or spec.get("selector") is None:
        return
    path = "spec.template.metadata.labels"
    labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels") or {}
    for label, value in _labels_of(about.get("uid", ""), about.get("name", "")).items():
        if label not in labels:
            yield say.required(f"{path}[{label}]", f"must be '{value}'")
        elif labels[label] != value:
            yield say.invalid(f"{path}[{label}]", labels, f"must be '{value}'")
    if spec["selector"] != {"matchLabels": {"batch.kubernetes.io/controller-uid": about.get("uid")}}:
        yield say.invalid("spec.selector", spec["selector"], "`selector` not auto-generated")


def _selector(spec: Obj) -> Problems:
    selector = spec.get("selector")
    if selector is None:
        yield say.required("spec.selector")
    wrong = [*label_selector(selector, "spec.selector")]
    yield from wrong
    labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels")
    if selector is None or (not wrong and not selector_matches(selector, labels)):
        yield say.invalid("spec.template.metadata.labels", labels, "`selector` does not match template `labels`")


def job_spec(spec: Obj, path: str) -> Problems:
    for name in (
        "parallelism",
        "completions",
        "activeDeadlineSeconds",
        "backoffLimit",
        "ttlSecondsAfterFinished",
        "backoffLimitPerIndex",
    ):
        yield from not_negative(spec.get(name), f"{path}.{name}")
    if spec.get("managedBy") is not None:
        yield from _managed_by(spec["managedBy"], f"{path}.managedBy")
    yield from _completion(spec, path)
    if spec.get("podFailurePolicy") is not None:
        yield from failure_policy(spec, f"{path}.podFailurePolicy")
    if spec.get("successPolicy") is not None:
        yield from success_policy(spec, f"{path}.successPolicy")
    yield from _replacement(spec, path)
    yield from _template(spec, path)


def _template(spec: Obj, path: str) -> Problems:
    about = spec.get("template") or {}
    restart = (about.get("spec") or {}).get("restartPolicy") or ""
    where = f"{path}.template.spec.restartPolicy"
    for problem in template(about, f"{path}.template"):
        if problem.path != where or restart:
            yield problem
    if restart in ("", "Always"):
        yield say.required(where, 'valid values: "OnFailure", "Never"')
    elif restart not in ("OnFailure", "Never"):
        yield say.unsupported(where, restart, ("OnFailure", "Never"))
    elif spec.get("podFailurePolicy") is not None and restart != "Never":
        yield say.invalid(where, restart, 'only "Never" is supported when podFailurePolicy is specified')


def _managed_by(value: str, path: str) -> Problems:
    if not value:
        yield say.required(path)
        return
    yield from domain_path(value, path)
    if len(value) > 63:
        yield say.too_long(path, 63)


def _completion(spec: Obj, path: str) -> Problems:
    mode = spec.get("completionMode")
    if mode is not None and mode not in ("NonIndexed", "Indexed"):
        yield say.unsupported(f"{path}.completionMode", mode, ("NonIndexed", "Indexed"))
    if mode == "Indexed":
        yield from _indexed(spec, path)
    if spec.get("maxFailedIndexes") is not None and spec.get("backoffLimitPerIndex") is None:
        yield say.required(f"{path}.backoffLimitPerIndex", "when maxFailedIndexes is specified")
    for name in ("backoffLimitPerIndex", "maxFailedIndexes"):
        if spec.get(name) is not None and mode != "Indexed":
            yield say.invalid(f"{path}.{name}", spec[name], "requires indexed completion mode")


def _indexed(spec: Obj, path: str) -> Problems:
    completions, parallelism, failed = (
        spec.get("completions"),
        spec.get("parallelism") or 0,
        spec.get("maxFailedIndexes"),
    )
    if completions is None:
        yield say.required(f"{path}.completions", "when completion mode is Indexed")
    if parallelism > _MOST:
        yield say.invalid(
            f"{path}.parallelism", parallelism, f"must be less than or equal to {_MOST} when completion mode is Indexed"
        )
    if completions is not None and failed is not None and failed > completions:
        yield say.invalid(f"{path}.maxFailedIndexes", failed, "must be less than or equal to completions")
    if failed is not None and failed > _MOST:
        yield say.invalid(f"{path}.maxFailedIndexes", failed, f"must be less than or equal to {_MOST}")
    if completions is not None and completions > _MOST and spec.get("backoffLimitPerIndex") is not None:
        yield from _many_indexes(spec, path)


def _many_indexes(spec: Obj, path: str) -> Problems:
    """So many indexes that only few may fail at a time."""
    failed, parallelism = spec.get("maxFailedIndexes"), spec.get("parallelism") or 0
    condition = f"when completions are above {_MOST} and used with backoff limit per index"
    if failed is None:
        yield say.required(f"{path}.maxFailedIndexes", f"must be specified when completions is above {_MOST}")
    elif failed > _FEW:
        yield say.invalid(f"{path}.maxFailedIndexes", failed, f"must be less than or equal to {_FEW} {condition}")
    if parallelism > _FEW:
        yield say.invalid(f"{path}.parallelism", parallelism, f"must be less than or equal to {_FEW} {condition}")


def _replacement(spec: Obj, path: str) -> Problems:
    policy = spec.get("podReplacementPolicy")
    if policy is None:
        return
    if spec.get("podFailurePolicy") is not None:
        yield from one_of(policy, ("Failed",), f"{path}.podReplacementPolicy")
    else:
        yield from one_of(policy, ("Failed", "TerminatingOrFailed"), f"{path}.podReplacementPolicy")


def _unchanged(new: Obj, old: Obj, job: Obj) -> Problems:
    yield from _completions_unchanged(new, old)
    yield from immutable(new.get("selector"), old.get("selector"), "spec.selector")
    if _fixed_template(new, old, job) != _fixed_template(old, old, job):
        yield say.invalid("spec.template", new.get("template"), IMMUTABLE)
    for name in ("completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"):
        yield from immutable(new.get(name), old.get(name), f"spec.{name}")


def _completions_unchanged(new: Obj, old: Obj) -> Problems:
    """An indexed job may grow, together with its parallelism."""
    wanted, before = new.get("completions"), old.get("completions")
    if wanted == before:
        return
    if new.get("completionMode") != "Indexed":
        yield from immutable(wanted, before, "spec.completions")
    elif wanted is not None and before is not None and new.get("parallelism") != wanted:
        yield say.invalid("spec.completions", wanted, "can only be modified in tandem with spec.parallelism")


def _fixed_template(spec: Obj, old: Obj, job: Obj) -> Obj:
    """While a job is suspended and has never started, where its pods may go can still change."""
    about = spec.get("template") or {}
    if not (old.get("suspend") and (job.get("status") or {}).get("startTime") is None):
        return about
    meta = {
        name: value for name, value in (about.get("metadata") or {}).items() if name not in ("labels", "annotations")
    }
    free = ("nodeSelector", "tolerations", "affinity", "schedulingGates")
    pod = {name: value for name, value in (about.get("spec") or {}).items() if name not in free}
    return {"metadata": meta, "spec": pod}
