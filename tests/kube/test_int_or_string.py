"""Numbers and percentages of a total."""

from __future__ import annotations

import pytest

from kubespread.kube.api.meta import IntOrString
from kubespread.kube.int_or_string import IntOrStringError, scaled


@pytest.mark.parametrize(
    ("value", "total", "down", "up"),
    [
        pytest.param(3, 10, 3, 3, id="a number stands for itself"),
        pytest.param(-1, 10, -1, -1, id="a negative number too"),
        pytest.param("25%", 10, 2, 3, id="a percentage is rounded"),
        pytest.param("25%", 4, 1, 1, id="an even share is not"),
        pytest.param("0%", 7, 0, 0, id="nothing of everything"),
        pytest.param("150%", 3, 4, 5, id="more than all"),
        pytest.param("+5%", 100, 5, 5, id="a plus sign is read"),
        pytest.param("29%", 100, 29, 29, id="the product is divided, so that no tenth is lost"),
    ],
)
def test_amount(value: IntOrString, total: int, down: int, up: int) -> None:
    assert (scaled(value, total, round_up=False), scaled(value, total, round_up=True)) == (down, up)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("3", "invalid value for IntOrString: invalid type: string is not a percentage"),
        (
            "x%",
            'invalid value for IntOrString: invalid value "x%": strconv.Atoi: parsing "x": invalid syntax',
        ),
        (
            "1.5%",
            'invalid value for IntOrString: invalid value "1.5%": strconv.Atoi: parsing "1.5": invalid syntax',
        ),
    ],
)
def test_what_is_no_amount_is_refused_in_kubernetes_words(value: str, message: str) -> None:
    with pytest.raises(IntOrStringError) as error:
        scaled(value, 10, round_up=True)
    assert str(error.value) == message
