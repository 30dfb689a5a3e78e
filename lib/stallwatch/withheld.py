"""What others wrote, as it may be shown: never with a password that this run knows.

A mask shows where the password was. In "OK - *** of 127.0.0.1", "Table 'app.***' doesn't exist" or "at
line ***" everybody reads the password who knows the sentence. So:

1. Our own words, labels, numbers and units, and what the user gave, are never changed: they are the same
   whatever the password is.
2. What somebody else wrote goes through ``message`` or ``data`` where it is put into a sentence, before it is
   shortened. Whoever judges a text or a status reads it as it came.
3. If it holds the password, all of it is withheld, not one word: nobody sees which word it was.
4. Where the sentence is well known, that would still show the password. A plain word or a number, such as
   ``OK``, ``replica`` or ``1``, may be in a sentence by chance, which a server sends whatever the password
   is. In a message it counts only as a value: in quotes, alone or as a part of a name. It does not count
   where the user gave the word, or where the question that is shown beside the answer has it.
5. What is called a password in the text (IDENTIFIED BY, ``--password=``, ``user:...@host``) is left out,
   whosever it is and whatever ours is. That shows nothing of ours.

6. A password in a URL that the user gave is left out wherever that URL, or a part of it, is repeated.

Names (of hosts, accounts, tables, channels, versions, MBeans) are no messages: they are shown as they are.
``struck`` is for what has slipped through: it runs over all that is shown, and knows only such passwords as
our own words cannot hold.
"""

from __future__ import annotations

import re
from re import _compiler  # type: ignore[attr-defined]  # re.compile keeps what it compiles, beyond the run

from stallwatch.line import CUT
from stallwatch.startup import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

WITHHELD = "(withheld: it contains the password)"
_LEFT_OUT = "***"
# Letters from which a text that is no plain word is not there by chance, within a longer word, too; and those
# of a word in small letters that no sentence has.
_NO_CHANCE, _NO_WORD = 8, 16
_TELLING = 4  # letters of a password whose rest was cut

_VALUE = r"""(?:'(?:[^'\\]|\\.|'')*'?|"(?:[^"\\]|\\.)*"?|[^\s,;&'"`)\]}]+)"""
_CALLED = r"(?:passw(?:or)?d|passphrase|pwd|secret|credential)"
_REST = r"[\w.-]{,40}['\"`]?"  # of its name: password_2, "password"
_MAY_CALL = rf"(?i){_CALLED}|identified|://|-p|authorization"
# What calls something a password, and what it calls so: statements, settings and command lines, errors, URLs,
# HTTP. Whether a password was used is none: "using password: YES".
_PASSWORDS = (
    (r"(?i)(\bIDENTIFIED\s+(?:BY|WITH|VIA|AS)\s|\bSET\s+PASSWORD\s*(?:=|FOR\b)|\bPASSWORD\()", r"(?s:.*)"),
    (rf"(?i)({_CALLED}{_REST}(?:\s*=\s*|:(?=\S)|:\s+(?=['\"])))", _VALUE),
    (rf"(?i)(\b{_CALLED}:\s+)(?!(?:YES|NO)\b)", _VALUE),
    (r"(://[^\s/:@]*:)", r"[^\s/@]+(?=@)"),
    (r"(?<!\S)(-p)", r"\S+"),
    (r"(?i)(\bauthorization\W+\w+\s+)", r"\S+"),
)
_QUOTE = "['\"`]"


class _Form(NamedTuple):
    """The password as it may be written."""

    text: str
    by_chance: bool  # it may be a word or a number in any sentence
    anywhere: bool  # it is known also within a longer word


_passwords: dict[str, tuple[_Form, ...]] = {}  # of this run, with their forms once those are needed
_random: list[str] = []  # those of them that our own words cannot hold
_arguments: list[str] = []  # of this run
_in_urls: list[str] = []  # passwords in them, each with the @ behind it
_patterns: dict[str, re.Pattern[str]] = {}  # that have a password in them


def begin(arguments: Iterable[str]) -> None:
    """Begin a run: there is no password yet, and these are the words on its command line."""
    end()
    _arguments.extend(arguments)
    for word in _arguments:
        for found in re.finditer("://", word):  # one may be in another: service:jmx:rmi:///jndi/rmi://
            login, at, _ = word[found.end() :].rpartition("@")
            _, colon, password = login.partition(":")
            if at and colon and password:
                _in_urls.append(f"{password}@")


def end() -> None:
    """End a run: neither its passwords nor its command line are kept."""
    _passwords.clear()
    _random.clear()
    _arguments.clear()
    _in_urls.clear()
    _patterns.clear()


def keep(password: str | None) -> None:
    """Withhold this from now on; an empty one is none."""
    if password and password not in _passwords:
        _passwords[password] = ()
        if _is_random(password) and not _is_given(password, ()):
            _random.append(password)


def message(text: str, *beside: str) -> str:
    """Give a sentence of a server, a library or a log; ``beside`` is shown with it: the question."""
    return _shown(text, beside, by_chance=_as_value)


def data(text: str, *beside: str) -> str:
    """Give a text of which every word is a value: a result, an attribute, a command line."""
    return _shown(text, beside, by_chance=_as_word)


def struck(text: str) -> str:
    """Put *** in place of a password that our own words cannot hold; also of its beginning that was cut."""
    for password in _in_urls:
        text = text.replace(password, f"{_LEFT_OUT}@")
    for password in _random:
        text = text.replace(password, _LEFT_OUT)
        for end in range(len(password) - 1, 0, -1) if CUT in text else ():
            if not _is_plain(begun := password[:end].rstrip()) and len(begun) >= _TELLING:
                text = text.replace(begun + CUT, _LEFT_OUT + CUT)
    return text


def _shown(text: str, beside: tuple[str, ...], by_chance: Callable[[str], str]) -> str:
    if re.search(_MAY_CALL, text):  # few do, of a hundred thousand values of beans
        for call, password in _PASSWORDS:
            text = re.sub(call + password, rf"\1{_LEFT_OUT}", text)
    for form in (one for password in _passwords for one in _forms(password) if one.text in text):
        if _is_given(form.text, beside):
            continue
        pattern = by_chance(form.text) if form.by_chance else _as_word(form.text)
        if form.anywhere or form.text == text.strip() or _is_in(text, pattern):
            return WITHHELD
    return text


def _is_given(text: str, beside: tuple[str, ...]) -> bool:
    """Whether it is shown anyway; of what the user gave no number is, nor a folder in the path of a file."""
    word = text.casefold()
    as_given = rf"(?<![\w.:/-]){re.escape(word)}(?![\w.:/-])"
    given = not word.isdecimal() and any(_is_in(one.casefold(), as_given) for one in _given())
    return given or any(_is_in(one.casefold(), _as_word(word)) for one in beside)


def _is_in(text: str, pattern: str) -> bool:
    if pattern not in _patterns:
        _patterns[pattern] = _compiler.compile(pattern)
    return bool(_patterns[pattern].search(text))


def _given() -> Iterator[str]:
    """Give the arguments without a password among them."""
    is_password = False
    for word in _arguments:
        option = re.match(r"-[A-Za-z]*p|--password\b", word)
        if not (option or is_password):
            yield word
        is_password = option is not None and option.end() == len(word)


def _as_word(text: str) -> str:
    """Give the pattern of a text that is no part of a longer word."""
    begins, ends = (bool(re.match(r"\w", one)) for one in (text[0], text[-1]))
    return r"(?<!\w)" * begins + re.escape(text) + r"(?!\w)" * ends


def _as_value(text: str) -> str:
    """Give the pattern of a text that is in quotes alone, or as a part of a name: 'app.replica'."""
    part = r"(?=[\d$]*[^\W\d])[\w$]{1,64}"  # has a letter: the 1 of 10.0.0.1 is no value
    return rf"{_QUOTE}(?:{part}\.)*{re.escape(text)}(?:\.{part})*(?:{_QUOTE}|\Z)"


def _is_plain(text: str) -> bool:
    """Whether it may be a word, a number or a sign in anybody's sentence."""
    if not re.search(r"[^\W\d_]", text):
        return True
    word = re.sub("[-_]", "", text)  # read-only, auto_increment
    cases = word.islower() or word.isupper() or word.istitle()
    return word.isalpha() and (cases or len(word) < _NO_CHANCE) and len(text) < _NO_WORD


def _is_random(password: str) -> bool:
    """Whether it has 8 letters and digits in a row with a small letter, a capital and a digit among them.

    None of our own words has: tests/unit/test_withheld.py looks at all of them.
    """
    return any(
        re.search("[a-z]", run) and re.search("[A-Z]", run) and re.search("[0-9]", run)
        for run in re.findall(rf"[A-Za-z0-9]{{{_NO_CHANCE},}}", password)
    )


def _forms(password: str) -> tuple[_Form, ...]:
    if not (forms := _passwords[password]):
        forms = _passwords[password] = tuple(_each_form(password))
    return forms


def _each_form(password: str) -> Iterator[_Form]:
    """Give the password as it is, as Python, JSON, SQL and we ourselves write it, and encoded."""
    escaped = password.replace("\\", "\\\\")
    written = [
        password,
        " ".join(password.split()),  # as sources return the text of a server
        repr(password)[1:-1],
        escaped.replace('"', '\\"'),
        escaped.replace("'", "\\'"),
        password.replace("'", "''"),
    ]
    for text in dict.fromkeys(filter(None, written)):
        plain = _is_plain(text)
        yield _Form(text, plain, anywhere=not plain and len(text) >= _NO_CHANCE)
    octets = password.encode(errors="surrogateescape")
    for text in {*_encoded(octets)} - {*written}:
        if len(text) >= _NO_CHANCE:
            yield _Form(text, by_chance=False, anywhere=True)


def _encoded(octets: bytes) -> Iterator[str]:
    from binascii import b2a_base64

    yield from (octets.hex(), octets.hex().upper())
    for escape in ("%{:02X}", "%{:02x}"):
        for safe in (b"_.-~", b"_.-~/"):
            each = [chr(one) if _is_safe(one, safe) else escape.format(one) for one in octets]
            yield from ("".join(each), "".join(each).replace("%20", "+"))
    for before in range(3):  # "user:password" has it at any place of a group of three bytes
        first, behind = -(-8 * before // 6), 8 * (before + len(octets)) // 6
        in_base64 = b2a_base64(bytes(before) + octets, newline=False).decode()[first:behind]
        yield from (in_base64, in_base64.replace("+", "-").replace("/", "_"))


def _is_safe(octet: int, safe: bytes) -> bool:
    """Whether it is in a URL as it is."""
    return octet in safe or bytes([octet]).isalnum()
