"""A status line fits into a text message: the rest is told below, and nothing becomes certain by that."""

import pytest
from stallwatch.findings import Fault, Line, State
from stallwatch.line import Forms
from stallwatch.render.text import written
from stallwatch.verdict import Report, judge

WHAT = "replica of db1 lags 63 s (limit 60 s) and grows 1 s/s"


def told(why, advice, what=WHAT):
    """The status line of a problem, and the lines below."""
    verdicts = judge([Fault(State.WARNING, what, why, advice, Line())], {})
    first, *below = written(Report("replication_lag", verdicts)).splitlines()
    return first, below


def test_what_fits_stays_as_it_is():
    line, below = told("row lock of connection 5 app@web1, idle for 3 s", "KILL 5, or let it commit")
    assert line.endswith(", row lock of connection 5 app@web1, idle for 3 s - KILL 5, or let it commit")
    assert below == []


def test_the_second_choice_goes_first():
    why = "global read lock of connection 23 root@localhost, idle for 10 s"
    line, below = told(why, "KILL 23 on the replica, or let it UNLOCK TABLES", "replica of db1 lags 9.2 s")
    assert line.endswith(f"{why} - KILL 23 on the replica")
    assert below == ["  next step: KILL 23 on the replica, or let it UNLOCK TABLES"]


def test_a_long_account_loses_its_domain_but_below():
    why = "row lock of connection 5 app@web1.frankfurt.shop.example.com"
    line, below = told(why, "KILL 5 on the replica")
    assert line.endswith("row lock of connection 5 app@web1 - KILL 5 on the replica")
    assert below == [f"  cause: {why}"]


def test_an_address_is_no_domain():
    why = "row lock of connection 5 application@192.168.100.200, idle for 1 min 3 s"
    line, _ = told(why, "KILL 5 on the replica")
    assert "application@192.168.100.200 - KILL 5 on the replica" in line


@pytest.mark.parametrize("doubt", ["probably of connection 13", "check", "unless the clocks differ"])
def test_what_makes_a_cause_doubtful_stays(doubt):
    why = f"backup lock, {doubt} reporting_application@localhost, idle for 1 min 9 s"
    line, below = told(why, "check it, then KILL 13 on the replica, then START REPLICA SQL_THREAD")
    assert doubt in line
    assert "check it, then KILL 13 on the replica" in line
    assert "START REPLICA" not in line
    assert "START REPLICA" in "".join(below)


def test_of_a_server_s_words_as_many_stay_as_fit():
    words = "Column 1 of table 'shop.orders' cannot be converted from type 'varchar(400)' to 'varchar(20)'"
    line, below = told(
        f"the applier stopped with error 1677: {words}",
        "compare its columns with the source, then START REPLICA SQL_THREAD",
        "replica of db1 lags 4 s",
    )
    assert len(line) == 160
    assert "error 1677: Column 1 of table" in line
    assert "... - compare its columns with the source" in line
    assert below[0] == f"  cause: the applier stopped with error 1677: {words}"


def test_what_is_in_brackets_at_the_end_goes_as_well():
    line, below = told(
        "row lock of a transaction that no connection has (prepared by XA), 27 s old",
        "end it by XA where it began (XA RECOVER, XA COMMIT or ROLLBACK): here or on the source",
    )
    assert line.endswith("row lock of a transaction that no connection has - end it by XA where it began")
    assert len(line) <= 160
    assert len(below) == 2


def test_no_condition_stays_without_its_step():
    step = "is the server up? If so, give -S SOCKET or -H 127.0.0.1"
    line, below = told("the socket /run/mysqld/mysqld.sock of this host is not there", step)
    assert line.endswith(" - is the server up?")
    assert below == [f"  next step: {step}"]


def test_a_quote_that_is_left_open_is_no_obstacle():
    words = "Column 1 of table 'shop.orders' cannot be converted from type 'varchar(4" + "x" * 60
    line, _ = told(f"the applier stopped with error 1677: {words}", "compare the columns of shop.orders")
    assert line.endswith("the applier stopped with error 1677 - compare the columns of shop.orders")


def test_the_number_of_an_error_stays():
    line, below = told(
        "the source refuses the receiver: error 1045, Access denied for user 'replication'@'192.168.100.200'",
        "check its account there (password, host, REQUIRE SSL)",
        "replica of 127.0.0.1:26562 lags up to 26 s (limit 15 s)",
    )
    assert line.endswith("the source refuses the receiver: error 1045 - check its account there")
    assert len(below) == 2


def test_a_comma_in_quotes_ends_no_clause():
    why = "the applier stopped with error 1062: Duplicate entry 'a, b' for key " + "k" * 60
    line, _ = told(why, "compare this row with the source", "replica of db1 lags 4 s")
    assert "Duplicate entry 'a, b' for" in line


def test_what_was_found_stays_whole_where_it_has_no_shorter_form():
    what = f"this run cannot be remembered: /var/lib/{'x' * 120}: No space left on device"
    line, _ = told("", "free space there, then look again", what)
    assert what in line


def test_a_finding_without_a_line_fits():
    fault = Fault(State.WARNING, WHAT, "the disk is slow, " + "and busy " * 20, "check the disk")
    first, *below = written(Report("replication_lag", judge([fault], {}))).splitlines()
    assert first.endswith(f"{WHAT}, the disk is slow - check the disk")
    assert below == ["  cause: the disk is slow, " + ("and busy " * 20).strip()]


LONG_CAUSE = (
    "pages are written slowly: sda is 99.9 % busy and requests take 812 ms each, for 10 min without a pause"
)


def in_forms(what=WHAT, why="", advice=""):
    """The status line of a problem whose texts may have shorter forms, and the lines below."""
    first, *below = written(
        Report("replication_lag", judge([Fault(State.WARNING, what, why, advice)], {}))
    ).split("\n")
    return first.removeprefix("REPLICATION_LAG WARNING - "), below


def test_of_the_forms_of_all_texts_some_are_chosen_that_fit_together():
    advice = Forms("KILL 5 on the replica, or let it commit, or wait", "KILL 5 on the replica", "KILL 5")
    why = Forms(LONG_CAUSE, "a slow disk: sda is 99.9 % busy", "a slow disk")
    line, below = in_forms(why=why, advice=advice)
    assert line == f"{WHAT}, a slow disk: sda is 99.9 % busy - KILL 5 on the replica"
    assert below == [f"  cause: {LONG_CAUSE}", f"  next step: {advice}"]
    assert in_forms("lag 63 s", why, advice)[0] == f"lag 63 s, {why} - KILL 5"


@pytest.mark.parametrize(
    "listed",
    ["connections 1040, 1041, 1042 and 5 more", "connections 1040, 1041 and 1042", "tables a, b or c"],
)
def test_a_list_stays_whole_wherever_it_stands(listed):
    long = "x" * 60
    for what, why, advice in (
        (f"{listed} block 2 others on {long}", "all idle, and at work before", "KILL 5, then look again"),
        (long, f"held by {listed}, which have been idle for long, as was seen before", "KILL 5, then look"),
        (long, "a lock of a table, which has been held for long, as was seen", f"KILL {listed}, then look"),
    ):
        assert listed in told(why, advice, what)[0]


@pytest.mark.parametrize(
    "restriction", ["but it was written to", "or what is in there is gone", "so it may be none"]
)
def test_what_restricts_a_text_stays(restriction):
    line, _ = told(
        f"the dump of shop-part.sql was not made again, {restriction}", "check it, then make a new one"
    )
    assert restriction in line


def test_a_second_choice_of_the_next_step_goes_before_the_evidence_of_a_cause():
    advice = Forms("KILL 5 on the replica, or let it commit, or wait", "KILL 5 on the replica")
    why = Forms("a slow disk: sda is 99.9 % busy, of 8 ms a request", "a slow disk")
    assert in_forms(WHAT, why, advice)[0] == f"{WHAT}, {why} - KILL 5 on the replica"


def test_what_is_fine_stays_whole():
    what = Forms(", ".join(f"part {number} is well" for number in range(20)), "all is well")
    first, *_ = written(Report("x", judge([Fault(State.OK, what)], {}))).splitlines()
    assert first == f"X OK - {what}"


def test_what_was_found_has_shorter_forms_too():
    what = Forms(f"{WHAT} and {'more and ' * 20}more", WHAT)
    line, below = in_forms(what, LONG_CAUSE[:50], "KILL 5")
    assert line == f"{WHAT}, {LONG_CAUSE[:50]} - KILL 5"
    assert below == [f"  {what}"]


def test_what_fits_in_no_form_is_shown_in_its_shortest():
    assert in_forms(Forms("x" * 300, "y" * 200), Forms("long " * 40, "short"))[0] == f"{'y' * 200}, short"


@pytest.mark.parametrize("part", ["a{}, ", "then do {}, ", '"', "(", "'{}', (", "error {}: ", "x, or "])
def test_a_text_of_any_length_is_cut_at_once(part):
    """It would take hours if each clause that is cut were looked for from the beginning."""
    long = "said: " + "".join(part.format(number) for number in range(30_000))
    line, _ = told(long, long)
    assert line.startswith(f"REPLICATION_LAG WARNING - {WHAT}, ")
