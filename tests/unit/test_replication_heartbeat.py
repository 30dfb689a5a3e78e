import pytest
from replication_evidence import channel
from stallwatch.probes.replication.evidence import Heartbeat
from stallwatch.probes.replication.heartbeat_table import table
from stallwatch.reading import ProbeError
from stallwatch.units import NotUnderstoodError


class Replica:
    """Answers with rows of (server, seconds of age if ts is UTC, hours that the local zone is ahead)."""

    where = "r1:3306"

    def __init__(self, *rows, zone=0.0):
        self.found = [
            {
                "server_id": server,
                "utc": None if age is None else int(age * 1e6),
                "local": None if age is None else int((age + zone * 3600) * 1e6),
            }
            for server, age in rows
        ]
        self.asked = []

    def rows(self, sql):
        self.asked.append(sql)
        return self.found


def read(*rows, zone=0.0, of=None, **settings):
    return table("percona.heartbeat", **settings).read(Replica(*rows, zone=zone), of or channel())


def test_the_row_of_the_channels_source_counts():
    found = read((3, 0.1), (101, 12.5), (7, 90_000.0))
    assert found == Heartbeat(12.5, 101, "percona.heartbeat")


def test_another_server_may_be_named_the_top_of_a_chain():
    assert read((101, 0.5), (7, 33.0), server_id=7).age == 33


def test_without_the_sources_row_those_of_others_are_named_and_not_taken():
    with pytest.raises(
        ProbeError, match=r"r1:3306: percona\.heartbeat has no heartbeat of server 101, but of 3 and 5"
    ):
        read((3, 0.1), (5, 90_000.0))
    with pytest.raises(ProbeError, match="it is empty"):
        read()


def test_a_time_that_is_none_is_told():
    with pytest.raises(ProbeError, match=r"ts of server 101 in percona\.heartbeat is not a time"):
        read((101, None))


@pytest.mark.parametrize(
    ("utc", "zone", "age"),
    [
        (5.0, 2, 5.0),  # UTC, east of it
        (5.0, -5, 5.0),  # UTC, west of it: as local time it would be from the future
        (5.0 - 2 * 3600, 2, 5.0),  # local time east of UTC
        (5.0 + 5 * 3600, -5, 5.0),  # local time west of UTC
        (-0.8, 2, -0.8),
    ],
)
def test_utc_or_local_is_what_makes_sense(utc, zone, age):
    found = read((101, utc), zone=zone)
    assert found.age == pytest.approx(age)
    assert found.remark == ""


def test_of_two_that_make_sense_seconds_behind_decides():
    behind = channel(seconds_behind=18_000.0)
    assert read((101, 18_020.0), zone=-5, of=behind).age == 18_020
    assert read((101, 18_020.0), zone=-5, of=channel(seconds_behind=None)).age == 20


def test_it_may_be_said_which_it_is():
    assert read((101, 18_020.0), zone=-5, utc=True).age == 18_020
    assert read((101, 18_020.0), zone=-5, utc=False).age == 20


@pytest.mark.parametrize("age", [3600.0, 3601.5, 3559.0, 900.0, 19_800.0])
def test_a_lag_of_just_hours_is_perhaps_a_zone(age):
    assert "is it of another time zone?" in read((101, age)).remark


@pytest.mark.parametrize("age", [0.5, 30.0, 700.0, 1000.0, 3400.0])
def test_any_other_lag_is_none(age):
    assert read((101, age)).remark == ""


def test_the_future_is_told():
    assert read((101, -3600.0)).remark == "heartbeat is 1 h in the future: is it of another time zone?"
    assert read((101, -45.0)).remark == "heartbeat is 45 s in the future: clocks differ"


def test_the_same_row_is_read_on_the_source():
    heartbeats = table("percona.heartbeat")
    there = Replica((101, 299.0), (3, 0.0))
    assert heartbeats.source_age(there, Heartbeat(300.0, 101, "")) == 299
    with pytest.raises(ProbeError, match="no heartbeat of server 9"):
        heartbeats.source_age(there, Heartbeat(300.0, 9, ""))


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("percona.heartbeat", "`percona`.`heartbeat`"),
        ("`a.b`.`c``d`", "`a.b`.`c``d`"),
        ("dash-ed.100%", "`dash-ed`.`100%`"),
        ("x.y;DROP", "`x`.`y;DROP`"),
    ],
)
def test_names_are_quoted(text, quoted):
    assert table(text).quoted == quoted
    replica = Replica((101, 0.1))
    table(text).read(replica, channel())
    assert quoted in replica.asked[0]


@pytest.mark.parametrize(
    "text", ["", "heartbeat", "a.b.c", "a b.c", "a.", ".b", "`a.b", "a.`b", "a.b\0", "x" * 65 + ".y"]
)
def test_what_is_no_table_is_refused(text):
    with pytest.raises(NotUnderstoodError, match=r"DATABASE\.TABLE"):
        table(text)
