"""Which part of the tool answers a file of recorded answers: known by how the file's name begins."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Mapping
from functools import partial

from tools.replay import (
    budgets,
    daemon_sets,
    deployments,
    deschedulers,
    drains,
    jobs,
    live,
    live_rollouts,
    live_scaling,
    refusals,
    running,
    scaling,
    scheduling,
    stateful_sets,
)
from tools.replay.cases import Difference, Recorded

Answer = Callable[[Recorded, str | None], Iterator[Difference]]


def _rollout(case: Recorded, kube_version: str | None) -> Iterator[Difference]:
    """A running cluster's has scheduling cycles; the Deployment controller's alone has passes."""
    answer = live_rollouts.differences if "schedulerCycles" in case.case else deployments.rollout_differences
    return answer(case, kube_version)


FAMILIES: Mapping[str, Answer] = {
    "placements": live.differences,
    "pdb": budgets.differences,
    "drain": drains.differences,
    "deploystep": deployments.step_differences,
    "rollout": _rollout,
    "scaledown": scaling.differences,
    "scale.": live_scaling.differences,
    "daemonset": daemon_sets.differences,
    "descheduler": deschedulers.differences,
    "job": jobs.differences,
    "statefulset": stateful_sets.differences,
    "val5": refusals.differences,
}
"""Per beginning of a file's name; every other file holds scheduler cases."""


def differences(file: str, case: Recorded, kube_version: str | None = None) -> Iterator[Difference]:
    """Where our answer to ``case`` of ``file`` differs; a crash is a difference too."""
    answer = next((found for family, found in FAMILIES.items() if file.startswith(family)), scheduling.differences)
    if "scenario" in case.case:
        answer = partial(running.differences, stops_at_once=running.stops_at_once(file))
    try:
        yield from answer(case, kube_version)
    except Exception:  # noqa: BLE001 - one case that crashes must not hide the others
        yield Difference(case.name, "crash", None, traceback.format_exc(limit=-2))
