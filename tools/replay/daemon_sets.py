"""On which recorded nodes a DaemonSet's pod belongs, and where one may stay."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from kubespread.controllers.daemonset import should_continue, should_run, with_added_tolerations
from kubespread.kube.api.core import Node, Pod
from kubespread.kube.api.workloads import DaemonSet
from tools.replay.cases import Difference, Recorded


def differences(recorded: Recorded, _kube_version: str | None = None) -> Iterator[Difference]:
    template = msgspec.convert(recorded.case["daemonSet"], DaemonSet).spec.template
    assert template is not None
    pod = Pod(metadata=template.metadata, spec=with_added_tolerations(template.spec))
    nodes = [msgspec.convert(node, Node) for node in recorded.case["nodes"]]
    ours = {
        node.metadata.name: {"shouldContinue": should_continue(pod, node), "shouldRun": should_run(pod, node)}
        for node in nodes
    }
    for name in dict.fromkeys((*recorded.expect, *ours)):
        if recorded.expect.get(name) != ours.get(name):
            yield Difference(recorded.name, name, recorded.expect.get(name), ours.get(name))
