"""Devices that are partitioned, shared or bound late, what others hold of them, and a pod that wants some."""

from __future__ import annotations

from kubespread.kube.well_known import HOSTNAME, ZONE
from tools.recorder.cases.draw import Data, Draw

API = "resource.k8s.io/v1"
GPU, NET = "gpu.example.com", "net.example.com"
CLASSES = {
    "gpu": f'device.driver == "{GPU}"',
    "net": f'device.driver == "{NET}"',
    "any": None,
    "part": f'device.attributes["{GPU}"].kind == "part"',
    "whole": f'"{GPU}" in device.attributes && device.attributes["{GPU}"].kind == "whole"',
    "shared": "device.allowMultipleAllocations == true",
    "alone": "!device.allowMultipleAllocations",
}
GATES = (
    "DRAPartitionableDevices=false",
    "DRAConsumableCapacity=false",
    "DRADeviceBindingConditions=false",
    "DRAConsumableCapacity=false,DRADeviceBindingConditions=false",
)
KINDS = f'"{GPU}" in device.attributes && device.attributes["{GPU}"].kind == "'


def shared_devices(draw: Draw) -> Data:
    return _Devices(draw).case()


class _Devices:
    """One case."""

    def __init__(self, draw: Draw) -> None:
        self.draw, self.chance, self.number = draw, draw.chance, draw.number
        self.objects: list[Data] = []
        self.offered: list[tuple[str, str, Data]] = []
        """Driver, pool and device of all that slices offer."""

    def add(self, kind: str, name: str, spec: Data, **metadata: str) -> Data:
        made = {"apiVersion": API, "kind": kind, "metadata": {"name": name, **metadata}, "spec": spec}
        self.objects.append(made)
        return made

    def case(self) -> Data:
        nodes = [self.node(number) for number in range(self.number(1, 4))]
        names = [node["metadata"]["name"] for node in nodes]
        self.classes()
        self.pools(names)
        case: Data = {"nodes": nodes, "pods": [], "objects": self.objects, "pod": self.pod(names)}
        if "resourceClaims" not in case["pod"]["spec"] and self.chance(0.7):
            return {**case, "replicas": self.draw.one(3, 6), "mode": "real"}
        return {**case, "gates": self.draw.one(*GATES)} if self.chance(0.12) else case

    def classes(self) -> None:
        for name, expression in CLASSES.items():
            spec: Data = {"selectors": [{"cel": {"expression": expression}}]} if expression else {}
            if name in ("gpu", "part", "shared") and self.chance(0.3):
                spec["extendedResourceName"] = f"example.com/{name}"
            self.add("DeviceClass", name, spec)

    def pools(self, names: list[str]) -> None:
        for name in names:
            for driver in (GPU, NET):
                if self.chance(0.85 if driver == GPU else 0.3):
                    self.pool(name if self.chance(0.8) else f"{name}-{driver[:3]}", driver, {"nodeName": name}, [name])
        shared: list[Data] = [{"allNodes": True}, {"nodeSelector": _in_zone("z0")}, {"perDeviceNodeSelection": True}]
        for number, where in enumerate(shared):
            if self.chance(0.3):
                self.pool(f"fabric-{number}", self.draw.one(GPU, NET), where, names)
        if self.chance(0.25):
            self.spread_pool(names)

    def node(self, number: int) -> Data:
        name = f"n{number}"
        labels = {HOSTNAME: name, ZONE: self.draw.one("z0", "z0", "z1")}
        amounts = {"cpu": "8", "memory": "32Gi", "pods": "110"}
        return {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": labels},
            "spec": {},
            "status": {"capacity": amounts, "allocatable": amounts},
        }

    def slice(self, name: str, driver: str, pool: Data, where: Data, content: Data) -> None:
        self.add("ResourceSlice", name, {"driver": driver, "pool": pool, **where, **content})
        self.offered += ((driver, pool["name"], device) for device in content.get("devices", ()))

    def pool(self, name: str, driver: str, where: Data, nodes: list[str]) -> None:
        """A pool whose slices are all for the same nodes."""
        sets = self.counter_sets() if self.chance(0.6) else []
        lists = [
            self.devices(part, sets, nodes if "perDeviceNodeSelection" in where else None)
            for part in range(self.draw.one(1, 1, 2))
        ]
        if self.chance(0.04):
            lists[-1].append(dict(lists[0][0]))
        count = len(lists) + bool(sets) + (self.chance(0.05) if len(self.offered) else 0)
        pool = {"name": name, "generation": self.draw.one(1, 1, 3), "resourceSliceCount": count}
        if sets:
            anywhere = {"allNodes": True} if "perDeviceNodeSelection" in where else where
            self.slice(f"{name}-{driver[:3]}-c", driver, pool, anywhere, {"sharedCounters": sets})
        for part, devices in enumerate(lists):
            self.slice(f"{name}-{driver[:3]}-{part}", driver, pool, where, {"devices": devices})
        if self.chance(0.06):
            old = {**pool, "generation": 0}
            self.slice(f"{name}-{driver[:3]}-old", driver, old, where, {"devices": self.devices(7, [], None)})

    def spread_pool(self, nodes: list[str]) -> None:
        """A pool with a slice per node, which share counters."""
        sets, driver = self.counter_sets(), self.draw.one(GPU, NET)
        count = len(nodes) + 1 + self.chance(0.05)
        pool = {"name": "spread", "generation": 1, "resourceSliceCount": count}
        self.slice("spread-c", driver, pool, {"allNodes": True}, {"sharedCounters": sets})
        for number, node in enumerate(nodes):
            self.slice(
                f"spread-{number}", driver, pool, {"nodeName": node}, {"devices": self.devices(number, sets, None)}
            )

    def counter_sets(self) -> list[Data]:
        return [
            {
                "name": f"set-{number}",
                "counters": {
                    "memory": {"value": self.draw.one("40Gi", "80Gi")},
                    **({"slots": {"value": str(self.number(2, 7))}} if self.chance(0.7) else {}),
                },
            }
            for number in range(self.draw.one(1, 1, 2))
        ]

    def devices(self, part: int, sets: list[Data], nodes: list[str] | None) -> list[Data]:
        made = [self.device(f"d{part}{number}", sets) for number in range(self.number(1, 5))]
        for device in made if nodes is not None else ():
            device.update(
                self.draw.one(
                    {"allNodes": True},
                    {"nodeName": self.draw.one(*nodes or [""])},
                    {"nodeSelector": _in_zone(self.draw.one("z0", "z1"))},
                )
            )
        return made

    def device(self, name: str, sets: list[Data]) -> Data:
        device: Data = {
            "name": name,
            "attributes": {
                "kind": {"string": "part" if sets else "whole"},
                "numa": {"int": self.draw.one(0, 1)},
                "model": {"string": self.draw.one("a", "a", "b")},
            },
        }
        if sets and self.chance(0.85):
            device["consumesCounters"] = [
                {
                    "counterSet": counters["name"] if self.chance(0.98) else "missing",
                    "counters": {
                        key: {
                            "value": self.draw.one("10Gi", "20Gi", "40Gi")
                            if key == "memory"
                            else str(self.draw.one(1, 1, 2, 3))
                        }
                        for key in counters["counters"]
                    },
                }
                for counters in self.draw.some(sets, 1, len(sets))
            ]
        if self.chance(0.5):
            device["capacity"] = {"memory": {"value": self.draw.one("10Gi", "40Gi", "80Gi", "50G")}}
            if self.chance(0.4):
                device["capacity"]["bandwidth"] = {"value": self.draw.one("10", "100", "10k")}
        if self.chance(0.4):
            device["allowMultipleAllocations"] = True
            for capacity in device.get("capacity", {}).values():
                if self.chance(0.6):
                    capacity["requestPolicy"] = self.policy(capacity["value"])
        if self.chance(0.1):
            device["taints"] = [{"key": "broken", "value": "x", "effect": self.draw.one("NoSchedule", "NoExecute")}]
        if self.chance(0.12):
            device["bindingConditions"] = ["attached"]
            device["bindingFailureConditions"] = ["failed"]
            if self.chance(0.5):
                device["bindsToNode"] = True
        return device

    def policy(self, value: str) -> Data:
        units = {
            "10Gi": ("1Gi", "2Gi", "8Gi"),
            "40Gi": ("5Gi", "5Gi", "20Gi"),
            "80Gi": ("10Gi", "10Gi", "40Gi"),
            "50G": ("5G", "3G", "20G"),
        }
        least, step, most = units.get(value, ("1", "1", "10"))
        form = self.draw.one("default", "range", "range", "step", "values")
        if form == "default":
            return {"default": least}
        if form == "values":
            return {
                "default": self.draw.one(least, most),
                "validValues": sorted({least, most}, key=[least, most].index),
            }
        valid = {"min": least, **({"max": most} if self.chance(0.5) and form == "range" else {})}
        return {"default": least, "validRange": {**valid, **({"step": step} if form == "step" else {})}}

    def capacity(self) -> Data:
        wanted: Data = {}
        if self.chance(0.85):
            wanted["memory"] = self.draw.one("1Gi", "3Gi", "5Gi", "10Gi", "11Gi", "20Gi", "40Gi", "7G", "500m", "0")
        if self.chance(0.25):
            wanted["bandwidth"] = self.draw.one("1", "5", "100", "2500m")
        if self.chance(0.02):
            wanted["missing"] = "1"
        return {"requests": wanted} if wanted else {}

    def request(self, number: int) -> Data:
        if self.chance(0.2):
            alternatives = [{"name": f"s{at}", **self.wanted()} for at in range(self.number(1, 3))]
            return {"name": f"r{number}", "firstAvailable": alternatives}
        exactly = self.wanted()
        if self.chance(0.06):
            exactly["adminAccess"] = True
        return {"name": f"r{number}", "exactly": exactly}

    def wanted(self) -> Data:
        wanted: Data = {
            "deviceClassName": self.draw.one(
                "gpu", "gpu", "any", "any", "net", "part" if self.chance(0.3) else "gpu", "whole", "shared", "alone"
            )
        }
        if self.chance(0.12):
            wanted["allocationMode"] = "All"
        else:
            wanted |= {"allocationMode": "ExactCount", "count": self.draw.one(1, 1, 1, 2, 2, 3)}
        if self.chance(0.35) and (capacity := self.capacity()):
            wanted["capacity"] = capacity
        if self.chance(0.2):
            wanted["selectors"] = [{"cel": {"expression": f'{KINDS}{self.draw.one("part", "whole")}"'}}]
        if self.chance(0.2):
            wanted["tolerations"] = [{"key": "broken", "operator": "Exists"}]
        return wanted

    def constraint(self) -> Data:
        attribute = f"{GPU}/{self.draw.one('model', 'numa')}"
        constraint = {self.draw.one("matchAttribute", "distinctAttribute"): attribute}
        return {**constraint, "requests": ["r0"]} if self.chance(0.3) else constraint

    def held(self, driver: str, pool: str, device: Data, request: str = "r0") -> Data:
        """What an allocation says of a device."""
        result: Data = {"request": request, "driver": driver, "pool": pool, "device": device["name"]}
        if device.get("allowMultipleAllocations") and self.chance(0.9):
            result["shareID"] = f"{self.number(0, 2**32 - 1):08x}-0000-4000-8000-{self.number(0, 2**48 - 1):012x}"
            if device.get("capacity") and self.chance(0.95):
                amounts = {
                    "memory": self.draw.one("1Gi", "5Gi", "10Gi", "20Gi"),
                    "bandwidth": self.draw.one("1", "5", "50"),
                }
                result["consumedCapacity"] = {name: amounts[name] for name in device["capacity"]}
        if device.get("bindingConditions"):
            result |= {key: device[key] for key in ("bindingConditions", "bindingFailureConditions")}
        return result

    def allocate(self, claim: Data, *, users: int) -> None:
        driver, pool, device = self.draw.one(*self.offered)
        result = self.held(driver, pool, device)
        allocation: Data = {"devices": {"results": [result]}}
        if self.chance(0.4):
            allocation["nodeSelector"] = _on_node(f"n{self.number(0, 3)}")
        claim["status"] = {"allocation": allocation}
        if users:
            claim["status"]["reservedFor"] = [
                {"resource": "pods", "name": f"user{at}", "uid": f"x{at}"} for at in range(users)
            ]
        if result.get("bindingConditions") and self.chance(0.8):
            status = {key: result[key] for key in ("driver", "pool", "device")}
            if "shareID" in result:
                status["shareID"] = result["shareID"]
            held = {"lastTransitionTime": "2026-01-01T00:00:00Z", "reason": "r", "message": ""}
            status["conditions"] = [
                {"type": kind, "status": self.draw.one("True", "False", "Unknown"), **held}
                for kind in self.draw.some(["attached", "failed"], 0, 2)
            ]
            claim["status"]["devices"] = [status]

    def pod(self, nodes: list[str]) -> Data:
        claims = []
        for number in range(self.draw.one(1, 1, 2)):
            devices: Data = {"requests": [self.request(at) for at in range(self.draw.one(1, 1, 2, 3))]}
            if self.chance(0.35):
                devices["constraints"] = [self.constraint() for _ in range(self.draw.one(1, 1, 2))]
            claim = self.add("ResourceClaim", f"c{number}", {"devices": devices}, namespace="default", uid=f"c{number}")
            if self.offered and self.chance(0.15):
                self.allocate(claim, users=self.draw.one(0, 1, 2))
            claims.append(f"c{number}")
        for number in range(self.number(0, 4) if self.offered else 0):
            exactly = {"deviceClassName": "any", "allocationMode": "ExactCount", "count": 1}
            held = {"devices": {"requests": [{"name": "r0", "exactly": exactly}]}}
            self.allocate(self.add("ResourceClaim", f"held{number}", held, namespace="prod", uid=f"h{number}"), users=1)
        container: Data = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "100m"}}}
        spec: Data = {"containers": [container]}
        if self.chance(0.85):
            spec["resourceClaims"] = [{"name": claim, "resourceClaimName": claim} for claim in claims]
            container["resources"]["claims"] = [{"name": claim} for claim in claims]
        if self.chance(0.15) or "resourceClaims" not in spec:
            resource = self.draw.one(
                "example.com/gpu",
                "example.com/part",
                "deviceclass.resource.kubernetes.io/gpu",
                "deviceclass.resource.kubernetes.io/any",
            )
            container["resources"]["limits"] = {resource: self.draw.one("1", "2")}
            container["resources"]["requests"][resource] = container["resources"]["limits"][resource]
        metadata = {"name": "web", "namespace": "default", "uid": "web", "labels": {"app": "web"}}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def _in_zone(zone: str) -> Data:
    return {"nodeSelectorTerms": [{"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]}]}


def _on_node(name: str) -> Data:
    return {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]}]}
