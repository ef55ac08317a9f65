"""THE table of groupers: which one answers for which kind of top owner. Add a family with one file and one line here.

Other packages add theirs through the entry point group `gangline.groupers`; a kind that is built in stays as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from gangline import extend
from gangline.api.meta import Raw
from gangline.grouper.groupers import karta
from gangline.grouper.groupers.base import BUILD, INFERENCE
from gangline.grouper.groupers.contract import Grouper
from gangline.grouper.groupers.default import DefaultGrouper, DeploymentGrouper, PriorityGrouper
from gangline.grouper.groupers.grove import GroveGrouper
from gangline.grouper.groupers.job import AmlJobGrouper, CronJobGrouper, JobGrouper, RunaiJobGrouper
from gangline.grouper.groupers.jobset import JobSetGrouper
from gangline.grouper.groupers.knative import KnativeGrouper
from gangline.grouper.groupers.kubeflow import KubeflowGrouper, MpiGrouper
from gangline.grouper.groupers.lws import LeaderWorkerSetGrouper
from gangline.grouper.groupers.pod import BarePodGrouper
from gangline.grouper.groupers.pytorch import PyTorchGrouper
from gangline.grouper.groupers.ray import RayGrouper
from gangline.grouper.groupers.skip import SkipGrouper
from gangline.grouper.look import GrouperView

DEFAULT: Grouper = DefaultGrouper()
NONE: Mapping[str, type[Grouper]] = {}


def choose(owner: Raw, read: GrouperView) -> Grouper:
    """The grouper for a top owner."""
    native = find(owner["apiVersion"], owner["kind"])
    described = karta.describing(owner, read) if native is None and read.settings.karta else None
    return native or described or DEFAULT


def _choose_below(owner: Raw, read: GrouperView) -> Grouper:
    """The grouper for an owner whose own owner was skipped."""
    if read.settings.manner.below_skipped_exact:
        return exact(owner["apiVersion"], owner["kind"]) or DEFAULT
    return choose(owner, read)


GROUPERS: tuple[Grouper, ...] = (
    DEFAULT,
    PriorityGrouper(("kubeflow.org/v1beta1 Notebook",), BUILD),
    PriorityGrouper(("egx.nvidia.io/v1 SPOTRequest",), INFERENCE),
    DeploymentGrouper(),
    BarePodGrouper(),
    JobGrouper(),
    CronJobGrouper(),
    RunaiJobGrouper(),
    AmlJobGrouper(),
    KubeflowGrouper(("kubeflow.org/v1 TFJob",), "tfReplicaSpecs"),
    KubeflowGrouper(("kubeflow.org/v1 XGBoostJob",), "xgbReplicaSpecs", ("Master", "Worker")),
    KubeflowGrouper(("kubeflow.org/v1 JAXJob",), "jaxReplicaSpecs", ("Worker",)),
    MpiGrouper(),
    PyTorchGrouper(),
    RayGrouper(("ray.io/v1 RayCluster", "ray.io/v1alpha1 RayCluster")),
    RayGrouper(("ray.io/v1 RayJob", "ray.io/v1alpha1 RayJob"), (("status", "rayClusterName"),)),
    RayGrouper(
        ("ray.io/v1 RayService", "ray.io/v1alpha1 RayService"),
        (("status", "activeServiceStatus", "rayClusterName"), ("status", "pendingServiceStatus", "rayClusterName")),
    ),
    KnativeGrouper(),
    LeaderWorkerSetGrouper(),
    JobSetGrouper(),
    GroveGrouper(),
    SkipGrouper(_choose_below),
)


@lru_cache(maxsize=1)
def all_groupers() -> tuple[Grouper, ...]:
    """Those of other packages, and then ours: a kind that is built in stays as it is."""
    return (*(make() for make in extend.table("gangline.groupers", NONE, Grouper).values()), *GROUPERS)


@lru_cache(maxsize=1)
def by_kind() -> dict[str, Grouper]:
    """Every grouper by the kinds it names."""
    return {kind: grouper for grouper in all_groupers() for kind in grouper.kinds}


def exact(api_version: str, kind: str) -> Grouper | None:
    """The grouper that names this very version of a kind."""
    return by_kind().get(f"{api_version} {kind}")


def find(api_version: str, kind: str) -> Grouper | None:
    """The grouper of a kind, by its version or by any."""
    group = api_version.rpartition("/")[0]
    return exact(api_version, kind) or exact(f"{group}/*" if group else "*", kind)
