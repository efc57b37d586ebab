"""What the API server refuses pods for: every table of fixtures/faults, in its order and texts where scheduling reads.

A row has all faults of a pod. What it gives is laid over a pod that is valid: ``metadata`` and ``spec`` field by field,
``container`` over its container, which may mount the emptyDir v and the claim c, ``volume`` as its only volume.
"""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

import kubespread
from kubespread.errors import ManifestError
from kubespread.kube.api.decoding import DecodingError
from kubespread.kube.versions import LATEST, KubeVersion
from tests.builders import Data, node, pod
from tests.cli.support import FIXTURES
from tests.kube.decoding import faults_of

TABLES = FIXTURES / "faults"
CLAIMED = {"name": "c", "persistentVolumeClaim": {"claimName": "c"}}


class Row(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    case: str
    faults: list[str]
    metadata: Data = {}
    spec: Data = {}
    container: Data = {}
    volume: Data = {}
    manifest: Data | None = None
    """A workload, with the faults of its template."""
    kube_version: str = ""
    gates: str = ""

    def candidate(self) -> Data:
        made = pod()
        made["metadata"] |= self.metadata
        if self.container:
            container = {"name": "main", "image": "x", **self.container}
            volumes = [{"name": "v", "emptyDir": {}}, CLAIMED]
            made["spec"] |= {"containers": [container], "volumes": volumes, "terminationGracePeriodSeconds": 30}
        if self.volume:
            made["spec"]["volumes"] = [{"name": "v", **self.volume}]
        made["spec"] |= self.spec
        return made

    def found(self) -> list[str]:
        """A value of another type is the only fault that is found."""
        version = KubeVersion.parse(self.kube_version) if self.kube_version else LATEST
        try:
            if self.manifest is None:
                return [str(fault) for fault in faults_of(self.candidate(), version.with_gates(self.gates))]
            kubespread.explain(kubespread.Snapshot.from_objects([node("n")]), self.manifest)
        except DecodingError as error:
            return [f"{error.path}: {error}"]
        except ManifestError as error:
            return [f"{fault.field}: {fault.message}" for fault in error.faults]
        return []


def rows_of(table: str) -> list[Row]:
    return msgspec.yaml.decode((TABLES / f"{table}.yaml").read_bytes(), type=list[Row])


@pytest.mark.parametrize("table", sorted(path.stem for path in TABLES.glob("*.yaml")))
def test_every_fault_is_found_and_no_other(table: str) -> None:
    rows = rows_of(table)
    found: dict[str, Any] = {row.case: row.found() for row in rows}
    assert found == {row.case: row.faults for row in rows}
