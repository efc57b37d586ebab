"""What a shell is told when a word is completed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kubespread.cli.commands import app
from kubespread.cli.completing import FILES, argument_of, options_of, read_line, split_line, takes_value
from kubespread.cli.setup import SCRIPTS, script
from tests.cli.support import FIXTURES, run
from tests.tiers import slow_but

SHOP = str(FIXTURES / "clusters" / "shop.yaml")
KUBECONFIG = """\
apiVersion: v1
kind: Config
clusters: [{name: c1, cluster: {server: "https://one.example"}}]
users: [{name: ann, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: ./never-run}}}]
contexts:
- {name: prod, context: {cluster: c1, user: ann, namespace: shop}}
- {name: "arn:aws:eks:eu-west-1:123:cluster/stage", context: {cluster: c1, user: ann}}
- {name: "$(touch pwned)", context: {cluster: c1, user: ann}}
"""
FREE = frozenset(
    {
        "1.X[.Y]",
        "KEY",
        "N",
        "N|all",
        "NAME",
        "NODES",
        "NODE=TAINT",
        "NODE=KEY=VALUE",
        "TIME",
        "LABELS",
        "FIELD=VALUE",
        "NAME=true|false,...",
        "N[:KEY]",
        "CODE",
        "CODES",
        "[NODES]...",
        "[NS/]KIND/NAME=N",
        "[NS/]POD",
        "[NS/]NAME:FIELD=VALUE",
        "RESOURCE=AMOUNT,...",
        "KEY[=VALUE][:EFFECT]",
        "[WORKLOAD]",
        "[WORKLOAD]...",
        "[[NS/]KIND/NAME=]KEY:SKEW[:soft]",
    }
)
"""What the help calls a value that cannot be completed."""


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    (tmp_path / "config").write_text(KUBECONFIG)
    return {"XDG_CACHE_HOME": str(tmp_path / "cache"), "KUBECONFIG": str(tmp_path / "config")}


def completed(home: dict[str, str], *words: str, shell: str = "zsh", **more: str) -> tuple[str, list[str]]:
    """The directives, and the candidates without their help."""
    result = run(*words, env={**home, "_KUBESPREAD_COMPLETE": shell, **more})
    assert (result.code, result.err) == (0, "")
    todo, *rows = result.out.splitlines()
    return todo, [row.partition("\t")[0] for row in rows]


CASES: dict[str, tuple[list[str], str, list[str]]] = {
    "a command": (["ex"], "", ["explain"]),
    "a question for a fleet": (["fleet", "-S", "f/*.json", "au"], "files", ["audit"]),
    "a question for files of a fleet": (["fleet", "f/a.json", "f/b.json", "au"], "files", ["audit"]),
    "an option of a fleet's question": (["fleet", "f/*", "audit", "--fail-on", "ri"], "", ["risk"]),
    "no cluster behind a fleet's question": (["fleet", "audit", "--snap"], "", []),
    "an option by its long name": (["explain", "--sn"], "", ["--snapshot"]),
    "not again what is given once": (["simulate", "--autoscaler", "ca", "--autosc"], "", []),
    "again what may be repeated": (["explain", "-S", SHOP, "--sn"], "", ["--snapshot"]),
    "an area of a report": (["report", "r"], "", ["running"]),
    "another area of a report": (["fleet", SHOP, "report", "losses", "dr"], "", ["drains"]),
    "a choice": (["simulate", "--autoscaler", ""], "", ["ca", "karpenter"]),
    "formats are those of the report": (
        ["survive", "-o", ""],
        "",
        ["table", "json", "yaml", "markdown", "name", "csv", "html", "sarif", "junit", "github", "prometheus"],
    ),
    "a value in the word of its option": (["simulate", "--autoscaler=k"], "", ["--autoscaler=karpenter"]),
    "a value behind its letter": (["explain", "-ojs"], "", ["-ojson"]),
    "files": (["explain", "-S", ""], "files", []),
    "no names of a cluster, but files": (["explain", "-S", SHOP, "dep"], "files", []),
    "no nodes of a cluster": (["survive", "-S", SHOP, "--drain", "c"], "", []),
    "contexts, but for one that a shell could read something into": (
        ["explain", "--context", ""],
        "",
        ["arn:aws:eks:eu-west-1:123:cluster/stage", "prod"],
    ),
    "a file of promises": (["verify", "prom"], "files", []),
    "manifests that are applied before": (["verify", "promises.yaml", "-f", "k8s/"], "files", []),
    "a shell": (["completion", "b"], "", ["bash"]),
    "nothing behind a command that is none": (["explian", "--so"], "", []),
    "no options behind --": (["explain", "--", "--so"], "files", []),
}


@pytest.mark.parametrize("case", slow_but([*CASES][::8], CASES))
def test_a_word_is_completed(case: str, home: dict[str, str]) -> None:
    words, todo, candidates = CASES[case]
    assert completed(home, *words) == (todo, candidates)


def test_help_stands_beside_commands_and_options(home: dict[str, str]) -> None:
    rows = run("explain", "--to", "--pod", env={**home, "_KUBESPREAD_COMPLETE": "fish"}).out.splitlines()
    assert rows == ["", "--pods\tList the matching pods of each domain."]


BASH = {
    "what stands behind a colon": ("--context arn:aws:eks:e", "e", ["eu-west-1:123:cluster/stage"]),
    "what stands behind an equals sign": ("--context=p", "p", ["prod"]),
    "nothing yet behind an equals sign": ("--context=", "=", ["arn:aws:eks:eu-west-1:123:cluster/stage", "prod"]),
    "in a quote the whole": ("--context 'arn:aws:eks:e", "'arn:aws:eks:e", ["arn:aws:eks:eu-west-1:123:cluster/stage"]),
    "behind a quoted path": (f"-S '{SHOP}' -o js", "js", ["json"]),
}


@pytest.mark.parametrize("case", BASH)
def test_bash_replaces_only_what_stands_behind_its_last_break(case: str, home: dict[str, str]) -> None:
    typed, word, candidates = BASH[case]
    line = {"_KUBESPREAD_LINE": f"kubespread explain {typed}", "_KUBESPREAD_WORD": word}
    assert completed(home, shell="bash", **line) == ("", candidates)


def test_every_value_comes_from_somewhere_or_cannot_be_known() -> None:
    """A new option says here what completes it, or that nothing can."""
    fleet: Any = app.commands["fleet"]
    commands = [*fleet.commands.values(), *app.commands.values()]
    unknown = [
        (command.name, each.name)
        for command in commands
        for each in (*filter(takes_value, options_of(command)), *filter(None, [argument_of(command)]))
        if not (each.choices or each.words or each.name == "context" or each.metavar in FILES | FREE)
    ]
    assert unknown == []


@pytest.mark.parametrize("shell", SCRIPTS)
def test_the_script_is_printed_whole(shell: str) -> None:
    printed = run("completion", shell).out
    assert printed == script(shell)
    assert "_KUBESPREAD_COMPLETE" in printed


LINES: dict[str, tuple[list[str], str, str, str]] = {
    "a flag takes no word": (["explain", "-q", ""], "explain", "pod", ""),
    "the last of several letters takes the word": (["explain", "-qvn", "sh"], "explain", "namespace", "sh"),
    "a value may begin like an option": (
        ["explain", "-n", "--x", "--kube-version", "1"],
        "explain",
        "kube_version",
        "1",
    ),
    "an empty value is one": (["explain", "--name=", "p"], "explain", "pod", "p"),
    "a lone dash is standard input": (["explain", "-", "--node", ""], "explain", "nodes", ""),
}


@pytest.mark.parametrize("case", LINES)
def test_a_line_is_read_as_far_as_it_goes(case: str) -> None:
    words, command, parameter, word = LINES[case]
    line = read_line(words)
    assert line.parameter is not None
    assert (line.command.name, line.parameter.name, line.word) == (command, parameter, word)


SPLIT = {
    "kubespread ": ["kubespread", ""],
    "kubespread ex": ["kubespread", "ex"],
    "kubespread 'a b' \"c": ["kubespread", "a b", "c"],
    r"kubespread a\ b": ["kubespread", "a b"],
    "kubespread --x=y:z": ["kubespread", "--x=y:z"],
    "": [""],
}


@pytest.mark.parametrize("line", SPLIT)
def test_bashs_line_is_split_into_the_programs_words(line: str) -> None:
    assert split_line(line) == SPLIT[line]
