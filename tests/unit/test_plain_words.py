"""What a machine can hold of "plain words": length and signs of status lines, plurals, words to avoid."""

import ast
import re
import tokenize
from pathlib import Path

import pytest
from generators.plugins import plugins
from generators.programs import programs

ROOT = Path(__file__).parents[2]
RECORDED = ROOT / "tests" / "recorded"
FILES = [*RECORDED.rglob("expected/*.txt"), *RECORDED.glob("documented/*.txt")]
LONGEST = 160  # characters before the perfdata: a text message
ENDS_IN_S = {"process", "address", "class", "status", "plus", "has", "was", "this", "is", "as", "its"}
AVOID = {  # in the help: word, and what to write
    r"\btells?\b|\btold\b": "show, report",
    r"\bsays?\b|\bsaid\b": "show, report, name",
    r"\bso (many|much|far|long)\b": "this many, this long",
    r"\bours?\b": "the name of the thing",
    "whatever happens|which others can then see|less strongly|of this very|no limit to be": "see above",
    r"\bgoes without\b|\bcomes? of\b|\bin vain\b|\blet in\b": "the usual verb",
}
# In pages, too: sentences that were read twice.
RIDDLES = re.compile(
    "which others can then see|less strongly|who we are here|whatever happens|this version of ours"
    "|has no limit to be a share|stands nowhere else|that is as it should be"
)
PERSONS_SAY = {"installation.md", "symptoms.md"}


def first_lines():
    lines = {
        line.partition(" | ")[0]
        for file in FILES
        for line in file.read_text(errors="replace").splitlines()
        if re.match("[A-Z_]+ (OK|WARNING|CRITICAL|UNKNOWN) - ", line)
    }
    assert len(lines) > 200
    return sorted(lines)


LINES = first_lines()


def test_a_status_line_fits_into_a_text_message():
    assert [line for line in LINES if len(line) > LONGEST] == []


def test_no_status_line_has_a_semicolon():
    """Nagios prints it as a colon."""
    assert [line for line in LINES if ";" in line] == []


def test_numbers_agree_with_their_nouns():
    found = {noun for line in LINES for noun in re.findall(r"(?<![\d.,:/-])\b1 ([a-z]{3,}s)\b", line)}
    assert found <= ENDS_IN_S


def test_no_status_line_tells_or_says():
    """A person says, a server shows."""
    lines = [re.sub(r"user nobody|'nobody'@", "", line) for line in LINES]
    assert [line for line in lines if re.search(r"\b(tells?|told|says?|said|nobody|anew)\b", line)] == []


def test_a_short_option_means_the_same_everywhere():
    longs = {}
    options = [option for plugin in plugins() for option in plugin.options]
    options += [option for program in programs() for way in program.ways for option in way.options]
    for option in options:
        for flag in set(option.flags) - {option.long}:
            longs.setdefault(flag, set()).add(option.long)
    assert longs["-d"] == {"--directory"}
    assert {flag: names for flag, names in longs.items() if len(names) > 1} == {}


def helps():
    for plugin in plugins():
        yield plugin.program, plugin.about
        yield from ((f"{plugin.program} {option.long}", option.about) for option in plugin.options)
    for program in programs():
        for way in program.ways:
            name = f"{program.name} {way.name}"
            yield name, way.about
            yield from ((f"{name} {option.long}", option.about) for option in way.options)


@pytest.mark.parametrize("word", AVOID)
def test_the_help_has_plain_words(word):
    assert [f"{name}: {about}" for name, about in helps() if re.search(word, about, re.IGNORECASE)] == [], (
        AVOID[word]
    )


def test_pages_and_definitions_have_no_riddles():
    pages = [*ROOT.glob("*.md"), *(ROOT / "contrib").rglob("*.md"), *(ROOT / "contrib").rglob("*.c*f*g")]
    pages += (ROOT / "contrib" / "icinga2").rglob("*.conf")
    found = [f"{page.name}: {told[0]}" for page in pages for told in RIDDLES.finditer(page.read_text())]
    assert found == []


def prose(page):
    """The text of a page without what is generated from other places, and without code."""
    text = re.sub(r"^<!-- (?!end).*?^<!-- end -->$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^```.*?^```$|^ {4}.*$", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`[^`\n]*`", "", text)


@pytest.mark.parametrize("word", [r"tells?|told|says?|said", r"stands? (?:in|at|below|beside|there)"])
def test_no_page_lets_a_thing_tell_or_say_or_stand(word):
    """A person says, a server shows; a number is on a line."""
    pages = [*ROOT.glob("*.md"), *(ROOT / "contrib").rglob("*.md")]
    pages = [page for page in pages if page.name not in PERSONS_SAY]
    assert len(pages) > 25
    found = [
        f"{page.name}: {told[0]}"
        for page in pages
        for told in re.finditer(rf".*\b(?:{word})\b.*", prose(page))
    ]
    assert found == []


def sentences(path):
    """All texts of a module that have several words, without docstrings and SQL."""
    tree = ast.parse(path.read_text())
    docstrings = {id(one.value) for one in ast.walk(tree) if isinstance(one, ast.Expr)}
    for one in ast.walk(tree):
        text = one.value if isinstance(one, ast.Constant) and id(one) not in docstrings else None
        if isinstance(text, str) and " " in text.strip() and not re.search(r"\bSELECT\b|\bAS told\b", text):
            yield text


def test_no_text_of_the_library_lets_a_thing_tell_or_say():
    """A person says, a server shows. "says so": idiom, of a name."""
    modules = [*(ROOT / "lib").rglob("*.py")]
    assert len(modules) > 200
    found = [
        f"{path.name}: {text}"
        for path in modules
        for text in sentences(path)
        if re.search(
            r"\b(tells?|told|says?|said|nobody|anew)\b", text.replace("although its name says so", "")
        )
    ]
    assert found == []


def notes(path):
    """The docstrings of a module, and its comments."""
    with path.open("rb") as file:
        for token in tokenize.tokenize(file.readline):
            if token.type == tokenize.COMMENT or token.string.startswith('"""'):
                yield token.string


def test_no_docstring_of_the_library_lets_a_thing_tell_or_say():
    modules = [*(ROOT / "lib" / "stallwatch").rglob("*.py")]
    assert len(modules) > 200
    found = [
        f"{path.name}: {line.strip()}"
        for path in modules
        for note in notes(path)
        for line in note.splitlines()
        if re.search(r"(?<!``)(?<!AS )\b(tells?|told|says?|gives)\b(?!``|\()", line)
    ]
    assert found == []


def test_what_gives_nothing_back_does_not_return():
    """A function that returns None notes, writes or reports."""
    modules = [*(ROOT / "lib" / "stallwatch").rglob("*.py")]
    assert len(modules) > 200
    found = [
        f"{path.name}: {one.name}"
        for path in modules
        for one in ast.walk(ast.parse(path.read_text()))
        if isinstance(one, ast.FunctionDef)
        and isinstance(one.returns, ast.Constant)
        and one.returns.value is None
        and (ast.get_docstring(one) or "").startswith("Return")
    ]
    assert found == []
