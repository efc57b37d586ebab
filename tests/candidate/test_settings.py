"""``--set``: the pod is the one of a manifest that was edited by hand, and faults are the API server's."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kubespread
from kubespread.candidate.candidate import Candidate
from kubespread.candidate.manifest import value_at
from kubespread.candidate.settings import Setting, parse_settings
from kubespread.candidate.sources import Surroundings
from kubespread.errors import ManifestError, UsageError
from tests.builders import Data, hard, hosts, owned_by, pod, soft
from tests.candidate.objects import from_object

ZONE, HOSTNAME = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
CONTAINER: Data = {"name": "web", "image": "x", "resources": {"limits": {"cpu": "2"}}}
SIDECAR: Data = {"name": "log", "image": "x"}
NOTHING = Surroundings()


def a_pod(*constraints: Data, containers: Sequence[Data] = (CONTAINER,)) -> Data:
    return pod(constraints=list(constraints), containers=deepcopy(list(containers)))


def workload(kind: str, *constraints: Data, containers: Sequence[Data] = (CONTAINER,), **spec: Any) -> Data:
    """A workload of any kind called web, whose pods are those of `a_pod`."""
    api_version = {"ReplicationController": "v1", "PodTemplate": "v1", "CronJob": "batch/v1", "Job": "batch/v1"}
    made = a_pod(*constraints, containers=containers)
    template: Data = {"metadata": {"labels": made["metadata"]["labels"]}, "spec": made["spec"]}
    if kind in ("Job", "CronJob"):
        made["spec"]["restartPolicy"] = "Never"
    object_: Data = {"apiVersion": api_version.get(kind, "apps/v1"), "kind": kind, "metadata": {"name": "web"}}
    match kind:
        case "PodTemplate":
            return {**object_, "template": template}
        case "CronJob":
            return {**object_, "spec": {"jobTemplate": {"spec": {"template": template}}}}
        case "Job":
            return {**object_, "spec": {"template": template}}
        case "ReplicationController":
            return {**object_, "spec": {"selector": {"foo": "bar"}, "template": template, **spec}}
    return {**object_, "spec": {"selector": {"matchLabels": {"foo": "bar"}}, "template": template, **spec}}


SPECS = {
    "Pod": "spec",
    "PodTemplate": "template.spec",
    "CronJob": "spec.jobTemplate.spec.template.spec",
    "Deployment": "spec.template.spec",
    "StatefulSet": "spec.template.spec",
    "DaemonSet": "spec.template.spec",
    "ReplicationController": "spec.template.spec",
    "Job": "spec.template.spec",
}


def candidate(data: Data, *settings: str) -> Candidate:
    made = from_object(data, Surroundings(settings=parse_settings(settings)))
    # Two are the same where what they were made with is not.
    return msgspec.structs.replace(made, surroundings=NOTHING)


def edited(data: Data, path: str, edit: Callable[[Any], object]) -> Data:
    """A copy of ``data`` in which ``edit`` has changed what stands at ``path``."""
    copied = deepcopy(data)
    edit(value_at(copied, path))
    return copied


EDITS: dict[str, tuple[str, Callable[[Any], object]]] = {
    "a number of the only constraint": (
        "maxSkew=5",
        lambda spec: spec["topologySpreadConstraints"][0].update(maxSkew=5),
    ),
    "the same by its key": (f"maxSkew[{ZONE}]=5", lambda spec: spec["topologySpreadConstraints"][0].update(maxSkew=5)),
    "the same by a short key": ("maxSkew[zone]=5", lambda spec: spec["topologySpreadConstraints"][0].update(maxSkew=5)),
    "the same by its position": ("maxSkew[0]=5", lambda spec: spec["topologySpreadConstraints"][0].update(maxSkew=5)),
    "domains": ("minDomains[zone]=3", lambda spec: spec["topologySpreadConstraints"][0].update(minDomains=3)),
    "an action": (
        "whenUnsatisfiable[zone]=ScheduleAnyway",
        lambda spec: spec["topologySpreadConstraints"][0].update(whenUnsatisfiable="ScheduleAnyway"),
    ),
    "a policy for taints": (
        "nodeTaintsPolicy=Honor",
        lambda spec: spec["topologySpreadConstraints"][0].update(nodeTaintsPolicy="Honor"),
    ),
    "a policy for affinity": (
        "nodeAffinityPolicy[zone]=Ignore",
        lambda spec: spec["topologySpreadConstraints"][0].update(nodeAffinityPolicy="Ignore"),
    ),
    "one more constraint, which selects as the workload does": (
        "topologySpreadConstraints=hostname:2:soft",
        lambda spec: spec["topologySpreadConstraints"].append(soft(HOSTNAME, 2)),
    ),
    "the maxSkew of the one with that key and action": (
        "topologySpreadConstraints=zone:5",
        lambda spec: spec["topologySpreadConstraints"][0].update(maxSkew=5),
    ),
    "a priority class": (
        "priorityClassName=system-cluster-critical",
        lambda spec: spec.update(priorityClassName="system-cluster-critical"),
    ),
    "a toleration of a taint with a value": (
        "tolerations=dedicated=gpu:NoSchedule",
        lambda spec: spec.update(
            tolerations=[{"key": "dedicated", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"}]
        ),
    ),
    "a toleration of a taint with any value": (
        "tolerations=dedicated:NoExecute",
        lambda spec: spec.update(tolerations=[{"key": "dedicated", "operator": "Exists", "effect": "NoExecute"}]),
    ),
    "a request": ("cpu=500m", lambda spec: spec["containers"][0]["resources"].update(requests={"cpu": "500m"})),
    "a request of a container": (
        "memory[web]=1Gi",
        lambda spec: spec["containers"][0]["resources"].update(requests={"memory": "1Gi"}),
    ),
}


@pytest.mark.parametrize("kind", SPECS)
@pytest.mark.parametrize("case", EDITS)
def test_the_same_as_an_edit_by_hand(case: str, kind: str) -> None:
    setting, edit = EDITS[case]
    data = a_pod(hard(ZONE)) if kind == "Pod" else workload(kind, hard(ZONE))
    before = deepcopy(data)
    by_hand = candidate(edited(data, SPECS[kind], edit))
    assert candidate(data, setting) == by_hand
    assert candidate(data) != by_hand
    assert data == before


def test_null_removes_a_field_of_a_constraint() -> None:
    data = a_pod(hard(ZONE, minDomains=3))
    assert candidate(data, "minDomains[zone]=null") == candidate(a_pod(hard(ZONE)))


AFFINITY: Data = {
    "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [
                {
                    "matchExpressions": [
                        {"key": "pool", "operator": "In", "values": ["a"]},
                        {"key": "disk", "operator": "Exists"},
                    ]
                },
                {
                    "matchExpressions": [
                        {"key": "pool", "operator": "In", "values": ["b"]},
                        {"key": "cpu", "operator": "Exists"},
                    ]
                },
            ]
        }
    },
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": ZONE, "labelSelector": {}},
            {"topologyKey": HOSTNAME, "labelSelector": {}},
        ]
    },
}
_TERMS = "nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
_ANTI = "podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution"
REQUIRED: dict[str, tuple[str, Callable[[Any], object]]] = {
    "a label of the node selector": ("nodeSelector[pool]=null", lambda spec: spec["nodeSelector"].pop("pool")),
    "another value of it": ("nodeSelector[pool]=b", lambda spec: spec["nodeSelector"].update(pool="b")),
    "another label": ("nodeSelector[gpu]=yes", lambda spec: spec["nodeSelector"].update(gpu="yes")),
    "one label in all terms": (
        "nodeAffinity[pool]=null",
        lambda spec: [each["matchExpressions"].pop(0) for each in value_at(spec["affinity"], _TERMS)],
    ),
    "the last label of a term, after which every node will do": (
        "nodeAffinity[zone]=null",
        lambda spec: spec["affinity"]["nodeAffinity"].clear(),
    ),
    "a topology key by its short name": (
        "podAntiAffinity[hostname]=null",
        lambda spec: value_at(spec["affinity"], _ANTI).pop(1),
    ),
}


@pytest.mark.parametrize("case", REQUIRED)
def test_what_is_required_of_nodes_and_pods_near_can_be_dropped(case: str) -> None:
    setting, edit = REQUIRED[case]
    data = edited(
        a_pod(), "spec", lambda spec: spec.update(nodeSelector={"pool": "a", "x": "y"}, affinity=deepcopy(AFFINITY))
    )
    if case.startswith("the last"):
        only = {"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["a"]}]}
        value_at(data, f"spec.affinity.{_TERMS}").append(only)
    assert candidate(data, setting) == candidate(edited(data, "spec", edit))
    assert candidate(data, setting) != candidate(data)


def test_a_toleration_comes_behind_those_there_are() -> None:
    data = edited(a_pod(), "spec", lambda spec: spec.update(tolerations=[{"key": "a", "operator": "Exists"}]))
    tolerations = candidate(data, "tolerations=b:NoSchedule", "tolerations=c=1:NoSchedule").pod.spec.tolerations
    assert [each.key for each in tolerations[:3]] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("gpu", "invalid taint spec: gpu"),
        ("gpu:Never", "invalid taint effect: Never, unsupported taint effect"),
        ("gpu:NoSchedule-", "expected KEY[=VALUE]:EFFECT"),
    ],
)
def test_what_is_no_taint_cannot_be_tolerated(text: str, fault: str) -> None:
    with pytest.raises(UsageError) as raised:
        candidate(a_pod(), f"tolerations={text}")
    assert str(raised.value) == f"--set tolerations={text}: {fault}"


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet", "ReplicaSet", "ReplicationController"])
def test_replicas_are_those_of_the_workload(kind: str) -> None:
    data = workload(kind, replicas=2)
    assert candidate(data, "replicas=7") == candidate(edited(data, "spec", lambda spec: spec.update(replicas=7)))
    assert candidate(data, "replicas=7").replicas == 7


def test_several_settings_are_all_made_and_the_last_of_one_field_counts() -> None:
    data = a_pod(hard(ZONE), soft(HOSTNAME), containers=[CONTAINER, SIDECAR])
    made = candidate(data, "maxSkew[zone]=2", "maxSkew[hostname]=3", "maxSkew[zone]=4", "cpu[log]=1", "memory[web]=1Gi")
    assert [constraint.max_skew for constraint in made.pod.spec.topology_spread_constraints] == [4, 3]
    assert [container.resources.requests for container in made.pod.spec.containers] == [
        {"cpu": "2", "memory": "1Gi"},
        {"cpu": "1"},
    ]


FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "maxSkew": st.integers(-2, 6),
    "minDomains": st.integers(-1, 5),
    "whenUnsatisfiable": st.sampled_from(["DoNotSchedule", "ScheduleAnyway", "Never"]),
    "nodeTaintsPolicy": st.sampled_from(["Honor", "Ignore", "honor"]),
    "nodeAffinityPolicy": st.sampled_from(["Honor", "Ignore", "Never"]),
}


@st.composite
def settings_of_constraints(draw: st.DrawFn) -> list[tuple[str, int, Any]]:
    name = st.sampled_from(sorted(FIELDS))
    return [(field, draw(st.integers(0, 1)), draw(FIELDS[field])) for field in draw(st.lists(name, max_size=4))]


@given(settings_of_constraints(), st.sampled_from(sorted(SPECS)))
def test_any_edit_by_hand_can_be_set(settings: list[tuple[str, int, Any]], kind: str) -> None:
    """The same candidate, or the same faults but for what says where they come from."""
    constraints = [hard(ZONE, 2), soft("rack")]
    data = a_pod(*constraints) if kind == "Pod" else workload(kind, *constraints)
    by_hand = deepcopy(data)
    for field, position, value in settings:
        value_at(by_hand, SPECS[kind])["topologySpreadConstraints"][position][field] = value
    texts = [f"{field}[{('zone', 'rack')[position]}]={value}" for field, position, value in settings]
    assert outcome(data, *texts) == outcome(by_hand)


def outcome(data: Data, *settings: str) -> Candidate | list[tuple[str, str]]:
    try:
        return candidate(data, *settings)
    except ManifestError as error:
        return [(fault.field, re.sub(r" \(--set [^)]*\)$", "", fault.message)) for fault in error.faults]


TWO = a_pod(hard(ZONE), soft(HOSTNAME), containers=[CONTAINER, SIDECAR])
SAME_KEY = a_pod(hard(ZONE), soft(ZONE))
UNCLEAR: dict[str, tuple[Data, str, str]] = {
    "no value": (
        TWO,
        "maxSkew[zone]=",
        "invalid --set 'maxSkew[zone]=': expected FIELD=VALUE or FIELD[KEY]=VALUE, such as ",
    ),
    "no field": (TWO, "=2", "invalid --set '=2': expected FIELD=VALUE or FIELD[KEY]=VALUE, such as maxSkew[zone]=2"),
    "an open bracket": (
        TWO,
        "maxSkew[zone=2",
        "invalid --set 'maxSkew[zone=2': expected FIELD=VALUE or FIELD[KEY]=VALUE",
    ),
    "a mistyped field": (
        TWO,
        "maxskew[zone]=2",
        "invalid --set 'maxskew[zone]=2': unknown field 'maxskew', did you mean \"maxSkew\"?",
    ),
    "an unknown field": (
        TWO,
        "nodeName=n0",
        "invalid --set 'nodeName=n0': unknown field 'nodeName'; fields are maxSkew, minDomains, ",
    ),
    "brackets where none belong": (
        TWO,
        "replicas[web]=2",
        "invalid --set 'replicas[web]=2': replicas takes no brackets",
    ),
    "no constraint": (a_pod(), "maxSkew=2", "--set maxSkew=2: the pod has no topology spread constraint"),
    "one of several constraints": (
        TWO,
        "maxSkew=2",
        f"--set maxSkew=2: the pod has 2 topology spread constraints: write maxSkew[KEY] with one of {ZONE}, {HOSTNAME}",
    ),
    "a mistyped key": (
        TWO,
        f"maxSkew[{ZONE}s]=2",
        f"--set maxSkew[{ZONE}s]=2: no topology spread constraint has the topologyKey '{ZONE}s', did you mean \"{ZONE}\"?",
    ),
    "an unknown key": (
        TWO,
        "maxSkew[rack]=2",
        f"--set maxSkew[rack]=2: no topology spread constraint has the topologyKey 'rack'; there are {ZONE}, {HOSTNAME}",
    ),
    "a key of two constraints": (
        SAME_KEY,
        "maxSkew[zone]=2",
        f"--set maxSkew[zone]=2: 2 topology spread constraints have the topologyKey {ZONE}: write maxSkew[0] or maxSkew[1]",
    ),
    "a position too far": (
        SAME_KEY,
        "maxSkew[2]=2",
        f"--set maxSkew[2]=2: no topology spread constraint has the topologyKey '2'; there are {ZONE}",
    ),
    "one of several containers": (
        TWO,
        "cpu=1",
        "--set cpu=1: the pod has 2 containers: write cpu[KEY] with one of web, log",
    ),
    "an unknown container": (TWO, "cpu[db]=1", "--set cpu[db]=1: no container has the name 'db'; there are web, log"),
    "a label that is not asked for": (
        TWO,
        "nodeSelector[a]=null",
        "--set nodeSelector[a]=null: the pod has no node selector label",
    ),
    "one of several topology keys": (
        edited(TWO, "spec", lambda spec: spec.update(affinity=deepcopy(AFFINITY))),
        "podAntiAffinity=null",
        f"--set podAntiAffinity=null: write podAntiAffinity[KEY] with one of {ZONE}, {HOSTNAME}",
    ),
    "affinity that is to be something": (
        TWO,
        "podAffinity[zone]=a",
        "--set podAffinity[zone]=a: affinity can be removed only: write podAffinity[KEY]=null",
    ),
    "replicas of a pod": (TWO, "replicas=2", "--set replicas=2: a Pod has no replicas"),
    "replicas of daemons": (workload("DaemonSet"), "replicas=2", "--set replicas=2: a DaemonSet has no replicas"),
    "the priority of a pod that was created": (
        edited(TWO, "metadata", lambda meta: meta.update(uid="u")),
        "priorityClassName=high",
        "--set priorityClassName=high: the pod was created already, and its priority computed then; "
        "ask about its workload instead",
    ),
}


@pytest.mark.parametrize("case", UNCLEAR)
def test_a_setting_that_is_not_clear(case: str) -> None:
    data, setting, message = UNCLEAR[case]
    with pytest.raises(UsageError, match=f"^{re.escape(message)}"):
        candidate(data, setting)


CONSTRAINT = "spec.template.spec.topologySpreadConstraints[0]"
REFUSED: dict[str, tuple[str, str]] = {
    "a number too small": ("maxSkew=0", f"{CONSTRAINT}.maxSkew: Invalid value: 0: must be greater than zero"),
    "a number that is none": ("maxSkew=two", f"{CONSTRAINT}.maxSkew: expected a 32-bit integer, found a string"),
    "a number too large": (
        "minDomains=9999999999",
        f"{CONSTRAINT}.minDomains: expected a 32-bit integer, found 9999999999",
    ),
    "an unknown action": (
        "whenUnsatisfiable=Never",
        f'{CONSTRAINT}.whenUnsatisfiable: Unsupported value: "Never": supported values: "DoNotSchedule", "ScheduleAnyway"',
    ),
    "a request above its limit": (
        "cpu=3",
        'spec.template.spec.containers[0].resources.requests: Invalid value: "3": must be less than or equal to cpu limit of 2',
    ),
    "an amount that is none": (
        "memory=1gb",
        "spec.template.spec.containers[0].resources.requests[memory]: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$', "
        'did you mean "1G" or "1Gi"?',
    ),
    "fewer than none": ("replicas=-1", "spec.replicas: Invalid value: -1: must be greater than or equal to 0"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_faults_are_the_api_servers_and_say_what_was_set(case: str, tmp_path: Path) -> None:
    setting, message = REFUSED[case]
    manifest = tmp_path / "web.json"
    manifest.write_bytes(msgspec.json.encode(workload("Deployment", hard(ZONE))))
    snapshot = kubespread.Snapshot.from_objects(hosts("a"))
    with pytest.raises(ManifestError, match=f"^{re.escape(f'{manifest}: {message} (--set {setting})')}$"):
        kubespread.explain(snapshot, manifest, set=[setting])


def test_what_is_wrong_with_the_manifest_itself_keeps_its_line(tmp_path: Path) -> None:
    manifest = tmp_path / "pod.yaml"
    manifest.write_text(
        "kind: Pod\napiVersion: v1\nmetadata: {name: Web}\nspec:\n  topologySpreadConstraints:\n  - maxSkew: 1\n"
        "    topologyKey: zone\n    whenUnsatisfiable: DoNotSchedule\n  containers: [{name: c, image: x}]\n"
    )
    with pytest.raises(ManifestError) as refused:
        kubespread.explain(kubespread.Snapshot.from_objects(hosts("a")), manifest, set=["maxSkew=0"])
    assert [(fault.field, fault.line) for fault in refused.value.faults] == [
        ("metadata.name", 3),
        ("spec.topologySpreadConstraints[0].maxSkew", None),
    ]


@pytest.mark.parametrize("spec", [None, [], {"containers": 1}, {"containers": [1]}, {"topologySpreadConstraints": 1}])
@pytest.mark.parametrize("setting", ["maxSkew=2", "cpu=1", "priorityClassName=x"])
def test_what_cannot_be_decoded_is_refused_as_without_settings(spec: Any, setting: str) -> None:
    data = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}, "spec": spec}
    with pytest.raises((ManifestError, UsageError)):
        candidate(data, setting)


def deployment(**spec: Any) -> Data:
    made = workload("Deployment", hard(ZONE, matchLabelKeys=["pod-template-hash"]), **spec)
    made["metadata"]["namespace"] = "default"
    return made


def replica_set(replicas: int) -> Data:
    labels = {"foo": "bar", "pod-template-hash": "real"}
    made = workload("ReplicaSet", hard(ZONE, matchLabelKeys=["pod-template-hash"]), replicas=replicas)
    made["spec"]["template"]["metadata"] = {"labels": labels}
    made["metadata"] |= {"name": "web-real", "namespace": "default", "ownerReferences": owned_by("Deployment", "web")}
    return made


def replica(name: str, on: str) -> Data:
    made = pod(name, on, labels={"foo": "bar", "pod-template-hash": "real"})
    made["metadata"]["ownerReferences"] = owned_by("ReplicaSet", "web-real")
    return made


RUNNING = kubespread.Snapshot.from_objects(
    [
        *hosts("a", "a", "b"),
        deployment(replicas=2),
        replica_set(2),
        replica("web-real-1", "n0"),
        replica("web-real-2", "n2"),
    ]
)


def test_a_workload_of_the_cluster_with_another_template_is_rolled_out() -> None:
    report = kubespread.simulate(RUNNING, "deploy/web", set=["maxSkew=2"])
    assert (report.present, report.placed) == (0, 2)
    assert report.rollout is not None
    assert report.rollout.complete
    assert [(each.wanted.old, each.wanted.new) for each in report.rollout.passes] == [(2, 1), (1, 1), (1, 2), (0, 2)]


@pytest.mark.parametrize("setting", ["maxSkew=1", "replicas=3"])
def test_a_workload_of_the_cluster_with_its_own_template_stays(setting: str) -> None:
    report = kubespread.simulate(RUNNING, "deploy/web", set=[setting])
    assert (report.present, report.placed) == (2, 1 if setting == "replicas=3" else 0)
    assert "Deployment/web: evaluated as another pod of its ReplicaSet web-real" in report.notes


def test_faults_of_a_workload_of_the_cluster_say_what_was_set() -> None:
    for setting, fault in {
        "maxSkew=0": f"Deployment/web: {CONSTRAINT}.maxSkew: Invalid value: 0: must be greater than zero",
        "maxSkew=two": f"Deployment/web: {CONSTRAINT}.maxSkew: expected a 32-bit integer, found a string",
    }.items():
        with pytest.raises(ManifestError) as refused:
            kubespread.explain(RUNNING, "deploy/web", set=[setting])
        assert str(refused.value).startswith(fault)
        assert str(refused.value).endswith(f" (--set {setting})")


def test_a_pod_of_the_cluster_is_asked_about_with_other_fields() -> None:
    waiting = pod("web", constraints=[hard(ZONE)])
    snapshot = kubespread.Snapshot.from_objects([*hosts("a", "b"), waiting, pod("one", "n0"), pod("two", "n0")])
    assert kubespread.explain(snapshot, "pod/web").feasible == ("n1",)
    assert kubespread.explain(snapshot, "pod/web", set=["maxSkew=3"]).feasible == ("n1", "n0")
    (unchanged,) = (each for each in snapshot.pods if each.metadata.name == "web")
    assert unchanged.spec.topology_spread_constraints[0].max_skew == 1
    with pytest.raises(
        ManifestError, match=r"maxSkew: Invalid value: 0: must be greater than zero \(--set maxSkew=0\)$"
    ):
        kubespread.explain(snapshot, "pod/web", set=["maxSkew=0"])


def test_every_workload_that_is_asked_about_is_set() -> None:
    objects = [pod(name, constraints=[hard(ZONE)]) for name in ("one", "two")]
    reports = kubespread.simulate(kubespread.Snapshot.from_objects(hosts("a")), objects, set=["maxSkew=7"])
    assert [report.constraints[0].max_skew for report in reports] == [7, 7]


def test_a_setting_is_its_text() -> None:
    assert parse_settings(["maxSkew[zone]=2", "replicas=3"]) == (
        Setting("maxSkew", "zone", "2"),
        Setting("replicas", "", "3"),
    )
    assert [str(each) for each in parse_settings(["maxSkew[zone]=2", "replicas=3"])] == [
        "maxSkew[zone]=2",
        "replicas=3",
    ]
