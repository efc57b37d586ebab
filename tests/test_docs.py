"""What the documents promise is what the program does."""

from __future__ import annotations

import doctest
import json
import re
import shlex
import shutil
import subprocess
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from docs.generators import fields, reference, released
from docs.generators.__main__ import GENERATED
from docs.generators.fields import FILES, report_schema
from kubespread.snapshot.live.connection import LISTED
from tests.cli.support import ROOT, run
from tests.tiers import slow_but

DOCUMENTS = [
    "README.md",
    *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md") if path.parent.name != "adr"),
]
NO_COMMANDS = {
    f"docs/{name}.md"
    for name in (
        "licenses",
        "json",
        "library",
        "performance",
        "exactness",
        "codes",
        "install",
        "playground",
        "architecture",
        "operators",
        "assistants",
        "topology-spread",
        "glossary",
        "questions",
        "ci/README",
        "cookbook/README",
        "RELEASING",
        "SECURITY",
        "GOVERNANCE",
        "CODE_OF_CONDUCT",
    )
}
"""They show recipes, Python, numbers, help, counts, findings, what to install, a page to ask in, another program's
settings, rooms, statements, words, screens, contents and the project's own rules.
"""
COMMAND = re.compile(r"^\$ kubespread (?P<arguments>[^|<>&\n]+)$", re.MULTILINE)
RECIPE = re.compile(r"^\$ kubespread (?P<arguments>[^|<>&\n]+) \| jq (?P<filter>.+)$", re.MULTILINE)
JQ = shutil.which("jq")
SCREEN: dict[str, Any] = {"terminal": 80, "rows": 24, "env": {"NO_COLOR": "1"}}
"""The first pages show what people see, the others what is the same anywhere."""
WALKED = ("docs/README.md", "docs/tutorial.md", "docs/concepts.md")
"""What people read first, with the files of docs/tutorial in the folder where they are."""


@pytest.mark.parametrize("name", slow_but(["docs/adr/README.md", "docs/schema/node-groups.json"], GENERATED))
def test_what_is_made_from_the_program_is_up_to_date(name: str) -> None:
    assert (ROOT / name).read_text() == GENERATED[name](), "make docs writes it anew"


@pytest.mark.slow
def test_no_field_of_the_last_release_is_gone_or_of_another_type() -> None:
    """Whoever reads them goes on to: docs/json.md says how long, and what to do first where one has to go."""
    _, *kept = (ROOT / released.FILE).read_text().splitlines()
    today = set(released.of_today())
    assert [field for field in kept if field not in today] == []


@pytest.mark.parametrize("name", FILES)
def test_the_schemas_of_reports_are_schemas(name: str) -> None:
    Draft202012Validator.check_schema(report_schema(FILES[name]))


@pytest.mark.parametrize("name", slow_but(["README.md", "docs/README.md"], DOCUMENTS))
def test_the_commands_shown_run_and_print_what_is_shown(name: str) -> None:
    text = (ROOT / name).read_text()
    shown = [(shlex.split(match["arguments"]), match.end()) for match in COMMAND.finditer(text)]
    assert shown or name in NO_COMMANDS or name.startswith("docs/reference/")
    for arguments, end in shown:
        block = text[end + 1 :].split("```")[0].split("\n$ ")[0].rstrip("\n")
        result = run(
            *arguments,
            cwd=ROOT / "docs/tutorial" if name in WALKED else ROOT,
            **(SCREEN if name in ("README.md", *WALKED) else {}),
        )
        assert result.code in (0, 1), arguments
        if block:
            assert result.out.rstrip("\n") == block, arguments


def test_the_readme_is_read_in_a_few_minutes() -> None:
    text = (ROOT / "README.md").read_text()
    assert (text.count("\n") <= 120, len(COMMAND.findall(text))) == (True, 2)


def anchors(page: Path) -> set[str]:
    """What a link may name on a page: its headings, as GitHub makes anchors of them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
SITE = PROJECT["project"]["urls"]["Homepage"]


def page_of(address: str) -> Path:
    """The file that an address of the project's site shows."""
    file = ROOT / re.sub(r"\.html$", ".md", address.removeprefix(SITE))
    return file / "README.md" if address.endswith("/") else file


@pytest.mark.parametrize(
    "page", sorted((*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"))), ids=lambda page: page.stem
)
def test_links_lead_somewhere(page: Path) -> None:
    prose = re.sub(r"```.*?```", "", page.read_text(), flags=re.DOTALL)
    for link in set(re.findall(rf"\]\(((?!https?:)[^)\s]+|{re.escape(SITE)}[^)\s]*)\)", prose)):
        file, _, anchor = link.partition("#")
        target = page_of(file) if file.startswith(SITE) else page.parent / file if file else page
        assert target.is_file(), link
        assert not anchor or anchor in anchors(target), link


def on_a_package_index() -> str:
    """The readme with the substitutions of the build: it is shown there away from all other files."""
    shown = (ROOT / "README.md").read_text()
    for each in PROJECT["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]["substitutions"]:
        shown = re.sub(each["pattern"], each["replacement"], shown)
    return shown


def test_the_links_of_what_a_package_index_shows_are_absolute() -> None:
    links = re.findall(r"\]\(([^)\s]+)\)", on_a_package_index())
    assert links
    assert [link for link in links if not link.startswith("https://")] == []
    ours = {*PROJECT["project"]["urls"].values(), *(link.partition("#")[0] for link in links if link.startswith(SITE))}
    assert [url for url in ours if url != SITE and not page_of(url).exists()] == []


def test_a_package_index_renders_the_readme() -> None:
    markdown = pytest.importorskip(
        "readme_renderer.markdown", reason="no readme_renderer (make release-check installs it)"
    )
    page = markdown.render(on_a_package_index())
    assert [page.count(f"<{tag}") for tag in ("h1", "img", "table", "pre")] == [1, 1, 2, 4]
    assert "](" not in page


def test_the_site_leads_to_every_document() -> None:
    listed = set(re.findall(r"[\w./-]+\.md$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE))
    assert {*DOCUMENTS} - listed == {"docs/README.md", "docs/licenses.md"}


def test_the_tutorial_s_files_are_where_it_fetches_them() -> None:
    (address, names) = re.findall(rf"{SITE}(\S+){{(\S+)}}", (ROOT / "docs/tutorial.md").read_text())[0]
    assert {f"{name}.yaml" for name in names.split(",")} == {path.name for path in (ROOT / address).iterdir()}


def test_the_cookbook_lists_its_pages_once() -> None:
    folder = ROOT / "docs" / "cookbook"
    listed = re.findall(r"\]\(([\w-]+\.md)\)", (folder / "README.md").read_text())
    assert sorted(listed) == sorted({path.name for path in folder.glob("*.md")} - {"README.md"})


@pytest.mark.parametrize("page", sorted((ROOT / "docs" / "cookbook").glob("[!R]*.md")), ids=lambda page: page.stem)
def test_a_page_of_the_cookbook_begins_with_its_question(page: Path) -> None:
    assert re.match(r"# .+\n\n\*\*[^*]+\?\*\*", page.read_text())


@cache
def printed(arguments: str) -> str:
    """The report that a command prints, which satisfies its schema."""
    out = run(*shlex.split(arguments), cwd=ROOT).out
    report = json.loads(out)
    (own,) = (each for each in FILES.values() if each.__name__ == report["kind"])
    Draft202012Validator(report_schema(own)).validate(report)
    return out


@pytest.mark.slow
@pytest.mark.skipif(JQ is None, reason="no jq (Debian: apt install jq)")
@pytest.mark.parametrize("name", [name for name in DOCUMENTS if RECIPE.search((ROOT / name).read_text())])
def test_the_recipes_for_jq_print_what_is_shown(name: str) -> None:
    text = (ROOT / name).read_text()
    for match in RECIPE.finditer(text):
        block = text[match.end() + 1 :].split("```")[0].split("\n$ ")[0].rstrip("\n")
        answered = subprocess.run(
            [str(JQ), *shlex.split(match["filter"])],
            input=printed(match["arguments"]),
            capture_output=True,
            text=True,
            check=True,
        )
        assert answered.stdout.rstrip("\n") == block, match[0]


def test_the_fields_of_every_report_are_told() -> None:
    page = (ROOT / "docs/json.md").read_text()
    assert all(f"<!-- fields of {report.__name__} -->" in page for report in FILES.values())


def test_every_field_of_a_report_says_what_it_means() -> None:
    told = [fields.fields(report) for report in (*FILES.values(), *fields.parts())]
    assert [field for each in (*told, fields.details()) for field in each if not field.meaning] == []


def test_the_reference_has_a_page_of_every_command() -> None:
    assert {path.stem for path in (ROOT / "docs/reference").iterdir()} == {"README", *reference.COMMANDS}


@pytest.mark.parametrize(("command", "flag"), [("explain", "--help-all"), ("fleet", "--help")])
def test_the_reference_says_what_a_terminal_does(command: str, flag: str) -> None:
    page = (ROOT / f"docs/reference/{command}.md").read_text().removeprefix(f"# kubespread {command}")
    shown = run(command, flag).out.removeprefix("Usage:")
    pages_own = r"[\s:#`\\-]|<br>"
    assert re.sub(pages_own, "", page) == re.sub(pages_own, "", shown)


def test_the_makefile_has_the_targets_the_readme_names() -> None:
    named = re.findall(r"`make (\w+)`", (ROOT / "README.md").read_text())
    assert named
    assert {*named} <= {*re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE)}


def test_the_cluster_role_allows_what_is_read_and_nothing_else() -> None:
    role, _ = yaml.safe_load_all(run("rbac").out)
    *exact, workloads = role["rules"]
    allowed = {(group, resource) for rule in exact for group in rule["apiGroups"] for resource in rule["resources"]}
    assert {tuple(rule["verbs"]) for rule in role["rules"]} == {("list",)}
    read = {(resource.group.partition("/")[0], resource.plural) for resource in LISTED}
    by_name = {(group, plural) for group, plural in read - allowed}
    assert ({plural for _, plural in by_name}, {group for group, _ in by_name}) == (
        set(workloads["resources"]),
        set(workloads["apiGroups"]),
    )
    assert allowed <= read


def test_the_examples_of_the_library_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert doctest.testfile(str(ROOT / "docs" / "library.md"), module_relative=False) == (0, 28)


def test_decisions_are_numbered_one_after_another() -> None:
    decisions = sorted((ROOT / "docs" / "adr").glob("0*.md"))
    numbers = [int(decision.read_text().removeprefix("# ").partition(".")[0]) for decision in decisions]
    assert numbers == [int(decision.name[:4]) for decision in decisions] == list(range(1, len(decisions) + 1))
