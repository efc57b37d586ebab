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
      helm template chart | kubespread check -S cluster.json.gz -
      kubespread check -S cluster.json.gz -A --fail-on warning
      kubespread check k8s/ -R -o sarif > kubespread.sarif
    """
    import kubespread
    from kubespread.render.check import rules as rules_text
    from kubespread.render.check.conclusion import conclusion

    if rules.list_rules or rules.explain is not None:
        asked = kubespread.rules() if rules.explain is None else kubespread.rule(rules.explain)
        emit(rules_text.written(asked, answer.output, headers=not answer.no_headers))
        return ExitCode.YES
    if answer.output is None and os.environ.get("GITHUB_ACTIONS") == "true":
        answer = replace(answer, output="github")
    given = _given(manifest or [], checked, source, scheduling)
    opened = open_cluster(source, quiet=speaking.quiet) if source.is_named or not given else _none(source)
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
            namespace=namespace,
            selector=checked.selector or "",
            recursive=checked.recursive,
            template_path=checked.template_path or "",
            on_progress=on_progress,
        )
    if rules.write_baseline is not None:
        kubespread.write_baseline(report, rules.write_baseline)
    answering = Answering(opened, scheduling.scheduler(), answer, speaking)
    is_yes = rules.write_baseline is not None or not report.reaches(rules.fail_on)
    return answering.give("check", report, conclusion(report), is_yes=is_yes)


def _given(
    words: list[str], checked: CheckedOptions, source: CheckedClusterOptions, scheduling: SchedulerOptions
) -> list[str | Kustomization]:
    """What is named, or piped in where no cluster is. Raises UsageError and ManifestError."""
    from kubespread.candidate.inputs import check_inputs

    given = checked.given(words)
    if not given and not (source.is_named or checked.all_namespaces) and is_piped(source.sources):
        given = [STDIN]
    if [*given, *source.sources].count(STDIN) > 1:
        raise UsageError("standard input can be read only once: MANIFEST and --snapshot both ask for it")
    check_inputs(
        given,
        scheduling.scheduler_config,
        scheduling.kube_version,
        scheduling.feature_gates,
        recursive=checked.recursive,
    )
    return given


def _none(source: CheckedClusterOptions) -> Snapshot | None:
    """No cluster. Raises UsageError where one was to be edited."""
    if source.texts():
        raise UsageError("edits need a cluster: name one with -S, --context or --live")
    return None
