"""What may stand in a line of output: one place that makes any text harmless."""

from __future__ import annotations

TYPE_CHECKING = False  # typing itself costs every check 3 ms
if TYPE_CHECKING:
    from collections.abc import Iterable

LINE = 1023  # bytes: what check_nrpe -2 lets through
_CUT = "..."  # for what is missing
_TELLING = 4  # letters of a secret


def masked(text: str, secrets: Iterable[str]) -> str:
    """Put *** in place of the secrets, the longest first: one may be a part of another.

    Also in place of the beginning of one where ``shorten`` has taken the rest.
    """
    each = sorted(secrets, key=len, reverse=True)
    for secret in each:
        text = text.replace(secret, "***")
    for secret in each if _CUT in text else ():
        for end in range(len(secret) - 1, _TELLING - 1, -1):
            if len(begun := secret[:end].rstrip()) >= _TELLING:
                text = text.replace(begun + _CUT, f"***{_CUT}")
    return text


def clean(text: str, secrets: Iterable[str] = ()) -> str:
    """Make ``text`` fit for one line: no secret, pipe, newline, control or bidirectional character.

    ``|`` would begin the perfdata and becomes ``/``; bytes that were no text (lone surrogates) become
    ``?``; whatever else cannot be printed becomes a blank, and blanks come one at a time.
    """
    text = masked(text, secrets).encode(errors="replace").decode().replace("|", "/")
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def shorten(text: str, room: int) -> str:
    """Cut ``text`` to ``room`` bytes of UTF-8, with ``...`` for what is missing."""
    octets = text.encode(errors="replace")
    if len(octets) <= room:
        return text
    return octets[: max(room - 3, 0)].decode(errors="ignore").rstrip() + _CUT


def status(name: str, state: str, text: str) -> str:
    """Put together the line that a monitoring engine shows; ``text`` is clean already."""
    head = f"{name.upper()} {state} - "
    return head + shorten(text, LINE - len(head.encode()))
