"""Classes, slices and claims of devices, extended resources that devices back, and features that nodes declare."""

from __future__ import annotations

from collections.abc import Sequence

from kubespread.kube.well_known import ZONE
from tools.recorder.cases.cluster import LONG_AGO, allocatable, bound, candidate, name_of, nodes
from tools.recorder.cases.draw import Data, Draw

_API = "resource.k8s.io/v1"
_GPU, _NET = "gpu.example.com", "net.example.com"
_IS_GPU = f'device.driver == "{_GPU}"'
_CLASSES = {
    "gpu": _IS_GPU,
    "net": f'device.driver == "{_NET}"',
    "big": f'{_IS_GPU} && device.attributes["{_GPU}"].mem >= 40',
    "any": "",
    "bad": f'device.attributes["{_GPU}"].nothere == "x"',
    "cap": f'{_IS_GPU} && device.capacity["{_GPU}"].memory.compareTo(quantity("20Gi")) >= 0',
}
_SELECTORS = (
    f'device.attributes["{_GPU}"].model == "h100"',
    f'device.attributes["{_GPU}"].mem > 20',
    f'device.attributes["{_GPU}"].healthy',
    f'"{_GPU}" in device.attributes && device.attributes["{_GPU}"].numa == 0',
    f'device.attributes["{_GPU}"].ver.isGreaterThan(semver("1.5.0"))',
    f'device.capacity["{_GPU}"].memory.isGreaterThan(quantity("30Gi"))',
)
Pool = tuple[str, str, int]
"""Its name, its driver, how many devices it has."""


def devices(draw: Draw, *, rich: bool) -> Data:
    """``rich``: more devices, fewer obstacles."""
    among = nodes(draw, 2, 6, tainted=0.03, labelled=1)
    for node in among:
        node["spec"].pop("unschedulable", None)
        allocatable(node)["pods"] = "110"
    objects = [_device_class(draw, name, expression) for name, expression in _CLASSES.items()]
    pools: list[Pool] = []
    for slice_, pool in _slices(draw, among, rich=rich):
        objects.append(slice_)
        pools.append(pool)
    claims = [_claim(draw, i, among, pools, rich=rich) for i in range(draw.one(1, 1, 2) if rich else draw.number(1, 3))]
    objects += claims + [_taken(draw, i, draw.one(*pools)) for i in range(draw.number(0, 4) if pools else 0)]
    asked = candidate(draw)
    asked["metadata"]["namespace"] = "default"
    _use(draw, asked, [name_of(claim) for claim in claims])
    pods = [bound(draw, i, among) for i in range(draw.number(0, 4))]
    return {"nodes": among, "pods": pods, "objects": objects, "pod": asked}


def _device_class(draw: Draw, name: str, expression: str) -> Data:
    spec: Data = {"selectors": [{"cel": {"expression": expression}}]} if expression else {}
    if name == "gpu":
        spec |= draw.fields({"extendedResourceName": (0.4, "nvidia.com/gpu")})
    return {"apiVersion": _API, "kind": "DeviceClass", "metadata": {"name": name}, "spec": spec}


def _slices(draw: Draw, among: Sequence[Data], *, rich: bool) -> list[tuple[Data, Pool]]:
    places: list[tuple[str, str, Data, int]] = [
        (name_of(node), driver, {"nodeName": name_of(node)}, draw.number(2, 6) if rich else draw.number(1, 4))
        for node in among
        for driver in (_GPU, _NET)
        if draw.chance(0.9 if rich else 0.65)
    ]
    zonal = {"nodeSelectorTerms": [{"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["z0", "z1"]}]}]}
    if draw.chance(0.3):
        places.append(("zonal", draw.one(_GPU, _NET), {"nodeSelector": zonal}, draw.number(1, 3)))
    if draw.chance(0.3):
        places.append(("fabric", draw.one(_GPU, _NET), {"allNodes": True}, draw.number(1, 2)))
    found = []
    for pool, driver, place, count in places:
        # Now and then the pool is incomplete: another slice is announced.
        of = {"name": pool, "generation": 1, "resourceSliceCount": 1 if rich or draw.chance(0.96) else 2}
        spec = {"driver": driver, "pool": of, **place, "devices": [_device(draw, i) for i in range(count)]}
        metadata = {"name": f"{pool}-{driver.partition('.')[0]}"}
        found.append(
            ({"apiVersion": _API, "kind": "ResourceSlice", "metadata": metadata, "spec": spec}, (pool, driver, count))
        )
    return found


def _device(draw: Draw, i: int) -> Data:
    attributes = {
        "model": {"string": draw.one("a100", "h100")},
        "mem": {"int": draw.one(20, 40, 80)},
        "numa": {"int": draw.one(0, 1)},
        "healthy": {"bool": draw.chance(0.9)},
        "ver": {"version": draw.one("1.2.3", "2.0.0")},
    }
    broken = [[{"key": "broken", "effect": effect, "value": "x"}] for effect in ("NoSchedule", "NoExecute")]
    found = {
        "name": f"dev-{i}",
        "attributes": attributes,
        "capacity": {"memory": {"value": draw.one("10Gi", "40Gi", "80Gi")}},
    }
    return found | draw.fields({"taints": (0.1, broken)})


def _request(draw: Draw, j: int, *, rich: bool) -> Data:
    of = draw.one("gpu", "gpu", "gpu", "net", "big", "any", "cap")
    if draw.chance(0.02 if rich else 0.08):
        of = draw.one("bad", "ghost")
    exact: Data = {"deviceClassName": of, "allocationMode": "All"}
    if draw.chance(0.9 if rich else 0.75):
        exact |= {"allocationMode": "ExactCount", "count": draw.one(1, 1, 2, 3)}
    guarded = [f"{_IS_GPU} && {each}" for each in _SELECTORS]
    expressions = guarded if draw.chance(0.95) else list(_SELECTORS)
    exact |= draw.fields(
        {
            "selectors": (0.35, lambda: [{"cel": {"expression": draw.one(*expressions)}}]),
            "tolerations": (0.15, [[{"key": "broken", "operator": "Exists"}]]),
        }
    )
    if draw.chance(0.2):
        return {"name": f"r{j}", "firstAvailable": [_alternative(draw, q, exact) for q in range(draw.number(1, 3))]}
    return {"name": f"r{j}", "exactly": exact | draw.fields({"adminAccess": (0.04, True)})}


def _alternative(draw: Draw, q: int, exact: Data) -> Data:
    found = {**exact, "name": f"s{q}", "deviceClassName": draw.one("gpu", "big", "net", "any")}
    return found | ({"count": draw.one(1, 2, 4)} if "count" in exact else {})


def _claim(draw: Draw, i: int, among: Sequence[Data], pools: Sequence[Pool], *, rich: bool) -> Data:
    spec: Data = {"requests": [_request(draw, j, rich=rich) for j in range(draw.one(1, 1, 2, 3))]}
    if draw.chance(0.35):
        attribute = draw.one("model", "model", "numa", "nothere")
        spec["constraints"] = [{"matchAttribute": f"{_GPU}/{attribute}"} | draw.fields({"requests": (0.3, [["r0"]])})]
    metadata: Data = {"name": f"claim{i}", "namespace": "default", "uid": f"cl{i}"}
    if draw.chance(0.01 if rich else 0.04):
        metadata |= {"deletionTimestamp": LONG_AGO, "finalizers": ["x/y"]}
    found = {"apiVersion": _API, "kind": "ResourceClaim", "metadata": metadata, "spec": {"devices": spec}}
    if pools and draw.chance(0.15 if rich else 0.25):
        field = {"key": "metadata.name", "operator": "In", "values": [name_of(draw.one(*among))]}
        expression = {"key": ZONE, "operator": "In", "values": ["z0"]}
        term = draw.one({"matchFields": [field]}, {"matchExpressions": [expression]})
        allocation = _allocation(draw.one(*pools), 0) | draw.fields(
            {"nodeSelector": (0.85, {"nodeSelectorTerms": [term]})}
        )
        users = [{"resource": "pods", "name": f"someone{q}", "uid": f"x{q}"} for q in range(draw.one(1, 2, 3, 256))]
        found["status"] = {"allocation": allocation} | draw.fields({"reservedFor": (0.5, [users])})
    return found


def _allocation(pool: Pool, device: int) -> Data:
    name, driver, _ = pool
    return {"devices": {"results": [{"request": "r0", "driver": driver, "pool": name, "device": f"dev-{device}"}]}}


def _taken(draw: Draw, i: int, pool: Pool) -> Data:
    """A claim of somebody else's that has a device."""
    request = {"name": "r0", "exactly": {"deviceClassName": "any", "allocationMode": "ExactCount", "count": 1}}
    user = {"resource": "pods", "name": "z", "uid": "z"}
    return {
        "apiVersion": _API,
        "kind": "ResourceClaim",
        "metadata": {"name": f"taken{i}", "namespace": "prod", "uid": f"tk{i}"},
        "spec": {"devices": {"requests": [request]}},
        "status": {"allocation": _allocation(pool, draw.number(0, pool[2] - 1)), "reservedFor": [user]},
    }


def _use(draw: Draw, pod: Data, claims: Sequence[str]) -> None:
    used = draw.some(claims, 1, len(claims)) if draw.chance(0.85) else []
    resources = pod["spec"]["containers"][0].setdefault("resources", {})
    if used:
        pod["spec"]["resourceClaims"] = [{"name": f"x{k}", "resourceClaimName": claim} for k, claim in enumerate(used)]
        resources["claims"] = [{"name": f"x{k}"} for k in range(len(used))]
    if draw.chance(0.02):
        pod["spec"].setdefault("resourceClaims", []).append({"name": "xx", "resourceClaimName": "ghostclaim"})
    if not used or draw.chance(0.2):
        name = draw.one(
            "nvidia.com/gpu", "deviceclass.resource.kubernetes.io/gpu", "deviceclass.resource.kubernetes.io/any"
        )
        resources["limits"] = {name: draw.one("1", "2")}


def back_resources(draw: Draw, case: Data) -> None:
    """Extended resources that devices stand for, and some that nodes have themselves."""
    for each in case["objects"]:
        if each["kind"] == "DeviceClass" and name_of(each) in ("gpu", "big", "any", "net"):
            names = ["example.com/net"] if name_of(each) == "net" else ["nvidia.com/gpu", "example.com/fpga"]
            each["spec"] |= draw.fields({"extendedResourceName": (0.5, names)})
    for node in case["nodes"]:
        for name in draw.some(["nvidia.com/gpu", "example.com/fpga"], 0, 2):
            allocatable(node).pop(name, None)
        allocatable(node).update(draw.fields({"example.com/net": (0.2, ["0", "2"])}))
    resources = case["pod"]["spec"]["containers"][0].setdefault("resources", {})
    for name in draw.some(["nvidia.com/gpu", "example.com/fpga", "example.com/net"], 0, 2):
        resources.setdefault("limits", {})[name] = draw.one("1", "2")


def reserve(draw: Draw, case: Data) -> None:
    """Half of the claims of others belong to pods that run here, and can be preempted with them."""
    running = [pod for pod in case["pods"] if "nodeName" in pod["spec"]]
    for each in case["objects"]:
        if each["kind"] == "ResourceClaim" and name_of(each).startswith("taken") and running and draw.chance(0.5):
            pod = draw.one(*running)
            each["status"]["reservedFor"] = [{"resource": "pods", "name": name_of(pod), "uid": pod["metadata"]["uid"]}]
            each["metadata"]["namespace"] = pod["metadata"]["namespace"]
            pod["spec"]["resourceClaims"] = [{"name": "x", "resourceClaimName": name_of(each)}]


def declare(draw: Draw, case: Data) -> None:
    """Features that nodes declare and the pod needs."""
    features = [
        "UserNamespacesHostNetworkSupport",
        "RestartAllContainersOnContainerExits",
        "GuaranteedQoSPodCPUResize",
        "Other",
    ]
    for node in case["nodes"]:
        node["status"] |= draw.fields({"declaredFeatures": (0.6, lambda: sorted(draw.some(features, 1, 3)))})
    spec = case["pod"]["spec"]
    spec |= draw.fields({"hostNetwork": (0.6, True), "hostUsers": (0.7, [True, False, False])})
    if draw.chance(0.4):
        rule = {"action": draw.one("Restart", "RestartAllContainers"), "exitCodes": {"operator": "In", "values": [42]}}
        spec["containers"][0] |= {
            "restartPolicy": draw.one("Never", "OnFailure", "Always"),
            "restartPolicyRules": [rule],
        }
