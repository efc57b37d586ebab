"""What explain prints for a question it can answer."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import shlex
import shutil
from pathlib import Path

import pytest
import yaml

import kubespread
from kubespread.views import documents
from kubespread.views.look import Look
from tests.builders import hard, node, pod
from tests.cli.support import CLUSTER, FIXTURES, POD, ROOT, Result, run

COLUMNS = """\
NODE    ZONE    FITS   A:ZONE<=1   B:NODE<=1   SCORE    WHY-NOT
node4   zoneB   yes    1+1-1=1     0+1-0=1     398      <none>
node3   zoneB   no     1+1-1=1     1+1-0=2>1   <none>   B: skew 2 exceeds maxSkew 1
node1   zoneA   no     2+1-1=2>1   1+1-0=2>1   <none>   A: skew 2 exceeds maxSkew 1; B: skew 2 exceeds maxSkew 1
node2   zoneA   no     2+1-1=2>1   1+1-0=2>1   <none>   A: skew 2 exceeds maxSkew 1; B: skew 2 exceeds maxSkew 1
"""
TABLE = """\
1 of 4 nodes fits: node4
Pod default/mypod against 4 nodes      profile default-scheduler
  A  zone ≤ 1  DoNotSchedule  foo=bar  zoneA 2 · zoneB 1                      min 1
  B  node ≤ 1  DoNotSchedule  foo=bar  node1 1 · node2 1 · node3 1 · node4 0  min 0
  NODE    ZONE    FITS   A zone          B node          SCORE   WHY NOT
  node4   zoneB   yes    1+1−1 = 1       0+1−0 = 1         398
  node3   zoneB   no     1+1−1 = 1       1+1−0 = 2 > 1           B: skew 2 exceeds maxSkew 1
  node1   zoneA   no     2+1−1 = 2 > 1   1+1−0 = 2 > 1           A: skew 2 exceeds maxSkew 1; B: skew 2 exceeds maxSkew 1
  node2   zoneA   no     2+1−1 = 2 > 1   1+1−0 = 2 > 1           A: skew 2 exceeds maxSkew 1; B: skew 2 exceeds maxSkew 1
"""


def test_a_pipe_gets_columns() -> None:
    result = run("explain", POD, "-S", CLUSTER)
    assert (result.code, result.out) == (0, COLUMNS)


def test_output_table_is_the_whole_table_anywhere() -> None:
    result = run("explain", POD, "-S", CLUSTER, "-o", "table", "-q")
    assert (result.code, result.out, result.err) == (0, TABLE, "")


def test_plain_without_headers() -> None:
    lines = run("explain", POD, "-S", CLUSTER, "--no-headers").out.splitlines()
    assert [line.split() for line in lines] == [line.split() for line in COLUMNS.splitlines()[1:]]


def test_wide_adds_a_column_for_each_score_plugin() -> None:
    header, first, *_ = run("explain", POD, "-S", CLUSTER, "-o", "wide").out.splitlines()
    assert header.split()[5:] == [
        "TAINTTOLERATION",
        "NODERESOURCESFIT",
        "VOLUMEBINDING",
        "DYNAMICRESOURCES",
        "IMAGELOCALITY",
        "SCORE",
        "WHY-NOT",
    ]
    assert first.split()[5:] == ["0>100*3=300", "98>98*1=98", "0>0*1=0", "0>0*2=0", "0>0*1=0", "398", "<none>"]


def test_json_is_the_whole_report_and_satisfies_the_schema() -> None:
    report = run("explain", POD, "-S", CLUSTER, "-o", "json").report
    assert (report["apiVersion"], report["kind"], report["schedulable"], report["feasible"]) == (
        "kubespread.dev/v1alpha2",
        "ExplainReport",
        True,
        ["node4"],
    )
    assert report["nodes"][1]["constraints"][1] == {
        "topologyKey": "node",
        "domain": "node3",
        "matching": 1,
        "selfMatch": 1,
        "globalMinimum": 0,
        "skew": 2,
        "maxSkew": 1,
        "satisfied": False,
        "reason": "skew 2 exceeds maxSkew 1",
    }


@pytest.mark.parametrize("cluster", sorted(FIXTURES.glob("clusters/*.yaml")), ids=lambda path: path.stem)
def test_every_fixtures_report_satisfies_the_schema(cluster: Path) -> None:
    for manifest in ("two-constraints", "zone-hard-node-soft", "no-constraints"):
        asked = kubespread.explain(kubespread.load(cluster), FIXTURES / "manifests" / f"{manifest}.yaml")
        report = Result(0, documents.json(asked, Look()), "").report
        assert report["schedulable"] is (report["message"] is None)


def test_yaml_says_the_same_as_json() -> None:
    as_json = run("explain", POD, "-S", CLUSTER, "-o", "json").report
    as_yaml = yaml.safe_load(run("explain", POD, "-S", CLUSTER, "-o", "yaml").out)
    assert {**as_yaml, "provenance": as_json["provenance"]} == as_json


def test_csv_has_a_row_for_each_node_and_the_columns_of_a_pipe() -> None:
    rows = list(csv.DictReader(io.StringIO(run("explain", POD, "-S", CLUSTER, "-o", "csv").out)))
    assert [(row["node"], row["fits"], row["a:zone<=1"], row["score"]) for row in rows] == [
        ("node4", "yes", "1+1-1=1", "398"),
        ("node3", "no", "1+1-1=1", ""),
        ("node1", "no", "2+1-1=2>1", ""),
        ("node2", "no", "2+1-1=2>1", ""),
    ]


def test_formats_are_not_case_sensitive() -> None:
    assert run("explain", POD, "-S", CLUSTER, "-o", "JSON").report["kind"] == "ExplainReport"


def test_name_prints_the_nodes_that_fit() -> None:
    result = run("explain", FIXTURES / "manifests" / "one-constraint.yaml", "-S", CLUSTER, "-o", "name", "-q")
    assert (result.code, result.out, result.err) == (0, "node4\nnode3\n", "")


def test_no_node_fits() -> None:
    conflict = FIXTURES / "clusters" / "docs-conflict.yaml"
    result = run("explain", POD, "-S", conflict)
    assert result.code == 1
    assert "0/3 nodes are available: 3 node(s) didn't match pod topology spread constraints." in result.err
    assert run("explain", POD, "-S", conflict, "-o", "name").out == ""


def test_one_node_in_full() -> None:
    result = run("explain", POD, "-S", CLUSTER, "--node", "node3", "-q")
    assert (result.code, result.out.splitlines()) == (
        0,
        [
            "Node node3: Pod default/mypod does not fit",
            "  A  zone DoNotSchedule maxSkew 1 (pods foo=bar): domain zoneB has 1 matching pod, the pod itself adds 1, "
            "the least of all domains is 1; 1+1−1 = 1, within maxSkew 1.",
            "       mypod-3 (no owner) on node3, counted",
            "  B  node DoNotSchedule maxSkew 1 (pods foo=bar): domain node3 has 1 matching pod, the pod itself adds 1, "
            "the least of all domains is 0; 1+1−0 = 2, more than maxSkew 1: rejected.",
            "       mypod-3 (no owner) on node3, counted",
            "  Verdict: Unschedulable by PodTopologySpread: node(s) didn't match pod topology spread constraints",
            "    NodeUnschedulable     passes",
            "    NodeName              passes",
            "    TaintToleration       passes",
            "    NodeResourcesFit      passes",
            "    PodTopologySpread     rejects (Unschedulable): node(s) didn't match pod topology spread constraints",
        ],
    )


def test_two_nodes_in_json() -> None:
    report = run("explain", POD, "-S", CLUSTER, "--node", "node4", "--node", "node1", "-o", "json").report
    assert [entry["name"] for entry in report["nodes"]] == ["node4", "node1"]


def test_the_best_nodes_come_first() -> None:
    report = run("explain", POD, "-S", CLUSTER, "-o", "json").report
    assert [entry["name"] for entry in report["nodes"]] == ["node4", "node3", "node1", "node2"]


def test_a_pod_rejected_for_three_reasons_shows_all_three(tmp_path: Path) -> None:
    cluster = tmp_path / "cluster.json"
    full = node("n1", zone="a", cpu="1", taints=[{"key": "gpu", "effect": "NoSchedule"}])
    items = [full, node("n2", zone="b"), pod("p1", "n1"), pod("p2", "n1")]
    cluster.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    manifest = tmp_path / "pod.json"
    manifest.write_text(json.dumps(pod(constraints=[hard()], requests={"cpu": "2"})))
    report = run("explain", manifest, "-S", cluster, "-o", "json", "--node", "n1").report
    (entry,) = report["nodes"]
    assert entry["verdict"]["plugin"] == "TaintToleration"
    assert [rejection["plugin"] for rejection in entry["rejections"]] == [
        "TaintToleration",
        "NodeResourcesFit",
        "PodTopologySpread",
    ]


def wide_cluster(tmp_path: Path) -> tuple[str, Path, str, Path]:
    """The question about a pod that fits the 20 nodes of zone b, and none of the 20 of zone a."""
    nodes = [node(f"n{at:02}", zone="ab"[at % 2]) for at in range(40)]
    cluster = tmp_path / "cluster.json"
    cluster.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [*nodes, pod("p", "n00")]}))
    manifest = tmp_path / "pod.json"
    manifest.write_text(json.dumps(pod(constraints=[hard()])))
    return "explain", manifest, "-S", cluster


def test_nodes_one_by_one_are_the_best_fits_and_the_nearest_misses(tmp_path: Path) -> None:
    asked = wide_cluster(tmp_path)
    lines = run(*asked, "-o", "table").out.splitlines()
    assert ([line.split()[2] for line in lines[4:29]], lines[29]) == (
        ["yes"] * 15 + ["no"] * 10,
        "… and 15 more nodes: -v",
    )
    assert "n38" in run(*asked, "-o", "table", "-v").out
    assert len(run(*asked).out.splitlines()) == 41


def test_the_pods_of_each_domain() -> None:
    *_, header, first, second, third = run("explain", POD, "-S", CLUSTER, "--pods").out.splitlines()
    assert [header.split(), first.split(), second.split(), third.split()] == [
        ["BY", "DOMAIN", "POD", "OWNER", "NODE", "STATE"],
        ["A", "zoneA", "mypod-1", "<none>", "node1", "counted"],
        ["A", "zoneA", "mypod-2", "<none>", "node2", "counted"],
        ["A", "zoneB", "mypod-3", "<none>", "node3", "counted"],
    ]
    report = run("explain", POD, "-S", CLUSTER, "--pods", "-o", "json").report
    assert [len(domain["pods"]) for domain in report["constraints"][0]["domains"]] == [2, 1]


def test_pod_yaml_of_the_current_directory_is_the_default(tmp_path: Path) -> None:
    shutil.copy(POD, tmp_path / "pod.yaml")
    assert run("explain", "-S", CLUSTER, "-o", "name", cwd=tmp_path).out == "node4\n"


def test_several_snapshots_and_directories_are_one_cluster(tmp_path: Path) -> None:
    items = yaml.safe_load(Path(CLUSTER).read_text())["items"]
    nodes, pods = tmp_path / "nodes", tmp_path / "pods.json.gz"
    nodes.mkdir()
    for item in items[:4]:
        (nodes / f"{item['metadata']['name']}.yaml").write_text(json.dumps(item))
    typed = {
        "apiVersion": "v1",
        "kind": "PodList",
        "items": [{key: item[key] for key in ("metadata", "spec")} for item in items[4:]],
    }
    pods.write_bytes(gzip.compress(json.dumps(typed).encode()))
    assert run("explain", POD, "-S", nodes, "-S", pods, "-o", "name").out == "node4\n"


def test_the_namespace_decides_which_pods_count() -> None:
    assert run("explain", POD, "-S", CLUSTER, "-n", "other", "-o", "name").out == "node4\nnode1\nnode2\nnode3\n"


def test_scheduler_config_changes_weights(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        "profiles:\n- plugins: {multiPoint: {enabled: [{name: PodTopologySpread, weight: 7}]}}\n"
    )
    soft = FIXTURES / "manifests" / "one-constraint-soft.yaml"
    report = run("explain", soft, "-S", CLUSTER, "--scheduler-config", config, "-o", "json").report
    assert report["nodes"][0]["scores"]["PodTopologySpread"] == 700


def test_verbose_says_what_was_read() -> None:
    assert (
        "read 4 nodes, 3 pods; ignored (not read by scheduling): none" in run("explain", POD, "-S", CLUSTER, "-v").err
    )


def test_demo_shows_its_answers_without_a_checkout(tmp_path: Path) -> None:
    result = run("demo", cwd=tmp_path)
    assert result.code == 0
    said = result.out.splitlines()
    assert "1 of 8 nodes fits: c-3" in said
    assert "Deployment/web in default: 9 of 9 replicas placed" in said
    assert any("3 warnings, 1 notice of 2 workloads on 8 nodes" in line for line in said)
    assert str(ROOT) not in result.out
    assert [line for line in result.err.splitlines() if line.startswith("$")] == [
        f"$ cd {shlex.quote(str(ROOT / 'kubespread' / 'demo'))}",
        "$ kubespread explain web.yaml -S cluster.yaml",
        "$ kubespread simulate web.yaml -S cluster.yaml --replicas 9",
        "$ kubespread report -A -S cluster.yaml",
    ]


def test_the_environment_names_snapshots_as_a_path_list(tmp_path: Path) -> None:
    spaced = tmp_path / "my cluster.yaml"
    shutil.copy(CLUSTER, spaced)
    assert run("explain", POD, "-o", "name", env={"KUBESPREAD_SNAPSHOT": f"{spaced}:{CLUSTER}"}).out == "node4\n"


def test_the_minimum_of_a_soft_constraint_is_that_of_the_nodes_that_fit() -> None:
    file = FIXTURES / "cases" / "everyday" / "aws12.json.gz"
    cordons = ("--cordon", "zone=eu-west-1b", "--cordon", "zone=eu-west-1c")
    screen = run("explain", "deploy/cart", "-n", "shop", "-S", file, *cordons, "-q", "-o", "table").out
    assert re.search("eu-west-1a 2 · eu-west-1b 0 · eu-west-1c 0 +min 2 where it fits", screen)
    assert re.search("12 domains, .* min 0 ", screen)


def test_the_command_that_comes_next_is_about_the_same_pod_changed_alike() -> None:
    pods, cluster = (str(FIXTURES / "topology-spread" / name) for name in ("pods.yaml", "cluster.yaml"))
    asked = run(
        "explain", pods, "--name", "web", "--set", "maxSkew=2", "-S", cluster, terminal=80, env={"NO_COLOR": "1"}
    )
    assert asked.out.splitlines()[-1] == f"next: kubespread simulate {pods} --name web --set maxSkew=2 -S {cluster}"
