"""A saved snapshot answers like its source, under pseudonyms too: for recorded cases of every family, and the fixtures."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import kubespread
from kubespread.kube.well_known import ENDED_PHASES
from kubespread.snapshot.anonymize import anonymize
from kubespread.snapshot.save import save
from tests.cli.support import FIXTURES
from tests.tiers import slow_but
from tools.replay import drains
from tools.replay.cases import recorded

Data = dict[str, Any]

FAMILIES = [
    *sorted(path.name.removesuffix(".jsonl.gz") for path in (FIXTURES / "golden").glob("*.jsonl.gz")),
    "second/dra",
]
CASES_PER_FAMILY = 8
FEWER = {"large": 1}
"""Hundreds of nodes each."""
PSEUDONYM = re.compile(r"anon-\d+")


def cases(family: str) -> list[Data]:
    """Evenly chosen ones whose pod is not pinned to a node: a stored pod with a node is one that runs."""
    found = [each.case for each in recorded(FIXTURES / "golden" / f"{family}.jsonl.gz")]
    free = [case for case in found if "nodeName" not in case["pod"]["spec"]]
    return free[:: max(1, len(free) // FEWER.get(family, CASES_PER_FAMILY))]


def with_candidate(case: Data) -> tuple[kubespread.Snapshot, str, str]:
    """The case's cluster with its pod waiting in it, and the pod's namespace and name."""
    pod = {**case["pod"], "apiVersion": "v1", "kind": "Pod"}
    pod["metadata"] = {"namespace": "default", **pod["metadata"], "uid": "candidate"}
    snapshot = kubespread.Snapshot.from_objects([*case["nodes"], *case["pods"], *(case.get("objects") or []), pod])
    return snapshot, pod["metadata"]["namespace"], pod["metadata"]["name"]


def in_order_of(other: kubespread.Snapshot, snapshot: kubespread.Snapshot) -> kubespread.Snapshot:
    """Its pods as they are in the other: pseudonyms sort in another way beside the namespace default, which has none."""
    listed = {(pod.metadata.namespace, pod.metadata.name): place for place, pod in enumerate(other.pods)}
    pods = sorted(snapshot.pods, key=lambda pod: listed[pod.metadata.namespace, pod.metadata.name])
    return replace(snapshot, pods=tuple(pods))


def answer(snapshot: kubespread.Snapshot, pod: Any, namespace: str, case: Data) -> Any:
    scheduler = kubespread.Scheduler(config=case.get("config"))
    return judgment(kubespread.explain(snapshot, pod, scheduler, namespace=namespace))


def judgment(report: kubespread.ExplainReport) -> Any:
    """All but which file it was read from."""
    return {**report.to_dict(), "cluster": None}


def mapped_back(report: Any, names: Mapping[str, str]) -> Any:
    text = PSEUDONYM.sub(lambda match: json.dumps(names[match[0]])[1:-1], json.dumps(report))
    return json.loads(text)


@pytest.mark.parametrize("family", slow_but(FAMILIES[:1], FAMILIES))
def test_recorded_cases(family: str, tmp_path: Path) -> None:
    """Beside what is saved: a waiting pod is asked about as its manifest is."""
    different = {}
    for position, case in enumerate(cases(family)):
        snapshot, namespace, name = with_candidate(case)
        direct = answer(snapshot, f"pod/{name}", namespace, case)
        if position % 4 == 0:
            manifest = {**case["pod"], "metadata": {**case["pod"]["metadata"], "uid": "candidate"}}
            if (asked_about := answer(snapshot, manifest, namespace, case)) != direct:
                different[f"{case['name']} as a manifest"] = (direct, asked_about)
        file = str(tmp_path / ("saved.yaml" if position % 4 == 1 else "saved.json.gz"))
        save(snapshot, file)
        if (again := answer(kubespread.load(file), f"pod/{name}", namespace, case)) != direct:
            different[case["name"]] = (direct, again)
        if "addedAffinity" in (case.get("config") or ""):
            # The scheduler's configuration would have to speak in pseudonyms too.
            continue
        hidden, names = anonymize(snapshot)
        pseudonyms = {text: pseudonym for pseudonym, text in names.items()}
        save(hidden, file)
        asked = f"pod/{pseudonyms.get(name, name)}"
        report = answer(in_order_of(hidden, kubespread.load(file)), asked, pseudonyms.get(namespace, namespace), case)
        if mapped_back(report, names) != direct:
            different[f"{case['name']} anonymous"] = (direct, mapped_back(report, names))
    assert different == {}


CLUSTERS = sorted((FIXTURES / "clusters").glob("*.yaml"))


@pytest.mark.parametrize("cluster", slow_but(CLUSTERS[::10], CLUSTERS), ids=lambda path: path.stem)
def test_fixtures(cluster: Path, tmp_path: Path) -> None:
    """Every form holds the same, so that one of them is asked."""
    snapshot = kubespread.load(cluster)
    files = [str(tmp_path / f"saved.{form}") for form in ("json", "json.gz", "yaml")]
    for file in files:
        save(snapshot, file)
    again, *others = (kubespread.load(file) for file in files)
    assert others == [again, again]
    for manifest in sorted((FIXTURES / "manifests").glob("*.yaml")):
        assert judgment(kubespread.explain(again, manifest)) == judgment(kubespread.explain(snapshot, manifest))


def drain(case: Data, snapshot: kubespread.Snapshot) -> Any:
    """But for pods that have ended, which are not saved."""
    plan = drains.ours(case, snapshot)
    evicted = [pod.metadata.name for pod in plan.evict if pod.status.phase not in ENDED_PHASES]
    return evicted, plan.warnings, plan.errors


def test_a_saved_snapshot_is_drained_like_its_source(tmp_path: Path) -> None:
    different = []
    for case in list(recorded(FIXTURES / "golden" / "controllers" / "drain.jsonl.gz"))[::4]:
        snapshot, file = drains.snapshot_of(case.case), str(tmp_path / "saved.json")
        save(snapshot, file)
        if drain(case.case, in_order_of(snapshot, kubespread.load(file))) != drain(case.case, snapshot):
            different.append(case.name)
    assert different == []
