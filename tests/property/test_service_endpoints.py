"""Ready endpoints by zone, counted again pod by pod from what the objects say."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import kubespread
from kubespread import Snapshot
from tests.builders import Data, ago, hosts, owner, pod

ZONE = "topology.kubernetes.io/zone"


def audited(objects: list[Data], *names: str, **options: Any) -> kubespread.AuditReport:
    return kubespread.audit(Snapshot.from_objects(objects), names, **options)


@st.composite
def clusters(draw: st.DrawFn) -> list[Data]:
    """Nodes with and without zones, pods in all states, one Service."""
    zones = draw(st.lists(st.sampled_from(["a", "b", "c", "", None]), min_size=1, max_size=5))
    on = st.sampled_from([None, "gone", *(f"n{number}" for number in range(len(zones)))])
    pods = []
    for number in range(draw(st.integers(0, 7))):
        labels = draw(st.dictionaries(st.sampled_from(["app", "tier"]), st.sampled_from(["x", "y"])))
        made = pod(f"p{number}", draw(on), labels=labels, namespace=draw(st.sampled_from(["default", "other"])))
        ready = draw(st.sampled_from(["True", "False", None]))
        conditions = [] if ready is None else [{"type": "Ready", "status": ready}]
        made["status"] = {"phase": draw(st.sampled_from(["Running", "Succeeded", "Pending"])), "conditions": conditions}
        if draw(st.booleans()):
            made["metadata"] |= {"deletionTimestamp": ago(1), "deletionGracePeriodSeconds": 30}
        pods.append(made)
    selector = draw(st.none() | st.dictionaries(st.sampled_from(["app", "tier"]), st.sampled_from(["x", "y"])))
    service = owner("Service", "front", selector, api_version="v1")
    service["spec"] |= {
        "publishNotReadyAddresses": draw(st.booleans()),
        "type": draw(st.sampled_from(["ClusterIP", "ExternalName"])),
    }
    return [*hosts(*zones), *pods, service]


@settings(max_examples=150)
@given(clusters())
def test_ready_endpoints_by_zone_are_those_of_the_selected_pods(objects: list[Data]) -> None:
    spec = objects[-1]["spec"]
    zone_of = {
        each["metadata"]["name"]: each["metadata"]["labels"].get(ZONE) for each in objects if each["kind"] == "Node"
    }
    selector = spec["selector"] if spec["type"] != "ExternalName" else None
    selected = [
        each
        for each in objects
        if each["kind"] == "Pod"
        and selector
        and each["metadata"]["namespace"] == "default"
        and each["spec"].get("nodeName") in (zone_of if not spec["publishNotReadyAddresses"] else {*zone_of, "gone"})
        and each["status"]["phase"] != "Succeeded"
        and all(each["metadata"]["labels"].get(key) == value for key, value in selector.items())
    ]
    ready = [
        each
        for each in selected
        if spec["publishNotReadyAddresses"]
        or (
            "deletionTimestamp" not in each["metadata"]
            and {"type": "Ready", "status": "True"} in each["status"]["conditions"]
        )
    ]
    expected = dict.fromkeys(sorted({zone for zone in zone_of.values() if zone}), 0)
    outside = set()
    for each in ready:
        node = each["spec"]["nodeName"]
        if zone_of.get(node):
            expected[zone_of[node]] += 1
        else:
            outside.add(node)

    (found,) = audited(objects, "svc/front", namespace="default").services

    assert (found.ready, found.not_ready) == (len(ready), len(selected) - len(ready))
    if not selector:
        assert (found.selector, found.level, found.skew, found.ready) == (None, "unjudged", None, 0)
        return
    assert {domain.value: domain.pods for domain in found.domains} == expected
    assert set(found.nodes_elsewhere) == outside
    counts = list(expected.values())
    assert found.skew == (max(counts) - min(counts) if counts else None)
    in_one = len(counts) > 1 and len([number for number in counts if number]) == 1
    is_bad = not ready or bool(outside) or in_one
    assert found.level == ("uneven" if (found.skew or 0) > 1 else "risk" if is_bad else "ok")
