"""A line is a text message: at most 160 characters before the perfdata."""

import re

import pytest
from stallwatch.probes.ndb_log import exit_codes
from stallwatch.probes.ndb_log.down import FORCED, Down, forced
from stallwatch.probes.ndb_log.model import Present, Rules
from stallwatch.render.text import written
from stallwatch.verdict import Report, judge

NOW = 1_795_000_000.0
KNOWN = [code for codes in exit_codes._CODES.values() for code in codes]


def said(fault):
    """The status line, and all that is printed."""
    printed = written(Report("ndb_log", judge([fault], {})))
    return printed.partition("\n")[0], printed


@pytest.mark.parametrize("start", ["", " Occurred during startphase 50."])
@pytest.mark.parametrize("gave_up", ["", "3"])
@pytest.mark.parametrize("code", KNOWN)
def test_an_end_with_any_error_fits(code, gave_up, start):
    line = f"Forced node shutdown completed.{start} Caused by error {code}: 'x'."
    what, why, advice, more = forced(re.match(FORCED, line))
    down = Down(4, NOW - 60, "2026-11-21 23:08:01", what, why, advice, gave_up, more=more)
    line, printed = said(down.fault(Present(Rules(NOW))))
    assert len(line) <= 160
    assert f"error {code}" in line
    assert why in printed


def test_the_restart_is_left_out_before_what_the_error_says():
    what, why, advice, more = forced(
        re.match(FORCED, "Forced node shutdown completed. Caused by error 2341: 'x'.")
    )
    down = Down(4, NOW - 60, "2026-11-21 23:08:01", what, why, advice, more=more)
    assert said(down.fault(Present(Rules(NOW))))[0] == (
        "NDB_LOG CRITICAL - node 4 shut down at 23:08:01, error 2341: Internal program error - read its "
        "error log and keep its trace files for a bug report"
    )
