"""What the documents promise is what the program does."""

from __future__ import annotations

import doctest
import json
import re

import pytest
import yaml
from jsonschema import Draft202012Validator

from kubespread.cli import manual, reference
from kubespread.planner.reports.schema import FILES, schema
from kubespread.snapshot.live.resources import RESOURCES
from tests.cli.support import ROOT, run

DOCUMENTS = [
    "README.md",
    *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md") if path.parent.name != "adr"),
]
NO_COMMANDS = {
    f"docs/{name}.md"
    for name in (
        "library",
        "performance",
        "reference",
        "exactness",
        "codes",
        "install",
        "assistants",
        "ci/README",
        "cookbook/README",
    )
}
"""They show Python, numbers, help, counts, findings, what to install, another program's settings and contents."""
COMMAND = re.compile(r"^\$ kubespread (?P<arguments>[^|<>&\n]+)$", re.MULTILINE)


@pytest.mark.parametrize("name", FILES)
def test_the_published_schema_is_the_reports_own(name: str) -> None:
    published = json.loads((ROOT / "docs" / "schema" / name).read_text())
    Draft202012Validator.check_schema(published)
    assert published == schema(FILES[name])


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_commands_shown_run_and_print_what_is_shown(name: str) -> None:
    text = (ROOT / name).read_text()
    shown = [(match["arguments"].split(), match.end()) for match in COMMAND.finditer(text)]
    assert shown or name in NO_COMMANDS
    for arguments, end in shown:
        block = text[end + 1 :].split("```")[0].split("\n$ ")[0].rstrip("\n")
        result = run(*arguments, cwd=ROOT)
        assert result.code in (0, 1), arguments
        if block:
            assert result.out.rstrip("\n") == block, arguments


def test_the_reference_and_the_man_page_are_the_programs_own_help() -> None:
    assert reference.page() == (ROOT / "docs" / "reference.md").read_text()
    assert manual.page() == (ROOT / "docs" / "kubespread.1").read_text()


@pytest.mark.parametrize("command", ["explain", "demo"])
def test_the_reference_shows_what_a_terminal_does(command: str) -> None:
    assert run(command, "--help", env={"COLUMNS": "100"}).out.strip() in reference.page()


def test_the_makefile_has_the_targets_the_readme_names() -> None:
    named = re.findall(r"^make (\w+)", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert named
    assert {*named} <= {*re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE)}


def test_the_cluster_role_allows_what_is_read_and_nothing_else() -> None:
    role, _ = yaml.safe_load_all(run("rbac").out)
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


def test_the_examples_of_the_library_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert doctest.testfile(str(ROOT / "docs" / "library.md"), module_relative=False) == (0, 20)
