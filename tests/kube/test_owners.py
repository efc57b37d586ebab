"""Who controls what."""

from __future__ import annotations

import msgspec
import pytest

from kubespread.kube.api.core import Pod
from kubespread.kube.api.workloads import ReplicaSet
from kubespread.kube.owners import controls
from tests.builders import Data, owned_by, pod


@pytest.mark.parametrize(
    ("owners", "uid", "expected"),
    [
        pytest.param(owned_by("ReplicaSet", "web"), "uid-web", True, id="kind, name and UID agree"),
        pytest.param(owned_by("ReplicaSet", "web"), "", True, id="a snapshot that lost the UIDs: kind and name do"),
        pytest.param(owned_by("ReplicaSet", "web"), "uid-other", False, id="a namesake created anew is another one"),
        pytest.param(owned_by("ReplicaSet", "web-2"), "uid-web", False, id="another name"),
        pytest.param(owned_by("Job", "web"), "uid-web", False, id="another kind"),
        pytest.param(owned_by("ReplicaSet", "web", controller=False), "uid-web", False, id="an owner that does not control"),
        pytest.param([], "uid-web", False, id="an orphan"),
    ],
)  # fmt: skip
def test_controls(owners: list[Data], uid: str, expected: bool) -> None:
    owned = pod("web-1")
    owned["metadata"]["ownerReferences"] = owners
    replica_set = msgspec.convert({"metadata": {"name": "web", "uid": uid}}, ReplicaSet)
    assert controls(replica_set, msgspec.convert(owned, Pod)) is expected
