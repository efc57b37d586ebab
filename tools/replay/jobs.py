"""One pass of the Job controller over recorded pods."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from kubespread.controllers.job import reconcile
from kubespread.kube import time
from kubespread.kube.api.core import Pod
from kubespread.kube.api.workloads import Job
from tools.replay.cases import Data, Difference, Recorded

_TRACKING = "batch.kubernetes.io/job-tracking"


def differences(recorded: Recorded, _kube_version: str | None = None) -> Iterator[Difference]:
    now = time.parse(recorded.case["now"])
    assert now is not None
    pods = [msgspec.convert(pod, Pod) for pod in recorded.case["pods"] if not _is_counted(pod)]
    done = reconcile(msgspec.convert(recorded.case["job"], Job), pods, now)
    ours: Data = {
        "create": done.create,
        "indexes": list(done.indexes),
        "delete": len(done.surplus.chosen),
        "always": _names(done.surplus.always),
        "sometimes": _names(done.surplus.sometimes),
    }
    expect = recorded.expect
    wanted = {
        **{key: expect[key] for key in ("create", "delete")},
        "indexes": expect.get("indexes", []),
        **{key: sorted(expect[key]) for key in ("always", "sometimes")},
    }
    for what, value in wanted.items():
        if value != ours[what]:
            yield Difference(recorded.name, what, value, ours[what])
    chosen = _names(done.surplus.chosen)
    if not set(wanted["always"]) <= set(chosen) <= {*wanted["always"], *wanted["sometimes"]}:
        yield Difference(recorded.name, "chosen", [wanted["always"], wanted["sometimes"]], chosen)


def _is_counted(pod: Data) -> bool:
    return pod["status"]["phase"] in ("Succeeded", "Failed") and _TRACKING not in pod["metadata"].get("finalizers", [])


def _names(pods: Sequence[Pod]) -> list[str]:
    return sorted(pod.metadata.name for pod in pods)
