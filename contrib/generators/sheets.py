"""The pages of contrib/docs: a sheet for each plugin, by hand, with tables of its options and labels.

``<!-- options -->``   the plugin's options, in its own parser's words
``<!-- perfdata -->``  the labels that its probe declares
``<!-- pools -->``     the kinds of pools that check_jmx_thread_pools knows, of check_jmx_thread_pools alone
``<!-- meanings -->``  and what a block in them means
What else may be there between marks is in ``marks``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from generators.marks import filled
from generators.plugins import ROOT, Option, Plugin
from stallwatch.frame.usage import DEFAULT, LEVEL, pairs

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

DOCS = ROOT / "contrib" / "docs"
OTHERS = ("experiment", "installation", "symptoms")  # pages that are of no plugin
# What a sheet has to have, always in this order.
HEADINGS = (
    "What it answers",
    "Data source",
    "Privileges",
    "Options",
    "States",
    "Perfdata",
    "Examples",
    "What to do",
)
_MARKS = {"Options": "<!-- options -->\n<!-- end -->\n", "Perfdata": "<!-- perfdata -->\n<!-- end -->\n"}
_DEFAULT, _LEVEL = re.compile(DEFAULT, re.DOTALL), re.compile(LEVEL)


def files(plugins: list[Plugin]) -> dict[Path, str]:
    """Fill what is between the marks of each page; a plugin without a sheet gets one to be written."""
    sheets = {DOCS / f"{plugin.program}.md": plugin for plugin in plugins}
    others = [path for name in OTHERS if (path := DOCS / f"{name}.md").exists()]
    return {path: page(path, sheets.get(path)) for path in (*sheets, *others)}


def page(path: Path, plugin: Plugin | None) -> str:
    """Fill one page."""
    if plugin is None:
        return filled(path.read_text())
    text = path.read_text() if path.exists() else _blank(plugin)
    of_it = {"options": lambda _: options(plugin), "perfdata": lambda _: perfdata(plugin)}
    return filled(text, **of_it, pools=lambda _: pools(), meanings=lambda _: meanings())


def _blank(plugin: Plugin) -> str:
    parts = (f"\n## {heading}\n\n{_MARKS.get(heading, '')}" for heading in HEADINGS)
    return f"# {plugin.program}\n\n{plugin.about}\n" + "".join(parts)


def pools() -> str:
    """Write a table of the kinds of pools: where they were seen, and how a server is made to show them."""
    from stallwatch.probes.jmx_thread_pools.families import FAMILIES

    rows = [(of.name, of.seen, of.shown or "-") for of in FAMILIES]
    return _table(("pools", "proved on", "shown if"), rows)


def meanings() -> str:
    """Write a table of what a block means, each meaning once."""
    from stallwatch.causes import Certainty
    from stallwatch.probes.jmx_thread_pools.families import FAMILIES

    rows: dict[tuple[str, str, str, str], dict[str, None]] = {}
    for family in FAMILIES:
        for one in family.meanings:
            named = one.pools.replace("*", "...") if one.pools != "*" else family.name
            names = named.split(" ") if one.pools != "*" else [named]
            certain = one.certainty is Certainty.CERTAIN
            why = one.why if certain else f"probably {one.why}"
            row = (why, one.advice, one.more, f"`{one.kind.value}`")
            rows.setdefault(row, {}).update(dict.fromkeys(names))
    cells = [
        (", ".join(names), why, "; ".join(filter(None, (advice, more))), kind)
        for (why, advice, more, kind), names in rows.items()
    ]
    return _table(("pool", "what a block means", "what to do", "kind of [cause](causes.md)"), cells)


def options(plugin: Plugin) -> str:
    """Write a table of options for each group of the help."""
    return "\n".join(_group(plugin, title) for title in dict.fromkeys(one.group for one in plugin.options))


def _group(plugin: Plugin, title: str) -> str:
    of_it = [option for option in plugin.options if option.group == title]
    about = next(group.description for group in plugin.parser._action_groups if group.title == title)  # noqa: SLF001
    rows = [_row(pair) for pair in _pairs(of_it)]
    head = f"**{title.capitalize()}**" + (f": {_plain(about)}" if about else "")
    return f"{head}\n\n{_table(('option', 'meaning', 'default'), rows)}"


def _pairs(found: Sequence[Option]) -> Iterable[list[Option]]:
    """Return the two ranges of one quantity together."""
    return pairs(found, lambda option: option.about)


def _row(pair: Sequence[Option]) -> tuple[str, str, str]:
    flags = "<br>".join(_flags(option) for option in pair)
    about = _LEVEL.sub("", _DEFAULT.sub("", pair[0].about))
    defaults = [_DEFAULT.search(option.about) for option in pair]
    default = "<br>".join(_plain(found[1]) for found in defaults if found)
    return flags, _plain(about) + " (required)" * pair[0].required, default


def _flags(option: Option) -> str:
    value = f" [{option.metavar}]" if option.optional else f" {option.metavar}" if option.metavar else ""
    return ", ".join(f"`{flag}`" for flag in option.flags[:-1]) + (
        f"{', ' if option.flags[:-1] else ''}`{option.flags[-1]}{value}`"
    )


def perfdata(plugin: Plugin) -> str:
    """Write a table of the labels."""
    rows = [(f"`{label.name}`", label.unit or "-", _plain(label.about)) for label in plugin.labels]
    return _table(("label", "unit", "what it is"), rows)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _plain(text: str) -> str:
    """Let Markdown show it as it is."""
    return re.sub(r"([*|~<\\_`])", r"\\\1", " ".join(text.split()))
