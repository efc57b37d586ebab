"""Remedies of `check`, applied as they are printed: the finding is gone, and there is no new one."""

from __future__ import annotations

import re
from copy import deepcopy
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

import kubespread
from kubespread.questions.check import CheckFinding
from kubespread.wording import short_key
from tests.builders import Data, hosts, taint

ZONE, HOSTNAME = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
CODES = ("KS101", "KS105", "KS208", "KS302", "KS401")
BUDGETS: list[Data] = [
    {"maxUnavailable": 0},
    {"maxUnavailable": 1},
    {"maxUnavailable": "50%"},
    {"minAvailable": 1},
    {"minAvailable": 3},
    {"minAvailable": "100%"},
]

clusters = st.lists(st.sampled_from(["a", "b", "c"]), min_size=2, max_size=6).map(sorted)
constraints = st.fixed_dictionaries(
    {
        "maxSkew": st.integers(1, 2),
        "topologyKey": st.sampled_from([ZONE, ZONE, HOSTNAME]),
        "whenUnsatisfiable": st.sampled_from(["DoNotSchedule", "DoNotSchedule", "ScheduleAnyway"]),
        "labelSelector": st.sampled_from([{"matchLabels": {"app": "web"}}] * 3 + [{"matchLabels": {"app": "wbe"}}]),
    },
    optional={"nodeTaintsPolicy": st.just("Honor"), "matchLabelKeys": st.just(["pod-template-hash"])},
)


def alike(constraint: Data) -> tuple[str, str]:
    return constraint["topologyKey"], constraint["whenUnsatisfiable"]


_WEB: Data = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web"},
    "spec": {
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "main", "image": "x", "resources": {"requests": {"cpu": "1"}}}]},
        },
    },
}


@st.composite
def manifests(draw: st.DrawFn) -> list[Data]:
    """A Deployment and, some of the time, a budget of its pods and a NodePool for all zones."""
    spec = {
        "containers": [{"name": "main", "image": "x", "resources": {"requests": {"cpu": "1"}}}],
        "topologySpreadConstraints": draw(st.lists(constraints, min_size=1, max_size=2, unique_by=alike)),
    }
    web = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {
            "replicas": draw(st.integers(1, 7)),
            "selector": {"matchLabels": {"app": "web"}},
            "strategy": draw(st.sampled_from([{}, {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 1}}])),
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": spec},
        },
    }
    objects = [web]
    if draw(st.booleans()):
        selector = {"matchLabels": {"app": "web"}}
        objects.append(
            {
                "apiVersion": "policy/v1",
                "kind": "PodDisruptionBudget",
                "metadata": {"name": "web"},
                "spec": {"selector": selector, **draw(st.sampled_from(BUDGETS))},
            }
        )
    return objects


POOL = {
    "apiVersion": "karpenter.sh/v1",
    "kind": "NodePool",
    "metadata": {"name": "np"},
    "spec": {"template": {"spec": {"requirements": [{"key": ZONE, "operator": "In", "values": ["a", "b", "c"]}]}}},
}


def applied(objects: list[Data], finding: CheckFinding) -> list[Data]:
    """The objects with the remedy in them."""
    changed = deepcopy(objects)
    web, remedy = changed[0]["spec"], finding.remedy
    listed = web["template"]["spec"]["topologySpreadConstraints"]
    for setting in remedy.settings:
        field, key, value = re.fullmatch(r"(\w+)\[(.+)\]=(\w+)", setting).groups()  # type: ignore[union-attr]
        keys = ((str(place), short_key(each["topologyKey"])) for place, each in enumerate(listed))
        listed[next(place for place, names in enumerate(keys) if key in names)][field] = yaml.safe_load(value)
    position = re.search(r"topologySpreadConstraints\[(\d+)\]", finding.field)
    own = listed[int(position[1])] if position is not None else None
    for part in remedy.text.split("; "):
        if own is not None and "labelSelector: " in part:
            own["labelSelector"] = yaml.safe_load(part.partition("labelSelector: ")[2])
        if "matchLabelKeys: " in part:
            for each in [own] if part.endswith("on this constraint") else listed:
                if each is not None:
                    each["matchLabelKeys"] = ["pod-template-hash"]
        if part.startswith("maxUnavailable: 1") and "PodDisruptionBudget" in part:
            changed[1]["spec"].pop("minAvailable", None)
            changed[1]["spec"]["maxUnavailable"] = 1
        if part.startswith("topologyKey: ") and own is not None:
            own["topologyKey"] = part.removeprefix("topologyKey: ")
    return changed


def of(finding: CheckFinding) -> tuple[str, str]:
    return finding.code, finding.field


@settings(max_examples=15, deadline=None)
@given(zones=clusters, objects=manifests(), has_pool=st.booleans())
def test_a_remedy_ends_the_finding_and_makes_no_other(zones: list[str], objects: list[Data], has_pool: bool) -> None:
    cluster = kubespread.Snapshot.from_objects([*hosts(*zones), *([POOL] if has_pool else [])])
    before = kubespread.check(cluster, objects).findings
    for finding in before:
        if finding.code not in CODES:
            continue
        after = kubespread.check(cluster, applied(objects, finding)).findings
        assert of(finding) not in map(of, after), finding
        # A constraint that counts at last may have more wrong with it, which is said; so is it that replicas wait.
        told = (finding.remedy.outcome or "", "KS209" if finding.code == "KS208" else "")
        new = [
            each for each in after if of(each) not in map(of, before) and not any(each.code in text for text in told)
        ]
        assert not new, (finding, new)


counting = st.fixed_dictionaries(
    {
        "maxSkew": st.integers(1, 2),
        "topologyKey": st.sampled_from([ZONE, HOSTNAME]),
        "whenUnsatisfiable": st.just("DoNotSchedule"),
        "labelSelector": st.just({"matchLabels": {"app": "web"}}),
        "minDomains": st.integers(1, 4),
        "nodeTaintsPolicy": st.sampled_from(["Honor", "Ignore"]),
        "matchLabelKeys": st.sampled_from([[], ["pod-template-hash"]]),
    }
)


_COUNTED: Data = {"whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"app": "web"}}}
_BY_REVISION: list[Data] = [
    {"topologyKey": ZONE, "maxSkew": 2, "minDomains": 2, "nodeTaintsPolicy": "Honor", **_COUNTED},
    {"topologyKey": HOSTNAME, "maxSkew": 1, "matchLabelKeys": ["pod-template-hash"], **_COUNTED},
]


@settings(max_examples=25, deadline=None)
@given(
    zones=clusters,
    sizes=st.lists(st.sampled_from(["2", "4"]), min_size=6, max_size=6),
    listed=st.lists(counting, min_size=2, max_size=2, unique_by=alike),
    cpu=st.sampled_from(["1", "1500m"]),
    replicas=st.integers(2, 7),
    tainted=st.booleans(),
)
@example(zones=["a", "b", "c"], sizes=["4", "2", "4"], listed=_BY_REVISION, cpu="1", replicas=6, tainted=True)
def test_as_many_replicas_fit_as_a_remedy_says(
    zones: list[str], sizes: list[str], listed: list[Data], cpu: str, replicas: int, tainted: bool
) -> None:
    nodes = hosts(*zones)
    for each, size in zip(nodes, sizes, strict=False):
        each["status"]["allocatable"]["cpu"] = size
    if tainted:
        nodes[-1]["spec"]["taints"] = [taint("d")]
    web = deepcopy(_WEB)
    web["spec"]["replicas"] = replicas
    spec = web["spec"]["template"]["spec"]
    spec["topologySpreadConstraints"], spec["containers"][0]["resources"]["requests"]["cpu"] = listed, cpu
    cluster = kubespread.Snapshot.from_objects(nodes)
    for finding in kubespread.check(cluster, web).findings:
        remedy = finding.remedy
        said = re.match(r"(\d+) of \d+ replicas? fits?", remedy.outcome or "")
        if said is not None and (remedy.settings or remedy.edits):
            placed = kubespread.simulate(cluster.edited(*remedy.edits), web, set=remedy.settings).placed
            assert placed == int(said[1]), finding


@settings(max_examples=15, deadline=None)
@given(zones=clusters, objects=manifests())
def test_a_drain_hangs_in_play_where_a_finding_says_so(zones: list[str], objects: list[Data]) -> None:
    snapshot = kubespread.Snapshot.from_objects(hosts(*zones))
    found = kubespread.check(snapshot, objects, select=["KS302"]).findings
    with TemporaryDirectory() as directory:
        file = Path(directory) / "web.yaml"
        file.write_text(yaml.safe_dump_all(objects))
        assert bool(found) == any(hangs(snapshot, str(file), node.metadata.name) for node in snapshot.nodes)


def hangs(snapshot: kubespread.Snapshot, file: str, node: str) -> bool:
    """Whether pods of the workload, all of which found a node, are left on one that is drained."""
    steps = [{"apply": file}, {"drain": node}]
    scenario = {"apiVersion": "kubespread.dev/v1alpha1", "kind": "Scenario", "spec": {"steps": steps}}
    return any(pod.spec.node_name == node for pod in kubespread.after_steps(snapshot, scenario).pods)
