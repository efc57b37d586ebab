"""``kubespread simulate`` as scripts and people use it."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.builders import Data, hard, hosts, owned_by, pod, soft
from tests.cli.support import FIXTURES, SIMULATE_SCHEMA, Result, run

WEB = str(FIXTURES / "manifests" / "zone-hard-node-soft.yaml")
ZONES = str(FIXTURES / "clusters" / "three-zones.yaml")
ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"


def simulate(*arguments: str | Path) -> Result:
    return run("simulate", WEB, "-S", ZONES, *arguments)


def written(path: Path, objects: object) -> Path:
    path.write_text(json.dumps(objects))
    return path


def deployment(name: str = "web", *, replicas: int | None = None, constraints: list[Data] | None = None) -> Data:
    template = {
        "metadata": {"labels": {"foo": "bar"}},
        "spec": {"containers": [{"name": "c", "image": "x"}], "topologySpreadConstraints": constraints or []},
    }
    spec: Data = {"selector": {"matchLabels": {"foo": "bar"}}, "template": template}
    if replicas is not None:
        spec["replicas"] = replicas
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "default"},
        "spec": spec,
    }


def test_columns_in_a_pipe() -> None:
    result = simulate("--replicas", "7")
    assert (result.code, result.err) == (0, "7 of 7 placed\n")
    assert result.out == (
        "NAMESPACE   WORKLOAD    KEY    MAX-SKEW   DOMAIN   BEFORE   AFTER\n"
        "default     Pod/mypod   zone   1          zone1    1        4\n"
        "default     Pod/mypod   zone   1          zone2    1        3\n"
        "default     Pod/mypod   zone   1          zone3    1        3\n"
        "default     Pod/mypod   node   1          node1    1        4\n"
        "default     Pod/mypod   node   1          node2    1        3\n"
        "default     Pod/mypod   node   1          node3    1        3\n"
        "\n"
        "NAMESPACE   WORKLOAD    REPLICAS   RUNNING   PLACED   PENDING   NOT-CREATED   NOT-CREATED-YET   WHY\n"
        "default     Pod/mypod   7          0         7        0         0             0                 <none>\n"
    )


def test_a_picture_for_people() -> None:
    result = simulate("--replicas", "4", "-o", "table")
    assert (result.code, result.err) == (0, "")
    assert result.out.splitlines() == [
        "Pod/mypod in default: 4 of 4 replicas placed",
        "  A zone ≤ 1  1 each → 3·2·2, skew 0 → 1      B node ≤ 1  1 each → 3·2·2, skew 0 → 1 (soft)      counting foo=bar",
        "  zone1  1 → 3  ▒██  node1 +2",
        "  zone2  1 → 2  ▒█   node2 +1",
        "  zone3  1 → 2  ▒█   node3 +1",
        "  losing zone1 leaves 2 of 4 · losing node1 leaves 2 of 4",
        "  3 of 4 placements were ties, taken in kube-scheduler's own order",
    ]


def test_names_are_pods_and_nodes() -> None:
    assert simulate("--replicas", "2", "-o", "name", "-q").out == "default/mypod-0\tnode1\ndefault/mypod-1\tnode2\n"


def test_json_keeps_its_schema_and_yaml_is_the_same() -> None:
    as_json = simulate("--replicas", "5", "-o", "json")
    report = as_json.report_of(SIMULATE_SCHEMA)
    assert (report["placed"], as_json.err) == (5, "")
    as_yaml = yaml.safe_load(simulate("--replicas", "5", "-o", "yaml").out)
    commands = [each["provenance"].pop("command") for each in (report, as_yaml)]
    assert [command.rpartition(" ")[2] for command in commands] == ["json", "yaml"]
    assert as_yaml == report


def test_csv() -> None:
    rows = list(csv.reader(io.StringIO(simulate("--replicas", "2", "-o", "csv", "-q").out)))
    assert [row[:5] for row in rows] == [
        ["namespace", "workload", "replica", "pod", "node"],
        ["default", "Pod/mypod", "0", "mypod-0", "node1"],
        ["default", "Pod/mypod", "1", "mypod-1", "node2"],
    ]
    assert len(simulate("--replicas", "2", "-o", "csv", "-q", "--no-headers").out.splitlines()) == 2


FULL = "0/3 nodes are available: 3 Too many pods.\n"
REPLICAS = {
    "none": ("0", 0, "0 of 0 placed\n"),
    "more than fit": ("400", 1, f"{FULL}73 pending: all 3 nodes have no room for another pod\nNo: 327 of 400 placed\n"),
    "as many as fit": ("max", 0, f"{FULL}the next one stops: all 3 nodes have no room for another pod\n327 fit\n"),
    "less than none": ("-1", 2, "error: invalid --replicas '-1': expected a number from 0, or max\n"),
    "no number": ("abc", 2, "error: invalid --replicas 'abc': expected a number from 0, or max\n"),
    "not a whole number": ("1.5", 2, "error: invalid --replicas '1.5': expected a number from 0, or max\n"),
}


@pytest.mark.parametrize("case", REPLICAS)
def test_how_many(case: str) -> None:
    replicas, code, said = REPLICAS[case]
    result = simulate("--replicas", replicas, "-o", "name")
    assert (result.code, result.err) == (code, said)


REQUIREMENTS = {
    "all placed": (["--require-placed", "all"], []),
    "six placed": (["--require-placed", "6"], []),
    "seven placed": (["--require-placed", "7"], ["--require-placed 7: 6 replicas are placed"]),
}


@pytest.mark.parametrize("case", REQUIREMENTS)
def test_requirements(case: str) -> None:
    options, failures = REQUIREMENTS[case]
    result = simulate("--replicas", "6", "-q", "-o", "name", *options)
    assert (result.code, result.err) == (
        1 if failures else 0,
        "".join(f"requirement not met: {failure}\n" for failure in failures),
    )


def test_what_is_required_decides_when_not_all_are_placed() -> None:
    assert simulate("--replicas", "400", "--require-placed", "300", "-q").code == 0
    result = simulate("--replicas", "400", "--require-placed", "all", "-q")
    assert (result.code, result.err) == (
        1,
        "requirement not met: --require-placed all: 73 of 400 replicas are pending\n",
    )


SHORT_KEYS = {"zone": ZONE, "hostname": HOST, "region": "topology.kubernetes.io/region"}


@pytest.mark.parametrize("short", SHORT_KEYS)
def test_short_names_of_the_well_known_labels(short: str, tmp_path: Path) -> None:
    nodes = hosts("a", "b")
    for each in nodes:
        each["metadata"]["labels"]["topology.kubernetes.io/region"] = "r"
    cluster, path = written(tmp_path / "cluster.json", nodes), written(tmp_path / "pod.json", pod())
    options = ("-q", "-o", "json", "--gang", f"1:{short}")
    report = run("simulate", path, "-S", cluster, *options).report_of(SIMULATE_SCHEMA)
    domain = {"zone": "a", "hostname": "n0", "region": "r"}[short]
    assert (report["gang"]["topologyKey"], report["gang"]["chosen"]) == (SHORT_KEYS[short], [domain])
    for each in nodes:
        each["metadata"]["labels"][short] = "own"
    own = run("simulate", path, "-S", written(tmp_path / "own.json", nodes), *options).report_of(SIMULATE_SCHEMA)
    assert (own["gang"]["topologyKey"], own["gang"]["chosen"]) == (short, ["own"])


def running_web(tmp_path: Path) -> tuple[Path, dict[str, Any]]:
    """A cluster in which two of a deployment's five replicas run, and the deployment."""
    replica_set = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": "web-1", "namespace": "default", "ownerReferences": owned_by("Deployment", "web")},
        "spec": {"selector": {"matchLabels": {"foo": "bar"}}, "template": deployment()["spec"]["template"]},
    }
    running = [pod(f"web-1-{copy}", "n0") for copy in range(2)]
    for each in running:
        each["metadata"]["ownerReferences"] = owned_by("ReplicaSet", "web-1")
    web = deployment(replicas=5, constraints=[hard(ZONE)])
    return written(tmp_path / "cluster.json", [*hosts("a", "b"), replica_set, *running, web]), web


def test_a_running_deployment_is_grown(tmp_path: Path) -> None:
    cluster, _ = running_web(tmp_path)
    grown = run("simulate", "deploy/web", "-S", cluster, "-o", "json").report_of(SIMULATE_SCHEMA)
    assert (grown["replicas"], grown["present"], grown["placed"]) == (5, 2, 3)
    assert [placement["node"] for placement in grown["placements"]] == ["n1", "n1", "n0"]
    assert grown["worstLoss"][ZONE] == {"domain": "a", "remaining": 2}
    again = run("simulate", "deploy/web", "-S", cluster, "--from-scratch", "-o", "json").report_of(SIMULATE_SCHEMA)
    assert (again["present"], again["placed"], again["distribution"][0][0]["before"]) == (0, 5, 0)


def test_a_smaller_deployment_loses_the_pods_its_controller_deletes(tmp_path: Path) -> None:
    cluster, _ = running_web(tmp_path)
    shrunk = run("simulate", "deploy/web", "-S", cluster, "--replicas", "1", "-o", "json").report_of(SIMULATE_SCHEMA)
    assert shrunk["deleted"] == [{"pod": "web-1-0", "node": "n0"}]
    assert (shrunk["replicas"], shrunk["present"], shrunk["placed"]) == (1, 1, 0)
    assert shrunk["distribution"][0] == [
        {"value": "a", "before": 2, "after": 1},
        {"value": "b", "before": 0, "after": 0},
    ]
    assert any("arbitrary" in note for note in shrunk["notes"])


def test_another_template_is_rolled_out(tmp_path: Path) -> None:
    """What no node can hold is not placed, and the controller goes no further."""
    cluster, web = running_web(tmp_path)
    web["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "100"}}
    result = run("simulate", written(tmp_path / "web.json", web), "-S", cluster, "-o", "json")
    report = result.report_of(SIMULATE_SCHEMA)
    assert (result.code, report["replicas"], report["present"], report["placed"]) == (1, 5, 0, 0)
    rollout = report["rollout"]
    assert (rollout["complete"], rollout["fewestReady"], rollout["pending"]) == (False, 2, 5)
    assert rollout["wedgedOn"] == report["stopped"] == "0/2 nodes are available: 2 Insufficient cpu."


def test_a_template_with_other_local_data_is_scheduled_the_same(tmp_path: Path) -> None:
    cluster, web = running_web(tmp_path)
    web["spec"]["template"]["spec"]["volumes"] = [{"name": "cache", "emptyDir": {}}]
    report = run("simulate", written(tmp_path / "web.json", web), "-S", cluster, "-o", "json").report_of(
        SIMULATE_SCHEMA
    )
    assert (report["present"], report["placed"]) == (2, 3)


def test_a_workloads_own_number_of_replicas(tmp_path: Path) -> None:
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "x"}]}}
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "sums"},
        "spec": {"parallelism": 3, "completions": 2, "template": template},
    }
    cases = {"deployment": (deployment(replicas=4), 4), "default": (deployment(), 1), "job": (job, 2)}
    cluster = written(tmp_path / "cluster.json", hosts("a", "b"))
    for name, (manifest, expected) in cases.items():
        path = written(tmp_path / f"{name}.json", manifest)
        assert run("simulate", path, "-S", cluster, "-o", "json").report_of(SIMULATE_SCHEMA)["placed"] == expected


def test_chance_decides_ties_and_is_the_same_for_the_same_seed(tmp_path: Path) -> None:
    cluster = written(tmp_path / "cluster.json", hosts(*["a"] * 8))
    path = written(tmp_path / "pod.json", pod("web", constraints=[soft(HOST)]))
    names = [
        run("simulate", path, "-S", cluster, "--replicas", "4", "-o", "name", "-q", *seed).out
        for seed in ([], ["--seed", "1"], ["--seed", "2"])
    ]
    assert len(set(names)) == 3
    assert run("simulate", path, "-S", cluster, "--replicas", "4", "-o", "name", "-q", "--seed", "2").out == names[2]


# With which options; the exit code and the screen.
PREEMPTING: dict[str, tuple[list[str], int, list[str]]] = {
    "a pod of lower priority makes room": (
        ["--replicas", "1"],
        0,
        [
            "Pod/web in default: 1 of 1 replica placed, preempting 1 pod: default/victim",
            "  a  0 → 1  █  n0 +1",
            "  losing a leaves 0 of 1 · losing n0 leaves 0 of 1",
        ],
    ),
    "for the second there is nobody": (
        ["--replicas", "2"],
        1,
        [
            "No: Pod/web in default: 1 of 2 replicas placed, 1 pending, preempting 1 pod: default/victim",
            "0/1 nodes are available: 1 Insufficient cpu.",
            "1 pending: the only node has too little cpu",
            "  a  0 → 1  █  n0 +1",
            "  losing a leaves 0 of 1 · losing n0 leaves 0 of 1",
        ],
    ),
    "never": (
        ["--replicas", "1", "--no-preemption"],
        1,
        [
            "No: Pod/web in default: 0 of 1 replica placed, 1 pending",
            "0/1 nodes are available: 1 Insufficient cpu.",
            "1 pending: the only node has too little cpu",
        ],
    ),
    "as many as fit is what fits beside what runs": (
        ["--replicas", "max"],
        1,
        [
            "No: Pod/web in default: 0 fit",
            "preemption could free n0 by evicting default/victim",
            "0/1 nodes are available: 1 Insufficient cpu.",
            "the next one stops: the only node has too little cpu",
        ],
    ),
}


@pytest.mark.parametrize("case", PREEMPTING)
def test_replicas_preempt_pods_of_lower_priority(case: str, tmp_path: Path) -> None:
    options, code, screen = PREEMPTING[case]
    victim = {**pod("victim", "n0", requests={"cpu": "8"}), "status": {"phase": "Running"}}
    cluster = written(tmp_path / "cluster.json", [*hosts("a"), victim])
    path = written(tmp_path / "pod.json", pod("web", requests={"cpu": "5"}, priority=10))
    result = run("simulate", path, "-S", cluster, *options, "-o", "table")
    assert (result.code, result.out.splitlines()) == (code, screen)


def several(tmp_path: Path) -> tuple[Path, Path]:
    """A cluster of three slots, and a manifest of an unimportant and an important deployment of two pods each."""
    nodes = hosts("a", "b", "c")
    for each in nodes:
        each["status"]["allocatable"]["pods"] = "1"
    low, high = deployment("low", replicas=2), deployment("high", replicas=2)
    high["spec"]["template"]["spec"]["priority"] = 1000
    return written(tmp_path / "cluster.json", nodes), written(
        tmp_path / "all.json", {"apiVersion": "v1", "kind": "List", "items": [low, high]}
    )


NO_DEFAULTS: Data = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [
        {"pluginConfig": [{"name": "PodTopologySpread", "args": {"defaultingType": "List", "defaultConstraints": []}}]}
    ],
}


def test_several_workloads_are_placed_by_priority_and_meet_each_other(tmp_path: Path) -> None:
    cluster, manifest = several(tmp_path)
    result = run("simulate", manifest, "-S", cluster, "-o", "json")
    reports = json.loads(result.out)["items"]
    assert [(report["workload"], report["placed"]) for report in reports] == [
        ("Deployment/low", 1),
        ("Deployment/high", 2),
    ]
    assert result.code == 1
    named = run("simulate", manifest, "-S", cluster, "-o", "name", "--require-placed", "all")
    assert [line.split("\t")[1] for line in named.out.splitlines()] == ["n2", "n0", "n1"]
    assert (
        named.err.splitlines()[-1]
        == "requirement not met: default/Deployment/low: --require-placed all: 1 of 2 replicas are pending"
    )


def test_every_line_says_whose_it_is(tmp_path: Path) -> None:
    """In a pipe the answers to several workloads are one text."""
    items = [
        deployment("spread", replicas=2, constraints=[hard(ZONE, match={"no": "pod"})]),
        pod("alone", namespace="shop"),
    ]
    listed = {"listed": ["LimitRange", "PriorityClass", "ResourceQuota", "Service"]}
    there = {
        "apiVersion": "v1",
        "kind": "List",
        "kubespread": listed,
        "items": [*hosts("a", "b"), pod("running", "n0")],
    }
    cluster = written(tmp_path / "cluster.json", there)
    manifest = written(tmp_path / "all.json", {"apiVersion": "v1", "kind": "List", "items": items})
    plain = run("simulate", manifest, "-S", cluster)
    assert (plain.code, plain.out) == (
        0,
        "NAMESPACE   WORKLOAD            KEY                           MAX-SKEW   DOMAIN   BEFORE   AFTER\n"
        "default     Deployment/spread   topology.kubernetes.io/zone   1          a        0        0\n"
        "default     Deployment/spread   topology.kubernetes.io/zone   1          b        0        0\n"
        "\n"
        "NAMESPACE   WORKLOAD            REPLICAS   RUNNING   PLACED   PENDING   NOT-CREATED   NOT-CREATED-YET   WHY\n"
        "default     Deployment/spread   2          0         2        0         0             0                 <none>\n"
        "shop        Pod/alone           1          0         1        0         0             0                 <none>\n",
    )
    assert all(line.startswith(("default/Deployment/spread: ", "shop/Pod/alone: ")) for line in plain.err.splitlines())
    assert "shop/Pod/alone: 1 of 1 placed\n" in plain.err
    names = run("simulate", manifest, "-S", cluster, "-o", "name", "-q").out.splitlines()
    assert [line.split("\t")[1] for line in names] == ["n1", "n0", "n1"]
    assert (names[0].startswith("default/spread-"), names[2]) == (True, "shop/alone-0\tn1")
    rows = list(csv.DictReader(io.StringIO(run("simulate", manifest, "-S", cluster, "-o", "csv", "-q").out)))
    whose = [(row["namespace"], row["workload"]) for row in rows]
    assert whose == [("default", "Deployment/spread"), ("default", "Deployment/spread"), ("shop", "Pod/alone")]


def test_several_manifests_and_standard_input(tmp_path: Path) -> None:
    cluster, manifest = several(tmp_path)
    piped = run("simulate", "-S", cluster, "-o", "name", "-q", stdin=manifest.read_bytes())
    assert piped.out == run("simulate", "-", "-S", cluster, "-o", "name", "-q", stdin=manifest.read_bytes()).out
    only = run("simulate", manifest, "-S", cluster, "-o", "name", "-q", "--name", "low")
    assert (len(piped.out.splitlines()), len(only.out.splitlines())) == (3, 2)
    path = written(tmp_path / "pod.json", pod("alone"))
    assert len(run("simulate", path, manifest, "-S", cluster, "-o", "csv", "-q").out.splitlines()) == 4
    assert run("simulate", "-", "-", "-S", cluster, stdin=b"").code == 2


def test_a_daemon_set_runs_on_every_node_it_may(tmp_path: Path) -> None:
    nodes = hosts("a", "b", "c", "d")
    nodes[1]["spec"] = {
        "unschedulable": True,
        "taints": [{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}],
    }
    nodes[2]["spec"] = {"taints": [{"key": "gpu", "effect": "NoSchedule"}]}
    full = pod("full", "n3", labels={"app": "full"}, requests={"cpu": "8"})
    daemon = {**deployment("agent"), "kind": "DaemonSet"}
    daemon["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1"}}
    cluster, manifest = written(tmp_path / "cluster.json", [*nodes, full]), written(tmp_path / "agent.json", daemon)
    result = run("simulate", manifest, "-S", cluster, "-o", "json")
    report = result.report_of(SIMULATE_SCHEMA)
    assert (result.code, report["replicas"], [placement["node"] for placement in report["placements"]]) == (
        1,
        3,
        ["n0", "n1"],
    )
    assert report["stopped"] == "no room on n3: Insufficient cpu"
    refused = run("simulate", manifest, "-S", cluster, "--replicas", "2")
    assert refused == (
        2,
        "",
        "error: DaemonSet/agent: a DaemonSet has no replicas, it runs one pod on every node it may run on\n",
    )


def test_a_cluster_without_nodes(tmp_path: Path) -> None:
    cluster = written(tmp_path / "cluster.json", {"apiVersion": "v1", "kind": "NodeList", "items": []})
    result = run("simulate", WEB, "-S", cluster, "--replicas", "2", "-o", "json")
    report = result.report_of(SIMULATE_SCHEMA)
    assert (result.code, report["placed"], report["stopped"]) == (1, 0, "no nodes available to schedule pods")


def test_a_pod_that_a_plugin_rejects_as_a_whole(tmp_path: Path) -> None:
    """Every node says the same, so the message is the plugin's own."""
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "other", "namespace": "default"},
        "spec": {},
    }
    cluster = written(tmp_path / "cluster.json", [*hosts("a", "b"), claim])
    path = written(tmp_path / "pod.json", pod(volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "gone"}}]))
    result = run("simulate", path, "-S", cluster)
    assert (result.code, result.err.splitlines()) == (
        1,
        [
            "gap: no Pod objects: every node counts as empty",
            "gap: no LimitRange, PriorityClass, ResourceQuota objects: pods are created as if there were none",
            "gap: no Service objects: default constraints cannot be derived from Services",
            '0/2 nodes are available: persistentvolumeclaim "gone" not found.',
            "1 pending: PersistentVolumeClaim gone has to be created",
            "No: 0 of 1 placed",
        ],
    )


def test_more_domains_than_a_screen_holds_show_their_extremes(tmp_path: Path) -> None:
    cluster = written(tmp_path / "cluster.json", hosts(*(f"z{number:02}" for number in range(30))))
    path = written(tmp_path / "pod.json", pod(constraints=[hard(ZONE)]))
    shown = run("simulate", path, "-S", cluster, "--replicas", "40", "-o", "table").out.splitlines()
    rows = [line.split() for line in shown if "█" in line]
    assert [row[0] for row in rows] == [f"z{number:02}" for number in (0, 1, 10, 11, 12, 13, 24, 25, 26, 27, 28, 29)]
    assert [row[1:4] for row in rows] == [["0", "→", "2"]] * 6 + [["0", "→", "1"]] * 6
    assert "  and 18 domains between these" in shown


OVERVIEW = """\
No: 2 workloads: 3 placed, 1 pending
2 workloads in default
  low: all 3 nodes have no room for another pod
  WORKLOAD  WANT  RUN  PLACED  PENDING  SURVIVE
  low          2    0       1        1        0
  high         2    0       2        0        1
  SURVIVE: replicas left when the fullest zone is lost
-v or --name NAME: where the replicas of each land
"""


def test_several_workloads_are_a_line_each_unless_they_are_wanted_in_full(tmp_path: Path) -> None:
    cluster, manifest = several(tmp_path)
    unspread = written(tmp_path / "scheduler.json", NO_DEFAULTS)
    asked = ("simulate", manifest, "-S", cluster, "--scheduler-config", unspread, "-o", "table")
    assert run(*asked).out == OVERVIEW
    in_full = run(*asked, "-v").out.split("\n\n")
    assert [each.splitlines()[0].removeprefix("No: ").partition(": ")[0] for each in in_full] == [
        "Deployment/low in default",
        "Deployment/high in default",
    ]
    assert run(*asked, "--name", "high").out.startswith("Deployment/high in default: 2 of 2 replicas placed")


def test_what_is_noted_on_all_workloads_is_noted_once(tmp_path: Path) -> None:
    cluster, manifest = several(tmp_path)
    brief, full = (run("simulate", manifest, "-S", cluster, *more).err.splitlines() for more in ([], ["-v"]))
    assert ([line for line in brief if "gap: " in line], "2 more notes (-v shows all)" in brief) == (
        [line for line in full if "gap: " in line][:2],
        True,
    )
    assert [line for line in full if "gap: " in line] == [
        "gap: no Pod objects: every node counts as empty",
        "gap: no LimitRange, PriorityClass, ResourceQuota objects: pods are created as if there were none",
        "gap: no Service objects: default constraints cannot be derived from Services",
    ]


def test_color_marks_what_is_pending(tmp_path: Path) -> None:
    cluster, manifest = several(tmp_path)
    shown = run("simulate", manifest, "-S", cluster, "--name", "low", "-o", "table", env={"FORCE_COLOR": "1"}).out
    assert "\x1b[32m2 of 2 replicas placed\x1b[0m" in shown
    assert "\x1b[" not in run("simulate", manifest, "-S", cluster, "-o", "table").out
    assert "\x1b[31m" in run("simulate", manifest, "-S", cluster, "-o", "table", env={"FORCE_COLOR": "1"}).out


def test_a_stateful_set_goes_on_with_the_ordinals_it_lacks(tmp_path: Path) -> None:
    stateful = {**deployment("db", replicas=4), "kind": "StatefulSet"}
    running = [pod(name, "n0") for name in ("db-0", "db-2")]
    for each in running:
        each["metadata"]["ownerReferences"] = owned_by("StatefulSet", "db")
    cluster = written(tmp_path / "cluster.json", [*hosts("a", "b"), *running, stateful])
    manifest = written(tmp_path / "db.json", stateful)
    for asked in (manifest, "sts/db"):
        lines = run("simulate", asked, "-S", cluster, "-o", "name", "-q").out.splitlines()
        assert [line.split("\t")[0] for line in lines] == ["default/db-1", "default/db-3"]


def test_releases_without_modelled_scores_are_refused() -> None:
    assert simulate("--replicas", "3", "--kube-version", "1.24", "-o", "name", "-q").out.count("\n") == 3
    expected = "error: kube-scheduler 1.23: where replicas land depends on scores, which are modeled since 1.24\n"
    assert simulate("--replicas", "3", "--kube-version", "1.23") == (2, "", expected)


def test_a_pod_that_the_scheduler_fails_with_an_error_is_not_placed(tmp_path: Path) -> None:
    """A selector that no API server would store fails the pod before any node is looked at."""
    broken = pod("waiting", constraints=[hard(ZONE)])
    broken["spec"]["topologySpreadConstraints"][0]["labelSelector"] = {
        "matchExpressions": [{"key": "a", "operator": "Bogus"}]
    }
    cluster = written(tmp_path / "cluster.json", [*hosts("a", "b"), broken])
    result = run("simulate", "pod/waiting", "-S", cluster, "-o", "json", "--require-placed", "1")
    report = result.report_of(SIMULATE_SCHEMA)
    assert (result.code, report["replicas"], report["placed"], report["worstLoss"][ZONE]["remaining"]) == (1, 1, 0, 0)
    assert "Bogus" in report["stopped"]
    assert result.err == "requirement not met: --require-placed 1: 0 replicas are placed\n"
