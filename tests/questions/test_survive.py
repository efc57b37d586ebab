"""Domains lost one by one: what is counted of it, for whom, and what is left alone."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import kubespread
from kubespread import Snapshot, SurviveReport, UsageError
from kubespread.kube.owners import WorkloadName
from kubespread.questions.survive import NONE_READY
from kubespread.questions.survive.view import view
from kubespread.reports.outcome import Outcome, Trouble, WorkloadChange, badness, kinds_of
from kubespread.views import terminal
from kubespread.views.look import Look, Tone
from kubespread.views.view import Tile
from tests.builders import Data, hard, hosts, pod
from tests.cli.support import FIXTURES, run
from tests.world.clusters import daemon_set, deployment, stateful_set

CASES_DIRECTORY = Path(__file__).parents[2] / "fixtures" / "cases"
ZONE, HOSTNAME = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
WEB = {"app": "web"}
TAINTED, SKEWED = "1 node(s) had untolerated taint(s)", "2 node(s) didn't match pod topology spread constraints"
UNSPREAD = f"0/3 nodes are available: {TAINTED}, {SKEWED}"
FULL = f"0/2 nodes are available: 1 Insufficient cpu, {TAINTED}"
HELD = "pods are terminating on nodes that do not answer, and only made again once they are gone"
STAYS = "pods are not ready on nodes that do not answer, and are not evicted there"
ALL = "every zone is down: the node controller suspects itself, takes back its NoExecute taints and evicts nothing"


def spread(**more: Any) -> Data:
    return {"topologySpreadConstraints": [hard(ZONE, match=WEB, **more)]}


def survived(objects: list[Data], *keys: str, **options: Any) -> SurviveReport:
    return kubespread.survive(Snapshot.from_objects(objects), keys, **options)


def lines(objects: list[Data]) -> list[str]:
    """``a: 2 gone, 1 placed, 1 pending, 0 if deleted``, then what else there is to a domain, each on a line."""
    told = []
    silent, deleted = survived(objects), survived(objects, nodes_deleted=True)
    for loss, gone in zip(silent.losses, deleted.losses, strict=True):
        told.append(
            f"{loss.domain}: {loss.gone} gone, {loss.placed} placed, {loss.pending} pending, {gone.pending} if deleted"
        )
        told += [f"{each.kind} {each.count} of {each.subject}: {each.why}" for each in loss.troubles]
        told += [f"not made again {name}" for name in loss.lost]
        told += [f"preempted {each.pod}" for each in loss.preempted]
        for row, each in zip(loss.workloads, gone.workloads, strict=True):
            if why := row.why or each.why:
                figures = f"{row.ready} of {row.wanted} ready, {each.ready} if deleted"
                told.append(f"degraded {each.workload} {figures}: {why}")
        told += loss.notes
    return told


THREE = hosts("a", "b", "c")

CASES: dict[str, tuple[list[Data], list[str]]] = {
    "what is spread over nothing finds another node": (
        [*hosts("a", "b"), *deployment("web", ("n0", "n1"))],
        ["a: 1 gone, 1 placed, 0 pending, 0 if deleted", "b: 1 gone, 1 placed, 0 pending, 0 if deleted"],
    ),
    "a lost zone counts as an empty domain until its Node objects are gone": (
        [*THREE, *deployment("web", ("n0", "n1", "n2"), spec=spread())],
        [
            line
            for zone in "abc"
            for line in (
                f"{zone}: 1 gone, 0 placed, 1 pending, 0 if deleted",
                f"pending 1 of default/Deployment/web: {UNSPREAD}.",
                f"degraded default/Deployment/web 2 of 3 ready, 3 if deleted: {UNSPREAD}.",
            )
        ],
    ),
    "one of three zones with minDomains 3: its pods wait for ever": (
        [*THREE, *deployment("web", ("n0", "n1", "n2"), spec=spread(minDomains=3))],
        [
            line
            for zone in "abc"
            for line in (
                f"{zone}: 1 gone, 0 placed, 1 pending, 1 if deleted",
                f"pending 1 of default/Deployment/web: {UNSPREAD}.",
                f"degraded default/Deployment/web 2 of 3 ready, 2 if deleted: {UNSPREAD}.",
            )
        ],
    ),
    "with nodeTaintsPolicy Honor a lost zone is no domain": (
        [*THREE, *deployment("web", ("n0", "n1", "n2"), spec=spread(nodeTaintsPolicy="Honor"))],
        [f"{zone}: 1 gone, 1 placed, 0 pending, 0 if deleted" for zone in "abc"],
    ),
    "bare pods are not made again, daemons go with their nodes, a StatefulSet waits for the Node objects": (
        [*hosts("a", "b"), *stateful_set("db", ("n0", "n1")), *daemon_set("agent", ("n0", "n1")), pod("bare", "n0")],
        [
            "a: 2 gone, 0 placed, 0 pending, 0 if deleted",
            "lost 1 of default/Pod/bare: ",
            "unmade 1 of default/StatefulSet/db: waits for db-0, which is terminating",
            "not made again default/bare",
            f"degraded default/StatefulSet/db 1 of 2 ready, 2 if deleted: {HELD}",
            "b: 1 gone, 0 placed, 0 pending, 0 if deleted",
            "unmade 1 of default/StatefulSet/db: waits for db-1, which is terminating",
            f"degraded default/StatefulSet/db 1 of 2 ready, 2 if deleted: {HELD}",
        ],
    ),
    "who tolerates that a node does not answer for ever is not lost, and is not ready either": (
        [*hosts("a", "b"), *deployment("web", ("n0",), spec={"tolerations": [{"operator": "Exists"}]})],
        [
            "a: 0 gone, 0 placed, 0 pending, 0 if deleted",
            "short 1 of default/Deployment/web: 0 of 1 ready, 1 before",
            f"degraded default/Deployment/web 0 of 1 ready, 1 if deleted: {STAYS}",
            "b: 0 gone, 0 placed, 0 pending, 0 if deleted",
        ],
    ),
    "without a grace period a StatefulSet's pod is gone at once, and made again while the Node objects are there": (
        [*hosts("a", "b"), *stateful_set("db", ("n0", "n1"), spec={"terminationGracePeriodSeconds": 0})],
        ["a: 1 gone, 1 placed, 0 pending, 0 if deleted", "b: 1 gone, 1 placed, 0 pending, 0 if deleted"],
    ),
    "nobody is evicted where every zone is down": (
        [*hosts("a", "a"), *deployment("web", ("n0", "n1"))],
        [
            "a: 0 gone, 0 placed, 0 pending, 2 if deleted",
            "short 2 of default/Deployment/web: 0 of 2 ready, 2 before",
            f"degraded default/Deployment/web 0 of 2 ready, 0 if deleted: {STAYS}",
            ALL,
        ],
    ),
    "pods that waited before are not pending of the loss": (
        [*hosts("a", "b"), *deployment("web", ("n0", None), cpu="9"), *deployment("api", ("n1",), cpu="1")],
        [
            line
            for zone, name, wanted in (("a", "web", 2), ("b", "api", 1))
            for line in (
                f"{zone}: 1 gone, 0 placed, 1 pending, 1 if deleted",
                f"pending 1 of default/Deployment/{name}: {FULL}.",
                f"degraded default/Deployment/{name} 0 of {wanted} ready, 0 if deleted: {FULL}.",
            )
        ],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_losing_each_zone_comes_to(case: str) -> None:
    objects, expected = CASES[case]
    assert lines(objects) == expected


def test_fewer_wait_where_a_zone_is_lost_node_by_node() -> None:
    """The first successor goes to zone c while the pod on the second silent node still counts in zone a."""
    web = deployment("web", ("n0", "n1", "n2", "n2", "n3"), spec=spread())
    loss = survived([*hosts("a", "a", "b", "c"), *web]).losses[0]
    assert (loss.domain, loss.gone, loss.placed, loss.pending) == ("a", 2, 1, 1)


def test_without_zones_the_domains_are_hosts() -> None:
    report = survived([*hosts(None, None), *deployment("web", ("n0",))])
    assert [(loss.topology_key, loss.domain, loss.gone) for loss in report.losses] == [
        (HOSTNAME, "n0", 1),
        (HOSTNAME, "n1", 0),
    ]


@pytest.mark.parametrize(
    ("labels", "key"),
    [({ZONE: "a", "zone": "b"}, ZONE), ({ZONE: "a", HOSTNAME: "n"}, ZONE), ({"zone": "b", HOSTNAME: "n"}, "zone")],
    ids=["both", "the well-known one", "one of their own"],
)
def test_zones_are_lost_by_the_label_that_nodes_have(labels: dict[str, str], key: str) -> None:
    (only,) = hosts("a")
    only["metadata"]["labels"] = labels
    assert [loss.topology_key for loss in survived([only, pod("web", "n0")]).losses] == [key]


def test_keys_are_lost_in_the_order_asked_and_nodes_outside_are_said() -> None:
    report = survived([*hosts("b", "a", None), *deployment("web", ("n0",))], "hostname", "zone", "hostname")
    assert [loss.domain for loss in report.losses] == ["n0", "n1", "n2", "a", "b"]
    assert report.notes == (f"1 node without the label {ZONE} is in none of its domains",)


def test_pods_that_are_pending_already_are_said_once() -> None:
    report = survived([*hosts("a", "b"), *deployment("web", ("n0", None), cpu="9")])
    assert report.pending_before == 1


PLACED_FIRST: dict[str, tuple[tuple[str | None, ...], dict[str, Any], str]] = {
    "none where all pods run": (("n0", "n1"), {}, ""),
    "one that waits and finds a node": (("n0", None), {}, "1 pending pod is counted as placed first"),
    "one that waits and one that is not there yet": (
        ("n0", None),
        {"replicas": 3},
        "1 pending and 1 missing pods are counted as placed first",
    ),
}


@pytest.mark.parametrize("case", PLACED_FIRST)
def test_pods_that_are_placed_before_anything_is_lost_are_said_after_the_headline(case: str) -> None:
    pods, more, expected = PLACED_FIRST[case]
    report = survived([*hosts("a", "b"), *deployment("web", pods, **more)])
    assert (report.placed_first, report.answer[1:2], report.notes) == (expected, (expected,) if expected else (), ())


def test_the_next_command_is_about_the_same_pods(tmp_path: Path) -> None:
    path = tmp_path / "cluster.json"
    for pods in ("n0", "n1"), ("n0", "n1", "n2"):
        items = [*hosts("a", "b", "b"), *deployment("web", pods, cpu="5", replicas=3)]
        path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
        shown = run("survive", "-A", "-S", path, terminal=200, env={"NO_COLOR": "1"}).out
        assert "next: kubespread plan --fail" in shown


DB = stateful_set("db", ("n0", "n0"), spec={"nodeSelector": {ZONE: "a"}})
SMALL = deployment("web", ("n0", "n1", "n2"), spec=spread(nodeTaintsPolicy="Honor"))
BIG = deployment("big", (None, None), cpu="99")
MISPLACED = "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector"
NOT_MADE = "losing zone a: 1 pod not created (StatefulSet/db): waits for db-0, which has no node"
PENDING = f"losing zone a: 1 pod pending (StatefulSet/db): {MISPLACED}"
DOWN, FEWER = "1 workload degraded (StatefulSet/db 0 of 2 ready)", "1 workload degraded (Deployment/web 2 of 3 ready)"
ANSWERS: dict[str, tuple[list[Data], dict[str, Any], tuple[tuple[str, ...], ...], tuple[str, ...]]] = {
    "nothing is left behind": ([*THREE, *SMALL], {}, ((), (), ()), ("any one of 3 zones can be lost",)),
    "no pod runs that a loss could take": (
        [*THREE, *BIG],
        {},
        ((), (), ()),
        (f"not known for Deployment/big: {NONE_READY}", "2 pods were already pending and stay so"),
    ),
    "a pod without a workload does not run": (
        [*THREE, pod("bare", requests={"cpu": "99"})],
        {},
        ((), (), ()),
        (f"not known for Pod/bare: {NONE_READY}", "1 pod was already pending and stays so"),
    ),
    "no pod is there at all": ([*THREE, *BIG[:1]], {}, ((), (), ()), (f"not known for Deployment/big: {NONE_READY}",)),
    "a workload that runs says nothing of one that does not": (
        [*THREE, *SMALL, *BIG],
        {},
        ((), (), ()),
        (
            f"not known for Deployment/big: {NONE_READY}",
            "apart from that, any one of 3 zones can be lost",
            "2 pods were already pending and stay so",
        ),
    ),
    "a loss is what it is, whatever runs besides": (
        [*THREE, *BIG, pod("bare", "n1")],
        {},
        ((), ("lost",), ()),
        (
            "2 of 3 zones can be lost. zone b: 1 pod lost for good (Pod/bare)",
            "2 pods were already pending and stay so",
            f"not known for Deployment/big: {NONE_READY}",
        ),
    ),
    "judgment/16/z: a StatefulSet makes no pods while the Node objects are there": (
        [*THREE, *DB],
        {},
        (("unmade", "short"), (), ()),
        (
            f"2 of 3 zones can be lost. zone a: 2 pods not created (StatefulSet/db), {DOWN}",
            "losing zone a: 2 pods not created (StatefulSet/db): waits for db-0, which is terminating",
        ),
    ),
    "judgment/16/z: its pods wait once the Node objects are deleted": (
        [*THREE, *DB],
        {"nodes_deleted": True},
        (("unmade", "pending", "short"), (), ()),
        (
            "2 of 3 zones can be lost. zone a: 1 pod not created (StatefulSet/db), 1 pod pending (StatefulSet/db), "
            f"{DOWN}",
            NOT_MADE,
            PENDING,
        ),
    ),
    "a silent zone counts as an empty domain": (
        [*THREE, *deployment("web", ("n0", "n1", "n2"), spec=spread())],
        {},
        (("pending", "short"),) * 3,
        (
            f"none of 3 zones can be lost. zone a: 1 pod pending (Deployment/web), {FEWER}",
            f"losing any zone: 1 pod pending: {UNSPREAD}",
            "losing any zone: 1 workload degraded, at worst Deployment/web 2 of 3 ready (losing zone a)",
        ),
    ),
    "a deleted one does not": (
        [*THREE, *deployment("web", ("n0", "n1", "n2"), spec=spread())],
        {"nodes_deleted": True},
        ((), (), ()),
        ("any one of 3 zones can be lost",),
    ),
    "what each zone does is said of that zone alone": (
        [*THREE, *SMALL, *DB, pod("bare", "n1")],
        {"nodes_deleted": True},
        (("unmade", "pending", "short"), ("lost",), ()),
        (
            "1 of 3 zones can be lost. zone b: 1 pod lost for good (Pod/bare)",
            NOT_MADE,
            PENDING,
            f"losing zone a: {DOWN}",
        ),
    ),
    "what several zones do alike is said of all of them": (
        [*THREE, *SMALL, pod("bare", "n0"), pod("other", "n1")],
        {},
        (("lost",), ("lost",), ()),
        ("1 of 3 zones can be lost. zone a: 1 pod lost for good (Pod/bare)", "losing zone a or b: 1 pod lost for good"),
    ),
    "the worst key is the answer": (
        [*THREE, *SMALL, pod("bare", "n1")],
        {"keys": ("hostname", "zone")},
        ((), ("lost",), ()) * 2,
        (
            "2 of 3 nodes can be lost. node n1: 1 pod lost for good (Pod/bare)",
            "2 of 3 zones can be lost",
            "losing node n1 or zone b: 1 pod lost for good",
        ),
    ),
}


@pytest.mark.parametrize("case", ANSWERS)
def test_what_is_left_behind_decides_whether_a_domain_can_be_lost(case: str) -> None:
    objects, options, troubles, answer = ANSWERS[case]
    report = kubespread.survive(Snapshot.from_objects(objects), **options)
    assert (tuple(tuple(kinds_of(loss)) for loss in report.losses), report.answer) == (troubles, answer)
    assert report.verdict == ("no" if any(troubles) else "unknown" if report.untested else "yes")


@pytest.mark.parametrize(("objects", "tile"), [(BIG, ("not known", Tone.WARN)), (SMALL, ("3 of 3", Tone.GOOD))])
def test_a_page_claims_nothing_that_no_loss_tests(objects: list[Data], tile: tuple[str, Tone]) -> None:
    seen = view(kubespread.survive(Snapshot.from_objects([*THREE, *objects])))
    assert seen.tiles[0] == Tile("zones can be lost", *tile)


def test_the_worst_outcome_is_what_is_lost_then_what_most_workloads_lack_then_what_most_pods_lack() -> None:
    def pending(name: str, **pods: int) -> Outcome:
        waiting = ((WorkloadName("Deployment", "shop", each), count) for each, count in pods.items())
        troubles = tuple(Trouble(kind="pending", subject=each, count=count) for each, count in waiting)
        return Outcome(name=name, troubles=troubles)

    lost = Trouble(kind="lost", subject=WorkloadName("Pod", "shop", "bare"))
    change = WorkloadChange(WorkloadName("Deployment", "shop", "slow"), 3, 3, 1, 1, why="it is not ready")
    rows = [
        Outcome(name="nothing"),
        pending("ten pods of one", web=10),
        pending("two of each of two", web=2, api=2),
        replace(pending("one of one, and another degraded", web=1), workloads=(change,)),
        Outcome(name="a pod for good", troubles=(lost,)),
    ]
    assert [row.name for row in sorted(rows, key=badness)] == [
        "a pod for good",
        "two of each of two",
        "one of one, and another degraded",
        "ten pods of one",
        "nothing",
    ]


def test_pods_lost_for_good_come_before_pods_that_wait() -> None:
    report = kubespread.survive(kubespread.load(FIXTURES / "clusters" / "audit.yaml"))
    assert [(loss.pending, len(loss.lost)) for loss in report.losses] == [(3, 0), (2, 2), (2, 0)]
    assert [loss.domain for loss in sorted(report.losses, key=badness)] == ["b", "a", "c"]
    assert report.answer[0] == (
        "none of 3 zones can be lost. zone b: 2 pods lost for good (Pod/worker-0, Pod/worker-1), "
        "2 pods pending (Deployment/api, Deployment/web), 2 workloads degraded (at worst Deployment/api 2 of 3 ready)"
    )
    shown = run("survive", "-A", "-S", FIXTURES / "clusters" / "audit.yaml", terminal=120).out
    assert [line.split()[0] for line in shown.splitlines() if line[2:5] in ("a  ", "b  ", "c  ")] == ["b", "a", "c"]


@pytest.mark.parametrize(("nodes_deleted", "name"), [(False, "big"), (True, "small")])
def test_a_workload_is_pushed_out_only_once_the_nodes_are_deleted(nodes_deleted: bool, name: str) -> None:
    """big waits while the lost zone counts as an empty domain; then it takes the room of small."""
    spec = {"priority": 5, "topologySpreadConstraints": [hard(ZONE, match={"app": "big"})]}
    big = deployment("big", ("n0", "n1"), cpu="6", spec=spec)
    objects = [*hosts("a", "b", "b"), *big, *deployment("small", ("n2",), cpu="4")]
    (loss, _) = survived(objects, nodes_deleted=nodes_deleted).losses
    assert [each.workload for each in loss.degraded] == [f"default/Deployment/{name}"]
    assert (loss.pending, len(loss.preempted)) == (1, int(nodes_deleted))


def test_a_zone_that_is_lost_already_is_not_counted_as_one_that_can_be_lost() -> None:
    """Of what its failure left pending nothing is said again; what the deletion of its nodes takes is."""
    now = Snapshot.from_objects([*THREE, *SMALL, *DB]).edited("fail zone=a")
    report = kubespread.survive(now, nodes_deleted=True)
    assert [(loss.domain, loss.already_lost) for loss in report.losses] == [("a", True), ("b", False), ("c", False)]
    assert report.answer == (
        "any one of 2 zones can be lost",
        f"losing zone a: 1 pod pending (StatefulSet/db): {MISPLACED}",
        "zone a is lost already",
        f"not known for StatefulSet/db: {NONE_READY}",
    )
    everything = kubespread.survive(Snapshot.from_objects([*hosts("a"), *deployment("web", ("n0",))]).edited("fail n0"))
    assert (everything.verdict, everything.answer[-1]) == ("no", f"not known for Deployment/web: {NONE_READY}")


def test_another_pod_of_a_workload_that_takes_the_place_of_a_lost_one_is_not_pending_of_the_loss() -> None:
    """web-c waits for room, and takes that which the loss of zone a frees in it; the successor of web-a waits."""
    objects = [*hosts("a", "a", "b"), *deployment("web", ("n0", "n2", None), spec=spread(minDomains=3))]
    report = survived(objects, "hostname")
    assert (report.pending_before, report.losses[0].placed, report.losses[0].pending) == (1, 1, 0)


def test_the_order_in_which_pods_are_made_again_decides_who_waits() -> None:
    """judgment/s30: in the order that is modeled 3 wait once zone-a is deleted; where those of w2 come first, 5 do."""
    report = kubespread.survive(kubespread.load(CASES_DIRECTORY / "judgment" / "s30.json"), nodes_deleted=True)
    assert [loss.pending for loss in report.losses] == [3, 2, 1]
    assert any(said.startswith("the order in which pods are made again") for said in report.not_modelled)


OTHER = {"metadata": {"name": "api-a", "namespace": "shop"}}
ASKED: dict[str, tuple[dict[str, Any], int, list[int]]] = {
    "all": ({}, 2, [2, 0]),
    "a namespace": ({"namespace": "default"}, 2, [2, 0]),
    "labels of the workload": ({"selector": "tier=web"}, 1, [1, 0]),
    "labels that it lacks": ({"selector": "tier!=web"}, 1, [1, 0]),
}


@pytest.mark.parametrize("case", ASKED)
def test_only_the_workloads_asked_about_count(case: str) -> None:
    options, workloads, gone = ASKED[case]
    web, api = deployment("web", ("n0",)), deployment("api", ("n0",))
    web[0]["metadata"]["labels"] = {"tier": "web"}
    report = survived([*hosts("a", "b"), *web, *api], **options)
    assert (report.workloads, [loss.gone for loss in report.losses]) == (workloads, gone)


MOSTLY_TAINTED = "0/3 nodes are available: 1 node(s) didn't match pod topology spread constraints, 2 node(s) had untolerated taint(s)"

AFTER: dict[str, tuple[tuple[str, ...], dict[str, Any], list[tuple[str, int]], tuple[str, ...]]] = {
    "a zone first: what another one leaves behind": (
        ("fail=zone=a",),
        {},
        [("a", 0), ("b", 1), ("c", 1)],
        (
            "none of 2 zones can be lost. zone b: 1 pod pending (Deployment/web), 1 workload degraded "
            "(Deployment/web 1 of 3 ready)",
            f"losing any zone: 1 pod pending: {MOSTLY_TAINTED}",
            "losing any zone: 1 workload degraded, at worst Deployment/web 1 of 3 ready (losing zone b)",
            "zone a is lost already",
            "1 pod was already pending and stays so",
        ),
    ),
    "fewer pods are to be there": (
        ("scale deploy/web=1",),
        {},
        [("a", 0), ("b", 0), ("c", 0)],
        ("any one of 3 zones can be lost",),
    ),
    "two at the same time": (
        (),
        {"pairs": True},
        [("a+b", 2), ("a+c", 2), ("b+c", 2)],
        (
            "none of 3 pairs of zones can be lost. zone a+b: 2 pods pending (Deployment/web), 1 workload degraded "
            "(Deployment/web 1 of 3 ready)",
            f"losing any pair: 2 pods pending: {MOSTLY_TAINTED}",
            "losing any pair: 1 workload degraded, at worst Deployment/web 1 of 3 ready (losing zone a+b)",
        ),
    ),
    "two at the same time, and their Node objects": (
        (),
        {"pairs": True, "nodes_deleted": True},
        [("a+b", 0), ("a+c", 0), ("b+c", 0)],
        ("any one of 3 pairs of zones can be lost",),
    ),
}


@pytest.mark.parametrize("case", AFTER)
def test_what_a_second_failure_comes_to(case: str) -> None:
    steps, options, pending, answer = AFTER[case]
    snapshot = Snapshot.from_objects([*THREE, *deployment("web", ("n0", "n1", "n2"), spec=spread())])
    report = kubespread.survive(snapshot.edited(*steps), **options)
    assert [(loss.domain, loss.pending) for loss in report.losses] == pending
    assert report.answer == answer


FAULTS: dict[str, tuple[tuple[str, ...], dict[str, Any], str]] = {
    "a key that no node has": (("zoen",), {}, f"no node has the topology key 'zoen'; did you mean {ZONE}?"),
    "a namespace without workloads": ((), {"namespace": "shop"}, "no workloads in namespace shop; there is default"),
    "labels that nobody has": ((), {"selector": "a=b"}, "no workloads with the labels a=b in the cluster"),
    "labels that are none": (
        (),
        {"selector": "=b"},
        "invalid selector '=b': expected KEY=VALUE, KEY!=VALUE, KEY in (A,B), KEY or !KEY, found '=b'",
    ),
}


@pytest.mark.parametrize("case", FAULTS)
def test_what_cannot_be_asked_is_said_in_one_line(case: str) -> None:
    keys, options, expected = FAULTS[case]
    with pytest.raises(UsageError) as refused:
        survived([*hosts("a", "b"), *deployment("web", ("n0",))], *keys, **options)
    assert str(refused.value) == expected


def test_a_pair_takes_two_domains() -> None:
    with pytest.raises(UsageError, match=f"--pairs takes 2 to 100 domains of a key, and {ZONE} has 1"):
        survived([*hosts("a", "a"), *deployment("web", ("n0",))], "zone", pairs=True)


def test_each_domain_is_lost_in_the_cluster_as_it_is() -> None:
    """Asking about one domain after another gives the same as asking about each alone."""
    objects = [*THREE, *deployment("web", ("n0", "n1", "n2"), spec=spread()), *stateful_set("db", ("n0", "n1"))]
    together = survived(objects, "zone", "hostname")
    apart = (*survived(objects, "zone").losses, *survived(objects, "hostname").losses)
    assert together.losses == apart


def test_workloads_that_are_named_are_the_only_ones_asked_about() -> None:
    objects = [
        *THREE,
        *deployment("web", ("n0", "n1", "n2"), spec=spread(minDomains=3)),
        *deployment("api", ("n0",), spec=spread()),
    ]
    snapshot = Snapshot.from_objects(objects)
    report = kubespread.survive(snapshot, workloads="deploy/web")
    assert (report.asked, report.workloads, [loss.gone for loss in report.losses]) == (
        (WorkloadName("Deployment", "default", "web"),),
        1,
        [1, 1, 1],
    )
    with pytest.raises(UsageError, match="workloads and selector do not go together"):
        kubespread.survive(snapshot, workloads="deploy/web", selector="app=web")
    with pytest.raises(UsageError, match='"nope" not found'):
        kubespread.survive(snapshot, workloads="deploy/nope")


def test_of_a_named_workload_nothing_is_said_of_others() -> None:
    objects = [*hosts("a", "b"), *stateful_set("db", ("n0", "n1")), *deployment("web", ("n0", "n1"))]
    snapshot = Snapshot.from_objects(objects)
    notes = {
        name: [loss.notes for loss in kubespread.survive(snapshot, workloads=name).losses]
        for name in ("deploy/web", "sts/db")
    }
    assert notes == {"deploy/web": [(), ()], "sts/db": [(), ()]}


def test_a_zone_called_by_a_number_is_called_a_zone() -> None:
    report = survived([*hosts("1", "2", "2"), *deployment("web", ("n0", "n1", "n2"), cpu="6")])
    assert report.answer == (
        "none of 2 zones can be lost. zone 2: 2 pods pending (Deployment/web), 1 workload degraded "
        "(Deployment/web 1 of 3 ready)",
        "losing any zone: up to 2 pods pending; losing zone 2: 0/3 nodes are available: 1 Insufficient cpu, "
        "2 node(s) had untolerated taint(s)",
        "losing any zone: 1 workload degraded, at worst Deployment/web 1 of 3 ready (losing zone 2)",
    )


def test_the_worst_domain_is_the_same_in_sentences_in_the_table_and_in_a_report() -> None:
    snapshot = kubespread.load(FIXTURES / "cases" / "everyday" / "aws12.json.gz")
    report = kubespread.survive(snapshot, ["zone"])
    screen = terminal.table(report, Look(width=120))
    assert report.answer[0].startswith("none of 3 zones can be lost. zone eu-west-1c: ")
    assert report.answer[4].endswith(", at worst shop/Deployment/promo 2 of 4 ready (losing zone eu-west-1c)")
    assert re.search(r"shop/Deployment/promo +4 +2 +zone eu-west-1c$", screen, re.MULTILINE)
    (line,) = (line for line in kubespread.report(snapshot).lines if line.key == "losses/zone")
    assert line.text.startswith("none of 3 zones can be lost. zone eu-west-1c: ")


def test_without_zones_racks_are_lost_where_pods_are_spread_over_them() -> None:
    nodes = hosts("r1", "r1", "r2")
    for made in nodes:
        labels = made["metadata"]["labels"]
        labels["rack"] = labels.pop("topology.kubernetes.io/zone")
    spread = {"topologySpreadConstraints": [hard("rack", match={"app": "web"})]}
    snapshot = Snapshot.from_objects([*nodes, *deployment("web", ("n0", "n2"), spec=spread)])
    assert [loss.domain for loss in kubespread.survive(snapshot).losses] == ["r1", "r2"]
    plain = Snapshot.from_objects([*nodes, *deployment("web", ("n0", "n2"))])
    assert [loss.domain for loss in kubespread.survive(plain).losses] == ["n0", "n1", "n2"]


def test_fault_domains_of_aks_are_told_from_zones() -> None:
    def of_aks(*zones: str) -> Snapshot:
        nodes = hosts(*zones)
        for made in nodes:
            made["metadata"]["labels"]["kubernetes.azure.com/agentpool"] = "pool"
        return Snapshot.from_objects([*nodes, *deployment("web", ("n0", "n1"))])

    note = "zone 0 and 1 of AKS: fault domains inside of one datacenter, and no zones"
    assert note in kubespread.survive(of_aks("0", "1")).notes
    assert note in kubespread.audit(of_aks("0", "1"), key="zone").notes
    assert note not in kubespread.survive(of_aks("westeurope-1", "westeurope-2")).notes


def test_a_pod_on_a_node_that_the_snapshot_lacks_is_not_taken_to_be_on_a_silent_one() -> None:
    snapshot = Snapshot.from_objects([*hosts("a", "b"), *stateful_set("db", ("n0", "n9"))])
    assert kubespread.survive(snapshot, keys=["zone"]).answer == (
        "as far as the snapshot goes: 1 of 2 zones can be lost. zone a: 1 pod not created (StatefulSet/db), 1 workload "
        "degraded (StatefulSet/db 1 of 2 ready)",
        "losing zone a: 1 pod not created (StatefulSet/db): waits for db-0, which is terminating",
    )
