"""Values and names as they stand in a statement."""

from __future__ import annotations

_ESCAPED = str.maketrans(
    {"\0": r"\0", "\n": r"\n", "\r": r"\r", "\x1a": r"\Z", '"': r"\"", "'": r"\'", "\\": r"\\"}
)


def literal(value: object, escapes: bool) -> str:  # noqa: FBT001 - a mode of the server's
    r"""Write a text or a whole number as SQL; TypeError: it is neither.

    ``escapes``: the server takes a backslash in a text for more than a backslash; it does not where its
    ``sql_mode`` has NO_BACKSLASH_ESCAPES.
    """
    if isinstance(value, int):
        return str(int(value))
    if not isinstance(value, str):
        raise TypeError(type(value).__name__)
    text = value.translate(_ESCAPED) if escapes else value.replace("'", "''")
    return f"'{text}'"


def identifier(name: str) -> str:
    """Write the name of a database, a table or a routine as SQL, whatever is in it."""
    return "`{}`".format(name.replace("`", "``"))
