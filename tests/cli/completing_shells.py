"""Real shells in a terminal, in which a word is completed."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pexpect

from tests.cli.support import PROGRAM, ROOT, environment

TAB = "\t"
_START_OF_LINE = "\x01"
_READY = "READY>"
# Nothing of the user's is read; the prompt says when a line may be typed.
_STARTED: dict[str, list[str]] = {
    "bash": ["--norc", "--noprofile", "-i"],
    "zsh": ["-f", "-i"],
    "fish": ["--no-config", "-i"],
}
_PREPARED = {
    "bash": "PS1=READY'>'; bind 'set enable-bracketed-paste off'; source {script}; "
    "alias ks=kubespread; complete -F _kubespread_complete ks",
    "zsh": "PS1=READY'>'; bindkey -e; unsetopt prompt_cr prompt_sp zle_bracketed_paste; autoload -U compinit; "
    "compinit -u -d {dump}; source {script}; alias ks=kubespread",
    "fish": "function fish_prompt; echo -n READY'>'; end; source {script}; alias ks=kubespread",
}


def missing(shell: str) -> str:
    """Why a test of ``shell`` cannot run here; empty where it can."""
    return "" if shutil.which(shell) else f"no {shell} (Debian: apt install {shell})"


class Terminal:
    """One shell with the completion script of its own, as ``kubespread completion`` prints it."""

    def __init__(self, shell: str, script: str, folder: Path, **more: str) -> None:
        self.home = folder
        file = folder / f"script.{shell}"
        file.write_text(script)
        variables = environment(
            PATH=f"{PROGRAM.parent}{os.pathsep}{os.environ['PATH']}",
            HOME=str(folder),
            XDG_CACHE_HOME=str(folder / "cache"),
            XDG_CONFIG_HOME=str(folder / "config"),
            TERM="xterm" if shell == "fish" else "dumb",
            **more,
        )
        self._shell = pexpect.spawn(
            shell, _STARTED[shell], env=variables, cwd=str(ROOT), encoding="utf-8", timeout=30, dimensions=(50, 300)
        )
        self._shell.sendline(_PREPARED[shell].format(script=file, dump=folder / "zcompdump"))
        # The line itself has the prompt with a quote in it.
        self._shell.expect_exact(_READY)

    def completed(self, line: str) -> list[str]:
        """The words of ``line`` after a tab, as the shell would pass them on."""
        # What is typed behind the tab waits until the shell has completed the word.
        self._shell.send(f"{line}{TAB}{_START_OF_LINE}printf '<%s>' \r")
        # All of it, up to the next prompt: a shell may write in pieces.
        self._shell.expect(r"(?s)(?:\r|\n|\x1b\[[0-9;?]*[A-Za-z])((?:<[^<>\r\n]*>)+).*?" + _READY)
        assert isinstance(self._shell.match, re.Match)
        words = re.findall("<([^<>]*)>", self._shell.match[1])
        return list(words)

    def listed(self, line: str, *names: str) -> None:
        """Wait until all of ``names`` are on the screen after two tabs; they may be in any order."""
        self._shell.send(f"{line}{TAB}{TAB}")
        waiting = set(names)
        while waiting:
            found = self._shell.expect_exact(sorted(waiting))
            waiting.remove(sorted(waiting)[found])

    def close(self) -> None:
        self._shell.close(force=True)
