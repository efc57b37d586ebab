"""What free storage is worth, and drivers that a node must have: on since 1.37."""

from __future__ import annotations

from typing import Any

import pytest

import kubespread
from tests.builders import node, pod
from tests.scheduler.asking import reasons, scores, with_args
from tests.scheduler.test_volumes import claim, csi_node, on_host, storage_class, uses, volume

Data = dict[str, Any]
NO_SPACE = "node(s) did not have enough free storage"
BIND_CONFLICT = "node(s) didn't find available persistent volumes to bind"


def driver(name: str = "d.csi", **spec: Any) -> Data:
    meta = {"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": name}}
    return {**meta, "spec": {"storageCapacity": True, **spec}}


def free(on: str, amount: str | None, of: str = "s", largest: str | None = None, name: str = "") -> Data:
    """What a node has free of a class."""
    made: Data = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSIStorageCapacity",
        "metadata": {"name": name or f"{on}-{of}", "namespace": "default"},
        "storageClassName": of,
        "nodeTopology": {"matchLabels": {"host": on}},
    }
    return (
        made
        | ({} if amount is None else {"capacity": amount})
        | ({} if largest is None else {"maximumVolumeSize": largest})
    )


def asking(*sizes: tuple[str, str], name: str = "c") -> list[Data]:
    """Claims c0, c1, ... of so much of a class each, which wait for a pod."""
    return [
        claim(f"{name}{at}", storage_class=of, resources={"requests": {"storage": size}})
        for at, (size, of) in enumerate(sizes)
    ]


NODES = [node(name, host=name) for name in ("n1", "n2", "n3")]
CLASSES = [driver(), storage_class("s"), storage_class("t")]


def everywhere(*amounts: str, of: str = "s") -> list[Data]:
    return [free(f"n{at}", amount, of) for at, amount in enumerate(amounts, start=1)]


def local(name: str, on: str, size: str) -> Data:
    return volume(name, only=on_host(on), size=size, storageClassName="l")


# Claims, what is free, and then the score or the reason of each node.
CASES: dict[str, tuple[list[Data], list[Data], dict[str, int | str]]] = {
    "the more is left, the better": (
        asking(("30Gi", "s")),
        everywhere("100Gi", "70Gi", "20Gi"),
        {"n1": 70, "n2": 58, "n3": NO_SPACE},
    ),
    "claims of one class add up, though each alone has to fit": (
        asking(("50Gi", "s"), ("60Gi", "s")),
        everywhere("100Gi", "200Gi", "60Gi"),
        {"n1": 0, "n2": 45, "n3": 0},
    ),
    "classes are averaged": (
        asking(("30Gi", "s"), ("10Gi", "t")),
        [*everywhere("100Gi", "40Gi", "31Gi"), *everywhere("15Gi", "100Gi", "11Gi", of="t")],
        {"n1": 52, "n2": 58, "n3": 7},
    ),
    "where a volume is bound, what is provisioned does not count": (
        [*asking(("30Gi", "s")), *asking(("10Gi", "l"), name="l")],
        [
            storage_class("l", "kubernetes.io/no-provisioner"),
            *everywhere("100Gi", "70Gi", "70Gi"),
            local("pv1", "n1", "40Gi"),
            local("pv2", "n2", "12Gi"),
        ],
        {"n1": 75, "n2": 17, "n3": BIND_CONFLICT},
    ),
    "the largest volume decides whether it fits, what is free what it is worth": (
        asking(("30Gi", "s")),
        [free("n1", "100Gi", largest="40Gi"), free("n2", "35Gi", largest="40Gi"), free("n3", "10Gi", largest="40Gi")],
        {"n1": 70, "n2": 15, "n3": 0},
    ),
    "nothing free, and room for a volume": (
        asking(("30Gi", "s")),
        [free("n1", "0", largest="100Gi")],
        {"n1": 0, "n2": NO_SPACE, "n3": NO_SPACE},
    ),
    "fractions of a byte count as one": (
        asking(("1500m", "s")),
        everywhere("3", "3", "4"),
        {"n1": 34, "n2": 34, "n3": 50},
    ),
    "a driver that does not report what is free": (
        asking(("30Gi", "u")),
        [driver("u", storageCapacity=False), storage_class("u", "u")],
        {"n1": 0, "n2": 0, "n3": 0},
    ),
}


def ask(
    objects: list[Data], candidate: Data, version: str = "1.37", config: str | None = None
) -> kubespread.ExplainReport:
    snapshot = kubespread.Snapshot.from_objects([*NODES, *CLASSES, *objects])
    return kubespread.explain(snapshot, candidate, kubespread.Scheduler(config, kube_version=version))


def using(claims: list[Data]) -> Data:
    return uses(*(each["metadata"]["name"] for each in claims))


@pytest.mark.parametrize("case", CASES)
def test_what_free_storage_is_worth(case: str) -> None:
    claims, objects, expected = CASES[case]
    report = ask([*claims, *objects], using(claims))
    assert scores(report, "VolumeBinding") | reasons(report) == expected
    assert report.not_modelled == ()


SHAPES: dict[str, tuple[list[Data], dict[str, int]]] = {
    "the fuller the better": (
        [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}],
        {"n1": 30, "n2": 60},
    ),
    "a broken line": (
        [{"utilization": 10, "score": 2}, {"utilization": 40, "score": 8}, {"utilization": 90, "score": 1}],
        {"n1": 60, "n2": 52},
    ),
    "one point": ([{"utilization": 50, "score": 7}], {"n1": 70, "n2": 70}),
    "none is the default": ([], {"n1": 70, "n2": 40}),
}


@pytest.mark.parametrize("case", SHAPES)
def test_a_profile_says_what_free_storage_is_worth(case: str) -> None:
    shape, expected = SHAPES[case]
    claims = asking(("30Gi", "s"))
    config = with_args("VolumeBinding", shape=shape) if shape else None
    assert (
        scores(ask([*claims, *everywhere("100Gi", "50Gi")], using(claims), config=config), "VolumeBinding") == expected
    )


def test_a_pod_without_claims_is_scored_since_1_37() -> None:
    found = {version: scores(ask([], pod(), version), "VolumeBinding") for version in ("1.37", "1.36")}
    assert found == {"1.37": {"n1": 0, "n2": 0, "n3": 0}, "1.36": {}}


CRASH = "VolumeBinding: kube-scheduler crashes while it scores claim default/c0"
UNDETERMINED = {
    "several that have room on one node": (
        asking(("30Gi", "s")),
        [free("n1", "100Gi"), free("n1", "60Gi", name="other")],
        "VolumeBinding: several CSIStorageCapacity objects of one node have room for claim default/c0; kube-scheduler "
        "scores by one of them at random, here by the first",
        70,
    ),
    "a class in an annotation alone": (
        [
            claim(
                "c0",
                resources={"requests": {"storage": "30Gi"}},
                annotations={"volume.beta.kubernetes.io/storage-class": "s"},
            )
        ],
        [free("n1", "100Gi")],
        f"{CRASH}, whose class is only in an annotation; it is scored as if the class were in spec.storageClassName",
        70,
    ),
    "the largest volume without what is free": (
        asking(("30Gi", "s")),
        [free("n1", None, largest="100Gi")],
        f"{CRASH} where a CSIStorageCapacity has a maximumVolumeSize and no capacity; here that is a capacity of 0",
        0,
    ),
}


@pytest.mark.parametrize("case", UNDETERMINED)
def test_what_kube_scheduler_does_at_random_or_crashes_over_is_named(case: str) -> None:
    claims, objects, said, score = UNDETERMINED[case]
    report = ask([*claims, *objects], using(claims))
    assert (report.not_modelled, scores(report, "VolumeBinding")) == ((said,), {"n1": score})


def missing(name: str) -> str:
    return f"{name} CSI driver is not installed on the node"


def strict(name: str = "d.csi", *, prevents: bool | None = True) -> Data:
    return driver(name, storageCapacity=False, preventPodSchedulingIfMissing=prevents)


EBS_VOLUME = volume(awsElasticBlockStore={"volumeID": "vol-1"})
CSI_VOLUME = volume(csi={"driver": "d.csi", "volumeHandle": "h"})
ON_N1 = csi_node("n1", d_csi=5)
# What there is beside the nodes, why each fails in 1.37, and what is said besides.
DRIVERS: dict[str, tuple[list[Data], dict[str, str], tuple[str, ...]]] = {
    "a bound volume's driver": (
        [strict(), claim("c", "pv1"), CSI_VOLUME, ON_N1, csi_node("n2", other=5)],
        {"n2": missing("d.csi"), "n3": missing("d.csi")},
        (),
    ),
    "the driver of a class": (
        [strict(), claim("c", storage_class="s"), ON_N1],
        {"n2": missing("d.csi"), "n3": missing("d.csi")},
        (),
    ),
    "a driver that does not ask for it": ([strict(prevents=None), claim("c", "pv1"), CSI_VOLUME, ON_N1], {}, ()),
    "a driver nobody knows": ([claim("c", "pv1"), volume(csi={"driver": "x", "volumeHandle": "h"}), ON_N1], {}, ()),
    "an in-tree volume, which only a node with a CSINode leaves to a driver": (
        [strict("ebs.csi.aws.com"), claim("c", "pv1"), EBS_VOLUME, ON_N1],
        {"n1": missing("ebs.csi.aws.com")},
        (),
    ),
    "it comes before the limit": (
        [
            strict(),
            claim("c", "pv1"),
            CSI_VOLUME,
            csi_node("n1", d_csi=0),
            csi_node("n2", other=0),
            csi_node("n3", d_csi=1),
        ],
        {"n1": "node(s) exceed max volume count", "n2": missing("d.csi")},
        (),
    ),
}


@pytest.mark.parametrize("case", DRIVERS)
def test_drivers_that_a_node_must_have(case: str) -> None:
    objects, expected, said = DRIVERS[case]
    report = ask(objects, uses("c"))
    assert (reasons(report), report.not_modelled) == (expected, said)
    assert missing("d.csi") not in reasons(ask(objects, uses("c"), "1.36")).values()


def test_of_several_missing_drivers_the_first_by_name_is_told() -> None:
    objects = [
        strict("b"),
        strict("a"),
        claim("c", "pv1"),
        volume("pv1", csi={"driver": "b", "volumeHandle": "h"}),
        claim("e", "pv2"),
        volume("pv2", csi={"driver": "a", "volumeHandle": "h"}),
        csi_node("n1", b=5),
        csi_node("n2", a=5, b=5),
    ]
    report = ask(objects, uses("c", "e"))
    assert reasons(report) == {"n1": missing("a"), "n3": missing("a")}
    assert report.not_modelled == (
        "NodeVolumeLimits: of several CSI drivers that a node lacks kube-scheduler names one at random, here the first by name",
    )


def test_without_any_csi_node_it_is_said_that_every_node_counts_as_without_the_driver() -> None:
    report = ask([strict(), claim("c", "pv1"), CSI_VOLUME], uses("c"))
    assert reasons(report) == dict.fromkeys(("n1", "n2", "n3"), missing("d.csi"))
    assert "no CSINode objects: every node counts as without the CSI driver d.csi" in report.gaps
    assert report.message == f"0/3 nodes are available: 3 {missing('d.csi')}."
