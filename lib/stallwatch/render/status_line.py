"""What fits on the status line: the rest is in full on the lines below."""

from __future__ import annotations

import re
from itertools import chain, product

from stallwatch.line import CUT, LINE, forms, shorten
from stallwatch.startup import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from stallwatch.verdict import Verdict

_WORDS = 24  # letters of a server's words that are of any use
_OR = re.compile(r", or (?!.*, or ).*")
# A clause begins outside of quotes, brackets and lists; what is in brackets at the end is one, too.
_CLAUSE = re.compile(r", |: | (?=\([^()]*\)$)")
_BALANCED = re.compile(r"""(?:[^"'()]|"[^"]*"|'[^']*'|\([^()]*\))*+""")
_LIST = re.compile(  # after its first comma
    r", (?:(?:[\w.@-]+, )*+[\w.@-]+ (?:and|or) [\w.@-]+|[^:]*? and \d+ more\b)"
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

    A letter of the next step counts half: its long forms only add second choices.
    What is fine stays whole: nobody gets it as a message.
    """
    whats = forms(headline.what)[: None if headline.is_wrong else 1]
    choices = [
        headline._replace(what=what, why=why, advice=advice)
        for why, what, advice in product(forms(headline.why), whats, forms(headline.advice))
    ]
    choices.sort(key=lambda one: -2 * len(one.what) - 2 * len(one.why) - len(one.advice))
    fitting = headline
    for fitting in chain(choices, (_without_last_clauses(one, room) for one in choices)):
        if len(fitting.sentence) <= room:
            break
    return fitting


def _without_last_clauses(headline: Verdict, room: int) -> Verdict:
    """Leave out clauses until it fits; what was found stays.

    First the second choice of the next step goes, then the domain of an account, then the last steps (", then
    START REPLICA"), then the last clauses of the cause; of a server's own words as many stay as fit. What
    makes a text doubtful or restricts it stays, and a list stays whole.
    """
    texts = list(_shorter(headline.why, headline.advice))
    for cause, advice in texts:
        fitting = headline._replace(why=cause, advice=advice)
        missing = len(fitting.sentence) - room
        if missing <= 0:
            return fitting
        if advice == texts[-1][1] and (words := _fewer_words(cause, missing)):
            return headline._replace(why=words, advice=advice)
    return fitting


def _shorter(cause: str, advice: str) -> Iterator[tuple[str, str]]:
    cause, advice = shorten(cause, LINE), shorten(advice, LINE)  # a server may have said any length
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
    is_doubtful = _DOUBT.search(text)
    while begin := _last_clause(text):
        if _STAYS.search(text[begin:]) or _NUMBERED.fullmatch(text, 0, begin):
            return
        if is_doubtful and text[begin : begin + 2] != " (" and not _last_clause(text[:begin]):
            return
        text = _CONDITION.sub("", text[:begin])
        yield text


def _last_clause(text: str) -> int:
    """Return where it begins; 0: there is only one."""
    for clause in reversed(list(_CLAUSE.finditer(text))):
        if _BALANCED.fullmatch(text, clause.start()) and not _LIST.match(text, clause.start()):
            return clause.start()
    return 0


def _fewer_words(cause: str, missing: int) -> str:
    """Cut the words of a server, which stand behind a colon, by so many letters; "": too few would stay."""
    said = cause.partition(": ")[2]
    return f"{cause[: -missing - len(CUT)].rstrip()}{CUT}" if len(said) - missing >= _WORDS else ""
