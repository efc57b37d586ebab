"""Cases on a real control plane, what became of them, and where ours ends otherwise."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import kubespread
from tools.recorder.building import Checkout
from tools.recorder.recording import Tally, written
from tools.recorder.running.cluster import Cluster, UnsettledError
from tools.recorder.running.families import Plan, plan
from tools.recorder.running.kubelet import Kubelet
from tools.recorder.running.plane import ControlPlane, RefusedError
from tools.recorder.running.steps import Step, do, named
from tools.replay.cases import Data, Difference, Recorded
from tools.replay.running import differences, workloads

DEALS = 32
"""How often a case is played, equal pods and nodes dealt anew, when the first deal ends otherwise than recorded."""
TIMES = 3
"""How often a plan is carried out again when no deal ends as recorded."""


def played(cluster: Cluster, family: str, plan: Plan) -> Iterator[Data]:
    """The cases of a plan, as the control plane makes them. Raises UnsettledError."""
    for group in plan.objects:
        cluster.create(*group)
    for step in plan.before:
        do(cluster, step, plan.manifests)
        cluster.settle()
    cluster.kubelet.delay = plan.delay
    for step in plan.under_way:
        do(cluster, step, plan.manifests)
    time.sleep(plan.pause)
    for i, planned in enumerate(plan.scenarios):
        steps = [named(cluster, step) for step in planned]
        before, hung = cluster.picture(), sorted(cluster.kubelet.hung)
        for step in steps:
            do(cluster, step, plan.manifests)
            cluster.settle()
        if cluster.kubelet.errors:
            raise UnsettledError(f"the kubelet failed: {cluster.kubelet.errors[0]!r}")
        name = f"{cluster.name}-{i}" if len(plan.scenarios) > 1 else cluster.name
        manifests = {str(step["apply"]): plan.manifests[str(step["apply"])] for step in steps if "apply" in step}
        yield {
            "name": name,
            "family": family,
            "cluster": before,
            "scenario": scenario(name, steps, hung),
            "manifests": manifests,
            "expect": expected(before, cluster.picture()),
        }


def scenario(name: str, steps: Sequence[Step], hung: Sequence[str]) -> Data:
    """As `kubespread plan` reads it; ``hung`` are Deployments whose new pods do not become ready."""
    readiness = {"readiness": {"stuck": [f"deploy/{app}" for app in hung]}} if hung else {}
    spec = {**readiness, "steps": list(steps)}
    return {"apiVersion": "kubespread.dev/v1alpha1", "kind": "Scenario", "metadata": {"name": name}, "spec": spec}


def expected(before: Data, after: Data) -> Data:
    """Where the pods of each workload are after all, and how many wait; also of workloads that have none any more."""
    then, now = (workloads(kubespread.Snapshot.from_objects(picture["items"])) for picture in (before, after))
    ends = {**dict.fromkeys(then, (Counter[str](), 0)), **now}
    return {
        workload: {"zones": dict(sorted(zones.items())), "pending": pending}
        for workload, (zones, pending) in sorted(ends.items())
    }


def record(programs: Path, of: Checkout, family: str, seed: int, count: int) -> Tally:
    """Writes so many cases as `recording.record` does. Those that chance decides are among them.

    Raises PlaneError for a control plane that does not work.
    """
    tally = Tally([], [], [], [])
    with written(family, of, f"seed {seed}") as write, ControlPlane(programs) as plane, Kubelet(plane) as kubelet:
        for number in range(count):
            name = f"{family.rpartition('/')[2]}-{seed}-{number:04d}"
            cases = partial(carried_out, plane, kubelet, name, family, plan(family, seed, number))
            try:
                found = cases()
            except (UnsettledError, RefusedError) as error:
                tally.lost.append(f"{name}: {error}")
                continue
            for case in found:
                write(case)
                compare(case, of.release, cases, tally)
            if len(tally.recorded) >= count:
                break
    return tally


def carried_out(plane: ControlPlane, kubelet: Kubelet, name: str, family: str, plan: Plan) -> list[Data]:
    return list(played(Cluster(plane, kubelet, name), family, plan))


def compare(case: Data, release: str, cases: Callable[[], list[Data]], tally: Tally) -> None:
    """A case beside our first deal; where that ends otherwise, beside other deals, and those beside what ``cases`` are
    when the plan is carried out again.
    """
    asked = Recorded(case, case["expect"])
    tally.recorded.append(asked.name)
    if not (found := list(differences(asked, release))):
        return
    if _foretold(case, release):
        tally.chance.append(f"{asked.name}: another deal ends as recorded")
    elif any(_foretold(again, release) for _ in range(TIMES) for again in _same(asked.name, cases)):
        tally.chance.append(f"{found[0]}; done again it ended as ours may")
    else:
        tally.found.extend(found)


def unforeseen(case: Data, release: str) -> list[Difference]:
    """How it ends otherwise than our first deal, unless another deal ends so."""
    return [] if _foretold(case, release) else list(differences(Recorded(case, case["expect"]), release))


def _foretold(case: Data, release: str) -> bool:
    """Whether any of our deals ends as recorded."""
    asked = Recorded(case, case["expect"])
    return any(not list(differences(asked, release, deal)) for deal in range(DEALS))


def _same(name: str, cases: Callable[[], list[Data]]) -> Iterator[Data]:
    """The case of that name, made again; none where the cluster does not get there."""
    with contextlib.suppress(UnsettledError, RefusedError):
        yield from (case for case in cases() if case["name"] == name)
