"""Passes of the StatefulSet controller over recorded pods, until it has nothing left to do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from kubespread.controllers.statefulset import (
    REVISION_LABEL,
    Create,
    Revisions,
    StatefulSetPass,
    UpdateRules,
    reconcile,
)
from kubespread.kube.api.core import Pod, PodCondition, PodStatus
from kubespread.kube.api.meta import ObjectMeta
from kubespread.kube.api.workloads import StatefulSet
from tools.replay.cases import NOW, Data, Difference, Recorded, ago

_LONG_AGO = ago(3600)
_ENOUGH_PASSES = 200


def differences(recorded: Recorded, _kube_version: str | None = None) -> Iterator[Difference]:
    """Where the actions of the passes, or the revisions after the first one, are not the recorded ones."""
    stateful_set = msgspec.convert(recorded.case["statefulSet"], StatefulSet)
    pods = [msgspec.convert(pod, Pod) for pod in recorded.case["pods"]]
    names = [revision["metadata"]["name"] for revision in recorded.case["controllerRevisions"]]
    update = _update_revision(recorded.case)
    done: list[StatefulSetPass] = []
    while True:
        current = stateful_set.status.current_revision
        revisions = Revisions(current if current in names else update, update)
        done.append(reconcile(stateful_set, pods, revisions, NOW, UpdateRules()))
        if not done[-1].actions and done[-1].status == stateful_set.status:
            break
        assert len(done) < _ENOUGH_PASSES, "the passes do not end"
        stateful_set = replace(stateful_set, status=done[-1].status)
        pods = _settled(stateful_set, pods, done[-1])
    yield from _compared(recorded, done, parallel=stateful_set.spec.pod_management_policy == "Parallel")


def _compared(recorded: Recorded, done: Sequence[StatefulSetPass], *, parallel: bool) -> Iterator[Difference]:
    first, *later = done
    while later and not later[-1].actions:
        later.pop()
    status = first.status
    ours = {
        "actions": _shown(first, parallel=parallel),
        "then": [_shown(each, parallel=parallel) for each in later],
        "revisions": {"currentRevision": status.current_revision, "updateRevision": status.update_revision},
    }
    expect = recorded.expect
    wanted = {
        "actions": _in_order(expect["actions"], parallel=parallel),
        "then": [_in_order(actions, parallel=parallel) for actions in expect["then"]],
        "revisions": expect["revisions"],
    }
    for what, value in wanted.items():
        if value != ours[what]:
            yield Difference(recorded.name, what, value, ours[what])


def _shown(done: StatefulSetPass, *, parallel: bool) -> list[Data]:
    actions = [
        {"op": "create", "pod": action.pod, "revision": action.revision}
        if isinstance(action, Create)
        else {"op": "delete", "pod": action.pod}
        for action in done.actions
    ]
    return _in_order(actions, parallel=parallel)


def _in_order(actions: list[Data], *, parallel: bool) -> list[Data]:
    """As they were called; calls that go out at once have no order."""
    return sorted(actions, key=lambda action: (action["op"], action["pod"])) if parallel else actions


def _settled(stateful_set: StatefulSet, pods: Sequence[Pod], done: StatefulSetPass) -> list[Pod]:
    """The pods after a pass: deleted ones are gone, created ones run and are ready, all others are as they were."""
    gone = {action.pod for action in done.actions if not isinstance(action, Create)}
    created = [
        Pod(
            metadata=ObjectMeta(
                name=action.pod, namespace=stateful_set.metadata.namespace, labels={REVISION_LABEL: action.revision}
            ),
            status=PodStatus(
                phase="Running", conditions=[PodCondition(type="Ready", status="True", last_transition_time=_LONG_AGO)]
            ),
        )
        for action in done.actions
        if isinstance(action, Create)
    ]
    return [pod for pod in (*pods, *created) if pod.metadata.name not in gone]


def _update_revision(case: Data) -> str:
    """The one whose data is the StatefulSet's template, which the API server has defaulted there."""
    template = case["statefulSet"]["spec"]["template"]
    (found,) = [
        revision["metadata"]["name"]
        for revision in case["controllerRevisions"]
        if _is_part(template, revision["data"]["spec"]["template"])
    ]
    return str(found)


def _is_part(shorter: Any, full: Any) -> bool:
    """Whether ``full`` is ``shorter`` and defaults."""
    if isinstance(shorter, dict) and isinstance(full, dict):
        return all(key in full and _is_part(value, full[key]) for key, value in shorter.items())
    if isinstance(shorter, list) and isinstance(full, list):
        return len(shorter) == len(full) and all(map(_is_part, shorter, full))
    return bool(shorter == full)
