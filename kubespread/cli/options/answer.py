"""How an answer is written, and what is said beside it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kubespread.cli.page import checked_target
from kubespread.render.formats import ReportKind, format_names, output_help
from kubespread.render.look import RowOf


class Sort(StrEnum):
    SCORE = "score"
    NAME = "name"
    SKEW = "skew"


class Color(StrEnum):
    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


def _output_option(kind: ReportKind) -> Any:
    """-o with the formats that this kind of report has."""
    choices = StrEnum("Format", {name.upper(): name for name in format_names(kind)})  # type: ignore[misc]  # from the registry
    option = typer.Option("-o", "--output", case_sensitive=False, show_default=False, help=output_help(kind))
    return Annotated[choices | None, option]


if TYPE_CHECKING:
    CheckOutputOption = str | None
    CompareOutputOption = str | None
    ExplainOutputOption = str | None
    MapOutputOption = str | None
    SimulateOutputOption = str | None
    SurviveOutputOption = str | None
    UpgradeOutputOption = str | None
    PlayOutputOption = str | None
    RebalanceOutputOption = str | None
    AdviseOutputOption = str | None
    PendingOutputOption = str | None
    CapacityOutputOption = str | None
    RemovableOutputOption = str | None
    AuditOutputOption = str | None
else:
    CheckOutputOption = _output_option("check")
    CompareOutputOption = _output_option("compare")
    ExplainOutputOption = _output_option("explain")
    MapOutputOption = _output_option("map")
    SimulateOutputOption = _output_option("simulate")
    SurviveOutputOption = _output_option("survive")
    UpgradeOutputOption = _output_option("upgrade")
    PlayOutputOption = _output_option("play")
    RebalanceOutputOption = _output_option("rebalance")
    AdviseOutputOption = _output_option("advise")
    PendingOutputOption = _output_option("pending")
    CapacityOutputOption = _output_option("capacity")
    RemovableOutputOption = _output_option("removable")
    AuditOutputOption = _output_option("audit")
PreemptionOption = Annotated[
    bool,
    typer.Option(
        "--preemption", help="When no node fits, predict what preemption would do.", rich_help_panel="Scheduler"
    ),
]
ColorOption = Annotated[Color, typer.Option("--color", case_sensitive=False, help="Color the table.")]
NoHeadersOption = Annotated[
    bool, typer.Option("--no-headers", help="Leave out the headers of tables, columns and csv.")
]
StrictOption = Annotated[bool, typer.Option("--strict", help="Exit with 3 when the answer has gaps.")]


HtmlOption = Annotated[
    str | None,
    typer.Option(
        "--html",
        metavar="FILE",
        show_default=False,
        callback=checked_target,
        help="Also write the answer as one self-contained page, drawn on the topology of the cluster.",
    ),
]


@dataclass(frozen=True, slots=True)
class ExplainAnswerOptions:
    """What is shown of an explanation, and how."""

    preemption: PreemptionOption = False
    output: ExplainOutputOption = None
    html: HtmlOption = None
    node: Annotated[
        list[str] | None,
        typer.Option(
            "--node", metavar="NAME", show_default=False, help="Explain this node in full, in sentences. Repeatable."
        ),
    ] = None
    by: Annotated[
        RowOf | None,
        typer.Option(
            "--by",
            case_sensitive=False,
            show_default=False,
            help="One row per node, or per domain (default: per domain on a terminal, above 10 nodes).",
        ),
    ] = None
    all_nodes: Annotated[
        bool, typer.Option("--all-nodes", help="Show every node in the table, however many there are.")
    ] = False
    pods: Annotated[bool, typer.Option("--pods", help="List the matching pods of each domain.")] = False
    sort: Annotated[Sort, typer.Option("--sort", case_sensitive=False, help="Order of the nodes.")] = Sort.SCORE
    no_headers: NoHeadersOption = False
    color: ColorOption = Color.AUTO
    strict: StrictOption = False


@dataclass(frozen=True, slots=True)
class SimulateAnswerOptions:
    """What is shown of a simulation, and how."""

    preemption: PreemptionOption = False
    output: SimulateOutputOption = None
    html: HtmlOption = None
    no_headers: NoHeadersOption = False
    color: ColorOption = Color.AUTO
    strict: StrictOption = False


@dataclass(frozen=True, slots=True)
class CompareAnswerOptions:
    """What is shown of a comparison, and how."""

    output: CompareOutputOption = None
    html: HtmlOption = None
    no_headers: NoHeadersOption = False
    color: ColorOption = Color.AUTO
    strict: StrictOption = False


@dataclass(frozen=True, slots=True)
class SurviveAnswerOptions:
    """What is shown of losses, and how."""

    output: SurviveOutputOption = None
    html: HtmlOption = None
    no_headers: NoHeadersOption = False
    color: ColorOption = Color.AUTO
    strict: StrictOption = False


@dataclass(frozen=True, slots=True)
class UpgradeAnswerOptions:
    """What is shown of an upgrade, and how."""

    output: UpgradeOutputOption = None
    html: HtmlOption = None
    no_headers: NoHeadersOption = False
    color: ColorOption = Color.AUTO
    strict: StrictOption = False


@dataclass(frozen=True, slots=True)
class PlayAnswerOptions:
    """What is shown of a scenario, and how."""

    output: PlayOutputOption = None
    html: HtmlOption = None
    no_headers: NoHeadersOption = False
    color: ColorOption = Color.AUTO
    strict: StrictOption = False


@dataclass(frozen=True, slots=True)
class MapAnswerOptions:
    """What is shown of a map, and how."""

    output: MapOutputOption = None
    html: HtmlOption = None
    no_headers: NoHeadersOption = False
    color: ColorOption = Color.AUTO
    strict: StrictOption = False


@dataclass(frozen=True, slots=True)
class CheckAnswerOptions:
    """What is shown of findings, and how."""

    output: CheckOutputOption = None
    html: HtmlOption = None
    no_headers: NoHeadersOption = False
    color: ColorOption = Color.AUTO
    strict: StrictOption = False


@dataclass(frozen=True, slots=True)
class CapacityAnswerOptions:
    """What is shown of a capacity, and how."""

    output: CapacityOutputOption = None
    html: HtmlOption = None
    no_headers: NoHeadersOption = False
    color: ColorOption = Color.AUTO
    strict: StrictOption = False


@dataclass(frozen=True, slots=True)
class AdviseAnswerOptions:
    """What is shown of the changes that suffice, and how."""

    output: AdviseOutputOption = None
    html: HtmlOption = None
    no_headers: NoHeadersOption = False
    color: ColorOption = Color.AUTO
    strict: StrictOption = False


@dataclass(frozen=True, slots=True)
class RemovableAnswerOptions:
    """What is shown of removable nodes, and how."""

    output: RemovableOutputOption = None
    html: HtmlOption = None
    no_headers: NoHeadersOption = False
    color: ColorOption = Color.AUTO
    strict: StrictOption = False


@dataclass(frozen=True, slots=True)
class PendingAnswerOptions:
    """What is shown of pods that are stuck, and how."""

    output: PendingOutputOption = None
    html: HtmlOption = None
    no_headers: NoHeadersOption = False
    color: ColorOption = Color.AUTO
    strict: StrictOption = False


@dataclass(frozen=True, slots=True)
class AuditAnswerOptions:
    """What is shown of an audit, and how."""

    output: AuditOutputOption = None
    html: HtmlOption = None
    why: Annotated[bool, typer.Option("--why", help="Show what was tried to find each cause, and what came of it.")] = (
        False
    )
    no_headers: NoHeadersOption = False
    color: ColorOption = Color.AUTO
    strict: StrictOption = False


@dataclass(frozen=True, slots=True)
class RebalanceAnswerOptions:
    """What is shown of a plan, and how."""

    output: RebalanceOutputOption = None
    html: HtmlOption = None
    no_headers: NoHeadersOption = False
    color: ColorOption = Color.AUTO
    strict: StrictOption = False


@dataclass(frozen=True, slots=True)
class SpeakingOptions:
    """How much is said beside the answer."""

    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="No notes on standard error.")] = False
    verbose: Annotated[
        int,
        typer.Option("-v", "--verbose", count=True, show_default=False, help="Print more detail to standard error."),
    ] = 0
    debug: Annotated[bool, typer.Option("--debug", help="Show a traceback when kubespread fails.")] = False
    """Read by main()."""
