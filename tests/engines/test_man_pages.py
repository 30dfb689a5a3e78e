"""The manual pages, as real formatters show them."""

import re
import subprocess
from pathlib import Path

import pytest
import software
from generators.plugins import plugins
from generators.programs import daemon, programs
from installing import installable
from stallwatch.frame.usage import in_one, pairs

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "contrib" / "man").glob("*.1"))
UTF8 = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "MANWIDTH": "80"}
COMPLAINING = {
    "mandoc": ("mandoc", ["-T", "lint", "-W", "warning"]),
    "groff": ("groff-base", ["-ww", "-z", "-man", "-T", "utf8"]),
}


def said(*command):
    done = subprocess.run(
        [*map(str, command)], capture_output=True, text=True, check=True, env=UTF8, timeout=60
    )
    return done.stdout, done.stderr


def test_every_plugin_and_program_has_a_page():
    others = (*programs(), daemon())
    every = [*(plugin.program for plugin in plugins()), *(program.name for program in others)]
    assert [page.stem for page in PAGES] == every


@pytest.mark.parametrize("formatter", COMPLAINING)
def test_no_formatter_complains(formatter):
    package, options = COMPLAINING[formatter]
    with installable():
        program = software.program(formatter, package)
    assert said(program, *options, *PAGES) == ("", "")


def test_a_page_shows_options_and_examples_so_that_they_can_be_copied():
    with installable():
        man = software.program("man", "man-db")
    for plugin in plugins():
        page, complaints = said(man, "--warnings", "-l", ROOT / "contrib" / "man" / f"{plugin.program}.1")
        assert complaints == ""
        shown = re.sub(r"\s+", " ", page)
        for option in plugin.options:
            value = f"[{option.metavar}]" if option.optional else option.metavar
            assert f"{option.long} {value}".rstrip() in shown
        for both in pairs(plugin.options, lambda option: option.about):
            assert re.sub(r"\s+", " ", in_one(*(option.about for option in both))) in shown
        assert all(f"       {line}\n" in page for line in plugin.examples)


def test_a_page_of_a_program_shows_the_options_of_each_way():
    with installable():
        man = software.program("man", "man-db")
    for program in programs():
        page, complaints = said(man, "--warnings", "-l", ROOT / "contrib" / "man" / f"{program.name}.1")
        assert complaints == ""
        shown = re.sub(r"\s+", " ", page)
        for way in program.ways:
            assert f"{program.name} {way.name} [OPTION ...] {way.words}".rstrip() in shown
            options = shown.partition(f" {way.name.upper()} ")[2]
            assert all(f"{option.long} {option.metavar}".rstrip() in options for option in way.options)
        assert all(f"       {line}\n" in page for line in program.examples)
