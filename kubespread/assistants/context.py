"""What is offered beside the tools: what the cluster is made of, to be read, and the questions that people ask most."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kubespread.errors import KubespreadError, UsageError
from kubespread.kube.api.kinds import KINDS
from kubespread.questions.registry import QUESTIONS
from kubespread.questions.registry import question as question_of

if TYPE_CHECKING:
    from mcp import types

    from kubespread.snapshot.snapshot import Snapshot

OVERVIEW = "kubespread://cluster"
_ARGUMENT = re.compile(r"\{(\w+)\}")


def overview(snapshot: Snapshot) -> Mapping[str, Any]:
    """Where the cluster comes from, how many objects of each kind there are, and what is known to be missing."""
    origin = snapshot.origin
    return {
        "source": origin.source,
        "time": origin.time,
        "kubeVersion": origin.release,
        "objects": {row.kind: number for row in KINDS if row.is_kept and (number := len(snapshot.of_kind(row)))},
        "namespaces": sorted({pod.metadata.namespace for pod in snapshot.pods}),
        "gaps": [*origin.gaps, *origin.unread.values(), *snapshot.faults],
    }


def resources() -> Sequence[types.Resource]:
    from mcp import types

    about = "Where the cluster comes from, how many objects of each kind it has, its namespaces, and what is missing."
    return [types.Resource(name="cluster", uri=OVERVIEW, description=about, mime_type="application/json")]


def prompts() -> Iterator[types.Prompt]:
    """One for each question that has a text for it."""
    from mcp import types

    for name in QUESTIONS:
        question = question_of(name)
        if question.prompt:
            arguments = [
                types.PromptArgument(name=argument, required=True) for argument in _ARGUMENT.findall(question.prompt)
            ]
            yield types.Prompt(name=name, description=question.summary, arguments=arguments)


def prompt(name: str, arguments: Mapping[str, str]) -> types.GetPromptResult:
    """What a person asks who takes it. Raises UsageError for one that there is not, or for arguments that are not
    its own.
    """
    from mcp import types

    text = question_of(name).prompt if name in QUESTIONS else ""
    if not text:
        raise UsageError(f"unknown prompt {name!r}; the prompts are {', '.join(each.name for each in prompts())}")
    if set(arguments) != set(_ARGUMENT.findall(text)):
        raise UsageError(f"prompt {name!r} takes {', '.join(_ARGUMENT.findall(text)) or 'no arguments'}")
    # Not formatted, since what is given may hold braces.
    asked = _ARGUMENT.sub(lambda match: arguments[match[1]], text)
    content = types.TextContent(type="text", text=f"{asked} Name what the answer leaves out: gaps, notModelled.")
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=content)])


def handlers(read: Callable[[], Snapshot], limiter: Any) -> Mapping[str, Any]:
    """The arguments of the protocol's server for these. ``read`` returns the cluster, in a thread of ``limiter``."""
    import anyio
    from mcp import types
    from mcp.shared.exceptions import MCPError

    async def list_resources(_context: Any, _params: Any) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=[*resources()])

    async def read_resource(_context: Any, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        if params.uri != OVERVIEW:
            raise MCPError(types.INVALID_PARAMS, f"unknown resource {params.uri!r}; there is {OVERVIEW}")
        try:
            snapshot = await anyio.to_thread.run_sync(read, limiter=limiter, abandon_on_cancel=True)
        except KubespreadError as error:
            raise MCPError(types.INTERNAL_ERROR, str(error)) from None
        text = json.dumps(overview(snapshot), ensure_ascii=False)
        content = types.TextResourceContents(uri=params.uri, mime_type="application/json", text=text)
        return types.ReadResourceResult(contents=[content])

    async def list_prompts(_context: Any, _params: Any) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[*prompts()])

    async def get_prompt(_context: Any, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        try:
            return prompt(params.name, params.arguments or {})
        except UsageError as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from None

    return {
        "on_list_resources": list_resources,
        "on_read_resource": read_resource,
        "on_list_prompts": list_prompts,
        "on_get_prompt": get_prompt,
    }
