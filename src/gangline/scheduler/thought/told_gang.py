"""What a gang that waits was told, and what of the news is worth telling.

The gang itself hears of a new reason at once, its pods at most every so often, so that a thousand pods behind a busy
cluster do not flood the server. Pure but for what it keeps in mind; loop/teller.py writes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from gangline.api.core import Pod
from gangline.api.meta import condition
from gangline.scheduler.decisions import Refuse
from gangline.scheduler.thought.standings import GangStanding
from gangline.scheduler.why.verdict import Verdict

NOT_PLACED = "Unable to schedule pod"
Members = Callable[[], dict[str, Pod]]
NEVER = float("-inf")


@dataclass(slots=True)
class ToldGang:
    texts: dict[str, str] = field(default_factory=dict)
    """By reason."""
    pods_at: float = NEVER
    """When all its pods were told last."""
    version: int = -1
    """The version of the gang whose pods were told."""
    pods: dict[str, str] = field(default_factory=dict)
    """What each pod was told, by uid."""
    refused: tuple[GangStanding, Refuse] | None = None
    """How it stood when it was refused last."""
    headline: str = ""
    verdict_at: float = NEVER

    def is_news(self, reason: str, text: str) -> bool:
        if self.texts.get(reason) == text:
            return False
        self.texts[reason] = text
        return True

    def is_new_verdict(self, verdict: Verdict, now: float, retell: float) -> bool:
        """A new cause at once, new figures at most every so often."""
        if self.headline == verdict.headline and now - self.verdict_at < retell:
            return False
        self.headline, self.verdict_at = verdict.headline, now
        return True

    def pods_to_tell(
        self, standing: GangStanding, refuse: Refuse, members: Members, now: float, retell: float
    ) -> list[tuple[Pod, str]]:
        """New members at once, all of them when it is time to tell them again."""
        again = now - self.pods_at >= retell
        if not again and self.version == standing.version:
            return []
        pods = {uid: pod for uid, pod in members().items() if not pod.spec.node_name}
        texts = {uid: refuse.tasks.get(uid) or refuse.text or NOT_PLACED for uid in pods}
        news = [
            (pods[uid], text)
            for uid, text in texts.items()
            if self.pods.get(uid) != text and (again or uid not in self.pods)
        ]
        self.pods = texts if again else _with_known(texts, self.pods)
        self.version = standing.version
        self.pods_at = now if again else self.pods_at
        return news

    def not_told(self, pod: Pod) -> None:
        """The write failed: tell it again."""
        self.pods.pop(pod.uid, None)
        self.version = -1


def _with_known(texts: Mapping[str, str], known: Mapping[str, str]) -> dict[str, str]:
    return {uid: known.get(uid, text) for uid, text in texts.items()}


def knows(pod: Pod, text: str) -> bool:
    """Whether the pod's condition says so already."""
    scheduled = condition(pod.status.conditions, "PodScheduled")
    return scheduled is not None and scheduled.status == "False" and scheduled.message == text
