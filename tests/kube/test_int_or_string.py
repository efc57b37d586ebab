"""Numbers and percentages of a total, rounded as Kubernetes rounds them."""

from __future__ import annotations

import pytest

from kubespread.kube.quantity import IntOrStringError, scaled_value

SCALED: dict[str, tuple[int | str, int, bool, int]] = {
    "a number stays as it is": (7, 3, True, 7),
    "a percentage is rounded up": ("30%", 5, True, 2),
    "a percentage is rounded down": ("30%", 5, False, 1),
    "one percent of five is one, rounded up": ("1%", 5, True, 1),
    "a whole percentage needs no rounding": ("100%", 5, True, 5),
    "more than all": ("150%", 3, False, 4),
    "of nothing": ("50%", 0, True, 0),
    "the product is exact before it is divided": ("29%", 100, True, 29),
    "a sign is read": ("+50%", 4, True, 2),
    "below zero towards zero when rounded up": ("-30%", 5, True, -1),
}


@pytest.mark.parametrize("case", SCALED)
def test_scaled(case: str) -> None:
    value, total, round_up, expected = SCALED[case]
    assert scaled_value(value, total, round_up=round_up) == expected


MALFORMED = {
    "5": "invalid value for IntOrString: invalid type: string is not a percentage",
    "": "invalid value for IntOrString: invalid type: string is not a percentage",
    "ten%": 'invalid value for IntOrString: invalid value "ten%": strconv.Atoi: parsing "ten": invalid syntax',
    "1.5%": 'invalid value for IntOrString: invalid value "1.5%": strconv.Atoi: parsing "1.5": invalid syntax',
    "%": 'invalid value for IntOrString: invalid value "%": strconv.Atoi: parsing "": invalid syntax',
    "9223372036854775808%": (
        'invalid value for IntOrString: invalid value "9223372036854775808%": '
        'strconv.Atoi: parsing "9223372036854775808": value out of range'
    ),
}


@pytest.mark.parametrize("text", MALFORMED)
def test_what_is_no_percentage_is_refused_in_kubernetes_words(text: str) -> None:
    with pytest.raises(IntOrStringError) as refused:
        scaled_value(text, 5, round_up=True)
    assert str(refused.value) == MALFORMED[text]
