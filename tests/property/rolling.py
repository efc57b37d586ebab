"""Small clusters in mid-rollout: ReplicaSets of several revisions, StatefulSets on their way, pods that wait, are not
ready or are terminating, and pods by themselves.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.builders import Data, ago, hard, owned_by, pod, soft, taint

ZONE, HOSTNAME = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
NODES = ("n0", "n1", "n2", "n3")
_REVISION = "deployment.kubernetes.io/revision"


@st.composite
def clusters(draw: st.DrawFn) -> list[Data]:
    """Four nodes in up to three zones, with some of everything."""
    made = [_node(draw, name) for name in NODES]
    for app in draw(st.sampled_from([("web",), ("web", "api"), ()])):
        made += _deployment(draw, app)
    if draw(st.booleans()):
        made += _stateful_set(draw, "db")
    made += _bare_pods(draw)
    return made


def _node(draw: st.DrawFn, name: str) -> Data:
    zone = draw(st.sampled_from(["a", "a", "b", "b", "c", None]))
    labels = {HOSTNAME: name, **({ZONE: zone} if zone else {}), "pool": draw(st.sampled_from(["x", "x", "y"]))}
    spec: Data = {"taints": draw(st.sampled_from([[], [], [], [taint("gpu")]]))}
    if draw(st.sampled_from([False, False, False, True])):
        spec["unschedulable"] = True
    status = {"allocatable": {"cpu": draw(st.sampled_from(["1", "2", "8"])), "memory": "8Gi", "pods": "110"}}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": spec,
        "status": status,
    }


def _spec(draw: st.DrawFn, app: str) -> Data:
    """What a revision's pods are."""
    keys = draw(st.sampled_from([(), (ZONE,), (ZONE,), (HOSTNAME,), (ZONE, HOSTNAME)]))
    constraints = []
    for key in keys:
        more: Data = {"matchLabelKeys": ["pod-template-hash"]} if draw(st.sampled_from([False, False, True])) else {}
        is_hard = draw(st.booleans())
        if is_hard and draw(st.sampled_from([False, False, True])):
            more["minDomains"] = draw(st.sampled_from([2, 4]))
        if draw(st.sampled_from([False, False, True])):
            more["nodeTaintsPolicy"] = "Honor"
        max_skew = draw(st.sampled_from([1, 1, 2]))
        constraints.append((hard if is_hard else soft)(key, max_skew, match={"app": app}, **more))
    more = {"nodeSelector": {"pool": "x"}} if draw(st.sampled_from([False, False, False, True])) else {}
    cpu = draw(st.sampled_from([None, "500m", "1", "6"]))
    made: Data = pod(requests={"cpu": cpu} if cpu else None, constraints=constraints, **more)["spec"]
    return made


def _pod(draw: st.DrawFn, name: str, spec: Data, labels: Data, owner: tuple[str, str] | None) -> Data:
    """On a node and ready, or one of the other ways a pod can be."""
    made = pod(name, labels=labels)
    made["metadata"] |= {"uid": name, "creationTimestamp": ago(2000)}
    if owner is not None:
        made["metadata"]["ownerReferences"] = owned_by(*owner)
    state = draw(st.sampled_from(["ready", "ready", "ready", "pending", "unready", "terminating", "succeeded"]))
    if state == "pending":
        return {**made, "spec": spec, "status": {"phase": "Pending"}}
    if state == "terminating":
        made["metadata"]["deletionTimestamp"] = ago(10)
    ready = {"type": "Ready", "status": "False" if state in ("unready", "succeeded") else "True"}
    phase = "Succeeded" if state == "succeeded" else "Running"
    status = {"phase": phase, "conditions": [{**ready, "lastTransitionTime": ago(1000)}]}
    return {**made, "spec": {**spec, "nodeName": draw(st.sampled_from(["n0", *NODES]))}, "status": status}


def _deployment(draw: st.DrawFn, app: str) -> list[Data]:
    """With one to three ReplicaSets; one of them, or none yet, has its template. Some objects may be missing."""
    replicas = draw(st.integers(0, 4))
    revisions = draw(st.integers(1, 3))
    specs = [_spec(draw, app) for _ in range(revisions)]
    selector = {"matchLabels": {"app": app}}
    current = specs[-1] if draw(st.sampled_from([True, True, True, False])) else _spec(draw, app)
    own: Data = {
        "replicas": replicas,
        "selector": selector,
        "template": {"metadata": {"labels": {"app": app}}, "spec": current},
    }
    if draw(st.sampled_from([False, False, False, True])):
        own["paused"] = True
    if draw(st.sampled_from([False, False, True])):
        own["strategy"] = {"type": "Recreate"}
    made: list[Data] = []
    if draw(st.sampled_from([True, True, True, False])):
        made.append(_object("Deployment", app, own, annotations={_REVISION: str(revisions)}))
    for number, spec in enumerate(specs, start=1):
        name, labels = f"{app}-{number}", {"app": app, "pod-template-hash": str(number)}
        count = draw(st.integers(0, 3))
        pods = [_pod(draw, f"{name}-{at}", spec, labels, ("ReplicaSet", name)) for at in range(draw(st.integers(0, 3)))]
        template = {"metadata": {"labels": labels}, "spec": spec}
        below = {"replicas": count, "selector": {"matchLabels": labels}, "template": template}
        replica_set = _object(
            "ReplicaSet", name, below, annotations={_REVISION: str(number)}, ownerReferences=owned_by("Deployment", app)
        )
        made += [*([replica_set] if draw(st.sampled_from([True, True, True, False])) else []), *pods]
    return made


def _stateful_set(draw: st.DrawFn, app: str) -> list[Data]:
    """With pods of two revisions, some of which are missing."""
    replicas = draw(st.integers(1, 4))
    specs = {"r1": _spec(draw, app), "r2": _spec(draw, app)}
    own: Data = {
        "replicas": replicas,
        "selector": {"matchLabels": {"app": app}},
        "template": {"metadata": {"labels": {"app": app}}, "spec": specs["r2"]},
        "podManagementPolicy": draw(st.sampled_from(["OrderedReady", "Parallel"])),
        "updateStrategy": draw(
            st.sampled_from([{"type": "RollingUpdate"}, {"type": "OnDelete"}, {"rollingUpdate": {"partition": 2}}])
        ),
    }
    made = [{**_object("StatefulSet", app, own), "status": {"currentRevision": "r1", "updateRevision": "r2"}}]
    for ordinal in range(replicas):
        if draw(st.sampled_from([True, True, True, False])):
            revision = draw(st.sampled_from(["r1", "r2"]))
            labels = {
                "app": app,
                "controller-revision-hash": revision,
                "statefulset.kubernetes.io/pod-name": f"{app}-{ordinal}",
            }
            made.append(_pod(draw, f"{app}-{ordinal}", specs[revision], labels, ("StatefulSet", app)))
    return made


def _bare_pods(draw: st.DrawFn) -> list[Data]:
    """Some by themselves, and some that constraints of others count."""
    made: list[Data] = []
    for app in draw(st.sampled_from([(), ("solo",), ("web",), ("solo", "web")])):
        spec = _spec(draw, app)
        labels = {"app": app, "track": "bare"}
        made += [_pod(draw, f"bare-{app}-{at}", spec, labels, None) for at in range(draw(st.integers(1, 3)))]
    return made


def _object(kind: str, name: str, spec: Data, **metadata: Any) -> Data:
    own: Data = {"name": name, "namespace": "default", "uid": f"uid-{name}", **metadata}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": own, "spec": spec}
