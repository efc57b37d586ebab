"""Node groups as people write them, and every fault of such a file on a line of its own."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest

from kubespread.errors import ManifestError
from kubespread.node_groups.file import read_node_groups
from kubespread.node_groups.groups import Expander

HEAD = "apiVersion: kubespread.dev/v1alpha1\nkind: NodeGroups\n"
NODE = """apiVersion: v1
kind: Node
metadata: {name: m5, labels: {disk: ssd}}
status: {capacity: {cpu: "4", memory: 16Gi, pods: "58"}}
"""


def read(tmp_path: Path, text: str) -> list[tuple[object, ...]]:
    (tmp_path / "m5.yaml").write_text(NODE)
    file = tmp_path / "groups.yaml"
    file.write_text(HEAD + text)
    return [
        (
            group.name,
            group.template if isinstance(group.template, str | None) else group.template.metadata.name,
            group.zones,
            str(group.members),
            group.minimum,
            group.maximum,
        )
        for group in read_node_groups(str(file)).groups
    ]


GROUPS = {
    "a node of the cluster": ("- {name: w, template: n1}", ("w", "n1", (), "None", 0, None)),
    "a file beside it": ("- {name: w, template: m5.yaml}", ("w", "m5", (), "None", 0, None)),
    "a manifest, called like its group": (
        "- {name: w, template: {status: {capacity: {cpu: 4}}}}",
        ("w", "w", (), "None", 0, None),
    ),
    "the labels of its nodes, all there is": ("- {name: w, nodes: pool=w}", ("w", None, (), "pool=w", 0, None)),
    "everything": (
        "- {name: w, template: n1, zones: [a, b], nodes: 'pool in (v,w)', min: 1, max: 3}",
        ("w", "n1", ("a", "b"), "pool in (v,w)", 1, 3),
    ),
}


@pytest.mark.parametrize(("text", "expected"), GROUPS.values(), ids=list(GROUPS))
def test_a_group(tmp_path: Path, text: str, expected: tuple[object, ...]) -> None:
    assert read(tmp_path, f"groups:\n{text}\n") == [expected]


def test_a_manifest_offers_its_capacity(tmp_path: Path) -> None:
    (tmp_path / "m5.yaml").write_text(NODE)
    file = tmp_path / "groups.json"
    file.write_text(
        json.dumps(
            {
                "apiVersion": "kubespread.dev/v1alpha1",
                "kind": "NodeGroups",
                "groups": [{"name": "w", "template": "m5.yaml"}],
            }
        )
    )
    (group,) = read_node_groups(str(file)).groups
    assert not isinstance(group.template, str | None)
    assert group.template.status.allocatable == {"cpu": "4", "memory": "16Gi", "pods": "58"}


def test_how_to_choose_among_groups(tmp_path: Path) -> None:
    file = tmp_path / "groups.yaml"
    groups = "groups: [{name: w, template: n1, priority: 10, price: 0.384}, {name: v, template: n1, price: 1}]"
    file.write_text(f"{HEAD}expander: priority,least-waste\n{groups}\n")
    read = read_node_groups(str(file))
    assert read.expanders == (Expander.PRIORITY, Expander.LEAST_WASTE)
    assert [(each.priority, each.price) for each in read.groups] == [(10, Decimal("0.384")), (None, Decimal(1))]


FAULTS = {
    "expanders that there are not": (
        "expander: least-wast\ngroups: [{name: w, template: n1}]\n",
        ['groups.yaml:3: expander: Unsupported value: "least-wast", did you mean "least-waste"?'],
    ),
    "the same one twice": (
        "expander: price,price\ngroups: [{name: w, template: n1}]\n",
        ['groups.yaml:3: expander: Duplicate value: "price,price"'],
    ),
    "numbers that no expander takes": (
        "groups:\n- name: w\n  template: n1\n  priority: -1\n  price: -2\n",
        [
            "groups.yaml:6: groups[0].priority: Invalid value: -1: must be greater than or equal to 0",
            "groups.yaml:7: groups[0].price: expected a number from 0, found -2",
        ],
    ),
    "an unknown field": (
        "groups:\n- name: w\n  template: n1\n  maximum: 3\n",
        ['groups.yaml:6: groups[0].maximum: strict decoding error: unknown field "groups[0].maximum"'],
    ),
    "a mistyped field": (
        "groups:\n- name: w\n  templat: n1\n  nodes: a=b\n",
        [
            "groups.yaml:5: groups[0].templat: strict decoding error: "
            'unknown field "groups[0].templat", did you mean "groups[0].template"?'
        ],
    ),
    "no groups": ("groups: []\n", ["groups.yaml:3: groups: Required value: at least one group"]),
    "a group without anything": (
        "groups:\n- max: 1\n",
        [
            "groups.yaml:4: groups[0].name: Required value",
            "groups.yaml:4: groups[0].template: Required value: a Node manifest, its file or a node's name, unless "
            "nodes says which there are",
        ],
    ),
    "the same name twice": (
        "groups:\n- {name: w, template: n1}\n- {name: w, template: n1}\n",
        ['groups.yaml:4: groups[0].name: Duplicate value: "w"', 'groups.yaml:5: groups[1].name: Duplicate value: "w"'],
    ),
    "numbers": (
        "groups:\n- name: w\n  template: n1\n  min: -1\n  max: -2\n",
        [
            "groups.yaml:6: groups[0].min: Invalid value: -1: must be greater than or equal to 0",
            "groups.yaml:7: groups[0].max: Invalid value: -2: must be greater than or equal to min",
        ],
    ),
    "a number that is none": (
        "groups:\n- name: w\n  max: many\n",
        [
            "groups.yaml:5: groups[0].max: json: cannot unmarshal string into Go struct field "
            "NodeGroupFields.groups.max of type int32"
        ],
    ),
    "zones": (
        "groups:\n- name: w\n  template: n1\n  zones: [a, '', a]\n",
        [
            'groups.yaml:6: groups[0].zones[1]: Invalid value: "": must not be empty',
            'groups.yaml:6: groups[0].zones[2]: Duplicate value: "a"',
        ],
    ),
    "labels that are none": (
        "groups:\n- name: w\n  nodes: 'a in b'\n",
        [
            'groups.yaml:5: groups[0].nodes: Invalid value: "a in b": '
            "expected KEY=VALUE, KEY!=VALUE, KEY in (A,B), KEY or !KEY, found 'a in b'"
        ],
    ),
    "a template that is a number": (
        "groups:\n- name: w\n  template: 3\n",
        ["groups.yaml:5: groups[0].template: expected a Node manifest, its file or a node's name, found a number"],
    ),
    "a template that is a pod": (
        "groups:\n- name: w\n  template: {kind: Pod}\n",
        ["groups.yaml:5: groups[0].template: expected a Node, found Pod"],
    ),
    "a manifest with faults": (
        "groups:\n- name: w\n  template:\n    metadata: {name: w}\n    spec: {unschedulabl: true}\n",
        [
            "groups.yaml:7: groups[0].template.spec.unschedulabl: strict decoding error: unknown field "
            '"groups[0].template.spec.unschedulabl", did you mean "groups[0].template.spec.unschedulable"?'
        ],
    ),
    "an amount that nobody can read": (
        "groups:\n- name: w\n  template:\n    status:\n      capacity: {cpu: lots}\n",
        [
            "groups.yaml:7: groups[0].template.status.capacity[cpu]: quantities must match the regular expression "
            "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
        ],
    ),
    "a file that is not there": (
        "groups:\n- name: w\n  template: gone.yaml\n",
        ["groups.yaml:5: groups[0].template: gone.yaml: No such file or directory"],
    ),
}


@pytest.mark.parametrize(("text", "lines"), FAULTS.values(), ids=list(FAULTS))
def test_faults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, lines: list[str]) -> None:
    monkeypatch.chdir(tmp_path)
    Path("groups.yaml").write_text(HEAD + text)
    with pytest.raises(ManifestError) as raised:
        read_node_groups("groups.yaml")
    assert str(raised.value).splitlines() == lines


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (NODE, "groups.yaml: expected one NodeGroups of apiVersion kubespread.dev/v1alpha1, found Node"),
        ("", "groups.yaml: expected one NodeGroups of apiVersion kubespread.dev/v1alpha1, found nothing"),
        ("a: [", "groups.yaml:2: YAML syntax"),
    ],
    ids=["another kind", "nothing", "no YAML"],
)
def test_another_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, line: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path("groups.yaml").write_text(text)
    with pytest.raises(ManifestError) as raised:
        read_node_groups("groups.yaml")
    assert str(raised.value).startswith(line)


def test_a_file_that_is_not_there() -> None:
    with pytest.raises(ManifestError, match=r"gone\.yaml: No such file or directory"):
        read_node_groups("gone.yaml")
