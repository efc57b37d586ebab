"""How a question's fields become options: what is the same for all that are asked on the command line."""

from __future__ import annotations

from typing import Any

import pytest

import kubespread
from kubespread import Snapshot, UsageError
from kubespread.questions.survive import Survive
from tests.cli.support import FIXTURES, run

FLEET = str(FIXTURES / "clusters" / "fleet.yaml")
DRAINS: dict[str, tuple[list[str], str, tuple[bool, bool, bool]]] = {
    "a question that drains sets them as managed pools do, and its edits drain so": (
        ["upgrade", "zone=b"],
        "drain a1",
        (True, True, False),
    ),
    "another sets the same": (["removable"], "drain a1", (True, True, False)),
    "what is set is set for both": (
        ["removable", "--force", "--no-delete-emptydir-data"],
        "drain a1 --no-delete-emptydir-data --force",
        (True, False, True),
    ),
}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Snapshot, Any]]:
    """What is asked; it is answered as ever."""
    found: list[tuple[Snapshot, Any]] = []
    ask = kubespread.ask

    def noted(snapshot: Snapshot, question: Any, *others: Any, **more: Any) -> Any:
        found.append((snapshot, question))
        return ask(snapshot, question, *others, **more)

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
    "nodes that nobody names": (["upgrade"], "Missing argument 'NODES'. (see 'kubespread upgrade --help')"),
    "a number that is none": (
        ["explain", "deploy/web", "--fix", "--replicas", "many"],
        "invalid --replicas 'many': expected a number from 0",
    ),
    "a name of nothing": (["map", "--name", "web"], "name and set are for a workload: name one, or leave them out"),
}


def test_a_question_of_manifests_is_asked_of_none_but_the_cluster_that_is_named(
    asked: list[tuple[Snapshot, Any]],
) -> None:
    manifest = str(FIXTURES / "lint" / "KS101" / "good.yaml")
    assert run("check", manifest, "-q").code == 0
    assert run("check", manifest, "-S", FLEET, "-q").code == 0
    assert [(cluster is None, question.namespace) for cluster, question in asked] == [(True, None), (False, None)]


def test_what_ends_is_said_before_anything_is_read() -> None:
    listed = run("check", "--explain", "KS101")
    assert (listed.code, listed.err) == (0, "")
    assert run("check", "--explain", "KS101", env={"KUBESPREAD_SNAPSHOT": "absent.json"}) == listed


def test_a_question_about_a_cluster_says_that_it_needs_one() -> None:
    with pytest.raises(UsageError, match="^no cluster is given, and this question is about one$"):
        kubespread.ask(None, Survive())


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_with_a_question_is_said_before_a_cluster_is_read(case: str) -> None:
    words, said = WRONG[case]
    result = run(*words, "--kubeconfig", "/nonexistent")
    assert (result.code, result.err) == (2, f"error: {said}\n")
