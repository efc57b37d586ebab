"""An answer that ends before all of its parts are asked: what is there is as in the full one, and it never says yes."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from itertools import count
from time import monotonic
from typing import Any

import msgspec
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import kubespread
from kubespread import UsageError, deadline
from kubespread.kube.owners import WorkloadName
from kubespread.questions import scene, tasks
from kubespread.questions.removable import NodeRemoval, RemovableReport
from kubespread.questions.report import ReportLine
from kubespread.questions.survive import Survive
from kubespread.reports.parts import QuestionReport, Unfinished
from tests.builders import Data, remade
from tests.cli.support import FIXTURES, run
from tests.property.workloads_on_nodes import clusters, snapshot_of
from tests.questions.test_tasks import ASKED, doubled

SHOP = FIXTURES / "clusters" / "shop.yaml"
_TICK = 1000.0


def in_time(ask: Callable[..., Any], ticks: int, *args: Any, modules: Any = (tasks, scene), **how: Any) -> Any:
    """The answer where each look at the clock by one of these takes a tick, and the time is up after so many."""
    start, looks = monotonic(), count()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scene, "_TO_CONCLUDE", 1e18)
        for module in modules:
            patch.setattr(module, "monotonic", lambda: start + _TICK * next(looks))
        return ask(*args, timeout=_TICK * (ticks + 0.5), **how)


def restricted(full: Any, part: Any) -> Any:
    """The full report without the parts that are missing in the other one, which gaps and notes may be about."""
    left = set(part.unfinished.missing)
    kept: dict[str, Any] = {"unfinished": part.unfinished, "gaps": part.gaps, "notes": part.notes}
    match full:
        case kubespread.SurviveReport():
            kept["losses"] = full.losses[: part.unfinished.finished]
        case kubespread.AuditReport():
            kept |= {"workloads": tuple(row for row in full.workloads if row.workload not in left)}
            kept["made_room"] = part.made_room
        case kubespread.Scorecard():
            kept |= {"lines": tuple(line for line in full.lines if not asked_by(line) & left)}
            kept |= {"workloads": part.workloads}
            assert part.workloads == (0 if "audit" in left else full.workloads)
        case kubespread.VerifyReport():
            assert len(part.clauses) <= len(full.clauses) - len(left)
            kept |= {"clauses": part.clauses, "not_modelled": part.not_modelled}
        case kubespread.CheckReport():
            kept |= {"findings": tuple(finding for finding in full.findings if finding.subject not in left)}
            kept |= {"workloads": part.workloads, "ignored": part.ignored, "rules": part.rules}
    return remade(full, **kept)


def asked_by(line: ReportLine) -> set[str]:
    """What a report's line is from: a question, or a part of the report itself."""
    if line.question == "report":
        return {"scaling" if line.area == "scaling" else "drains"}
    return {line.question}


def as_alone(full: RemovableReport, part: RemovableReport) -> RemovableReport:
    """With what the other report says of nodes that go together: there are fewer of them."""
    said = {row.name: row for row in part.rows}
    asked = len(said) == len(full.rows)
    assert part.unfinished is not None
    assert asked == {*part.unfinished.missing}.issubset(said)
    assert len(part.unfinished.missing) == (part.together.untried if asked else len(full.rows) - len(said))

    def merged(row: NodeRemoval) -> NodeRemoval:
        return msgspec.structs.replace(row, place=said[row.name].place, stays=said[row.name].stays)

    rows = {row.name: merged(row) for row in full.rows if row.name in said}
    return remade(
        full,
        rows=tuple(rows[row.name] for row in part.rows),
        together=part.together,
        unfinished=part.unfinished,
        gaps=part.gaps,
        notes=part.notes,
    )


def before_the_rest_was_tried(full: kubespread.PlanReport, part: kubespread.PlanReport) -> Any:
    """With fewer remedies: those of the changes that were tried."""
    assert part.unfinished is not None
    # Of a plan the first is shown with which nothing is left to do, and that may be one of the others.
    assert part.remedies == full.remedies[: len(part.remedies)] or part.remedies[0].left
    assert part.unfinished.finished <= len(part.tried) <= len(full.tried)
    return remade(
        full, remedies=part.remedies, tried=part.tried, unfinished=part.unfinished, gaps=part.gaps, notes=part.notes
    )


RESTRICTED: dict[type[QuestionReport], Callable[[Any, Any], Any]] = {kubespread.RemovableReport: as_alone}


@pytest.mark.parametrize("question", ASKED)
@settings(max_examples=4, deadline=None, phases=[Phase.generate])
@given(objects=clusters(), ticks=st.integers(0, 7))
def test_an_answer_in_time_is_the_full_one_without_what_is_missing(
    question: str, objects: list[Data], ticks: int
) -> None:
    check_in_time(question, objects, ticks, (tasks, scene))


@pytest.mark.parametrize("question", ASKED)
@settings(max_examples=4, deadline=None, phases=[Phase.generate])
@given(objects=clusters(), ticks=st.integers(0, 11).map(lambda power: 2**power))
def test_an_answer_that_ends_in_the_middle_of_a_part_is_the_full_one_without_it(
    question: str, objects: list[Data], ticks: int
) -> None:
    check_in_time(question, objects, ticks, (tasks, scene, deadline))


def check_in_time(question: str, objects: list[Data], ticks: int, modules: Any) -> None:
    snapshot, ask = snapshot_of(objects), ASKED[question]
    full, part = ask(snapshot), in_time(ask, ticks, snapshot, modules=modules)
    if part.unfinished is None:
        assert part == full
        return
    if isinstance(part, kubespread.PlanReport) and part.unfinished.what == "run":
        fewer = ask(snapshot, runs=part.unfinished.finished)
        assert isinstance(fewer, kubespread.PlanReport)
        # Changes are tried once all is played.
        untried: dict[str, Any] = {"remedies": (), "tried": ()}
        assert part == remade(fewer, unfinished=part.unfinished, question=part.question, **untried)
    elif isinstance(part, kubespread.PlanReport):
        assert isinstance(full, kubespread.PlanReport)
        assert part == before_the_rest_was_tried(full, part)
    else:
        assert part == RESTRICTED.get(type(part), restricted)(full, part)
    assert part.verdict == "unknown" or (part.verdict, full.verdict) == ("no", "no")
    assert part.unfinished.timeout == kubespread_duration(_TICK * (ticks + 0.5))


def kubespread_duration(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h{minutes}m{rest}s" if hours else f"{minutes}m{rest}s"


class _Told(QuestionReport, frozen=True, kw_only=True):
    is_bad: bool
    statements: tuple[str, ...] = ("three zones are fine", "one is small")

    def judge(self) -> Any:
        return "no" if self.is_bad else "yes"

    def sentences(self) -> Any:
        yield from self.statements


MISSING = Unfinished(timeout="1m0s", what="zone", finished=3, missing=("d", "e", "f", "g"))
NOTHING = Unfinished(timeout="1m0s", what="zone", finished=0, missing=("d",))
LEFT = "not finished within 1m0s: 3 of 7 zones done, not d, e, f and 1 more"


@pytest.mark.parametrize(
    ("is_bad", "unfinished", "verdict", "answer"),
    [
        pytest.param(False, None, "yes", ("three zones are fine", "one is small"), id="all parts and a yes"),
        pytest.param(
            False, MISSING, "unknown", (LEFT, "so far: three zones are fine", "one is small"), id="a yes so far"
        ),
        pytest.param(True, MISSING, "no", ("so far: three zones are fine", LEFT, "one is small"), id="a no stays a no"),
        pytest.param(
            False, NOTHING, "unknown", ("not finished within 1m0s: none of 1 zone done",), id="nothing is known"
        ),
    ],
)
def test_a_report_with_a_part_missing_never_says_yes(
    is_bad: bool, unfinished: Unfinished | None, verdict: str, answer: tuple[str, ...]
) -> None:
    report = _Told(is_bad=is_bad, unfinished=unfinished).conclude()
    assert (report.verdict, report.answer) == (verdict, answer)


def test_workers_are_handed_nothing_once_the_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    start, looks = monotonic(), count()
    monkeypatch.setattr(tasks, "monotonic", lambda: start + _TICK * next(looks))
    make = partial(_Same.build, None, None)
    results = tasks.Workers(2).results(work := _Same(), make, range(50), 0.0, start + _TICK * 25)
    done = list(results)
    assert done == [*range(len(done))]
    assert 0 < len(done) < 25
    assert work.assumed == {}
    monkeypatch.undo()
    assert doubled(2, 1, 2, 3) == doubled(1, 1, 2, 3)


class _Same:
    """Gives back what it is given."""

    assumed: dict[str, None] = {}

    @classmethod
    def build(cls, _question: object, _scene: object) -> _Same:
        return cls()

    def __call__(self, item: int) -> int:
        return item


@pytest.mark.parametrize(
    ("options", "code"),
    [
        pytest.param(["survive", "-A", "--key", "hostname"], 3, id="a question without a no"),
        pytest.param(["survive", "-A", "--fail-on", "any"], 3, id="a requirement nobody knows whether it is met"),
        pytest.param(["removable"], 3, id="nodes"),
        pytest.param(["audit", "-A"], 3, id="workloads"),
        pytest.param(["report", "-A"], 3, id="questions"),
        pytest.param(["verify", str(FIXTURES / "promises" / "room.yaml")], 3, id="promises"),
        pytest.param(["check", "-A"], 3, id="workloads checked"),
    ],
)
def test_the_command_says_what_is_missing_and_exits_with_3(options: list[str], code: int) -> None:
    done = run(*options, "--timeout", "0.001ms", "-S", SHOP)
    assert done.code == code
    assert re.search(r"^not finished within 1µs: none of \d+ \w+ done$", done.err, re.MULTILINE)


@pytest.mark.parametrize("form", ["junit", "sarif", "name", "prometheus", "json"])
def test_formats_without_sentences_leave_it_to_standard_error(form: str) -> None:
    question = "check" if form in ("junit", "sarif") else "audit"
    done = run(question, "-A", "--timeout", "0.001ms", "-S", SHOP, "-o", form, "-q")
    assert done.code == 3
    assert form == "json" or done.err == "not finished within 1µs: none of 2 workloads done\n"
    if form in ("junit", "sarif", "json"):
        assert "not finished within 1µs: none of 2 workloads done" in done.out


@pytest.mark.parametrize(
    ("timeout", "is_one"),
    [("60s", True), ("1m30s", True), ("90", True), ("0", True), ("soon", False), ("-1s", False), ("1d", False)],
)
def test_a_timeout_is_written_as_for_kubectl(timeout: str, is_one: bool) -> None:
    done = run("audit", "-A", f"--timeout={timeout}", "-S", SHOP, "-q", "-o", "name")
    assert (done.code == 2, "invalid duration" in done.err) == (not is_one, not is_one)


def test_a_timeout_that_is_over_already_is_an_error() -> None:
    with pytest.raises(UsageError, match="timeout must be more than 0 seconds, not 0"):
        kubespread.audit(kubespread.load(SHOP), timeout=0)


def test_each_part_is_told() -> None:
    told: list[tuple[int, int]] = []
    question = Survive(keys=("zone",))
    kubespread.ask(
        kubespread.load(FIXTURES / "clusters" / "audit.yaml"), question, on_progress=lambda *far: told.append(far)
    )
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_names_of_workloads_are_texts_in_json() -> None:
    missing = Unfinished(
        timeout="1s", what="workload", finished=0, missing=(str(WorkloadName("Deployment", "shop", "web")),)
    )
    assert missing.to_dict()["missing"] == ["shop/Deployment/web"]
