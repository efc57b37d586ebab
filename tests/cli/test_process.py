"""Where a process of its own matters: shells, pipes, terminals, signals and what a start imports."""

from __future__ import annotations

import fcntl
import gzip
import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import termios
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from kubespread import __version__
from kubespread.manifest.objects import read_documents
from tests.builders import hosts
from tests.cli.support import (
    CLUSTER,
    FIXTURES,
    POD,
    PROGRAM,
    ROOT,
    children_of,
    environment,
    run,
    run_process,
    shell,
    shown_on,
    started,
)
from tests.world.clusters import deployment


def test_the_answer_is_alone_on_standard_output_and_the_exit_code_is_its_own() -> None:
    conflict = str(FIXTURES / "clusters" / "docs-conflict.yaml")
    cases = {CLUSTER: 0, conflict: 1, "missing.yaml": 3}
    for cluster, code in cases.items():
        alone = run_process("explain", POD, "-S", cluster)
        assert (alone.code, alone) == (code, run("explain", POD, "-S", cluster))


def test_without_a_command_the_help_is_an_error() -> None:
    assert run_process() == (2, "", run_process("--help").out)


def test_version() -> None:
    result = run_process("--version")
    assert (result.code, result.out, result.err) == (0, f"kubespread {__version__}\n", "")


NOT_IMPORTED = {
    "--version imports no command, and nothing that reads": (
        ["--version"],
        ["kubespread.cli.asking", "kubespread.views.formats", "msgspec", "numpy", "yaml", "rich"],
    ),
    "a command imports no other, no controllers where nothing is edited, no cache for a small cluster, no YAML for JSON": (
        ["explain", POD, "-S", CLUSTER, "-o", "name"],
        [
            "kubespread.questions.simulate.answer",
            "kubespread.world.events.world",
            "kubernetes",
            "rich.console",
            "kubespread.snapshot.files.decoded",
            "yaml",
        ],
    ),
}


def as_json(file: Path, directory: Path) -> str:
    written = directory / f"{file.stem}.json"
    written.write_text("\n".join(map(json.dumps, read_documents(file.read_bytes()))))
    return str(written)


@pytest.mark.parametrize("case", NOT_IMPORTED)
def test_what_a_start_does_without(case: str, tmp_path: Path) -> None:
    words, spared = NOT_IMPORTED[case]
    read = [as_json(Path(word), tmp_path) if word in (POD, CLUSTER) else word for word in words]
    command = [sys.executable, "-X", "importtime", str(PROGRAM), *read]
    done = subprocess.run(command, capture_output=True, text=True, env=environment(), timeout=60, check=True)
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert ("typer" in imported, imported & {*spared}) == (True, set())


@pytest.mark.parametrize(
    "command",
    [
        'kubespread explain "$POD" -S "$CLUSTER" -o json -q | jq -r .feasible[0]',
        'kubespread explain - -S "$CLUSTER" -o name -q < "$POD"',
    ],
)
def test_shell_idioms(command: str) -> None:
    if "jq" in command and shutil.which("jq") is None:
        command = command.replace(
            "jq -r .feasible[0]", "python3 -c 'import json, sys; print(json.load(sys.stdin)[\"feasible\"][0])'"
        )
    result = shell(f"set -o pipefail; {command}")
    assert (result.code, result.out, result.err) == (0, "node4\n", "")


@pytest.mark.parametrize(
    ("arguments", "around"),
    [
        pytest.param(["-S", CLUSTER], {"stdin": Path(POD).read_bytes()}, id="cat pod | explain"),
        pytest.param([POD, "-S", "-"], {"stdin": Path(CLUSTER).read_bytes()}, id="cat cluster | explain -S -"),
        pytest.param(
            [POD, "-S", "-"], {"stdin": gzip.compress(Path(CLUSTER).read_bytes())}, id="gzip cluster | explain -S -"
        ),
        pytest.param([POD], {"env": {"KUBESPREAD_SNAPSHOT": CLUSTER}}, id="KUBESPREAD_SNAPSHOT=cluster explain"),
        pytest.param([Path(POD).name, "-S", CLUSTER], {"cwd": Path(POD).parent}, id="cd && explain"),
    ],
)
def test_idioms_that_need_no_shell(arguments: list[str], around: dict[str, Any]) -> None:
    assert run("explain", *arguments, "-o", "name", "-q", **around) == (0, "node4\n", "")


def test_names_in_a_script() -> None:
    asked = f"{FIXTURES / 'manifests' / 'zone-hard-node-soft.yaml'} -S {FIXTURES / 'clusters' / 'three-zones.yaml'}"
    script = f"kubespread simulate {asked} --replicas 15 -o name -q | cut -f2 | sort | uniq -c | tr -s ' '"
    assert shell(script).out == " 5 node1\n 5 node2\n 5 node3\n"


def on_a_terminal(*arguments: str, **env: str) -> str:
    master, slave = pty.openpty()
    with started(
        PROGRAM, *arguments, stdin=slave, stdout=slave, stderr=subprocess.DEVNULL, env=environment(**env)
    ) as process:
        os.close(slave)
        shown = shown_on(master)
        process.wait()
    os.close(master)
    return shown.decode().replace("\r\n", "\n")


def test_a_terminal_gets_the_colored_table() -> None:
    """The same as with a terminal that is only said to be one."""
    shown = on_a_terminal("explain", POD, "-S", CLUSTER, COLUMNS="160")
    assert shown == run("explain", POD, "-S", CLUSTER, terminal=160).out


def test_an_answer_is_utf_8_whatever_the_locale_says() -> None:
    asked = ["explain", POD, "-S", CLUSTER, "-q"]
    shown = on_a_terminal(*asked, COLUMNS="80", PYTHONIOENCODING="ascii")
    assert ("≤" in shown, shown) == (True, on_a_terminal(*asked, COLUMNS="80"))


INTERRUPTED_IMPORT = """\
import sys


class Interrupting:
    def find_spec(self, name, *_):
        if name == "kubespread.cli.main":
            raise KeyboardInterrupt


sys.meta_path.insert(0, Interrupting())
"""
"""What Python runs first, to have Ctrl-C come while the program is imported."""


def test_interrupted() -> None:
    reader, writer = os.pipe()
    with started(PROGRAM, "explain", "-", "-S", CLUSTER, stdin=reader) as process:
        # Once it has taken this it waits for the rest, which never comes: nothing but the signal can end it.
        os.write(writer, b"kind: Pod\n")
        while _waiting_in(reader):
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    os.close(reader)
    os.close(writer)
    assert (process.returncode, out, err) == (130, b"", b"error: interrupted\n")


@pytest.mark.slow
def test_an_interrupt_ends_all_workers_at_once(tmp_path: Path) -> None:
    """As a terminal sends it: to the workers too, which say nothing about it."""
    cluster = tmp_path / "cluster.json"
    nodes = hosts(*"abc" * 33)
    running = [
        each for app in range(40) for each in deployment(f"app-{app}", tuple(f"n{n}" for n in range(app, 99, 9)))
    ]
    cluster.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [*nodes, *running]}))
    asked = ("survive", "-A", "--key", "hostname", "--pairs", "--jobs", "2", "-q", "-S", cluster)
    with started(PROGRAM, *asked, start_new_session=True) as process:
        # Two of them do parts of the answer once they have imported the program.
        children: list[int] = []
        while sum(_worked(child) > 1.0 for child in children) < 2:
            assert process.poll() is None
            time.sleep(0.05)
            children = children_of(process.pid)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, b"", b"error: interrupted\n")
    assert _left_of(children) == []


def _worked(process: int) -> float:
    """The seconds of a processor that it took; none once it is gone."""
    with suppress(FileNotFoundError, ProcessLookupError):
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return 0.0


def _waiting_in(pipe: int) -> int:
    """How many bytes nobody has read yet."""
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)


def test_a_reader_that_goes_away() -> None:
    result = shell('kubespread explain "$POD" -S "$CLUSTER" -o json -q | head -c 1; echo " ${PIPESTATUS[0]}"')
    assert (result.out.split()[0], result.err) == ("{", "")
    assert result.out.split()[1] in ("0", "141")
    closed = shell('kubespread explain "$POD" -S "$CLUSTER" -q > >(exec <&-); wait')
    assert "Traceback" not in closed.err


@pytest.mark.slow
def test_output_that_cannot_be_written() -> None:
    for words in ('explain "$POD" -S "$CLUSTER" -q', "--help", "explain --help", "rbac --help", "--version"):
        result = shell(f"kubespread {words} > /dev/full")
        assert (result.code, result.err) == (2, "error: standard output: No space left on device\n")
        assert shell(f"kubespread {words} >&-") == (2, "", "error: standard output is closed\n")


def test_help_that_nobody_reads() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [str(PROGRAM), "--help"], stdout=writer, stderr=subprocess.PIPE, env=environment(), check=False
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.slow
@pytest.mark.parametrize("words", ['simulate "$POD" -S "$CLUSTER" -o name', "demo"])
def test_an_answer_needs_no_standard_error(words: str) -> None:
    assert shell(f"kubespread {words} 2>&-") == shell(f"kubespread {words}")._replace(err="")


@pytest.mark.slow
def test_what_needs_a_current_directory_says_so_where_it_is_gone(tmp_path: Path) -> None:
    result = shell(f'cd "{tmp_path}" && rmdir "{tmp_path}" && exec kubespread demo')
    said = "error: the current directory was deleted: change to another one\n"
    assert (result.code, result.err) == (2, said)


def test_an_interrupt_while_the_program_is_imported_is_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(INTERRUPTED_IMPORT)
    result = subprocess.run(
        [sys.executable, "-m", "kubespread", "--version"],
        capture_output=True,
        text=True,
        check=False,
        env={**environment(), "PYTHONPATH": os.pathsep.join((str(tmp_path), str(ROOT)))},
    )
    assert (result.returncode, result.stdout, result.stderr) == (130, "", "error: interrupted\n")


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_ended_by_a_signal_nothing_is_left_behind(number: int, code: int, tmp_path: Path) -> None:
    """A credential plugin that waits, with what it has started, and a file that is being written."""
    marker, plugin, config = tmp_path / "started", tmp_path / "plugin", tmp_path / "config"
    plugin.write_text(f"#!/bin/sh\nsleep 60 & echo $$ $! > {marker}.new; mv {marker}.new {marker}; wait\n")
    plugin.chmod(0o755)
    asked = {"apiVersion": "client.authentication.k8s.io/v1", "command": str(plugin), "interactiveMode": "Never"}
    parts = {
        "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
        "users": [{"name": "u", "user": {"exec": asked}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
    }
    config.write_text(json.dumps({"apiVersion": "v1", "kind": "Config", "current-context": "x", **parts}))
    before = sorted(tmp_path.iterdir())
    with started(PROGRAM, "snapshot", "--kubeconfig", config, "-o", tmp_path / "new.json") as process:
        while not marker.exists():
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (code, b"", b"")
    children = list(map(int, marker.read_text().split()))
    marker.unlink()
    assert sorted(tmp_path.iterdir()) == before
    # What was killed may run on for a moment where the machine is busy.
    assert _left_of(children) == []


def _left_of(processes: list[int]) -> list[int]:
    """Those that run for five seconds more."""
    for _ in range(500):
        if not any(map(_is_alive, processes)):
            break
        time.sleep(0.01)
    return [each for each in processes if _is_alive(each)]


def _is_alive(process: int) -> bool:
    """Whether it runs; what has ended may still wait for its parent to ask about it."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_what_nohup_ignores_stays_ignored() -> None:
    result = shell('nohup sh -c \'kill -HUP $$; exec kubespread explain "$POD" -S "$CLUSTER" -o name -q\'')
    assert result.code == 0


def test_a_named_pipe_that_is_written_to_late_is_waited_for_once_it_is_open(tmp_path: Path) -> None:
    result = shell(
        f'explain() {{ kubespread explain "$POD" -S {tmp_path}/pipe -o name -q; }}; mkfifo {tmp_path}/pipe; '
        f'(sleep 1.5; cat "$CLUSTER") > {tmp_path}/pipe & explain'
    )
    assert result.code == 0
