"""Names are texts that know their parts."""

from __future__ import annotations

import copy
import pickle

import pytest

from kubespread.kube.owners import NamespacedName, WorkloadName
from kubespread.reports.outcome import UnmadePods

NAMES = {
    "a pod of the default namespace": (NamespacedName("default", "web-0"), "default/web-0", "web-0"),
    "a pod of another one": (NamespacedName("shop", "web-0"), "shop/web-0", "shop/web-0"),
    "a workload of the default namespace": (
        WorkloadName("Deployment", "default", "web"),
        "default/Deployment/web",
        "Deployment/web",
    ),
    "a workload of another one": (WorkloadName("Job", "shop", "web"), "shop/Job/web", "shop/Job/web"),
}


@pytest.mark.parametrize("case", NAMES)
def test_a_name_is_its_text(case: str) -> None:
    name, text, called = NAMES[case]
    assert (name, str(name), f"{name}", name.short_name) == (text, text, text, called)
    assert hash(name) == hash(text)


@pytest.mark.parametrize("case", NAMES)
def test_copies_know_their_parts(case: str) -> None:
    name = NAMES[case][0]
    for same in (copy.deepcopy(name), pickle.loads(pickle.dumps(name))):
        assert (type(same), vars(same)) == (type(name), vars(name))


def test_a_report_has_its_names_as_text_in_json() -> None:
    unmade = UnmadePods(workload=WorkloadName("Deployment", "shop", "web"), count=1, message="no")
    assert unmade.to_dict() == {"workload": "shop/Deployment/web", "count": 1, "message": "no", "enough": ""}
