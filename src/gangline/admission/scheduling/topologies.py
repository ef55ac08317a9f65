"""Topologies on their way in: a level's alias must name one level only. Pure."""

from __future__ import annotations

from gangline.rules.hooks import Denied, HookReview


def problem(review: HookReview) -> Denied | None:
    if review.same_spec:
        return None
    levels = (review.obj.get("spec") or {}).get("levels") or []
    aliases = [level["alias"] for level in levels if level.get("alias")]
    labels = {level.get("nodeLabel") for level in levels}
    doubled = sorted({alias for alias in aliases if aliases.count(alias) > 1})
    taken = sorted({alias for alias in aliases if alias in labels})
    causes = [f"used for several levels: {', '.join(doubled)}"] if doubled else []
    causes += [f"also the node label of a level: {', '.join(taken)}"] if taken else []
    return Denied(f"each alias must name one level of the topology; {'; '.join(causes)}") if causes else None
