"""Metrics for node_exporter's textfile collector, in Prometheus' text exposition format.

Source of the format: the Prometheus documentation, "Exposition formats": in label values backslash, double quote and
line feed are escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kubespread.escaping import escaped

Sample = tuple[Mapping[str, str], float]
"""Labels and a value."""
Metric = tuple[str, str, Iterable[Sample]]
"""A name without the program's, its help, and its samples."""
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})


def exposed(metrics: Iterable[Metric]) -> str:
    """Every metric with its help and type, then a line a sample."""
    return "".join(
        f"# HELP kubespread_{name} {text}\n# TYPE kubespread_{name} gauge\n"
        + "".join(_line(name, labels, value) for labels, value in samples)
        for name, text, samples in metrics
    )


def _line(name: str, labels: Mapping[str, str], value: float) -> str:
    inside = ",".join(f'{key}="{_value(text)}"' for key, text in labels.items())
    return f"kubespread_{name}{{{inside}}} {value}\n" if inside else f"kubespread_{name} {value}\n"


def _value(text: str) -> str:
    """Unprintable characters are spelled out, and their backslash escaped like any other: the format has no such
    escapes.
    """
    escapes = text.translate(_ESCAPES)
    if escapes.isprintable():
        return escapes
    return "".join(char if char.isprintable() else escaped(char).translate(_ESCAPES) for char in escapes)
