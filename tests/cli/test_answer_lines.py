"""Every report has its answer in a line of its own, also where there is nothing to tell: below the question where people
read it, beside the rows where programs do. Notes come after it, and are few.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from kubespread.questions.audit import Audit
from kubespread.questions.capacity import Capacity
from kubespread.questions.check import Check
from kubespread.questions.explain.question import Explain
from kubespread.questions.pending import Pending
from kubespread.questions.plan import Plan
from kubespread.questions.question import Question
from kubespread.questions.rebalance import Rebalance
from kubespread.questions.removable import Removable
from kubespread.questions.survive import Survive
from kubespread.questions.upgrade import Upgrade
from tests.builders import Data, hard, hosts
from tests.cli.support import FIXTURES, run
from tests.world.clusters import deployment

POD = str(FIXTURES / "manifests" / "no-constraints.yaml")
NOTHING = {
    "rebalance": ([], "nothing to do: the constraint holds"),
    "pending": ([], "all pods have a node"),
    "audit": ([], "1 workload, nothing found"),
    "report": ([], "2 warnings of 1 workload on 2 nodes"),
    "check": (["--select", "KS001"], "nothing found in 1 workload"),
    "survive": ([], "No: none of 2 zones can be lost. zone a: 1 pod pending"),
    "removable": (["n0"], "n0 can go"),
    "explain": ([POD], "2 of 2 nodes fit: n0, n1"),
    "simulate": ([POD, "--replicas", "0"], "0 of 0"),
    "compare": ([POD, "--uncordon", "n0"], "same: 1 workload and 2 nodes"),
    "capacity": (["--request", "cpu=100"], "0 pods of cpu 100 fit"),
    "plan": (["--cordon", "n0"], "every step done in full; nothing is worse"),
    "verify": ([str(FIXTURES / "promises" / "room.yaml")], "1 of 1 promise holds"),
    "map": ([], "2 nodes: cpu 0%, memory 0%, pods 0% requested"),
}
IN_TEXT = ("table", "markdown")
ZONE = "topology.kubernetes.io/zone"
FORMATS = (*IN_TEXT, "csv")


@pytest.mark.parametrize("command", NOTHING)
def test_the_answer_is_said_in_every_format(command: str, tmp_path: Path) -> None:
    arguments, answer = NOTHING[command]
    cluster = tmp_path / "cluster.json"
    web: list[Data] = deployment(
        "web", ("n0", "n1"), spec={"topologySpreadConstraints": [hard(ZONE, match={"app": "web"})]}
    )
    cluster.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [*hosts("a", "b"), *web]}))
    for name in FORMATS:
        result = run(command, *arguments, "-S", str(cluster), "-o", name)
        said = result.out if name in IN_TEXT else result.err
        assert answer in said.replace("**", ""), name
        assert result.out.strip(), name


AWS = str(FIXTURES / "cases" / "everyday" / "aws12.json.gz")
FEW_KINDS = str(FIXTURES / "cases" / "everyday" / "readme-np.json.gz")
GAPS = [
    "gap: no StatefulSet objects: each StatefulSet is taken to want as many pods as it has",
    "gap: no LimitRange, ResourceQuota objects: pods are created as if there were none",
    "gap: no PersistentVolumeClaim objects: zones, binding and limits of the pod's claims are not evaluated",
]
ASSUMED = (
    "note: kube-scheduler v1.33 is assumed, from the newest kubelet (v1.33.5-eks-113cf36); --kube-version sets another"
)
NEVER = [f"not modeled: {text}" for text in Survive.never_modelled]
NOTES: dict[str, tuple[list[str], int, list[str]]] = {
    "all gaps where they make the answer unknown": ([], 3, [ASSUMED, *GAPS]),
    "all gaps with --strict": (["--strict"], 3, [ASSUMED, *GAPS]),
    "all of them with -v, what its help says too": (["-v"], 3, [ASSUMED, *GAPS, *NEVER]),
    "none with -q": (["-q"], 3, []),
}


def test_notes_on_a_sure_answer_are_one_of_each_kind_and_how_many_more_there_are() -> None:
    checked = run("check", "-A", "-S", FEW_KINDS, "-o", "table")
    assert (checked.code, checked.err.splitlines()[:4]) == (
        1,
        [
            ASSUMED,
            "gap: no LimitRange, PriorityClass, ResourceQuota objects: pods are created as if there were none",
            "gap: no HorizontalPodAutoscaler objects: workloads are taken to keep the replicas that they say",
            "1 more note (-v shows all)",
        ],
    )


@pytest.mark.parametrize("case", NOTES)
def test_notes_are_few_and_stand_below_the_answer(case: str) -> None:
    options, code, notes = NOTES[case]
    result = run("survive", "-A", "--nodes-deleted", "-S", FEW_KINDS, *options, "-o", "table")
    said = [
        line
        for line in result.err.splitlines()
        if line.startswith(("note:", "gap:", "not modeled:")) or "more note" in line
    ]
    assert (result.code, said) == (code, notes)


@pytest.mark.parametrize(
    "question", [Survive, Removable, Pending, Upgrade, Audit, Rebalance, Plan, Capacity, Check, Explain]
)
def test_what_no_answer_of_a_question_models_is_in_its_help(question: type[Question[Any]]) -> None:
    shown = " ".join(run(question.name, "--help-all").out.split())
    assert question.never_modelled
    assert all(text in shown for text in question.never_modelled)


def test_gaps_that_make_an_answer_unknown_are_all_said() -> None:
    for more in ([], ["--strict"]):
        said = run("survive", "-A", "--nodes-deleted", "-S", FEW_KINDS, *more, "-o", "table").err.splitlines()
        assert [line.partition(":")[0] for line in said] == ["note", "gap", "gap", "gap"]


def test_a_terminal_of_few_rows_has_two_gaps_whole_and_the_number_of_the_others() -> None:
    shown = run("survive", "-A", "--nodes-deleted", "-S", FEW_KINDS, terminal=80, rows=24)
    assert (len(shown.out.splitlines()) <= 22, shown.err.splitlines()) == (
        True,
        [*GAPS[:2], "1 more gap, 1 more note: -v"],
    )


def test_what_no_release_does_is_said_however_many_notes_there_are() -> None:
    edits = ("--drain", "ip-10-0-14-72.eu-west-1.compute.internal")
    asked = ("survive", "-A", "--nodes-deleted", "-S", FEW_KINDS, "--kube-version", "1.38", *edits)
    said = run(*asked, "--strict", "-o", "table").err
    assert all(text in said for text in ("Kubernetes 1.38 is not released: ", *GAPS))
    assert "more note" in said


def test_what_an_edit_leads_to_is_said_however_many_notes_there_are() -> None:
    edits = (
        "--scale",
        "shop/deploy/web=40",
        "--scale",
        "shop/deploy/api=24",
        "--cordon",
        "ip-10-0-4-149.eu-west-1.compute.internal",
    )
    again = ("--cordon", "ip-10-0-4-149.eu-west-1.compute.internal")
    said = run("pending", "-A", "-S", AWS, *edits, *again, "-o", "table").err
    assert all(
        text in said
        for text in (
            "27 pods not created (shop/Deployment/web)",
            "18 pods not created (shop/Deployment/api)",
            "changes nothing",
            "more notes",
        )
    )


def test_a_report_on_a_terminal_is_colored_as_terminals_read_it() -> None:
    shown = run("report", "-n", "shop", "-S", AWS, "-q", env={"FORCE_COLOR": "1"}, terminal=80).out
    assert "  \x1b[31mcritical\x1b[0m" in shown
    assert set(re.findall(r"\x1b\[([^m]*)m", shown)) <= {"0", "1", "2", "31", "32", "33"}
