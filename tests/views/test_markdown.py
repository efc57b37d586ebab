"""Markdown, as a parser of it reads it: what is text stays text, and the rows are the report's."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

import kubespread
from kubespread.escaping import escape
from kubespread.views.look import Look
from kubespread.views.markdown import inline, markdown, paragraph
from tests.builders import hard, node, pod
from tests.views.clusters import HOSTNAME, candidate, cluster
from tests.views.test_formats import ANSWERS
from tests.views.test_page import HOSTILE, hostile_cluster

READER = MarkdownIt("commonmark", {"html": True}).enable("table").enable("strikethrough")


def answer_of(kind: str) -> Any:
    answer: Any = ANSWERS[kind]
    return answer


def tokens(text: str) -> list[Token]:
    """Blocks, and what is in them."""
    return [each for block in READER.parse(text) for each in (block, *(block.children or ()))]


def plain(text: str) -> str:
    """What is read where ``text`` stands in a cell; comments and entities are no text."""
    row = READER.parse(f"| head |\n| --- |\n| {text} |\n")
    inside = [token for token in row if token.type == "inline"][-1]
    assert {each.type for each in inside.children or ()} <= {"text", "html_inline", "text_special"}
    kept = [each.content for each in inside.children or () if each.type != "html_inline"]
    comments = {each.content for each in inside.children or () if each.type == "html_inline"}
    assert comments <= {"<!-- -->"}
    return "".join(kept)


@pytest.mark.parametrize(
    "text",
    [
        "a|b",
        "`rm -rf`",
        "*bold* _it_ ~~gone~~",
        "[x](http://evil.example)",
        "<img src=x>",
        "&lt;",
        "\\",
        "a\\|b",
        "https://evil.example/",
        "www.evil.example",
        "@somebody",
        "#12",
        "org/repo#12",
        ":x: :+1:",
        "$x$",
        HOSTILE,
        "line\nbreak",
        "\u202eturned",
        "dedicated=gpu:NoSchedule",
        "10.0.0.1:8080",
    ],
)
def test_text_of_somebody_elses_is_text(text: str) -> None:
    assert plain(inline(text)) == escape(text)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=30))
def test_any_text_is_text(text: str) -> None:
    assert plain(inline(text)).split() == escape(text).split()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("@somebody", "@<!-- -->somebody"),
        ("see #12", "see #<!-- -->12"),
        (":x:", ":<!-- -->x:"),
        ("https://a.example", "https:<!-- -->//a.example"),
        ("www.a.example", "www<!-- -->.a.example"),
        ("gpu:NoSchedule", "gpu:NoSchedule"),
        ("2 > 1", "2 > 1"),
    ],
)
def test_what_github_would_link_or_turn_into_a_picture_is_broken_up(text: str, shown: str) -> None:
    assert inline(text) == shown


@pytest.mark.parametrize("kind", ANSWERS)
def test_every_report_is_a_headline_an_answer_and_tables(kind: str) -> None:
    text = markdown(answer_of(kind), Look())
    kinds = [token.type for token in tokens(text)]
    assert (kinds[0], kinds.count("heading_open"), "table_open" in kinds) == ("heading_open", 1, True)
    assert text.count("<details>") == text.count("</details>")


def test_hostile_names_make_no_markup() -> None:
    snapshot = hostile_cluster()
    text = markdown(kubespread.explain(snapshot, candidate(1)), Look())
    found = tokens(text)
    assert not {token.type for token in found} & {"link_open", "image", "fence", "code_inline"}
    raw = {token.content.strip() for token in found if token.type == "html_inline"}
    assert raw <= {"<!-- -->", "<sub>", "</sub>"}


def test_a_large_cluster_fits_into_a_comment_and_says_what_is_left_out() -> None:
    report = kubespread.explain(cluster(500, "aws"), candidate(4))
    text = markdown(report, Look())
    assert len(text) < 65_536
    assert "<details><summary>Nodes (500)</summary>" in text
    assert "and 450 more rows" in text
    assert markdown(report, Look(in_full=True)).count("\n| ip-10") > 500


def test_however_long_names_are_and_however_many_tables_there_are_it_fits_into_a_comment() -> None:
    long = "n" * 240
    nodes = [node(f"{long}-{number:03}", cpu="64") for number in range(60)]
    for each in nodes:
        each["metadata"]["labels"] = {HOSTNAME: each["metadata"]["name"]}
    pods = [pod(f"web-{number}", constraints=[hard(HOSTNAME)]) for number in range(20)]
    reports = kubespread.simulate(kubespread.Snapshot.from_objects(nodes), pods, 1)
    text = markdown(reports, Look())
    assert len(text) < 65_536
    assert text.endswith("parts of this answer left out, for which a comment has no room; `-v` gives all\n")
    assert text.count("<details>") == text.count("</details>")
    assert len(markdown(reports, Look(in_full=True))) > 65_536


def test_the_rows_are_the_reports() -> None:
    report = kubespread.explain(cluster(12, "aws"), candidate(1))
    rows = [line for line in markdown(report, Look()).splitlines() if line.startswith("| ip-")]
    assert [row.split(" | ")[0].removeprefix("| ") for row in rows] == [node.name for node in report.nodes]
    assert rows[0].split(" | ")[1:4] == ["yes", "0+1−0 = 1", str(report.nodes[0].total)]


def test_paragraphs_begin_no_list_quote_or_heading() -> None:
    for text in ("1. first", "- item", "# head", "> quote", "+ more", "=====", "12) twelfth"):
        kinds = {token.type for token in tokens(f"{paragraph(text)}\n")}
        assert kinds <= {"paragraph_open", "inline", "text", "text_special", "html_inline", "paragraph_close"}


@pytest.mark.parametrize("kind", ANSWERS)
def test_no_table_has_more_columns_than_one_can_read(kind: str) -> None:
    for line in markdown(answer_of(kind), Look(in_full=True)).splitlines():
        if line.startswith("| --- "):
            assert line.count(" --- ") + line.count(" ---: ") <= 7


def test_the_columns_for_which_there_is_no_room_are_folded_and_none_is_lost() -> None:
    report = kubespread.capacity(cluster(12, "aws"), "cpu=1,ephemeral-storage=1Gi")
    text = markdown(report, Look(in_full=True))
    assert "<details><summary>Domains: " in text
    heads = {cell.strip() for line in text.splitlines() if line.startswith("| Domain |") for cell in line.split("|")}
    amounts = {f"{name} {what}" for name in ("cpu", "memory", "ephemeral-storage") for what in ("used", "free")}
    assert {"Nodes", "Fits", *amounts} <= heads
