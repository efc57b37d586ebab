"""Plans of evictions: which pods go, where their replacements land, and what is said where there is no plan."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import kubespread
from kubespread import ManifestError, RebalanceReport, Snapshot, UsageError
from tests.builders import Data, hard, hosts, pod, soft
from tests.world.clusters import budget, daemon_set, deployment, gone_to_sleep, job, stateful_set

ZONE, HOSTNAME = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
WEB = {"app": "web"}


def spread(*constraints: Data, **more: Any) -> Data:
    return {"topologySpreadConstraints": list(constraints) or [hard(ZONE, match=WEB)], **more}


def planned(objects: list[Data], *workloads: str, **options: Any) -> RebalanceReport:
    return kubespread.rebalance(Snapshot.from_objects(objects), workloads, **options)


def lines(report: RebalanceReport) -> Iterator[str]:
    """``web-a n0 → n1`` for each eviction, what else there is to say, and the answer."""
    for step in report.steps:
        yield f"{step.pod.partition('/')[2]} {step.node} → {step.lands_on}"
    yield from (f"? {each.why}" for each in report.obstacles)
    yield from (f"{each.pods} stay: {each.why}" for each in report.staying)
    yield report.answer[0]


TWO, THREE = hosts("a", "b"), hosts("a", "b", "c")
BARE = pod("bare", "n0", labels=WEB, constraints=[hard(ZONE, match=WEB)])
CASES: dict[str, tuple[list[Data], list[str]]] = {
    "nothing is evicted where all constraints hold": (
        [*TWO, *deployment("web", ("n0", "n1", "n0"), spec=spread())],
        ["nothing to do: the constraint holds"],
    ),
    "nothing is evicted where there is no hard constraint": (
        [*TWO, *deployment("web", ("n0",) * 4, spec=spread(soft(ZONE, match=WEB)))],
        ["nothing to do: no such constraint is in force"],
    ),
    "the fewest pods leave the fullest domain": (
        [*THREE, *deployment("web", ("n0",) * 4 + ("n1",), spec=spread())],
        ["web-a n0 → n2", "web-b n0 → n1", "2 evictions, the fewest possible: then the constraint holds"],
    ),
    "a budget that allows one at a time is waited for": (
        [*TWO, *deployment("web", ("n0",) * 6, spec=spread()), budget("web", maxUnavailable=1)],
        [
            "web-a n0 → n1",
            "web-b n0 → n1",
            "web-c n0 → n1",
            "3 evictions, the fewest possible: then the constraint holds",
        ],
    ),
    "a budget that allows none leaves everything as it is": (
        [*TWO, *deployment("web", ("n0",) * 3, spec=spread()), budget("web", minAvailable=3)],
        [
            "? The disruption budget web needs 3 healthy pods and has 3 currently",
            "the constraint stays violated, no better plan was found",
        ],
    ),
    "a replacement that finds no node is no way": (
        [TWO[0], gone_to_sleep(TWO[1]), *deployment("web", ("n0",) * 3, spec=spread())],
        [
            "? its replacement finds no node: 0/2 nodes are available: 1 node(s) didn't match pod topology spread "
            "constraints, 1 node(s) were unschedulable.",
            "the constraint stays violated, no better plan was found",
        ],
    ),
    "two constraints are brought about by one eviction": (
        [
            *hosts("a", "a", "b", "b"),
            *deployment(
                "web", ("n0", "n0", "n0", "n1", "n2"), spec=spread(hard(ZONE, match=WEB), hard(HOSTNAME, match=WEB))
            ),
        ],
        ["web-a n0 → n3", "1 eviction, the fewest possible: then all 2 constraints hold"],
    ),
    "a pod of a StatefulSet comes back under its name": (
        [*TWO, *stateful_set("db", ("n0",) * 3, spec=spread(hard(ZONE, match={"app": "db"})))],
        ["db-0 n0 → n1", "1 eviction, the fewest possible: then the constraint holds"],
    ),
    "pods that nothing makes again stay": (
        [*TWO, *deployment("web", ("n0",) * 2, spec=spread()), BARE],
        ["web-a n0 → n1", "1 stay: without a controller", "1 eviction, the fewest possible: then the constraint holds"],
    ),
    "constraints of pods by themselves are to hold too": (
        [*TWO, BARE, {**BARE, "metadata": {**BARE["metadata"], "name": "other"}}],
        ["2 stay: without a controller", "the constraint stays violated, no better plan was found"],
    ),
    "pods of others are evicted for the constraint of a pod by itself": (
        [*TWO, *deployment("web", ("n0",) * 2), BARE],
        ["web-a n0 → n1", "1 stay: without a controller", "1 eviction, the fewest possible: then the constraint holds"],
    ),
    "Jobs and DaemonSets keep their pods": (
        [*TWO, *job("once", ("n0",) * 3), *daemon_set("web", ("n0", "n1"))],
        ["nothing to do: no such constraint is in force"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_plan(case: str) -> None:
    objects, expected = CASES[case]
    assert list(lines(planned(objects))) == expected


def test_soft_constraints_are_goals_where_that_is_asked_for() -> None:
    objects = [*TWO, *deployment("web", ("n0",) * 4, spec=spread(soft(ZONE, match=WEB)))]
    report = planned(objects, soft=True)
    assert [step.pod for step in report.steps] == ["default/web-a", "default/web-b"]
    assert report.holds


def test_only_what_is_asked_about_is_evicted() -> None:
    objects = [
        *TWO,
        *deployment("web", ("n0",) * 3, spec=spread()),
        *deployment("api", ("n0",) * 3, spec=spread(hard(ZONE, match={"app": "api"}))),
    ]
    assert [step.workload for step in planned(objects, "deploy/api").steps] == ["default/Deployment/api"]
    assert [step.workload for step in planned(objects, "rs/web-5d6").steps] == ["default/Deployment/web"]
    assert len(planned(objects).steps) == 2


def test_a_group_that_is_given_up_leaves_the_others_their_plan() -> None:
    objects = [
        *TWO,
        *deployment("web", ("n0",) * 3, spec=spread()),
        *deployment("api", ("n0",) * 3, spec=spread(hard(ZONE, match={"app": "api"}))),
        budget("api", minAvailable=3),
    ]
    report = planned(objects)
    assert [step.workload for step in report.steps] == ["default/Deployment/web"]
    assert (report.violated_before, report.violated_after, report.holds) == (2, 1, False)
    assert [each.workloads for each in report.obstacles] == [("default/Deployment/api",)]


MALFORMED = {**hard(ZONE), "labelSelector": {"matchExpressions": [{"key": "a", "operator": "Is"}]}}


def test_what_a_constraint_cannot_count_is_noted() -> None:
    unlabeled = planned([*hosts("a", "b", None), *deployment("web", ("n2", "n2", "n0"), spec=spread())])
    assert unlabeled.notes == (
        "2 pods run on nodes that a constraint does not count: without its label, or left out by its policies",
    )
    malformed = planned([*TWO, *deployment("web", ("n0",) * 3, spec=spread(MALFORMED))])
    assert malformed.notes[0] == 'Deployment/web: "Is" is not a valid label selector operator'
    assert malformed.constraints_in_force == 0


FULL_NEIGHBOR = [
    *hosts("a", "b"),
    *deployment("web", ("n0",) * 3, cpu="1", spec=spread()),
    *deployment("big", ("n1",), cpu="7500m"),
]


def test_why_kube_scheduler_would_not_place_a_replacement_is_said() -> None:
    report = planned(FULL_NEIGHBOR)
    assert (report.steps, report.holds, report.is_fewest) == ((), False, False)
    assert "1 Insufficient cpu" in report.obstacles[0].why


def test_the_commands_of_a_step() -> None:
    objects = [*TWO, *deployment("web", ("n0",) * 2, spec=spread()), *stateful_set("db", ("n1",))]
    (step,) = planned(objects, "deploy/web").steps
    eviction = '{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"web-a","namespace":"default"}}'
    assert step.commands == (
        f"echo '{eviction}' | kubectl create --raw /api/v1/namespaces/default/pods/web-a/eviction -f -",
        "kubectl wait -n default --for=delete pod/web-a --timeout=10m",
        "kubectl rollout status -n default deploy/web --timeout=10m",
    )


POLICY = """
apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
profiles:
- name: p
  pluginConfig: [{{name: DefaultEvictor, args: {{{evictor}}}}}]
  plugins: {{balance: {{enabled: [RemovePodsViolatingTopologySpreadConstraint]}}}}
"""
ROUNDS: dict[str, tuple[list[Data], str, list[str]]] = {
    "it evicts more than the fewest, and rests": (
        [*THREE, *deployment("web", ("n0",) * 10, spec=spread())],
        "",
        [
            "7 evicted, 0 violated",
            "0 evicted, 0 violated",
            "the descheduler rests after 1 round and 7 evictions: all constraints hold",
        ],
    ),
    "a budget makes it take several rounds": (
        [*TWO, *deployment("web", ("n0",) * 6, spec=spread()), budget("web", maxUnavailable=1)],
        "",
        [
            "1 evicted, 2 refused by a budget, 1 violated",
            "1 evicted, 1 refused by a budget, 1 violated",
            "1 evicted, 0 violated",
            "0 evicted, 0 violated",
            "the descheduler rests after 3 rounds and 3 evictions: all constraints hold",
        ],
    ),
    "protected pods are invisible to it": (
        [*TWO, *deployment("web", ("n0",) * 3, spec=spread(volumes=[{"name": "v", "emptyDir": {}}]))],
        "",
        ["0 evicted, 1 violated", "the descheduler evicts nothing: 1 constraint stays violated"],
    ),
    "unless its policy says otherwise": (
        [*TWO, *deployment("web", ("n0",) * 3, spec=spread(volumes=[{"name": "v", "emptyDir": {}}]))],
        "podProtections: {defaultDisabled: [PodsWithLocalStorage]}",
        [
            "1 evicted, 0 violated",
            "0 evicted, 0 violated",
            "the descheduler rests after 1 round and 1 eviction: all constraints hold",
        ],
    ),
}


@pytest.mark.parametrize("case", ROUNDS)
def test_descheduler(case: str, tmp_path: Path) -> None:
    objects, evictor, expected = ROUNDS[case]
    report = planned(objects, descheduler=policy(tmp_path, POLICY.format(evictor=evictor)))
    told = []
    for each in report.rounds:
        assert len(each.placed) == len(each.evicted)
        held = "".join(f"{staying.pods} {staying.why}, " for staying in each.held)
        told.append(f"{len(each.evicted)} evicted, {held}{each.violated} violated")
    told.append(report.answer[-1])
    assert told == expected


def policy(folder: Path, text: str) -> str:
    path = folder / "policy.yaml"
    path.write_text(text)
    return str(path)


FAULTS: dict[str, tuple[list[str], dict[str, Any], str]] = {
    "a workload that is not there": (
        ["deploy/wep"],
        {},
        'deployments.apps "wep" not found in namespace default; there is web',
    ),
    "what is no workload": (["web"], {}, "invalid workload 'web': expected [NAMESPACE/]KIND/NAME, such as deploy/web"),
    "a kind whose pods stay": (
        ["job/once"],
        {},
        "job/once: pods of a Job are not evicted, only those of a Deployment, ReplicaSet, ReplicationController, "
        "StatefulSet",
    ),
    "labels that nobody has": ([], {"selector": "app=none"}, "no workloads with the labels app=none in the cluster"),
    "names and labels": (
        ["deploy/web"],
        {"selector": "a=b"},
        "workloads and selector do not go together: both say which workloads are meant",
    ),
}


@pytest.mark.parametrize("case", FAULTS)
def test_fault(case: str) -> None:
    workloads, options, message = FAULTS[case]
    with pytest.raises(UsageError) as raised:
        planned([*TWO, *deployment("web", ("n0",), spec=spread())], *workloads, **options)
    assert str(raised.value) == message


def test_every_fault_of_a_policy_has_its_line(tmp_path: Path) -> None:
    path = policy(tmp_path, POLICY.format(evictor="nodeFits: true, noEvictionPolicy: Always"))
    with pytest.raises(ManifestError) as raised:
        planned([*TWO, BARE], descheduler=path)
    args = "profiles[0].pluginConfig[0].args"
    assert str(raised.value).split("\n") == [
        f'{path}:6: {args}.nodeFits: strict decoding error: unknown field "nodeFits", did you mean "nodeFit"?',
        f'{path}:6: {args}.noEvictionPolicy: noEvictionPolicy accepts only ["Preferred" "Mandatory"] values',
    ]
