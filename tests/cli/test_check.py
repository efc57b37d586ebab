"""``kubespread check``: exit codes, streams and schemas."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from kubespread.snapshot.snapshot import LIST_COMMAND
from tests.cli.support import FIXTURES, ROOT, run

LINT = FIXTURES / "lint"
SCHEMA = Draft202012Validator(json.loads((ROOT / "docs" / "schema" / "check-report.json").read_text()))
GHOST, GOOD = str(LINT / "KS101" / "bad.yaml"), str(LINT / "KS101" / "good.yaml")
KEY = str(LINT / "KS105" / "bad.yaml")
CLUSTER = str(LINT / "cluster.yaml")
CASES = FIXTURES / "cases"

CODES: dict[str, tuple[list[str], int, str]] = {
    "an error": ([GHOST], 1, ""),
    "nothing": ([GOOD, "-S", CLUSTER], 0, ""),
    "a warning, where only errors fail": ([KEY], 0, ""),
    "a warning, where warnings fail": ([KEY, "--fail-on", "warning"], 1, ""),
    "an error that is left out": ([GHOST, "--ignore", "KS1"], 0, ""),
    "a file that cannot be read is a finding": ([str(LINT / "KS001" / "bad.yaml")], 1, ""),
    "a file that is not there is not": (["missing.yaml"], 2, "error: missing.yaml: No such file or directory\n"),
    "a code that is none": ([GHOST, "--select", "KS777"], 2, "error: no rule 'KS777'; docs/codes.md has them all\n"),
    "an edit without a cluster": (
        [GHOST, "--cordon", "a1"],
        2,
        "error: --cordon is for a cluster: name one with -S, --context or --live\n",
    ),
    "all namespaces of a manifest": (
        [GHOST, "-A"],
        2,
        "error: MANIFEST and -A/--all-namespaces do not go together: both say which workloads are meant\n",
    ),
    "a dump of nodes alone": (
        ["-S", CLUSTER],
        3,
        f"error: {CLUSTER}: no Pod objects and no workloads; list them with: {LIST_COMMAND}\n",
    ),
    "a file without a workload": (
        [str(CASES / "adversarial" / "pairs" / "cm.yaml")],
        2,
        f"error: nothing to check: {CASES / 'adversarial' / 'pairs' / 'cm.yaml'} holds no Pod or workload\n",
    ),
    "a file of comments": (
        [str(CASES / "adversarial" / "pairs" / "onlycomments.yaml"), "-S", CLUSTER],
        2,
        f"error: nothing to check: {CASES / 'adversarial' / 'pairs' / 'onlycomments.yaml'} holds no Pod or workload\n",
    ),
    "a scheduler that is not known": (
        [str(CASES / "adversarial" / "pairs" / "ks203.yaml"), "-S", str(LINT / "KS203" / "cluster.yaml")],
        1,
        "",
    ),
    "a workload that is not there": (
        ["deploy/nope", "-S", str(FIXTURES / "clusters" / "audit.yaml")],
        2,
        'error: deployments.apps "nope" not found in namespace default; there are api, cache, web\n',
    ),
}


@pytest.mark.parametrize("case", CODES)
def test_exit_codes(case: str) -> None:
    arguments, code, err = CODES[case]
    result = run("check", *arguments, "-q", "-o", "json") if code < 2 else run("check", *arguments)
    assert (result.code, result.err) == (code, err)
    if code < 2:
        SCHEMA.validate(json.loads(result.out))


def test_an_edit_of_the_cluster_is_made_before() -> None:
    on = ("-S", CLUSTER, "-q", "-o", "json", "--fail-on", "warning")
    assert run("check", GOOD, *on).code == 0
    edited = run("check", GOOD, *on, "--taint", "c1=dedicated=gpu:NoSchedule", "--taint", "c2=dedicated=gpu:NoSchedule")
    (finding,) = json.loads(edited.out)["findings"]
    assert (edited.code, finding["code"], finding["proven"]) == (1, "KS203", True)


def test_notes_say_what_was_not_asked_and_what_was_found() -> None:
    result = run("check", KEY, "-o", "csv")
    said = result.err.splitlines()
    assert said[0].endswith("rules not asked: they need a cluster (-S FILE)")
    assert said[-1] == "1 warning in 1 workload"


def test_manifests_are_read_from_standard_input() -> None:
    result = run("check", "-q", "-", stdin=Path(GHOST).read_bytes())
    assert result.out.splitlines()[1].startswith("<stdin>:16:9")


def test_what_is_piped_in_is_checked_on_the_cluster_that_is_named() -> None:
    on = ("-S", CASES / "everyday" / "aws12.json.gz", "-n", "payments", "-q", "-o", "json")
    piped = run("check", *on, stdin=(CASES / "everyday" / "bad" / "06-typo-label.yaml").read_bytes())
    assert (piped.code, [each["code"] for each in json.loads(piped.out)["findings"]]) == (1, ["KS101"])
    empty = run("check", *on, stdin=b"# nothing\n")
    assert (empty.code, empty.err) == (2, "error: nothing to check: <stdin> holds no Pod or workload\n")
    own = run("check", *on)
    assert (own.code, json.loads(own.out)["files"]) == (1, 0)
    everywhere = run("check", "-A", *on[:2], "-q", "-o", "json", "--select", "KS101", stdin=b"# nothing\n")
    assert json.loads(everywhere.out)["files"] == 0


def test_in_github_actions_annotations_are_the_default() -> None:
    result = run("check", GHOST, "-q", env={"GITHUB_ACTIONS": "true"})
    assert result.out.startswith(f"::error file={GHOST},line=16,col=9,title=KS101 ghost-pods::default/Deployment/web: ")
    assert run("check", GHOST, "-q", "-o", "csv", env={"GITHUB_ACTIONS": "true"}).out.startswith("file,")


def test_rules_are_explained() -> None:
    assert run("check", "--explain", "KS101").out == run("check", "--explain", "ghost-pods").out
    assert run("check", "--explain", "KS101").out.startswith("## KS101 ghost-pods\n\n*error, needs no cluster*\n\n")
    assert run("check", "--explain", "KS777").code == 2


def test_what_is_in_the_cluster_is_mended_with_kubectl_and_a_manifest_is_edited() -> None:
    cluster = str(FIXTURES / "clusters" / "stuck.yaml")
    asked = ("--select", "KS203", "-S", cluster, "-q", "-o", "json")
    (stored,) = json.loads(run("check", "deploy/api", "-n", "shop", *asked).out)["findings"]
    patch = '[{"op":"add","path":"/spec/template/spec/topologySpreadConstraints/0/nodeTaintsPolicy","value":"Honor"}]'
    assert stored["remedy"]["commands"] == [f"kubectl patch deployments.apps api -n shop --type=json -p '{patch}'"]
    written = run("check", KEY, "-S", CLUSTER, "-q", "-o", "json")
    assert {tuple(each["remedy"]["commands"]) for each in json.loads(written.out)["findings"]} == {()}
