"""The files beside the code agree with each other: bounds, lock, hooks and targets."""

from __future__ import annotations

import re
import shlex
import subprocess
import tomllib
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

from tests.cli.support import FIXTURES, ROOT, run

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
TOP = {
    *{".ci", ".dockerignore", ".github", ".gitignore", ".pre-commit-config.yaml", ".pre-commit-hooks.yaml"},
    *{"CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "README.md"},
    *{"Makefile", "action.yml", "mkdocs.yml", "pyproject.toml", "uv.lock"},
    *{"bench", "completions", "docs", "fixtures", "kubespread", "packaging", "tests", "tools"},
}
"""What whoever opens the repository sees first."""
GOOD, BAD = (str(FIXTURES / "lint" / "KS101" / f"{name}.yaml") for name in ("good", "bad"))


def requirements() -> list[Requirement]:
    """All that pyproject.toml names, whoever installs it."""
    project, groups = PROJECT["project"], PROJECT["dependency-groups"].values()
    extras = project["optional-dependencies"].values()
    named = [*project["dependencies"], *(line for lines in (*extras, *groups) for line in lines)]
    return [Requirement(line) for line in named if isinstance(line, str)]


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="what belongs to the repository is known in a checkout alone")
def test_nothing_else_stands_at_the_top_level() -> None:
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert {line.partition("/")[0] for line in tracked.splitlines()} == TOP


def pinned(name: str) -> str:
    (found,) = [each for each in requirements() if each.name == name]
    return str(found)


def test_the_lock_file_has_what_pyproject_allows() -> None:
    locked: dict[str, list[str]] = {}
    for package in tomllib.loads((ROOT / "uv.lock").read_text())["package"]:
        locked.setdefault(package["name"], []).append(package.get("version", ""))
    outdated = [
        str(each)
        for each in requirements()
        if not any(each.specifier.contains(version) for version in locked.get(each.name.lower(), []))
    ]
    assert outdated == [], "run: make lock"


def test_hooks_for_contributors_have_the_versions_of_make_lint() -> None:
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())
    taken = {line for repo in config["repos"] for hook in repo["hooks"] for line in hook["additional_dependencies"]}
    assert taken == {pinned("ruff"), pinned("typos")}


@pytest.mark.parametrize("document", ["CONTRIBUTING.md", "docs/RELEASING.md", "docs/install.md"])
def test_the_targets_that_documents_name_are_there(document: str) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = re.findall(r"`make ([a-z -]+)[ `]", (ROOT / document).read_text())
    assert {target for each in named for target in each.split()} <= targets


PROMISES, SHOP = FIXTURES / "promises", ("-S", FIXTURES / "clusters" / "shop.yaml")
ASKED = {"check": ((GOOD,), (BAD,)), "verify": ((PROMISES / "room.yaml", *SHOP), (PROMISES / "shop.yaml", *SHOP))}
"""What a hook is given that passes, and what it stops."""


@pytest.mark.parametrize(
    "hook", yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text()), ids=lambda hook: hook["id"]
)
def test_the_hooks_that_are_offered_are_commands_that_exist(hook: dict[str, Any]) -> None:
    program, *arguments = shlex.split(hook["entry"])
    assert program in PROJECT["project"]["scripts"]
    assert [run(*arguments, *asked).code for asked in ASKED[arguments[0]]] == [0, 1]
