"""Workloads that come back when all their pods are deleted at once: a what-if is its event, and a row a try."""

from collections.abc import Iterator
from functools import partial

from kubespread.kube.api.core import Pod
from kubespread.questions.question import Question
from kubespread.questions.scene import Scene
from kubespread.reports.outcome import Outcome, sentences, verdict_of
from kubespread.reports.parts import Judgment, ScheduledReport
from kubespread.views.outcomes import metrics, tone
from kubespread.views.sheet import Sheet, columns_of
from kubespread.views.view import View, shared_fields
from kubespread.world.events.world import World
from kubespread.world.reporting.happenings import workload_of
from kubespread.world.reporting.outcomes import outcome_of


class RestartReport(ScheduledReport, frozen=True, kw_only=True):
    kind: str = "RestartReport"
    rows: tuple[Outcome, ...]

    def judge(self) -> Judgment:
        return verdict_of([each for row in self.rows for each in row.troubles])

    def sentences(self) -> Iterator[str]:
        yield f"{sum(not row.troubles for row in self.rows):,} of {len(self.rows):,} come back"
        yield from sentences(self.rows, lambda rows: f"deleting {rows[0].name}")


class Restart(Question[RestartReport], frozen=True, kw_only=True):
    """Delete all pods of each workload at once, and show which do not come back."""

    name, summary, outputs = "restart", "Delete all pods of each workload.", {"prometheus": ""}
    yes, no = "all come back", "some do not"

    def answer(self, scene: Scene) -> RestartReport:
        (baseline, notes), pods = scene.baseline(), dict[str, list[Pod]]()
        for pod in baseline.world.book:
            pods.setdefault(workload_of(baseline.world, pod).short_name, []).append(pod)
        delete = partial(World.delete, why="restarted")
        rows = (outcome_of(Outcome, name, baseline.trial(), partial(delete, pods=own)) for name, own in pods.items())
        return RestartReport(kube_version=str(scene.release), rows=tuple(rows), notes=notes)


def view(report: RestartReport) -> View:
    sheet = Sheet(title="All", columns=columns_of(Outcome), rows=report.rows, tone=tone)
    own = partial(metrics, "restart", Outcome, report.rows)
    return View(**shared_fields(report), title="Each restarted", sheets=[sheet], metrics=own)
