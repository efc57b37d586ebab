"""What the documents promise is what the program does."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml
from jsonschema import Draft202012Validator

from kubespread.planner.reports.schema import FILES, schema
from kubespread.snapshot.live.resources import RESOURCES
from tests.cli.support import ROOT, run

DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
COMMAND = re.compile(r"^\$ kubespread (?P<arguments>[^|<>&\n]+)$", re.MULTILINE)


@pytest.mark.parametrize("name", FILES)
def test_the_published_schema_is_the_reports_own(name: str) -> None:
    published = json.loads((ROOT / "docs" / "schema" / name).read_text())
    Draft202012Validator.check_schema(published)
    assert published == schema(FILES[name])


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_the_commands_shown_run_and_print_what_is_shown(path: Path) -> None:
    shown = [(match["arguments"].split(), match.end()) for match in COMMAND.finditer(path.read_text())]
    assert shown or path.name in ("codes.md", "performance.md")
    for arguments, end in shown:
        block = path.read_text()[end + 1 :].split("```")[0].split("\n$ ")[0].rstrip("\n")
        result = run(*arguments, cwd=ROOT)
        assert result.code in (0, 1), arguments
        if block:
            assert result.out.rstrip("\n") == block, arguments


@pytest.mark.parametrize("command", ["explain", "simulate", "compare", "survive", "play", "upgrade", "snapshot"])
def test_the_help_in_the_guide_is_the_programs_own(command: str) -> None:
    text = (ROOT / "docs" / "guide.md").read_text()
    assert run(command, "--help", env={"COLUMNS": "100"}).out.strip() in text


def test_the_makefile_has_the_targets_the_readme_names() -> None:
    makefile = (ROOT / "Makefile").read_text()
    assert {"demo", "test", "lint", "bench", "completions"} <= set(re.findall(r"^(\w+):", makefile, re.MULTILINE))


def test_the_cluster_role_allows_what_is_read_and_nothing_else() -> None:
    role, _ = yaml.safe_load_all((ROOT / "docs" / "rbac.yaml").read_text())
    *exact, workloads = role["rules"]
    allowed = {(group, resource) for rule in exact for group in rule["apiGroups"] for resource in rule["resources"]}
    assert {tuple(rule["verbs"]) for rule in role["rules"]} == {("list",)}
    read = {(resource.group.partition("/")[0], resource.plural) for resource in RESOURCES}
    by_name = {(group, plural) for group, plural in read - allowed}
    assert ({plural for _, plural in by_name}, {group for group, _ in by_name}) == (
        set(workloads["resources"]),
        set(workloads["apiGroups"]),
    )
    assert allowed <= read
