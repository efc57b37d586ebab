"""Edits as text: what they stand for, and what is said of text that is none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kubespread
from kubespread.errors import ManifestError, UsageError
from kubespread.kube.api.core import Node, Taint
from kubespread.kube.selector import parse_selector
from kubespread.kube.taint import DrainFlags
from kubespread.snapshot.edits.new_nodes import AddNode
from kubespread.snapshot.edits.nodes import (
    AddTaint,
    Cordon,
    DeleteNode,
    Drain,
    Fail,
    FailHard,
    RemoveLabel,
    RemoveTaint,
    SetLabel,
    Uncordon,
)
from kubespread.snapshot.edits.pods import DeletePods, EvictPod, Scale
from kubespread.snapshot.edits.registry import parse
from kubespread.snapshot.edits.verb import Edit, Target

NODE = Target("node-7")
ZONE = Target("zone=a", parse_selector("zone=a"))

EDITS: dict[str, tuple[str, Edit]] = {
    "a node": ("cordon node-7", Cordon(NODE)),
    "blanks around": ("  cordon \t node-7 ", Cordon(NODE)),
    "nodes by a label": ("uncordon zone=a", Uncordon(ZONE)),
    "nodes by a set of values": (
        "delete-node pool in (a, b),!gpu",
        DeleteNode(Target("pool in (a, b),!gpu", parse_selector("pool in (a, b),!gpu"))),
    ),
    "a prefix makes a word a label": (
        "cordon example.com/gpu",
        Cordon(Target("example.com/gpu", parse_selector("example.com/gpu"))),
    ),
    "a drain": ("drain node-7", Drain(NODE)),
    "a drain with flags, anywhere": (
        "drain --force zone=a --no-ignore-daemonsets",
        Drain(ZONE, DrainFlags(force=True, ignore_daemonsets=False)),
    ),
    "a drain with all flags": (
        "drain node-7 --no-ignore-daemonsets --no-delete-emptydir-data --force",
        Drain(NODE, DrainFlags(force=True, ignore_daemonsets=False, delete_emptydir_data=False)),
    ),
    "a drain with flags as kubectl has them": (
        "drain node-7 --ignore-daemonsets=false --delete-emptydir-data=true --force=true",
        Drain(NODE, DrainFlags(force=True, ignore_daemonsets=False)),
    ),
    "a drain with the flags that it has anyway": (
        "drain node-7 --ignore-daemonsets --delete-emptydir-data",
        Drain(NODE),
    ),
    "a failure": ("fail zone=a", Fail(ZONE)),
    "a failure for good": ("fail-hard node-7", FailHard(NODE)),
    "a taint": (
        "taint node-7=dedicated=web:NoSchedule",
        AddTaint(NODE, Taint(key="dedicated", value="web", effect="NoSchedule")),
    ),
    "a taint without a value": ("taint node-7=gpu:NoExecute", AddTaint(NODE, Taint(key="gpu", effect="NoExecute"))),
    "a taint on labeled nodes": (
        "taint zone=a example.com/gpu=:PreferNoSchedule",
        AddTaint(ZONE, Taint(key="example.com/gpu", effect="PreferNoSchedule")),
    ),
    "no taints of a key": ("taint node-7=gpu-", RemoveTaint(NODE, "gpu")),
    "no taint of a key and an effect": ("taint node-7 gpu=x:NoSchedule-", RemoveTaint(NODE, "gpu", "NoSchedule")),
    "a label": ("label node-7=pool=web", SetLabel(NODE, "pool", "web")),
    "an empty label": ("label node-7=pool=", SetLabel(NODE, "pool", "")),
    "a label on labeled nodes": ("label zone=a pool=web", SetLabel(ZONE, "pool", "web")),
    "no label": ("label node-7=pool-", RemoveLabel(NODE, "pool")),
    "a copy of a node": ("add-node node-7", AddNode("node-7")),
    "copies of a node": ("add-node ip-10-0-0-1.ec2.internal:3", AddNode("ip-10-0-0-1.ec2.internal", 3)),
    "copies with other labels": (
        "add-node node-7:2@zone=d,gpu=@example.com/a=b",
        AddNode("node-7", 2, (("zone", "d"), ("gpu", ""), ("example.com/a", "b"))),
    ),
    "pods": ("delete-pods app=web,tier!=db", DeletePods("app=web,tier!=db", parse_selector("app=web,tier!=db"))),
    "pods of a namespace": ("delete-pods shop/app=web", DeletePods("app=web", parse_selector("app=web"), "shop")),
    "pods by a label with a prefix": (
        "delete-pods app.kubernetes.io/name=web",
        DeletePods("app.kubernetes.io/name=web", parse_selector("app.kubernetes.io/name=web")),
    ),
    "pods of a namespace by a label whose prefix has no dot": (
        "delete-pods default/team/app=web",
        DeletePods("team/app=web", parse_selector("team/app=web"), "default"),
    ),
    "an eviction": ("evict web-7d9", EvictPod("web-7d9")),
    "an eviction in a namespace": ("evict shop/web-7d9", EvictPod("web-7d9", "shop")),
    "a number of replicas": ("scale deploy/web=5", Scale("Deployment", "web", 5)),
    "a number of replicas in a namespace": ("scale shop/statefulsets.apps/db=0", Scale("StatefulSet", "db", 0, "shop")),
}


@pytest.mark.parametrize("case", EDITS)
def test_text_stands_for_an_edit(case: str) -> None:
    text, edit = EDITS[case]
    assert parse(text) == edit


@pytest.mark.parametrize("case", EDITS)
def test_an_edit_as_text_is_that_edit(case: str) -> None:
    _, edit = EDITS[case]
    assert parse(str(edit)) == edit


LABELS = "expected KEY=VALUE, KEY!=VALUE, KEY in (A,B), KEY or !KEY"
NODES = "expected cordon NODE or KEY=VALUE"
KEY_RULE = "name part must consist of alphanumeric characters"
FAULTS: dict[str, tuple[str, str]] = {
    "nothing": ("", "unknown edit ''; the edits are cordon, uncordon, drain, "),
    "a mistyped verb": ("cordn node-7", "unknown edit 'cordn', did you mean \"cordon\"?"),
    "an unknown verb": ("reboot node-7", "unknown edit 'reboot'; the edits are cordon, uncordon, drain, "),
    "no target": ("cordon", f"invalid edit 'cordon': {NODES}"),
    "several nodes": ("cordon node-7 node-8", f"invalid labels 'node-7 node-8': {LABELS}, found 'node-7 node-8'"),
    "a label nobody can have": ("cordon zone=a_", "invalid labels 'zone=a_': values[0][zone]: Invalid value: \"a_\": "),
    "flags of a drain for something else": ("cordon node-7 --force", "cordon takes no flags, found --force"),
    "a drain of nothing": (
        "drain --force",
        "invalid edit 'drain --force': expected drain NODE or KEY=VALUE, and flags",
    ),
    "a mistyped flag": (
        "drain node-7 --ignore-daemonset",
        "unknown flag '--ignore-daemonset' of drain, did you mean \"--ignore-daemonsets\"?",
    ),
    "a flag that is not modeled": (
        "drain node-7 --timeout=5s",
        "unknown flag '--timeout=5s' of drain; its flags are --ignore-daemonsets, --no-ignore-daemonsets, --delete-emptydir-data, --no-delete-emptydir-data, --force",
    ),
    "a taint without a node": ("taint =gpu:NoSchedule", "invalid edit 'taint =gpu:NoSchedule': expected taint NODE="),
    "a taint without a taint": ("taint node-7", "invalid edit 'taint node-7': expected taint NODE="),
    "a node that is none": (
        "taint a_b=gpu:NoSchedule",
        "invalid edit 'taint a_b=gpu:NoSchedule': expected taint NODE=",
    ),
    "a taint without an effect": ("taint node-7=gpu", "invalid taint spec: gpu"),
    "a taint with two effects": (
        "taint node-7=gpu:NoSchedule:NoExecute",
        "invalid taint spec: gpu:NoSchedule:NoExecute",
    ),
    "a taint with two values": ("taint node-7=gpu=a=b:NoSchedule", "invalid taint spec: gpu=a=b:NoSchedule"),
    "an unknown effect": ("taint node-7=gpu:NoRun", "invalid taint effect: NoRun, unsupported taint effect"),
    "an effect by its short name": ("taint node-7=gpu:-", "invalid taint effect: , unsupported taint effect"),
    "a key no taint has": ("taint node-7=_g:NoSchedule", f"invalid taint spec: _g:NoSchedule, {KEY_RULE}"),
    "a value no taint has": (
        "taint node-7=g=b_:NoSchedule",
        "invalid taint spec: g=b_:NoSchedule, a valid label must be",
    ),
    "a value where the effect is left out": ("taint node-7=g=b-", f"invalid taint spec: g=b, {KEY_RULE}"),
    "a label without a value": ("label node-7=pool", "unknown label spec: pool"),
    "a label without a key": ("label node-7==web", "invalid edit 'label node-7==web': expected label NODE="),
    "a value no label has": (
        "label node-7=pool=a b",
        f"invalid labels 'node-7=pool=a': {LABELS}, found 'node-7=pool=a'",
    ),
    "a key no label has": ("label node-7=a/b/c=d", 'metadata.labels: Invalid value: "a/b/c": a valid label key must'),
    "no new node": ("add-node gpu:0", "invalid edit 'add-node gpu:0': expected a number of nodes from 1 to 10000"),
    "too many new nodes": (
        "add-node gpu:10001",
        "invalid edit 'add-node gpu:10001': expected a number of nodes from 1",
    ),
    "a number of new nodes that is none": ("add-node gpu:two", "invalid edit 'add-node gpu:two': expected a number of"),
    "a new node with half a label": (
        "add-node gpu@zone",
        "invalid edit 'add-node gpu@zone': expected add-node LIKE-NODE",
    ),
    "a new node with a second half label": (
        "add-node gpu@zone=a,pool",
        "invalid edit 'add-node gpu@zone=a,pool': expected KEY=VALUE behind @, found 'pool'",
    ),
    "a new node with a label twice, once as nobody can have it": (
        "add-node gpu@zone=-@zone=a",
        'metadata.labels: Invalid value: "-": a valid',
    ),
    "a new node with a label nobody can have": ("add-node gpu@zone=-", 'metadata.labels: Invalid value: "-": a valid'),
    "pods of a namespace nobody can have": ("delete-pods A_b/app=web", "invalid namespace 'A_b': a lowercase RFC 1123"),
    "a pod nobody can have": ("evict Web", "invalid edit 'evict Web': expected evict [NAMESPACE/]POD"),
    "a pod of a workload": (
        "evict shop/deploy/web",
        "invalid edit 'evict shop/deploy/web': expected evict [NAMESPACE/]POD",
    ),
    "pods by nothing": ("delete-pods app=(web)", f"invalid labels 'app=(web)': {LABELS}, found 'app=(web)'"),
    "no replicas": ("scale deploy/web", "invalid edit 'scale deploy/web': expected scale [NAMESPACE/]KIND/NAME=N"),
    "fewer than none": ("scale deploy/web=-1", "invalid edit 'scale deploy/web=-1': expected scale [NAMESPACE/]KIND/"),
    "a mistyped kind": ("scale deplyo/web=1", "unknown kind 'deplyo', did you mean \"deploy\"?"),
    "a kind that controls no pods": ("scale svc/web=1", "unknown kind 'svc'; KIND is one of deploy, rs, sts, rc"),
    "a kind without replicas": (
        "scale ds/web=1",
        "a DaemonSet has no replicas to scale; KIND is one of deploy, rs, sts, rc",
    ),
}


@pytest.mark.parametrize("case", FAULTS)
def test_text_that_is_no_edit(case: str) -> None:
    text, message = FAULTS[case]
    with pytest.raises(UsageError, match=f"^{re.escape(message)}") as refused:
        parse(text)
    assert "\n" not in str(refused.value)


@given(
    st.sampled_from(["", "cordon ", "drain ", "taint n=", "label n=", "add-node ", "delete-pods ", "evict ", "scale "]),
    st.text(),
)
def test_any_other_text_is_an_edit_that_can_be_written_or_a_fault(verb: str, rest: str) -> None:
    try:
        edit = parse(f"{verb}{rest}")
    except (UsageError, ManifestError):
        return
    assert parse(str(edit)) == edit


TEMPLATE = """\
apiVersion: v1
kind: Node
metadata: {name: gpu, labels: {zone: a}}
spec:
  taints: [{key: gpu, effect: NoSchedule}]
status:
  capacity: {cpu: "8"}
"""


def test_a_template_is_read_with_the_edit(tmp_path: Path) -> None:
    file = tmp_path / "gpu.yaml"
    file.write_text(TEMPLATE)
    edit = parse(f"add-node {file}:2@zone=b")
    assert isinstance(edit, AddNode)
    assert (edit.template, edit.count, edit.labels) == (str(file), 2, (("zone", "b"),))
    assert isinstance(edit.manifest, Node)
    assert (edit.manifest.metadata.name, edit.manifest.status.allocatable) == ("gpu", {"cpu": "8"})
    assert parse(str(edit)) == edit


TEMPLATES: dict[str, tuple[str | None, str]] = {
    "no file": (None, "{file}: No such file or directory"),
    "no text": ("\0", "{file}: not a text file (NUL byte at offset 0): expected YAML or JSON"),
    "nothing": ("", "{file}: expected one Node, found nothing"),
    "something else": ("kind: Pod\napiVersion: v1\n", "{file}: expected one Node, found Pod"),
    "a node and more": (
        f"{TEMPLATE}---\nkind: CSINode\napiVersion: storage.k8s.io/v1\n",
        "{file}: expected one Node, found Node, CSINode.storage.k8s.io",
    ),
    "no name": (
        "kind: Node\napiVersion: v1\n",
        "{file}:1: metadata.name: Required value: name or generateName is required",
    ),
    "a mistyped field": (
        TEMPLATE.replace("spec:\n  taints", "spec:\n  taint"),
        '{file}:5: spec.taint: strict decoding error: unknown field "spec.taint", did you mean "spec.taints"?',
    ),
    "a wrong type": (
        TEMPLATE.replace("zone: a", "zone: 1"),
        "{file}:3: metadata.labels[zone]: expected a string, found a number",
    ),
    "an amount that is none": (
        TEMPLATE.replace('"8"', "8x"),
        "{file}:7: status.capacity[cpu]: quantities must match the regular "
        "expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    ),
    "an unknown effect": (
        TEMPLATE.replace("NoSchedule", "NoRun"),
        '{file}:5: spec.taints[0].effect: Unsupported value: "NoRun": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
    ),
    "a taint without an effect": (
        TEMPLATE.replace(", effect: NoSchedule", ""),
        "{file}:5: spec.taints[0].effect: Required value",
    ),
    "a taint twice": (
        TEMPLATE.replace(
            "[{key: gpu, effect: NoSchedule}]",
            "[{key: gpu, effect: NoSchedule}, {key: gpu, value: b, effect: NoSchedule}]",
        ),
        '{file}:5: spec.taints[1]: Duplicate value: "gpu:NoSchedule"',
    ),
}


@pytest.mark.parametrize("case", TEMPLATES)
def test_a_template_that_is_refused(case: str, tmp_path: Path) -> None:
    content, message = TEMPLATES[case]
    file = tmp_path / "node.yaml"
    if content is not None:
        file.write_text(content)
    with pytest.raises(ManifestError, match=f"^{re.escape(message.format(file=file))}$"):
        parse(f"add-node {file}")


def test_a_snapshot_remembers_its_edits_in_order() -> None:
    snapshot = kubespread.Snapshot.from_objects([])
    edited = snapshot.edited("cordon node-7", Uncordon(NODE)).edited("fail zone=a")
    assert (snapshot.edits, edited.edits) == ((), (Cordon(NODE), Uncordon(NODE), Fail(ZONE)))
    assert (edited.nodes, edited.pods, edited.objects) == (snapshot.nodes, snapshot.pods, snapshot.objects)


def test_a_snapshot_refuses_text_that_is_no_edit() -> None:
    with pytest.raises(UsageError, match="^unknown edit 'reboot'"):
        kubespread.Snapshot().edited("cordon node-7", "reboot node-7")
