"""``kubespread compare`` as its users run it."""

from __future__ import annotations

from pathlib import Path

import pytest

import kubespread
from kubespread.questions import editing
from tests.cli.support import COMPARE_SCHEMA, FIXTURES, ROOT, run, shell

UPGRADED = str(FIXTURES / "clusters" / "before-the-upgrade.yaml")
SKEW_1, SKEW_2 = (str(FIXTURES / "manifests" / f"{name}.yaml") for name in ("kep-zone", "kep-zone-skew-2"))
KEP = str(FIXTURES / "clusters" / "kep-3-2-1.yaml")
OTHER = str(FIXTURES / "clusters" / "kep-1-1-0.yaml")
LAX = (
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
    "profiles:\n- schedulerName: default-scheduler\n  plugins: {filter: {disabled: [{name: PodTopologySpread}]}}\n"
)

SAME = "same: 1 workload and 7 nodes"
WIDER = "1 of 1 workload and 4 of 7 nodes differ, nothing is worse"
CORDONED = "1 of 1 workload and 1 of 7 nodes differ, worse: default/Pod/mypod placed 1 → 0"
DIFFERENCES: dict[str, tuple[list[str], int, str]] = {
    "two manifests": ([SKEW_1, SKEW_2], 0, WIDER),
    "two manifests as files": (["-f", SKEW_1, "-f", SKEW_2], 0, WIDER),
    "a field that is set": ([SKEW_1, "--set", "maxSkew=2"], 0, WIDER),
    "an edit": (
        [SKEW_1, "--cordon", "node3a"],
        1,
        "1 of 1 workload and 1 of 7 nodes differ, worse: default/Pod/mypod pending 0 → 1 and 2 more changes",
    ),
    "an edit of the other manifest": (
        [SKEW_1, SKEW_2, "--cordon", "node3a"],
        1,
        "1 of 1 workload and 4 of 7 nodes differ, worse: node3a fits yes → no",
    ),
    "an edit for the better": (
        [SKEW_1, "--add-node", "node3a"],
        0,
        "1 of 1 workload and 2 of 8 nodes differ, nothing is worse",
    ),
    "an edit that changes nothing": ([SKEW_1, "--uncordon", "node3a"], 0, SAME),
    "another snapshot": (
        [SKEW_1, "--to-snapshot", OTHER],
        1,
        "1 of 1 workload and 10 of 10 nodes differ, worse: node3a fits yes → –",
    ),
    "the same snapshot again": ([SKEW_1, "--to-snapshot", KEP], 0, SAME),
    "another configuration": (
        [SKEW_1, "--to-scheduler-config", LAX],
        1,
        "1 of 1 workload and 7 of 7 nodes differ, worse: default/Pod/mypod skew zone above maxSkew 0 → 1",
    ),
    "another release": ([SKEW_1, "--kube-version", "1.34", "--to-kube-version", "1.35"], 0, SAME),
    "more replicas": ([SKEW_1, "--replicas", "12", "--set", "maxSkew=2"], 0, WIDER),
}


@pytest.mark.parametrize("case", DIFFERENCES)
def test_what_differs_after_and_the_exit_code(case: str) -> None:
    arguments, code, conclusion = DIFFERENCES[case]
    table = run("compare", *arguments, "-S", KEP, "-q", env={"NO_COLOR": "1"}, terminal=200)
    said = f"No: {conclusion}" if code else conclusion
    assert (table.code, table.out.splitlines()[0], table.err) == (code, said, "")
    piped = run("compare", *arguments, "-S", KEP)
    assert (piped.code, piped.err.splitlines()[-1]) == (code, said)


OF_ALL: dict[str, tuple[list[str], int, str]] = {
    "every workload": (
        ["-A", "--kube-version", "1.36", "--to-kube-version", "1.37"],
        1,
        "if all replicas are placed anew, 2 of 6 workloads differ, worse: shop/Deployment/api pending 0 → 1",
    ),
    "every workload of a namespace": (
        ["--all", "-n", "ml", "--kube-version", "1.36", "--to-kube-version", "1.37"],
        0,
        "if all replicas are placed anew, 1 of 1 workload differs, nothing is worse",
    ),
    "those with labels": (
        ["-A", "-l", "app=web", "--cordon", "n2"],
        0,
        "if all replicas are placed anew, 1 of 1 workload differs, nothing is worse",
    ),
    "all and a name": (
        ["deploy/web", "--all", "-n", "ml", "--cordon", "n2"],
        2,
        "error: --all asks about all workloads of the namespace: leave out 'deploy/web'",
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
        "error: -A/--all-namespaces and --replicas do not go together: both say how many replicas there are",
    ),
    "labels of one that is named": (
        [SKEW_1, "-l", "app=web", "--cordon", "n2"],
        2,
        f"error: -l/--selector chooses among the workloads of the cluster: {SKEW_1} is none of them",
    ),
    "a field set in all of them": (
        ["-A", "--set", "nodeSelector[topology.kubernetes.io/zone]=z"],
        1,
        "if all replicas are placed anew, 6 of 6 workloads differ, worse: batch/Deployment/report pending 0 → 2 and 5 more changes",
    ),
}


@pytest.mark.parametrize("case", OF_ALL)
def test_all_workloads_of_the_cluster_are_compared(case: str) -> None:
    arguments, code, conclusion = OF_ALL[case]
    said = f"No: {conclusion}" if code == 1 else conclusion
    result = run("compare", *arguments, "-S", UPGRADED, "-q", env={"NO_COLOR": "1"}, terminal=400)
    assert (result.code, (result.out or result.err).splitlines()[0]) == (code, said)


def test_the_sides_say_what_was_asked() -> None:
    edits = ["--cordon", "node3a", "--set", "maxSkew=2", "--uncordon", "node3a"]
    result = run(
        "compare", SKEW_1, "-S", KEP, *edits, "--kube-version", "1.30", "--to-kube-version", "1.31", "-o", "json"
    )
    report = result.report_of(COMPARE_SCHEMA)
    names = ("manifest", "settings", "edits", "schedulerConfig", "featureGates", "kubeVersion")
    asked = [[report[side][name] for name in names] for side in ("before", "after")]
    assert asked == [
        [SKEW_1, [], [], None, None, "1.30"],
        [SKEW_1, ["maxSkew=2"], ["cordon node3a", "uncordon node3a"], None, None, "1.31"],
    ]


NOTHING = (
    "error: nothing to compare: give a second POD, an edit such as --cordon NODE, --set FIELD=VALUE, or a --to- option "
    "such as --to-snapshot PATH\n"
)
REFUSED: dict[str, tuple[list[str], int, str]] = {
    "nothing that differs": ([SKEW_1], 2, NOTHING),
    "three manifests": (
        [SKEW_1, SKEW_2, "-f", SKEW_1],
        2,
        f"error: 3 PODs given ({SKEW_1}, {SKEW_2}, {SKEW_1}): expected one, or two to compare\n",
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
    "a release alone": ([SKEW_1, "--kube-version", "1.36"], 2, NOTHING),
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
    for arguments in (["--cordon", ""], ["--replicas", "x"], []):
        assert run("compare", SKEW_1, "-S", KEP, *arguments).code == 2


def test_pipes_are_read_once() -> None:
    narrow = f"<(cat {SKEW_1})"
    wide = f"<(sed 's/maxSkew: 1/maxSkew: 2/' {SKEW_1})"
    out = shell(f"kubespread compare {narrow} {wide} -S {KEP} -q --no-headers").out
    assert [line.split() for line in out.splitlines() if " fits " in line] == [
        [node, "fits", "no", "yes"] for node in ("node2b", "node2c", "node2a")
    ]
    assert shell(f"kubespread compare - -S {KEP} --set maxSkew=2 -q < {SKEW_1}").code == 0


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


def test_every_format_has_the_same_cells() -> None:
    asked = ("compare", SKEW_1, "-S", KEP, "--cordon", "node3a", "-q")
    cells = run(*asked, "-o", "csv").out.splitlines()
    changes = run(*asked, "-o", "json").report_of(COMPARE_SCHEMA)["changes"]
    assert cells[0] == "key,column,before,after"
    assert [row.split(",")[:2] for row in cells[1:]] == [[each["key"], each["column"]] for each in changes]
    assert run(*asked, "-o", "name").out.splitlines() == [*dict.fromkeys(each["key"] for each in changes)]
    markdown = run(*asked, "-o", "markdown").out.splitlines()
    assert [row.split(" | ")[:2] for row in markdown if " → " in row and row.startswith("| ")] == [
        [f"| {each['key']}", each["column"]] for each in changes
    ]


def test_what_1_37_changes_where_storage_is_free_a_driver_is_missing_and_an_image_is_mounted() -> None:
    manifest, cluster = "fixtures/manifests/model-server.yaml", "fixtures/clusters/free-storage.yaml"
    releases = ("--kube-version", "1.36", "--to-kube-version", "1.37")
    report = run("compare", manifest, "-S", cluster, *releases, "-o", "json", cwd=ROOT).report_of(COMPARE_SCHEMA)
    cells = {(each["key"], each["column"]): (each["before"], each["after"]) for each in report["changes"]}
    assert {key: cells[key, "score"] for key in ("n1", "n2")} == {"n1": (463, 553), "n2": (484, 498)}
    assert {key: cells[key, "place"] for key in ("n1", "n2")} == {"n1": (2, 1), "n2": (1, 2)}
    assert cells["n3", "fits"] == (True, False)
    assert cells["n3", "reason"] == (None, "local.csi.example.com CSI driver is not installed on the node")
