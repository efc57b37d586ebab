"""A report compared with an earlier one, by the keys of their lines: what is new, worse, better, the same, or gone."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from msgspec.structs import replace

from kubespread.errors import UsageError
from kubespread.manifest.parts import MalformedError
from kubespread.manifest.text import MAX_MANIFEST_BYTES, display_name, read_text_bytes
from kubespread.questions.report.report import LEVELS, AreaScore, Badness, Change, Earlier, GoneLine, ReportLine
from kubespread.reports.parts import ClusterReference


class _Line(msgspec.Struct, rename="camel"):
    key: str
    level: Badness
    extent: int
    what: str = ""


class _Score(msgspec.Struct, rename="camel"):
    area: str
    score: int | None = None


class _Card(msgspec.Struct, rename="camel"):
    """What is read of an earlier report; of a fleet's, of those of its clusters."""

    kind: str = ""
    lines: tuple[_Line, ...] = ()
    areas: tuple[_Score, ...] = ()
    cluster: ClusterReference | None = None
    clusters: tuple[_Member, ...] = ()


class _Member(msgspec.Struct, rename="camel"):
    reports: tuple[_Card, ...] = ()


class Compared(msgspec.Struct, frozen=True):
    """One cluster's earlier report."""

    lines: dict[str, _Line]
    scores: dict[str, int | None]
    time: str | None

    def line(self, line: ReportLine) -> ReportLine:
        """``line`` with what became of it; by level first, then by extent."""
        before = self.lines.get(line.key)
        if before is None:
            return replace(line, change="new")
        were, are = (LEVELS.index(before.level), before.extent), (LEVELS.index(line.level), line.extent)
        change: Change = "same" if were == are else "worse" if are > were else "better"
        return replace(line, change=change, extent_before=before.extent, level_before=before.level)

    def score(self, area: AreaScore) -> AreaScore:
        return replace(area, score_before=self.scores.get(area.area))

    def without(self, lines: Iterable[ReportLine], *, is_whole: bool) -> Earlier:
        """The same, with its lines that are not among ``lines`` any more; where these are not the whole report, nobody
        knows.
        """
        keys = {line.key for line in lines}
        gone = (line for key, line in self.lines.items() if is_whole and key not in keys)
        return Earlier(
            time=self.time, gone=tuple(GoneLine(key=line.key, level=line.level, what=line.what) for line in gone)
        )


def read_earlier(path: str, cluster: ClusterReference | None) -> Compared:
    """The report of ``cluster`` that ``-o json`` wrote to a file, alone or with those of a fleet's other clusters.

    Raises UsageError.
    """
    file = display_name(path)
    try:
        card = msgspec.json.decode(read_text_bytes(path, MAX_MANIFEST_BYTES), type=_Card)
    except OSError as error:
        raise UsageError(f"--since {file}: {error.strerror or error}") from error
    except MalformedError as error:
        raise UsageError(f"--since {file}: {error.fault.message}") from error
    except msgspec.DecodeError as error:
        raise UsageError(f"--since {file}: not what kubespread report -o json writes: {error}") from error
    if card.kind == "FleetReport":
        card = _of_fleet(card, cluster, file)
    if card.kind != "Scorecard":
        raise UsageError(f"--since {file}: not what kubespread report -o json writes: kind {card.kind or 'missing'}")
    time = None if card.cluster is None else card.cluster.time
    return Compared({line.key: line for line in card.lines}, {area.area: area.score for area in card.areas}, time)


def _of_fleet(fleet: _Card, cluster: ClusterReference | None, file: str) -> _Card:
    """That of the same file or context."""
    asked = None if cluster is None else (cluster.snapshot, cluster.context)
    cards = [card for member in fleet.clusters for card in member.reports]
    for card in cards:
        if card.cluster is not None and (card.cluster.snapshot, card.cluster.context) == asked:
            return card
    raise UsageError(f"--since {file}: none of its {len(cards)} clusters is this one")
