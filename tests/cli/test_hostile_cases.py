"""Inputs that ended in a bug of ours once: each is answered, or refused in a line that names file, object and field."""

from __future__ import annotations

import json
import os
import shlex
from dataclasses import dataclass
from pathlib import Path

import pytest

import kubespread
from kubespread.kube.quantity import BAD_FORMAT
from tests.builders import hard, hosts, pod, soft
from tests.cli.support import FIXTURES, run

CASES = FIXTURES / "cases" / "adversarial"
HOSTILE = FIXTURES / "cases" / "hostile"
CLUSTER = "-S base/cluster.json"
NO_LABEL = "a valid label must be"


@dataclass(frozen=True)
class Case:
    """A command in a folder of fixtures/cases, and what comes of it."""

    command: str
    code: int
    said: str


FILES = {
    "a claim that asks for nothing in particular": Case(
        "explain pod/p -S 3/c.json", 1, "resource claim default/c, request g: unknown request type"
    ),
    "the same as a manifest": Case(
        f"explain 3/c.json {CLUSTER}", 1, "resource claim default/c, request g: unknown request type"
    ),
    **{
        f"an amount that is none in a LimitRange's {field}": Case(
            f"explain base/pod.yaml -S 1/lr-{field}.json --add-node n0",
            3,
            f"gap: unreadable object: 1/lr-{field}.json:1: LimitRange default/lr: spec.limits[0].{field}[cpu]: {BAD_FORMAT}",
        )
        for field in ("default", "max", "maxLimitRequestRatio")
    },
    "a selector that is none in a CSIStorageCapacity": Case(
        "explain 8/vol.json -S 8/topo.json",
        3,
        'gap: unreadable object: 8/topo.json:1: CSIStorageCapacity default/cap: nodeTopology.matchLabels: Invalid value: "/"',
    ),
    "an amount that is none in a CSIStorageCapacity": Case(
        "explain 8/vol.json -S 8/max.json",
        3,
        "gap: unreadable object: 8/max.json:1: CSIStorageCapacity default/cap: maximumVolumeSize: unable to parse quantity's suffix",
    ),
    "a number beyond every type in the Node to add": Case(
        f"explain base/pod.yaml {CLUSTER} --add-node 8/node2.json",
        2,
        "8/node2.json:1: JSON syntax: Number out of range",
    ),
    "a baseline nested 3,000 deep": Case(
        f"check base/pod.yaml {CLUSTER} --baseline 8/bl.json", 2, "8/bl.json: not a baseline of kubespread check: "
    ),
    "more runs than anybody waits for": Case(
        f"simulate base/deployment.yaml {CLUSTER} --runs 100000000", 2, "runs must be from 1 to 10000, not 100000000"
    ),
    "more replicas than a cluster has pods": Case(
        f"simulate base/deployment.yaml {CLUSTER} --replicas 999999999",
        2,
        "replicas must be from 0 to 50000, not 999999999",
    ),
    "advice about as many": Case(
        f"advise base/deployment.yaml {CLUSTER} --replicas 999999999",
        2,
        "replicas must be from 0 to 50000, not 999999999",
    ),
    "an owner whose name has a slash": Case("pending -A -S 5/slash.json", 1, "1 pod pending for 1 cause"),
}


@pytest.mark.parametrize("case", FILES)
def test_a_hostile_file(case: str) -> None:
    asked = FILES[case]
    code, _, err = run(*shlex.split(asked.command), cwd=CASES)
    assert (code, asked.said in err) == (asked.code, True), err


BY_FOLDER = {
    "01-report-since-deep": Case(
        "report -A --since since.json -S ../03-rebalance-missing-node/c.json",
        2,
        "since.json: not what kubespread report -o json writes: nested deeper than 200 levels",
    ),
    "03-rebalance-missing-node": Case(
        "rebalance -A --soft -S c.json -o markdown", 3, "as far as the snapshot goes: the constraint stays violated"
    ),
    "06-zip-lzma-corrupt": Case("map -S in.zip", 3, "in.zip: damaged archive: Corrupt input data"),
    "07-zip-name-not-utf8": Case("map -S in.zip", 3, "in.zip: damaged archive: 'utf-8' codec"),
    "10-gzip-hang": Case("audit -A -S in.json", 0, "5 at risk, 0 fine of 5 workloads"),
    "05-rebalance-score-overflow": Case("rebalance -A -S c.json -o plain", 0, "no such constraint is in force"),
    "11-report-replicas": Case(
        "report -A --jobs 1 -S c125.json -o plain",
        1,
        "may ask for 1,000,000 replicas, which leaves 999,340 pods without a node: 0/6 nodes are available",
    ),
    "13-rebalance-owner-cycle": Case(
        "rebalance -A -S c.json -o csv", 3, "c.json:1: Node: metadata.name: Required value"
    ),
}


@pytest.mark.parametrize("folder", BY_FOLDER)
def test_a_hostile_folder(folder: str) -> None:
    asked = BY_FOLDER[folder]
    code, out, err = run(*shlex.split(asked.command), cwd=HOSTILE / folder)
    assert (code, asked.said in out + err) == (asked.code, True), err


WORD = os.fsdecode(b"\xff")
WORDS = {
    "explain POD --label": ["explain", "POD", "--label", f"n0 a={WORD}"],
    "explain POD --taint": ["explain", "POD", "--taint", f"n0 a={WORD}:NoSchedule"],
    "explain POD --evict": ["explain", "POD", "--evict", WORD],
    "explain POD --set": ["explain", "POD", "--set", f"cpu={WORD}"],
    "explain a pod by name": ["explain", f"pod/{WORD}"],
    "audit -l": ["audit", "-l", WORD],
    "audit -n": ["audit", "-n", WORD],
    "audit a workload": ["audit", f"deploy/{WORD}"],
    "survive --key": ["survive", "--key", WORD],
    "capacity --request": ["capacity", "--request", f"{WORD}=1"],
    "removable NODES": ["removable", WORD],
}


@pytest.mark.parametrize("case", WORDS)
def test_a_word_that_is_not_utf_8(case: str) -> None:
    words = [{"POD": "base/pod.yaml"}.get(word, word) for word in WORDS[case]]
    for form in ("table", "json"):
        code, out, err = run(*words, "-S", "base/cluster.json", "-o", form, cwd=CASES)
        assert (code, out) == (2, "")
        assert "is not UTF-8" in err


def test_a_file_may_be_called_what_is_not_utf_8(tmp_path: Path) -> None:
    for name, objects in {"cluster": hosts("a"), "pod": [pod()]}.items():
        (tmp_path / f"{name}{WORD}.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    page = tmp_path / f"page{WORD}.html"
    for form in ("table", "json", "yaml", "markdown"):
        answer = run(
            "explain", f"pod{WORD}.json", "-S", f"cluster{WORD}.json", "-o", form, "--html", page.name, cwd=tmp_path
        )
        assert answer.code == 0, answer.err
    assert page.exists()


def test_a_constraint_without_an_action_constrains_nothing() -> None:
    """No API server lets one in; kube-scheduler picks constraints by their action."""
    unheard_of = {**hard("zone"), "whenUnsatisfiable": "Perhaps"}
    stored = pod("stored", "a", labels={"foo": "bar"}, constraints=[unheard_of, soft("kubernetes.io/hostname")])
    report = kubespread.audit(kubespread.Snapshot.from_objects([*hosts("a", "b"), stored]))
    [workload] = report.workloads
    assert [each.topology_key for each in workload.constraints] == ["kubernetes.io/hostname"]
