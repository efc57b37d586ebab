"""Every module that holds rules of Kubernetes names the file and the function that they were read from."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kubespread.kube.versions import LATEST
from kubespread.scheduler.plugins.registry import default_plugins
from tools.releases import sources
from tools.releases.sources import modules, sources_of

ROOMS = (
    "controllers/",
    "kube/admission/",
    "kube/validation/",
    "questions/autoscaling/",
    "questions/check/rules/",
    "questions/simulate/gangs",
    "questions/rebalance/descheduler",
    "scheduler/",
)
WITHOUT_RULES = {
    "lists of what is elsewhere": ("controllers/registry.py",),
    "how a cluster is kept, not what happens in it": (
        "kube/pod_sharing.py",
        "scheduler/cluster/running.py",
        "scheduler/cluster/cluster.py",
        "scheduler/cluster/memo.py",
    ),
    "what providers and operators do, not Kubernetes": ("kube/providers.py",),
    "our own words and searches": ("questions/autoscaling/autoscale.py", "scheduler/causes.py"),
}


def test_every_rule_names_its_source() -> None:
    exempt = {module for listed in WITHOUT_RULES.values() for module in listed}
    without = {
        module
        for module in modules()
        if (module.startswith(ROOMS) or re.fullmatch(r"kube/\w+\.py", module))
        and not module.endswith("__init__.py")
        and not any(sources_of(module))
    }
    assert without - exempt == set(), "name a source, or say below why there is none"
    assert exempt - without == set(), "these have one, or are gone"


def test_every_source_is_named_in_one_shape() -> None:
    assert all(source.file for module in modules() for source in sources_of(module))


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("Source: pkg/a.go, First, second", []),
        ("Source: pkg/a.go, Method, Third,\n    Fourth", []),
        ("Source: other v1.2: pkg/b.go, Anything", []),
        ("Source: pkg/a.go", []),
        ("Source: pkg/b.go, First", ["rule.py: there is no pkg/b.go"]),
        ("Source: pkg/a.go, First, Fir", ["rule.py: pkg/a.go has no Fir"]),
    ],
)
def test_what_a_checkout_has_no_more_is_listed(
    line: str, found: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pkg").mkdir()
    code = "func First() {}\nvar second = 2\nfunc (p *Plugin) Method(x int) {}\ntype Third struct{}\nconst (\n\tFourth = 4\n)\n"
    (tmp_path / "pkg/a.go").write_text(code)
    (tmp_path / "rule.py").write_text(f'"""A rule.\n\n{line}\n"""\n')
    monkeypatch.setattr(sources, "PACKAGE", tmp_path)
    assert list(sources.missing(tmp_path)) == found


@pytest.mark.parametrize("line", ["Source: kube-scheduler, First", "Source: pkg/a.go (First)"])
def test_another_shape_is_refused(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rule.py").write_text(f'def rule() -> None:\n    """A rule.\n\n    {line}\n    """\n')
    monkeypatch.setattr(sources, "PACKAGE", tmp_path)
    with pytest.raises(ValueError, match="^rule.py: Source: "):
        list(sources.sources_of("rule.py"))


def test_default_plugins_that_a_checkout_has_otherwise_are_listed(tmp_path: Path) -> None:
    file = tmp_path / "pkg/scheduler/apis/config/v1/default_plugins.go"
    file.parent.mkdir(parents=True)
    ours = [plugin for plugin in default_plugins(LATEST).values() if not plugin.gate]
    rows = [
        f"{{Name: names.{plugin.name}, Weight: ptr.To[int32]({plugin.weight})}},"
        if plugin.weight
        else f"{{Name: names.{plugin.name}}},"
        for plugin in ours
    ]
    head, end = "func getDefaultPlugins() *v1.Plugins {\n", "\n}\n\nfunc other() {\n\t{Name: names.Gated}\n}\n"
    file.write_text(head + "\n".join(rows) + end)
    assert list(sources.other_plugins(tmp_path)) == []
    file.write_text(head + "\n".join(["{Name: names.New, Weight: ptr.To[int32](4)},", *rows]) + end)
    (said,) = sources.other_plugins(tmp_path)
    assert said.startswith(
        f"default plugins and their weights: {file.relative_to(tmp_path)} has New 4, SchedulingGates, "
    )
