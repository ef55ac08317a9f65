"""What people read of a verdict calls gangs as they do."""

from __future__ import annotations

from gangline.rules.verdicts import renamed


def test_the_names_of_pod_groups_become_those_that_users_know_and_nothing_else_changes() -> None:
    titles = {"pg-train-7f3a": "train", "pg-llm-0-91": "llm-0"}
    told = (
        "waits: 8 GPUs short\n  would start if   pg-train-7f3a (2 pods) ended\n"
        "              or   pg-llm-0-91 and pg-llm-0-911 gave back 4.5 GPUs"
    )
    assert renamed(told, titles) == told.replace("pg-train-7f3a", "train").replace("pg-llm-0-91 ", "llm-0 ")
