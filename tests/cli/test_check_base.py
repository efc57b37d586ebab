"""``kubespread check --base``: what manifests have in an earlier commit of their repository is not new."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import FIXTURES, environment, run

LINT = FIXTURES / "lint"
GHOST, GOOD, KEY = ((LINT / name).read_text() for name in ("KS101/bad.yaml", "KS101/good.yaml", "KS105/bad.yaml"))
CLOSED, CLUSTER = (LINT / "KS203" / "bad.yaml").read_text(), str(LINT / "KS203" / "cluster.yaml")
API = KEY.replace("name: web", "name: api")
Files = Mapping[str, str]


class Repository:
    """A git repository whose branch main has one commit, and whose branch change is checked out."""

    def __init__(self, root: Path, before: Files) -> None:
        self.root = root
        self.git("init", "-q", "-b", "main")
        self.commit(before)
        self.git("checkout", "-q", "-b", "change")

    def git(self, *arguments: str) -> str:
        identity = ["-c", "user.name=n", "-c", "user.email=n@example.com", "-c", "commit.gpgsign=false"]
        done = subprocess.run(
            ["git", *identity, *arguments],
            cwd=self.root,
            env=environment(GIT_CONFIG_NOSYSTEM="1"),
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    def write(self, files: Files) -> None:
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def commit(self, files: Files) -> None:
        self.write(files)
        self.git("add", "--all")
        self.git("commit", "-q", "--allow-empty", "-m", "what changed")

    def check(self, *arguments: str, code: int) -> dict[str, Any]:
        done = run("check", *arguments, "-q", "-o", "json", cwd=self.root)
        assert (done.code, done.err) == (code, "")
        report: dict[str, Any] = json.loads(done.out)
        return report


New = list[tuple[str, str]]
CASES: dict[str, tuple[Files, Files, str, int, New, str]] = {
    "what moved in its file, and what moved to another file, is not new": (
        {"k8s/a.yaml": GHOST, "k8s/b.yaml": API},
        {"k8s/a.yaml": f"# moved\n{API}", "k8s/b.yaml": GHOST},
        "k8s",
        0,
        [],
        "nothing new found in 2 workloads, 2 in main already",
    ),
    "a new workload's findings are": (
        {"k8s/a.yaml": GHOST},
        {"k8s/b.yaml": API},
        "k8s --fail-on warning",
        1,
        [("KS105", "k8s/b.yaml")],
        "1 warning in 2 workloads, 1 in main already",
    ),
    "a fault that is mended is not told": (
        {"k8s/a.yaml": GHOST},
        {"k8s/a.yaml": GOOD},
        "k8s",
        0,
        [],
        "nothing new found in 1 workload",
    ),
    "a finding that became worse is new": (
        {"a.yaml": CLOSED.replace("replicas: 6", "replicas: 2")},
        {"a.yaml": CLOSED},
        f"a.yaml -S {CLUSTER} --select KS203",
        1,
        [("KS203", "a.yaml")],
        "1 error in 1 workload",
    ),
    "one that became less bad is not": (
        {"a.yaml": CLOSED},
        {"a.yaml": CLOSED.replace("replicas: 6", "replicas: 2")},
        f"a.yaml -S {CLUSTER} --select KS203",
        0,
        [],
        "nothing new found in 1 workload, 1 in main already",
    ),
    "a file that could not be read before either is not": (
        {"k8s/a.yaml": "kind: ["},
        {"k8s/a.yaml": "kind: {"},
        "k8s",
        0,
        [],
        "nothing new found in 0 workloads, 1 in main already",
    ),
    "nor where it is named by itself, below the working directory": (
        {"k8s/a.yaml": "kind: ["},
        {"k8s/a.yaml": "kind: {", "k8s/b.yaml": GHOST},
        "./k8s/../k8s/a.yaml k8s/b.yaml",
        1,
        [("KS101", "k8s/b.yaml")],
        "1 error in 1 workload, 1 in main already",
    ),
    "a directory that the base does not have is new, without a word": (
        {"README": "nothing"},
        {"k8s/a.yaml": GHOST},
        "k8s",
        1,
        [("KS101", "k8s/a.yaml")],
        "1 error in 1 workload",
    ),
    "without -R, what lies below a directory in the base does not count": (
        {"k8s/a.yaml": GOOD, "k8s/deep/a.yaml": GHOST},
        {"k8s/b.yaml": GHOST.replace("name: web", "name: api", 1)},
        "k8s",
        1,
        [("KS101", "k8s/b.yaml")],
        "1 error in 2 workloads",
    ),
    "with -R, the whole repository": (
        {"k8s/deep/a.yaml": GHOST},
        {"k8s/b.yaml": API},
        ". -R",
        0,
        [("KS105", "k8s/b.yaml")],
        "1 warning in 2 workloads, 1 in main already",
    ),
    "rules that are not asked are not asked of the base either": (
        {"a.yaml": GHOST},
        {"b.yaml": API},
        ". --select KS105",
        0,
        [("KS105", "b.yaml")],
        "1 warning in 2 workloads",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_findings_that_the_base_has_too_are_left_out(case: str, tmp_path: Path) -> None:
    before, after, arguments, code, new, answer = CASES[case]
    repository = Repository(tmp_path, before)
    base = repository.git("rev-parse", "main")
    repository.commit(after)
    report = repository.check(*arguments.split(), "--base", "main", code=code)
    found = [(finding["code"], finding["file"]) for finding in report["findings"]]
    assert (found, report["answer"][0]) == (new, answer)
    assert (report["base"], report["baseCommit"]) == ("main", base)
    assert report["notes"] == []


def test_a_finding_that_the_change_makes_worse_is_new(tmp_path: Path) -> None:
    manifest = (LINT / "KS209" / "bad.yaml").read_text()
    repository = Repository(tmp_path, {"web.yaml": manifest})
    asked = ("web.yaml", "-S", str(LINT / "cluster.yaml"), "--select", "KS209", "--base", "main")
    assert repository.check(*asked, code=0)["findings"] == []
    repository.write({"web.yaml": manifest.replace("replicas: 3", "replicas: 30")})
    assert [finding["code"] for finding in repository.check(*asked, code=1)["findings"]] == ["KS209"]


def test_what_is_not_committed_yet_is_checked_too(tmp_path: Path) -> None:
    repository = Repository(tmp_path, {"a.yaml": GHOST})
    repository.write({"b.yaml": API})
    assert [finding["file"] for finding in repository.check(".", "--base", "HEAD", code=0)["findings"]] == ["b.yaml"]


def test_what_the_base_got_since_is_not_ours(tmp_path: Path) -> None:
    """Compared is where the branch left it: a fault that was mended there since is not new here."""
    repository = Repository(tmp_path, {"a.yaml": GHOST})
    left = repository.git("rev-parse", "main")
    repository.commit({"b.yaml": API})
    repository.git("checkout", "-q", "main")
    repository.commit({"a.yaml": GOOD})
    repository.git("checkout", "-q", "change")
    report = repository.check(".", "--base", "main", code=0)
    assert (report["baseCommit"], [finding["file"] for finding in report["findings"]]) == (left, ["b.yaml"])


def test_a_revision_without_a_common_commit_is_compared_itself(tmp_path: Path) -> None:
    repository = Repository(tmp_path, {"a.yaml": GHOST})
    repository.git("checkout", "-q", "--orphan", "other")
    repository.commit({"a.yaml": GHOST, "README": "another beginning"})
    report = repository.check(".", "--base", "main", code=0)
    assert report["notes"] == ["HEAD and main have no commit in common here: compared with main itself"]


def test_where_the_base_has_nothing_to_check_all_is_new_and_that_is_said(tmp_path: Path) -> None:
    repository = Repository(tmp_path, {"k8s/deep/a.yaml": GHOST})
    repository.commit({"k8s/a.yaml": GHOST})
    report = repository.check("k8s", "--base", "main", code=1)
    files = "k8s: no .yaml, .yml, .json files in this directory; -R also looks below it"
    assert (len(report["findings"]), report["notes"]) == (1, [f"all findings are new; in main: {files}"])


def test_links_are_not_followed_in_the_base(tmp_path: Path) -> None:
    (tmp_path / "secret.yaml").write_text(GHOST)
    root = tmp_path / "repository"
    root.mkdir()
    (root / "k8s").mkdir()
    (root / "k8s" / "link.yaml").symlink_to(tmp_path / "secret.yaml")
    repository = Repository(root, {"k8s/a.yaml": API})
    repository.commit({"k8s/link.yaml.txt": ""})
    report = repository.check("k8s", "--base", "main", code=1)
    assert [finding["code"] for finding in report["findings"]] == ["KS101"]


def test_nothing_that_the_repository_configures_is_run(tmp_path: Path) -> None:
    repository = Repository(tmp_path, {"a.yaml": GHOST, ".gitattributes": "*.yaml filter=f diff=f\n"})
    touch = f"touch {tmp_path / 'owned'}"
    for setting in (
        "core.fsmonitor",
        "filter.f.smudge",
        "filter.f.process",
        "diff.f.textconv",
        "core.pager",
        "alias.ls-tree",
    ):
        repository.git("config", setting, touch)
    assert repository.check("a.yaml", "--base", "main", code=0)["findings"] == []
    assert not (tmp_path / "owned").exists()


REFUSED: dict[str, tuple[str, str]] = {
    "a revision that is none": ("a.yaml --base nope", "--base nope: no such commit in {root}"),
    "a revision that looks like an option": ("a.yaml --base=--all", "--base --all: no such commit in {root}"),
    "a file of another repository": (
        f"a.yaml {LINT / 'KS101' / 'bad.yaml'} --base main",
        f"--base main: {LINT / 'KS101' / 'bad.yaml'} is not in the git repository {{root}}",
    ),
    "a workload of the cluster": (
        f"-A -S {FIXTURES / 'clusters' / 'shop.yaml'} --base main",
        "--base main compares files of a git repository: name files and directories",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_has_no_base_is_said_in_one_line(case: str, tmp_path: Path) -> None:
    arguments, message = REFUSED[case]
    repository = Repository(tmp_path, {"a.yaml": GHOST})
    done = run("check", *arguments.split(), cwd=repository.root)
    assert (done.code, done.out, done.err) == (2, "", f"error: {message.format(root=tmp_path)}\n")


def test_a_shallow_clone_says_that_the_base_is_missing(tmp_path: Path) -> None:
    (tmp_path / "whole").mkdir()
    whole = Repository(tmp_path / "whole", {"a.yaml": GHOST})
    base = whole.git("rev-parse", "main")
    whole.commit({"b.yaml": API})
    whole.git("clone", "-q", "--depth=1", "-b", "change", whole.root.as_uri(), str(tmp_path / "shallow"))
    asked = ("check", ".", "--base", base)
    done = run(*asked, cwd=tmp_path / "shallow")
    hint = "a shallow clone has only the newest commits: fetch this one too"
    assert (done.code, done.err) == (2, f"error: --base {base}: no such commit in {tmp_path / 'shallow'}; {hint}\n")


OUTSIDE: dict[str, Callable[[Path], dict[str, str]]] = {
    "no repository at all": lambda _: {"GIT_CEILING_DIRECTORIES": "/"},
    "no git": lambda path: {"PATH": str(path)},
}


@pytest.mark.parametrize("case", OUTSIDE)
def test_outside_of_a_repository_one_line_says_so(case: str, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(GHOST)
    done = run("check", "a.yaml", "--base", "main", cwd=tmp_path, env=OUTSIDE[case](tmp_path))
    assert (done.code, done.out, done.err.startswith("error: --base"), done.err.count("\n")) == (2, "", True, 1)
