"""Pods that the API server refuses, or that are written in ways it does not mind."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from kubespread.kube.well_known import ZONE
from tools.recorder.cases.cluster import PREFERRED, REQUIRED
from tools.recorder.cases.draw import Data, Draw


def _constraint(**changed: object) -> Data:
    hard = {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "a"}},
    }
    return {"topologySpreadConstraints": [{**hard, **changed}]}


def _container(**fields: object) -> Data:
    return {"containers": [{"name": "c", "image": "img", **fields}]}


def _resources(**kinds: Data) -> Data:
    return _container(resources=kinds)


def _terms(draw: Draw) -> Data:
    values: tuple[list[str], ...] = ([], ["x"], ["1", "2"])
    expression = {"key": "a", "operator": draw.one("In", "Exists", "Gt", "Foo"), "values": draw.one(*values)}
    names: tuple[list[str], ...] = ([], ["a", "b"], ["n"])
    field = {"key": draw.one("metadata.name", "foo"), "operator": draw.one("In", "Exists"), "values": draw.one(*names)}
    terms: list[Data] = draw.one([], [{"matchExpressions": [expression]}], [{"matchFields": [field]}])
    return {"affinity": {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": terms}}}}


def _pod_terms(draw: Draw) -> Data:
    term = {
        "topologyKey": draw.one("", "a b", ZONE),
        "labelSelector": {"matchExpressions": [{"key": "a", "operator": "In"}]},
        "namespaces": [draw.one("Bad_NS", "ok")],
    }
    weighed = {
        "weight": draw.one(0, 101),
        "podAffinityTerm": {
            "topologyKey": "x",
            "labelSelector": {},
            "matchLabelKeys": ["a"],
            "mismatchLabelKeys": ["a"],
        },
    }
    return {
        "affinity": {draw.one("podAffinity", "podAntiAffinity"): draw.one({REQUIRED: [term]}, {PREFERRED: [weighed]})}
    }


def _port(draw: Draw) -> Data:
    return {
        "containerPort": draw.one(0, 70000, 80),
        "hostPort": draw.one(-1, 80, 70000),
        "protocol": draw.one("TCP", "FOO"),
        "hostIP": draw.one("x", "1.2.3.4"),
    }


SPEC_FAULTS: Sequence[Callable[[Draw], Data]] = (
    lambda d: _constraint(maxSkew=d.one(0, -3)),
    lambda d: _constraint(topologyKey=d.one("", "a b", "x" * 70)),
    lambda d: _constraint(whenUnsatisfiable=d.one("Maybe", "")),
    lambda _: {"topologySpreadConstraints": 2 * _constraint()["topologySpreadConstraints"]},
    lambda d: _constraint(minDomains=d.one(0, -1)),
    lambda _: _constraint(whenUnsatisfiable="ScheduleAnyway", minDomains=2),
    lambda _: _constraint(nodeAffinityPolicy="Foo", nodeTaintsPolicy="Bar"),
    lambda d: _constraint(matchLabelKeys=d.one(["app"], ["bad key"], ["tier", "tier"], [""])),
    lambda d: _constraint(
        labelSelector={
            "matchExpressions": [
                {"key": "app", "operator": d.one("In", "Exists", "Foo"), "values": d.one([], ["x"], ["bad value!"])}
            ]
        }
    ),
    lambda _: _constraint(labelSelector=None, matchLabelKeys=["tier"]),
    lambda _: _constraint(labelSelector={"matchLabels": {"a b": "c", "x": "-"}}),
    lambda d: {
        "tolerations": [
            {"key": d.one("a b", ""), "operator": d.one("Equal", "Exists", "Foo", "Gt"), "value": d.one("x", "")}
        ]
    },
    lambda d: {
        "tolerations": [
            {"key": "a", "operator": "Exists", "effect": d.one("Foo", "NoSchedule"), "tolerationSeconds": 3}
        ]
    },
    _terms,
    lambda d: {"affinity": {"nodeAffinity": {PREFERRED: [{"weight": d.one(0, 101, -1, 5), "preference": {}}]}}},
    _pod_terms,
    lambda _: {"nodeSelector": {"bad key": "v", "k": "bad value!"}},
    lambda d: _resources(
        requests={"cpu": d.one("-1", "2"), "memory": "1Gi", "nvidia.com/gpu": "1"}, limits={"cpu": "1"}
    ),
    lambda _: _resources(limits={"nvidia.com/gpu": "1500m", "hugepages-2Mi": "3Mi", "foo": "1"}),
    lambda _: _resources(requests={"hugepages-2Mi": "2Mi"}, limits={"hugepages-2Mi": "4Mi"}),
    lambda d: _container(ports=[_port(d)]),
    lambda _: _container(ports=[{"containerPort": 80, "hostPort": 80}, {"containerPort": 81, "hostPort": 80}]),
    lambda d: {"containers": [{"name": "c", "image": "img"}, {"name": d.one("c", "Bad_Name"), "image": ""}]},
    lambda d: {
        "initContainers": [{"name": d.one("c", "i"), "image": "x", "restartPolicy": d.one("Always", "Never", "Foo")}]
    },
    lambda _: {"resources": {"requests": {"cpu": "1", "nvidia.com/gpu": "1"}, "limits": {"cpu": "500m"}}},
    lambda _: {"resources": {"requests": {"cpu": "100m"}}, **_resources(requests={"cpu": "1"})},
    lambda _: {"overhead": {"cpu": "-1"}},
    lambda d: {"schedulingGates": d.one([{"name": "a/b"}, {"name": "a/b"}], [{"name": ""}], [{"name": "bad name"}])},
    lambda _: {"schedulerName": "Bad Name"},
    lambda _: {"priorityClassName": "Bad_Name"},
    lambda _: {"nodeName": "Bad_Name"},
    lambda _: {"volumes": [{"name": "v"}, {"name": "v", "emptyDir": {}}]},
    lambda _: {"volumes": [{"name": "V_", "persistentVolumeClaim": {"claimName": ""}}]},
    lambda _: {"hostNetwork": True, **_container(ports=[{"containerPort": 80, "hostPort": 81}])},
    lambda _: {"containers": []},
    lambda _: {"resourceClaims": [{"name": "a"}, {"name": "a", "resourceClaimName": "x"}]},
    lambda _: _container(resources={"claims": [{"name": "nope"}]}),
    lambda _: {"restartPolicy": "Foo", "terminationGracePeriodSeconds": -1, "activeDeadlineSeconds": 0},
    lambda _: {"preemptionPolicy": "Foo"},
    lambda d: {"os": {"name": d.one("linux", "windows", "foo")}},
    lambda _: {"hostUsers": False, "hostNetwork": True},
)
METADATA_FAULTS: Sequence[Callable[[Draw], Data]] = (
    lambda d: {"name": d.one("Bad_Name", "a" * 254, "")},
    lambda _: {"labels": {"a b": "c", "k": "bad value!", "ok": "x" * 64}},
)
_NUMBERS = (-1, 0, 1, 70000, 2147483647, 101, -2147483648)
_QUANTITIES = ("-1", "0", "1500m", "1e3", "7", "0.1", "3Mi")
_TEXTS = (
    "",
    "Bad Value!",
    "x" * 300,
    "a/b/c",
    "-1",
    "UPPER",
    "Exists",
    "In",
    "NoExecute",
    "ok",
    "DoNotSchedule",
    "metadata.name",
    "1.2.3.4",
)
_KEYS = (
    "Bad Key",
    "a/b/c",
    "-x",
    "x" * 64,
    "ok.io/" + "y" * 64,
    "UP.io/Z",
    "foo",
    "kubernetes.io/foo",
    "hugepages-3Mi",
    "requests.x/y",
    "",
)
_KEYED = ("matchLabels", "labels", "nodeSelector", "requests", "limits", "overhead")
Path = tuple[str | int, ...]


def _walk(value: object, path: Path = ()) -> Iterator[tuple[Path, object]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*path, key), inner
        yield from _walk(inner, (*path, key))


def _at(value: Any, path: Path) -> Any:
    for key in path:
        value = value[key]
    return value


def damage(draw: Draw, pod: Data) -> None:
    """A value of the pod becomes another one of its type, or a key another key."""
    whole = {"spec": pod["spec"], "metadata": pod["metadata"]}
    found = list(_walk(whole))
    keyed = [path for path, value in found if path[-1] in _KEYED and isinstance(value, dict) and value]
    if keyed and draw.chance(0.25):
        table = _at(whole, draw.one(*keyed))
        table[draw.one(*_KEYS)] = table.pop(draw.one(*table))
        return
    path, value = draw.one(*((path, value) for path, value in found if not isinstance(value, dict | list)))
    into = _at(whole, path[:-1])
    if isinstance(value, bool):
        into[path[-1]] = not value
    elif isinstance(value, int):
        into[path[-1]] = draw.one(*_NUMBERS)
    else:
        of_quantity = {"requests", "limits", "overhead"} & set(path)
        into[path[-1]] = draw.one(*(_QUANTITIES if of_quantity else _TEXTS))


_OPTIONAL = frozenset(
    (
        "labels annotations labelSelector matchLabels matchExpressions tolerations affinity nodeAffinity"
        f" podAffinity podAntiAffinity {REQUIRED} {PREFERRED} topologySpreadConstraints namespaces"
        " namespaceSelector matchLabelKeys mismatchLabelKeys minDomains nodeAffinityPolicy nodeTaintsPolicy"
        " nodeSelector resources requests limits ports hostPort hostIP protocol initContainers overhead"
        " volumes taints unschedulable value effect images names sizeBytes allocatable capacity selector phase"
        " deletionTimestamp ownerReferences priority schedulerName restartPolicy conditions containerStatuses"
        " tolerationSeconds volumeMode storageClassName volumeName nodeTopology allowedTopologies cpu memory"
        " namespace status"
    ).split()
)


def with_nulls(draw: Draw, case: Data) -> Data:
    """The case as people and exporters write it: nulls, empty lists and empty maps where nothing needs to stand."""
    found = copy.deepcopy(case)
    for path, value in list(_walk({key: found[key] for key in ("nodes", "pods", "objects", "pod") if key in found})):
        if path[-1] not in _OPTIONAL or not draw.chance(0.035):
            continue
        try:
            into = _at(found, path[:-1])
        except (LookupError, TypeError):
            continue  # it went with what was around it
        if into is not None and path[-1] in into:
            # A stored node whose allocatable is an empty map is read with its capacity; here it would not be.
            is_emptied = isinstance(value, dict | list) and path[-1] != "allocatable" and draw.chance(0.3)
            into[path[-1]] = type(value)() if is_emptied else None
    return found
