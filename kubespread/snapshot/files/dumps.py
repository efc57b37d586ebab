"""What is known of the dumps other tools write: which kinds they never hold, and what their oddities are."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct, field

_LOGS_BEGIN = b"\n==== START logs for container "
_LOGS_END = b"\n==== END logs for container "
_RULE = b"===="
"""What follows the line break in both markers."""
_FEW = 1000
_COLLECTION_FAILED = re.compile(r"(?:^|/)cluster-resources/(?P<resource>[^/]+)-errors\.json$")


class Layout(Struct, frozen=True):
    """One tool's way of laying out files. It is recognized by a path; reading never depends on it."""

    tool: str
    path: re.Pattern[str]
    lacks: str = ""
    hint: str = ""


_DUMP = Layout(
    "kubectl cluster-info dump",
    re.compile(r"(?:^|/)[^/]+/replication-controllers\.(?:json|yaml)$"),
    "no StatefulSet, Namespace, PersistentVolumeClaim, PersistentVolume or StorageClass, and without "
    "--all-namespaces only the pods of kube-system and one more namespace",
)
LAYOUTS = (
    _DUMP,
    Layout(
        "Velero backup",
        re.compile(r"(?:^|/)resources/[^/]+/(?:cluster|namespaces)/"),
        hint="a Velero backup may leave nodes out",
    ),
    Layout("must-gather", re.compile(r"(?:^|/)(?:cluster-scoped-resources|namespaces/[^/]+)/core/")),
    Layout("support bundle", re.compile(r"(?:^|/)cluster-resources/[^/]+(?:\.json|/[^/]+\.json)$")),
    Layout(
        "crust-gather archive",
        re.compile(r"(?:^|/)(?:cluster|namespaces/[^/]+)/(?:[a-z0-9.]+-)?v\d[a-z0-9]*/[A-Za-z]+/[^/]+\.yaml$"),
    ),
)


class Recognized(Struct):
    """What the paths of one source have revealed so far."""

    layouts: dict[str, Layout] = field(default_factory=dict)
    not_collected: list[str] = field(default_factory=list)

    def see(self, path: str) -> None:
        failed = _COLLECTION_FAILED.search(path)
        if failed is not None:
            self.not_collected.append(failed["resource"])
        for layout in LAYOUTS:
            if layout.tool not in self.layouts and layout.path.search(path):
                self.layouts[layout.tool] = layout

    @property
    def gaps(self) -> Iterator[str]:
        for layout in self.layouts.values():
            if layout.lacks:
                yield f"a {layout.tool} holds {layout.lacks}"
        for resource in self.not_collected:
            yield f"the support bundle says that {resource} could not be collected in full"

    def without_logs(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """The text without the containers' logs that ``kubectl cluster-info dump`` prints between its objects."""
        text = b""
        in_logs = False
        for chunk in chunks:
            text += chunk
            while (position := _position(_LOGS_END if in_logs else _LOGS_BEGIN, text)) >= 0:
                self.layouts.setdefault(_DUMP.tool, _DUMP)
                if in_logs:
                    # The marker's own line ends them; it may not be here in full.
                    if (end := text.find(b"\n", position + len(_LOGS_END))) < 0:
                        break
                    text = text[end:]
                else:
                    yield text[:position]
                    text = text[position + len(_LOGS_BEGIN) :]
                in_logs = not in_logs
            done = position if position >= 0 else _without_begun(_LOGS_END if in_logs else _LOGS_BEGIN, text)
            if not in_logs:
                yield text[:done]
            text = text[done:]
        if not in_logs:
            yield text

    @property
    def hint(self) -> str:
        return "; ".join(layout.hint for layout in self.layouts.values() if layout.hint)


def _position(marker: bytes, text: bytes) -> int:
    """As ``find``, several times as fast where there are few equals signs, which one byte's search says."""
    at = text.find(_RULE[:1])
    for _ in range(_FEW):
        if at < 0:
            return -1
        if text.startswith(_RULE, at):
            break
        at = text.find(_RULE[:1], at + 1)
    return text.find(marker, max(0, at - 1))


def _without_begun(marker: bytes, text: bytes) -> int:
    """The length of ``text`` without a marker that may begin at its very end."""
    begun = text.rfind(b"\n", max(0, len(text) - len(marker)))
    return begun if begun >= 0 and marker.startswith(text[begun:]) else len(text)
