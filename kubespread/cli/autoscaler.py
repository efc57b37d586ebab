"""``kubespread autoscaler``: what there is to tell an autoscaler's simulation that a cluster does not tell itself."""

from __future__ import annotations

from typing import Annotated

import typer

from kubespread.cli.cluster import open_cluster
from kubespread.cli.exitcodes import ExitCode
from kubespread.cli.notes import note_cluster
from kubespread.cli.options.grouped import grouped
from kubespread.cli.options.groups import EditedClusterOptions, SpeakingOptions
from kubespread.cli.streams import emit, say
from kubespread.errors import UsageError


@grouped
def autoscaler(
    *,
    types_from_nodes: Annotated[
        bool, typer.Option("--types-from-nodes", help="Print an entry for each instance type that nodes have.")
    ] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 3 when something could not be read.")] = False,
    source: EditedClusterOptions,
    speaking: SpeakingOptions,
) -> int:
    """Print what the running nodes tell of their instance types, to be completed as a file for --instance-types.

    An entry has the label node.kubernetes.io/instance-type of its nodes as its name, the least that one of them offers
    pods, and those of their labels that are about the machine. Add the types that no node has yet, and prices.

    \b
    Examples:
      kubespread autoscaler --types-from-nodes > types.yaml
      kubespread autoscaler --types-from-nodes -S cluster.json.gz > types.yaml
      kubespread simulate web.yaml --replicas 40 --autoscaler karpenter --instance-types types.yaml
    """
    if not types_from_nodes:
        raise UsageError("what to print is missing: kubespread autoscaler --types-from-nodes")
    import kubespread
    from kubespread.scenario.instance_types import as_text, types_of_nodes

    opened = open_cluster(source, quiet=speaking.quiet)
    if speaking.verbose and not speaking.quiet:
        note_cluster(opened)
    after, notes = kubespread.after_edits(opened)
    types, untold = types_of_nodes(after.nodes)
    if not types:
        raise UsageError("no node has the label node.kubernetes.io/instance-type, so nothing is known of any type")
    emit(as_text(types))
    for line in (*notes, *([f"{untold} without the label node.kubernetes.io/instance-type"] if untold else [])):
        if not speaking.quiet:
            say(line)
    return ExitCode.NO_CLUSTER if opened.faults or (strict and opened.origin.gaps) else ExitCode.YES
