"""The numbers of findings about workloads that share pods' labels, or defaults: by ``simulate`` of them together."""

from __future__ import annotations

from collections import Counter
from typing import Any

import yaml

import kubespread
from tests.lint.test_numbers import FIXTURES, cluster_of

Manifest = dict[str, Any]


def manifests(code: str, name: str = "bad") -> dict[str, Manifest]:
    """The workloads of a fixture, by name."""
    loaded = yaml.safe_load_all((FIXTURES / code / f"{name}.yaml").read_text())
    return {each["metadata"]["name"]: each for each in loaded}


def messages(code: str) -> dict[str, kubespread.CheckFinding]:
    """The rule's findings in its failing fixture, by workload."""
    report = kubespread.check(cluster_of(code), [str(FIXTURES / code / "bad.yaml")], select=[code])
    return {finding.subject.rpartition("/")[2]: finding for finding in report.findings}


def landed(code: str, *workloads: Manifest) -> list[Counter[str]]:
    """Replicas by zone of each workload, placed one workload after another."""
    snapshot = cluster_of(code)
    zone_of = {node.metadata.name: node.metadata.labels["topology.kubernetes.io/zone"] for node in snapshot.nodes}
    reports = kubespread.simulate(snapshot, list(workloads))
    return [Counter(zone_of[each.node] for each in report.placements) for report in reports]


def stands(counts: Counter[str]) -> str:
    return " · ".join(f"{zone} {counts[zone]}" for zone in "abc")


def counting_its_own(workload: Manifest) -> Manifest:
    (constraint,) = workload["spec"]["template"]["spec"]["topologySpreadConstraints"]
    return with_constraint(workload, {**constraint, "matchLabelKeys": ["pod-template-hash"]})


def with_constraint(workload: Manifest, *constraints: Manifest) -> Manifest:
    template = workload["spec"]["template"]
    template = {**template, "spec": {**template["spec"], "topologySpreadConstraints": list(constraints)}}
    return {**workload, "spec": {**workload["spec"], "template": template}}


def test_a_stable_workload_stands_beside_its_canary_as_simulated() -> None:
    workloads, finding = manifests("KS402"), messages("KS402")["web"]
    _, web = landed("KS402", workloads["web-canary"], workloads["web"])
    assert stands(web) == "a 0 · b 3 · c 3"
    assert finding.text == (
        "zone counts the pods of Deployment/web-canary too (3 replicas): placed after them its own 6 are "
        f"{stands(web)}, skew 3 > 1"
    )
    _, apart = landed("KS402", workloads["web-canary"], counting_its_own(workloads["web"]))
    assert finding.remedy.outcome == f"its own are {stands(apart)}" == "its own are a 2 · b 2 · c 2"


def test_a_group_of_unlike_workloads_stands_as_simulated() -> None:
    workloads, finding = manifests("KS504"), messages("KS504")["web"]
    web, api = landed("KS504", workloads["web"], workloads["api"])
    both = web + api
    skew = max(both.values()) - min(both.values())
    assert finding.text == (
        "zone counts the pods of Deployment/api too (4 replicas), which has no such constraint: once both are placed, "
        f"their pods are {stands(both)}, skew {skew} > 1"
    )
