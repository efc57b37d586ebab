"""Waiting pods: one row per cause, with the smallest change that frees them next to it or below."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import get_args

from kubespread.kube.owners import WorkloadName
from kubespread.questions.pending import PendingFor, PendingReport, StuckGroup
from kubespread.reports.columns import Readers
from kubespread.views.autoscaling import scaling
from kubespread.views.look import Cell, Look, Part, Text, Tone
from kubespread.views.sheet import Sheet, columns_of
from kubespread.views.terminal import fold
from kubespread.views.view import Metric, Tile, View, chosen_from, shared_fields, unwanted_tile
from kubespread.wording import count_of, some_of

_INSIDE, _MAX_PODS, _MAX_WORKLOADS = 4, 10, 2


def _frees(group: StuckGroup) -> str:
    """``14``, or ``5 of 25`` where the change does not free all."""
    if group.change is None:
        return ""
    return f"{group.freed:,}" if group.freed == len(group.pods) else f"{group.freed:,} of {len(group.pods):,}"


_IN_PIPES = columns_of(StuckGroup, "pods", "freed", "cause", "workloads", "told", "why", "command")
_ON_PAGES = columns_of(StuckGroup, "why", "pods", "workloads", "told", "freed", "commands", "message")


def view(report: PendingReport) -> View:
    """Causes, and the pods of each."""
    whose = chosen_from(report.namespace, report.selector)
    if report.asked:
        whose = f" of {some_of([workload.short_name for workload in report.asked], _MAX_PODS)}"
    return View(
        **shared_fields(report),
        metrics=partial(_metrics, report),
        title=f"Pending pods{whose}, {count_of(report.nodes, 'node')}",
        sheets=[
            Sheet(title="Causes", columns=_IN_PIPES, rows=report.groups, readers=Readers.PIPES),
            Sheet(title="Causes", columns=_ON_PAGES, rows=report.groups, readers=Readers.PAGES, tone=_tone),
        ],
        tiles=_tiles(report),
        names=[pod for group in report.groups for pod in group.pods],
        parts=lambda look: _parts(report, look),
    )


def _tone(group: StuckGroup) -> Tone:
    return Tone.WARN if group.freed else Tone.BAD


def _tiles(report: PendingReport) -> Sequence[Tile]:
    freed = sum(group.freed for group in report.groups)
    fitting = sum(group.fitting for group in report.groups)
    return [
        unwanted_tile("pods pending", report.pending),
        Tile("causes", f"{len(report.groups):,}"),
        Tile("freed by the smallest changes", f"{freed:,} of {report.pending:,}", Tone.GOOD if freed else Tone.PLAIN),
        Tile("find a node without any", f"{fitting:,}"),
        Tile("not created", f"{sum(unmade.count for unmade in report.not_made):,}"),
    ]


def _parts(report: PendingReport, look: Look) -> Iterator[Sheet[StuckGroup] | Part]:
    """The causes, each with the smallest change, and the nodes that an autoscaler adds."""
    yield Sheet(title="", columns=(), rows=report.groups, noun="cause", tone=_tone, drawn=partial(_lines, report))
    if report.autoscaling is not None:
        yield from scaling(report.autoscaling, look)


def _workloads(group: StuckGroup, report: PendingReport) -> str:
    """``web, api +3``: without the kind, and without an obvious namespace."""
    within = report.namespace is not None
    names = [workload.name if within else workload.without_kind for workload in group.workloads]
    more = f" +{len(names) - _MAX_WORKLOADS}" if len(names) > _MAX_WORKLOADS else ""
    return f"{', '.join(names[:_MAX_WORKLOADS])}{more}"


def _lines(report: PendingReport, group: StuckGroup, look: Look) -> Iterator[Text]:
    """The cause and the change, in full also kube-scheduler's message, the pods, the effects on others and commands."""
    inside = partial(fold, indent=" " * _INSIDE, hanging=_INSIDE + 2)
    yield fold(f"{count_of(len(group.pods), 'pod')} of {_workloads(group, report)}: ", Cell(group.why, Tone.STRONG))
    freed = f"   frees {_frees(group)}" if group.change is not None else ""
    yield inside(Cell(group.told, Tone.FAINT if group.change is None else Tone.GOOD), freed)
    if not look.in_full:
        return
    consequences, commands = ((), ()) if group.change is None else (group.change.consequences, group.change.commands)
    for text in (group.message, some_of(group.pods, _MAX_PODS), *consequences):
        if text:
            yield inside(Cell(text, Tone.FAINT))
    # To be copied, and therefore in one line.
    tried = [f"try: {group.command}"] if group.command else []
    yield from ([Cell(" " * _INSIDE + command, Tone.FAINT)] for command in (*tried, *commands))


def _metrics(report: PendingReport) -> Iterator[Metric]:
    waiting, freed, unmade = Counter[PendingFor](), Counter[PendingFor](), Counter[WorkloadName]()
    for group in report.groups:
        waiting[group.cause] += len(group.pods)
        freed[group.cause] += group.freed
    for row in report.not_made:
        unmade[row.workload] += row.count
    yield "cluster_pods", "Pods of the cluster.", [({}, report.pods)]
    # Causes without their sentences: these have numbers in them, and each would be a series of its own.
    yield (
        "pending_pods",
        "Pods without a node, by what they wait for.",
        [({"cause": cause}, waiting[cause]) for cause in get_args(PendingFor)],
    )
    yield (
        "pending_freed_pods",
        "How many of them the least change that was found frees.",
        [({"cause": cause}, freed[cause]) for cause in get_args(PendingFor)],
    )
    yield (
        "pending_unmade_pods",
        "Desired pods of the same workloads that do not exist.",
        [(workload.labels, count) for workload, count in unmade.items()],
    )
