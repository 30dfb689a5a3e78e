"""Which module of stallwatch imports which, read from the source without running it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from generators.plugins import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

LIB = ROOT / "lib"
PROGRAMS = ("plugins/check_*", "contrib/stallwatch-*", "contrib/stallwatchd")
AT_START, LATER, TYPES = range(3)  # when an import runs: with its module, with a function, never


class Import(NamedTuple):
    """One module imports another one."""

    module: str
    imported: str
    when: int  # AT_START, LATER or TYPES: the earliest, if the module imports it several times


def modules() -> dict[str, Path]:
    """Return all modules by name; a program has its path in the repository as its name."""
    found = {_name(path): path for path in sorted((LIB / "stallwatch").rglob("*.py"))}
    programs = [path for pattern in PROGRAMS for path in sorted(ROOT.glob(pattern))]
    return found | {str(path.relative_to(ROOT)): path for path in programs}


def _name(path: Path) -> str:
    return ".".join(path.relative_to(LIB).with_suffix("").parts).removesuffix(".__init__")


def imports(known: Mapping[str, Path]) -> list[Import]:
    """Find each pair of modules of which the first imports the second."""
    found: dict[tuple[str, str], int] = {}
    for module, path in known.items():
        for imported, when in _imports(ast.parse(path.read_text()), known, AT_START):
            pair = (module, imported)
            found[pair] = min(when, found.get(pair, when))
    return [Import(*pair, when) for pair, when in sorted(found.items())]


def _imports(tree: ast.AST, known: Mapping[str, Path], when: int) -> Iterator[tuple[str, int]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [name if name in known else node.module for name in names]
            yield from ((name, when) for name in names if name in known)
        elif isinstance(node, ast.Import):
            yield from ((alias.name, when) for alias in node.names if alias.name in known)
        elif isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            for part, then in ((node.body, TYPES), (node.orelse, when)):
                yield from _imports(ast.Module(part, []), known, then)
        else:
            is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from _imports(node, known, max(when, LATER) if is_function else when)


def circles(found: list[Import]) -> list[tuple[list[str], int]]:
    """Return the groups of modules that import each other, and when the latest import of each circle runs."""
    circles: list[tuple[list[str], int]] = []
    closed: list[set[str]] = []
    for latest in (AT_START, LATER, TYPES):
        for group in _groups([one for one in found if one.when <= latest]):
            if not any(group <= other for other in closed):
                closed.append(group)
                circles.append((sorted(group), latest))
    return circles


def _groups(found: list[Import]) -> list[set[str]]:
    """Return the sets of two or more modules in which each reaches each other one."""
    ways: dict[str, set[str]] = {}
    for one in found:
        ways.setdefault(one.module, set()).add(one.imported)
    reached = {module: _reached(module, ways) for module in ways}
    groups: list[set[str]] = []
    for module in sorted(ways):
        group = {other for other in reached[module] if module in reached.get(other, ())}
        if group - {module} and group not in groups:
            groups.append(group)
    return groups


def _reached(module: str, ways: Mapping[str, set[str]]) -> set[str]:
    found: set[str] = set()
    ahead = [module]
    while ahead:
        new = ways.get(ahead.pop(), set()) - found
        found |= new
        ahead += new
    return found
