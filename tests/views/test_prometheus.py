"""Metrics as Prometheus reads them."""

from __future__ import annotations

import re

import pytest

from tests.cli.support import FIXTURES, run

STUCK, SHOP = (str(FIXTURES / "clusters" / f"{name}.yaml") for name in ("stuck", "shop"))
SERIES = re.compile(
    r'(?P<name>[a-z][a-z0-9_]*)(?:\{(?P<labels>[a-z_]+="(?:[^"\\\n]|\\[\\"n])*"(?:,[a-z_]+="(?:[^"\\\n]|\\[\\"n])*")*)\})? (?P<value>\S+)'
)


def parsed(text: str) -> dict[str, float]:
    """The value of each series. Fails on what is not the text format: each metric has its HELP and TYPE, once, and
    then its samples; no series comes twice.

    Source of the format: the Prometheus documentation, "Exposition formats".
    """
    values: dict[str, float] = {}
    declared: list[str] = []
    assert text.endswith("\n")
    for line in text.splitlines():
        if line.startswith("# HELP "):
            name = line.split(" ")[2]
            assert name not in declared
            assert len(line.split(" ")) > 3
            declared.append(name)
        elif line.startswith("#"):
            assert line == f"# TYPE {declared[-1]} gauge"
        else:
            match = SERIES.fullmatch(line)
            assert match is not None, line
            assert match["name"] == declared[-1]
            series = line.rpartition(" ")[0]
            assert series not in values
            values[series] = float(match["value"])
    assert all(re.fullmatch("kubespread(_[a-z]+)+", name) for name in declared)
    return values


CASES: dict[str, tuple[list[str], dict[str, float]]] = {
    "capacity": (
        ["capacity", "--request", "cpu=2,memory=4Gi", "-S", SHOP],
        {
            'kubespread_capacity_allocatable{resource="cpu"}': 24,
            'kubespread_capacity_requested{resource="memory"}': 3 << 30,
            'kubespread_capacity_allocatable{resource="pods"}': 120,
            "kubespread_capacity_fitting_pods": 6,
        },
    ),
    "pending": (
        ["pending", "-A", "-S", STUCK],
        {
            "kubespread_cluster_pods": 20,
            'kubespread_pending_pods{cause="filtered"}': 9,
            'kubespread_pending_pods{cause="nominated"}': 0,
            'kubespread_pending_freed_pods{cause="filtered"}': 9,
        },
    ),
    "survive": (
        ["survive", "-A", "-S", SHOP],
        {
            "kubespread_survive_outcomes": 3,
            'kubespread_survive_ok{topology_key="topology.kubernetes.io/zone",domain="a"}': 0,
            'kubespread_survive_pending_pods{topology_key="topology.kubernetes.io/zone",domain="a"}': 3,
            'kubespread_survive_degraded_workloads{topology_key="topology.kubernetes.io/zone",domain="a"}': 1,
        },
    ),
    "audit": (["audit", "-A", "-S", SHOP], {'kubespread_workloads{level="violated"}': 0}),
    "report": (["report", "-A", "-S", SHOP], {}),
}


@pytest.mark.parametrize("case", CASES)
def test_metrics_are_in_the_text_format(case: str) -> None:
    asked, expected = CASES[case]
    values = parsed(run(*asked, "-q", "-o", "prometheus").out)
    assert {series: values.get(series) for series in expected} == expected
    assert values
