"""The clusters and manifests people can run: what each of them shows, pinned."""

from __future__ import annotations

from pathlib import Path

import pytest

import kubespread

FIXTURES = Path(__file__).parents[2] / "fixtures"
SKEWED = "node(s) didn't match pod topology spread constraints"
MISSING = f"{SKEWED} (missing required label)"


def message(nodes: int, *reasons: str) -> str:
    return f"0/{nodes} nodes are available: {', '.join(reasons)}."


CASES: list[tuple[str, str, list[str], str | None]] = [
    ("docs-4-nodes", "one-constraint", ["node3", "node4"], None),
    ("docs-4-nodes", "one-constraint-node", ["node4"], None),
    ("docs-4-nodes", "two-constraints", ["node4"], None),
    ("docs-4-nodes", "two-constraints-skew-2", ["node1", "node2", "node3", "node4"], None),
    ("docs-4-nodes", "ghost", ["node1", "node2", "node3", "node4"], None),
    ("docs-zone-typo", "one-constraint", ["node3", "node4"], None),
    ("docs-5-nodes", "one-constraint", ["node5"], None),
    ("docs-5-nodes", "not-in-zone-c", ["node3", "node4"], None),
    (
        "docs-5-nodes",
        "not-in-zone-c-ignored",
        [],
        message(5, "1 node(s) didn't match Pod's node affinity/selector", f"4 {SKEWED}"),
    ),
    ("docs-conflict", "two-constraints", [], message(3, f"3 {SKEWED}")),
    ("docs-conflict", "one-constraint", ["node3"], None),
    ("docs-conflict", "one-constraint-node", ["node2"], None),
    ("docs-conflict", "zone-hard-node-soft", ["node3"], None),
    ("docs-conflict", "two-constraints-skew-2", ["node1", "node2", "node3"], None),
    ("kep-1-1-0", "kep-zone", ["node3"], None),
    ("kep-1-1-0", "kep-zone-skew-2", ["node1", "node2", "node3"], None),
    ("kep-3-2-1", "kep-zone", ["node3a"], None),
    ("kep-3-2-1", "kep-hostname", ["node1c", "node2b", "node2c"], None),
    ("three-zones", "one-constraint", ["node1", "node2", "node3"], None),
    ("three-zones", "min-domains-5", [], message(3, f"3 {SKEWED}")),
    ("rollout", "rollout", ["node3"], None),
    ("rollout", "rollout-match-label-keys", ["node1", "node2", "node3"], None),
    ("devices", "devices-train", ["gpu-1"], None),
    ("devices", "devices-serve", ["gpu-1", "gpu-2"], None),
]

INFEASIBLE_REASONS = {
    "taint": "1 node(s) had untolerated taint(s)",
    "resources": "1 Insufficient cpu",
    "cordon": "1 node(s) were unschedulable",
}
# Which nodes fit beside the infeasible zone3: with default policies, and with nodeTaintsPolicy Honor where a taint is the reason.
INFEASIBLE: dict[str, tuple[list[str], list[str]]] = {
    "1-1-0": ([], ["node1", "node2"]),
    "2-1-0": ([], ["node2"]),
    "1-1-1": (["node1", "node2"], ["node1", "node2"]),
    "2-1-1": (["node2"], ["node2"]),
    "3-3-0": ([], ["node1", "node2"]),
}


def explained(cluster: str, manifest: str) -> kubespread.ExplainReport:
    snapshot = kubespread.load(FIXTURES / "clusters" / f"{cluster}.yaml")
    return kubespread.explain(snapshot, FIXTURES / "manifests" / f"{manifest}.yaml")


@pytest.mark.parametrize(("cluster", "manifest", "feasible", "text"), CASES)
def test_documented_example(cluster: str, manifest: str, feasible: list[str], text: str | None) -> None:
    report = explained(cluster, manifest)
    assert (sorted(report.feasible), report.message) == (feasible, text)


@pytest.mark.parametrize("reason", INFEASIBLE_REASONS)
@pytest.mark.parametrize("spread", INFEASIBLE)
def test_an_infeasible_zone_holds_the_minimum_down(spread: str, reason: str) -> None:
    report = explained(f"kep-infeasible-{spread}-{reason}", "kep-zone")
    feasible = INFEASIBLE[spread][0]
    text = None if feasible else message(3, INFEASIBLE_REASONS[reason], f"2 {SKEWED}")
    assert (sorted(report.feasible), report.message) == (feasible, text)


@pytest.mark.parametrize("reason", INFEASIBLE_REASONS)
@pytest.mark.parametrize("spread", INFEASIBLE)
def test_honoring_taints_leaves_a_tainted_zone_out(spread: str, reason: str) -> None:
    report = explained(f"kep-infeasible-{spread}-{reason}", "kep-zone-honor-taints")
    default, honoring = INFEASIBLE[spread]
    assert sorted(report.feasible) == (default if reason == "resources" else honoring)


def test_a_mistyped_label_is_named_on_its_node() -> None:
    report = explained("docs-zone-typo", "one-constraint")
    (typo,) = [node for node in report.nodes if node.name == "node5"]
    assert (typo.verdict.reasons, typo.constraints[0].reason) == ((MISSING,), "the node has no label zone")


def test_a_soft_constraint_ranks_the_emptier_zone_first() -> None:
    report = explained("docs-4-nodes", "one-constraint-soft")
    assert {node.name: node.scores["PodTopologySpread"] for node in report.nodes} == {
        "node1": 66,
        "node2": 66,
        "node3": 200,
        "node4": 200,
    }


def test_the_built_in_constraints_score_a_pod_that_declares_none() -> None:
    report = explained("default-constraints", "no-constraints")
    assert {node.name: node.scores["PodTopologySpread"] for node in report.nodes} == {"n0": 132, "n1": 176, "n2": 200}
    assert [(constraint.topology_key, constraint.source) for constraint in report.constraints] == [
        ("kubernetes.io/hostname", "system"),
        ("topology.kubernetes.io/zone", "system"),
    ]


TABLES = {"controllers", "faults", "fuzz", "options", "provisioned", "refused", "scheduler", "suites", "world"}
"""Rows of tests, which name what they show."""
RUN = [path for path in sorted(FIXTURES.glob("*/*.yaml")) if path.parent.name not in TABLES]


@pytest.mark.parametrize("path", RUN, ids=lambda path: path.stem)
def test_every_fixture_says_what_it_shows(path: Path) -> None:
    assert path.read_text().startswith("# ")


def test_every_fixture_is_used_by_a_case_or_shown_in_a_document() -> None:
    here = Path(__file__)
    texts = [*sorted(here.parents[1].rglob("test_*.py")), *sorted((FIXTURES.parent / "docs").rglob("*.md"))]
    text = "".join(path.read_text() for path in texts)
    unused = [
        path.stem
        for path in RUN
        if f'"{path.stem}"' not in text and f"/{path.name}" not in text and "infeasible" not in path.stem
    ]
    assert unused == []
