"""What the options of the MySQL plugins come to: whom to ask, and as whom."""

import os
import socket
import tempfile
from types import SimpleNamespace

import pytest
from stallwatch import withheld
from stallwatch.deadline import Deadline
from stallwatch.frame.check import Check
from stallwatch.frame.options import mysql as mysql_options
from stallwatch.sources import mysql
from stallwatch.sources.mysql.target import MODES

NOBODY = 65534
SOCKETS = mysql_options.SOCKETS


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """A home without an option file, a host without a server, no variable."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for variable in (mysql_options.PASSWORD, mysql_options.SOCKET):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(mysql_options, "SOCKETS", (str(tmp_path / "usual.sock"),))
    return tmp_path


@pytest.fixture
def read():
    """What ``ask`` makes of the options given; the text of the complaint if they make no sense."""

    def read(ask, *words):
        check = Check("mysql", "Ask a server.")
        mysql_options.add(check)
        seen = []

        def findings(options, _):
            seen.append(ask(check, options))
            return []

        status, output = check.run(findings, list(words))
        assert status == 3
        return seen[0] if seen else output

    return read


@pytest.fixture
def target(read):
    """What the options given come to."""
    return lambda *words: read(mysql_options.target, *words)


@pytest.fixture
def other(read):
    """What they come to for another server."""
    return lambda place, group, *words: read(
        lambda check, options: mysql_options.other(check, options, place, group), *words
    )


@pytest.fixture
def file(home):
    """Write an option file that has to be named; give its path."""

    def write(content, name="mysql.cnf"):
        (home / name).write_text(content)
        return str(home / name)

    return write


@pytest.fixture
def usual_socket(home):
    """A socket where servers have theirs."""
    path = str(home / "usual.sock")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        yield path


# whom


def test_without_anything_it_is_the_server_on_this_host(target, usual_socket):
    for found in (target(), target("-H", "localhost")):
        assert (found.where, found.found) == (usual_socket, True)


def test_a_socket_that_the_user_has_named_is_not_one_that_was_found(target, usual_socket, file, monkeypatch):
    cnf = file(f"[client]\nsocket = {usual_socket}\n")
    for words in (["-S", usual_socket], ["--defaults-file", cnf]):
        assert (target(*words).where, target(*words).found) == (usual_socket, False)
    monkeypatch.setenv("MYSQL_UNIX_PORT", usual_socket)
    assert (target("-H", "localhost").where, target().found) == (usual_socket, False)
    assert target("-S", "/other").where == "/other"
    assert target("-H", "db1").where == "db1:3306"


def test_no_socket_is_looked_for_where_everybody_may_put_one():
    assert not any(path.startswith("/tmp") for path in SOCKETS)


def test_a_stopped_server_has_no_socket_and_is_not_asked_over_tcp(target, home):
    for found in (target(), target("-H", "localhost")):
        assert (found.where, found.found) == (str(home / "usual.sock"), True)
    assert target("-H", "127.0.0.1").where == "127.0.0.1:3306"
    assert target("-H", "localhost", "-P", "3306").where == "localhost:3306"


def test_a_port_means_tcp(target, usual_socket):
    assert target("-P", "3306").where == "localhost:3306"
    assert target("-H", "localhost", "-P", "3307").where == "localhost:3307"


@pytest.mark.parametrize("host", ["db1", "127.0.0.1", "::1"])
def test_other_hosts_are_asked_over_tcp(target, usual_socket, file, host):
    path = file("[client]\nsocket=/their.sock\n")
    assert target("-H", host).socket is None
    assert target("-H", host, "--defaults-file", path).socket is None


def test_a_socket_that_is_given(target, file):
    path = file("[client]\nhost=db1\nport=3307\nsocket=/a.sock\n")
    assert target("-S", "/b.sock").where == "/b.sock"
    assert target("-S", "/b.sock", "--defaults-file", path).where == "/b.sock"
    assert target("-S", "/b.sock", "-H", "localhost").where == "/b.sock"


def test_a_server_has_one_address(target):
    for more in (["-H", "db1"], ["-P", "3306"]):
        assert "-S names a server on this host already: leave out -H and -P" in target("-S", "/b.sock", *more)


@pytest.mark.parametrize(
    ("host", "why"),
    [
        ("192.0.2.1:3306", '"192.0.2.1:3306" has a port: use -H 192.0.2.1 -P 3306'),
        ("[::1]:3306", '"[::1]:3306" has a port: use -H [::1] -P 3306'),
        ("mysql://mon:x@db1", "write the host's name or address alone, without user, password and path"),
    ],
)
def test_what_is_more_than_a_host(target, file, host, why):
    assert f"argument -H/--hostname: {why}" in target("-H", host)
    path = file(f"[client]\nhost={host}\n")
    assert f"{path}: {why}" in target("--defaults-file", path)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become nobody")
@pytest.mark.parametrize("option", ["--defaults-file", "--password-file", "--server-public-key-path"])
def test_a_file_that_may_not_be_read(target, option):
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        path = f"{folder}/it"
        os.close(os.open(path, os.O_CREAT, 0o600))
        os.seteuid(NOBODY)
        try:
            said = target(option, path)
        finally:
            os.seteuid(0)
    step = f"let nobody read it: setfacl -m u:nobody:r {path}"
    assert said == f"MYSQL UNKNOWN - user nobody may not read {path} - {step}"


def test_the_file_names_host_port_and_socket(target, file):
    assert target("--defaults-file", file("[client]\nhost=db1\nport=3307\nsocket=/a\n")).where == "db1:3307"
    assert target("--defaults-file", file("[client]\nport=3307\nsocket=/a\n")).where == "/a"
    assert target("--defaults-file", file("[client]\nprotocol=TCP\nsocket=/a\n")).where == "localhost:3306"
    path = file("[client]\nport=3307\nsocket=/a\n")
    assert target("--defaults-file", path, "-H", "db2").where == "db2:3307"
    assert target("--defaults-file", path, "-H", "db2", "-P", "3308").where == "db2:3308"


@pytest.mark.parametrize("port", ["0", "65536", "-1", "mysql", "3306x", "\u0667"])
def test_what_is_no_port(target, file, port):
    sentence = f'"{port}" is not a port: write a number from 1 to 65535'
    assert sentence in target(f"--port={port}")
    assert sentence in target("--defaults-file", file(f"[client]\nhost=db1\nport={port}\n"))


@pytest.mark.parametrize(
    "option",
    [
        "--hostname", "--socket", "--username", "--password-file", "--defaults-file", "--defaults-group",
        "--ssl-ca", "--ssl-cert", "--ssl-key", "--server-public-key-path",
    ],
)  # fmt: skip
def test_a_macro_without_a_value_is_not_taken_for_the_default(target, option):
    assert f"{option} is empty" in target(f"{option}=")


# as whom


def test_the_file_names_user_and_password(target, file):
    path = file("[client]\nuser=mon\npassword='from file'\n")
    found = target("-H", "db1", "--defaults-file", path)
    assert (found.user, found.password) == ("mon", "from file")


def test_the_users_own_file_is_read_and_no_other(target, file):
    file("[client]\nuser=mon\npassword=own\n", ".my.cnf")
    assert (target("-H", "db1").user, target("-H", "db1").password) == ("mon", "own")
    path = file("[client]\nuser=other\n")
    assert (target("--defaults-file", path).user, target("--defaults-file", path).password) == ("other", None)


def test_groups(target, file):
    path = file("[mysqld]\nuser=a\n[stallwatch]\nuser=b\n[replica3]\nhost=db3\nuser=c\n[mysql]\nuser=d\n")
    assert target("--defaults-file", path).user == "b"
    found = target("--defaults-file", path, "--defaults-group", "replica3")
    assert (found.user, found.where) == ("c", "db3:3306")


def test_a_group_that_is_not_there(target, file):
    path = file("[client]\nuser=mon\n")
    assert f"{path} has no group [x]" in target("--defaults-file", path, "--defaults-group", "x")
    assert "[x] is in no file: give it with --defaults-file" in target("--defaults-group", "x")


def test_a_file_that_is_none(target, home):
    assert f"{home}/none cannot be read: No such file" in target("--defaults-file", f"{home}/none")


@pytest.mark.parametrize(
    ("content", "more", "why"),
    [
        (None, (), "FILE cannot be read: No such file or directory"),
        ("[client\n", (), 'FILE, line 1: the name of the group does not end with "]"'),
        ("user=mon\n", (), "FILE, line 1: an option outside of any group: write [client] before it"),
        ("[client]\n", ("--defaults-group", "x"), "FILE has no group [x]"),
        ("[client]\nport=0\n", (), 'FILE: "0" is not a port: write a number from 1 to 65535'),
        (
            "[client]\nssl-mode=on\n",
            (),
            f'FILE: "on" is no --ssl-mode: write one of {", ".join(MODES)}',
        ),
    ],
)
def test_what_is_wrong_with_a_file_is_no_matter_of_the_help(target, home, content, more, why):
    path = home / "x.cnf"
    if content:
        path.write_text(content)
    said = target("--defaults-file", str(path), *more)
    assert said == f"MYSQL UNKNOWN - {why}".replace("FILE", str(path))


@pytest.mark.parametrize(
    ("option", "content", "why"),
    [
        ("--password-file", None, "No such file or directory"),
        ("--password-file", "\n", "its first line is empty"),
        ("--server-public-key-path", None, "No such file or directory"),
        ("--server-public-key-path", "x\n", "there is no public key in PEM form in it"),
    ],
)
def test_nor_is_what_is_wrong_with_another_file(target, home, option, content, why):
    path = home / "x"
    if content:
        path.write_text(content)
    assert target(option, str(path)) == f"MYSQL UNKNOWN - {option} {path}: {why}"


def test_a_port_of_another_server_is_a_matter_of_the_help(other):
    assert other("db2:70000", None).endswith(": see check_mysql --help")


def test_which_password_outranks_which(target, file, monkeypatch):
    words = ["-H", "db1", "--defaults-file", file("[client]\npassword=from option file\n")]
    assert target(*words).password == "from option file"
    monkeypatch.setenv(mysql_options.PASSWORD, "from environment")
    assert target(*words).password == "from environment"
    words += ["--password-file", file("from file\r\nsecond line\n", "password")]
    assert target(*words).password == "from file"
    assert target(*words, "-p", "given").password == "given"


def test_a_password_file_without_a_password(target, home, file):
    assert f"--password-file {home}/none: No such file" in target("--password-file", f"{home}/none")
    assert "its first line is empty" in target("--password-file", file("\nsecret\n"))


def test_the_password_is_nowhere(target, read, file):
    assert "geheim" not in repr(target("-p", "geheim"))
    path = file("[client]\npassword=geheim\n")

    def fail(check, options):
        mysql_options.target(check, options)
        check.parser.error(withheld.message("it is 'geheim'"))

    assert withheld.WITHHELD in read(fail, "--defaults-file", path)


# TLS


@pytest.mark.parametrize(
    ("words", "mode"),
    [
        ([], "PREFERRED"),
        (["--ssl-mode", "disabled"], "DISABLED"),
        (["--ssl-mode=VERIFY_identity"], "VERIFY_IDENTITY"),
        (["--ssl-ca", "f"], "VERIFY_CA"),
        (["--ssl-ca", "f", "--ssl-mode=REQUIRED"], "REQUIRED"),
        (["--ssl-cert", "f"], "REQUIRED"),
    ],
)
def test_the_mode_of_tls(target, words, mode):
    assert target("-H", "db1", *words).tls.mode == mode


@pytest.mark.parametrize(
    ("lines", "mode"),
    [
        ("ssl-mode=required", "REQUIRED"),
        ("ssl_mode=DISABLED\nssl-ca=f", "DISABLED"),
        ("ssl-ca=f", "VERIFY_CA"),
        ("ssl-capath=d", "VERIFY_CA"),
        ("ssl", "REQUIRED"),
        ("ssl=1", "REQUIRED"),
        ("ssl=OFF", "DISABLED"),
        ("skip-ssl", "DISABLED"),
        ("ssl-verify-server-cert", "VERIFY_IDENTITY"),
        ("ssl-ca=f\nssl-verify-server-cert=0", "VERIFY_CA"),
    ],
)
def test_the_mode_of_tls_in_the_file(target, file, lines, mode):
    assert target("--defaults-file", file(f"[client]\n{lines}\n")).tls.mode == mode


def test_a_mode_that_is_none(target, file):
    sentence = '"on" is no --ssl-mode: write one of DISABLED, PREFERRED, REQUIRED, VERIFY_CA, VERIFY_IDENTITY'
    assert sentence in target("--ssl-mode", "on")
    assert sentence in target("--defaults-file", file("[client]\nssl-mode=on\n"))


def test_a_key_needs_a_certificate(target):
    assert "--ssl-key needs --ssl-cert" in target("--ssl-key", "k")


def test_the_files_of_tls(target, file):
    path = file("[client]\nssl-ca=a\nssl-capath=b\nssl-cert=c\nssl-key=d\n")
    assert target("--defaults-file", path, "--ssl-ca", "e").tls == mysql.Tls("VERIFY_CA", "e", "b", "c", "d")


# another server


def test_another_server_is_asked_as_the_first_one(other, usual_socket):
    words = ["-P", "3307", "-u", "mon", "-p", "geheim", "--ssl-mode", "REQUIRED"]
    found = other("db2", None, *words)
    assert found == mysql.Target("db2", 3307, None, "mon", "geheim", mysql.Tls("REQUIRED"))
    assert other("db2:3308", None, *words).where == "db2:3308"
    assert other("localhost", None).where == "localhost:3306"


@pytest.mark.parametrize(
    ("place", "where"),
    [
        ("::1", "[::1]:3306"),
        ("[::1]", "[::1]:3306"),
        ("[fe80::1%eth0]:1", "[fe80::1%eth0]:1"),
        ("a:1", "a:1"),
    ],
)
def test_places(other, place, where):
    assert other(place, None).where == where


@pytest.mark.parametrize("place", ["a:b", "[::1", "a:", ":1", "[a]b", ""])
def test_places_that_are_none(other, place):
    assert f'"{place}" is not HOST, HOST:PORT or [IPV6]:PORT' in other(place, None)


def test_a_place_with_a_port_that_is_none(other):
    assert '"70000" is not a port' in other("db2:70000", None)


def test_the_group_of_another_server_says_what_is_different(other, file):
    path = file(
        "[client]\nuser=mon\npassword=a\nport=3307\nssl-ca=f\n[db2]\nhost=db2\npassword=b\n[s]\nsocket=/s\n"
    )
    found = other(None, "db2", "--defaults-file", path, "-H", "db1", "-u", "me")
    assert (found.where, found.user, found.password, found.tls.mode) == ("db2:3307", "me", "b", "VERIFY_CA")
    assert other("db3", "db2", "--defaults-file", path).where == "db3:3307"
    assert other(None, "s", "--defaults-file", path).where == "/s"
    assert "the group [client] names neither a host nor a socket" in other(
        None, "client", "--defaults-file", path
    )
    assert "--source-group is empty" in other(None, "", "--defaults-file", path)
    assert "has no group [db4]" in other(None, "db4", "--defaults-file", path)


# whom the password may be sent to


def test_the_readable_password_is_for_whom_the_user_allows_it(target, file):
    assert not target().cleartext
    assert target("--enable-cleartext-plugin").cleartext
    assert target("--defaults-file", file("[client]\nenable-cleartext-plugin\n")).cleartext
    assert not target("--defaults-file", file("[client]\nenable_cleartext_plugin = OFF\n")).cleartext


def test_the_public_key_of_the_server(target, file):
    key = "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"
    path = file(key, "key.pem")
    assert target("--server-public-key-path", path).server_key == key.encode()
    cnf = file(f"[client]\nserver-public-key-path = {path}\n")
    assert target("--defaults-file", cnf).server_key == key.encode()
    assert "there is no public key in PEM form in it" in target("--server-public-key-path", cnf)
    assert "/nowhere: No such file or directory" in target("--server-public-key-path", "/nowhere")


@pytest.mark.usefixtures("clock")
@pytest.mark.parametrize("left", [0.1, 0.8])
def test_another_server_gets_no_less_time_than_tells_something_of_it(monkeypatch, left):
    monkeypatch.setattr(mysql_options, "connect", lambda *_: pytest.fail("it is asked"))
    run = SimpleNamespace(deadline=Deadline(left))
    with pytest.raises(mysql.NoAnswerError, match="no time was left to ask db1:3306"):
        mysql_options.connect_besides(SimpleNamespace(where="db1:3306"), run)


@pytest.mark.usefixtures("clock")
def test_another_server_gets_half_of_the_time(monkeypatch):
    monkeypatch.setattr(mysql_options, "connect", lambda _, __, deadline: deadline.left())
    run = SimpleNamespace(deadline=Deadline(2.0))
    given = mysql_options.connect_besides(SimpleNamespace(where="db1:3306"), run)
    assert given == pytest.approx(1.0, abs=0.2)
