"""What gets a blocked upgrade through: one option or edit at a time, each proven by playing the upgrade again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from kubespread.controllers.drain import DrainFlags
from kubespread.errors import KubespreadError
from kubespread.kube.api.kinds import POD_CREATORS
from kubespread.kube.owners import WorkloadName
from kubespread.planner.reports.upgrade import UpgradeReport
from kubespread.planner.upgrade import upgrade
from kubespread.planner.world.editing import apply
from kubespread.planner.world.world import World
from kubespread.snapshot.edits.types import AddNode, Edit, Scale, Target, Uncordon

_MAX_TRIED = 12


@dataclass(frozen=True, slots=True)
class Manner:
    """How a pool is upgraded, as `upgrade` takes it."""

    nodes: Sequence[str]
    surge: int = 0
    batch: int = 1
    flags: DrainFlags = DrainFlags()

    def play(self, world: World) -> UpgradeReport:
        return upgrade(world, self.nodes, self.surge, self.batch, self.flags)


@dataclass(frozen=True, slots=True)
class _Trial:
    """Something to try, and the option that stands for it."""

    option: str
    manner: Manner
    edit: Edit | None = None


def remedies(world: World, manner: Manner, report: UpgradeReport) -> Iterator[str]:
    """Options with which the upgrade that ``report`` tells of would replace all nodes and leave no pod pending.

    ``world`` is as it was before; each is tried on a fork of it, in an order that puts what costs least first.
    """
    if report.complete and not report.pending:
        return
    for trial in [*_trials(world, manner, report)][:_MAX_TRIED]:
        other = world.fork()
        try:
            if trial.edit is not None:
                apply(other, trial.edit, "")
            outcome = trial.manner.play(other)
        except KubespreadError:
            continue
        if outcome.complete and not outcome.pending:
            yield trial.option


def _trials(world: World, manner: Manner, report: UpgradeReport) -> Iterator[_Trial]:
    if manner.batch > 1:
        yield _Trial("--batch 1", replace(manner, batch=1))
    yield _Trial(f"--surge {manner.surge + 1}", replace(manner, surge=manner.surge + 1))
    for name in _cordoned(world, manner):
        yield _with(manner, "uncordon", Uncordon(Target(name)))
    for edit in _larger(world, report):
        yield _with(manner, "scale", edit)
    yield _with(manner, "add-node", AddNode(manner.nodes[0]))
    if report.blocked is not None and report.blocked.refusal is not None:
        flags = manner.flags
        yield _Trial("--ignore-daemonsets", replace(manner, flags=replace(flags, ignore_daemonsets=True)))
        yield _Trial("--delete-emptydir-data", replace(manner, flags=replace(flags, delete_emptydir_data=True)))
        yield _Trial("--force", replace(manner, flags=replace(flags, force=True)))


def _with(manner: Manner, verb: str, edit: Edit) -> _Trial:
    return _Trial(f"--{verb} {str(edit).removeprefix(f'{verb} ')}", manner, edit)


def _cordoned(world: World, manner: Manner) -> Iterator[str]:
    """Nodes outside the pool that take no new pods."""
    pool = set(manner.nodes)
    for node in world.living.nodes.objects:
        if node.spec.unschedulable and node.metadata.name not in pool:
            yield node.metadata.name


def _larger(world: World, report: UpgradeReport) -> Iterator[Scale]:
    """One more replica of each workload that a budget holds on to."""
    for text in () if report.blocked is None else report.blocked.workloads:
        namespace, kind, name = text.split("/")
        workload = WorkloadName(kind, namespace, name)
        row = POD_CREATORS.get(kind)
        if row is not None and row.has_replicas:
            replicas = sum(world.owner(owner).replicas for owner in world.owners_below(workload))
            yield Scale(row, name, replicas + 1, namespace)
