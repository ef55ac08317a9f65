"""Texts of a server or a file do not command the terminal, whichever command prints them."""

from __future__ import annotations

import io
import json
import logging
import sys
from pathlib import Path

import pytest

from gangline.cli import main
from gangline.cli.columns import aligned
from gangline.cli.objects.get import written
from gangline.cli.terminal import TerminalText, guarded_output, harmless, painted
from gangline.rules.values.documents import json_text
from gangline.runtime.logs import set_up

EVIL = "\x1b]0;owned\x07\x1b[2J\x9b31mred\rfake\x7f\x00"
SHOWN = "^[]0;owned^G^[[2J\\x9b31mred^Mfake^?^@"


def test_control_characters_are_written_out_and_lines_and_tabs_stay() -> None:
    assert harmless(f"a\tb\n{EVIL}é✓") == f"a\tb\n{SHOWN}é✓"


def test_what_would_show_a_text_in_another_order_is_written_out() -> None:
    assert harmless("a\u202etxt.exe\u2066\u2028b\u200f") == "a\\u202etxt.exe\\u2066\\u2028b\\u200f"


def test_colours_of_our_own_reach_the_terminal_and_those_of_others_do_not() -> None:
    assert harmless(f"{painted('✓', 'green')} \x1b[32m✓\x1b[0m") == "\x1b[32m✓\x1b[0m ^[[32m✓^[[0m"


def test_what_a_terminal_cannot_show_is_written_out_and_ends_no_command() -> None:
    shown = io.BytesIO()
    stream = io.TextIOWrapper(shown, "latin-1")
    assert TerminalText(stream).write("✓ caf\u00e9 \udcff") == 8
    stream.flush()
    assert shown.getvalue() == b"\\u2713 caf\xe9 \\udcff"


def test_an_error_that_quotes_a_file_is_harmless(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    manifest = tmp_path / f"{EVIL[:10]}.yaml"
    manifest.write_text("a: [")
    monkeypatch.setattr(sys, "argv", ["gangline", "apply", "-f", str(manifest)])
    with pytest.raises(SystemExit):
        main()
    told = capsys.readouterr().err
    assert "^[]0;owned^G.yaml" in told and "\x1b" not in told and "\x07" not in told


def test_log_lines_for_people_are_harmless(capsys: pytest.CaptureFixture[str]) -> None:
    before = logging.getLogger().handlers[:], logging.getLogger().level
    try:
        with guarded_output():
            set_up("info", "text")
            logging.getLogger("gangline.x").warning("the server says %s", EVIL)
        assert capsys.readouterr().err.endswith(f"WARNING gangline.x: the server says {SHOWN}\n")
    finally:
        logging.getLogger().handlers[:], logging.getLogger().level = before


@pytest.mark.parametrize("output", ["json", "yaml"])
def test_data_says_the_same_and_has_no_control_characters(output: str) -> None:
    text = written({"message": EVIL}, output)
    assert harmless(text) == text
    if output == "json":
        assert json.loads(text) == {"message": EVIL} == json.loads(json_text({"message": EVIL}))
        assert harmless(json_text({"message": EVIL})) == json_text({"message": EVIL})


def test_a_cell_of_several_lines_is_one_row() -> None:
    assert aligned(["NAME", "WHY"], [["a", "waits\nb   runs"], ["c", "runs\n"]]) == (
        "NAME   WHY\na      waits…\nc      runs"
    )
