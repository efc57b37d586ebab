"""Numbers of thousands of digits, where the API server reads 32 bits, 64 bits or quantities."""

from __future__ import annotations

from typing import Any

import pytest

import kubespread
from kubespread.kube.api.decoding import DecodingError
from tests.builders import node, pod
from tests.kube.decoding import decode_pod, faults_of

Data = dict[str, Any]

HUGE = 10**5000


@pytest.mark.parametrize("number", [2**64, 2**70, -(2**70)])
def test_a_number_beyond_64_bits_is_a_quantity_too(number: int) -> None:
    snapshot = kubespread.Snapshot.from_objects(
        [node("n"), pod("huge", "n", requests={"memory": number}), pod("over", "n", overhead={"cpu": number})]
    )
    assert len(snapshot.pods) == 2
    for candidate in (pod(requests={"memory": number}), pod(overhead={"cpu": number})):
        assert [fault.message for fault in faults_of(candidate)] == (
            [] if number > 0 else [f'Invalid value: "{number}": must be greater than or equal to 0']
        )


@pytest.mark.parametrize(
    "fields",
    [{"overhead": {"cpu": HUGE}}, {"priority": HUGE}, {"activeDeadlineSeconds": -HUGE}],
    ids=["overhead", "int32", "int64"],
)
def test_a_number_of_thousands_of_digits_is_refused(fields: Data) -> None:
    with pytest.raises(DecodingError):
        decode_pod(pod(**fields))
