"""Commands about workloads of a cluster that are not there all say so in the same words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.builders import Data, hosts, pod
from tests.cli.support import run

COMMANDS = ("pending", "audit", "survive", "rebalance", "check")
NAMESPACES: list[Data] = [
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in ("default", "empty", "shop")
]
CASES = {
    "a namespace that is not there": ("-n shpo", 'namespaces "shpo" not found, did you mean "shop"?'),
    "a namespace that is not there, nor one like it": (
        "-n other",
        'namespaces "other" not found; there are default, empty, shop',
    ),
    "a namespace without workloads": (
        "-n empty",
        "no workloads in namespace empty; there are some in default, shop: -A asks about all",
    ),
    "labels that nobody has": ("-l app=x", "no workloads with the labels app=x in namespace default"),
    "labels that nobody has anywhere": ("-A -l app=x", "no workloads with the labels app=x in the cluster"),
    "a selector that is none": (
        "-l a==b==c",
        "invalid selector 'a==b==c': expected KEY=VALUE, KEY!=VALUE, KEY in (A,B), KEY or !KEY, found 'a==b==c'",
    ),
}


ASKED = [
    *((command, case) for command in COMMANDS for case in CASES),
    *(("simulate", case) for case, (arguments, _) in CASES.items() if "-l" in arguments),
]
"""Simulate asks about workloads of the cluster only where labels or all namespaces choose them."""


@pytest.mark.parametrize(("command", "case"), ASKED)
def test_they_say_what_is_not_there(command: str, case: str, tmp_path: Path) -> None:
    arguments, said = CASES[case]
    cluster = tmp_path / "cluster.json"
    items = [*hosts("a", "b"), *NAMESPACES, pod("one", "n0"), pod("two", "n1", namespace="shop")]
    cluster.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    result = run(*command.split(), *arguments.split(), "-S", str(cluster), "-q")
    assert (result.code, result.out, result.err) == (2, "", f"error: {said}\n")


@pytest.mark.parametrize("command", ["pending", "audit", "survive", "rebalance"])
def test_a_manifest_where_a_workload_is_named_leads_to_plan(command: str, tmp_path: Path) -> None:
    cluster = tmp_path / "cluster.json"
    cluster.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": hosts("a", "b")}))
    result = run(command, "db.yaml", "-S", str(cluster), "-q")
    said = "expected [NAMESPACE/]KIND/NAME in the cluster; plan -f db.yaml asks what a manifest would change"
    assert (result.code, result.out, result.err) == (2, "", f"error: invalid workload 'db.yaml': {said}\n")


@pytest.mark.parametrize(
    ("namespace", "said"),
    [
        ("shop", ""),
        ("shpo", 'note: namespaces "shpo" not found, did you mean "shop"?; the answer is for once it is there\n'),
    ],
)
def test_a_new_pod_for_a_namespace_that_is_not_there_is_answered_and_told(
    namespace: str, said: str, tmp_path: Path
) -> None:
    cluster, manifest = tmp_path / "cluster.json", tmp_path / "pod.json"
    cluster.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [*hosts("a", "b"), *NAMESPACES]}))
    manifest.write_text(json.dumps(pod(namespace=namespace)))
    result = run("explain", str(manifest), "-S", str(cluster), "-o", "name")
    assert result.code == 0
    assert "".join(line for line in result.err.splitlines(keepends=True) if "namespaces" in line) == said
