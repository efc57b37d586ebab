"""``kubespread capacity``: what nodes have left, for how many pods of one size, and what is stranded."""

from __future__ import annotations

from typing import Annotated

from kubespread.cli.answering import Answering
from kubespread.cli.cluster import open_cluster
from kubespread.cli.options.answer import AnswerOptions, SpeakingOptions, formats_of
from kubespread.cli.options.capacity import CapacityOptions
from kubespread.cli.options.edits import EditedClusterOptions
from kubespread.cli.options.grouped import grouped
from kubespread.cli.options.scheduler import SchedulerOptions
from kubespread.cli.waiting import waiting


@grouped
def capacity(
    *,
    counting: CapacityOptions,
    scheduling: SchedulerOptions,
    answer: Annotated[AnswerOptions, formats_of("capacity")],
    source: EditedClusterOptions,
    speaking: SpeakingOptions,
) -> int:
    """Show what nodes have free, how much of it no pod can use and why, and how many pods of one size fit.

    Requests are those that kube-scheduler counts, including init containers, pod-level resources and overhead. With
    --request, copies of a pod without labels or constraints are placed until no more fit, with -f copies of a pod of a
    manifest; what is left is stranded for these. Without either, no size is guessed: only what no pod could use is
    stranded. The answer also says how many would fit if the pods tolerated the taints that keep them off.

    \b
    Examples:
      kubespread capacity
      kubespread capacity --request cpu=2,memory=4Gi --by zone
      kubespread capacity --request cpu=8,nvidia.com/gpu=1 --tolerate nvidia.com/gpu -S cluster.json.gz
      kubespread capacity -f deployment.yaml -n shop
      kubespread capacity --request cpu=2 --fail zone=a
    """
    import kubespread
    from kubespread.candidate.inputs import check_inputs

    if counting.filename is not None:
        check_inputs(
            [counting.filename], scheduling.scheduler_config, scheduling.kube_version, scheduling.feature_gates
        )
    opened = open_cluster(source, quiet=speaking.quiet)
    with waiting(quiet=speaking.quiet):
        report = kubespread.capacity(
            opened, counting.request, scheduling.scheduler(),
            pod=counting.filename, name=counting.name, namespace=counting.namespace,
            tolerate=counting.tolerate or (), node_selector=counting.node_selector or (), by=counting.by,
        )  # fmt: skip
    answering = Answering(opened, scheduling.scheduler(), answer, speaking)
    return answering.give("capacity", report)
