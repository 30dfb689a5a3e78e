"""The user's ranges: of one variable, of the ratio of two, and what makes no sense."""

import pytest
from captured_mysql import VERSIONS, CapturedMysql
from mysql_status import Watch
from stallwatch.probes.mysql_status.selection import wanted
from stallwatch.units import NotUnderstoodError

MINUTE = 60


@pytest.fixture(params=VERSIONS)
def server(request, clock):
    return CapturedMysql(request.param, clock=clock)


@pytest.fixture
def mysql(clock):
    return CapturedMysql("MySQL 9.7", clock=clock)


def test_a_range_is_for_a_rate_of_what_counts_up(server):
    watch = Watch(server)
    said = watch.after(MINUTE, warn=["Com_select=10"], crit=["Com_select=20"], Com_select=900)
    assert (said.status, said.summary) == (1, "Com_select is 15/s")
    server.later(MINUTE, Com_select=1260)
    assert watch.run(warn=["Com_select=10"], crit=["Com_select=20"]).status == 2


def test_a_range_is_for_the_number_itself_of_what_goes_up_and_down(server):
    server.status["Threads_connected"] = "37"
    said = Watch(server).run(crit=["threads_connected=30"])
    assert said.status == 2
    assert said.of("Threads_connected")["critical"] == "30"


def test_lower_is_worse_only_where_the_range_says_so(server):
    server.status["Innodb_buffer_pool_pages_free"] = "5"
    assert Watch(server).run(warn=["Innodb_buffer_pool_pages_free=100"]).status == 0
    assert Watch(server).run(warn=["Innodb_buffer_pool_pages_free=100:"]).status == 1


def test_a_range_takes_the_place_of_a_set_s_limits_and_keeps_its_advice(mysql):
    watch = Watch(mysql, sets=["handlers"])
    said = watch.after(MINUTE, warn=["Handler_read_rnd_next=1e6"], Handler_read_rnd_next=int(2e8) * MINUTE)
    assert said.status == 1
    assert "queries lack an index" in said.summary
    assert said.of("Handler_read_rnd_next")["critical"] is None
    assert len([name for name in said.names if name == "Handler_read_rnd_next"]) == 1
    mysql.later(MINUTE, Handler_read_rnd_next=int(2e8) * MINUTE)
    assert watch.run(warn=["Handler_read_rnd_next=3e8"]).status == 0


def test_the_user_s_critical_range_is_critical_at_once(mysql):
    said = Watch(mysql).after(
        MINUTE, crit=["Handler_read_rnd_next=1e6"], Handler_read_rnd_next=int(2e8) * MINUTE
    )
    assert said.status == 2


def test_sizes_are_understood_where_bytes_are_counted(mysql):
    mysql.status["Innodb_buffer_pool_bytes_dirty"] = str(600 * 1024 * 1024)
    said = Watch(mysql).run(warn=["Innodb_buffer_pool_bytes_dirty=512M"])
    assert (said.status, said.summary) == (1, "Innodb_buffer_pool_bytes_dirty is 600 MiB")
    said = Watch(mysql).after(MINUTE, warn=["Bytes_sent=1M"], Bytes_sent=120 * 1024 * 1024)
    assert (said.status, said.summary) == (1, "Bytes_sent is 2.1 million/s")


def test_a_ratio_is_of_what_grew_in_the_interval(server):
    ratio = "Handler_read_rnd_next/Handler_read_key"
    watch = Watch(server)
    counted = {"Handler_read_rnd_next": 1_200_000, "Handler_read_key": 600}
    said = watch.after(MINUTE, warn=[f"{ratio}=100"], crit=[f"{ratio}=10000"], **counted)
    assert said.status == 1
    assert said.summary.startswith(f"{ratio} is 2 000 over 1 min, 1.2 million to 600")
    found = said.of(ratio)
    assert (found["value"], found["warning"], found["critical"]) == (2000, "100", "10000")
    server.later(MINUTE, Handler_read_rnd_next=50_000, Handler_read_key=100)
    _, text = watch.text(warn=[f"{ratio}=100"])
    assert text.startswith(f"MYSQL_STATUS WARNING - {ratio} is 500 over 1 min, 50 000 to 100")
    assert " Handler_read_rnd_next_per_Handler_read_key=500;100" in text


@pytest.mark.parametrize(("scanned", "by_key"), [(0, 0), (1200, 0), (1200, 2), (10_000, 99)])
def test_a_ratio_to_next_to_nothing_is_not_told(server, scanned, by_key):
    """As our own statements make it on an idle server: 1200 rows in scans."""
    ratio = "Handler_read_rnd_next/Handler_read_key"
    counted = {"Handler_read_rnd_next": scanned, "Handler_read_key": by_key}
    said = Watch(server).after(MINUTE, crit=[f"{ratio}=100"], **counted)
    assert said.status == 0
    assert not said.has(ratio)
    few = f"Handler_read_key is {by_key} over 1 min, of 100 at least"
    assert f"no ratio {ratio} is judged: {few}" in said.asides


def test_nothing_counted_is_no_low_ratio(mysql):
    ratio = "Table_open_cache_hits/Table_open_cache_misses=10:"
    for hits in (0, 5, 5000):
        assert Watch(mysql).after(MINUTE, crit=[ratio], Table_open_cache_hits=hits).status == 0
    said = Watch(mysql).after(MINUTE, warn=[ratio], Table_open_cache_misses=500, Table_open_cache_hits=1000)
    assert said.status == 1


def test_a_ratio_of_numbers_as_they_are_takes_any_but_0(mysql):
    mysql.status |= {"Threads_running": "0", "Threads_cached": "3"}
    ratio = "Threads_cached/Threads_running=1:"
    assert Watch(mysql).run(crit=[ratio]).status == 0
    mysql.status |= {"Threads_running": "4"}
    assert Watch(mysql).run(crit=[ratio]).status == 2


def test_a_ratio_of_numbers_as_they_are(mysql):
    mysql.status |= {"Innodb_buffer_pool_pages_dirty": "80", "Innodb_buffer_pool_pages_total": "100"}
    ratio = "Innodb_buffer_pool_pages_dirty/Innodb_buffer_pool_pages_total=0.75"
    said = Watch(mysql).run(warn=[ratio])
    assert (said.status, said.summary) == (
        1, "Innodb_buffer_pool_pages_dirty/Innodb_buffer_pool_pages_total is 0.8, 80 to 100",
    )  # fmt: skip


def test_a_ratio_of_unlike_numbers_makes_no_sense(mysql):
    said = Watch(mysql).run(warn=["Threads_running/Connections=1"])
    assert said.status == 3
    assert said.summary.endswith(
        "Threads_running/Connections is no ratio: Threads_running is a gauge and Connections is a counter"
    )


def test_names_that_this_server_does_not_have(server):
    said = Watch(server).run(warn=["Handler_read_rnd_nxt=5", "Threads_running/Cows=5"])
    assert said.status == 3
    assert f"({server.flavour.text}) has no status variable Handler_read_rnd_nxt - it has " in said.summary
    assert "Handler_read_rnd_next" in said.summary
    assert f"db1:3306 ({server.flavour.text}) has no status variable Cows" in said.asides


def test_texts_are_no_numbers(mysql):
    said = Watch(mysql).run(warn=["Resource_group_supported=1"])
    assert (said.status, said.summary) == (
        3, 'Resource_group_supported of db1:3306 (MySQL 9.7.4) is "ON", which is no number',
    )  # fmt: skip


def test_one_that_makes_no_sense_does_not_hide_another(mysql):
    mysql.status["Threads_connected"] = "37"
    said = Watch(mysql).run(warn=["Nonsense=5"], crit=["Threads_connected=30"])
    assert said.status == 2
    assert said.summary.startswith("37 clients are connected")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("100", "names no variable: write NAME=RANGE, as Threads_running=50"),
        ("=100", '"" is no name of a status variable'),
        ("A/=100", '"" is no name of a status variable'),
        ("A/B/C=100", '"B/C" is no name of a status variable'),
        ("A;DROP=1", '"A;DROP" is no name of a status variable'),
        ("Threads_running=", 'range "" has no bounds'),
        ("Threads_running=many", '"many" is not a plain number'),
        ("Threads_running=5G", '"5G" is not a plain number'),
        ("Memory_used=5Q", '"5Q" is not a size in bytes'),
        ("Threads_running=9:5", "starts after it ends"),
    ],
)
def test_what_is_not_understood(text, sentence):
    with pytest.raises(NotUnderstoodError) as error:
        wanted(text)
    assert sentence in str(error.value)


def test_names_with_blanks_are_understood(mysql):
    said = Watch(mysql).after(MINUTE, warn=["option_tracker_usage:Binary Log=5"])
    assert said.of("option_tracker_usage:Binary Log")["value"] == 0
