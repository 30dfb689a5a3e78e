"""README and sheets against what there is: options, labels, examples, commands, links."""

import itertools
import re
import runpy
import shlex
import sys
from pathlib import Path

import pytest
from stallwatch.frame.usage import Said, UsageError

ROOT = Path(__file__).parents[2]
CONTRIB, DOCS = ROOT / "contrib", ROOT / "contrib" / "docs"
AT_THE_TOP = [ROOT / f"{name}.md" for name in ("CHANGELOG", "CONTRIBUTING", "README", "SECURITY")]
PAGES = sorted([*AT_THE_TOP, *DOCS.glob("*.md")])
DOCUMENTS = sorted([*AT_THE_TOP, *CONTRIB.rglob("*.md"), *(ROOT / "tests").rglob("*.md")])
OF_OTHERS = {
    "--ndbcluster",
    "--initial",
    "--nostart",
    "--no-data",
    "--compact",
    "--source-data=2",
    "--master-data=2",
}
# What stands before a plugin in a command, and where it is installed.
_EXPERIMENT = "stallwatch-experiment "
_BEFORE = rf"(?:\$ |runuser -u \w+ -- |{_EXPERIMENT}take \S+ (?:.*)-- )?"
_COMMAND = re.compile(
    rf"^{_BEFORE}(?:/usr/lib/stallwatch/bin/|PYTHONPATH=lib plugins/|try/bin/)?(check_\w+(?: .*)?)$"
)


@pytest.fixture(scope="module")
def generators():
    """The modules that write the generated parts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(CONTRIB)
        from generators import pages, plugins, sheets

        yield plugins.plugins(), pages, sheets
    for name in [name for name in sys.modules if name.partition(".")[0] == "generators"]:
        del sys.modules[name]


@pytest.fixture(scope="module")
def plugins(generators):
    return {plugin.program: plugin for plugin in generators[0]}


def ids(paths):
    return [path.name for path in paths]


def blocks(text):
    """The lines of all code blocks, fenced or indented."""
    fenced = re.findall(r"^```\w*\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    outside = re.sub(r"^```\w*\n.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    indented = re.findall(r"^ {4}(\S.*)$", outside, re.MULTILINE)
    return [*"".join(fenced).splitlines(), *indented]


def commands(text):
    """The plugins' commands among them, as words."""
    for line in blocks(text):
        if found := _COMMAND.match(line):
            yield words(found[1])


def words(command):
    """The words of a command, up to what the shell does with its output."""
    reading = shlex.shlex(command, posix=True, punctuation_chars="|&;<>")
    reading.whitespace_split = True
    return [*itertools.takewhile(lambda word: not set(word) <= set("|&;<>"), reading)]


def test_every_plugin_has_a_sheet_and_every_sheet_the_same_order(plugins, generators):
    headings = list(generators[2].HEADINGS)
    for name in plugins:
        text = (DOCS / f"{name}.md").read_text()
        assert re.findall(r"^## (.+)$", text, re.MULTILINE) == headings, name
        for part in re.split(r"^## .+$", text, flags=re.MULTILINE):
            assert part.strip(), name


def test_every_option_stands_in_its_sheet(plugins):
    for name, plugin in plugins.items():
        text = (DOCS / f"{name}.md").read_text()
        for flag in (flag for option in plugin.options for flag in option.flags):
            assert re.search(rf"^\| .*`{re.escape(flag)}[ `]", text, re.MULTILINE), f"{flag} of {name}"


def test_every_label_stands_in_its_sheet(plugins):
    for name, plugin in plugins.items():
        text = (DOCS / f"{name}.md").read_text()
        assert plugin.labels, name
        for label in plugin.labels:
            assert f"| `{label.name}` | {label.unit or '-'} |" in text, f"{label.name} of {name}"


def test_marked_examples_and_tables_are_what_the_plugins_say_today(generators):
    known, pages, sheets = generators
    for path, text in {**pages.files(known), **sheets.files(known)}.items():
        assert path.read_text() == text, f"{path.name}: make generate"


@pytest.mark.parametrize("page", PAGES, ids=ids(PAGES))
def test_every_mark_has_its_end(page):
    text = page.read_text()
    opened = re.findall(r"^<!-- (?!end -->)(\w+).* -->$", text, re.MULTILINE)
    assert len(opened) == len(re.findall(r"^<!-- end -->$", text, re.MULTILINE))
    of_one_page = {"object", "load", "pools", "meanings", "measured", "late", "troubles", "counted"}
    of_one_page |= {"components", "circles", "datum"}
    of_one_page |= {"checks", "budgets", "bench", "spent", "usage", "said", "machine", "capacity", "growth"}
    of_one_page |= {"bars", "faults", "healthy", "lag", "wrong", "alarms", "played", "versions", "tries"}
    assert set(opened) <= {"run", "show", "line", "options", "perfdata"} | of_one_page


def test_a_mark_without_an_end_is_refused(generators):
    text = "<!-- options -->\nby hand\n<!-- perfdata -->\n<!-- end -->\n"
    with pytest.raises(ValueError, match="<!-- options --> has no end"):
        generators[2].filled(text, options=lambda _: "", perfdata=lambda _: "")


@pytest.mark.parametrize("page", PAGES, ids=ids(PAGES))
def test_commands_in_code_blocks_are_understood_by_their_plugins(page, plugins):
    for name, *words in commands(page.read_text()):
        try:
            plugins[name].parser.parse(words)
        except Said:
            pass
        except UsageError as error:
            pytest.fail(f"{name} {shlex.join(words)}: {error}")


def test_ten_questions_lead_to_a_command_that_works(plugins):
    """Each to one, whose plugin or program exists and understands it."""
    programs = {path.name for path in CONTRIB.glob("stallwatch-*")}
    table = (DOCS / "symptoms.md").read_text().partition("| somebody says |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| \[(.+?)\]\(#.+?\) \| `(.+?)`.* \|$", table, re.MULTILINE)
    assert len(rows) == len(table.splitlines()) - 2 >= 10
    for question, command in rows:
        name, *options = shlex.split(command)
        if name in programs:
            assert runpy.run_path(str(CONTRIB / name))["parser"]().parse_args(options), question
            name, *options = options[options.index("--") + 1 :]
        assert (ROOT / "plugins" / name).is_file()
        parsed = plugins[name].parser.parse(options)
        assert name != "check_mysql_status" or parsed.sample, "without --sample its first run knows no rates"


SAID = (
    "hang", "1205", "lock wait timeout", "metadata lock", "1213", "deadlock", "history list", "cpu at 100",
    "1040", "too many connections", "gone away", "can't connect", "killed", "disk is full", "no space left",
    "backup", "replica is behind", "slave", "410", "redo log files overloaded", "1221", "1114",
    "table is full", "redo buffers overloaded", "node 4 restarted", "cassandra times out", "outofmemory",
    "gc overhead", "hikari", "tomcat", "kafka producers time out", "too many open files",
    "access denied", "1045", "host is blocked", "1129", "jvm hangs", "does not answer", "certificate expires",
    "galera",
)  # fmt: skip


@pytest.mark.parametrize("words", SAID)
def test_what_operators_type_is_found_in_the_short_list(words):
    table = (DOCS / "symptoms.md").read_text().partition("| somebody says |")[2].partition("\n\n")[0]
    assert re.search(rf"^\| \[[^]]*{re.escape(words)}", table, re.MULTILINE | re.IGNORECASE)


@pytest.mark.parametrize(
    ("page", "sentence"),
    [
        (ROOT / "README.md", r"by default UNKNOWN, but CRITICAL for ([^.]+)\."),
        (DOCS / "output.md", r"by default UNKNOWN, but CRITICAL\s+for ([^.,]+),"),
    ],
)
def test_pages_name_the_plugins_that_are_critical_if_the_server_does_not_answer(page, sentence, plugins):
    defaults = {name: plugin.parser.get_default("unreachable") for name, plugin in plugins.items()}
    assert set(defaults.values()) == {"unknown", "critical"}
    named = re.findall(r"`(check_\w+)`", re.search(sentence, page.read_text())[1])
    assert sorted(named) == [name for name, state in defaults.items() if state == "critical"]


def test_examples_of_the_help_can_be_copied(plugins):
    for name, plugin in plugins.items():
        lines = "\n".join(plugin.examples).replace("\\\n", "").splitlines()
        assert lines, name
        for line in lines:
            program, *options = shlex.split(line, comments=True)
            assert program == name, line
            plugin.parser.parse(options)


def test_examples_beside_the_commands_of_nagios_can_be_copied():
    text = (CONTRIB / "nagios" / "stallwatch-commands.cfg").read_text()
    found = re.findall(r"^#   check_command  check_.*", text, re.MULTILINE)
    assert len(found) > 20
    assert [line for line in found if re.search(r"\\ | # ", line)] == []


def test_the_example_of_check_jmx_looks_for_one_address(plugins):
    from stallwatch.probes.jmx.arguments import parsed

    lines = "\n".join(plugins["check_jmx"].examples).replace("\\\n", "").splitlines()
    line = next(one for one in lines if "LiveNodes" in one)
    nodes = parsed(plugins["check_jmx"].parser.parse(shlex.split(line)[1:]).said)[-1].match
    assert nodes.search("10.0.0.6, 10.0.0.7, 10.0.0.8")
    for other in ("10.0.0.70", "110.0.0.7", "10.0.0x7"):
        assert not nodes.search(f"10.0.0.6, {other}")


def test_commands_are_found_in_the_pages(plugins):
    found = {words[0] for page in PAGES for words in commands(page.read_text())}
    assert found == plugins.keys()


@pytest.mark.parametrize("page", PAGES, ids=ids(PAGES))
def test_options_in_sentences_are_options_of_a_plugin(page, plugins):
    of_page = [plugins[page.stem]] if page.stem in plugins else plugins.values()
    of_experiment = re.findall(r'"(--\w+)"', (CONTRIB / "stallwatch-experiment").read_text())
    known = {flag for one in of_page for option in one.options for flag in option.flags}
    known |= OF_OTHERS | (set() if page.stem in plugins else set(of_experiment))
    sentences = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    for said in re.findall(r"(?<!`)`(--\w[^\s`]*)", sentences):
        assert said in known, f"{said} in {page.name}"


def test_experiments_in_code_blocks_are_understood():
    understands = runpy.run_path(str(CONTRIB / "stallwatch-experiment"))["parser"]()
    lines = [line for page in PAGES for line in blocks(page.read_text()) if re.match(_EXPERIMENT, line)]
    assert lines
    for line in lines:
        understands.parse_args(shlex.split(line)[1:])


def test_discoveries_in_code_blocks_are_understood():
    program = runpy.run_path(str(CONTRIB / "stallwatch-discover"))
    found = [line for page in PAGES for line in blocks(page.read_text()) if "stallwatch-discover " in line]
    assert found
    for line in found:
        _, way, *options = words(line)
        program["tool"](way, "", program[way]).parser.parse(options)


@pytest.mark.parametrize("page", PAGES, ids=ids(PAGES))
def test_what_is_named_as_installed_is_in_contrib(page):
    text = page.read_text()
    for name in re.findall(r"/usr/share/stallwatch/([\w./-]+\w)", text):
        assert (CONTRIB / name).exists(), name
    for name in re.findall(r"/usr/lib/stallwatch/bin/(\w*[a-z])\b", text):
        assert (ROOT / "plugins" / name).exists() or (CONTRIB / name).exists(), name


def test_make_has_the_targets_that_the_pages_name():
    known = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for page in PAGES:
        for target in re.findall(r"(?:^ {4}|`|&& )make (\w+)", page.read_text(), re.MULTILINE):
            assert target in known, f"make {target} in {page.name}"


def anchor(heading):
    """What GitHub makes of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower()).replace(" ", "-")


@pytest.mark.parametrize("page", DOCUMENTS, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        if re.match(r"https?://", link):
            continue
        path, _, place = link.partition("#")
        target = (page.parent / path) if path else page
        assert target.exists(), f"{link} in {page.name}"
        if place:
            headings = re.findall(r"^#+ (.+)$", target.read_text(), re.MULTILINE)
            assert place in map(anchor, headings), f"{link} in {page.name}"


def test_the_help_of_each_plugin_fits_80_columns(plugins):
    helps = {name: plugin.parser.format_help().splitlines() for name, plugin in plugins.items()}
    assert [(name, line) for name, lines in helps.items() for line in lines if len(line) > 80] == []


def test_the_readme_is_short():
    said = re.sub(
        r"^<!-- (run|show|line).*?^<!-- end -->$",
        "",
        (ROOT / "README.md").read_text(),
        flags=re.MULTILINE | re.DOTALL,
    )
    assert len(said.splitlines()) <= 235
