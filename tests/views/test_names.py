"""Names in columns that are too narrow for them: what all share is left out, never what tells them apart."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubespread.views.lines import width_of
from kubespread.views.terminal import distinct_names

AWS = ["ip-10-0-4-149.eu-west-1.compute.internal", "ip-10-0-14-72.eu-west-1.compute.internal"]
GKE = [
    "gke-prod-us-central1-default-pool-671a085e-18l7",
    "gke-prod-us-central1-default-pool-671a085e-54jj",
    "gke-prod-us-central1-default-pool-8a66fdf2-18l7",
    "gke-prod-us-central1-highmem-a6784f18-r1x8",
]
TEAMS = ["team-03/Deployment/feeds-consumer-1", "team-04/Deployment/feeds-consumer-1", "team-04/Deployment/web"]
CASES: dict[str, tuple[list[str], int, list[str]]] = {
    "what fits stays": (["a/Deployment/web", "b/Deployment/web"], 20, ["a/Deployment/web", "b/Deployment/web"]),
    "the kind goes, which is the same": (
        TEAMS,
        26,
        ["team-03/…/feeds-consumer-1", "team-04/…/feeds-consumer-1", "team-04/Deployment/web"],
    ),
    "more words go where that is not enough": (
        ["team-1/Deployment/web", "team-2/Deployment/web"],
        10,
        ["team-1…web", "team-2…web"],
    ),
    "what differs stays at either end": (
        ["web-1/Deployment/of-a-team", "web-2/Deployment/of-a-team"],
        12,
        ["web-1/…-team", "web-2/…-team"],
    ),
    "a word that is too long is cut itself": (["x" * 9 + "1", "x" * 9 + "2"], 6, ["x…xxx1", "x…xxx2"]),
    "the same name twice is cut alike": (["one-and-the-same", "one-and-the-same"], 8, ["one…same", "one…same"]),
}


@pytest.mark.parametrize("case", CASES)
def test_names_are_cut_where_they_are_alike(case: str) -> None:
    names, width, shown = CASES[case]
    assert distinct_names(names, width) == shown


_words = st.lists(st.sampled_from(["web", "api", "prod", "a1", "b2", "Deployment"]), min_size=2, max_size=6)
_names = st.lists(_words.map("-".join), min_size=1, max_size=12)


@settings(max_examples=60, deadline=None)
@given(_names, st.integers(8, 40))
def test_no_name_is_wider_than_its_column_and_names_that_fit_stay(names: list[str], width: int) -> None:
    shown = distinct_names(names, width)
    assert all(width_of(name) <= width for name in shown)
    assert all(short == name for short, name in zip(shown, names, strict=True) if width_of(name) <= width)
