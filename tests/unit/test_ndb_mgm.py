"""The protocol of the management server: what it says, and what a server says that is none."""

import socket
import threading
import time

import pytest
from stallwatch.deadline import Deadline
from stallwatch.findings import ProbeError
from stallwatch.sources import ndb_mgm, tcp

# Written down from an ndb_mgmd 9.7.2 while node 4 started.
ANSWER = b"""node status
nodes: 4
node.3.type: NDB
node.3.status: STARTED
node.3.version: 591618
node.3.mysql_version: 591618
node.3.startphase: 0
node.3.dynamic_id: -1
node.3.node_group: 0
node.3.connect_count: 0
node.3.address: 127.0.0.1
node.4.type: NDB
node.4.status: STARTING
node.4.version: 591618
node.4.startphase: 4
node.4.node_group: -1
node.1.type: MGM
node.1.status: CONNECTED
node.51.type: API
node.51.status: NO_CONTACT

"""


@pytest.fixture
def server():
    """Gives the port of a server that says these bytes to whoever asks, piece by piece."""
    listeners = []

    def server(*pieces, pause=0.0, hang=False):
        listener = socket.create_server(("127.0.0.1", 0))
        listeners.append(listener)

        def serve():
            peer, _ = listener.accept()
            with peer:
                try:
                    server.asked = peer.recv(1000)
                    for piece in pieces:
                        peer.sendall(piece)
                        time.sleep(pause)
                    while hang and peer.recv(1000):
                        pass
                except OSError:
                    pass

        threading.Thread(target=serve, daemon=True).start()
        return listener.getsockname()[1]

    yield server
    for listener in listeners:
        listener.close()


def asked(port, seconds=60.0):
    return ndb_mgm.data_nodes("127.0.0.1", port, Deadline(seconds))


def test_the_status_of_data_nodes_is_told(server):
    port = server(ANSWER, hang=True)
    assert asked(port) == {3: ("STARTED", 0), 4: ("STARTING", 4)}
    assert server.asked == b"get status\n\n"


def test_an_answer_may_come_in_pieces(server):
    port = server(*(ANSWER[at : at + 7] for at in range(0, len(ANSWER), 7)), hang=True)
    assert asked(port)[4].phase == 4


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (b"", "hangs up without an answer"),
        (ANSWER[:-30], "does not show the status of data nodes"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", 'it answers "HTTP/1.1 400 Bad Request"'),
        (b"node status\nnodes: 0\n\n", "does not show the status of data nodes"),
        (b"\x15\x03\x03\x00\x02\x02\x46", "does not show the status of data nodes"),
        (b"result: Authorization failed\n\n", 'it answers "result: Authorization failed"'),
        (b"node status\nnode.99999999999999999.type: NDB\nnode.x.type: NDB\n\n", "does not show"),
        (b"node status\n" + b"node.3.type: NDB\n" * 100_000, "does not show the status of data nodes"),
    ],
)
def test_nonsense_is_a_sentence(server, said, words):
    with pytest.raises(ProbeError, match=r"the management server 127\.0\.0\.1:") as raised:
        asked(server(said))
    assert words in raised.value.what
    assert "--management" in raised.value.advice


def test_a_status_and_a_phase_that_make_no_sense_do_no_harm(server):
    lies = b"node status\nnode.3.type: NDB\nnode.3.status: \xff\x1b[31m\nnode.3.startphase: -5\n\n"
    assert asked(server(lies)) == {3: ("UNKNOWN", 0)}


def test_nobody_listens():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(ProbeError, match=f"127.0.0.1:{port} cannot be asked: Connection refused"):
        asked(port)


@pytest.mark.parametrize("pieces", [(), (b"node status\n",), (b"n",) * 100])
def test_the_time_is_bounded(server, pieces):
    with pytest.raises(ProbeError, match="has not answered within 500 ms"):
        asked(server(*pieces, pause=0.1, hang=True), 0.5)  # the server waits for ever


def test_looking_up_the_name_is_bounded_too(monkeypatch):
    ended = threading.Event()

    def look_up(*_, flags=0, **__):
        if not flags & socket.AI_NUMERICHOST:
            ended.wait(120)
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(tcp.socket, "getaddrinfo", look_up)
    with pytest.raises(
        ProbeError, match="management server mgm1:1186 cannot be asked: no name server has answered"
    ):
        ndb_mgm.data_nodes("mgm1", 1186, Deadline(0.2))
    ended.set()


def test_a_host_that_is_none_is_a_sentence(monkeypatch):
    def unknown(*_, **__):
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(tcp.socket, "getaddrinfo", unknown)
    with pytest.raises(ProbeError, match="the management server mgm1:1186 cannot be asked: Name or service"):
        ndb_mgm.data_nodes("mgm1", 1186, Deadline(60))


def test_an_ipv6_address_stands_in_brackets():
    with pytest.raises(ProbeError, match=r"the management server \[::1\]:1 "):
        ndb_mgm.data_nodes("::1", 1, Deadline(60))
