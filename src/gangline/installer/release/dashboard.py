"""The dashboard in a cluster: its account with its rights, a Deployment and a Service.

Brought by `gangline install --dashboard` and by the chart's `dashboard.enabled`; no Config speaks of it. Whoever opens
it logs in, with a token unless a proxy stands in front. Pure."""

from __future__ import annotations

from gangline.api import names
from gangline.api.kinds import DEPLOYMENT, SERVICE, SERVICE_ACCOUNT
from gangline.api.meta import Raw
from gangline.installer.config_reader import ConfigReading
from gangline.installer.contract import meta
from gangline.installer.objects.services import LARGE, ServicePort
from gangline.installer.objects.shapes import RunningComponent, deployment, service
from gangline.installer.release.manifests import Manifest, Pairs
from gangline.installer.settings import InstallerSettings

APP, ACCOUNT = "gangline-dashboard", "dashboard"
LISTENS, SERVES = 8080, 80
KEPT = "/var/lib/gangline/dashboard"
"""Where the page keeps what it remembers: as long as its pod stays on its node, or as long as its claim does."""
PAST = "past"
"""The volume that it is kept in."""
GROUP = 10000
"""Who may write to a claim: the user that the image runs as."""
LOGINS = ("token", "proxy", "none")
"""The first is the usual one."""


def dashboard(settings: InstallerSettings, rights: Pairs, login: str = LOGINS[0], claim: str = "") -> list[Manifest]:
    """`rights`: the roles of the component `dashboard` and their bindings; `claim`: a PersistentVolumeClaim of the
    namespace in which the page keeps what it remembers."""
    alone = {"replicaCount": 1, "requireDefaultPodAntiAffinityTerm": False, "compat": []}
    home = ConfigReading({"namespace": names.SYSTEM_NAMESPACE, "global": alone}, settings)
    mounts: tuple[tuple[str, Raw], ...] = ((KEPT, {"name": PAST, **(claimed(claim) if claim else {"emptyDir": {}})}),)
    running = RunningComponent(APP, "dashboard", "dashboard", {}, LARGE, LISTENS, account=ACCOUNT, mounts=mounts)
    body = deployment(home, running)
    pod = body["spec"]["template"]["spec"]
    [container] = pod["containers"]
    if claim:
        pod["securityContext"] = {"fsGroup": GROUP}
    flags = ("--address=0.0.0.0", f"--port={LISTENS}", f"--login={login}", f"--keep={KEPT}")
    container["command"] = ["gangline", "dashboard", *flags]
    return [
        Manifest(SERVICE_ACCOUNT, {"metadata": meta(APP, ACCOUNT, names.SYSTEM_NAMESPACE)}),
        *(Manifest(kind, obj) for kind, obj in rights),
        Manifest(SERVICE, service(home, APP, [ServicePort("http", SERVES, LISTENS)])),
        Manifest(DEPLOYMENT, body),
    ]


def claimed(claim: str) -> Raw:
    """A volume of this claim."""
    return {"persistentVolumeClaim": {"claimName": claim}}
