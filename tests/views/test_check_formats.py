"""Findings in the formats that other programs read, each as strict as its readers are."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from jsonschema import Draft202012Validator

import kubespread
from kubespread import CheckReport
from kubespread.questions.check import CheckFinding, Remedy, Severity
from kubespread.views.findings import file_uri, github, junit, sarif
from kubespread.views.look import Look
from tests.builders import remade

ROOT = Path(__file__).parents[2]
SARIF = Draft202012Validator(
    json.loads((Path(__file__).parent / "schemas" / "sarif-2.1.0-subset.json").read_text()),
    format_checker=Draft202012Validator.FORMAT_CHECKER,
)
# The elements of junit-10.xsd that are written: attributes, those of them that are required, and children.
JUNIT: dict[str, tuple[set[str], set[str], set[str]]] = {
    "testsuites": ({"name", "time", "tests", "failures", "errors"}, set(), {"testsuite"}),
    "testsuite": (
        {"name", "tests", "failures", "errors", "time", "skipped", "timestamp", "file"},
        {"name", "tests", "failures", "errors"},
        {"testcase"},
    ),
    "testcase": ({"name", "time", "classname", "group"}, {"name"}, {"failure", "system-out"}),
    "failure": ({"type", "message"}, set(), set()),
    "system-out": (set(), set(), set()),
}
HOSTILE = 'a:b,c%\n::error::"<x>&|`\x1b[31m]]>'
LOOK = Look()


def finding(severity: Severity = Severity.ERROR, **fields: Any) -> CheckFinding:
    told: dict[str, Any] = {
        "code": "KS101",
        "rule": "ghost-pods",
        "level": severity,
        "subject": "shop/Deployment/web",
        "file": "k8s/web.yaml",
        "line": 15,
        "column": 9,
        "field": "spec.template.spec.topologySpreadConstraints[0]",
        "text": "it spreads nothing",
        "proven": False,
        "remedy": Remedy(text="select app=web", outcome="6 of 6 replicas fit"),
        "fingerprint": "0" * 32,
    }
    return CheckFinding(**{**told, **fields})


def report(*findings: CheckFinding) -> CheckReport:
    return CheckReport(
        kube_version="1.36",
        files=1,
        workloads=1,
        asked=("KS101",),
        not_asked=(),
        findings=findings,
        rules=tuple(rule for rule in kubespread.rules() if rule.code in {each.code for each in findings}),
    )


REPORTS: dict[str, CheckReport] = {
    "nothing": report(),
    "one of each severity": report(*map(finding, Severity)),
    "a file that cannot be read": report(finding(subject="", line=None, column=None, field="")),
    "a workload of the cluster": report(finding(file=None, line=None, column=None)),
    "hostile text": report(
        finding(subject=HOSTILE, file=HOSTILE, field=HOSTILE, text=HOSTILE, remedy=Remedy(text=HOSTILE))
    ),
}
ALL_FIXTURES = "all fixtures"
NAMES = [*REPORTS, ALL_FIXTURES]


@cache
def of_all_fixtures() -> CheckReport:
    lint = ROOT / "fixtures" / "lint"
    return kubespread.check(
        kubespread.load(lint / "cluster.yaml"), [str(path) for path in sorted(lint.glob("*/bad.yaml"))]
    )


@pytest.fixture(params=NAMES)
def told(request: pytest.FixtureRequest) -> CheckReport:
    """A report as its name says; that of all fixtures takes a second, and is made where it is asked for."""
    return of_all_fixtures() if request.param == ALL_FIXTURES else REPORTS[request.param]


def test_sarif_is_valid(told: CheckReport) -> None:
    document = json.loads(sarif(told, LOOK))
    SARIF.validate(document)
    (run,) = document["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert [rules[result["ruleIndex"]] for result in run["results"]] == [each.code for each in told.findings]


def test_each_rule_in_sarif_names_its_heading_on_the_site() -> None:
    """Where the site's documents come from is said in test_docs."""
    (run,) = json.loads(sarif(of_all_fixtures(), LOOK))["runs"]
    driver = run["tool"]["driver"]
    headings = re.findall(r"^## (.+)$", (ROOT / "docs" / "codes.md").read_text(), re.MULTILINE)
    anchors = {heading.lower().replace(" ", "-") for heading in headings}
    named = [rule["helpUri"].partition("#") for rule in driver["rules"]]
    assert {(page, anchor in anchors) for page, _, anchor in named} == {
        (f"{driver['informationUri']}docs/codes.html", True)
    }


def test_junit_is_valid(told: CheckReport) -> None:
    root = ElementTree.fromstring(junit(told, LOOK))
    assert root.tag == "testsuites"
    for element in root.iter():
        attributes, required, children = JUNIT[element.tag]
        assert required <= element.attrib.keys() <= attributes
        assert {child.tag for child in element} <= children
    for suite in root:
        assert int(suite.attrib["tests"]) == len(suite)
        assert int(suite.attrib["failures"]) == len(suite.findall("testcase/failure"))


@pytest.mark.parametrize(("bar", "failures"), [(Severity.ERROR, 1), (Severity.WARNING, 2), (Severity.INFO, 3)])
def test_junit_has_failures_only_where_the_exit_code_says_no(bar: Severity, failures: int) -> None:
    told = remade(report(*map(finding, Severity)), fail_on=bar)
    root = ElementTree.fromstring(junit(told, LOOK))
    assert [element.attrib["failures"] for element in (root, *root)] == [str(failures)] * 2
    kinds = [failure.attrib["type"] for failure in root.iter("failure")]
    assert kinds == [*Severity][:failures]
    assert len(root.findall("testsuite/testcase/system-out")) == 3 - failures


def test_github_escapes_what_would_end_a_property_or_a_line() -> None:
    assert github(report(finding()), LOOK) == (
        "::error file=k8s/web.yaml,line=15,col=9,title=KS101 ghost-pods::shop/Deployment/web: it spreads nothing. "
        "Remedy: select app=web (6 of 6 replicas fit)\n"
    )
    escaped = github(REPORTS["hostile text"], LOOK)
    assert escaped.count("\n") == 1
    assert 'file=a%3Ab%2Cc%25%0A%3A%3Aerror%3A%3A"<x>&|`\\x1b[31m]]>,' in escaped
    assert "::a:b,c%25%0A::error::" in escaped


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("k8s/web.yaml", "k8s/web.yaml"),
        ("./k8s//a b.yaml", "k8s/a%20b.yaml"),
        ("/tmp/x#1.yaml", "file:///tmp/x%231.yaml"),
        ("a:b.yaml", "a%3Ab.yaml"),
    ],
)
def test_files_are_uri_references(path: str, expected: str) -> None:
    assert file_uri(path) == expected
