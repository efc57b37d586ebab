"""The words of a line as bash would pass them to the program, of which bash itself has others."""

from __future__ import annotations

import shlex


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


def from_last_break(word: str, breaks: str) -> str:
    """What of ``word`` stands behind the last of the characters that end a word for bash: ``=`` and ``:`` do mostly."""
    return word[max((word.rfind(each) for each in breaks if each in "=:@"), default=-1) + 1 :]
