"""Help: what a command does fits a screen, and a word that is no command says what to type."""

from __future__ import annotations

import re
import shlex

import pytest

from kubespread.cli import command as helping
from kubespread.cli.commands import app
from kubespread.questions.registry import EVERYDAY, QUESTIONS
from kubespread.snapshot.edits.registry import EDITS
from tests.cli.support import run

COMMANDS = [*app.commands]


NEEDED = {
    **{("plan", purpose): "scenario.yaml" for purpose in helping.EXAMPLES},
    **{("upgrade", purpose): "pool=a" for purpose in helping.EXAMPLES},
    ("compare", "Workers"): "-A",
}
"""What examples of options are without effect, or wrong, without."""


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_at_most_sixty_lines_and_an_example_of_each_purpose(command: str) -> None:
    short, full = (run(command, flag, env={"COLUMNS": "80"}).out for flag in ("--help", "--help-all"))
    assert short.count("\n") <= 60
    if "--help-all" not in short:
        assert command not in QUESTIONS
        return
    headings = {line for line in full.splitlines() if re.fullmatch(r"[A-Z].*:", line)}
    purposes = short.partition("By purpose")[2].partition(":\n")[2].partition("\n\n")[0].splitlines()
    examples = dict(re.split(r"  +", line.strip(), maxsplit=1) for line in purposes)
    own = {"Arguments:", "Options:", "Examples:", "Commands:"}
    assert {heading for heading in headings - own if not heading.startswith(tuple(examples))} == set()
    for purpose in {*examples} - {"Not modeled"}:
        made = app.commands[command]
        words = f"{examples[purpose]} {NEEDED.get((command, purpose), '')}"
        assert made.make_context(command, shlex.split(words)).params


def test_ten_commands_are_listed_and_all_others_are_named() -> None:
    sections = dict(part.split(":\n", 1) for part in run("--help").out.split("\n\n") if ":\n" in part)
    listed = {heading: re.findall(r"^  (\w+)  ", rows, re.MULTILINE) for heading, rows in sections.items()}
    assert listed == {"Options": [], "Commands": [*EVERYDAY], "More": [], "Set up": []}
    assert len(EVERYDAY) == 10
    more = " ".join(sections["More"].split())
    named = re.findall(r"(?:^|\), )(\w+) \(", more), sections["Set up"].strip().split(", ")
    assert named == (
        ["plan", "compare", "rebalance", "map", "verify", "fleet", "snapshot", "serve"],
        ["mcp", "rbac", "completion", "demo"],
    )
    assert {*EVERYDAY, *named[0], *named[1]} == {*COMMANDS}


def options_of(command: str) -> set[str]:
    """The names of its options; one with two forms has the first."""
    made = app.commands[command]
    params = made.get_params(made.make_context(command, ["--help-all"], resilient_parsing=True))
    return {param.opts[-1] for param in params if param.param_type_name == "option"}


def test_there_are_no_more_options_than_anybody_learns() -> None:
    options = {command: options_of(command) for command in COMMANDS}
    assert max(len(own) for own in options.values()) <= 45
    assert len(set[str]().union(*options.values())) <= 95


@pytest.mark.parametrize("verb", [verb for verb in EDITS if EDITS[verb].form.option])
def test_a_change_of_the_cluster_is_no_command_but_an_option(verb: str) -> None:
    assert run(verb, "a") == (
        2,
        "",
        f"error: {verb} is not a command: a change of the cluster is an option of any question, as in kubespread "
        f"pending --{verb} ... (see 'kubespread --help')\n",
    )


@pytest.mark.parametrize(
    ("word", "instead"),
    {
        "version": "kubespread --version",
        "help": "kubespread --help, or kubespread COMMAND --help",
        "rollout": "kubespread plan 'rollout WORKLOAD'",
        "delete-pods": "kubespread plan 'delete-pods ...'",
        "diff": "kubespread compare BEFORE AFTER",
    }.items(),
)
def test_a_word_of_another_tool_says_what_to_type(word: str, instead: str) -> None:
    assert run(word).err == f"error: {word} is not a command: type {instead} (see 'kubespread --help')\n"


ASKED = ("explain", "fixtures/manifests/two-constraints.yaml", "-S", "fixtures/clusters/docs-4-nodes.yaml", "-q")


@pytest.mark.parametrize("typed", [["-o=name"], ["-oname"], ["-o", "name"], ["--output=name"]])
def test_a_short_option_takes_its_value_as_in_kubectl(typed: list[str]) -> None:
    assert run(*ASKED, *typed) == (0, "node4\n", "")


def test_words_after_two_hyphens_are_no_options() -> None:
    assert "-o=name" in run("explain", "-S", "fixtures/clusters/docs-4-nodes.yaml", "--", "-o=name").err
