"""The rows of an explanation, before any format writes them."""

from __future__ import annotations

import pytest

import kubespread
from kubespread.questions.explain.tables import rows_of
from kubespread.views import terminal
from kubespread.views.constraints import ASCII, PRETTY
from kubespread.views.look import Look
from tests.builders import Data, hard, node, pod, pods_on, remade, soft, taint


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


GPU = taint("nvidia.com/gpu", value="present")
SPOT = taint("spot", value="true")
FULL = "node(s) had untolerated taint(s) (taint nvidia.com/gpu=present:NoSchedule)"
NAMED = "taint nvidia.com/gpu=present:NoSchedule"
TAINTS: dict[str, tuple[list[Data], str, int, list[str]]] = {
    "with room for kube-scheduler's words": ([GPU], "1", 120, ["WHY NOT", FULL]),
    "with room for the taint": ([GPU], "1", 66, ["WHY NOT", NAMED]),
    "with room for the taint, but not for the numbers of the rest": ([GPU], "99", 66, ["WHY NOT", f"{NAMED} · cpu"]),
    "without room for the taint": (
        [GPU],
        "1",
        50,
        ["  tainted: nvidia.com/gpu=present:NoSchedule", "WHY NOT", "tainted"],
    ),
    "without room for two": (
        [GPU, SPOT],
        "1",
        50,
        ["  tainted: nvidia.com/gpu=present:NoSchedule,", "    spot=true:NoSchedule", "WHY NOT", "tainted"],
    ),
}


@pytest.mark.parametrize("case", TAINTS)
def test_a_taint_is_named_in_its_row_or_above_the_rows(case: str) -> None:
    taints, cpu, width, expected = TAINTS[case]
    snapshot = kubespread.Snapshot.from_objects([node("n0", taints=taints), node("n1")])
    report = kubespread.explain(snapshot, pod(requests={"cpu": cpu}))
    lines = terminal.table(report, Look(width=width)).splitlines()
    start = next(place for place, line in enumerate(lines) if line.startswith(("  tainted", "  NODE")))
    (row,) = (line for line in lines[start:] if line.split()[0] == "n0")
    legend = [line for line in lines[start:] if line.startswith(("  tainted", "    "))]
    assert [*legend, "WHY NOT", row.partition(" no ")[2].strip()] == expected
