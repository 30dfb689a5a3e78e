"""What fits on the status line: the rest is in full on the lines below."""

from __future__ import annotations

import re
from itertools import chain, product

from stallwatch.line import CUT, forms
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stallwatch.verdict import Verdict

_WORDS = 24  # letters of a server's words that are of any use
LONGEST = 160  # letters before the perfdata: a text message
_OR = re.compile(r", or (?!.*, or ).*")
_LIST = r"(?:[\w.@-]+, )*[\w.@-]+ (?:and|or) [\w.@-]+|[^:]*? and \d+ more\b"  # after its first comma
# A clause begins outside of quotes, brackets and lists; what is in brackets at the end is one, too.
_CLAUSE = re.compile(
    rf"""(, (?!{_LIST})|: | (?=\([^()]*\)$))(?=(?:[^"'()]|"[^"]*"|'[^']*'|\([^()]*\))*$)"""
)
_NUMBERED = re.compile(r"\w+ \d+(?:, \d+)*(?: and \d+(?: more)?)?")  # who: what to do stands behind that
_CONDITION = re.compile(r"(?<=[.?]) If [\w ]+$|: if [\w ]+$")  # its clause has been cut: "Is it up? If so"
_DOUBT = re.compile(r"\b(probably|perhaps|likely|check|find out|unless)\b")
_STAYS = re.compile(rf"{_DOUBT.pattern}|^, (?:or|but|so)\b|\bnot known\b|: error \d+$")
_DOMAIN = re.compile(r"(@[A-Za-z][\w-]*)\.[\w.-]*\w")  # of an account: app@web1.example.com


def on_the_line(headline: Verdict, room: int) -> tuple[Verdict, list[str]]:
    """Give it with texts that fit into ``room`` letters, and lines with what was left out.

    Forms of each text are chosen that fit together. Texts without shorter forms lose clauses.
    """
    fitting = _fitted(headline, room)
    left_out = [] if fitting.what == headline.what else [headline.what]
    left_out += [f"cause: {headline.why}"] if fitting.why != headline.why else []
    if fitting.advice != headline.advice and headline.is_wrong:
        left_out.append(f"next step: {headline.advice}")
    return fitting, left_out


def _fitted(headline: Verdict, room: int) -> Verdict:
    """Choose the forms that fit and lose least; if none fit, leave out clauses, too.

    A letter of the next step is worth half of another: what is left out of it first is a second choice.
    What is fine stays whole: nobody gets it as a message.
    """
    whats = forms(headline.what)[: None if headline.is_wrong else 1]
    choices = [
        headline._replace(what=what, why=why, advice=advice)
        for why, what, advice in product(forms(headline.why), whats, forms(headline.advice))
    ]
    choices.sort(key=lambda one: -2 * len(one.what) - 2 * len(one.why) - len(one.advice))
    cut = (_without_last_clauses(one, room) for one in choices)
    fitting = (one for one in chain(choices, cut) if len(one.sentence) <= room)
    return next(fitting, None) or _without_last_clauses(choices[-1], room)


def _without_last_clauses(headline: Verdict, room: int) -> Verdict:
    """Leave out clauses until it fits; what was found stays.

    First the second choice of the next step goes, then the domain of an account, then the last steps (", then
    START REPLICA"), then the last clauses of the cause; of a server's own words as many stay as fit. What
    makes a text doubtful or restricts it stays, and a list stays whole.
    """
    fitting = headline
    *_, (_, last) = _shorter(headline.why, headline.advice)
    for short, step in _shorter(headline.why, headline.advice):
        fitting = headline._replace(why=short, advice=step)
        missing = len(fitting.sentence) - room
        if missing <= 0:
            break
        if step == last and (words := _fewer_words(short, missing)):
            fitting = headline._replace(why=words, advice=step)
            break
    return fitting


def _shorter(cause: str, advice: str) -> Iterator[tuple[str, str]]:
    yield cause, advice
    advice = _OR.sub("", advice)
    yield cause, advice
    cause = _DOMAIN.sub(r"\1", cause)
    yield cause, advice
    for advice in _without_clauses(advice):  # noqa: B020 - what was yielded last
        yield cause, advice
    for cause in _without_clauses(cause):  # noqa: B020
        yield cause, advice
    if not _STAYS.search(cause):
        yield cause.partition(": ")[0], advice  # a server may have left a quote open


def _without_clauses(text: str) -> Iterator[str]:
    """Cut the last clause again and again; of a doubtful text two stay, and the number of an error."""
    least = 1 if _DOUBT.search(text) else 0
    while clauses := list(_CLAUSE.finditer(text)):
        begin, in_brackets = clauses[-1].start(), clauses[-1][0] == " "
        if _STAYS.search(text[begin:]) or (len(clauses) <= least and not in_brackets):
            return
        if _NUMBERED.fullmatch(text[:begin]):
            return
        text = _CONDITION.sub("", text[:begin])
        yield text


def _fewer_words(cause: str, missing: int) -> str:
    """Cut the words of a server, which stand behind a colon, by so many letters; "": too few would stay."""
    said = cause.partition(": ")[2]
    return f"{cause[: -missing - len(CUT)].rstrip()}{CUT}" if len(said) - missing >= _WORDS else ""
