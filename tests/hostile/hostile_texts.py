"""Texts that mean harm: to the line, to a terminal, to a page, to an engine, to SQL."""

TEXTS = {
    "newlines": "a\nMYSQL OK - b | c=1\r\n\n\vd\fe",
    "pipe": "a | b=1;2;3 'c'=5 |d",
    "quotes": "a'b\"c`d\\e=f;g",
    "escapes": "\x1b[31mred\x1b]52;c;aGk=\x07\x1b]8;;http://x.invalid\x1b\\y\x1b[2J\b\b\x7f",
    "C1": "\x9b31m\x9d52;c;aGk=\x9c\x84\x85",
    "markup": "<script>alert(1)</script><img src=x onerror=y>&lt;",
    "directions": "\u202eabc\u202c\u2066d\u2069\u200e\u200f\u061c",
    "no width": "a\u200bb\u2060c\ufeffd\u00ade\u180e",
    "separators": "a\u2028b\u2029c\u0085d\u00a0e",
    "macros": "$HOSTADDRESS$ $ARG1$ $host.name$ $(id) `id` ${HOME} $$ !x ~ $USER1$",
    "formats": "%s%n%(x)s {0} {x.__class__} %% \\x00 \\u202e",
    "no characters": "a\ufffe\ue000\U000e0041\ud7ff",
    "long": "lang" * 250_000,
}
NUL = "a\0b | c"  # what no argument of a program can hold, and no name in MySQL
SPLICES = (  # what would be a statement of its own, were it put into one as it is
    "x'; DROP TABLE lab.kept; -- ",
    'x"; DROP TABLE lab.kept; -- ',
    "x`; DROP TABLE lab.kept; -- ",
    "\\'; DROP TABLE lab.kept; #",
    "x' OR SLEEP(9) OR '",
    "%s%% {0} x' /* ",
)
