"""Who is at the other end of a connection within this host, as the kernel's tables of sockets show it."""

import socket
from types import SimpleNamespace

import pytest
from stallwatch import accounts
from stallwatch.sources import listeners

HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
ROW = (
    "   0: {}:{} {}:{} {} 00000000:00000000 00:00000000 00000000 {:5d}        0 {} 1 00000000 100 0 0 10 0\n"
)
PORT, OURS = "224A", "C350"  # 8778, 50000
LOOPBACK, ANY, HOST = "0100007F", "00000000", "0A02000A"
LOOPBACK_6, ANY_6 = "00000000000000000000000001000000", 32 * "0"
MAPPED = "0000000000000000FFFF0000" + LOOPBACK
SERVER, ALICE = 110, 1500
UNSEEN = "a user that cannot be seen from here"


def listens(at, uid):
    return ROW.format(at, PORT, 32 * "0" if len(at) > 8 else ANY, "0000", "0A", uid, 7)


def accepted(at, uid, inode=8):
    return ROW.format(at, PORT, at, OURS, "01", uid, inode)


@pytest.fixture
def named(tmp_path, monkeypatch):
    """Who is named of these sockets, at the other end of a connection to an address."""
    monkeypatch.setattr(listeners, "_TABLES", str(tmp_path))
    monkeypatch.setattr(accounts.os, "geteuid", lambda: 120)
    monkeypatch.setattr(listeners, "user_name", str)

    def named(*rows, to="127.0.0.1", own=None):
        for table, letters in (("tcp", 8), ("tcp6", 32)):
            told = [row for row in rows if len(row.split(":")[1].strip()) == letters]
            ours = ROW.format(LOOPBACK, OURS, LOOPBACK, PORT, "01", ALICE, 9) * (table == "tcp")
            (tmp_path / table).write_text(HEAD + "".join(told) + ours)
        peer = SimpleNamespace(
            family=socket.AF_INET6 if ":" in to else socket.AF_INET,
            getpeername=lambda: (to, 8778),
            getsockname=lambda: (own or to, 50000),
        )
        return listeners.stranger(peer).removesuffix(" (no system account)")

    return named


ALICES = f"the user {ALICE}"
NOBODYS = ""


@pytest.mark.parametrize(
    ("rows", "who"),
    [
        ([], NOBODYS),  # root leads it to another network
        ([listens(LOOPBACK, SERVER)], NOBODYS),
        ([listens(LOOPBACK, ALICE)], ALICES),
        ([listens(ANY, ALICE)], ALICES),
        ([listens(ANY_6, ALICE)], ALICES),
        ([listens(MAPPED, ALICE)], ALICES),
        ([listens(HOST, ALICE)], NOBODYS),  # another address
        ([listens(LOOPBACK_6, ALICE)], NOBODYS),
        ([listens(ANY, SERVER), listens(ANY_6, ALICE)], NOBODYS),  # that of IPv6 is for IPv6 alone
        ([listens(ANY_6, SERVER), listens(LOOPBACK, ALICE)], ALICES),
        ([listens(LOOPBACK, SERVER), listens(LOOPBACK, ALICE)], ALICES),
        ([listens(LOOPBACK, SERVER), accepted(LOOPBACK, SERVER)], NOBODYS),
        ([listens(ANY_6, SERVER), accepted(MAPPED, SERVER)], NOBODYS),
        ([listens(LOOPBACK, SERVER), accepted(LOOPBACK, ALICE)], ALICES),  # accepted, then made room
        ([listens(ANY_6, SERVER), accepted(MAPPED, ALICE)], ALICES),
        ([listens(LOOPBACK, SERVER), accepted(LOOPBACK, 0, inode=0)], NOBODYS),  # not accepted yet
        ([listens(LOOPBACK, ALICE), accepted(LOOPBACK, 0)], ALICES),  # the kernel has accepted it
        ([accepted(LOOPBACK, 0)], UNSEEN),  # so, too, and whose listener it was does not show any more
    ],
)
def test_whose_program_gets_what_is_sent_to_loopback(named, rows, who):
    assert named(*rows) == who


def test_addresses_of_ipv6_and_of_the_host(named):
    assert named(listens(LOOPBACK_6, ALICE), to="::1") == ALICES
    assert named(listens(ANY_6, ALICE), to="::1") == ALICES
    assert named(listens(ANY, ALICE), to="::1") == NOBODYS
    assert named(listens(ANY, ALICE), to="::ffff:127.0.0.1") == ALICES
    assert named(listens(LOOPBACK, ALICE), to="::ffff:127.0.0.1") == ALICES
    assert named(listens(HOST, ALICE), to="10.0.2.10") == ALICES
    assert named(listens(HOST, ALICE), to="10.0.2.10", own="10.0.2.11") == NOBODYS  # another host


def test_where_the_kernel_shows_nothing_nobody_is_trusted(named, tmp_path, monkeypatch):
    monkeypatch.setattr(listeners, "_TABLES", str(tmp_path / "none"))
    assert named(listens(LOOPBACK, SERVER)) == UNSEEN


def test_a_host_without_ipv6(named, tmp_path):
    assert named(listens(LOOPBACK, SERVER)) == NOBODYS
    (tmp_path / "tcp6").unlink()
    assert [one.uid for one in listeners._sockets(f":{PORT}")] == [SERVER]


def test_a_real_listener_of_ours():
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_connection(one.getsockname()) as peer:
        assert listeners.stranger(peer) == ""
        at = listeners._written(*one.getsockname())
        assert [found.listens for found in listeners._sockets(at[-5:]) if found.here == at][:1] == [True]


@pytest.mark.parametrize(
    ("definitions", "people"),
    [("UID_MIN\t\t 500\n", 500), ("#UID_MIN 500\nUID_MIN 1000\n", 1000), ("", 1000)],
)
def test_who_may_run_a_server(definitions, people, tmp_path, monkeypatch):
    file = tmp_path / "login.defs"
    file.write_text(definitions)
    monkeypatch.setattr(accounts, "_DEFINITIONS", str(file))
    monkeypatch.setattr(accounts.os, "geteuid", lambda: 5000)
    assert all(map(accounts.may_be_server, (0, people - 1, 5000, 61184)))
    assert not any(map(accounts.may_be_server, (people, 60000, 65534, 100_999)))


def test_the_user_mysql_is_trusted_whatever_its_number(monkeypatch):
    monkeypatch.setattr(accounts.pwd, "getpwnam", lambda _: SimpleNamespace(pw_uid=1001))
    assert accounts.may_be_server(1001)
    assert accounts.is_trusted(1001)
    assert not accounts.is_trusted(110)
