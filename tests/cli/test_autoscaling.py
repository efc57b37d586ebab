"""``kubespread simulate --autoscaler``: its answers, exit codes and errors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.support import FIXTURES, SIMULATE_SCHEMA, Result, run

WEB = FIXTURES / "manifests" / "twelve-over-zones.yaml"
CLUSTER = FIXTURES / "clusters" / "zone-scaled-to-zero.yaml"
GROUPS = FIXTURES / "node-groups" / "three-zones.yaml"


def simulate(*arguments: str | Path) -> Result:
    return run("simulate", WEB, "-S", CLUSTER, *arguments)


@pytest.mark.parametrize("autoscaler", ["ca", "karpenter"])
def test_a_zone_scaled_to_zero_with_and_without_node_groups(autoscaler: str) -> None:
    """Without them nothing says that there is a third zone: it counts for nobody, and takes nobody."""
    without = simulate("-o", "json")
    assert (without.code, without.report_of(SIMULATE_SCHEMA)["autoscaling"]) == (1, None)
    answer = simulate("--autoscaler", autoscaler, "--node-groups", GROUPS, "-o", "json")
    account = answer.report_of(SIMULATE_SCHEMA)["autoscaling"]
    assert (answer.code, account["pending"]) == (0, [])
    assert [(each["group"], each["before"], each["added"]) for each in account["groups"]] == [
        ("workers/a", 1, 0),
        ("workers/b", 1, 0),
        ("workers/c", 0, 1),
    ]


def test_pods_that_still_wait_are_a_no() -> None:
    groups = FIXTURES / "node-groups" / "one-zone.yaml"
    answer = simulate("--autoscaler", "ca", "--node-groups", groups, "-o", "json")
    (pending,) = answer.report_of(SIMULATE_SCHEMA)["autoscaling"]["pending"]
    assert (answer.code, pending["workload"], len(pending["pods"])) == (1, "default/Deployment/web", 3)
    beside = simulate("--autoscaler", "ca", "--node-groups", groups, "-o", "name").err
    assert "cluster-autoscaler adds 1 node for 4 pending pods, 3 still pending" in beside


POOL = """
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec: {template: {spec: {requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]}}}
"""


@pytest.mark.parametrize(
    ("options", "code"), [((), 3), (("--strict",), 3), (("--require-placed", "12"), 1), (("--require-placed", "8"), 0)]
)
def test_where_machines_are_not_known_neither_is_the_answer(
    tmp_path: Path, options: tuple[str, ...], code: int
) -> None:
    pool = tmp_path / "pool.yaml"
    pool.write_text(POOL)
    answer = simulate("-S", pool, "--autoscaler", "karpenter", *options, "-o", "json")
    report = answer.report_of(SIMULATE_SCHEMA)
    verdict = {0: "yes", 1: "no", 3: "unknown"}[code]
    assert (answer.code, report["verdict"], report["autoscaling"]["unknownGroups"]) == (code, verdict, ["default"])
    said = "karpenter: whether new nodes of default would take 4 pending pods is not known"
    assert any(sentence.startswith(said) for sentence in report["answer"])
    assert any(gap.startswith("karpenter: the instance types of default") for gap in report["gaps"])


TYPES = FIXTURES / "karpenter" / "types.yaml"


def test_instance_types_make_it_known(tmp_path: Path) -> None:
    pool, autoscaler = tmp_path / "pool.yaml", ("--autoscaler", "karpenter", "--instance-types", TYPES)
    pool.write_text(POOL)
    answer = simulate("-S", pool, *autoscaler, "-o", "json")
    account = answer.report_of(SIMULATE_SCHEMA)["autoscaling"]
    assert (answer.code, account["unknownGroups"], account["pending"]) == (0, [], [])
    assert account["types"] == [{"name": "m6i.xlarge", "nodes": 2, "price": "0.08"}]
    played = run("plan", f"apply {WEB}", "-S", CLUSTER, "-S", pool, *autoscaler, "-o", "json")
    assert (played.code, json.loads(played.out)["steps"][-1]["troubles"]) == (0, [])


def test_nor_is_that_of_a_plan(tmp_path: Path) -> None:
    pool = tmp_path / "pool.yaml"
    pool.write_text(POOL)
    autoscaler = ("--autoscaler", "karpenter")
    answer = run("plan", f"apply {WEB}", "-S", CLUSTER, "-S", pool, *autoscaler, "-o", "json")
    report = json.loads(answer.out)
    (waiting,) = report["steps"][-1]["troubles"]
    assert (answer.code, report["verdict"], waiting["kind"], waiting["count"]) == (3, "unknown", "pending", 4)
    assert any("whether new nodes of default would take them is not known" in each for each in report["answer"])


def test_nothing_pending_nothing_said() -> None:
    answer = simulate("--autoscaler", "ca", "--node-groups", GROUPS, "--replicas", "8", "-o", "json")
    assert (answer.code, answer.report_of(SIMULATE_SCHEMA)["autoscaling"]) == (0, None)


def test_what_is_not_modeled_is_said() -> None:
    answer = simulate("--autoscaler", "karpenter", "--node-groups", GROUPS)
    assert "not modeled: karpenter: the choice of instance types" in answer.err


ERRORS = {
    "groups without an autoscaler": (
        ["--node-groups", str(GROUPS)],
        "--node-groups is for --autoscaler: add that, or leave it out",
    ),
    "an autoscaler without groups": (
        ["--autoscaler", "karpenter"],
        "--autoscaler karpenter needs --node-groups FILE: the cluster's source has no NodePool that may grow",
    ),
    "instance types without Karpenter": (
        ["--autoscaler", "ca", "--node-groups", str(GROUPS), "--instance-types", str(TYPES)],
        "instance types are what karpenter chooses among: to ca a node group is of one kind",
    ),
    "instance types that are none": (
        ["--autoscaler", "karpenter", "--node-groups", str(GROUPS), "--instance-types", str(GROUPS)],
        "expected apiVersion kubespread.dev/v1alpha1 and kind InstanceTypes, found kubespread.dev/v1alpha1 and NodeGroups",
    ),
    "as many as fit": (
        ["--autoscaler", "ca", "--node-groups", str(GROUPS), "--replicas", "max"],
        "--autoscaler and --replicas max do not go together: as many as fit leaves none pending",
    ),
    "a file that is none": (
        ["--autoscaler", "ca", "--node-groups", "gone.yaml"],
        "gone.yaml: No such file or directory",
    ),
    "another file": (
        ["--autoscaler", "ca", "--node-groups", str(WEB)],
        "kind: expected apiVersion kubespread.dev/v1alpha1 and kind NodeGroups, found apps/v1 and Deployment; ",
    ),
}


@pytest.mark.parametrize(("arguments", "message"), ERRORS.values(), ids=list(ERRORS))
def test_errors(arguments: list[str], message: str) -> None:
    answer = simulate(*arguments)
    assert (answer.code, answer.out) == (2, "")
    assert message in answer.err


def test_a_template_that_is_no_node(tmp_path: Path) -> None:
    file = tmp_path / "groups.yaml"
    file.write_text(
        "apiVersion: kubespread.dev/v1alpha1\nkind: NodeGroups\ngroups: [{name: w, template: workers-a-2}]\n"
    )
    answer = simulate("--autoscaler", "ca", "--node-groups", file)
    assert (answer.code, 'nodes "workers-a-2" not found, did you mean "workers-a-1"?' in answer.err) == (2, True)
