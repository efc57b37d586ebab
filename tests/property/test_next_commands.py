"""The command to type next is about the very answer: the same cluster, scheduler, workloads, edits and verdict."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from itertools import pairwise
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from kubespread import Snapshot
from kubespread.snapshot.save import save
from tests.cli.support import FIXTURES, run
from tests.property.test_one_verdict import worlds

CLUSTERS = FIXTURES / "clusters"
FIELD = FIXTURES / "cases" / "field"
CONFIG = FIELD / "70-next-loses-config" / "sched.yaml"
REPEATED = {
    "nothing": "",
    "a release and gates": "--kube-version 1.30 --feature-gates MatchLabelKeysInPodTopologySpread=false --cordon c1",
    "a configuration": f"--scheduler-config {CONFIG}",
    "edits in their order": "--drain 'c1 --force' --uncordon c1",  # as the alphabet has them
}
ASKED: dict[str, tuple[str, ...]] = {
    "audit.yaml": (
        "survive -A",
        "survive deploy/web",
        "pending -A",
        "audit -A",
        "audit deploy/web -v",
        "simulate deploy/web --replicas 40",
        "simulate deploy/web --replicas 20",
        "explain deploy/web --set cpu=99",
        "explain deploy/web --fix --replicas 60",
        "removable",
        "removable b2",
        "plan --fail zone=b",
        "report -A",
    ),
    "stuck.yaml": (
        "pending -A",
        "survive -A",
        "simulate deploy/api -n shop",
        "explain deploy/api -n shop",
        "explain deploy/api -n shop --fix",
        "audit -A",
        "report -A",
    ),
}
FREEING = {"--add-node", "--uncordon", "--label", "--taint", "--budget"}
"""Edits that a remedy makes."""
REMEDIES = ("explain", "simulate", "rebalance")
"""What answers these with yes names what helps, or is it."""


@pytest.mark.slow
@pytest.mark.parametrize("repeated", REPEATED)
@pytest.mark.parametrize("cluster", ASKED)
def test_the_next_command_is_about_this_very_answer(cluster: str, repeated: str) -> None:
    options, wrong = REPEATED[repeated].split(), list[tuple[object, ...]]()
    for asked in ASKED[cluster]:
        wrong += wrong_next([*asked.split(), *options, "-S", str(CLUSTERS / cluster)], options)
    assert wrong == []


def wrong_next(words: list[str], options: list[str]) -> Iterator[tuple[object, ...]]:
    """The next commands of an answer that are not about it: they end in an error, lack ``options``, are the question
    itself, or say yes where it said no.
    """
    shown = run(*words, env={"NO_COLOR": "1"}, terminal=200)
    lines = [line.strip().removeprefix("next: ") for line in shown.out.splitlines() if "next: kubespread " in line]
    for line in lines:
        following = shlex.split(line)[1:]
        edits = [word for word in following if word in ("--drain", "--uncordon")]
        required, typed = {*options}, _steps(words)
        if (words[0], following[0]) == ("plan", "removable"):
            # It is about the cluster before the step that is refused.
            required -= {word for step in typed[len(_steps(following)) :] for word in step}
        is_kept = required <= {*following} and edits[:2] == sorted(edits[:2])
        end = run(*following, "-o", "json")
        if not end.out or not is_kept or sorted(following) == sorted(words):
            yield words, line, end.code, end.err
            continue
        was, now = (_verdict(run(*each, "-o", "json").out) for each in (words, following))
        is_remedy = following[0] in REMEDIES or bool(FREEING & {*following} - {*words})
        if was == "no" and now == "yes" and not is_remedy:
            yield words, line, was, now
        if was == "no" and "no change is needed" in end.out:
            yield words, line, was, "no change is needed"


def _steps(words: list[str]) -> list[tuple[str, str]]:
    names = {edit.split()[0] for edit in EDITS}
    return [(word, value) for word, value in pairwise(words) if word in names]


def _verdict(out: str) -> str:
    report = json.loads(out)
    return str((report[0] if isinstance(report, list) else report)["verdict"])


def test_70_next_loses_config() -> None:
    """A configuration that makes the pod fit nowhere is that of the remedy too."""
    folder = FIELD / "70-next-loses-config"
    words = ["pod/x-1-p1", "-S", str(folder / "cluster.yaml"), "--scheduler-config", str(CONFIG)]
    shown = run("explain", *words, env={"NO_COLOR": "1"}, terminal=200).out.splitlines()
    following = shlex.split(shown[-1].removeprefix("next: kubespread "))
    assert (following[0], sorted(following[1:])) == ("explain", sorted(["--fix", *words]))
    assert "no change is needed" not in run(*following).out


EDITS = ("--cordon {0}", "--drain {1}", "--fail {0}", "--scale Deployment/web=6", "--taint '{1} team=other:NoSchedule'")
DECIDING = ("", "--kube-version 1.30", "--kube-version 1.30 --feature-gates MatchLabelKeysInPodTopologySpread=false")
QUESTIONS = (
    "survive -A",
    "survive deploy/web",
    "pending -A",
    "audit -A",
    "simulate deploy/web --replicas 9",
    "explain deploy/web",
    "removable",
    "removable {1}",
    "plan --drain {0}",
    "report -A",
    "capacity",
)


@given(worlds(), st.sampled_from(QUESTIONS), st.lists(st.sampled_from(EDITS), max_size=2), st.sampled_from(DECIDING))
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_on_any_cluster_the_next_command_is_about_this_very_answer(
    snapshot: Snapshot, asked: str, edits: list[str], deciding: str
) -> None:
    with TemporaryDirectory() as folder:
        file = f"{folder}/cluster.json"
        save(snapshot, file)
        nodes = [node.metadata.name for node in snapshot.nodes]
        options = shlex.split(" ".join([*edits, deciding]).format(*nodes))
        words = [*asked.format(*nodes).split(), *options, "-S", file]
        # Some have no such workload, or are refused whatever is asked.
        assume(run(*words).code in (0, 1, 3))
        assert [*wrong_next(words, options)] == []
