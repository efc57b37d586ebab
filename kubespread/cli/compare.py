"""``kubespread compare``: one question on two sides, and what differs between the answers."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from kubespread.cli.cluster import open_cluster
from kubespread.cli.exitcodes import ExitCode
from kubespread.cli.notes import note_beside_each, note_source
from kubespread.cli.options.answer import AnswerOptions, SpeakingOptions, formats_of
from kubespread.cli.options.edits import EditedClusterOptions
from kubespread.cli.options.grouped import grouped
from kubespread.cli.options.sides import AfterOptions, ComparePlacingOptions, CompareSchedulerOptions, unedited
from kubespread.cli.options.workload import WorkloadOptions
from kubespread.cli.page import write_page
from kubespread.cli.pod import check_asked, pods_asked_about
from kubespread.cli.stderr import say
from kubespread.cli.stdout import emit, look_of_stdout, stdout_takes_tables
from kubespread.cli.waiting import waiting
from kubespread.errors import UsageError
from kubespread.views.formats import chosen_format

_NOTHING_DIFFERS = (
    "nothing to compare: give a second POD, a second --kube-version, an edit such as --cordon NODE, --set FIELD=VALUE, "
    "or a --to- option such as --to-snapshot PATH"
)


@grouped
def compare(
    pod: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[POD] [POD]",
            show_default=False,
            help="Manifest, '-' for standard input, or KIND/NAME in the cluster; a second one is what is asked about "
            "after. Default: standard input when piped, else pod.yaml.",
        ),
    ] = None,
    *,
    after: AfterOptions,
    placing: ComparePlacingOptions,
    workload: WorkloadOptions,
    scheduling: CompareSchedulerOptions,
    answer: Annotated[AnswerOptions, formats_of("compare")],
    source: EditedClusterOptions,
    speaking: SpeakingOptions,
) -> int:
    """Show what changes between BEFORE and AFTER: nodes that fit, scores, and where replicas land.

    BEFORE is what explain and simulate answer for the same arguments. AFTER is the same except for what you change: a
    second POD, --to- options, edits of the cluster (--cordon, --drain ...) and --set, in any combination.

    \b
    Examples:
      kubespread compare old.yaml new.yaml
      kubespread compare deploy/web --replicas 30 --drain zone=eu-west-1a --ignore-daemonsets
      kubespread compare web.yaml --set maxSkew[zone]=2 -S cluster.json.gz
      kubespread compare web.yaml -S monday.json.gz --to-snapshot tuesday.json.gz
      kubespread compare web.yaml --kube-version 1.36 --kube-version 1.37
      kubespread compare <(helm template shop ./v1) <(helm template shop ./v2) --name web
    """
    import kubespread

    edits, elsewhere, desired = source.edits(), after.cluster(source), placing.desired()
    sources = [*source.sources, *(elsewhere.sources if elsewhere is not None else ())]
    pods = pods_asked_about(pod, workload, sources)
    settings = workload.settings or []
    if len(pods) > 2:
        named = ", ".join([*map(str, pod or ()), *(workload.filename or ()), *(workload.kustomize or ())])
        raise UsageError(f"{len(pods)} PODs given ({named}): expected one, or two to compare")
    if len(pods) == 1 and not (after.is_given or scheduling.has_two_releases or edits or settings):
        raise UsageError(_NOTHING_DIFFERS)
    unchanged, changed = scheduling.before(), after.scheduling(scheduling)
    for options in (unchanged, changed):
        check_asked(pods, workload, options)
    opened = open_cluster(unedited(source), quiet=speaking.quiet)
    other = opened if elsewhere is None else open_cluster(elsewhere, quiet=speaking.quiet)
    now = other.edited(*edits)
    with waiting(quiet=speaking.quiet):
        report = kubespread.compare(
            kubespread.Side(opened, pods[0], unchanged.scheduler()),
            kubespread.Side(now, pods[-1], changed.scheduler(), settings),
            replicas=desired,
            from_scratch=placing.from_scratch,
            preemption=not placing.no_preemption,
            name=workload.name,
            namespace=workload.namespace,
            recursive=workload.recursive,
            template_path=workload.template_path or "",
        )
    chosen = chosen_format(answer.output, is_terminal=stdout_takes_tables())
    sides = {"before: ": (opened, report.before), "after: ": (other, report.after)}
    if not speaking.quiet:
        for cluster, side in sides.values() if speaking.verbose else ():
            note_source(cluster, side)
        note_beside_each([(prefix, side) for prefix, (_, side) in sides.items()], chosen)
        if not chosen.has_conclusion and not stdout_takes_tables():
            say(report.answer[0])
    look = look_of_stdout(color=answer.color, headers=not answer.no_headers)
    write_page(answer.html, report, now, changed.scheduler())
    emit(chosen.writers["compare"].load()(report, replace(look, in_full=speaking.verbose > 0)))
    if opened.faults or other.faults or (answer.strict and (report.before.gaps or report.after.gaps)):
        return ExitCode.NO_CLUSTER
    return ExitCode.YES if report.verdict == "yes" else ExitCode.NO
