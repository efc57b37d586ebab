"""The pod's node affinity leaves some domains out of a hard constraint.

Domains are those of nodes that the pod's nodeSelector and required node affinity admit (`nodeAffinityPolicy: Honor`).
Nodes chosen for another reason, such as an instance type or a pool, may exist in some zones only: replicas are then
spread over fewer zones than the cluster has, and losing a zone takes a larger share of them.

Example: nodes with disk=ssd exist in zones a and b of three.

```yaml
nodeSelector: {disk: ssd}
topologySpreadConstraints:
- maxSkew: 1
  topologyKey: topology.kubernetes.io/zone
  whenUnsatisfiable: DoNotSchedule
  labelSelector: {matchLabels: {app: web}}
```

Remedy: none where that is intended; otherwise nodes of that kind in every zone, or a wider affinity. With
`nodeAffinityPolicy: Ignore` the other domains count though no replica can go there, and replicas wait (KS203).
"""

from __future__ import annotations

from collections.abc import Iterator

from kubespread.kube.well_known import HOSTNAME
from kubespread.questions.check.lint.rule import Case, ClusterRule, RuleFinding
from kubespread.questions.check.lint.trial import ReplicaTrial, by_domain, counted, domains, domains_of, listed
from kubespread.questions.check.report import Remedy, Severity
from kubespread.reports.judged_nodes import EXCLUDED
from kubespread.wording import verb_of


def check(case: Case, trial: ReplicaTrial) -> Iterator[RuleFinding]:
    """Source: pkg/scheduler/framework/plugins/podtopologyspread/common.go, matchNodeInclusionPolicies"""
    excluded, count = trial.barred.get(EXCLUDED), trial.placed.count
    if excluded is None:
        return
    for declared, hard in case.hard(trial):
        # Every affinity leaves nodes out.
        if declared.key == HOSTNAME or not declared.constraint.honors_affinity:
            continue
        eligible = domains(hard)
        left_out = [domain for domain in domains_of(hard, excluded) if domain not in eligible]
        # A single domain is a finding of its own.
        if len(eligible) < 2 or not left_out:
            continue
        landed = trial.placed.by_domain(declared.key)
        message = (
            f"the pod's node affinity leaves {len(eligible)} of {len(eligible) + len(left_out)} domains (not "
            f"{listed(left_out)}): {counted(count, 'replica')} {verb_of(count, 'land')} "
            f"{by_domain({domain: landed[domain] for domain in eligible})}"
        )
        add = f"add nodes that its affinity allows in {declared.name} {listed(left_out)}"
        yield RuleFinding(declared.path, message, Remedy(text=f"nothing, if that is intended; otherwise {add}"))


RULE = ClusterRule("KS206", "fewer-domains", Severity.INFO, check)
