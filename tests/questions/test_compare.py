"""What differs between two answers, what of that is worse, and what does not differ."""

from __future__ import annotations

import json
import os
import re
import threading
from pathlib import Path

import pytest

import kubespread
from kubespread import ClusterWorkloads, Scheduler, Side
from tests.builders import Data, hard, hosts, pod, pods_on, soft, taint
from tests.cli.support import COMPARE_SCHEMA, FIXTURES
from tests.world.clusters import deployment

ZONE = "topology.kubernetes.io/zone"
WEB = pod(constraints=[hard(ZONE)])


def cluster(*objects: Data, nodes: list[Data] | None = None) -> kubespread.Snapshot:
    return kubespread.Snapshot.from_objects([*(hosts("a", "a", "b") if nodes is None else nodes), *objects])


def changed(position: int, **node: Data) -> list[Data]:
    nodes = hosts("a", "a", "b")
    nodes[position] |= node
    return nodes


EMPTY = cluster()
TWO = cluster(nodes=hosts("a", "b"))
ONE_IN_A = cluster(*pods_on({"n0": 1}))
EVERY = ClusterWorkloads(all_namespaces=True)
TWO_WORKLOADS = cluster(*deployment("api", ("n0",)), *deployment("web", ("n2", "n2")))
CASES: dict[str, tuple[Side, Side, int | None, str, list[str]]] = {
    "nothing differs": (Side(EMPTY, WEB), Side(EMPTY, WEB), 2, "same: 1 workload and 3 nodes", []),
    "an edit that is undone differs in nothing": (
        Side(EMPTY, WEB),
        Side(EMPTY.edited("cordon n0", "uncordon n0"), WEB),
        2,
        "same: 1 workload and 3 nodes",
        [],
    ),
    "a limit that nobody reaches differs in nothing": (
        Side(EMPTY, WEB),
        Side(EMPTY, WEB, set=["maxSkew=5", "minDomains=2"]),
        1,
        "same: 1 workload and 3 nodes",
        [],
    ),
    "a cordoned node no longer fits and its replica stays pending": (
        Side(TWO, WEB),
        Side(TWO.edited("cordon n1"), WEB),
        2,
        "1 of 1 workload and 1 of 2 nodes differ, worse: default/Pod/web pending 0 → 1 and 1 more change",
        [
            "default/Pod/web placed 2 → 1",
            "default/Pod/web pending 0 → 1",
            "default/Pod/web skew zone 0 → 1",
            "default/Pod/web message – → 0/2 nodes are available: 1 node(s) didn't match pod topology spread constraints, 1 node(s) were unschedulable.",
            "default/Pod/web on n1 1 → –",
            "n1 fits yes → no",
            "n1 reason – → node(s) were unschedulable; node(s) had untolerated taint(s)",
            "n1 score 398 → –",
            "n1 place 2 → –",
        ],
    ),
    "a wider skew lets nodes fit": (
        Side(ONE_IN_A, WEB),
        Side(ONE_IN_A, WEB, set=["maxSkew=2"]),
        1,
        "3 of 3 nodes differ, nothing is worse",
        [
            "n1 fits no → yes",
            "n1 reason node(s) didn't match pod topology spread constraints → –",
            "n1 score – → 398",
            "n1 place – → 1",
            "n2 place 1 → 2",
            "n0 fits no → yes",
            "n0 reason node(s) didn't match pod topology spread constraints → –",
            "n0 score – → 397",
            "n0 place – → 3",
        ],
    ),
    "a node that fails for other reasons": (
        Side(cluster(nodes=changed(2, metadata={"name": "n2", "labels": {}})), WEB),
        Side(cluster(nodes=changed(2, spec={"taints": [taint("gpu")]})), WEB),
        1,
        "1 of 1 workload and 1 of 3 nodes differ, nothing is worse",
        [
            "default/Pod/web skew zone 0 → 1",
            "n2 reason node(s) didn't match pod topology spread constraints (missing required label) → node(s) had untolerated taint(s)",
        ],
    ),
    "nodes of one side only": (
        Side(EMPTY, WEB),
        Side(EMPTY.edited("delete-node n1", "add-node n2"), WEB),
        0,
        "3 of 4 nodes differ, worse: n1 fits yes → –",
        [
            "n2 place 3 → 2",
            "n2-1 fits – → yes",
            "n2-1 score – → 398",
            "n2-1 place – → 3",
            "n1 fits yes → –",
            "n1 score 398 → –",
            "n1 place 2 → –",
        ],
    ),
    "two manifests that name a workload differently": (
        Side(EMPTY, WEB),
        Side(EMPTY, {**WEB, "metadata": {**WEB["metadata"], "name": "other"}}),
        1,
        "same: 1 workload and 3 nodes",
        [],
    ),
    "releases whose scores are not modeled have neither scores nor placements to compare": (
        Side(TWO, WEB),
        Side(TWO.edited("cordon n1"), WEB, Scheduler(kube_version="1.20")),
        2,
        "1 of 2 nodes differs, worse: n1 fits yes → no",
        [
            "n1 fits yes → no",
            "n1 reason – → node(s) were unschedulable; node(s) had taint {node.kubernetes.io/unschedulable: }, that the pod didn't tolerate",
        ],
    ),
    "all workloads, placed from scratch": (
        Side(TWO_WORKLOADS, EVERY),
        Side(TWO_WORKLOADS.edited("cordon n0", "cordon n1"), EVERY),
        None,
        "if all replicas are placed anew, 2 of 2 workloads differ, nothing is worse",
        [
            "default/Deployment/api on n2 – → 1",
            "default/Deployment/api on n0 1 → –",
            "default/Deployment/web skew hostname 1 → 2",
            "default/Deployment/web skew zone 0 → 2",
            "default/Deployment/web on n2 1 → 2",
            "default/Deployment/web on n1 1 → –",
        ],
    ),
    "a workload that is gone": (
        Side(TWO_WORKLOADS, EVERY),
        Side(cluster(*deployment("web", ("n2", "n2"))), EVERY),
        None,
        "if all replicas are placed anew, 2 of 2 workloads differ, worse: default/Deployment/api placed 1 → –",
        [
            "default/Deployment/web on n0 – → 1",
            "default/Deployment/web on n1 1 → –",
            "default/Deployment/api placed 1 → –",
            "default/Deployment/api pending 0 → –",
            "default/Deployment/api skew hostname 1 → –",
            "default/Deployment/api skew zone 1 → –",
            "default/Deployment/api skew hostname above maxSkew 0 → –",
            "default/Deployment/api skew zone above maxSkew 0 → –",
            "default/Deployment/api on n0 1 → –",
        ],
    ),
    "all workloads": (
        Side(TWO_WORKLOADS, ClusterWorkloads()),
        Side(TWO_WORKLOADS, ClusterWorkloads(), set=["replicas=4"]),
        None,
        "if all replicas are placed anew, 2 of 2 workloads differ, nothing is worse",
        [
            "default/Deployment/api placed 1 → 4",
            "default/Deployment/api skew zone 1 → 0",
            "default/Deployment/api on n1 – → 1",
            "default/Deployment/api on n2 – → 2",
            "default/Deployment/web placed 2 → 4",
            "default/Deployment/web on n0 – → 1",
            "default/Deployment/web on n2 1 → 2",
        ],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_which_cells_differ_and_what_is_worse(case: str) -> None:
    before, after, replicas, said, cells = CASES[case]
    report = kubespread.compare(before, after, replicas=replicas)
    assert (report.answer[0], [str(change) for change in report.changes]) == (said, cells)
    assert report.verdict == ("no" if ", worse: " in said else "yes")
    COMPARE_SCHEMA.validate(report.to_dict())


def of_two(constraint: Data, *, number: int = 2) -> Data:
    return deployment("web", replicas=number, spec={"topologySpreadConstraints": [constraint]})[0]


WEB_LABELS = {"app": "web"}
WIDE, NARROW = (of_two(soft(ZONE, skew, match=WEB_LABELS)) for skew in (2, 1))
IN_A = {"nodeSelector": {ZONE: "a"}}
CORDONED = EMPTY.edited("cordon n2")
THREE = cluster(*pods_on({"n0": 3}))
SKEWS: dict[str, tuple[Side, Side, list[str], list[str]]] = {
    "a larger skew within maxSkew is not worse": (
        Side(EMPTY, WIDE),
        Side(CORDONED, WIDE),
        ["skew zone 0 → 2"],
        ["n2 fits yes → no"],
    ),
    "a skew that now exceeds maxSkew is": (
        Side(EMPTY, NARROW),
        Side(CORDONED, NARROW),
        ["skew zone 0 → 2", "skew zone above maxSkew 0 → 1"],
        ["default/Deployment/web skew zone above maxSkew 0 → 1", "n2 fits yes → no"],
    ),
    "a skew that exceeded it as far before is not": (Side(CORDONED, NARROW), Side(CORDONED, NARROW), [], []),
    "a skew that exceeds it less is not": (
        Side(CORDONED, NARROW),
        Side(EMPTY, NARROW),
        ["skew zone 2 → 0", "skew zone above maxSkew 1 → 0"],
        [],
    ),
    "the same skew exceeds a smaller maxSkew": (
        Side(CORDONED, WIDE),
        Side(CORDONED, NARROW),
        ["skew zone above maxSkew 0 → 1"],
        ["default/Deployment/web skew zone above maxSkew 0 → 1"],
    ),
    "the same skew is within a larger one": (
        Side(CORDONED, NARROW),
        Side(CORDONED, WIDE),
        ["skew zone above maxSkew 1 → 0"],
        [],
    ),
    "the skew of replicas that had no node before is not compared": (
        Side(CORDONED.edited("cordon n0", "cordon n1"), NARROW),
        Side(CORDONED, NARROW),
        ["placed 0 → 2", "pending 2 → 0", "skew zone 0 → 2", "skew zone above maxSkew 0 → 1"],
        [],
    ),
    "nor is that of more replicas": (
        Side(CORDONED, NARROW),
        Side(CORDONED, of_two(soft(ZONE, match=WEB_LABELS), number=4)),
        ["placed 2 → 4", "skew zone 2 → 4", "skew zone above maxSkew 1 → 3"],
        [],
    ),
    "that of fewer replicas is": (
        Side(EMPTY, of_two(soft(ZONE, match=WEB_LABELS), number=4)),
        Side(CORDONED, of_two(soft(ZONE, match=WEB_LABELS), number=3)),
        ["placed 4 → 3", "skew zone 0 → 3", "skew zone above maxSkew 0 → 2"],
        ["default/Deployment/web skew zone above maxSkew 0 → 2", "n2 fits yes → no"],
    ),
    "a constraint that is new has no earlier skew": (
        Side(CORDONED, of_two(soft("kubernetes.io/hostname", match=WEB_LABELS))),
        Side(CORDONED, NARROW),
        [
            "skew zone – → 2",
            "skew zone above maxSkew – → 1",
            "skew hostname 1 → –",
            "skew hostname above maxSkew 0 → –",
        ],
        [],
    ),
}


@pytest.mark.parametrize("case", SKEWS)
def test_a_skew_is_worse_only_where_as_many_replicas_exceed_max_skew_by_more(case: str) -> None:
    before, after, cells, worse = SKEWS[case]
    report = kubespread.compare(before, after)
    own = [change.cell for change in report.changes if "/" in change.key]
    assert [cell for cell in own if not cell.startswith(("on ", "message "))] == cells
    assert [str(change) for change in report.worse] == worse
    assert report.verdict == ("no" if worse else "yes")


NAMES: dict[str, tuple[Data, Data, tuple[str, ...]]] = {
    "one name": (WEB, WEB, ()),
    "two names": (
        WEB,
        {**WEB, "metadata": {**WEB["metadata"], "name": "other"}},
        ("workload: default/Pod/web → default/Pod/other",),
    ),
    "two namespaces": (
        WEB,
        {**WEB, "metadata": {**WEB["metadata"], "namespace": "shop"}},
        ("workload: default/Pod/web → shop/Pod/web",),
    ),
    "two kinds": (WEB, WIDE, ("workload: default/Pod/web → default/Deployment/web",)),
}


@pytest.mark.parametrize("case", NAMES)
def test_both_names_are_said_of_workloads_that_have_two(case: str) -> None:
    before, after, said = NAMES[case]
    report = kubespread.compare(Side(EMPTY, before), Side(EMPTY, after), replicas=1)
    assert report.answer[1:] == said


QUOTA: Data = {
    "apiVersion": "v1",
    "kind": "ResourceQuota",
    "metadata": {"name": "q", "namespace": "default"},
    "spec": {"hard": {"pods": "3"}},
}
FORBIDDEN = 'pods "NAME" is forbidden: exceeded quota: q, requested: pods=1, used: pods=3, limited: pods=3'
FOUR = deployment("web", replicas=4)[0]
LARGE = deployment("web", replicas=1, cpu="5")[0]
BOTH_WAIT = cluster(pod("big", requests={"cpu": "5"}), pod("filler", "n0", requests={"cpu": "5"}), nodes=hosts("a"))
SHORTAGES: dict[str, tuple[Side, Side, list[str]]] = {
    "a quota allows fewer on both sides": (
        Side(cluster(QUOTA), FOUR),
        Side(cluster(QUOTA).edited("cordon n0"), FOUR),
        [
            "1 of 1 workload and 3 of 3 nodes differ, worse: n0 fits yes → no",
            f"placed 3 of 4 before and after: {FORBIDDEN}",
            "edits: – → cordon n0",
        ],
    ),
    "a quota allows fewer on the later side": (
        Side(EMPTY, FOUR),
        Side(cluster(QUOTA), FOUR),
        [
            "1 of 1 workload differs, worse: default/Deployment/web not created – → 1",
            f"placed 3 of 4 after: {FORBIDDEN}",
        ],
    ),
    "nodes have no room on either side": (
        Side(BOTH_WAIT, LARGE),
        Side(BOTH_WAIT.edited("cordon n0"), LARGE),
        [
            "1 of 1 workload and 1 of 1 node differ, nothing is worse",
            "placed 0 of 1 before and after: 0/1 nodes are available: 1 node(s) were unschedulable.",
            "edits: – → cordon n0",
        ],
    ),
    "a new node is taken by a pod that waits": (
        Side(BOTH_WAIT, LARGE),
        Side(BOTH_WAIT.edited("add-node n0"), LARGE),
        [
            "1 of 1 workload and 1 of 2 nodes differ, nothing is worse",
            "placed 0 of 1 before and after: 0/2 nodes are available: 2 Insufficient cpu.",
            "n0-1 takes 1 pending pod first: default/big",
            "edits: – → add-node n0",
        ],
    ),
}


@pytest.mark.parametrize("case", SHORTAGES)
def test_replicas_that_a_side_does_not_place_are_counted_with_the_reason(case: str) -> None:
    before, after, expected = SHORTAGES[case]
    report = kubespread.compare(before, after)
    assert [re.sub('pods "[^"]*"', 'pods "NAME"', sentence) for sentence in report.answer] == expected


def test_one_workload_is_counted_as_plan_counts_it_and_all_of_them_as_if_placed_anew() -> None:
    snapshot = kubespread.load(FIXTURES / "clusters" / "web-in-three-zones.yaml")
    drained = snapshot.edited("drain zone=c")
    one = kubespread.compare(Side(snapshot, "deploy/web"), Side(drained, "deploy/web"))
    every = kubespread.compare(Side(snapshot, EVERY), Side(drained, EVERY))
    assert [report.answer[0] for report in (kubespread.plan(drained), one, every)] == [
        "2 pods pending (Deployment/web), 1 workload degraded (Deployment/web 4 of 6 ready)",
        "1 of 1 workload and 6 of 6 nodes differ, worse: default/Deployment/web pending 0 → 2 and 7 more changes",
        "if all replicas are placed anew, 1 of 1 workload differs, worse: default/Deployment/web pending 0 → 4",
    ]


ONE_SIDED: dict[str, tuple[Side, Side, str]] = {
    "it comes": (
        Side(EMPTY, "deploy/web"),
        Side(TWO_WORKLOADS, "deploy/web"),
        'BEFORE: deployments.apps "web" not found in namespace default; no Deployment was read at all, only nodes; '
        "it is in AFTER",
    ),
    "it goes": (
        Side(TWO_WORKLOADS, "deploy/web"),
        Side(EMPTY, "deploy/web"),
        'AFTER: deployments.apps "web" not found in namespace default; no Deployment was read at all, only nodes; '
        "it is in BEFORE",
    ),
    "neither side has it": (
        Side(TWO_WORKLOADS, "deploy/other"),
        Side(TWO_WORKLOADS, "deploy/other"),
        'deployments.apps "other" not found in namespace default; there are api, web',
    ),
    "another one is meant on the later side": (
        Side(TWO_WORKLOADS, "deploy/other"),
        Side(TWO_WORKLOADS, "deploy/web"),
        'deployments.apps "other" not found in namespace default; there are api, web',
    ),
}


@pytest.mark.parametrize("case", ONE_SIDED)
def test_the_side_that_lacks_a_workload_is_named(case: str) -> None:
    before, after, expected = ONE_SIDED[case]
    with pytest.raises(kubespread.UsageError) as refused:
        kubespread.compare(before, after)
    assert str(refused.value) == expected


def test_what_both_sides_are_given_is_read_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    threading.Thread(target=pipe.write_text, args=(json.dumps(WEB),)).start()
    report = kubespread.compare(Side(EMPTY, pipe), Side(EMPTY, pipe, set=["cpu=1"]))
    assert (report.after.manifest, report.before.settings, report.after.settings) == (str(pipe), (), ("cpu=1",))
    assert report.answer[1:] == ("fields set: – → cpu=1",)


ROLLED_OUT: dict[str, tuple[str, int, Data | None, tuple[int, int, int], list[str], list[str]]] = {
    "a new template that fits once an old pod is gone": (
        "6",
        3,
        {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}},
        (3, 0, 0),
        [],
        [],
    ),
    "a new template that has no room beside the old one, which stays": (
        "6",
        3,
        None,
        (0, 1, 3),
        ["placed 3 → 0", "pending 0 → 1", "old pods – → 3"],
        ["no rollout completes"],
    ),
    "a new template that fits nowhere, with one old pod less": (
        "9",
        3,
        {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}},
        (0, 1, 2),
        ["placed 3 → 0", "pending 0 → 1", "old pods – → 2", "on n0 1 → –"],
        ["none of its 3 replicas finds a node, all placed anew"],
    ),
    "a new template without the old pods": (
        "9",
        3,
        {"type": "Recreate"},
        (0, 3, 0),
        ["placed 3 → 0", "pending 0 → 3", "on n0 1 → –", "on n1 1 → –", "on n2 1 → –"],
        ["none of its 3 replicas finds a node, all placed anew"],
    ),
    "more replicas of the template that runs": (
        "5",
        4,
        None,
        (3, 1, 0),
        ["pending 0 → 1"],
        ["1 of 4 replicas finds no node, all placed anew"],
    ),
}


@pytest.mark.parametrize("case", ROLLED_OUT)
def test_a_manifest_of_a_workload_that_runs_has_the_counts_of_simulate_and_check_says_which_it_counts(
    case: str,
) -> None:
    cpu, replicas, strategy, (placed, pending, old), cells, found = ROLLED_OUT[case]
    running = cluster(*deployment("web", ("n0", "n1", "n2"), cpu="5"), nodes=hosts("a", "b", "c"))
    manifest = deployment("web", replicas=replicas, cpu=cpu, strategy=strategy)[0]
    simulated = kubespread.simulate(running, manifest)
    assert (simulated.running, simulated.pending) == (placed, pending)
    assert sum(node.present for node in simulated.nodes) - simulated.present == old
    report = kubespread.compare(Side(running, "deploy/web"), Side(running, manifest))
    counts = [change.cell for change in report.changes if change.key == "default/Deployment/web"]
    assert [cell for cell in counts if not cell.startswith("message")] == cells
    checked = kubespread.check(running, [manifest], select=["KS209", "KS406"])
    assert [finding.text.partition(":")[0].partition(" with")[0] for finding in checked.findings] == found
    note = (
        "Deployment/web runs with another template: all replicas are placed anew, without those that run; plan -f "
        "plays the rollout to this one"
    )
    assert (note in checked.notes) is (cpu != "5")


def test_every_pass_of_a_rollout_is_seen_where_a_new_pod_waits_for_the_room_of_an_old_one() -> None:
    running = cluster(*deployment("web", ("n0", "n1", "n2"), cpu="5"), nodes=hosts("a", "b", "c"))
    in_place = {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 1}}
    (manifest, *_) = deployment("web", replicas=3, cpu="6", strategy=in_place)
    rollout = kubespread.simulate(running, manifest).rollout
    assert rollout is not None
    assert rollout.complete
    assert [(row.running.old, row.running.new) for row in rollout.passes] == [(2, 0), (2, 0), (1, 1), (1, 1), (0, 2)]
