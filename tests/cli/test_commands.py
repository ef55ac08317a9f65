"""The command line as a person meets it: help, wrong calls, wrong files. One line each, never a traceback."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from gangline.cli import COMMANDS, main
from gangline.cli.completion.suggestions import did_you_mean
from gangline.cli.manifests import parse
from gangline.errors import BadInput


def call(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """Runs the command line; gives its exit code."""
    monkeypatch.setattr("sys.argv", ["gangline", *arguments])
    try:
        main()
    except SystemExit as stop:
        return int(stop.code or 0)
    return 0


def test_help_lists_every_command_with_its_purpose(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, "--help") == 0
    shown = capsys.readouterr().out
    assert all(name in shown and entry.purpose in shown for name, entry in COMMANDS.items())


@pytest.mark.parametrize("name", list(COMMANDS))
def test_every_command_has_a_help_text(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, name, "--help") == 0
    assert "Usage:" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("upp", "no command 'upp'; did you mean 'up'?\n"),
        ("zzz", "no command 'zzz'; there are: up, demo, examples, simulate"),
    ],
)
def test_an_unknown_command_names_the_one_that_was_meant_or_those_there_are(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], word: str, said: str
) -> None:
    assert call(monkeypatch, word) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("help", "no command 'help'; help is `gangline --help`\n"),
        ("queue help", "no command 'help'; help is `gangline queue --help`\n"),
        ("queue list", "no command 'list'; there is: set\n"),
        ("recording redakt a b", "no command 'redakt'; did you mean 'redact'?\n"),
        ("recording zzz", "no command 'zzz'; there are: info, redact\n"),
    ],
)
def test_an_unknown_word_below_a_command_names_what_was_meant_or_what_there_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: str, said: str
) -> None:
    assert call(monkeypatch, *words.split()) == 2
    assert said in capsys.readouterr().err


def test_an_address_is_no_file_and_the_way_around_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, "apply", "-f", "https://example.com/a.yaml") == 1
    told = "https://example.com/a.yaml is an address, and only files are read: curl -sSL https://example.com/a.yaml | "
    assert told in capsys.readouterr().err


def test_a_text_that_is_no_object_is_called_a_text() -> None:
    with pytest.raises(BadInput, match="expected an object with apiVersion and kind, found text"):
        parse("hello", "a.yaml")


def test_capitals_do_not_hide_what_was_meant() -> None:
    assert did_you_mean("Podgangs", ["pods", "podgangs"]) == "; did you mean 'podgangs'?"
    served = ["PodCliqueSet of grove.io/v1alpha1", "PodClique of grove.io/v1alpha1"]
    assert did_you_mean("PodCliqueSets of grove.io/v1", served) == f"; did you mean {served[0]!r}?"


def test_an_unknown_component_names_those_there_are(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(monkeypatch, "run", "scedule") == 2
    shown = capsys.readouterr().err
    assert "no component 'scedule'; there are: operator, grouper, scheduler," in shown
    assert shown.rstrip().endswith("; did you mean 'scheduler'?")


def test_nothing_is_suggested_that_is_less_than_half_of_what_was_written() -> None:
    assert did_you_mean("nothing", ["ing"]) == "" and did_you_mean("upp", ["up"]) == "; did you mean 'up'?"


def test_without_a_cluster_a_command_says_how_to_get_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GANGLINE_HOME", str(tmp_path / "none"))
    assert call(monkeypatch, "get", "pods") == 1
    assert "start a platform with `gangline up`, or pass --kubeconfig FILE" in capsys.readouterr().err


def test_a_kubeconfig_that_is_none_is_refused_in_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "config"
    file.write_text("clusters: []\ncurrent-context: x\n")
    assert call(monkeypatch, "get", "pods", "--kubeconfig", str(file)) == 1
    assert f"error: {file} has no context 'x'; it has: none" in capsys.readouterr().err


def test_a_server_that_is_not_there_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "config"
    file.write_text("""{current-context: c, contexts: [{name: c, context: {cluster: c}}],
                        clusters: [{name: c, cluster: {server: "http://127.0.0.1:9"}}]}""")
    for words in (("get", "pods"), ("fairshare",), ("whatif", "--drain", "n"), ("explain", "x")):
        assert call(monkeypatch, *words, "--kubeconfig", str(file)) == 1
        told = capsys.readouterr().err
        assert told.startswith("error: no answer from http://127.0.0.1:9") and told.count("\n") <= 2, told


def test_a_missing_file_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(monkeypatch, "apply", "-f", "nowhere.yaml") == 1
    assert "error: there is no file nowhere.yaml" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: [", "a.yaml is not YAML: line 2, column 1: did not find expected node content"),
        (
            "a: &a [x]\nb: &b [" + "*a, " * 999 + "*a]\nc: [" + "*b, " * 99 + "*b]",
            "a.yaml is not YAML: line 3: document contains excessive aliasing",
        ),
        ("[" * 100_000, "a.yaml is not YAML: line 1: exceeded max depth of 100"),
        ("- 1", "a.yaml, document 1: expected an object with apiVersion and kind, found list"),
        ("kind: Pod", "a.yaml, document 1: apiVersion and metadata missing"),
        (
            "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\n---\nkind: Pod\nmetadata: {name: y}",
            "document 2: apiVersion missing",
        ),
        ("apiVersion: v1\nkind: Pod\nmetadata: hi", "a.yaml: metadata of Pod must be a map"),
        ("apiVersion: v1\nkind: List\nitems: [5]", "a.yaml: metadata of 5 must be a map"),
    ],
)
def test_a_broken_manifest_is_refused_with_its_place(text: str, problem: str) -> None:
    with pytest.raises(BadInput, match=problem):
        parse(text, "a.yaml")


def test_a_list_is_taken_apart() -> None:
    assert [
        item["metadata"]["name"]
        for item in parse(
            """
apiVersion: v1
kind: List
items: [{apiVersion: v1, kind: Pod, metadata: {name: a}}, {apiVersion: v1, kind: Pod, metadata: {name: b}}]
""",
            "a.yaml",
        )
    ] == ["a", "b"]


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n---\n"])
def test_an_input_without_objects_is_no_success(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "empty.yaml"
    file.write_text(text)
    assert call(monkeypatch, "apply", "-f", str(file)) == 1
    assert capsys.readouterr().err == f"error: there is no object in {file}\n"


def process(*arguments: str, shell: str = "") -> subprocess.CompletedProcess[str]:
    """A command as a process of its own; `shell` says where its input and output lead."""
    told = [sys.executable, "-c", "from gangline.cli import main; main()", *arguments]
    return subprocess.run(["sh", "-c", f"{shlex.join(told)} {shell}"], check=False, capture_output=True, text=True)


def test_output_that_cannot_be_written_is_one_line() -> None:
    done = process("rights", shell="> /dev/full")
    assert (done.returncode, done.stderr) == (1, "error: No space left on device\n")


def test_a_reader_that_leaves_is_no_error() -> None:
    done = process("rights", shell="| head -n 1")
    assert (done.stdout, done.stderr) == ("apiVersion: v1\n", "")


@pytest.mark.parametrize("arguments", [("apply", "-f", "-"), ("fairshare", "-")])
def test_an_input_that_is_closed_is_said(arguments: tuple[str, ...]) -> None:
    done = process(*arguments, shell="<&-")
    assert (done.returncode, done.stderr) == (1, "error: standard input cannot be read: it is closed\n")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"nodes: [{name: a, count: 2147483647}]", "the nodes file: 2147483647 nodes are too many; at most 20000 can"),
        (b"[" * 100_000, "the nodes file is not YAML: line 1: exceeded max depth of 100"),
        (b"\xff\xfe", "nodes.yaml cannot be read: 'utf-8' codec can't decode byte 0xff"),
    ],
)
def test_a_nodes_file_that_cannot_be_used_is_one_sentence_before_anything_starts(
    content: bytes, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GANGLINE_HOME", str(tmp_path / "home"))
    (tmp_path / "nodes.yaml").write_bytes(content)
    assert call(monkeypatch, "up", "--nodes", str(tmp_path / "nodes.yaml")) == 1
    shown = capsys.readouterr()
    assert shown.out == "" and said in shown.err and shown.err.count("\n") == 1
    assert not (tmp_path / "home").exists()
