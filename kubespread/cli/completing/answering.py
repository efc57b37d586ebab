"""The answer to a shell that completes a word, in the form its script reads; never an error on the terminal."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence

from kubespread.cli.completing.candidates import Candidates, candidates
from kubespread.cli.completing.line import Line, read_line
from kubespread.cli.completing.tree import commands

WORD_VARIABLE = "_KUBESPREAD_WORD"
"""The word being typed, for a shell that drops an empty last argument."""
LINE_VARIABLE = "_KUBESPREAD_LINE"
"""The whole line, for a shell whose words are not those of the program."""
BREAKS_VARIABLE = "_KUBESPREAD_BREAKS"
"""At which characters such a shell breaks words in two."""

_NO_SPACE, _NO_FILES = 2, 4
"""What cobra's completion directives of these names are worth."""


def answer(shell: str, arguments: Sequence[str], environment: Mapping[str, str]) -> str:
    """What to write for ``shell``; nothing where anything goes wrong."""
    form = _FORMS.get(shell)
    if form is None:
        return ""
    line = read_line(_words(arguments, environment), commands(environment))
    try:
        offered = candidates(line, environment)
    except Exception:  # noqa: BLE001 - no faulty file may disturb a shell that completes a word
        offered = Candidates()
    return form(line, offered, environment)


def _words(arguments: Sequence[str], environment: Mapping[str, str]) -> Sequence[str]:
    if LINE_VARIABLE in environment:
        return split_line(environment[LINE_VARIABLE])[1:]
    return [*arguments, environment[WORD_VARIABLE]] if WORD_VARIABLE in environment else arguments


def split_line(line: str) -> list[str]:
    """The words of a line without their quotes; the last is being typed, and empty behind a space."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=False)
    lexer.whitespace_split = True
    lexer.commenters = ""
    words: list[str] = []
    is_open = False
    try:
        words.extend(lexer)
    except ValueError:
        # The quote is still to be closed.
        words.append(lexer.token)
        is_open = True
    ends_in_space = line[-1:].isspace() and not line.endswith("\\ ")
    return [*words, ""] if not words or (ends_in_space and not is_open) else words


def behind_last_break(line: str, breaks: str) -> int:
    """How many characters of the last word, without its quotes, precede what bash considers the word being typed: bash
    starts a new word after each unquoted ``=``, ``:`` and ``@``.
    """
    quote, is_escaped, typed, start = "", False, 0, 0
    for character in line:
        if is_escaped:
            is_escaped, typed = False, typed + 1
        elif character == "\\" and quote != "'":
            is_escaped = True
        elif character == quote:
            quote = ""
        elif quote:
            typed += 1
        elif character in "'\"":
            quote = character
        elif character.isspace():
            typed = start = 0
        else:
            typed += 1
            start = typed if character in breaks and character in "=:@" else start
    return start


def _described(line: Line, offered: Candidates, _environment: Mapping[str, str]) -> str:
    """Directives on the first line, then one value with its help per line."""
    todo = [name for name, is_so in (("files", offered.files), ("nospace", offered.is_partial)) if is_so]
    words = (f"{line.prefix}{word.value}\t{word.help}" for word in offered.words)
    return "".join(f"{row}\n" for row in (" ".join(todo), *words))


def _bare(line: Line, offered: Candidates, environment: Mapping[str, str]) -> str:
    """The same without help, and without what precedes the last character at which bash breaks words."""
    start = behind_last_break(environment.get(LINE_VARIABLE, ""), environment.get(BREAKS_VARIABLE, ""))
    rows = _described(line, offered, environment).splitlines()
    return "".join(f"{row}\n" for row in (rows[0], *(row.partition("\t")[0][start:] for row in rows[1:])))


def _for_kubectl(_line: Line, offered: Candidates, _environment: Mapping[str, str]) -> str:
    """As cobra reads it: a value and its help on each line, then a colon and a sum of directives."""
    directives = (0 if offered.files else _NO_FILES) + (_NO_SPACE if offered.is_partial else 0)
    return "".join(f"{row}\n" for row in (*(f"{word.value}\t{word.help}" for word in offered.words), f":{directives}"))


_FORMS: Mapping[str, Callable[[Line, Candidates, Mapping[str, str]], str]] = {
    "bash": _bare,
    "zsh": _described,
    "fish": _described,
    "powershell": _described,
    "kubectl": _for_kubectl,
}
