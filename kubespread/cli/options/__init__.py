"""Options spelled as kubectl spells them, in groups: each is declared once and filled into a frozen dataclass.

A command takes a group as one parameter; `grouped` shows typer the options in it and hands the command the group,
filled.
"""
