"""What 1.37 does otherwise with devices: rules that taint them, and attributes that all have to differ."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

import kubespread
from kubespread import Scheduler
from kubespread.snapshot.anonymize import anonymize
from tests.builders import (
    DRIVER,
    device,
    device_class,
    device_request,
    dra_object,
    node,
    resource_claim,
    resource_slice,
    using,
)
from tests.scheduler.asking import reasons

Data = dict[str, Any]

DEVICES = [node("n1"), node("n2"), device_class("gpu"), resource_slice("n1", 1, "n1"), resource_slice("n2", 1, "n2")]
CLAIM = resource_claim("c", device_request())


def rule(selector: Data | None, effect: str = "NoSchedule") -> Data:
    spec: Data = {"taint": {"key": "broken", "value": "x", "effect": effect}}
    if selector is not None:
        spec["deviceSelector"] = selector
    return dra_object("DeviceTaintRule", "broken", spec=spec)


def test_rules_are_renamed_as_the_devices_that_they_select() -> None:
    objects = [*DEVICES, CLAIM, rule({"pool": "n1", "device": "dev-0"}), using(claims=("c",))]
    hidden, names = anonymize(kubespread.Snapshot.from_objects(objects))
    report = kubespread.explain(
        hidden, f"pod/{hidden.pods[0].metadata.name}", namespace=hidden.pods[0].metadata.namespace
    )
    assert [names[node] for node in reasons(report)] == ["n1"]


def test_rules_that_could_not_be_read_are_a_gap() -> None:
    snapshot = kubespread.Snapshot.from_objects([*DEVICES, CLAIM])
    refused = {"DeviceTaintRule": "devicetaintrules could not be read (not allowed)"}
    unread = replace(snapshot, objects=replace(snapshot.objects, unread=refused))
    said = "devicetaintrules could not be read (not allowed): no rules are taken to taint devices"
    assert [said in kubespread.explain(each, using(claims=("c",))).gaps for each in (snapshot, unread)] == [False, True]


@pytest.mark.parametrize(("version", "fits"), [("1.37", False), ("1.36", True)])
def test_distinct_attributes_differ_from_all_others_since_1_37(version: str, fits: bool) -> None:
    """Before, each device of a request is compared with the one before it alone (kubernetes#140438)."""
    offered = resource_slice("n1", [device(f"d{at}", numa=numa) for at, numa in enumerate((1, 2, 1))], "n1")
    three = resource_claim("c", device_request(count=3), constraints=[{"distinctAttribute": f"{DRIVER}/numa"}])
    snapshot = kubespread.Snapshot.from_objects([node("n1"), device_class("gpu"), offered, three])
    report = kubespread.explain(snapshot, using(claims=("c",)), Scheduler(kube_version=version))
    assert report.schedulable == fits
