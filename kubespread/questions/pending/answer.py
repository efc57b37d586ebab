"""Every stuck pod of a cluster: grouped by cause, each group with the smallest change that frees it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from shlex import quote

from msgspec import Struct, field
from msgspec.structs import replace

from kubespread.candidate.candidate import Surroundings, from_stored_pod
from kubespread.candidate.settings import parse_settings
from kubespread.errors import ManifestError, UsageError
from kubespread.kube.admission.defaulting import DEFAULT_NAMESPACE
from kubespread.kube.api.core import Pod
from kubespread.kube.api.kinds import POD_CREATORS
from kubespread.kube.owners import NamespacedName, WorkloadName
from kubespread.kube.versions import KubeVersion
from kubespread.questions.commands import Commands
from kubespread.questions.patches import commands_for
from kubespread.questions.pending.causes import Waits, cause_of
from kubespread.questions.pending.question import Pending
from kubespread.questions.pending.report import PendingReport, StuckGroup
from kubespread.questions.remedies.advice import options
from kubespread.questions.remedies.candidates import FAMILIES
from kubespread.questions.remedies.change import Answer, Change
from kubespread.questions.remedies.edited_worlds import EditedWorlds
from kubespread.questions.remedies.search import MOST_EFFORT, Found, Trials, combined, search_least
from kubespread.questions.remedies.stuck import Stuck
from kubespread.questions.scene import Scene
from kubespread.reports.advise import Suggestion
from kubespread.reports.happened import UnmadePods
from kubespread.snapshot.edits.verb import Edit
from kubespread.snapshot.snapshot import Snapshot
from kubespread.wording import some_of
from kubespread.world.events.world import World, unmade
from kubespread.world.reporting.difference import judged_as_it_stands
from kubespread.world.reporting.happenings import unmade_pods, workload_of
from kubespread.world.store.happenings import PREEMPTED
from kubespread.world.store.pod_book import PodKey, key_of
from kubespread.world.store.waiting import Waiting

# The smallest change that frees pods with the same cause: found and proven by placing all of them.


RevisePod = Callable[[Pod, Sequence[str]], Pod | None]
"""A pod of the cluster with fields set as ``--set`` has them, None where it has no such field or the API server refuses
it.
"""
_PER_QUESTION, _PER_POD, _PER_POD_THERE, _PER_KIND_AND_NODE = 3, 0.5, 0.0005, 0.002
"""Milliseconds."""
_OF_A_FAMILY = 4
"""Changes per family that are tried on large clusters."""


class Kind(Struct, frozen=True):
    """Identical waiting pods: what is true of one is true of all."""

    waiting: Sequence[Waiting]

    @property
    def pod(self) -> Pod:
        return self.waiting[0].template

    def __len__(self) -> int:
        return len(self.waiting)


class Group(Struct, dict=True):
    """Kinds of pods asked about together.

    Edits are made in a cluster with all waiting pods, as they would be in practice; changes of the pods themselves
    apply to these alone.
    """

    worlds: EditedWorlds
    kinds: Sequence[Kind]
    revise: RevisePod
    _freed: dict[tuple[tuple[str, ...], tuple[Edit, ...]], frozenset[PodKey]] = field(default_factory=dict)
    _spent: float = 0

    def __len__(self) -> int:
        return sum(map(len, self.kinds))

    @cached_property
    def keys(self) -> frozenset[PodKey]:
        return frozenset(key_of(waiting.pod) for kind in self.kinds for waiting in kind.waiting)

    def ask(self, change: Change) -> Answer | None:
        edited = self.worlds.after(change.edits)
        if edited is None:
            return None
        self._spent += _PER_QUESTION
        if not change.edits or change.settings:
            placed = self._placed(edited.world, change.settings)
            if placed is None:
                return None
            edited = edited.then(placed)
        freed = self._freed[change.settings, change.edits] = self.keys - edited.world.queue.waiting.keys()
        if not freed:
            return Answer(0, len(self))
        harm = self.worlds.harm(edited, self._is_own)
        return Answer(len(freed), len(self), self.worlds.consequences(edited), harm)

    def freed(self, change: Change) -> frozenset[PodKey]:
        """The pods that have a node after a change that was tried."""
        return self._freed[change.settings, change.edits]

    def ask_alone(self, change: Change) -> Answer | None:
        """Never: only what frees them among all the others counts."""
        return None

    @property
    def effort(self) -> float:
        return self.worlds.effort + self._spent

    def _is_own(self, pod: Pod) -> bool:
        return key_of(pod) in self.keys

    def _placed(self, edited: World, settings: Sequence[str]) -> World | None:
        """Place the pods that still wait one after another, with ``settings`` applied. None where no pod accepts
        these.
        """
        world = edited.fork()
        others = {key: waiting for key, waiting in world.queue.waiting.items() if key not in self.keys}
        world.queue.waiting = {key: waiting for key, waiting in world.queue.waiting.items() if key in self.keys}
        if settings and not self._set(world, settings):
            return None
        cluster = world.cluster
        self._spent += _PER_POD * len(self) + _PER_POD_THERE * len(cluster.running)
        self._spent += _PER_KIND_AND_NODE * len(self.kinds) * len(cluster)
        world.settle()
        world.queue.waiting.update(others)
        return world

    def _set(self, world: World, settings: Sequence[str]) -> bool:
        """Apply settings to the waiting pods; False if none accepts them. The others stay as they are."""
        any_taken = False
        for kind in self.kinds:
            template = self.revise(kind.pod, settings)
            if template is None:
                continue
            any_taken = True
            for key in map(_key, kind.waiting):
                if (waiting := world.queue.waiting.get(key)) is not None:
                    pod = Pod(metadata=waiting.pod.metadata, spec=template.spec, status=waiting.pod.status)
                    world.book.replace(waiting.pod, pod)
                    world.queue.add(pod, template)
        return any_taken


def _key(waiting: Waiting) -> PodKey:
    return key_of(waiting.pod)


def least_change(stuck: Stuck, trials: Trials) -> Found | None:
    """The search for one pod, extended to a group: the cheapest change that frees all of it, else the cheapest of those
    that free most of it.
    """
    alone = search_least(stuck, FAMILIES, trials, _OF_A_FAMILY)
    if alone is not None:
        return alone
    together = combined(stuck, FAMILIES, trials, enough=1).found
    return together[0] if together else trials.best_of_those_that_help(stuck.fitting)


_MOST_VICTIMS = 2
_FIT = "fits once the others run"


class _Stuck(Struct, frozen=True):
    """Identical pods, and what they wait for."""

    kind: Kind
    waits: Waits
    fitting: int = 0
    """How many of them find a node without any change, after those of their workload that come before them."""


def answer(question: Pending, scene: Scene) -> PendingReport:
    """Nothing is placed in the scene's world."""
    whose = question.asked_in(scene.snapshot)
    now, world = scene.now, scene.world
    is_asked = whose.those_in(world)
    under_way = judged_as_it_stands(world, is_asked)
    groups = _groups(scene, is_asked, Commands.about(question, scene))
    if not groups:
        whose.check_any(world, now)
    return PendingReport(
        kube_version=str(scene.release),
        cluster=scene.source,
        **whose.as_reported(world),
        preemption=question.preemption,
        nodes=len(world.living.nodes.objects),
        pending=sum(len(group.pods) for group in groups),
        groups=tuple(groups),
        not_made=tuple(_not_made(world, groups)),
        gaps=scene.gaps(world.assumed),
        not_modelled=Pending.never_modelled,
        notes=(*scene.notes, *under_way),
    )


def _groups(scene: Scene, is_asked: Callable[[WorkloadName], bool], commands: Commands) -> list[StuckGroup]:
    """The largest first. After each cause, progress reports the number of pods whose remedy is known."""
    world = scene.world
    by_workload: dict[WorkloadName, list[Kind]] = {}
    for kind in _kinds(world, is_asked):
        by_workload.setdefault(workload_of(world, kind.waiting[0].pod), []).append(kind)
    by_cause: dict[tuple[str, str], list[_Stuck]] = {}
    for kinds in by_workload.values():
        for stuck in _together(world, kinds):
            by_cause.setdefault((stuck.waits.cause, stuck.waits.why), []).append(stuck)
    groups: list[StuckGroup] = []
    freeing = _Freeing(world, scene.now, scene.release, commands)
    for alike in sorted(by_cause.values(), key=lambda alike: -sum(len(stuck.kind) for stuck in alike)):
        groups += freeing.groups(alike)
        if scene.on_progress is not None:
            scene.on_progress(sum(len(group.pods) for group in groups))
    return sorted(groups, key=lambda group: (-len(group.pods), group.why))


def _not_made(world: World, groups: Iterable[StuckGroup]) -> Iterator[UnmadePods]:
    """Pods of the stuck workloads that do not even exist."""
    stuck = {workload for group in groups for workload in group.workloads}
    return (
        (unmade_pod for unmade_pod in unmade_pods(world, unmade(world)) if unmade_pod.workload in stuck)
        if stuck
        else iter(())
    )


def _kinds(world: World, is_asked: Callable[[WorkloadName], bool]) -> list[Kind]:
    """The waiting pods in question, in kube-scheduler's order; those with gates come last."""
    kinds: dict[int, list[Waiting]] = {}
    ordered = {key_of(waiting.pod): waiting for waiting in (*world.queue.in_order(), *world.waiting)}
    for waiting in ordered.values():
        if is_asked(workload_of(world, waiting.pod)):
            kinds.setdefault(id(waiting.template), []).append(waiting)
    return [Kind(waiting) for waiting in kinds.values()]


def _together(world: World, kinds: Sequence[Kind]) -> Iterator[_Stuck]:
    """What the pods of a workload wait for. Where one fits, or makes room for itself, all are placed one after another:
    later ones may no longer find a node, or find one only now.
    """
    alone = [cause_of(world, kind.waiting[0]) for kind in kinds]
    pairs = list(zip(kinds, alone, strict=True))
    if not any(waits.cause == "fits" or _preempts(world, kind, waits) for kind, waits in pairs):
        yield from map(_Stuck, kinds, alone)
        return
    after = world.fork()
    after.queue.waiting = _waiting(kinds)
    after.settle()
    victims = tuple(NamespacedName.of(gone.pod) for gone in after.happenings.gone if gone.why == PREEMPTED)
    for kind, waits in pairs:
        unplaced = [waiting for waiting in kind.waiting if key_of(waiting.pod) in after.queue.waiting]
        if not unplaced and victims:
            why = f"preempting {some_of(victims, _MOST_VICTIMS)}"
            yield _Stuck(kind, replace(waits, cause="preempts", why=why, victims=victims), len(kind))
        elif not unplaced:
            yield _Stuck(kind, waits if waits.cause == "fits" else replace(waits, cause="fits", why=_FIT), len(kind))
        elif len(unplaced) == len(kind) and waits.cause != "fits":
            yield _Stuck(kind, waits)
        else:
            fitting = len(kind) - len(unplaced)
            then = cause_of(after, unplaced[0])
            yield _Stuck(kind, replace(then, why=f"{fitting:,} of {len(kind):,} fit; {then.why}"), fitting)


def _preempts(world: World, kind: Kind, waits: Waits) -> bool:
    if waits.cause != "filtered":
        return False
    budgets = world.budgets.current(world.time) if world.surroundings.preempts else ()
    return world.queue.victims(kind.waiting[0], world.living, lambda: budgets) is not None


def _waiting(kinds: Iterable[Kind]) -> dict[PodKey, Waiting]:
    return {key_of(waiting.pod): waiting for kind in kinds for waiting in kind.waiting}


class _Freeing(Struct, dict=True):
    """The search for what frees pods; each group may spend half of the remaining effort."""

    world: World
    snapshot: Snapshot
    version: KubeVersion
    commands: Commands
    left: float = MOST_EFFORT

    @cached_property
    def _revise(self) -> RevisePod:
        return _reviser(self.snapshot, self.version)

    @cached_property
    def _worlds(self) -> EditedWorlds:
        return EditedWorlds(lambda: self.world, DEFAULT_NAMESPACE)

    def groups(self, alike: Sequence[_Stuck]) -> Iterator[StuckGroup]:
        """One group; or several, where a change frees all pods of some kinds and not all of the others."""
        waits = alike[0].waits
        if waits.cause != "filtered":
            yield self._group(alike, None, 0)
            return
        ranked = sorted(alike, key=lambda stuck: -len(stuck.kind))
        group = Group(self._worlds, [stuck.kind for stuck in ranked], self._revise)
        evaluation = ranked[0].waits.evaluation
        assert evaluation is not None
        several = len(group) if len(group) > 1 else None
        fitting = sum(stuck.fitting for stuck in alike)
        trials = Trials(group, evaluation.pod, group.effort + self.left / 2)
        before = group.effort
        in_free_room = None if fitting else several
        best = least_change(Stuck(evaluation, self.version, several, fitting, in_free_room), trials)
        self.left -= group.effort - before
        free = group.freed(best.change) if best is not None else frozenset()
        whole = [stuck for stuck in alike if _waiting([stuck.kind]).keys() <= free]
        if whole and len(whole) < len(alike):
            yield from self.groups(whole)
            yield from self.groups([stuck for stuck in alike if stuck not in whole])
            return
        yield self._group(alike, best, trials.count)

    def _group(self, alike: Sequence[_Stuck], best: Found | None, tried: int) -> StuckGroup:
        waits = alike[0].waits
        pods = [waiting.pod for stuck in alike for waiting in stuck.kind.waiting]
        workloads = dict.fromkeys(workload_of(self.world, pod) for pod in pods)
        return StuckGroup(
            cause=waits.cause,
            why=waits.why,
            message=waits.message,
            pods=tuple(map(NamespacedName.of, pods)),
            workloads=tuple(workloads),
            change=None if best is None else self._suggestion(best, len(pods), tuple(workloads)),
            fitting=sum(stuck.fitting for stuck in alike),
            victims=waits.victims,
            tried=tried,
            command=""
            if best is None
            else self._command(best.change, next(iter(workloads)), NamespacedName.of(pods[0])),
        )

    def _command(self, change: Change, workload: WorkloadName, pod: NamespacedName) -> str:
        edits = (str(edit).partition(" ") for edit in change.edits)
        words = [f"--{verb} {quote(rest)}" for verb, _, rest in edits]
        words += [f"--set {quote(setting)}" for setting in change.settings]
        if not change.settings:
            return self.commands.of("pending", *words)
        kind = POD_CREATORS.get(workload.kind)
        reference = f"{kind.short}/{workload.name}" if kind is not None and kind.has_replicas else f"po/{pod.name}"
        return self.commands.of("simulate", quote(reference), *words, namespace=workload.namespace)

    def _suggestion(self, best: Found, pods: int, workloads: Sequence[WorkloadName]) -> Suggestion:
        change, answer = best.change, best.answer
        return Suggestion(
            change=change.said,
            brief=change.brief or change.said,
            family=change.family,
            options=options(change),
            nodes=None,
            placed=min(answer.count, pods),
            consequences=answer.consequences,
            commands=commands_for(change, workloads, self.snapshot),
        )


def _reviser(snapshot: Snapshot, version: KubeVersion) -> RevisePod:
    revisions: dict[tuple[int, tuple[str, ...]], tuple[Pod, Pod | None]] = {}

    def revise(pod: Pod, settings: Sequence[str]) -> Pod | None:
        key = id(pod), tuple(settings)
        if key not in revisions:
            surroundings = Surroundings(snapshot.objects, version, settings=parse_settings(settings))
            try:
                revised = from_stored_pod(pod, surroundings).pod
            except (ManifestError, UsageError):
                revised = None
            # The pod itself is kept, so that no other object gets its id.
            revisions[key] = pod, revised
        return revisions[key][1]

    return revise
