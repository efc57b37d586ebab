"""The command to type next is about the very answer: the same cluster, scheduler, workloads, edits and verdict."""

from __future__ import annotations

import json
import shlex

import pytest

from tests.cli.support import FIXTURES, run

CLUSTERS = FIXTURES / "clusters"
FIELD = FIXTURES / "cases" / "field"
CONFIG = FIELD / "70-next-loses-config" / "sched.yaml"
REPEATED = {
    "nothing": "",
    "a release and gates": "--kube-version 1.30 --feature-gates MatchLabelKeysInPodTopologySpread=false --cordon c1",
    "a configuration and its profile": f"--scheduler-config {CONFIG} --scheduler-name default-scheduler",
    "edits in their order": "--drain c1 --force --uncordon c1",  # as the alphabet has them
}
ASKED: dict[str, tuple[str, ...]] = {
    "audit.yaml": (
        "survive -A",
        "survive deploy/web",
        "pending -A",
        "audit -A",
        "audit deploy/web --why",
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
REMEDIES = ("explain", "simulate")
"""What answers these with yes names what helps, or is it."""


@pytest.mark.slow
@pytest.mark.parametrize("repeated", REPEATED)
@pytest.mark.parametrize("cluster", ASKED)
def test_the_next_command_is_about_this_very_answer(cluster: str, repeated: str) -> None:
    options, wrong = REPEATED[repeated].split(), list[tuple[object, ...]]()
    for asked in ASKED[cluster]:
        words = [*asked.split(), *options, "-S", str(CLUSTERS / cluster)]
        shown = run(*words, "--color", "never", terminal=200)
        assert shown.code in (0, 1), (words, shown.err)
        lines = [line.strip().removeprefix("next: ") for line in shown.out.splitlines() if "next: kubespread " in line]
        for line in lines:
            following = shlex.split(line)[1:]
            edits = [word for word in following if word in ("--drain", "--uncordon")]
            is_kept = {*options} <= {*following} and edits[:2] == sorted(edits[:2])
            end = run(*following, "-o", "json")
            is_itself = sorted(following) == sorted(words)
            if end.code not in (0, 1) or not is_kept or is_itself:
                wrong.append((words, line, end.code, end.err))
                continue
            was, now = (_verdict(run(*each, "-o", "json").out) for each in (words, following))
            if was == "no" and now == "yes" and following[0] not in REMEDIES:
                wrong.append((words, line, was, now))
            if was == "no" and "no change is needed" in end.out:
                wrong.append((words, line, was, "no change is needed"))
    assert wrong == []


def _verdict(out: str) -> str:
    report = json.loads(out)
    return str((report[0] if isinstance(report, list) else report)["verdict"])


def test_70_next_loses_config() -> None:
    """A configuration that makes the pod fit nowhere is that of the remedy too."""
    folder = FIELD / "70-next-loses-config"
    words = ["pod/x-1-p1", "-S", str(folder / "cluster.yaml"), "--scheduler-config", str(CONFIG)]
    shown = run("explain", *words, "--color", "never", terminal=200).out.splitlines()
    following = shlex.split(shown[-1].removeprefix("next: kubespread "))
    assert (following[0], sorted(following[1:])) == ("explain", sorted(["--fix", *words]))
    assert "no change is needed" not in run(*following).out
