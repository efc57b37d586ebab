"""Which changes are suggested, in which order, and what is said of those that do not suffice."""

from __future__ import annotations

from typing import Any

import pytest

import kubespread
from kubespread import ExplainReport, Snapshot, UsageError
from kubespread.kube.owners import NamespacedName
from kubespread.questions.explain.report import Fix
from tests.builders import Data, ago, hard, hosts, node, pod, pods_on, soft, taint
from tests.world.clusters import budget, deployment, gone_to_sleep

ZONE = "topology.kubernetes.io/zone"


def advised(objects: list[Data], asked: Data | str, replicas: int | None = None, **options: Any) -> ExplainReport:
    return kubespread.explain(Snapshot.from_objects(objects), asked, replicas=replicas, **options, fix=True)


def lines(report: ExplainReport) -> list[str]:
    """``A maxSkew 2 = 2: --set ...``, then what only moves the gap and what does not suffice."""
    if report.advice is None:
        return ["no change is needed"]
    told = []
    for each in report.advice.enough:
        fits = each.nodes if each.nodes is not None else each.placed
        others = f" or {len(each.alternatives)}" if each.alternatives else ""
        said = "".join(f" | {remark}" for remark in (*each.notes, *each.consequences))
        told.append(f"{each.change} = {fits}: {' '.join(each.options)}{others}{said}")
    told += [f"~ {', '.join(each.changes)}: {', '.join(each.harm)}" for each in report.advice.costly]
    return [*told, *(f"- {', '.join(each.changes)}" for each in report.advice.not_enough)]


TWO_ZONES = [node("n0", zone="a"), gone_to_sleep(node("n1", zone="b")), *pods_on({"n0": 1})]
"""One pod in zone a, none in zone b, whose only node is cordoned."""


def terminating(name: str, on: str, *, cpu: str) -> Data:
    made = pod(name, on, requests={"cpu": cpu})
    made["metadata"]["deletionTimestamp"] = ago(0)
    return made


def on_a_port(made: Data) -> Data:
    made["spec"]["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 80}]
    return made


CASES: dict[str, tuple[list[Data], Data, list[str]]] = {
    "a pod that fits": ([node("n0")], pod(), ["no change is needed"]),
    "a cordoned domain with the minimum": (
        TWO_ZONES,
        pod(constraints=[hard()]),
        [
            "A nodeTaintsPolicy Honor = 1: --set nodeTaintsPolicy[zone]=Honor",
            "uncordon n1 = 1: --uncordon n1",
            "1 more node like n1 = 1: --add-node n1 or 1",
            "A maxSkew 2 = 1: --set maxSkew[zone]=2 | lasts for 1 more replica per zone",
            "A ScheduleAnyway = 1: --set whenUnsatisfiable[zone]=ScheduleAnyway",
            "~ evicting default/n0-0: default/n0-0 would be lost for good",
            "- A nodeAffinityPolicy Ignore",
            "- more nodes like n0",
        ],
    ),
    "a taint in the way, taken off or tolerated": (
        [node("n0", taints=[taint("dedicated", value="gpu")]), gone_to_sleep(node("n1"))],
        pod(),
        [
            "uncordon n1 = 1: --uncordon n1",
            "1 more node like n1 = 1: --add-node n1",
            "tolerate dedicated=gpu:NoSchedule = 1: --set tolerations=dedicated=gpu:NoSchedule",
            "taint n0 dedicated:NoSchedule- = 1: --taint 'n0 dedicated:NoSchedule-'",
            "- more nodes like n0",
        ],
    ),
    "a taint that says in what state a node is stays": (
        [node("n0", taints=[taint("node.kubernetes.io/memory-pressure")])],
        pod(),
        ["1 more node like n0 = 1: --add-node n0"],
    ),
    "requests as large as the largest hole": (
        [node("n0", cpu="4"), node("n1", cpu="2")],
        pod(requests={"cpu": "5", "memory": "1Gi"}),
        [
            "request cpu 4 (from 5, −20%) = 1: --set cpu=4",
            "- more nodes like n0, more nodes like n1",
            "- requesting less memory",
        ],
    ),
    "a request smaller by less than half a percent": (
        [node("n0", cpu="4")],
        pod(requests={"cpu": "4005m"}),
        ["request cpu 4 (from 4005m) = 1: --set cpu=4", "- more nodes like n0"],
    ),
    "nearly all of a request too much": (
        [node("n0", cpu="3m")],
        pod(requests={"cpu": "4"}),
        ["request cpu 3m (from 4) = 1: --set cpu=3m", "- more nodes like n0"],
    ),
    "memory in the largest unit that is exact": (
        [node("n0")],
        pod(requests={"memory": "20Gi"}),
        ["request memory 16Gi (from 20Gi, −20%) = 1: --set memory=16Gi", "- more nodes like n0"],
    ),
    "fewer domains than minDomains": (
        [node("n0", zone="a"), *pods_on({"n0": 1})],
        pod(constraints=[hard(minDomains=3)]),
        [
            "A minDomains 1 = 1: --set minDomains[zone]=1",
            "A maxSkew 2 = 1: --set maxSkew[zone]=2",
            "A ScheduleAnyway = 1: --set minDomains[zone]=null --set whenUnsatisfiable[zone]=ScheduleAnyway",
            "1 more node like n0, in an invented zone = 1: --add-node n0@zone=new-1",
            "~ evicting default/n0-0: default/n0-0 would be lost for good",
            "- A nodeTaintsPolicy Honor, A nodeAffinityPolicy Ignore",
            "- more nodes like n0",
        ],
    ),
    "constraints over one key are told by their positions": (
        [
            node("n0", zone="a"),
            node("n1", zone="b", unschedulable=True),
            *pods_on({"n0": 2}),
            pod("x", "n0", labels={"app": "x"}),
        ],
        pod(
            labels={"foo": "bar", "app": "x"},
            constraints=[hard(max_skew=3), hard("zone", 1, match={"app": "x"})][1:] + [soft("zone", 3)],
        ),
        [
            "uncordon n1 = 1: --uncordon n1",
            "1 more node like n1 = 1: --add-node n1 or 1",
            "A maxSkew 2 = 1: --set maxSkew[0]=2 | lasts for 1 more replica per zone",
            "~ evicting default/x: default/x would be lost for good",
            "- A nodeTaintsPolicy Honor, A nodeAffinityPolicy Ignore",
            "- evicting default/n0-0",
            "- more nodes like n0",
            "- relaxing A",
        ],
    ),
    "a pod on its way out, which is all it takes": (
        [node("n0", cpu="4"), terminating("old", "n0", cpu="3")],
        pod(requests={"cpu": "4"}),
        [
            "wait for default/old to terminate = 1: --evict default/old",
            "1 more node like n0 = 1: --add-node n0",
            "request cpu 1 (from 4, −75%) = 1: --set cpu=1",
        ],
    ),
    "only pods that hold enough of what their node lacks are evicted, first where nothing else is wrong": (
        [
            node("n0", cpu="4"),
            node("n1", cpu="4"),
            node("n2", cpu="4", taints=[taint("gpu")]),
            on_a_port(pod("large-on-a-port", "n0", requests={"cpu": "3"})),
            pod("small", "n0", requests={"cpu": "500m"}),
            pod("large", "n1", requests={"cpu": "3"}),
            pod("of-no-cpu", "n1"),
            pod("behind-a-taint", "n2", requests={"cpu": "4"}),
        ],
        on_a_port(pod(requests={"cpu": "3500m"})),
        [
            "1 more node like n1 = 1: --add-node n1",
            "request cpu 1 (from 3500m, −71%) = 1: --set cpu=1",
            "~ evicting default/large, evicting default/large-on-a-port: default/large would be lost for good",
            "- more nodes like n2",
            "- tolerating gpu:NoSchedule",
            "- taking gpu:NoSchedule off n2",
        ],
    ),
    "several together where none suffices alone": (
        [node("n0", cpu="2", unschedulable=True)],
        pod(requests={"cpu": "4"}),
        [
            "uncordon n0 + request cpu 2 (from 4, −50%) = 1: --set cpu=2 --uncordon n0",
            "1 more node like n0 + request cpu 2 (from 4, −50%) = 1: --set cpu=2 --add-node n0",
            "- uncordoning n0",
            "- more nodes like n0",
            "- requesting less cpu",
        ],
    ),
    "a label that no node has": (
        [node("n0")],
        pod(nodeSelector={"pool": "gpu"}),
        [
            "label n0 pool=gpu = 1: --label 'n0 pool=gpu'",
            "drop nodeSelector pool = 1: --set nodeSelector[pool]=null",
            "- more nodes like n0",
        ],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_suggested_for_one_pod(case: str) -> None:
    objects, asked, expected = CASES[case]
    assert lines(advised(objects, asked)) == expected


def test_priorities_and_budgets_are_told_of_an_eviction_and_who_is_left_pending() -> None:
    web = [*deployment("web", ("n0",), cpu="6"), budget("web", maxUnavailable=1)]
    objects = [node("n0", cpu="8", pool="x"), node("n1", cpu="32"), *web]
    asked = pod("db", requests={"cpu": "4"}, nodeSelector={"pool": "x"}, priority=100, preemptionPolicy="Never")
    report = advised(objects, asked)
    assert report.advice is not None
    (eviction,) = [each for each in report.advice.enough if each.family == "evict"]
    assert eviction.notes == ("budget web allows it; priority 0, the pod's is 100",)
    assert eviction.consequences == ()


def test_a_budget_that_refuses_rules_an_eviction_out() -> None:
    objects = [node("n0", zone="a"), node("n1", zone="b", unschedulable=True), *deployment("web", ("n0",))]
    asked = pod(labels={"app": "web"}, constraints=[hard(match={"app": "web"})])
    kept = advised([*objects, budget("web", minAvailable=1)], asked)
    assert kept.advice is not None
    assert ("evict", ("evicting default/web-a",)) in [(each.family, each.changes) for each in kept.advice.not_enough]


def test_all_replicas_are_asked_about_with_those_that_run() -> None:
    objects = [*hosts("a", "b"), *deployment("web", ("n0", "n1"), cpu="3")]
    report = advised(objects, "deploy/web", 6)
    assert report.fix == Fix("Deployment/web", replicas=6, placed=4)
    assert lines(report)[:2] == [
        "1 more node like n0 = 6: --add-node n0 or 1",
        "request cpu 2 (from 3, −33%) = 6: --set cpu=2",
    ]
    assert lines(advised(objects, "deploy/web", 4)) == ["no change is needed"]


def test_of_a_workload_that_runs_the_next_pod_is_asked_about_as_without_fix() -> None:
    objects = [node("n0", cpu="1"), *deployment("web", ("n0",), cpu="1")]
    explained = kubespread.explain(Snapshot.from_objects(objects), "deploy/web")
    report = advised(objects, "deploy/web")
    assert (explained.verdict, explained.message) == ("no", report.message)
    assert (report.fix, report.verdict) == (Fix("Deployment/web"), "yes")
    assert report.answer[0] == "the pod fits with 1 more node like n0"


def test_a_daemon_set_has_no_replicas() -> None:
    daemon = {**deployment("web")[0], "kind": "DaemonSet"}
    daemon["spec"] = {key: daemon["spec"][key] for key in ("selector", "template")}
    with pytest.raises(UsageError, match="a DaemonSet has no replicas"):
        advised([node("n0")], daemon, 3)


def test_a_pod_of_the_cluster_is_patched_where_it_comes_from() -> None:
    zoned = {"topologySpreadConstraints": [hard(match={"app": "web"})]}
    objects = [
        node("n0", zone="a"),
        node("n1", zone="b", unschedulable=True),
        *deployment("web", ("n0", None), spec=zoned),
    ]
    report = advised(objects, "pod/web-b")
    assert report.advice is not None
    (first,) = [each for each in report.advice.enough if each.family == "maxSkew"]
    assert first.change == "A maxSkew 2"
    assert first.commands == (
        "kubectl patch deployments.apps web -n default --type=json -p "
        '\'[{"op":"add","path":"/spec/template/spec/topologySpreadConstraints/0/maxSkew","value":2}]\'',
    )


def test_a_pod_by_itself_cannot_be_patched() -> None:
    objects = [*TWO_ZONES, pod("stuck", constraints=[hard()])]
    objects[-1]["metadata"]["uid"] = "u"
    report = advised(objects, "pod/stuck")
    assert report.advice is not None
    first = report.advice.enough[0]
    assert (first.change, first.commands) == ("A nodeTaintsPolicy Honor", ())
    assert first.notes == ("a pod's own fields cannot be changed: delete the pod and create it anew",)


def test_what_is_set_already_is_a_part_of_the_patch() -> None:
    own = {"topologySpreadConstraints": [hard(match={"app": "web"})]}
    report = advised(
        [
            node("n0", zone="a"),
            gone_to_sleep(node("n1", zone="b")),
            *deployment("web", ("n0", "n0", "n0", None), spec=own),
        ],
        "deploy/web",
        set=["maxSkew=2"],
    )
    assert report.advice is not None
    (first, *_) = report.advice.enough
    assert first.options == ("--set nodeTaintsPolicy[zone]=Honor",)
    assert [field in first.commands[0] for field in ("maxSkew", "nodeTaintsPolicy")] == [True, True]


def test_of_many_replicas_fewer_changes_are_tried_and_the_rest_is_counted() -> None:
    others = [
        pod(f"n{place % 9}-{place}", f"n{place % 9}", labels={"app": "other"}, requests={"cpu": "1"})
        for place in range(18)
    ]
    objects = [*hosts(*"abcabcabc"), *others]
    asked = pod(constraints=[hard(ZONE)], requests={"cpu": "1"})
    few, many = (advised(objects, asked, count) for count in (90, 5000))
    assert few.advice is not None
    assert few.advice.untried == {}
    assert many.advice is not None
    assert many.advice.untried == {"evict": 13, "combination": 455}


def test_smaller_requests_are_rolled_out_where_kube_scheduler_spreads_by_default() -> None:
    """The constraints that pods get by default take their selectors from the ReplicaSet that the rollout makes."""
    objects = [*hosts("a", "b"), node("n2", cpu="1"), *deployment("web", ("n0", "n1", None), cpu="5")]
    assert "request cpu 3 (from 5, −40%) = 3: --set cpu=3" in lines(advised(objects, "deploy/web"))
    assert kubespread.simulate(Snapshot.from_objects(objects), "deploy/web", set=["cpu=3"]).stopped is None


def test_replicas_that_preempt_need_no_change_as_simulate_has_it() -> None:
    objects = [*hosts("a", "b"), *deployment("low", ("n0", "n1"), cpu="6")]
    high = deployment("high", cpu="5", spec={"priority": 10}, replicas=2)[0]
    report = advised(objects, high)
    victims = (NamespacedName("default", "low-a"), NamespacedName("default", "low-b"))
    assert (report.fix, report.advice) == (Fix("Deployment/high", 2, 2, victims), None)
    assert report.answer == (
        "all 2 replicas find a node by preempting default/low-a, default/low-b: no change is needed",
    )
    assert kubespread.simulate(Snapshot.from_objects(objects), high).placed == 2


def test_a_change_after_which_replicas_preempt_others_is_at_their_cost() -> None:
    objects = [node("n0", taints=[taint("x")]), pod("low", "n0", requests={"cpu": "6"})]
    high = deployment("high", cpu="4", spec={"priority": 10}, replicas=1)[0]
    report = advised(objects, high)
    assert report.advice is not None
    told = [(each.family, each.harm) for each in report.advice.costly]
    assert ("tolerate", ("preempting default/low",)) in told
    assert "tolerate" not in {each.family for each in report.advice.enough}


def test_no_change_is_tried_for_a_claim_that_has_to_be_created() -> None:
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "gone"}}]
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "x", "namespace": "default"}}
    snapshot = Snapshot.from_objects([*hosts("a"), claim, *deployment("web", (None, None), spec={"volumes": volumes})])
    for asked in "deploy/web", "pod/web-a":
        report = kubespread.explain(snapshot, asked, fix=True)
        assert (report.verdict, report.advice) == ("no", None)
        assert report.answer == ("no change is tried: PersistentVolumeClaim gone has to be created",)


def compute(hard: str, used: str) -> Data:
    of_cpu = {"hard": {"requests.cpu": hard}, "used": {"requests.cpu": used}}
    meta = {"name": "compute", "namespace": "default"}
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": meta,
        "spec": {"hard": of_cpu["hard"]},
        "status": of_cpu,
    }


RAISED = "requests.cpu: {} in ResourceQuota compute"
QUOTAS: dict[str, tuple[str | Data, dict[str, Any], str, str, int | None]] = {
    "replicas that it refuses": ("deploy/web", {}, "yes", "all 5 replicas find a node with " + RAISED.format(10), 5),
    "more than nodes have room for": (
        "deploy/web",
        {"replicas": 50},
        "no",
        "none of 1 change tried makes all 50 replicas fit",
        None,
    ),
    "no more than it allows": (
        "deploy/web",
        {"replicas": 2},
        "yes",
        "all 2 replicas find a node: no change is needed",
        None,
    ),
    "a pod, beside three that a Deployment lacks": (
        pod(requests={"cpu": "1"}),
        {},
        "yes",
        "the pod fits with " + RAISED.format(11),
        3,
    ),
}


@pytest.mark.parametrize("case", QUOTAS)
def test_a_quota_that_refuses_pods_is_named_with_what_would_be_enough(case: str) -> None:
    asked, options, verdict, said, fits = QUOTAS[case]
    web = deployment("web", ("n0", "n1"), cpu="2", replicas=5)
    report = advised([*hosts("a", "b", "c"), *web, compute("4", "4")], asked, **options)
    assert (report.verdict, report.answer[0]) == (verdict, said)
    found = () if report.advice is None else report.advice.enough
    assert [each.placed or each.nodes for each in found] == ([] if fits is None else [fits])
    if report.advice is not None:
        assert report.message is not None
        assert "exceeded quota: compute, requested: requests.cpu=" in report.message
    for each in found:
        hard = each.change.split()[1]
        patch = f'{{"spec":{{"hard":{{"requests.cpu":"{hard}"}}}}}}'
        assert each.commands == (f"kubectl patch resourcequota compute -n default --type=merge -p '{patch}'",)


def test_a_pod_that_no_larger_quota_admits_does_not_fit() -> None:
    limits = {**compute("4", "0"), "spec": {"hard": {"limits.cpu": "4"}}, "status": {}}
    report = advised([*hosts("a", "b"), limits], pod())
    assert (report.verdict, report.message, list(report.answer)) == (
        "no",
        'pods "web" is forbidden: failed quota: compute: must specify limits.cpu for: main',
        ["none of 1 change tried makes the pod fit", "Not enough alone: set what the quota requires of containers"],
    )


def test_what_would_be_enough_is_enough() -> None:
    web = deployment("web", ("n0", "n1"), cpu="2", replicas=5)
    for most, verdict in ("9", "no"), ("10", "yes"):
        snapshot = Snapshot.from_objects([*hosts("a", "b", "c"), *web, compute(most, "4")])
        assert kubespread.simulate(snapshot, "deploy/web").verdict == verdict
