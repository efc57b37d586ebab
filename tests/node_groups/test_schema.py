"""The published schema of NodeGroups files takes what the program takes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from docs.generators.node_groups_schema import schema
from kubespread.scenario.autoscaler import GROUP
from tests.cli.support import FIXTURES

HEAD = {"apiVersion": "kubespread.dev/v1alpha1", "kind": "NodeGroups"}
VALIDATOR = Draft202012Validator(schema())


def test_it_is_a_schema() -> None:
    Draft202012Validator.check_schema(schema())


def test_it_knows_all_fields_of_a_group() -> None:
    group = schema()["properties"]["groups"]["items"]["properties"]
    assert set(group) == set(GROUP)


@pytest.mark.parametrize("path", sorted((FIXTURES / "node-groups").glob("*.yaml")), ids=lambda path: path.name)
def test_the_fixtures_are_valid(path: Path) -> None:
    VALIDATOR.validate(yaml.safe_load(path.read_text()))


@pytest.mark.parametrize(
    "groups",
    [
        [],
        [{"template": "n1"}],
        [{"name": "w"}],
        [{"name": "w", "template": "n1", "maximum": 3}],
        [{"name": "W", "template": "n1"}],
        [{"name": "w", "template": {"kind": "Pod"}}],
        [{"name": "w", "template": "n1", "min": -1}],
        [{"name": "w", "template": "n1", "zones": ["a", "a"]}],
    ],
    ids=["none", "no name", "nothing but a name", "an unknown field", "a name", "a pod", "min", "zones"],
)
def test_what_the_program_refuses_is_invalid(groups: list[dict[str, Any]]) -> None:
    assert not VALIDATOR.is_valid({**HEAD, "groups": groups})
