"""Nodes and pods by their resources, in one line each, for the suites of NodeResourcesFit and its scores."""

from __future__ import annotations

from typing import Any

from tests.builders import pod
from tests.suites.tables import labels

Data = dict[str, Any]

_SHORT = {"aaa": "example.com/aaa", "bbb": "example.com/bbb", "gpu": "nvidia.com/gpu", "huge": "hugepages-2Mi"}
_SHORT |= {"io": "kubernetes.io/something", "subio": "subdomain.kubernetes.io/something", "disk": "ephemeral-storage"}


def amounts(text: str, unit: str = "m") -> Data:
    """``1/2 aaa=3``: a millicore, two bytes and three of example.com/aaa; ``unit`` is that of the first."""
    first, *more = text.split()
    cpu, _, memory = first.partition("/")
    return {"cpu": f"{cpu}{unit}", "memory": memory, **{_SHORT.get(key, key): n for key, n in labels(*more).items()}}


def sized_node(name: str, text: str, unit: str = "m", pods: int = 110) -> Data:
    allocatable = {**(amounts(text, unit) if text else {}), "pods": str(pods)}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": {"allocatable": allocatable}}


def sized_pod(
    name: str, *containers: str, init: tuple[str, ...] = (), on: str | None = None, unit: str = "m", **spec: Any
) -> Data:
    """A pod with a container for each text of `amounts`, of which an empty one asks for nothing.

    Without any it has no containers, as many pods of the tables: no container gets the stand-ins for missing requests.
    """
    made = pod(name, on, **spec)
    for field, texts in (("containers", containers), ("initContainers", init)):
        made["spec"][field] = [
            {
                "name": f"{field[0]}{number}",
                "image": "x",
                **({"resources": {"requests": amounts(text, unit)}} if text else {}),
            }
            for number, text in enumerate(texts)
        ]
    return made
