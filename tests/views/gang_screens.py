"""The screens of gangs that are kept, and how they come about: ``python -m tests.views.gang_screens`` rewrites them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import kubespread
from kubespread.questions.simulate import SimulateReport
from kubespread.views import terminal
from kubespread.views.look import Look
from tests.builders import Data, hard, node, pod
from tests.gangs import deployment, pod_group, scheduler
from tests.views.clusters import HOSTNAME, NAMES, ZONE, ZONES

SCREENS = Path(__file__).parent / "screens"


class Question(NamedTuple):
    nodes: int
    names: str
    gang: str
    options: dict[str, Any]
    constraints: list[Data] | None = None


QUESTIONS: dict[str, Question] = {
    "fits-anywhere": Question(12, "aws", "8", {}),
    "fits-in-a-zone": Question(12, "aws", f"6:{ZONE}", {}),
    "fits-in-no-zone": Question(12, "gke", f"18:{ZONE}", {}),
    "one-short": Question(12, "aws", "41", {}),
    "stuck-on-spreading": Question(12, "gke", "28", {}, [hard(ZONE)]),
    "several": Question(12, "aws", f"4:{ZONE}", {"replicas": 40}),
    "many-racks": Question(500, "aws", "30:rack", {}),
    "no-rack": Question(505, "aws", "60:rack", {}),
}


class Screen(NamedTuple):
    name: str
    width: int

    @property
    def path(self) -> Path:
        return SCREENS / f"gang-{self.name}-{self.width}.txt"

    @property
    def text(self) -> str:
        return terminal.table(answered(self.name), Look(width=self.width))


SCREENS_KEPT = [Screen(name, width) for name in (*QUESTIONS, "pod-group") for width in (80, 120)]


def objects_of(question: Question) -> list[Data]:
    """Nodes of 8 cpu in three zones and in racks of ten; each third has 4 taken."""
    objects: list[Data] = []
    for number in range(question.nodes):
        name = NAMES[question.names](number)
        made = node(name, cpu="8")
        zone = ZONES[question.names][number % 3]
        made["metadata"]["labels"] = {ZONE: zone, HOSTNAME: name, "rack": f"rack-{number // 10:02}"}
        objects.append(made)
        if number % 3 == 1:
            objects.append(pod(f"db-{number}", name, labels={"app": "db"}, requests={"cpu": "4"}))
    return objects


@cache
def answered(name: str) -> Sequence[SimulateReport]:
    if name == "pod-group":
        question = QUESTIONS["fits-in-a-zone"]
        snapshot = kubespread.Snapshot.from_objects([*objects_of(question), pod_group(min_count=18, key=ZONE)])
        return [kubespread.simulate(snapshot, deployment(20, requests={"cpu": "2"}), scheduler=scheduler())]
    question = QUESTIONS[name]
    snapshot = kubespread.Snapshot.from_objects(objects_of(question))
    candidate = deployment(1, "train", schedulingGroup=None, requests={"cpu": "2"}, constraints=question.constraints)
    return [kubespread.simulate(snapshot, candidate, gang=question.gang, **question.options)]


def main() -> None:
    for path in SCREENS.glob("gang-*.txt"):
        path.unlink()
    for kept in SCREENS_KEPT:
        kept.path.write_text(kept.text)


if __name__ == "__main__":
    main()
