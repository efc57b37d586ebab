"""``kubespread compare`` as its users run it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import kubespread
from kubespread.cli.field import AfterOptions
from kubespread.cli.options.groups import ClusterOptions, EditedClusterOptions
from kubespread.questions import editing
from tests.cli.support import COMPARE_SCHEMA, FIXTURES, ROOT, run, shell

UPGRADED = str(FIXTURES / "clusters" / "before-the-upgrade.yaml")
SKEW_1, SKEW_2 = (str(FIXTURES / "manifests" / f"{name}.yaml") for name in ("kep-zone", "kep-zone-skew-2"))
KEP = str(FIXTURES / "clusters" / "kep-3-2-1.yaml")
OTHER = str(FIXTURES / "clusters" / "kep-1-1-0.yaml")
LAX = (
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
    "profiles:\n- schedulerName: default-scheduler\n  plugins: {filter: {disabled: [{name: PodTopologySpread}]}}\n- schedulerName: other\n"
)

DIFFERENCES: dict[str, tuple[list[str], int, str]] = {
    "two manifests": ([SKEW_1, SKEW_2], 1, "3 nodes fit now, 1 replica goes elsewhere"),
    "two manifests as files": (["-f", SKEW_1, "-f", SKEW_2], 1, "3 nodes fit now, 1 replica goes elsewhere"),
    "a field that is set": ([SKEW_1, "--set", "maxSkew=2"], 1, "3 nodes fit now, 1 replica goes elsewhere"),
    "an edit": ([SKEW_1, "--cordon", "node3a"], 1, "1 node no longer fits, 0 of 1 replica placed instead of 1"),
    "an edit of the other manifest": (
        [SKEW_1, SKEW_2, "--cordon", "node3a"],
        1,
        "1 node no longer fits, 3 fit now, 1 replica goes elsewhere",
    ),
    "an edit that changes nothing": (
        [SKEW_1, "--uncordon", "node3a"],
        0,
        "same: 1 of 7 nodes fits, 1 of 1 replica placed",
    ),
    "another snapshot": ([SKEW_1, "--to-snapshot", OTHER], 1, "7 nodes are gone, 3 are new, 1 replica goes elsewhere"),
    "the same snapshot again": ([SKEW_1, "--to-snapshot", KEP], 0, "same: 1 of 7 nodes fits, 1 of 1 replica placed"),
    "another configuration": ([SKEW_1, "--to-scheduler-config", LAX], 1, "6 nodes fit now, 1 replica goes elsewhere"),
    "another profile": (
        [SKEW_1, "--scheduler-config", LAX, "--to-scheduler-name", "other"],
        1,
        "6 nodes no longer fit, 1 replica goes elsewhere",
    ),
    "another release": (
        [SKEW_1, "--kube-version", "1.34", "--to-kube-version", "1.35"],
        0,
        "same: 1 of 7 nodes fits, 1 of 1 replica placed",
    ),
    "the release twice": (
        [SKEW_1, "--kube-version", "1.34", "--kube-version", "1.35"],
        0,
        "same: 1 of 7 nodes fits, 1 of 1 replica placed",
    ),
    "other feature gates": (
        [SKEW_1, "--kube-version", "1.32", "--to-feature-gates", "MatchLabelKeysInPodTopologySpread=false"],
        0,
        "same: 1 of 7 nodes fits, 1 of 1 replica placed",
    ),
    "more replicas": (
        [SKEW_1, "--replicas", "12", "--set", "maxSkew=2"],
        1,
        "3 nodes fit now, 12 of 12 replicas placed instead of 11",
    ),
}


@pytest.mark.parametrize("case", DIFFERENCES)
def test_what_differs_after_and_the_exit_code(case: str) -> None:
    arguments, code, conclusion = DIFFERENCES[case]
    conclusion = f"No: {conclusion}" if code == 1 else conclusion
    table = run("compare", *arguments, "-S", KEP, "-q", "--color", "never", terminal=120)
    assert (table.code, conclusion in table.out.splitlines(), table.err) == (code, True, "")
    piped = run("compare", *arguments, "-S", KEP)
    assert (piped.code, piped.err.splitlines()[-1]) == (code, conclusion)


OF_ALL: dict[str, tuple[list[str], int, str]] = {
    "every workload": (
        ["-A", "--kube-version", "1.36", "--kube-version", "1.37"],
        1,
        "1 of 6 workloads differs: 1 has another first choice (ml/Deployment/model)",
    ),
    "every workload of a namespace": (
        ["--all", "-n", "shop", "--kube-version", "1.36", "--kube-version", "1.37"],
        0,
        "same: 3 workloads",
    ),
    "those with labels": (
        ["-A", "-l", "app=web", "--cordon", "n2"],
        1,
        "1 of 1 workload differs: 1 has another first choice (shop/Deployment/web)",
    ),
    "those of a kind": (
        ["deploy,sts", "--all", "-n", "ml", "--cordon", "n2"],
        1,
        "1 of 1 workload differs: 1 fits other nodes (ml/Deployment/model)",
    ),
    "those of a namespace without any": (
        ["--all", "-n", "empty", "--cordon", "n2"],
        2,
        'error: namespaces "empty" not found; there are batch, default, kube-system, ml, ops, shop',
    ),
    "one that is named and all": (
        [SKEW_1, "-A", "--cordon", "n2"],
        2,
        f"error: {SKEW_1} and -A/--all-namespaces do not go together: both say which workloads are meant",
    ),
    "replicas of all": (
        ["-A", "--replicas", "3", "--cordon", "n2"],
        2,
        "error: -A/--all-namespaces and --replicas do not go together: of each workload of the cluster the next pod is "
        "asked about",
    ),
    "labels of one that is named": (
        [SKEW_1, "-l", "app=web", "--cordon", "n2"],
        2,
        f"error: -l/--selector chooses among the workloads of the cluster: {SKEW_1} is none of them",
    ),
    "a field set in all of them": (
        ["-A", "--set", "nodeSelector[topology.kubernetes.io/zone]=z"],
        1,
        "6 of 6 workloads differ: 5 no longer fit (batch/Deployment/report, ml/Deployment/model, shop/Deployment/api "
        "and 2 more), 1 preempts different pods (ops/Deployment/urgent)",
    ),
}


@pytest.mark.parametrize("case", OF_ALL)
def test_all_workloads_of_the_cluster_are_compared(case: str) -> None:
    arguments, code, conclusion = OF_ALL[case]
    conclusion = f"No: {conclusion}" if code == 1 else conclusion
    result = run("compare", *arguments, "-S", UPGRADED, "-q", "--color", "never", terminal=400)
    said = (result.out or result.err).splitlines()
    assert (result.code, any(line.startswith(conclusion) for line in said)) == (code, True), said


def test_the_sides_say_what_was_asked() -> None:
    result = run(
        "compare",
        SKEW_1,
        "-S",
        KEP,
        "--cordon",
        "node3a",
        "--set",
        "maxSkew=2",
        "--uncordon",
        "node3a",
        "--kube-version",
        "1.30",
        "--to-feature-gates",
        "MatchLabelKeysInPodTopologySpread=false",
        "-o",
        "json",
    )
    report = result.report_of(COMPARE_SCHEMA)
    asked: dict[str, Any] = {
        "manifest": SKEW_1,
        "settings": [],
        "edits": [],
        "schedulerConfig": None,
        "featureGates": None,
    }
    assert report["before"]["asked"] == asked
    assert report["after"]["asked"] == {
        **asked,
        "settings": ["maxSkew=2"],
        "edits": ["cordon node3a", "uncordon node3a"],
        "featureGates": "MatchLabelKeysInPodTopologySpread=false",
    }
    assert [report[side]["kubeVersion"] for side in ("before", "after")] == ["1.30", "1.30"]


NOTHING = (
    "error: nothing to compare: give a second POD, a second --kube-version, an edit such as --cordon NODE, "
    "--set FIELD=VALUE, or a --to- option such as --to-snapshot PATH\n"
)
REFUSED: dict[str, tuple[list[str], int, str]] = {
    "nothing that differs": ([SKEW_1], 2, NOTHING),
    "three manifests": (
        [SKEW_1, SKEW_2, "-f", SKEW_1],
        2,
        f"error: 3 PODs given ({SKEW_1}, {SKEW_2}, {SKEW_1}): expected one, or two to compare\n",
    ),
    "two clusters after": (
        [SKEW_1, "--to-snapshot", OTHER, "--to-context", "prod"],
        2,
        "error: --to-snapshot and --to-context do not go together: both name the cluster after\n",
    ),
    "standard input twice": (
        [SKEW_1, "--to-snapshot", "-", "-f", "-"],
        2,
        "error: standard input can be read only once: -f/--filename and --to-snapshot both ask for it\n",
    ),
    "a release that does not exist": (
        [SKEW_1, "--to-kube-version", "1.99"],
        2,
        "error: kube-scheduler 1.99 is not modeled: versions 1.18 to 1.37 are, and what is merged of 1.38\n",
    ),
    "a second release that does not exist": (
        [SKEW_1, "--kube-version", "1.36", "--kube-version", "1.99"],
        2,
        "error: kube-scheduler 1.99 is not modeled: versions 1.18 to 1.37 are, and what is merged of 1.38\n",
    ),
    "a release alone": ([SKEW_1, "--kube-version", "1.36"], 2, NOTHING),
    "three releases": (
        [SKEW_1, "--kube-version", "1.35", "--kube-version", "1.36", "--kube-version", "1.37"],
        2,
        "error: --kube-version given 3 times: expected once, or twice (BEFORE, AFTER)\n",
    ),
    "two releases after": (
        [SKEW_1, "--kube-version", "1.35", "--kube-version", "1.36", "--to-kube-version", "1.37"],
        2,
        "error: --kube-version twice and --to-kube-version both name the release after: leave one out\n",
    ),
    "a profile that does not exist": (
        [SKEW_1, "--to-scheduler-name", "x"],
        2,
        'error: profile not found for scheduler name "x"; profiles: default-scheduler\n',
    ),
    "a configuration that does not exist": (
        [SKEW_1, "--to-scheduler-config", "nope"],
        2,
        "error: nope: No such file or directory\n",
    ),
    "a number that is none": (
        [SKEW_1, "--cordon", "node3a", "--replicas", "max"],
        2,
        "error: invalid --replicas 'max': expected a number from 0\n",
    ),
    "a snapshot that does not exist": (
        [SKEW_1, "--to-snapshot", "nope"],
        3,
        "error: nope: No such file or directory\n",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case: str) -> None:
    arguments, code, said = REFUSED[case]
    assert run("compare", *arguments, "-S", KEP) == (code, "", said)


def test_what_is_mistyped_is_said_before_a_cluster_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(*_: object) -> kubespread.Snapshot:
        raise AssertionError

    monkeypatch.setattr(editing, "load_files", load)
    for arguments in (["--cordon", ""], ["--set", "x"], ["--to-scheduler-config", "nope"], ["--replicas", "x"], []):
        assert run("compare", SKEW_1, "-S", KEP, *arguments).code == 2


def test_pipes_are_read_once() -> None:
    narrow = f"<(cat {SKEW_1})"
    wide = f"<(sed 's/maxSkew: 1/maxSkew: 2/' {SKEW_1})"
    assert shell(f"kubespread compare {narrow} {wide} -S {KEP} -q | head -2 | tail -1").out.split()[:2] == [
        "node2a",
        "fits-now",
    ]
    assert shell(f"kubespread compare - -S {KEP} --set maxSkew=2 -q < {SKEW_1}").code == 1


def test_gaps_of_either_side_are_an_answer_of_their_own_when_asked_to_be_strict(tmp_path: Path) -> None:
    (pod := tmp_path / "pod.yaml").write_text(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: web, labels: {app: web}}\nspec: {containers: [{name: main, image: x}]}\n"
    )
    assert run("compare", pod, "-S", KEP, "--cordon", "node3a").code == 1
    strict = run("compare", pod, "-S", KEP, "--cordon", "node3a", "--strict")
    assert (strict.code, strict.err.splitlines()[0]) == (
        3,
        "gap: no Service objects: default constraints cannot be derived from Services",
    )


def test_more_detail_is_each_node_by_itself() -> None:
    brief, full = (
        run("compare", SKEW_1, SKEW_2, "-S", KEP, "--color", "never", *more, terminal=80).out for more in ((), ("-v",))
    )
    assert "node2a, node2b, node2c" in brief
    assert [line.split()[2] for line in full.splitlines() if "fits now" in line] == ["node2a", "node2b", "node2c"]


def test_what_1_37_changes_where_storage_is_free_a_driver_is_missing_and_an_image_is_mounted() -> None:
    result = run(
        "compare",
        "fixtures/manifests/model-server.yaml",
        "-S",
        "fixtures/clusters/free-storage.yaml",
        "--kube-version",
        "1.36",
        "--kube-version",
        "1.37",
        "-o",
        "json",
        cwd=ROOT,
    )
    report = result.report_of(COMPARE_SCHEMA)
    assert [report[side]["kubeVersion"] for side in ("before", "after")] == ["1.36", "1.37"]
    assert [report[side]["first"] for side in ("before", "after")] == [["n2"], ["n1"]]
    of_1_36, of_1_37 = (
        {each["name"]: {**each[side]["scores"], "fits": each[side]["feasible"]} for each in report["nodes"]}
        for side in ("before", "after")
    )
    assert all("VolumeBinding" not in scores for scores in of_1_36.values())
    assert [of_1_36[node]["ImageLocality"] for node in ("n1", "n2")] == [0, 21]
    assert [of_1_37[node]["ImageLocality"] for node in ("n1", "n2")] == [0, 10]
    assert [of_1_37[node]["VolumeBinding"] for node in ("n1", "n2")] == [90, 25]
    assert (of_1_36["n3"]["fits"], of_1_37["n3"]["fits"]) == (True, False)
    (after,) = (each["after"]["verdict"]["reasons"] for each in report["nodes"] if each["name"] == "n3")
    assert after == ["local.csi.example.com CSI driver is not installed on the node"]


def test_another_context_is_reached_the_same_way_without_edits_and_overrides() -> None:
    before = EditedClusterOptions(
        snapshot=[Path(KEP)], context="monday", cluster="eu", user="me", as_user="you", cordon=["node3a"]
    )
    assert AfterOptions(to_context="tuesday").cluster(before) == ClusterOptions(context="tuesday", as_user="you")
    assert AfterOptions(to_snapshot=[Path(OTHER)]).cluster(before) == ClusterOptions(
        snapshot=[Path(OTHER)], context="monday", cluster="eu", user="me", as_user="you"
    )
    assert AfterOptions(to_kube_version="1.30").cluster(before) is None
