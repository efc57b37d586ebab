"""docs/operators.md: what becomes of the pods of operators."""

from __future__ import annotations

from kubespread.kube.api.kinds import OPERATORS

_HEAD = """# Workloads of operators

Made by `make docs` from `kubespread/kube/api/foreign.toml`.

A workload of any kind that controls pods is asked about as KIND/NAME (`strimzipodset/kafka`, `rollout/web`,
`cluster.postgresql.cnpg.io/db`). Its next pod is another one like its newest, with new claims where a claim is called
like its pod; where it has ReplicaSets, as an Argo Rollout, it is another pod of the newest one. Its wanted number of
pods is the one that it has.

What becomes of a pod that is lost is known of the kinds below, and of all that leave their pods to a Deployment, a
ReplicaSet, a StatefulSet or a Job. Of any other kind it is not known: the workload is short of a pod, and a verdict
that depends on it is unknown (exit code 3). The operator itself is not simulated: its budgets count as they are in the
cluster, and it moves no role from one pod to another.

| kind | a lost pod is made again | its name | its volumes | may switch over first | the budget it makes | said in |
|---|---|---|---|---|---|---|
"""


def page() -> str:
    return _HEAD + "".join(
        f"| {row.kind}.{row.group} | {'yes' if row.recreates else 'no: by its ReplicaSets'} "
        f"| {('the same' if row.keeps_name else 'a new one') if row.recreates else ''} "
        f"| {('the same' if row.keeps_volumes else 'new ones') if row.recreates else ''} "
        f"| {'yes' if row.may_switch_over else ''} | {row.budget} | [source]({row.source}) |\n"
        for row in OPERATORS.values()
    )
