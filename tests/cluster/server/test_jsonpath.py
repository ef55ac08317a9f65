"""Paths of printer columns: what each form reaches, and what happens to one that cannot be read."""

from __future__ import annotations

from typing import Any

import pytest

from gangline.cluster.server.show.jsonpath import MOST_VISITED, BadPath, compile_path
from gangline.cluster.server.show.tables import MOST_TEXT, custom_printer

THING = {
    "metadata": {"name": "thing", "labels": {"example.com/role": "lead"}},
    "spec": {"list": [10, 20, 30], "deep": {"name": "inner"}},
    "status": {
        "conditions": [{"type": "Ready", "status": "False", "count": 3}, {"type": "Up", "status": "True", "count": 7}]
    },
}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (".metadata.name", ["thing"]),
        (r".metadata.labels.example\.com/role", ["lead"]),
        (".metadata.labels['example.com/role']", ["lead"]),
        (".spec.list[0]", [10]),
        (".spec.list[-1]", [30]),
        (".spec.list[7]", []),
        (".spec.list[*]", [10, 20, 30]),
        (".spec.list[-1:]", [30]),
        (".spec.list[0:2]", [10, 20]),
        (".spec.list[::2]", [10, 30]),
        (".spec.list[0,2]", [10, 30]),
        (".spec..name", ["inner"]),
        ('.status.conditions[?(@.type=="Ready")].status', ["False"]),
        (".status.conditions[?(@.type!='Ready')].type", ["Up"]),
        (".status.conditions[?(@.count>3)].type", ["Up"]),
        (".status.conditions[?(@.count<=3)].type", ["Ready"]),
        (".status.conditions[?(@.missing)].type", []),
        (".status.conditions[?(@.count)].type", ["Ready", "Up"]),
        (".status.nothing.there", []),
    ],
)
def test_a_path_finds_what_it_names(path: str, found: list[Any]) -> None:
    assert compile_path(path)(THING) == found


def test_a_path_that_cannot_be_read_says_where() -> None:
    with pytest.raises(BadPath, match=r"cannot be read from '\[oops\]' on"):
        compile_path(".spec[oops]")


def test_a_kind_with_a_column_that_cannot_be_read_is_shown_by_name_and_age() -> None:
    printer = custom_printer(
        {"additionalPrinterColumns": [{"name": "Odd", "type": "string", "jsonPath": ".spec[oops]"}]}
    )
    assert [column.name for column in printer.columns] == ["Name", "Age"]


class Looked(dict[str, Any]):
    """A mapping that counts how often any of them is looked into."""

    times = 0

    def __contains__(self, key: object) -> bool:
        Looked.times += 1
        return super().__contains__(key)


@pytest.mark.parametrize("path", ["..a" * 500, "..a" * 5 + "..zz", "..list[?(@..a..a..zz==1)]"])
def test_a_path_that_comes_by_the_same_values_again_and_again_ends(path: str) -> None:
    chain: Any = Looked(leaves=Looked(), list=[Looked(a=Looked()) for _ in range(1000)])
    for _ in range(90):
        chain = Looked(a=chain, list=[chain])
    Looked.times = 0
    compile_path(path)(chain)
    assert 0 < Looked.times <= MOST_VISITED


def test_ten_thousand_columns_of_one_row_look_at_no_more_and_write_no_more_than_one() -> None:
    paths = [".spec"] * 20 + [".spec..zz"] * 4_990 + [".spec"] * 4_990
    columns = [{"name": f"C{number}", "type": "string", "jsonPath": path} for number, path in enumerate(paths)]
    Looked.times, chain = 0, Looked(a="x" * 5_000, list=[Looked() for _ in range(1000)])
    row = custom_printer({"additionalPrinterColumns": columns}).cells({"metadata": {}, "spec": chain}, 0.0)
    assert len(row) == 10_001 and 0 < Looked.times <= MOST_VISITED
    assert 0 < sum(len(cell) for cell in row if cell) <= MOST_TEXT
