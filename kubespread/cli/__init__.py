"""The command line: parse, open the source, ask, render, return the exit code. No scheduling in here."""
