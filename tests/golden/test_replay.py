"""kube-scheduler's recorded answers, replayed through the library and compared to the last unit."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import kubespread

Case = dict[str, Any]

FIXTURES = Path(__file__).parents[2] / "fixtures" / "golden"
FAMILIES = (
    "spread", "score", "defaults", "nodeaffinity", "interpod", "resources", "ports", "volumes", "mixed", "large", "preempt",
    "v1.34.1/mixed", "v1.34.1/nodeaffinity", "v1.34.1/score",
)  # fmt: skip
XFAIL: dict[str, str] = {}


def recorded(family: str) -> list[Case]:
    with gzip.open(FIXTURES / f"{family}.jsonl.gz", "rt") as lines:
        return [json.loads(line) for line in lines]


def answer(family: str, case: Case) -> Case:
    """Our report in the shape of the recording."""
    version = "1.34.1" if family.startswith("v1.34.1/") else None
    snapshot = kubespread.Snapshot.from_objects([*case["nodes"], *case["pods"], *(case.get("objects") or [])])
    report = kubespread.explain(snapshot, case["pod"], case.get("config"), version, preemption=family == "preempt").to_dict()
    nodes = {node["name"]: _node_answer(node) for node in report["nodes"]}
    return {"fitError": report["message"], "nodes": nodes, "preemption": _preemption_answer(report["preemption"])}


def _preemption_answer(found: Case | None) -> Any:
    if found is None or found["node"] is None:
        return found and found["tail"]
    return {key: found[key] for key in ("node", "victims", "violations")}


def _node_answer(node: Case) -> Case:
    rejections = {rejection["plugin"]: (rejection["code"], frozenset(rejection["reasons"])) for rejection in node["rejections"]}
    verdict = node["verdict"]
    return {
        "filter": (verdict["code"], verdict["plugin"], frozenset(verdict["reasons"])),
        "plugins": rejections,
        "scores": node["scores"],
        "total": node["total"],
    }


def expected(expect: Case, ours: Case) -> Case:
    nodes = {name: _expected_node(node, ours["nodes"][name]) for name, node in expect["nodes"].items()}
    return {"fitError": expect.get("fitError"), "nodes": nodes, "preemption": expect.get("preemption", expect.get("tail"))}


def _expected_node(node: Case, ours: Case) -> Case:
    rejections = {}
    for plugin, said in (node.get("plugins") or {}).items():
        excluded = any("excluded by PreFilterResult" in reason for reason in said["reasons"])
        # The recording does not say what the plugin would have said of a node it left out beforehand.
        rejections[plugin] = ours["plugins"].get(plugin) if excluded else (said["code"], frozenset(said["reasons"]))
    verdict = node["filter"]
    return {
        "filter": (verdict["code"], verdict.get("plugin"), frozenset(verdict.get("reasons") or ())),
        "plugins": rejections,
        "scores": node.get("scores", {}),
        "total": node.get("total"),
    }


@pytest.mark.parametrize("family", FAMILIES)
def test_every_case_of_a_family_gets_kube_schedulers_answer(family: str) -> None:
    wrong = {}
    cases = recorded(family)
    assert cases
    for line in cases:
        case, expect = line["case"], line["expect"]
        ours = answer(family, case)
        wanted = expected(expect, ours)
        if ours != wanted and case["name"] not in XFAIL:
            wrong[case["name"]] = {
                name: (ours["nodes"][name], node) for name, node in wanted["nodes"].items() if ours["nodes"][name] != node
            }
    assert wrong == {}


def test_every_simulated_placement_is_kube_schedulers() -> None:
    wrong = {}
    cases = recorded("simulate")
    assert cases
    for line in cases:
        case, expect = line["case"], line["expect"]
        snapshot = kubespread.Snapshot.from_objects([*case["nodes"], *case["pods"], *(case.get("objects") or [])])
        report = kubespread.simulate(snapshot, case["pod"], case["replicas"], case.get("config")).to_dict()
        ours = [{key: placement[key] for key in ("node", "total", "ties")} for placement in report["placements"]]
        if (ours, report["stopped"]) != (expect.get("placements") or [], expect.get("stopped")) and case["name"] not in XFAIL:
            wrong[case["name"]] = (ours, report["stopped"])
    assert wrong == {}
