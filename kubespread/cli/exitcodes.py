"""Every exit code there is, in one place. The family is grep's and diff's: 0 yes, 1 no, 2 and above no answer."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    YES = 0
    """Some node fits; all replicas are placed, and what was required holds; nothing differs."""
    NO = 1
    """No node fits; some replica is not placed, or a requirement does not hold; something differs."""
    BAD_INPUT = 2
    """Wrong usage, a manifest that the API server would refuse, or an answer that could not be written."""
    NO_CLUSTER = 3
    """The cluster or snapshot could not be read, or the answer is unknown."""
    BUG = 70
    """kubespread failed; --debug shows where."""
    HUNG_UP = 129
    """SIGHUP: the terminal was closed."""
    INTERRUPTED = 130
    BROKEN_PIPE = 141
    """The reader of standard output went away."""
    TERMINATED = 143
    """SIGTERM."""


def epilog(yes: str, no: str | None) -> str:
    """The exit codes as a command's help has them; ``yes`` and ``no`` say what its answers mean, None that there is no
    such answer.
    """
    second = "" if no is None else f"1 {no}, "
    return (
        f"Exit codes: 0 {yes}, {second}2 wrong usage, bad manifest or failed write, "
        "3 cluster or snapshot not readable, 70 bug, 130 interrupted, 141 output closed."
    )


EPILOG = epilog("it fits", "it does not or a requirement fails")
