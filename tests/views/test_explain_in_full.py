"""What ``--node`` prints below each plugin that rejects: the data behind it in full."""

from __future__ import annotations

from typing import Any

import pytest

from kubespread.questions.explain.sentences import in_sentences
from tests.builders import hosts, node, pod, taint
from tests.scheduler.asking import ask
from tests.scheduler.test_interpodaffinity import away, near, term
from tests.scheduler.test_node_plugins import label, required
from tests.scheduler.test_volumes import HOSTS, claim, uses, volume
from tests.storage import on_host

Data = dict[str, Any]
FOO = {"foo": "bar"}


def behind(objects: list[Data], candidate: Data, name: str) -> list[str]:
    """The lines below the plugins, in order."""
    report = ask(objects, candidate).only([name])
    return [line.strip() for line in in_sentences(report).splitlines() if line.startswith(" " * 6)]


CASES: dict[str, tuple[list[Data], Data, str, list[str]]] = {
    "exact amounts": (
        [node("n", cpu="7910m"), pod("p", "n", requests={"cpu": "7", "memory": "16000Mi"})],
        pod(requests={"cpu": "1", "memory": "385Mi"}),
        "n",
        ["cpu: requests 1, free 910m of 7910m allocatable", "memory: requests 385Mi, free 384Mi of 16Gi allocatable"],
    ),
    "what says itself in few words": (
        [node("n", unschedulable=True, taints=[taint("gpu", value="yes")])],
        pod(),
        "n",
        ["cordoned", "taint gpu=yes:NoSchedule"],
    ),
    "which term, counted from 1, and what the node has": (
        [node("n", z="3")],
        pod(nodeSelector={"disk": "ssd"}, **required(label("z", "In", "1"), label("z", "Gt", "7"))),
        "n",
        [
            "nodeSelector: disk=ssd, the node has none",
            "nodeAffinity term 1: z=1, the node has 3",
            "nodeAffinity term 2: z Gt 7, the node has 3",
        ],
    ),
    "whom a term keeps away from, where, and how many": (
        [*hosts("a", "a", "b"), pod("p", "n0"), pod("q", "n1")],
        pod(
            affinity=away(
                term("topology.kubernetes.io/zone", FOO, namespaceSelector={}), term("kubernetes.io/hostname", FOO)
            )
        ),
        "n1",
        [
            "anti-affinity to pods foo=bar (all namespaces): 2 pods, the first default/p on n0, "
            "where topology.kubernetes.io/zone is a",
            "anti-affinity to pods foo=bar (namespace default): 1 pod, default/q on n1, where kubernetes.io/hostname is n1",
        ],
    ),
    "whose term keeps the pod away": (
        [
            *hosts("a"),
            *(pod(name, "n0", labels={}, affinity=away(term("kubernetes.io/hostname", FOO))) for name in "pq"),
        ],
        pod(),
        "n0",
        [
            "2 terms, the first of default/p on n0: anti-affinity to pods foo=bar (namespace default) "
            "where kubernetes.io/hostname is n0"
        ],
    ),
    "whom a term looks for in vain": (
        [*hosts("a")],
        pod(
            affinity=near(
                term("topology.kubernetes.io/zone", {"app": "db"}, namespaceSelector={"matchLabels": {"t": "1"}}),
                term("missing", {"app": "db"}),
            )
        ),
        "n0",
        [
            "affinity to pods app=db (namespaces t=1): none where topology.kubernetes.io/zone is a",
            "affinity to pods app=db (namespace default): the node has no label missing",
        ],
    ),
    "where a volume is": (
        [*HOSTS, claim(volume="pv1"), volume(only=on_host("n2", "host"))],
        uses("c"),
        "n1",
        ["claim default/c, volume pv1: needs host=n2, the node has n1"],
    ),
    "which zones a volume is labeled with": (
        [*hosts("a"), claim(volume="pv1"), volume(labels={"topology.kubernetes.io/zone": "b__c"})],
        uses("c"),
        "n0",
        ["claim default/c, volume pv1: topology.kubernetes.io/zone is b or c, the node has a"],
    ),
    "who uses a claim, and where": (
        [*HOSTS, claim(volume="pv1", accessModes=["ReadWriteOncePod"]), volume(), uses("c", name="p", on="n1")],
        uses("c"),
        "n2",
        ["claim default/c: used by default/p on n1"],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_below_each_plugin_stands_what_is_behind_its_rejection(case: str) -> None:
    objects, candidate, name, expected = CASES[case]
    assert behind(objects, candidate, name) == expected
