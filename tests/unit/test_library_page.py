"""The page on probes from Python: its example is run, and prints what the page says."""

import re
from pathlib import Path

from stallwatch.findings import State
from stallwatch.probes.ndb_page_buffer.options import check, findings
from test_ndb_page_buffer import PagesNdb, runner

PAGE = (Path(__file__).parents[2] / "contrib" / "docs" / "library.md").read_text()


def example(*arguments):
    """The code of the page, with more arguments."""
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    more = "".join(f', "{argument}"' for argument in arguments)
    return code.replace(', "--defaults-file", "/etc/stallwatch/mysql.cnf"', more)


def test_the_example_prints_what_the_page_says(tmp_path, monkeypatch, capsys):
    ndb = PagesNdb()
    look = runner(ndb, tmp_path, monkeypatch)
    look("-H", "sql1")
    ndb.hits(3, 60)
    ndb.hits(4, 99.9)
    ndb.later(60)
    exec(example("--state-dir", str(tmp_path)))
    printed = capsys.readouterr().out
    (said,) = re.findall(r"it prints:\n\n```\n(.*?)```", PAGE, re.DOTALL)
    assert said == printed


def test_what_makes_no_sense_is_a_report(monkeypatch):
    report = check.report(findings, ["--confirm", "0"])
    assert report.state is State.UNKNOWN
    assert '"0" is not a whole number' in report.verdicts[0].what


def test_a_server_that_does_not_answer_is_a_report(tmp_path):
    report = check.report(findings, ["-H", "127.0.0.1", "-P", "9", "--state-dir", str(tmp_path)])
    (verdict,) = report.verdicts
    assert (report.state, verdict.state) == (State.UNKNOWN, State.UNKNOWN)
    assert "127.0.0.1:9 refused the connection" in verdict.what
