"""R3, for and against: the errors are as MySQL 9.7.2 and MariaDB 10.11.19 write them."""

import pytest
from replication_signals import case
from replication_snapshots import channel
from stallwatch.probes.replication_lag.causes import receiver
from stallwatch.probes.replication_lag.model import Thread


def down(errno=0, error="", running="No"):
    return Thread(running, "", errno, error)


ATTEMPTS = (
    "Error connecting to source 'repl@db1:3306'. This was attempt {}/10, with a delay of 60 seconds between "
    "attempts. Message: Can't connect (111)"
)


UNREACHED = "the receiver cannot connect to the source"
REFUSED = "the source refuses the receiver"
MARIADB_TRIES = "error connecting to master 'r@db1:3306' - retry-time: 60  maximum-retries: 9  message: {}"
REGISTERS = "Source command COM_REGISTER_REPLICA failed: Access denied for user 'r'@'%' (using password: YES)"


@pytest.mark.parametrize(
    ("thread", "what", "advice"),
    [
        (down(), "the receiver is stopped, without an error", "then START REPLICA IO_THREAD"),
        (down(running="Connecting"), "the receiver is connecting to the source", "the firewall before it"),
        (
            down(running="Connecting")._replace(
                state="Waiting to reconnect after a failed master event read"
            ),
            "the receiver lost connection while reading",
            "check the link and the source's error log",
        ),
        (
            down(2003, ATTEMPTS.format(10), "No"),
            "the receiver gave up after 10 attempts to connect: error 2003, Can't connect (111)",
            "START REPLICA IO_THREAD, the receiver does not try again by itself",
        ),
        (
            down(2003, ATTEMPTS.format(7), "Connecting"),
            f"{UNREACHED} (attempt 7 of 10): error 2003, Can't connect (111)",
            "check that db1:3306 runs and listens",
        ),
        (
            down(2003, ATTEMPTS.format(7).replace("/10", "/86400"), "Connecting"),
            f"{UNREACHED}: error 2003, Can't connect (111)",
            "check that db1:3306 runs and listens",
        ),
        (
            down(2003, MARIADB_TRIES.format("Can't connect to server on 'db1' (110)"), "Connecting"),
            f"{UNREACHED}: error 2003 (110)",
            "check db1:3306 and the firewall before its port",
        ),
        (
            down(2003, MARIADB_TRIES.format("No route"), "No"),
            "the receiver probably gave up connecting: error 2003, No route",
            "START REPLICA IO_THREAD, the",
        ),
        (
            down(2003, MARIADB_TRIES.replace(": 9 ", ": 100000 ").format("No route"), "No"),
            "the receiver is stopped and could not connect before: error 2003, No route",
            "START REPLICA IO_THREAD, the",
        ),
        (
            down(2005, MARIADB_TRIES.format("Unknown server host 'db1' (-2)"), "Connecting"),
            f"{UNREACHED}: error 2005, Unknown server host 'db1' (-2)",
            "check this name in the replica's DNS",
        ),
        (
            down(2013, MARIADB_TRIES.format("Lost connection to server at 'reading initial communication "
                                            "packet', system error: 0 \"Internal error\""), "Connecting"),
            f"{UNREACHED}: error 2013, Lost connection to server at 'reading initial commun",
            "check the network, db1:3306 and its certificate",
        ),
        (
            down(2026, "SSL connection error: error:00000000:lib(0)::reason(0)", "Connecting"),
            f"{UNREACHED}: error 2026",
            "check the network, db1:3306 and its certificate",
        ),
        (
            down(2026, "SSL connection error: error:0A000126:SSL routines::unexpected eof while reading",
                 "Connecting"),
            f"{UNREACHED}: error 2026, unexpected eof",
            "check the network, db1:3306 and its certificate",
        ),
        (
            down(2026, "SSL connection error: error:0A000086:SSL routines::certificate verify failed",
                 "Connecting"),
            f"{UNREACHED} by TLS: error 2026, certificate verify failed",
            "check the dates and the authority of the source's certificate",
        ),
        (
            down(2026, "SSL connection error: SSL is required but the server doesn't support it",
                 "Connecting"),
            f"{UNREACHED} by TLS: error 2026, SSL is required but the server doesn't support it",
            "set up TLS on the source",
        ),
        (
            down(1045, MARIADB_TRIES.format("Access denied for user 'r'@'db2'"), "Connecting"),
            f"{REFUSED}: error 1045, Access denied for user 'r'@'db2'",
            "check its account there (password, host, REQUIRE SSL)",
        ),
        (
            down(1040, MARIADB_TRIES.format("Too many connections"), "Connecting"),
            f"{REFUSED}: error 1040, Too many connections",
            "see who is connected there",
        ),
        (
            down(1226, MARIADB_TRIES.format("User 'r' has exceeded the 'max_user_connections' resource"),
                 "Connecting"),
            f"{REFUSED}: error 1226, User 'r' has exceeded",
            "raise the account's limit on the source",
        ),
        (
            down(1862, MARIADB_TRIES.format("Your password has expired. To log in you must change it"),
                 "Connecting"),
            f"{REFUSED}: error 1862, Your password has expired",
            "set a new password on the source and in CHANGE REPLICATION SOURCE",
        ),
        (
            down(13120, REGISTERS, "Connecting"),
            f"{REFUSED}: error 13120, Access denied for user 'r'@'%'",
            "GRANT REPLICATION SLAVE to the account on the source",
        ),
        (
            down(1820, "The slave I/O thread stops because a fatal error is encountered when it try to"
                 " get the value of SERVER_ID variable from master."
                 " Error: You must SET PASSWORD before executing"),
            "the receiver stopped: error 1820, You must SET PASSWORD before executing",
            "set a new password on the source",
        ),
        (
            down(13117, "Fatal error: The replica I/O thread stops because source and replica have equal"
                 " MySQL server ids; these ids must be different for replication to work"),
            "the receiver stopped: error 13117, source and replica have equal MySQL server ids",
            "give this replica its own server_id, then START REPLICA IO_THREAD",
        ),
        (
            down(1593, "Fatal error: The slave I/O thread stops because master and slave have equal MySQL"
                 " server UUIDs; these UUIDs must be different"),
            "the receiver stopped: error 1593, master and slave have equal MySQL server UUIDs",
            "delete auto.cnf on the copy (here, if this replica was copied) and restart it",
        ),
        (
            down(13117, "The replication receiver thread cannot start because the source has GTID_MODE = OFF"
                 " and this server has GTID_MODE = ON."),
            "the receiver stopped: error 13117",
            "set the same gtid_mode on source and replica",
        ),
        (down(7777, "odd"), "error 7777, odd", "correct what the error names"),
    ],
)  # fmt: skip
def test_r3_tells_why_the_receiver_is_down(thread, what, advice):
    found = receiver.r3_receiver_down(case(channel(receiver=thread)))
    assert what in found.what
    assert advice in found.advice


def test_r3_a_source_that_does_not_answer_for_long_is_said_to():
    waits = case(channel(receiver=down(running="Connecting")))._replace(connecting=25.0)
    assert receiver.r3_receiver_down(waits).what.endswith("the source, no answer for 25 s")


def test_r3_against():
    assert receiver.r3_receiver_down(case()) is None


SENT = (
    "Got fatal error 1236 from source when reading data from binary log: '{}; the first event 'bin.1' at 4'"
)


@pytest.mark.parametrize(
    ("said", "advice"),
    [
        ("Cannot replicate because the source purged required binary logs.", "find these logs"),
        ("Could not find first log file name in binary log index file", "find these logs"),
        (
            "A replica with the same server_uuid/server_id as this replica has connected to the source",
            "delete auto.cnf on the copied one of both replicas and restart it",
        ),
        ("log event entry exceeded max_allowed_packet; Increase it on source", "raise max_allowed_packet"),
        ("Could not open log file", "disk and error log of the source"),
        ("Replica has more GTIDs than the source has", "before anything is reset"),
        ("something else", "correct what the error names"),
    ],
)
@pytest.mark.parametrize("number", [1236, 13114])
def test_r3_a_source_that_cannot_send_is_told_by_its_words(said, advice, number):
    found = receiver.r3_receiver_down(case(channel(receiver=down(number, SENT.format(said)))))
    assert f"error {number}, {said[:30]}" in found.what
    assert advice in found.advice
    assert ("rebuild" in found.advice) == ("find these logs" in advice)
