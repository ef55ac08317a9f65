"""The admission steps a kube-apiserver has built in and that must look at other objects: priorities, service accounts,
runtime classes, default tolerations and taints, protection of volumes in use. Each is one function and one line in
`register`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gangline.cluster.server.admit import pod_security as podsecurity
from gangline.cluster.server.admit.chain import CREATE, DELETE, UPDATE, WriteReview
from gangline.cluster.server.core import Core
from gangline.cluster.server.status import forbidden, internal
from gangline.errors import Problem
from gangline.rules.objects.finalizers import with_finalizer
from gangline.rules.volumes import DEFAULT_CLASS

Obj = dict[str, Any]
LOWER = "PreemptLowerPriority"
SYSTEM_CLASSES = {"system-node-critical": 2000001000, "system-cluster-critical": 2000000000}
_SCHEDULING = "scheduling.k8s.io"


class Plugins:
    def __init__(self, core: Core) -> None:
        self._core = core

    def register(self) -> None:
        add, settings = self._core.admission.add, self._core.settings
        if settings.service_account_admission:
            add("", "pods", (CREATE,), mutate=self.service_account, name="ServiceAccount")
        add("", "pods", (CREATE,), mutate=self.priority, name="Priority")
        add("", "pods", (CREATE,), mutate=default_tolerations, name="DefaultTolerationSeconds")
        add("", "pods", (UPDATE,), mutate=other_tolerations, name="DefaultTolerationSeconds", in_place=False)
        add("", "pods", (CREATE,), mutate=self.runtime_class, validate=self.overhead, name="RuntimeClass")
        add("", "pods", (CREATE,), validate=self.pod_security, name="PodSecurity")
        add("", "nodes", (CREATE,), mutate=not_ready_taint, name="TaintNodesByCondition")
        add(
            "",
            "persistentvolumeclaims",
            (CREATE,),
            mutate=protect("kubernetes.io/pvc-protection"),
            name="StorageObjectInUseProtection",
        )
        add(
            "",
            "persistentvolumes",
            (CREATE,),
            mutate=protect("kubernetes.io/pv-protection"),
            name="StorageObjectInUseProtection",
        )
        add("", "persistentvolumeclaims", (CREATE,), mutate=self.storage_class, name="DefaultStorageClass")
        add(_SCHEDULING, "priorityclasses", (CREATE, UPDATE), validate=self.one_default, name="Priority")
        add(_SCHEDULING, "priorityclasses", (DELETE,), validate=system_class_stays, name="Priority")

    def _object(self, group: str, plural: str, name: str, namespace: str = "") -> Obj | None:
        record = self._core.store.get((group, plural), (namespace, name))
        return record.object() if record else None

    def priority(self, review: WriteReview) -> None:
        """A pod's priority is its class's, or the default class's, or zero; nobody states it himself."""
        spec = _spec(review)
        value, policy = established(self._core, review)
        given, given_policy = spec.get("priority"), spec.get("preemptionPolicy")
        if given is not None and given != value:
            raise _refuse(
                review,
                f"the integer value of priority ({given}) must not be provided in pod spec; priority admission "
                f"controller computed {value} from the given PriorityClass name",
            )
        if given_policy and given_policy != policy:
            raise _refuse(
                review,
                f"the string value of PreemptionPolicy ({given_policy}) must not be provided in pod spec; priority "
                f"admission controller computed {policy} from the given PriorityClass name",
            )
        spec["priority"], spec["preemptionPolicy"] = value, policy

    def one_default(self, review: WriteReview) -> Iterable[Problem]:
        obj = review.object or {}
        present = _default_class(self._core) if obj.get("globalDefault") else None
        if present is not None and present["metadata"]["name"] != obj["metadata"]["name"]:
            raise _refuse(
                review,
                f"PriorityClass {present['metadata']['name']} is already marked as default. Only one default can exist",
            )
        return ()

    def runtime_class(self, review: WriteReview) -> None:
        """A pod takes over what its class adds to it, and where its class runs."""
        spec = _spec(review)
        name = spec.get("runtimeClassName")
        if name is None:
            return
        if not name:
            raise internal("resource name may not be empty")
        runtime = self._object("node.k8s.io", "runtimeclasses", name)
        if runtime is None:
            raise _refuse(review, f'pod rejected: RuntimeClass "{name}" not found')
        overhead = (runtime.get("overhead") or {}).get("podFixed")
        if overhead:
            if spec.get("overhead", overhead) != overhead:
                raise _refuse(review, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead")
            spec["overhead"] = overhead
        wanted = runtime.get("scheduling") or {}
        if wanted.get("nodeSelector"):
            spec["nodeSelector"] = _both(review, spec.get("nodeSelector") or {}, wanted["nodeSelector"])
        if wanted.get("tolerations"):
            spec["tolerations"] = [*(spec.get("tolerations") or []), *wanted["tolerations"]]

    def overhead(self, review: WriteReview) -> Iterable[Problem]:
        """Only a class gives a pod overhead."""
        spec = _spec(review)
        runtime = self._object("node.k8s.io", "runtimeclasses", spec.get("runtimeClassName") or "")
        if "overhead" in spec and not ((runtime or {}).get("overhead") or {}).get("podFixed"):
            message = "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"
            raise _refuse(review, message)
        return ()

    def pod_security(self, review: WriteReview) -> Iterable[Problem]:
        """Pods must keep to the standard their namespace asks for."""
        record = self._core.store.get(("", "namespaces"), ("", review.namespace))
        if record is None or not any(key.startswith(podsecurity.PREFIX) for key in record.labels):
            return ()
        warned = podsecurity.violations(record.labels, "warn", _spec(review))
        if warned:
            review.warnings.append(f"would {warned}")
        refused = podsecurity.violations(record.labels, "enforce", _spec(review))
        if refused:
            raise _refuse(review, refused.replace("violate", "violates", 1))
        return ()

    def service_account(self, review: WriteReview) -> None:
        spec = _spec(review)
        name = spec.get("serviceAccountName") or spec.get("serviceAccount") or "default"
        if self._core.store.get(("", "serviceaccounts"), (review.namespace, name)) is None:
            raise _refuse(
                review, f'error looking up service account {review.namespace}/{name}: serviceaccount "{name}" not found'
            )
        spec["serviceAccountName"] = spec["serviceAccount"] = name

    def storage_class(self, review: WriteReview) -> None:
        """A claim that names no class gets the default one, the newest if there are several."""
        spec = _spec(review)
        if spec.get("storageClassName") is not None or "volume.beta.kubernetes.io/storage-class" in (
            (review.object or {}).get("metadata", {}).get("annotations") or {}
        ):
            return
        shelf = self._core.store.shelf(("storage.k8s.io", "storageclasses"))
        objs = [
            obj
            for obj in (record.object() for record in shelf.records.values())
            if (obj["metadata"].get("annotations") or {}).get(DEFAULT_CLASS) == "true"
        ]
        if objs:
            newest = max(objs, key=lambda obj: (obj["metadata"]["creationTimestamp"], obj["metadata"]["name"]))
            spec["storageClassName"] = newest["metadata"]["name"]


def _spec(review: WriteReview) -> Obj:
    obj = review.object or {}
    spec: Obj = obj.setdefault("spec", {})
    return spec


def _both(review: WriteReview, pod: Obj, runtime: Obj) -> Obj:
    """The selectors of a pod and of its class together."""
    for key, value in runtime.items():
        if pod.get(key, value) != value:
            raise _refuse(
                review,
                f"conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value}; "
                f"pod.spec.nodeSelector[{key}] = {pod[key]}",
            )
    return {**pod, **runtime}


def _refuse(review: WriteReview, why: str) -> Exception:
    return forbidden(review.resource.shelf[0], review.resource.plural, review.told_name, why)


_WAITED_FOR = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")


def default_tolerations(review: WriteReview) -> None:
    """Pods bear a node that is not ready or not reachable for five minutes, unless they say otherwise."""
    spec = _spec(review)
    given = spec.get("tolerations") or []
    added = _not_borne(given)
    if added:
        spec["tolerations"] = [*given, *added]


def other_tolerations(review: WriteReview) -> Obj | None:
    """The same for a pod that is given other tolerations."""
    obj = review.object or {}
    given = (obj.get("spec") or {}).get("tolerations") or []
    if ((review.old or {}).get("spec") or {}).get("tolerations") == given:
        return None
    added = _not_borne(given)
    return {**obj, "spec": {**(obj.get("spec") or {}), "tolerations": [*given, *added]}} if added else None


def _not_borne(given: list[Obj]) -> list[Obj]:
    def borne(taint: str) -> bool:
        return any(
            item.get("key") in (taint, None, "") and item.get("effect") in ("NoExecute", None, "") for item in given
        )

    return [
        {"key": taint, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
        for taint in _WAITED_FOR
        if not borne(taint)
    ]


def not_ready_taint(review: WriteReview) -> None:
    spec = _spec(review)
    taint = {"key": _WAITED_FOR[0], "effect": "NoSchedule"}
    given = spec.get("taints") or []
    if not any(item.get("key") == taint["key"] and item.get("effect") == taint["effect"] for item in given):
        spec["taints"] = [*given, taint]


def protect(finalizer: str) -> Any:
    def step(review: WriteReview) -> None:
        assert review.object is not None
        about = review.object["metadata"]
        about["finalizers"] = with_finalizer(about.get("finalizers"), finalizer)

    return step


def system_class_stays(review: WriteReview) -> Iterable[Problem]:
    if review.name in SYSTEM_CLASSES:
        raise _refuse(review, "this is a system priority class and cannot be deleted")
    return ()


def system_classes() -> list[tuple[str, Obj]]:
    texts = {
        "system-node-critical": "Used for system critical pods that must not be moved from their current node.",
        "system-cluster-critical": "Used for system critical pods that must run in the cluster, but can be moved to "
        "another node if "
        "necessary.",
    }
    return [
        (name, {"metadata": {"generation": 1}, "value": value, "description": texts[name], "preemptionPolicy": LOWER})
        for name, value in SYSTEM_CLASSES.items()
    ]


def established(core: Core, review: WriteReview) -> tuple[int, str]:
    """The priority and the preemption policy of a spec's class, or of the default class, which is then written into the
    spec."""
    spec = _spec(review)
    name = spec.get("priorityClassName")
    if name:
        record = core.store.get((_SCHEDULING, "priorityclasses"), ("", name))
        if record is None:
            raise _refuse(review, f"no PriorityClass with name {name} was found")
        priority_class: Obj | None = record.object()
    else:
        priority_class = _default_class(core)
        if priority_class is not None:
            spec["priorityClassName"] = priority_class["metadata"]["name"]
    return (
        (priority_class.get("value", 0), priority_class.get("preemptionPolicy") or LOWER)
        if priority_class
        else (0, LOWER)
    )


def _default_class(core: Core) -> Obj | None:
    shelf = core.store.shelf((_SCHEDULING, "priorityclasses"))
    classes = [record.object() for record in shelf.records.values() if b'"globalDefault":true' in record.body]
    return min(classes, key=lambda obj: int(obj.get("value", 0))) if classes else None
