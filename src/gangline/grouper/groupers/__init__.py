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
from gangline.grouper.groupers.default import Default, Deployment, Usual
from gangline.grouper.groupers.grove import Grove
from gangline.grouper.groupers.job import AmlJob, CronJob, Job, RunaiJob
from gangline.grouper.groupers.jobset import JobSet
from gangline.grouper.groupers.knative import Knative
from gangline.grouper.groupers.kubeflow import Mpi, Replicated
from gangline.grouper.groupers.lws import LeaderWorkerSet
from gangline.grouper.groupers.pod import BarePod
from gangline.grouper.groupers.pytorch import PyTorch
from gangline.grouper.groupers.ray import Ray
from gangline.grouper.groupers.skip import Skip
from gangline.grouper.look import Look

DEFAULT: Grouper = Default()
NONE_BY_NAME: Mapping[str, type[Grouper]] = {}


def choose(owner: Raw, read: Look) -> Grouper:
    """The grouper for a top owner."""
    native = find(owner["apiVersion"], owner["kind"])
    described = karta.describing(owner, read) if native is None and read.settings.karta else None
    return native or described or DEFAULT


def _choose_below(owner: Raw, read: Look) -> Grouper:
    """The grouper for an owner whose own owner was skipped."""
    if read.settings.manner.below_skipped_exact:
        return exact(owner["apiVersion"], owner["kind"]) or DEFAULT
    return choose(owner, read)


GROUPERS: tuple[Grouper, ...] = (
    DEFAULT,
    Usual(("kubeflow.org/v1beta1 Notebook",), BUILD),
    Usual(("egx.nvidia.io/v1 SPOTRequest",), INFERENCE),
    Deployment(),
    BarePod(),
    Job(),
    CronJob(),
    RunaiJob(),
    AmlJob(),
    Replicated(("kubeflow.org/v1 TFJob",), "tfReplicaSpecs"),
    Replicated(("kubeflow.org/v1 XGBoostJob",), "xgbReplicaSpecs", ("Master", "Worker")),
    Replicated(("kubeflow.org/v1 JAXJob",), "jaxReplicaSpecs", ("Worker",)),
    Mpi(),
    PyTorch(),
    Ray(("ray.io/v1 RayCluster", "ray.io/v1alpha1 RayCluster")),
    Ray(("ray.io/v1 RayJob", "ray.io/v1alpha1 RayJob"), (("status", "rayClusterName"),)),
    Ray(("ray.io/v1 RayService", "ray.io/v1alpha1 RayService"),
        (("status", "activeServiceStatus", "rayClusterName"), ("status", "pendingServiceStatus", "rayClusterName"))),
    Knative(),
    LeaderWorkerSet(),
    JobSet(),
    Grove(),
    Skip(_choose_below),
)


@lru_cache(maxsize=1)
def by_kind() -> dict[str, Grouper]:
    """Every grouper by the kinds it names."""
    brought = [make() for make in extend.table("gangline.groupers", NONE_BY_NAME).values()]
    return {kind: grouper for grouper in (*brought, *GROUPERS) for kind in grouper.kinds}


def exact(api_version: str, kind: str) -> Grouper | None:
    """The grouper that names this very version of a kind."""
    return by_kind().get(f"{api_version} {kind}")


def find(api_version: str, kind: str) -> Grouper | None:
    """The grouper of a kind, by its version or by any."""
    group = api_version.rpartition("/")[0]
    return exact(api_version, kind) or exact(f"{group}/*" if group else "*", kind)
