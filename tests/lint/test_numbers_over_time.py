"""The numbers of findings about rollouts, worked out another way: by steps, which roll out in the same cluster."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

import kubespread
from kubespread.questions.plan.playing import Steps
from kubespread.questions.scene import Scene
from kubespread.reports.rollout import RevisionSkew, RolloutReport
from kubespread.scenario.reading import read_scenario
from tests.lint.test_numbers import FIXTURES, cluster_of, finding_of


def rolled_out(code: str, manifest: str = "bad") -> RolloutReport:
    """The workload of a fixture, called web, applied to its cluster and restarted; its pods stop at once."""
    steps = [{"apply": str(FIXTURES / code / f"{manifest}.yaml")}, {"rollout": "deploy/web"}]
    scenario = {"apiVersion": "kubespread.dev/v1alpha1", "kind": "Scenario", "spec": {"steps": steps}}
    question = Steps(read_scenario(scenario), runs=1)
    scene = Scene(cluster_of(code), kubespread.Scheduler(), question)
    scene.world.settings = replace(scene.world.settings, stops_at_once=True)
    (report,) = question.answer(scene).steps[-1].rollouts
    return report


def stands(skews: RevisionSkew) -> str:
    return " · ".join(f"{domain.value} {domain.new}" for domain in skews.domains)


def test_new_pods_end_where_a_rollout_leaves_them() -> None:
    finding, rollout = finding_of("KS401"), rolled_out("KS401")
    (final,), (counting,) = rollout.final, rollout.with_match_label_keys or ()
    assert finding.text == (
        f"zone counts the old pods in a rollout: after a restart 6 replicas are placed {stands(final)}, "
        f"skew {final.skew} > {final.max_skew}"
    )
    assert (final.skew, final.max_skew) == (2, 1)
    assert finding.remedy.outcome == f"after a restart 6 replicas are placed {stands(counting)}"
    assert stands(rolled_out("KS401", "good").final[0]) == stands(counting) == "a 2 · b 2 · c 2"


def test_a_rollout_without_an_end_stops_where_play_stops() -> None:
    finding, rollout = finding_of("KS406"), rolled_out("KS406")
    assert (rollout.complete, rollout.passes[-1].running.new) == (False, 0)
    assert finding.text == (
        f"no rollout completes: with maxSurge 1 and maxUnavailable 0 a restart stops at 0 of 6 new pods: {rollout.wedged_on}"
    )
    mended = rolled_out("KS406", "good")
    assert mended.complete
    assert finding.remedy.outcome == f"the restart completes, at least {mended.fewest_ready} pods ready throughout"


def test_a_key_that_pods_lack_counts_as_if_it_were_not_there() -> None:
    finding = finding_of("KS403")
    assert finding.text.endswith("the key is dropped, and the constraint counts every pod with app=web")
    explained = kubespread.explain(cluster_of("KS403"), str(FIXTURES / "KS403" / "bad.yaml"))
    assert [constraint.selector for constraint in explained.constraints] == ["app=web"]
    assert finding.remedy.text == "matchLabelKeys: [controller-revision-hash]"


def test_of_a_rollout_too_large_to_rehearse_the_first_new_pod_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    rehearsed = finding_of("KS406")
    monkeypatch.setattr("kubespread.questions.check.trial._MAX_REHEARSED", 0)
    assert finding_of("KS406").text == rehearsed.text
    good = [str(FIXTURES / "KS406" / "good.yaml")]
    assert kubespread.check(cluster_of("KS406"), good, select=["KS406"]).findings == ()
