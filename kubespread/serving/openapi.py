"""What may be asked over HTTP, as an OpenAPI document: made of the schemas that tools and reports have."""

from __future__ import annotations

from typing import Any

import msgspec

from kubespread import __version__
from kubespread.assistants.server import LEFT_OUT, SCHEMA, Tool, tools
from kubespread.questions.schema import schema

_ARGUMENTS = "#/components/schemas/{name}Arguments"
_ERROR = {"type": "object", "properties": {"error": {"type": "string"}}, "required": ["error"]}
_REFUSED = {
    "400": "what is wrong with the question",
    "401": "no token",
    "403": "another site asks",
    "503": "no cluster",
}


def document() -> dict[str, Any]:
    """OpenAPI 3.1: a path for each question, in the order in which people ask."""
    offered = tools()
    _, arguments = msgspec.json.schema_components([tool.question for tool in offered.values()], ref_template=_ARGUMENTS)
    reports = {report.__name__: report for tool in offered.values() for report in tool.reports}
    return {
        "openapi": "3.1.0",
        "info": {"title": "kubespread", "version": __version__},
        "security": [{"token": []}],
        "paths": {f"/ask/{tool.name}": {"post": _asked(tool)} for tool in offered.values()},
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {
                **{f"{name}Arguments": described for name, described in arguments.items()},
                # A schema with an id has its own definitions.
                **{name: {"$id": f"/schemas/{name}", **_report(report)} for name, report in reports.items()},
                "Error": _ERROR,
            },
        },
    }


def _report(report: Any) -> dict[str, Any]:
    described = schema(report)
    return {**described, "properties": {**described["properties"], LEFT_OUT: SCHEMA}}


def _asked(tool: Tool) -> dict[str, Any]:
    answers = [{"$ref": f"#/components/schemas/{report.__name__}"} for report in tool.reports]
    arguments = {"$ref": _ARGUMENTS.format(name=tool.question.__name__)}
    return {
        "operationId": tool.name,
        "summary": tool.description,
        "requestBody": {"content": {"application/json": {"schema": arguments}}},
        "responses": {
            "200": _response("what -o json prints", answers[0] if len(answers) == 1 else {"anyOf": answers}),
            **{code: _response(what, {"$ref": "#/components/schemas/Error"}) for code, what in _REFUSED.items()},
        },
    }


def _response(what: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": what, "content": {"application/json": {"schema": schema}}}
