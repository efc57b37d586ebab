"""Families of cases: what each is about, and how a case of it is drawn."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator, Mapping, Sequence

from kubespread.kube.well_known import HOSTNAME, REGION, ZONE
from tools.recorder.cases import configurations as configs
from tools.recorder.cases import faults, volumes
from tools.recorder.cases.cluster import (
    KEYS,
    LONG_AGO,
    OVERHEADS,
    PREFERRED,
    REQUIRED,
    ROW,
    allocatable,
    bound,
    budgets,
    candidate,
    constraint,
    constraints,
    containers,
    host_ports,
    image,
    init_containers,
    level,
    name_of,
    namespace_of,
    namespaces,
    node_affinity,
    node_images,
    nodes,
    nominated,
    odd_resources,
    owned,
    pod_affinity,
    pod_level_resources,
    pod_term,
    requests,
    resized_status,
    services,
    started,
    taint,
    tolerations,
    weighed_term,
)
from tools.recorder.cases.controllers import CONTROLLERS
from tools.recorder.cases.descheduling import DESCHEDULING
from tools.recorder.cases.devices import back_resources, declare, devices, reserve
from tools.recorder.cases.draw import Data, Draw
from tools.recorder.cases.shared_devices import shared_devices

_GANG = "GenericWorkload=true,GangScheduling=true"


def _case(
    draw: Draw, among: list[Data], pod: Data, *, crowd: int = 4, objects: Sequence[Data] = (), requested: bool = False
) -> Data:
    """``crowd`` pods a node at most."""
    running = range(draw.number(0, crowd * len(among)))
    pods = [bound(draw, i, among, **({"containers": containers(draw)} if requested else {})) for i in running]
    return {"nodes": among, "pods": pods, "objects": list(objects), "pod": pod}


def _own_labels(pod: Data) -> Data:
    found: Data = pod["metadata"].setdefault("labels", {})
    found.setdefault("app", "a")
    return found


# One feature at a time


def spread(draw: Draw) -> Data:
    among = nodes(draw, labelled=draw.one(0.7, 0.9, 1.0), tainted=draw.one(0.1, 0.5))
    keys = draw.one(KEYS, (ZONE, HOSTNAME, "rack"), KEYS[:5])
    spec = draw.fields(
        {
            "nodeSelector": (0.3, [{"disktype": "ssd"}, {"env": "prod"}, {"pool": ""}]),
            "affinity": (0.35, lambda: {"nodeAffinity": node_affinity(draw, among, 0.9, 0.2)}),
            "tolerations": (0.5, lambda: tolerations(draw)),
        }
    )
    return _case(
        draw, among, candidate(draw, topologySpreadConstraints=constraints(draw, 1, 6, keys=keys), **spec), crowd=6
    )


def score(draw: Draw) -> Data:
    among = nodes(draw, 3, 30, labelled=draw.one(0.8, 1.0, 1.0), tainted=0.05, roomy=True)
    soft = constraints(draw, hard=False, keys=draw.one(KEYS, (ZONE, HOSTNAME, "rack", "pool")))
    if draw.chance(0.3):
        soft.append({**constraint(draw, hard=True, keys=(ZONE,)), "maxSkew": draw.one(4, 8, 20)})
    spec = draw.fields({"tolerations": (0.4, lambda: tolerations(draw)), "nodeSelector": (0.3, {"disktype": "ssd"})})
    return _case(draw, among, candidate(draw, containers(draw, gpu=0), topologySpreadConstraints=soft, **spec), crowd=8)


def defaults(draw: Draw) -> Data:
    among = nodes(draw, 2, 12, labelled=draw.one(0.8, 1.0, 1.0), tainted=0.1)
    pod = candidate(draw, containers(draw, gpu=0.05))
    found = _case(draw, among, pod, crowd=5)
    found["objects"] = services(draw, namespace_of(pod), 0, 3)
    if draw.chance(0.75):
        found["objects"] += owned(draw, pod)
    if draw.chance(0.65):
        found["config"] = configs.configuration(configs.profile(configs.drawn_defaults(draw)))
    if draw.chance(0.15):
        pod["spec"]["topologySpreadConstraints"] = constraints(draw, 1, 1)
    return found


def node_selection(draw: Draw) -> Data:
    among = nodes(draw, 2, 16, tainted=0.6)
    spec = draw.fields(
        {
            "nodeSelector": (0.3, [{"disktype": "ssd"}, {"disktype": "hdd"}]),
            "tolerations": (0.7, lambda: tolerations(draw, 1, 5)),
            "nodeName": (0.05, [name_of(draw.one(*among)), "ghost"]),
        }
    )
    pod = candidate(draw, affinity={"nodeAffinity": node_affinity(draw, among, 0.5, 0.8)}, **spec)
    found = _case(draw, among, pod, crowd=2)
    if draw.chance(0.25):
        added = configs.args("NodeAffinity", addedAffinity=node_affinity(draw, among, 0.6, 0.6))
        found["config"] = configs.configuration(configs.profile(added))
    return found


def comparisons(draw: Draw) -> Data:
    among = nodes(draw, 3, 12, tainted=0.3)
    for node in among:
        levels = draw.many(0, 2, lambda: level(draw, draw.one("NoSchedule", "NoExecute", "PreferNoSchedule")))
        node["spec"].setdefault("taints", []).extend(levels)
    spread_over = constraints(draw, 1, 2, keys=(ZONE, HOSTNAME))
    spec = draw.fields(
        {"topologySpreadConstraints": (0.5, [[{**each, "nodeTaintsPolicy": "Honor"} for each in spread_over]])}
    )
    found = _case(draw, among, candidate(draw, tolerations=tolerations(draw, 1, 5, compared=True), **spec), crowd=2)
    return found | draw.fields({"gates": (0.75, "TaintTolerationComparisonOperators=true")})


def inter_pod(draw: Draw) -> Data:
    among = nodes(draw, 2, 14, labelled=draw.one(0.7, 0.95, 1.0), tainted=0.05)
    pod = candidate(draw)
    pod["spec"]["affinity"] = pod_affinity(draw, 0.4, 0.6, pod["metadata"].get("labels"))
    found = _case(draw, among, pod, objects=namespaces(draw) if draw.chance(0.85) else [])
    for other in found["pods"]:
        other["spec"] |= draw.fields({"affinity": (0.25, lambda: pod_affinity(draw, 0.3, 0.5))})
    if draw.chance(0.3):
        found["config"] = configs.configuration(configs.profile(configs.drawn_affinity(draw)))
    return found


def resources(draw: Draw) -> Data:
    among = nodes(draw, 2, 10, tainted=0.05)
    pod = candidate(draw, containers(draw, gpu=0.3))
    pod["spec"] |= draw.fields(
        {
            "initContainers": (0.4, lambda: init_containers(draw)),
            "overhead": (0.15, OVERHEADS),
            "resources": (0.3, lambda: pod_level_resources(draw)),
        }
    )
    found = _case(draw, among, pod, requested=True)
    for other in found["pods"]:
        other["spec"] |= odd_resources(draw)
        if draw.chance(0.3):
            other["status"] |= resized_status(draw, other)
    if draw.chance(0.15):
        huge = pod["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "100m"}, "limits": {}}
        for kind in huge.values():
            kind["hugepages-2Mi"] = "32Mi"
    if draw.chance(0.5):
        found["config"] = configs.configuration(configs.profile(*configs.scoring(draw)))
    return found


def quantities(draw: Draw) -> Data:
    among = nodes(draw, 2, 8, tainted=0, labelled=1)
    memory = [
        "1Ei",
        "8Ei",
        "7Ei",
        "100Pi",
        "9223372036854775807",
        "9.3E",
        "1E",
        "16Ei",
        "1e18",
        "90Pi",
        "8796093022208Mi",
    ]
    cpu = ["1P", "9223372036854775", "1M", "100k", "1e6", "0.5m", "1n", "0", "9223372036854775807", "1E"]
    for node in among:
        node["spec"] = {}
        allocatable(node).update(
            draw.fields(
                {
                    "memory": (0.4, memory),
                    "cpu": (0.3, cpu),
                    "pods": (0.2, ["0", "1", "1k", "110.5", "1e2"]),
                    "ephemeral-storage": (0.2, ["8Ei", "1n", "0", "123456789012345"]),
                    "nvidia.com/gpu": (0.2, ["1k", "1e3", "9223372036854775807"]),
                }
            )
        )
    made = containers(draw, tiny=True)
    if draw.chance(0.35):
        wanted = draw.one(
            ("memory", "1Ei"), ("memory", "7.99Ei"), ("memory", "16Ei"), ("cpu", "1P"), ("cpu", "9223372036854776")
        )
        made[0]["resources"] = {"requests": dict([wanted])}
    found = _case(draw, among, candidate(draw, made), crowd=0)
    found["pods"] = [
        bound(draw, i, among, containers=containers(draw, tiny=True)) for i in range(draw.number(0, 3 * len(among)))
    ]
    for other in found["pods"]:
        if draw.chance(0.05):
            other["spec"]["containers"][0]["resources"] = {"requests": {"memory": draw.one("1Ei", "5Ei", "100Pi")}}
    if draw.chance(0.5):
        found["config"] = configs.configuration(configs.profile(*configs.scoring(draw)))
    return found


def ports(draw: Draw) -> Data:
    among = nodes(draw, 2, 8, tainted=0, images=True)

    def spec() -> Data:
        made = [
            {"name": f"c{i}", "image": image(draw)} | draw.fields({"ports": (0.6, lambda: host_ports(draw))})
            for i in range(draw.number(1, 2))
        ]
        early = [
            {"name": "i0", "image": "img", "ports": host_ports(draw)} | draw.fields({"restartPolicy": (0.6, "Always")})
        ]
        found = {"containers": made} | draw.fields({"initContainers": (0.2, [early]), "hostNetwork": (0.15, True)})
        if "hostNetwork" in found:
            for each in (*made, *found.get("initContainers", ())):
                for port in each.get("ports", ()):
                    port.pop("hostPort", None)
        return found

    pod = candidate(draw)
    pod["spec"] |= spec()
    found = _case(draw, among, pod, crowd=0)
    found["pods"] = [bound(draw, i, among, **spec()) for i in range(draw.number(0, 3 * len(among)))]
    return found


def images(draw: Draw) -> Data:
    among = nodes(draw, 2, 12, tainted=0, images=True, roomy=True)
    for node in among:
        node["spec"] = {}
    pod = candidate(draw, [{"name": f"c{i}", "image": image(draw)} for i in range(draw.number(1, 4))])
    early = [
        {"name": f"i{i}", "image": image(draw)} | draw.fields({"restartPolicy": (0.5, "Always")}) for i in range(2)
    ]
    pod["spec"] |= draw.fields(
        {
            "initContainers": (0.4, [early]),
            "volumes": (0.2, lambda: [{"name": "iv", "image": {"reference": image(draw)}}]),
        }
    )
    return _case(draw, among, pod, crowd=0)


def odd_labels(draw: Draw) -> Data:
    """Topologies whose labels are empty, absent, shared, or at odds with each other."""
    among = nodes(draw, 3, 16, labelled=draw.one(0.6, 0.8, 1.0), tainted=0.1, roomy=True)
    values = draw.some(["", "a", "A.b_c-1", "0", "x-x-x-x-x", "z0", "None", "true", "1.0"], 1, 5)
    for node in among:
        node["metadata"]["labels"] |= draw.fields(dict.fromkeys((ZONE, "rack", ROW, HOSTNAME, REGION), (0.35, values)))
    found = _case(draw, among, candidate(draw, containers(draw, gpu=0)), crowd=6)
    return _finished(draw, _decorated(draw, found, draw.one(0.1, 0.5)), config=0.2, gates=0.1)


def attachments(draw: Draw) -> Data:
    found = volumes.storage(draw)
    volumes.attach(draw, found)
    return found


def migrated(draw: Draw) -> Data:
    return volumes.migrated(draw, volumes.storage(draw))


def capacity(draw: Draw) -> Data:
    found = volumes.storage(draw, hindered=0.1)
    volumes.measure(draw, found)
    found = _decorated(draw, found, 0.05)
    found["gates"] = draw.one("", ",VolumeLimitScaling=true", ",OpportunisticBatching=false")
    found["gates"] = "StorageCapacityScoring=true" + found["gates"]
    if draw.chance(0.6):
        binding = configs.args("VolumeBinding", bindTimeoutSeconds=10, shape=draw.one(*configs.SHAPES))
        weight = {"score": {"enabled": [{"name": "VolumeBinding", "weight": draw.one(1, 3, 10)}]}}
        found["config"] = configs.configuration(configs.profile(binding, plugins=weight if draw.chance(0.5) else None))
    return found


def all_volumes(draw: Draw) -> Data:
    return _finished(
        draw, _decorated(draw, volumes.storage(draw, hindered=draw.one(0.2, 0.8)), 0.2), config=0.2, gates=0.5
    )


def all_devices(draw: Draw) -> Data:
    found = devices(draw, rich=draw.chance(0.6))
    if draw.chance(0.5):
        found = _decorated(draw, found, 0.1)
    return _finished(draw, found, config=0.1, gates=0.2)


def backed_resources(draw: Draw) -> Data:
    found = _decorated(draw, devices(draw, rich=draw.chance(0.7)), 0.05)
    back_resources(draw, found)
    if draw.chance(0.85):
        found["config"] = configs.configuration(configs.profile(*_not_crashing(found, configs.scoring(draw))))
    return found


def _not_crashing(case: Data, arguments: list[Data]) -> list[Data]:
    """Without what crashes kube-scheduler 1.36: NodeResourcesBalancedAllocation over a resource that devices back."""
    backed = {each["spec"].get("extendedResourceName") for each in case["objects"] if each["kind"] == "DeviceClass"}
    for each in arguments:
        if each["name"] == "NodeResourcesBalancedAllocation":
            resources = each["args"]["resources"]
            each["args"]["resources"] = [weighed for weighed in resources if weighed["name"] not in backed]
    return arguments


def declared(draw: Draw) -> Data:
    found = _case(draw, nodes(draw, 2, 7, tainted=0.05), candidate(draw), crowd=0)
    declare(draw, found)
    return found | draw.fields({"gates": (0.3, "UserNamespacesHostNetworkSupport=true")})


# Everything at once


def mixed(draw: Draw, low: int = 3, high: int = 14) -> Data:
    among = nodes(draw, low, high, labelled=draw.one(0.85, 1.0), images=True, roomy=draw.chance(0.5), tainted=0.15)
    pod = candidate(draw, [{**each, "image": image(draw)} for each in containers(draw, gpu=0.05)])
    affinity = draw.fields({"nodeAffinity": (0.45, lambda: node_affinity(draw, among, 0.3, 0.7))})
    if draw.chance(0.4):
        affinity |= pod_affinity(draw, 0.15, 0.6, pod["metadata"].get("labels"))
    pod["spec"] |= draw.fields(
        {
            "topologySpreadConstraints": (0.7, lambda: _lenient(draw, constraints(draw))),
            "affinity": (1.0, affinity),
            "tolerations": (0.6, lambda: tolerations(draw)),
        }
    )
    pod["spec"] |= odd_resources(draw)
    if draw.chance(0.12):
        pod["spec"]["containers"][0]["ports"] = host_ports(draw)
    found = _case(draw, among, pod, crowd=5, objects=namespaces(draw), requested=True)
    for other in found["pods"]:
        other["spec"] |= draw.fields({"affinity": (0.1, lambda: pod_affinity(draw, 0.2, 0.6))})
        if draw.chance(0.2):
            other["spec"] |= odd_resources(draw)
        if draw.chance(0.1):
            other["status"] |= resized_status(draw, other)
        if draw.chance(0.1):
            other["spec"]["containers"][0]["ports"] = host_ports(draw)
    found["objects"] += services(draw, namespace_of(pod), 0, 1)
    return found


def _lenient(draw: Draw, drawn: list[Data]) -> list[Data]:
    return [{**each, "maxSkew": draw.one(1, 2, 4, 8)} for each in drawn]


def _decorated(draw: Draw, case: Data, hard: float) -> Data:
    """The case with everything else on top; ``hard`` is how much of it rejects nodes."""
    pod, spec = case["pod"], case["pod"]["spec"]
    own = pod["metadata"].get("labels") or {}
    case["objects"] += namespaces(draw) + services(draw, namespace_of(pod), 0, 2)
    affinity = draw.fields({"nodeAffinity": (0.5, lambda: node_affinity(draw, case["nodes"], hard * 0.6, 0.7))})
    if draw.chance(0.5):
        affinity |= pod_affinity(draw, hard * 0.5, 0.7, own)
    spec |= odd_resources(draw) | draw.fields(
        {
            "topologySpreadConstraints": (0.7, lambda: _softened(draw, constraints(draw), own, hard)),
            "affinity": (1.0, affinity),
            "nodeSelector": (0.3 * hard, [{"disktype": "ssd"}, {"env": "prod"}]),
            "tolerations": (0.6, lambda: tolerations(draw)),
            "hostUsers": (0.1, [True, False]),
        }
    )
    for each in spec["containers"]:
        each |= draw.fields({"image": (0.7, lambda: image(draw)), "ports": (0.1, lambda: host_ports(draw))})
    for other in case["pods"]:
        other["spec"] |= draw.fields({"affinity": (0.12, lambda: pod_affinity(draw, 0.15, 0.7))})
        if draw.chance(0.15):
            other["spec"] |= odd_resources(draw)
        if draw.chance(0.15):
            other["status"] |= resized_status(draw, other)
    for node in case["nodes"]:
        node["status"] |= draw.fields({"images": (0.6, lambda: node_images(draw))})
    if draw.chance(0.3):
        case["pods"] += nominated(draw, case["nodes"])
        spec["priority"] = draw.one(0, 5, 10)
    return case


def _softened(draw: Draw, drawn: list[Data], own: Data, hard: float) -> list[Data]:
    for each in drawn:
        if each["whenUnsatisfiable"] == "DoNotSchedule" and draw.chance(1 - hard):
            each |= {"maxSkew": draw.one(4, 8, 50, 2147483647), "topologyKey": draw.one(ZONE, HOSTNAME, REGION)}
            each.pop("minDomains", None)
        if own and draw.chance(0.4):
            each["labelSelector"] = {"matchLabels": dict(draw.some(own.items(), 1, 1))}
            each.pop("matchLabelKeys", None)
    return list({(each["topologyKey"], each["whenUnsatisfiable"]): each for each in drawn}.values())


def _finished(draw: Draw, case: Data, *, config: float = 0.4, gates: float = 0.35) -> Data:
    """The case, maybe with profiles and with feature gates."""
    if draw.chance(config):
        names, case["config"] = configs.profiles(draw, case["nodes"])
        case["pod"]["spec"] |= draw.fields({"schedulerName": (0.4, names)})
    if draw.chance(gates):
        case["gates"] = draw.one(*configs.GATES)
        if "Comparison" in case["gates"]:
            case["pod"]["spec"]["tolerations"] = tolerations(draw, 1, 4, compared=True)
    return case


def kitchen(draw: Draw) -> Data:
    """A mixed cluster, now and then with volumes, with devices or with both, and all that can be added."""
    found = mixed(draw)
    pod = found["pod"]
    if draw.chance(0.5):
        _with_parts(draw, found, volumes.storage(draw, hindered=0.4))
    if draw.chance(0.3):
        _with_parts(draw, found, devices(draw, rich=True))
    for volume in pod["spec"].get("volumes", ()):
        if "ephemeral" in volume:
            del volume["ephemeral"]
            volume["emptyDir"] = {}
    return _finished(draw, _decorated(draw, found, draw.one(0.1, 0.35, 0.6)))


def _with_parts(draw: Draw, case: Data, other: Data) -> None:
    """The objects of ``other`` for the nodes of ``case``, under their names, and what its candidate uses of them."""
    renamed = {name_of(old): name_of(draw.one(*case["nodes"])) for old in other["nodes"]}
    taken: set[str] = set()
    for each in json.loads(json.dumps(other["objects"])):
        if each["kind"] == "CSINode":
            each["metadata"]["name"] = renamed[name_of(each)]
        if "nodeName" in each.get("spec", ()):
            each["spec"]["nodeName"] = renamed[each["spec"]["nodeName"]]
        identity = f"{each['kind']}/{name_of(each)}"
        if identity not in taken:
            case["objects"].append(each)
        taken.add(identity)
    pod, spec = case["pod"], other["pod"]["spec"]
    pod["metadata"]["namespace"] = "default"
    pod["spec"] |= {field: spec[field] for field in ("volumes", "resourceClaims") if field in spec}
    if "resourceClaims" in spec:
        pod["spec"]["containers"][0].setdefault("resources", {})["claims"] = [
            {"name": each["name"]} for each in spec["resourceClaims"]
        ]


def large(draw: Draw) -> Data:
    return _finished(draw, mixed(draw, 110, 160), config=0.3, gates=0.1)


def nulls(draw: Draw) -> Data:
    found = draw.one(mixed, spread, inter_pod, resources, volumes.storage, node_selection, ports, defaults)(draw)
    found.pop("config", None)
    return faults.with_nulls(draw, found)


# Profiles and gates


def profiled(draw: Draw) -> Data:
    return _finished(draw, mixed(draw, 3, 9), config=1, gates=0)


def odd_profiles(draw: Draw) -> Data:
    return {**mixed(draw, 3, 6), "config": configs.configuration(configs.profile(plugins=configs.odd_plugins(draw)))}


def faulty_profiles(draw: Draw) -> Data:
    return {
        **_case(draw, nodes(draw, 1, 2, tainted=0, labelled=1), candidate(draw), crowd=0),
        "config": configs.faulty(draw),
    }


def gated(draw: Draw) -> Data:
    gates = draw.one(*configs.GATES)
    about = {
        "Storage": volumes.storage,
        "PodLevel": resources,
        "InPlace": resources,
        "MatchLabel": spread,
        "Taint": comparisons,
        "DRA": backed_resources,
    }
    made = next((make for start, make in about.items() if gates.startswith(start)), None) or draw.one(
        mixed, spread, resources
    )
    return {**made(draw), "gates": gates}


# Preemption, nominations, pods that are stored already


def _prioritized(draw: Draw, case: Data) -> Data:
    for i, pod in enumerate(case["pods"]):
        pod["spec"] |= draw.fields(
            {"priority": (0.9, [-10, 0, 0, 5, 100, 1000, 2147483647, -2147483648]), "preemptionPolicy": (0.1, "Never")}
        )
        if pod["status"].get("phase") == "Running":
            pod["status"]["startTime"] = started(draw, i)
    case["pod"]["spec"]["priority"] = draw.one(1, 10, 500, 2000)
    case["pod"]["spec"] |= draw.fields({"preemptionPolicy": (0.05, ["Never", "PreemptLowerPriority"])})
    case["objects"] += budgets(draw)
    return {**case, "preempt": True}


def _scarce(draw: Draw, case: Data) -> Data:
    for node in case["nodes"]:
        allocatable(node).update(
            {"cpu": draw.one("1", "2", "3", "4"), "memory": draw.one("4Gi", "8Gi"), "pods": draw.one("110", "6", "4")}
        )
        node["spec"].pop("unschedulable", None)
        if draw.chance(0.5):
            node["spec"].pop("taints", None)
    first, spec = case["pod"]["spec"]["containers"][0], case["pod"]["spec"]
    if draw.chance(0.7):
        claims = {key: value for key, value in first.get("resources", {}).items() if key == "claims"}
        first["resources"] = {
            **claims,
            "requests": {"cpu": draw.one("1", "2", "3", "800m"), "memory": draw.one("1Gi", "2Gi", "4Gi")},
        }
        spec.pop("resources", None)
    return case


def preempt(draw: Draw) -> Data:
    found = _prioritized(draw, _scarce(draw, mixed(draw, 2, 8)))
    spec = found["pod"]["spec"]
    if draw.chance(0.3):
        spec.setdefault("affinity", {})[draw.one("podAffinity", "podAntiAffinity")] = {REQUIRED: [pod_term(draw)]}
    if draw.chance(0.2):
        without = {"postFilter": {"disabled": [{"name": draw.one("*", "DefaultPreemption", "DynamicResources")}]}}
        found["config"] = configs.configuration(configs.profile(plugins=without))
    return found


def preempt_kitchen(draw: Draw) -> Data:
    return _prioritized(draw, _scarce(draw, kitchen(draw)))


def preempt_volumes(draw: Draw) -> Data:
    found = _decorated(draw, volumes.storage(draw, hindered=0.2), 0.15)
    if draw.chance(0.5):
        volumes.limit(draw, found)
    for each in found["objects"]:
        if each["kind"] == "PersistentVolumeClaim" and draw.chance(0.3):
            each["spec"]["accessModes"] = ["ReadWriteOncePod"]
    for pod in found["pods"]:
        pod["spec"]["containers"][0]["resources"] = {"requests": requests(draw)}
    return _finished(draw, _prioritized(draw, _scarce(draw, found)), config=0.15, gates=0.25)


def preempt_devices(draw: Draw) -> Data:
    found = _decorated(draw, devices(draw, rich=False), 0.15)
    reserve(draw, found)
    return _finished(draw, _prioritized(draw, _scarce(draw, found)), config=0.15, gates=0.2)


def nominations(draw: Draw) -> Data:
    found = _decorated(draw, mixed(draw, 3, 7), draw.one(0.2, 0.5))
    waiting = nominated(draw, found["nodes"], 950)
    for pod in waiting:
        pod["spec"] |= draw.fields(
            {
                "affinity": (0.3, lambda: pod_affinity(draw, 0.6, 0.3)),
                "schedulerName": (0.12, "other"),
                "schedulingGates": (0.08, [[{"name": "a/b"}]]),
            }
        )
        pod["metadata"] |= draw.fields({"deletionTimestamp": (0.08, LONG_AGO)})
    found["pods"] += waiting
    found["pod"]["spec"]["priority"] = draw.one(0, 5, 10)
    return found


def _stored(draw: Draw, case: Data) -> Data:
    pod = case["pod"]
    pod["metadata"] |= {"namespace": namespace_of(pod), "uid": "cand-uid"}
    pod["status"] = {"phase": "Pending"}
    pod["status"] |= draw.fields({"nominatedNodeName": (0.6, [*map(name_of, case["nodes"]), "ghost"])})
    case["pods"].append(pod)
    return {**case, "stored": True}


def stored(draw: Draw) -> Data:
    return _stored(draw, nominations(draw))


def stored_preempt(draw: Draw) -> Data:
    found = draw.one(preempt, preempt_kitchen)(draw)
    for pod in found["pods"]:
        if draw.chance(0.2) and "nodeName" in pod["spec"]:
            pod["metadata"]["deletionTimestamp"] = LONG_AGO
            reason = draw.one("PreemptionByScheduler", "PreemptionByScheduler", "EvictionByEvictionAPI")
            pod["status"]["conditions"] = [
                {"type": "DisruptionTarget", "status": draw.one("True", "True", "False"), "reason": reason}
            ]
    return _stored(draw, found)


# What the API server refuses


def validation(draw: Draw) -> Data:
    found = _case(draw, nodes(draw, 1, 2, tainted=0, labelled=1), candidate(draw), crowd=0)
    for fault in draw.some(faults.SPEC_FAULTS, 1, 2):
        found["pod"]["spec"] |= fault(draw)
    if draw.chance(0.05):
        found["pod"]["metadata"] |= draw.one(*faults.METADATA_FAULTS)(draw)
    return found


def admission(draw: Draw) -> Data:
    """What plugins of the API server make of a pod, or refuse."""
    found = mixed(draw, 3, 6)
    pod = found["pod"]
    pod["metadata"].setdefault("namespace", "default")
    namespace = namespace_of(pod)
    if not any(each["kind"] == "Namespace" and name_of(each) == namespace for each in found["objects"]):
        found["objects"].append({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
    for each in found["objects"]:
        if each["kind"] == "Namespace" and name_of(each) == namespace and draw.chance(0.3):
            selector = draw.one("env=prod", "disktype=ssd,env=qa", "env=")
            each["metadata"]["annotations"] = {"scheduler.alpha.kubernetes.io/node-selector": selector}
    found["objects"] += _priority_classes(draw)
    if draw.chance(0.6):
        limits = draw.many(1, 2, lambda: _limit(draw))
        metadata = {"name": "lr", "namespace": namespace}
        found["objects"].append(
            {"apiVersion": "v1", "kind": "LimitRange", "metadata": metadata, "spec": {"limits": limits}}
        )
    pod["spec"] |= draw.fields(
        {"priorityClassName": (0.4, ["high", "high", "system-node-critical", "ghost"]), "priority": (0.1, [0, 1000])}
    )
    if draw.chance(0.5):
        found["objects"].append(_runtime_class(draw))
        overhead = {"cpu": "250m", "memory": "120Mi"}
        selectors = [{"disktype": "ssd"}, {"disktype": "hdd"}]
        pod["spec"] |= draw.fields(
            {"runtimeClassName": (0.8, "kata"), "nodeSelector": (0.2, selectors), "overhead": (0.1, overhead)}
        )
    if draw.chance(0.3):
        for i, each in enumerate(found["pods"]):
            each["spec"]["priority"] = draw.one(0, 1, 500)
            each["status"]["startTime"] = f"2026-01-{1 + i % 28:02d}T00:{i % 60:02d}:00Z"
        found["preempt"] = True
    return {**found, "admission": True}


def _limit(draw: Draw) -> Data:
    least, most = {"cpu": draw.one("50m", "0")}, {"cpu": draw.one("4", "8")}
    limit = draw.fields(
        {"max": (0.4, most), "min": (0.4, least), "maxLimitRequestRatio": (0.4, [{"cpu": "4"}, {"cpu": "10"}])}
    )
    if draw.chance(0.35):
        return {"type": "Pod", **limit}
    default = {"cpu": draw.one("500m", "2"), "memory": "1Gi"}
    requested = {"cpu": draw.one("200m", "1"), "memory": "256Mi"}
    return {
        "type": "Container",
        **limit,
        **draw.fields({"default": (0.4, default), "defaultRequest": (0.4, requested)}),
    }


def _priority_classes(draw: Draw) -> list[Data]:
    values = {"system-cluster-critical": 2000000000, "system-node-critical": 2000001000}
    values |= draw.fields({"high": (0.5, 1000), "dflt": (0.4, [5, -5]), "dflt2": (0.2, [3, 9])})
    found = [
        {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": value}
        for name, value in values.items()
    ]
    for each in found:
        if name_of(each) == "high":
            each["preemptionPolicy"] = draw.one("Never", "PreemptLowerPriority")
        elif name_of(each).startswith("dflt"):
            each["globalDefault"] = True
    return found


def _runtime_class(draw: Draw) -> Data:
    scheduling = {
        "nodeSelector": {draw.one("disktype", "env"): draw.one("ssd", "prod")},
        "tolerations": tolerations(draw, 0, 2),
    }
    return {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": {"name": "kata"},
        "handler": "kata",
        **draw.fields(
            {"overhead": (0.7, {"podFixed": {"cpu": "250m", "memory": "120Mi"}}), "scheduling": (0.6, scheduling)}
        ),
    }


def damaged(draw: Draw) -> Data:
    found = draw.one(mixed, resources, spread, inter_pod, ports, node_selection, volumes.storage)(draw)
    found.pop("config", None)
    found["pods"], found["nodes"] = found["pods"][:3], found["nodes"][:2]
    for _ in range(draw.one(1, 1, 2)):
        faults.damage(draw, found["pod"])
    return found


# Replicas


def simulate(draw: Draw) -> Data:
    make = draw.one(
        mixed, mixed, spread, score, inter_pod, ports, resources, defaults, images, node_selection, quantities, kitchen
    )
    found = _counting(draw, make(draw)) | {"replicas": draw.one(1, 3, 5, 10, 25, 50)}
    # A replica that is only bound leaves its devices to the next: here the scheduler's own queue has to reserve them.
    has_devices = any(made["kind"] == "DeviceClass" for made in found["objects"])
    return _real(draw, found, found["replicas"]) if has_devices else found


def _counting(draw: Draw, case: Data) -> Data:
    """The case with constraints and affinity that each replica changes for the next."""
    own = _own_labels(case["pod"])
    mine = {"matchLabels": {"app": own["app"]}}
    spec = case["pod"]["spec"]
    for each in spec.get("topologySpreadConstraints", ()):
        if draw.chance(0.6):
            each |= {"labelSelector": mine, "maxSkew": draw.one(1, 2, 3)}
            each.pop("matchLabelKeys", None)
    for kind in ("podAffinity", "podAntiAffinity"):
        required = [{"topologyKey": draw.one(HOSTNAME, ZONE, "rack"), "labelSelector": mine}]
        preferred = [
            {"weight": draw.number(1, 100), "podAffinityTerm": {**required[0], "topologyKey": draw.one(HOSTNAME, ZONE)}}
        ]
        if terms := draw.fields({REQUIRED: (0.15, [required]), PREFERRED: (0.2, [preferred])}):
            spec.setdefault("affinity", {}).setdefault(kind, {}).update(terms)
    return case


def simulate_volumes(draw: Draw) -> Data:
    return {**volumes.storage(draw, hindered=draw.one(0.2, 1.0)), "replicas": draw.one(2, 3, 5)}


def _real(draw: Draw, case: Data, *replicas: int) -> Data:
    """The case through the scheduler's own queue; nothing else may wait in it."""
    case["nodes"].sort(key=name_of)
    case["pods"] = [pod for pod in case["pods"] if "nodeName" in pod["spec"]]
    return {**case, "mode": "real", "replicas": draw.one(*replicas)}


def real(draw: Draw) -> Data:
    found = _counting(draw, _decorated(draw, mixed(draw), draw.one(0.0, 0.2, 0.4)))
    return _real(draw, _finished(draw, found, config=0.3, gates=0), 3, 8, 20, 40)


def real_defaults(draw: Draw) -> Data:
    return _real(draw, defaults(draw), 5, 15)


def real_affinity(draw: Draw) -> Data:
    found = _decorated(draw, mixed(draw), 0.1)
    mine = {"matchLabels": {"app": _own_labels(found["pod"])["app"]}}
    terms = draw.many(1, 3, lambda: weighed_term(draw))
    for term in terms:
        for key in ("matchLabelKeys", "mismatchLabelKeys"):
            term["podAffinityTerm"].pop(key, None)
        term["podAffinityTerm"] |= draw.fields({"labelSelector": (0.7, mine)})
    found["pod"]["spec"].setdefault("affinity", {})[draw.one("podAffinity", "podAntiAffinity")] = {PREFERRED: terms}
    if draw.chance(0.5):
        found["config"] = configs.configuration(configs.profile(configs.drawn_affinity(draw)))
    return _real(draw, found, 5, 15, 30)


def _equal_nodes(draw: Draw, count: int, *kinds: tuple[str, str]) -> list[Data]:
    zones = draw.number(1, 5)
    found = []
    for i in range(count):
        name = f"n{i:03d}"
        marks = {HOSTNAME: name} | draw.fields(
            {ZONE: (0.95, [f"z{draw.number(0, zones - 1)}"]), REGION: (0.9, ["r0", "r0", "r1"])}
        )
        cpu, memory = draw.one(*kinds)
        room = {"cpu": cpu, "memory": memory, "pods": "110", "ephemeral-storage": "50Gi"}
        metadata, status = {"name": name, "labels": marks}, {"capacity": room, "allocatable": dict(room)}
        found.append({"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": {}, "status": status})
    return found


def _spreading(draw: Draw, *cpu: str, probability: float = 0.4) -> Data:
    """A pod whose replicas may have to spread."""
    only = {"name": "c", "image": "img", "resources": {"requests": {"cpu": draw.one(*cpu), "memory": "256Mi"}}}
    pod = candidate(draw, [only])
    mine = {"matchLabels": {"app": _own_labels(pod)["app"]}}
    drawn = [
        {
            "maxSkew": draw.one(1, 2, 5),
            "topologyKey": key,
            "whenUnsatisfiable": draw.one("DoNotSchedule", "ScheduleAnyway"),
            "labelSelector": mine,
        }
        for key in draw.some([ZONE, HOSTNAME], 1, 2)
    ]
    apart = {
        "podAntiAffinity": {REQUIRED: [{"topologyKey": draw.one(HOSTNAME, HOSTNAME, ZONE), "labelSelector": mine}]}
    }
    pod["spec"] |= draw.fields(
        {"topologySpreadConstraints": (probability, [drawn]), "affinity": (probability / 2, [apart])}
    )
    return pod


def ties(draw: Draw) -> Data:
    kinds = draw.one([("8", "16Gi")], [("8", "16Gi"), ("4", "8Gi")])
    found = _case(
        draw,
        _equal_nodes(draw, draw.number(4, 40), *kinds),
        _spreading(draw, "100m", "1", "2"),
        crowd=0,
        objects=namespaces(draw),
    )
    found["pods"] = [bound(draw, i, found["nodes"]) for i in range(draw.one(0, 0, 3, len(found["nodes"])))]
    return _real(draw, found, 5, 15, 40)


def batches(draw: Draw) -> Data:
    """One replica a node, and nothing that keeps a pod from being signed: one cycle gives the next a hint."""
    among = _equal_nodes(draw, draw.number(4, 40), ("8", "16Gi"), ("7", "8Gi"), ("6", "12Gi"), ("4", "8Gi"))
    for node in among:
        preferably = [{"key": "spot", "effect": draw.one("PreferNoSchedule", "PreferNoSchedule", "NoSchedule")}]
        node["spec"] |= draw.fields({"taints": (0.2, [preferably])})
        node["status"] |= draw.fields({"images": (0.3, lambda: node_images(draw))})
        node["metadata"]["labels"] |= draw.fields({"disktype": (0.3, "ssd")})
    pod = _spreading(draw, "5", "3", "2500m", probability=0)
    if draw.chance(0.5):
        pod["spec"]["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 80}]
    weights = {("disktype", "ssd"): draw.one(1, 10, 50), (ZONE, "z0"): draw.number(1, 30)}
    terms = [
        {"weight": weight, "preference": {"matchExpressions": [{"key": key, "operator": "In", "values": [value]}]}}
        for (key, value), weight in weights.items()
    ]
    pod["spec"] |= draw.fields({"affinity": (0.5, {"nodeAffinity": {PREFERRED: terms}})})
    found = _case(draw, among, pod, crowd=0, objects=namespaces(draw))
    if draw.chance(0.6):
        found["config"] = configs.configuration(configs.profile(configs.default_constraints()))
    return _real(draw, found, 5, 15, 40)


def samples(draw: Draw) -> Data:
    among = _equal_nodes(draw, draw.number(100, 260), ("8", "16Gi"), ("4", "32Gi"), ("16", "32Gi"))
    for node in among:
        node["spec"] |= draw.fields({"taints": (0.1, lambda: [taint(draw)])})
        node["metadata"]["labels"] |= draw.fields({"disktype": (0.5, ["ssd", "hdd"])})
    pod = _spreading(draw, "100m", "1", "3", probability=0.5)
    pod["spec"] |= draw.fields(
        {"nodeSelector": (0.3, {"disktype": "ssd"}), "tolerations": (0.2, lambda: tolerations(draw))}
    )
    found = _case(draw, among, pod, crowd=draw.one(0, 1, 3), objects=namespaces(draw), requested=True)
    share = draw.fields({"percentageOfNodesToScore": (0.5, [0, 1, 30, 45, 60, 90, 100])})
    if share:
        of_profile = draw.chance(0.5)
        found["config"] = configs.configuration(
            configs.profile() | (share if of_profile else {}), **({} if of_profile else share)
        )
    return {**_real(draw, found, 3, 10, 30), "sample": True}


def queues(draw: Draw) -> Data:
    found = _real(draw, _decorated(draw, mixed(draw), 0.1), 1)
    queue = []
    for i in range(draw.number(2, 5)):
        pod = candidate(draw, containers(draw, gpu=0))
        alone = {"nodes": copy.deepcopy(found["nodes"]), "pods": [], "objects": [], "pod": pod}
        _decorated(draw, alone, 0.1)
        pod["metadata"] |= {"name": f"w{i}", "namespace": "default"}
        pod["spec"]["priority"] = draw.one(0, 0, 5, 10)
        queue.append({"pod": pod, "replicas": draw.one(1, 3, 6)})
    return {**found, "queue": queue, "pod": queue[0]["pod"]}


def gangs(draw: Draw) -> Data:
    among = _equal_nodes(draw, draw.number(4, 40), ("1", "8Gi"), ("2", "8Gi"), ("4", "8Gi"), ("8", "16Gi"))
    for node in among:
        node["spec"] |= draw.fields({"taints": (0.1, [[{"key": "spot", "effect": "NoSchedule"}]])})
        node["metadata"]["labels"]["rack"] = f"k{draw.number(0, 3)}"
    pod = _spreading(draw, "100m", "1", "2")
    pod["metadata"].setdefault("namespace", "default")
    return _gang(draw, _case(draw, among, pod, crowd=0, objects=namespaces(draw)), 1, 2, 3, 4, 6, 8, 12)


def _gang(draw: Draw, case: Data, *counts: int) -> Data:
    gang = {"count": draw.one(*counts)} | draw.fields({"same": (0.5, [ZONE, "rack", REGION, HOSTNAME])})
    gates = _GANG + (",TopologyAwareWorkloadScheduling=true" if "same" in gang else "")
    return {**case, "gang": gang, "gates": gates}


def mixed_gangs(draw: Draw) -> Data:
    found = _decorated(draw, mixed(draw), draw.one(0.0, 0.2))
    found["nodes"].sort(key=name_of)
    found["pods"] = [pod for pod in found["pods"] if "nodeName" in pod["spec"]]
    found["pod"]["metadata"].setdefault("namespace", "default")
    return _gang(draw, found, 2, 3, 4, 6)


FAMILIES: Mapping[str, Callable[[Draw], Data]] = {
    "spread": spread,
    "score": score,
    "defaults": defaults,
    "nodeaffinity": node_selection,
    "tolerations": comparisons,
    "interpod": inter_pod,
    "resources": resources,
    "quantities": quantities,
    "ports": ports,
    "images": images,
    "labels": odd_labels,
    "volumes": all_volumes,
    "attachments": attachments,
    "migrated": migrated,
    "capacity": capacity,
    "dra": all_devices,
    "dra-shared": shared_devices,
    "backed": backed_resources,
    "declared": declared,
    "mixed": mixed,
    "kitchen": kitchen,
    "large": large,
    "nulls": nulls,
    "config": profiled,
    "configodd": odd_profiles,
    "configbad": faulty_profiles,
    "gates": gated,
    "preempt": preempt,
    "preempt-kitchen": preempt_kitchen,
    "preempt-volumes": preempt_volumes,
    "preempt-dra": preempt_devices,
    "nominated": nominations,
    "stored": stored,
    "stored-preempt": stored_preempt,
    "validation": validation,
    "admission": admission,
    "damaged": damaged,
    "simulate": simulate,
    "simulate-volumes": simulate_volumes,
    "real": real,
    "real-defaults": real_defaults,
    "real-affinity": real_affinity,
    "ties": ties,
    "batches": batches,
    "samples": samples,
    "queues": queues,
    "gangs": gangs,
    "gangs-mixed": mixed_gangs,
    **CONTROLLERS,
    **DESCHEDULING,
}


def cases(family: str, seed: int, count: int) -> Iterator[Data]:
    """``count`` cases of a family: each of its own seed, so that any can be drawn without the others."""
    for i in range(count):
        name = f"{family}-{seed}-{i:04d}"
        found = FAMILIES[family](Draw(name))
        # Two parts of a case may have made an object of one name.
        for objects in (found[field] for field in ("pods", "objects") if "pod" in found):
            once = {(each["kind"], namespace_of(each), name_of(each)): each for each in reversed(objects)}
            objects[:] = reversed(once.values())
        yield {"name": name, **found}
