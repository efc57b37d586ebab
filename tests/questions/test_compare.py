"""What differs between two answers, and what does not."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import NamedTuple

import pytest

import kubespread
from kubespread import Scheduler, Side
from kubespread.questions.compare.answer import Answered, compared
from kubespread.questions.compare.report import Asked, CompareReport, NodeChange
from tests.builders import Data, hard, hosts, owned_by, pod, pods_on, soft, taint
from tests.cli.support import COMPARE_SCHEMA

ZONE, HOSTNAME = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
NODES = hosts("a", "a", "b")
WEB = pod(constraints=[hard(ZONE)])


class Differences(NamedTuple):
    """A report without its figures."""

    nodes: dict[str, NodeChange] = {}
    unchanged: int = 3
    skews: tuple[tuple[int | None, int | None], ...] = ((0, 0),)
    """Of each constraint."""
    domains: dict[str, tuple[int | None, int | None]] = {}
    """Of all constraints."""
    on_nodes: dict[str, tuple[int, int]] = {}
    replicas: dict[int, tuple[str | None, str | None]] = {}


def differences(report: CompareReport) -> Differences:
    return Differences(
        {node.name: node.change for node in report.nodes},
        report.unchanged_nodes,
        tuple(
            (each.before and each.before.skew, each.after and each.after.skew)  # type: ignore[misc]  # a side is never empty
            for each in report.constraints
        ),
        {domain.value: (domain.before, domain.after) for each in report.constraints for domain in each.domains},
        {node.name: (node.before, node.after) for node in report.replicas_on_nodes},
        {each.replica: (each.before, each.after) for each in report.replicas},
    )


def cluster(*objects: Data, nodes: list[Data] | None = None) -> kubespread.Snapshot:
    return kubespread.Snapshot.from_objects([*(NODES if nodes is None else nodes), *objects])


def without_zone(position: int) -> list[Data]:
    changed = hosts("a", "a", "b")
    del changed[position]["metadata"]["labels"][ZONE]
    return changed


def tainted(position: int) -> list[Data]:
    changed = hosts("a", "a", "b")
    changed[position]["spec"] = {"taints": [taint("gpu")]}
    return changed


EMPTY = cluster()
ONE_IN_A = cluster(*pods_on({"n0": 1}))
CASES: dict[str, tuple[Side, Side, int, Differences]] = {
    "nothing differs": (Side(EMPTY, WEB), Side(EMPTY, WEB), 2, Differences()),
    "an edit that is undone differs in nothing": (
        Side(EMPTY, WEB),
        Side(EMPTY.edited("cordon n0", "uncordon n0"), WEB),
        2,
        Differences(),
    ),
    "a limit that nobody reaches differs in nothing": (
        Side(EMPTY, WEB),
        Side(EMPTY, WEB, set=["maxSkew=5", "minDomains=2"]),
        1,
        Differences(skews=((1, 1),)),
    ),
    "a cordoned node no longer fits and its replica goes elsewhere": (
        Side(cluster(nodes=hosts("a", "b")), WEB),
        Side(
            cluster(nodes=hosts("a", "b")).edited("cordon n0"), pod(constraints=[hard(ZONE, nodeTaintsPolicy="Honor")])
        ),
        1,
        Differences(
            {"n0": NodeChange.STOPS},
            1,
            ((1, 0),),
            {"a": (1, 0), "b": (0, 1)},
            {"n0": (1, 0), "n1": (0, 1)},
            {0: ("n0", "n1")},
        ),
    ),
    "a wider skew lets nodes fit and another be the choice": (
        Side(ONE_IN_A.edited("taint n2=slow:PreferNoSchedule"), WEB),
        Side(ONE_IN_A.edited("taint n2=slow:PreferNoSchedule"), WEB, set=["maxSkew=2"]),
        1,
        Differences(
            {"n0": NodeChange.STARTS, "n1": NodeChange.STARTS},
            1,
            ((0, 2),),
            {"a": (1, 2), "b": (1, 0)},
            {"n1": (0, 1), "n2": (1, 0)},
            {0: ("n2", "n1")},
        ),
    ),
    "a node that fails for other reasons": (
        Side(cluster(nodes=without_zone(2)), WEB),
        Side(cluster(nodes=tainted(2)), WEB),
        1,
        Differences({"n2": NodeChange.REASONS}, 2, ((0, 1),), {"b": (None, 0)}),
    ),
    "figures behind a reason that stays are no difference": (
        Side(ONE_IN_A, pod()),
        Side(ONE_IN_A, pod(), set=[]),
        1,
        Differences(skews=()),
    ),
    "nodes of one side only": (
        Side(EMPTY, WEB),
        Side(EMPTY.edited("delete-node n1", "add-node n2"), WEB),
        0,
        Differences({"n1": NodeChange.GONE, "n2-1": NodeChange.NEW}, 2),
    ),
    "an empty cluster has lost all of its nodes": (
        Side(EMPTY, WEB),
        Side(kubespread.Snapshot(), WEB),
        0,
        Differences(dict.fromkeys(("n0", "n1", "n2"), NodeChange.GONE), 0, domains={"a": (0, None), "b": (0, None)}),
    ),
    "a constraint turned soft is the same one": (
        Side(ONE_IN_A, WEB),
        Side(ONE_IN_A, WEB, set=["whenUnsatisfiable=ScheduleAnyway"]),
        0,
        Differences({"n0": NodeChange.STARTS, "n1": NodeChange.STARTS, "n2": NodeChange.SCORE}, 0, ((1, 1),)),
    ),
    "a constraint of one side only has no counts to compare": (
        Side(EMPTY, WEB),
        Side(EMPTY, pod(constraints=[soft(HOSTNAME), hard(ZONE)])),
        0,
        Differences(dict.fromkeys(("n0", "n1", "n2"), NodeChange.SCORE), 0, ((None, 0), (0, 0))),
    ),
    "replicas that stay pending": (
        Side(cluster(nodes=hosts("a", "b")), WEB),
        Side(cluster(nodes=hosts("a", "b")).edited("taint n1=gpu:NoSchedule"), WEB),
        4,
        Differences(
            {"n1": NodeChange.STOPS},
            1,
            ((0, 1),),
            {"a": (2, 1), "b": (2, 0)},
            {"n0": (2, 1), "n1": (2, 0)},
            {1: ("n1", None), 2: ("n0", None), 3: ("n1", None)},
        ),
    ),
    "releases whose scores are not modeled have neither scores nor placements to compare": (
        Side(EMPTY, WEB),
        Side(EMPTY, WEB, Scheduler(kube_version="1.20")),
        2,
        Differences(),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_differs(case: str) -> None:
    before, after, replicas, expected = CASES[case]
    report = kubespread.compare(before, after, replicas=replicas)
    assert differences(report) == expected
    assert report.same is (not expected.nodes)


def test_scores_differ_by_plugin_and_rank() -> None:
    report = kubespread.compare(Side(EMPTY, WEB), Side(EMPTY.edited("taint n0=slow:PreferNoSchedule"), WEB))
    (node,) = report.nodes
    assert (node.name, node.score_changes) == ("n0", {"TaintToleration": -300})
    assert [side and (side.total, side.rank) for side in (node.before, node.after)] == [(398, 1), (98, 3)]
    assert (report.before.first, report.after.first) == (("n0", "n1", "n2"), ("n1", "n2"))


def test_constraints_are_the_same_by_their_key_and_then_by_what_they_do() -> None:
    before = pod(constraints=[hard(ZONE, 2), soft(ZONE, 3), hard(HOSTNAME, 4)])
    after = pod(constraints=[soft(HOSTNAME, 5), soft(ZONE, 6), hard(ZONE, 7)])
    report = kubespread.compare(Side(EMPTY, before), Side(EMPTY, after))
    pairs = [[each.before and each.before.max_skew, each.after and each.after.max_skew] for each in report.constraints]
    assert pairs == [[4, 5], [2, 7], [3, 6]]


def test_a_cycle_that_fails_before_any_node_is_judged_differs_in_its_message_alone() -> None:
    explained = kubespread.explain(EMPTY, WEB)
    failed = explained.revised(nodes=(), constraints=(), schedulable=False, message="PreFilter failed")
    report = compared(Answered(Asked(), explained, None), Answered(Asked(), failed, None))
    assert differences(report) == Differences(unchanged=0, skews=((0, None),))
    assert (report.same, report.before.message, report.after.message) == (False, None, "PreFilter failed")


def test_replicas_that_run_on_one_side_only_are_not_those_placed_on_the_other() -> None:
    running = cluster(*workload(4))
    report = kubespread.compare(Side(running, "deploy/web"), Side(running, "deploy/web", set=["maxSkew=2"]))
    assert [(side.present, side.running) for side in (report.before, report.after)] == [(4, 4), (0, 4)]
    assert report.replicas == ()


def workload(replicas: int) -> list[Data]:
    """A Deployment with its ReplicaSet and pods, node by node."""
    labels = {"foo": "bar"}
    template = {"metadata": {"labels": labels}, "spec": WEB["spec"]}
    spec = {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template}
    deployment = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "default"}}
    replica_set = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": "web-1", "namespace": "default", "ownerReferences": owned_by("Deployment", "web")},
        "spec": spec,
    }
    pods = [pod(f"web-1-{copy}", f"n{copy % 3}", constraints=[hard(ZONE)]) for copy in range(replicas)]
    for each in pods:
        each["metadata"]["ownerReferences"] = owned_by("ReplicaSet", "web-1")
    return [{**deployment, "spec": spec}, replica_set, *pods]


def test_what_both_sides_are_given_is_read_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    threading.Thread(target=pipe.write_text, args=(json.dumps(WEB),)).start()
    report = kubespread.compare(Side(EMPTY, pipe), Side(EMPTY, pipe, set=["cpu=1"]))
    assert report.after.asked == Asked(manifest=str(pipe), settings=("cpu=1",))


def test_the_report_satisfies_its_schema() -> None:
    for before, after, replicas, _ in CASES.values():
        COMPARE_SCHEMA.validate(kubespread.compare(before, after, replicas=replicas).to_dict())
