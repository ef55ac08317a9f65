"""The shape of the tree in numbers: `python tests/house_numbers.py` prints them, `test_architecture.py` holds those
that are bounds.

Reads source text only; imports nothing of the project.
"""

from __future__ import annotations

import ast
import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
SOURCE = REPOSITORY / "src" / "gangline"
TESTS = REPOSITORY / "tests"
LONG_FILE = 400
LONG_LINE = 120
COMPLEX = 15
MANY_FILES = 15
MIXED = 60
"""So many lines of synchronous functions beside an `async def` are thought that belongs in a file of its own."""
BRANCHES = (
    ast.If,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.ExceptHandler,
    ast.IfExp,
    ast.Assert,
    ast.comprehension,
    ast.match_case,
)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@cache
def trees() -> dict[str, ast.Module]:
    """Every module by its path in the source."""
    return {str(file.relative_to(SOURCE)): ast.parse(file.read_text()) for file in sorted(SOURCE.rglob("*.py"))}


@cache
def walked(tree: ast.Module) -> tuple[ast.AST, ...]:
    """Every node of a module: most questions here look at all of them."""
    return tuple(ast.walk(tree))


def classes_of_one_name(modules: dict[str, ast.Module]) -> dict[str, list[str]]:
    """Public class names that are defined more than once, with their files."""
    files: defaultdict[str, list[str]] = defaultdict(list)
    for name, tree in modules.items():
        for node in walked(tree):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                files[node.name].append(name)
    return {name: where for name, where in sorted(files.items()) if len(where) > 1}


def mixed_files(modules: dict[str, ast.Module]) -> dict[str, tuple[int, int]]:
    """Files that think and act: lines of synchronous functions and of coroutines, where both are many."""
    return {name: lines for name, tree in modules.items() if (lines := _lines_by_colour(tree))[1] and lines[0] >= MIXED}


def _lines_by_colour(tree: ast.Module) -> tuple[int, int]:
    thinks = acts = 0
    for node in _outer_functions(tree):
        lines = (node.end_lineno or node.lineno) - node.lineno + 1
        if isinstance(node, ast.AsyncFunctionDef):
            acts += lines
        else:
            thinks += lines
    return thinks, acts


def _outer_functions(node: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, FUNCTIONS):
            yield child
        else:
            yield from _outer_functions(child)


def complexity(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """McCabe's count: one, and one more for each branch; `and` and `or` count for each further value."""
    count = 1
    for node in ast.walk(function):
        if isinstance(node, BRANCHES):
            count += 1
        elif isinstance(node, ast.BoolOp):
            count += len(node.values) - 1
    return count


def complex_functions(modules: dict[str, ast.Module]) -> dict[str, int]:
    return {
        f"{name}:{node.name}": count
        for name, tree in modules.items()
        for node in walked(tree)
        if isinstance(node, FUNCTIONS) and (count := complexity(node)) > COMPLEX
    }


def nested_ternaries(modules: dict[str, ast.Module]) -> list[str]:
    return [
        f"{name}:{node.lineno}"
        for name, tree in modules.items()
        for node in walked(tree)
        if isinstance(node, ast.IfExp) and any(isinstance(part, ast.IfExp) for part in (node.body, node.orelse))
    ]


def found_by_a_string(modules: dict[str, ast.Module]) -> list[str]:
    """`getattr` and `hasattr` with a name that is written out: a member that no type checker sees."""
    return [
        f"{name}:{node.lineno}"
        for name, tree in modules.items()
        for node in walked(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("getattr", "hasattr")
        and len(node.args) > 1
        and isinstance(node.args[1], ast.Constant)
    ]


TABLES = ("api/tables/core.py", "cluster/server/wire/protobuf/fields.py")
"""Tables of facts, one line per type: they may be long."""
WIDE_TABLES = ("cluster/server/wire/protobuf/fields.py",)
"""Of these, the ones whose rows may be wider than other lines."""
TABLE_FOLDERS = ("api/tables",)
"""One file per API group, all alike: a reader need not tell them apart."""


def long_files() -> dict[str, int]:
    sizes = {str(file.relative_to(SOURCE)): len(file.read_text().splitlines()) for file in sorted(SOURCE.rglob("*.py"))}
    return {name: size for name, size in sizes.items() if size > LONG_FILE and name not in TABLES}


def full_folders() -> dict[str, int]:
    counts = Counter(
        str(file.parent.relative_to(SOURCE)) for file in SOURCE.rglob("*.py") if file.name != "__init__.py"
    )
    return {
        folder: count for folder, count in sorted(counts.items()) if count > MANY_FILES and folder not in TABLE_FOLDERS
    }


def long_lines() -> list[str]:
    return [
        f"{name}:{number}"
        for file in sorted(SOURCE.rglob("*.py"))
        if (name := str(file.relative_to(SOURCE))) not in WIDE_TABLES
        for number, line in enumerate(file.read_text().splitlines(), 1)
        if len(line) > LONG_LINE
    ]


VAGUE = ("each", "found", "it", "said", "one")


def vague_names(modules: dict[str, ast.Module]) -> dict[str, int]:
    """Locals and arguments that do not say what they hold."""
    nodes = [node for tree in modules.values() for node in walked(tree) if isinstance(node, ast.Name | ast.arg)]
    counts = Counter(node.id if isinstance(node, ast.Name) else node.arg for node in nodes)
    return {name: counts[name] for name in VAGUE if counts[name]}


def tests_by_source() -> dict[str, float]:
    """Lines of tests for each line of source: of everything, and of the rooms whose tests stand in a folder of the same
    name. Journeys, truth, faults, fuzz and properties ask several rooms at once and count only in the first."""
    rooms = [folder.name for folder in sorted(SOURCE.iterdir()) if (folder / "__init__.py").exists()]
    rooms += [f"cluster/{part}" for part in ("schema", "server", "world")]
    ratios = {room: _lines(TESTS / room) / _lines(SOURCE / room) for room in sorted(rooms) if (TESTS / room).is_dir()}
    everything = {"everything": _lines(TESTS) / _lines(SOURCE)}
    return {room: round(ratio, 2) for room, ratio in (everything | ratios).items()}


def _lines(folder: Path) -> int:
    return sum(len(file.read_text().splitlines()) for file in folder.rglob("*.py"))


def numbers() -> dict[str, object]:
    modules = trees()
    return {
        "files": len(modules),
        "classes of one name": {name: len(where) for name, where in classes_of_one_name(modules).items()},
        "files that think and act": {name: list(lines) for name, lines in mixed_files(modules).items()},
        "functions over complexity 15": complex_functions(modules),
        "files over 400 lines": long_files(),
        "folders over 15 files": full_folders(),
        "lines over 120 columns": long_lines(),
        "nested ternaries": nested_ternaries(modules),
        "members found by a string": found_by_a_string(modules),
        "vague names": vague_names(modules),
        "lines of tests per line of source": tests_by_source(),
    }


if __name__ == "__main__":
    for title, value in numbers().items():
        size = f"{len(value)}: " if isinstance(value, dict | list) else ""
        print(f"{title}: {size}{json.dumps(value, ensure_ascii=False)}")
