"""Node groups as people write them, and every fault of such a file on a line of its own."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest
import yaml

from kubespread.errors import ManifestError
from kubespread.node_groups import Expander
from kubespread.scenario.autoscaler import read_node_groups
from tests.cli.support import FIXTURES

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


FAULTS = yaml.load((FIXTURES / "refused" / "node-groups.yaml").read_bytes(), Loader=yaml.CSafeLoader)


@pytest.mark.parametrize("case", FAULTS)
def test_faults(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("groups.yaml").write_text(HEAD + FAULTS[case]["groups"])
    with pytest.raises(ManifestError) as raised:
        read_node_groups("groups.yaml")
    assert str(raised.value).splitlines() == FAULTS[case]["faults"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            NODE,
            "groups.yaml:2: kind: expected apiVersion kubespread.dev/v1alpha1 and kind NodeGroups, found v1 and Node; ",
        ),
        ("", "groups.yaml: expected one NodeGroups, found nothing"),
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
