"""docs/guide/install.md is true: its objects can be deployed as they stand, and its commands exist."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

from gangline.cli import group
from gangline.components.installer_parts import installer_parts
from gangline.installer.config_reader import ConfigReading
from gangline.installer.contract import InstallFacts
from gangline.installer.objects.desired import wishes_of_config
from gangline.installer.objects.services import SERVICES
from gangline.installer.objects.shards import wishes_of_shard
from gangline.installer.release.manifests import wanted
from yaml_loading import load_all_yaml

PAGE = (Path(__file__).parents[2] / "docs" / "guide" / "install.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def test_the_objects_of_the_page_are_deployed_without_a_complaint() -> None:
    given: list[Any] = [item for text in blocks("yaml") for item in load_all_yaml(text)]
    config, shards = wanted(given)
    said = ConfigReading(config.obj["spec"])
    answers = [
        wishes_of_config(said, InstallFacts(), installer_parts()),
        *(wishes_of_shard(said, shard.name, shard.obj["spec"], InstallFacts(), installer_parts()) for shard in shards),
    ]
    assert len(answers) == 3 and not [
        text for answer in answers for text in (*answer.problems, *answer.notes, *answer.missing)
    ]


def test_the_commands_of_the_page_exist_with_their_options() -> None:
    lines = [
        shlex.split(line, comments=True)
        for text in blocks("sh")
        for line in text.splitlines()
        if line.startswith("gangline ")
    ]
    assert len(lines) == 3
    for words in lines:
        command = group.get_command(None, words[1])  # type: ignore[arg-type]
        assert command is not None and command.make_context(words[1], words[2:])


def test_the_page_lists_every_service() -> None:
    words = [word for service in SERVICES for word in (service.name, service.section) if word != "workload"]
    assert [word for word in words if f"`{word}`" not in PAGE] == []
