"""Files of instance types: what they mean, what is said of those that mean nothing, and what nodes tell of them."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from docs.generators.instance_types_schema import schema
from kubespread.errors import ManifestError
from kubespread.node_groups import InstanceType
from kubespread.scenario.autoscaler import read_instance_types

HEAD = "apiVersion: kubespread.dev/v1alpha1\nkind: InstanceTypes\n"
NAME, OS, ARCH = "node.kubernetes.io/instance-type", "kubernetes.io/os", "kubernetes.io/arch"
SCHEMA = Draft202012Validator(schema())


def test_everything_a_type_may_have(tmp_path: Path) -> None:
    entry = (
        "{name: p4d, cpu: 95690m, memory: 1100Gi, pods: 250, resources: {nvidia.com/gpu: 8}, zones: [a, b], "
        "labels: {kubernetes.io/arch: amd64}, price: 32.7726}"
    )
    (tmp_path / "types.yaml").write_text(f"{HEAD}instanceTypes:\n- {entry}\n")
    assert read_instance_types(str(tmp_path / "types.yaml")) == (
        InstanceType(
            "p4d",
            {"cpu": "95690m", "memory": "1100Gi", "pods": "250", "nvidia.com/gpu": "8"},
            {OS: "linux", NAME: "p4d", ARCH: "amd64"},
            ("a", "b"),
            Decimal("32.7726"),
        ),
    )


def test_the_least_a_type_may_have() -> None:
    (found,) = read_instance_types(f"{HEAD}instanceTypes: [{{name: m, cpu: 4, memory: 16Gi}}]\n")
    labels = {OS: "linux", NAME: "m"}
    assert found == InstanceType("m", {"cpu": "4", "memory": "16Gi", "pods": "110"}, labels)


FAULTS: dict[str, tuple[str, list[str]]] = {
    "none": ("instanceTypes: []", ["3: instanceTypes: expected at least one instance type, found none"]),
    "an unknown field, which is nearly one": (
        "instanceTypes:\n- {name: m, cpu: 4, memory: 16Gi, prices: 1}",
        [
            '4: instanceTypes[0].prices: strict decoding error: unknown field "instanceTypes[0].prices", '
            'did you mean "instanceTypes[0].price"?'
        ],
    ),
    "what is missing": (
        "instanceTypes:\n- name: m",
        [
            "4: instanceTypes[0].cpu: Required value: what a node of it offers pods, as status.allocatable has it",
            "4: instanceTypes[0].memory: Required value: what it offers of memory, likewise",
        ],
    ),
    "amounts that are none": (
        "instanceTypes:\n- name: m\n  cpu: many\n  memory: -1Gi\n  resources: {a/b/c: 1, cpu: 3}",
        [
            '5: instanceTypes[0].cpu: Invalid value: "many": quantities must match the regular expression '
            "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
            '6: instanceTypes[0].memory: Invalid value: "-1Gi": must be greater than or equal to 0',
            '7: instanceTypes[0].resources.a/b/c: Invalid value: "a/b/c": a valid label key must consist of',
        ],
    ),
    "a price that is none": (
        "instanceTypes:\n- {name: m, cpu: 4, memory: 16Gi, price: -1}",
        ["4: instanceTypes[0].price: expected a number from 0 with at most six decimals, found -1"],
    ),
    "the same twice": (
        "instanceTypes:\n- {name: m, cpu: 4, memory: 16Gi}\n- {name: m, cpu: 5, memory: 16Gi}",
        ['5: instanceTypes[1].name: Duplicate value: "m": another with the same labels is above'],
    ),
    "labels that have fields of their own": (
        f"instanceTypes:\n- name: m\n  cpu: 4\n  memory: 1Gi\n  labels: {{{NAME}: x, topology.kubernetes.io/zone: a}}",
        [
            f'7: instanceTypes[0].labels.{NAME}: Invalid value: "x": it is "m", the name',
            "7: instanceTypes[0].labels.topology.kubernetes.io/zone: expected the zones in zones, not as a label",
        ],
    ),
    "zones": (
        "instanceTypes:\n- {name: m, cpu: 4, memory: 1Gi, zones: [a, a]}",
        ['4: instanceTypes[0].zones[1]: Duplicate value: "a"'],
    ),
    "another kind": (
        "kind: NodeGroups",
        ["3: kind: expected apiVersion kubespread.dev/v1alpha1 and kind InstanceTypes, found "],
    ),
}


@pytest.mark.parametrize(("text", "expected"), FAULTS.values(), ids=list(FAULTS))
def test_faults(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, expected: list[str]) -> None:
    monkeypatch.chdir(tmp_path)
    head = HEAD.replace("kind: InstanceTypes\n", "#\n") if text.startswith("kind") else HEAD
    Path("types.yaml").write_text(f"{head}{text}\n")
    with pytest.raises(ManifestError) as raised:
        read_instance_types("types.yaml")
    said = str(raised.value).splitlines()
    for line, start in zip(said, expected, strict=False):
        assert line.startswith(f"types.yaml:{start}")
    assert len(said) >= len(expected)


@pytest.mark.parametrize("entry", [{"name": "m"}, {"name": "m", "cpu": 4, "memory": "1Gi", "size": 3}, "m"])
def test_the_schema_refuses_what_the_program_refuses(entry: Any) -> None:
    document = {"apiVersion": "kubespread.dev/v1alpha1", "kind": "InstanceTypes", "instanceTypes": [entry]}
    assert not SCHEMA.is_valid(document)
    with pytest.raises(ManifestError):
        read_instance_types(document)
