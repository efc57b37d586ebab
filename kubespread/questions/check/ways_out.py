"""What gets replicas placed that find no node: the search of ``explain --fix``, for all replicas afresh."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from kubespread.kube.api.core import Pod
from kubespread.questions.check.report import Remedy
from kubespread.questions.check.rule import remedy_of
from kubespread.questions.check.trial import Placed, PodChange, ReplicaTrial
from kubespread.questions.remedies.asked import QuestionEdits
from kubespread.questions.remedies.change import Answer, Change
from kubespread.questions.remedies.edited_worlds import EditedWorlds, PlayedGoal
from kubespread.questions.remedies.families import FAMILIES, Stuck
from kubespread.questions.remedies.search import Attempts, TriedChange, least_change, most_trials
from kubespread.reports.parts import letter
from kubespread.snapshot.edits.verb import Edit
from kubespread.wording import short_key
from kubespread.world.reporting.happenings import workload_of
from kubespread.world.store.pod_book import key_of

_SHARE = 4
"""One of the workloads that are checked together takes at most a part of so many of what may be tried for all."""
_MOST_OF_A_FAMILY = 8
# Pods that make way for others are made again elsewhere, or are missed: no manifest should be edited for that.
_TRIED = [family for family in FAMILIES if family.of != "other pod"]
_OF_THE_POD = [family for family in _TRIED if family.of != "node"]
"""Which need no cluster edited."""


class WaysOut(Struct):
    """The search, for one workload after another: what is left for each depends on those before it, and on nothing else
    as long as one process searches for all.
    """

    worlds: EditedWorlds
    """The edited cluster."""
    edits: Sequence[Edit]
    """Those that made it."""
    _tried: int = 0

    def remedy(self, trial: ReplicaTrial) -> Remedy:
        """The least change, or two or three together, with which every replica finds a node."""
        placed, unplaced = trial.placed, trial.placed.unplaced
        if trial.subject.is_daemon or unplaced is None or not len(trial.cluster):
            return Remedy(text="let its pods onto other nodes, or change what keeps them from these")
        goal = _AllPlaced(trial, self.worlds)
        asked = QuestionEdits(self.edits, workload=trial.subject.name)
        stuck = Stuck(unplaced, trial.subject.profile.version, placed.pending, placed.count, asked=asked)
        most = most_trials(stuck)
        if self._tried >= most:
            return Remedy(text="kubespread explain --fix tries what would help: too much was tried for other workloads")
        trials = Attempts.of(goal, stuck, min(max(1, most // _SHARE), most - self._tried))
        least = least_change(stuck, trials, _TRIED, _MOST_OF_A_FAMILY, (_OF_THE_POD, _TRIED))
        self._tried += trials.count
        if least is not None:
            return goal.remedy(least, stuck)
        if not trials.count:
            return Remedy(text="none of the changes that kubespread explain --fix tries applies here")
        none = (
            "the one change that was tried does not get all of them placed"
            if trials.count == 1
            else f"none of {trials.count} changes that were tried gets all of them placed"
        )
        best = trials.best_of_those_that_help()
        if best is None:
            return Remedy(text=none)
        remedy = goal.remedy(best, stuck)
        return replace(remedy, text=f"{none}; most does {remedy.text}")


class _AllPlaced(PlayedGoal):
    """All replicas of a workload. Changes are as printed: ``--set`` makes the pod again from its manifest, edits play
    in a world.
    """

    alone = None

    def __init__(self, trial: ReplicaTrial, worlds: EditedWorlds) -> None:
        self._trial, self.worlds = trial, worlds

    def ask_in(self, worlds: EditedWorlds, change: Change) -> Answer | None:
        placed = self.placed(change)
        if placed is None:
            return None
        edited = worlds.after(change.edits) if change.edits else None
        # What quotas refuse is no matter of nodes.
        return self.answered(worlds, edited, placed.count, placed.desired - placed.refused)

    def placed(self, change: Change) -> Placed | None:
        """None where an edit or a field is refused."""
        trial = self._edited(change.edits) if change.edits else self._trial
        set_fields = self._setting(change.settings)
        return None if trial is None or set_fields is None else trial.placed_with(set_fields)

    def _setting(self, settings: Sequence[str]) -> PodChange | None:
        if not settings:
            return lambda pod: pod
        revised = self._trial.subject.revised(settings)
        if revised is None:
            return None
        spec, labels = revised.spec, self._trial.subject.pod.metadata.labels
        # The hash of the template, which constraints may count by, is another one.
        others = {key: value for key, value in revised.metadata.labels.items() if labels.get(key) != value}

        def change(pod: Pod) -> Pod:
            metadata = replace(pod.metadata, labels={**pod.metadata.labels, **others})
            # Each replica may have claims of its own.
            return Pod(metadata=metadata, spec=replace(spec, volumes=pod.spec.volumes), status=pod.status)

        return change

    def _edited(self, edits: tuple[Edit, ...]) -> ReplicaTrial | None:
        edited = self.worlds.after(edits)
        if edited is None:
            return None
        book, subject = edited.world.book, self._trial.subject
        running = [book[key_of(pod)] for pod in subject.running if key_of(pod) in book]
        return self._trial.on(edited.world.cluster, replace(subject, running=running))

    def is_own(self, pod: Pod) -> bool:
        return workload_of(self.worlds.unchanged.world, pod) == self._trial.subject.name

    def remedy(self, least: TriedChange, stuck: Stuck) -> Remedy:
        placed = self.placed(least.change)
        text = " and ".join(_texts(least.change, stuck))
        return remedy_of(least.change, text, None if placed is None else placed.text)


def _texts(change: Change, stuck: Stuck) -> Iterator[str]:
    """The parts of a change; a constraint has no letter here."""
    keys = {
        letter(place): short_key(constraint.topology_key)
        for place, constraint in enumerate(stuck.pod.spec.topology_spread_constraints)
    }
    for part in change.parts:
        yield f"{part.what} on the constraint over {keys[part.letter]}" if part.letter else part.what
