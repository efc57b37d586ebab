"""What is only a part of a workload: patches, and pod templates that a controller completes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

import kubespread
from tests.builders import Data, hard

ZONE = "topology.kubernetes.io/zone"


def deployment(spec: Data, **above: Any) -> Data:
    meta = {"name": "web"}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": meta,
        "spec": {"template": {"spec": spec}, **above},
    }


def pooler(spec: Data) -> Data:
    labels = {"metadata": {"labels": {"foo": "bar"}}}
    return {
        "apiVersion": "postgresql.cnpg.io/v1",
        "kind": "Pooler",
        "metadata": {"name": "rw"},
        "spec": {"template": {**labels, "spec": {"containers": [], **spec}}},
    }


WHOLE = deployment({"containers": [{"name": "main", "image": "x"}]}, selector={"matchLabels": {"app": "web"}})
WHOLE["spec"]["template"]["metadata"] = {"labels": {"app": "web"}}
PATCH = "default/Deployment/web is a patch: pipe `kubectl kustomize DIRECTORY` into kubespread"
UNKNOWN = "default/Pooler/rw is not checked: what its controller adds to the pod template is not known"


@pytest.mark.parametrize(
    ("part", "said"),
    [
        (deployment({"topologySpreadConstraints": [hard(ZONE)]}), PATCH),
        (deployment({"containers": [{"name": "main", "resources": {"requests": {"cpu": "1"}}}]}), PATCH),
        (deployment({"containers": [{"name": "main", "$patch": "delete"}]}, replicas=3), PATCH),
        (deployment({"containers": [{"name": "main", "volumeMounts": [{"name": "data", "mountPath": "/x"}]}]}), PATCH),
        (deployment({"containers": [{"name": "main", "livenessProbe": {"periodSeconds": 5}}]}), PATCH),
        (deployment({"containers": [{"name": "main", "lifecycle": {"preStop": {"sleep": {"seconds": 60}}}}]}), PATCH),
        (deployment({"initContainers": [{"name": "sidecar", "readinessProbe": {"httpGet": {"port": 1}}}]}), PATCH),
        (pooler({"topologySpreadConstraints": [hard(ZONE)]}), UNKNOWN),
        (pooler({"somethingOfItsOwn": True}), UNKNOWN),
    ],
)
def test_a_part_is_told_and_not_refused(part: Data, said: str) -> None:
    report = kubespread.check(None, [part, WHOLE])
    assert (report.findings, report.workloads) == ((), 1)
    assert said in (*report.notes, *report.gaps)
    with pytest.raises(kubespread.UsageError, match=f"nothing to check: {said}"):
        kubespread.check(None, part)


def test_a_kind_that_kubernetes_own_group_does_not_have_is_refused() -> None:
    """Whatever custom resources there are, they are not in it."""
    (finding,) = kubespread.check(None, {**WHOLE, "kind": "Deploymnet"}).findings
    assert (finding.code, finding.field, finding.text) == (
        "KS002",
        "kind",
        'no matches for kind "Deploymnet" in version "apps/v1", did you mean "Deployment" in "apps/v1"?',
    )


@pytest.mark.parametrize("part", [deployment, pooler])
def test_what_no_other_part_can_mend_is_found(part: Any) -> None:
    (finding,) = kubespread.check(None, part({"topologySpreadConstraints": [hard(ZONE, 0)]})).findings
    assert (finding.code, finding.field) == ("KS002", "spec.template.spec.topologySpreadConstraints[0].maxSkew")


@pytest.mark.parametrize(
    "whole",
    [
        deployment({"containers": [{"name": "main", "image": "x"}]}),
        deployment({"containers": []}, selector={"matchLabels": {"app": "web"}}),
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}, "spec": {"containers": [{"name": "main"}]}},
    ],
)
def test_what_has_to_be_whole_is_refused(whole: Data) -> None:
    assert {finding.code for finding in kubespread.check(None, whole).findings} == {"KS002"}


def test_a_directory_of_bases_and_patches_is_read_to_its_end(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text(yaml.safe_dump(WHOLE))
    (tmp_path / "patch.yaml").write_text(yaml.safe_dump(deployment({"topologySpreadConstraints": [hard(ZONE)]})))
    report = kubespread.check(None, str(tmp_path))
    assert (report.findings, report.workloads, report.verdict) == ((), 1, "yes")
    assert PATCH in report.notes


@pytest.mark.parametrize(("match", "codes"), [({"cnpg.io/poolerName": "rw"}, []), ({"foo": "other"}, ["KS101"])])
def test_labels_that_a_foreign_controller_may_add_are_not_missed(match: Data, codes: list[str]) -> None:
    containers = [{"name": "pgbouncer", "image": "x"}]
    manifest = pooler({"containers": containers, "topologySpreadConstraints": [hard(ZONE, match=match)]})
    assert [finding.code for finding in kubespread.check(None, manifest).findings] == codes


def test_a_stateful_set_puts_its_claims_in_the_place_of_volumes_of_their_name() -> None:
    claim = {"metadata": {"name": "data"}, "spec": {"resources": {"requests": {"storage": "1Gi"}}}}
    volumes = [{"name": name, "persistentVolumeClaim": {"claimName": ""}} for name in ("data", "other")]
    manifest = deployment({"containers": [{"name": "main", "image": "x"}], "volumes": volumes})
    manifest["kind"] = "StatefulSet"
    manifest["spec"] |= {"selector": {"matchLabels": {"foo": "bar"}}, "volumeClaimTemplates": [claim]}
    manifest["spec"]["template"]["metadata"] = {"labels": {"foo": "bar"}}
    assert [finding.field for finding in kubespread.check(None, manifest).findings] == [
        "spec.template.spec.volumes[1].persistentVolumeClaim.claimName"
    ]
