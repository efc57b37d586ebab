"""What is suggested makes the pod fit when it is applied by hand; where it finds nothing, brute force does not
either.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

import kubespread
from kubespread import Scheduler, Snapshot
from kubespread.errors import KubespreadError
from tools.replay.cases import FIXTURES, Data, Recorded, recorded

STATE_TAINTS = "node.kubernetes.io/"
OPTION = re.compile(r"--(?P<verb>\S+) (?:'(?P<quoted>[^']*)'|(?P<plain>\S+))")


def cases(file: str, count: int, start: int = 0, nodes: int = 1000) -> list[Recorded]:
    """Some of a file's cases in which the pod fits nowhere, of clusters with so many nodes at most."""
    infeasible = (
        each
        for each in recorded(FIXTURES / file)
        if "replicas" not in each.case
        and each.expect.get("fitError")
        and not each.case.get("stored")
        and len(each.case["nodes"]) <= nodes
    )
    return [each for place, each in zip(range(start + count), infeasible, strict=False) if place >= start]


def asked(case: Data) -> tuple[Snapshot, Scheduler]:
    snapshot = Snapshot.from_objects([*case["nodes"], *(case["pods"] or []), *(case.get("objects") or [])])
    scheduler = Scheduler(
        config=case.get("config"),
        feature_gates=case.get("gates"),
        admission=case.get("admission", False),
        default_toleration_seconds=False,
    )
    return snapshot, scheduler


def fits(case: Data, options: list[str]) -> bool:
    """Whether the pod fits once what the command line would take is done by hand."""
    snapshot, scheduler = asked(case)
    settings, edits = [], []
    for match in OPTION.finditer(" ".join(options)):
        value = match["quoted"] or match["plain"]
        if match["verb"] == "set":
            settings.append(value)
        else:
            edits.append(f"{match['verb']} {value}")
    try:
        return kubespread.explain(snapshot.edited(*edits), case["pod"], scheduler, set=settings).schedulable
    except KubespreadError:
        return False


def single_changes(case: Data) -> Iterator[list[str]]:
    """All there are of the kinds that are tried, whatever the pod fails for."""
    for place, constraint in enumerate(case["pod"]["spec"].get("topologySpreadConstraints") or []):
        if constraint["whenUnsatisfiable"] == "DoNotSchedule":
            yield from of_constraint(place, constraint)
    for node in case["nodes"]:
        yield from of_node(node)
    for pod in case["pods"] or []:
        if pod["spec"].get("nodeName"):
            yield [f"--evict {pod['metadata'].get('namespace', 'default')}/{pod['metadata']['name']}"]
    least = {"cpu": "1m", "memory": "1"}
    for container in case["pod"]["spec"]["containers"]:
        requests = (container.get("resources") or {}).get("requests") or {}
        yield from ([f"--set {name}[{container['name']}]={least[name]}"] for name in least if name in requests)


def of_constraint(place: int, constraint: Data) -> Iterator[list[str]]:
    yield from ([f"--set maxSkew[{place}]={constraint['maxSkew'] + more}"] for more in (1, 2, 3, 5, 10, 100))
    for name in ("nodeTaintsPolicy", "nodeAffinityPolicy"):
        yield from ([f"--set {name}[{place}]={policy}"] for policy in ("Honor", "Ignore"))
    fewer = range(1, constraint.get("minDomains") or 1)
    yield from ([f"--set minDomains[{place}]={domains}"] for domains in fewer)
    yield [f"--set minDomains[{place}]=null", f"--set whenUnsatisfiable[{place}]=ScheduleAnyway"]


def of_node(node: Data) -> Iterator[list[str]]:
    name = node["metadata"]["name"]
    if node["spec"].get("unschedulable"):
        yield [f"--uncordon {name}"]
    for taint in node["spec"].get("taints") or []:
        if taint["effect"] != "PreferNoSchedule" and not taint["key"].startswith(STATE_TAINTS):
            yield [f"--taint '{name} {taint['key']}:{taint['effect']}-'"]
            value = f"={taint['value']}" if taint.get("value") else ""
            yield [f"--set tolerations={taint['key']}{value}:{taint['effect']}"]
    yield from ([f"--add-node {name}:{count}"] for count in (1, 2))


@pytest.mark.parametrize(
    ("file", "count"),
    [("spread.jsonl.gz", 3), ("mixed.jsonl.gz", 8), ("resources.jsonl.gz", 8), ("interpod.jsonl.gz", 3)],
)
def test_what_is_suggested_helps_and_what_is_not_does_not(file: str, count: int) -> None:
    for case, _ in cases(file, count, start=4, nodes=6):
        snapshot, scheduler = asked(case)
        report = kubespread.explain(snapshot, case["pod"], scheduler=scheduler, fix=True)
        assert report.advice is not None
        for suggestion in report.advice.enough:
            assert fits(case, list(suggestion.options)), (case["name"], suggestion)
            for other in suggestion.alternatives[:1]:
                assert fits(case, [other]), (case["name"], other)
        if not any(" + " not in each.family for each in report.advice.enough):
            assert [change for change in single_changes(case) if fits(case, change)] == [], case["name"]


def test_an_explanation_names_the_constraints_that_let_the_pod_in() -> None:
    told = 0
    for case, _ in [*cases("mixed.jsonl.gz", 120, nodes=20), *cases("spread.jsonl.gz", 20, nodes=20)]:
        snapshot, scheduler = asked(case)
        report = kubespread.explain(snapshot, case["pod"], scheduler)
        for suggestion in report.advice.enough if report.advice is not None else ():
            assert fits(case, list(suggestion.options)), (case["name"], suggestion)
            told += 1
    assert told >= 4
