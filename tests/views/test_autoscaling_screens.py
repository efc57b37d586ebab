"""What an autoscaler adds, below a simulation; ``python -m tests.views.test_autoscaling_screens`` rewrites the
screens that are kept.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest
from rich.cells import cell_len

import kubespread
from kubespread.questions.simulate import SimulateReport
from kubespread.views import terminal
from kubespread.views.look import Look
from tests.cli.support import FIXTURES

SCREENS = Path(__file__).parent / "screens"


class Kept(NamedTuple):
    autoscaler: str
    groups: str
    replicas: int
    width: int

    @property
    def path(self) -> Path:
        return SCREENS / f"autoscaling-{self.autoscaler}-{self.groups}-{self.replicas}-{self.width}.txt"

    @property
    def text(self) -> str:
        return terminal.table(answered(self.autoscaler, self.groups, self.replicas), Look(width=self.width))


KEPT = [
    Kept(autoscaler, groups, replicas, width)
    for autoscaler, groups, replicas in [
        ("ca", "three-zones", 20),
        ("ca", "one-zone", 12),
        ("karpenter", "three-zones", 20),
        ("karpenter", "one-zone", 12),
        ("ca", "three-zones", 200),
    ]
    for width in (80, 120)
]


def answered(autoscaler: str, groups: str, replicas: int, *more: str) -> tuple[SimulateReport, ...]:
    return kubespread.simulate(
        kubespread.load(FIXTURES / "clusters" / "zone-scaled-to-zero.yaml"),
        [str(FIXTURES / "manifests" / "twelve-over-zones.yaml"), *more],
        replicas,
        autoscaler=autoscaler,
        node_groups=str(FIXTURES / "node-groups" / f"{groups}.yaml"),
    )


@pytest.mark.parametrize("kept", KEPT, ids=lambda kept: kept.path.stem)
def test_the_screen_is_the_one_that_was_looked_at(kept: Kept) -> None:
    assert kept.text == kept.path.read_text()
    assert max(map(cell_len, kept.text.splitlines())) <= kept.width


def test_every_screen_that_is_kept_is_looked_at() -> None:
    assert {path.name for path in SCREENS.glob("autoscaling-*.txt")} == {kept.path.name for kept in KEPT}


def test_several_workloads_share_one_account() -> None:
    reports = answered("ca", "three-zones", 12, str(FIXTURES / "manifests" / "no-constraints.yaml"))
    for look in (Look(width=80), Look(width=80, in_full=True)):
        assert terminal.table(reports, look).count("cluster-autoscaler adds") == 1


def main() -> None:
    for old in SCREENS.glob("autoscaling-*.txt"):
        old.unlink()
    for kept in KEPT:
        kept.path.write_text(kept.text)


if __name__ == "__main__":
    main()
