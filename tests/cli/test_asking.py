"""How a question's fields become options: what is the same for all that are asked on the command line."""

from __future__ import annotations

from typing import Any

import pytest

import kubespread
from kubespread import Snapshot
from tests.cli.support import FIXTURES, run

FLEET = str(FIXTURES / "clusters" / "fleet.yaml")
DRAINS: dict[str, tuple[list[str], str, tuple[bool, bool, bool]]] = {
    "a question that drains sets them as managed pools do, and its edits drain so": (
        ["upgrade", "zone=b"], "drain a1 --ignore-daemonsets --delete-emptydir-data", (True, True, False),
    ),
    "another so that nothing is lost": (["removable"], "drain a1 --ignore-daemonsets", (True, False, False)),
    "what is set is set for both": (
        ["removable", "--force", "--delete-emptydir-data"],
        "drain a1 --ignore-daemonsets --delete-emptydir-data --force", (True, True, True),
    ),
}  # fmt: skip


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Snapshot, Any]]:
    """What is asked; it is answered as ever."""
    found: list[tuple[Snapshot, Any]] = []
    ask = kubespread.ask

    def noted(snapshot: Snapshot, question: Any, *others: Any) -> Any:
        found.append((snapshot, question))
        return ask(snapshot, question, *others)

    monkeypatch.setattr(kubespread, "ask", noted, raising=False)
    return found


@pytest.mark.parametrize("case", DRAINS)
def test_flags_of_a_question_that_drains_are_those_of_its_edits_too(
    case: str, asked: list[tuple[Snapshot, Any]]
) -> None:
    words, edit, flags = DRAINS[case]
    assert run(*words, "--drain", "a1", "-S", FLEET, "-q").code in (0, 1)
    ((snapshot, question),) = asked
    assert [str(each) for each in snapshot.edits] == [edit]
    assert (question.ignore_daemonsets, question.delete_emptydir_data, question.force) == flags


WRONG: dict[str, tuple[list[str], str]] = {
    "nodes that nobody names": (
        ["upgrade"], "name the nodes to replace once, by name or labels: kubespread upgrade pool=a",
    ),
    "a number that is none": (["advise", "deploy/web", "--replicas", "many"], "invalid --replicas 'many': expected a number from 0"),
    "a map of nobody's skew": (["map", "--by", "skew", "-o", "table"], "--by skew shows how pods are spread: name their WORKLOAD"),
    "a manifest that is not there": (["capacity", "-f", "absent.yaml"], "absent.yaml: No such file or directory"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_with_a_question_is_said_before_a_cluster_is_read(case: str) -> None:
    words, said = WRONG[case]
    result = run(*words, "--kubeconfig", "/nonexistent")
    assert (result.code, result.err) == (2, f"error: {said}\n")
