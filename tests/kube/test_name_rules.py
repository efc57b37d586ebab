"""Names of labels: the API server's texts."""

from __future__ import annotations

import pytest

from kubespread.kube.name_rules import label_key_faults, label_value_faults

NAME_EMPTY = "name part must be non-empty"
NAME_FMT = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
VAL_FMT = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', "
    "regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)
DNS_SUB = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'example.com', "
    r"regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)

KEYS = {
    "a": (),
    "example.com/a": (),
    "a/b/c": (
        "a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
        "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') "
        "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
    ),
    "/a": ("prefix part must be non-empty",),
    "A.b/c": (f"prefix part {DNS_SUB}",),
    "a/": (NAME_EMPTY, NAME_FMT),
    "é" * 40: ("name part must be no more than 63 bytes", NAME_FMT),
}


@pytest.mark.parametrize("key", KEYS)
def test_label_keys(key: str) -> None:
    assert label_key_faults(key) == KEYS[key]


def test_label_values_are_measured_in_bytes() -> None:
    assert label_value_faults("é" * 40) == ("must be no more than 63 bytes", VAL_FMT)
    assert (label_value_faults(""), label_value_faults("x" * 63), label_value_faults("x\n")) == ((), (), (VAL_FMT,))
