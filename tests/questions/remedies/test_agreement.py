"""What `explain --fix` finds holds in the other answers: in those of `pending`, of `simulate` and of `explain`."""

from __future__ import annotations

import shlex
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import kubespread
from kubespread import ExplainReport, Snapshot
from kubespread.snapshot.edits.registry import parse
from tests.builders import hosts, pod
from tests.world.clusters import deployment

CASES = Path(__file__).parents[3] / "fixtures" / "cases"


@cache
def snapshot(name: str) -> Snapshot:
    return kubespread.load(CASES / name)


def advised(cluster: str, asked: str | Path, **options: Any) -> ExplainReport:
    return kubespread.explain(snapshot(cluster), asked, **options, fix=True)


def enough(report: ExplainReport) -> list[str]:
    assert report.advice is not None
    return [" ".join(each.options) for each in report.advice.enough]


def test_promo_is_answered_alike_by_pending_fix_and_simulate() -> None:
    cluster = snapshot("everyday/aws12.json.gz")
    (group,) = kubespread.pending(cluster, namespace="shop").groups
    report = kubespread.explain(cluster, "deploy/promo", namespace="shop", fix=True)
    simulated = kubespread.simulate(cluster, "deploy/promo", namespace="shop")
    assert report.fix is not None
    assert (group.fitting, report.fix.placed, simulated.placed) == (3, 3, 3)
    assert group.why == "3 of 4 fit; maxSkew 1 over zone: 3 zones, minDomains 4"
    assert group.change is not None
    assert [" ".join(group.change.options), enough(report)[0]] == ["--set minDomains[zone]=3"] * 2
    assert kubespread.simulate(cluster, "deploy/promo", namespace="shop", set=["minDomains[zone]=3"]).placed == 4


@pytest.mark.slow
@pytest.mark.parametrize("name", ["s32", "s61"])
def test_pending_finds_a_change_where_fix_finds_one(name: str) -> None:
    cluster = snapshot(f"judgment/5/{name}.json")
    for group in kubespread.pending(cluster).groups:
        if group.cause == "filtered" and len(group.pods) == 1:
            namespace, _, pod = group.pods[0].partition("/")
            found = kubespread.explain(cluster, f"pod/{pod}", namespace=namespace, fix=True).verdict == "yes"
            assert (group.change is not None) == found, group.pods
        if group.cause == "filtered":
            assert group.change is not None, group.pods


def test_a_pod_that_preempts_is_not_stuck_and_its_victims_are_named() -> None:
    crit = CASES / "everyday" / "crit.yaml"
    report = advised("everyday/aws12.json.gz", crit)
    assert report.fix is not None
    victims = report.fix.victims
    assert victims
    assert report.verdict == "yes"
    assert report.answer[0] == f"the pod fits by preempting {', '.join(victims)}: no change is needed"
    cluster = snapshot("everyday/aws12.json.gz")
    names = [f"{pod.metadata.namespace}/{pod.metadata.name}" for pod in cluster.pods]
    left = [pod for pod, name in zip(cluster.pods, names, strict=True) if name not in victims]
    assert len(left) == len(names) - len(victims)
    assert not kubespread.explain(cluster, crit).schedulable
    assert kubespread.explain(replace(cluster, pods=tuple(left)), crit).schedulable


@pytest.mark.slow
def test_replicas_that_wait_are_asked_about_with_the_claims_they_have() -> None:
    """w1-0 and w1-3 wait, the volume of w1-3 is in zone-a: what frees w1-0 alone is not enough."""
    cluster = snapshot("judgment/5/s61.json")
    simulated = kubespread.simulate(cluster, "sts/w1", namespace="shop")
    assert (simulated.pod.name, simulated.pending, simulated.not_made_yet) == ("w1-0", 2, 0)
    report = kubespread.explain(cluster, "sts/w1", namespace="shop", fix=True)
    waiting = kubespread.pending(cluster, namespace="shop")
    assert sorted(pod for group in waiting.groups for pod in group.pods) == ["shop/w1-0", "shop/w1-3"]
    for options in enough(report):
        words = iter(shlex.split(options))
        edits = [
            parse(f"{option.removeprefix('--')} {value}", None) for option, value in zip(words, words, strict=True)
        ]
        assert kubespread.pending(cluster.edited(*edits), namespace="shop").pending == 0, options


def test_a_pod_of_a_former_revision_is_advised_where_its_workload_has_no_such_field_any_more() -> None:
    former, now = ({"nodeSelector": {"disk": "ssd"}, "priority": 0}, {"priority": 0})
    made, replica_set, waiting = deployment("web", (None,), spec=former)
    made["spec"]["template"]["spec"] = {**pod()["spec"], **now}
    cluster = Snapshot.from_objects([*hosts("a", "b"), made, replica_set, waiting])
    report = kubespread.explain(cluster, "pod/web-a", fix=True)
    assert report.advice is not None
    (dropped,) = [each for each in report.advice.enough if each.options == ("--set nodeSelector[disk]=null",)]
    said = "its workload's template has no such field by now: the pod is of another revision"
    assert (dropped.commands, dropped.notes) == ((), (said,))
