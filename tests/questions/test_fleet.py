"""One question asked of many clusters: each answers as if it were the only one."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kubespread
from kubespread import Snapshot, UsageError
from kubespread.questions import scene, tasks
from kubespread.questions.audit import Audit
from kubespread.questions.capacity import Capacity
from kubespread.questions.explain.question import Explain
from kubespread.questions.fleet import FleetReport
from kubespread.questions.pending import Pending
from kubespread.questions.question import Question, reports_in
from kubespread.questions.simulate import Simulate
from kubespread.questions.survive import Survive
from kubespread.reports.parts import ClusterReference
from kubespread.snapshot.save import save
from tests.builders import hard, hosts, pod, pods_on
from tests.cli.support import FIXTURES
from tests.property.workloads_on_nodes import clusters, snapshot_of

ZONE = "topology.kubernetes.io/zone"
EVEN = [*hosts("a", "b"), *pods_on({"n0": 1, "n1": 1})]
VIOLATED = [*hosts("a", "b"), *(pod(f"web-{number}", "n0", constraints=[hard(ZONE)]) for number in range(3))]
ONE_ZONE = [*hosts("a", "b"), *pods_on({"n0": 2})]
WAITING = [*hosts("a"), pod("web", requests={"cpu": "99"})]


@dataclass(frozen=True)
class Case:
    clusters: dict[str, list[Any] | str]
    """Objects, or the text of a file that is none."""
    question: Question[Any]
    rows: list[tuple[str, str, str, str]]
    """Name, verdict, whether it passes, and the answer or why there is none."""
    answer: str
    passes: str


CASES = {
    "all are fine": Case(
        {"eu": EVEN, "us": EVEN},
        Audit(),
        [("eu", "yes", "yes", "1 workload, nothing found"), ("us", "yes", "yes", "1 workload, nothing found")],
        "2 clusters: 2 yes",
        "yes",
    ),
    "the violated one comes first": Case(
        {"eu": EVEN, "us": VIOLATED},
        Audit(),
        [("us", "no", "no", "1 violated, 0 fine of 1 workload"), ("eu", "yes", "yes", "1 workload, nothing found")],
        "2 clusters: 1 no, 1 yes",
        "no",
    ),
    "equal answers are in the order of their names": Case(
        {"us": ONE_ZONE, "eu": VIOLATED},
        Audit(fail_on="risk"),
        [("eu", "no", "no", "1 violated, 0 fine of 1 workload"), ("us", "no", "no", "1 at risk, 0 fine of 1 workload")],
        "2 clusters: 2 no",
        "no",
    ),
    "an answer may be no and pass": Case(
        {"eu": ONE_ZONE}, Audit(), [("eu", "no", "yes", "1 at risk, 0 fine of 1 workload")], "1 cluster: 1 no", "yes"
    ),
    "unless that is required": Case(
        {"eu": ONE_ZONE},
        Audit(fail_on="risk"),
        [("eu", "no", "no", "1 at risk, 0 fine of 1 workload")],
        "1 cluster: 1 no",
        "no",
    ),
    "what cannot be read is a row": Case(
        {"eu": EVEN, "us": "{"},
        Audit(),
        [
            ("us", "unknown", "unknown", "FOLDER/us.json:1: JSON syntax: Input data was truncated"),
            ("eu", "yes", "yes", "1 workload, nothing found"),
        ],
        "2 clusters: 1 without an answer, 1 yes",
        "unknown",
    ),
    "a no counts more than what cannot be read": Case(
        {"ap": "{", "eu": EVEN, "us": VIOLATED},
        Audit(),
        [
            ("us", "no", "no", "1 violated, 0 fine of 1 workload"),
            ("ap", "unknown", "unknown", "FOLDER/ap.json:1: JSON syntax: Input data was truncated"),
            ("eu", "yes", "yes", "1 workload, nothing found"),
        ],
        "3 clusters: 1 no, 1 without an answer, 1 yes",
        "no",
    ),
    "what one cluster does not have is a row": Case(
        {"eu": [*hosts("a"), pod("web", "n0")], "us": hosts("a")},
        Explain(pods=("pod/web",)),
        [
            (
                "us",
                "unknown",
                "unknown",
                'pods "web" not found in namespace default; no Pod was read at all, only nodes',
            ),
            ("eu", "yes", "yes", "1 of 1 node fits: n0"),
        ],
        "2 clusters: 1 without an answer, 1 yes",
        "unknown",
    ),
    "requirements are those of the question": Case(
        {"eu": EVEN, "us": WAITING},
        Survive(keys=(ZONE,), fail_on=("any",)),
        [
            ("eu", "no", "no", "none of 2 zones can be lost. zone a: 1 pod lost for good (Pod/n0-0)"),
            ("us", "unknown", "yes", "not known for Pod/web: none of its pods is ready before anything is lost"),
        ],
        "2 clusters: 1 no, 1 unknown",
        "no",
    ),
}


def asked(case: Case, folder: Path) -> FleetReport:
    for name, content in case.clusters.items():
        if isinstance(content, str):
            (folder / f"{name}.json").write_text(content)
        else:
            save(Snapshot.from_objects(content), str(folder / f"{name}.json"))
    return kubespread.fleet([folder / "*.json"], case.question)


@pytest.mark.parametrize("case", CASES)
def test_each_cluster_has_a_row_the_worst_first(case: str, tmp_path: Path) -> None:
    expected = CASES[case]
    report = asked(expected, tmp_path)
    rows = [
        (Path(row.name).stem, row.verdict, row.passes, (row.error or row.headline).replace(str(tmp_path), "FOLDER"))
        for row in report.clusters
    ]
    assert (rows, report.answer, report.passes) == (expected.rows, (expected.answer,), expected.passes)


def test_a_question_that_all_refuse_in_the_same_words_is_at_fault(tmp_path: Path) -> None:
    case = Case({"eu": hosts("a"), "us": hosts("a")}, Explain(pods=("pod/web",)), [], "", "")
    with pytest.raises(UsageError, match='pods "web" not found'):
        asked(case, tmp_path)


def test_no_clusters_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no file matches '.*/\*\.gz'"):
        kubespread.fleet([tmp_path / "*.gz"], Audit())
    with pytest.raises(UsageError, match="a fleet without clusters"):
        kubespread.fleet([], Audit())


def test_what_is_said_beside_answers_names_those_that_it_is_about() -> None:
    """Of a cluster without an answer nothing is said."""
    told, silent = snapshot_of(EVEN), Snapshot.from_objects(hosts("a", "b"))
    report = kubespread.fleet([told, silent, silent], Audit())
    alone = kubespread.audit(told)
    assert (report.gaps, report.not_modelled, report.notes) == (alone.gaps, alone.not_modelled, alone.notes)
    both = kubespread.fleet([told, silent], Capacity())
    common = {*kubespread.capacity(told).gaps} & {*kubespread.capacity(silent).gaps}
    assert {gap for gap in both.gaps if not gap.startswith("cluster ")} == common


QUESTIONS = st.sampled_from(
    [
        Audit(),
        Audit(fail_on="risk"),
        Pending(),
        Survive(keys=(ZONE,)),
        Capacity(),
        Explain(pods=("deploy/web",), fix=True),
        Simulate(pods=("deploy/web",), namespace="default"),
    ]
)


@settings(max_examples=6, deadline=None)
@given(objects=st.lists(clusters(), min_size=1, max_size=3), question=QUESTIONS)
def test_each_cluster_answers_as_if_it_were_the_only_one(objects: list[list[Any]], question: Question[Any]) -> None:
    snapshots = [snapshot_of(each) for each in objects]
    rows = {row.name: row for row in kubespread.fleet(snapshots, question).clusters}
    for number, snapshot in enumerate(snapshots, 1):
        alone = kubespread.ask(snapshot, question)
        reports = [report for _, report in reports_in(alone)]
        row = rows[f"cluster {number}"]
        assert (list(row.reports), row.error) == (reports, None)
        assert row.verdict in {report.verdict for report in reports}
        assert row.headline.endswith(next(report.answer[0] for report in reports if report.verdict == row.verdict))


def test_the_answer_is_the_same_for_any_number_of_jobs() -> None:
    files = [FIXTURES / "clusters" / "*-zone*.yaml", FIXTURES / "manifests" / "two-constraints.yaml"]
    one, four = (kubespread.fleet(files, Audit(), jobs=jobs) for jobs in (1, 4))
    assert one == four
    assert [row.cluster for row in one.clusters if row.error is not None] == [None]


@settings(max_examples=4, deadline=None)
@given(objects=st.lists(clusters(), min_size=1, max_size=3), ticks=st.integers(0, 4))
def test_in_time_rows_are_those_of_the_full_answer_and_it_never_says_yes(objects: list[list[Any]], ticks: int) -> None:
    snapshots = [snapshot_of(each) for each in objects]
    full, start, looks = kubespread.fleet(snapshots, Audit()), monotonic(), count()
    with pytest.MonkeyPatch.context() as patch:
        for module in (tasks, scene):
            patch.setattr(module, "monotonic", lambda: start + 1000.0 * next(looks))
        part = kubespread.fleet(snapshots, Audit(), timeout=1000.0 * (ticks + 0.5))
    assert {row.name: row for row in part.clusters}.items() <= {row.name: row for row in full.clusters}.items()
    if part.unfinished is None:
        assert part == full
        return
    names = [f"cluster {number}" for number in range(1, len(snapshots) + 1)]
    assert [*part.unfinished.missing] == names[len(part.clusters) :]
    assert part.passes == ("no" if any(row.passes == "no" for row in part.clusters) else "unknown")
    assert part.verdict in ("no", "unknown")


def test_a_snapshot_is_told_by_its_file() -> None:
    path = FIXTURES / "clusters" / "audit.yaml"
    (row,) = kubespread.fleet([kubespread.load(path)], Audit()).clusters
    assert (row.name, row.cluster) == (str(path), ClusterReference(snapshot=str(path)))
