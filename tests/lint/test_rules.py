"""Every rule against its fixtures: what it is to find it finds, and nothing else finds anything in what is in order."""

from __future__ import annotations

from pathlib import Path

import pytest

import kubespread
from kubespread.questions.check.rule import AnyRule
from kubespread.questions.check.rules import RULES

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "fixtures" / "lint"
CODES = [rule.code for rule in RULES]
NEEDING = {*(rule.code for rule in RULES if rule.needs_cluster), "KS209", "KS302", "KS304", "KS406"}
"""Whose failing fixture is about the cluster; what files say alone is in test_by_files."""


def found(code: str, manifest: str, *, cluster: bool) -> kubespread.CheckReport:
    """The fixture ``manifest`` of a rule; on its own cluster where it has one, else on three zones of two nodes."""
    own = FIXTURES / code / "cluster.yaml"
    snapshot = kubespread.load(own if own.exists() else FIXTURES / "cluster.yaml") if cluster else None
    return kubespread.check(snapshot, [str(FIXTURES / code / f"{manifest}.yaml")])


@pytest.mark.parametrize("code", CODES)
def test_a_rule_finds_its_failing_fixture_and_passes_the_other(code: str) -> None:
    cluster = code in NEEDING
    assert code in {finding.code for finding in found(code, "bad", cluster=cluster).findings}
    assert [finding.code for finding in found(code, "good", cluster=cluster).findings] == []


@pytest.mark.parametrize("code", CODES)
def test_what_is_in_order_is_so_with_and_without_a_cluster(code: str) -> None:
    for cluster in (False, True):
        assert found(code, "good", cluster=cluster).findings == ()


@pytest.mark.parametrize("rule", RULES, ids=CODES)
def test_a_rule_is_documented(rule: AnyRule) -> None:
    report = rule.report
    assert len(report.summary) <= 100
    assert "\n\n" in report.documentation
    assert "Example" in report.documentation
    assert "Remedy" in report.documentation


def test_codes_and_names_are_unique_and_in_order() -> None:
    assert sorted(set(CODES)) == CODES
    assert len({rule.name for rule in RULES}) == len(RULES)


def test_every_rule_has_a_file_of_fixtures_and_every_folder_a_rule() -> None:
    assert sorted(path.name for path in FIXTURES.iterdir() if path.is_dir()) == CODES
