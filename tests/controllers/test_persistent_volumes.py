"""What the PersistentVolume controller binds without a pod: tables of what comes to a cluster, and random ones."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kubespread
from kubespread.controllers.persistentvolume import reconcile
from kubespread.kube.api.cluster_objects import ClusterObjects, PersistentVolume, PersistentVolumeClaim
from kubespread.kube.persistent_volumes import capacity, is_available, is_bound, requested_storage, storage_class_name
from tests.builders import Data
from tests.storage import claim, storage_class, volume

LOCAL = storage_class("local", "kubernetes.io/no-provisioner", "Immediate")
MADE = storage_class("made", "d.csi", "Immediate")
WAITS = storage_class("waits", "d.csi")
IN_A_OR_B = [{"matchLabelExpressions": [{"key": "zone", "values": ["a", "b"]}]}]


def naming(name: str, volume: str, **more: Any) -> Data:
    """A claim that names its volume and is not bound yet."""
    return claim(name, **more) | {"spec": claim(name, **more)["spec"] | {"volumeName": volume}}


def reserved(volume: Data, claim: str, uid: str = "") -> Data:
    return volume | {"spec": volume["spec"] | {"claimRef": {"namespace": "default", "name": claim, "uid": uid}}}


def with_modes(volume: Data, *modes: str) -> Data:
    return volume | {"spec": volume["spec"] | {"accessModes": list(modes)}}


class Case(NamedTuple):
    before: list[Data]
    """What is in the cluster."""
    come: list[Data]
    bound: dict[str, str]
    """The volume of each claim, empty for none."""


CASES = {
    "the smallest volume that is large enough": Case(
        [LOCAL, volume("s", "local", "1Gi"), volume("l", "local", "9Gi"), volume("m", "local", "6Gi")],
        [claim("c", storage_class="local")],
        {"c": "m"},
    ),
    "each claim another one": Case(
        [LOCAL, volume("v0", "local"), volume("v1", "local")],
        [claim(name, storage_class="local") for name in "abc"],
        {"a": "v0", "b": "v1", "c": ""},
    ),
    "fewer access modes before a smaller size": Case(
        [LOCAL, with_modes(volume("s", "local", "5Gi"), "ReadWriteOnce", "ReadOnlyMany"), volume("l", "local", "9Gi")],
        [claim("c", storage_class="local")],
        {"c": "l"},
    ),
    "no volume without its modes, of another class, or released": Case(
        [
            LOCAL,
            with_modes(volume("m", "local"), "ReadOnlyMany"),
            volume("o", "x"),
            volume("r", "local", phase="Released"),
        ],
        [claim("c", storage_class="local")],
        {"c": ""},
    ),
    "a selector is met": Case(
        [
            LOCAL,
            volume("v0", "local"),
            {**volume("v1", "local"), "metadata": {"name": "v1", "labels": {"tier": "gold"}}},
        ],
        [claim("c", storage_class="local", selector={"matchLabels": {"tier": "gold"}})],
        {"c": "v1"},
    ),
    "without a class, volumes without one": Case([volume("v", "")], [claim("c", storageClassName="")], {"c": "v"}),
    "a class without an object binds at once": Case(
        [volume("v", "manual")], [claim("c", storage_class="manual")], {"c": "v"}
    ),
    "the volume that is reserved for it, also if it waits, and whatever its class": Case(
        [WAITS, reserved(volume("r", "x"), "c")], [claim("c", storage_class="waits")], {"c": "r"}
    ),
    "not the volume that was reserved for a former claim": Case(
        [LOCAL, reserved(volume("r", "local"), "c", "old")], [claim("c", storage_class="local")], {"c": ""}
    ),
    "the volume that it names": Case([LOCAL, volume("v", "")], [naming("c", "v", storageClassName="")], {"c": "v"}),
    "the volume that it names, if it waits": Case(
        [WAITS, volume("v", "waits")], [naming("c", "v", storage_class="waits")], {"c": "v"}
    ),
    "not a named volume that is too small, taken, or not there": Case(
        [volume("s", "", "1Gi"), reserved(volume("t", ""), "other")],
        [naming(name, name, storageClassName="") for name in ("s", "t", "u")],
        {"s": "", "t": "", "u": ""},
    ),
    "a driver makes one": Case([MADE], [claim("c", storage_class="made")], {"c": "pvc-default-c"}),
    "a driver makes none for a selector, nor for a pod to come": Case(
        [MADE, WAITS],
        [claim("c", storage_class="made", selector={}), claim("d", storage_class="waits")],
        {"c": "", "d": ""},
    ),
    "a claim that is pending in the cluster stays so": Case(
        [MADE, LOCAL, volume("v", "local"), claim("c", storage_class="made"), claim("d", storage_class="local")],
        [],
        {"c": "", "d": ""},
    ),
    "a claim that is pending in the cluster gets a volume that comes": Case(
        [LOCAL, claim("c", storage_class="local")], [volume("v", "local", phase="")], {"c": "v"}
    ),
    "a claim that is pending in the cluster is bound once its class comes": Case(
        [claim("c", storage_class="made")], [MADE], {"c": "pvc-default-c"}
    ),
}


def objects_of(items: list[Data]) -> ClusterObjects:
    return kubespread.Snapshot.from_objects(items).objects


def after(before: list[Data], come: list[Data]) -> ClusterObjects:
    stored, added = objects_of(before), objects_of(come)
    objects = stored
    for cls, new in added.by_type.items():
        objects = objects.with_all(cls, (*stored.get(cls), *new))
    return reconcile(stored, objects)


@pytest.mark.parametrize("name", CASES)
def test_which_volume_a_claim_is_bound_to(name: str) -> None:
    case = CASES[name]
    claims = after(case.before, case.come).get(PersistentVolumeClaim)
    assert {each.metadata.name: each.spec.volume_name if is_bound(each) else "" for each in claims} == case.bound


def test_a_volume_that_is_made_is_reached_where_its_class_allows() -> None:
    made = storage_class("made", "d.csi", "Immediate", allowedTopologies=IN_A_OR_B)
    (volume,) = after([made], [claim("c", storage_class="made")]).get(PersistentVolume)
    assert volume.spec.node_affinity is not None
    assert volume.spec.node_affinity.required is not None
    ((requirement,),) = (term.match_expressions for term in volume.spec.node_affinity.required.node_selector_terms)
    assert (requirement.key, requirement.operator, requirement.values) == ("zone", "In", ["a", "b"])


SIZES = st.integers(1, 3).map(lambda size: f"{size}Gi")
CLASSES = st.sampled_from(["local", "waits", "none"])
VOLUMES = st.lists(st.tuples(CLASSES, SIZES, st.sampled_from(["Available", "Released"])), max_size=5)
CLAIMS = st.lists(st.tuples(CLASSES, SIZES, st.sampled_from(["", "", "v0", "v1"])), max_size=5)


@given(VOLUMES, CLAIMS)
def test_claims_share_no_volume_and_none_stays_unbound_beside_one(
    volumes: list[tuple[str, str, str]], claims: list[tuple[str, str, str]]
) -> None:
    there = [volume(f"v{at}", own, size, phase=phase) for at, (own, size, phase) in enumerate(volumes)]
    come = [
        claim(f"c{at}", storage_class=own, size=size)
        if not name
        else naming(f"c{at}", name, storage_class=own, size=size)
        for at, (own, size, name) in enumerate(claims)
    ]
    objects = after([LOCAL, WAITS, *there], come)
    stored = {each.metadata.name: each for each in objects.get(PersistentVolume)}
    taken = [each for each in objects.get(PersistentVolumeClaim) if is_bound(each)]
    assert len({each.spec.volume_name for each in taken}) == len(taken)
    for each in taken:
        own = stored[each.spec.volume_name]
        assert own.spec.claim_ref is not None
        assert own.spec.claim_ref.name == each.metadata.name
        assert capacity(own).nano >= requested_storage(each).nano
        assert storage_class_name(own) == storage_class_name(each)
    for each in objects.get(PersistentVolumeClaim):
        if is_bound(each) or each.spec.volume_name or storage_class_name(each) == "waits":
            continue
        of_class = [own for own in stored.values() if storage_class_name(own) == storage_class_name(each)]
        large = [own for own in of_class if capacity(own).nano >= requested_storage(each).nano]
        assert not any(own.spec.claim_ref is None and is_available(own, each) for own in large)
    assert reconcile(objects, objects) == objects
