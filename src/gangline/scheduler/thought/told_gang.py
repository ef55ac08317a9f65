"""What was written on a gang that waits, and what of a new state is worth a write.

The gang itself gets a new reason at once. Its pods get it at most every so often: soon where few pods wait, later where
many do, so that a thousand pods behind a busy cluster do not flood the server. Pure but for what it keeps in mind;
loop/teller.py writes.
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
SOON, PER_POD = 2.0, 0.05
"""Seconds before pods get a new reason: at least, and for each pod that waits, up to the longest that is set."""


def pause_before_retelling(pods: int, longest: float) -> float:
    """Seconds before the pods of a gang get a new reason, where so many pods wait in all."""
    return min(longest, max(SOON, pods * PER_POD))


@dataclass(slots=True)
class ToldGang:
    texts: dict[str, str] = field(default_factory=dict)
    """By reason."""
    pods_at: float = NEVER
    """When all its pods got their condition last."""
    version: int = -1
    """The version of the gang at that time."""
    pods: dict[str, str] = field(default_factory=dict)
    """The text that each pod got, by uid."""
    reason: tuple[str, Mapping[str, str]] = ("", {})
    """The refusal that its pods got last."""
    due: float | None = None
    """When its pods get the reason that they do not have yet."""
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
        again, reason = now - self.pods_at >= retell, (refuse.text, refuse.tasks)
        self.due = self.pods_at + retell if not again and reason != self.reason else None
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
        self.pods_at, self.reason = (now, reason) if again else (self.pods_at, self.reason)
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
