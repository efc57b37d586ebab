"""Soft constraints: the score, its normalization, and the built-in and configured default constraints."""

from __future__ import annotations

from typing import Any

import pytest

from tests.builders import hosts, node, owner, pod, pods_on, soft, taint
from tests.scheduler.asking import ask, fits, scores

Data = dict[str, Any]

HOST = "kubernetes.io/hostname"
FOUR = [node("n0", zone="a"), node("n1", zone="a"), node("n2", zone="b"), node("n3", zone="c")]


def with_hostnames(nodes: list[Data], *names: str) -> list[Data]:
    """The nodes with hostname labels; their own names unless ``names`` are given."""
    named = []
    for position, plain in enumerate(nodes):
        meta = plain["metadata"]
        host = names[position] if names else meta["name"]
        named.append({**plain, "metadata": {**meta, "labels": {**meta["labels"], HOST: host}}})
    return named


@pytest.mark.parametrize(
    ("counts", "z1", "z2"),
    [((1, 1), 200, 200), ((2, 1), 66, 200), ((3, 3), 200, 200)],
    ids=["1/1/~0~", "2/1/~0~", "3/3/~0~"],
)
def test_an_infeasible_zone_does_not_change_the_ranking(counts: tuple[int, int], z1: int, z2: int) -> None:
    nodes = [node("n1", zone="1"), node("n2", zone="2"), node("n3", zone="3", taints=[taint("x")])]
    report = ask(nodes + pods_on({"n1": counts[0], "n2": counts[1]}), pod(constraints=[soft()]))
    assert scores(report) == {"n1": z1, "n2": z2}


WEB = {"app": "web"}
TWO_ZONES = [*hosts("a", "a", "b"), pod("p", "n0", labels=WEB)]


def web(**more: Any) -> Data:
    """A pod app=web; ``more`` goes into its metadata."""
    plain = pod(labels=WEB)
    return {**plain, "metadata": {**plain["metadata"], **more}}


def test_built_in_constraints_score_nodes_without_a_zone() -> None:
    objects = [*hosts("a", "a", "b", None), pod("p", "n0", labels=WEB), owner("Service", "web", WEB, api_version="v1")]
    assert scores(ask(objects, web())) == {"n0": 44, "n1": 66, "n2": 110, "n3": 200}


def configured(*constraints: Data) -> str:
    args = {"defaultingType": "List", "defaultConstraints": list(constraints)}
    return f"""
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{{pluginConfig: [{{name: PodTopologySpread, args: {args}}}]}}]
"""


ZONE_DEFAULT = {"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone"}


def test_configured_constraints_ignore_nodes_without_the_key() -> None:
    objects = [*hosts("a", "a", "b", None), pod("p", "n0", labels=WEB), owner("Service", "web", WEB, api_version="v1")]
    report = ask(objects, web(), configured({**ZONE_DEFAULT, "whenUnsatisfiable": "ScheduleAnyway"}))
    assert scores(report) == {"n0": 0, "n1": 0, "n2": 200, "n3": 0}
    assert [constraint.source for constraint in report.constraints] == ["profile"]


def test_configured_constraints_can_reject() -> None:
    objects = [*TWO_ZONES, owner("Service", "web", WEB, api_version="v1")]
    assert fits(ask(objects, web(), configured({**ZONE_DEFAULT, "whenUnsatisfiable": "DoNotSchedule"}))) == ["n2"]


def test_an_empty_list_switches_the_built_in_constraints_off() -> None:
    assert scores(ask([*TWO_ZONES, owner("Service", "web", WEB, api_version="v1")], web(), configured())) == {}


def test_match_label_keys_of_configured_constraints_have_no_effect() -> None:
    constraint = {**ZONE_DEFAULT, "whenUnsatisfiable": "DoNotSchedule", "matchLabelKeys": ["rev"]}
    objects = [*TWO_ZONES, owner("Service", "web", WEB, api_version="v1")]
    candidate = web(labels={"app": "web", "rev": "2"})
    assert fits(ask(objects, candidate, configured(constraint))) == ["n2"]


def test_each_constraints_share_of_the_raw_score_is_reported() -> None:
    report = ask(
        with_hostnames(FOUR) + pods_on({"n0": 2, "n1": 1, "n2": 1}), pod(constraints=[soft("zone"), soft(HOST, 2)])
    )
    shares = {entry.name: tuple(round(share or 0, 3) for share in entry.spread_scores) for entry in report.nodes}
    assert shares == {"n0": (4.828, 4.584), "n1": (4.828, 2.792), "n2": (1.609, 2.792), "n3": (0.0, 1.0)}


def test_a_soft_constraints_row_compares_with_the_least_feasible_domain() -> None:
    report = ask(FOUR + pods_on({"n0": 2, "n2": 1, "n3": 1}), pod(constraints=[soft()]))
    rows = {
        entry.name: (entry.constraints[0].matching, entry.constraints[0].skew, entry.constraints[0].satisfied)
        for entry in report.nodes
    }
    assert (report.constraints[0].global_minimum, rows) == (
        1,
        {"n0": (2, 2, False), "n1": (2, 2, False), "n2": (1, 1, True), "n3": (1, 1, True)},
    )
