"""Passes of a rollout."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from kubespread.kube.owners import WorkloadName
from kubespread.reports.parts import ConstraintReport, Range, Report, exceeding, range_of
from kubespread.wording import count_of, short_key


class RevisionPods(Report, frozen=True):
    """The pods of the old revisions and of the new one."""

    old: int
    """Pods of all older revisions."""
    new: int
    """Pods of the new revision."""


class DomainRevisions(Report, frozen=True):
    """One domain of a topology key."""

    value: str
    """Value of the label on its nodes."""
    old: int
    """Pods of older revisions there."""
    new: int
    """Pods of the new one there."""


class KeyRevisions(Report, frozen=True):
    """The domains of one topology key that hold pods or could, in the order of values, and the skew its constraint
    sees.
    """

    topology_key: str
    domains: tuple[DomainRevisions, ...]
    """Domains by value."""
    skew: int
    """The fullest domain's matching pods minus the global minimum."""


class RolloutPass(Report, frozen=True):
    """One pass of the controller that changed a size, once its pods were deleted, placed and ready as far as they can
    be.
    """

    number: int
    """Number of the pass, from 1."""
    wanted: RevisionPods
    """The sizes that the controller asks for."""
    running: RevisionPods
    """Pods on nodes."""
    ready: RevisionPods
    """Pods that are ready."""
    constraints: tuple[KeyRevisions, ...]
    """Constraints of the new template."""


class RevisionSkew(Report, frozen=True):
    """Spread of the pods of the new revision alone, in the end."""

    topology_key: str
    max_skew: int
    when_unsatisfiable: str
    skew: int
    """The fullest domain's pods minus the global minimum."""
    domains: tuple[DomainRevisions, ...]
    """Domains by value."""
    runs: Range | None = None
    """``skew`` over all runs; null where they agree, or where there is one."""

    @property
    def most(self) -> int:
        """The skew where chance falls worst."""
        return self.skew if self.runs is None else self.runs.maximum

    @property
    def range(self) -> str:
        """``2``, or ``1–3`` over all runs."""
        return range_of(self.skew, self.runs)


class RolloutReport(Report, frozen=True):
    """A rollout from its first pass to where it ends or waits forever."""

    workload: WorkloadName
    """NAMESPACE/Kind/name."""
    strategy: str
    """``RollingUpdate``, ``Recreate`` or ``OnDelete``."""
    replicas: int
    """Number of desired replicas."""
    max_surge: int
    """Number of pods that may exist beyond ``replicas``."""
    max_unavailable: int
    """Number by which ready pods may fall below ``replicas``."""
    passes: tuple[RolloutPass, ...]
    """Passes that changed a size, in order."""
    complete: bool
    """True if all replicas are ready, and of the new revision except those that a StatefulSet's partition keeps."""
    wedged_on: str | None
    """Reason it goes no further: what kube-scheduler says of the new pod that waits, what the API server says to the
    one that it refuses, or that new pods never get ready.
    """
    pending: int
    """New pods without a node in the end."""
    fewest_ready: int
    """Fewest pods that were ready at any time; if the rollout went on once an autoscaler had added nodes, a lower
    bound.
    """
    worst_skew: tuple[RevisionSkew, ...]
    """Skew by constraint on the pass on which the scheduler saw the highest."""
    final: tuple[RevisionSkew, ...]
    """Skew by constraint in the end."""
    with_match_label_keys: tuple[RevisionSkew, ...] | None
    """``final`` had the constraints matchLabelKeys: [pod-template-hash]; null where they have it, or there are none."""
    constraints: tuple[ConstraintReport, ...]
    """Constraints as they stand in the end."""
    not_created: int = 0
    """New pods that the API server refuses in the end, as a quota does."""
    kept: int = 0
    """Pods that keep an older revision on purpose: those below the partition of a StatefulSet."""
    runs: int = 1
    """Number of times it was played: more than one where controllers deleted some of several equal pods."""
    stuck_runs: int = 0
    """Number of these in which it is not complete."""
    stuck_on: str | None = None
    """Reason it is not complete, in the first of those; null where it always is."""

    @property
    def may_get_stuck(self) -> bool:
        """True if chance decides whether it is complete."""
        return 0 < self.stuck_runs < self.runs

    def over(self, others: Sequence[RolloutReport]) -> RolloutReport:
        """Rollout over several runs."""
        played = [self, *others]
        stuck = [rollout for rollout in played if not rollout.complete]
        return msgspec.structs.replace(
            self,
            worst_skew=tuple(_over(self.worst_skew, [other.worst_skew for other in others])),
            final=tuple(_over(self.final, [other.final for other in others])),
            with_match_label_keys=None
            if self.with_match_label_keys is None
            else tuple(_over(self.with_match_label_keys, [other.with_match_label_keys or () for other in others])),
            runs=len(played),
            stuck_runs=len(stuck),
            stuck_on=stuck[0].wedged_on if stuck else None,
        )


def _over(skews: Sequence[RevisionSkew], others: Sequence[Sequence[RevisionSkew]]) -> Iterator[RevisionSkew]:
    """Each constraint's skew over all runs: they are about the same constraints, in the same order."""
    for own, *same in zip(skews, *others, strict=True):
        yield msgspec.structs.replace(own, runs=Range.over(side.skew for side in (own, *same)))


def rollout_sentence(rollout: RolloutReport) -> str:
    """Sentence on how a rollout ended, and how even its pods are."""
    # Why pods are pending is said of them.
    lacking = {"pending": rollout.pending, "not created": rollout.not_created}
    counts = [f"{count_of(count, 'new pod')} {what}" for what, count in lacking.items() if count]
    kept = f", {rollout.kept} of {rollout.replicas} kept by its partition" if rollout.kept else ""
    ending = f"complete{kept}" if rollout.complete else f"not complete: {', '.join(counts) or rollout.wedged_on}"
    if rollout.may_get_stuck:
        why = f": {rollout.stuck_on}" if rollout.complete else ""
        ending = f"may get stuck ({rollout.stuck_runs} of {rollout.runs} runs{why}); in the one shown {ending}"
    parts = [ending, f"fewest ready {rollout.fewest_ready:,} of {rollout.replicas:,}"]
    others = rollout.with_match_label_keys or rollout.final
    pairs = list(zip(rollout.final, others, strict=True))
    # Of those that are as even as they are asked to be, the first one says so for all.
    telling = [(own, other) for own, other in pairs if own.most > own.max_skew or own.range != other.range]
    parts += [_final(own, other) for own, other in telling or pairs[:1]]
    return "; ".join(parts)


def _final(own: RevisionSkew, other: RevisionSkew) -> str:
    """``zone skew of the new pods 2 > 1 (0 with matchLabelKeys: [pod-template-hash])``."""
    exceeds = exceeding(own.skew, own.runs, own.max_skew)
    instead = f" ({other.range} with matchLabelKeys: [pod-template-hash])" if own.range != other.range else ""
    return f"{short_key(own.topology_key)} skew of the new pods {own.range}{exceeds}{instead}"
