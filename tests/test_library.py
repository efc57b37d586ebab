"""The functions of the library: what they can be asked is in their signatures, and nothing else is accepted."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kubespread
from kubespread.questions.calls import tools
from tests.builders import node, pod
from tests.cli.support import FIXTURES

FUNCTIONS: list[Callable[..., Any]] = [
    value for name in kubespread.__all__ if inspect.isfunction(value := getattr(kubespread, name))
]


STUBS = {
    each.name: each
    for each in ast.parse(Path(kubespread.__file__).with_suffix(".pyi").read_text()).body
    if isinstance(each, ast.FunctionDef)
}
"""The functions that ask a question, as editors see them."""


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_every_keyword_of_a_function_is_in_its_signature_and_its_documentation(function: Callable[..., Any]) -> None:
    parameters = inspect.signature(function).parameters.values()
    assert [each.name for each in parameters if each.kind is each.VAR_KEYWORD] == []
    keywords = [each.name for each in parameters if each.kind is each.KEYWORD_ONLY]
    if (stub := STUBS.get(function.__name__)) is None:
        documentation, untyped = (
            inspect.getdoc(function) or "",
            [each.name for each in parameters if each.annotation is each.empty],
        )
    else:
        documentation = ast.get_docstring(stub) or ""
        untyped = [each.arg for each in (*stub.args.args, *stub.args.kwonlyargs) if each.annotation is None]
        assert [each.arg for each in (*stub.args.args, *stub.args.kwonlyargs)] == [each.name for each in parameters]
    assert untyped == []
    assert [name for name in keywords if f"``{name}``" not in documentation] == []


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_a_keyword_that_a_function_does_not_have_is_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'namepsace'"):
        function(namepsace="shop")


CALLS: dict[str, tuple[tuple[object, ...], dict[str, object], str]] = {
    "nothing": ((), {}, "missing a required argument: 'before'"),
    "too little": ((1,), {}, "missing a required argument: 'after'"),
    "too much": ((1, 2, 3, 4), {}, "too many positional arguments"),
    "one twice": ((1, 2), {"after": 3}, "multiple values for argument 'after'"),
    "an unknown one": ((1, 2), {"before_that": 3}, "got an unexpected keyword argument 'before_that'"),
}


@pytest.mark.parametrize("case", CALLS)
def test_a_call_that_does_not_fit_is_refused(case: str) -> None:
    by_place, by_name, refusal = CALLS[case]
    compare: Callable[..., Any] = kubespread.compare
    with pytest.raises(TypeError) as raised:
        compare(*by_place, **by_name)
    assert str(raised.value) == f"compare() {refusal}"


def test_an_audit_of_a_mistyped_namespace_and_an_upgrade_in_mistyped_batches_do_not_run() -> None:
    snapshot = kubespread.Snapshot.from_objects([node("n1"), pod("web", on="n1")])
    with pytest.raises(TypeError, match="namepsace"):
        kubespread.audit(snapshot, namepsace="x")  # type: ignore[call-arg]  # what is shown
    with pytest.raises(TypeError, match="batches"):
        kubespread.upgrade(snapshot, "n1", batches=3)  # type: ignore[call-arg]  # what is shown


def test_a_scheduler_configuration_that_was_edited_is_read_again(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    scheduler, shop = kubespread.Scheduler(config=config), kubespread.load(FIXTURES / "clusters" / "three-zones.yaml")
    tool, question = tools()["explain"], {"manifest": (FIXTURES / "manifests" / "one-constraint-soft.yaml").read_text()}
    for weight in (7, 9):
        config.write_text(
            "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
            f"profiles:\n- plugins: {{multiPoint: {{enabled: [{{name: PodTopologySpread, weight: {weight}}}]}}}}\n"
        )
        report = kubespread.explain(shop, FIXTURES / "manifests" / "one-constraint-soft.yaml", scheduler)
        assert report.nodes[0].scores["PodTopologySpread"] == 100 * weight
        assert tool.call(shop, scheduler, question)["nodes"][0]["scores"]["PodTopologySpread"] == 100 * weight
    config.write_text("kind: [")
    with pytest.raises(kubespread.ManifestError, match=f"{config}:2: YAML syntax"):
        kubespread.explain(shop, FIXTURES / "manifests" / "one-constraint-soft.yaml", scheduler)
