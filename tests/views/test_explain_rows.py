"""The rows of an explanation, before any format writes them."""

from __future__ import annotations

import kubespread
from kubespread.questions.explain.tables import rows_of
from kubespread.views.constraints import ASCII, PRETTY
from tests.builders import Data, hard, node, pod, pods_on, remade, soft


def explained(constraints: list[Data]) -> kubespread.ExplainReport:
    nodes = [node("n0", zone="a", hostname="n0"), node("n1", zone="b", hostname="n1")]
    snapshot = kubespread.Snapshot.from_objects([*nodes, *pods_on({"n0": 2})])
    report = kubespread.explain(snapshot, pod(constraints=constraints))
    return remade(report, nodes=tuple(sorted(report.nodes, key=lambda node: node.name)))


def test_a_row_is_a_nodes_domains_its_arithmetic_and_its_reasons() -> None:
    report = explained([hard(), soft("hostname")])
    rows = rows_of(report, report.nodes)
    assert rows.domains == ("zone",)
    assert [row.domains for row in rows.rows] == [("a",), ("b",)]
    assert [[each.text(ASCII) for each in row.arithmetic] for row in rows.rows] == [
        ["2+1-0=3>1", "2+1-0=3"],
        ["0+1-0=1", "0+1-0=1"],
    ]
    assert [row.why_not for row in rows.rows] == ["A: skew 3 exceeds maxSkew 1", ""]


def test_a_soft_constraint_rejects_nothing() -> None:
    report = explained([soft()])
    assert [[each.rejects for each in row.arithmetic] for row in rows_of(report, report.nodes).rows] == [[False]] * 2


def test_a_node_without_the_label_has_no_arithmetic() -> None:
    report = explained([hard("rack")])
    first = rows_of(report, report.nodes).rows[0]
    assert (first.arithmetic[0].text(ASCII), first.arithmetic[0].text(PRETTY)) == ("<none>", "no label")


def test_the_columns_are_those_of_the_whole_report() -> None:
    report = explained([hard()])
    (row,) = (rows := rows_of(report, report.nodes[:1])).rows
    assert (row.node.name, rows.domains, row.domains, row.scores) == (
        "n0",
        ("zone",),
        ("a",),
        (None,) * len(rows.scores),
    )
    assert "NodeResourcesFit" in rows.scores
