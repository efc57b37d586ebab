"""Passes of a rollout."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from kubespread.kube.owners import WorkloadName
from kubespread.reports.parts import ConstraintReport, Range, Report, exceeding, range_of
from kubespread.wording import count_of, short_key


class RevisionPods(Report, frozen=True):
    """Number of pods of old and new revisions."""

    old: int
    """Pods of all older revisions."""
    new: int
    """Pods of the new revision."""


class DomainRevisions(Report, frozen=True):
    """One domain of a topology key."""

    value: str
    old: int
    """Number of pods of older revisions there."""
    new: int
    """Number of pods of the new revision there."""


class KeyRevisions(Report, frozen=True):
    """Domains of one topology key with current or possible pods, by value, and the skew of its constraint."""

    topology_key: str
    domains: tuple[DomainRevisions, ...]
    """Domains by value."""
    skew: int
    """Fullest domain's matching pods minus the global minimum."""


class RolloutPass(Report, frozen=True):
    """One pass of the controller that changed a size, after its pods were deleted, placed and ready
    as far as possible.
    """

    number: int
    wanted: RevisionPods
    """Sizes set by the controller."""
    running: RevisionPods
    """Pods on nodes."""
    ready: RevisionPods
    """Pods that are ready."""
    constraints: tuple[KeyRevisions, ...]
    """Constraints of the new template."""


class RevisionSkew(Report, frozen=True):
    """Skew of one constraint during or after a rollout, and the pods of each revision by domain."""

    topology_key: str
    max_skew: int
    when_unsatisfiable: str
    skew: int
    """Fullest domain's pods minus the global minimum."""
    domains: tuple[DomainRevisions, ...]
    """Domains by value."""
    runs: Range | None = None
    """``skew`` over all runs; null for a single run, or if they agree."""

    @property
    def most(self) -> int:
        """Skew in the worst run."""
        return self.skew if self.runs is None else self.runs.maximum

    @property
    def range(self) -> str:
        """``2``, or ``1–3`` over several runs."""
        return range_of(self.skew, self.runs)


class RolloutReport(Report, frozen=True):
    """A rollout from its first pass until it completes or waits forever."""

    workload: WorkloadName
    strategy: str
    """``RollingUpdate``, ``Recreate`` or ``OnDelete``."""
    replicas: int
    """Number of desired replicas."""
    max_surge: int
    """Most pods beyond ``replicas``."""
    max_unavailable: int
    """Most unready pods below ``replicas``."""
    passes: tuple[RolloutPass, ...]
    """Passes that changed a size, in order."""
    complete: bool
    """True if all replicas are ready, and of the new revision except below a StatefulSet's partition."""
    wedged_on: str | None
    """Reason it stops: message of kube-scheduler for a pending new pod, or of the API server for a refused one, or new
    pods that never get ready.
    """
    pending: int
    """New pods without a node in the end."""
    fewest_ready: int
    """Fewest pods ready at any time; a lower bound if an autoscaler's nodes let the rollout continue."""
    worst_skew: tuple[RevisionSkew, ...]
    """Skew of each constraint in the pass with the highest one, counting pods of all revisions."""
    final: tuple[RevisionSkew, ...]
    """Final skew of each constraint, counting the new revision's pods alone."""
    with_match_label_keys: tuple[RevisionSkew, ...] | None
    """``final`` if the constraints had matchLabelKeys: [pod-template-hash]; null if they have it.

    Also null without constraints, and for workloads other than Deployments.
    """
    constraints: tuple[ConstraintReport, ...]
    """Constraints in the end."""
    not_created: int = 0
    """New pods that the API server refuses in the end, for instance by quota."""
    kept: int = 0
    """Number of pods of older revisions below a StatefulSet's partition."""
    runs: int = 1
    """Number of runs: several where chance decides, for instance which of several equal pods a controller deletes."""
    stuck_runs: int = 0
    """Number of runs that do not complete."""
    stuck_on: str | None = None
    """Reason of the first run that does not complete; null if all do."""

    @property
    def may_get_stuck(self) -> bool:
        """True if chance decides whether it completes."""
        return 0 < self.stuck_runs < self.runs

    def merge(self, others: Sequence[RolloutReport]) -> RolloutReport:
        """The rollout, combined with other runs."""
        played = [self, *others]
        stuck = [rollout for rollout in played if not rollout.complete]
        return msgspec.structs.replace(
            self,
            worst_skew=tuple(_merge(self.worst_skew, [other.worst_skew for other in others])),
            final=tuple(_merge(self.final, [other.final for other in others])),
            with_match_label_keys=None
            if self.with_match_label_keys is None
            else tuple(_merge(self.with_match_label_keys, [other.with_match_label_keys or () for other in others])),
            runs=len(played),
            stuck_runs=len(stuck),
            stuck_on=stuck[0].wedged_on if stuck else None,
        )


def _merge(skews: Sequence[RevisionSkew], others: Sequence[Sequence[RevisionSkew]]) -> Iterator[RevisionSkew]:
    """Each constraint's skew over all runs: they are about the same constraints, in the same order."""
    for own, *same in zip(skews, *others, strict=True):
        yield msgspec.structs.replace(own, runs=Range.from_differing(side.skew for side in (own, *same)))


def rollout_sentence(rollout: RolloutReport) -> str:
    """Describe how a rollout ends, and how even its pods are."""
    # Why pods are pending is said of them.
    lacking = {"pending": rollout.pending, "not created": rollout.not_created}
    counts = [f"{count_of(count, 'new pod')} {what}" for what, count in lacking.items() if count]
    outdated = f", {rollout.kept} of {rollout.replicas} kept by its partition" if rollout.kept else ""
    ending = f"complete{outdated}" if rollout.complete else f"not complete: {', '.join(counts) or rollout.wedged_on}"
    if rollout.may_get_stuck:
        why = f": {rollout.stuck_on}" if rollout.complete else ""
        ending = f"may get stuck ({rollout.stuck_runs} of {rollout.runs} runs{why}); in the one shown {ending}"
    parts = [ending, f"fewest ready {rollout.fewest_ready:,} of {rollout.replicas:,}"]
    others = rollout.with_match_label_keys or rollout.final
    pairs = list(zip(rollout.final, others, strict=True))
    # If all are as even as required, the first one stands for all.
    telling = [(own, other) for own, other in pairs if own.most > own.max_skew or own.range != other.range]
    parts += [_final(own, other) for own, other in telling or pairs[:1]]
    return "; ".join(parts)


def _final(own: RevisionSkew, other: RevisionSkew) -> str:
    """``zone skew of the new pods 2 > 1 (0 with matchLabelKeys: [pod-template-hash])``."""
    exceeds = exceeding(own.skew, own.runs, own.max_skew)
    instead = f" ({other.range} with matchLabelKeys: [pod-template-hash])" if own.range != other.range else ""
    return f"{short_key(own.topology_key)} skew of the new pods {own.range}{exceeds}{instead}"
