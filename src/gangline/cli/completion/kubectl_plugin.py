"""What may follow on a line that begins with `kubectl gangline`, in the words in which kubectl asks its plugins.

kubectl calls `kubectl_complete-gangline` with the words so far; the last is the one that is being typed, and may be
empty. It wants one choice a line, its meaning after a tab, and last a number that says whether names of files are
choices, too."""

from __future__ import annotations

from collections.abc import Sequence

FILES, NO_FILES, VALUE_FOLLOWS = ":0", ":4", ":6"


def answer(words: Sequence[str]) -> str:
    from click.shell_completion import ShellComplete

    from gangline.cli import group

    *before, typed = words or [""]
    choosable = ShellComplete(group, {}, "kubectl gangline", "").get_completions(list(before), typed)
    choices = [
        f"{item.value}\t{item.help}" if item.help else str(item.value) for item in choosable if item.type == "plain"
    ]
    if choices and all(choice.endswith("=") for choice in choices):
        return "\n".join([*choices, VALUE_FOLLOWS])
    return "\n".join([*choices, NO_FILES if choices or not choosable else FILES])
