"""Many clusters on one command line: which are asked, what is printed, how it ends."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from tests.cli.support import FIXTURES, ROOT, Result, run

CLUSTERS = FIXTURES / "clusters"
SCHEMA = Draft202012Validator(json.loads((ROOT / "docs" / "schema" / "fleet-report.json").read_text()))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A fleet: one violated, one at risk, one fine, and one file that broke off."""
    for name, file in {"ap": "after-zone-outage", "eu": "small-zone-of-200-nodes", "us": "web-in-three-zones"}.items():
        (tmp_path / f"{name}.yaml").write_bytes((CLUSTERS / f"{file}.yaml").read_bytes())
    (tmp_path / "za.json").write_text("{")
    return tmp_path


def asked(folder: Path, line: str, **environment: str) -> Result:
    return run("fleet", *shlex.split(line), cwd=folder, env={"XDG_CACHE_HOME": str(folder / "cache"), **environment})


@dataclass(frozen=True)
class Case:
    line: str
    code: int
    out: str
    err: str = ""


CASES = {
    "all are fine": Case(
        "-S us.yaml audit -A -q -o csv",
        0,
        'cluster,verdict,passes,nodes,pods,answer\nus.yaml,yes,yes,6,6,"1 workload, nothing found"\n',
    ),
    "one is violated, and one cannot be read": Case(
        "-S '*.*' audit -A -q -o csv",
        1,
        "cluster,verdict,passes,nodes,pods,answer\n"
        'ap.yaml,no,no,6,13,"Deployment/web: zone skew 7 exceeds maxSkew 1 (7/3/0): placed afresh it would be 3/3/4, '
        'so a scale-down, a rollout, lost nodes or the like left it"\n'
        "za.json,unknown,unknown,,,za.json:1: JSON syntax: Input data was truncated\n"
        'eu.yaml,no,yes,200,1,"Pod/agent: one pod, in zone b, and a second one would be elsewhere"\n'
        'us.yaml,yes,yes,6,6,"1 workload, nothing found"\n',
    ),
    "one cannot be read": Case("-S 'us.*' -S 'za.*' audit -A -q -o name", 3, "za.json\n"),
    "one is at risk, which passes": Case("-S 'eu.*' audit -A -q -o name", 0, "eu.yaml\n"),
    "one is at risk, which is asked for": Case(
        "-S 'eu.*' -S 'us.*' audit -A -q -o name --fail-on risk",
        1,
        "eu.yaml\n",
        "requirement not met: eu.yaml: --fail-on risk: 1 workload at this level or above\n",
    ),
    "an edit is made in each": Case("-S 'us.*' pending -A -q -o name --scale deploy/web=90", 1, "us.yaml\n"),
    "no file matches": Case("-S 'x*' audit", 2, "", "error: no file matches 'x*'\n"),
    "no cluster is named": Case(
        "audit -A", 2, "", "error: which clusters? Name files before the question: fleet/*.json.gz\n"
    ),
    "a question that is unknown": Case(
        "-S '*' xyz", 2, "", "error: No such command 'xyz'. (see 'kubespread fleet --help')\n"
    ),
    "files that a shell has found": Case("ap.yaml eu.yaml us.yaml audit -q -o name", 1, "ap.yaml\neu.yaml\n"),
    "a pattern without quotes": Case("-S ap.yaml eu.yaml us.yaml audit -q -o name", 1, "ap.yaml\neu.yaml\n"),
    "a pattern without -S": Case("'[eu]*.yaml' audit -q -o name", 0, "eu.yaml\n"),
    "a file that does not exist": Case("us.yaml eu.json audit", 2, "", "error: no file matches 'eu.json'\n"),
    "a question that is mistyped": Case(
        "us.yaml audt", 2, "", "error: No such command 'audt'. Did you mean 'audit'? (see 'kubespread fleet --help')\n"
    ),
    "there is time for none": Case(
        "-S '*.yaml' audit -A -q -o csv --timeout 0.001ms",
        3,
        "cluster,verdict,passes,nodes,pods,answer\n",
        "not finished within 1µs: none of 3 clusters done\n",
    ),
    "there is time for all, and one cannot be read": Case(
        "-S 'us.*' -S 'za.*' audit -A -q -o name --timeout 9m", 3, "za.json\n"
    ),
    "there is time for a question without parts too": Case(
        "-S 'us.*' compare deploy/web --set cpu=99 -n default -q -o name --timeout 9m", 1, "us.yaml\n"
    ),
    "a manifest that does not exist": Case(
        "-S '*.yaml' explain web.yaml", 2, "", "error: web.yaml: No such file or directory\n"
    ),
    "what is about no cluster": Case(
        "-S '*.yaml' check --explain KS101",
        2,
        "",
        "error: No such option: --explain (Possible options: --drain, --taint) (see 'kubespread fleet check --help')\n",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_printed_and_how_it_ends(case: str, folder: Path) -> None:
    expected = CASES[case]
    assert asked(folder, expected.line) == (expected.code, expected.out, expected.err)


def test_a_terminal_leaves_out_what_names_share_and_most_that_are_fine(folder: Path) -> None:
    for number in range(30):
        (folder / f"us-{number:02}.yaml").write_bytes((folder / "us.yaml").read_bytes())
    asked = ("fleet", "-S", f"{folder}/[ue]*.yaml", "audit", "-A", "-q")
    answer, title, header, worst, *fine, hidden = run(
        *asked, env={"NO_COLOR": "1"}, terminal=200, rows=24
    ).out.splitlines()
    assert title.split("      ") == ["audit of 32 clusters", str(folder)]
    assert (header.split(), worst.split()[:3], len(fine)) == (
        ["CLUSTER", "VERDICT", "PASSES", "NODES", "PODS", "ANSWER"],
        ["eu.yaml", "no", "yes"],
        17,
    )
    assert (hidden, answer) == ("… and 14 more clusters: -v", "32 clusters: 1 no, 31 yes")


def test_json_has_each_report_as_the_question_alone_prints_it(folder: Path) -> None:
    report = json.loads(asked(folder, "-S '*.*' audit -A -q -o json").out)
    SCHEMA.validate(report)
    for row in report["clusters"]:
        alone = run("audit", "-A", "-S", row["name"], "-q", "-o", "json", cwd=folder)
        assert row["reports"] == ([] if row["error"] else [{**json.loads(alone.out), "provenance": None}])
        assert row["passes"] == {0: "yes", 1: "no", 3: "unknown"}[alone.code]


def test_what_can_be_read_only_once_is_read_for_all(folder: Path) -> None:
    manifest = (FIXTURES / "manifests" / "one-constraint.yaml").read_bytes()
    piped = run("fleet", "-S", "[ue]*.yaml", "explain", "-q", "-o", "csv", cwd=folder, stdin=manifest)
    (folder / "pod.yaml").write_bytes(manifest)
    named = run("fleet", "-S", "[ue]*.yaml", "explain", "pod.yaml", "-q", "-o", "csv", cwd=folder)
    assert piped == named
    assert named.out.count("\n") == 3


def test_both_sides_of_a_comparison_are_each_clusters_own(folder: Path) -> None:
    line = "-S '[au]*.yaml' compare -A --set cpu=99 -q -o csv"
    one, two = asked(folder, f"{line} --jobs 1"), asked(folder, f"{line} --jobs 2")
    assert one == two
    assert one.code == 1
    assert one.out.count("\n") == 3


@pytest.mark.parametrize("question", ["audit", "explain", "compare", "check", "upgrade"])
def test_help_of_a_fleets_question_has_its_own_options_and_no_clusters(question: str) -> None:
    shown = run("fleet", question, "--help", env={"COLUMNS": "80"}).out
    assert shown.count("\n") <= 60
    options = shown.partition("\nOptions:")[2]
    assert "--snapshot" not in options
    assert "--context" not in options
