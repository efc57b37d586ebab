"""The recorder of running clusters without Go: its plans, what they become, its kubelet, and how it cleans up."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

import kubespread
from kubespread.scenario.reading import read_scenario
from tests.builders import hosts, owned_by, pod
from tools.recorder.__main__ import drawn
from tools.recorder.building import CheckoutError
from tools.recorder.recording import Tally
from tools.recorder.running import recording
from tools.recorder.running.cluster import UnsettledError
from tools.recorder.running.families import FAMILIES, Plan, plan
from tools.recorder.running.kubelet import Kubelet
from tools.recorder.running.plane import PROGRAMS, ControlPlane, PlaneError
from tools.recorder.running.recording import compare, expected, played, scenario
from tools.recorder.running.shrinking import shrunk
from tools.recorder.running.steps import VERBS, do
from tools.replay.cases import Data


def digest(seed: int) -> str:
    drawn = [plan(family, seed, number) for family in FAMILIES for number in range(3)]
    return hashlib.sha256(json.dumps(drawn, sort_keys=True).encode()).hexdigest()


def test_a_seed_plans_the_same_cases_in_every_process() -> None:
    program = f"from {__name__} import digest; print(digest(7))"
    environment = {**os.environ, "PYTHONHASHSEED": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    other = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert other.stdout.strip() == digest(7)
    assert digest(8) != digest(7)


DRAWN = {family: [plan(family, 1, number) for number in range(60)] for family in FAMILIES}


def test_running_names_all_families() -> None:
    assert list(dict(drawn(["running"], 0, 1))) == list(FAMILIES)
    assert list(dict(drawn(["spread", "running/drain"], 0, 1))) == ["spread", "running/drain"]
    with pytest.raises(CheckoutError, match="no such family: any; there are spread, .*, running/workloads"):
        dict(drawn(["any"], 0, 1))


def verbs(plans: list[Plan]) -> set[str]:
    steps = [step for made in plans for group in ([made.before, made.under_way, *made.scenarios]) for step in group]
    return {verb for step in steps for verb in step}


def test_families_do_all_that_can_be_done() -> None:
    assert {family.removeprefix("running/"): verbs(plans) for family, plans in DRAWN.items()} == {
        "drain": {"drain", "uncordon", "unready"},
        "drainpar": {"drain"},
        "midflight": {"cordon", "ready", "rollout", "scale"},
        "mix-step": {
            "addNodes",
            "apply",
            "cordon",
            "delete",
            "drain",
            "evict",
            "label",
            "removeNodes",
            "rollback",
            "rollout",
            "scale",
            "taint",
            "uncordon",
        },
        "rollout": {"cordon", "lose", "rollout"},
        "rollout2": {"apply", "hang", "recover", "rollback", "rollout", "unready"},
        "rolltight": {"rollout"},
        "scale": {"cordon", "cost", "hang", "lose", "rollout", "scale", "unready"},
        "volumes": {"addNodes", "delete", "drain", "removeNodes", "rollout", "scale"},
        "workloads": {"apply", "delete", "label", "rollout", "scale", "unready"},
    }
    assert VERBS.keys() | {"apply", "ready"} == set().union(*map(verbs, DRAWN.values()))


@pytest.mark.parametrize("family", FAMILIES)
def test_plans_are_of_objects_and_steps_that_can_be_read(family: str, tmp_path: Path) -> None:
    for made in DRAWN[family]:
        cluster = kubespread.Snapshot.from_objects([each for group in made.objects for each in group])
        assert cluster.nodes
        for name, manifest in made.manifests.items():
            (tmp_path / name).write_text(json.dumps(manifest))
        for steps in made.scenarios:
            (tmp_path / "scenario.json").write_text(json.dumps(scenario("any", steps, [])))
            assert len(read_scenario(tmp_path / "scenario.json").steps) == len(steps)


def replica(name: str, on: str | None, kind: str, owner: str, **status: str) -> Data:
    made = pod(name, on, labels={"app": owner.split("-")[0]})
    made["metadata"]["ownerReferences"] = owned_by(kind, owner)
    return {**made, "status": status}


NODES = hosts("a", "b", None)
BEFORE = [
    *NODES,
    replica("web-1-x", "n0", "ReplicaSet", "web-1", phase="Running"),
    replica("old-1-x", "n0", "ReplicaSet", "old-1", phase="Running"),
]
AFTER = [
    *NODES,
    replica("web-2-x", "n0", "ReplicaSet", "web-2", phase="Running"),
    replica("web-2-y", "n2", "ReplicaSet", "web-2", phase="Running"),
    replica("web-2-z", None, "ReplicaSet", "web-2", phase="Pending"),
    replica("db-0", "n1", "StatefulSet", "db", phase="Running"),
    replica("agent-x", "n1", "DaemonSet", "agent", phase="Running"),
    replica("run-x", "n1", "Job", "run", phase="Running"),
    replica("run-y", "n1", "Job", "run", phase="Succeeded"),
]
END = {
    "db": {"zones": {"b": 1}, "pending": 0},
    "old": {"zones": {}, "pending": 0},
    "run": {"zones": {"b": 1}, "pending": 0},
    "web": {"zones": {"-": 1, "a": 1}, "pending": 1},
}


def test_workloads_end_where_their_pods_are_whoever_has_none_any_more_in_no_zone() -> None:
    assert expected({"items": BEFORE}, {"items": AFTER}) == END


class StandIn:
    """A cluster of which there only are pictures; what is asked of kubectl is kept."""

    name = "any-7-0000"

    def __init__(self, *pictures: list[Data]) -> None:
        self.plane = self
        self.kubelet = Kubelet(self)  # type: ignore[arg-type] # it is never started
        self.did: list[str] = []
        self._pictures = iter(pictures)

    def create(self, *objects: Data) -> None:
        self.did.append(f"create {' '.join(each['kind'] for each in objects)}")

    def settle(self) -> None:
        self.did.append("settle")

    def picture(self) -> Data:
        self.did.append("picture")
        return {"items": next(self._pictures)}

    def pods(self, app: str, count: int) -> list[Data]:
        return [pod(f"{app}-{i}") for i in range(count)]

    def kubectl(self, *words: str, **_: Any) -> None:
        self.did.append(" ".join(words))

    def give(self, verb: str, *objects: Data) -> None:
        self.did.append(f"{verb} {' '.join(each['metadata']['name'] for each in objects)}")


def test_a_plan_becomes_cases_each_with_the_cluster_it_found() -> None:
    manifest = {"kind": "Deployment", "metadata": {"name": "x0"}}
    made = Plan(
        [NODES],
        [[{"scale": "deploy/web=3"}, {"apply": "x0.json"}], [{"evict": "web"}]],
        [{"lose": "old 1"}, {"hang": "web"}],
        manifests={"x0.json": manifest},
    )
    cluster: Any = StandIn(BEFORE, AFTER, AFTER, AFTER)
    cluster.call = lambda *asked: cluster.did.append(" ".join(map(str, asked[:2])))
    first, second = played(cluster, "running/any", made)
    head = {"apiVersion": "kubespread.dev/v1alpha1", "kind": "Scenario"}
    stuck = {"readiness": {"stuck": ["deploy/web"]}}
    assert first == {
        "name": "any-7-0000-0",
        "family": "running/any",
        "cluster": {"items": BEFORE},
        "scenario": {**head, "metadata": {"name": "any-7-0000-0"}, "spec": {**stuck, "steps": list(made.scenarios[0])}},
        "manifests": {"x0.json": manifest},
        "expect": END,
    }
    assert second["scenario"]["spec"]["steps"] == [{"evict": "default/web-0"}]
    assert (second["manifests"], second["cluster"]) == ({}, {"items": AFTER})
    assert cluster.did == [
        "create Node Node Node",
        "delete pod old-0 --wait=false",
        "settle",
        "settle",
        "picture",
        "scale deploy/web --replicas=3",
        "settle",
        "apply x0",
        "settle",
        "picture",
        "picture",
        "POST /api/v1/namespaces/default/pods/web-0/eviction",
        "settle",
        "picture",
    ]


@pytest.mark.parametrize(
    ("step", "asked"),
    [
        ({"rollout": "deploy/web"}, "rollout restart deploy/web"),
        ({"rollout": "deploy/web cpu=150m"}, "set resources deploy/web --requests=cpu=150m"),
        ({"label": "n0=pool=x"}, "label nodes n0 pool=x --overwrite"),
        ({"label": "zone=a pool-"}, "label nodes -l zone=a pool- --overwrite"),
        ({"taint": "n0=maint=yes:NoExecute"}, "taint nodes n0 maint=yes:NoExecute --overwrite"),
        ({"taint": "n0=maint-"}, "taint nodes n0 maint- --overwrite"),
        ({"drain": "n0 --ignore-daemonsets"}, "drain n0 --ignore-daemonsets --timeout=9s"),
    ],
)
def test_a_step_is_what_kubectl_calls_it(step: dict[str, str], asked: str) -> None:
    cluster: Any = StandIn()
    do(cluster, step, {})
    assert cluster.did == [asked]


def recorded_scale(zones: dict[str, int], pending: int = 0) -> Data:
    """One replica more of web, which has one in zone a; its host constraint lets it onto two nodes, in zones b and c."""
    template = pod(labels={"app": "web"})
    template["spec"]["topologySpreadConstraints"] = [
        {
            "maxSkew": 1,
            "topologyKey": "kubernetes.io/hostname",
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": {"app": "web"}},
        }
    ]
    spec = {"replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    web = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "web", "uid": "uid-web"}, "spec": spec}
    running = pod("web-x", "n0", labels={"app": "web"})
    running["metadata"]["ownerReferences"] = owned_by("ReplicaSet", "web")
    return {
        "name": "scale-0-0000",
        "cluster": {"items": [*hosts("a", "b", "c"), web, running]},
        "scenario": scenario("any", [{"scale": "rs/web=2"}], []),
        "manifests": {},
        "expect": {"web": {"zones": zones, "pending": pending}},
    }


@pytest.mark.parametrize(
    ("zones", "pending", "again", "found", "chance"),
    [
        ({"a": 1, "b": 1}, 0, {}, 0, 0),
        ({"a": 1, "c": 1}, 0, {}, 0, 1),
        ({"a": 2}, 0, {}, 1, 0),
        ({"a": 1}, 1, {}, 1, 0),
        ({"a": 1}, 1, {"a": 1, "c": 1}, 0, 1),
    ],
    ids=[
        "as our first deal",
        "as another deal",
        "in a zone that no deal ends in",
        "with a pod that waits",
        "with a pod that waits, but not when all is done again",
    ],
)
def test_a_case_differs_when_no_deal_of_equals_ends_as_recorded(
    zones: dict[str, int], pending: int, again: dict[str, int], found: int, chance: int
) -> None:
    tally = Tally([], [], [], [])
    compare(recorded_scale(zones, pending), "1.36.2", lambda: [recorded_scale(again)], tally)
    assert (len(tally.found), len(tally.chance)) == (found, chance)


def test_a_plan_whose_case_differs_is_made_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stands in for a control plane: once it is scaled where there is a budget, a pod of web waits, unlike ours."""
    monkeypatch.setattr(recording, "DEALS", 2)
    budget = {"kind": "PodDisruptionBudget"}
    made = Plan(
        [[*NODES], [budget, {"kind": "Job"}]],
        [[{"cordon": "n1"}], [{"cordon": "n0"}, {"scale": "rs/web=2"}]],
        [{"lose": "web 1"}],
    )

    def carried_out(tried: Plan) -> list[Data]:
        if not any(tried.objects):
            raise UnsettledError("nothing is there")
        waits = any({"scale": "rs/web=2"} in steps for steps in tried.scenarios)
        waits &= any(budget in group for group in tried.objects)
        return [recorded_scale({"a": 1}, 1) if waits else recorded_scale({"a": 1, "b": 1})]

    small, left = shrunk(carried_out, made, recorded_scale({"a": 1}, 1), "1.36.2")
    assert small == Plan([[budget]], [[{"scale": "rs/web=2"}]], [], [])
    assert [(each.what, each.recorded, each.ours) for each in left] == [("web: placed and pending", (1, 1), (2, 0))]


class Asked:
    """Stands in for a control plane: keeps what a kubelet says of pods, and whether it calls them ready."""

    def __init__(self) -> None:
        self.said: list[tuple[str, str | None]] = []

    def call(self, method: str, path: str, body: Data) -> bytes:
        conditions = {each["type"]: each["status"] for each in body.get("status", {}).get("conditions", ())}
        self.said.append((f"{method} {path.rpartition('/pods/')[2]}", conditions.get("Ready")))
        return b""


def seen(name: str, on: str | None, **metadata: str) -> Data:
    made = pod(name, on, labels={"app": name})
    made["metadata"] |= {"uid": name, "resourceVersion": "1", **metadata}
    return {**made, "status": {"phase": "Pending"}}


@pytest.mark.parametrize(
    ("pods", "said"),
    [
        ([seen("web", None)], []),
        ([seen("web", "n0")], [("PATCH web/status", "True")]),
        ([seen("web", "n0"), seen("web", "n0", resourceVersion="2")], [("PATCH web/status", "True")]),
        ([seen("hung", "n0")], [("PATCH hung/status", "False")]),
        ([seen("web", "n0", deletionTimestamp="2026-01-01T00:00:00Z")], [("DELETE web", None)]),
    ],
    ids=["waits for a node", "starts", "starts once", "is not ready where its app hangs", "ends at once"],
)
def test_a_pod(pods: list[Data], said: list[tuple[str, str | None]]) -> None:
    plane = Asked()
    kubelet = Kubelet(plane)  # type: ignore[arg-type] # all that it needs
    kubelet.hung.add("hung")
    for each in pods:
        kubelet.happened("MODIFIED", each)
    kubelet.rest()
    assert plane.said == said
    assert kubelet.errors == []


def test_a_control_plane_that_does_not_start_says_why_and_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    programs = tmp_path / "programs"
    programs.mkdir()
    # It ends once the other one runs.
    fails = f"until [ -s {tmp_path / 'etcd'} ]; do sleep 0.01; done; echo no such flag; exit 3"
    for name in PROGRAMS:
        text = fails if name == "kube-apiserver" else f"echo $$ > {tmp_path / name}; exec sleep 60"
        (programs / name).write_text(f"#!/bin/sh\n{text}\n")
        (programs / name).chmod(0o755)
    with pytest.raises(PlaneError, match="kube-apiserver ended with 3: no such flag"), ControlPlane(programs):
        pass
    assert sorted(path.name for path in tmp_path.iterdir()) == ["etcd", "programs"]
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "etcd").read_text()), 0)
