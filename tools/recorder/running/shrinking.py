"""The smallest plan whose case ends as none of our deals does."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kubespread.errors import KubespreadError
from tools.recorder.running.cluster import UnsettledError
from tools.recorder.running.families import Plan
from tools.recorder.running.plane import RefusedError
from tools.recorder.running.recording import unforeseen
from tools.recorder.shrinking import halve
from tools.replay.cases import Data, Difference


def shrunk(
    carried_out: Callable[[Plan], Sequence[Data]], plan: Plan, case: Data, release: str
) -> tuple[Plan, list[Difference]]:
    """``plan`` without the steps and objects that some workload differs without as it does in ``case``, and how.

    What is left stays whole: a try takes as long as the case did.
    """
    wanted = {difference.what for difference in unforeseen(case, release)}

    def left() -> list[Difference]:
        try:
            found = [difference for made in carried_out(small) for difference in unforeseen(made, release)]
        except (UnsettledError, RefusedError, KubespreadError):
            return []  # not a case any more
        return [difference for difference in found if difference.what in wanted]

    small = plan._replace(
        objects=list(map(list, plan.objects)),
        scenarios=list(map(list, plan.scenarios)),
        before=list(plan.before),
        under_way=list(plan.under_way),
    )
    if left():
        halve(small.scenarios, lambda: bool(left()))
        for things in (*small.scenarios, small.under_way, small.before, small.objects):
            halve(things, lambda: bool(left()))
        for things in small.objects:
            halve(things, lambda: bool(left()))
    return small, left()
