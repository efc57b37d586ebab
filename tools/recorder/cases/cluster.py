"""Nodes, pods, and all that pods ask of nodes and of one another."""

from __future__ import annotations

from collections.abc import Sequence

from kubespread.kube.well_known import HOSTNAME, REGION, ZONE
from tools.recorder.cases.draw import Data, Draw

ROW = "topology.example.com/row"
KEYS = (ZONE, ZONE, HOSTNAME, HOSTNAME, REGION, "rack", "pool", ROW, "absent", "env")
NAMESPACES = ("default", "default", "prod", "dev", "kube-system")
LABELS = {
    "app": ["a", "a", "b", "c"],
    "tier": ["web", "db", ""],
    "rev": ["1", "2", ""],
    "pod-template-hash": ["x1", "x2"],
    "x/y": ["t"],
}
LONG_AGO = "2026-01-01T00:00:00Z"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_MI = 1024**2
_REPOSITORIES = (
    "docker.io/library/nginx",
    "registry.k8s.io/pause",
    "ghcr.io/acme/api",
    "docker.io/library/redis",
    "quay.io/acme/worker",
    "docker.io/library/busybox",
    "registry.example:5000/team/app",
    "localhost/x",
)


def name_of(thing: Data) -> str:
    return str(thing["metadata"]["name"])


def namespace_of(pod: Data) -> str:
    return str(pod["metadata"].get("namespace", "default"))


def allocatable(node: Data) -> Data:
    """What can be changed about it; a node that has none gets its capacity's."""
    status: Data = node["status"]
    found: Data = status.setdefault("allocatable", dict(status["capacity"]))
    return found


# Nodes


def nodes(
    draw: Draw,
    low: int = 2,
    high: int = 14,
    *,
    labelled: float = 0.9,
    tainted: float = 0.2,
    roomy: bool = False,
    images: bool = False,
) -> list[Data]:
    zones = draw.number(1, 5)
    made = {}
    for i in range(draw.number(low, high)):
        name = draw.one(f"n{i:03d}", f"n{i:03d}", f"ip-10-0-{i}.eu-west-1.compute.internal", f"a.b-{i}.c", f"{i}")
        zone = draw.number(0, zones - 1)
        status: Data = {"capacity": _resources(draw, roomy=roomy)}
        if not draw.chance(0.06):
            status["allocatable"] = dict(status["capacity"])
        if images and draw.chance(0.85):
            status["images"] = node_images(draw)
        if draw.chance(0.05):
            status["conditions"] = [{"type": "Ready", "status": "False"}]
        metadata = {"name": name, "labels": _node_labels(draw, i, name, zone, labelled)}
        if draw.chance(0.03):
            metadata["deletionTimestamp"] = LONG_AGO
        spec = draw.fields(
            {"taints": (tainted, lambda: draw.many(1, 3, lambda: taint(draw))), "unschedulable": (0.05, True)}
        )
        if "unschedulable" in spec and draw.chance(0.5):
            spec.setdefault("taints", []).append({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"})
        made[name] = {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": spec, "status": status}
    return list(made.values())


def _node_labels(draw: Draw, i: int, name: str, zone: int, labelled: float) -> Data:
    """``labelled`` is how likely each of the topology labels is there."""
    cores = ["2", "4", "8", "16", "-3", "007", "+5", "1e3", "many", "9223372036854775807", "9223372036854775808", " 4"]
    return draw.fields(
        {
            ZONE: (labelled, f"z{zone}"),
            REGION: (labelled, f"r{zone % 2}"),
            HOSTNAME: (labelled, lambda: name if draw.chance(0.93) else draw.one("shared", "")),
            "rack": (labelled, lambda: f"k{draw.number(0, 3)}"),
            "pool": (labelled, ["a", "b", "c", ""]),
            ROW: (labelled * 0.8, ["r1", "r2", "r3", ""]),
            "disktype": (0.5, ["ssd", "hdd", ""]),
            "cores": (0.5, cores),
            "env": (0.5, ["prod", "qa", "dev"]),
            "example.com/slot": (labelled, f"{i % 3}"),
        }
    )


def _resources(draw: Draw, *, roomy: bool) -> Data:
    if roomy:
        found = {"cpu": draw.one("64", "128", "31850m"), "memory": draw.one("256Gi", "512Gi", "64G"), "pods": "110"}
    else:
        found = draw.fields(
            {
                "cpu": (0.98, ["2", "4", "8", "1500m", "16", "3920m", "0.25", "96"]),
                "memory": (0.98, ["4Gi", "8Gi", "16Gi", "7820Mi", "15923412Ki", "32G", "1e10"]),
                "pods": (0.98, ["110", "110", "12", "5", "3"]),
            }
        )
    return found | draw.fields(
        {
            "ephemeral-storage": (0.98, ["50Gi", "100Gi", "20G"]),
            "nvidia.com/gpu": (0.3, ["1", "2", "4", "8", "0"]),
            "hugepages-2Mi": (0.15, ["64Mi", "1Gi", "0"]),
            "hugepages-1Gi": (0.1, "2Gi"),
            "example.com/fpga": (0.15, ["1", "3"]),
        }
    )


def taint(draw: Draw) -> Data:
    keys = ["dedicated", "gpu", "spot", "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable", "sla"]
    found = {"key": draw.one(*keys), "effect": draw.one("NoSchedule", "NoSchedule", "NoExecute", "PreferNoSchedule")}
    if found["key"] == "sla":
        return level(draw, found["effect"])
    return found | draw.fields({"value": (0.6, ["infra", "true", ""]), "timeAdded": (0.1, LONG_AGO)})


def level(draw: Draw, effect: str) -> Data:
    """A taint that the operators Gt and Lt compare with, whether it is a number or not."""
    values = ("10", "95", "-1", "x", "", "010", "0", "+5", "9223372036854775807", "9223372036854775808")
    return {"key": "sla", "value": draw.one(*values), "effect": effect}


def tolerations(draw: Draw, low: int = 0, high: int = 4, *, compared: bool = False) -> list[Data]:
    """``compared``: half of them with Gt and Lt, which a feature gate allows."""
    return draw.many(low, high, lambda: _toleration(draw, compared=compared and draw.chance(0.5)))


def _toleration(draw: Draw, *, compared: bool) -> Data:
    keys = ["dedicated", "gpu", "spot", "sla", "node.kubernetes.io/not-ready", "node.kubernetes.io/unschedulable"]
    if compared:
        found = {"key": "sla", "operator": draw.one("Gt", "Lt"), "value": draw.one("5", "10", "94", "-5", "0")}
    elif draw.chance(0.12):
        found = {"operator": "Exists"}
    elif draw.chance(0.5):
        found = {"key": draw.one(*keys), "operator": "Exists"}
    else:
        found = {"key": draw.one(*keys), "value": draw.one("infra", "true", "", "10")}
        found |= draw.fields({"operator": (0.6, "Equal")})
    found |= draw.fields({"effect": (0.6, ["NoSchedule", "NoExecute", "PreferNoSchedule"])})
    if found.get("effect") == "NoExecute":
        found |= draw.fields({"tolerationSeconds": (0.5, [0, -1, 300])})
    return found


def node_images(draw: Draw) -> list[Data]:
    sizes = (0, 1, 23 * _MI, 23 * _MI + 1, 90 * _MI, 600 * _MI, 1000 * _MI, 1400 * _MI, 5000 * _MI, 2**40)
    found = []
    for k in draw.some(range(len(_REPOSITORIES)), 1, 6):
        base = _REPOSITORIES[k]
        names = [f"{base}:{draw.one('latest', 'v1', '1.2')}", f"{base}@sha256:{str(k) * 64}"][: draw.number(1, 2)]
        if draw.chance(0.1):
            names = draw.one([], ["<none>:<none>"], [*names, f"{base}:latest"])
        found.append(draw.fields({"names": (0.95, [names]), "sizeBytes": (0.97, list(sizes))}))
    return found


def image(draw: Draw) -> str:
    k = draw.number(0, len(_REPOSITORIES) - 1)
    base = _REPOSITORIES[k]
    short = draw.one(base, base.removeprefix("docker.io/library/"), base.removeprefix("docker.io/"))
    return short + draw.one("", ":latest", ":v1", ":1.2", f"@sha256:{str(k) * 64}", f":v1@sha256:{str(k) * 64}")


# Selectors, constraints, affinity


def labels(draw: Draw) -> Data:
    likely = {"app": 0.9, "tier": 0.5, "rev": 0.3, "pod-template-hash": 0.5, "x/y": 0.2}
    return draw.fields({key: (likely[key], values) for key, values in LABELS.items()})


def selector(draw: Draw, *, empty: float = 0.06) -> Data:
    if draw.chance(empty):
        return draw.one({}, {"matchLabels": {}}, {"matchExpressions": []})
    keys = draw.some(["app", "app", "tier", "rev"], 1, 2)
    found = draw.fields({"matchLabels": (0.7, lambda: {key: draw.one(*LABELS[key]) for key in keys})})
    if not found or draw.chance(0.4):
        found["matchExpressions"] = draw.many(1, 3, lambda: _expression(draw))
    return found


def _expression(draw: Draw) -> Data:
    key = draw.one(*LABELS)
    found: Data = {"key": key, "operator": draw.one("In", "NotIn", "Exists", "DoesNotExist")}
    if found["operator"] in ("In", "NotIn"):
        found["values"] = draw.some(dict.fromkeys([*LABELS[key], "zz"]), 1, 3)
    return found


def _free_keys(draw: Draw, chosen: Data) -> list[str]:
    used = {*(chosen.get("matchLabels") or ()), *(each["key"] for each in chosen.get("matchExpressions") or ())}
    return draw.some((key for key in ("pod-template-hash", "rev", "tier", "nope", "x/y") if key not in used), 1, 3)


def constraint(draw: Draw, *, hard: bool | None = None, keys: Sequence[str] = KEYS) -> Data:
    is_hard = draw.chance(0.5) if hard is None else hard
    found: Data = {
        "maxSkew": draw.one(1, 1, 1, 2, 3, 5, 10, 2147483647),
        "topologyKey": draw.one(*keys),
        "whenUnsatisfiable": "DoNotSchedule" if is_hard else "ScheduleAnyway",
    }
    found |= draw.fields(
        {
            "labelSelector": (0.94, lambda: selector(draw)),
            "nodeAffinityPolicy": (0.4, ["Honor", "Ignore"]),
            "nodeTaintsPolicy": (0.4, ["Honor", "Ignore"]),
        }
    )
    if "labelSelector" in found and (free := _free_keys(draw, found["labelSelector"])):
        found |= draw.fields({"matchLabelKeys": (0.25, lambda: free)})
    if is_hard:
        found |= draw.fields({"minDomains": (0.3, [1, 2, 3, 5, 6, 9, 100])})
    return found


def constraints(
    draw: Draw, low: int = 1, high: int = 4, *, hard: bool | None = None, keys: Sequence[str] = KEYS
) -> list[Data]:
    drawn = draw.many(low, high, lambda: constraint(draw, hard=hard, keys=keys))
    return list({(each["topologyKey"], each["whenUnsatisfiable"]): each for each in drawn}.values())


def _node_expression(draw: Draw) -> Data:
    operator = draw.one("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")
    if operator in ("Gt", "Lt"):
        value = draw.one("1", "4", "8", "3", "0", "9223372036854775807")
        return {"key": draw.one("cores", "cores", "absent"), "operator": operator, "values": [value]}
    found: Data = {"key": draw.one("disktype", "env", ZONE, "rack", "pool", "absent"), "operator": operator}
    if operator in ("In", "NotIn"):
        found["values"] = draw.some(["ssd", "hdd", "prod", "qa", "z0", "z1", "z2", "k0", "k1", "a", ""], 1, 5)
    return found


def _node_term(draw: Draw, among: Sequence[Data]) -> Data:
    return draw.fields(
        {
            "matchExpressions": (0.88, lambda: draw.many(1, 3, lambda: _node_expression(draw))),
            "matchFields": (0.15, lambda: [_by_name(draw, among)]),
        }
    )


def _by_name(draw: Draw, among: Sequence[Data]) -> Data:
    name = draw.one(*(name_of(node) for node in among), "ghost")
    return {"key": "metadata.name", "operator": draw.one("In", "In", "NotIn"), "values": [name]}


def node_affinity(draw: Draw, among: Sequence[Data], required: float = 0.6, preferred: float = 0.5) -> Data:
    def weighed() -> Data:
        return {"weight": draw.number(1, 100), "preference": _node_term(draw, among)}

    return draw.fields(
        {
            REQUIRED: (required, lambda: {"nodeSelectorTerms": draw.many(1, 3, lambda: _node_term(draw, among))}),
            PREFERRED: (preferred, lambda: draw.many(1, 4, weighed)),
        }
    )


def pod_term(draw: Draw) -> Data:
    team: tuple[Data, ...] = (
        {},
        {"matchLabels": {"team": "x"}},
        {"matchExpressions": [{"key": "team", "operator": "Exists"}]},
        {"matchExpressions": [{"key": "kubernetes.io/metadata.name", "operator": "In", "values": ["prod", "dev"]}]},
        {"matchExpressions": [{"key": "team", "operator": "NotIn", "values": ["x"]}]},
    )
    found: Data = {"topologyKey": draw.one(*KEYS)}
    found |= draw.fields(
        {
            "labelSelector": (0.94, lambda: selector(draw)),
            "namespaces": (0.3, lambda: draw.some(["default", "prod", "dev", "ghost"], 1, 3)),
            "namespaceSelector": (0.3, list(team)),
        }
    )
    if "labelSelector" in found and (free := _free_keys(draw, found["labelSelector"])):
        found |= draw.fields({"matchLabelKeys": (0.2, lambda: free[:1])})
        if free[1:]:
            found |= draw.fields({"mismatchLabelKeys": (0.2, lambda: free[1:2])})
    return found


def pod_affinity(draw: Draw, required: float = 0.5, preferred: float = 0.5, own: Data | None = None) -> Data:
    """``own`` are the pod's labels, which half of the required terms then select."""

    def terms(kind: str) -> Data:
        found = draw.fields(
            {
                REQUIRED: (required, lambda: draw.many(1, 3, lambda: pod_term(draw))),
                PREFERRED: (preferred, lambda: draw.many(1, 3, lambda: weighed_term(draw))),
            }
        )
        if own and kind == "podAffinity" and draw.chance(0.5):
            for term in found.get(REQUIRED, ()):
                term |= {"labelSelector": {"matchLabels": dict([*own.items()][:1])}}
                term.pop("matchLabelKeys", None)
                term.pop("mismatchLabelKeys", None)
        return found

    return {kind: found for kind in ("podAffinity", "podAntiAffinity") if (found := terms(kind))}


def weighed_term(draw: Draw) -> Data:
    return {"weight": draw.number(1, 100), "podAffinityTerm": pod_term(draw)}


# What pods request


def requests(draw: Draw, *, tiny: bool = False) -> Data:
    """``tiny``: fractions that Kubernetes rounds up."""
    cpu = ["1n", "500u", "0.0001", "1m", "1.0000001", "0", "5E-4", "0.5m"]
    memory = ["1", "100m", "0.5", "1500m", "1k", "1e3", "1Ki", "0.1Gi", "123456789", "2000000000n"]
    if not tiny:
        cpu = ["100m", "250m", "0.5", "1", "1500m", "2", "1e-1", "0"]
        memory = ["64Mi", "128Mi", "500M", "1Gi", "2.5Gi", "1e9", "1048576", "0"]
    return draw.fields({"cpu": (0.8, cpu), "memory": (0.8, memory), "ephemeral-storage": (0.2, ["1Gi", "10Gi", "1k"])})


def container(draw: Draw, name: str, *, gpu: float = 0.15, tiny: bool = False) -> Data:
    resources = draw.fields({"requests": (0.85, lambda: requests(draw, tiny=tiny))})
    if draw.chance(0.3):
        resources["limits"] = dict(resources.get("requests") or requests(draw, tiny=tiny))
    for resource, amount in draw.fields(
        {"nvidia.com/gpu": (gpu, ["1", "2", "3"]), "example.com/fpga": (gpu / 2, ["1", "2"])}
    ).items():
        for kind in draw.one(("limits",), ("limits", "requests")):
            resources.setdefault(kind, {})[resource] = amount
    return {"name": name, "image": "img", "resources": resources}


def containers(draw: Draw, *, gpu: float = 0.15, tiny: bool = False) -> list[Data]:
    return [container(draw, f"c{i}", gpu=gpu, tiny=tiny) for i in range(draw.one(1, 1, 2, 3))]


def init_containers(draw: Draw) -> list[Data]:
    """Sidecars among them."""
    made = (container(draw, f"i{i}", gpu=0.08) for i in range(draw.number(1, 4)))
    return [each | draw.fields({"restartPolicy": (0.5, "Always")}) for each in made]


def pod_level_resources(draw: Draw) -> Data:
    found = draw.fields(
        {
            "requests": (0.75, lambda: draw.fields({"cpu": (0.8, ["2", "4"]), "memory": (0.7, ["4Gi", "6Gi", "3G"])})),
            "limits": (0.4, lambda: draw.fields({"cpu": (0.8, ["8", "10"]), "memory": (0.7, ["12Gi", "16Gi"])})),
        }
    )
    return {kind: amounts for kind, amounts in found.items() if amounts}


OVERHEADS = [{"cpu": "120m", "memory": "64Mi"}, {"cpu": "0.3"}, {"memory": "1Gi", "ephemeral-storage": "1Gi"}]


def odd_resources(draw: Draw) -> Data:
    """What may be added to any pod's spec."""
    return draw.fields(
        {
            "initContainers": (0.25, lambda: init_containers(draw)),
            "overhead": (0.12, OVERHEADS),
            "resources": (0.15, lambda: pod_level_resources(draw)),
        }
    )


def resized_status(draw: Draw, pod: Data) -> Data:
    """As while the kubelet changes what the containers of a running pod have."""

    def status(of: Data) -> Data:
        return {"name": of["name"], "image": "img", "imageID": "", "ready": True, "restartCount": 0} | draw.fields(
            {
                "resources": (0.8, lambda: {"requests": requests(draw)}),
                "allocatedResources": (0.7, lambda: requests(draw)),
            }
        )

    def condition() -> Data:
        kind = draw.one("PodResizePending", "PodResizePending", "PodResizeInProgress", "Ready")
        return {
            "type": kind,
            "status": draw.one("True", "False"),
            "reason": draw.one("Infeasible", "Deferred", "Error", ""),
        }

    found = {"containerStatuses": [status(each) for each in pod["spec"]["containers"] if draw.chance(0.9)]}
    if "initContainers" in pod["spec"] and draw.chance(0.7):
        found["initContainerStatuses"] = [status(each) for each in pod["spec"]["initContainers"]]
    if "resources" in pod["spec"]:
        found |= draw.fields(
            {
                "resources": (0.5, lambda: {"requests": requests(draw)}),
                "allocatedResources": (0.5, lambda: requests(draw)),
            }
        )
    return found | draw.fields({"conditions": (0.6, lambda: draw.many(1, 2, condition))})


def host_ports(draw: Draw) -> list[Data]:
    def port() -> Data:
        return {"containerPort": draw.one(80, 8080, 9090, 53)} | draw.fields(
            {
                "hostPort": (0.85, [80, 8080, 9100]),
                "protocol": (0.5, ["TCP", "UDP", "SCTP"]),
                "hostIP": (0.5, ["127.0.0.1", "0.0.0.0", "10.0.0.1", "::", "::1"]),
            }
        )

    return draw.many(1, 2, port)


# Pods


def bound(draw: Draw, i: int, among: Sequence[Data], **spec: object) -> Data:
    """A pod on one of the nodes; some are ending, finished, of other schedulers, or on a node that is gone."""
    metadata: Data = {"name": f"p{i}", "namespace": draw.one(*NAMESPACES), "uid": f"u{i}"}
    metadata |= draw.fields({"labels": (0.97, lambda: labels(draw)), "deletionTimestamp": (0.07, LONG_AGO)})
    if "deletionTimestamp" in metadata:
        metadata["deletionGracePeriodSeconds"] = 30
    node = name_of(draw.one(*among)) if draw.chance(0.97) else "gone"
    spec = {"nodeName": node, "containers": [{"name": "c", "image": "img"}], **spec}
    spec |= draw.fields({"schedulerName": (0.1, ["other", "second"])})
    phase = draw.one("Succeeded", "Failed", "Pending", "Unknown", "") if draw.chance(0.09) else "Running"
    status = {} if draw.chance(0.03) else {"phase": phase}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": status}


def started(draw: Draw, i: int) -> str:
    """When pod ``i`` started: in no particular order, and some at the same time."""
    if draw.chance(0.1):
        return "2026-01-05T00:00:00Z"
    return f"2026-01-{1 + i // 60 % 28:02d}T{i % 24:02d}:{i * 13 % 60:02d}:{i * 7 % 60:02d}Z"


def candidate(draw: Draw, made: list[Data] | None = None, **spec: object) -> Data:
    metadata = {"name": "candidate"}
    metadata |= draw.fields({"namespace": (0.95, list(NAMESPACES)), "labels": (0.96, lambda: labels(draw))})
    spec = {"containers": made or [{"name": "c", "image": "img"}], **spec}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def namespaces(draw: Draw) -> list[Data]:
    return [
        {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": name} | draw.fields({"labels": (0.6, [{"team": "x"}, {"team": "y"}, {"team": ""}])}),
        }
        for name in ("default", "prod", "dev", "kube-system")
        if draw.chance(0.93)
    ]


def services(draw: Draw, namespace: str, low: int, high: int) -> list[Data]:
    specs: tuple[Data, ...] = (
        {"selector": {"app": "a"}},
        {"selector": {"tier": "web"}},
        {"selector": {}},
        {},
        {"selector": {"app": "a", "rev": ""}},
        {"type": "ExternalName", "externalName": "x.y", "selector": {"app": "a"}},
    )
    return [
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": f"svc{i}", "namespace": draw.one(namespace, namespace, "dev")},
            "spec": draw.one(*specs),
        }
        for i in range(draw.number(low, high))
    ]


def owned(draw: Draw, pod: Data) -> list[Data]:
    """What owns ``pod``, as far as it is there: default constraints take their selector from it."""
    kind = draw.one("ReplicaSet", "StatefulSet", "ReplicationController", "Job", "DaemonSet", "Deployment")
    version = {"ReplicationController": "v1", "Job": "batch/v1"}.get(kind, "apps/v1")
    metadata = {"name": "owner", "namespace": namespace_of(pod)}
    template = {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    chosen = {"app": "a"} if kind == "ReplicationController" else selector(draw)
    if draw.chance(0.8):
        reference = {
            "apiVersion": draw.one(version, version, version, "apps/v1beta1"),
            "kind": kind,
            "name": "owner",
            "uid": "o",
            "controller": True,
        }
        pod["metadata"]["ownerReferences"] = [reference]
    if kind in ("Job", "DaemonSet", "Deployment") or draw.chance(0.1):
        return []
    return [
        {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": {"selector": chosen, "template": template}}
    ]


def budgets(draw: Draw) -> list[Data]:
    def status() -> Data:
        found = {
            "disruptionsAllowed": draw.one(0, 0, 1, 2),
            "currentHealthy": 3,
            "desiredHealthy": 1,
            "expectedPods": 3,
        }
        return found | draw.fields({"disruptedPods": (0.3, lambda: {f"p{draw.number(0, 7)}": LONG_AGO})})

    return [
        {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": f"pdb{i}", "namespace": draw.one("default", "default", "prod", "dev")},
            "spec": {"minAvailable": 1} | draw.fields({"selector": (0.95, lambda: selector(draw, empty=0.1))}),
            "status": status(),
        }
        for i in range(draw.number(0, 4))
    ]


def nominated(draw: Draw, among: Sequence[Data], first: int = 900) -> list[Data]:
    """Pods, from number ``first`` on, that wait for a node which they are nominated to."""
    found = []
    for i in range(draw.number(1, 4)):
        pod = bound(draw, first + i, among, containers=containers(draw), priority=draw.one(0, 5, 1000))
        pod["status"] = {"phase": "Pending", "nominatedNodeName": pod["spec"].pop("nodeName")}
        pod["metadata"].pop("deletionTimestamp", None)
        pod["metadata"].pop("deletionGracePeriodSeconds", None)
        pod["spec"].pop("schedulerName", None)
        found.append(pod)
    return found
