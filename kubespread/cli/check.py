"""``kubespread check``: what is wrong with manifests, or with the workloads of a cluster."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from kubespread.cli.answering import Answering
from kubespread.cli.cluster import open_cluster
from kubespread.cli.exitcodes import ExitCode
from kubespread.cli.options.answer import AnswerOptions, SpeakingOptions, formats_of
from kubespread.cli.options.checking import CheckedClusterOptions, CheckedOptions, ManifestsArgument, RulesOptions
from kubespread.cli.options.grouped import grouped
from kubespread.cli.options.scheduler import SchedulerOptions
from kubespread.cli.pod import STDIN, is_piped
from kubespread.cli.stdout import emit
from kubespread.cli.waiting import waiting
from kubespread.errors import UsageError

if TYPE_CHECKING:
    from kubespread.candidate.kustomize import Kustomization
    from kubespread.snapshot.snapshot import Snapshot


@grouped
def check(
    manifest: ManifestsArgument = None,
    *,
    checked: CheckedOptions,
    rules: RulesOptions,
    scheduling: SchedulerOptions,
    answer: Annotated[AnswerOptions, formats_of("check")],
    source: CheckedClusterOptions,
    speaking: SpeakingOptions,
) -> int:
    """Find what will go wrong with topology spread constraints, each finding with a code, numbers and a remedy.

    Manifests are read and checked by themselves. With a cluster (-S, --context or --live) they are also tried on it:
    all replicas are placed, both as they are and with the remedy applied. The annotation kubespread.dev/ignore: KS101
    on a workload silences a rule. In GitHub Actions, the default format is annotations.

    \b
    Examples:
      kubespread check k8s/
      helm template chart | kubespread check -S cluster.json.gz
      kubespread check -S cluster.json.gz -A --fail-on warning
      kubespread check k8s/ -R -o sarif > kubespread.sarif
    """
    import kubespread
    from kubespread.views.check import rules as rules_text

    if rules.list_rules or rules.explain is not None:
        asked = kubespread.rules() if rules.explain is None else kubespread.rule(rules.explain)
        emit(rules_text.written(asked, answer.output, headers=not answer.no_headers))
        return ExitCode.YES
    if answer.output is None and os.environ.get("GITHUB_ACTIONS") == "true":
        answer = replace(answer, output="github")
    given = _given(manifest or [], checked, source, scheduling)
    opened = open_cluster(source, quiet=speaking.quiet) if _is_about_a_cluster(source, given) else _none(source)
    namespace = checked.namespace
    if not given and opened is not None and not checked.all_namespaces:
        namespace = namespace or opened.origin.namespace or "default"
    with waiting("checking workloads", quiet=speaking.quiet) as on_progress:
        report = kubespread.check(
            opened,
            given,
            scheduling.scheduler(),
            select=rules.select or (),
            ignore=rules.ignore or (),
            baseline=rules.baseline,
            fail_on=rules.fail_on,
            namespace=namespace,
            selector=checked.selector or "",
            recursive=checked.recursive,
            template_path=checked.template_path or "",
            on_progress=on_progress,
        )
    if rules.write_baseline is not None:
        kubespread.write_baseline(report, rules.write_baseline)
    answering = Answering(opened, scheduling.scheduler(), answer, speaking)
    # What is recorded as known is known from now on.
    return answering.give("check", report, is_yes=True if rules.write_baseline is not None else None)


def _given(
    words: list[str], checked: CheckedOptions, source: CheckedClusterOptions, scheduling: SchedulerOptions
) -> list[str | Kustomization]:
    """What is named, else what is piped in unless -A asks for the cluster. Raises UsageError and ManifestError."""
    from kubespread.candidate.inputs import check_inputs

    given = checked.given(words)
    if not given and not checked.all_namespaces and is_piped(source.sources):
        given = [STDIN]
    check_inputs(
        given,
        scheduling.scheduler_config,
        scheduling.kube_version,
        scheduling.feature_gates,
        choosing=checked.choosing(),
    )
    return given


def _is_about_a_cluster(source: CheckedClusterOptions, given: list[str | Kustomization]) -> bool:
    """Whether a cluster is named, or workloads of one are checked."""
    from kubespread.candidate.inputs import is_reference

    return source.is_named or not given or any(isinstance(each, str) and is_reference(each) for each in given)


def _none(source: CheckedClusterOptions) -> Snapshot | None:
    """No cluster. Raises UsageError for options that are about one."""
    edits = (f"--{text.partition(' ')[0]}" for text in source.texts())
    for option in (*edits, *source.reaching()):
        raise UsageError(f"{option} is for a cluster: name one with -S, --context or --live")
    return None
