"""--html: the answer as one page, beside what is written to standard output."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from kubespread.errors import UsageError

if TYPE_CHECKING:
    from kubespread import Scheduler
    from kubespread.snapshot.snapshot import Snapshot
    from kubespread.views.documents import Answer


class _Marking(TypedDict, total=False):
    selector: str
    namespace: str


def write_page(path: str, answer: Answer, cluster: Snapshot | None, scheduler: Scheduler) -> None:
    """Write ``answer`` to ``path``, drawn on the ``cluster`` it is about, if any. The file is replaced whole or not at
    all. Raises UsageError.
    """
    import kubespread
    from kubespread.snapshot.atomic_file import replacing
    from kubespread.views.page.writing import write_page as page

    drawn: kubespread.TopologyMap | None = None
    if isinstance(answer, kubespread.TopologyMap):
        drawn = answer
    elif cluster is not None:
        drawn = kubespread.topology_map(cluster, None, scheduler, **_marking(answer))
    text = page(answer, drawn)
    try:
        with replacing(Path(path)) as file:
            file.write(text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from error


def _marking(answer: Answer) -> _Marking:
    """The pods that matter to the answer, where it is about some alone."""
    marks = getattr(answer, "marks", None)
    return {} if marks is None else {"selector": marks[0], "namespace": marks[1]}
