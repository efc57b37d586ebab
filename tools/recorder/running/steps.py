"""What is done to a running cluster: the steps of a scenario of `kubespread plan`, and what leads up to one."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kubespread.kube.well_known import HOSTNAME
from tools.recorder.running.cluster import Cluster, UnsettledError, name_of
from tools.recorder.running.kubelet import PODS
from tools.recorder.running.plane import RefusedError
from tools.replay.cases import Data

Step = Mapping[str, str | list[str]]
"""One verb, and what it is about: ``{"scale": "deploy/web=3"}``."""

_DRAINS = 9
"""Seconds after which a drain is given up: this kubectl tries evictions again after 0.4 seconds, not after 5."""


def do(cluster: Cluster, step: Step, manifests: Mapping[str, Data]) -> None:
    """Begins it; whoever wants its end settles the cluster."""
    ((verb, text),) = step.items()
    if verb == "apply":
        cluster.plane.give("apply", manifests[str(text)])
    elif verb != "ready":  # the kubelet makes them so
        VERBS[verb](cluster, str(text))


def named(cluster: Cluster, step: Step) -> Step:
    """The step with the name of a pod that chance chooses where it has the app. Raises UnsettledError if none runs."""
    if "evict" not in step:
        return step
    for pod in cluster.pods(str(step["evict"]), 1):
        return {"evict": f"default/{name_of(pod)}"}
    raise UnsettledError(f"{step['evict']} has no pod to evict")


def _scale(cluster: Cluster, text: str) -> None:
    workload, _, replicas = text.partition("=")
    cluster.plane.kubectl("scale", workload, f"--replicas={replicas}")


def _rollout(cluster: Cluster, text: str) -> None:
    workload, _, request = text.partition(" ")
    change = ("set", "resources", workload, f"--requests={request}") if request else ("rollout", "restart", workload)
    cluster.plane.kubectl(*change)


def _rollback(cluster: Cluster, workload: str) -> None:
    cluster.plane.kubectl("rollout", "undo", workload)


def _drain(cluster: Cluster, text: str) -> None:
    cluster.plane.kubectl("drain", *text.split(), f"--timeout={_DRAINS}s", may_fail=True)


def _cordon(cluster: Cluster, node: str) -> None:
    cluster.plane.kubectl("cordon", node)


def _uncordon(cluster: Cluster, node: str) -> None:
    cluster.plane.kubectl("uncordon", node)


def _label(cluster: Cluster, text: str) -> None:
    cluster.plane.kubectl("label", "nodes", *_nodes(text), "--overwrite")


def _taint(cluster: Cluster, text: str) -> None:
    cluster.plane.kubectl("taint", "nodes", *_nodes(text), "--overwrite")


def _nodes(text: str) -> tuple[str, ...]:
    """``SELECTOR CHANGE``, or ``NODE=CHANGE``."""
    selector, _, change = text.rpartition(" ")
    node, _, own = text.partition("=")
    return ("-l", selector, change) if selector else (node, own)


def _delete(cluster: Cluster, labels: str) -> None:
    cluster.plane.kubectl("delete", "pods", "-l", labels, "--wait=false")


def _evict(cluster: Cluster, pod: str) -> None:
    name = pod.partition("/")[2]
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name, "namespace": "default"}}
    try:
        cluster.plane.call("POST", f"{PODS}/{name}/eviction", eviction)
    except RefusedError as refused:
        if refused.status != 429:  # a budget
            raise


def _remove_node(cluster: Cluster, node: str) -> None:
    cluster.plane.kubectl("delete", "node", node)
    # Kubernetes deletes them too, but only minutes later.
    for pod in cluster.kubelet.pods.copy().values():
        if pod["spec"].get("nodeName") == node:
            cluster.kubelet.end(pod)


def _add_node(cluster: Cluster, text: str) -> None:
    """``TEMPLATE:1``, or ``TEMPLATE:1@KEY=VALUE``."""
    name, _, label = text.partition(":1")
    nodes = cluster.plane.items("nodes")
    like = next(node for node in nodes if name_of(node) == name)
    key, _, value = label.removeprefix("@").partition("=")
    added = f"{name}-x{len(nodes)}"
    labels = {**like["metadata"]["labels"], HOSTNAME: added, **({key: value} if key else {})}
    taints = [taint for taint in like["spec"].get("taints", ()) if not taint["key"].startswith("node.kubernetes.io/")]
    changed = {"metadata": {"name": added, "labels": labels}, "spec": {"taints": taints}}
    cluster.plane.give("create", {**like, **changed})


def _lose(cluster: Cluster, text: str) -> None:
    for pod in _some(cluster, text):
        cluster.plane.kubectl("delete", "pod", name_of(pod), "--wait=false")


def _unready(cluster: Cluster, text: str) -> None:
    for pod in _some(cluster, text):
        cluster.kubelet.tell(pod, ready=False)


def _cost(cluster: Cluster, text: str) -> None:
    for pod in _some(cluster, text):
        cost = f"controller.kubernetes.io/pod-deletion-cost={cluster.random.choice((-10, 5, 100))}"
        cluster.plane.kubectl("annotate", "pod", name_of(pod), cost)


def _some(cluster: Cluster, text: str) -> list[Data]:
    """``APP COUNT``"""
    app, _, count = text.partition(" ")
    return cluster.pods(app, int(count))


def _hang(cluster: Cluster, app: str) -> None:
    cluster.kubelet.hung.add(app)


def _recover(cluster: Cluster, app: str) -> None:
    cluster.kubelet.hung.discard(app)


VERBS: Mapping[str, Callable[[Cluster, str], None]] = {
    "scale": _scale,
    "rollout": _rollout,
    "rollback": _rollback,
    "drain": _drain,
    "cordon": _cordon,
    "uncordon": _uncordon,
    "label": _label,
    "taint": _taint,
    "delete": _delete,
    "evict": _evict,
    "removeNodes": _remove_node,
    "addNodes": _add_node,
    # What no scenario has.
    "lose": _lose,
    "unready": _unready,
    "cost": _cost,
    "hang": _hang,
    "recover": _recover,
}
