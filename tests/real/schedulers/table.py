"""THE table of schedulers that backends are proven on.

Each folder beside this file is a Go module of our own whose `tool` lines name upstream's programs; `make schedulers
SCHEDULERS=volcano` builds them."""

from __future__ import annotations

from collections.abc import Mapping

from gangline.api.kinds import KOORDINATOR_QUOTA, VOLCANO_QUEUE
from real.releases import RELEASES, USUAL
from real.schedulers.kueue_install import NAMESPACE as KUEUE_NAMESPACE
from real.schedulers.kueue_install import Kueue
from real.schedulers.scheduler import Program, Scheduler

KUBE_SCHEDULER = (
    "--config={config}",
    "--authentication-kubeconfig={kubeconfig}",
    "--authorization-kubeconfig={kubeconfig}",
    "--authentication-skip-lookup",
    "--secure-port={port}",
    "--bind-address=127.0.0.1",
    "--cert-dir={folder}/certs",
)
"""What a program that is built upon kube-scheduler is told."""
NO_ROOM = "Insufficient nvidia.com/gpu"

SCHEDULERS: Mapping[str, Scheduler] = {
    item.name: item
    for item in (
        *(
            Scheduler(
                "default",
                "kube-scheduler",
                "k8s.io/kubernetes",
                why=NO_ROOM,
                release=release,
                domains=release is not USUAL,
            )
            for release in RELEASES.values()
        ),
        Scheduler(
            "volcano",
            "Volcano",
            "volcano.sh/volcano",
            ("config/crd/*/bases/*.yaml",),
            (
                Program(
                    "volcano-scheduler",
                    (
                        "--kubeconfig={kubeconfig}",
                        "--leader-elect=false",
                        "--scheduler-conf={config}",
                        "--enable-healthz=false",
                        "--enable-metrics=false",
                        "--cache-dumper=false",
                    ),
                ),
                Program(
                    "volcano-controllers",
                    (
                        "--kubeconfig={kubeconfig}",
                        "--leader-elect=false",
                        "--enable-healthz=false",
                        "--enable-metrics=false",
                    ),
                ),
            ),
            namespaces=("volcano-system",),
            makes=((VOLCANO_QUEUE, "default", {"state": "Open"}),),
            why="pod group is not ready, 5 minAvailable, 7 Pending",
        ),
        Scheduler(
            "coscheduling",
            "scheduler-plugins",
            "sigs.k8s.io/scheduler-plugins",
            ("manifests/coscheduling/crd.yaml", "manifests/capacityscheduling/crd.yaml"),
            (
                Program("coscheduling-scheduler", KUBE_SCHEDULER),
                Program(
                    "coscheduling-controller",
                    ("--metricsAddr=127.0.0.1:{port}", "--probeAddr=127.0.0.1:0"),
                    {"KUBECONFIG": "{kubeconfig}"},
                ),
            ),
            why="rejection in",
        ),
        Scheduler(
            "yunikorn",
            "YuniKorn",
            "github.com/apache/yunikorn-k8shim",
            (),
            (Program("yunikorn-scheduler", (), {"KUBECONFIG": "{kubeconfig}", "NAMESPACE": "yunikorn"}),),
            namespaces=("yunikorn",),
            why="request is waiting for cluster resources become available",
        ),
        Scheduler(
            "koordinator",
            "Koordinator",
            "github.com/koordinator-sh/koordinator",
            ("config/crd/bases/*.yaml",),
            (Program("koordinator-scheduler", KUBE_SCHEDULER),),
            namespaces=("koordinator-system",),
            why=NO_ROOM,
            makes=tuple((KOORDINATOR_QUOTA, f"koordinator-{name}-quota", {}) for name in ("root", "system", "default")),
        ),
        Kueue(
            "kueue",
            "Kueue",
            "sigs.k8s.io/kueue",
            ("config/components/crd/bases/*.yaml",),
            (
                Program(
                    "kueue-controller",
                    ("--config={config}", "--feature-gates=VisibilityOnDemand=false"),
                    {"KUBECONFIG": "{kubeconfig}"},
                ),
            ),
            namespaces=(KUEUE_NAMESPACE,),
            mounts=(KUEUE_NAMESPACE, "kueue-webhook-server-cert"),
            why="quota",
            labels={"kueue.x-k8s.io/queue-name": "team"},
        ),
    )
}
