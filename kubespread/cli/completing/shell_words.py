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


def behind_last_break(line: str, breaks: str) -> int:
    """How many characters of the last word, without its quotes, stand before what bash takes for the word being typed:
    it begins anew behind each ``=``, ``:`` and ``@`` that is no part of a quotation.
    """
    quote, is_escaped, typed, start = "", False, 0, 0
    for each in line:
        if is_escaped:
            is_escaped, typed = False, typed + 1
        elif each == "\\" and quote != "'":
            is_escaped = True
        elif each == quote:
            quote = ""
        elif quote:
            typed += 1
        elif each in "'\"":
            quote = each
        elif each.isspace():
            typed = start = 0
        else:
            typed += 1
            start = typed if each in breaks and each in "=:@" else start
    return start
