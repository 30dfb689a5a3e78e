"""What may stand in a line of output: one place that makes any text harmless."""

from __future__ import annotations

import re

from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

LINE = 1023  # bytes: what check_nrpe -2 lets through
CUT = "..."  # for what is missing
_LONGEST = 1 << 16  # letters: more than is ever shown of one sentence


def clean(text: str) -> str:
    """Make ``text`` fit for one line: no pipe, newline, control or bidirectional character.

    ``|`` would begin the perfdata and becomes ``/``; bytes that were no text (lone surrogates) become
    ``?``; whatever else cannot be printed becomes a blank, and blanks come one at a time. What is longer
    than any output is cut: a server may have said it.
    """
    text = text[:_LONGEST].replace("|", "/")
    if not text.isprintable():
        text = text.encode(errors="replace").decode()
        text = "".join(letter if letter.isprintable() else " " for letter in text)
    return " ".join(text.split())


def label(name: str) -> str:
    """Make a label of the perfdata: letters, digits, "_" and "."; whatever else is in a name becomes "_"."""
    return re.sub(r"[^A-Za-z0-9_.]", "_", name)


def shorten(text: str, room: int) -> str:
    """Cut ``text`` to ``room`` bytes of UTF-8, with ``...`` for what is missing."""
    octets = text.encode(errors="replace")
    if len(octets) <= room:
        return text
    return octets[: max(room - 3, 0)].decode(errors="ignore").rstrip() + CUT


class Forms(str):
    """A text, and shorter ones that mean the same, from which the status line chooses what fits.

    It is the longest one, as any other text.
    """

    __slots__ = ("shorter",)

    shorter: tuple[str, ...]

    def __new__(cls, longest: str, *shorter: str) -> Self:
        """Make it of its forms, the longest first."""
        made = super().__new__(cls, longest)
        made.shorter = shorter
        return made


def forms(text: str) -> tuple[str, ...]:
    """Return all forms of a text, the longest first."""
    return (text, *text.shorter) if isinstance(text, Forms) else (text,)


def in_all_forms(text: str, change: Callable[[str], str]) -> str:
    """Return the text with every form of it changed."""
    return Forms(*map(change, forms(text))) if isinstance(text, Forms) else change(text)


def status(name: str, state: str, text: str) -> str:
    """Put together the line that a monitoring engine shows; ``text`` is clean already."""
    head = f"{name.upper()} {state} - "
    return head + shorten(text, LINE - len(head.encode()))
