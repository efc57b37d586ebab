"""What is asked, what is silenced, what is known, and where findings stand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import kubespread
from kubespread import UsageError
from kubespread.manifest.text import FieldLines
from kubespread.questions.check import Severity
from tests.builders import Data, hard, hosts, pod, soft
from tests.world.clusters import stateful_set

FIXTURES = Path(__file__).parents[2] / "fixtures" / "lint"
CLUSTER = kubespread.load(FIXTURES / "cluster.yaml")
ZONE = "topology.kubernetes.io/zone"
GHOST = hard(ZONE, match={"app": "other"})
UNKNOWN = hard("zone")
KEYS = "spec.template.spec.topologySpreadConstraints[0].matchLabelKeys"


def web(*constraints: Data, replicas: int = 3, name: str = "web", **metadata: Any) -> Data:
    """A Deployment foo=bar with these constraints, which is never rolled out."""
    template = pod(constraints=list(constraints))
    del template["metadata"]["name"], template["metadata"]["namespace"]
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "shop", **metadata},
        "spec": {
            "replicas": replicas,
            "strategy": {"type": "Recreate"},
            "selector": {"matchLabels": {"foo": "bar"}},
            "template": {"metadata": template["metadata"], "spec": template["spec"]},
        },
    }


def codes(report: kubespread.CheckReport) -> list[str]:
    return [finding.code for finding in report.findings]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, ["KS101", "KS105"]),
        ({"select": ["KS101"]}, ["KS101"]),
        ({"select": ["ks1"], "ignore": ["KS105"]}, ["KS101"]),
        ({"select": ["KS2,KS105"]}, ["KS105"]),
        ({"select": ["ghost-pods"]}, ["KS101"]),
        ({"ignore": ["KS101", "KS105"]}, []),
    ],
)
def test_rules_are_selected_by_what_codes_begin_with(options: dict[str, Any], expected: list[str]) -> None:
    assert codes(kubespread.check(None, web(GHOST, UNKNOWN), **options)) == expected


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("KS19", "no rule 'KS19'; docs/codes.md has them all"),
        ("ghost-pod", "no rule 'GHOST-POD', did you mean \"ghost-pods\"?"),
        ("KS1O1", "no rule 'KS1O1', did you mean \"KS101\"?"),
        ("nonsense", "no rule 'NONSENSE'; docs/codes.md has them all"),
    ],
)
def test_a_code_that_is_none_is_refused(code: str, message: str) -> None:
    with pytest.raises(UsageError) as error:
        kubespread.check(None, web(GHOST), select=[code])
    assert str(error.value) == message


@pytest.mark.parametrize("where", ["workload", "template"])
def test_an_annotation_silences_rules(where: str) -> None:
    manifest = web(GHOST, UNKNOWN)
    annotated = manifest if where == "workload" else manifest["spec"]["template"]
    annotated["metadata"]["annotations"] = {"kubespread.dev/ignore": "KS101, KS9"}
    report = kubespread.check(None, manifest)
    assert (codes(report), report.ignored) == (["KS105"], 1)
    assert report.notes == ("annotations silence unknown rules: KS9",)


def test_an_annotation_silences_faults_too() -> None:
    manifest = web(hard(ZONE, 0), annotations={"kubespread.dev/ignore": "KS002"})
    report = kubespread.check(None, manifest)
    assert (codes(report), report.ignored, report.workloads) == ([], 1, 1)


REFUSED: dict[str, tuple[Data, str]] = {
    "a value of several": (
        {"dnsPolicy": "Host"},
        "set F to one of ClusterFirstWithHostNet, ClusterFirst, Default, None",
    ),
    "a name": ({"hostname": "A"}, "set F to a DNS label"),
    "what is missing": ({"volumes": [{"name": "v", "secret": {}}]}, "add F"),
    "what is there twice": ({"volumes": [{"name": "v"}, {"name": "v"}]}, "remove F, which is there twice"),
    "what does not go together": (
        {"shareProcessNamespace": True, "hostPID": True},
        "remove F: not allowed where hostPID is set",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_refused_field_has_its_remedy(case: str) -> None:
    fields, remedy = REFUSED[case]
    manifest = web()
    manifest["spec"]["template"]["spec"] |= fields
    (finding,) = kubespread.check(None, manifest).findings
    assert (finding.code, finding.remedy.text.replace(finding.field, "F")) == ("KS002", remedy)


@pytest.mark.parametrize("labels", ["-5", ["app"]])
def test_labels_that_are_no_map_are_none_to_select(labels: Any) -> None:
    manifest = web({"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", "matchLabelKeys": ["app"]})
    del manifest["spec"]["selector"]
    manifest["spec"]["template"]["metadata"]["labels"] = labels
    remedies = {finding.field: finding.remedy.text for finding in kubespread.check(None, manifest).findings}
    assert remedies.keys() == {"spec.selector", "spec.template.metadata.labels", KEYS}
    assert remedies[KEYS] == "add labelSelector: {matchLabels: {KEY: VALUE}}"


def test_an_annotation_of_a_workload_in_the_cluster_silences_too() -> None:
    deployment = web(GHOST, annotations={"kubespread.dev/ignore": "KS1"})
    report = kubespread.check(kubespread.Snapshot.from_objects([*hosts("a", "b"), deployment]))
    assert (codes(report), report.ignored) == ([], 1)


def write(path: Path, manifest: Data, head: str = "") -> str:
    path.write_text(head + json.dumps(manifest, indent=2))
    return str(path)


def test_a_file_that_cannot_be_read_does_not_keep_the_others() -> None:
    files = [
        str(FIXTURES / file) for file in ("KS001/bad.yaml", "KS002/bad.yaml", "KS002/retyped.yaml", "KS101/bad.yaml")
    ]
    report = kubespread.check(None, files)
    assert codes(report) == ["KS001", "KS002", "KS002", "KS101"]
    assert [(each.line, each.column) for each in report.findings] == [(6, None), (13, 9), (8, 35), (16, 9)]
    assert (report.files, report.workloads) == (4, 3)


def test_a_directory_is_read_to_its_last_file(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("{")
    (tmp_path / "b.json").write_text(json.dumps(web(GHOST)))
    (tmp_path / "c.yaml").write_text("replicaCount: 3\n")
    report = kubespread.check(None, str(tmp_path))
    assert [(each.code, Path(each.file or "").name) for each in report.findings] == [
        ("KS001", "a.yaml"),
        ("KS101", "b.json"),
    ]


def test_findings_of_a_manifest_of_many_stand_where_their_object_does(tmp_path: Path) -> None:
    listed = {"apiVersion": "v1", "kind": "List", "items": [web(hard(ZONE)), web(GHOST, name="api")]}
    path = write(tmp_path / "all.json", listed)
    (finding,) = kubespread.check(None, path, select=["KS1"]).findings
    lines = Path(path).read_text().splitlines()
    assert finding.subject == "shop/Deployment/api"
    assert finding.line is not None
    assert finding.column is not None
    assert lines[finding.line - 1][finding.column - 1 :].startswith('"labelSelector"')


def test_rules_that_need_a_cluster_are_counted_where_there_is_none() -> None:
    without, on_one = kubespread.check(None, web(GHOST)), kubespread.check(CLUSTER, web(GHOST))
    assert set(without.not_asked) == {rule.code for rule in kubespread.rules() if rule.needs_cluster}
    assert (on_one.not_asked, set(on_one.asked)) == ((), {rule.code for rule in kubespread.rules()})


def test_without_manifests_the_clusters_own_workloads_are_checked() -> None:
    snapshot = kubespread.Snapshot.from_objects([*hosts("a", "b"), web(GHOST), web(hard(ZONE), name="api")])
    (finding,) = kubespread.check(snapshot, select=["KS1"]).findings
    assert (finding.subject, finding.file, finding.line) == ("shop/Deployment/web", None, None)
    with pytest.raises(UsageError, match="nothing to check"):
        kubespread.check(None)


def test_an_unknown_scheduler_switches_no_rule_off_and_is_a_gap() -> None:
    default, other = web(GHOST), web(GHOST)
    other["spec"]["template"]["spec"]["schedulerName"] = "volcano"
    as_default, report = kubespread.check(CLUSTER, default), kubespread.check(CLUSTER, [other, other])
    assert report.findings[0] == as_default.findings[0]
    assert {*report.gaps} == {
        *as_default.gaps,
        'profile not found for scheduler name "volcano"; profiles: default-scheduler: '
        "its pods are checked as the default profile would place them",
    }


CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}}
NOTHING: dict[str, tuple[Any, dict[str, Any], str]] = {
    "an object that makes no pods": (CONFIG_MAP, {}, "<object> holds no Pod or workload"),
    "no workload with the labels": (
        web(GHOST),
        {"selector": "app=x"},
        "<object> holds no Pod or workload with the labels app=x",
    ),
    "no rule": (web(GHOST), {"select": ["KS1"], "ignore": ["KS1"]}, "what is selected and ignored leaves no rule"),
    "no rule without a cluster": (web(GHOST), {"select": ["KS204"]}, "KS204 needs a cluster (-S FILE)"),
    "no rules without a cluster": (
        web(GHOST),
        {"select": ["KS2"], "ignore": ["KS209"]},
        "KS201, KS202, KS203, KS204, KS205 and 2 more need a cluster (-S FILE)",
    ),
}


@pytest.mark.parametrize("case", NOTHING)
def test_nothing_to_check_is_an_error(case: str) -> None:
    manifest, options, said = NOTHING[case]
    with pytest.raises(UsageError) as error:
        kubespread.check(None, manifest, **options)
    assert str(error.value) == f"nothing to check: {said}"


@pytest.mark.parametrize("worst", [*Severity, None])
@pytest.mark.parametrize("bar", Severity)
def test_the_verdict_is_no_exactly_when_a_finding_reaches_the_bar(worst: Severity | None, bar: Severity) -> None:
    constraints = {Severity.ERROR: [GHOST], Severity.WARNING: [UNKNOWN], Severity.INFO: [soft("rack")], None: []}[worst]
    report = kubespread.check(None, web(*constraints, hard(ZONE)), fail_on=bar)
    assert [finding.level for finding in report.findings] == ([] if worst is None else [worst])
    assert report.verdict == ("no" if worst is not None and worst.rank <= bar.rank else "yes")
    with pytest.raises(UsageError, match="^invalid fail_on 'bad': expected error, warning, info$"):
        kubespread.check(None, web(GHOST), fail_on="bad")


def test_the_answer_says_what_was_not_asked() -> None:
    report = kubespread.check(None, web(GHOST, UNKNOWN), select=["KS1", "KS204"])
    assert report.not_chosen == tuple(
        rule.code for rule in kubespread.rules() if rule.code[:3] != "KS1" and rule.code != "KS204"
    )
    assert report.answer == (
        "1 error, 1 warning in 1 workload",
        "1 rule not asked: it needs a cluster (-S FILE)",
        f"{len(report.not_chosen)} rules not asked: left out by --select or --ignore",
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("spec: {replicas: 3}\n", {"spec": (1, 1), "spec.replicas": (1, 8), "spec.template": (1, 1)}),
        ("a:\n  - b: 1\n  -  c: 2\n", {"a[0].b": (2, 5), "a[1].c": (3, 6), "a[2]": (1, 1)}),
        ('{\n\t"a":\t{"b": 1}\n}\n', {"a": (2, 2), "a.b": (2, 8)}),
        ('a: "é", \n', {}),
    ],
)
def test_a_field_stands_in_a_line_and_a_column(text: str, expected: dict[str, tuple[int, int]]) -> None:
    lines = FieldLines(text.encode())
    assert {path: lines.position(0, path) for path in expected} == expected


def test_findings_of_other_templates_name_the_fields_as_they_are_written(tmp_path: Path) -> None:
    spec = web(hard(ZONE, match={"foo": "other"}))["spec"]
    job = {"spec": {"template": {**spec["template"], "spec": {**spec["template"]["spec"], "restartPolicy": "Never"}}}}
    cron = {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "nightly"},
        "spec": {"schedule": "@daily", "jobTemplate": job},
    }
    custom = {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": "shop"},
        "spec": {"tasks": [{"name": "ps", "replicas": 3, "template": spec["template"]}]},
    }
    nightly, shop = (
        kubespread.check(None, write(tmp_path / f"{name}.json", manifest)).findings[0]
        for name, manifest in (("cron", cron), ("custom", custom))
    )
    assert nightly.field == "spec.jobTemplate.spec.template.spec.topologySpreadConstraints[0].labelSelector"
    assert shop.field == "spec.tasks[0].template.spec.topologySpreadConstraints[0].labelSelector"
    for finding in (nightly, shop):
        assert finding.file is not None
        assert finding.line is not None
        assert '"labelSelector"' in Path(finding.file).read_text().splitlines()[finding.line - 1]


@pytest.mark.parametrize(
    ("requests", "said"),
    [
        ({"memory": "1GB"}, 'did you mean "1G" or "1Gi"?'),
        ({"cpu": True}, "quantities must match the regular expression"),
    ],
)
def test_amounts_that_are_none_are_scalars_to_rewrite(requests: Data, said: str) -> None:
    manifest = web(hard(ZONE))
    manifest["spec"]["template"]["spec"]["containers"][0]["resources"] = {"requests": requests}
    (finding,) = kubespread.check(None, manifest).findings
    assert finding.code == "KS002"
    assert said in finding.text


def test_pods_that_have_ended_are_not_taken_off_nodes_where_they_do_not_count() -> None:
    """As those that a node evicted."""
    made, db = stateful_set("db", ("n0",))
    objects = [*hosts("a", "b"), made, {**db, "status": {"phase": "Failed"}}]
    report = kubespread.check(kubespread.Snapshot.from_objects(objects))
    assert (report.verdict, report.findings) == ("yes", ())


def test_a_claim_that_is_not_there_is_said_to_be_missing() -> None:
    nodes = hosts("a", "b", "c")
    there = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "other", "namespace": "shop"}}
    manifest = web(hard(ZONE))
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "gone"}}]
    manifest["spec"]["template"]["spec"]["volumes"] = volumes
    cluster = kubespread.Snapshot.from_objects([*nodes, there])
    messages = {finding.code: finding.text for finding in kubespread.check(cluster, manifest).findings}
    assert messages["KS301"] == "0 of 3 replicas fit: PersistentVolumeClaim gone has to be created"
