"""Workloads at the maximum of their autoscalers, and the pods that then lack a node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from shlex import quote

from kubespread.candidate.replicas import autoscalers, autoscalers_of
from kubespread.kube.api.core import ResourceQuota
from kubespread.kube.owners import WorkloadName, WorkloadReference
from kubespread.questions.commands import Commands
from kubespread.questions.report import ReportLine
from kubespread.reports.outcome import Outcome
from kubespread.scheduler.plugins.noderesources.plugin import NodeResourcesFit
from kubespread.snapshot.edits.pods import Scale
from kubespread.wording import count_of
from kubespread.world.events.editing import apply, exists
from kubespread.world.events.world import World
from kubespread.world.reporting.difference import Baseline
from kubespread.world.reporting.happenings import desired_replicas
from kubespread.world.reporting.outcomes import outcome_of

_MOST_ON_NEW_NODES = 1_000
"""Most pods beyond the number that the nodes may take, for which an autoscaler of nodes is tried."""


class AtMaximum(Outcome, frozen=True, kw_only=True):
    """Outcome with workloads at the maximum of their autoscalers."""

    scaled: tuple[tuple[WorkloadName, str, int], ...]
    """Workloads, each with its autoscaler, ``HorizontalPodAutoscaler web``, and its maximum."""
    beyond: dict[WorkloadName, int]
    """Number of pods of each workload that were not tried: like the last ones they are pending, or refused."""

    @property
    def lacking(self) -> Counter[WorkloadName]:
        """Number of further pods without a node, or not created, by workload; others may have lost theirs."""
        lacking = Counter[WorkloadName]()
        for trouble in self.get("pending", "unmade"):
            assert isinstance(trouble.subject, WorkloadName)
            lacking[trouble.subject] += trouble.count
        return lacking + Counter({name: count for name, count in self.beyond.items() if name in lacking})

    @property
    def not_made(self) -> int:
        """Number of pods that the API server refuses, including pods not tried."""
        refused = {trouble.subject for trouble in self.get("unmade")}
        return self.unmade + sum(count for name, count in self.beyond.items() if name in refused)

    @property
    def untried_pods(self) -> int:
        """Number of untried pods that may find a node on an autoscaler's new nodes."""
        return sum(count for name, count in self.beyond.items() if name not in self.lacking)


def growing(world: World, is_selected: Callable[[WorkloadName], bool]) -> Iterator[tuple[WorkloadName, str, int]]:
    """Yield workloads with an autoscaler that may set more replicas than they have, by name."""
    objects = world.workloads.objects
    for name in sorted({autoscaler.workload for autoscaler in autoscalers(objects)}):
        if is_selected(name) and exists(world, name):
            most = max(autoscalers_of(name, objects), key=lambda autoscaler: autoscaler.most)
            # At 0 it does nothing.
            if 0 < desired_replicas(world, name) < most.most:
                yield name, most.text, most.most


def at_maximum(baseline: Baseline, scaled: Sequence[tuple[WorkloadName, str, int]]) -> AtMaximum:
    """Scale the workloads, at least one, one after another."""
    trial = baseline.trial()
    world = trial.world
    has_growth = baseline.grow is not None
    most_more, desired = _most_more(world, scaled, has_growth=has_growth), dict[WorkloadName, int]()
    # The number of pods that quotas allow is known only once they are created.
    counted = {quota.metadata.namespace for quota in world.workloads.objects.get(ResourceQuota)}
    for name, _, most in scaled:
        desired[name] = most
        if most_more is not None and name.namespace not in counted:
            desired[name] = min(most, desired_replicas(world, name) + most_more)
    scales = (Scale(name.kind, name.name, replicas, name.namespace) for name, replicas in desired.items())
    events = [partial(apply, edit=scale, namespace="") for scale in scales]
    beyond = {name: most - desired[name] for name, _, most in scaled if most > desired[name]}
    return outcome_of(AtMaximum, "at the maximum", trial, *events, scaled=tuple(scaled), beyond=beyond)


def _most_more(world: World, scaled: Sequence[tuple[WorkloadName, str, int]], *, has_growth: bool) -> int | None:
    """Most additional replicas to try: one more than all nodes may take, and some for nodes that an autoscaler adds.

    Further ones would be pending like the last one. None if a profile does not check that pods fit.
    """
    pods = (pod for name, _, _ in scaled for owner in world.owners_below(name) for pod in world.book.pods_of(owner))
    profiles = [scheduled[0] for pod in pods if (scheduled := world.settings.scheduler_of(pod)) is not None]
    if any(NodeResourcesFit.name not in profile.filters for profile in profiles):
        return None
    return int(world.cluster.nodes.allowed_pods.sum()) + 1 + (_MOST_ON_NEW_NODES if has_growth else 0)


def growth_lines(together: AtMaximum, alone: Iterable[AtMaximum], commands: Commands) -> Iterator[ReportLine]:
    """Yield a line for each autoscaler that cannot reach its maximum alone, and one for all together."""
    for one in alone:
        if not (one.lacking or one.untried_pods):
            continue
        ((workload, text, most),) = one.scaled
        yield ReportLine.make(
            "atMaximum",
            "warning" if one.lacking else "notice",
            numbers={
                "workload": workload.short_name,
                "autoscaler": text,
                "most": most,
                "missing": _missing(one),
                "why": next((trouble.why.rstrip(".") for trouble in (*one.get("pending"), *one.get("unmade"))), ""),
            },
            key=f"scaling/{workload}",
            area="scaling",
            question="report",
            extent=one.lacking.total() or one.untried_pods,
            workloads=tuple(one.lacking) or (workload,),
            command=commands.ask("pending", *_scaling(one)),
        )
    if together.lacking and len(together.scaled) > 1:
        yield ReportLine.make(
            "allAtMaximum",
            "warning",
            numbers={
                "scaled": len(together.scaled),
                "missing": _missing(together),
                "names": [name.short_name for name in together.lacking],
            },
            key="scaling/all",
            area="scaling",
            question="report",
            extent=together.lacking.total(),
            workloads=tuple(together.lacking),
            command=commands.ask("pending", *_scaling(together)),
        )


def _missing(grown: AtMaximum) -> str:
    waiting = grown.lacking.total() - grown.not_made
    parts = [(waiting, "without a node"), (grown.not_made, "not created"), (grown.untried_pods, "not looked at")]
    missing = " and ".join(f"{count_of(pods, 'pod')} {how}" for pods, how in parts if pods)
    joined = len(grown.nodes.joined)
    return f"{missing}, with {count_of(joined, 'node')} added" if joined else missing


def _scaling(grown: AtMaximum) -> Iterator[str]:
    """Yield options that scale to as many replicas as were tried, as more would give the same answer."""
    for name, _, most in grown.scaled:
        replicas = most - grown.beyond.get(name, 0)
        yield f"--scale {quote(f'{WorkloadReference(name.kind, name.name, name.namespace)}={replicas}')}"
