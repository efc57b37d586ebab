"""The content of a report without its layout, from which every format is made: the ``view`` beside the report, or the
report's rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypedDict, get_args, get_origin

from msgspec import Struct, field
from msgspec.structs import fields, replace

from kubespread.regex import regex
from kubespread.reports.columns import Readers, declared_columns, docstring
from kubespread.reports.outcome import NodeLoad
from kubespread.reports.parts import ClusterReference, OfWorkloads, scheduler_phrase
from kubespread.views.look import Look, Part, Tone
from kubespread.views.sheet import R, Row, Sheet, Table, columns_of
from kubespread.wording import age, count_of, some_of

if TYPE_CHECKING:
    from kubespread.questions.map.report import TopologyMap
    from kubespread.views.documents import Answer


class Bar(Struct, frozen=True):
    """Matching pods of one domain."""

    name: str
    before: int
    after: int
    arithmetic: str = ""
    """The calculation: ``3+1−1 = 3 > 1``."""
    tone: Tone = Tone.PLAIN


class Bars(Struct, frozen=True):
    """One constraint, with a bar per domain."""

    title: str
    bars: Sequence[Bar]
    limit: int | None = None
    """Most pods in a domain, including the next one: minimum + maxSkew; None without a limit."""


class NodeFacts(Struct, frozen=True):
    """Facts about single nodes."""

    header: Sequence[str]
    rows: Mapping[str, Row]
    """Rows by the name of the node."""
    verdicts: Mapping[str, str] = field(default_factory=dict)
    """Short verdict on each node."""
    words: Mapping[str, str] = field(default_factory=dict)
    """Words to write on nodes, if there is room and nothing else to say."""
    colors: Mapping[Tone, str] = field(default_factory=dict)
    """Meaning of the tones of nodes; empty without tones."""

    @classmethod
    def from_sheet(
        cls,
        sheet: Sheet[R],
        verdict: Callable[[R], str] | None,
        colors: Mapping[Tone, str],
        word: Callable[[R], str] = lambda _: "",
    ) -> NodeFacts:
        """Make facts from a sheet of nodes, with their names in the first column."""
        table = sheet.table()
        rows = {name: Row(cells, row.tone, row.drawn[1:]) for row in table.rows for name, *cells in [row.cells]}
        verdicts = [] if verdict is None else map(verdict, sheet.rows)
        words = dict(zip(rows, map(word, sheet.rows), strict=True))
        return cls(table.header[1:], rows, dict(zip(rows, verdicts, strict=verdict is not None)), words, colors)

    def table(self) -> Table:
        """Facts as a table, for an answer without a map."""
        rows = [Row((name, *row.cells), row.tone) for name, row in self.rows.items()]
        return Table("Nodes", ("Node", *self.header), rows)


LoadFigures = Sequence[int | None]
"""Number of pods on a node, and requested percentages of the map's resources; None if unknown."""


class Frame(Struct, frozen=True):
    """One step: changed pods of nodes, and nodes that joined, left or became not ready."""

    label: str
    text: str
    pods: Mapping[str, int] = field(default_factory=dict)
    unavailable: Sequence[str] = ()
    joined: Sequence[str] = ()
    states: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Changed reasons that nodes keep pods away: ``cordoned``, ``not ready``."""
    loads: Mapping[str, LoadFigures] = field(default_factory=dict)
    """Changed pods and requests of nodes; for other nodes of ``pods`` they are unknown from now on."""


class Tile(Struct, frozen=True):
    """Figure to look for first, also in the report, or one answer of many."""

    name: str
    value: str
    tone: Tone = Tone.PLAIN
    find: str = ""
    """Text that a page searches its tables for when the tile is chosen; empty for none."""
    says: str = ""
    """Text beside the value."""


def unwanted_tile(name: str, number: int) -> Tile:
    return Tile(name, f"{number:,}", Tone.BAD if number else Tone.GOOD)


def share_tile(name: str, number: int, of: int) -> Tile:
    """``3 of 5``, bad if the number is 0."""
    return Tile(name, f"{number:,} of {of:,}", Tone.GOOD if number else Tone.BAD)


Sample = tuple[Mapping[str, str], float]
"""Labels and a value."""
Metric = tuple[str, str, Iterable[Sample]]
"""Name without the program's, help, and samples."""


def samples(row_type: type, rows: Sequence[Any], figures: Sequence[float]) -> Iterator[Sample]:
    """Yield a sample per row, labeled with the texts among its fields."""
    names = [column.name for column in declared_columns(row_type).values() if column.is_label]
    labels = ({name: str(getattr(row, name)) for name in names} for row in rows)
    return zip(labels, figures, strict=True)


def figures(prefix: str, row_type: type, rows: Sequence[Any]) -> Iterator[Metric]:
    """Yield a metric for each column with a name in Prometheus, with a sample per row."""
    for column in declared_columns(row_type).values():
        if column.col.metric:
            help = docstring(row_type, column.name)
            values = [column.value(row) or 0 for row in rows]
            yield f"{prefix}_{column.col.metric}", help, samples(row_type, rows, values)


def tiles(row_type: type, rows: Sequence[Any]) -> Iterator[Tile]:
    """Yield the figure of the worst row, for each column with a tile."""
    for column in declared_columns(row_type).values():
        if column.col.tile:
            worst = max((column.value(row) or 0 for row in rows), default=0)
            yield unwanted_tile(f"{column.col.tile}, at worst", worst)


class View(Struct, frozen=True):
    """Content of a report: sheets for every format, and parts for terminals and pages alone."""

    title: str
    provenance: str
    answer: Sequence[str]
    """The answer, then its basis."""
    doubts: Sequence[str] = ()
    """Unknowns that may change the answer, shown prominently above it."""
    tone: Tone = Tone.PLAIN
    tiles: Sequence[Tile] = ()
    """In order of importance."""
    sheets: Sequence[Sheet[Any]] = ()
    """The main one first; a spreadsheet gets the first that it reads."""
    sheets_of: Callable[[], Sequence[Sheet[Any]]] | None = None
    """Function for sheets that take long to make."""
    names: Sequence[str | tuple[str, ...]] | None = None
    """Names listed by ``-o name``, tuples joined by tabs; None without that format."""
    parts: Callable[[Look], Iterable[Sheet[Any] | Part]] | None = None
    """Function for the parts below the answer on a terminal, if not its sheets."""
    picture: Callable[[Look], Iterable[Part]] | None = None
    """Function for the whole answer on a terminal, if it is drawn by hand."""
    sentences: Callable[[], str] | None = None
    """Function for the answer as paragraphs, printed instead of tables."""
    is_wide_on_terminals: bool = False
    """True if ``-o wide`` on a terminal has a table of its own instead of a pipe's columns."""
    bars: Sequence[Bars] = ()
    nodes: NodeFacts | None = None
    nodes_of: Callable[[], NodeFacts] | None = None
    """Function for facts about nodes that take long to make."""
    replicas: Mapping[str, int] | None = None
    """Number of pods to draw on each node; None for the pods that the map marks."""
    stand_ins: Mapping[str, str] = field(default_factory=dict)
    """Names of replaced nodes, by the name of their replacement."""
    frames: Callable[[TopologyMap], Iterable[Frame]] = lambda _: ()
    """Function for steps on a map; a page opens with the last one."""
    metrics: Callable[[], Iterable[Metric]] = tuple
    """Function for metrics of the whole answer, for a textfile collector."""
    beside: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Notes, gaps and unmodeled features, by heading."""


def loads_before(drawn: TopologyMap) -> dict[str, LoadFigures]:
    """Pods and requests of each node of the map."""
    return {node.name: (node.pods, *(load.percent for load in node.load)) for node in drawn.nodes}


def loads_after(
    loads: Iterable[NodeLoad], before: Mapping[str, LoadFigures], drawn: TopologyMap
) -> dict[str, LoadFigures]:
    """Pods and requests of each node in ``loads``; resources that a load leaves out are at 0, or unknown as before."""
    unknown: LoadFigures = [None] * (1 + len(drawn.resources))
    after = dict[str, LoadFigures]()
    for load in loads:
        were = zip(drawn.resources, before.get(load.node, unknown)[1:], strict=True)
        # What is not named is requested by no pod.
        after[load.node] = (load.pods, *(load.percent.get(name, None if was is None else 0) for name, was in were))
    return after


def source(cluster: ClusterReference | None, kube_version: str, *more: str) -> str:
    """Origin of an answer, in one line."""
    parts = (cluster_phrase(cluster), scheduler_phrase(kube_version, cluster), *more)
    return " · ".join(part for part in parts if part)


class SharedFields(TypedDict):
    """Fields that all views fill in the same way."""

    provenance: str
    answer: Sequence[str]
    tone: Tone
    beside: Mapping[str, Sequence[str]]


_MAX_NAMED = 3
TONES = {"yes": Tone.GOOD, "no": Tone.BAD, "unknown": Tone.WARN}


def shared_fields(report: Any) -> SharedFields:
    """Origin, answer, notes and gaps of one report."""
    return SharedFields(
        provenance=source(report.cluster, report.kube_version, report.manner),
        answer=report.statements,
        tone=TONES[report.verdict],
        beside=side_notes([report]),
    )


_HEADINGS = {"Notes": "notes", "Admission": "admission", "Gaps": "gaps", "Not modeled": "not_modelled"}


def side_notes(reports: Iterable[Any]) -> Mapping[str, Sequence[str]]:
    """Notes, gaps and unmodeled features of all ``reports``, without duplicates."""
    lists: dict[str, dict[str, None]] = {}
    for report in reports:
        for heading, name in _HEADINGS.items():
            texts: Sequence[str] = getattr(report, f"all_{name}", getattr(report, name, ()))
            lists.setdefault(heading, {}).update(dict.fromkeys(texts))
    return {heading: tuple(texts) for heading, texts in lists.items() if texts}


def sheets_in(view: View) -> Sequence[Sheet[Any]]:
    return view.sheets if view.sheets_of is None else view.sheets_of()


def with_nodes(view: View) -> View:
    """The view with facts about single nodes, for pages and comments."""
    return view if view.nodes_of is None else replace(view, nodes=view.nodes_of())


def tables_of(view: View) -> Sequence[Table]:
    """Sheets with rows, as tables of cells."""
    return [sheet.table() for sheet in sheets_in(view) if Readers.PAGES in sheet.readers and sheet.rows]


def cluster_phrase(cluster: ClusterReference | None) -> str:
    """``snapshot prod.json.gz, 2 h old``; empty for files of unknown origin."""
    return " ".join(filter(None, cluster_words(cluster)))


def cluster_words(cluster: ClusterReference | None) -> tuple[str, str]:
    """Kind of the cluster, if known, and its name."""
    if cluster is None or not (cluster.context or cluster.server or cluster.time):
        return "", ""
    origin = ("context", cluster.context) if cluster.context else ("", cluster.server or "")
    if cluster.snapshot is None:
        return origin
    of = f" of {' '.join(filter(None, origin))}" if any(origin) else ""
    old = "" if cluster.age_seconds is None else f", {age(cluster.age_seconds)} old"
    return "snapshot", f"{cluster.snapshot.rpartition('/')[2]}{of}{old}"


def workloads_phrase(report: OfWorkloads, workloads: int) -> str:
    """``Deployment shop/web``: the workloads named in the question, else their number and selection."""
    if report.asked:
        return some_of([workload.short_name for workload in report.asked], _MAX_NAMED)
    return f"{count_of(workloads, 'workload')}{chosen_from(report.namespace, report.selector)}"


def chosen_from(namespace: str | None, selector: str) -> str:
    """`` with app=web of namespace shop``: selection of workloads, to follow their noun."""
    labels = f" with {selector}" if selector else ""
    return f"{labels} of {'all namespaces' if namespace is None else f'namespace {namespace}'}"


_HUMP = regex(r"(?<=[a-z])(?=[A-Z])")


def view_of_rows(report: Any) -> View:
    """View of a report without one of its own: a sheet for each field of rows with columns."""
    kinds = {info.name: get_args(info.type)[0] for info in fields(report) if get_origin(info.type) is tuple}
    sheets = [
        Sheet(title=name.replace("_", " ").capitalize(), columns=columns_of(row), rows=getattr(report, name))
        for name, row in kinds.items()
        if isinstance(row, type) and issubclass(row, Struct) and declared_columns(row)
    ]
    return View(
        **shared_fields(report), title=_HUMP.sub(" ", report.kind.removesuffix("Report")).capitalize(), sheets=sheets
    )


def view_of(answer: Answer) -> View:
    """Make the view of an answer; a report without a view is shown as its rows."""
    reports: Sequence[Any] = answer if isinstance(answer, Sequence) else [answer]
    build = _view_beside(type(reports[0]))
    view = view_of_rows(reports[0]) if build is None else build(reports)
    doubts = dict.fromkeys(doubt for report in reports for doubt in getattr(report, "doubts", ()))
    return replace(view, doubts=tuple(doubts))


def _view_beside(report: type[Any]) -> Callable[[Sequence[Any]], View] | None:
    """Find ``view`` in the module of a report or in ``view.py`` beside it; ``view_of_several`` there comes first."""
    home = import_module(report.__module__)
    # A module of that name is in a folder's names once it was imported.
    if not callable(getattr(home, "view", None)):
        try:
            home = import_module(f"{home.__package__}.view")
        except ModuleNotFoundError:
            return None
    if hasattr(home, "view_of_several"):
        several: Callable[[Sequence[Any]], View] = home.view_of_several
        return several
    return lambda reports: home.view(reports[0])
