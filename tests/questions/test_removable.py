"""Nodes that can go, alone and together: what holds the others, and that what is claimed comes true when it is played."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kubespread
from kubespread import RemovableReport, Scheduler, Snapshot, UsageError
from kubespread.kube.taint import DrainFlags
from kubespread.questions.removable.certain import Certain
from kubespread.questions.worlds import world_of
from kubespread.reports.outcome import Outcome, Trouble, uneven
from kubespread.world.events.draining import delete_nodes, drain, drain_plan
from kubespread.world.reporting.difference import Baseline, Difference, Trial
from kubespread.world.reporting.outcomes import outcome
from kubespread.world.store.happenings import PREEMPTED, Departure
from tests.builders import Data, hard, hosts, owned_by, pod, soft
from tests.world.clusters import budget, daemon_set, deployment, job, stateful_set, unready

ZONE = "topology.kubernetes.io/zone"
TWO_EACH = hosts("a", "a", "b", "b")
FULL = "0/1 nodes are available: 1 Insufficient cpu."
REFUSED = "Cannot evict pod as it would violate the pod's disruption budget."
ONE_HEALTHY = f"{REFUSED} The disruption budget web needs 1 healthy pods and has 1 currently"
NO_CONTROLLER = "cannot delete Pods that declare no controller (use --force to override)"


def spread(app: str = "web", key: str = ZONE, **more: Any) -> Data:
    return {"topologySpreadConstraints": [hard(key, match={"app": app}, **more)]}


def asked(objects: list[Data], *nodes: str, **options: Any) -> RemovableReport:
    return kubespread.removable(Snapshot.from_objects(objects), nodes, **options)


def _also(one: Data) -> Data:
    return {**one, "metadata": {**one["metadata"], "name": "also"}}


def _elsewhere(one: Data) -> Data:
    return {**one, "metadata": {**one["metadata"], "namespace": "elsewhere"}}


def lines(report: RemovableReport) -> list[str]:
    """``n0 yes 1``, or ``n0 no: blocked: default/web-a: ...``."""
    told = []
    for row in report.rows:
        head = f"{row.name} {'yes' if row.alone else 'no'}{f' {row.place}' if row.place else ''}"
        said = [*map(line, row.troubles), *([row.stays] if row.stays else ()), *uneven([row])]
        told.append(": ".join((head, *(["; ".join(said)] if said else ()))))
    return told


def line(trouble: Trouble) -> str:
    """``short: default/Workflow/job: 0 of 1 ready, 1 before (not certain)``."""
    number = f" {trouble.count}" if trouble.count != 1 else ""
    said = ": ".join(filter(None, (f"{trouble.kind}{number}", trouble.subject, trouble.why)))
    return said if trouble.certain else f"{said} (not certain)"


CASES: dict[str, tuple[list[Data], list[str]]] = {
    "empty nodes go first, and one has to stay for the pods of the other": (
        [*TWO_EACH, *deployment("web", ("n0", "n2"), cpu="5")],
        ["n1 yes 1", "n3 yes 2", "n0 yes: the last node of zone a", "n2 yes: the last node of zone b"],
    ),
    "without zones nothing but room counts": (
        [*hosts(None, None), *deployment("web", ("n0",), cpu="5")],
        ["n1 yes 1", "n0 yes: the last node of the cluster"],
    ),
    "what kubectl refuses to evict": (
        [
            *hosts("a", "a", "a"),
            pod("bare", "n0"),
            *deployment("cache", ("n1",), spec={"volumes": [{"name": "scratch", "emptyDir": {}}]}),
        ],
        ["n2 yes 1", "n1 yes 2", f"n0 no: noController: default/bare: {NO_CONTROLLER}"],
    ),
    "a budget that lets no pod go": (
        [*hosts("a", "a"), *deployment("web", ("n0",)), budget("web", minAvailable=1)],
        ["n1 yes 1", f"n0 no: blocked: default/web-a: {ONE_HEALTHY}"],
    ),
    "a pod that fits nowhere else": (
        [*hosts("a", "a"), *deployment("big", ("n0",), cpu="5"), *deployment("other", ("n1",), cpu="4")],
        [f"n0 no: pending: default/Deployment/big: {FULL}", f"n1 no: pending: default/Deployment/other: {FULL}"],
    ),
    "the last node of a zone, and of a key that a constraint counts": (
        [
            *(
                {**node, "metadata": {**node["metadata"], "labels": {**node["metadata"]["labels"], "rack": rack}}}
                for node, rack in zip(hosts("a", "a", "b"), ("r1", "r2", "r2"), strict=True)
            ),
            *deployment("web", ("n1",), spec=spread(key="rack")),
        ],
        ["n1 yes 1", "n0 yes: the last node of rack r1", "n2 yes: the last node of zone b"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_which_nodes_go_and_what_holds_the_others(case: str) -> None:
    objects, expected = CASES[case]
    assert lines(asked(objects)) == expected


def test_which_budgets_would_let_nodes_go() -> None:
    objects = [
        *hosts("a", "a", "a", "a"),
        *deployment("web", ("n0", "n1")),
        budget("web", minAvailable=2),
        *elsewhere("data", *deployment("mongo", ("n2",)), budget("mongo", maxUnavailable=1), spare("mongo")),
    ]
    report = asked(objects)
    assert [(row.name, row.remedy) for row in report.rows] == [
        ("n3", None),
        ("n0", "--budget default/web:maxUnavailable=1"),
        ("n1", "--budget default/web:maxUnavailable=1"),
        ("n2", "--budget data/spare:none"),
    ]
    assert report.answer[1:] == (
        "2 nodes could go alone with --budget default/web:maxUnavailable=1: n0, n1",
        "1 node could go alone with --budget data/spare:none: n2",
    )


def spare(app: str) -> Data:
    """A second budget over the same pods, which lets none go."""
    made = budget(app, maxUnavailable=0)
    return {**made, "metadata": {**made["metadata"], "name": "spare"}}


def elsewhere(namespace: str, *objects: Data) -> list[Data]:
    """The same in another namespace."""
    return [{**each, "metadata": {**each["metadata"], "namespace": namespace}} for each in objects]


def test_nodes_go_together_as_long_as_the_others_have_room() -> None:
    objects = [*hosts("a", "a", "a"), *deployment("web", ("n0", "n1", "n2"), cpu="4")]
    report = asked(objects)
    assert lines(report) == [
        "n0 yes 1",
        "n1 yes: cpu: its pods ask for 8, the nodes that stay have 4 left",
        "n2 yes: cpu: its pods ask for 4, the nodes that stay have 0 left",
    ]
    assert (report.together.nodes, report.together.moves, report.together.untried) == (("n0",), 1, 0)


def test_nodes_of_the_control_plane_do_not_go_with_others() -> None:
    objects = hosts("a", "a")
    objects[0]["metadata"]["labels"]["node-role.kubernetes.io/control-plane"] = ""
    assert lines(asked(objects)) == ["n1 yes 1", "n0 yes: control plane: label node-role.kubernetes.io/control-plane"]


def test_pods_of_daemon_sets_go_with_their_nodes_unless_kubectl_is_to_refuse() -> None:
    objects = [*hosts("a", "a", "a"), *daemon_set("agent", ("n0", "n1"))]
    assert lines(asked(objects))[0] == "n0 yes 1"
    refused = asked(objects, "n0", ignore_daemonsets=False)
    assert lines(refused) == [
        "n0 no: daemonSet: default/agent-n0: cannot delete DaemonSet-managed Pods (use --ignore-daemonsets to ignore)"
    ]


def test_flags_of_the_drain_let_pods_go() -> None:
    scratch = {"volumes": [{"name": "scratch", "emptyDir": {}}]}
    objects = [*hosts("a", "a"), *deployment("cache", ("n0",), spec=scratch), pod("bare", "n0")]
    report = asked(objects, "n0", force=True)
    assert lines(report) == ["n0 yes 1"]
    (row,) = report.rows
    assert [(remark.kind, remark.pods) for remark in row.remarks] == [("localStorage", ("default/cache-a",))]
    assert row.down == ("default/Deployment/cache",)
    assert lines(asked(objects, "n0", delete_emptydir_data=False, force=True)) == [
        "n0 no: localStorage: default/cache-a: cannot delete Pods with local storage (use --delete-emptydir-data to override)"
    ]


SCENARIO: Data = {"apiVersion": "kubespread.dev/v1alpha1", "kind": "Scenario"}
BOTH = [*hosts("a", "a"), *deployment("web", ("n0", "n0"))]
DOWN: dict[str, tuple[list[Data], bool]] = {
    "its only pod moves": ([*hosts("a", "a"), *deployment("web", ("n0",))], True),
    "all of its pods move, as no budget protects them": (BOTH, True),
    "all of its pods move, as a budget lets them go at once": ([*BOTH, budget("web", maxUnavailable=2)], True),
    "a budget lets its pods go one after another": ([*BOTH, budget("web", maxUnavailable=1)], False),
    "a budget lets none of its pods go": ([*BOTH, budget("web", minAvailable=2)], False),
    "two budgets protect its pods, and none can be evicted": (
        [*BOTH, budget("web", maxUnavailable=2), _also(budget("web", maxUnavailable=2))],
        False,
    ),
    "it has a ready pod on another node": ([*hosts("a", "a"), *deployment("web", ("n0", "n1"))], False),
    "its pod on another node is not ready": (
        [*hosts("a", "a"), *unready(deployment("web", ("n0", "n1")), "web-b")],
        True,
    ),
    "its only pod is not ready": ([*hosts("a", "a"), *unready(deployment("web", ("n0",)), "web-a")], False),
    "a Job runs to its end on another node": ([*hosts("a", "a"), *job("web", ("n0",))], False),
    "its only pod is in another namespace than the budget": (
        [*hosts("a", "a"), *deployment("web", ("n0",)), _elsewhere(budget("web", maxUnavailable=0))],
        True,
    ),
}


@pytest.mark.parametrize("case", DOWN)
def test_a_workload_that_is_down_meanwhile_is_a_remark_and_no_reason_against_it(case: str) -> None:
    objects, is_down = DOWN[case]
    (row,) = asked(objects, "n0").rows
    said = "Deployment/web is down meanwhile: no other pod is ready"
    snapshot = Snapshot.from_objects(objects)
    upgraded = kubespread.upgrade(snapshot, "n0", remedies=False)
    planned = kubespread.plan(snapshot, {**SCENARIO, "spec": {"steps": ["drain n0"]}})
    assert row.down == ("default/Deployment/web",) * is_down
    for report in (upgraded, planned):
        assert [text for text in report.answer if "meanwhile" in text] == [f"step 1: {said}"] * is_down
    assert not is_down or (row.alone, upgraded.verdict, planned.verdict) == (True, "yes", "yes")


def test_controllers_that_are_not_modeled_are_named() -> None:
    objects = [*hosts("a", "a"), pod("job-1", "n0")]
    objects[2]["metadata"]["ownerReferences"] = owned_by("Workflow", "job", api_version="example.com/v1")
    report = asked(objects)
    assert lines(report)[:2] == ["n1 yes 1", "n0 no: short: default/Workflow/job: 0 of 1 ready, 1 before (not certain)"]
    assert "Workflow/job is not a controller that is modeled: whether it makes other pods is not known" in report.gaps
    assert (asked(objects, "n0").verdict, asked(objects, "n1").verdict) == ("unknown", "yes")


def test_pods_that_nobody_makes_again_hold_a_node_whose_pods_would_push_them_away() -> None:
    big = {"priority": 5}
    objects = [
        *hosts("a", "a"),
        *deployment("big", ("n0",), cpu="6", spec=big),
        pod("small", "n1", requests={"cpu": "4"}),
    ]
    assert lines(asked(objects, "n0")) == ["n0 no: lost: default/Pod/small"]


def test_a_budget_that_is_only_broken_by_preemption_holds_the_node_whose_pods_preempt() -> None:
    """Evicted, hi fits nowhere but in the room of lo, which a budget protects; lo would find another node."""
    objects = [
        *hosts("a", "a", "a"),
        *deployment("hi", ("n0",), cpu="5", spec={"priority": 5}),
        *deployment("lo", ("n1",), cpu="4"),
        *deployment("filler", ("n2",), cpu="4", spec={"priority": 5}),
    ]
    assert lines(asked(objects, "n0")) == ["n0 yes 1"]
    assert [each.pod for each in asked(objects, "n0").rows[0].preempted] == ["default/lo-a"]
    broken = asked([*objects, budget("lo", minAvailable=1)], "n0")
    assert lines(broken) == ["n0 no: budget: default/lo"]
    assert [each.pod for each in broken.rows[0].preempted] == ["default/lo-a"]


WAITED: dict[str, tuple[tuple[str | None, ...], str, list[str]]] = {
    "a pod that is on the node only since it was placed": (
        (None, None, None),
        "2 pending pods are counted as placed first",
        ["n0 no"],
    ),
    "one that waits on, and takes the place of one that is evicted": (("n0", "n1", None), "", ["n0 no"]),
    "one that ran on the node, whatever waited elsewhere": (
        ("n0", None),
        "1 pending pod is counted as placed first",
        ["n0 no"],
    ),
}


@pytest.mark.parametrize("case", WAITED)
def test_which_pods_that_wait_are_the_nodes(case: str) -> None:
    """Each of two nodes has room for one."""
    on, note, expected = WAITED[case]
    report = asked([*hosts("a", "a"), *deployment("web", on, cpu="5")], "n0")
    assert [line.partition(":")[0] for line in lines(report)] == expected
    assert report.notes == ((note,) if note else ())


def test_a_pod_under_another_name_waits_as_one_of_its_workload_did() -> None:
    """everyday/aws12: web-c waits, takes the place that web-a leaves, and the successor of web-a waits instead."""
    spread_over_two = {**spread(minDomains=3), "nodeSelector": {"kubernetes.io/os": "linux"}}
    nodes = hosts("a", "a", "b", "b")
    for node in nodes:
        node["metadata"]["labels"]["kubernetes.io/os"] = "linux"
    objects = [*nodes, *deployment("web", ("n0", "n2", None), spec=spread_over_two)]
    report = asked(objects, "n0")
    assert (lines(report), report.notes) == (["n0 yes 1"], ())


def test_ordinals_that_are_not_made_again_hold_the_node_of_one_that_runs() -> None:
    """db-0 waits and is to be ready before db-1 is made again."""
    nowhere = {"nodeSelector": {"disk": "ssd"}}
    objects = [*hosts("a", "a"), *stateful_set("db", (None, "n0"), spec=nowhere)]
    assert lines(asked(objects, "n0")) == ["n0 no: unmade: default/StatefulSet/db: waits for db-0, which has no node"]


def test_a_quota_that_refuses_the_successor_holds_the_node() -> None:
    """It was made smaller than what runs already."""
    spec = {"hard": {"pods": "1"}}
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "small", "namespace": "default"},
        "spec": spec,
    }
    objects = [*hosts("a", "a"), *deployment("web", ("n0", "n1")), {**quota, "status": {**spec, "used": {"pods": "2"}}}]
    assert lines(asked(objects, "n0")) == [
        'n0 no: unmade: default/Deployment/web: pods "web-5d6-1" is forbidden: exceeded quota: small, '
        "requested: pods=1, used: pods=1, limited: pods=1"
    ]


def test_what_is_lost_for_good_is_said_of_a_node_that_goes_by_force() -> None:
    report = asked([*hosts("a", "a"), pod("bare", "n0")], "n0", force=True)
    assert [row.lost for row in (*report.rows, *report.together.groups)] == [("default/bare",)] * 2
    assert report.answer == ("n0 can go", "1 pod would be lost for good: default/bare")


HELD_ELSEWHERE = [*deployment("api", ("n1",)), budget("api", minAvailable=1)]
ONE_NODE: dict[str, tuple[list[Data], tuple[str, ...]]] = {
    "it can go, whatever holds others": (
        [*hosts("a", "a"), *deployment("web", ("n0",)), *HELD_ELSEWHERE],
        ("n0 can go",),
    ),
    "a budget holds it, and a change of that budget frees it": (
        [*hosts("a", "a"), *deployment("web", ("n0",)), budget("web", minAvailable=1), *HELD_ELSEWHERE],
        (
            f"n0 cannot go: 1 pod cannot be evicted (web-a): {ONE_HEALTHY}",
            "with --budget default/web:maxUnavailable=1 it can go",
        ),
    ),
    "all that holds it is named": (
        [*hosts("a", "a"), *deployment("web", ("n0",)), budget("web", minAvailable=1), pod("bare", "n0")],
        (
            f"n0 cannot go: 1 pod refused by kubectl drain (bare): {NO_CONTROLLER}; "
            f"1 pod cannot be evicted (web-a): {ONE_HEALTHY}",
        ),
    ),
    "each budget that holds it is named": (
        [
            *hosts("a", "a"),
            *(each for app in ("web", "api") for each in deployment(app, ("n0",))),
            *(budget(app, minAvailable=1) for app in ("web", "api")),
        ],
        (
            f"n0 cannot go: 1 pod cannot be evicted (api-a): {ONE_HEALTHY.replace('web', 'api')}; "
            f"1 pod cannot be evicted (web-a): {ONE_HEALTHY}",
            "with --budget default/api:maxUnavailable=1 --budget default/web:maxUnavailable=1 it can go",
        ),
    ),
}


@pytest.mark.parametrize(("objects", "answer"), ONE_NODE.values(), ids=ONE_NODE)
def test_a_node_that_is_named_is_spoken_of_alone(objects: list[Data], answer: tuple[str, ...]) -> None:
    assert asked(objects, "n0").answer == answer


def test_everything_that_holds_a_node_is_named() -> None:
    """judgment/14/d: who sees to the bare pod is not to find the budget then."""
    web = [*deployment("web", ("n0",)), budget("web", minAvailable=1)]
    refused = asked([*hosts("a", "a"), *web, pod("bare", "n0")], "n0")
    assert [trouble.kind for trouble in refused.rows[0].troubles] == ["noController", "blocked"]


RACKS = [
    {**node, "metadata": {**node["metadata"], "labels": {**node["metadata"]["labels"], "rack": rack}}}
    for node, rack in zip(hosts("a", "a", "a"), ("r1", "r2", "r2"), strict=True)
]
ELSEWHERE = {"nodeSelector": {"rack": "r2"}, **spread(key="rack")}
RACKS_THAT_COUNT: dict[str, tuple[list[Data], bool]] = {
    "a preferred constraint needs no rack": (
        deployment("web", ("n1",), spec={"topologySpreadConstraints": [soft("rack", match={"app": "web"})]}),
        False,
    ),
    "a hard one does": (deployment("web", ("n1",), spec=spread(key="rack")), True),
    "not of pods that may not run there": (deployment("web", ("n1",), spec=ELSEWHERE), False),
}


@pytest.mark.parametrize("case", RACKS_THAT_COUNT)
def test_an_empty_node_that_is_the_last_of_its_rack(case: str) -> None:
    workload, is_remarked = RACKS_THAT_COUNT[case]
    (row,) = asked([*RACKS, *workload], "n0").rows
    assert (row.alone, bool(row.remarks)) == (True, is_remarked)


def test_only_the_nodes_asked_about_have_rows() -> None:
    objects = [*TWO_EACH, *deployment("web", ("n0",))]
    assert {row.name for row in asked(objects, "zone=b", "n0").rows} == {"n0", "n2", "n3"}
    with pytest.raises(UsageError) as refused:
        asked(objects, "n9")
    assert str(refused.value) == 'nodes "n9" not found; there are n0, n1, n2, n3'


def test_a_spread_that_is_left_uneven_is_said() -> None:
    """Three in a, one in b, one in c, and maxSkew 2: the one of c may go to b, and c is left with none."""
    objects = [
        *hosts("a", "b", "c", "c"),
        *deployment("web", ("n0", "n0", "n0", "n1", "n2"), cpu="2", spec=spread(maxSkew=2)),
    ]
    objects[3]["spec"]["unschedulable"] = True
    (row,) = asked(objects, "n2").rows
    assert (row.alone, [*uneven([row])]) == (True, ["zone skew of Deployment/web 2 → 3, above 2"])


def test_nodes_after_many_that_do_not_go_are_not_tried() -> None:
    """Each pod fits beside another one, so that half of the nodes can go; then each of the rest fits nowhere."""
    names = tuple(f"n{number}" for number in range(52))
    objects = [*hosts(*["a"] * 52)]
    for number, name in enumerate(names):
        objects += deployment(f"web{number}", (name,), cpu="4")
    report = asked(objects)
    assert (len(report.together.nodes), report.together.untried) == (26, 6)
    assert all(row.alone for row in report.rows)


_SPEC = st.sampled_from(
    (
        {},
        spread("web"),
        spread("web", "kubernetes.io/hostname"),
        spread("web", nodeTaintsPolicy="Honor"),
        spread("web", maxSkew=2),
    )
)
_WORKLOAD = st.tuples(
    st.sampled_from(("web", "api")),
    st.lists(st.integers(0, 5), min_size=1, max_size=3),
    st.sampled_from(("1", "3")),
    _SPEC,
)


def _objects(workloads: list[tuple[str, list[int], str, Data]], budgets: list[int]) -> list[Data]:
    objects: list[Data] = hosts("a", "a", "b", "b", "b", None)
    for number, (app, on, cpu, spec) in enumerate(workloads):
        made = deployment(f"{app}{number}", tuple(f"n{each}" for each in on), cpu=cpu, spec=spec)
        for each in made:
            labels = each["metadata"].setdefault("labels", {})
            # Workloads of one name share a label that their constraints count.
            labels["app"] = app if each["kind"] == "Pod" else f"{app}{number}"
        objects += made
    return [*objects, *(budget("web", minAvailable=each) for each in budgets[:1])]


def _baseline(objects: list[Data]) -> Baseline:
    return Baseline.settle(world_of(Snapshot.from_objects(objects), Scheduler()))


def _removed(trial: Trial, nodes: Sequence[str]) -> Difference:
    trial.play(lambda world: drain(world, nodes, DrainFlags()))
    return trial.play(lambda world: delete_nodes(world, nodes))


def _is_done(difference: Difference) -> bool:
    return not (difference.blocked_pods or any(step.refused for step in difference.happened))


def _preempted(difference: Difference) -> list[Departure]:
    return [gone for step in difference.happened for gone in step.departures if gone.why == PREEMPTED]


@settings(max_examples=50, deadline=None)
@given(workloads=st.lists(_WORKLOAD, max_size=4), budgets=st.lists(st.integers(0, 2), max_size=1))
def test_what_is_certain_comes_true(workloads: list[tuple[str, list[int], str, Data]], budgets: list[int]) -> None:
    baseline = _baseline(_objects(workloads, budgets))
    world, certain = baseline.world, Certain(baseline.world.fork())
    for position, name in enumerate(world.living.nodes.names):
        plan = drain_plan(world, name, DrainFlags())
        if not plan.errors and certain.goes(position, plan.evict):
            removed = _removed(Trial(baseline, world.fork()), [name])
            assert (_is_done(removed), removed.is_worse, _preempted(removed)) == (True, False, [])
            assert [*uneven([outcome(Outcome, name, removed, has_skew=True)])] == []


@settings(max_examples=15, deadline=None)
@given(workloads=st.lists(_WORKLOAD, max_size=4), budgets=st.lists(st.integers(0, 2), max_size=1))
def test_each_answer_is_what_removing_the_node_comes_to(
    workloads: list[tuple[str, list[int], str, Data]], budgets: list[int]
) -> None:
    objects = _objects(workloads, budgets)
    report, baseline = asked(objects), _baseline(objects)
    for row in report.rows:
        removed = _removed(Trial(baseline, baseline.world.fork()), [row.name])
        assert (_is_done(removed) and not removed.is_worse) is row.alone, row.name
    assert len(set(report.together.nodes)) == len(report.together.nodes)
    assert not set(report.together.nodes) - {row.name for row in report.rows if row.alone}
    assert [node for group in report.together.by_group for node in group] == list(report.together.nodes)
    trial = Trial(baseline, baseline.world.fork())
    for group in report.together.by_group:
        assert not _removed(trial, group).is_worse


def test_a_preempted_pod_of_a_daemon_set_waits_for_good() -> None:
    """No other node is its own: it is not made again elsewhere, and so the node that pushed it out stays."""
    first = {"priority": 10}
    web, big = (deployment(name, (node,), cpu="4", spec=first) for name, node in (("web", "n0"), ("big", "n1")))
    snapshot = Snapshot.from_objects([*hosts("a", "b"), *daemon_set("agent", ("n0", "n1"), cpu="4"), *web, *big])
    assert lines(kubespread.removable(snapshot, ["n0"])) == [f"n0 no: pending: default/DaemonSet/agent: on n1: {FULL}"]
    planned = kubespread.plan(snapshot.edited("drain n0", "delete-node n0"))
    assert planned.answer[0].startswith("1 pod pending (DaemonSet/agent)")
    assert [loss.pending for loss in kubespread.survive(snapshot, ["zone"], nodes_deleted=True).losses] == [1, 1]
