"""Scenarios played: what each step comes to, and what is said of those that cannot be done."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import kubespread
from kubespread.errors import KubespreadError, ManifestError, UsageError
from kubespread.questions.plan import PlanReport, PlanStep
from tests.builders import Data, hard, hosts, pod

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "fixtures"
ZONE = "topology.kubernetes.io/zone"
WEB = FIXTURES / "clusters" / "web-in-three-zones.yaml"


def scenario(*steps: Any, **spec: Any) -> Data:
    return {"apiVersion": "kubespread.dev/v1alpha1", "kind": "Scenario", "spec": {"steps": list(steps), **spec}}


def play(*steps: Any, **spec: Any) -> PlanReport:
    """Steps in the cluster of six nodes in three zones with the six replicas of web."""
    return kubespread.plan(kubespread.load(WEB), scenario(*steps, **spec))


def told(step: PlanStep) -> str:
    """placed/gone/blocked/pending, skews of touched workloads, and how rollouts ended."""
    figures = "/".join(map(str, (step.placed, step.gone, len(step.get("blocked")), step.pending)))
    skews = [f"{change.before}->{change.after}" for each in step.workloads for change in each.skew]
    ends = [
        f"{len(each.passes)} passes {'complete' if each.complete else 'wedged'} {[end.skew for end in each.final]}"
        for each in step.rollouts
    ]
    return " ".join([figures, *skews, *ends])


def workload(kind: str, name: str, replicas: int | None = None, **spec: Any) -> Data:
    """A workload labeled app=NAME over the zones."""
    constraints = [hard(ZONE, match={"app": name})]
    template = {"metadata": {"labels": {"app": name}}, "spec": pod(constraints=constraints)["spec"]}
    own = {"selector": {"matchLabels": {"app": name}}, "template": template, **spec}
    if replicas is not None:
        own["replicas"] = replicas
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name, "namespace": "default"}, "spec": own}


def write(path: Path, *objects: Data) -> str:
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}))
    return str(path)


CASES: dict[str, tuple[list[Any], dict[str, Any], list[str]]] = {
    "more replicas, a restart, a zone that is lost and comes back": (
        ["scale deploy/web=9", "rollout deploy/web", "fail zone=a", "restore zone=a"],
        {},
        ["3/0/0/0 0->0", "9/9/0/0 0->0 5 passes complete [0]", "0/3/0/3 0->3", "3/0/0/0 3->0"],
    ),
    "a hard constraint that counts every revision leaves the new one uneven": (
        ["cordon node-b2", f"rollout deploy/web {FIXTURES}/scenarios/web-v2.yaml"],
        {},
        ["0/0/0/0", "6/6/0/0 0->2 5 passes complete [2]"],
    ),
    "one that counts its own revision alone does not": (
        [f"rollout deploy/web {FIXTURES}/scenarios/web-v2-match-label-keys.yaml"],
        {},
        ["6/6/0/0 0->0 5 passes complete [0]"],
    ),
    "pods that never get ready stop a rollout until they do": (
        ["rollout deploy/web", "ready deploy/web"],
        {"readiness": {"stuck": ["deploy/web"]}},
        ["3/1/0/0 0->1 2 passes wedged [0]", "3/5/0/0 1->2"],
    ),
    "a rollback gives the old ReplicaSet its pods back": (
        ["cordon node-b2", f"rollout deploy/web {FIXTURES}/scenarios/web-v2.yaml", "rollback deploy/web"],
        {},
        ["0/0/0/0", "6/6/0/0 0->2 5 passes complete [2]", "6/6/0/0 2->0 5 passes complete [0]"],
    ),
    "a drain and an uncordon": ([{"drain": "node-a1"}, "uncordon node-a1"], {}, ["1/1/0/0 0->0", "0/0/0/0"]),
    "fewer replicas": ([{"scale": "deploy/web=3"}], {}, ["0/3/0/0 0->0"]),
    "pods that are deleted are made again": ([{"delete": "app=web"}], {}, ["6/6/0/0 0->0"]),
    "nodes that come, and nodes that go": (
        [{"addNodes": "node-a1:2"}, {"removeNodes": "node-a1"}],
        {},
        ["0/0/0/0", "1/1/0/0 0->0"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_every_step_comes_to(case: str) -> None:
    steps, spec, expected = CASES[case]
    assert [told(step) for step in play(*steps, **spec).steps] == expected


def test_a_rollout_says_what_match_label_keys_would_have_given() -> None:
    (rollout,) = play("cordon node-b2", f"rollout deploy/web {FIXTURES}/scenarios/web-v2.yaml").steps[-1].rollouts
    assert rollout.with_match_label_keys is not None
    assert [(end.skew, end.max_skew) for end in rollout.with_match_label_keys] == [(0, 1)]
    assert (rollout.fewest_ready, [worst.skew for worst in rollout.worst_skew]) == (5, [2])


def test_a_rollback_is_compared_with_match_label_keys_too() -> None:
    first = f"rollout deploy/web {FIXTURES}/scenarios/web-v2.yaml"
    (rollout,) = play(first, "scale deploy/web=7", "cordon node-a1", "rollback deploy/web").steps[-1].rollouts
    assert rollout.with_match_label_keys is not None
    assert [end.skew for end in rollout.final] == [2]
    assert [end.skew for end in rollout.with_match_label_keys] == [1]


def test_a_template_that_stays_as_it_is_is_no_rollout(tmp_path: Path) -> None:
    text = (
        (FIXTURES / "scenarios" / "web-v2.yaml")
        .read_text()
        .replace("3.11", "3.10")
        .replace("replicas: 6", "replicas: 7")
    )
    path = tmp_path / "web.yaml"
    path.write_text(text)
    (step,) = play({"apply": [str(path)]}).steps
    assert told(step) == "1/0/0/0 0->1"
    assert step.notes == ("Deployment/web: its template stays as it is: no rollout",)


ROLLED_AGAIN = "3/3/0/0 0->0 6 passes complete [0]"
AGAIN: dict[str, tuple[list[Data], list[str], int]] = {
    # What each step comes to, and of how many ReplicaSets the pods are.
    "back to what it was before": (
        [{"args": ["a"]}, {"args": ["b"]}, {"args": ["a"]}],
        [ROLLED_AGAIN, ROLLED_AGAIN],
        2,
    ),
    "what was applied before and is left out": ([{"args": ["a"]}, {}], [ROLLED_AGAIN], 2),
    "the same": ([{"args": ["a"]}] * 2, ["0/0/0/0"], 1),
}


@pytest.mark.parametrize("case", AGAIN)
def test_what_is_applied_again(case: str, tmp_path: Path) -> None:
    applied, expected, replica_sets = AGAIN[case]
    paths = []
    for number, fields in enumerate(applied):
        obj = workload("Deployment", "new", 3)
        (container,) = obj["spec"]["template"]["spec"]["containers"]
        container |= fields
        paths.append(write(tmp_path / f"{number}.json", obj))
    steps = play(*({"apply": [path]} for path in paths)).steps
    makers = {placed.pod.name.rpartition("-")[0] for step in steps for placed in step.pods_placed}
    assert ([told(step) for step in steps[1:]], len(makers)) == (expected, replica_sets)


NAMESPACES: dict[str, tuple[list[Data], list[str], str | None]] = {
    "is there": ([], ["default"], None),
    "is missing: the rest is applied": (
        [],
        ["default", "nowhere"],
        'namespaces "nowhere" not found; there is default; nothing is created in it without --create-namespaces',
    ),
    "is in the manifests": (
        [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "nowhere"}}],
        ["default", "nowhere"],
        None,
    ),
}


@pytest.mark.parametrize("case", NAMESPACES)
@pytest.mark.parametrize("creates", [False, True])
def test_the_namespace_of_what_is_applied(case: str, creates: bool, tmp_path: Path) -> None:
    brought, names, refusal = NAMESPACES[case]
    default = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}}
    pods = [pod("p", namespace=name) for name in names]
    path = write(tmp_path / "pods.json", *pods, *brought)
    snapshot = kubespread.Snapshot.from_objects([*hosts("a"), default])
    report = kubespread.plan(snapshot, scenario(*[f"apply {path}"] * 2), create_namespaces=creates)
    placed = [[str(each.pod) for each in step.pods_placed] for step in report.steps]
    there = [f"{name}/p" for name in names if name == "default" or creates or refusal is None]
    assert (placed[0], [step.failed for step in report.steps]) == (there, [None if creates else refusal] * 2)


UNCONSTRAINED = {"metadata": {"labels": {"app": "new"}}, "spec": pod()["spec"]}
NEW: dict[str, tuple[Data, str]] = {
    "a Deployment": (workload("Deployment", "new", 3), "3/0/0/0 0->0"),
    "a StatefulSet": (workload("StatefulSet", "new", 3, serviceName="new"), "3/0/0/0 0->0"),
    "a ReplicaSet": (workload("ReplicaSet", "new", 4), "4/0/0/0 0->1"),
    "a StatefulSet that is spread by default": (
        workload("StatefulSet", "new", 3, template=UNCONSTRAINED),
        "3/0/0/0 0->1 0->0",
    ),
    "a DaemonSet": (workload("DaemonSet", "new"), "6/0/0/0"),
    "a Deployment without a number of replicas": (workload("Deployment", "new"), "1/0/0/0 0->1"),
    "a pod": (pod("alone", labels={"app": "alone"}), "1/0/0/0"),
}


@pytest.mark.parametrize("case", NEW)
def test_what_is_new_is_created_and_placed(case: str, tmp_path: Path) -> None:
    obj, expected = NEW[case]
    (step,) = play({"apply": [write(tmp_path / "new.json", obj)]}).steps
    assert told(step) == expected
    assert step.rollouts == ()


ROLLED: dict[str, tuple[Data, list[str], str]] = {
    "a StatefulSet goes from the highest ordinal, a pod at a time": (
        workload("StatefulSet", "new", 3, serviceName="new"),
        ["rollout sts/new cpu=1"],
        "3/3/0/0 0->0 6 passes complete [0]",
    ),
    "a StatefulSet with a partition stops there": (
        workload("StatefulSet", "new", 3, serviceName="new", updateStrategy={"rollingUpdate": {"partition": 2}}),
        ["rollout sts/new cpu=1"],
        "1/1/0/0 0->0 2 passes complete [1]",
    ),
    "a DaemonSet has all its pods replaced at once": (workload("DaemonSet", "new"), ["rollout ds/new"], "6/6/0/0"),
    "a DaemonSet whose pods are replaced by hand keeps them": (
        workload("DaemonSet", "new", updateStrategy={"type": "OnDelete"}),
        ["rollout ds/new"],
        "0/0/0/0",
    ),
    "a Deployment that is recreated": (
        workload("Deployment", "new", 3, strategy={"type": "Recreate"}),
        ["rollout deploy/new"],
        "3/3/0/0 0->0 2 passes complete [0]",
    ),
}


@pytest.mark.parametrize("case", ROLLED)
def test_how_what_was_applied_is_rolled_out(case: str, tmp_path: Path) -> None:
    obj, steps, expected = ROLLED[case]
    report = play({"apply": [write(tmp_path / "new.json", obj)]}, *steps)
    assert told(report.steps[-1]) == expected


def test_that_daemons_go_a_few_at_a_time_is_said_not_to_be_modeled(tmp_path: Path) -> None:
    report = play({"apply": [write(tmp_path / "new.json", workload("DaemonSet", "new"))]}, "rollout ds/new")
    assert report.steps[-1].notes == (
        "DaemonSet/new: its pods are replaced all at once: that maxSurge and maxUnavailable let a few go at a time is "
        "not modeled",
    )


def test_daemons_of_new_nodes_have_the_new_template(tmp_path: Path) -> None:
    path = write(tmp_path / "new.json", workload("DaemonSet", "new"))
    given = scenario({"apply": [path]}, "rollout ds/new cpu=1", {"addNodes": "node-a1"})
    after = kubespread.after_steps(kubespread.load(WEB), given)
    (added,) = (each for each in after.pods if each.spec.node_name == "node-a1-1")
    assert added.spec.containers[0].resources.requests == {"cpu": "1"}


REFUSED: dict[str, tuple[list[Any], str]] = {
    "nodes that are not there": (
        ["fail zone=d"],
        "step 1 (fail zone=d): no node has topology.kubernetes.io/zone=d; there are a, b, c",
    ),
    "a workload that is not there": (
        ["cordon node-a1", "scale deploy/wep=3"],
        'step 2 (scale deploy/wep=3): deployments.apps "wep" not found in namespace default; there is web',
    ),
    "a workload that is stuck and not there": (
        [{"stuck": ["deploy/api"]}],
        'step 1 (stuck deploy/api): deployments.apps "api" not found in namespace default; there is web',
    ),
    "every fault": (
        ["cordon x", "rollout deploy/y"],
        'step 1 (cordon x): nodes "x" not found; there are node-a1, node-a2, node-b1, node-b2, node-c1, node-c2\n'
        'step 2 (rollout deploy/y): deployments.apps "y" not found in namespace default; there is web',
    ),
    "a constraint that is not there": (
        ["rollout deploy/web maxSkew[rack]=2"],
        "step 1 (rollout deploy/web maxSkew[rack]=2): --set maxSkew[rack]=2: no topology spread constraint has the topologyKey 'rack'; there is topology.kubernetes.io/zone",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_names_nothing_is_refused_before_anything_is_played(case: str) -> None:
    steps, expected = REFUSED[case]
    with pytest.raises(UsageError) as raised:
        play(*steps)
    assert str(raised.value) == expected


def test_a_manifest_that_the_api_server_refuses_is_refused_before_anything_is_played(tmp_path: Path) -> None:
    bad = workload("Deployment", "new", 3)
    bad["spec"]["template"]["spec"]["topologySpreadConstraints"][0]["maxSkew"] = 0
    with pytest.raises(ManifestError, match="must be greater than zero"):
        play("cordon node-a1", {"apply": [write(tmp_path / "new.json", bad)]})


def test_what_goes_wrong_on_the_way_is_said_of_its_step_and_the_next_goes_on() -> None:
    report = play({"removeNodes": "node-a1"}, "cordon node-a1", "rollback deploy/web", "scale deploy/web=7")
    assert [step.failed for step in report.steps] == [
        None,
        'nodes "node-a1" not found, did you mean "node-c1"?',
        'no rollout history found for deployment "web": it has no ReplicaSet of another template',
        None,
    ]
    assert (report.blocked_steps, report.pending) == ((2, 3), 0)


def test_a_drain_that_kubectl_refuses_is_blocked() -> None:
    cluster = kubespread.Snapshot.from_objects([*hosts("a", "b"), pod("bare", "n0")])
    report = kubespread.plan(cluster, scenario("drain n0", {"drain": "n0 --force"}))
    assert report.blocked_steps == (1,)
    (refused,) = report.steps[0].troubles
    assert (refused.kind, refused.subject) == ("noController", "default/bare")
    assert refused.why.startswith("cannot delete Pods that declare no controller")
    assert [gone.lost_for_good for gone in report.steps[1].pods_gone] == [True]


def test_pods_that_wait_from_the_start_are_no_fault_of_the_scenario() -> None:
    waiting = pod("big", requests={"cpu": "100"})
    cluster = kubespread.Snapshot.from_objects([*hosts("a", "b"), waiting])
    report = kubespread.plan(cluster, scenario("cordon n0"))
    assert [(each.kind, each.subject, each.count) for each in report.waiting] == [("pending", "default/Pod/big", 1)]
    assert (report.pending, report.blocked_steps) == (0, ())


@pytest.mark.parametrize(("preemption", "gone"), [(True, ["preempted"]), (False, [])])
def test_preemption_can_be_left_out(preemption: bool, gone: list[str], tmp_path: Path) -> None:
    low = pod("low", "n0", requests={"cpu": "8"})
    classes = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "high"},
        "value": 1000,
    }
    cluster = kubespread.Snapshot.from_objects([*hosts("a"), low, classes])
    high = pod("high", requests={"cpu": "8"}, priorityClassName="high")
    step = {"apply": [write(tmp_path / "high.json", high)]}
    report = kubespread.plan(cluster, scenario(step), preemption=preemption)
    assert [each.why for each in report.steps[0].pods_gone] == gone
    assert report.pending == (0 if preemption else 1)


def test_a_scenario_plays_the_same_every_time() -> None:
    steps = ["scale deploy/web=9", "rollout deploy/web", "drain zone=a", "fail zone=b", "restore zone=b"]
    first, second = (json.dumps(play(*steps).to_dict()) for _ in range(2))
    assert first == second


def test_the_cluster_after_a_step_answers_questions() -> None:
    cluster = kubespread.load(WEB)
    given = scenario("fail zone=a", "restore zone=a")
    pending = [each.metadata.name for each in kubespread.after_steps(cluster, given, 1).pods if not each.spec.node_name]
    assert len(pending) == 2
    report = kubespread.explain(kubespread.after_steps(cluster, given, 1), f"pod/{pending[0]}")
    assert not report.schedulable
    assert all(each.spec.node_name for each in kubespread.after_steps(cluster, given).pods)
    with pytest.raises(UsageError, match="step 3: the scenario has 2 steps"):
        kubespread.after_steps(cluster, given, 3)


def test_edits_come_before_the_first_step() -> None:
    report = kubespread.plan(kubespread.load(WEB).edited("delete-node zone=c"), scenario("scale deploy/web=4"))
    assert (report.node_count, [step.name for step in report.steps]) == (
        6,
        ["delete-node zone=c", "scale deploy/web=4"],
    )
    assert [told(step) for step in report.steps] == ["2/2/0/0 0->0", "0/2/0/0 0->0"]


THEN: dict[str, tuple[list[str], list[str]]] = {
    "another number, a restart, a zone": (
        ["scale deploy/new=3", "rollout deploy/new", "fail zone=a"],
        ["6/0/0/0 0->0", "0/3/0/0 0->0", "3/3/0/0 0->0 6 passes complete [0]", "0/3/0/3 0->1 0->2"],
    ),
    "an equals sign does as well, and so do other workloads": (
        ["scale=deploy/web=3", "scale=deploy/new=4", "rollback=deploy/new"],
        ["6/0/0/0 0->0", "0/3/0/0 0->0", "0/2/0/0 0->1", "0/0/0/0"],
    ),
}


@pytest.mark.parametrize("case", THEN)
def test_what_happens_to_a_workload_once_it_is_applied(case: str) -> None:
    steps, expected = THEN[case]
    manifest = workload("Deployment", "new", 6)
    report = kubespread.plan(kubespread.load(WEB), steps, manifests=[manifest])
    assert [step.name for step in report.steps] == [
        "apply manifests",
        *(step.replace("=", " ", " " not in step) for step in steps),
    ]
    assert [told(step) for step in report.steps] == expected


WRONG_STEPS = {
    "scael deploy/web=2": "unknown step 'scael', did you mean \"scale\"?",
    "rollout": "invalid step 'rollout': expected rollout [NAMESPACE/]KIND/NAME [MANIFEST | FIELD=VALUE...]",
    "rollout deploy/web maxskew=2": "invalid --set 'maxskew=2': unknown field 'maxskew', did you mean \"maxSkew\"?",
    "fail zone=d": "step 1 (fail zone=d): no node has topology.kubernetes.io/zone=d; there are a, b, c",
    "none.yaml": "none.yaml: No such file or directory",
}


@pytest.mark.parametrize("text", WRONG_STEPS)
def test_a_step_that_means_nothing(text: str) -> None:
    with pytest.raises(KubespreadError) as raised:
        kubespread.plan(kubespread.load(WEB), [text])
    assert str(raised.value) == WRONG_STEPS[text]


def test_steps_stand_before_and_after_those_of_a_file(tmp_path: Path) -> None:
    files = [tmp_path / "one.yaml", tmp_path / "two files.yaml"]
    for file in files:
        file.write_text(json.dumps({**scenario("cordon zone=a"), "metadata": {"name": "one"}}))
    report = kubespread.plan(kubespread.load(WEB), ["scale deploy/web=7", files[1], "fail zone=b"])
    assert (report.name, [step.name for step in report.steps]) == (
        "one",
        ["scale deploy/web=7", "cordon zone=a", "fail zone=b"],
    )
    with pytest.raises(
        UsageError, match="expected one scenario, with steps beside it, found .*one.yaml and .*two files"
    ):
        kubespread.plan(kubespread.load(WEB), files)


def test_a_workload_of_the_cluster_goes_on_from_what_it_has() -> None:
    report = kubespread.plan(kubespread.load(WEB), ["scale deploy/web=8", "rollout deploy/web cpu=1"])
    assert [told(step) for step in report.steps] == ["2/0/0/0 0->1", "8/8/0/0 1->1 5 passes complete [1]"]


def test_an_autoscaler_adds_nodes_for_pods_that_find_none(tmp_path: Path) -> None:
    groups = {
        "apiVersion": "kubespread.dev/v1alpha1",
        "kind": "NodeGroups",
        "groups": [{"name": "pool", "template": "n0", "zones": ["a", "b"], "max": 2}],
    }
    (tmp_path / "groups.json").write_text(json.dumps(groups))
    cluster = kubespread.Snapshot.from_objects(
        [
            *hosts("a", "b"),
            pod("one", requests={"cpu": "6"}),
            pod("two", requests={"cpu": "6"}),
            pod("three", requests={"cpu": "6"}),
        ]
    )
    groups_file = str(tmp_path / "groups.json")
    report = kubespread.plan(cluster, "cordon n1", autoscaler="ca", node_groups=groups_file)
    assert [len(step.nodes.joined) for step in report.steps] == [1]
    assert (report.pending, report.steps[0].pods_placed[0].node) == (0, report.steps[0].nodes.joined[0])
    assert (
        "what autoscalers of pods, and the descheduler, do meanwhile; nodes are added only where an autoscaler is named"
        in (report.not_modelled)
    )


def test_a_step_says_which_nodes_take_no_pods_any_more_and_which_do_again() -> None:
    steps = [
        "cordon node-b1",
        "fail zone=a",
        "cordon node-a1",
        "restore zone=a",
        "uncordon node-b1",
        "delete-node node-a1",
    ]
    assert [step.nodes.states for step in play(*steps).steps] == [
        {"node-b1": ("cordoned",)},
        {"node-a1": ("not ready",), "node-a2": ("not ready",)},
        {"node-a1": ("cordoned", "not ready")},
        {"node-a1": ("cordoned",), "node-a2": ()},
        {"node-b1": ()},
        {},
    ]


READY = {
    "a zone fails after more replicas became ready": (("scale deploy/web=12", "fail zone=a"), (12, 8, 8), True),
    "a step later it is still degraded": (("scale deploy/web=12", "fail zone=a", "cordon node-b1"), (12, 8, 8), True),
    "fewer replicas are enough": (("scale deploy/web=12", "scale deploy/web=8", "fail zone=a"), (12, 6, 6), True),
    "pods of a failing zone go, and come back when it does": (
        ("fail zone=a", "restore zone=a", "fail zone=b"),
        (6, 4, 4),
        True,
    ),
    "no step is worse than those before it": (("scale deploy/web=12", "scale deploy/web=6"), (12, 6, 6), False),
}


@pytest.mark.parametrize("case", READY)
def test_a_step_is_compared_with_the_most_pods_that_were_ready_before_it(case: str) -> None:
    steps, figures, is_degraded = READY[case]
    step = play(*steps).steps[-1]
    (web,) = step.workloads
    assert (web.ready_before, web.ready, web.fewest_ready) == figures
    assert ([workload.lacks > 0 for workload in step.degraded] == [True]) is is_degraded


@pytest.mark.parametrize("replicas", [4, 12])
def test_a_deployment_that_an_edit_scaled_rolls_out_as_one_that_a_step_scaled(replicas: int) -> None:
    cluster, scale = kubespread.load(WEB), f"scale deploy/web={replicas}"
    edited = kubespread.simulate(cluster.edited(scale), "deploy/web", set=["cpu=499m"])
    step = play(scale, "rollout deploy/web").steps[-1]
    assert edited.rollout is not None
    assert [edited.placed, edited.rollout.complete, len(edited.rollout.passes)] == [
        step.placed,
        step.rollouts[0].complete,
        len(step.rollouts[0].passes),
    ]
    assert edited.placed == replicas
