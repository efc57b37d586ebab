"""``kubespread check --diff``: the patch is applied by git, and what it mends is not found any more."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import FIXTURES, environment, run
from tests.tiers import slow_but

LINT = FIXTURES / "lint"
CLUSTER = LINT / "cluster.yaml"
MENDED = [
    "KS101",
    "KS102",
    "KS103",
    "KS104",
    "KS105",
    "KS201",
    "KS203",
    "KS204",
    "KS207",
    "KS208",
    "KS209",
    "KS302",
    "KS401",
    "KS403",
    "KS404",
    "KS405",
    "KS406",
    "KS503",
    "KS505",
]
"""The rules whose example is mended by a patch; of the others the remedy is no change of the object, or only an info."""


def applied(directory: Path, patch: str) -> None:
    done = subprocess.run(
        ["git", "apply", "-"],
        cwd=directory,
        env=environment(GIT_CEILING_DIRECTORIES="/"),
        input=patch,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, (done.stderr, patch)


def patch_of(*asked: Any, cwd: Path, stdin: bytes | None = None) -> str:
    patch: str = json.loads(run("check", *asked, "--diff", "-q", "-o", "json", stdin=stdin, cwd=cwd).out)["patch"]
    return patch


def codes(directory: Path, *asked: str) -> list[str]:
    done = run("check", *asked, "-q", "-o", "json", cwd=directory)
    return [finding["code"] for finding in json.loads(done.out)["findings"]]


def on(code: str) -> tuple[str, ...]:
    """The cluster that a rule's example is tried on."""
    if code in ("KS104", "KS105"):
        return ()
    own = LINT / code / "cluster.yaml"
    return ("-S", str(own if own.exists() else CLUSTER))


CODES = sorted(path.name for path in LINT.iterdir() if path.is_dir())


@pytest.mark.parametrize("code", slow_but(CODES[::9], CODES))
def test_the_remedy_of_each_rule_is_applied_by_git_and_mends(code: str, tmp_path: Path) -> None:
    asked = ("bad.yaml", *on(code), "--select", code)
    (tmp_path / "bad.yaml").write_text((LINT / code / "bad.yaml").read_text())
    patch = patch_of(*asked, cwd=tmp_path)
    if code not in MENDED:
        assert re.fullmatch(r"(# .*\n)+", patch), patch
        return
    assert codes(tmp_path, *asked) != []
    applied(tmp_path, patch)
    assert codes(tmp_path, *asked) == []


GHOST = (LINT / "KS101" / "bad.yaml").read_text()
KEY = (LINT / "KS105" / "bad.yaml").read_text()
API, DB = (KEY.replace("name: web", f"name: {name}", 1).replace("app: web", f"app: {name}") for name in ("api", "db"))
BOTH = GHOST.replace("topology.kubernetes.io/zone", "topology.kubernetes.io/zones")


def as_json(text: str) -> str:
    import yaml

    return json.dumps({"apiVersion": "v1", "kind": "List", "items": [yaml.safe_load(text)]}, indent=2) + "\n"


APPLIED: dict[str, dict[str, str]] = {
    "two faults of one constraint": {"a.yaml": BOTH},
    "several workloads of one file, and several files": {"a.yaml": f"{GHOST}---\n{API}", "b/c.yaml": DB},
    "JSON in many lines, and in one": {"a.json": as_json(BOTH), "b.json": json.dumps(json.loads(as_json(API)))},
    "a file without a last line break": {"a.yaml": GHOST.rstrip("\n")},
    "a name with a blank": {"a b.yaml": GHOST},
    "comments, and a list in block style": {
        "a.yaml": GHOST.replace("      - maxSkew: 1\n", "      # Even.\n      - maxSkew: 1 # At most.\n").replace(
            "        labelSelector: {matchLabels: {app: wbe}}\n",
            "        labelSelector:  # whose\n          matchLabels:\n            app: wbe  # typed\n",
        )
    },
    "a selector that is not there, in the middle of a list": {
        "a.yaml": GHOST.partition("        labelSelector")[0] + "      terminationGracePeriodSeconds: 5\n"
    },
}


@pytest.mark.parametrize("case", APPLIED)
def test_all_remedies_of_a_directory_are_one_patch(case: str, tmp_path: Path) -> None:
    for name, text in APPLIED[case].items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    patch = patch_of(".", "-R", cwd=tmp_path)
    assert [line for line in patch.splitlines() if line.startswith("#")] == []
    applied(tmp_path, patch)
    assert codes(tmp_path, ".", "-R") == []
    again = run("check", ".", "-R", "--diff", "-q", "-o", "json", "--fail-on", "warning", cwd=tmp_path)
    assert (again.code, json.loads(again.out)["patch"]) == (0, "")


SELECTOR = "labelSelector: {matchLabels: {app: wbe}}"
SKEW = "maxSkew: 1\n        topologyKey: topology.kubernetes.io/zone\n        whenUnsatisfiable: DoNotSchedule"
FIRST, LAST = (
    f"      topologySpreadConstraints:\n      - {one}\n        {other}\n"
    for one, other in ((SELECTOR, SKEW), (SKEW, SELECTOR))
)
HEAD = GHOST.partition("      containers:")[0]
BLOCK = """\
      containers:
      - image: x
        name: web
        env:
        - {name: USER, value: hunter2}
        - name: PASSWORD
          value: |
            hunter2

            hunter2
"""
BESIDE: dict[str, tuple[str, bool]] = {
    "variables above": (HEAD + BLOCK + FIRST, True),
    "variables below": (
        HEAD
        + LAST
        + BLOCK.replace("        env:", "      - env:").replace("      - image: x\n        name: web\n", "")
        + "        image: x\n        name: web\n",
        True,
    ),
    "variables of one line below": (
        HEAD
        + LAST
        + "      containers:\n      - env: [{name: A, value: hunter2}]\n        name: web\n        image: x\n",
        True,
    ),
    "JSON of many lines": (as_json(HEAD + BLOCK + FIRST), True),
    "JSON of one line": (f"{json.dumps(json.loads(as_json(HEAD + BLOCK + FIRST)))}\n", False),
    "a container of one line below": (
        HEAD + LAST + "      containers: [{name: web, image: x, env: [{name: A, value: hunter2}]}]\n",
        False,
    ),
}


@pytest.mark.parametrize("case", BESIDE)
def test_a_patch_shows_no_environment(case: str, tmp_path: Path) -> None:
    text, is_patched = BESIDE[case]
    (tmp_path / "a.yaml").write_text(text)
    patch = patch_of("a.yaml", "--select", "KS101", cwd=tmp_path)
    assert "hunter2" not in patch
    if is_patched:
        applied(tmp_path, patch)
        assert codes(tmp_path, "a.yaml", "--select", "KS101") == []
    else:
        assert patch.startswith("# a.yaml: not patched: ")


def test_what_is_not_changed_keeps_its_text(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(APPLIED["comments, and a list in block style"]["a.yaml"])
    patch = patch_of("a.yaml", cwd=tmp_path)
    assert [line for line in patch.splitlines()[2:] if line[0] in "+-"] == [
        "-            app: wbe  # typed",
        "+            app: web  # typed",
    ]


def test_a_patch_of_a_subdirectory_is_applied_there(tmp_path: Path) -> None:
    (tmp_path / "k8s").mkdir()
    (tmp_path / "k8s" / "a.yaml").write_text(GHOST)
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    patch = patch_of(tmp_path / "k8s" / "a.yaml", cwd=tmp_path / "k8s")
    assert patch.startswith("--- a/a.yaml\n+++ b/a.yaml\n")
    applied(tmp_path / "k8s", patch)
    assert codes(tmp_path / "k8s", "a.yaml") == []


def comments(directory: Path, *asked: str) -> list[str]:
    """What is said of remedies that are in no patch: the reason of each."""
    lines = [line for line in patch_of(*asked, cwd=directory).splitlines() if line.startswith("# ")]
    return [line[line.rindex(" (") + 2 : -1] for line in lines]


def test_a_remedy_that_is_in_no_patch_says_why(tmp_path: Path) -> None:
    shop = ("deploy/cache", "--select", "KS503", "-S", str(FIXTURES / "clusters" / "audit.yaml"))
    assert comments(tmp_path, *shop) == ["not in a file"]
    (tmp_path / "crlf.yaml").write_bytes(GHOST.replace("\n", "\r\n").encode())
    unlike = "not a file of plain text with lines that end with LF"
    assert comments(tmp_path, "crlf.yaml") == [unlike]
    piped = patch_of("-", cwd=tmp_path, stdin=GHOST.encode())
    assert piped.endswith(f"({unlike})\n")
    (tmp_path / "a.yaml").write_text(GHOST)
    (tmp_path / "below").mkdir()
    outside = comments(tmp_path / "below", "../a.yaml")
    assert outside == ["outside of the working directory, where no patch reaches"]
    constraint = KEY[KEY.index("      - maxSkew") :].replace("DoNotSchedule", "ScheduleAnyway")
    anchored = KEY.replace("topologyKey: ", "topologyKey: &key ") + re.sub("(topologyKey: ).*", r"\1*key", constraint)
    (tmp_path / "anchored.yaml").write_text(anchored)
    assert comments(tmp_path, "anchored.yaml") == ["the text is written in a way that is not changed line by line"] * 2


def test_of_two_remedies_of_one_field_the_second_is_for_another_check(tmp_path: Path) -> None:
    both = GHOST.replace("{app: wbe}", "{app: web}").replace("[pod-template-hash]", "[tiers, tracks]")
    (tmp_path / "a.yaml").write_text(
        both.replace("metadata: {labels: {app: web}}", "metadata: {labels: {app: web, tier: a, track: b}}")
    )
    assert comments(tmp_path, "a.yaml") == ["it changes what a remedy above changes: apply that, and check again"]
    for left in (["KS403"], []):
        applied(tmp_path, patch_of("a.yaml", cwd=tmp_path))
        assert codes(tmp_path, "a.yaml") == left


def test_what_gets_all_replicas_a_node_waits_for_the_other_remedies(tmp_path: Path) -> None:
    """A key of no node, and on it too few open zones: with the key alone, KS203 says what is left."""
    (tmp_path / "a.yaml").write_text(KEY)
    on_cluster = ("a.yaml", "-S", str(LINT / "KS203" / "cluster.yaml"))
    assert codes(tmp_path, *on_cluster) == ["KS209", "KS201"]
    assert comments(tmp_path, *on_cluster) == [
        "it was searched for without the remedies above: apply these, and check again"
    ]
    for left in (["KS203"], []):
        applied(tmp_path, patch_of(*on_cluster, cwd=tmp_path))
        assert codes(tmp_path, *on_cluster) == left


def test_edits_of_the_cluster_are_comments(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text((LINT / "KS209" / "good.yaml").read_text())
    cordons = [word for name in ("a1", "a2", "b1", "b2", "c1", "c2") for word in ("--cordon", name)]
    said = comments(tmp_path, "a.yaml", "-S", str(CLUSTER), *cordons, "--select", "KS209")
    assert [reason.partition(":")[0] for reason in said] == ["in the cluster"]


def test_the_report_has_the_patch_where_it_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(GHOST)

    def report(*more: str) -> dict[str, Any]:
        read: dict[str, Any] = json.loads(run("check", "a.yaml", "-q", "-o", "json", *more, cwd=tmp_path).out)
        return read

    assert report()["patch"] is None
    assert report("--diff")["patch"] == patch_of("a.yaml", cwd=tmp_path)
    (finding,) = report()["findings"]
    field = "spec.template.spec.topologySpreadConstraints[0].labelSelector"
    assert finding["remedy"]["fields"] == {field: {"matchLabels": {"app": "web"}}}
    refused = run("check", "a.yaml", "--diff", "-o", "csv", cwd=tmp_path)
    assert refused.err == "error: --diff and -o csv do not go together: it is for json, yaml\n"
